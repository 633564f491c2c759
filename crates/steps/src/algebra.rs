//! Between the expressions of `layout`, which multiply and divide sizes, and affine ones, which do not.

use layout::Expr;
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

/// An expression of `layout` as an affine one, if it is; inputs are subscripts.
pub(crate) fn lowered(function: &Function, expr: &Expr) -> Option<Affine> {
    let go = |expr: &Expr| lowered(function, expr);
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
        Expr::Select { .. } => None,
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
