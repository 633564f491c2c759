//! Cells that depend on data: subscripts that are not affine, and the updates that scatter values into such cells.
//!
//! Not here: the check that a subscript is in bounds; it takes place when the program runs.

use diag::{Diagnostic, Span};
use syntax::ast;

use super::Lowerer;
use super::expr::Typed;
use super::stmt::Forall;
use crate::{Affine, ArrayId, Expr, ExprKind, IterId, Node, ReduceOp, ScalarType, Scatter, Subscript, UnaryOp};

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
        let typed = self.lower_size(expr)?;
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
    pub(super) fn lower_scatter(&mut self, update: Update<'_>, forall: Forall, value: Typed) -> Option<Node> {
        let Update { name, target, array, op, span } = update;
        if self.is_spelled_out(op, array, &forall, &value.expr) {
            let value = Typed::strong(self.assigned_value(array, &forall.index, target.span, op, value)?);
            let update = Update { op: ast::AssignOp::Set, name, ..update };
            return self.lower_scatter(update, forall, value);
        }
        let op = match op {
            ast::AssignOp::Add | ast::AssignOp::Sub => ReduceOp::Sum,
            ast::AssignOp::Mul => ReduceOp::Prod,
            ast::AssignOp::Min => ReduceOp::Min,
            ast::AssignOp::Max => ReduceOp::Max,
            ast::AssignOp::Set if self.apart(&forall) => ReduceOp::Last,
            ast::AssignOp::Unique => ReduceOp::Last,
            _ => {
                let diagnostic = self.order_matters(target, &forall, op);
                self.report(diagnostic);
                return None;
            }
        };
        let ty = self.function.array(array).ty;
        if ty == ScalarType::Bool && op != ReduceOp::Last {
            let combine = op.combine().name();
            self.error("E0202", target.span, format!("`{combine}` does not apply to bool"));
            return None;
        }
        if ty.half().is_some() && op != ReduceOp::Last {
            let message = format!("cells of {ty} cannot be updated where data chooses them");
            self.report(
                Diagnostic::error("E0202", target.span, message)
                    .note(format!("what is computed with {ty} is f32, and each update would be rounded"))
                    .help(format!("update an f32 array, and store it then: `{}[…] = {ty}(…)`", target.name.name)),
            );
            return None;
        }
        let mut value = self.coerce(value, ty)?;
        if update.op == ast::AssignOp::Sub {
            value = Expr { span: value.span, kind: ExprKind::Unary(UnaryOp::Neg, Box::new(value)), ty };
        }
        let parts: Vec<&Expr> = Subscript::data(&forall.index).chain([&value]).collect();
        let read = match op {
            ReduceOp::Last if update.op == ast::AssignOp::Set => {
                parts.into_iter().find_map(|part| foreign_read(part, array, &forall))
            }
            _ => parts.into_iter().find_map(|part| part.reads(array)),
        };
        if let Some(read) = read {
            self.report(reads_target(&target.name, target.span, read));
            return None;
        }
        let claims = match update.op {
            ast::AssignOp::Unique => self.claim_cells(&name, target, array, &forall)?,
            _ => None,
        };
        let Forall { foralls, index, guard, .. } = forall;
        let scatter = Scatter { name, foralls, guard, target: array, index, target_span: target.span, op, value, span };
        Some(match claims {
            Some(claims) => {
                self.pending.push(Node::Scatter(scatter));
                claims
            }
            None => Node::Scatter(scatter),
        })
    }

    /// Whether `A[p] op= value` is `A[p] = A[p] op value`: no two instances meet in a cell, and as an update it could not be done in any
    /// order, or reads what it updates.
    fn is_spelled_out(&self, op: ast::AssignOp, array: ArrayId, forall: &Forall, value: &Expr) -> bool {
        use ast::AssignOp::*;
        let reads = || Subscript::data(&forall.index).chain([value]).any(|part| part.reads(array).is_some());
        let update = matches!(op, Add | Sub | Mul | Min | Max);
        let ordered = !update || self.function.array(array).ty.half().is_some() || reads();
        !matches!(op, Set | Unique) && ordered && self.apart(forall)
    }

    /// Whether no two instances can name the same cell, because each index stands alone in a subscript: `M[p, j]`.
    fn apart(&self, forall: &Forall) -> bool {
        forall.foralls.iter().all(|bound| forall.is_alone(bound.iter))
    }

    fn order_matters(&self, target: &ast::Target, forall: &Forall, op: ast::AssignOp) -> Diagnostic {
        let subscript = Subscript::data(&forall.index).next();
        let name = &target.name.name;
        let message = match op {
            ast::AssignOp::Set => "a cell that depends on data cannot be assigned by `=`".to_owned(),
            _ => format!("`{}` cannot update a cell that depends on data", op.symbol()),
        };
        let mut diagnostic = Diagnostic::error("E0310", subscript.map_or(target.span, |expr| expr.span), message)
            .here("this subscript depends on data")
            .note("several instances may name the same cell, and they have no order: the result would be open");
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
        match op {
            ast::AssignOp::Div => diagnostic.help(format!("multiply instead: `{name}[…] *= 1 / …`")),
            ast::AssignOp::Set => diagnostic
                .help(format!("combine the values: `{name}[…] += …`, or `*=`, `min=`, `max=`"))
                .help("for an order, write a loop: `for i in 0..N { … }`")
                .help(format!("if no two instances name the same cell, say so: `unique {name}[…] = …`")),
            _ => diagnostic.help("for an order, write a loop: `for i in 0..N { … }`"),
        }
    }
}

/// Where an instance may read a cell of the array that another one replaces: not where the index that keeps them apart on the
/// left stands in the same place, as in `A[p, j] = A[q, j]`. A statement without indices reads before it writes.
fn foreign_read(expr: &Expr, array: ArrayId, forall: &Forall) -> Option<Span> {
    let same = |place: usize, iter: IterId, at: Option<&Affine>| {
        let written = forall.index.get(place).and_then(Subscript::as_affine);
        written.and_then(Affine::as_iter) == Some(iter) && at.and_then(Affine::as_iter) == Some(iter)
    };
    let own = |index: &[Option<&Affine>]| {
        let apart = |iter| index.iter().enumerate().any(|(place, at)| same(place, iter, *at));
        forall.foralls.iter().all(|bound| apart(bound.iter))
    };
    let mut foreign = None;
    expr.visit(&mut |part| {
        let index: Vec<Option<&Affine>> = match &part.kind {
            ExprKind::Load { array: read, index } if *read == array => index.iter().map(Some).collect(),
            ExprKind::Gather { array: read, index } if *read == array => {
                index.iter().map(Subscript::as_affine).collect()
            }
            _ => return,
        };
        if !own(&index) {
            foreign = foreign.or(Some(part.span));
        }
    });
    foreign
}

fn reads_target(target: &ast::Ident, updated: Span, read: Span) -> Diagnostic {
    let name = &target.name;
    Diagnostic::error("E0408", read, format!("reads `{name}` while it is being updated"))
        .here("read here")
        .label(updated, "each instance changes a cell that depends on data")
        .note("whether the value is the one before or after the other instances would depend on their order")
        .help(format!("if the old values are meant, copy them first: `let old[i] = {name}[i]`"))
}
