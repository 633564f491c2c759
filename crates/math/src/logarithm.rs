//! `log`, `log2`, `log10`, `log1p`: the exponent, and a series in `s = f / (2 + f)` for the rest `1 + f`.

use crate::exact::{Pair, fast_two_sum, multiply, polynomial, two_sum};
use crate::format::Format;
use crate::ops::Ops;

pub fn log<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let (k, parts) = log_parts(o, x);
    let result = add_exponent(o, k, parts);
    special(o, x, result)
}

pub fn log2<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let (k, parts) = log_parts(o, x);
    let factor = (o.float(O::Format::LOG2_E), o.float(O::Format::LOG2_E_LOW));
    let (high, low) = multiply(o, parts, factor);
    let (sum, error) = fast_two_sum(o, k, high);
    let low = o.add(low, error);
    let result = o.add(sum, low);
    special(o, x, result)
}

pub fn log10<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let (k, parts) = log_parts(o, x);
    let factor = (o.float(O::Format::LOG10_E), o.float(O::Format::LOG10_E_LOW));
    let (high, low) = multiply(o, parts, factor);
    let unit = o.float(O::Format::LOG10_2_SHORT);
    let unit_low = o.float(O::Format::LOG10_2_SHORT_LOW);
    let whole = o.mul(k, unit);
    let (sum, error) = fast_two_sum(o, whole, high);
    let low = o.fma(k, unit_low, low);
    let low = o.add(low, error);
    let result = o.add(sum, low);
    special(o, x, result)
}

pub fn log1p<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let one = o.number(1.0);
    let (sum, lost) = two_sum(o, one, x);
    let (k, (high, low)) = log_parts(o, sum);
    // The logarithm has the slope 1 / (1 + x).
    let correction = o.div(lost, sum);
    let low = o.add(low, correction);
    let result = add_exponent(o, k, (high, low));
    let result = special(o, sum, result);
    let tiny = o.float(O::Format::TINY);
    let magnitude = o.abs(x);
    let is_tiny = o.lt(magnitude, tiny);
    o.select(is_tiny, x, result)
}

/// `x > 0` as `2^k m` with `m` from √½ to √2.
pub(crate) fn split<O: Ops>(o: &mut O, x: O::F) -> (O::F, O::F) {
    let smallest = o.float(O::Format::SMALLEST_NORMAL);
    let is_subnormal = o.lt(x, smallest);
    let lift = o.float(O::Format::LIFT);
    let lifted = o.mul(x, lift);
    let x = o.select(is_subnormal, lifted, x);
    let bits = o.bits(x);
    let offset = o.int(O::Format::ONE_LESS_SQRT_HALF_BITS);
    let bits = o.int_add(bits, offset);
    let exponent = o.shr(bits, O::Format::FRACTION_BITS);
    // An integer below 2^FRACTION_BITS becomes a float when it is written into the digits of that power.
    let unit_bits = o.int(O::Format::UNIT_BITS);
    let exponent = o.int_or(exponent, unit_bits);
    let exponent = o.of_bits(exponent);
    let normal = o.float(O::Format::UNIT_AND_BIAS);
    let lifted_by = o.float(O::Format::LIFT_LOG2);
    let k = o.sub(exponent, normal);
    let k_lifted = o.sub(k, lifted_by);
    let k = o.select(is_subnormal, k_lifted, k);
    let mask = o.int(O::Format::FRACTION);
    let fraction = o.int_and(bits, mask);
    let base = o.int(O::Format::SQRT_HALF_BITS);
    let m = o.int_add(fraction, base);
    (k, o.of_bits(m))
}

/// The logarithm of `x > 0` as `k ln 2 + high + low`, good for some digits more than a float has.
fn log_parts<O: Ops>(o: &mut O, x: O::F) -> (O::F, Pair<O::F>) {
    let (k, m) = split(o, x);
    let one = o.number(1.0);
    let f = o.sub(m, one);
    let two = o.number(2.0);
    let denominator = o.add(f, two);
    let s = o.div(f, denominator);
    let z = o.mul(s, s);
    let p = polynomial(o, z, O::Format::LOG);
    // log(1 + f) = f - f²/2 + s (f²/2 + z p)
    let half = o.number(0.5);
    let half_f = o.mul(f, half);
    let square = o.mul(half_f, f);
    let square_low = o.fms(half_f, f, square);
    let high = o.sub(f, square);
    let seen = o.sub(f, high);
    let error = o.sub(seen, square);
    let error = o.sub(error, square_low);
    let sum = o.fma(z, p, square);
    (k, (high, o.fma(s, sum, error)))
}

/// `k ln 2 + high + low`.
fn add_exponent<O: Ops>(o: &mut O, k: O::F, (high, low): Pair<O::F>) -> O::F {
    let ln_2 = o.float(O::Format::LN_2_SHORT);
    let ln_2_low = o.float(O::Format::LN_2_SHORT_LOW);
    let whole = o.mul(k, ln_2);
    let (sum, error) = fast_two_sum(o, whole, high);
    let low = o.fma(k, ln_2_low, low);
    let low = o.add(low, error);
    o.add(sum, low)
}

/// The logarithms of infinity, NaN, zero and negative numbers.
fn special<O: Ops>(o: &mut O, x: O::F, result: O::F) -> O::F {
    let infinity = o.float(O::Format::INFINITY);
    let is_finite = o.lt(x, infinity);
    let result = o.select(is_finite, result, x);
    let zero = o.number(0.0);
    let is_zero = o.eq(x, zero);
    let pole = o.float(O::Format::NEG_INFINITY);
    let result = o.select(is_zero, pole, result);
    let is_negative = o.lt(x, zero);
    let nan = o.float(O::Format::NAN);
    o.select(is_negative, nan, result)
}
