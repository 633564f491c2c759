//! Functions of arrays inside whole-array expressions: `D = matmul(A, B) + C`, `Y = (normalize rank 1) X`.
//!
//! In: a statement without indices.  Out: the same with every such call replaced by the name of a local, after the statements
//! that compute it. So are array arguments that are more than a name. Calls in the branches of an `if` and under
//! reductions stay where they are: they are not always, or not once, evaluated.
//! Not here: inlining a call (`calls`), mapping its statements over a frame (`spread`).

use diag::Span;
use syntax::ast::{self, ExprKind, VerbKind};

use super::super::Lowerer;
use super::super::calls::{CallStmt, Into};
use super::super::inline::NoForm;
use super::super::names::Meaning;
use crate::{ArgRef, Node, Role};

impl Lowerer<'_> {
    /// Lowers a statement in the expression of which functions of arrays are called; others are left to the caller.
    pub(super) fn lower_with_calls(&mut self, stmt: &ast::Stmt, out: &mut Vec<Node>) -> Option<()> {
        let value = match &stmt.kind {
            ast::StmtKind::Assign { value, .. } | ast::StmtKind::Let { value: Some(value), .. } => value,
            _ => return None,
        };
        if !self.calls_arrays(value) {
            return None;
        }
        let label = self.as_label(stmt.label.as_ref(), stmt.span);
        let mut hoist = Hoist { statement: &label, locals: Vec::new() };
        let hoisted = self.hoist(value, &mut hoist, out);
        let locals = hoist.locals;
        let mut stmt = stmt.clone();
        stmt.label = Some(label);
        if let ast::StmtKind::Assign { value, .. } | ast::StmtKind::Let { value: Some(value), .. } = &mut stmt.kind {
            *value = hoisted;
        }
        self.lower_stmt(&stmt, out);
        locals.iter().for_each(|local| self.scope.forget(local));
        Some(())
    }

    /// Lowers a call whose array arguments are more than names; others are left to the caller.
    pub(in super::super) fn lower_call_of_values(&mut self, call: &CallStmt<'_>, out: &mut Vec<Node>) -> Option<()> {
        let arrays = self.array_parameters(&call.callee.name)?;
        let is_value =
            |(arg, array): (&ast::Expr, &Option<String>)| array.is_some() && !matches!(arg.kind, ExprKind::Name(_));
        if !call.args.iter().zip(&arrays).any(is_value) {
            return None;
        }
        let label = self.as_label(call.label, call.span);
        let mut hoist = Hoist { statement: &label, locals: Vec::new() };
        let args = self.hoist_args(call.args, &arrays, &mut hoist, out);
        let locals = hoist.locals;
        let call = CallStmt { callee: call.callee, args: &args, into: call.into, label: Some(&label), span: call.span };
        self.lower_call_stmt(&call, out);
        locals.iter().for_each(|local| self.scope.forget(local));
        Some(())
    }

    fn as_label(&mut self, label: Option<&ast::Ident>, span: Span) -> ast::Ident {
        let name = self.statement_name(label);
        ast::Ident { name, span: label.map_or(span, |label| label.span) }
    }

    /// Whether a call of this name, as a part of an expression, can be computed before: it has one result and changes
    /// nothing.
    fn is_array_function(&self, name: &str) -> bool {
        let Some(callee) = self.callee(name) else { return false };
        let Some(function) = &callee.lowered else { return false };
        let count = |role: Role| function.arrays.iter().filter(|array| array.role == role).count();
        matches!(callee.form, Err(NoForm::Arrays | NoForm::Body)) && count(Role::Out) == 1 && count(Role::InOut) == 0
    }

    fn calls_arrays(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Call { callee, args } => {
                self.is_array_function(&callee.name) || args.iter().any(|arg| self.calls_arrays(arg))
            }
            ExprKind::Unary { operand: inner, .. } | ExprKind::Paren(inner) => self.calls_arrays(inner),
            ExprKind::Binary { lhs, rhs, .. } => self.calls_arrays(lhs) || self.calls_arrays(rhs),
            ExprKind::Compare { first, rest } => {
                self.calls_arrays(first) || rest.iter().any(|(_, operand)| self.calls_arrays(operand))
            }
            ExprKind::Apply { verb, lhs, rhs } => {
                self.ranked_function(verb).is_some()
                    || lhs.iter().chain([rhs]).any(|operand| self.calls_arrays(operand))
            }
            _ => false,
        }
    }

    /// The function of arrays in `(f rank 1)`.
    fn ranked_function<'v>(&self, verb: &'v ast::Verb) -> Option<&'v ast::Ident> {
        let VerbKind::Rank { verb, .. } = &verb.kind else { return None };
        let VerbKind::Named { name, params } = &verb.kind else { return None };
        (params.is_empty() && self.is_array_function(&name.name)).then_some(name)
    }

    fn hoist(&mut self, expr: &ast::Expr, hoist: &mut Hoist<'_>, out: &mut Vec<Node>) -> ast::Expr {
        let kind = match &expr.kind {
            ExprKind::Call { callee, args } if self.is_array_function(&callee.name) => {
                self.hoist_call(callee, args, expr.span, hoist, out)
            }
            ExprKind::Apply { verb, lhs, rhs } => {
                let lhs = lhs.as_ref().map(|lhs| self.hoist(lhs, hoist, out));
                let rhs = self.hoist(rhs, hoist, out);
                match self.ranked_function(verb) {
                    Some(function) => {
                        let operands: Vec<ast::Expr> = lhs.into_iter().chain([rhs]).collect();
                        self.hoist_ranked(verb, function, &operands, expr.span, hoist, out)
                    }
                    None => ExprKind::Apply { verb: verb.clone(), lhs: lhs.map(Box::new), rhs: Box::new(rhs) },
                }
            }
            _ => self.hoist_inside(&expr.kind, hoist, out),
        };
        ast::Expr { kind, span: expr.span }
    }

    fn hoist_inside(&mut self, kind: &ExprKind, hoist: &mut Hoist<'_>, out: &mut Vec<Node>) -> ExprKind {
        let mut each = |expr: &ast::Expr| Box::new(self.hoist(expr, hoist, out));
        match kind {
            ExprKind::Call { callee, args } => {
                let args = args.iter().map(|arg| *each(arg)).collect();
                ExprKind::Call { callee: callee.clone(), args }
            }
            ExprKind::Unary { op, operand } => ExprKind::Unary { op: *op, operand: each(operand) },
            ExprKind::Binary { op, lhs, rhs } => ExprKind::Binary { op: *op, lhs: each(lhs), rhs: each(rhs) },
            ExprKind::Compare { first, rest } => ExprKind::Compare {
                first: each(first),
                rest: rest.iter().map(|(op, operand)| (*op, *each(operand))).collect(),
            },
            ExprKind::Paren(inner) => ExprKind::Paren(each(inner)),
            other => other.clone(),
        }
    }

    /// `matmul(A, B)` as the name of a local.
    fn hoist_call(
        &mut self,
        callee: &ast::Ident,
        args: &[ast::Expr],
        span: Span,
        hoist: &mut Hoist<'_>,
        out: &mut Vec<Node>,
    ) -> ExprKind {
        let arrays = self.array_parameters(&callee.name).unwrap_or_default();
        let args = self.hoist_args(args, &arrays, hoist, out);
        let local = self.hidden_local(&callee.name, span, hoist);
        let call = CallStmt { callee, args: &args, into: Into::Local(&local, None), label: Some(&local), span };
        self.lower_call_stmt(&call, out);
        ExprKind::Name(local.name)
    }

    /// `(f rank 1) X` as the name of a local.
    fn hoist_ranked(
        &mut self,
        verb: &ast::Verb,
        function: &ast::Ident,
        operands: &[ast::Expr],
        span: Span,
        hoist: &mut Hoist<'_>,
        out: &mut Vec<Node>,
    ) -> ExprKind {
        let mut arrays = Vec::new();
        for (position, operand) in operands.iter().enumerate() {
            arrays.push(self.hoist_array(operand, &format!("{}{position}", function.name), hoist, out));
        }
        let local = self.hidden_local(&function.name, span, hoist);
        let spread = self.spread_call(verb, function, &arrays, &local, span, out);
        if spread.is_none() && self.scope.lookup(&local.name).is_none() {
            self.bind(&local, Meaning::Broken);
        }
        ExprKind::Name(local.name)
    }

    /// For each parameter of a function, its name if it is an array that is only read. What is changed must have a name.
    fn array_parameters(&self, name: &str) -> Option<Vec<Option<String>>> {
        let function = self.callee(name)?.lowered.as_ref()?;
        let arrays = function.signature.iter().map(|arg| match arg {
            ArgRef::Array(id) => Some(function.array(*id)).filter(|array| array.role == Role::In),
            ArgRef::Scalar(_) => None,
        });
        Some(arrays.map(|array| array.map(|array| array.name.clone())).collect())
    }

    fn hoist_args(
        &mut self,
        args: &[ast::Expr],
        arrays: &[Option<String>],
        hoist: &mut Hoist<'_>,
        out: &mut Vec<Node>,
    ) -> Vec<ast::Expr> {
        let mut hoisted = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            let inner = self.hoist(arg, hoist, out);
            hoisted.push(match arrays.get(position) {
                Some(Some(name)) => self.hoist_array(&inner, name, hoist, out),
                _ => inner,
            });
        }
        hoisted
    }

    /// The name of an array: the expression itself, or a local that it is the value of.
    fn hoist_array(&mut self, expr: &ast::Expr, name: &str, hoist: &mut Hoist<'_>, out: &mut Vec<Node>) -> ast::Expr {
        if matches!(expr.kind, ExprKind::Name(_)) {
            return expr.clone();
        }
        // A scalar here is an error, which the call reports.
        let errors = self.diagnostics.len();
        let shape = self.shape_of(expr);
        if shape.as_ref().is_some_and(Vec::is_empty) && self.diagnostics.len() == errors {
            return expr.clone();
        }
        let local = self.hidden_local(name, expr.span, hoist);
        self.lower_hidden_let(&local, expr, shape, out);
        ast::Expr { kind: ExprKind::Name(local.name), span: expr.span }
    }

    /// A name that the statement may use for a local of its own.
    fn hidden_local(&mut self, name: &str, span: Span, hoist: &mut Hoist<'_>) -> ast::Ident {
        let stem = format!("{}_{name}", hoist.statement.name);
        let taken = |name: &String| {
            self.scope.lookup(name).is_some()
                || self.labels.contains(name)
                || self.function.arrays.iter().any(|array| array.name == *name)
        };
        let mut name = stem.clone();
        let mut number = 1;
        while taken(&name) {
            number += 1;
            name = format!("{stem}{number}");
        }
        hoist.locals.push(name.clone());
        ast::Ident { name, span }
    }
}

/// What the calls of one statement are computed into.
struct Hoist<'s> {
    statement: &'s ast::Ident,
    locals: Vec<String>,
}
