//! What a call costs beside its work: `cargo bench -p farkas --bench calls`.
//!
//! The function adds two arrays of four elements; the best of several rounds counts, because others use the machine too.

use std::hint::black_box;
use std::time::Instant;

use farkas::{Args, Engine, Error};

const ROUNDS: usize = 20;
const CALLS: u32 = 10_000;

fn main() -> Result<(), Error> {
    let source = "fn add<N>(x: f64[N], y: f64[N]) -> (z: f64[N]) { z[i] = x[i] + y[i] }";
    let function = Engine::new().compile(source)?.function("add")?.clone();
    let (x, y, mut z) = ([1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0], [0.0; 4]);
    measure("by name", || {
        let mut args = Args::new();
        args.slice("x", &x, &[4]).slice("y", &y, &[4]).slice_mut("z", &mut z, &[4]);
        function.call(&mut args)
    })?;
    let mut prepared = function.prepare(&[("N", 4)])?;
    measure("prepared", || {
        let arrays = &mut [black_box(&x)[..].into(), y[..].into(), z[..].as_mut().into()];
        prepared.call(&[], arrays)
    })
}

#[expect(clippy::print_stdout, reason = "that is what a benchmark is for")]
fn measure(name: &str, mut call: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        best = best.min(started.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    println!("{name}: {best:.0} ns per call");
    Ok(())
}
