//! Expressions with something replaced: iterators by expressions, loads by other values.

use program::{Affine, ArrayId, Atom, Cond, Expr, ExprKind, IterId, Subscript};

/// What an iterator stands for; `None` if it stays.
pub(super) type Values<'a> = dyn Fn(IterId) -> Option<Affine> + 'a;

/// `None` on overflow, here and below.
pub(super) fn affine(affine: &Affine, values: &Values<'_>) -> Option<Affine> {
    let mut result = Affine::constant(affine.constant);
    for (atom, coefficient) in &affine.terms {
        let value = match atom {
            Atom::Iter(id) => values(*id).unwrap_or_else(|| Affine::iter(*id)),
            Atom::Param(id) => Affine::param(*id),
            Atom::Div(numerator, divisor) => self::affine(numerator, values)?.div(*divisor)?,
        };
        result = result.add_scaled(&value, *coefficient)?;
    }
    Some(result)
}

pub(super) fn affines(index: &[Affine], values: &Values<'_>) -> Option<Vec<Affine>> {
    index.iter().map(|component| affine(component, values)).collect()
}

fn cond(condition: &Cond, values: &Values<'_>) -> Option<Cond> {
    let all = |conds: &[Cond]| conds.iter().map(|part| cond(part, values)).collect::<Option<Vec<_>>>();
    Some(match condition {
        Cond::NonNegative(component) => Cond::NonNegative(affine(component, values)?),
        Cond::Zero(component) => Cond::Zero(affine(component, values)?),
        Cond::And(conds) => Cond::And(all(conds)?),
        Cond::Or(conds) => Cond::Or(all(conds)?),
    })
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
        ExprKind::Index(component) => ExprKind::Index(affine(component, values)?),
        ExprKind::Load { array, index } => match loads(expr, *array, index) {
            Some(value) => return Some(value),
            None => ExprKind::Load { array: *array, index: affines(index, values)? },
        },
        ExprKind::Gather { array, index } => {
            let subscript = |subscript: &Subscript| {
                Some(match subscript {
                    Subscript::Affine(component) => Subscript::Affine(affine(component, values)?),
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
            affine: affine.as_ref().map(|affine| cond(affine, values)).map_or(Some(None), |cond| cond.map(Some))?,
            then: go(then)?,
            otherwise: go(otherwise)?,
        },
        // `model` has taken all reductions out.
        ExprKind::Reduce { .. } => return None,
    };
    Some(Expr { kind, ty: expr.ty, span: expr.span })
}
