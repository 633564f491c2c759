//! Shows and times the inner loops that decide about speed.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::allow_attributes, reason = "a program for people")]

use std::time::Instant;

use farkas_cpu::{Buffer, Options, compile_with};
use loops::{Kernel, verify};
use program::{BinaryOp, Role, ScalarType, Slice, SliceMut, Value};

#[path = "../tests/build/mod.rs"]
mod build;
use build::*;

/// i-k-j order: the inner loop runs along rows.
fn matmul_rows() -> Kernel {
    let ty = ScalarType::F64;
    let mut k = kernel("rows", &["N", "M", "K"], &["i", "k", "j"]);
    let a = array(&mut k, "A", ty, vec![p(0), p(2)], Role::In);
    let b = array(&mut k, "B", ty, vec![p(2), p(1)], Role::In);
    let out = array(&mut k, "C", ty, vec![p(0), p(1)], Role::InOut);
    let product = binary(BinaryOp::Mul, load(&k, a, vec![v(0), v(1)]), load(&k, b, vec![v(1), v(2)]));
    let sum = binary(BinaryOp::Add, load(&k, out, vec![v(0), v(2)]), product);
    let inner = serial(2, c(0), p(1), vec![store(out, vec![v(0), v(2)], sum)]);
    k.body = vec![serial(0, c(0), p(0), vec![serial(1, c(0), p(2), vec![inner])])];
    k
}

/// `y[i,j] = x[i,j] * 2 + 1`, with a symbolic width.
fn chain() -> Kernel {
    let ty = ScalarType::F64;
    let mut k = kernel("chain", &["N", "M"], &["i", "j"]);
    let x = array(&mut k, "x", ty, vec![p(0), p(1)], Role::In);
    let y = array(&mut k, "y", ty, vec![p(0), p(1)], Role::Out);
    let doubled = binary(BinaryOp::Mul, load(&k, x, vec![v(0), v(1)]), constant(Value::F64(2.0)));
    let value = binary(BinaryOp::Add, doubled, constant(Value::F64(1.0)));
    let inner = serial(1, c(0), p(1), vec![store(y, vec![v(0), v(1)], value)]);
    k.body = vec![serial(0, c(0), p(0), vec![inner])];
    k
}

fn main() {
    let options = Options { keep_text: true, ..Options::default() };
    let n = 500_i64;
    let square = (n * n) as usize;
    let (a, b, mut out) = (vec![1.5_f64; square], vec![0.5_f64; square], vec![0.0_f64; square]);
    for kernel in [matmul(ScalarType::F64), matmul_rows()] {
        let name = kernel.name.clone();
        let start = Instant::now();
        let compiled = compile_with(&verify(kernel).unwrap(), &options).unwrap();
        println!("== {name}, compiled in {:?}\n{}", start.elapsed(), compiled.asm());
        let best = (0..3).map(|_| {
            let start = Instant::now();
            let mut buffers =
                [Buffer::Read(Slice::F64(&a)), Buffer::Read(Slice::F64(&b)), Buffer::Write(SliceMut::F64(&mut out))];
            compiled.call(&[n, n, n], &[], &mut buffers).unwrap();
            start.elapsed()
        });
        println!("{name} {n}^3 f64: {:?}", best.min().unwrap());
    }
    let (rows, columns) = (6400, 2048);
    let x = vec![1.0_f64; rows * columns];
    let mut y = vec![0.0_f64; rows * columns];
    let compiled = compile_with(&verify(chain()).unwrap(), &options).unwrap();
    println!("== chain\n{}", compiled.asm());
    let best = (0..5).map(|_| {
        let start = Instant::now();
        let mut buffers = [Buffer::Read(Slice::F64(&x)), Buffer::Write(SliceMut::F64(&mut y))];
        compiled.call(&[rows as i64, columns as i64], &[], &mut buffers).unwrap();
        start.elapsed()
    });
    println!("chain over {} MB in and out: {:?}", rows * columns * 8 / 1_000_000, best.min().unwrap());
}
