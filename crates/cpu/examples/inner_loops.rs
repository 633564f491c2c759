//! Shows and times the inner loops that decide about speed: `cargo run --release -p farkas-cpu --example inner_loops`.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

use std::time::{Duration, Instant};

use farkas_cpu::{Buffer, Compiled, Options, compile_with};
use loops::{InBounds, parse};
use program::{Slice, SliceMut};

const COLUMNS: &str = "
kernel columns(N, M, K; A: in f64[N, K], B: in f64[K, M], C: out f64[N, M]) {
    local t: f64
    for i in 0..N {
        for j in 0..M {
            t = 0.0
            for k in 0..K { t = t + A[i, k] * B[k, j] }
            C[i, j] = t
        }
    }
}";

const ROWS: &str = "
kernel rows(N, M, K; A: in f64[N, K], B: in f64[K, M], C: inout f64[N, M]) {
    for i in 0..N {
        for k in 0..K {
            for j in 0..M { C[i, j] = C[i, j] + A[i, k] * B[k, j] }
        }
    }
}";

const CHAIN: &str = "
kernel chain(N, M; X: in f64[N, M], Y: out f64[N, M]) {
    for i in 0..N {
        for j in 0..M { Y[i, j] = X[i, j] * 2.0 + 1.0 }
    }
}";

fn compiled(text: &str) -> Compiled {
    let options = Options { keep_text: true, ..Options::default() };
    let kernel = InBounds::by_proof(parse(text).unwrap()).verified().unwrap();
    let start = Instant::now();
    let compiled = compile_with(&kernel, &options).unwrap();
    println!("== {}, compiled in {:?}\n{}", kernel.name, start.elapsed(), compiled.asm());
    compiled
}

fn best(mut run: impl FnMut()) -> Duration {
    let timed = (0..5).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    timed.min().unwrap_or_default()
}

fn main() {
    for n in [500_i64, 512] {
        let square = (n * n) as usize;
        let (a, b, mut c) = (vec![1.5; square], vec![0.5; square], vec![0.0; square]);
        for text in [COLUMNS, ROWS] {
            let kernel = compiled(text);
            let time = best(|| {
                let c = Buffer::Write(SliceMut::F64(&mut c));
                let mut buffers = [Buffer::Read(Slice::F64(&a)), Buffer::Read(Slice::F64(&b)), c];
                kernel.call(&[n, n, n], &[], &mut buffers).unwrap();
            });
            let flops = 2.0 * (n * n * n) as f64 / time.as_secs_f64() / 1e9;
            println!("matmul {n}^3 in f64: {time:?}, {flops:.2} GFLOP/s");
        }
    }
    let (rows, columns) = (6400, 2048);
    let (x, mut y) = (vec![1.0; rows * columns], vec![0.0; rows * columns]);
    let kernel = compiled(CHAIN);
    let time = best(|| {
        let mut buffers = [Buffer::Read(Slice::F64(&x)), Buffer::Write(SliceMut::F64(&mut y))];
        kernel.call(&[rows as i64, columns as i64], &[], &mut buffers).unwrap();
    });
    let bytes = 2.0 * (rows * columns * 8) as f64;
    println!("chain over 105 MB: {time:?}, {:.1} GB/s", bytes / time.as_secs_f64() / 1e9);
}
