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

/// Runs an example with its schedule.
fn run(program: &str, schedule: &str, params: &[i64], cells: &[usize]) -> (String, Counts) {
    let schedule = Some(Schedule::Script(read(schedule)));
    compare(&read(program), Options { schedule, ..Options::default() }, params, cells)
}

/// Runs a program without a schedule.
fn run_chosen(source: &Source, params: &[i64], cells: &[usize]) -> (String, Counts) {
    let (target, device) = (farkas::Target::Ptx { sm: 80 }, farkas::Device::Emulate);
    // A busy machine must not make the choice another one.
    let time_limit = std::time::Duration::from_secs(300);
    compare(source, Options { target, device, time_limit, ..Options::default() }, params, cells)
}

/// Runs a program as kernels and as loops, which must agree; returns the text and what it cost.
fn compare(source: &Source, options: Options, params: &[i64], cells: &[usize]) -> (String, Counts) {
    let options = Options { emit: vec![Emit::Loops], ..options };
    let module = Engine::with_options(options).compile_source(source);
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
    assert_register_tiles(&text);
    assert_moves_little(&text, counts);
}

/// Nobody has to write a schedule for it.
#[test]
fn the_matrix_product_is_as_good_without_a_schedule() {
    let (text, counts) = run_chosen(&read("matmul-tiles.fks"), &[1, 2, 3], &[128 * 24, 24 * 256, 128 * 256]);
    assert_eq!(count(&text, ".visible .entry"), 1, "cells begin at zero in the same kernel\n{text}");
    assert_register_tiles(&text);
    assert_moves_little(&text, counts);
}

/// Operands by rows or by columns, doubles, batches, and a result that more is done to.
#[test]
fn products_of_whole_tiles_are_wide_whatever_their_operands() {
    let transposed = "fn f<N, M, K>(A: f32[8 * K, 128 * N], B: f32[128 * M, 8 * K]) -> (C: f32[128 * N, 128 * M]) {
        C[i, j] = sum[k] A[k, i] * B[j, k]
    }";
    let doubles = "fn f<N, M, K>(A: f64[64 * N, 8 * K], B: f64[8 * K, 64 * M]) -> (C: f64[64 * N, 64 * M]) {
        C[i, j] = sum[k] A[i, k] * B[k, j]
    }";
    let batches = "fn f<H>(A: f32[H, 128, 16], B: f32[H, 16, 256]) -> (C: f32[H, 128, 256]) {
        C[h, i, j] = sum[k] A[h, i, k] * B[h, k, j]
    }";
    let more: [(&str, &[i64], &[usize]); 3] = [
        (transposed, &[1, 2, 2], &[16 * 128, 256 * 16, 128 * 256]),
        (doubles, &[2, 1, 3], &[128 * 24, 24 * 64, 128 * 64]),
        (batches, &[2], &[2 * 128 * 16, 2 * 16 * 256, 2 * 128 * 256]),
    ];
    for (program, params, cells) in more {
        let (text, counts) = run_chosen(&Source::new("tiles.fks", program), params, cells);
        assert_eq!(count(&text, ".visible .entry"), 1, "{text}");
        assert_moves_little(&text, counts);
    }
}

/// Where a tile may be cut off, threads with one cell each waste least.
#[test]
fn products_of_any_size_have_small_squares() {
    let program = "fn f<N, M, K>(A: f32[N, K], B: f32[K, M]) -> (C: f32[N, M]) {
        C[i, j] = sum[k] A[i, k] * B[k, j]
    }";
    let (text, _) = run_chosen(&Source::new("any.fks", program), &[19, 33, 7], &[19 * 7, 7 * 33, 19 * 33]);
    assert!((1..=17).contains(&count(&text, "fma.rn.f32")), "16 terms of one cell, and what is left\n{text}");
    assert!(count(&text, ".shared .align") > 0, "{text}");
}

/// Each thread has 8 × 8 cells in registers.
fn assert_register_tiles(text: &str) {
    assert_eq!(count(text, "bar.sync"), 2, "for each tile");
    assert_eq!((count(text, "fma.rn.f32"), count(text, "ld.shared.v4.f32")), (512, 32), "8 terms each");
}

/// No sector of global memory is moved twice, and hardly an access to shared memory waits for another.
fn assert_moves_little(text: &str, counts: Counts) {
    assert_wide(text);
    assert_eq!(counts.sectors, counts.ideal_sectors, "{counts:?}\n{text}");
    assert!(counts.waves * 100 <= counts.ideal_waves * 105, "{counts:?}\n{text}");
}

/// Every access of global memory moves 128 bits for each thread.
fn assert_wide(text: &str) {
    let global = |line: &&str| line.contains("ld.global") || line.contains("st.global");
    let wide = |line: &&str| line.contains(".v4.f32") || line.contains(".v2.f64");
    let narrow: Vec<&str> = text.lines().filter(global).filter(|line| !wide(line)).collect();
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

/// The page shows the kernel of a small program as it is, with remarks.
#[test]
fn the_kernel_in_the_documentation_is_what_is_emitted() {
    let page = include_str!("../../../docs/gpu.md");
    let section = page.split("## A program and its kernel").nth(1).expect("the page has this section");
    let mut blocks = section.split("```").skip(1).step_by(2);
    let program = blocks.next().expect("the program comes first");
    let shown = blocks.next().and_then(|block| block.strip_prefix("ptx\n")).expect("then its kernel");
    let shown: Vec<&str> = shown.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end()).collect();
    let options = Options { target: farkas::Target::Ptx { sm: 70 }, emit: vec![Emit::Ptx], ..Options::default() };
    let module = Engine::with_options(options).compile_source(&Source::new("mv.fks", program));
    let module = module.unwrap_or_else(|error| panic!("{}", error.render(farkas::Style::Plain)));
    let texts: Vec<&(Emit, String)> = module.functions().iter().flat_map(|function| function.texts()).collect();
    assert!(texts[0].1.contains(&shown.join("\n")), "{}", texts[0].1);
}
