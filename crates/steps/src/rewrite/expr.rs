//! Expressions with something replaced: iterators by expressions, loads by other values.

use program::{Affine, ArrayId, Expr, ExprKind, IterId, Subscript};

/// What an iterator stands for; `None` if it stays.
type Values<'a> = dyn Fn(IterId) -> Option<Affine> + 'a;

/// `None` on overflow, here and below.
fn affines(index: &[Affine], values: &Values<'_>) -> Option<Vec<Affine>> {
    index.iter().map(|component| component.substitute(values)).collect()
}

/// The expression with its iterators replaced.
pub(super) fn with_iters(expr: &Expr, values: &Values<'_>) -> Option<Expr> {
    rebuild(expr, values, &|_, _, _| None)
}

/// What takes the place of a load, given the whole of it; `None` if it stays.
pub(super) type Loads<'a> = dyn Fn(&Expr, ArrayId, &[Affine]) -> Option<Expr> + 'a;

/// The expression with some loads replaced.
pub(super) fn with_loads(expr: &Expr, loads: &Loads<'_>) -> Option<Expr> {
    rebuild(expr, &|_| None, loads)
}

fn rebuild(expr: &Expr, values: &Values<'_>, loads: &Loads<'_>) -> Option<Expr> {
    let go = |operand: &Expr| rebuild(operand, values, loads).map(Box::new);
    let kind = match &expr.kind {
        ExprKind::Const(_) | ExprKind::Scalar(_) => expr.kind.clone(),
        ExprKind::Index(component) => ExprKind::Index(component.substitute(values)?),
        ExprKind::Load { array, index } => match loads(expr, *array, index) {
            Some(value) => return Some(value),
            None => ExprKind::Load { array: *array, index: affines(index, values)? },
        },
        ExprKind::Gather { array, index } => {
            let subscript = |subscript: &Subscript| {
                Some(match subscript {
                    Subscript::Affine(component) => Subscript::Affine(component.substitute(values)?),
                    Subscript::Data(expr) => Subscript::Data(go(expr)?),
                })
            };
            ExprKind::Gather { array: *array, index: index.iter().map(subscript).collect::<Option<_>>()? }
        }
        ExprKind::Unary(op, operand) => ExprKind::Unary(*op, go(operand)?),
        ExprKind::Binary(op, lhs, rhs) => ExprKind::Binary(*op, go(lhs)?, go(rhs)?),
        ExprKind::Cast(operand) => ExprKind::Cast(go(operand)?),
        ExprKind::Select { cond: condition, affine, then, otherwise } => ExprKind::Select {
            cond: go(condition)?,
            affine: affine
                .as_ref()
                .map(|affine| affine.substitute(values))
                .map_or(Some(None), |cond| cond.map(Some))?,
            then: go(then)?,
            otherwise: go(otherwise)?,
        },
        // `model` has taken all reductions out, and what has loops inside is not rewritten.
        ExprKind::Reduce { .. } | ExprKind::Fold { .. } | ExprKind::Counter(_) => return None,
    };
    Some(Expr { kind, ty: expr.ty, span: expr.span })
}
