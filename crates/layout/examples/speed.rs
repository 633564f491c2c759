//! Measures what the compiler and the calculator count on: one operation on layouts, and many JSON lines.
#![expect(clippy::print_stdout, reason = "a benchmark shows its figures")]

use std::hint::black_box;
use std::time::Instant;

use farkas_layout::calculator::jsonl;
use farkas_layout::{Error, Layout};

fn each(name: &str, work: impl Fn() -> Result<Layout, Error>) -> Result<(), Error> {
    // Short batches and the best of many: on a busy machine some run undisturbed.
    const ROUNDS: u32 = 2_000;
    println!("{name} = {}", work()?);
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        let started = Instant::now();
        for _ in 0..ROUNDS {
            let _ = black_box(work());
        }
        best = best.min(started.elapsed().as_secs_f64() / f64::from(ROUNDS));
    }
    println!("    {:.0} ns", best * 1e9);
    Ok(())
}

fn main() -> Result<(), Error> {
    let a: Layout = "((4,8),(16,2)):((2,64),(8,1))".parse()?;
    let tile: Layout = "((2,4),2):((1,8),64)".parse()?;
    let matrix: Layout = "(128,64):(64,1)".parse()?;
    each("composition", || a.composition(&tile))?;
    each("complement", || tile.complement(1024))?;
    each("logical_divide", || matrix.logical_divide(&"(32,4):(4,2048)".parse()?))?;
    let parsed: Layout = "(32,4):(4,2048)".parse()?;
    each("logical_divide (tile parsed before)", || matrix.logical_divide(&parsed))?;
    let tiler = [Layout::leaf(32, 1)?, Layout::leaf(8, 2)?];
    each("zipped_divide", || matrix.zipped_divide(&tiler))?;

    let lines = [
        r#"{"op":"composition","in":{"A":{"shape":[[4,8],[16,2]],"stride":[[2,64],[8,1]]},"B":{"shape":[2,4],"stride":[1,8]}}}"#,
        r#"{"op":"complement","in":{"L":{"shape":[2,3],"stride":[1,2]},"M":120}}"#,
        r#"{"op":"zipped_divide","in":{"A":{"shape":[128,64],"stride":[64,1]},"T":[{"shape":32,"stride":1},{"shape":8,"stride":2}]}}"#,
        r#"{"op":"weak_composite","in":{"f":{"dom":[2,3],"cod":[2,3],"map":[1,2]},"g":{"dom":[6],"cod":[6],"map":[1]}}}"#,
    ];
    let started = Instant::now();
    let bytes = (0..100_000).map(|k| jsonl(lines[k % lines.len()]).len()).sum::<usize>();
    println!("100,000 JSON lines: {:.2} s, {bytes} bytes", started.elapsed().as_secs_f64());
    Ok(())
}
