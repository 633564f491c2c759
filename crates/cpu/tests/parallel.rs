//! Parallel loops on a pool: two that are one directly inside the other are shared out together.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use farkas_cpu::{Options, Run};
use interp::{Env, run_loops};
use program::Data;
use rayon::ThreadPoolBuilder;

mod run;
use run::{buffers, compiled_with, verified};

/// Each iteration writes its own cell, with a number that tells who it was.
fn nest(outer: &str, inner: &str) -> String {
    format!(
        "kernel f(N, M; C: inout i64[4 * N + 9, 4 * M + 9]) {{
            parallel for i in {outer} {{
                parallel for j in {inner} {{
                    C[i, j] += index(1000 * i + j)
                }}
            }}
        }}"
    )
}

#[test]
fn nested_parallel_loops_run_every_pair_once() {
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap_or_else(|error| panic!("{error}"));
    let texts =
        [nest("0..N", "0..M"), nest("1..N", "2..M + 3"), nest("0..3 * N by 3", "1..4 * M by 4"), nest("0..N", "i..M")];
    for text in texts {
        let kernel = verified(&text);
        let compiled = compiled_with(&text, &Options { keep_text: true, ..Options::default() });
        // Pairs are numbered, and the numbers taken apart again; not where the inner loop depends on the outer one.
        assert_eq!(compiled.clif().contains("udiv"), !text.contains("in i..M"), "{text}\n{}", compiled.clif());
        for (n, m) in [(0, 5), (5, 0), (1, 1), (1, 40), (40, 1), (2, 17), (7, 13)] {
            let cells = vec![1_i64; ((4 * n + 9) * (4 * m + 9)) as usize];
            let mut env =
                Env { params: vec![n, m], scalars: Vec::new(), arrays: vec![Some(Data::from(cells.clone()))] };
            run_loops(&kernel, &mut env).unwrap_or_else(|error| panic!("{error}\n{text}"));
            for threads in [1, 2, 4] {
                let run = Run { pool: Some(&pool), threads, worth_sharing: Duration::ZERO, cancel: None };
                let mut found = [Data::from(cells.clone())];
                let called = compiled.call_with(&[n, m], &[], &mut buffers(&kernel, &mut found), &run);
                called.unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(Some(&found[0]), env.arrays[0].as_ref(), "{n} x {m}, {threads} threads: {text}");
            }
        }
    }
}
