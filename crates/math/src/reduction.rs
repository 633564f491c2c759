//! Arguments of `sin`, `cos` and `tan` less a multiple of π/2.
//!
//! In: a number that is not negative.  Out: the rest, between -π/4 and π/4, as a pair, and the multiple modulo 4.
//! Three words of π/2 do for usual arguments; huge ones are multiplied by as much of 2/π as matters to them.

use crate::exact::{Pair, fast_two_sum, integer_bits, nearest, nearest_product, two_product, two_sum};
use crate::format::Format;
use crate::ops::Ops;

pub(crate) struct Reduced<O: Ops> {
    pub(crate) rest: Pair<O::F>,
    /// The multiple of π/2 in the lowest two bits; the others are arbitrary.
    pub(crate) quadrant: O::I,
}

pub(crate) fn reduce<O: Ops>(o: &mut O, x: O::F) -> Reduced<O> {
    let usual = subtract(o, x);
    let first = &O::Format::FIRST_WINDOW;
    let from = o.float(first.from);
    let is_huge = o.le(from, x);
    let [high, low, quarters] = o.rarely(is_huge, usual, |o| multiply(o, x));
    let quadrant = integer_bits(o, quarters);
    Reduced { rest: (high, low), quadrant }
}

/// `x - n π/2` for the nearest `n`: the rest as a pair, and `n`.
fn subtract<O: Ops>(o: &mut O, x: O::F) -> [O::F; 3] {
    let two_over_pi = o.float(O::Format::TWO_OVER_PI);
    let n = nearest_product(o, x, two_over_pi);
    let first = o.float(O::Format::HALF_PI);
    let second = o.float(O::Format::HALF_PI_LOW);
    let third = o.float(O::Format::HALF_PI_LOWEST);
    // Exact: both terms are multiples of the last digit of π/2, and what is left is less than 1.
    let rest = o.fnma(n, first, x);
    let (product, product_low) = two_product(o, n, second);
    let minus_product = o.neg(product);
    let (high, error) = two_sum(o, rest, minus_product);
    let low = o.sub(error, product_low);
    let low = o.fnma(n, third, low);
    let (high, low) = fast_two_sum(o, high, low);
    [high, low, n]
}

/// The same for huge `x`, by way of `2/π x` modulo 4.
fn multiply<O: Ops>(o: &mut O, x: O::F) -> [O::F; 3] {
    let (scale, words) = window(o, x);
    let scaled = o.mul(x, scale);
    let (quarter, minus_four) = (o.number(0.25), o.number(-4.0));
    let zero = o.number(0.0);
    let mut sum = [zero; 3];
    for (position, word) in words.iter().enumerate() {
        let terms = if position + 1 < words.len() {
            let (product, error) = two_product(o, scaled, *word);
            vec![product, error]
        } else {
            // So small that its rounding error does not matter.
            vec![o.mul(scaled, *word)]
        };
        for term in terms {
            // Multiples of 4 go, exactly.
            let fours = o.mul(term, quarter);
            let fours = o.trunc(fours);
            let term = o.fma(fours, minus_four, term);
            let (high, error) = two_sum(o, sum[0], term);
            let (middle, error) = two_sum(o, sum[1], error);
            sum = [high, middle, o.add(sum[2], error)];
        }
    }
    let n = nearest(o, sum[0]);
    let fraction = o.sub(sum[0], n);
    let (high, error) = two_sum(o, fraction, sum[1]);
    let low = o.add(error, sum[2]);
    let (high, low) = fast_two_sum(o, high, low);
    let half_pi = o.float(O::Format::HALF_PI);
    let half_pi_low = o.float(O::Format::HALF_PI_LOW);
    let (rest, error) = two_product(o, high, half_pi);
    let error = o.fma(high, half_pi_low, error);
    let rest_low = o.fma(low, half_pi, error);
    [rest, rest_low, n]
}

/// The scale and the words of 2/π for an argument, chosen among constants.
fn window<O: Ops>(o: &mut O, x: O::F) -> (O::F, Vec<O::F>) {
    let first = &O::Format::FIRST_WINDOW;
    let mut scale = o.float(first.scale);
    let mut words: Vec<O::F> = first.words.iter().map(|word| o.float(*word)).collect();
    for window in O::Format::WINDOWS {
        let from = o.float(window.from);
        let reached = o.le(from, x);
        let here = o.float(window.scale);
        scale = o.select(reached, here, scale);
        for (word, here) in words.iter_mut().zip(window.words) {
            let here = o.float(*here);
            *word = o.select(reached, here, *word);
        }
    }
    (scale, words)
}
