//! The shape of an expression in which arrays may stand without subscripts.
//!
//! In: an expression.  Out: its extents, or the error that parts of it do not fit. Names that are not known count as
//! scalars here; lowering reports them.

use diag::Span;
use syntax::ast;

use super::super::Lowerer;
use super::super::names::Meaning;
use super::Shape;
use super::agree::Part;
use super::verb::operator_name;

impl Lowerer<'_> {
    pub(super) fn part(&mut self, expr: &ast::Expr) -> Option<Part> {
        Some(Part { span: expr.span, shape: self.shape_of(expr)?, direct: self.is_direct(expr) })
    }

    fn parts<'e>(&mut self, exprs: impl IntoIterator<Item = &'e ast::Expr>) -> Option<Vec<Part>> {
        let parts: Vec<Option<Part>> = exprs.into_iter().map(|expr| self.part(expr)).collect();
        parts.into_iter().collect()
    }

    pub(super) fn shape_of(&mut self, expr: &ast::Expr) -> Option<Shape> {
        use ast::ExprKind::*;
        match &expr.kind {
            Int(_) | Float(_) | Bool(_) => Some(Vec::new()),
            // Arrays as subscripts look up a cell for each of theirs.
            Index { base, indices } => {
                if let Some((Meaning::Array(id), _)) = self.scope.lookup(&base.name)
                    && !self.function.array(id).shape.is_empty()
                    && !self.check_rank(id, indices.len(), expr.span)
                {
                    return None;
                }
                let parts = self.parts(indices)?;
                self.agree(None, &parts)
            }
            Name(name) => Some(match self.scope.lookup(name) {
                Some((Meaning::Array(id), _)) => self.function.array(id).shape.clone(),
                Some((Meaning::Table(table), _)) => self.table_of(table).map_or(Vec::new(), |table| table.extents()),
                _ => Vec::new(),
            }),
            Call { callee, args } if self.rearranges(&callee.name) => {
                let (params, array) = self.rearranged_array(callee, args, expr.span)?;
                let part = self.part(array)?;
                self.rearranged_shape(callee, params, &part)
            }
            // The arguments of other functions are whole arrays, and their calls statements of their own.
            Call { callee, .. } if self.callee(&callee.name).is_some_and(|callee| callee.form.is_err()) => {
                Some(Vec::new())
            }
            Call { callee, args } => {
                let parts = self.parts(args)?;
                let verb = Some(callee.name.as_str()).filter(|_| args.len() == 2);
                self.agree(verb, &parts)
            }
            Unary { operand, .. } => self.shape_of(operand),
            Binary { op, lhs, rhs } => {
                let parts = self.parts([&**lhs, &**rhs])?;
                self.agree(Some(operator_name(&ast::VerbKind::Binary(*op))), &parts)
            }
            Compare { first, rest } => {
                let parts = self.parts([&**first].into_iter().chain(rest.iter().map(|(_, operand)| operand)))?;
                let op = rest.first().map_or(ast::CompareOp::Eq, |(op, _)| *op);
                let verb = ast::VerbKind::Compare(op);
                self.agree(Some(operator_name(&verb)).filter(|_| rest.len() == 1), &parts)
            }
            If { cond, then, otherwise } => {
                let parts = self.parts([&**cond, &**then, &**otherwise])?;
                self.agree(None, &parts)
            }
            Reduce { body, .. } => self.shape_of(body),
            Apply { verb, lhs, rhs } => {
                let lhs = match lhs {
                    Some(lhs) => Some(self.part(lhs)?),
                    None => None,
                };
                let rhs = self.part(rhs)?;
                self.applied_shape(verb, lhs.as_ref(), &rhs)
            }
            Paren(inner) => self.shape_of(inner),
        }
    }

    /// Whether the cells of an expression are those of arrays at the same place.
    fn is_direct(&self, expr: &ast::Expr) -> bool {
        use ast::ExprKind::*;
        match &expr.kind {
            Int(_) | Float(_) | Bool(_) | Name(_) => true,
            Index { indices, .. } => indices.iter().all(|index| self.is_direct(index)),
            Call { callee, args } => !self.rearranges(&callee.name) && args.iter().all(|arg| self.is_direct(arg)),
            Unary { operand, .. } => self.is_direct(operand),
            Binary { lhs, rhs, .. } => self.is_direct(lhs) && self.is_direct(rhs),
            Compare { first, rest } => self.is_direct(first) && rest.iter().all(|(_, operand)| self.is_direct(operand)),
            If { cond, then, otherwise } => [cond, then, otherwise].into_iter().all(|part| self.is_direct(part)),
            Reduce { body, .. } => self.is_direct(body),
            Apply { .. } => false,
            Paren(inner) => self.is_direct(inner),
        }
    }

    /// The parameters and the array of `take(3, A)`.
    pub(super) fn rearranged_array<'e>(
        &mut self,
        callee: &ast::Ident,
        args: &'e [ast::Expr],
        span: Span,
    ) -> Option<(&'e [ast::Expr], &'e ast::Expr)> {
        if args.is_empty() {
            self.error("E0105", span, format!("`{}` takes an array", callee.name));
        }
        let (array, params) = args.split_last()?;
        Some((params, array))
    }
}
