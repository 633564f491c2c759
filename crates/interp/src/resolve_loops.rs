//! Running a loop tree.

use diag::Span;
use loops::{For, Kernel, Target, Verified};
use program::Value;

use crate::env::{Declared, Env};
use crate::machine::{Access, Cell, Cond, Expr, Index, Loop, Stmt, execute};
use crate::{Error, machine};

/// Runs a kernel on the arguments, in the order of the loops; parallel and vector loops run like serial ones.
pub fn run_loops(kernel: &Verified, env: &mut Env) -> Result<(), Error> {
    env.check_params(&kernel.params.iter().map(String::as_str).collect::<Vec<_>>())?;
    let scalars = kernel.scalars.iter().map(|scalar| (scalar.name.as_str(), scalar.ty));
    env.check_scalars(&scalars.collect::<Vec<_>>())?;
    let resolver = Resolver { kernel, params: &env.params, scalars: &env.scalars };
    let declared = resolver.arrays()?;
    let body = resolver.block(&kernel.body);
    let locals = kernel.locals.iter().map(|local| Value::from_i64(local.ty, 0)).collect();
    let mut arrays = env.take_arrays(declared)?;
    let result = execute(&body, kernel.vars.len(), locals, &mut arrays);
    env.return_arrays(arrays);
    result.map_err(|error| *error)
}

struct Resolver<'a> {
    kernel: &'a Kernel,
    params: &'a [i64],
    scalars: &'a [Value],
}

impl Resolver<'_> {
    fn arrays(&self) -> Result<Vec<Declared>, Error> {
        let declare = |array: &loops::ArrayDecl| {
            let extents = array.shape.iter().map(|extent| machine::constant(&self.index(extent)));
            let shape = extents.collect::<Option<_>>().ok_or(Error::IndexOverflow { span: None })?;
            Ok(Declared { name: array.name.clone(), ty: array.ty, shape, role: array.role })
        };
        self.kernel.arrays.iter().map(declare).collect()
    }

    fn block(&self, stmts: &[loops::Stmt]) -> Vec<Stmt> {
        stmts.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&self, stmt: &loops::Stmt) -> Stmt {
        match stmt {
            loops::Stmt::For(For { var, lo, hi, step, body, .. }) => {
                let (lo, hi) = (self.index(lo), self.index(hi));
                let a_loop = Loop { slot: var.index(), name: None, lo, hi, step: *step, rev: false, span: None };
                Stmt::For(a_loop, self.block(body))
            }
            loops::Stmt::If { cond, then, otherwise } => {
                Stmt::If(self.cond(cond), self.block(then), self.block(otherwise), None)
            }
            loops::Stmt::Store { array, index, value } => {
                Stmt::Store(self.access(*array, index), self.expr(value, None))
            }
            loops::Stmt::Scatter { array, index, op, value, at } => {
                let cell = self.cell(*array, index, *at);
                Stmt::Scatter(cell, *op, self.expr(value, None))
            }
            loops::Stmt::Update { target, op, value } => {
                let (ty, value) = (value.ty, self.expr(value, None));
                match target {
                    Target::Cell { array, index } => {
                        let old = Expr::Load(self.access(*array, index));
                        Stmt::Store(self.access(*array, index), Expr::binary(*op, old, value, ty, None))
                    }
                    Target::Local(local) => {
                        Stmt::Set(local.index(), Expr::binary(*op, Expr::Local(local.index()), value, ty, None))
                    }
                }
            }
            loops::Stmt::Set { local, value } => Stmt::Set(local.index(), self.expr(value, None)),
            loops::Stmt::Alloc { body, .. } => Stmt::If(Cond::And(Vec::new()), self.block(body), Vec::new(), None),
            // One iteration after the other meets nobody.
            loops::Stmt::Barrier => Stmt::If(Cond::And(Vec::new()), Vec::new(), Vec::new(), None),
        }
    }

    fn access(&self, array: loops::ArrayId, index: &[loops::Index]) -> Access {
        Access { array: array.index(), index: index.iter().map(|index| self.index(index)).collect(), span: None }
    }

    fn cell(&self, array: loops::ArrayId, index: &[loops::Expr], at: Option<Span>) -> Cell {
        Cell { array: array.index(), index: index.iter().map(|index| self.expr(index, None)).collect(), span: at }
    }

    /// What fails in the outermost operation is reported `at` that place.
    fn expr(&self, expr: &loops::Expr, at: Option<Span>) -> Expr {
        let boxed = |expr: &loops::Expr| Box::new(self.expr(expr, None));
        match &expr.kind {
            loops::ExprKind::Const(value) => Expr::Const(*value),
            loops::ExprKind::Index(index) => Expr::Index(self.index(index), None),
            loops::ExprKind::Cond(cond) => Expr::Cond(self.cond(cond), None),
            loops::ExprKind::Scalar(scalar) => Expr::Const(self.scalars[scalar.index()]),
            loops::ExprKind::Load { array, index } => Expr::Load(self.access(*array, index)),
            loops::ExprKind::Gather { array, index } => Expr::Gather(self.cell(*array, index, at)),
            loops::ExprKind::At(span, a) => self.expr(a, Some(*span)),
            loops::ExprKind::Local(local) => Expr::Local(local.index()),
            loops::ExprKind::Unary(op, a) => Expr::Unary(*op, boxed(a)),
            loops::ExprKind::Binary(op, a, b) => Expr::binary(*op, self.expr(a, None), self.expr(b, None), a.ty, at),
            loops::ExprKind::Cast(a) => Expr::Cast(expr.ty, boxed(a)),
            loops::ExprKind::Select(cond, a, b) => Expr::Select(boxed(cond), boxed(a), boxed(b)),
        }
    }

    fn index(&self, index: &loops::Index) -> Index {
        let boxed = |index: &loops::Index| Box::new(self.index(index));
        match index {
            loops::Index::Const(value) => Index::Const(*value),
            loops::Index::Param(param) => Index::Const(self.params[param.index()]),
            loops::Index::Var(var) => Index::Slot(var.index()),
            loops::Index::Add(a, b) => Index::Add(boxed(a), boxed(b)),
            loops::Index::Sub(a, b) => Index::Sub(boxed(a), boxed(b)),
            loops::Index::Mul(a, factor) => Index::Mul(boxed(a), *factor),
            loops::Index::FloorDiv(a, divisor) => Index::FloorDiv(boxed(a), *divisor),
            loops::Index::Mod(a, divisor) => Index::Mod(boxed(a), *divisor),
            loops::Index::Min(a, b) => Index::Min(boxed(a), boxed(b)),
            loops::Index::Max(a, b) => Index::Max(boxed(a), boxed(b)),
            loops::Index::Select(cond, a, b) => Index::Select(Box::new(self.cond(cond)), boxed(a), boxed(b)),
        }
    }

    fn cond(&self, cond: &loops::Cond) -> Cond {
        let conds = |conds: &[loops::Cond]| conds.iter().map(|cond| self.cond(cond)).collect();
        match cond {
            loops::Cond::Compare(op, a, b) => Cond::Compare(*op, self.index(a), self.index(b)),
            loops::Cond::Not(cond) => Cond::Not(Box::new(self.cond(cond))),
            loops::Cond::And(parts) => Cond::And(conds(parts)),
            loops::Cond::Or(parts) => Cond::Or(conds(parts)),
        }
    }
}
