//! Float constants inside loops.
//!
//! In: statements.  Out: the constants to load once at entry. Cranelift makes constants anew at each use, which for a
//! float takes two instructions and a register of the other kind.

use loops::{Expr, ExprKind, Stmt};
use program::Value;

/// More would not stay in registers.
const MAX_CONSTANTS: usize = 8;

pub(super) fn float_constants(body: &[Stmt]) -> Vec<Value> {
    let mut found = Vec::new();
    for stmt in body {
        if let Stmt::For(r#for) = stmt {
            stmts(&r#for.body, &mut found);
        }
    }
    found
}

fn stmts(body: &[Stmt], found: &mut Vec<Value>) {
    for stmt in body {
        match stmt {
            Stmt::For(r#for) => stmts(&r#for.body, found),
            Stmt::If { then, otherwise, .. } => {
                stmts(then, found);
                stmts(otherwise, found);
            }
            Stmt::Store { value, .. } | Stmt::Update { value, .. } | Stmt::Set { value, .. } => expr(value, found),
            Stmt::Alloc { body, .. } => stmts(body, found),
            Stmt::Barrier => {}
            Stmt::Scatter { index, value, .. } => index.iter().chain([value]).for_each(|part| expr(part, found)),
        }
    }
}

fn expr(e: &Expr, found: &mut Vec<Value>) {
    match &e.kind {
        ExprKind::Const(value) => {
            // Positive zero is one cheap instruction.
            let worthwhile = e.ty.is_float() && *value != Value::from_i64(e.ty, 0);
            if worthwhile && !found.contains(value) && found.len() < MAX_CONSTANTS {
                found.push(*value);
            }
        }
        ExprKind::Gather { index, .. } => index.iter().for_each(|index| expr(index, found)),
        ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::At(_, a) => expr(a, found),
        ExprKind::Binary(_, a, b) => {
            expr(a, found);
            expr(b, found);
        }
        ExprKind::Select(cond, a, b) => {
            for part in [cond, a, b] {
                expr(part, found);
            }
        }
        ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) | ExprKind::Load { .. } => {}
    }
}
