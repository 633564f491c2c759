//! Loops whose bounds depend on data: `sum[k: ptr[i]..ptr[i + 1]] …`, `for k in ptr[i]..ptr[i + 1] { … }`.
//!
//! In: a reduction or a `for` with such a range or step.  Out: a fold, or a [`Each`]. Their index is a value, so what it indexes is
//! looked up, and checked when it is. Not here: what other reductions and loops become (`expr`, `stmt`).

use diag::{Diagnostic, Span, deadline};
use syntax::ast;

use super::expr::{Typed, Weak, may_fail};
use super::extreme::Extreme;
use super::names::Meaning;
use super::rank::visit;
use super::scan::{Origin, condition};
use super::{Lowerer, MAX_DIMENSIONS};
use crate::{
    Affine, ArrayId, Bound, Cond, CounterId, DataRange, Each, Expr, ExprKind, Function, Iter, Node, ScalarType, Value,
};

/// A reduction from its first index on whose range depends on data.
pub(super) struct Counted<'a> {
    pub(super) scan: bool,
    pub(super) op: ast::ReduceOp,
    pub(super) indices: &'a [ast::ReduceIndex],
    pub(super) guard: Option<&'a ast::Expr>,
    pub(super) body: &'a ast::Expr,
    pub(super) span: Span,
}

/// Some indices of a reduction that are bound together.
enum Layer {
    Bounds(Vec<Bound>),
    Range(Box<DataRange>),
}

impl Lowerer<'_> {
    /// Whether a range or a step is an integer that is not affine, so that it is a matter of data how often a loop runs.
    pub(super) fn is_counted(&mut self, range: Option<&ast::Range>, step: Option<&ast::Expr>) -> bool {
        let ends = range.map(|range| [&range.lo, &range.hi]);
        ends.into_iter().flatten().any(|end| self.is_data(end, false))
            || step.is_some_and(|step| self.is_data(step, true))
    }

    fn is_data(&mut self, expr: &ast::Expr, constant: bool) -> bool {
        let mut reduces = false;
        visit(expr, &mut |part| reduces |= matches!(part.kind, ast::ExprKind::Reduce { .. }));
        // Looked at only once more: ranges inside of ranges are not gone through again at every level.
        if reduces || matches!(expr.kind, ast::ExprKind::Int(_)) {
            return reduces;
        }
        let (errors, pending) = (self.diagnostics.len(), self.pending.len());
        let (poisoned, nodes) = (self.poisoned, self.inlined_nodes);
        let typed = self.lower_size(expr);
        self.diagnostics.truncate(errors);
        self.pending.truncate(pending);
        (self.poisoned, self.inlined_nodes) = (poisoned, nodes);
        let Some(typed) = typed else { return false };
        let known = match &typed.affine {
            Some(affine) => !constant || affine.as_constant().is_some(),
            None => Extreme::of(&typed.expr).is_some() && !constant,
        };
        typed.expr.ty.is_int() && typed.weak != Weak::Float && !known
    }

    /// A bound or a step as a value.
    fn lower_end(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let typed = self.lower_size(expr)?;
        if !typed.expr.ty.is_int() || typed.weak == Weak::Float {
            let ty = typed.expr.ty;
            let diagnostic = Diagnostic::error("E0301", expr.span, format!("a bound is an integer, not {ty}"))
                .here(format!("this is {ty}"));
            self.report(diagnostic);
            return None;
        }
        self.coerce(typed, ScalarType::I64)
    }

    /// The range, with its index in scope.
    fn lower_data_range(
        &mut self,
        name: &ast::Ident,
        range: &ast::Range,
        step: Option<&ast::Expr>,
    ) -> Option<DataRange> {
        let (lo, hi) = (self.lower_end(&range.lo), self.lower_end(&range.hi));
        let step = match step {
            Some(step) => self.lower_end(step),
            None => Some(Expr { kind: ExprKind::Const(Value::I64(1)), ty: ScalarType::I64, span: range.span }),
        };
        let counter = self.declare_counter(name);
        let (lo, hi) = (lo?, hi?);
        // Cells say where rows begin and end; what is computed may well leave nothing to do, as `p * p..N`.
        let forwards = !lo.arrays().is_empty() && !hi.arrays().is_empty();
        Some(DataRange { counter, lo, hi, step: step?, forwards, span: range.span })
    }

    fn declare_counter(&mut self, name: &ast::Ident) -> CounterId {
        let id = CounterId(self.function.counters.len() as u32);
        self.function.counters.push(Iter { name: name.name.clone(), span: name.span, made_up: false });
        self.check_index_name(name);
        self.scope.insert(name.name.clone(), Meaning::Counter(id), name.span);
        self.check_loops(name);
        id
    }

    /// The reduction, with the indices in front in scope: `bounds`, where `limits` hold.
    pub(super) fn lower_counted(
        &mut self,
        parts: Counted<'_>,
        bounds: Option<Vec<Bound>>,
        mut limits: Cond,
    ) -> Option<Typed> {
        let Counted { scan, op, indices, guard, body, span } = parts;
        let range = indices.first().and_then(|index| index.range.as_ref()).map_or(span, |range| range.span);
        let refused = match op {
            _ if scan => Some(("E0312", "a scan cannot run over a range that depends on data".to_string())),
            ast::ReduceOp::ArgMin | ast::ReduceOp::ArgMax => {
                Some(("E0311", format!("`{}` cannot run over a range that depends on data", op.name())))
            }
            _ => None,
        };
        if let Some((code, message)) = refused {
            self.report(Diagnostic::error(code, range, message).help(
                "find the extreme first, and then the smallest index that has it: `min[k: …] (if … then k else …)`",
            ));
            return None;
        }
        let mut layers = bounds.map(|bounds| match bounds.is_empty() {
            true => Vec::new(),
            false => vec![Layer::Bounds(bounds)],
        });
        for index in indices {
            let layer = self.lower_layer(index, guard, body, &mut limits);
            match (&mut layers, layer) {
                (Some(layers), Some(Layer::Bounds(more))) => match layers.last_mut() {
                    Some(Layer::Bounds(bounds)) => bounds.extend(more),
                    _ => layers.push(Layer::Bounds(more)),
                },
                (Some(layers), Some(layer)) => layers.push(layer),
                _ => layers = None,
            }
        }
        let guard = match guard {
            Some(guard) => {
                let typed = self.lower_size(guard)?;
                let affine = typed.cond.clone();
                Some((self.coerce(typed, ScalarType::Bool)?, affine))
            }
            None => None,
        };
        let mut body = self.lower_expr(body)?;
        if body.weak != Weak::No && matches!(op, ast::ReduceOp::Min | ast::ReduceOp::Max) {
            body = Typed::strong(self.settle(body)?);
        }
        let mut reduction = self.reduction(op, Vec::new(), Cond::TRUE, body, span)?;
        let ExprKind::Reduce { op, body, .. } = reduction.expr.kind else { return None };
        let mut value = *body;
        let narrowed = (!limits.is_true()).then(|| (condition(&limits, span), Some(limits)));
        for (cond, affine) in guard.into_iter().chain(narrowed) {
            let (ty, span) = (value.ty, value.span);
            let otherwise = Box::new(Expr { kind: ExprKind::Const(op.neutral(ty)), ty, span });
            let (cond, then) = (Box::new(cond), Box::new(value));
            value = Expr { kind: ExprKind::Select { cond, affine, then, otherwise }, ty, span };
        }
        for layer in layers?.into_iter().rev() {
            let (ty, body) = (value.ty, Box::new(value));
            let kind = match layer {
                Layer::Bounds(bounds) => ExprKind::Reduce { op, bounds, guard: Cond::TRUE, body },
                Layer::Range(range) => ExprKind::Fold { op, range, body },
            };
            value = Expr { kind, ty, span };
        }
        reduction.expr = value;
        Some(reduction)
    }

    fn lower_layer(
        &mut self,
        index: &ast::ReduceIndex,
        guard: Option<&ast::Expr>,
        body: &ast::Expr,
        limits: &mut Cond,
    ) -> Option<Layer> {
        if self.is_counted(index.range.as_ref(), None) {
            return self.lower_data_range(&index.name, index.range.as_ref()?, None).map(Box::new).map(Layer::Range);
        }
        let uses = self.uses(body, &index.name.name);
        let iter = self.declare_iter(&index.name);
        let (bound, narrower) = self.bound(iter, &index.name, index.range.as_ref(), &uses, guard, true)?;
        self.origins.push(Origin { bound: bound.clone(), ordered: false });
        *limits = std::mem::replace(limits, Cond::TRUE).and(narrower);
        Some(Layer::Bounds(vec![bound]))
    }

    /// `for k in ptr[i]..ptr[i + 1] by step while cond { … }`
    pub(super) fn lower_each(&mut self, stmt: &ast::Stmt) -> Option<Node> {
        let ast::StmtKind::For { index, range, step, rev, until, body } = &stmt.kind else { return None };
        let negative = |step: &ast::Expr| matches!(step.kind, ast::ExprKind::Unary { op: ast::UnaryOp::Neg, .. });
        if *rev || step.as_ref().is_some_and(negative) {
            self.error("E0307", range.span, "a loop over a range that depends on data goes upwards")
                .helps
                .push(format!("count upwards, and use `hi - 1 - {0}` in the place of `{0}`", index.name));
            return None;
        }
        let name = self.statement_name(stmt.label.as_ref());
        self.scope.enter();
        let range = self.lower_data_range(index, range, step.as_ref());
        let own = self.function.arrays.len();
        let before = std::mem::take(&mut self.pending);
        let body = self.lower_block(body);
        let until = until.as_ref().map(|until| self.lower_until(until));
        self.scope.leave();
        let open = matches!(&until, Some(Some(until)) if reduces(until) && (may_fail(until, false) || counts(until)));
        if let (Some(until), true) = (&stmt_until(stmt), open || !self.pending.is_empty()) {
            self.error(
                "E0109",
                until.span,
                "what ends a loop over a range that depends on data is computed in one step",
            )
            .helps
            .push("compute it at the end of the body, and keep it in a local from before the loop".into());
        }
        self.pending = before;
        let until = match until {
            Some(until) => Some(until?),
            None => None,
        };
        let own = self.own_arrays(own);
        let each = Each { name, range: Box::new(range?), until, body, own, span: stmt.span };
        self.check_own(&each)?;
        Some(Node::Each(each))
    }

    /// `for t in 0..T while cond { … }` as a loop that ends: where its body does not ask which iteration it is, nor does anything
    /// that a loop of this kind cannot do. Others go on without doing anything (`early`).
    pub(super) fn lower_stopping(&mut self, stmt: &ast::Stmt) -> Option<Node> {
        let ast::StmtKind::For { index, step, rev, until, body, .. } = &stmt.kind else { return None };
        let until = until.as_ref()?;
        let upwards = |step: &ast::Expr| matches!(step.kind, ast::ExprKind::Int(1..));
        let mut asked = false;
        let mut look =
            |part: &ast::Expr| asked |= matches!(&part.kind, ast::ExprKind::Name(name) if *name == index.name);
        visit(until, &mut look);
        visit_block(body, &mut look);
        let deep = self.scope.loops() > 3;
        if asked || deep || *rev || !step.as_ref().is_none_or(upwards) || self.scope.lookup(&index.name).is_some() {
            return None;
        }
        let before = self.state();
        let node = self.lower_each(stmt);
        if node.is_none() || self.diagnostics.len() > before.diagnostics {
            self.restore(before);
            return None;
        }
        node
    }

    fn state(&self) -> State {
        State {
            function: self.function.clone(),
            diagnostics: self.diagnostics.len(),
            statements: self.statements,
            pending: self.pending.clone(),
            poisoned: self.poisoned,
            inlined: (self.inlined_statements, self.inlined_nodes),
            tables: self.tables.clone(),
            literal_lets: self.literal_lets.len(),
        }
    }

    /// Forgets what was lowered since then.
    fn restore(&mut self, state: State) {
        self.function = state.function;
        self.diagnostics.truncate(state.diagnostics);
        self.statements = state.statements;
        self.pending = state.pending;
        self.poisoned = state.poisoned;
        (self.inlined_statements, self.inlined_nodes) = state.inlined;
        self.tables = state.tables;
        self.literal_lets.truncate(state.literal_lets);
    }

    /// The arrays that were declared since there were so many.
    pub(super) fn own_arrays(&self, before: usize) -> Vec<ArrayId> {
        let since = (before..self.function.arrays.len()).map(|id| ArrayId(id as u32));
        since.filter(|id| !self.tables.iter().any(|(_, table)| table == id)).collect()
    }

    /// A local of the body is defined by its first statement that mentions it, completely.
    pub(super) fn check_own(&mut self, each: &Each) -> Option<()> {
        for id in &each.own {
            if deadline::is_over() {
                return None;
            }
            let array = self.function.array(*id);
            if !is_defined_first(&each.body, *id, &array.shape) {
                let (name, span) = (array.name.clone(), array.span);
                let message = format!("`{name}` is not defined completely where it is declared");
                let once = self.function.counter(each.range.counter).made_up;
                let why = if once { "whether this runs" } else { "how often this loop runs" };
                self.report(
                    Diagnostic::error("E0108", span, message)
                        .label(each.range.span, format!("{why} depends on data"))
                        .help(format!("declare `{name}` before it, and give all its cells a value")),
                );
                return None;
            }
        }
        Some(())
    }

    /// An index that hides another name is an error.
    pub(super) fn check_index_name(&mut self, name: &ast::Ident) {
        if let Some((meaning, first)) = self.scope.lookup(&name.name) {
            let what = meaning.describe();
            self.report(
                Diagnostic::error("E0304", name.span, format!("index `{}` hides another `{}`", name.name, name.name))
                    .here("bound again here")
                    .label(first, format!("already bound here, as {what}"))
                    .help("choose another name for the inner index"),
            );
        }
    }

    pub(super) fn check_loops(&mut self, name: &ast::Ident) {
        if self.scope.loops() > MAX_DIMENSIONS {
            self.error("E0308", name.span, format!("more than {MAX_DIMENSIONS} loops around one statement"));
        }
    }
}

/// What lowering a statement changes.
struct State {
    function: Function,
    diagnostics: usize,
    statements: usize,
    pending: Vec<Node>,
    poisoned: bool,
    inlined: (usize, usize),
    tables: Vec<(usize, ArrayId)>,
    literal_lets: usize,
}

/// Calls `found` with all expressions of some statements.
fn visit_block(block: &[ast::Stmt], found: &mut impl FnMut(&ast::Expr)) {
    for stmt in block {
        let target = |target: &ast::Target, found: &mut dyn FnMut(&ast::Expr)| {
            for index in &target.indices {
                visit(&index.expr, found);
                index.range.iter().flat_map(|range| [&range.lo, &range.hi]).for_each(|end| visit(end, found));
            }
            target.guard.iter().for_each(|guard| visit(guard, found));
        };
        match &stmt.kind {
            ast::StmtKind::Let { target: left, value, .. } => {
                target(left, found);
                value.iter().for_each(|value| visit(value, found));
            }
            ast::StmtKind::Assign { target: left, value, .. } => {
                target(left, found);
                visit(value, found);
            }
            ast::StmtKind::Call { args, .. } => args.iter().for_each(|arg| visit(arg, found)),
            ast::StmtKind::For { range, step, until, body, .. } => {
                [&range.lo, &range.hi].into_iter().chain(step).chain(until).for_each(|part| visit(part, found));
                visit_block(body, found);
            }
            ast::StmtKind::If { arms } => {
                for arm in arms {
                    arm.cond.iter().for_each(|cond| visit(cond, found));
                    visit_block(&arm.body, found);
                }
            }
        }
    }
}

/// Whether an expression has loops inside.
fn reduces(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |part| found |= matches!(part.kind, ExprKind::Reduce { .. } | ExprKind::Fold { .. }));
    found
}

/// Whether an expression depends on the index of a loop whose bounds depend on data.
fn counts(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |part| found |= matches!(part.kind, ExprKind::Counter(_)));
    found
}

fn stmt_until(stmt: &ast::Stmt) -> Option<&ast::Expr> {
    match &stmt.kind {
        ast::StmtKind::For { until, .. } => until.as_ref(),
        _ => None,
    }
}

/// Whether the first statement that mentions an array defines all of it, in the block in which it is declared.
fn is_defined_first(nodes: &[Node], id: ArrayId, shape: &[Affine]) -> bool {
    let mut mentioning = nodes.iter().filter(|node| mentions(node, id));
    let (first, alone) = (mentioning.next(), mentioning.next().is_none());
    match first {
        Some(Node::Assign(assign)) if assign.target == id && assign.guard.is_true() => {
            let full = |(at, extent): (&Affine, &Affine)| {
                let bound = assign.foralls.iter().find(|bound| at.as_iter() == Some(bound.iter));
                bound.is_some_and(|bound| bound.lo.as_constant() == Some(0) && bound.hi == *extent)
            };
            assign.value.reads(id).is_none()
                && assign.foralls.len() == assign.index.len()
                && assign.index.iter().zip(shape).all(full)
        }
        Some(Node::For(node)) => alone && is_defined_first(&node.body, id, shape),
        // What belongs to a loop inside has been looked at there, before what is known about indices in it became guards.
        Some(Node::Each(each)) => alone && (each.own.contains(&id) || is_defined_first(&each.body, id, shape)),
        Some(_) => false,
        None => true,
    }
}

fn mentions(node: &Node, array: ArrayId) -> bool {
    let (mut read, mut written) = (false, false);
    crate::ir::visit_nodes(
        std::slice::from_ref(node),
        &mut |expr| read |= expr.reads(array).is_some(),
        &mut |target| written |= target == array,
    );
    read || written
}
