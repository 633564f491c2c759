//! `erf`, `erfc`: a polynomial near 0; elsewhere `e^(-x^2)` times a slowly varying function.

use crate::exact::{fast_two_sum, odd, polynomial, two_product};
use crate::exponential::exp_parts;
use crate::format::Format;
use crate::ops::Ops;

pub fn erf<O: Ops>(o: &mut O, x: O::F) -> O::F {
    odd(o, x, |o, x| {
        let near = near(o, x);
        let tail = tail(o, x);
        let one = o.number(1.0);
        let far = o.sub(one, tail);
        let is_near = o.lt(x, one);
        o.select(is_near, near, far)
    })
}

pub fn erfc<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let magnitude = o.abs(x);
    let near = near(o, magnitude);
    let tail = tail(o, magnitude);
    let (one, two, zero) = (o.number(1.0), o.number(2.0), o.number(0.0));
    let left = o.sub(two, tail);
    let is_left = o.lt(x, zero);
    let far = o.select(is_left, left, tail);
    let minus = o.neg(near);
    let near = o.select(is_left, minus, near);
    let near = o.sub(one, near);
    // Below this, erf is less than 1/2.
    let border = o.number(0.46875);
    let is_near = o.lt(magnitude, border);
    o.select(is_near, near, far)
}

/// `erf x` for x from 0 to 1.
fn near<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let z = o.mul(x, x);
    let p = polynomial(o, z, O::Format::ERF);
    o.fma(x, p, x)
}

/// `erfc x` from where `ERFC` is good on.
fn tail<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let most = o.float(O::Format::ERFC_MAX);
    let x = o.lesser(most, x);
    let centre = o.float(O::Format::ERFC_CENTRE);
    let (above, sum) = (o.sub(x, centre), o.add(x, centre));
    let t = o.div(above, sum);
    let (first, others) = match O::Format::ERFC.split_first() {
        Some((first, others)) => (o.float(*first), others),
        None => (o.number(0.0), O::Format::ERFC),
    };
    let p = polynomial(o, t, others);
    let first_low = o.float(O::Format::ERFC_LOW);
    let rest = o.fma(t, p, first_low);
    let (factor, factor_low) = fast_two_sum(o, first, rest);

    // Divided by 1 + 2x, as a pair.
    let (one, two) = (o.number(1.0), o.number(2.0));
    let twice = o.mul(x, two);
    let denominator = o.add(twice, one);
    let seen = o.sub(denominator, twice);
    let denominator_low = o.sub(one, seen);
    let inverse = o.div(one, denominator);
    let quotient = o.mul(factor, inverse);
    let rest = o.fnma(quotient, denominator, factor);
    let rest = o.fnma(quotient, denominator_low, rest);
    let rest = o.add(rest, factor_low);
    let quotient_low = o.mul(rest, inverse);

    // Times e^(-x²), the square as a pair.
    let minus = o.neg(x);
    let (square, square_low) = two_product(o, minus, x);
    let (n, (high, low)) = exp_parts(o, square);
    let low = o.fma(high, square_low, low);
    let cross = o.mul(high, quotient_low);
    let cross = o.fma(low, quotient, cross);
    let product = o.fma(high, quotient, cross);
    o.scale(product, n)
}
