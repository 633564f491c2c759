//! Micro-kernels of every tier against what the machine can do, measured in the same run:
//! `cargo run --release -p farkas-cpu --example micro_kernels`, or `cargo xtask bench code`.
//!
//! Compute is compared with a loop of independent multiply-adds on registers at the same width, memory with a copy of the same size.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people")]

use std::time::Instant;

use farkas_cpu::{Compiled, LargePages, Options, Tier, compile_with};
use loops::{InBounds, Verified, parse, unroll};
use program::{Data, Role, Value};

#[global_allocator]
static MEMORY: LargePages = LargePages;

/// A kernel with its data, ready to be timed.
struct Subject {
    kernel: Verified,
    compiled: Compiled,
    params: Vec<i64>,
    scalars: Vec<Value>,
    arrays: Vec<Data>,
    compile: f64,
}

impl Subject {
    fn new(text: &str, tier: Tier, params: &[i64], scalars: &[Value], arrays: Vec<Data>) -> Subject {
        let kernel = InBounds::by_proof(unroll(parse(text).unwrap())).verified().unwrap();
        // As on a machine whose last cache has 32 MB.
        let options =
            |keep_text| Options { keep_text, tier: Some(tier), streams: Some(32 << 20), ..Options::default() };
        let mut compile = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            compile_with(&kernel, &options(false)).unwrap();
            compile = compile.min(start.elapsed().as_secs_f64());
        }
        let compiled = compile_with(&kernel, &options(true)).unwrap();
        Subject { kernel, compiled, params: params.to_vec(), scalars: scalars.to_vec(), arrays, compile }
    }

    /// Seconds of the best of several calls.
    fn best(&mut self, calls: usize) -> f64 {
        let mut best = f64::INFINITY;
        let roles: Vec<Role> = self.kernel.arrays.iter().map(|array| array.role).collect();
        for _ in 0..calls {
            let mut buffers: Vec<_> = roles
                .iter()
                .zip(&mut self.arrays)
                .map(|(role, data)| match role {
                    Role::In => farkas_cpu::Buffer::Read(data.as_slice()),
                    _ => farkas_cpu::Buffer::Write(data.as_mut_slice()),
                })
                .collect();
            let start = Instant::now();
            self.compiled.call(&self.params, &self.scalars, &mut buffers).unwrap();
            best = best.min(start.elapsed().as_secs_f64());
        }
        best
    }

    fn spills(&self) -> String {
        let line = self.compiled.asm().lines().find(|line| line.contains(" spills"));
        line.and_then(|line| line.split(": ").nth(1)).unwrap_or("registers by Cranelift").to_owned()
    }
}

fn numbers(ty: &str, length: usize) -> Data {
    let number = |at: usize| (at % 17) as f64 / 16.0;
    match ty {
        "f32" => (0..length).map(|at| number(at) as f32).collect::<Vec<_>>().into(),
        _ => (0..length).map(number).collect::<Vec<_>>().into(),
    }
}

/// Rows and lanes of a register tile, by tier and size of the element.
fn tile(tier: Tier, bytes: usize) -> (usize, usize) {
    match tier {
        Tier::V4 => (14, 128 / bytes),
        Tier::V3 => (6, 64 / bytes),
        _ => (6, 32 / bytes),
    }
}

fn matmul(tier: Tier, ty: &str, bytes: usize) {
    let (rows, lanes) = tile(tier, bytes);
    let (k, calls) = (256, 400);
    let text = format!(
        "kernel tile(R, K; A: in {ty}[K, {rows}], B: in {ty}[K, {lanes}], C: inout {ty}[{rows}, {lanes}]) {{
            for r in 0..R {{
                vector({lanes}) for j in 0..{lanes} {{
                    for k in 0..K {{
                        unroll for i in 0..{rows} {{ C[i, j] += A[k, i] * B[k, j] }}
                    }}
                }}
            }}
        }}"
    );
    let arrays = vec![numbers(ty, k * rows), numbers(ty, k * lanes), numbers(ty, rows * lanes)];
    let mut subject = Subject::new(&text, tier, &[calls as i64, k as i64], &[], arrays);
    // The same without memory: factors that do not change.
    let registers = format!(
        "kernel peak(R, K; x: {ty}, y: {ty}; C: inout {ty}[{rows}, {lanes}]) {{
            for r in 0..R {{
                vector({lanes}) for j in 0..{lanes} {{
                    for k in 0..K {{
                        unroll for i in 0..{rows} {{ C[i, j] += x * y }}
                    }}
                }}
            }}
        }}"
    );
    let scalar = numbers(ty, 4).get(3).unwrap();
    let mut peak =
        Subject::new(&registers, tier, &[calls as i64, k as i64], &[scalar, scalar], vec![numbers(ty, rows * lanes)]);
    let flops = (2 * rows * lanes * k * calls) as f64;
    let (time, best) = (subject.best(20), peak.best(20));
    println!(
        "{:13} {ty} tile {rows:2} x {lanes:2}: {:6.1} GFLOP/s, {:4.0} % of {:6.1} (registers alone); {}; compiled in {:.2} ms",
        tier.name(),
        flops / time * 1e-9,
        100.0 * best / time,
        flops / best * 1e-9,
        subject.spills(),
        1e3 * subject.compile,
    );
}

/// Kernels that stream: name, text, arrays, and how many of them move per element.
fn streams(tier: Tier) {
    let kernels = [
        ("sum", "x: in f32[N], y: inout f32[]", "y[] += x[i]", 1),
        ("dot", "x: in f32[N], z: in f32[N], y: inout f32[]", "y[] += x[i] * z[i]", 2),
        ("axpy", "x: in f32[N], y: inout f32[N]", "y[i] = y[i] + x[i] * 1.5", 3),
        ("chain", "x: in f32[N], y: out f32[N]", "y[i] = max(x[i] * 2.0 + 1.0, 0.5) - x[i]", 2),
        ("reverse", "x: in f32[N], y: out f32[N]", "y[i] = x[N - 1 - i]", 2),
    ];
    for (size, n, repeat) in [("16 KB", 2048_usize, 20_000_i64), ("100 MB", 12_500_000, 1)] {
        let copy = stream("copy", "x: in f32[N], y: out f32[N]", "y[i] = x[i]", tier, n, repeat);
        let bandwidth = (8 * n) as f64 * repeat as f64 / copy;
        for (name, arrays, body, moved) in kernels {
            let time = stream(name, arrays, body, tier, n, repeat);
            let bytes = (4 * moved * n) as f64 * repeat as f64;
            println!(
                "{:13} {name:8} {size:>6}: {:6.1} GB/s, {:4.0} % of a copy",
                tier.name(),
                bytes / time * 1e-9,
                100.0 * bytes / time / bandwidth
            );
        }
    }
}

fn stream(name: &str, arrays: &str, body: &str, tier: Tier, n: usize, repeat: i64) -> f64 {
    // Sums need several accumulators; everything else only so many registers at a time.
    let lanes = if body.contains("+=") { 64 } else { 16 };
    let text =
        format!("kernel {name}(R, N; {arrays}) {{ for r in 0..R {{ vector({lanes}) for i in 0..N {{ {body} }} }} }}");
    let lengths = arrays.matches("f32[N]").count();
    let mut data: Vec<Data> = (0..lengths).map(|_| numbers("f32", n)).collect();
    if arrays.contains("f32[]") {
        data.push(numbers("f32", 1));
    }
    Subject::new(&text, tier, &[repeat, n as i64], &[], data).best(8)
}

fn main() {
    for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
        for (ty, bytes) in [("f32", 4), ("f64", 8)] {
            matmul(tier, ty, bytes);
        }
        streams(tier);
    }
}
