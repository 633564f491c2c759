//! Does a piece of a tree read scalar locals that it has not set itself?

use std::collections::HashSet;

use loops::{Expr, ExprKind, LocalId, Stmt, Target};

/// Whether some local is read, on some path, before the statements set it.
pub(super) fn read_before_set(stmts: &[Stmt]) -> bool {
    let mut walk = Walk { found: false };
    walk.block(stmts, HashSet::new());
    walk.found
}

struct Walk {
    found: bool,
}

impl Walk {
    /// The locals that are set after the statements for certain.
    fn block(&mut self, stmts: &[Stmt], mut set: HashSet<LocalId>) -> HashSet<LocalId> {
        for stmt in stmts {
            match stmt {
                // The body may run zero times, so what it sets counts only inside.
                Stmt::For(each) => {
                    self.block(&each.body, set.clone());
                }
                Stmt::If { then, otherwise, .. } => {
                    let then = self.block(then, set.clone());
                    let otherwise = self.block(otherwise, set);
                    set = then.intersection(&otherwise).copied().collect();
                }
                Stmt::Alloc { body, .. } => set = self.block(body, set),
                Stmt::Each(each) => {
                    each.ends().for_each(|end| self.expr(end, &set));
                    let mut inside = set.clone();
                    inside.insert(each.local);
                    self.block(&each.body, inside);
                }
                Stmt::Set { local, value } => {
                    self.expr(value, &set);
                    set.insert(*local);
                }
                Stmt::Update { target, value, .. } => {
                    self.expr(value, &set);
                    if let Target::Local(local) = target {
                        self.found |= !set.contains(local);
                    }
                }
                Stmt::Store { value, .. } => self.expr(value, &set),
                Stmt::Scatter { index, value, .. } => {
                    index.iter().chain([value]).for_each(|expr| self.expr(expr, &set));
                }
                Stmt::Barrier => {}
            }
        }
        set
    }

    fn expr(&mut self, expr: &Expr, set: &HashSet<LocalId>) {
        match &expr.kind {
            ExprKind::Local(local) => self.found |= !set.contains(local),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::At(_, a) => self.expr(a, set),
            ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|part| self.expr(part, set)),
            ExprKind::Select(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part, set)),
            ExprKind::Gather { index, .. } => index.iter().for_each(|part| self.expr(part, set)),
            ExprKind::Const(_)
            | ExprKind::Index(_)
            | ExprKind::Cond(_)
            | ExprKind::Scalar(_)
            | ExprKind::Load { .. } => {}
        }
    }
}
