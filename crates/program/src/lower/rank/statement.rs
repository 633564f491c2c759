//! Statements whose target is a whole array: `C = A + B`, `C += A`, `let D = A * 2`.
//!
//! In: such a statement.  Out: one forall over the cells of the target; two where the value reads other cells of the
//! target than the one it is stored in, because the whole value is computed before it is stored.

use std::collections::BTreeSet;

use diag::{Diagnostic, Span};
use syntax::ast;

use super::super::Lowerer;
use super::super::calls::is_whole;
use super::super::expr::Typed;
use super::super::names::Meaning;
use super::Shape;
use super::agree::Part;
use super::visit;
use crate::{Affine, Array, ArrayId, Assign, Bound, Cond, Expr, ExprKind, Node, Role, Subscript};

/// A value for every cell, and the indices that point to it.
struct Cells {
    foralls: Vec<Bound>,
    index: Vec<Affine>,
    value: Option<Typed>,
}

impl Lowerer<'_> {
    /// Lowers the statement if it is about whole arrays; scalars and indexed arrays are not.
    pub(in super::super) fn lower_whole(&mut self, stmt: &ast::Stmt, out: &mut Vec<Node>) -> Option<()> {
        match &stmt.kind {
            ast::StmtKind::Assign { target, .. } | ast::StmtKind::Let { target, .. }
                if is_whole(target) && self.lower_with_calls(stmt, out).is_some() =>
            {
                Some(())
            }
            ast::StmtKind::Assign { target, op, value } if is_whole(target) => {
                let (meaning, _) = self.scope.lookup(&target.name.name)?;
                let Meaning::Array(id) = meaning else { return None };
                if self.function.array(id).shape.is_empty() {
                    return None;
                }
                self.lower_whole_assign(stmt, target, *op, value, out);
                Some(())
            }
            ast::StmtKind::Let { target, ty, value: Some(value) } if is_whole(target) => {
                let declares_array = ty.as_ref().is_some_and(|ty| !ty.shape.is_empty());
                let shape = self.shape_of(value);
                if shape.as_ref().is_some_and(Vec::is_empty) && !declares_array {
                    return None;
                }
                let name = self.statement_name(stmt.label.as_ref());
                let lowered = shape.and_then(|shape| self.lower_whole_let(target, ty.as_ref(), value, shape));
                match lowered {
                    Some((cells, value, shape)) => {
                        let array = self.declare_array(&target.name, value.ty, shape, Role::Local);
                        out.push(Node::Assign(cells.assign(name, array, target.span, value, stmt.span)));
                    }
                    None => self.bind(&target.name, Meaning::Broken),
                }
                Some(())
            }
            _ => None,
        }
    }

    /// A local that the source does not name, with the value of an expression that has this shape.
    pub(super) fn lower_hidden_let(
        &mut self,
        name: &ast::Ident,
        value: &ast::Expr,
        shape: Option<Shape>,
        out: &mut Vec<Node>,
    ) {
        let target = ast::Target { name: name.clone(), indices: Vec::new(), guard: None, span: value.span };
        match shape.and_then(|shape| self.lower_whole_let(&target, None, value, shape)) {
            Some((cells, cell, shape)) => {
                let array = self.declare_array(name, cell.ty, shape, Role::Local);
                out.push(Node::Assign(cells.assign(name.name.clone(), array, value.span, cell, value.span)));
            }
            None => self.bind(name, Meaning::Broken),
        }
    }

    fn lower_whole_assign(
        &mut self,
        stmt: &ast::Stmt,
        target: &ast::Target,
        op: ast::AssignOp,
        value: &ast::Expr,
        out: &mut Vec<Node>,
    ) -> Option<()> {
        let name = self.statement_name(stmt.label.as_ref());
        let array = self.writable_array(&target.name)?;
        let shape = self.function.array(array).shape.clone();
        let part = self.part(value)?;
        if op == ast::AssignOp::Set && part.shape.is_empty() {
            // A value that is in error is no number.
            if !self.scope.has_broken() {
                self.report_number_for_array(target, array, value);
            }
            return None;
        }
        self.check_target(&target.name.name, &Part::named(target.span, shape.clone()), &part)?;
        let mut cells = self.whole_cells(&shape, target.span, value);
        let value = cells.value.take()?;
        let index: Vec<Subscript> = cells.index.iter().cloned().map(Subscript::Affine).collect();
        let value = self.assigned_value(array, &index, target.span, op, value)?;
        if !reads_elsewhere(&value, array, &cells.index) {
            out.push(Node::Assign(cells.assign(name, array, target.span, value, stmt.span)));
            return Some(());
        }
        let like = Array { name: String::new(), ty: value.ty, shape: Vec::new(), role: Role::Local, span: target.span };
        let whole = self.add_local("value", &like, shape, &name);
        out.push(Node::Assign(cells.assign(name.clone(), whole, target.span, value, stmt.span)));
        let copy = self.copy(whole, array, &target.name, &name, stmt.span);
        out.push(Node::Assign(copy));
        Some(())
    }

    /// `y = sum[i] x[i]` of an array `y`: more often a scalar is meant than a copy of the number in every cell.
    fn report_number_for_array(&mut self, target: &ast::Target, array: ArrayId, value: &ast::Expr) {
        let name = &target.name.name;
        let (shape, rank) =
            (self.show_shape_list(&self.function.array(array).shape), self.function.array(array).shape.len());
        let (declared, ty, role) =
            (self.function.array(array).span, self.function.array(array).ty, self.function.array(array).role);
        let mut bound = BTreeSet::new();
        visit(value, &mut |part| {
            if let ast::ExprKind::Reduce { indices, .. } = &part.kind {
                bound.extend(indices.iter().map(|index| index.name.name.clone()));
            }
        });
        let cells = format!("{name}[{}]", self.free_indices_beside(rank, &bound));
        let text = self.shared.source.slice(value.span);
        let text = if text.len() > 40 || text.contains('\n') { "…" } else { text };
        let message = format!("`{name}` has shape {shape}, but its value is one number");
        let mut diagnostic = Diagnostic::error("E0207", value.span, message)
            .here("a number")
            .label(declared, format!("shape {shape}"))
            .help(format!("to store it in every cell, name the cells: `{cells} = {text}`"));
        if role == Role::Out {
            diagnostic = diagnostic.help(format!("for a scalar result, declare it without extents: `{name}: {ty}`"));
        }
        self.report(diagnostic);
    }

    /// The cells of a new local, the type of which is written or follows from the value.
    fn lower_whole_let(
        &mut self,
        target: &ast::Target,
        ty: Option<&ast::Type>,
        value: &ast::Expr,
        shape: Shape,
    ) -> Option<(Cells, Expr, Shape)> {
        let annotated = match ty {
            Some(ty) => Some((self.scalar_type(&ty.scalar)?, self.lower_shape(&ty.shape)?)),
            None => None,
        };
        if let (Some((_, declared)), Some(ty)) = (&annotated, ty) {
            let declared = Part::named(ty.span, declared.clone());
            self.check_target(&target.name.name, &declared, &Part::named(value.span, shape.clone()))?;
        }
        let shape = annotated.as_ref().map_or(shape, |(_, declared)| declared.clone());
        let mut uses_iter = false;
        shape.iter().for_each(|extent| extent.visit_iters(&mut |_| uses_iter = true));
        if uses_iter {
            let shown = self.show_shape_list(&shape);
            self.error("E0306", value.span, "the extent of a local may use parameters only")
                .notes
                .push(format!("the shape is {shown}, and arrays are allocated once per call"));
            return None;
        }
        let mut cells = self.whole_cells(&shape, target.span, value);
        let value = cells.value.take()?;
        let value = match annotated {
            Some((ty, _)) => self.coerce(value, ty)?,
            None => self.settle(value)?,
        };
        Some((cells, value, shape))
    }

    fn whole_cells(&mut self, shape: &[Affine], span: Span, value: &ast::Expr) -> Cells {
        self.scope.enter();
        let mut foralls = Vec::new();
        for extent in shape {
            let iter = self.fresh_index("i", span);
            foralls.push(Bound { iter, lo: Affine::constant(0), hi: extent.clone() });
        }
        let index: Vec<Affine> = foralls.iter().map(|bound| Affine::iter(bound.iter)).collect();
        let outside = self.cell.replace(index.clone());
        let value = self.lower_expr(value);
        self.cell = outside;
        self.scope.leave();
        Cells { foralls, index, value }
    }
}

impl Cells {
    fn assign(self, name: String, target: ArrayId, target_span: Span, value: Expr, span: Span) -> Assign {
        let Cells { foralls, index, .. } = self;
        Assign { name, foralls, guard: Cond::TRUE, target, index, target_span, value, span }
    }
}

/// Whether the value of one cell depends on another cell of the target.
fn reads_elsewhere(value: &Expr, target: ArrayId, cell: &[Affine]) -> bool {
    let mut elsewhere = false;
    value.visit(&mut |expr| {
        elsewhere |= match &expr.kind {
            ExprKind::Load { array, index } => *array == target && index != cell,
            ExprKind::Gather { array, .. } => *array == target,
            _ => false,
        };
    });
    elsewhere
}
