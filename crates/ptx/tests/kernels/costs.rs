//! What the kernels cost, by count.

use farkas_ptx::emulate::{Class, Counts};

use crate::{Case, cases, run, text_of};

fn counts(name: &str) -> (Case, Counts) {
    let case = cases::all().into_iter().find(|case| case.kernel.name == name).expect("a kernel of this name");
    let counts = run(&case, &text_of(&case.kernel), 1).expect("the kernel runs").1;
    (case, counts)
}

#[test]
fn matmul_moves_memory_without_waste() {
    for (name, waves) in [("matmul_128x128x8", 1.05), ("matmul_64x64x8", 1.05), ("matmul_64x128x16", 1.2)] {
        let (_, counts) = counts(name);
        assert_eq!(counts.sectors, counts.ideal_sectors, "{name}");
        assert!(counts.waves as f64 <= waves * counts.ideal_waves as f64, "{name}: {counts:?}");
    }
    let (_, counts) = counts("matmul_128x128x8");
    // 128 × 256 cells, 24 products for each.
    assert_eq!(counts.instructions(Class::Fma), 128 * 256 * 24);
    assert_eq!(counts.barriers, 2 * 5, "five for each of two blocks");
}

#[test]
fn padding_keeps_a_transposition_from_conflicts() {
    let (_, padded) = counts("transpose_32_33");
    assert_eq!(padded.waves, padded.ideal_waves);
    assert_eq!(padded.sectors, padded.ideal_sectors);
    let (_, plain) = counts("transpose_16_16");
    assert!(plain.waves > 4 * plain.ideal_waves, "{plain:?}");
}

#[test]
fn reductions_read_memory_once() {
    let (_, counts) = counts("row_sum");
    // Three rows of 2,048 words, and a word for each row.
    assert_eq!(counts.sectors, 3 * 2048 * 4 / 32 + 3);
    assert_eq!(counts.sectors, counts.ideal_sectors);
    assert_eq!(counts.barriers, 3);
    assert!(counts.instructions(Class::Warp) > 0);
}
