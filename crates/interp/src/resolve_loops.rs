//! Running a loop tree.

use diag::Span;
use index::{Cond, Index};
use loops::{For, Kernel, LoopKind, Rewrite, Verified, Visit};
use program::{Role, Value};

use crate::Error;
use crate::concurrent::{Concurrent, Random, waits};
use crate::env::{Declared, Env};
use crate::machine::{Access, Cell, Expr, Loop, Range, Stmt, Target, execute};

/// Runs a kernel on the arguments, in the order of the loops; parallel and vector loops run like serial ones, from barrier to
/// barrier.
pub fn run_loops(kernel: &Verified, env: &mut Env) -> Result<(), Error> {
    run(kernel, env, None)
}

/// Runs a kernel on the arguments: iterations of parallel loops in an order that the seed decides, lanes of vector loops in
/// lockstep, and what nobody has written with arbitrary content.
pub fn run_concurrently(kernel: &Verified, env: &mut Env, seed: u64) -> Result<(), Error> {
    run(kernel, env, Some(Random(seed)))
}

fn run(kernel: &Verified, env: &mut Env, mut random: Option<Random>) -> Result<(), Error> {
    let given = kernel.arrays.len();
    env.check_arrays(given)?;
    let kernel = &kernel.with_sums_spread(|_| true);
    env.check_params(&kernel.params.iter().map(String::as_str).collect::<Vec<_>>())?;
    let scalars = kernel.scalars.iter().map(|scalar| (scalar.name.as_str(), scalar.ty));
    env.check_scalars(&scalars.collect::<Vec<_>>())?;
    let resolver = Resolver { kernel, params: &env.params, scalars: &env.scalars, concurrent: random.is_some() };
    let declared = resolver.arrays()?;
    let body = resolver.block(&kernel.body);
    let locals = kernel.locals.iter().map(|local| Value::from_i64(local.ty, 0)).collect();
    // The cells of lanes are nobody's arguments.
    env.arrays.resize(kernel.arrays.len(), None);
    let arrays = env.take_arrays(declared);
    env.arrays.truncate(given);
    let mut arrays = arrays?;
    if let Some(random) = &mut random {
        let unwritten = arrays.iter_mut().filter(|memory| memory.declared.role == Role::Local);
        unwritten.for_each(|memory| random.spoil(memory));
    }
    let result = execute(&body, kernel.vars.len(), locals, &mut arrays, random);
    env.return_arrays(arrays);
    result.map_err(|error| *error)
}

struct Resolver<'a> {
    kernel: &'a Kernel,
    params: &'a [i64],
    scalars: &'a [Value],
    /// Whether loops run as their kinds say.
    concurrent: bool,
}

impl Resolver<'_> {
    fn arrays(&self) -> Result<Vec<Declared>, Error> {
        let declare = |array: &loops::ArrayDecl| {
            let extents = array.shape.iter().map(|extent| extent.value(self.params, &[]));
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
            loops::Stmt::For(found) => {
                let For { var, kind, lo, hi, step, body } = found;
                let (lo, hi) = (self.index(lo), self.index(hi));
                let a_loop = Loop { slot: var.index(), name: None, lo, hi, step: *step, rev: false, span: None };
                let body = self.block(body);
                match kind {
                    // One iteration after the other would wait for ever.
                    LoopKind::Parallel(parallel) if self.concurrent || body.iter().any(waits) => {
                        let private = parallel.private.iter().map(|array| array.index()).collect();
                        let (locals, waits) = (own_locals(found), body.iter().any(waits));
                        Stmt::Concurrent(Box::new(Concurrent { a_loop, lanes: None, locals, private, waits, body }))
                    }
                    LoopKind::Vector(lanes) if self.concurrent => {
                        let (lanes, locals) = (Some(*lanes as usize), own_locals(found));
                        let private = Vec::new();
                        Stmt::Concurrent(Box::new(Concurrent { a_loop, lanes, locals, private, waits: false, body }))
                    }
                    _ => Stmt::For(a_loop, body),
                }
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
                let target = match target {
                    loops::Target::Cell { array, index } => Target::Cell(self.access(*array, index)),
                    loops::Target::Local(local) => Target::Local(local.index()),
                };
                match loops::fused_factors(*op, value) {
                    Some((a, b)) => Stmt::Fuse(target, self.expr(a, None), self.expr(b, None)),
                    None => Stmt::Update(target, *op, self.expr(value, None)),
                }
            }
            loops::Stmt::Set { local, value } => Stmt::Set(local.index(), self.expr(value, None)),
            loops::Stmt::Alloc { array, body, .. } => Stmt::Alloc(array.index(), self.block(body)),
            loops::Stmt::Barrier => Stmt::Barrier,
            loops::Stmt::Each(each) => {
                let value = |expr: &loops::Expr| self.expr(expr, None);
                let range = Range {
                    local: each.local.index(),
                    name: None,
                    lo: value(&each.lo),
                    hi: value(&each.hi),
                    step: value(&each.step),
                    forwards: each.forwards,
                    until: each.until.as_ref().map(value),
                    span: each.at,
                };
                Stmt::Each(Box::new(range), self.block(&each.body))
            }
        }
    }

    fn access(&self, array: loops::ArrayId, index: &[Index]) -> Access {
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

    fn index(&self, index: &Index) -> Index {
        WithParams(self.params).index(index.clone())
    }

    fn cond(&self, cond: &Cond) -> Cond {
        WithParams(self.params).cond(cond.clone())
    }
}

/// Puts their values in the place of parameters.
struct WithParams<'a>(&'a [i64]);

impl Rewrite for WithParams<'_> {
    fn index(&mut self, index: Index) -> Index {
        match index {
            Index::Param(param) => Index::Const(self.0[param.index()]),
            index => self.descend_index(index),
        }
    }
}

/// The locals that belong to the iterations of a loop: those that are set in it. In a parallel loop there are no others.
fn own_locals(found: &For) -> Vec<usize> {
    struct Own(Vec<usize>);

    impl Visit for Own {
        fn stmt(&mut self, stmt: &loops::Stmt) {
            if let loops::Stmt::Set { local, .. } = stmt
                && !self.0.contains(&local.index())
            {
                self.0.push(local.index());
            }
            if let loops::Stmt::Each(each) = stmt {
                self.0.push(each.local.index());
            }
            self.descend_stmt(stmt);
        }
    }

    let mut own = Own(Vec::new());
    own.block(&found.body);
    own.0
}
