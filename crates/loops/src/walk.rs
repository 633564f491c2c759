//! Walking the loop tree: one trait to look at every node, one to replace nodes.
//!
//! In: statements.  Out: whatever the implementor collects, or new statements.
//! Every method descends by default, so an implementor writes only the cases it cares about.

use crate::{Cond, Each, Expr, ExprKind, For, Index, Stmt, Target, VarId};

/// Looks at every node. An overriding method calls the matching `descend_` method to go on.
pub trait Visit {
    /// An index expression.
    fn index(&mut self, index: &Index) {
        self.descend_index(index);
    }

    /// A condition.
    fn cond(&mut self, cond: &Cond) {
        self.descend_cond(cond);
    }

    /// A value.
    fn expr(&mut self, expr: &Expr) {
        self.descend_expr(expr);
    }

    /// A statement.
    fn stmt(&mut self, stmt: &Stmt) {
        self.descend_stmt(stmt);
    }

    /// A list of statements.
    fn block(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// The parts of an index expression.
    fn descend_index(&mut self, index: &Index) {
        match index {
            Index::Const(_) | Index::Param(_) | Index::Var(_) => {}
            Index::Add(a, b) | Index::Sub(a, b) | Index::Xor(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
                self.index(a);
                self.index(b);
            }
            Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => self.index(a),
            Index::Select(cond, a, b) => {
                self.cond(cond);
                self.index(a);
                self.index(b);
            }
        }
    }

    /// The parts of a condition.
    fn descend_cond(&mut self, cond: &Cond) {
        match cond {
            Cond::Compare(_, a, b) => {
                self.index(a);
                self.index(b);
            }
            Cond::Not(cond) => self.cond(cond),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().for_each(|cond| self.cond(cond)),
        }
    }

    /// The parts of a value.
    fn descend_expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => {}
            ExprKind::Index(index) => self.index(index),
            ExprKind::Cond(cond) => self.cond(cond),
            ExprKind::Load { index, .. } => index.iter().for_each(|index| self.index(index)),
            ExprKind::Gather { index, .. } => index.iter().for_each(|index| self.expr(index)),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::At(_, a) => self.expr(a),
            ExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Select(a, b, c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
        }
    }

    /// The parts of a statement.
    fn descend_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) => {
                self.index(&f.lo);
                self.index(&f.hi);
                self.block(&f.body);
            }
            Stmt::If { cond, then, otherwise } => {
                self.cond(cond);
                self.block(then);
                self.block(otherwise);
            }
            Stmt::Store { index, value, .. } => {
                index.iter().for_each(|index| self.index(index));
                self.expr(value);
            }
            Stmt::Scatter { index, value, .. } => {
                index.iter().for_each(|index| self.expr(index));
                self.expr(value);
            }
            Stmt::Update { target, value, .. } => {
                if let Target::Cell { index, .. } = target {
                    index.iter().for_each(|index| self.index(index));
                }
                self.expr(value);
            }
            Stmt::Set { value, .. } => self.expr(value),
            Stmt::Alloc { body, .. } => self.block(body),
            Stmt::Barrier => {}
            Stmt::Each(each) => {
                each.ends().for_each(|end| self.expr(end));
                self.block(&each.body);
            }
        }
    }
}

/// Replaces nodes. An overriding method calls the matching `descend_` method to rewrite the children.
pub trait Rewrite {
    /// An index expression.
    fn index(&mut self, index: Index) -> Index {
        self.descend_index(index)
    }

    /// A condition.
    fn cond(&mut self, cond: Cond) -> Cond {
        self.descend_cond(cond)
    }

    /// A value.
    fn expr(&mut self, expr: Expr) -> Expr {
        self.descend_expr(expr)
    }

    /// The statements that take the place of this one.
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![self.descend_stmt(stmt)]
    }

    /// A list of statements.
    fn block(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        stmts.into_iter().flat_map(|stmt| self.stmt(stmt)).collect()
    }

    /// A boxed index expression.
    fn boxed(&mut self, mut index: Box<Index>) -> Box<Index> {
        let inner = std::mem::replace(&mut *index, Index::Const(0));
        *index = self.index(inner);
        index
    }

    /// A list of index expressions.
    fn indices(&mut self, indices: Vec<Index>) -> Vec<Index> {
        indices.into_iter().map(|index| self.index(index)).collect()
    }

    /// What an update changes.
    fn target(&mut self, target: Target) -> Target {
        match target {
            Target::Cell { array, index } => Target::Cell { array, index: self.indices(index) },
            Target::Local(local) => Target::Local(local),
        }
    }

    /// A list of values.
    fn exprs(&mut self, exprs: Vec<Expr>) -> Vec<Expr> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    /// The parts of an index expression.
    fn descend_index(&mut self, index: Index) -> Index {
        match index {
            Index::Const(_) | Index::Param(_) | Index::Var(_) => index,
            Index::Add(a, b) => Index::Add(self.boxed(a), self.boxed(b)),
            Index::Sub(a, b) => Index::Sub(self.boxed(a), self.boxed(b)),
            Index::Xor(a, b) => Index::Xor(self.boxed(a), self.boxed(b)),
            Index::Min(a, b) => Index::Min(self.boxed(a), self.boxed(b)),
            Index::Max(a, b) => Index::Max(self.boxed(a), self.boxed(b)),
            Index::Mul(a, factor) => Index::Mul(self.boxed(a), factor),
            Index::FloorDiv(a, divisor) => Index::FloorDiv(self.boxed(a), divisor),
            Index::Mod(a, divisor) => Index::Mod(self.boxed(a), divisor),
            Index::Select(cond, a, b) => Index::Select(Box::new(self.cond(*cond)), self.boxed(a), self.boxed(b)),
        }
    }

    /// The parts of a condition.
    fn descend_cond(&mut self, cond: Cond) -> Cond {
        match cond {
            Cond::Compare(op, a, b) => Cond::Compare(op, self.index(a), self.index(b)),
            Cond::Not(cond) => Cond::Not(Box::new(self.cond(*cond))),
            Cond::And(conds) => Cond::And(conds.into_iter().map(|cond| self.cond(cond)).collect()),
            Cond::Or(conds) => Cond::Or(conds.into_iter().map(|cond| self.cond(cond)).collect()),
        }
    }

    /// The parts of a value.
    fn descend_expr(&mut self, expr: Expr) -> Expr {
        let Expr { kind, ty } = expr;
        let kind = match kind {
            ExprKind::Const(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => kind,
            ExprKind::Index(index) => ExprKind::Index(self.index(index)),
            ExprKind::Cond(cond) => ExprKind::Cond(self.cond(cond)),
            ExprKind::Load { array, index } => ExprKind::Load { array, index: self.indices(index) },
            ExprKind::Gather { array, index } => ExprKind::Gather { array, index: self.exprs(index) },
            ExprKind::At(span, a) => ExprKind::At(span, Box::new(self.expr(*a))),
            ExprKind::Unary(op, a) => ExprKind::Unary(op, Box::new(self.expr(*a))),
            ExprKind::Cast(a) => ExprKind::Cast(Box::new(self.expr(*a))),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(op, Box::new(self.expr(*a)), Box::new(self.expr(*b))),
            ExprKind::Select(a, b, c) => {
                ExprKind::Select(Box::new(self.expr(*a)), Box::new(self.expr(*b)), Box::new(self.expr(*c)))
            }
        };
        Expr { kind, ty }
    }

    /// The parts of a statement.
    fn descend_stmt(&mut self, stmt: Stmt) -> Stmt {
        match stmt {
            Stmt::For(For { var, kind, lo, hi, step, body }) => {
                Stmt::For(For { var, kind, lo: self.index(lo), hi: self.index(hi), step, body: self.block(body) })
            }
            Stmt::If { cond, then, otherwise } => {
                Stmt::If { cond: self.cond(cond), then: self.block(then), otherwise: self.block(otherwise) }
            }
            Stmt::Store { array, index, value } => {
                Stmt::Store { array, index: self.indices(index), value: self.expr(value) }
            }
            Stmt::Scatter { array, index, op, value, at } => {
                Stmt::Scatter { array, index: self.exprs(index), op, value: self.expr(value), at }
            }
            Stmt::Update { target, op, value } => {
                Stmt::Update { target: self.target(target), op, value: self.expr(value) }
            }
            Stmt::Set { local, value } => Stmt::Set { local, value: self.expr(value) },
            Stmt::Alloc { array, space, body } => Stmt::Alloc { array, space, body: self.block(body) },
            Stmt::Barrier => Stmt::Barrier,
            Stmt::Each(each) => {
                let Each { local, lo, hi, step, forwards, until, body, at } = *each;
                let (lo, hi, step) = (self.expr(lo), self.expr(hi), self.expr(step));
                let until = until.map(|until| self.expr(until));
                Stmt::Each(Box::new(Each { local, lo, hi, step, forwards, until, body: self.block(body), at }))
            }
        }
    }
}

/// Replaces a loop variable by an index expression.
#[derive(Debug)]
pub struct Substitute<'a> {
    /// What is replaced.
    pub var: VarId,
    /// What takes its place.
    pub with: &'a Index,
}

impl Rewrite for Substitute<'_> {
    fn index(&mut self, index: Index) -> Index {
        match index {
            Index::Var(var) if var == self.var => self.with.clone(),
            index => self.descend_index(index),
        }
    }
}

/// The variables that an index expression or condition uses.
#[derive(Debug, Default)]
pub struct VarsUsed(pub Vec<VarId>);

impl VarsUsed {
    /// Of some expressions.
    pub fn of_indices<'a>(indices: impl IntoIterator<Item = &'a Index>) -> Vec<VarId> {
        let mut used = Vec::new();
        indices.into_iter().for_each(|index| index.visit_vars(&mut |var| used.push(var)));
        used
    }

    /// Of a condition.
    pub fn of_cond(cond: &Cond) -> Vec<VarId> {
        let mut used = Vec::new();
        cond.visit_vars(&mut |var| used.push(var));
        used
    }
}

/// The variables that loops in some statements bind.
#[derive(Debug, Default)]
pub struct VarsBound(pub Vec<VarId>);

impl VarsBound {
    /// Of a statement and all in it.
    pub fn of(stmt: &Stmt) -> Vec<VarId> {
        let mut bound = VarsBound::default();
        bound.stmt(stmt);
        bound.0
    }
}

impl Visit for VarsBound {
    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::For(f) = stmt {
            self.0.push(f.var);
        }
        self.descend_stmt(stmt);
    }
}
