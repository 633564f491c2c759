//! What a condition on data still says about indices: of `i < n and x[i] > 0`, that `i < n`.
//!
//! In: a `bool` expression, and whether it holds.  Out: the affine condition that follows from that.

use super::extreme::condition;
use crate::{BinaryOp, Cond, Expr, ExprKind, UnaryOp, Value};

/// What is known about indices in a branch of an `if`: all of its condition where that is affine, else what follows from it.
pub fn branch_condition(cond: &Expr, affine: Option<&Cond>, taken: bool) -> Cond {
    match affine {
        Some(affine) if taken => affine.clone(),
        Some(affine) => affine.negate().unwrap_or(Cond::TRUE),
        None => follows(cond, taken),
    }
}

fn follows(expr: &Expr, holds: bool) -> Cond {
    if let Some(cond) = condition(expr) {
        return branch_condition(expr, Some(&cond), holds);
    }
    match &expr.kind {
        ExprKind::Const(Value::Bool(value)) => constant(*value == holds),
        ExprKind::Unary(UnaryOp::Not, operand) => follows(operand, !holds),
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), lhs, rhs) => {
            let (lhs, rhs) = (follows(lhs, holds), follows(rhs, holds));
            if (*op == BinaryOp::And) == holds { both(lhs, rhs) } else { either(lhs, rhs) }
        }
        ExprKind::Select { cond, affine, then, otherwise } => {
            let side = |branch: &Expr, taken: bool| {
                both(branch_condition(cond, affine.as_ref(), taken), follows(branch, holds))
            };
            either(side(then, true), side(otherwise, false))
        }
        _ => Cond::TRUE,
    }
}

fn constant(value: bool) -> Cond {
    if value { Cond::TRUE } else { Cond::FALSE }
}

fn both(a: Cond, b: Cond) -> Cond {
    if a == Cond::FALSE || b == Cond::FALSE { Cond::FALSE } else { a.and(b) }
}

fn either(a: Cond, b: Cond) -> Cond {
    if a.is_true() || b.is_true() {
        return Cond::TRUE;
    }
    match (a == Cond::FALSE, b == Cond::FALSE) {
        (true, _) => b,
        (_, true) => a,
        _ => Cond::Or(vec![a, b]),
    }
}
