//! What the ranges of loops say about a condition: inside `for c0 in 0..floor((N + 31) / 32)`, `32 * c0 < N` holds.
//!
//! In: a condition and the ranges of the loops around it.  Out: whether it always holds or never does, if that is found by
//! putting the ends of the ranges in the place of variables. Parameters are never negative.

use crate::quotient::Range;
use crate::{CompareOp, Cond, Index};
use index::{Linear, extremum_operands, linear};

/// The condition without the parts that the ranges, outermost first, decide.
pub(crate) fn decide(cond: Cond, ranges: &[Range]) -> Cond {
    match cond {
        Cond::Compare(op, a, b) => {
            if holds(op, &a, &b, ranges) {
                Cond::TRUE
            } else if holds(op.negated(), &a, &b, ranges) {
                Cond::FALSE
            } else {
                Cond::Compare(op, a, b)
            }
        }
        Cond::Not(inner) => Cond::Not(Box::new(decide(*inner, ranges))),
        Cond::And(conds) => Cond::And(conds.into_iter().map(|cond| decide(cond, ranges)).collect()),
        Cond::Or(conds) => Cond::Or(conds.into_iter().map(|cond| decide(cond, ranges)).collect()),
    }
}

fn holds(op: CompareOp, a: &Index, b: &Index, ranges: &[Range]) -> bool {
    match op {
        CompareOp::Lt => at_most(a, b, 1, ranges),
        CompareOp::Le => at_most(a, b, 0, ranges),
        CompareOp::Gt => at_most(b, a, 1, ranges),
        CompareOp::Ge => at_most(b, a, 0, ranges),
        CompareOp::Eq | CompareOp::Ne => false,
    }
}

/// Whether `a + by <= b`.
fn at_most(a: &Index, b: &Index, by: i64, ranges: &[Range]) -> bool {
    // Below every operand of a `min`, or below one of a `max`; and the other way round on the left.
    let below = |a: &Index, b: &Index| {
        let difference = linear(b).and_then(|b| b.add_scaled(&linear(a)?, -1)?.add_scaled(&Linear::constant(by), -1));
        difference.is_some_and(|difference| is_non_negative(&difference, ranges))
    };
    let right = |a: &Index| match b {
        Index::Max(..) => extremum_operands(b, true).iter().any(|b| below(a, b)),
        _ => extremum_operands(b, false).iter().all(|b| below(a, b)),
    };
    match a {
        Index::Min(..) => extremum_operands(a, false).iter().any(right),
        _ => extremum_operands(a, true).iter().all(right),
    }
}

/// Replaces the innermost variable by the end of its range that makes the value smallest, and so on outwards.
fn is_non_negative(value: &Linear, ranges: &[Range]) -> bool {
    let Some((innermost, outer)) = ranges.split_last() else { return value.is_sum_of_params() };
    let Some(coefficient) = value.coefficient(innermost.var) else { return is_non_negative(value, outer) };
    let Some(rest) = linear(&Index::Var(innermost.var)).and_then(|var| value.clone().add_scaled(&var, -coefficient))
    else {
        return false;
    };
    let with = |end: &Linear, coefficient: i64| {
        let smallest = rest.clone().add_scaled(end, coefficient);
        smallest.is_some_and(|smallest| is_non_negative(&smallest, outer))
    };
    if coefficient > 0 {
        return innermost.at_least.iter().any(|low| with(low, coefficient));
    }
    innermost.less_than.iter().any(|high| {
        let last = high.clone().add_scaled(&Linear::constant(1), -1);
        let quotient = || {
            // A variable below `floor(e / d)` is at most `(e - d) / d`.
            let (numerator, divisor) = high.as_quotient()?;
            let last = numerator.add_scaled(&Linear::constant(divisor), -1)?;
            (coefficient % divisor == 0).then(|| with(&last, coefficient / divisor))
        };
        last.is_some_and(|last| with(&last, coefficient)) || quotient().unwrap_or(false)
    })
}
