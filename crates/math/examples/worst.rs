//! The worst error of each function: every `f32`, or every n-th, and as many random `f64`.
//!
//! `cargo run --release -p farkas-math --example worst -- [stride] [number of f64 arguments] [function…]`
#![expect(clippy::print_stdout, reason = "a table for people")]

#[path = "../tests/functions/reference.rs"]
mod reference;

use farkas_math::{Binary, Unary};
use reference::Random;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let stride: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1).max(1);
    let count: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10_000_000);
    let only: Vec<String> = arguments.collect();
    let wanted = |name: &str| only.is_empty() || only.iter().any(|only| only == name);
    println!("function  f32: worst ulp, at            f64: floats off, at");
    for &function in Unary::ALL {
        if !wanted(function.name()) {
            continue;
        }
        let exact = reference::unary(function);
        let mut worst = (0.0, 0.0);
        for bits in (0..1u64 << 32).step_by(stride as usize) {
            let x = f32::from_bits(bits as u32);
            let error = reference::error_f32(function.f32(x), exact(f64::from(x)));
            if error > worst.0 {
                worst = (error, x);
            }
        }
        let mut random = Random(1);
        let mut farthest = (0, 0.0);
        for position in 0..count {
            let x = reference::argument_f64(&mut random, position);
            let distance = reference::distance_f64(function.f64(x), exact(x));
            if distance > farthest.0 {
                farthest = (distance, x);
            }
        }
        println!("{:9} {:8.3} {:<22e} {} {:e}", function.name(), worst.0, worst.1, farthest.0, farthest.1);
    }
    for &function in Binary::ALL {
        if !wanted(function.name()) {
            continue;
        }
        let exact = reference::binary(function);
        let mut random = Random(1);
        let mut worst = (0.0, (0.0, 0.0));
        let mut farthest = (0, (0.0, 0.0));
        for position in 0..count {
            let (x, y) = reference::arguments_f32(function, &mut random, position);
            let error = reference::error_f32(function.f32(x, y), exact(f64::from(x), f64::from(y)));
            if error > worst.0 {
                worst = (error, (x, y));
            }
            let (x, y) = reference::arguments_f64(function, &mut random, position);
            let distance = reference::distance_f64(function.f64(x, y), exact(x, y));
            if distance > farthest.0 {
                farthest = (distance, (x, y));
            }
        }
        println!("{:9} {:8.3} {:?}   {} {:?}", function.name(), worst.0, worst.1, farthest.0, farthest.1);
    }
}
