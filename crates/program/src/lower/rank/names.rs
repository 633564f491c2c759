//! The indices that lowering makes up: `i0`, `i1`, … for the cells of a target, `k0`, `k1`, … for reductions. (Those of
//! frames, `f0`, `f1`, …, are made up in `spread`.)

use std::collections::BTreeSet;

use diag::Span;
use syntax::ast;

use super::super::Lowerer;
use crate::{ArrayId, IterId};

impl Lowerer<'_> {
    /// An index with the first number that makes a name which the statement does not use.
    pub(super) fn fresh_index(&mut self, stem: &str, span: Span) -> IterId {
        let taken = |name: &String| self.mentioned.contains(name) || self.scope.lookup(name).is_some();
        let mut name = format!("{stem}0");
        let mut number = 0;
        while taken(&name) {
            number += 1;
            name = format!("{stem}{number}");
        }
        self.made_up.insert(name.clone());
        let iter = self.declare_iter(&ast::Ident { name, span });
        self.function.iters[iter.index()].made_up = true;
        iter
    }

    /// The subscripts of an array that is written without: those of the current cell, if it has so many axes.
    pub(in super::super) fn cell_of(&self, array: ArrayId) -> Vec<crate::Affine> {
        let rank = self.function.array(array).shape.len();
        self.cell.as_ref().filter(|cell| cell.len() == rank).cloned().unwrap_or_default()
    }

    /// Notes the names that a statement uses, and the indices of its reductions.
    pub(in super::super) fn mention(&mut self, stmt: &ast::Stmt) {
        self.mentioned = BTreeSet::new();
        self.reduced = Vec::new();
        match &stmt.kind {
            ast::StmtKind::Let { value: Some(value), .. } | ast::StmtKind::Assign { value, .. } => {
                self.mention_reductions(value);
            }
            _ => {}
        }
        match &stmt.kind {
            ast::StmtKind::Let { value, target, .. } => {
                self.mentioned.insert(target.name.name.clone());
                value.iter().for_each(|value| mention(value, &mut self.mentioned));
            }
            ast::StmtKind::Assign { value, .. } => mention(value, &mut self.mentioned),
            ast::StmtKind::Call { targets, args, .. } => {
                self.mentioned.extend(targets.iter().map(|target| target.name.clone()));
                args.iter().for_each(|arg| mention(arg, &mut self.mentioned));
            }
            ast::StmtKind::For { .. } | ast::StmtKind::If { .. } => {}
        }
    }

    /// Notes the indices of the reductions in an expression, which are known in their bodies only.
    pub(in super::super) fn mention_reductions(&mut self, expr: &ast::Expr) {
        self.reduced = Vec::new();
        reductions(expr, &mut self.reduced);
    }
}

fn mention(expr: &ast::Expr, names: &mut BTreeSet<String>) {
    visit(expr, &mut |part| match &part.kind {
        ast::ExprKind::Name(name) => drop(names.insert(name.clone())),
        ast::ExprKind::Index { base, .. } => drop(names.insert(base.name.clone())),
        ast::ExprKind::Reduce { indices, .. } => names.extend(indices.iter().map(|index| index.name.name.clone())),
        _ => {}
    });
}

fn reductions(expr: &ast::Expr, found: &mut Vec<(String, ast::ReduceOp, Span)>) {
    visit(expr, &mut |part| {
        if let ast::ExprKind::Reduce { op, indices, body, .. } = &part.kind {
            found.extend(indices.iter().map(|index| (index.name.name.clone(), *op, body.span)));
        }
    });
}

/// Calls `found` for the expression and everything in it.
pub(in super::super) fn visit(expr: &ast::Expr, found: &mut dyn FnMut(&ast::Expr)) {
    use ast::ExprKind::*;
    found(expr);
    match &expr.kind {
        Int(_) | Float(_) | Bool(_) | Name(_) => {}
        Index { indices: parts, .. } | Call { args: parts, .. } => parts.iter().for_each(|part| visit(part, found)),
        Unary { operand: inner, .. } | Paren(inner) => visit(inner, found),
        Binary { lhs, rhs, .. } => [lhs, rhs].into_iter().for_each(|operand| visit(operand, found)),
        Compare { first, rest } => {
            visit(first, found);
            rest.iter().for_each(|(_, operand)| visit(operand, found));
        }
        If { cond, then, otherwise } => [cond, then, otherwise].into_iter().for_each(|part| visit(part, found)),
        Reduce { indices, guard, body, .. } => {
            let ranges = indices.iter().filter_map(|index| index.range.as_ref());
            ranges.for_each(|range| [&range.lo, &range.hi].into_iter().for_each(|limit| visit(limit, found)));
            guard.iter().for_each(|guard| visit(guard, found));
            visit(body, found);
        }
        Apply { lhs, rhs, .. } => lhs.iter().chain([rhs]).for_each(|operand| visit(operand, found)),
    }
}
