//! The two float formats: their layout, and the constants that the definitions use in each.
//!
//! The polynomials are fitted for Farkas: weighted least squares on Chebyshev nodes in 260 bits, reweighted towards the
//! smallest largest error, coefficients rounded one after the other and the rest fitted again. `docs/math.md` says how
//! far each is from what it stands for.

mod binary32;
mod binary64;

/// `f32` or `f64`.
///
/// `X_LOW` is what is left of a constant after rounding it to `X`; the `SHORT` ones end in zeros, so that their product
/// with an exponent is exact.
pub trait Format: Copy + std::fmt::Debug + PartialOrd + 'static {
    /// The signed integer as wide as the float.
    type Bits: Copy + std::fmt::Debug;

    /// Whether `exp` leaves out corrections that cost a fifth of its time and gain half a unit in the last place.
    const PREFERS_SPEED: bool;
    /// Bits after the point: 23 or 52.
    const FRACTION_BITS: u32;
    /// The exponent field of 1.
    const BIAS: i32;
    /// 1.5 · 2^FRACTION_BITS: adding it rounds a small number to an integer, which then stands in the lowest bits.
    const INTEGER: Self;
    /// 2^FRACTION_BITS, and its bits.
    const UNIT: Self;
    const UNIT_BITS: Self::Bits;
    /// `UNIT + BIAS`.
    const UNIT_AND_BIAS: Self;
    const SIGN: Self::Bits;
    /// The position of the sign.
    const SIGN_BIT: u32;
    const FRACTION: Self::Bits;
    /// The bits of √½, and of 1 less those.
    const SQRT_HALF_BITS: Self::Bits;
    const ONE_LESS_SQRT_HALF_BITS: Self::Bits;
    const INFINITY: Self;
    const NEG_INFINITY: Self;
    const NAN: Self;
    const SMALLEST_NORMAL: Self;
    /// A power of two that makes every subnormal number normal, and its logarithm.
    const LIFT: Self;
    const LIFT_LOG2: Self;

    /// Where `exp` and `exp2` overflow for sure, and where they are 0 for sure.
    const EXP_MAX: Self;
    const EXP_MIN: Self;
    const EXP2_MAX: Self;
    const EXP2_MIN: Self;
    /// Below this, `expm1` is -1.
    const EXPM1_MIN: Self;
    /// Above this, `tanh` is 1.
    const TANH_MAX: Self;
    /// Above this, `erfc` is 0.
    const ERFC_MAX: Self;
    /// Below this, a function with slope 1 at 0 is its argument.
    const TINY: Self;
    /// Just less than 1/2.
    const BELOW_HALF: Self;

    /// `(e^r - 1 - r) / r^2` in `r`, for |r| up to ln 2 / 2.
    const EXP: &'static [Self];
    /// `(2^r - 1) / r` in `r`, for |r| up to 1/2.
    const EXP2: &'static [Self];
    /// `(2 atanh(s) / s - 2) / z` in `z = s^2`, for |s| up to (√2 - 1) / (√2 + 1).
    const LOG: &'static [Self];
    /// `(2 atanh(s) / s - 2 - 2z/3 - 2z²/5) / z^3` in `z = s^2`, for the same s.
    const POW: &'static [Self];
    /// `(sin r - r) / r^3` in `z = r^2`, for |r| up to π/4.
    const SIN: &'static [Self];
    /// `(cos r - 1 + z/2) / z^2` in `z = r^2`, for |r| up to π/4.
    const COS: &'static [Self];
    /// `(asin s - s) / s^3` in `z = s^2`, for |s| up to 1/2.
    const ASIN: &'static [Self];
    /// `(atan t - t) / t^3` in `z = t^2`, for |t| up to 1/2.
    const ATAN: &'static [Self];
    /// `(tanh x - x) / x^3` in `z = x^2`, for |x| up to 5/8.
    const TANH: &'static [Self];
    /// `(sinh x - x) / x^3` in `z = x^2`, for |x| up to 1.
    const SINH: &'static [Self];
    /// `m^(-1/3)` in `m`, from √½ to √2, roughly.
    const CBRT: &'static [Self];
    /// `erf(x) / x - 1` in `z = x^2`, for |x| up to 1.
    const ERF: &'static [Self];
    /// `(1 + 2x) e^(x^2) erfc(x)` in `(x - c) / (x + c)` with `c = ERFC_CENTRE`, for x from 0.45 to `ERFC_MAX`.
    const ERFC: &'static [Self];
    const ERFC_LOW: Self;
    const ERFC_CENTRE: Self;

    const LOG2_E: Self;
    const LOG2_E_LOW: Self;
    const LN_2: Self;
    const LN_2_LOW: Self;
    const LN_2_SHORT: Self;
    const LN_2_SHORT_LOW: Self;
    const LOG10_2_SHORT: Self;
    const LOG10_2_SHORT_LOW: Self;
    const LOG10_E: Self;
    const LOG10_E_LOW: Self;
    const THIRD: Self;
    const TWO_THIRDS: Self;
    const TWO_THIRDS_LOW: Self;
    const TWO_FIFTHS: Self;
    const TWO_FIFTHS_LOW: Self;
    /// π/2 as the sum of three.
    const HALF_PI: Self;
    const HALF_PI_LOW: Self;
    const HALF_PI_LOWEST: Self;
    const TWO_OVER_PI: Self;
    const CBRT_2: Self;
    const CBRT_HALF: Self;
    /// How huge arguments are reduced by π/2: from where three words of π/2 do not do any more, and further on.
    const FIRST_WINDOW: Window<Self>;
    const WINDOWS: &'static [Window<Self>];

    /// Numbers of `hypot` and `atan2` outside of these are scaled before they are squared or added.
    const LARGE: Self;
    const LARGE_SCALE: Self;
    const LARGE_UNSCALE: Self;
    const SMALL: Self;
    const SMALL_SCALE: Self;
    const SMALL_UNSCALE: Self;

    /// A constant that is exact in both formats.
    fn of(value: f32) -> Self;
    fn small(value: i32) -> Self::Bits;
}

/// The part of 2/π that matters for arguments from `from` on: higher bits give multiples of 4, lower ones nothing.
#[derive(Clone, Copy, Debug)]
pub struct Window<T: 'static> {
    pub from: T,
    /// `1 / from`.
    pub scale: T,
    /// They add up to `from · 2/π` less a multiple of 4, each as long as a float.
    pub words: &'static [T],
}
