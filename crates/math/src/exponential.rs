//! `exp`, `exp2`, `expm1`: a power of two times a polynomial on a short interval around 0.

use crate::exact::{Pair, fast_two_sum, nearest, nearest_product, polynomial, two_product, two_sum};
use crate::format::Format;
use crate::ops::Ops;

pub fn exp<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let x = clamp(o, x, O::Format::EXP_MIN, O::Format::EXP_MAX);
    let reduced = reduce(o, x);
    let (n, r) = (reduced.n, reduced.r);
    let q = polynomial(o, r, O::Format::EXP);
    let square = o.mul(r, r);
    let one = o.number(1.0);
    let power = if O::Format::PREFERS_SPEED {
        let less_one = o.fma(square, q, r);
        o.add(less_one, one)
    } else {
        let (high, error) = fast_two_sum(o, one, r);
        let low = lost(o, &reduced);
        let rest = o.fma(square, q, low);
        let rest = o.add(rest, error);
        o.add(high, rest)
    };
    o.scale(power, n)
}

pub fn exp2<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let x = clamp(o, x, O::Format::EXP2_MIN, O::Format::EXP2_MAX);
    let n = nearest(o, x);
    let r = o.sub(x, n);
    let q = polynomial(o, r, O::Format::EXP2);
    let one = o.number(1.0);
    let power = o.fma(r, q, one);
    o.scale(power, n)
}

/// `2^(x + low)`, so near that exact results come out exact; `low` is at most some thousand times the last digit of `x`.
pub(crate) fn exp2_of_pair<O: Ops>(o: &mut O, (x, low): Pair<O::F>) -> O::F {
    let x = clamp(o, x, O::Format::EXP2_MIN, O::Format::EXP2_MAX);
    let n = nearest(o, x);
    let fraction = o.sub(x, n);
    let (r, r_low) = two_sum(o, fraction, low);
    // 1 + r ln 2 as a pair, and the higher powers, which make up for the last digit of ln 2.
    let first = o.float(O::Format::LN_2);
    let q = polynomial(o, r, O::Format::EXP2.get(1..).unwrap_or_default());
    let square = o.mul(r, r);
    let (linear, error) = two_product(o, r, first);
    let error = o.fma(r_low, first, error);
    let rest = o.fma(square, q, error);
    let one = o.number(1.0);
    let (high, error) = fast_two_sum(o, one, linear);
    let rest = o.add(rest, error);
    let power = o.add(high, rest);
    o.scale(power, n)
}

/// `2^n - 1 + 2^n (e^r - 1)`, halved while it is computed, so that `n` may be one more than the largest exponent.
pub fn expm1<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let bounded = clamp(o, x, O::Format::EXPM1_MIN, O::Format::EXP_MAX);
    let reduced = reduce(o, bounded);
    let (n, r) = (reduced.n, reduced.r);
    let q = polynomial(o, r, O::Format::EXP);
    let square = o.mul(r, r);
    let low = lost(o, &reduced);
    let rest = o.fma(square, q, low);
    let half = o.number(0.5);
    let half_power = o.scale(half, n);
    let offset = o.sub(half_power, half);
    let linear = o.mul(half_power, r);
    let (high, error) = fast_two_sum(o, offset, linear);
    let low = o.fma(half_power, rest, error);
    let result = o.add(high, low);
    let result = o.add(result, result);
    // Where x is its own result, halving could cost digits and the sign of zero.
    let tiny = o.float(O::Format::TINY);
    let magnitude = o.abs(x);
    let is_tiny = o.lt(magnitude, tiny);
    o.select(is_tiny, x, result)
}

/// `e^x` as `2^n (high + low)`, good for some digits more than a float has; for |x| up to `EXP_MAX`.
pub(crate) fn exp_parts<O: Ops>(o: &mut O, x: O::F) -> (O::F, Pair<O::F>) {
    let reduced = reduce(o, x);
    let (n, r) = (reduced.n, reduced.r);
    let q = polynomial(o, r, O::Format::EXP);
    let square = o.mul(r, r);
    let low = lost(o, &reduced);
    let rest = o.fma(square, q, low);
    let one = o.number(1.0);
    let (high, error) = fast_two_sum(o, one, r);
    let low = o.add(error, rest);
    (n, fast_two_sum(o, high, low))
}

/// `x` as `n ln 2 + r`. NaN stays.
struct Reduced<O: Ops> {
    n: O::F,
    /// `x` less a first part of `n ln 2`, exactly.
    high: O::F,
    r: O::F,
}

fn reduce<O: Ops>(o: &mut O, x: O::F) -> Reduced<O> {
    let log2_e = o.float(O::Format::LOG2_E);
    let n = nearest_product(o, x, log2_e);
    let ln_2 = o.float(O::Format::LN_2);
    let ln_2_low = o.float(O::Format::LN_2_LOW);
    // Exact: both terms are multiples of the last digit of ln 2 or x, and so little is left that it fits.
    let high = o.fnma(n, ln_2, x);
    Reduced { n, high, r: o.fnma(n, ln_2_low, high) }
}

/// What `r` lacks.
fn lost<O: Ops>(o: &mut O, reduced: &Reduced<O>) -> O::F {
    let ln_2_low = o.float(O::Format::LN_2_LOW);
    let seen = o.sub(reduced.high, reduced.r);
    o.fnma(reduced.n, ln_2_low, seen)
}

/// NaN stays.
pub(crate) fn clamp<O: Ops>(o: &mut O, x: O::F, least: O::Format, most: O::Format) -> O::F {
    let most = o.float(most);
    let x = o.lesser(most, x);
    let least = o.float(least);
    o.greater(least, x)
}
