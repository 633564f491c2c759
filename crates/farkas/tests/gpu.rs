//! Schedules for GPUs, on the emulator: what they compute, and what their kernels cost.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use farkas::{Emit, Engine, Options, Schedule, Source};
use interp::Env;
use program::{Data, Role, ScalarType};
use ptx::emulate::{Counts, Options as Emulation};

/// A file of the examples.
fn read(path: &str) -> Source {
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path);
    let text = std::fs::read_to_string(&whole).unwrap_or_else(|error| panic!("{}: {error}", whole.display()));
    Source::new(path, text.as_str())
}

/// Runs an example with its schedule as kernels and as loops, which must agree; returns the text and what it cost.
fn run(program: &str, schedule: &str, params: &[i64], cells: &[usize]) -> (String, Counts) {
    let schedule = Some(Schedule::Script(read(schedule)));
    let options = Options { emit: vec![Emit::Loops], schedule, ..Options::default() };
    let source = read(program);
    let module = Engine::with_options(options).compile_source(&source);
    let module = module.unwrap_or_else(|error| panic!("{}", error.render(farkas::Style::Plain)));
    let texts: Vec<&(Emit, String)> = module.functions().iter().flat_map(|function| function.texts()).collect();
    let loops = loops::parse(&texts[0].1).unwrap_or_else(|error| panic!("{error}"));
    let loops = loops::verify(loops).unwrap_or_else(|error| panic!("{error}"));
    let start = || {
        let number = |at: usize| (at * 7919 % 1013) as f64 / 64.0 - 7.0;
        let given = loops.arrays.iter().zip(cells.iter().map(Some).chain(std::iter::repeat(None)));
        let arrays = given.map(|(array, cells)| {
            let all = (0..*cells.filter(|_| array.role != Role::Local)?).map(number);
            Some(match array.ty {
                ScalarType::F32 => Data::F32(all.map(|x| x as f32).collect()),
                _ => Data::F64(all.collect()),
            })
        });
        Env { params: params.to_vec(), scalars: Vec::new(), arrays: arrays.collect() }
    };
    let (mut expected, mut found) = (start(), start());
    interp::run_loops(&loops, &mut expected).unwrap_or_else(|error| panic!("{error}"));
    let made = ptx::emit(&loops, ptx::ir::Target::sm(80)).unwrap_or_else(|error| panic!("{error}"));
    let options = Emulation { seed: 3, host_threads: 2, budget: 1_000_000_000 };
    let counts = made.emulate(&found.params, &found.scalars, &mut found.arrays, &options);
    let counts = counts.unwrap_or_else(|error| panic!("{error}\n{}", made.module.text()));
    for (array, (found, expected)) in loops.arrays.iter().zip(found.arrays.iter().zip(&expected.arrays)) {
        assert!(array.role == Role::Local || found == expected, "`{}` differs", array.name);
    }
    (made.module.text(), counts)
}

fn count(text: &str, word: &str) -> usize {
    text.lines().filter(|line| line.contains(word)).count()
}

#[test]
fn the_matrix_product_moves_nothing_twice() {
    let (text, counts) = run("matmul-tiles.fks", "schedules/matmul-gpu.sched", &[1, 1, 2], &[2048, 2048, 16384]);
    assert_eq!(count(&text, "bar.sync"), 2, "for each tile");
    assert_eq!((count(&text, "fma.rn.f32"), count(&text, "ld.shared.v4.f32")), (512, 32), "8 × 8 cells, 8 terms each");
    assert_wide(&text);
    assert_eq!(counts.sectors, counts.ideal_sectors, "{counts:?}");
    assert!(counts.waves * 100 <= counts.ideal_waves * 105, "{counts:?}");
}

/// Every access of global memory moves 128 bits for each thread.
fn assert_wide(text: &str) {
    let global = |line: &&str| line.contains("ld.global") || line.contains("st.global");
    let narrow: Vec<&str> = text.lines().filter(global).filter(|line| !line.contains(".v4.f32")).collect();
    assert!(narrow.is_empty(), "{narrow:?}\n{text}");
}

/// A block's cells go through shared memory, with a border of one cell around them.
#[test]
fn a_stencil_reads_hardly_more_than_it_needs() {
    let cells = [66 * 264, 64 * 256];
    let (text, counts) = run("jacobi-tiles.fks", "schedules/jacobi-gpu.sched", &[2, 2], &cells);
    assert_eq!(count(&text, "bar.sync"), 1, "{text}");
    assert!(count(&text, "ld.shared") >= 5 && count(&text, ".shared .align") == 1, "{text}");
    assert!(counts.sectors * 100 <= counts.ideal_sectors * 115, "{counts:?}");
    // What any kernel has to move: each cell of both arrays once.
    let least = (cells[0] + cells[1]) as u64 / 8;
    assert!(counts.sectors * 100 <= least * 115, "{counts:?}, {least} at least");
    assert!(counts.waves * 100 <= counts.ideal_waves * 105, "{counts:?}");
}

/// A lane for each thread of a block; what they have added up meets in shared memory and, at last, in a warp.
#[test]
fn sums_of_rows_are_wide_and_end_in_shuffles() {
    let (text, counts) = run("row-sums.fks", "schedules/row-sums-gpu.sched", &[3, 2], &[3 * 2048, 3]);
    assert_eq!(count(&text, "shfl.sync.down"), 5, "{text}");
    assert_eq!(count(&text, "bar.sync"), 3, "256 to 128, to 64, to 32\n{text}");
    assert_eq!(count(&text, "ld.global.nc.v4.f32"), 1, "{text}");
    assert_eq!((count(&text, "ld.global"), count(&text, "st.global")), (2, 2), "and the result\n{text}");
    assert_eq!(counts.sectors, counts.ideal_sectors, "{counts:?}");
}

#[test]
fn softmax_of_rows_is_wide() {
    let (text, counts) = run("row-softmax.fks", "schedules/row-softmax-gpu.sched", &[2, 2], &[4096, 4096]);
    assert_wide(&text);
    assert_eq!(count(&text, "shfl.sync.down"), 10, "a maximum and a sum");
    assert_eq!(counts.sectors, counts.ideal_sectors, "{counts:?}");
}

/// Blocks have partial sums, which one thread adds up in a kernel of its own.
#[test]
fn a_sum_over_all_blocks_takes_two_kernels() {
    let (text, counts) = run("dot.fks", "schedules/dot-gpu.sched", &[100_001], &[100_001, 100_001, 1]);
    let entries: Vec<&str> = text.split(".visible .entry").skip(1).collect();
    let shuffles: Vec<usize> = entries.iter().map(|entry| count(entry, "shfl.sync.down")).collect();
    assert_eq!(shuffles.iter().filter(|shuffles| **shuffles > 0).count(), 1, "{text}");
    assert!(entries.len() >= 2 && shuffles.last() == Some(&0), "{shuffles:?}");
    assert!(counts.sectors * 100 <= counts.ideal_sectors * 115, "{counts:?}");
}
