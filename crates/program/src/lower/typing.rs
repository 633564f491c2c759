//! Types of expressions: literals adapt to their context, widening is silent, everything else is written as a cast.

use diag::{Diagnostic, Span};

use super::Lowerer;
use super::expr::{Typed, Weak};
use crate::{Affine, BinaryOp, Derived, DerivedOp, Expr, ExprKind, Param, ParamId, ScalarType, UnaryOp, Value};

/// What a narrow integer, or a float that is only stored, becomes in arithmetic.
pub(super) fn widened(ty: ScalarType) -> ScalarType {
    match ty {
        ty if ty.is_int() && ty.bytes() < 4 => ScalarType::I32,
        ty if ty.half().is_some() => ScalarType::F32,
        ty => ty,
    }
}

/// The smallest type that has all values of both, within one family.
fn joined(a: ScalarType, b: ScalarType) -> Option<ScalarType> {
    let either = [b, a].into_iter().find(|ty| a.widens_to(*ty) && b.widens_to(*ty));
    either.or_else(|| {
        let candidates = [ScalarType::I16, ScalarType::I32, ScalarType::I64, ScalarType::F32];
        candidates.into_iter().find(|ty| a.widens_to(*ty) && b.widens_to(*ty))
    })
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
        BinaryOp::Shl => a.scale(power(b.as_constant()?)?),
        BinaryOp::Shr => a.div(power(b.as_constant()?)?),
        // The last bits.
        BinaryOp::BitAnd => {
            let size = b.as_constant().and_then(|mask| mask.checked_add(1)).filter(|size| *size > 1);
            size.filter(|size| size.count_ones() == 1).and_then(|size| a.rem(size))
        }
        _ => None,
    }
}

/// Two to the power of an amount to shift by.
fn power(amount: i64) -> Option<i64> {
    (0..=62).contains(&amount).then(|| 1 << amount)
}

/// The conversion; what is only stored is converted to and from `f32` alone.
pub(super) fn cast(expr: Expr, ty: ScalarType) -> Expr {
    if expr.ty == ty {
        return expr;
    }
    let detour = expr.ty.half().or(ty.half()).is_some() && expr.ty != ScalarType::F32 && ty != ScalarType::F32;
    let expr = if detour { cast(expr, ScalarType::F32) } else { expr };
    let value = match expr.kind {
        ExprKind::Const(Value::F16(value)) => Some(value.to_f32()),
        ExprKind::Const(Value::BF16(value)) => Some(value.to_f32()),
        _ => None,
    };
    let kind = value.map_or_else(|| ExprKind::Cast(Box::new(expr.clone())), |value| ExprKind::Const(Value::F32(value)));
    Expr { span: expr.span, kind, ty }
}

/// An operand: what is only stored is computed with as `f32`.
pub(super) fn computed(mut value: Typed) -> Typed {
    if value.expr.ty.half().is_some() {
        value.expr = cast(value.expr, ScalarType::F32);
    }
    value
}

impl Lowerer<'_> {
    /// The expression in exactly type `ty`, by adapting literals or widening; otherwise an error that shows the cast.
    pub(super) fn coerce(&mut self, value: Typed, ty: ScalarType) -> Option<Expr> {
        let fits = match value.weak {
            Weak::No => value.expr.ty.widens_to(ty),
            Weak::Int => ty != ScalarType::Bool,
            Weak::Float => ty.is_float(),
        };
        if !fits {
            if self.blame_literal_value(&value.expr, ty) {
                return None;
            }
            let (span, found) = (value.expr.span, value.expr.ty);
            if let (ExprKind::Const(Value::U64(number)), true) = (&value.expr.kind, ty.is_int()) {
                self.error("E0203", span, format!("{number} does not fit {ty}"));
                return None;
            }
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
        if ty.half().is_some() && !matches!(expr.kind, ExprKind::Const(_)) {
            return Some(cast(self.adapt(expr, ScalarType::F32)?, ty));
        }
        // Bits are those of an integer, whatever is done with it.
        let of_bits = match &expr.kind {
            ExprKind::Unary(op, _) => *op == UnaryOp::BitNot,
            ExprKind::Binary(op, ..) => op.is_bitwise(),
            _ => false,
        };
        if of_bits && ty.is_float() {
            return Some(cast(self.adapt(expr, ScalarType::I64)?, ty));
        }
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
            ExprKind::Fold { op, range, body } => ExprKind::Fold { op, range, body: Box::new(self.adapt(*body, ty)?) },
            other => other,
        };
        expr.ty = ty;
        Some(expr)
    }

    pub(super) fn adapt_literal(&mut self, value: Value, ty: ScalarType, span: Span) -> Option<Value> {
        let adapted = match (value, ty) {
            (Value::F64(v), ScalarType::F64) => Value::F64(v),
            (Value::F64(v), ScalarType::F32) => Value::F32(v as f32),
            (Value::F64(v), ScalarType::F16) => Value::F16(half::f16::from_f64(v)),
            (Value::F64(v), ScalarType::BF16) => Value::BF16(half::bf16::from_f64(v)),
            (Value::I64(v), _) => {
                let adapted = Value::from_i64(ty, v);
                if ty.is_int() && adapted.as_i64() != Some(v) {
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
                let Some(joined) = joined(lhs.expr.ty, rhs.expr.ty) else {
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
        } else if a.ty.is_int() && b.ty.is_int() {
            diagnostic = diagnostic
                .note("no integer type has the values of both")
                .help(format!("convert one of them: `{}(…)` or `{}(…)`", a.ty, b.ty));
        } else if wanted.is_float() {
            let whole = if a.ty.is_float() { b } else { a };
            let shown = match &whole.kind {
                ExprKind::Index(affine) => self.function.show(affine),
                _ => "…".into(),
            };
            diagnostic = diagnostic.help(format!("integers are converted explicitly: `{wanted}({shown})`"));
        }
        self.report(diagnostic);
    }

    /// A binary operator, with affine parts kept where the result is affine.
    pub(super) fn binary(&mut self, op: BinaryOp, lhs: Typed, rhs: Typed, span: Span) -> Option<Typed> {
        let (lhs, rhs) = (computed(lhs), computed(rhs));
        let affine = match (&lhs.affine, &rhs.affine) {
            (Some(a), Some(b)) => affine_operation(op, a, b).or_else(|| self.derived_size(op, a, b, span)),
            _ => None,
        };
        let (lhs, rhs, weak) = match op {
            BinaryOp::Shl | BinaryOp::Shr => self.shifted(op, lhs, rhs, span)?,
            _ => self.join(lhs, rhs, !matches!(op, BinaryOp::Min | BinaryOp::Max) && !op.is_bitwise(), span)?,
        };
        let ty = lhs.ty;
        let applies = match op {
            op if op.is_bitwise() => ty.is_int(),
            BinaryOp::Function(_) => ty.is_float() || weak != Weak::No,
            BinaryOp::And | BinaryOp::Or => ty == ScalarType::Bool,
            _ => ty != ScalarType::Bool,
        };
        if !applies {
            self.report(inapplicable(op, ty, span));
            return None;
        }
        let weak = if matches!(op, BinaryOp::Function(_)) && weak == Weak::Int { Weak::Float } else { weak };
        let expr = Expr { kind: ExprKind::Binary(op, Box::new(lhs), Box::new(rhs)), ty, span };
        Some(Typed { expr, weak, affine, cond: None }.into_index())
    }

    /// The parameter that a product, quotient, minimum or maximum of sizes is, where a size is wanted.
    fn derived_size(&mut self, op: BinaryOp, a: &Affine, b: &Affine, span: Span) -> Option<Affine> {
        let op = match op {
            BinaryOp::Mul => DerivedOp::Product,
            BinaryOp::Div => DerivedOp::Quotient,
            BinaryOp::Min if self.in_extent => DerivedOp::Min,
            BinaryOp::Max if self.in_extent => DerivedOp::Max,
            _ => return None,
        };
        let mut fixed = true;
        [a, b].into_iter().for_each(|side| side.visit_iters(&mut |_| fixed = false));
        (self.in_size && fixed).then(|| self.derived_param(op, a.clone(), b.clone(), span))
    }

    /// The parameter with this value; the same one for the same value.
    pub(super) fn derived_param(&mut self, op: DerivedOp, a: Affine, b: Affine, span: Span) -> Affine {
        let swapped = op != DerivedOp::Quotient && b < a;
        let (lhs, rhs) = if swapped { (b, a) } else { (a, b) };
        let derived = Some(Derived { op, lhs, rhs });
        if let Some(known) = self.function.params.iter().position(|param| param.derived == derived) {
            return Affine::param(ParamId(known as u32));
        }
        let id = ParamId(self.function.params.len() as u32);
        self.function.params.push(Param { name: String::new(), span, derived });
        let shown = self.function.show_param(id);
        let words = shown.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let mut name = words.collect::<Vec<_>>().join("_");
        while self.function.params.iter().any(|param| param.name == name) || self.scope.lookup(&name).is_some() {
            name.push('_');
        }
        self.function.params[id.index()].name = name;
        Affine::param(id)
    }

    /// A value and the amount to shift it by, which takes its type: bits know no other.
    fn shifted(&mut self, op: BinaryOp, lhs: Typed, rhs: Typed, span: Span) -> Option<(Expr, Expr, Weak)> {
        let is_int = |typed: &Typed| typed.expr.ty.is_int() && typed.weak != Weak::Float;
        if let Some(other) = [&lhs, &rhs].into_iter().find(|typed| !is_int(typed)) {
            self.report(inapplicable(op, other.expr.ty, span));
            return None;
        }
        let ty = lhs.expr.ty;
        let amount = rhs.affine.as_ref().and_then(Affine::as_constant).filter(|_| rhs.weak == Weak::Int);
        let width = 8 * ty.bytes() as i64;
        if amount.is_some_and(|amount| !(0..width).contains(&amount)) {
            let message = format!("{ty} has {width} bits, and this would shift all of them out");
            self.error("E0203", rhs.expr.span, message);
            return None;
        }
        let weak = if rhs.weak == Weak::Int { lhs.weak } else { Weak::No };
        let lhs = if weak == Weak::No { self.settle(lhs)? } else { lhs.expr };
        // An amount of another type that does not fit this one is as large as it can be there, or negative: saturated,
        // it still shifts all bits out.
        let amount = match rhs.weak {
            Weak::Int => self.adapt(rhs.expr, ty)?,
            _ if rhs.expr.ty.bytes() <= ty.bytes() => cast(rhs.expr, ty),
            _ => {
                let wide = rhs.expr.ty;
                let all = Expr { span, kind: ExprKind::Const(Value::from_i64(wide, width)), ty: wide };
                let within = ExprKind::Binary(BinaryOp::Min, Box::new(rhs.expr), Box::new(all));
                let least = Expr { span, kind: ExprKind::Const(Value::from_i64(wide, 0)), ty: wide };
                let within = Expr { span, kind: within, ty: wide };
                if wide.is_unsigned() {
                    cast(within, ty)
                } else {
                    let negative = ExprKind::Binary(BinaryOp::Lt, Box::new(within.clone()), Box::new(least));
                    let cond = Box::new(Expr { span, kind: negative, ty: ScalarType::Bool });
                    let out = Expr { span, kind: ExprKind::Const(Value::from_i64(ty, width)), ty };
                    let (then, otherwise) = (Box::new(out), Box::new(cast(within, ty)));
                    Expr { span, kind: ExprKind::Select { cond, affine: None, then, otherwise }, ty }
                }
            }
        };
        Some((lhs, amount, weak))
    }

    /// A unary operator or a function of one argument.
    pub(super) fn unary(&mut self, op: UnaryOp, operand: Typed, span: Span) -> Option<Typed> {
        let Typed { expr, weak, affine, .. } = computed(operand);
        let ty = expr.ty;
        let applies = match op {
            UnaryOp::Not => ty == ScalarType::Bool,
            UnaryOp::BitNot => ty.is_int(),
            UnaryOp::Neg | UnaryOp::ABS => ty != ScalarType::Bool,
            _ => ty.is_float() || weak == Weak::Int,
        };
        if !applies {
            let name = if op == UnaryOp::BitNot { "~" } else { op.name() };
            let mut diagnostic = Diagnostic::error("E0202", span, format!("`{name}` does not apply to {ty}"));
            if op == UnaryOp::BitNot && ty == ScalarType::Bool {
                diagnostic = diagnostic.help("write `not`");
            } else if ty.is_int() && op != UnaryOp::Not {
                diagnostic = diagnostic.help("convert the argument: `f64(…)`");
            }
            self.report(diagnostic);
            return None;
        }
        let (operand, weak) = match (op, weak) {
            (UnaryOp::Not | UnaryOp::BitNot, _) => (expr, weak),
            (UnaryOp::Neg | UnaryOp::ABS, _) => (cast(expr, widened(ty)), weak),
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

/// An operator on a type that it does not apply to.
fn inapplicable(op: BinaryOp, ty: ScalarType, span: Span) -> Diagnostic {
    let symbol = op.symbol();
    let diagnostic = Diagnostic::error("E0202", span, format!("`{symbol}` does not apply to {ty}"));
    let logical = match op {
        BinaryOp::BitAnd => "and",
        BinaryOp::BitOr => "or",
        BinaryOp::BitXor => "!=",
        _ => return diagnostic,
    };
    match op {
        _ if ty == ScalarType::Bool => diagnostic.help(format!("of conditions, write `{logical}`")),
        BinaryOp::BitXor if ty.is_float() => {
            diagnostic.note("`^` works on the bits of integers").help("for a power, write `pow(x, y)`, or `x * x`")
        }
        _ => diagnostic.note(format!("`{symbol}` works on the bits of integers")),
    }
}
