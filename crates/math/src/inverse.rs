//! `asin`, `acos`, `atan`, `atan2`.

use crate::exact::{Pair, fast_two_sum, is_negative, odd, polynomial, sign, turn};
use crate::format::Format;
use crate::ops::Ops;

pub fn asin<O: Ops>(o: &mut O, x: O::F) -> O::F {
    odd(o, x, |o, x| {
        let Arc { is_near, s, rest } = arc(o, x);
        let near = o.add(s, rest);
        let half_pi = (o.float(O::Format::HALF_PI), o.float(O::Format::HALF_PI_LOW));
        let (s, rest) = (o.add(s, s), o.add(rest, rest));
        let far = subtract(o, half_pi, s, rest);
        o.select(is_near, near, far)
    })
}

pub fn acos<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let magnitude = o.abs(x);
    let Arc { is_near, s, rest } = arc(o, magnitude);
    let half_pi = o.float(O::Format::HALF_PI);
    let half_pi_low = o.float(O::Format::HALF_PI_LOW);
    let negative = is_negative(o, x);
    // Near 0, π/2 - asin x.
    let sign = sign(o, x);
    let (signed_s, signed_rest) = (turn(o, s, sign), turn(o, rest, sign));
    let near = subtract(o, (half_pi, half_pi_low), signed_s, signed_rest);
    // Near 1, 2 asin √((1 - x) / 2); near -1, π less that.
    let (s, rest) = (o.add(s, s), o.add(rest, rest));
    let (pi, pi_low) = (o.add(half_pi, half_pi), o.add(half_pi_low, half_pi_low));
    let far_left = subtract(o, (pi, pi_low), s, rest);
    let far_right = o.add(s, rest);
    let far = o.select(negative, far_left, far_right);
    o.select(is_near, near, far)
}

/// `whole - a - rest`, where `whole` is a pair and not less than `a`.
fn subtract<O: Ops>(o: &mut O, whole: Pair<O::F>, a: O::F, rest: O::F) -> O::F {
    let minus_a = o.neg(a);
    let (high, error) = fast_two_sum(o, whole.0, minus_a);
    let low = o.sub(whole.1, rest);
    let low = o.add(low, error);
    o.add(high, low)
}

/// The arc sine of `x`, if it is at most 1/2, else of `√((1 - x) / 2)`, as `s + rest`.
struct Arc<O: Ops> {
    is_near: O::B,
    s: O::F,
    rest: O::F,
}

fn arc<O: Ops>(o: &mut O, x: O::F) -> Arc<O> {
    let (half, one) = (o.number(0.5), o.number(1.0));
    let is_near = o.le(x, half);
    let square = o.mul(x, x);
    let complement = o.sub(one, x);
    let complement = o.mul(complement, half);
    let z = o.select(is_near, square, complement);
    let root = o.sqrt(complement);
    let s = o.select(is_near, x, root);
    let p = polynomial(o, z, O::Format::ASIN);
    let cube = o.mul(s, z);
    Arc { is_near, s, rest: o.mul(cube, p) }
}

pub fn atan<O: Ops>(o: &mut O, x: O::F) -> O::F {
    odd(o, x, |o, x| {
        let one = o.number(1.0);
        let (high, low) = angle(o, x, one);
        o.add(high, low)
    })
}

pub fn atan2<O: Ops>(o: &mut O, y: O::F, x: O::F) -> O::F {
    let (zero, one) = (o.number(0.0), o.number(1.0));
    let infinity = o.float(O::Format::INFINITY);
    let (rise, run) = (o.abs(y), o.abs(x));
    // Sums must not overflow, and products with a constant must keep their digits.
    let larger = o.greater(rise, run);
    let (large, small) = (o.float(O::Format::LARGE), o.float(O::Format::SMALL));
    let is_large = o.lt(large, larger);
    let is_small = o.lt(larger, small);
    let (quarter, lift) = (o.number(0.25), o.float(O::Format::LIFT));
    let factor = o.select(is_small, lift, one);
    let factor = o.select(is_large, quarter, factor);
    let (rise, run) = (o.mul(rise, factor), o.mul(run, factor));
    // The angles of (0, 0) and (∞, ∞) are those of (0, 1) and (1, 1).
    let is_origin = o.eq(larger, zero);
    let run = o.select(is_origin, one, run);
    let lesser = o.lesser(rise, run);
    let is_corner = o.eq(lesser, infinity);
    let rise = o.select(is_corner, one, rise);
    let run = o.select(is_corner, one, run);

    let (high, low) = angle(o, rise, run);
    let right = o.add(high, low);
    let half_pi = o.float(O::Format::HALF_PI);
    let half_pi_low = o.float(O::Format::HALF_PI_LOW);
    let (pi, pi_low) = (o.add(half_pi, half_pi), o.add(half_pi_low, half_pi_low));
    let left = subtract(o, (pi, pi_low), high, low);
    let is_left = is_negative(o, x);
    let value = o.select(is_left, left, right);
    let sign = sign(o, y);
    let value = turn(o, value, sign);
    // `greater` and `lesser` may have dropped a NaN.
    let (x_is_number, y_is_number) = (o.eq(x, x), o.eq(y, y));
    let are_numbers = o.and(x_is_number, y_is_number);
    let nan = o.float(O::Format::NAN);
    o.select(are_numbers, value, nan)
}

/// The angle of a point whose coordinates are not negative, as a sum; the second part is at most a tenth of the first.
fn angle<O: Ops>(o: &mut O, rise: O::F, run: O::F) -> Pair<O::F> {
    // Less 0, π/4 or π/2. In between, numbers are so near to each other that their difference is exact.
    let half = o.number(0.5);
    let (half_rise, half_run) = (o.mul(rise, half), o.mul(run, half));
    let is_flat = o.le(rise, half_run);
    let is_steep = o.le(run, half_rise);
    let (difference, sum) = (o.sub(rise, run), o.add(rise, run));
    let minus_run = o.neg(run);
    let numerator = o.select(is_steep, minus_run, difference);
    let numerator = o.select(is_flat, rise, numerator);
    let denominator = o.select(is_steep, rise, sum);
    let denominator = o.select(is_flat, run, denominator);
    let t = o.div(numerator, denominator);

    let half_pi = o.float(O::Format::HALF_PI);
    let half_pi_low = o.float(O::Format::HALF_PI_LOW);
    let zero = o.number(0.0);
    let (quarter_pi, quarter_pi_low) = (o.mul(half_pi, half), o.mul(half_pi_low, half));
    let base = o.select(is_steep, half_pi, quarter_pi);
    let base = o.select(is_flat, zero, base);
    let base_low = o.select(is_steep, half_pi_low, quarter_pi_low);
    let base_low = o.select(is_flat, zero, base_low);

    let z = o.mul(t, t);
    let p = polynomial(o, z, O::Format::ATAN);
    let cube = o.mul(t, z);
    let (high, error) = fast_two_sum(o, base, t);
    let low = o.fma(cube, p, base_low);
    (high, o.add(low, error))
}
