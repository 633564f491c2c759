//! What the functions should give: correctly rounded values from CORE-MATH, and how far a result is from them.

use farkas_math::{Binary, Unary};

/// The correctly rounded function for `f64`.
pub(crate) fn unary(function: Unary) -> fn(f64) -> f64 {
    match function {
        Unary::Exp => core_math::exp,
        Unary::Exp2 => core_math::exp2,
        Unary::Expm1 => core_math::expm1,
        Unary::Log => core_math::log,
        Unary::Log2 => core_math::log2,
        Unary::Log10 => core_math::log10,
        Unary::Log1p => core_math::log1p,
        Unary::Sqrt => f64::sqrt,
        Unary::Cbrt => core_math::cbrt,
        Unary::Tanh => core_math::tanh,
        Unary::Sinh => core_math::sinh,
        Unary::Cosh => core_math::cosh,
        Unary::Sin => core_math::sin,
        Unary::Cos => core_math::cos,
        Unary::Tan => core_math::tan,
        Unary::Asin => core_math::asin,
        Unary::Acos => core_math::acos,
        Unary::Atan => core_math::atan,
        Unary::Erf => core_math::erf,
        Unary::Erfc => core_math::erfc,
        Unary::Floor => f64::floor,
        Unary::Ceil => f64::ceil,
        Unary::Round => f64::round,
        Unary::Trunc => f64::trunc,
        Unary::Abs => f64::abs,
    }
}

/// The correctly rounded function for `f64`.
pub(crate) fn binary(function: Binary) -> fn(f64, f64) -> f64 {
    match function {
        Binary::Pow => core_math::pow,
        Binary::Atan2 => core_math::atan2,
        Binary::Hypot => core_math::hypot,
    }
}

/// How far `result` is from `exact`, in units of the last place of an `f32` there. Infinite if one is NaN and the other is
/// not, or if they differ in sign, be it of zero. Infinity counts as the power of two after the largest number.
pub(crate) fn error_f32(result: f32, exact: f64) -> f64 {
    if result.is_nan() || exact.is_nan() {
        return if result.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if result.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    let top = 2f64.powi(128);
    let exact = exact.abs().min(top);
    let result = f64::from(result.abs()).min(top);
    let exponent = (exact.max(f64::from(f32::MIN_POSITIVE)).to_bits() >> 52) as i32 - 1023;
    (result - exact).abs() / 2f64.powi(exponent - 23)
}

/// How many floats `result` is away from the correctly rounded value; as above for NaN and signs.
pub(crate) fn distance_f64(result: f64, rounded: f64) -> u64 {
    if result.is_nan() || rounded.is_nan() {
        return if result.is_nan() && rounded.is_nan() { 0 } else { u64::MAX };
    }
    if result.is_sign_negative() != rounded.is_sign_negative() {
        return u64::MAX;
    }
    result.to_bits().abs_diff(rounded.to_bits())
}

/// Random numbers, the same in every run (SplitMix64).
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Between `low` and `high`.
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Any `f64`, subnormal and special ones included.
    pub(crate) fn any(&mut self) -> f64 {
        f64::from_bits(self.bits())
    }

    /// Of either sign, its logarithm uniform.
    pub(crate) fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        let size = self.uniform(low.ln(), high.ln()).exp();
        if self.bits() & 1 == 0 { size } else { -size }
    }
}

/// Arguments of `f64` functions: any bits, usual sizes, and around the places where definitions change.
pub(crate) fn argument_f64(random: &mut Random, position: u64) -> f64 {
    match position % 8 {
        0 => random.any(),
        1 => random.uniform(-2.0, 2.0),
        2 => random.uniform(-30.0, 30.0),
        3 => random.uniform(-750.0, 750.0),
        4 => random.magnitude(1e-320, 1e308),
        5 => random.magnitude(1e-20, 1e10),
        // Near multiples of π/2.
        6 => {
            (random.magnitude(1.0, 1e9).round() * std::f64::consts::FRAC_PI_2)
                * (1.0 + random.uniform(-2.0, 2.0) * f64::EPSILON)
        }
        // Near 1.
        _ => 1.0 + random.magnitude(1e-17, 1.0),
    }
}

/// Pairs of arguments of `f64` functions.
pub(crate) fn arguments_f64(function: Binary, random: &mut Random, position: u64) -> (f64, f64) {
    if position.is_multiple_of(4) {
        return (random.any(), random.any());
    }
    if function == Binary::Pow {
        // So that the result is mostly a number.
        let x = match position % 4 {
            1 => random.magnitude(1e-300, 1e300).abs(),
            2 => 1.0 + random.magnitude(1e-12, 0.5),
            _ => random.uniform(0.0, 3.0),
        };
        return (x, random.uniform(-1080.0, 1030.0) / x.log2());
    }
    let x = random.magnitude(1e-320, 1e308);
    let ratio = random.magnitude(1e-3, 1e3);
    (x, x * ratio)
}

/// Pairs of arguments of `f32` functions.
pub(crate) fn arguments_f32(function: Binary, random: &mut Random, position: u64) -> (f32, f32) {
    let bits = random.bits();
    if position.is_multiple_of(4) {
        return (f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
    }
    if function == Binary::Pow {
        let x = match position % 4 {
            1 => random.magnitude(1e-38, 1e38).abs(),
            2 => 1.0 + random.magnitude(1e-6, 0.5),
            _ => random.uniform(0.0, 3.0),
        } as f32;
        return (x, (random.uniform(-152.0, 130.0) / f64::from(x).log2()) as f32);
    }
    let x = random.magnitude(1e-45, 1e38);
    let ratio = random.magnitude(1e-3, 1e3);
    (x as f32, (x * ratio) as f32)
}
