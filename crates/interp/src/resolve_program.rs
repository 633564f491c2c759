//! Running an array program in source order.
//!
//! A forall becomes a loop nest in ascending lexicographic order, which is right because its instances may run in
//! any order. Reductions stay expressions. Ids are checked here, so that a malformed function is an error.

use diag::Span;
use loops::CompareOp;
use program::{
    Affine, ArrayId, Assign, Atom, Bound, ExprKind, Function, Node, ReduceOp, Scatter, Subscript, System, Value,
};

use crate::Error;
use crate::demand::{self, Clause, Clauses};
use crate::env::{Declared, Env};
use crate::machine::{Access, Cell, Cond, Expr, Index, Loop, Place, Reduce, Stmt, execute, holds};

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
    let result = execute(&body, function.iters.len(), Vec::new(), &mut arrays, None);
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
            let cond = self.cond(&requirement.cond, span)?;
            if !holds(&cond).ok_or(Error::IndexOverflow { span })? {
                return Err(Error::Requirement { span: requirement.span });
            }
        }
        Ok(())
    }

    fn arrays(&self) -> Result<Vec<Declared>, Error> {
        let declare = |array: &program::Array| {
            let span = Some(array.span);
            let extent = |extent: &Affine| match self.affine(extent, span)? {
                Index::Const(extent) => Ok(extent),
                _ => Err(malformed(format!("the shape of `{}` is not over parameters", array.name))),
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
            guard: self.cond(&assign.guard, span)?,
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
        }
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
            stmt = Stmt::If(self.cond(guard, span)?, vec![stmt], Vec::new(), span);
        }
        for bound in bounds.iter().rev() {
            stmt = Stmt::For(self.bound(bound, span)?, vec![stmt]);
        }
        Ok(stmt)
    }

    fn bound(&self, bound: &Bound, span: Option<Span>) -> Result<Loop, Error> {
        let slot = self.slot(bound.iter)?;
        let (lo, hi) = (self.affine(&bound.lo, span)?, self.affine(&bound.hi, span)?);
        let name = Some(self.function.iter(bound.iter).name.clone());
        Ok(Loop { slot, name, lo, hi, step: 1, rev: false, span })
    }

    fn slot(&self, iter: program::IterId) -> Result<usize, Error> {
        if iter.index() < self.function.iters.len() {
            return Ok(iter.index());
        }
        Err(malformed(format!("there is no iterator {}", iter.0)))
    }

    fn access(&self, array: ArrayId, index: &[Affine], span: Option<Span>) -> Result<Access, Error> {
        self.check_rank(array, index.len())?;
        let index = index.iter().map(|index| self.affine(index, span)).collect::<Result<_, Error>>()?;
        Ok(Access { array: array.index(), index, span })
    }

    fn cell(&self, array: ArrayId, index: &[Subscript], span: Option<Span>) -> Result<Cell, Error> {
        self.check_rank(array, index.len())?;
        let subscript = |subscript: &Subscript| match subscript {
            Subscript::Affine(affine) => Ok(Expr::Index(self.affine(affine, span)?, span)),
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
            ExprKind::Index(affine) => Expr::Index(self.affine(affine, span)?, span),
            ExprKind::Scalar(scalar) => {
                let value = self.scalars.get(scalar.index());
                Expr::Const(*value.ok_or_else(|| malformed(format!("there is no scalar {}", scalar.0)))?)
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
                let (guard, body) = (self.cond(guard, span)?, self.expr(body)?);
                Expr::Place(Box::new(Place { largest, a_loop, guard, body, span }))
            }
            ExprKind::Reduce { op, bounds, guard, body } => {
                let loops = bounds.iter().map(|bound| self.bound(bound, span)).collect::<Result<_, Error>>()?;
                let start = ReduceOp::neutral(*op, expr.ty);
                let (guard, body) = (self.cond(guard, span)?, self.expr(body)?);
                Expr::Reduce(Box::new(Reduce { op: op.combine(), start, loops, guard, body, span }))
            }
        })
    }

    /// A flat sum if possible: parameters, and divisions of them, go into the constant.
    fn affine(&self, affine: &Affine, span: Option<Span>) -> Result<Index, Error> {
        let overflow = || Error::IndexOverflow { span };
        let mut constant = affine.constant;
        let mut terms = Vec::new();
        let mut divisions = Vec::new();
        for (atom, coefficient) in &affine.terms {
            let index = match atom {
                Atom::Param(param) => {
                    let value = self.params.get(param.index());
                    Index::Const(*value.ok_or_else(|| malformed(format!("there is no parameter {}", param.0)))?)
                }
                Atom::Iter(iter) => Index::Slot(self.slot(*iter)?),
                Atom::Div(numerator, divisor) => match self.affine(numerator, span)? {
                    Index::Const(value) => Index::Const(value.checked_div_euclid(*divisor).ok_or_else(overflow)?),
                    numerator => Index::FloorDiv(Box::new(numerator), *divisor),
                },
            };
            match index {
                Index::Const(value) => {
                    let term = value.checked_mul(*coefficient).ok_or_else(overflow)?;
                    constant = constant.checked_add(term).ok_or_else(overflow)?;
                }
                Index::Slot(slot) => terms.push((slot, *coefficient)),
                division => divisions.push(Index::Mul(Box::new(division), *coefficient)),
            }
        }
        let sum = match (constant, terms.as_slice()) {
            (constant, []) => Index::Const(constant),
            (0, [(slot, 1)]) => Index::Slot(*slot),
            _ => Index::Linear(constant, terms),
        };
        Ok(divisions.into_iter().fold(sum, |sum, division| Index::Add(Box::new(sum), Box::new(division))))
    }

    fn cond(&self, cond: &program::Cond, span: Option<Span>) -> Result<Cond, Error> {
        let compare = |op, affine| Ok(Cond::Compare(op, self.affine(affine, span)?, Index::Const(0)));
        let conds =
            |conds: &[program::Cond]| conds.iter().map(|cond| self.cond(cond, span)).collect::<Result<_, Error>>();
        match cond {
            program::Cond::NonNegative(affine) => compare(CompareOp::Ge, affine),
            program::Cond::Zero(affine) => compare(CompareOp::Eq, affine),
            program::Cond::And(parts) => Ok(Cond::And(conds(parts)?)),
            program::Cond::Or(parts) => Ok(Cond::Or(conds(parts)?)),
        }
    }
}
