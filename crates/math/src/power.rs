//! `pow`, `cbrt`, `hypot`, and rounding half away from zero.

use crate::exact::{
    Pair, fast_two_sum, multiply, nearest_product, odd, polynomial, power_of_two, sign, turn, two_product, two_sum,
};
use crate::exponential::exp2_of_pair;
use crate::format::Format;
use crate::logarithm::split;
use crate::ops::Ops;

/// `2^(y log2 |x|)`, the logarithm and the product as pairs, then the sign and the special cases of C.
pub fn pow<O: Ops>(o: &mut O, x: O::F, y: O::F) -> O::F {
    let (zero, one, half) = (o.number(0.0), o.number(1.0), o.number(0.5));
    let infinity = o.float(O::Format::INFINITY);
    let minus_infinity = o.float(O::Format::NEG_INFINITY);
    let magnitude = o.abs(x);
    let (log, log_low) = log2_pair(o, magnitude);
    let is_finite = o.lt(magnitude, infinity);
    let log = o.select(is_finite, log, magnitude);
    let is_zero = o.eq(magnitude, zero);
    let log = o.select(is_zero, minus_infinity, log);

    let exponent = o.mul(y, log);
    let error = o.fms(y, log, exponent);
    let low = o.fma(y, log_low, error);
    // Where the result is 0 or infinite, the rest may be NaN.
    let size = o.abs(exponent);
    let most = o.float(O::Format::UNIT);
    let in_range = o.lt(size, most);
    let low = o.select(in_range, low, zero);
    // 1 to an infinite power.
    let is_one = o.eq(magnitude, one);
    let exponent = o.select(is_one, zero, exponent);
    let result = exp2_of_pair(o, (exponent, low));

    let whole = o.trunc(y);
    let is_integer = o.eq(whole, y);
    let half_y = o.mul(y, half);
    let half_whole = o.trunc(half_y);
    let is_even = o.eq(half_whole, half_y);
    let is_odd = o.not(is_even);
    let is_odd = o.and(is_odd, is_integer);
    let sign = sign(o, x);
    let turned = turn(o, result, sign);
    let result = o.select(is_odd, turned, result);

    let below_zero = o.lt(x, zero);
    let above_minus_infinity = o.lt(minus_infinity, x);
    let is_fraction = o.not(is_integer);
    let undefined = o.and(below_zero, is_fraction);
    let undefined = o.and(undefined, above_minus_infinity);
    let nan = o.float(O::Format::NAN);
    let result = o.select(undefined, nan, result);
    let x_is_number = o.eq(x, x);
    let y_is_number = o.eq(y, y);
    let are_numbers = o.and(x_is_number, y_is_number);
    let result = o.select(are_numbers, result, nan);

    let y_is_zero = o.eq(y, zero);
    let x_is_one = o.eq(x, one);
    let is_unit = o.or(y_is_zero, x_is_one);
    o.select(is_unit, one, result)
}

/// `log2 x` of a positive number, with ten digits more than a float has.
fn log2_pair<O: Ops>(o: &mut O, x: O::F) -> Pair<O::F> {
    let (k, m) = split(o, x);
    let (one, two) = (o.number(1.0), o.number(2.0));
    let f = o.sub(m, one);
    let (denominator, denominator_low) = two_sum(o, m, one);
    let inverse = o.div(one, denominator);
    let s = o.mul(f, inverse);
    let rest = o.fnma(s, denominator, f);
    let rest = o.fnma(s, denominator_low, rest);
    let s = (s, o.mul(rest, inverse));
    // log m = s (2 + z (2/3 + z (2/5 + z p))) with z = s², all but p in pairs.
    let z = multiply(o, s, s);
    let p = polynomial(o, z.0, O::Format::POW);
    let two_fifths = o.float(O::Format::TWO_FIFTHS);
    let two_fifths_low = o.float(O::Format::TWO_FIFTHS_LOW);
    let seventh = o.fma(z.0, p, two_fifths_low);
    let fifth = fast_two_sum(o, two_fifths, seventh);
    let (fifth, fifth_low) = multiply(o, z, fifth);
    let two_thirds = o.float(O::Format::TWO_THIRDS);
    let two_thirds_low = o.float(O::Format::TWO_THIRDS_LOW);
    let (third, error) = fast_two_sum(o, two_thirds, fifth);
    let third_low = o.add(fifth_low, two_thirds_low);
    let third_low = o.add(third_low, error);
    let (inner, inner_low) = multiply(o, z, (third, third_low));
    let (outer, error) = fast_two_sum(o, two, inner);
    let outer_low = o.add(inner_low, error);
    let log = multiply(o, s, (outer, outer_low));
    let log2_e = (o.float(O::Format::LOG2_E), o.float(O::Format::LOG2_E_LOW));
    let (high, low) = multiply(o, log, log2_e);
    let (sum, error) = fast_two_sum(o, k, high);
    let low = o.add(low, error);
    fast_two_sum(o, sum, low)
}

/// Newton steps towards `x^(-1/3)`, which need no division, and one towards `x^(1/3)` itself.
pub fn cbrt<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let root = odd(o, x, |o, x| {
        let (k, m) = split(o, x);
        let third = o.float(O::Format::THIRD);
        let three = o.number(3.0);
        let q = nearest_product(o, k, third);
        // -1, 0 or 1.
        let remainder = o.fnma(q, three, k);
        let guess = polynomial(o, m, O::Format::CBRT);
        let zero = o.number(0.0);
        let is_more = o.lt(zero, remainder);
        let is_less = o.lt(remainder, zero);
        let (half, one, two) = (o.number(0.5), o.number(1.0), o.number(2.0));
        let factor = o.select(is_less, half, one);
        let factor = o.select(is_more, two, factor);
        let m = o.mul(m, factor);
        let (root_of_two, root_of_half) = (o.float(O::Format::CBRT_2), o.float(O::Format::CBRT_HALF));
        let factor = o.select(is_less, root_of_two, one);
        let factor = o.select(is_more, root_of_half, factor);
        let guess = o.mul(guess, factor);

        let square = o.mul(guess, guess);
        let product = o.mul(m, square);
        let miss = o.fnma(product, guess, one);
        let step = o.mul(guess, third);
        let inverse = o.fma(step, miss, guess);
        let inverse_square = o.mul(inverse, inverse);
        let root = o.mul(m, inverse_square);
        let (square, square_low) = two_product(o, root, root);
        let miss = o.fnma(square, root, m);
        let miss = o.fnma(square_low, root, miss);
        let step = o.mul(inverse_square, third);
        let root = o.fma(step, miss, root);
        let power = power_of_two(o, q);
        o.mul(root, power)
    });
    let zero = o.number(0.0);
    let infinity = o.float(O::Format::INFINITY);
    let magnitude = o.abs(x);
    let is_finite = o.lt(magnitude, infinity);
    let is_positive = o.lt(zero, magnitude);
    let is_usual = o.and(is_finite, is_positive);
    o.select(is_usual, root, x)
}

pub fn hypot<O: Ops>(o: &mut O, x: O::F, y: O::F) -> O::F {
    let (a, b) = (o.abs(x), o.abs(y));
    let is_less = o.lt(a, b);
    let larger = o.select(is_less, b, a);
    let smaller = o.select(is_less, a, b);
    let (large, small) = (o.float(O::Format::LARGE), o.float(O::Format::SMALL));
    let is_large = o.lt(large, larger);
    let is_small = o.lt(larger, small);
    let one = o.number(1.0);
    let mut choose = |for_large, for_small| {
        let (for_large, for_small) = (o.float(for_large), o.float(for_small));
        let factor = o.select(is_small, for_small, one);
        o.select(is_large, for_large, factor)
    };
    let scale = choose(O::Format::LARGE_SCALE, O::Format::SMALL_SCALE);
    let unscale = choose(O::Format::LARGE_UNSCALE, O::Format::SMALL_UNSCALE);
    let (p, q) = (o.mul(larger, scale), o.mul(smaller, scale));
    let square = o.mul(q, q);
    let sum = o.fma(p, p, square);
    let root = o.sqrt(sum);
    let result = o.mul(root, unscale);
    // Infinite even if the other is NaN.
    let infinity = o.float(O::Format::INFINITY);
    let a_infinite = o.eq(a, infinity);
    let b_infinite = o.eq(b, infinity);
    let infinite = o.or(a_infinite, b_infinite);
    o.select(infinite, infinity, result)
}

/// To the nearest integer, halves away from zero.
pub fn round<O: Ops>(o: &mut O, x: O::F) -> O::F {
    odd(o, x, |o, x| {
        // Just less than 1/2, so that the sum cannot be rounded up past the next integer.
        let half = o.float(O::Format::BELOW_HALF);
        let sum = o.add(x, half);
        o.trunc(sum)
    })
}
