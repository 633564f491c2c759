//! What layouts cost and save: the same function with an array in two layouts, taking turns in one run.
//!
//! Not here: what the programs do; they are `crates/xtask/bench/layouts`, with the layout and the schedule in each.

use std::path::Path;

use super::table::Table;
use super::{REPEAT, ROUNDS, find_stage, stage_times};
use crate::process::{build_farkas, capture, command, heading, say};
use crate::setup;

/// A function with an array row by row, and in a layout.
struct Pair {
    name: &'static str,
    by_rows: &'static str,
    laid_out: &'static str,
    args: &'static [&'static str],
    /// What is asked of the time by rows over the time in the layout.
    asked: &'static str,
}

const PAIRS: [Pair; 3] = [
    Pair {
        name: "tiles that match the loops",
        by_rows: "tiles-by-rows.fks",
        laid_out: "tiles-matched.fks",
        args: &["-D", "N=2048,M=2048", "--in", "A=rand:1"],
        asked: "at least 0.90",
    },
    Pair {
        name: "columns of 4096 x 4096 f32",
        by_rows: "columns-by-rows.fks",
        laid_out: "columns-in-blocks.fks",
        args: &["-D", "N=4096,M=4096", "--in", "X=rand:1"],
        asked: "at least 3",
    },
    Pair {
        name: "columns of a padded local array",
        by_rows: "local-by-rows.fks",
        laid_out: "local-padded.fks",
        args: &["-D", "N=2048,M=2048", "--in", "x=rand:1"],
        asked: "above 1",
    },
];

/// Measures all pairs.
pub(super) fn measure() -> Result<(), String> {
    setup::set_up()?;
    let farkas = build_farkas()?;
    heading(format!("Layouts: best of {ROUNDS} alternating rounds of {REPEAT} runs, one thread"));
    let mut table = Table::new(&["what", "by rows", "laid out", "by rows / laid out", "asked"]);
    for pair in &PAIRS {
        say(format!("measuring {}", pair.name));
        let mut best = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            for (best, program) in best.iter_mut().zip([pair.by_rows, pair.laid_out]) {
                *best = best.min(run(&farkas, pair, program)?);
            }
        }
        let [by_rows, laid_out] = best;
        let ratio = format!("{:.2}", by_rows / laid_out);
        let times = [by_rows, laid_out].map(|time| format!("{time:.2} ms"));
        let [by_rows, laid_out] = times;
        table.rows.push(vec![pair.name.to_owned(), by_rows, laid_out, ratio, pair.asked.to_owned()]);
    }
    say(table.render());
    Ok(())
}

fn run(farkas: &Path, pair: &Pair, program: &str) -> Result<f64, String> {
    let path = Path::new("crates/xtask/bench/layouts").join(program);
    let mut run = command(farkas, &["run"]);
    run.arg(path).args(pair.args).args(["--threads", "1", "--repeat", REPEAT, "--time"]);
    let output = capture(&mut run)?;
    let times = stage_times(&String::from_utf8_lossy(&output.stderr));
    find_stage(&times, "run").ok_or_else(|| format!("{program}: farkas did not report `time: run`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::workspace_root;

    #[test]
    fn pairs_are_programs_that_differ_in_a_layout() {
        for pair in &PAIRS {
            let text = |program: &str| {
                let path = workspace_root().join("crates/xtask/bench/layouts").join(program);
                std::fs::read_to_string(path).unwrap_or_default()
            };
            let is_layout =
                |line: &&str| line.trim_start().starts_with("layout ") || line.trim_start().starts_with("stored ");
            let function = |program: &str| -> Vec<String> {
                let text = text(program);
                let lines = text.lines().skip(1).filter(|line| !is_layout(line));
                lines.take_while(|line| !line.starts_with("schedule")).map(str::to_owned).collect()
            };
            assert!(function(pair.by_rows).len() > 2, "{}", pair.by_rows);
            assert_eq!(function(pair.by_rows), function(pair.laid_out));
            assert!(text(pair.laid_out).lines().any(|line| is_layout(&line)), "{}", pair.laid_out);
        }
    }
}
