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

/// `value` where `condition` is not negative and 0 elsewhere, if few steps will do.
fn chosen(condition: &Affine, value: &Affine, inputs: &[Axis]) -> Option<Affine> {
    let mut by = std::collections::BTreeSet::new();
    condition.visit_iters(&mut |iter| _ = by.insert(iter));
    value.visit_iters(&mut |iter| _ = by.insert(iter));
    match (by.pop_first(), by.pop_first()) {
        (Some(input), None) => {
            chosen_by_one(condition, value, input, inputs).or_else(|| chosen_by_several(condition, value, inputs))
        }
        _ => chosen_by_several(condition, value, inputs),
    }
}

/// The sum of what changes from one value of the only input to the next, each beyond its place.
fn chosen_by_one(condition: &Affine, value: &Affine, input: IterId, inputs: &[Axis]) -> Option<Affine> {
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

/// Whether the condition holds, as 0 or 1, times a number; and for an input that the value depends on, a step for each of its values that are reached while
/// the condition holds.
fn chosen_by_several(condition: &Affine, value: &Affine, inputs: &[Axis]) -> Option<Affine> {
    let (mut least, mut most) = (condition.constant, condition.constant);
    let mut extents = Vec::new();
    for (atom, coefficient) in &condition.terms {
        let last = extent_of(atom, inputs)?.1.checked_sub(1)?.checked_mul(*coefficient)?;
        (least, most) = (least.checked_add(last.min(0))?, most.checked_add(last.max(0))?);
    }
    for (atom, coefficient) in &value.terms {
        extents.push((extent_of(atom, inputs)?, *coefficient));
    }
    if extents.iter().map(|((_, extent), _)| *extent).fold(0i64, i64::saturating_add) > MOST_STEPS {
        return None;
    }
    // The quotient is 0 or -1.
    let divisor = most.checked_add(1)?.max(least.checked_neg()?).max(1);
    let holds = condition.div(divisor)?.add(&Affine::constant(1))?;
    let mut sum = holds.scale(value.constant)?;
    for ((input, extent), coefficient) in extents {
        for place in 1..extent {
            let beyond = Affine::iter(input).add(&Affine::constant(extent - place))?.div(extent)?;
            let both = beyond.add(&holds)?.div(2)?;
            sum = sum.add_scaled(&both, coefficient)?;
        }
    }
    Some(sum)
}

/// An input and how many values it has.
fn extent_of(atom: &Atom, inputs: &[Axis]) -> Option<(IterId, i64)> {
    match atom {
        Atom::Iter(input) => Some((*input, inputs.get(input.index())?.extent.constant()?)),
        Atom::Param(_) | Atom::Div(..) => None,
    }
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
