//! Building blocks of the definitions: sums and products with their rounding errors, polynomials, signs, powers of two.

use crate::format::Format;
use crate::ops::Ops;

/// A number as the sum of two floats, the second much smaller than the first.
pub(crate) type Pair<F> = (F, F);

/// `a + b`, exactly.
pub(crate) fn two_sum<O: Ops>(o: &mut O, a: O::F, b: O::F) -> Pair<O::F> {
    let sum = o.add(a, b);
    let b_seen = o.sub(sum, a);
    let a_seen = o.sub(sum, b_seen);
    let b_lost = o.sub(b, b_seen);
    let a_lost = o.sub(a, a_seen);
    (sum, o.add(a_lost, b_lost))
}

/// `a + b`, exactly, if `a` is 0 or its exponent is not less than that of `b`.
pub(crate) fn fast_two_sum<O: Ops>(o: &mut O, a: O::F, b: O::F) -> Pair<O::F> {
    let sum = o.add(a, b);
    let b_seen = o.sub(sum, a);
    (sum, o.sub(b, b_seen))
}

/// `a * b`, exactly.
pub(crate) fn two_product<O: Ops>(o: &mut O, a: O::F, b: O::F) -> Pair<O::F> {
    let product = o.mul(a, b);
    (product, o.fms(a, b, product))
}

/// `a * b` of two pairs.
pub(crate) fn multiply<O: Ops>(o: &mut O, a: Pair<O::F>, b: Pair<O::F>) -> Pair<O::F> {
    let (high, low) = two_product(o, a.0, b.0);
    let low = o.fma(a.0, b.1, low);
    (high, o.fma(a.1, b.0, low))
}

/// A polynomial, its coefficients from the constant term on. Long ones are split into even and odd powers, which halves the
/// time until the result is there.
pub(crate) fn polynomial<O: Ops>(o: &mut O, x: O::F, coefficients: &[O::Format]) -> O::F {
    if coefficients.len() < 6 {
        return horner(o, x, coefficients.iter().rev().copied());
    }
    let square = o.mul(x, x);
    let even = horner(o, square, coefficients.iter().step_by(2).rev().copied());
    let odd = horner(o, square, coefficients.iter().skip(1).step_by(2).rev().copied());
    o.fma(odd, x, even)
}

/// Coefficients from the highest power on.
fn horner<O: Ops>(o: &mut O, x: O::F, coefficients: impl Iterator<Item = O::Format>) -> O::F {
    let mut sum = None;
    for coefficient in coefficients {
        let coefficient = o.float(coefficient);
        sum = Some(match sum {
            None => coefficient,
            Some(sum) => o.fma(sum, x, coefficient),
        });
    }
    match sum {
        Some(sum) => sum,
        None => o.number(0.0),
    }
}

/// `x` rounded to the nearest integer, for |x| below a quarter of `UNIT`.
pub(crate) fn nearest<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let integer = o.float(O::Format::INTEGER);
    let shifted = o.add(x, integer);
    o.sub(shifted, integer)
}

/// `a * b` rounded to the nearest integer, likewise.
pub(crate) fn nearest_product<O: Ops>(o: &mut O, a: O::F, b: O::F) -> O::F {
    let integer = o.float(O::Format::INTEGER);
    let shifted = o.fma(a, b, integer);
    o.sub(shifted, integer)
}

/// An integral float as an integer, in the lowest `FRACTION_BITS - 1` bits; the others are arbitrary.
pub(crate) fn integer_bits<O: Ops>(o: &mut O, n: O::F) -> O::I {
    let integer = o.float(O::Format::INTEGER);
    let shifted = o.add(n, integer);
    o.bits(shifted)
}

/// `2^n` for an integral `n` that is the exponent of a normal number.
pub(crate) fn power_of_two<O: Ops>(o: &mut O, n: O::F) -> O::F {
    let bits = integer_bits(o, n);
    let bias = o.int(O::Format::small(O::Format::BIAS));
    let exponent = o.int_add(bits, bias);
    let bits = o.shl(exponent, O::Format::FRACTION_BITS);
    o.of_bits(bits)
}

/// The sign bit of `x` alone.
pub(crate) fn sign<O: Ops>(o: &mut O, x: O::F) -> O::I {
    let bits = o.bits(x);
    let sign = o.int(O::Format::SIGN);
    o.int_and(bits, sign)
}

/// `x` with its sign turned where the sign bit `sign` is set.
pub(crate) fn turn<O: Ops>(o: &mut O, x: O::F, sign: O::I) -> O::F {
    let bits = o.bits(x);
    let bits = o.int_xor(bits, sign);
    o.of_bits(bits)
}

/// An odd function from its definition for numbers that are not negative.
pub(crate) fn odd<O: Ops>(o: &mut O, x: O::F, positive: impl FnOnce(&mut O, O::F) -> O::F) -> O::F {
    let sign = sign(o, x);
    let magnitude = o.abs(x);
    let value = positive(o, magnitude);
    turn(o, value, sign)
}

/// Whether the sign bit is set: true of -0.
pub(crate) fn is_negative<O: Ops>(o: &mut O, x: O::F) -> O::B {
    let bits = o.bits(x);
    let zero = o.int(O::Format::small(0));
    o.int_lt(bits, zero)
}

/// `x + x * z * p(z)`: the usual end of an odd function, `z` being the square of `x`.
pub(crate) fn odd_series<O: Ops>(o: &mut O, x: O::F, z: O::F, coefficients: &[O::Format]) -> O::F {
    let p = polynomial(o, z, coefficients);
    let cube = o.mul(x, z);
    o.fma(cube, p, x)
}
