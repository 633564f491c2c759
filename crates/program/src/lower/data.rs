//! Cells that depend on data: subscripts that are not affine, and the updates that scatter values into such cells.
//!
//! Not here: the check that a subscript is in bounds; it takes place when the program runs.

use diag::{Diagnostic, Span};
use syntax::ast;

use super::Lowerer;
use super::expr::Typed;
use super::stmt::Forall;
use crate::{ArrayId, Expr, ExprKind, ReduceOp, ScalarType, Scatter, Subscript, UnaryOp};

/// A statement `target[…] op= value` whose cells depend on data.
pub(super) struct Update<'s> {
    pub(super) name: String,
    pub(super) target: &'s ast::Target,
    pub(super) array: ArrayId,
    pub(super) op: ast::AssignOp,
    pub(super) span: Span,
}

impl Lowerer<'_> {
    /// A subscript: affine if it can be, else any integer.
    pub(super) fn lower_subscript(&mut self, expr: &ast::Expr) -> Option<Subscript> {
        let typed = self.lower_expr(expr)?;
        if let Some(affine) = typed.affine {
            return Some(Subscript::Affine(affine));
        }
        if !typed.expr.ty.is_int() {
            let ty = typed.expr.ty;
            let mut diagnostic = Diagnostic::error("E0309", expr.span, format!("a subscript is an integer, not {ty}"))
                .here(format!("this is {ty}"));
            if ty.is_float() {
                diagnostic = diagnostic.help("convert it, which drops the fraction: `i64(…)`");
            }
            self.report(diagnostic);
            return None;
        }
        Some(Subscript::Data(Box::new(self.coerce(typed, ScalarType::I64)?)))
    }

    /// The scatter that an assignment to cells that depend on data stands for.
    pub(super) fn lower_scatter(&mut self, update: Update<'_>, forall: Forall, value: Typed) -> Option<Scatter> {
        let Update { name, target, array, op, span } = update;
        let op = match op {
            ast::AssignOp::Add | ast::AssignOp::Sub => ReduceOp::Sum,
            ast::AssignOp::Mul => ReduceOp::Prod,
            ast::AssignOp::Min => ReduceOp::Min,
            ast::AssignOp::Max => ReduceOp::Max,
            ast::AssignOp::Set | ast::AssignOp::Div => {
                let diagnostic = self.order_matters(target, &forall, op);
                self.report(diagnostic);
                return None;
            }
        };
        let ty = self.function.array(array).ty;
        if ty == ScalarType::Bool {
            let combine = op.combine().name();
            self.error("E0202", target.span, format!("`{combine}` does not apply to bool"));
            return None;
        }
        let mut value = self.coerce(value, ty)?;
        if update.op == ast::AssignOp::Sub {
            value = Expr { span: value.span, kind: ExprKind::Unary(UnaryOp::Neg, Box::new(value)), ty };
        }
        let parts: Vec<&Expr> = Subscript::data(&forall.index).chain([&value]).collect();
        if let Some(read) = parts.into_iter().find_map(|part| part.reads(array)) {
            self.report(reads_target(&target.name, target.span, read));
            return None;
        }
        let Forall { foralls, index, guard, .. } = forall;
        Some(Scatter { name, foralls, guard, target: array, index, target_span: target.span, op, value, span })
    }

    fn order_matters(&self, target: &ast::Target, forall: &Forall, op: ast::AssignOp) -> Diagnostic {
        let subscript = Subscript::data(&forall.index).next();
        let name = &target.name.name;
        let divides = op == ast::AssignOp::Div;
        let message = if divides {
            "`/=` cannot update a cell that depends on data"
        } else {
            "a cell that depends on data cannot be assigned by `=`"
        };
        let mut diagnostic = Diagnostic::error("E0310", subscript.map_or(target.span, |expr| expr.span), message)
            .here("this subscript depends on data")
            .note(if forall.foralls.is_empty() {
                "a cell chosen by data can only be updated: `+=`, `-=`, `*=`, `min=`, `max=`"
            } else {
                "several instances may name the same cell, and they have no order: the result would be open"
            });
        let declared = subscript.and_then(|expr| match &expr.kind {
            ExprKind::Scalar(id) => Some((&self.function.scalar(*id).name, self.function.scalar(*id).span)),
            ExprKind::Load { array, index } if index.is_empty() => {
                Some((&self.function.array(*array).name, self.function.array(*array).span))
            }
            _ => None,
        });
        if let Some((value, span)) = declared {
            diagnostic = diagnostic.label(span, format!("`{value}` is a value, so it is no new index"));
        }
        let alone = subscript.filter(|_| forall.foralls.is_empty() && forall.index.len() == 1);
        if let (Some(subscript), false) = (alone, divides) {
            let at = self.shared.source.slice(subscript.span);
            let index = ["c", "k", "l"].into_iter().find(|index| self.scope.lookup(index).is_none()).unwrap_or("cell");
            let cell = format!("{name}[{index}]");
            diagnostic = diagnostic.help(format!(
                "to replace the value, go through all cells: `{cell} = if {index} = {at} then … else {cell}`"
            ));
        }
        if divides {
            diagnostic.help(format!("multiply instead: `{name}[…] *= 1 / …`"))
        } else {
            diagnostic.help(format!("combine the values: `{name}[…] += …`, or `*=`, `min=`, `max=`"))
        }
    }
}

fn reads_target(target: &ast::Ident, updated: Span, read: Span) -> Diagnostic {
    let name = &target.name;
    Diagnostic::error("E0408", read, format!("reads `{name}` while it is being updated"))
        .here("read here")
        .label(updated, "each instance changes a cell that depends on data")
        .note("whether the value is the one before or after the other instances would depend on their order")
        .help(format!("if the old values are meant, copy them first: `let old[i] = {name}[i]`"))
}
