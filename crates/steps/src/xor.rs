//! Places with exclusive or: `j ^ (i % 8)`, bit by bit as quotients and remainders, which are affine.
//!
//! The right side says how many bits take part: it is a remainder by a power of two, or a number that is not negative.

use diag::Diagnostic;
use program::{Affine, Function};
use syntax::ast::{BinaryOp, Expr, ExprKind, Ident};

/// A place over the subscripts that `inputs` name.
pub(crate) fn lower(function: &Function, inputs: &[Ident], expr: &Expr) -> Result<Affine, Vec<Diagnostic>> {
    if !has_xor(expr) {
        return program::lower_index(function, inputs, expr);
    }
    let go = |operand: &Expr| lower(function, inputs, operand);
    let wrong = |what: &str| vec![Diagnostic::error("E0520", expr.span, what)];
    let large = || wrong("a number in this place does not fit 64 bits");
    match &expr.kind {
        ExprKind::Paren(inner) => go(inner),
        ExprKind::Binary { op: BinaryOp::BitXor, lhs, rhs } => {
            let Some(bits) = bits(rhs) else {
                let help = "write `j ^ (i % 8)`: the power of two says which bits take part";
                let what = "how many bits the right side of `^` has is not known";
                return Err(vec![Diagnostic::error("E0520", rhs.span, what).help(help)]);
            };
            exclusive(&go(lhs)?, &go(rhs)?, bits).ok_or_else(large)
        }
        ExprKind::Binary { op, lhs, rhs } => {
            let (left, right) = (go(lhs)?, go(rhs)?);
            let value = match (op, left.as_constant(), right.as_constant()) {
                (BinaryOp::Add, ..) => left.add(&right),
                (BinaryOp::Sub, ..) => left.sub(&right),
                (BinaryOp::Mul, Some(factor), _) => right.scale(factor),
                (BinaryOp::Mul, _, Some(factor)) => left.scale(factor),
                (BinaryOp::Div, _, Some(divisor @ 1..)) => left.div(divisor),
                (BinaryOp::Rem, _, Some(divisor @ 1..)) => left.rem(divisor),
                _ => return Err(wrong("`^` goes with sums, and with products, quotients and remainders by numbers")),
            };
            value.ok_or_else(large)
        }
        _ => Err(wrong("`^` goes with sums, and with products, quotients and remainders by numbers")),
    }
}

fn has_xor(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary { op: BinaryOp::BitXor, .. } => true,
        ExprKind::Binary { lhs, rhs, .. } => has_xor(lhs) || has_xor(rhs),
        ExprKind::Paren(inner) | ExprKind::Unary { operand: inner, .. } => has_xor(inner),
        _ => false,
    }
}

/// How many bits an operand has, if its form tells.
fn bits(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Paren(inner) => bits(inner),
        ExprKind::Int(value @ 0..) => i64::try_from(*value).ok().map(|value| i64::BITS - value.leading_zeros()),
        ExprKind::Binary { op: BinaryOp::Rem, rhs, .. } => match rhs.kind {
            ExprKind::Int(power @ 1..) if power & (power - 1) == 0 => Some(power.trailing_zeros()),
            _ => None,
        },
        ExprKind::Binary { op: BinaryOp::BitXor, lhs, rhs } => Some(bits(lhs)?.max(bits(rhs)?)),
        _ => None,
    }
}

/// `a` with its lowest `bits` bits changed where those of `b` are set, for a `b` below 2 to the `bits`. A bit that differs is the last
/// one of the sum of both bits.
pub(crate) fn exclusive(a: &Affine, b: &Affine, bits: u32) -> Option<Affine> {
    let mut result = a.clone();
    for position in 0..bits.min(62) {
        let power = 1i64 << position;
        let (one, two) = (a.div(power)?, b.div(power)?);
        let differs = one.rem(2)?.add(&two.rem(2)?)?.rem(2)?;
        result = result.add_scaled(&differs, power)?.add_scaled(&one.rem(2)?, -power)?;
    }
    Some(result)
}
