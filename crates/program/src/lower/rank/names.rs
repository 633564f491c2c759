//! The indices that lowering makes up: `i0`, `i1`, … for the cells of a target, `k0`, `k1`, … for reductions.

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
        self.declare_iter(&ast::Ident { name, span })
    }

    /// The subscripts of an array that is written without: those of the current cell, if it has so many axes.
    pub(in super::super) fn cell_of(&self, array: ArrayId) -> Vec<crate::Affine> {
        let rank = self.function.array(array).shape.len();
        self.cell.as_ref().filter(|cell| cell.len() == rank).cloned().unwrap_or_default()
    }

    /// Notes the names that a statement uses.
    pub(in super::super) fn mention(&mut self, stmt: &ast::Stmt) {
        self.mentioned = BTreeSet::new();
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
            ast::StmtKind::For { .. } => {}
        }
    }
}

fn mention(expr: &ast::Expr, names: &mut BTreeSet<String>) {
    use ast::ExprKind::*;
    match &expr.kind {
        Int(_) | Float(_) | Bool(_) => {}
        Name(name) => {
            names.insert(name.clone());
        }
        Index { base, indices } => {
            names.insert(base.name.clone());
            indices.iter().for_each(|index| mention(index, names));
        }
        Call { args, .. } => args.iter().for_each(|arg| mention(arg, names)),
        Unary { operand, .. } => mention(operand, names),
        Binary { lhs, rhs, .. } => [lhs, rhs].into_iter().for_each(|operand| mention(operand, names)),
        Compare { first, rest } => {
            mention(first, names);
            rest.iter().for_each(|(_, operand)| mention(operand, names));
        }
        If { cond, then, otherwise } => [cond, then, otherwise].into_iter().for_each(|part| mention(part, names)),
        Reduce { indices, guard, body, .. } => {
            names.extend(indices.iter().map(|index| index.name.name.clone()));
            let ranges = indices.iter().filter_map(|index| index.range.as_ref());
            ranges.for_each(|range| [&range.lo, &range.hi].into_iter().for_each(|limit| mention(limit, names)));
            guard.iter().for_each(|guard| mention(guard, names));
            mention(body, names);
        }
        Apply { lhs, rhs, .. } => lhs.iter().chain([rhs]).for_each(|operand| mention(operand, names)),
        Paren(inner) => mention(inner, names),
    }
}
