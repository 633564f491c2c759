//! One statement instance as loops see it: its expressions, with iterators replaced by what the loops around say they are, and the
//! loops that it has inside.
//!
//! In: a statement and the values of its iterators.  Out: statements of the loop tree. A reduction that is left in an expression is a
//! loop in front of the statement that adds up in a local; under a condition on data, one that may run no time at all.

use loops::{
    ArrayId, Cond, Expr, ExprKind, For, Index, LocalDecl, LocalId, LoopKind, ScalarId, Space, Stmt, Target, VarId,
};
use program::{
    Affine, BinaryOp, Bound, CounterId, DataRange, Each, ExprKind as From, IterId, Node, ReduceOp, ScalarType,
    Subscript, UnaryOp, Value,
};

use super::{param, unresolved};
use crate::fault::{Attempt, Fault};
use crate::scop::{Scop, Statement, StatementKind};

/// Where new variables and locals are declared.
pub(super) struct Names<'a> {
    pub(super) vars: &'a mut Vec<String>,
    pub(super) locals: &'a mut Vec<LocalDecl>,
}

/// The instance, and the statements in front of it so far.
pub(super) struct Body<'a> {
    pub(super) scop: &'a Scop,
    pub(super) names: Names<'a>,
    iters: Vec<(IterId, Index)>,
    counters: Vec<(CounterId, LocalId)>,
    /// Scalars that only a loop inside the statement knows.
    scalars: Vec<(program::ArrayId, LocalId)>,
    /// Arrays that only such a loop knows.
    arrays: Vec<program::ArrayId>,
    ahead: Vec<Stmt>,
    /// The conditions on data under which the present expression is evaluated, since the last statement in front.
    conditions: Vec<Expr>,
}

impl<'a> Body<'a> {
    /// The statements of an instance.
    pub(super) fn instance(
        scop: &'a Scop,
        names: Names<'a>,
        statement: &Statement,
        values: &[Index],
    ) -> Attempt<Vec<Stmt>> {
        let iters = statement.iters.iter().copied().zip(values.iter().cloned()).collect();
        let mut body = Body {
            scop,
            names,
            iters,
            counters: Vec::new(),
            scalars: Vec::new(),
            arrays: Vec::new(),
            ahead: Vec::new(),
            conditions: Vec::new(),
        };
        if let Some(block) = &statement.block {
            let each = body.each(&block.each)?;
            body.ahead.push(each);
            return Ok(body.ahead);
        }
        let stmt = body.statement(statement)?;
        body.ahead.push(stmt);
        Ok(body.ahead)
    }

    fn statement(&mut self, statement: &Statement) -> Attempt<Stmt> {
        let array = ArrayId(statement.write.array.0);
        let update = match statement.kind {
            StatementKind::Update(op) => Some((op.combine(), self.expr(statement.term()?)?)),
            StatementKind::Assign | StatementKind::Init(_) | StatementKind::Fini => None,
        };
        let cell = Subscript::all_affine(&statement.write.index);
        match (cell, update) {
            (Some(index), None) => {
                let value = self.expr(&statement.value)?;
                Ok(Stmt::Store { array, index: self.indices(&index)?, value })
            }
            (Some(index), Some((op, value))) => {
                Ok(Stmt::Update { target: Target::Cell { array, index: self.indices(&index)? }, op, value })
            }
            (None, Some((op, value))) => {
                let index = self.subscripts(&statement.write.index)?;
                Ok(Stmt::Scatter { array, index, op, value, at: Some(statement.write.span) })
            }
            (None, None) => Err(Fault::bug(format!("{} stores to a cell that depends on data", statement.name))),
        }
    }

    fn index(&self, affine: &Affine) -> Attempt<Index> {
        Index::of_affine(affine, &param, &|iter| self.iter(iter)).ok_or_else(unresolved)
    }

    fn indices(&self, index: &[Affine]) -> Attempt<Vec<Index>> {
        index.iter().map(|affine| self.index(affine)).collect()
    }

    fn iter(&self, iter: IterId) -> Option<Index> {
        self.iters.iter().rev().find(|(known, _)| *known == iter).map(|(_, index)| index.clone())
    }

    fn cond(&self, cond: &program::Cond) -> Attempt<Cond> {
        Cond::of_affine(cond, &param, &|iter| self.iter(iter)).ok_or_else(unresolved)
    }

    fn subscripts(&mut self, index: &[Subscript]) -> Attempt<Vec<Expr>> {
        let mut subscripts = Vec::new();
        for subscript in index {
            subscripts.push(match subscript {
                Subscript::Affine(affine) => Expr { kind: ExprKind::Index(self.index(affine)?), ty: ScalarType::I64 },
                Subscript::Data(expr) => self.expr(expr)?,
            });
        }
        Ok(subscripts)
    }

    fn boxed(&mut self, expr: &program::Expr) -> Attempt<Box<Expr>> {
        self.expr(expr).map(Box::new)
    }

    fn expr(&mut self, expr: &program::Expr) -> Attempt<Expr> {
        let kind = match &expr.kind {
            From::Const(value) => ExprKind::Const(*value),
            From::Index(affine) => ExprKind::Index(self.index(affine)?),
            From::Scalar(id) => ExprKind::Scalar(ScalarId(id.0)),
            From::Counter(id) => {
                let known = self.counters.iter().find(|(known, _)| known == id);
                ExprKind::Local(known.ok_or_else(unresolved)?.1)
            }
            From::Load { array, index } => match self.scalars.iter().find(|(known, _)| known == array) {
                Some((_, local)) => ExprKind::Local(*local),
                None => ExprKind::Load { array: ArrayId(array.0), index: self.indices(index)? },
            },
            From::Gather { array, index } => {
                let gather = ExprKind::Gather { array: ArrayId(array.0), index: self.subscripts(index)? };
                ExprKind::At(expr.span, Box::new(Expr { kind: gather, ty: expr.ty }))
            }
            From::Unary(op, operand) => ExprKind::Unary(*op, self.boxed(operand)?),
            From::Binary(op, lhs, rhs) => {
                let binary = ExprKind::Binary(*op, self.boxed(lhs)?, self.boxed(rhs)?);
                if matches!(op, BinaryOp::Div | BinaryOp::Rem) && expr.ty.is_int() {
                    ExprKind::At(expr.span, Box::new(Expr { kind: binary, ty: expr.ty }))
                } else {
                    binary
                }
            }
            From::Cast(operand) => ExprKind::Cast(self.boxed(operand)?),
            From::Select { cond, affine, then, otherwise } => {
                let cond = match affine {
                    Some(affine) => Expr { kind: ExprKind::Cond(self.cond(affine)?), ty: cond.ty },
                    None => self.expr(cond)?,
                };
                self.conditions.push(cond.clone());
                let then = self.boxed(then)?;
                self.conditions.pop();
                let fails = ExprKind::Unary(UnaryOp::Not, Box::new(cond.clone()));
                self.conditions.push(Expr { kind: fails, ty: ScalarType::Bool });
                let otherwise = self.boxed(otherwise)?;
                self.conditions.pop();
                ExprKind::Select(Box::new(cond), then, otherwise)
            }
            From::Reduce { op, bounds, guard, body } => return self.reduce(*op, bounds, guard, body, expr.ty),
            From::Fold { op, range, body } => {
                return self.accumulated(*op, expr.ty, |inner, total| {
                    let stmt = inner.range(range, |inner| {
                        let value = inner.expr(body)?;
                        Ok(vec![update(total, *op, value)])
                    })?;
                    Ok(vec![stmt])
                });
            }
        };
        Ok(Expr { kind, ty: expr.ty })
    }

    /// A reduction over ranges that are known.
    fn reduce(
        &mut self,
        op: ReduceOp,
        bounds: &[Bound],
        guard: &program::Cond,
        body: &program::Expr,
        ty: ScalarType,
    ) -> Attempt<Expr> {
        let (Some(extreme), [bound]) = (op.extreme(), bounds) else {
            return self.accumulated(op, ty, |inner, total| {
                inner.foralls(bounds, guard, |inner| Ok(vec![update(total, op, inner.expr(body)?)]))
            });
        };
        // The extreme, and then the first index that has it; NaN equals nothing, and the first one is meant.
        let best = self.accumulated(extreme, body.ty, |inner, total| {
            inner.foralls(bounds, guard, |inner| Ok(vec![update(total, extreme, inner.expr(body)?)]))
        })?;
        let int = |kind| Expr { kind, ty: ScalarType::I64 };
        let truth = |kind| Expr { kind, ty: ScalarType::Bool };
        let none = Expr::constant(ReduceOp::Min.neutral(ScalarType::I64));
        let first = self.accumulated(ReduceOp::Min, ScalarType::I64, |inner, total| {
            inner.foralls(bounds, guard, |inner| {
                let value = inner.expr(body)?;
                let compare =
                    |op, a: &Expr, b: &Expr| truth(ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone())));
                let mut found = compare(BinaryOp::Eq, &value, &best);
                if value.ty.is_float() {
                    let nan = compare(BinaryOp::Ne, &value, &value);
                    found = truth(ExprKind::Binary(BinaryOp::Or, Box::new(found), Box::new(nan)));
                }
                let here = int(ExprKind::Index(inner.index(&Affine::iter(bound.iter))?));
                let place = ExprKind::Select(Box::new(found), Box::new(here), Box::new(none.clone()));
                Ok(vec![update(total, ReduceOp::Min, int(place))])
            })
        })?;
        let nowhere = truth(ExprKind::Binary(BinaryOp::Eq, Box::new(first.clone()), Box::new(none)));
        let minus_one = Expr::constant(Value::I64(-1));
        Ok(int(ExprKind::Select(Box::new(nowhere), Box::new(minus_one), Box::new(first))))
    }

    /// A local in which loops in front of the statement add up.
    fn accumulated(
        &mut self,
        op: ReduceOp,
        ty: ScalarType,
        loops: impl FnOnce(&mut Self, LocalId) -> Attempt<Vec<Stmt>>,
    ) -> Attempt<Expr> {
        let total = self.local(op.name(), ty);
        let conditions = std::mem::take(&mut self.conditions);
        let mut stmts = self.apart(|inner| loops(inner, total))?;
        // Under a condition on data, as a loop that runs once or not at all.
        for cond in conditions.iter().rev() {
            let local = self.local("once", ScalarType::I64);
            let hi = Expr { kind: ExprKind::Cast(Box::new(cond.clone())), ty: ScalarType::I64 };
            stmts = vec![Stmt::Each(Box::new(loops::Each {
                local,
                lo: Expr::constant(Value::I64(0)),
                hi,
                step: Expr::constant(Value::I64(1)),
                forwards: false,
                until: None,
                body: stmts,
                at: None,
            }))];
        }
        self.conditions = conditions;
        self.ahead.push(Stmt::Set { local: total, value: Expr::constant(op.neutral(ty)) });
        self.ahead.extend(stmts);
        Ok(Expr::local(total, ty))
    }

    fn local(&mut self, name: &str, ty: ScalarType) -> LocalId {
        self.names.locals.push(LocalDecl { name: name.to_string(), ty });
        LocalId(self.names.locals.len() as u32 - 1)
    }

    /// Statements with what goes in front of them.
    fn apart(&mut self, work: impl FnOnce(&mut Self) -> Attempt<Vec<Stmt>>) -> Attempt<Vec<Stmt>> {
        let (ahead, conditions) = (std::mem::take(&mut self.ahead), std::mem::take(&mut self.conditions));
        let last = work(self)?;
        let mut stmts = std::mem::replace(&mut self.ahead, ahead);
        self.conditions = conditions;
        stmts.extend(last);
        Ok(stmts)
    }

    /// A loop over a range that depends on data.
    fn range(&mut self, range: &DataRange, body: impl FnOnce(&mut Self) -> Attempt<Vec<Stmt>>) -> Attempt<Stmt> {
        self.counted(range, None, body)
    }

    fn counted(
        &mut self,
        range: &DataRange,
        until: Option<&program::Expr>,
        body: impl FnOnce(&mut Self) -> Attempt<Vec<Stmt>>,
    ) -> Attempt<Stmt> {
        let (lo, hi, step) = (self.expr(&range.lo)?, self.expr(&range.hi)?, self.expr(&range.step)?);
        let name = self.scop.function.counter(range.counter).name.clone();
        let local = self.local(&name, ScalarType::I64);
        self.counters.push((range.counter, local));
        let (goes_on, again) = match until {
            Some(until) => self.until(until)?,
            None => (None, Vec::new()),
        };
        let mut body = self.apart(body)?;
        body.extend(again);
        let until = goes_on;
        self.counters.pop();
        let (forwards, at) = (range.forwards, Some(range.span));
        Ok(Stmt::Each(Box::new(loops::Each { local, lo, hi, step, forwards, until, body, at })))
    }

    /// What a loop goes on by, and what computes it at the end of an iteration, if that takes loops. It is then computed in
    /// front of the loop as well, which the front end has found to be safe.
    fn until(&mut self, until: &program::Expr) -> Attempt<(Option<Expr>, Vec<Stmt>)> {
        let mut loops = false;
        until.visit(&mut |part| loops |= matches!(part.kind, From::Reduce { .. } | From::Fold { .. }));
        if !loops {
            return Ok((Some(self.expr(until)?), Vec::new()));
        }
        let local = self.local("goes_on", ScalarType::Bool);
        let value = self.expr(until)?;
        self.ahead.push(Stmt::Set { local, value });
        let again = self.apart(|inner| {
            let value = inner.expr(until)?;
            Ok(vec![Stmt::Set { local, value }])
        })?;
        Ok((Some(Expr::local(local, ScalarType::Bool)), again))
    }

    /// Loops over ranges that are known.
    fn foralls(
        &mut self,
        bounds: &[Bound],
        guard: &program::Cond,
        body: impl FnOnce(&mut Self) -> Attempt<Vec<Stmt>>,
    ) -> Attempt<Vec<Stmt>> {
        let outside = self.iters.len();
        let mut around = Vec::new();
        for bound in bounds {
            let (lo, hi) = (self.index(&bound.lo)?, self.index(&bound.hi)?);
            let var = self.var(bound.iter);
            self.iters.push((bound.iter, Index::Var(var)));
            around.push((var, lo, hi));
        }
        let mut stmts = self.apart(body)?;
        if !guard.is_true() {
            stmts = vec![Stmt::If { cond: self.cond(guard)?, then: stmts, otherwise: Vec::new() }];
        }
        for (var, lo, hi) in around.into_iter().rev() {
            stmts = vec![Stmt::For(For { var, kind: LoopKind::Serial, lo, hi, step: 1, body: stmts })];
        }
        self.iters.truncate(outside);
        Ok(stmts)
    }

    fn var(&mut self, iter: IterId) -> VarId {
        self.names.vars.push(self.scop.function.iter(iter).name.clone());
        VarId(self.names.vars.len() as u32 - 1)
    }

    /// A loop whose bounds depend on data, with all of its statements.
    fn each(&mut self, each: &Each) -> Attempt<Stmt> {
        let function = &self.scop.function;
        // Those of loops inside belong to the loop around as well, which declares them.
        let new = |array: &program::ArrayId| {
            !self.arrays.contains(array) && !self.scalars.iter().any(|(known, _)| known == array)
        };
        let (scalars, arrays): (Vec<_>, Vec<_>) =
            each.own.iter().copied().filter(new).partition(|array| function.array(*array).shape.is_empty());
        let (known, opened) = (self.scalars.len(), self.arrays.len());
        self.arrays.extend(&arrays);
        // What is set under a condition on indices is read under it, which the loops do not know: so it is set anyway.
        let mut defaults = Vec::new();
        for array in scalars {
            let (name, ty) = (function.array(array).name.clone(), function.array(array).ty);
            let local = self.local(&name, ty);
            self.scalars.push((array, local));
            if is_guarded(&each.body, array) {
                let value = Expr::constant(Value::from_i64(ty, 0));
                defaults.push(Stmt::Set { local, value });
            }
        }
        let until = each.until.as_ref();
        let stmt = self.counted(&each.range, until, |inner| {
            let mut stmts = defaults;
            for node in &each.body {
                stmts.extend(inner.apart(|inner| inner.node(node))?);
            }
            let scoped = arrays
                .iter()
                .fold(stmts, |body, array| vec![Stmt::Alloc { array: ArrayId(array.0), space: Space::Scratch, body }]);
            Ok(scoped)
        });
        self.scalars.truncate(known);
        self.arrays.truncate(opened);
        stmt
    }

    fn node(&mut self, node: &Node) -> Attempt<Vec<Stmt>> {
        match node {
            Node::For(node) => self.ordered(node).map(|stmt| vec![stmt]),
            Node::Each(each) => self.each(each).map(|stmt| vec![stmt]),
            Node::Assign(assign) => self.foralls(&assign.foralls, &assign.guard, |inner| {
                let value = inner.expr(&assign.value)?;
                if let Some((_, local)) = inner.scalars.iter().find(|(known, _)| *known == assign.target) {
                    return Ok(vec![Stmt::Set { local: *local, value }]);
                }
                let index = inner.indices(&assign.index)?;
                Ok(vec![Stmt::Store { array: ArrayId(assign.target.0), index, value }])
            }),
            Node::Scatter(scatter) => self.foralls(&scatter.foralls, &scatter.guard, |inner| {
                let value = inner.expr(&scatter.value)?;
                let index = inner.subscripts(&scatter.index)?;
                let (array, op, at) = (ArrayId(scatter.target.0), scatter.op.combine(), Some(scatter.target_span));
                Ok(vec![Stmt::Scatter { array, index, op, value, at }])
            }),
        }
    }

    /// An ordered loop inside the statement. Loops go upwards, so one that does not is counted.
    fn ordered(&mut self, node: &program::For) -> Attempt<Stmt> {
        let (lo, hi) = (self.index(&node.bound.lo)?, self.index(&node.bound.hi)?);
        let iter = node.bound.iter;
        let var = self.var(iter);
        let size = node.step.checked_abs().ok_or(Fault::Overflow("a step"))?;
        let sub = |a: &Index, b: Index| Index::Sub(Box::new(a.clone()), Box::new(b));
        let plus = |a: &Index, b: Index| Index::Add(Box::new(a.clone()), Box::new(b));
        let upwards = node.step > 0 && !node.rev;
        let count = Index::FloorDiv(Box::new(plus(&sub(&hi, lo.clone()), Index::Const(size - 1))), size);
        let number = match node.rev {
            true => sub(&sub(&count, Index::Const(1)), Index::Var(var)),
            false => Index::Var(var),
        };
        let distance = Index::Mul(Box::new(number), size);
        let (value, lo, hi, step) = if upwards {
            (Index::Var(var), lo, hi, size)
        } else if node.step > 0 {
            (plus(&lo, distance), Index::Const(0), count, 1)
        } else {
            (sub(&sub(&hi, Index::Const(1)), distance), Index::Const(0), count, 1)
        };
        self.iters.push((iter, value));
        let body = self.apart(|inner| {
            let mut stmts = Vec::new();
            for node in &node.body {
                stmts.extend(inner.apart(|inner| inner.node(node))?);
            }
            Ok(stmts)
        })?;
        self.iters.pop();
        Ok(Stmt::For(For { var, kind: LoopKind::Serial, lo, hi, step, body }))
    }
}

/// Whether a scalar is defined under a condition on indices.
fn is_guarded(nodes: &[Node], scalar: program::ArrayId) -> bool {
    nodes.iter().any(|node| match node {
        Node::For(node) => is_guarded(&node.body, scalar),
        Node::Each(each) => is_guarded(&each.body, scalar),
        Node::Assign(assign) => assign.target == scalar && !assign.guard.is_true(),
        Node::Scatter(_) => false,
    })
}

fn update(total: LocalId, op: ReduceOp, value: Expr) -> Stmt {
    Stmt::Update { target: Target::Local(total), op: op.combine(), value }
}
