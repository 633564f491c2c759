//! A sparse matrix in compressed rows times a vector, against the C loop: time per entry, at several sizes.
//!
//! Rows are of unequal length, about ten entries each, which lie in a band around the diagonal or anywhere. Both sides read the
//! same files.

use std::fs;
use std::path::Path;

use super::polybench::npy_header;
use super::table::Table;
use super::{REPEAT, ROUNDS, bench_folder, compile_c, compiler_line, find_stage, run_c, stage_times};
use crate::process::{build_farkas, capture, command, heading, say};
use crate::setup;

const PROGRAM: &str = "examples/sparse/spmv-csr.fks";

/// Rows have 0 to this many entries.
const LONGEST: u64 = 20;

/// How far from the diagonal the entries of a band lie at most.
const BAND: u64 = 2000;

const ENTRIES: [usize; 3] = [100_000, 1_000_000, 10_000_000];

/// A square matrix in compressed rows.
struct Matrix {
    indptr: Vec<i32>,
    indices: Vec<i32>,
}

/// Measures all sizes and both shapes.
pub(super) fn measure() -> Result<(), String> {
    setup::set_up()?;
    let farkas = build_farkas()?;
    let peer = compile_c(&farkas, "spmv.c")?;
    let place = bench_folder(&farkas)?.join("sparse");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    heading(format!(
        "Sparse rows: best of {ROUNDS} alternating rounds of {REPEAT} runs, one thread, against `{}`",
        compiler_line()
    ));
    let mut table = Table::new(&["entries lie", "entries", "farkas", "C", "farkas / C", "farkas, ns per entry"]);
    for (name, band) in [("in a band", Some(BAND)), ("anywhere", None)] {
        for entries in ENTRIES {
            say(format!("measuring {entries} entries {name}"));
            let matrix = Matrix::new(entries, band);
            matrix.write(&place)?;
            let (rows, folder) = ((matrix.indptr.len() - 1).to_string(), place.display().to_string());
            let (mut ours, mut c) = (f64::INFINITY, f64::INFINITY);
            for _ in 0..ROUNDS {
                ours = ours.min(run(&farkas, &place)?);
                c = c.min(run_c(&peer, &[folder.as_str(), &rows, &entries.to_string()])?);
            }
            let each = ours * 1e6 / entries as f64;
            let figures = [format!("{ours:.2} ms"), format!("{c:.2} ms"), format!("{:.2}", ours / c)];
            let row = [name.to_owned(), entries.to_string()].into_iter().chain(figures).chain([format!("{each:.2}")]);
            table.rows.push(row.collect());
        }
    }
    say(table.render());
    Ok(())
}

fn run(farkas: &Path, place: &Path) -> Result<f64, String> {
    let mut run = command(farkas, &["run", PROGRAM]);
    for name in ["indptr", "indices", "data", "x"] {
        run.arg("--in").arg(format!("{name}=@{}/{name}.npy", place.display()));
    }
    let output = capture(run.args(["--threads", "1", "--repeat", REPEAT, "--time"]))?;
    let times = stage_times(&String::from_utf8_lossy(&output.stderr));
    find_stage(&times, "run").ok_or_else(|| format!("{PROGRAM}: farkas did not report `time: run`"))
}

/// SplitMix64: the same numbers on every machine.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

impl Matrix {
    fn new(entries: usize, band: Option<u64>) -> Matrix {
        let mut state = 1;
        let mut indptr = vec![0];
        let mut filled = 0;
        while filled < entries {
            filled = entries.min(filled + (next(&mut state) % (LONGEST + 1)) as usize);
            indptr.push(filled as i32);
        }
        let rows = indptr.len() as u64 - 1;
        let mut indices = Vec::with_capacity(entries);
        for (row, ends) in indptr.windows(2).enumerate() {
            let (lo, hi) = match band {
                Some(width) => ((row as u64).saturating_sub(width), rows.min(row as u64 + width)),
                None => (0, rows),
            };
            indices.extend((ends[0]..ends[1]).map(|_| (lo + next(&mut state) % (hi - lo)) as i32));
        }
        Matrix { indptr, indices }
    }

    /// The arguments of the program, a file each; the numbers themselves do not matter.
    fn write(&self, place: &Path) -> Result<(), String> {
        let integers = |values: &[i32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let floats = |count: usize| (0..count).flat_map(|at| (at as f64).sqrt().to_le_bytes()).collect::<Vec<u8>>();
        let (rows, entries) = (self.indptr.len() - 1, self.indices.len());
        let files = [
            ("indptr", "<i4", rows + 1, integers(&self.indptr)),
            ("indices", "<i4", entries, integers(&self.indices)),
            ("data", "<f8", entries, floats(entries)),
            ("x", "<f8", rows, floats(rows)),
        ];
        for (name, kind, count, data) in files {
            let path = place.join(format!("{name}.npy"));
            let bytes = [npy_header(kind, &[count as i64]), data].concat();
            fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_within_their_arrays() {
        for band in [None, Some(7)] {
            let Matrix { indptr, indices } = Matrix::new(1000, band);
            assert!(indptr.is_sorted() && indptr.first() == Some(&0) && indptr.last() == Some(&1000));
            assert_eq!(indices.len(), 1000);
            assert!(indices.iter().all(|column| (0..indptr.len() as i32 - 1).contains(column)));
        }
    }
}
