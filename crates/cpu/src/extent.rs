//! Extents of arrays as numbers, once the sizes are known.
//!
//! In: an index expression over parameters, and their values.  Out: its value, or `None` if it does not fit 64 bits.

use loops::{CompareOp, Cond, Index};

pub(crate) fn evaluate(index: &Index, params: &[i64]) -> Option<i64> {
    let value = |index: &Index| evaluate(index, params);
    match index {
        Index::Const(constant) => Some(*constant),
        Index::Param(param) => params.get(param.index()).copied(),
        // Extents have no loop variables.
        Index::Var(_) => None,
        Index::Add(a, b) => value(a)?.checked_add(value(b)?),
        Index::Sub(a, b) => value(a)?.checked_sub(value(b)?),
        Index::Mul(a, factor) => value(a)?.checked_mul(*factor),
        Index::FloorDiv(a, divisor) => value(a)?.checked_div_euclid(*divisor),
        Index::Mod(a, divisor) => value(a)?.checked_rem_euclid(*divisor),
        Index::Min(a, b) => Some(value(a)?.min(value(b)?)),
        Index::Max(a, b) => Some(value(a)?.max(value(b)?)),
        Index::Select(cond, a, b) => value(if holds(cond, params)? { a } else { b }),
    }
}

fn holds(cond: &Cond, params: &[i64]) -> Option<bool> {
    match cond {
        Cond::Compare(op, a, b) => {
            let order = evaluate(a, params)?.cmp(&evaluate(b, params)?);
            Some(match op {
                CompareOp::Eq => order.is_eq(),
                CompareOp::Ne => order.is_ne(),
                CompareOp::Lt => order.is_lt(),
                CompareOp::Le => order.is_le(),
                CompareOp::Gt => order.is_gt(),
                CompareOp::Ge => order.is_ge(),
            })
        }
        Cond::Not(cond) => holds(cond, params).map(|holds| !holds),
        Cond::And(conds) => conds.iter().try_fold(true, |all, cond| Some(all && holds(cond, params)?)),
        Cond::Or(conds) => conds.iter().try_fold(false, |any, cond| Some(any || holds(cond, params)?)),
    }
}
