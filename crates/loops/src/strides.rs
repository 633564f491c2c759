//! Strides: how far apart in memory neighbouring iterations are, as a number to compare schedules by.
//!
//! Every access counts by the innermost loop around it: nothing if its cell stays the same, one if it moves to the next
//! cell, eight if it moves further, which costs a cache line. Deeper accesses weigh more.

use crate::walk::Visit;
use crate::{Expr, ExprKind, Index, Kernel, Stmt, Target, VarId};

/// The weight of one more loop around an access.
const PER_LOOP: u64 = 16;

/// The sum over all accesses of a kernel.
pub fn strides(kernel: &Kernel) -> u64 {
    let mut counter = Counter { around: Vec::new(), sum: 0 };
    counter.block(&kernel.body);
    counter.sum
}

struct Counter {
    around: Vec<VarId>,
    sum: u64,
}

impl Counter {
    fn access(&mut self, index: &[Index]) {
        let (Some(inner), Some((last, outer))) = (self.around.last().copied(), index.split_last()) else { return };
        let cost = match (outer.iter().all(|index| step(index, inner) == Some(0)), step(last, inner)) {
            (true, Some(0)) => 0,
            (true, Some(-1 | 1)) => 1,
            _ => 8,
        };
        let depth = u32::try_from(self.around.len()).unwrap_or(u32::MAX);
        self.sum = self.sum.saturating_add(PER_LOOP.saturating_pow(depth).saturating_mul(cost));
    }

    /// An access to a cell that depends on data: it may lie anywhere.
    fn anywhere(&mut self) {
        let depth = u32::try_from(self.around.len()).unwrap_or(u32::MAX);
        self.sum = self.sum.saturating_add(PER_LOOP.saturating_pow(depth).saturating_mul(8));
    }
}

impl Visit for Counter {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Load { index, .. } = &expr.kind {
            self.access(index);
        }
        if let ExprKind::Gather { .. } = &expr.kind {
            self.anywhere();
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(found) => {
                self.around.push(found.var);
                self.block(&found.body);
                self.around.pop();
            }
            Stmt::Store { index, .. } => {
                self.access(index);
                self.descend_stmt(stmt);
            }
            Stmt::Scatter { .. } => {
                self.anywhere();
                self.descend_stmt(stmt);
            }
            Stmt::Update { target: Target::Cell { index, .. }, .. } => {
                // It is read and written.
                self.access(index);
                self.access(index);
                self.descend_stmt(stmt);
            }
            Stmt::If { .. }
            | Stmt::Update { target: Target::Local(_), .. }
            | Stmt::Set { .. }
            | Stmt::Alloc { .. }
            | Stmt::Barrier => self.descend_stmt(stmt),
        }
    }
}

/// By how much an index changes when a variable grows by one; `None` if that depends.
fn step(index: &Index, var: VarId) -> Option<i64> {
    match index {
        Index::Const(_) | Index::Param(_) => Some(0),
        Index::Var(found) => Some(i64::from(*found == var)),
        Index::Add(a, b) => step(a, var)?.checked_add(step(b, var)?),
        Index::Sub(a, b) => step(a, var)?.checked_sub(step(b, var)?),
        Index::Mul(a, factor) => step(a, var)?.checked_mul(*factor),
        Index::FloorDiv(a, _) | Index::Mod(a, _) => step(a, var).filter(|by| *by == 0),
        Index::Min(a, b) | Index::Max(a, b) | Index::Select(_, a, b) => {
            (step(a, var)? == 0 && step(b, var)? == 0).then_some(0)
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_loop_decides() {
        let kernel = |index: &str| {
            let text = format!(
                "kernel f(N; A: out i64[N, N]) {{\n    for c0 in 0..N {{\n        for c1 in 0..N {{\n            A[{index}] = 0\n        }}\n    }}\n}}\n"
            );
            strides(&crate::parse(&text).unwrap())
        };
        assert_eq!(kernel("c0, c0"), 0);
        assert_eq!(kernel("c0, c1"), 256);
        assert_eq!(kernel("c0, c0 - c1"), 256);
        assert_eq!(kernel("c1, c0"), 8 * 256);
        assert_eq!(kernel("c0, 2 * c1"), 8 * 256);
    }
}
