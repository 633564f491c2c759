//! Scalar expressions, with the operator semantics of `program::scalar`.
//!
//! Floats and 64-bit integers are in registers of their type, narrower integers extended in 32 bits, `bool` in predicates.

use loops::{ArrayId, Expr, ExprKind, Index};
use program::{BinaryOp as Operator, ScalarType, UnaryOp as Function, Value};

use super::body::{Cell, Emitter};
use super::{Emit, unsupported};
use crate::ir::{Address, Base, BinaryOp, Cache, Compare, Float, Op, Operand, Reg, Rounding, Type, UnaryOp};
use crate::mathematics;

/// The type of a register that holds a value.
pub(super) fn held(ty: ScalarType) -> Type {
    match ty {
        ScalarType::F32 => Type::F32,
        ScalarType::F64 => Type::F64,
        ScalarType::I64 => Type::S64,
        ScalarType::U64 => Type::U64,
        ScalarType::Bool => Type::Pred,
        ScalarType::I8 | ScalarType::I16 | ScalarType::I32 => Type::S32,
        // What is only stored is its bits.
        ScalarType::F16 | ScalarType::BF16 | ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => Type::U32,
    }
}

/// The type of an element in memory.
pub(super) fn stored(ty: ScalarType) -> Type {
    match ty {
        ScalarType::F32 => Type::F32,
        ScalarType::F64 => Type::F64,
        ScalarType::I8 => Type::S8,
        ScalarType::I16 => Type::S16,
        ScalarType::I32 => Type::S32,
        ScalarType::I64 => Type::S64,
        ScalarType::U8 | ScalarType::Bool => Type::U8,
        ScalarType::U16 | ScalarType::F16 | ScalarType::BF16 => Type::U16,
        ScalarType::U32 => Type::U32,
        ScalarType::U64 => Type::U64,
    }
}

impl Emitter<'_> {
    /// A value that is no `bool`.
    pub(super) fn expr(&mut self, expr: &Expr) -> Emit<Operand> {
        let ty = held(expr.ty);
        Ok(match &expr.kind {
            _ if expr.ty == ScalarType::Bool => self.predicate(expr)?.into(),
            ExprKind::Const(value) => constant(*value),
            ExprKind::Index(index) => self.index(index)?,
            ExprKind::Cond(_) => return unsupported("a condition that is no `bool`"),
            ExprKind::Scalar(scalar) => match self.scalars.get(scalar.index()) {
                Some(reg) => (*reg).into(),
                None => return unsupported("a scalar that is not declared"),
            },
            ExprKind::Local(local) => self.local(*local)?.into(),
            ExprKind::Load { array, index } => self.load(*array, index, expr.ty)?.into(),
            ExprKind::Gather { array, index } => self.gather(*array, index, expr.ty)?.into(),
            ExprKind::At(span, inner) => {
                let outer = self.at.replace(*span);
                let value = self.expr(inner)?;
                self.at = outer;
                value
            }
            ExprKind::Unary(op, a) => {
                let a = self.expr(a)?;
                self.function(*op, expr.ty, a)?.into()
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.expr(a)?, self.expr(b)?);
                self.operator(*op, expr.ty, x, y)?.into()
            }
            ExprKind::Cast(a) => self.cast(a, expr.ty)?.into(),
            ExprKind::Select(cond, a, b) => {
                let cond = self.predicate(cond)?;
                if is_harmless(a) && is_harmless(b) {
                    let (a, b) = (self.expr(a)?, self.expr(b)?);
                    return Ok(self.b.select(ty, cond, a, b).into());
                }
                let result = self.b.reg(ty);
                self.either(cond, |this| this.set_to(result, a), |this| this.set_to(result, b))?;
                result.into()
            }
        })
    }

    /// A value in a register.
    pub(super) fn expr_reg(&mut self, expr: &Expr) -> Emit<Reg> {
        Ok(match self.expr(expr)? {
            Operand::Reg(reg) => reg,
            other => self.b.mov(held(expr.ty), other),
        })
    }

    pub(super) fn set_to(&mut self, dst: Reg, value: &Expr) -> Emit<()> {
        let operand = self.expr(value)?;
        self.b.set(held(value.ty), dst, operand);
        Ok(())
    }

    /// A value of type `bool`.
    pub(super) fn predicate(&mut self, expr: &Expr) -> Emit<Reg> {
        Ok(match &expr.kind {
            ExprKind::Const(value) => self.b.mov(Type::Pred, i64::from(matches!(value, Value::Bool(true)))),
            ExprKind::Cond(cond) => self.cond(cond)?,
            ExprKind::Scalar(scalar) => match self.scalars.get(scalar.index()) {
                Some(reg) => *reg,
                None => return unsupported("a scalar that is not declared"),
            },
            ExprKind::Local(local) => self.local(*local)?,
            ExprKind::Load { array, index } => self.load(*array, index, ScalarType::Bool)?,
            ExprKind::Gather { array, index } => self.gather(*array, index, ScalarType::Bool)?,
            ExprKind::At(span, inner) => {
                let outer = self.at.replace(*span);
                let value = self.predicate(inner)?;
                self.at = outer;
                value
            }
            ExprKind::Unary(Function::Not, a) => {
                let a = self.predicate(a)?;
                self.b.unary(UnaryOp::Not, Type::Pred, a)
            }
            ExprKind::Binary(op, a, b) if a.ty == ScalarType::Bool => {
                let (x, y) = (self.predicate(a)?, self.predicate(b)?);
                self.of_predicates(*op, x, y)?
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.expr(a)?, self.expr(b)?);
                let compare = comparison(*op, a.ty.is_float())
                    .map_or_else(|| unsupported(format!("`{}` on {}", op.name(), a.ty)), Ok)?;
                self.b.compare(compare, held(a.ty), x, y)
            }
            ExprKind::Cast(a) => self.cast(a, ScalarType::Bool)?,
            ExprKind::Select(cond, a, b) => {
                let cond = self.predicate(cond)?;
                let result = self.b.reg(Type::Pred);
                self.either(cond, |this| this.set_to(result, a), |this| this.set_to(result, b))?;
                result
            }
            ExprKind::Index(_) | ExprKind::Unary(..) => return unsupported("an operator that gives no `bool`"),
        })
    }

    /// `bool` is ordered like 0 and 1.
    fn of_predicates(&mut self, op: Operator, x: Reg, y: Reg) -> Emit<Reg> {
        let not = |this: &mut Self, a: Reg| this.b.unary(UnaryOp::Not, Type::Pred, a);
        Ok(match op {
            Operator::And | Operator::Min => self.b.binary(BinaryOp::And, Type::Pred, x, y),
            Operator::Or | Operator::Max => self.b.binary(BinaryOp::Or, Type::Pred, x, y),
            Operator::Ne => self.b.binary(BinaryOp::Xor, Type::Pred, x, y),
            Operator::Eq => {
                let differ = self.b.binary(BinaryOp::Xor, Type::Pred, x, y);
                not(self, differ)
            }
            Operator::Lt => {
                let x = not(self, x);
                self.b.binary(BinaryOp::And, Type::Pred, x, y)
            }
            Operator::Le => {
                let x = not(self, x);
                self.b.binary(BinaryOp::Or, Type::Pred, x, y)
            }
            Operator::Gt => {
                let y = not(self, y);
                self.b.binary(BinaryOp::And, Type::Pred, x, y)
            }
            Operator::Ge => {
                let y = not(self, y);
                self.b.binary(BinaryOp::Or, Type::Pred, x, y)
            }
            _ => return unsupported(format!("`{}` on bool", op.name())),
        })
    }

    /// Loads an element; what the kernel never writes is read past the coherent cache.
    pub(super) fn load(&mut self, array: ArrayId, index: &[Index], ty: ScalarType) -> Emit<Reg> {
        let from = self.cell(array, index)?;
        let cache = if self.written.contains(&array) { Cache::Default } else { Cache::NonCoherent };
        let Cell::Memory(_, Address { base: Base::Reg(at), offset }) = from else {
            return Ok(self.load_cell(from, ty, cache));
        };
        if let Some(known) = self.reuse.cell(array, at, offset) {
            return Ok(known);
        }
        let value = self.load_cell(from, ty, cache);
        self.reuse.keep_cell(array, at, offset, value);
        Ok(value)
    }

    /// A value of `ty` cut to its width, as a result of 32-bit arithmetic.
    pub(super) fn wrapped(&mut self, ty: ScalarType, value: Reg) -> Reg {
        let narrow = match ty {
            ScalarType::I8 => Type::S8,
            ScalarType::I16 => Type::S16,
            ScalarType::U8 => Type::U8,
            ScalarType::U16 => Type::U16,
            _ => return value,
        };
        self.b.convert(held(ty), narrow, value)
    }

    fn function(&mut self, op: Function, ty: ScalarType, x: Operand) -> Emit<Reg> {
        let kind = held(ty);
        let unsigned = matches!(kind, Type::U32 | Type::U64);
        let result = match op {
            Function::Neg if unsigned => Some(self.b.binary(BinaryOp::Sub, kind, 0, x)),
            Function::Neg => Some(self.b.unary(UnaryOp::Neg, kind, x)),
            Function::ABS if unsigned => return Ok(self.b.mov(kind, x)),
            Function::ABS => Some(self.b.unary(UnaryOp::Abs, kind, x)),
            Function::BitNot => Some(self.b.unary(UnaryOp::Not, bits(kind), x)),
            _ => None,
        };
        if let Some(result) = result {
            return Ok(self.wrapped(ty, result));
        }
        match op {
            Function::Function(function) if ty.is_float() => {
                let x = self.b.mov(kind, x);
                Ok(mathematics::unary(&mut self.b, function, kind, x))
            }
            _ => unsupported(format!("`{}` on {ty}", op.name())),
        }
    }

    pub(super) fn operator(&mut self, op: Operator, ty: ScalarType, x: Operand, y: Operand) -> Emit<Reg> {
        let kind = held(ty);
        if ty == ScalarType::Bool {
            let (Operand::Reg(x), Operand::Reg(y)) = (x, y) else {
                return unsupported("a `bool` that is no predicate");
            };
            return self.of_predicates(op, x, y);
        }
        let simple = match op {
            Operator::Add => BinaryOp::Add,
            Operator::Sub => BinaryOp::Sub,
            Operator::Mul if ty.is_float() => BinaryOp::Mul,
            Operator::Mul => BinaryOp::MulLo,
            Operator::Div if ty.is_float() => BinaryOp::Div,
            Operator::Div | Operator::Rem if ty.is_int() => return Ok(self.divide(op, ty, x, y)),
            Operator::Rem if ty.is_float() => return Ok(self.remainder(kind, x, y)),
            Operator::BitAnd => return Ok(self.b.binary(BinaryOp::And, bits(kind), x, y)),
            Operator::BitOr => return Ok(self.b.binary(BinaryOp::Or, bits(kind), x, y)),
            Operator::BitXor => return Ok(self.b.binary(BinaryOp::Xor, bits(kind), x, y)),
            Operator::Shl | Operator::Shr => return Ok(self.shift(op, ty, x, y)),
            Operator::Min | Operator::Max if ty.is_float() => return Ok(self.extreme(op, kind, x, y)),
            Operator::Min => BinaryOp::Min,
            Operator::Max => BinaryOp::Max,
            Operator::Function(function) if ty.is_float() => {
                let (x, y) = (self.b.mov(kind, x), self.b.mov(kind, y));
                return Ok(mathematics::binary(&mut self.b, function, kind, x, y));
            }
            _ => return unsupported(format!("`{}` on {ty}", op.name())),
        };
        let result = self.b.binary(simple, kind, x, y);
        Ok(self.wrapped(ty, result))
    }

    /// NaN if either is NaN; the instruction alone would take the other one.
    fn extreme(&mut self, op: Operator, kind: Type, x: Operand, y: Operand) -> Reg {
        if kind == Type::F32 && self.target.sm >= 80 {
            let picks = if op == Operator::Min { BinaryOp::MinNan } else { BinaryOp::MaxNan };
            return self.b.binary(picks, kind, x, y);
        }
        let picks = if op == Operator::Min { BinaryOp::Min } else { BinaryOp::Max };
        let picked = self.b.binary(picks, kind, x, y);
        let nan = self.b.compare(Compare::Nan, kind, x, y);
        let value = if kind == Type::F32 { Operand::f32(f32::NAN) } else { Operand::f64(f64::NAN) };
        self.b.select(kind, nan, value, picked)
    }

    /// By an amount that is not in `0..width`, all bits are shifted out; what enters from the left is the sign.
    fn shift(&mut self, op: Operator, ty: ScalarType, x: Operand, amount: Operand) -> Reg {
        let kind = held(ty);
        let unsigned = if kind.bits() == 64 { Type::U64 } else { Type::U32 };
        // A negative amount is a large one here.
        let fits = self.b.compare(Compare::Lt, unsigned, amount, 8 * ty.bytes() as i64);
        let amount = match (kind.bits(), amount) {
            (64, Operand::Reg(reg)) => self.b.convert(Type::U32, Type::U64, reg).into(),
            (_, amount) => amount,
        };
        let all = i64::from(kind.bits()) - 1;
        let result = match op {
            Operator::Shl => {
                let shifted = self.b.binary(BinaryOp::Shl, bits(kind), x, amount);
                self.b.select(kind, fits, shifted, 0)
            }
            _ if kind.is_signed() => {
                let amount = self.b.select(Type::U32, fits, amount, all);
                self.b.binary(BinaryOp::Shr, kind, x, amount)
            }
            _ => {
                let shifted = self.b.binary(BinaryOp::Shr, kind, x, amount);
                self.b.select(kind, fits, shifted, 0)
            }
        };
        self.wrapped(ty, result)
    }

    /// Floats to integers saturate (NaN to 0), integers wrap, to `bool` is `!= 0`.
    fn cast(&mut self, value: &Expr, to: ScalarType) -> Emit<Reg> {
        let from = value.ty;
        if from == ScalarType::Bool {
            let value = self.predicate(value)?;
            let one_or_zero = match held(to) {
                Type::Pred => return Ok(value),
                Type::F32 => [Operand::f32(1.0), Operand::f32(0.0)],
                Type::F64 => [Operand::f64(1.0), Operand::f64(0.0)],
                _ => [Operand::Int(1), Operand::Int(0)],
            };
            return Ok(self.b.select(held(to), value, one_or_zero[0], one_or_zero[1]));
        }
        let x = self.expr_reg(value)?;
        if let Some(half) = from.half() {
            return Ok(half.widen(&mut mathematics::Instructions::<f32>::new(&mut self.b), x));
        }
        if let Some(half) = to.half() {
            return Ok(half.narrow(&mut mathematics::Instructions::<f32>::new(&mut self.b), x));
        }
        let zero = match held(from) {
            Type::F32 => Operand::f32(0.0),
            Type::F64 => Operand::f64(0.0),
            _ => Operand::Int(0),
        };
        Ok(match (held(from), held(to)) {
            (kind, Type::Pred) if from.is_float() => self.b.compare(Compare::Neu, kind, x, zero),
            (kind, Type::Pred) => self.b.compare(Compare::Ne, kind, x, zero),
            (a, b) if from.is_float() && to.is_float() => {
                if a == b {
                    x
                } else {
                    self.b.convert(b, a, x)
                }
            }
            // The conversion clamps to the range of the narrow type, and fills the register.
            (a, b) if from.is_float() => {
                let dst = self.b.reg(b);
                let float = Float::rounded(Rounding::IntZero);
                self.b.push(Op::Convert { to: stored(to), from: a, float, dst, src: x.into() });
                dst
            }
            (a, b) if to.is_float() => self.b.convert(b, a, x),
            (a, b) if a.bits() > b.bits() => {
                let low = self.b.convert(Type::U32, Type::U64, x);
                self.wrapped(to, low)
            }
            // The sign of the source decides what the upper half is.
            (Type::S32, b) if b.bits() == 64 => self.b.convert(Type::S64, Type::S32, x),
            (_, b) if b.bits() == 64 && held(from).bits() == 32 => self.b.convert(Type::U64, Type::U32, x),
            _ => self.wrapped(to, x),
        })
    }
}

/// The bits of a register without their meaning.
fn bits(kind: Type) -> Type {
    if kind.bits() == 64 { Type::B64 } else { Type::B32 }
}

/// A constant; narrow integers are extended as registers hold them.
fn constant(value: Value) -> Operand {
    match value {
        Value::F16(v) => Operand::Int(i64::from(v.to_bits())),
        Value::BF16(v) => Operand::Int(i64::from(v.to_bits())),
        Value::F32(v) => Operand::f32(v),
        Value::F64(v) => Operand::f64(v),
        Value::I8(v) => Operand::Int(i64::from(v)),
        Value::I16(v) => Operand::Int(i64::from(v)),
        Value::I32(v) => Operand::Int(i64::from(v)),
        Value::I64(v) => Operand::Int(v),
        Value::U8(v) => Operand::Int(i64::from(v)),
        Value::U16(v) => Operand::Int(i64::from(v)),
        Value::U32(v) => Operand::Int(i64::from(v)),
        Value::U64(v) => Operand::Int(v.cast_signed()),
        Value::Bool(v) => Operand::Int(i64::from(v)),
    }
}

fn comparison(op: Operator, float: bool) -> Option<Compare> {
    Some(match op {
        Operator::Eq => Compare::Eq,
        // NaN differs from everything.
        Operator::Ne if float => Compare::Neu,
        Operator::Ne => Compare::Ne,
        Operator::Lt => Compare::Lt,
        Operator::Le => Compare::Le,
        Operator::Gt => Compare::Gt,
        Operator::Ge => Compare::Ge,
        _ => return None,
    })
}

/// Whether an expression may be computed where its value is not wanted: loads may be out of bounds there, divisors zero, and long
/// computations are not worth it.
fn is_harmless(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => true,
        ExprKind::Load { .. } | ExprKind::Gather { .. } => false,
        ExprKind::Unary(op, a) => {
            matches!(*op, Function::Neg | Function::Not | Function::BitNot | Function::ABS) && is_harmless(a)
        }
        ExprKind::Binary(Operator::Div | Operator::Rem, _, b) if !matches!(b.kind, ExprKind::Const(_)) => false,
        ExprKind::Binary(op, a, b) => !matches!(op, Operator::Function(_)) && is_harmless(a) && is_harmless(b),
        ExprKind::Cast(a) | ExprKind::At(_, a) => is_harmless(a),
        ExprKind::Select(..) => false,
    }
}
