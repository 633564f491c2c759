//! Statements: `let`, assignments (foralls) and `for`.

use diag::{Diagnostic, Span, deadline};
use syntax::ast;

use super::calls::{CallStmt, Into, is_whole};
use super::data::Update;
use super::expr::{Typed, Weak};
use super::extreme::Limits;
use super::literal_let::LiteralLet;
use super::names::Meaning;
use super::range::Weight;
use super::scan::{Origin, condition};
use super::typing::cast;
use super::{Lowerer, MAX_DIMENSIONS, MAX_ERRORS};
use crate::{
    Affine, ArrayId, Assign, Atom, BinaryOp, Bound, Cond, Expr, ExprKind, For, IterId, Node, Role, ScalarType,
    Subscript, Value,
};

/// The left-hand side, resolved; its iterators are in scope.
pub(super) struct Forall {
    pub(super) foralls: Vec<Bound>,
    pub(super) index: Vec<Subscript>,
    pub(super) guard: Cond,
    /// Whether a `min` or `max` in a range is a part of the guard.
    narrowed: bool,
}

impl Forall {
    /// Whether a subscript of the target is just this index, so that instances which differ in it have different cells.
    pub(super) fn is_alone(&self, iter: IterId) -> bool {
        self.index.iter().any(|subscript| subscript.as_affine().and_then(Affine::as_iter) == Some(iter))
    }

    /// The statement that stores `value` in the cells of this left-hand side; `None` if they depend on data.
    fn assign(self, name: String, target: ArrayId, target_span: Span, value: Expr, span: Span) -> Option<Assign> {
        let Forall { foralls, index, guard, .. } = self;
        let index = Subscript::all_affine(&index)?;
        Some(Assign { name, foralls, guard, target, index, target_span, value, span })
    }
}

impl Lowerer<'_> {
    pub(super) fn lower_stmt(&mut self, stmt: &ast::Stmt, out: &mut Vec<Node>) {
        if deadline::is_over() || self.diagnostics.len() >= MAX_ERRORS {
            return;
        }
        let start = out.len();
        self.lower_alone(stmt, out);
        out.splice(start..start, std::mem::take(&mut self.pending));
    }

    /// The statement without what its expressions want in front of it.
    fn lower_alone(&mut self, stmt: &ast::Stmt, out: &mut Vec<Node>) {
        self.mention(stmt);
        if self.report_foreign_calls(stmt) {
            return;
        }
        if let Some(call) = self.call_stmt(stmt) {
            if self.lower_call_of_values(&call, out).is_none() {
                self.lower_call_stmt(&call, out);
            }
            return;
        }
        if self.lower_whole(stmt, out).is_some() {
            return;
        }
        let node = match &stmt.kind {
            ast::StmtKind::Let { target, ty, value } => {
                self.lower_let(stmt, target, ty.as_ref(), value.as_ref()).map(Node::Assign)
            }
            ast::StmtKind::Assign { target, op, value } => self.lower_assign(stmt, target, *op, value),
            ast::StmtKind::For { .. } => self.lower_for(stmt),
            ast::StmtKind::If { arms } => {
                self.lower_if_statement(arms, stmt.span, out);
                None
            }
            ast::StmtKind::Call { .. } => None,
        };
        out.extend(node);
    }

    /// The statement as a call that gives whole arrays, if it is one. Functions of scalars are called as expressions.
    fn call_stmt<'s>(&self, stmt: &'s ast::Stmt) -> Option<CallStmt<'s>> {
        let (callee, args, into) = match &stmt.kind {
            ast::StmtKind::Call { targets, callee, args } => (callee, args, Into::Locals(targets)),
            ast::StmtKind::Let { target, ty, value: Some(value) } => {
                let ast::ExprKind::Call { callee, args } = &value.kind else { return None };
                self.calls_statement(&callee.name, target)?;
                (callee, args, Into::Local(&target.name, ty.as_ref()))
            }
            ast::StmtKind::Assign { target, op: ast::AssignOp::Set, value } => {
                let ast::ExprKind::Call { callee, args } = &value.kind else { return None };
                self.calls_statement(&callee.name, target)?;
                (callee, args, Into::Array(&target.name))
            }
            _ => return None,
        };
        Some(CallStmt { callee, args, into, label: stmt.label.as_ref(), span: stmt.span })
    }

    fn calls_statement(&self, callee: &str, target: &ast::Target) -> Option<()> {
        (is_whole(target) && self.callee(callee)?.form.is_err()).then_some(())
    }

    fn lower_for(&mut self, stmt: &ast::Stmt) -> Option<Node> {
        let ast::StmtKind::For { index, range, step, rev, until, body } = &stmt.kind else { return None };
        // The loop around this one was one too many, which was told there.
        if self.scope.loops() > MAX_DIMENSIONS {
            return None;
        }
        if self.is_counted(Some(range), step.as_ref()) {
            return self.lower_each(stmt);
        }
        if let Some(stops) = self.lower_stopping(stmt) {
            return Some(stops);
        }
        let limits = self.lower_range(range);
        let step = step.as_ref().map_or(Some(1), |step| self.lower_step(step));
        if step.is_some_and(|step| step < 0) {
            self.check_downwards(range, limits.as_ref());
        }
        self.scope.enter();
        let iter = self.declare_iter(index);
        if let Some((bound, _)) = limits.as_ref().and_then(|limits| limits.bound(iter)) {
            self.origins.push(Origin { bound, ordered: true });
        }
        let own = self.function.arrays.len();
        let mut body = self.lower_block(body);
        if let Some(until) = until {
            body = self.stop_early(iter, until, body, own).unwrap_or_default();
        }
        self.scope.leave();
        let (limits, mut step) = (limits?, step?);
        let (bound, mut guard) = self.narrowed(limits.bound(iter), range.span)?;
        // Where the first value is the largest of several bounds, the loop visits all values and a guard picks its own.
        if let Some(stride) = self.narrowed(limits.stride(iter, step), range.span)? {
            guard = guard.and(stride);
            step = step.signum();
        }
        narrow(&mut body, &guard);
        Some(Node::For(For { bound, step, rev: *rev, body, span: stmt.span }))
    }

    /// `for i in N..0 by -1`, as other languages count down, has no values.
    fn check_downwards(&mut self, range: &ast::Range, limits: Option<&Limits>) {
        let Some(Limits { los, his }) = limits else { return };
        let ([lo], [hi]) = (los.as_slice(), his.as_slice()) else { return };
        let size = |(atom, factor): (&Atom, &i64)| matches!(atom, Atom::Param(_)) && *factor > 0;
        if lo.as_constant().is_none() && lo.terms.iter().all(size) && hi.as_constant().is_some_and(|hi| hi <= 0) {
            self.error("E0307", range.span, "this range ends before it begins").helps.push(
                "a loop that counts down visits the same values from their end: `for i in 0..N by -1` begins with N - 1"
                    .into(),
            );
        }
    }

    fn lower_step(&mut self, step: &ast::Expr) -> Option<i64> {
        match self.lower_affine(step, "a step")?.as_constant() {
            Some(0) => {
                self.error("E0307", step.span, "a step of 0 never ends");
                None
            }
            Some(constant) if constant != i64::MIN => Some(constant),
            _ => {
                self.error("E0307", step.span, "a step must be a constant");
                None
            }
        }
    }

    fn lower_assign(
        &mut self,
        stmt: &ast::Stmt,
        target: &ast::Target,
        op: ast::AssignOp,
        value: &ast::Expr,
    ) -> Option<Node> {
        let name = self.statement_name(stmt.label.as_ref());
        let array = self.lower_target_array(target);
        self.scope.enter();
        let forall = array.and_then(|array| self.lower_forall(target, Some(array), value));
        // Without a target the names on the right cannot be judged, so only a sound left side looks further.
        let lowered = forall.and_then(|forall| Some((forall, self.lower_expr(value)?)));
        self.scope.leave();
        let (array, (forall, value)) = (array?, lowered?);
        if Subscript::all_affine(&forall.index).is_none() {
            let update = Update { name, target, array, op, span: stmt.span };
            return self.lower_scatter(update, forall, value);
        }
        if op == ast::AssignOp::Unique {
            self.error("E0313", target.span, "`unique` is said of cells that depend on data")
                .helps
                .push("leave it out: that no two instances meet is proven here".into());
            return None;
        }
        let value = self.assigned_value(array, &forall.index, target.span, op, value)?;
        forall.assign(name, array, target.span, value, stmt.span).map(Node::Assign)
    }

    /// The array that an assignment writes, if it may be written.
    fn lower_target_array(&mut self, target: &ast::Target) -> Option<ArrayId> {
        let array = self.writable_array(&target.name)?;
        self.check_rank(array, target.indices.len(), target.span).then_some(array)
    }

    pub(super) fn writable_array(&mut self, name: &ast::Ident) -> Option<ArrayId> {
        match self.scope.lookup(&name.name) {
            Some((Meaning::Array(id), declared)) => {
                if self.function.array(id).role == Role::In {
                    self.report(
                        Diagnostic::error(
                            "E0106",
                            name.span,
                            format!("`{}` is an input and cannot be assigned", name.name),
                        )
                        .label(declared, "declared here")
                        .help(format!("declare it `inout {}: …` to change it in place", name.name)),
                    );
                    return None;
                }
                Some(id)
            }
            Some((Meaning::Broken, _)) => None,
            Some((meaning, declared)) => {
                let message = format!("`{}` is {} and cannot be assigned", name.name, meaning.describe());
                self.report(Diagnostic::error("E0106", name.span, message).label(declared, "declared here"));
                None
            }
            None => {
                let mut diagnostic = Diagnostic::error("E0101", name.span, format!("`{}` is not declared", name.name))
                    .help(format!("a local is introduced by `let {}… = …`", name.name));
                if let Some(closest) = self.scope.closest(&name.name) {
                    diagnostic = diagnostic.help(format!("did you mean `{closest}`?"));
                }
                self.report(diagnostic);
                None
            }
        }
    }

    /// Binds the new indices of a left-hand side, outermost first, with their ranges; lowers subscripts and guard.
    fn lower_forall(&mut self, target: &ast::Target, array: Option<ArrayId>, value: &ast::Expr) -> Option<Forall> {
        let mut fresh: Vec<(ast::Ident, Option<&ast::Range>)> = Vec::new();
        for index in &target.indices {
            if index.range.is_some() && !matches!(index.expr.kind, ast::ExprKind::Name(_)) {
                let help = "bound the index in the guard, behind the subscripts: `… | 0 <= i < …]`";
                self.error("E0305", index.expr.span, "only a plain index can be given a range").helps.push(help.into());
                return None;
            }
            self.collect_fresh(&index.expr, index.range.as_ref(), &mut fresh);
        }
        let mut foralls = Vec::new();
        let mut limits = Cond::TRUE;
        let mut sound = true;
        for (name, written) in &fresh {
            let mut uses = if array.is_some() { self.target_uses(target, &name.name) } else { Vec::new() };
            uses.extend(self.uses(value, &name.name));
            let shifted = self.target_shift(target, &name.name).filter(|_| written.is_none());
            if let Some(shifted) = &shifted {
                uses.retain(|other| !self.outdoes(shifted, other));
            }
            let iter = self.declare_iter(name);
            let open = uses.iter().all(|each| each.weight < Weight::Beside);
            let bound = match shifted.filter(|_| open).and_then(|shifted| shifted.range()) {
                Some(limits) => self.narrowed(limits.bound(iter), name.span),
                None => {
                    let plain = array.is_none() || self.is_plain(target, &name.name);
                    self.bound(iter, name, *written, &uses, target.guard.as_ref(), plain)
                }
            };
            match bound {
                Some((bound, narrower)) => {
                    self.origins.push(Origin { bound: bound.clone(), ordered: false });
                    foralls.push(bound);
                    limits = limits.and(narrower);
                }
                None => sound = false,
            }
        }
        let index: Vec<Option<Subscript>> =
            target.indices.iter().map(|index| self.lower_subscript(&index.expr)).collect();
        let guard = target.guard.as_ref().map_or(Some(Cond::TRUE), |guard| self.lower_cond(guard, "a guard"));
        let index: Option<Vec<Subscript>> = index.into_iter().collect();
        if !sound {
            return None;
        }
        let narrowed = !limits.is_true();
        Some(Forall { foralls, index: index?, guard: limits.and(guard?), narrowed })
    }

    /// Whether a subscript of the target is just this index, which could then be given a range there. Those of an array that is taken apart are
    /// written in another way.
    fn is_plain(&self, target: &ast::Target, name: &str) -> bool {
        let is_target = |id: ArrayId| self.function.array(id).name == target.name.name;
        if self.function.outside.iter().any(|(id, _)| is_target(*id)) {
            return false;
        }
        target.indices.iter().any(|index| matches!(&index.expr.kind, ast::ExprKind::Name(found) if found == name))
    }

    /// Names in a left-hand subscript that mean nothing yet are the indices of the forall.
    fn collect_fresh<'a>(
        &mut self,
        expr: &ast::Expr,
        range: Option<&'a ast::Range>,
        fresh: &mut Vec<(ast::Ident, Option<&'a ast::Range>)>,
    ) {
        use ast::ExprKind::*;
        match &expr.kind {
            Name(name) => match self.scope.lookup(name) {
                Some((meaning, declared)) => {
                    if range.is_some() {
                        let what = meaning.describe();
                        self.report(
                            Diagnostic::error(
                                "E0304",
                                expr.span,
                                format!("`{name}` is already {what}; it cannot be given a range"),
                            )
                            .label(declared, "bound here"),
                        );
                    }
                }
                None => match fresh.iter_mut().find(|(known, _)| known.name == *name) {
                    Some((_, known_range)) => *known_range = known_range.or(range),
                    None => fresh.push((ast::Ident { name: name.clone(), span: expr.span }, range)),
                },
            },
            Unary { operand, .. } => self.collect_fresh(operand, None, fresh),
            Binary { lhs, rhs, .. } => {
                self.collect_fresh(lhs, None, fresh);
                self.collect_fresh(rhs, None, fresh);
            }
            Paren(inner) => self.collect_fresh(inner, range, fresh),
            Index { indices: parts, .. } | Call { args: parts, .. } => {
                parts.iter().for_each(|part| self.collect_fresh(part, None, fresh));
            }
            Compare { first, rest } => {
                self.collect_fresh(first, None, fresh);
                rest.iter().for_each(|(_, operand)| self.collect_fresh(operand, None, fresh));
            }
            If { cond, then, otherwise } => {
                [cond, then, otherwise].into_iter().for_each(|part| self.collect_fresh(part, None, fresh));
            }
            Reduce { indices, body, .. } => {
                // The reduction binds its own indices.
                let known = fresh.len();
                self.collect_fresh(body, None, fresh);
                let own = |name: &ast::Ident| indices.iter().any(|index| index.name.name == name.name);
                let found = fresh.split_off(known);
                fresh.extend(found.into_iter().filter(|(name, _)| !own(name)));
            }
            Apply { lhs, rhs, .. } => {
                lhs.iter().chain([rhs]).for_each(|part| self.collect_fresh(part, None, fresh));
            }
            Int(_) | Float(_) | Bool(_) => {}
        }
    }

    /// The value in the type of the target, with a compound operator spelled out.
    pub(super) fn assigned_value(
        &mut self,
        array: ArrayId,
        index: &[Subscript],
        target_span: Span,
        op: ast::AssignOp,
        value: Typed,
    ) -> Option<Expr> {
        let ty = self.function.array(array).ty;
        let span = value.expr.span;
        if self.blame_literal_target(array, &value.expr) {
            return None;
        }
        let Some(op) = combining(op) else { return self.coerce(value, ty) };
        let value = match op {
            // What is shifted keeps its type, whatever the type of the amount.
            BinaryOp::Shl | BinaryOp::Shr => value,
            // What is only stored is rounded once, when the result is.
            _ => Typed::strong(self.coerce(value, if ty.half().is_some() { ScalarType::F32 } else { ty })?),
        };
        let kind = match Subscript::all_affine(index) {
            Some(index) => ExprKind::Load { array, index },
            None => ExprKind::Gather { array, index: index.to_vec() },
        };
        let combined = self.binary(op, Typed::strong(Expr { kind, ty, span: target_span }), value, span)?;
        // Narrow integers compute as i32; the result wraps back into the cell.
        Some(Expr { span, ..cast(combined.expr, ty) })
    }

    fn lower_let(
        &mut self,
        stmt: &ast::Stmt,
        target: &ast::Target,
        ty: Option<&ast::Type>,
        value: Option<&ast::Expr>,
    ) -> Option<Assign> {
        // Cells keep their contents from one iteration to the next; a local that is new in each must assign them all.
        if self.scope.loops() > 0 && (value.is_none() || target.guard.is_some()) {
            let (name, ty) = (&target.name.name, ty.map_or("…", |ty| self.shared.source.slice(ty.span)));
            let help = format!("declare `{name}` before the loop, `let {name}: {ty}`, and assign its cells in it");
            self.report(
                Diagnostic::error("E0108", target.span, "a `let` inside a loop gives a value to all its cells")
                    .help(help),
            );
            self.bind(&target.name, Meaning::Broken);
            return None;
        }
        let Some(value) = value else {
            self.lower_declaration(target, ty);
            return None;
        };
        let name = self.statement_name(stmt.label.as_ref());
        let lowered = self.lower_let_value(target, ty, value);
        let Some((forall, value, array)) = lowered else {
            self.bind(&target.name, Meaning::Broken);
            return None;
        };
        self.bind(&target.name, Meaning::Array(array));
        forall.assign(name, array, target.span, value, stmt.span)
    }

    /// `let tmp: f64[N, M]`
    fn lower_declaration(&mut self, target: &ast::Target, ty: Option<&ast::Type>) {
        let Some(ty) = ty else {
            self.error("E0108", target.span, format!("`{}` has neither a type nor a value", target.name.name))
                .helps
                .push(format!("write `let {}: f64[N]` or `let {}[i] = …`", target.name.name, target.name.name));
            self.bind(&target.name, Meaning::Broken);
            return;
        };
        if let Some(index) = target.indices.first() {
            let written = self.shared.source.slice(ty.span);
            self.error("E0108", index.expr.span, "a declaration without a value has no indices")
                .helps
                .push(format!("the extents are enough: write `let {}: {written}`", target.name.name));
            self.bind(&target.name, Meaning::Broken);
            return;
        }
        let scalar = self.scalar_type(&ty.scalar);
        let shape = self.lower_shape(&ty.shape);
        match (scalar, shape) {
            (Some(scalar), Some(shape)) => {
                self.declare_array(&target.name, scalar, shape, Role::Local);
            }
            _ => self.bind(&target.name, Meaning::Broken),
        }
    }

    fn lower_let_value(
        &mut self,
        target: &ast::Target,
        ty: Option<&ast::Type>,
        value: &ast::Expr,
    ) -> Option<(Forall, Expr, ArrayId)> {
        let annotated: Option<Option<ScalarType>> = ty.map(|ty| self.scalar_type(&ty.scalar));
        if let Some(extent) = ty.and_then(|ty| ty.shape.first()) {
            let indices = match target.indices.as_slice() {
                [] => self.free_indices(ty.map_or(1, |ty| ty.shape.len())),
                indices => {
                    let span = indices.iter().fold(indices[0].expr.span, |all, index| all.to(index.expr.span));
                    self.shared.source.slice(span).to_string()
                }
            };
            let name = &target.name.name;
            let scalar = ty.map_or("", |ty| ty.scalar.name.as_str());
            let help =
                format!("leave the extents out, which follow from the indices: `let {name}[{indices}]: {scalar} = …`");
            self.error("E0108", extent.span, "an array is given its value through indices").helps.push(help);
            return None;
        }
        for index in &target.indices {
            let plain = matches!(&index.expr.kind, ast::ExprKind::Name(name) if self.scope.lookup(name).is_none());
            if !plain {
                self.error("E0108", index.expr.span, "a `let` defines all cells: its indices must be new names")
                    .helps
                    .push(format!("declare it first, `let {}: …[…]`, and assign its cells then", target.name.name));
                return None;
            }
        }
        let name = &target.name;
        let refers = !target.indices.is_empty() && self.scope.lookup(&name.name).is_none();
        if refers && annotated.is_none() && refers_to(value, &name.name) {
            let indices = target.indices.iter().map(|index| match &index.expr.kind {
                ast::ExprKind::Name(name) => name.as_str(),
                _ => "…",
            });
            let indices = indices.collect::<Vec<_>>().join(", ");
            self.error("E0108", name.span, format!("`{}` refers to itself, so its type must be written", name.name))
                .helps
                .push(format!("write it behind the indices: `let {}[{indices}]: f64 = …`", name.name));
            return None;
        }
        self.scope.enter();
        let lowered = self.lower_forall(target, None, value).and_then(|forall| {
            // A value that refers to the array itself can only be read once the array is there.
            let early = match annotated.flatten().filter(|_| refers && refers_to(value, &name.name)) {
                Some(ty) => {
                    let shape = self.let_shape(target, &forall)?;
                    let array = self.add_array(name, ty, shape, Role::Local);
                    self.scope.insert(name.name.clone(), Meaning::Array(array), name.span);
                    Some(array)
                }
                None => None,
            };
            Some((forall, self.lower_expr(value)?, early))
        });
        self.scope.leave();
        let (forall, value, early) = lowered?;
        let literal = annotated.is_none() && value.weak == Weak::Int;
        let value_span = value.expr.span;
        let value = match annotated {
            Some(ty) => self.coerce(value, ty?)?,
            None => self.settle(value)?,
        };
        let array = match early {
            Some(array) => array,
            None => {
                let shape = self.let_shape(target, &forall)?;
                self.add_array(name, value.ty, shape, Role::Local)
            }
        };
        if literal {
            self.literal_lets.push(LiteralLet { array, target: target.span, value: value_span, reported: false });
        }
        Some((forall, value, array))
    }

    /// The extents of a local are the ends of its indices' ranges.
    fn let_shape(&mut self, target: &ast::Target, forall: &Forall) -> Option<Vec<Affine>> {
        let mut shape = Vec::new();
        for (index, bound) in target.indices.iter().zip(&forall.foralls) {
            // The smallest of several ends is a size of its own; the bound has one of them, and the guard the others.
            if let Some(range) = index.range.as_ref().filter(|_| forall.narrowed) {
                shape.push(self.lower_extent(&range.hi)?);
                continue;
            }
            let mut uses_iter = false;
            bound.hi.visit_iters(&mut |_| uses_iter = true);
            if uses_iter {
                let (name, hi, span) = (&target.name.name, self.function.show(&bound.hi), index.expr.span);
                let index = self.shared.source.slice(span);
                let whole = format!("let {name}[{index}: 0..…] = if {index} < {hi} then … else 0");
                self.report(
                    Diagnostic::error("E0306", span, "the extent of a local may use parameters only")
                        .note("arrays are allocated once per call, so their size cannot depend on a loop")
                        .help(format!("write the largest range, and a value for the rest: `{whole}`")),
                );
                return None;
            }
            shape.push(bound.hi.clone());
        }
        if forall.foralls.len() != target.indices.len() {
            self.error("E0108", target.span, "every index of a `let` must be a different name");
            return None;
        }
        Some(shape)
    }
}

/// Whether an expression reads an array of this name.
fn refers_to(expr: &ast::Expr, name: &str) -> bool {
    use ast::ExprKind::*;
    let any = |exprs: &[ast::Expr]| exprs.iter().any(|expr| refers_to(expr, name));
    match &expr.kind {
        Int(_) | Float(_) | Bool(_) => false,
        Name(found) => found == name,
        Index { base, indices } => base.name == name || any(indices),
        Call { args, .. } => any(args),
        Unary { operand, .. } => refers_to(operand, name),
        Binary { lhs, rhs, .. } => refers_to(lhs, name) || refers_to(rhs, name),
        Compare { first, rest } => refers_to(first, name) || rest.iter().any(|(_, other)| refers_to(other, name)),
        If { cond, then, otherwise } => [cond, then, otherwise].into_iter().any(|part| refers_to(part, name)),
        Reduce { body, .. } => refers_to(body, name),
        Apply { lhs, rhs, .. } => lhs.iter().chain([rhs]).any(|operand| refers_to(operand, name)),
        Paren(inner) => refers_to(inner, name),
    }
}

/// Every statement runs only where the guard of the loop around it holds.
pub(super) fn narrow(nodes: &mut [Node], guard: &Cond) {
    if guard.is_true() {
        return;
    }
    for node in nodes {
        match node {
            Node::For(node) => narrow(&mut node.body, guard),
            // Where the guard fails, the loop has no iterations.
            Node::Each(each) => {
                let range = &mut each.range;
                let zero = Expr { kind: ExprKind::Const(Value::I64(0)), ty: ScalarType::I64, span: range.span };
                for end in [&mut range.lo, &mut range.hi] {
                    let then = Box::new(std::mem::replace(end, zero.clone()));
                    let cond = Box::new(condition(guard, range.span));
                    let (affine, otherwise) = (Some(guard.clone()), Box::new(zero.clone()));
                    end.kind = ExprKind::Select { cond, affine, then, otherwise };
                }
            }
            Node::Scatter(scatter) => {
                let own = std::mem::replace(&mut scatter.guard, Cond::TRUE);
                scatter.guard = guard.clone().and(own);
            }
            Node::Assign(assign) => {
                let own = std::mem::replace(&mut assign.guard, Cond::TRUE);
                assign.guard = guard.clone().and(own);
            }
        }
    }
}

/// The operator of a compound assignment.
fn combining(op: ast::AssignOp) -> Option<BinaryOp> {
    Some(match op {
        ast::AssignOp::Set | ast::AssignOp::Unique => return None,
        ast::AssignOp::Add => BinaryOp::Add,
        ast::AssignOp::Sub => BinaryOp::Sub,
        ast::AssignOp::Mul => BinaryOp::Mul,
        ast::AssignOp::Div => BinaryOp::Div,
        ast::AssignOp::Rem => BinaryOp::Rem,
        ast::AssignOp::BitAnd => BinaryOp::BitAnd,
        ast::AssignOp::BitOr => BinaryOp::BitOr,
        ast::AssignOp::BitXor => BinaryOp::BitXor,
        ast::AssignOp::Shl => BinaryOp::Shl,
        ast::AssignOp::Shr => BinaryOp::Shr,
        ast::AssignOp::Min => BinaryOp::Min,
        ast::AssignOp::Max => BinaryOp::Max,
    })
}
