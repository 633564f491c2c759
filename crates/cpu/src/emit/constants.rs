//! Float constants inside loops.
//!
//! In: statements.  Out: the constants to load once at entry. Cranelift makes constants anew at each use, which for a
//! float takes two instructions and a register of the other kind.

use loops::{Expr, ExprKind, Index, Stmt, Visit};
use program::Value;

/// More would not stay in registers.
const MAX_CONSTANTS: usize = 8;

pub(super) fn float_constants(body: &[Stmt]) -> Vec<Value> {
    let mut constants = Constants(Vec::new());
    for stmt in body {
        if let Stmt::For(r#for) = stmt {
            constants.block(&r#for.body);
        }
    }
    constants.0
}

struct Constants(Vec<Value>);

impl Visit for Constants {
    // Index arithmetic has no floats.
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Const(value) = &expr.kind {
            // Positive zero is one cheap instruction.
            let worthwhile = expr.ty.is_float() && *value != Value::from_i64(expr.ty, 0);
            if worthwhile && !self.0.contains(value) && self.0.len() < MAX_CONSTANTS {
                self.0.push(*value);
            }
        }
        self.descend_expr(expr);
    }
}
