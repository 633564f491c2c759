//! Grids are rectangles: a loop over blocks whose range depends on another gets a range that holds all of these, and a condition inside.
//!
//! In: a loop over blocks, with those in it, and one around it.  Out: the same iterations, the others empty; or nothing, where no such range is known.

use crate::{Axis, CompareOp, Cond, For, Index, Stmt, VarId};
use index::simplify_index;

/// The range of the loop around.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    pub(super) var: VarId,
    pub(super) lo: &'a Index,
    pub(super) hi: &'a Index,
}

pub(super) fn rectangular(mut f: For, around: Around<'_>) -> Option<For> {
    let inner = |stmt: Stmt| match stmt {
        Stmt::For(f) if is_grid(&f) => rectangular(f, around).map(Stmt::For),
        stmt => Some(stmt),
    };
    f.body = f.body.into_iter().map(inner).collect::<Option<_>>()?;
    let (moves_lo, moves_hi) = (f.lo.uses(around.var), f.hi.uses(around.var));
    // With a larger step the iterations would be others if the loop began elsewhere.
    if moves_lo && f.step != 1 {
        return None;
    }
    let mut conds = Vec::new();
    if moves_lo {
        conds.push(Cond::Compare(CompareOp::Le, f.lo.clone(), Index::Var(f.var)));
    }
    if moves_hi {
        conds.push(Cond::Compare(CompareOp::Lt, Index::Var(f.var), f.hi.clone()));
    }
    if conds.is_empty() {
        return Some(f);
    }
    let lo = simplify_index(&around.extreme(&f.lo, false)?);
    let hi = simplify_index(&around.extreme(&f.hi, true)?);
    let body = under(&Cond::And(conds), f.body);
    Some(For { lo, hi, body, ..f })
}

fn is_grid(f: &For) -> bool {
    matches!(f.kind.axis(), Some(Axis::Block(_)))
}

/// The statements under a condition, which stands inside of further loops over blocks.
fn under(cond: &Cond, stmts: Vec<Stmt>) -> Vec<Stmt> {
    if !stmts.iter().any(|stmt| matches!(stmt, Stmt::For(f) if is_grid(f))) {
        return vec![Stmt::If { cond: cond.clone(), then: stmts, otherwise: Vec::new() }];
    }
    let each = |stmt: Stmt| match stmt {
        Stmt::For(f) if is_grid(&f) => Stmt::For(For { body: under(cond, f.body), ..f }),
        stmt => Stmt::If { cond: cond.clone(), then: vec![stmt], otherwise: Vec::new() },
    };
    stmts.into_iter().map(each).collect()
}

impl Around<'_> {
    /// The largest value, or the smallest, that an index has in any iteration, or one beyond it.
    fn extreme(self, index: &Index, largest: bool) -> Option<Index> {
        let of = |index: &Index, largest: bool| self.extreme(index, largest).map(Box::new);
        Some(match index {
            Index::Var(var) if *var == self.var && largest => {
                Index::Sub(Box::new(self.hi.clone()), Box::new(Index::Const(1)))
            }
            Index::Var(var) if *var == self.var => self.lo.clone(),
            index if !index.uses(self.var) => index.clone(),
            Index::Add(a, b) => Index::Add(of(a, largest)?, of(b, largest)?),
            Index::Sub(a, b) => Index::Sub(of(a, largest)?, of(b, !largest)?),
            Index::Mul(a, factor) => Index::Mul(of(a, largest == (*factor >= 0))?, *factor),
            Index::FloorDiv(a, divisor) if *divisor > 0 => Index::FloorDiv(of(a, largest)?, *divisor),
            Index::Min(a, b) => Index::Min(of(a, largest)?, of(b, largest)?),
            Index::Max(a, b) => Index::Max(of(a, largest)?, of(b, largest)?),
            _ => return None,
        })
    }
}
