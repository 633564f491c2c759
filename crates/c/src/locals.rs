//! Where locals are declared: in the innermost block that has all their uses, so that iterations that run at once do not
//! share them.

use std::collections::BTreeSet;

use loops::{Expr, ExprKind, LocalId, Stmt, Target, Visit};

/// The locals that a statement sets or reads.
#[derive(Default)]
struct Used(BTreeSet<LocalId>);

impl Visit for Used {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Local(local) = expr.kind {
            self.0.insert(local);
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set { local, .. } | Stmt::Update { target: Target::Local(local), .. } => {
                self.0.insert(*local);
            }
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}

fn used(stmt: &Stmt) -> BTreeSet<LocalId> {
    let mut used = Used::default();
    used.stmt(stmt);
    used.0
}

/// The locals to declare in a block, each with the position of the first statement that uses it.
pub(crate) fn declared_in(block: &[Stmt]) -> Vec<(LocalId, usize)> {
    let uses: Vec<BTreeSet<LocalId>> = block.iter().map(used).collect();
    let all: BTreeSet<LocalId> = uses.iter().flatten().copied().collect();
    let here = all.into_iter().filter_map(|local| {
        let mut users = (0..block.len()).filter(|position| uses[*position].contains(&local));
        let first = users.next()?;
        let inside = matches!(&block[first], Stmt::For(_) | Stmt::If { .. } | Stmt::Each(_) | Stmt::Alloc { .. });
        (users.next().is_some() || !inside).then_some((local, first))
    });
    here.collect()
}
