//! Arithmetic that is rounded otherwise than as written, where that is allowed.
//!
//! In: a kernel.  Out: one in which a product that is added to the cell it goes to is rounded once, `x = x - a * b` as `x += -a * b`,
//! and in which a loop multiplies by the reciprocal of what it would divide by in every iteration. Nothing is regrouped.

use program::{BinaryOp, UnaryOp, Value};

use crate::access::fresh_local;
use crate::prune::may_fail;
use crate::walk::{Rewrite, VarsUsed, Visit};
use crate::{ArrayId, CompareOp, Cond, Expr, ExprKind, For, Index, Kernel, LocalId, Stmt, Target, VarId};

/// Rounds less often, and divides less often.
pub fn fast(mut kernel: Kernel) -> Kernel {
    kernel.body = Fuse.block(kernel.body);
    let body = std::mem::take(&mut kernel.body);
    let body = Reciprocals { kernel: &mut kernel }.block(body);
    kernel.body = body;
    crate::simplify(kernel)
}

/// Makes updates of sums with what was there.
struct Fuse;

impl Rewrite for Fuse {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match stmt {
            Stmt::Store { array, index, value } => {
                let same = |expr: &Expr| match &expr.kind {
                    ExprKind::Load { array: from, index: at } => *from == array && *at == index,
                    _ => false,
                };
                match added_product(&value, same) {
                    Some(value) => Stmt::Update { target: Target::Cell { array, index }, op: BinaryOp::Add, value },
                    None => Stmt::Store { array, index, value },
                }
            }
            Stmt::Set { local, value } => {
                match added_product(&value, |expr| matches!(expr.kind, ExprKind::Local(from) if from == local)) {
                    Some(value) => Stmt::Update { target: Target::Local(local), op: BinaryOp::Add, value },
                    None => Stmt::Set { local, value },
                }
            }
            stmt => self.descend_stmt(stmt),
        }]
    }
}

/// The product that a value adds to what was there, if it is such a sum of floats.
fn added_product(value: &Expr, was: impl Fn(&Expr) -> bool) -> Option<Expr> {
    let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) = &value.kind else { return None };
    if !value.ty.is_float() {
        return None;
    }
    let (product, negative) = match op {
        BinaryOp::Add if was(b) => (a, false),
        op if was(a) => (b, *op == BinaryOp::Sub),
        _ => return None,
    };
    let ExprKind::Binary(BinaryOp::Mul, x, y) = &product.kind else { return None };
    if !negative {
        return Some((**product).clone());
    }
    let x = Expr { kind: ExprKind::Unary(UnaryOp::Neg, x.clone()), ty: value.ty };
    Some(Expr { kind: ExprKind::Binary(BinaryOp::Mul, Box::new(x), y.clone()), ty: value.ty })
}

/// Takes the reciprocals of divisors that stay the same out of loops.
struct Reciprocals<'a> {
    kernel: &'a mut Kernel,
}

impl Rewrite for Reciprocals<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let mut f = match self.descend_stmt(stmt) {
            // Threads share nothing that is not in an array.
            Stmt::For(f) if !f.kind.is_parallel() => f,
            stmt => return vec![stmt],
        };
        let changes = Changes::of(&f);
        let mut invert = Invert { kernel: self.kernel, changes: &changes, found: Vec::new() };
        // What stands in a condition or in a loop inside may not be there at all when this loop begins.
        f.body = f.body.into_iter().map(|stmt| invert.direct(stmt)).collect();
        let found = invert.found;
        if found.is_empty() {
            return vec![Stmt::For(f)];
        }
        let runs = Cond::Compare(CompareOp::Lt, f.lo.clone(), f.hi.clone());
        let set = found.into_iter().map(|(divisor, local)| {
            let one = Expr { kind: ExprKind::Const(Value::from_i64(divisor.ty, 1)), ty: divisor.ty };
            let ty = divisor.ty;
            let value = Expr { kind: ExprKind::Binary(BinaryOp::Div, Box::new(one), Box::new(divisor)), ty };
            Stmt::Set { local, value }
        });
        let then: Vec<Stmt> = set.chain([Stmt::For(f)]).collect();
        vec![Stmt::If { cond: runs, then, otherwise: Vec::new() }]
    }
}

/// Replaces divisions by multiplications.
struct Invert<'a> {
    kernel: &'a mut Kernel,
    changes: &'a Changes,
    /// Divisors, and the locals that hold their reciprocals.
    found: Vec<(Expr, LocalId)>,
}

impl Invert<'_> {
    /// In a statement that every iteration runs.
    fn direct(&mut self, stmt: Stmt) -> Stmt {
        match stmt {
            Stmt::Store { .. } | Stmt::Update { .. } | Stmt::Set { .. } => self.descend_stmt(stmt),
            stmt => stmt,
        }
    }

    fn reciprocal(&mut self, divisor: &Expr) -> LocalId {
        if let Some((_, local)) = self.found.iter().find(|(known, _)| known == divisor) {
            return *local;
        }
        let local = fresh_local(self.kernel, "inverse", divisor.ty);
        self.found.push((divisor.clone(), local));
        local
    }
}

impl Rewrite for Invert<'_> {
    fn expr(&mut self, expr: Expr) -> Expr {
        match expr.kind {
            ExprKind::Binary(BinaryOp::Div, a, b) if expr.ty.is_float() && self.changes.spare(&b) => {
                let a = self.expr(*a);
                let inverse = Expr { kind: ExprKind::Local(self.reciprocal(&b)), ty: expr.ty };
                Expr { kind: ExprKind::Binary(BinaryOp::Mul, Box::new(a), Box::new(inverse)), ty: expr.ty }
            }
            // Only one branch is sure to be there.
            ExprKind::Select(..) | ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => expr,
            _ => self.descend_expr(expr),
        }
    }
}

/// What a loop changes.
#[derive(Default)]
struct Changes {
    vars: Vec<VarId>,
    locals: Vec<LocalId>,
    arrays: Vec<ArrayId>,
}

impl Changes {
    fn of(f: &For) -> Changes {
        let mut changes = Changes { vars: vec![f.var], ..Changes::default() };
        changes.block(&f.body);
        changes
    }

    /// A value that the loop does not change, and that takes more than a constant to know.
    fn spare(&self, expr: &Expr) -> bool {
        let mut reads = Reads { changes: self, changed: false };
        reads.expr(expr);
        !reads.changed && !may_fail(expr)
    }
}

impl Visit for Changes {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) => self.vars.push(f.var),
            Stmt::Store { array, .. } | Stmt::Scatter { array, .. } | Stmt::Alloc { array, .. } => {
                self.arrays.push(*array)
            }
            Stmt::Update { target: Target::Cell { array, .. }, .. } => self.arrays.push(*array),
            Stmt::Update { target: Target::Local(local), .. } | Stmt::Set { local, .. } => self.locals.push(*local),
            Stmt::Each(each) => self.locals.push(each.local),
            Stmt::If { .. } | Stmt::Barrier => {}
        }
        self.descend_stmt(stmt);
    }
}

/// Whether an expression reads what changes.
struct Reads<'a> {
    changes: &'a Changes,
    changed: bool,
}

impl Visit for Reads<'_> {
    fn expr(&mut self, expr: &Expr) {
        self.changed |= match &expr.kind {
            ExprKind::Local(local) => self.changes.locals.contains(local),
            ExprKind::Load { array, .. } | ExprKind::Gather { array, .. } => self.changes.arrays.contains(array),
            ExprKind::Cond(cond) => VarsUsed::of_cond(cond).iter().any(|var| self.changes.vars.contains(var)),
            _ => false,
        };
        self.descend_expr(expr);
    }

    fn index(&mut self, index: &Index) {
        self.changed |= self.changes.vars.iter().any(|var| index.uses(*var));
    }
}
