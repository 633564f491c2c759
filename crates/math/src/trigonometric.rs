//! `sin`, `cos`, `tan`: both polynomials on the reduced argument, then the one that the quadrant asks for.

use crate::exact::{Pair, fast_two_sum, odd, polynomial, turn};
use crate::format::Format;
use crate::ops::Ops;
use crate::reduction::{Reduced, reduce};

pub fn sin<O: Ops>(o: &mut O, x: O::F) -> O::F {
    odd(o, x, |o, x| {
        let reduced = reduce(o, x);
        in_quadrant(o, &reduced, 0)
    })
}

pub fn cos<O: Ops>(o: &mut O, x: O::F) -> O::F {
    let x = o.abs(x);
    let reduced = reduce(o, x);
    // cos x = sin (x + π/2)
    in_quadrant(o, &reduced, 1)
}

pub fn tan<O: Ops>(o: &mut O, x: O::F) -> O::F {
    odd(o, x, |o, x| {
        let reduced = reduce(o, x);
        let sine = sine(o, reduced.rest);
        let cosine = cosine(o, reduced.rest);
        let is_odd = has_bit(o, reduced.quadrant, 0);
        // In odd quadrants -cos / sin.
        let numerator = o.select(is_odd, cosine.0, sine.0);
        let numerator_low = o.select(is_odd, cosine.1, sine.1);
        let denominator = o.select(is_odd, sine.0, cosine.0);
        let denominator_low = o.select(is_odd, sine.1, cosine.1);
        let quotient = o.div(numerator, denominator);
        let rest = o.fnma(quotient, denominator, numerator);
        let rest = o.add(rest, numerator_low);
        let rest = o.fnma(quotient, denominator_low, rest);
        let correction = o.div(rest, denominator);
        let value = o.add(quotient, correction);
        let minus = o.neg(value);
        o.select(is_odd, minus, value)
    })
}

/// The sine of the reduced argument, as many quadrants further.
fn in_quadrant<O: Ops>(o: &mut O, reduced: &Reduced<O>, further: i32) -> O::F {
    let (sine, sine_low) = sine(o, reduced.rest);
    let (cosine, cosine_low) = cosine(o, reduced.rest);
    let sine = o.add(sine, sine_low);
    let cosine = o.add(cosine, cosine_low);
    let further = o.int(O::Format::small(further));
    let quadrant = o.int_add(reduced.quadrant, further);
    let is_odd = has_bit(o, quadrant, 0);
    let value = o.select(is_odd, cosine, sine);
    let second = o.shr(quadrant, 1);
    let sign_bit = o.shl(second, O::Format::SIGN_BIT);
    turn(o, value, sign_bit)
}

fn has_bit<O: Ops>(o: &mut O, x: O::I, bit: u32) -> O::B {
    let top = o.shl(x, O::Format::SIGN_BIT - bit);
    let zero = o.int(O::Format::small(0));
    o.int_lt(top, zero)
}

/// The sine of a pair between -π/4 and π/4, as a pair.
fn sine<O: Ops>(o: &mut O, (r, low): Pair<O::F>) -> Pair<O::F> {
    let z = o.mul(r, r);
    let p = polynomial(o, z, O::Format::SIN);
    let cube = o.mul(r, z);
    // The slope of the sine matters to the low part; 1 - z/2 is near enough.
    let minus_half = o.number(-0.5);
    let one = o.number(1.0);
    let slope = o.fma(z, minus_half, one);
    let correction = o.mul(low, slope);
    let rest = o.fma(cube, p, correction);
    fast_two_sum(o, r, rest)
}

/// The cosine of a pair between -π/4 and π/4, as a pair.
fn cosine<O: Ops>(o: &mut O, (r, low): Pair<O::F>) -> Pair<O::F> {
    let z = o.mul(r, r);
    let z_low = o.fms(r, r, z);
    let p = polynomial(o, z, O::Format::COS);
    let (one, half) = (o.number(1.0), o.number(0.5));
    let half_z = o.mul(z, half);
    let high = o.sub(one, half_z);
    let seen = o.sub(one, high);
    let error = o.sub(seen, half_z);
    let error = o.fnma(r, low, error);
    let error = o.fnma(z_low, half, error);
    let fourth = o.mul(z, z);
    let rest = o.fma(fourth, p, error);
    fast_two_sum(o, high, rest)
}
