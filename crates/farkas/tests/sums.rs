//! Long sums: what a single accumulator would lose.

use farkas::{Args, Engine};

/// A single accumulator stops at 2^24, where adding 1 changes nothing: the mean would be 0.419.
#[test]
fn the_mean_of_many_ones_is_one() -> farkas::Result<()> {
    const LENGTH: usize = 40_000_000;
    let source = "fn mean<N>(x: f32[N]) -> (m: f32) { m = (sum[i] x[i]) / f32(N) }";
    let module = Engine::new().compile(source)?;
    let (ones, mut mean) = (vec![1.0f32; LENGTH], [0.0f32]);
    let mut args = Args::new();
    args.slice("x", &ones, &[LENGTH]).slice_mut("m", &mut mean, &[]);
    module.function("mean")?.call(&mut args)?;
    drop(args);
    assert_eq!(mean, [1.0]);
    Ok(())
}
