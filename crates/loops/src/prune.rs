//! Pruning: nothing stays that nobody reads.
//!
//! In: a kernel.  Out: one without unread locals, unread local arrays and empty loops, its ids renumbered in the
//! order of the tables (loop variables in the order of the text). Arguments always stay.

use std::collections::HashSet;

use program::{BinaryOp, Role, Value};

use crate::walk::{Rewrite, Visit};
use crate::{
    ArrayId, Each, Expr, ExprKind, For, Index, Kernel, LocalId, LoopKind, Parallel, Reduction, Stmt, Target, VarId,
};

/// Removes what has no effect and renumbers the rest.
pub(crate) fn prune(mut kernel: Kernel) -> Kernel {
    loop {
        let mut used = Used::default();
        used.block(&kernel.body);
        let locals = &kernel.arrays;
        let mut remove =
            RemoveDead { read: &used, is_local: &|array| locals[array.index()].role == Role::Local, changed: false };
        let body = remove.block(kernel.body);
        let changed = remove.changed;
        kernel.body = body;
        if !changed {
            break;
        }
    }
    renumber(kernel)
}

/// Whether evaluating the expression can end in a run-time error.
pub(crate) fn may_fail(expr: &Expr) -> bool {
    let mut fails = Fails(false);
    fails.expr(expr);
    fails.0
}

struct Fails(bool);

impl Visit for Fails {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) = &expr.kind
            && expr.ty.is_int()
        {
            let safe = matches!(divisor.kind, ExprKind::Const(value) if value != Value::from_i64(expr.ty, 0));
            self.0 |= !safe;
        }
        // A cell that depends on data may lie outside.
        self.0 |= matches!(expr.kind, ExprKind::Gather { .. });
        self.descend_expr(expr);
    }
}

/// What is read, and what is mentioned at all.
#[derive(Default)]
pub(crate) struct Used {
    arrays_read: HashSet<ArrayId>,
    pub(crate) arrays: HashSet<ArrayId>,
    locals_read: HashSet<LocalId>,
    locals: HashSet<LocalId>,
    /// In the order of the text.
    vars: Vec<VarId>,
}

impl Visit for Used {
    fn expr(&mut self, expr: &Expr) {
        match expr.kind {
            ExprKind::Load { array, .. } | ExprKind::Gather { array, .. } => {
                self.arrays_read.insert(array);
                self.arrays.insert(array);
            }
            ExprKind::Local(local) => {
                self.locals_read.insert(local);
                self.locals.insert(local);
            }
            _ => {}
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) => self.vars.push(f.var),
            Stmt::Store { array, .. } => {
                self.arrays.insert(*array);
            }
            Stmt::Scatter { array, .. } => {
                self.arrays_read.insert(*array);
                self.arrays.insert(*array);
            }
            Stmt::Set { local, .. } => {
                self.locals.insert(*local);
            }
            // What only updates themselves read, nobody needs; unless they must stay.
            Stmt::Update { target: Target::Cell { array, .. }, value, .. } => {
                self.arrays.insert(*array);
                if may_fail(value) {
                    self.arrays_read.insert(*array);
                }
            }
            Stmt::Update { target: Target::Local(local), value, .. } => {
                self.locals.insert(*local);
                if may_fail(value) {
                    self.locals_read.insert(*local);
                }
            }
            Stmt::Each(each) => {
                self.locals_read.insert(each.local);
                self.locals.insert(each.local);
            }
            Stmt::If { .. } | Stmt::Alloc { .. } | Stmt::Barrier => {}
        }
        self.descend_stmt(stmt);
    }
}

struct RemoveDead<'a> {
    read: &'a Used,
    is_local: &'a dyn Fn(ArrayId) -> bool,
    changed: bool,
}

impl Rewrite for RemoveDead<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let stmt = match stmt {
            Stmt::Alloc { array, body, .. } if !self.read.arrays.contains(&array) => {
                self.changed = true;
                return self.block(body);
            }
            stmt => stmt,
        };
        let dead = match &stmt {
            Stmt::Store { array, value, .. } => {
                (self.is_local)(*array) && !self.read.arrays_read.contains(array) && !may_fail(value)
            }
            Stmt::Set { local, value } => !self.read.locals_read.contains(local) && !may_fail(value),
            Stmt::Update { target: Target::Cell { array, .. }, value, .. } => {
                (self.is_local)(*array) && !self.read.arrays_read.contains(array) && !may_fail(value)
            }
            Stmt::Update { target: Target::Local(local), value, .. } => {
                !self.read.locals_read.contains(local) && !may_fail(value)
            }
            // The check of a scatter may fail.
            Stmt::Scatter { .. } | Stmt::Barrier => false,
            Stmt::Alloc { body, .. } => body.is_empty(),
            // Its range may be a fault.
            Stmt::Each(_) => false,
            Stmt::For(For { body, .. }) => body.is_empty(),
            Stmt::If { then, otherwise, .. } => then.is_empty() && otherwise.is_empty(),
        };
        if dead {
            self.changed = true;
            return Vec::new();
        }
        vec![self.descend_stmt(stmt)]
    }
}

/// New numbers for everything that a kernel declares, by the old ones.
pub(crate) struct Renumber {
    pub(crate) arrays: Vec<Option<ArrayId>>,
    pub(crate) locals: Vec<Option<LocalId>>,
    pub(crate) vars: Vec<Option<VarId>>,
}

fn renumber(mut kernel: Kernel) -> Kernel {
    let mut used = Used::default();
    used.block(&kernel.body);

    let mut arrays = Vec::new();
    let mut next = 0;
    for (number, array) in kernel.arrays.iter().enumerate() {
        let keep = array.role != Role::Local || used.arrays.contains(&ArrayId(number as u32));
        arrays.push(keep.then_some(ArrayId(next)));
        next += u32::from(keep);
    }
    let mut locals = Vec::new();
    let mut next = 0;
    for number in 0..kernel.locals.len() {
        let keep = used.locals.contains(&LocalId(number as u32));
        locals.push(keep.then_some(LocalId(next)));
        next += u32::from(keep);
    }
    let mut vars = vec![None; kernel.vars.len()];
    let mut var_names = Vec::new();
    for var in used.vars {
        vars[var.index()] = Some(VarId(var_names.len() as u32));
        var_names.push(kernel.vars[var.index()].clone());
    }

    let mut keep = arrays.iter().map(Option::is_some);
    kernel.arrays.retain(|_| keep.next() == Some(true));
    let mut keep = locals.iter().map(Option::is_some);
    kernel.locals.retain(|_| keep.next() == Some(true));
    kernel.vars = var_names;
    kernel.body = Renumber { arrays, locals, vars }.block(kernel.body);
    kernel
}

impl Renumber {
    fn array(&self, array: ArrayId) -> ArrayId {
        self.arrays[array.index()].unwrap_or(array)
    }

    fn local(&self, local: LocalId) -> LocalId {
        self.locals[local.index()].unwrap_or(local)
    }

    /// Arrays that are gone are named no more.
    fn parallel(&self, parallel: Parallel) -> Parallel {
        let kept = |array: ArrayId| self.arrays[array.index()];
        let reductions = parallel.reductions.into_iter();
        Parallel {
            reductions: reductions
                .filter_map(|Reduction { array, op }| Some(Reduction { array: kept(array)?, op }))
                .collect(),
            private: parallel.private.into_iter().filter_map(kept).collect(),
            axis: parallel.axis,
        }
    }
}

impl Rewrite for Renumber {
    fn index(&mut self, index: Index) -> Index {
        match index {
            Index::Var(var) => Index::Var(self.vars[var.index()].unwrap_or(var)),
            index => self.descend_index(index),
        }
    }

    fn expr(&mut self, expr: Expr) -> Expr {
        let Expr { kind, ty } = self.descend_expr(expr);
        let kind = match kind {
            ExprKind::Load { array, index } => ExprKind::Load { array: self.array(array), index },
            ExprKind::Gather { array, index } => ExprKind::Gather { array: self.array(array), index },
            ExprKind::Local(local) => ExprKind::Local(self.local(local)),
            kind => kind,
        };
        Expr { kind, ty }
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match self.descend_stmt(stmt) {
            Stmt::For(f) => {
                let kind = match f.kind {
                    LoopKind::Parallel(parallel) => LoopKind::Parallel(self.parallel(parallel)),
                    kind => kind,
                };
                Stmt::For(For { var: self.vars[f.var.index()].unwrap_or(f.var), kind, ..f })
            }
            Stmt::Update { target: Target::Cell { array, index }, op, value } => {
                Stmt::Update { target: Target::Cell { array: self.array(array), index }, op, value }
            }
            Stmt::Update { target: Target::Local(local), op, value } => {
                Stmt::Update { target: Target::Local(self.local(local)), op, value }
            }
            Stmt::Alloc { array, space, body } => Stmt::Alloc { array: self.array(array), space, body },
            Stmt::Store { array, index, value } => Stmt::Store { array: self.array(array), index, value },
            Stmt::Scatter { array, index, op, value, at } => {
                Stmt::Scatter { array: self.array(array), index, op, value, at }
            }
            Stmt::Set { local, value } => Stmt::Set { local: self.local(local), value },
            Stmt::Each(each) => Stmt::Each(Box::new(Each { local: self.local(each.local), ..*each })),
            stmt @ (Stmt::If { .. } | Stmt::Barrier) => stmt,
        }]
    }
}
