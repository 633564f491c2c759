//! Types of expressions: literals adapt to their context, widening is silent, everything else is written as a cast.

use diag::{Diagnostic, Span};

use super::Lowerer;
use super::expr::{Typed, Weak};
use crate::{Affine, BinaryOp, Expr, ExprKind, ScalarType, UnaryOp, Value};

/// What a narrow integer becomes in arithmetic.
pub(super) fn widened(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::I8 | ScalarType::I16 | ScalarType::U8 => ScalarType::I32,
        other => other,
    }
}

/// Whether every value of `from` is a value of `to`, within one family (integers or floats).
fn widens_to(from: ScalarType, to: ScalarType) -> bool {
    use ScalarType::*;
    from == to
        || matches!(
            (from, to),
            (F32, F64) | (I8, I16 | I32 | I64) | (U8, I16 | I32 | I64) | (I16, I32 | I64) | (I32, I64)
        )
}

/// An operation on affine expressions, where the result is affine again.
pub(super) fn affine_operation(op: BinaryOp, a: &Affine, b: &Affine) -> Option<Affine> {
    match op {
        BinaryOp::Add => a.add(b),
        BinaryOp::Sub => a.sub(b),
        BinaryOp::Mul => match (a.as_constant(), b.as_constant()) {
            (_, Some(factor)) => a.scale(factor),
            (Some(factor), _) => b.scale(factor),
            _ => None,
        },
        BinaryOp::Div => b.as_constant().and_then(|divisor| a.div(divisor)),
        BinaryOp::Rem => b.as_constant().filter(|divisor| *divisor != 0).and_then(|divisor| a.rem(divisor)),
        _ => None,
    }
}

fn cast(expr: Expr, ty: ScalarType) -> Expr {
    if expr.ty == ty { expr } else { Expr { span: expr.span, kind: ExprKind::Cast(Box::new(expr)), ty } }
}

impl Lowerer<'_> {
    /// The expression in exactly type `ty`, by adapting literals or widening; otherwise an error that shows the cast.
    pub(super) fn coerce(&mut self, value: Typed, ty: ScalarType) -> Option<Expr> {
        let fits = match value.weak {
            Weak::No => widens_to(value.expr.ty, ty),
            Weak::Int => ty != ScalarType::Bool,
            Weak::Float => ty.is_float(),
        };
        if !fits {
            if self.blame_literal_value(&value.expr, ty) {
                return None;
            }
            let (span, found) = (value.expr.span, value.expr.ty);
            let found =
                if value.weak == Weak::Float { "a number with a fraction".to_string() } else { found.to_string() };
            let mut diagnostic = Diagnostic::error("E0201", span, format!("expected {ty}, found {found}"))
                .here(format!("this is {found}"));
            diagnostic = if ty == ScalarType::Bool {
                diagnostic.help("compare it with something, or write `bool(…)`, which means `… != 0`")
            } else {
                diagnostic.help(format!("convert it: `{ty}(…)`"))
            };
            self.report(diagnostic);
            return None;
        }
        match (value.weak, value.affine.as_ref().and_then(Affine::as_constant)) {
            (Weak::No, _) => Some(cast(value.expr, ty)),
            // Arithmetic of literals is one number, which must fit as a whole.
            (Weak::Int, Some(number)) if ty.is_int() => {
                let span = value.expr.span;
                let number = self.adapt_literal(Value::I64(number), ty, span)?;
                Some(Expr { kind: ExprKind::Const(number), ty, span })
            }
            _ => self.adapt(value.expr, ty),
        }
    }

    /// The expression with a definite type: literals on their own are `i64` or `f64`.
    pub(super) fn settle(&mut self, value: Typed) -> Option<Expr> {
        match value.weak {
            Weak::No => Some(value.expr),
            Weak::Int => self.adapt(value.expr, ScalarType::I64),
            Weak::Float => self.adapt(value.expr, ScalarType::F64),
        }
    }

    /// Gives a tree of literals the type `ty`.
    fn adapt(&mut self, mut expr: Expr, ty: ScalarType) -> Option<Expr> {
        expr.kind = match expr.kind {
            ExprKind::Const(value) => ExprKind::Const(self.adapt_literal(value, ty, expr.span)?),
            ExprKind::Unary(op, operand) => ExprKind::Unary(op, Box::new(self.adapt(*operand, ty)?)),
            ExprKind::Binary(op, lhs, rhs) => {
                ExprKind::Binary(op, Box::new(self.adapt(*lhs, ty)?), Box::new(self.adapt(*rhs, ty)?))
            }
            ExprKind::Select { cond, affine, then, otherwise } => ExprKind::Select {
                cond,
                affine,
                then: Box::new(self.adapt(*then, ty)?),
                otherwise: Box::new(self.adapt(*otherwise, ty)?),
            },
            ExprKind::Reduce { op, bounds, guard, body } => {
                ExprKind::Reduce { op, bounds, guard, body: Box::new(self.adapt(*body, ty)?) }
            }
            other => other,
        };
        expr.ty = ty;
        Some(expr)
    }

    pub(super) fn adapt_literal(&mut self, value: Value, ty: ScalarType, span: Span) -> Option<Value> {
        let adapted = match (value, ty) {
            (Value::F64(v), ScalarType::F64) => Value::F64(v),
            (Value::F64(v), ScalarType::F32) => Value::F32(v as f32),
            (Value::I64(v), _) => {
                let adapted = Value::from_i64(ty, v);
                let kept = match adapted {
                    Value::I8(narrow) => i64::from(narrow) == v,
                    Value::I16(narrow) => i64::from(narrow) == v,
                    Value::I32(narrow) => i64::from(narrow) == v,
                    Value::U8(narrow) => i64::from(narrow) == v,
                    _ => true,
                };
                if !kept {
                    self.error("E0203", span, format!("{v} does not fit {ty}"));
                    return None;
                }
                adapted
            }
            (other, _) => other,
        };
        Some(adapted)
    }

    /// Brings two operands to one type. `arithmetic` widens narrow integers.
    pub(super) fn join(&mut self, lhs: Typed, rhs: Typed, arithmetic: bool, span: Span) -> Option<(Expr, Expr, Weak)> {
        let (ty, weak) = match (lhs.weak, rhs.weak) {
            (Weak::No, Weak::No) => {
                let (a, b) = (lhs.expr.ty, rhs.expr.ty);
                let joined = if widens_to(a, b) {
                    Some(b)
                } else if widens_to(b, a) {
                    Some(a)
                } else if a.is_int() && b.is_int() {
                    Some(ScalarType::I32)
                } else {
                    None
                };
                let Some(joined) = joined else {
                    self.mismatch(&lhs.expr, &rhs.expr, span);
                    return None;
                };
                (joined, Weak::No)
            }
            (Weak::No, weak) => (self.literal_meets(lhs.expr.ty, weak, &lhs.expr, &rhs.expr, span)?, Weak::No),
            (weak, Weak::No) => (self.literal_meets(rhs.expr.ty, weak, &rhs.expr, &lhs.expr, span)?, Weak::No),
            (Weak::Int, Weak::Int) => (ScalarType::I64, Weak::Int),
            _ => (ScalarType::F64, Weak::Float),
        };
        let ty = if arithmetic { widened(ty) } else { ty };
        Some((self.coerce(lhs, ty)?, self.coerce(rhs, ty)?, weak))
    }

    /// The common type of a typed operand and a literal.
    fn literal_meets(
        &mut self,
        ty: ScalarType,
        literal: Weak,
        typed: &Expr,
        weak: &Expr,
        span: Span,
    ) -> Option<ScalarType> {
        if ty == ScalarType::Bool || literal == Weak::Float && !ty.is_float() {
            self.mismatch(typed, weak, span);
            return None;
        }
        Some(ty)
    }

    fn mismatch(&mut self, a: &Expr, b: &Expr, span: Span) {
        if self.blame_literal_operand(a, b) || self.blame_literal_operand(b, a) {
            return;
        }
        let bool_meets =
            [(a, b), (b, a)].into_iter().find(|(one, _)| one.ty == ScalarType::Bool).map(|(_, other)| other);
        let wanted = if a.ty.is_float() { a.ty } else { b.ty };
        let mut diagnostic = Diagnostic::error("E0201", span, format!("{} and {} do not mix", a.ty, b.ty))
            .label(a.span, format!("this is {}", a.ty))
            .label(b.span, format!("this is {}", b.ty));
        if let Some(number) = bool_meets {
            diagnostic = diagnostic
                .help(format!("for 0 or 1, convert the bool: `{}(…)`", number.ty))
                .help("for a condition, compare the number: `… != 0`");
        } else if wanted.is_float() {
            diagnostic = diagnostic.help(format!("integers are converted explicitly: `{wanted}(…)`"));
        }
        self.report(diagnostic);
    }

    /// A binary operator, with affine parts kept where the result is affine.
    pub(super) fn binary(&mut self, op: BinaryOp, lhs: Typed, rhs: Typed, span: Span) -> Option<Typed> {
        let affine = match (&lhs.affine, &rhs.affine) {
            (Some(a), Some(b)) => affine_operation(op, a, b),
            _ => None,
        };
        let arithmetic = !matches!(op, BinaryOp::Min | BinaryOp::Max);
        let (lhs, rhs, weak) = self.join(lhs, rhs, arithmetic, span)?;
        let ty = lhs.ty;
        let applies = match op {
            BinaryOp::Rem => ty.is_int(),
            BinaryOp::Pow => ty.is_float() || weak != Weak::No,
            BinaryOp::And | BinaryOp::Or => ty == ScalarType::Bool,
            _ => ty != ScalarType::Bool,
        };
        if !applies {
            self.error("E0202", span, format!("`{}` does not apply to {ty}", op.name()));
            return None;
        }
        let weak = if op == BinaryOp::Pow && weak == Weak::Int { Weak::Float } else { weak };
        let expr = Expr { kind: ExprKind::Binary(op, Box::new(lhs), Box::new(rhs)), ty, span };
        Some(Typed { expr, weak, affine, cond: None }.into_index())
    }

    /// A unary operator or a function of one argument.
    pub(super) fn unary(&mut self, op: UnaryOp, operand: Typed, span: Span) -> Option<Typed> {
        let Typed { expr, weak, affine, .. } = operand;
        let ty = expr.ty;
        let applies = match op {
            UnaryOp::Not => ty == ScalarType::Bool,
            UnaryOp::Neg | UnaryOp::Abs => ty != ScalarType::Bool,
            _ => ty.is_float() || weak == Weak::Int,
        };
        if !applies {
            let mut diagnostic = Diagnostic::error("E0202", span, format!("`{}` does not apply to {ty}", op.name()));
            if ty.is_int() && op != UnaryOp::Not {
                diagnostic = diagnostic.help("convert the argument: `f64(…)`");
            }
            self.report(diagnostic);
            return None;
        }
        let (operand, weak) = match (op, weak) {
            (UnaryOp::Not, _) => (expr, weak),
            (UnaryOp::Neg | UnaryOp::Abs, _) => (cast(expr, widened(ty)), weak),
            (_, Weak::Int) => (self.adapt(expr, ScalarType::F64)?, Weak::Float),
            _ => (expr, weak),
        };
        let ty = operand.ty;
        // A negative literal is one literal, so that -128 fits i8.
        if let (UnaryOp::Neg, ExprKind::Const(Value::I64(value)), Weak::Int) = (op, &operand.kind, weak) {
            let value = value.checked_neg()?;
            let affine = Some(Affine::constant(value));
            let expr = Expr { kind: ExprKind::Const(Value::I64(value)), ty, span };
            return Some(Typed { expr, weak, affine, cond: None });
        }
        let affine = affine.filter(|_| op == UnaryOp::Neg).and_then(|affine| affine.scale(-1));
        let expr = Expr { kind: ExprKind::Unary(op, Box::new(operand)), ty, span };
        Some(Typed { expr, weak, affine, cond: None }.into_index())
    }
}
