//! Inlining: the statements and expressions of one function, in terms of another that calls it.
//!
//! In: a lowered callee and what its parameters, arguments and arrays stand for.  Out: copies with fresh iterators.
//! Spans stay those of the callee. Not here: which calls there may be, and what binds to what (`calls`).

use std::collections::BTreeMap;

use super::extreme;
use super::typing::affine_operation;
use crate::{
    Affine, ArgRef, ArrayId, Assign, Atom, Bound, Cond, CounterId, DataRange, Each, Expr, ExprKind, For, Function,
    Iter, IterId, Node, Role, ScalarId, ScalarType, Scatter, Subscript, Value,
};

/// The largest expression that inlining may make, in nodes, and its depth.
pub(super) const MAX_NODES: usize = 10_000;
const MAX_DEPTH: usize = 256;

/// How many nodes calls may bring into the expressions of one function.
pub(super) const MAX_TOTAL_NODES: usize = 200_000;

/// How many statements they may bring.
pub(super) const MAX_STATEMENTS: usize = 1_000;

/// A function as one expression over its scalar arguments, with the iterators of the reductions in it.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) expr: Expr,
    pub(super) iters: Vec<Iter>,
    pub(super) counters: Vec<Iter>,
}

/// Why a function cannot be called inside an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoForm {
    /// It takes or gives arrays, or has parameters.
    Arrays,
    /// It does not have exactly one result.
    Results,
    /// Its body is more than definitions of scalars.
    Body,
    TooLarge,
}

/// What the names of the callee stand for.
pub(super) struct Inliner<'a> {
    /// Where fresh iterators are declared.
    pub(super) caller: &'a mut Function,
    pub(super) callee_iters: &'a [Iter],
    pub(super) callee_counters: &'a [Iter],
    pub(super) params: Vec<Affine>,
    pub(super) scalars: Vec<Expr>,
    pub(super) arrays: Vec<ArrayId>,
    /// Scalars of the callee that are replaced by what they are computed from.
    pub(super) values: BTreeMap<ArrayId, Expr>,
    pub(super) iters: BTreeMap<IterId, IterId>,
    pub(super) counters: BTreeMap<CounterId, CounterId>,
    /// Names of indices that are visible at the call.
    pub(super) avoid: Vec<String>,
    /// The statement of the call, which the names of its statements begin with.
    pub(super) prefix: String,
}

/// The function as an expression, if its body only defines scalars by one another.
pub(super) fn form(function: &Function) -> Result<Form, NoForm> {
    let scalars_only = function.signature.iter().all(|arg| match arg {
        ArgRef::Scalar(_) => true,
        ArgRef::Array(id) => function.array(*id).shape.is_empty() && function.array(*id).role == Role::Out,
    });
    if !scalars_only || !function.params.is_empty() {
        return Err(NoForm::Arrays);
    }
    let mut outs = function.array_ids().filter(|id| function.array(*id).role == Role::Out);
    let (Some(out), None) = (outs.next(), outs.next()) else { return Err(NoForm::Results) };
    let mut home = function.clone();
    let scalar = |position: usize| {
        let scalar = &function.scalars[position];
        Expr { kind: ExprKind::Scalar(ScalarId(position as u32)), ty: scalar.ty, span: scalar.span }
    };
    let mut inliner = Inliner {
        caller: &mut home,
        callee_iters: &function.iters,
        callee_counters: &function.counters,
        params: Vec::new(),
        scalars: (0..function.scalars.len()).map(scalar).collect(),
        arrays: Vec::new(),
        values: BTreeMap::new(),
        iters: BTreeMap::new(),
        counters: BTreeMap::new(),
        avoid: Vec::new(),
        prefix: String::new(),
    };
    for node in &function.body {
        let Node::Assign(assign) = node else { return Err(NoForm::Body) };
        if !assign.index.is_empty() || !assign.guard.is_true() {
            return Err(NoForm::Body);
        }
        inliner.size(&assign.value).ok_or(NoForm::TooLarge)?;
        let value = inliner.expr(&assign.value).ok_or(NoForm::Body)?;
        inliner.values.insert(assign.target, value);
    }
    let expr = inliner.values.remove(&out).ok_or(NoForm::Body)?;
    Ok(Form { expr, iters: home.iters, counters: home.counters })
}

impl Inliner<'_> {
    /// The number of nodes when names are replaced, if that is within the limits.
    pub(super) fn size(&self, expr: &Expr) -> Option<usize> {
        let measures = Measures {
            scalars: self.scalars.iter().map(measure).collect(),
            values: self.values.iter().map(|(id, value)| (*id, measure(value))).collect(),
        };
        let (nodes, depth) = measures.of(expr);
        (nodes <= MAX_NODES && depth <= MAX_DEPTH).then_some(nodes)
    }

    pub(super) fn node(&mut self, node: &Node) -> Option<Node> {
        Some(match node {
            Node::For(node) => {
                let bound = self.bound(&node.bound)?;
                let body = node.body.iter().map(|node| self.node(node)).collect::<Option<Vec<_>>>()?;
                self.avoid.pop();
                Node::For(For { bound, step: node.step, rev: node.rev, body, span: node.span })
            }
            Node::Assign(assign) => Node::Assign(self.assign(assign)?),
            Node::Scatter(scatter) => Node::Scatter(self.scatter(scatter)?),
            Node::Each(each) => {
                let range = Box::new(self.range(&each.range)?);
                let until = match &each.until {
                    Some(until) => Some(self.expr(until)?),
                    None => None,
                };
                let body = each.body.iter().map(|node| self.node(node)).collect::<Option<Vec<_>>>()?;
                self.avoid.pop();
                let own =
                    each.own.iter().map(|array| self.arrays.get(array.index()).copied()).collect::<Option<_>>()?;
                let name = format!("{}_{}", self.prefix, each.name);
                Node::Each(Each { name, range, until, body, own, span: each.span })
            }
        })
    }

    /// Declares a fresh counter for a range; its name stays in `avoid` for the caller to take back.
    fn range(&mut self, range: &DataRange) -> Option<DataRange> {
        let (lo, hi, step) = (self.expr(&range.lo)?, self.expr(&range.hi)?, self.expr(&range.step)?);
        let original = self.callee_counters.get(range.counter.index())?;
        let name = self.fresh_name(&original.name);
        let counter = CounterId(self.caller.counters.len() as u32);
        self.caller.counters.push(Iter { name: name.clone(), span: original.span, made_up: original.made_up });
        self.avoid.push(name);
        self.counters.insert(range.counter, counter);
        Some(DataRange { counter, lo, hi, step, forwards: range.forwards, span: range.span })
    }

    /// The name, or with the first number behind it that makes it new.
    fn fresh_name(&self, original: &str) -> String {
        let taken = |name: &str| self.avoid.iter().any(|known| known == name);
        let mut name = original.to_string();
        let mut number = 1;
        while taken(&name) {
            number += 1;
            name = format!("{original}_{number}");
        }
        name
    }

    fn assign(&mut self, assign: &Assign) -> Option<Assign> {
        let mark = self.avoid.len();
        let foralls = assign.foralls.iter().map(|bound| self.bound(bound)).collect::<Option<Vec<_>>>()?;
        let copy = Assign {
            name: format!("{}_{}", self.prefix, assign.name),
            foralls,
            guard: self.cond(&assign.guard)?,
            target: *self.arrays.get(assign.target.index())?,
            index: self.affines(&assign.index)?,
            target_span: assign.target_span,
            value: self.expr(&assign.value)?,
            span: assign.span,
        };
        self.avoid.truncate(mark);
        Some(copy)
    }

    fn scatter(&mut self, scatter: &Scatter) -> Option<Scatter> {
        let mark = self.avoid.len();
        let foralls = scatter.foralls.iter().map(|bound| self.bound(bound)).collect::<Option<Vec<_>>>()?;
        let copy = Scatter {
            name: format!("{}_{}", self.prefix, scatter.name),
            foralls,
            guard: self.cond(&scatter.guard)?,
            target: *self.arrays.get(scatter.target.index())?,
            index: self.subscripts(&scatter.index)?,
            target_span: scatter.target_span,
            op: scatter.op,
            value: self.expr(&scatter.value)?,
            span: scatter.span,
        };
        self.avoid.truncate(mark);
        Some(copy)
    }

    /// A subscript that is checked at run time stays one, even if it has become affine: under a condition on data, it
    /// could not be proven.
    pub(super) fn subscripts(&mut self, index: &[Subscript]) -> Option<Vec<Subscript>> {
        let subscript = |subscript: &Subscript| {
            Some(match subscript {
                Subscript::Affine(affine) => Subscript::Affine(self.affine(affine)?),
                Subscript::Data(expr) => Subscript::Data(Box::new(self.expr(expr)?)),
            })
        };
        index.iter().map(subscript).collect()
    }

    /// Declares a fresh iterator for a bound; its name stays in `avoid` for the caller to take back.
    pub(super) fn bound(&mut self, bound: &Bound) -> Option<Bound> {
        let (lo, hi) = (self.affine(&bound.lo)?, self.affine(&bound.hi)?);
        let original = self.callee_iters.get(bound.iter.index())?;
        let name = self.fresh_name(&original.name);
        let iter = IterId(self.caller.iters.len() as u32);
        self.caller.iters.push(Iter { name: name.clone(), span: original.span, made_up: original.made_up });
        self.avoid.push(name);
        self.iters.insert(bound.iter, iter);
        Some(Bound { iter, lo, hi })
    }

    fn affines(&self, affines: &[Affine]) -> Option<Vec<Affine>> {
        affines.iter().map(|affine| self.affine(affine)).collect()
    }

    /// `None` on overflow.
    pub(super) fn affine(&self, affine: &Affine) -> Option<Affine> {
        let mut sum = Affine::constant(affine.constant);
        for (atom, coefficient) in &affine.terms {
            let value = match atom {
                Atom::Param(id) => self.params.get(id.index())?.clone(),
                Atom::Iter(id) => Affine::iter(*self.iters.get(id)?),
                Atom::Div(numerator, divisor) => self.affine(numerator)?.div(*divisor)?,
            };
            sum = sum.add_scaled(&value, *coefficient)?;
        }
        Some(sum)
    }

    pub(super) fn cond(&self, cond: &Cond) -> Option<Cond> {
        let all = |conds: &[Cond]| conds.iter().map(|cond| self.cond(cond)).collect::<Option<Vec<_>>>();
        Some(match cond {
            Cond::NonNegative(affine) => Cond::NonNegative(self.affine(affine)?),
            Cond::Zero(affine) => Cond::Zero(self.affine(affine)?),
            Cond::And(conds) => Cond::And(all(conds)?),
            Cond::Or(conds) => Cond::Or(all(conds)?),
        })
    }

    /// The expression with all names replaced. What has become affine is kept as such.
    pub(super) fn expr(&mut self, expr: &Expr) -> Option<Expr> {
        let kind = match &expr.kind {
            ExprKind::Const(value) => ExprKind::Const(*value),
            ExprKind::Index(affine) => ExprKind::Index(self.affine(affine)?),
            ExprKind::Scalar(id) => return self.scalars.get(id.index()).cloned(),
            ExprKind::Counter(id) => ExprKind::Counter(*self.counters.get(id)?),
            ExprKind::Load { array, index } => {
                if let Some(value) = self.values.get(array).filter(|_| index.is_empty()) {
                    return Some(value.clone());
                }
                ExprKind::Load { array: *self.arrays.get(array.index())?, index: self.affines(index)? }
            }
            ExprKind::Gather { array, index } => {
                ExprKind::Gather { array: *self.arrays.get(array.index())?, index: self.subscripts(index)? }
            }
            ExprKind::Unary(op, operand) => ExprKind::Unary(*op, Box::new(self.expr(operand)?)),
            ExprKind::Binary(op, lhs, rhs) => {
                let (lhs, rhs) = (self.expr(lhs)?, self.expr(rhs)?);
                let affine = match (as_affine(&lhs), as_affine(&rhs)) {
                    (Some(a), Some(b)) if expr.ty == ScalarType::I64 => affine_operation(*op, &a, &b),
                    _ => None,
                };
                affine.map_or_else(|| ExprKind::Binary(*op, Box::new(lhs), Box::new(rhs)), index_kind)
            }
            ExprKind::Cast(operand) => ExprKind::Cast(Box::new(self.expr(operand)?)),
            ExprKind::Select { cond, affine, then, otherwise } => {
                let cond = self.expr(cond)?;
                let affine = affine.as_ref().and_then(|affine| self.cond(affine));
                let affine = affine.or_else(|| extreme::condition(&cond));
                let (then, otherwise) = (Box::new(self.expr(then)?), Box::new(self.expr(otherwise)?));
                ExprKind::Select { cond: Box::new(cond), affine, then, otherwise }
            }
            ExprKind::Reduce { op, bounds, guard, body } => {
                let mark = self.avoid.len();
                let bounds = bounds.iter().map(|bound| self.bound(bound)).collect::<Option<Vec<_>>>()?;
                let (guard, body) = (self.cond(guard)?, Box::new(self.expr(body)?));
                self.avoid.truncate(mark);
                ExprKind::Reduce { op: *op, bounds, guard, body }
            }
            ExprKind::Fold { op, range, body } => {
                let (range, body) = (Box::new(self.range(range)?), Box::new(self.expr(body)?));
                self.avoid.pop();
                ExprKind::Fold { op: *op, range, body }
            }
        };
        Some(Expr { kind, ty: expr.ty, span: expr.span })
    }
}

/// The value, if the expression is affine.
pub(super) fn as_affine(expr: &Expr) -> Option<Affine> {
    match &expr.kind {
        ExprKind::Index(affine) => Some(affine.clone()),
        ExprKind::Const(Value::I64(value)) => Some(Affine::constant(*value)),
        _ => None,
    }
}

fn index_kind(affine: Affine) -> ExprKind {
    match affine.as_constant() {
        Some(constant) => ExprKind::Const(Value::I64(constant)),
        None => ExprKind::Index(affine),
    }
}

/// Nodes and depth of what replaces names.
struct Measures {
    scalars: Vec<(usize, usize)>,
    values: BTreeMap<ArrayId, (usize, usize)>,
}

impl Measures {
    fn of(&self, expr: &Expr) -> (usize, usize) {
        let replacement = match &expr.kind {
            ExprKind::Scalar(id) => self.scalars.get(id.index()),
            ExprKind::Load { array, index } if index.is_empty() => self.values.get(array),
            _ => None,
        };
        replacement.copied().unwrap_or_else(|| combine(expr, &|part| self.of(part)))
    }
}

fn measure(expr: &Expr) -> (usize, usize) {
    combine(expr, &measure)
}

/// Nodes and depth of an expression whose parts are measured by `part`.
fn combine(expr: &Expr, part: &dyn Fn(&Expr) -> (usize, usize)) -> (usize, usize) {
    let parts: Vec<&Expr> = match &expr.kind {
        ExprKind::Const(_)
        | ExprKind::Index(_)
        | ExprKind::Scalar(_)
        | ExprKind::Counter(_)
        | ExprKind::Load { .. } => Vec::new(),
        ExprKind::Gather { index, .. } => Subscript::data(index).collect(),
        ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => vec![operand],
        ExprKind::Binary(_, lhs, rhs) => vec![lhs, rhs],
        ExprKind::Select { cond, then, otherwise, .. } => vec![cond, then, otherwise],
        ExprKind::Reduce { body, .. } => vec![body],
        ExprKind::Fold { range, body, .. } => vec![&range.lo, &range.hi, &range.step, body],
    };
    let measured = parts.into_iter().map(part);
    let (nodes, depth) = measured
        .fold((0, 0), |(nodes, depth): (usize, usize), (more, below)| (nodes.saturating_add(more), depth.max(below)));
    (nodes.saturating_add(1), depth + 1)
}

/// The names of the indices of reductions inside an expression.
pub(super) fn reduction_names(function: &Function, expr: &Expr, found: &mut Vec<String>) {
    match &expr.kind {
        ExprKind::Const(_)
        | ExprKind::Index(_)
        | ExprKind::Scalar(_)
        | ExprKind::Counter(_)
        | ExprKind::Load { .. } => {}
        ExprKind::Gather { index, .. } => {
            Subscript::data(index).for_each(|part| reduction_names(function, part, found));
        }
        ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => reduction_names(function, operand, found),
        ExprKind::Binary(_, lhs, rhs) => {
            reduction_names(function, lhs, found);
            reduction_names(function, rhs, found);
        }
        ExprKind::Select { cond, then, otherwise, .. } => {
            [cond, then, otherwise].into_iter().for_each(|part| reduction_names(function, part, found));
        }
        ExprKind::Reduce { bounds, body, .. } => {
            found.extend(bounds.iter().map(|bound| function.iter(bound.iter).name.clone()));
            reduction_names(function, body, found);
        }
        ExprKind::Fold { range, body, .. } => {
            found.push(function.counter(range.counter).name.clone());
            range.ends().into_iter().chain([body.as_ref()]).for_each(|part| reduction_names(function, part, found));
        }
    }
}

pub(super) fn statements(node: &Node) -> usize {
    match node {
        Node::For(node) => node.body.iter().map(statements).sum(),
        Node::Each(each) => each.body.iter().map(statements).sum(),
        Node::Assign(_) | Node::Scatter(_) => 1,
    }
}

/// How many loops are around the innermost expression of a statement.
pub(super) fn loop_depth(node: &Node) -> usize {
    match node {
        Node::For(node) => 1 + node.body.iter().map(loop_depth).max().unwrap_or(0),
        Node::Each(each) => 1 + each.body.iter().map(loop_depth).max().unwrap_or(0),
        Node::Assign(assign) => assign.foralls.len() + reduction_depth(&assign.value),
        Node::Scatter(scatter) => {
            let parts = Subscript::data(&scatter.index).chain([&scatter.value]);
            scatter.foralls.len() + parts.map(reduction_depth).max().unwrap_or(0)
        }
    }
}

pub(super) fn reduction_depth(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Const(_)
        | ExprKind::Index(_)
        | ExprKind::Scalar(_)
        | ExprKind::Counter(_)
        | ExprKind::Load { .. } => 0,
        ExprKind::Gather { index, .. } => Subscript::data(index).map(reduction_depth).max().unwrap_or(0),
        ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => reduction_depth(operand),
        ExprKind::Binary(_, lhs, rhs) => reduction_depth(lhs).max(reduction_depth(rhs)),
        ExprKind::Select { cond, then, otherwise, .. } => {
            [cond, then, otherwise].into_iter().map(|part| reduction_depth(part)).max().unwrap_or(0)
        }
        ExprKind::Reduce { bounds, body, .. } => bounds.len() + reduction_depth(body),
        ExprKind::Fold { body, .. } => 1 + reduction_depth(body),
    }
}
