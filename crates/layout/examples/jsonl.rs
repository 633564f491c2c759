//! Answers the questions on standard input, one per line; what `farkas layout --jsonl` does.

use farkas_layout::calculator::jsonl;
use std::io::{BufRead, Write};

fn main() -> std::io::Result<()> {
    let (input, mut output) = (std::io::stdin().lock(), std::io::BufWriter::new(std::io::stdout().lock()));
    for line in input.lines() {
        writeln!(output, "{}", jsonl(&line?))?;
    }
    output.flush()
}
