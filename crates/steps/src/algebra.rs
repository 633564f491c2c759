//! Between the expressions of `layout`, which multiply and divide sizes, and affine ones, which do not.

use layout::{Axis, Expr};
use program::{Affine, Atom, Function, IterId, ParamId};

use crate::xor;

/// An expression over sizes as `layout` writes it.
pub(crate) fn size(function: &Function, affine: &Affine) -> Option<Expr> {
    let mut sum = Expr::Const(0);
    for (atom, coefficient) in &affine.terms {
        let value = match atom {
            Atom::Param(id) => Expr::param(function.params[id.index()].name.clone()),
            Atom::Div(numerator, divisor) => size(function, numerator)?.div(Expr::Const(*divisor)),
            Atom::Iter(_) => return None,
        };
        sum = sum.add(value.times(*coefficient));
    }
    Some(sum.add(Expr::Const(affine.constant)))
}

/// What is longer is no choice between pieces but a table.
const MOST_STEPS: i64 = 64;

/// An expression over sizes alone, or over inputs that nothing is chosen by, as an affine one, if it is.
pub(crate) fn lowered(function: &Function, expr: &Expr) -> Option<Affine> {
    lowered_over(function, &[], expr)
}

/// An expression of `layout` over `inputs`, which are subscripts, as an affine one, if it is.
pub(crate) fn lowered_over(function: &Function, inputs: &[Axis], expr: &Expr) -> Option<Affine> {
    let go = |expr: &Expr| lowered_over(function, inputs, expr);
    match expr {
        Expr::Const(value) => Some(Affine::constant(*value)),
        Expr::Input(position) => Some(Affine::iter(IterId(u32::try_from(*position).ok()?))),
        Expr::Param(name) => {
            let position = function.params.iter().position(|param| param.name == *name)?;
            Some(Affine::param(ParamId(position as u32)))
        }
        Expr::Add(a, b) => go(a)?.add(&go(b)?),
        Expr::Mul(a, b) => {
            let (a, b) = (go(a)?, go(b)?);
            match (a.as_constant(), b.as_constant()) {
                (_, Some(factor)) => a.scale(factor),
                (Some(factor), _) => b.scale(factor),
                (None, None) => None,
            }
        }
        Expr::Div(a, b) => go(a)?.div(go(b)?.as_constant().filter(|divisor| *divisor > 0)?),
        Expr::Mod(a, b) => go(a)?.rem(go(b)?.as_constant().filter(|divisor| *divisor > 0)?),
        Expr::Xor { a, b, bits } => {
            let (low, high) = needed_bits(b).unwrap_or((0, *bits));
            let (a, b) = (go(a)?, go(b)?);
            let power = 1i64.checked_shl(low)?;
            // Only the bits that the right side can set are looked at.
            let changed = xor::exclusive(&a.div(power)?, &b.div(power)?, high.min(*bits).checked_sub(low)?)?;
            changed.scale(power)?.add(&a.rem(power)?)
        }
        Expr::Select { condition, then, otherwise } => {
            let (condition, then, otherwise) = (go(condition)?, go(then)?, go(otherwise)?);
            chosen(&condition, &then.sub(&otherwise)?, inputs)?.add(&otherwise)
        }
    }
}

/// `value` where `condition` is not negative and 0 elsewhere, if both depend on one input, and that has few values: the sum of what changes from one of them to
/// the next, each beyond its place.
fn chosen(condition: &Affine, value: &Affine, inputs: &[Axis]) -> Option<Affine> {
    let mut by = std::collections::BTreeSet::new();
    condition.visit_iters(&mut |iter| _ = by.insert(iter));
    value.visit_iters(&mut |iter| _ = by.insert(iter));
    let (input, None) = (by.pop_first()?, by.pop_first()) else { return None };
    let extent = inputs.get(input.index())?.extent.constant().filter(|extent| *extent <= MOST_STEPS)?;
    let at = |affine: &Affine, place| affine.substitute(&|_| Some(Affine::constant(place)))?.as_constant();
    let (mut sum, mut before) = (Affine::constant(0), 0);
    for place in 0..extent {
        let here = if at(condition, place)? >= 0 { at(value, place)? } else { 0 };
        // 1 from `place` on, 0 in front of it.
        let beyond = Affine::iter(input).add(&Affine::constant(extent - place))?.div(extent)?;
        let beyond = if place == 0 { Affine::constant(1) } else { beyond };
        sum = sum.add_scaled(&beyond, here.checked_sub(before)?)?;
        before = here;
    }
    Some(sum)
}

/// From which bit on, and below which, an expression can have bits; `None` if its form does not tell.
fn needed_bits(expr: &Expr) -> Option<(u32, u32)> {
    let power = |value: i64| (value > 0 && value & (value - 1) == 0).then(|| value.trailing_zeros());
    match expr {
        Expr::Mod(_, b) => Some((0, power(b.constant()?)?)),
        Expr::Mul(a, b) => {
            let by = power(b.constant()?)?;
            let (low, high) = needed_bits(a)?;
            Some((low + by, high + by))
        }
        _ => None,
    }
}
