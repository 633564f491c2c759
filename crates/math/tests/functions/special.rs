//! Special values: zeros, infinities, NaN, exact results. C's Annex F says what they are.

use farkas_math::{Binary, Unary};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[track_caller]
fn unary(function: Unary, cases: &[(f64, f64)]) {
    for &(x, expected) in cases {
        let result = function.f64(x);
        assert!(same(result, expected), "{}({x:?}) is {result:?}, not {expected:?}", function.name());
        let result = function.f32(x as f32);
        assert!(same(result.into(), (expected as f32).into()), "{}({x:?}f32) is {result:?}", function.name());
    }
}

#[track_caller]
fn binary(function: Binary, cases: &[(f64, f64, f64)]) {
    for &(x, y, expected) in cases {
        let result = function.f64(x, y);
        assert!(same(result, expected), "{}({x:?}, {y:?}) is {result:?}, not {expected:?}", function.name());
        let result = function.f32(x as f32, y as f32);
        assert!(
            same(result.into(), (expected as f32).into()),
            "{}({x:?}, {y:?}) as f32 is {result:?}",
            function.name()
        );
    }
}

#[test]
fn nan_gives_nan() {
    for &function in Unary::ALL {
        unary(function, &[(NAN, NAN), (-NAN, NAN)]);
    }
}

#[test]
fn exponentials() {
    unary(Unary::Exp, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (1e30, INF), (-1e30, 0.0)]);
    unary(Unary::Exp2, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (10.0, 1024.0), (-2.0, 0.25), (1e30, INF)]);
    unary(Unary::Expm1, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (-1e30, -1.0), (1e30, INF)]);
    assert_eq!(Unary::Exp2.f64(-1074.0), 5e-324);
    assert_eq!(Unary::Exp2.f32(-149.0), 1e-45);
    assert_eq!(Unary::Exp2.f32(127.0), 2f32.powi(127));
}

#[test]
fn logarithms() {
    let common = [(0.0, -INF), (-0.0, -INF), (-1.0, NAN), (-INF, NAN), (INF, INF), (1.0, 0.0)];
    for function in [Unary::Log, Unary::Log2, Unary::Log10] {
        unary(function, &common);
    }
    unary(Unary::Log2, &[(1024.0, 10.0), (0.125, -3.0)]);
    unary(Unary::Log10, &[(10.0, 1.0), (1000.0, 3.0), (1e10, 10.0)]);
    unary(Unary::Log1p, &[(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (-INF, NAN), (INF, INF)]);
    for exponent in -1074..1024 {
        let power = Unary::Exp2.f64(exponent.into());
        assert_eq!(Unary::Log2.f64(power), f64::from(exponent));
    }
}

#[test]
fn powers() {
    let mut cases = Vec::new();
    for y in [0.0, -0.0] {
        cases.extend([0.0, -0.0, 2.0, -3.0, INF, -INF, NAN].map(|x| (x, y, 1.0)));
    }
    cases.extend([INF, -INF, NAN, 0.5, 3.0].map(|y| (1.0, y, 1.0)));
    cases.extend([(-1.0, INF, 1.0), (-1.0, -INF, 1.0), (-1.0, 3.0, -1.0), (-1.0, 4.0, 1.0), (-1.0, NAN, NAN)]);
    cases.extend([(0.0, -3.0, INF), (-0.0, -3.0, -INF), (0.0, -2.0, INF), (-0.0, -2.0, INF), (-0.0, -0.5, INF)]);
    cases.extend([(0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, 0.5, 0.0), (0.0, INF, 0.0)]);
    cases.extend([(0.0, -INF, INF), (-0.0, -INF, INF), (-0.0, INF, 0.0)]);
    cases.extend([(-2.0, 0.5, NAN), (-2.0, -1.5, NAN), (-2.0, 3.0, -8.0), (-2.0, 2.0, 4.0), (-2.0, -3.0, -0.125)]);
    cases.extend([(0.5, INF, 0.0), (0.5, -INF, INF), (2.0, INF, INF), (2.0, -INF, 0.0), (-0.5, INF, 0.0)]);
    cases.extend([(-0.5, -INF, INF), (-2.0, INF, INF), (-2.0, -INF, 0.0)]);
    cases.extend([(INF, 2.0, INF), (INF, -2.0, 0.0), (INF, 0.5, INF), (-INF, 3.0, -INF), (-INF, 2.0, INF)]);
    cases.extend([(-INF, -3.0, -0.0), (-INF, -2.0, 0.0), (-INF, 0.5, INF), (-INF, -0.5, 0.0), (INF, INF, INF)]);
    cases.extend([(NAN, 1.0, NAN), (2.0, NAN, NAN), (3.0, 2.0, 9.0), (7.0, 3.0, 343.0), (10.0, 3.0, 1000.0)]);
    cases.extend([(9.0, 0.5, 3.0), (2.0, -1.0, 0.5), (1e30, 1e30, INF), (1e30, -1e30, 0.0)]);
    binary(Binary::Pow, &cases);
    // Squares of integers are exact.
    for x in 1..4096 {
        assert_eq!(Binary::Pow.f32(x as f32, 2.0), (x * x) as f32);
        assert_eq!(Binary::Pow.f64(f64::from(x), 3.0), f64::from(x).powi(3));
    }
}

#[test]
fn roots() {
    unary(Unary::Sqrt, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-1.0, NAN), (9.0, 3.0)]);
    unary(Unary::Cbrt, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (27.0, 3.0), (-8.0, -2.0), (0.125, 0.5)]);
    let infinite = [(INF, NAN), (NAN, INF), (-INF, 1.0), (1.0, -INF), (INF, INF)];
    binary(Binary::Hypot, &infinite.map(|(x, y)| (x, y, INF)));
    binary(Binary::Hypot, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (0.0, -0.0, 0.0), (-3.0, 4.0, 5.0), (-0.0, -7.0, 7.0)]);
    assert_eq!(Binary::Hypot.f64(3e300, 4e300), 5e300);
    assert_eq!(Binary::Hypot.f64(5e-324, 0.0), 5e-324);
    assert_eq!(Binary::Hypot.f64(1.5e308, 1.5e308), INF);
}

#[test]
fn hyperbolic() {
    unary(Unary::Sinh, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (1e30, INF), (-1e30, -INF)]);
    unary(Unary::Cosh, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (1e30, INF)]);
    unary(Unary::Tanh, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (1e30, 1.0), (-1e30, -1.0)]);
}

#[test]
fn trigonometric() {
    unary(Unary::Sin, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)]);
    unary(Unary::Cos, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)]);
    unary(Unary::Tan, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)]);
}

#[test]
fn inverse_trigonometric() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    unary(Unary::Asin, &[(0.0, 0.0), (-0.0, -0.0), (1.0, FRAC_PI_2), (-1.0, -FRAC_PI_2), (1.5, NAN), (-INF, NAN)]);
    unary(Unary::Acos, &[(1.0, 0.0), (0.0, FRAC_PI_2), (-0.0, FRAC_PI_2), (-1.0, PI), (1.5, NAN), (INF, NAN)]);
    unary(Unary::Atan, &[(0.0, 0.0), (-0.0, -0.0), (1.0, FRAC_PI_4), (INF, FRAC_PI_2), (-INF, -FRAC_PI_2)]);
    let three_quarters = 3.0 * FRAC_PI_4;
    binary(
        Binary::Atan2,
        &[
            (0.0, 0.0, 0.0),
            (-0.0, 0.0, -0.0),
            (0.0, -0.0, PI),
            (-0.0, -0.0, -PI),
            (0.0, -1.0, PI),
            (-0.0, -1.0, -PI),
            (0.0, 1.0, 0.0),
            (-0.0, 1.0, -0.0),
            (1.0, 0.0, FRAC_PI_2),
            (1.0, -0.0, FRAC_PI_2),
            (-1.0, 0.0, -FRAC_PI_2),
            (1.0, -INF, PI),
            (-1.0, -INF, -PI),
            (1.0, INF, 0.0),
            (-1.0, INF, -0.0),
            (INF, 1.0, FRAC_PI_2),
            (-INF, -1.0, -FRAC_PI_2),
            (INF, INF, FRAC_PI_4),
            (-INF, INF, -FRAC_PI_4),
            (INF, -INF, three_quarters),
            (-INF, -INF, -three_quarters),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (0.0, NAN, NAN),
            (NAN, INF, NAN),
        ],
    );
}

#[test]
fn error_functions() {
    unary(Unary::Erf, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (30.0, 1.0)]);
    unary(Unary::Erfc, &[(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (30.0, 0.0), (-30.0, 2.0)]);
}

#[test]
fn rounding() {
    let kept = [0.0, -0.0, INF, -INF, 3.0, -7.0, 1e30].map(|x| (x, x));
    for function in [Unary::Floor, Unary::Ceil, Unary::Round, Unary::Trunc] {
        unary(function, &kept);
    }
    unary(Unary::Floor, &[(1.5, 1.0), (-1.5, -2.0), (-0.25, -1.0)]);
    unary(Unary::Ceil, &[(1.5, 2.0), (-1.5, -1.0), (-0.25, -0.0)]);
    unary(Unary::Trunc, &[(1.5, 1.0), (-1.5, -1.0), (-0.25, -0.0)]);
    unary(Unary::Round, &[(1.5, 2.0), (2.5, 3.0), (-1.5, -2.0), (-0.5, -1.0), (-0.25, -0.0), (8388609.0, 8388609.0)]);
    assert_eq!(Unary::Round.f64(0.49999999999999994), 0.0);
    assert_eq!(Unary::Round.f32(0.49999997), 0.0);
    assert_eq!(Unary::Round.f64(4503599627370497.5), 4503599627370498.0);
    unary(Unary::Abs, &[(-0.0, 0.0), (-INF, INF), (-2.0, 2.0)]);
}
