//! Which scalar locals does a piece of a tree read that it has not set itself? No register survives a kernel, so those that one launch hands on to another
//! are kept in memory.

use std::collections::HashSet;

use loops::{ArrayDecl, ArrayId, Expr, ExprKind, Kernel, LocalId, Rewrite, Stmt, Target};
use program::Role;

/// The locals that are read, on some path, before the statements set them.
pub(super) fn read_before_set(stmts: &[Stmt]) -> HashSet<LocalId> {
    let mut walk = Walk { found: HashSet::new() };
    walk.block(stmts, HashSet::new());
    walk.found
}

/// The kernel with a cell of memory for each of the locals; none if a parallel loop sets one of them, of which each iteration then
/// has its own.
pub(super) fn in_memory(mut kernel: Kernel, locals: &HashSet<LocalId>) -> Option<Kernel> {
    if sets_at_once(&kernel.body, false, locals) {
        return None;
    }
    let mut locals: Vec<LocalId> = locals.iter().copied().collect();
    locals.sort_unstable();
    let mut cells = Vec::new();
    for local in locals {
        let declared = kernel.locals.get(local.index())?;
        cells.push((local, ArrayId(kernel.arrays.len() as u32)));
        let name = format!("{}_cell", declared.name);
        kernel.arrays.push(ArrayDecl { name, ty: declared.ty, shape: Vec::new(), role: Role::Local, strides: None });
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = Remember { cells }.block(body);
    Some(kernel)
}

fn sets_at_once(stmts: &[Stmt], inside: bool, locals: &HashSet<LocalId>) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::For(each) => sets_at_once(&each.body, inside || each.kind.is_parallel(), locals),
        Stmt::If { then, otherwise, .. } => {
            sets_at_once(then, inside, locals) || sets_at_once(otherwise, inside, locals)
        }
        Stmt::Alloc { body, .. } => sets_at_once(body, inside, locals),
        Stmt::Each(each) => locals.contains(&each.local) || sets_at_once(&each.body, inside, locals),
        Stmt::Set { local, .. } | Stmt::Update { target: Target::Local(local), .. } => inside && locals.contains(local),
        Stmt::Store { .. } | Stmt::Update { .. } | Stmt::Scatter { .. } | Stmt::Barrier => false,
    })
}

/// Puts cells in the place of locals.
struct Remember {
    cells: Vec<(LocalId, ArrayId)>,
}

impl Remember {
    fn cell(&self, local: LocalId) -> Option<ArrayId> {
        self.cells.iter().find(|(known, _)| *known == local).map(|(_, array)| *array)
    }
}

impl Rewrite for Remember {
    fn expr(&mut self, expr: Expr) -> Expr {
        match expr.kind {
            ExprKind::Local(local) => match self.cell(local) {
                Some(array) => Expr::load(array, Vec::new(), expr.ty),
                None => expr,
            },
            _ => self.descend_expr(expr),
        }
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match self.descend_stmt(stmt) {
            Stmt::Set { local, value } => match self.cell(local) {
                Some(array) => Stmt::Store { array, index: Vec::new(), value },
                None => Stmt::Set { local, value },
            },
            Stmt::Update { target: Target::Local(local), op, value } => {
                let cell = self.cell(local).map(|array| Target::Cell { array, index: Vec::new() });
                Stmt::Update { target: cell.unwrap_or(Target::Local(local)), op, value }
            }
            stmt => stmt,
        }]
    }
}

struct Walk {
    found: HashSet<LocalId>,
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
                    [&each.lo, &each.hi, &each.step].into_iter().for_each(|end| self.expr(end, &set));
                    let mut inside = set.clone();
                    inside.insert(each.local);
                    each.until.iter().for_each(|until| self.expr(until, &inside));
                    self.block(&each.body, inside);
                }
                Stmt::Set { local, value } => {
                    self.expr(value, &set);
                    set.insert(*local);
                }
                Stmt::Update { target, value, .. } => {
                    self.expr(value, &set);
                    if let Target::Local(local) = target {
                        self.read(*local, &set);
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

    fn read(&mut self, local: LocalId, set: &HashSet<LocalId>) {
        if !set.contains(&local) {
            self.found.insert(local);
        }
    }

    fn expr(&mut self, expr: &Expr, set: &HashSet<LocalId>) {
        match &expr.kind {
            ExprKind::Local(local) => self.read(*local, set),
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
