//! `sinh`, `cosh`, `tanh`: a polynomial near 0, and the exponential function elsewhere.

use crate::exact::{fast_two_sum, odd, odd_series, power_of_two};
use crate::exponential::exp_parts;
use crate::format::Format;
use crate::ops::Ops;

pub fn sinh<O: Ops>(o: &mut O, x: O::F) -> O::F {
    odd(o, x, |o, x| {
        let square = o.mul(x, x);
        let near = odd_series(o, x, square, O::Format::SINH);
        let far = half_of_sum(o, x, true);
        let one = o.number(1.0);
        let is_near = o.lt(x, one);
        o.select(is_near, near, far)
    })
}

pub fn cosh<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let x = o.abs(x);
    half_of_sum(o, x, false)
}

/// `(e^x + e^-x) / 2`, or the difference, for x that are not negative.
fn half_of_sum<O: Ops>(o: &mut O, x: O::F, difference: bool) -> O::F {
    // One more than where the functions overflow.
    let one = o.number(1.0);
    let most = o.float(O::Format::EXP_MAX);
    let most = o.add(most, one);
    let x = o.lesser(most, x);
    let (n, (high, low)) = exp_parts(o, x);
    // e^-x in units of 2^n; beyond 2^-120 it is lost in any case.
    let many = o.number(60.0);
    let bounded = o.lesser(n, many);
    let twice = o.add(bounded, bounded);
    let minus_twice = o.neg(twice);
    let power = power_of_two(o, minus_twice);
    let inverse = o.div(power, high);
    let low = if difference { o.sub(low, inverse) } else { o.add(low, inverse) };
    let sum = o.add(high, low);
    let n = o.sub(n, one);
    o.scale(sum, n)
}

pub fn tanh<O: Ops>(o: &mut O, x: O::F) -> O::F {
    odd(o, x, |o, x| {
        let square = o.mul(x, x);
        let near = odd_series(o, x, square, O::Format::TANH);
        let most = o.float(O::Format::TANH_MAX);
        let bounded = o.lesser(most, x);
        let twice = o.add(bounded, bounded);
        let (n, (high, low)) = exp_parts(o, twice);
        let power = power_of_two(o, n);
        let high = o.mul(power, high);
        let one = o.number(1.0);
        // 1 - 2 / (e^2x + 1), the denominator as a pair.
        let (sum, error) = fast_two_sum(o, high, one);
        let error = o.fma(power, low, error);
        let two = o.number(2.0);
        let quotient = o.div(two, sum);
        let rest = o.sub(one, quotient);
        let half = o.number(0.5);
        let slope = o.mul(quotient, quotient);
        let slope = o.mul(slope, half);
        let far = o.fma(slope, error, rest);
        let border = o.number(0.625);
        let is_near = o.lt(x, border);
        o.select(is_near, near, far)
    })
}
