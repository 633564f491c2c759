//! What `--emit=layouts` says beside the maps: offsets as tables, and how loops walk through memory.

use layout::calculator::Table;
use loops::{ITERATIONS, Kernel, Walked};
use poly::Offsets;

/// What a size is taken for where nobody has said one: large, and a power of two, at which banks and sets meet.
const USUAL: i64 = 1024;

/// A table for each array that is laid out.
pub(crate) fn show_offsets(arrays: &[Offsets]) -> String {
    let mut text = String::new();
    for Offsets { array, sizes, columns, cells } in arrays {
        let at = if sizes.is_empty() { String::new() } else { format!(" for {sizes}") };
        match cells {
            None => text.push_str(&format!("\n{array}: too many cells to draw{at}\n")),
            Some(cells) if cells.is_empty() => text.push_str(&format!("\n{array}: no cells{at}\n")),
            Some(cells) => {
                let table = Table { columns: *columns, cells: cells.iter().copied().map(Some).collect() };
                text.push_str(&format!("\noffsets of the cells of {array}{at}\n"));
                table.to_text().lines().for_each(|line| text.push_str(&format!("    {line}\n")));
            }
        }
    }
    text
}

/// A line for each access of an innermost loop.
pub(crate) fn show_locality(kernel: &Kernel, sizes: Option<&[i64]>) -> String {
    let usual = vec![USUAL; kernel.params.len()];
    let accesses = loops::locality(kernel, sizes.unwrap_or(&usual));
    if accesses.is_empty() {
        return String::new();
    }
    let with = match sizes {
        _ if kernel.params.is_empty() => String::new(),
        Some(_) => ", with the sizes given".into(),
        None => format!(", with {USUAL} for each size"),
    };
    let mut text = format!(
        "\ninnermost loops: steps in elements, lines of 64 bytes in up to {ITERATIONS} iterations, conflicts of 32 threads at 32 banks{with}\n"
    );
    // Loops that are cut have the same accesses several times.
    let mut told = Vec::new();
    for line in accesses.iter().map(show_access) {
        if !told.contains(&line) {
            text.push_str(&format!("    {line}\n"));
            told.push(line);
        }
    }
    text
}

fn show_access(access: &Walked) -> String {
    let Walked { cell, var, writes, steps, stride, iterations, lines, turns, bytes, .. } = access;
    let does = if *writes { "written" } else { "read" };
    let by = match (steps.as_slice(), stride) {
        ([], _) => "no step".to_owned(),
        ([0], _) => "the same cell".into(),
        ([step], Some(stride)) => format!("step {stride} ({} bytes)", step * bytes),
        ([step], None) => format!("step {step} ({} bytes)", step * bytes),
        ([a, b], _) => format!("steps {a} and {b}"),
        ([a, b, c, ..], _) => format!("steps {a}, {b}, {c}{}", if steps.len() > 3 { ", …" } else { "" }),
    };
    let plural = |count: i64, word: &str| if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") };
    let lines = plural(*lines as i64, "line");
    let banks = if *turns == 1 { "no bank conflict".to_owned() } else { format!("{turns}-way bank conflict") };
    format!("{var}: {cell} {does}, {by}; {lines} in {}; {banks}", plural(*iterations, "iteration"))
}
