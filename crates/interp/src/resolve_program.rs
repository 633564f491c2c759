//! Running an array program in source order.
//!
//! A forall becomes a loop nest in ascending lexicographic order, which is right because its instances may run in
//! any order. Reductions stay expressions. Ids are checked here, so that a malformed function is an error.

use diag::Span;
use index::{Cond, Index, VarId};
use program::{
    Affine, ArrayId, Assign, Bound, DataRange, ExprKind, Function, IterId, Node, ParamId, ReduceOp, Scatter, Subscript,
    System, Value,
};

use crate::Error;
use crate::demand::{self, Clause, Clauses};
use crate::env::{Declared, Env};
use crate::machine::{Access, Cell, Expr, Fold, Loop, Place, Range, Reduce, Stmt, execute};

/// Runs a function on the arguments.
pub fn run_program(function: &Function, env: &mut Env) -> Result<(), Error> {
    env.check_params(&function.params.iter().map(|param| param.name.as_str()).collect::<Vec<_>>())?;
    let scalars = function.scalars.iter().map(|scalar| (scalar.name.as_str(), scalar.ty));
    env.check_scalars(&scalars.collect::<Vec<_>>())?;
    let resolver = Resolver { function, params: &env.params, scalars: &env.scalars };
    resolver.check_context()?;
    let declared = resolver.arrays()?;
    let body = resolver.body(&declared)?;
    let mut arrays = env.take_arrays(declared)?;
    let counters = vec![Value::I64(0); function.counters.len()];
    let result = execute(&body, function.iters.len(), counters, &mut arrays, None);
    env.return_arrays(arrays);
    result.map_err(|error| *error)
}

struct Resolver<'a> {
    function: &'a Function,
    params: &'a [i64],
    scalars: &'a [Value],
}

fn malformed(what: impl Into<String>) -> Error {
    Error::Malformed { what: what.into() }
}

impl Resolver<'_> {
    fn check_context(&self) -> Result<(), Error> {
        for requirement in &self.function.context {
            let span = Some(requirement.span);
            let cond = self.cond(&requirement.cond)?;
            if !cond.holds(&[], &[]).ok_or(Error::IndexOverflow { span })? {
                return Err(Error::Requirement { span: requirement.span });
            }
        }
        Ok(())
    }

    fn arrays(&self) -> Result<Vec<Declared>, Error> {
        let declare = |array: &program::Array| {
            let span = Some(array.span);
            let extent = |extent: &Affine| {
                let mut open = false;
                extent.visit_iters(&mut |_| open = true);
                if open {
                    return Err(malformed(format!("the shape of `{}` is not over parameters", array.name)));
                }
                self.affine(extent)?.value(&[], &[]).ok_or(Error::IndexOverflow { span })
            };
            let shape = array.shape.iter().map(extent).collect::<Result<_, Error>>()?;
            Ok(Declared { name: array.name.clone(), ty: array.ty, shape, role: array.role })
        };
        self.function.arrays.iter().map(declare).collect()
    }

    /// The statements in the order of the text, each system of equations at the place of its last clause.
    fn body(&self, declared: &[Declared]) -> Result<Vec<Stmt>, Error> {
        // Resolved first of all, because that checks all ids.
        let body = self.nodes(&self.function.body)?;
        let systems = demand::systems(self.function, declared, &|system, array| {
            let around = (0..system.block.len()).map(|depth| {
                let (place, block) = (system.block[depth], &system.block[..depth]);
                match program::nodes_of(self.function, block).get(place) {
                    Some(Node::For(node)) => self.for_loop(node),
                    _ => Err(malformed("a block is not that of a loop")),
                }
            });
            let clauses = self.clauses(system, &|assign| assign.target == array)?;
            Ok(Clauses { around: around.collect::<Result<_, Error>>()?, clauses })
        })?;
        if systems.is_empty() { Ok(body) } else { self.block(&mut Vec::new(), &systems) }
    }

    /// The nodes of a block, with its systems.
    fn block(&self, block: &mut Vec<usize>, systems: &[System]) -> Result<Vec<Stmt>, Error> {
        let mut stmts = Vec::new();
        for (place, node) in program::nodes_of(self.function, block).iter().enumerate() {
            let here = |system: &&System| system.block == *block && system.clauses.contains(&place);
            match (systems.iter().find(here), node) {
                (Some(system), _) if system.place() == place => {
                    stmts.push(Stmt::Equations(self.clauses(system, &|_| true)?));
                }
                (Some(_), _) => {}
                (None, Node::For(node)) => {
                    block.push(place);
                    let body = self.block(block, systems);
                    block.pop();
                    stmts.push(Stmt::For(self.for_loop(node)?, body?));
                }
                (None, node) => stmts.push(self.node(node)?),
            }
        }
        Ok(stmts)
    }

    /// The clauses of a system that are wanted.
    fn clauses(&self, system: &System, wanted: &dyn Fn(&Assign) -> bool) -> Result<Vec<Clause>, Error> {
        let nodes = program::nodes_of(self.function, &system.block);
        let assigns = system.clauses.iter().filter_map(|place| match nodes.get(*place) {
            Some(Node::Assign(assign)) if wanted(assign) => Some(assign),
            _ => None,
        });
        assigns.map(|assign| self.clause(assign)).collect()
    }

    fn clause(&self, assign: &Assign) -> Result<Clause, Error> {
        let span = Some(assign.span);
        Ok(Clause {
            loops: assign.foralls.iter().map(|bound| self.bound(bound, span)).collect::<Result<_, Error>>()?,
            guard: self.cond(&assign.guard)?,
            target: self.access(assign.target, &assign.index, Some(assign.target_span))?,
            value: self.expr(&assign.value)?,
            span,
        })
    }

    fn nodes(&self, nodes: &[Node]) -> Result<Vec<Stmt>, Error> {
        nodes.iter().map(|node| self.node(node)).collect()
    }

    fn node(&self, node: &Node) -> Result<Stmt, Error> {
        match node {
            Node::For(f) => Ok(Stmt::For(self.for_loop(f)?, self.nodes(&f.body)?)),
            Node::Assign(assign) => self.assign(assign),
            Node::Scatter(scatter) => self.scatter(scatter),
            Node::Each(each) => {
                let mut range = self.range(&each.range)?;
                range.until = each.until.as_ref().map(|until| self.expr(until)).transpose()?;
                Ok(Stmt::Each(Box::new(range), self.nodes(&each.body)?))
            }
        }
    }

    fn range(&self, range: &DataRange) -> Result<Range, Error> {
        let counter = self.function.counters.get(range.counter.index());
        let counter = counter.ok_or_else(|| malformed(format!("there is no counter {}", range.counter.0)))?;
        Ok(Range {
            local: range.counter.index(),
            name: Some(counter.name.clone()),
            lo: self.expr(&range.lo)?,
            hi: self.expr(&range.hi)?,
            step: self.expr(&range.step)?,
            forwards: range.forwards,
            until: None,
            span: Some(range.span),
        })
    }

    fn for_loop(&self, node: &program::For) -> Result<Loop, Error> {
        let mut a_loop = self.bound(&node.bound, Some(node.span))?;
        (a_loop.step, a_loop.rev) = (node.step, node.rev);
        Ok(a_loop)
    }

    fn assign(&self, assign: &Assign) -> Result<Stmt, Error> {
        let target = self.access(assign.target, &assign.index, Some(assign.target_span))?;
        let stmt = Stmt::Store(target, self.expr(&assign.value)?);
        self.forall(stmt, &assign.foralls, &assign.guard, Some(assign.span))
    }

    fn scatter(&self, scatter: &Scatter) -> Result<Stmt, Error> {
        let cell = self.cell(scatter.target, &scatter.index, Some(scatter.target_span))?;
        let stmt = Stmt::Scatter(cell, scatter.op.combine(), self.expr(&scatter.value)?);
        self.forall(stmt, &scatter.foralls, &scatter.guard, Some(scatter.span))
    }

    fn forall(
        &self,
        mut stmt: Stmt,
        bounds: &[Bound],
        guard: &program::Cond,
        span: Option<Span>,
    ) -> Result<Stmt, Error> {
        if !guard.is_true() {
            stmt = Stmt::If(self.cond(guard)?, vec![stmt], Vec::new(), span);
        }
        for bound in bounds.iter().rev() {
            stmt = Stmt::For(self.bound(bound, span)?, vec![stmt]);
        }
        Ok(stmt)
    }

    fn bound(&self, bound: &Bound, span: Option<Span>) -> Result<Loop, Error> {
        let slot = self.slot(bound.iter)?;
        let (lo, hi) = (self.affine(&bound.lo)?, self.affine(&bound.hi)?);
        let name = Some(self.function.iter(bound.iter).name.clone());
        Ok(Loop { slot, name, lo, hi, step: 1, rev: false, span })
    }

    fn slot(&self, iter: IterId) -> Result<usize, Error> {
        if iter.index() < self.function.iters.len() {
            return Ok(iter.index());
        }
        Err(malformed(format!("there is no iterator {}", iter.0)))
    }

    fn access(&self, array: ArrayId, index: &[Affine], span: Option<Span>) -> Result<Access, Error> {
        self.check_rank(array, index.len())?;
        let index = index.iter().map(|index| self.affine(index)).collect::<Result<_, Error>>()?;
        Ok(Access { array: array.index(), index, span })
    }

    fn cell(&self, array: ArrayId, index: &[Subscript], span: Option<Span>) -> Result<Cell, Error> {
        self.check_rank(array, index.len())?;
        let subscript = |subscript: &Subscript| match subscript {
            Subscript::Affine(affine) => Ok(Expr::Index(self.affine(affine)?, span)),
            Subscript::Data(expr) => self.expr(expr),
        };
        Ok(Cell { array: array.index(), index: index.iter().map(subscript).collect::<Result<_, Error>>()?, span })
    }

    fn check_rank(&self, array: ArrayId, subscripts: usize) -> Result<(), Error> {
        let declared = self.function.arrays.get(array.index());
        let declared = declared.ok_or_else(|| malformed(format!("there is no array {}", array.0)))?;
        if subscripts != declared.shape.len() {
            return Err(malformed(format!("`{}` is accessed with {subscripts} subscripts", declared.name)));
        }
        Ok(())
    }

    fn expr(&self, expr: &program::Expr) -> Result<Expr, Error> {
        let span = Some(expr.span);
        let boxed = |expr: &program::Expr| self.expr(expr).map(Box::new);
        Ok(match &expr.kind {
            ExprKind::Const(value) => Expr::Const(*value),
            ExprKind::Index(affine) => Expr::Index(self.affine(affine)?, span),
            ExprKind::Scalar(scalar) => {
                let value = self.scalars.get(scalar.index());
                Expr::Const(*value.ok_or_else(|| malformed(format!("there is no scalar {}", scalar.0)))?)
            }
            ExprKind::Counter(id) if id.index() < self.function.counters.len() => Expr::Local(id.index()),
            ExprKind::Counter(id) => return Err(malformed(format!("there is no counter {}", id.0))),
            ExprKind::Fold { op, range, body } => {
                let (start, range, body) = (op.neutral(expr.ty), self.range(range)?, self.expr(body)?);
                Expr::Fold(Box::new(Fold { op: op.combine(), start, range, body }))
            }
            ExprKind::Load { array, index } => Expr::Load(self.access(*array, index, span)?),
            ExprKind::Gather { array, index } => Expr::Gather(self.cell(*array, index, span)?),
            ExprKind::Unary(op, a) => Expr::Unary(*op, boxed(a)?),
            ExprKind::Binary(op, a, b) => Expr::binary(*op, self.expr(a)?, self.expr(b)?, a.ty, span),
            ExprKind::Cast(a) => Expr::Cast(expr.ty, boxed(a)?),
            ExprKind::Select { cond, then, otherwise, .. } => {
                Expr::Select(boxed(cond)?, boxed(then)?, boxed(otherwise)?)
            }
            ExprKind::Reduce { op: op @ (ReduceOp::ArgMin | ReduceOp::ArgMax), bounds, guard, body } => {
                let [bound] = bounds.as_slice() else { return Err(malformed("a place in several dimensions")) };
                let (largest, a_loop) = (*op == ReduceOp::ArgMax, self.bound(bound, span)?);
                let (guard, body) = (self.cond(guard)?, self.expr(body)?);
                Expr::Place(Box::new(Place { largest, a_loop, guard, body, span }))
            }
            ExprKind::Reduce { op, bounds, guard, body } => {
                let loops = bounds.iter().map(|bound| self.bound(bound, span)).collect::<Result<_, Error>>()?;
                let start = ReduceOp::neutral(*op, expr.ty);
                let (guard, body) = (self.cond(guard)?, self.expr(body)?);
                Expr::Reduce(Box::new(Reduce { op: op.combine(), start, loops, guard, body, span }))
            }
        })
    }

    /// With parameters replaced by their values.
    fn affine(&self, affine: &Affine) -> Result<Index, Error> {
        let index = Index::of_affine(affine, &|param| self.param(param), &|iter| self.iter(iter));
        index.ok_or_else(|| malformed("a parameter or an index is unknown"))
    }

    fn cond(&self, cond: &program::Cond) -> Result<Cond, Error> {
        let cond = Cond::of_affine(cond, &|param| self.param(param), &|iter| self.iter(iter));
        cond.ok_or_else(|| malformed("a parameter or an index is unknown"))
    }

    fn param(&self, param: ParamId) -> Option<Index> {
        self.params.get(param.index()).copied().map(Index::Const)
    }

    fn iter(&self, iter: IterId) -> Option<Index> {
        self.slot(iter).ok().map(|slot| Index::Var(VarId(slot as u32)))
    }
}
