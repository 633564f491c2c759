//! Every function against correctly rounded values.
//!
//! `f32`: every n-th number, n from `FARKAS_MATH_STRIDE`; 1 means all of them, which takes about an hour in release mode.
//! `f64`: random numbers. `cargo run --release -p farkas-math --example worst` shows the worst of each function.

use crate::reference::{self, Random};
use farkas_math::{Binary, Unary};

/// Odd, so that all patterns of low bits occur.
const STRIDE: usize = 32_771;
const COUNT: u64 = 100_000;
/// No function is as far off as this, in units of the last place, for `f32`.
const WORST: f64 = 1.6;
/// A correctly rounded value is half a unit off, so this means an error of less than 1.5 units.
const FARTHEST: u64 = 1;

fn stride() -> usize {
    let wanted = std::env::var("FARKAS_MATH_STRIDE").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(STRIDE).max(1)
}

#[test]
fn functions_of_one_f32_are_accurate() {
    for &function in Unary::ALL {
        let exact = reference::unary(function);
        for bits in (0..1usize << 32).step_by(stride()) {
            let x = f32::from_bits(bits as u32);
            let (result, exact) = (function.f32(x), exact(f64::from(x)));
            let error = reference::error_f32(result, exact);
            assert!(error <= WORST, "{}({x:e}) is {exact:e}, not {result:e}: {error} ulp", function.name());
        }
    }
}

#[test]
fn functions_of_one_f64_are_accurate() {
    for &function in Unary::ALL {
        let exact = reference::unary(function);
        let mut random = Random(2);
        for position in 0..COUNT {
            let x = reference::argument_f64(&mut random, position);
            let (result, exact) = (function.f64(x), exact(x));
            let distance = reference::distance_f64(result, exact);
            assert!(distance <= FARTHEST, "{}({x:e}) is {exact:e}, not {result:e}", function.name());
        }
    }
}

#[test]
fn functions_of_two_arguments_are_accurate() {
    for &function in Binary::ALL {
        let exact = reference::binary(function);
        let mut random = Random(3);
        for position in 0..4 * COUNT {
            let (x, y) = reference::arguments_f32(function, &mut random, position);
            let (result, value) = (function.f32(x, y), exact(f64::from(x), f64::from(y)));
            let error = reference::error_f32(result, value);
            assert!(error <= WORST, "{}({x:e}, {y:e}) is {value:e}, not {result:e}: {error} ulp", function.name());
            let (x, y) = reference::arguments_f64(function, &mut random, position);
            let (result, value) = (function.f64(x, y), exact(x, y));
            let distance = reference::distance_f64(result, value);
            assert!(distance <= FARTHEST, "{}({x:e}, {y:e}) is {value:e}, not {result:e}", function.name());
        }
    }
}

/// Around every power of two of either sign, where exponents change.
#[test]
fn functions_are_accurate_around_powers_of_two() {
    for &function in Unary::ALL {
        let exact = reference::unary(function);
        for exponent in 0..2048u64 {
            for offset in -3..=3i64 {
                let x = f64::from_bits((exponent << 52).wrapping_add_signed(offset));
                for x in [x, -x] {
                    let (result, exact) = (function.f64(x), exact(x));
                    let distance = reference::distance_f64(result, exact);
                    assert!(distance <= FARTHEST, "{}({x:e}) is {exact:e}, not {result:e}", function.name());
                }
            }
        }
    }
}

/// The numbers next to the limits where results overflow, vanish or become constant.
#[test]
fn functions_are_accurate_around_their_limits() {
    let limits: [f64; 25] = [
        88.72284,
        89.41599,
        -87.33655,
        -103.97208,
        -17.32868,
        9.010913,
        10.054,
        3.832506,
        709.782712893384,
        710.475860073944,
        -708.3964185322641,
        -745.1332191019411,
        -37.42994775023705,
        19.06154746539849,
        26.54325845425098,
        27.226017111108366,
        5.921587195794508,
        1023.9999999999999,
        -1074.9999999999998,
        0.46875,
        0.5,
        0.625,
        1.0,
        134217728.0,
        65536.0,
    ];
    for &function in Unary::ALL {
        let exact = reference::unary(function);
        for limit in limits.iter().flat_map(|limit| [*limit, -limit]) {
            for offset in -20_000..=20_000i64 {
                let x = f64::from_bits(limit.to_bits().wrapping_add_signed(offset * 7));
                let (result, value) = (function.f64(x), exact(x));
                let distance = reference::distance_f64(result, value);
                assert!(distance <= FARTHEST, "{}({x:e}) is {value:e}, not {result:e}", function.name());
                let x = f32::from_bits((limit as f32).to_bits().wrapping_add_signed(offset as i32));
                let (result, value) = (function.f32(x), exact(f64::from(x)));
                let error = reference::error_f32(result, value);
                assert!(error <= WORST, "{}({x:e}) is {value:e}, not {result:e}: {error} ulp", function.name());
            }
        }
    }
}

/// Numbers that are nearly multiples of π/2, among them the nearest of all `f64`.
#[test]
fn huge_arguments_are_reduced_correctly() {
    let hard = [
        6381956970095103.0 * 2f64.powi(797),
        5319372648326541.0 * 2f64.powi(1023 - 53),
        f64::MAX,
        f64::MAX / 3.0,
        1e22,
        2f64.powi(1023),
        134217728.0,
        134217727.99999999,
        1.4965776766268446e51,
        16367173.0 * 2f64.powi(72),
        9.5e37,
    ];
    for x in hard {
        for function in [Unary::Sin, Unary::Cos, Unary::Tan] {
            let exact = reference::unary(function);
            let (result, value) = (function.f64(x), exact(x));
            assert!(reference::distance_f64(result, value) <= FARTHEST, "{}({x:e}) is {value:e}", function.name());
            let narrow = x as f32;
            let (result, value) = (function.f32(narrow), exact(f64::from(narrow)));
            assert!(reference::error_f32(result, value) <= WORST, "{}({narrow:e}) is {value:e}", function.name());
        }
    }
    assert_eq!(Unary::Sin.f64(1e22), -0.8522008497671888);
}
