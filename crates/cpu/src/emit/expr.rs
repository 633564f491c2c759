//! Scalar expressions, with the operator semantics of `program::scalar`.
//!
//! In: a typed expression.  Out: one value: floats as they are, integers in their own width, `bool` as a byte 0 or 1.
//! Not here: integer division (`divide`), conversions (`cast`).

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use loops::{Expr, ExprKind};
use program::{BinaryOp, ScalarType, UnaryOp};

use super::{Emitter, clif_type};
use crate::math::{self, MathFunction};

impl Emitter<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> diag::Result<Value> {
        match &expr.kind {
            ExprKind::Const(value) => {
                let in_register = self.derived.iter().find(|(derived, _)| derived.is_constant(*value));
                Ok(in_register.map(|(_, value)| *value).unwrap_or_else(|| self.constant(*value)))
            }
            ExprKind::Index(index) => self.index(index),
            ExprKind::Cond(cond) => self.cond(cond),
            ExprKind::Scalar(scalar) => Ok(self.scalars[scalar.index()]),
            ExprKind::Local(local) => {
                let variable = self.locals[local.index()];
                Ok(self.b.use_var(variable))
            }
            ExprKind::Load { array, index } => {
                let (pointer, displacement) = self.address(*array, index)?;
                let flags = self.flags[array.index()];
                Ok(self.b.ins().load(clif_type(expr.ty), flags, pointer, displacement))
            }
            ExprKind::Gather { array, index } => {
                let (pointer, displacement) = self.cell(*array, index, self.at)?;
                let flags = self.flags[array.index()];
                Ok(self.b.ins().load(clif_type(expr.ty), flags, pointer, displacement))
            }
            ExprKind::At(span, a) => {
                let outer = self.at.replace(*span);
                let value = self.expr(a);
                self.at = outer;
                value
            }
            ExprKind::Unary(op, a) => {
                let value = self.expr(a)?;
                self.unary(*op, expr.ty, value)
            }
            ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), a, b) if expr.ty.is_int() => {
                self.divide(*op, expr.ty, a, b)
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.expr(a)?, self.expr(b)?);
                self.binary(*op, a.ty, x, y)
            }
            ExprKind::Cast(a) => {
                let value = self.expr(a)?;
                Ok(self.cast(a.ty, expr.ty, value))
            }
            ExprKind::Select(cond, a, b) => self.choice(expr.ty, cond, a, b),
        }
    }

    fn constant(&mut self, value: program::Value) -> Value {
        use program::Value as Constant;
        let ins = self.b.ins();
        // Constants of narrow types are written without sign extension.
        match value {
            Constant::F16(v) => ins.iconst(types::I16, i64::from(v.to_bits())),
            Constant::BF16(v) => ins.iconst(types::I16, i64::from(v.to_bits())),
            Constant::F32(v) => ins.f32const(Ieee32::with_bits(v.to_bits())),
            Constant::F64(v) => ins.f64const(Ieee64::with_bits(v.to_bits())),
            Constant::I8(v) => ins.iconst(types::I8, i64::from(v.cast_unsigned())),
            Constant::I16(v) => ins.iconst(types::I16, i64::from(v.cast_unsigned())),
            Constant::I32(v) => ins.iconst(types::I32, i64::from(v.cast_unsigned())),
            Constant::I64(v) => ins.iconst(types::I64, v),
            Constant::U8(v) => ins.iconst(types::I8, i64::from(v)),
            Constant::U16(v) => ins.iconst(types::I16, i64::from(v)),
            Constant::U32(v) => ins.iconst(types::I32, i64::from(v)),
            Constant::U64(v) => ins.iconst(types::I64, v.cast_signed()),
            Constant::Bool(v) => ins.iconst(types::I8, i64::from(v)),
        }
    }

    pub(super) fn zero(&mut self, ty: ScalarType) -> Value {
        self.constant(program::Value::from_i64(ty, 0))
    }

    fn unary(&mut self, op: UnaryOp, ty: ScalarType, x: Value) -> diag::Result<Value> {
        if let Some(function) = math::unary(op, ty) {
            return self.call(function, &[x]);
        }
        let ins = self.b.ins();
        Ok(match op {
            UnaryOp::Neg if ty.is_float() => ins.fneg(x),
            UnaryOp::Neg if ty.is_int() => ins.ineg(x),
            UnaryOp::Not if ty == ScalarType::Bool => ins.bxor_imm_u(x, 1),
            UnaryOp::BitNot if ty.is_int() => ins.bnot(x),
            UnaryOp::ABS if ty.is_unsigned() => x,
            UnaryOp::ABS if ty.is_int() => ins.iabs(x),
            _ => return Err(diag::Error::bug("cpu", format!("`{}` on {ty}", op.name()))),
        })
    }

    /// `ty` is the type of the operands.
    pub(super) fn binary(&mut self, op: BinaryOp, ty: ScalarType, x: Value, y: Value) -> diag::Result<Value> {
        if let Some(function) = math::binary(op, ty) {
            return self.call(function, &[x, y]);
        }
        if op == BinaryOp::Last {
            return Ok(y);
        }
        if op == BinaryOp::Once {
            let nothing = self.b.ins().icmp_imm_s(IntCC::Equal, y, i64::MIN);
            return Ok(self.b.ins().select(nothing, x, y));
        }
        if op.is_comparison() {
            return Ok(self.comparison(op, ty, x, y));
        }
        if let (BinaryOp::Shl | BinaryOp::Shr, true) = (op, ty.is_int()) {
            return Ok(self.shift(op, ty, x, y));
        }
        let unsigned = ty.is_unsigned();
        let ins = self.b.ins();
        Ok(match op {
            BinaryOp::Add if ty.is_float() => ins.fadd(x, y),
            BinaryOp::Sub if ty.is_float() => ins.fsub(x, y),
            BinaryOp::Mul if ty.is_float() => ins.fmul(x, y),
            BinaryOp::Div if ty.is_float() => ins.fdiv(x, y),
            BinaryOp::Min if ty.is_float() => ins.fmin(x, y),
            BinaryOp::Max if ty.is_float() => ins.fmax(x, y),
            BinaryOp::Add if ty.is_int() => ins.iadd(x, y),
            BinaryOp::Sub if ty.is_int() => ins.isub(x, y),
            BinaryOp::Mul if ty.is_int() => ins.imul(x, y),
            BinaryOp::Min if unsigned => ins.umin(x, y),
            BinaryOp::Max if unsigned => ins.umax(x, y),
            BinaryOp::Min => ins.smin(x, y),
            BinaryOp::Max => ins.smax(x, y),
            BinaryOp::And if ty == ScalarType::Bool => ins.band(x, y),
            BinaryOp::Or if ty == ScalarType::Bool => ins.bor(x, y),
            BinaryOp::BitAnd if ty.is_int() => ins.band(x, y),
            BinaryOp::BitOr if ty.is_int() => ins.bor(x, y),
            BinaryOp::BitXor if ty.is_int() => ins.bxor(x, y),
            _ => return Err(diag::Error::bug("cpu", format!("`{}` on {ty}", op.name()))),
        })
    }

    /// The machine takes the amount modulo the width; beyond the width, all bits are shifted out instead.
    fn shift(&mut self, op: BinaryOp, ty: ScalarType, x: Value, amount: Value) -> Value {
        let width = 8 * ty.bytes() as i64;
        if op == BinaryOp::Shr && !ty.is_unsigned() {
            let last = self.b.ins().iconst(clif_type(ty), width - 1);
            let amount = self.b.ins().umin(amount, last);
            return self.b.ins().sshr(x, amount);
        }
        let shifted = if op == BinaryOp::Shl { self.b.ins().ishl(x, amount) } else { self.b.ins().ushr(x, amount) };
        let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, amount, width);
        let zero = self.zero(ty);
        self.b.ins().select(inside, shifted, zero)
    }

    fn comparison(&mut self, op: BinaryOp, ty: ScalarType, x: Value, y: Value) -> Value {
        if ty.is_float() {
            let cc = match op {
                BinaryOp::Eq => FloatCC::Equal,
                BinaryOp::Ne => FloatCC::NotEqual,
                BinaryOp::Lt => FloatCC::LessThan,
                BinaryOp::Le => FloatCC::LessThanOrEqual,
                BinaryOp::Gt => FloatCC::GreaterThan,
                _ => FloatCC::GreaterThanOrEqual,
            };
            return self.b.ins().fcmp(cc, x, y);
        }
        let cc = match op {
            BinaryOp::Eq => IntCC::Equal,
            BinaryOp::Ne => IntCC::NotEqual,
            BinaryOp::Lt => IntCC::SignedLessThan,
            BinaryOp::Le => IntCC::SignedLessThanOrEqual,
            BinaryOp::Gt => IntCC::SignedGreaterThan,
            _ => IntCC::SignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(if ty.is_unsigned() { cc.unsigned() } else { cc }, x, y)
    }

    /// A mathematical function: its definition if that is short, else a call.
    fn call(&mut self, function: MathFunction, arguments: &[Value]) -> diag::Result<Value> {
        if function.is_short() {
            return function.emit(&mut self.b, self.fused, arguments);
        }
        let callee = match self.functions.get(&function) {
            Some(callee) => *callee,
            None => {
                let callee = function.import(self.module, self.b.func)?;
                self.functions.insert(function, callee);
                callee
            }
        };
        let call = self.b.ins().call(callee, arguments);
        let result = self.b.inst_results(call).first().copied();
        result.ok_or_else(|| diag::Error::bug("cpu", format!("{function} returns nothing")))
    }

    /// Branches where a branch costs or risks something, and otherwise computes both.
    fn choice(&mut self, ty: ScalarType, cond: &Expr, a: &Expr, b: &Expr) -> diag::Result<Value> {
        if !must_be_lazy(a) && !must_be_lazy(b) {
            let (cond, a, b) = (self.expr(cond)?, self.expr(a)?, self.expr(b)?);
            return Ok(self.b.ins().select(cond, a, b));
        }
        let (then, otherwise, join) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(join, clif_type(ty));
        if let ExprKind::Cond(cond) = &cond.kind {
            self.branch(cond, then, otherwise)?;
        } else {
            let cond = self.expr(cond)?;
            self.b.ins().brif(cond, then, &[], otherwise, &[]);
        }
        for (block, branch) in [(then, a), (otherwise, b)] {
            self.enter(block);
            let checked = self.checked.len();
            let value = self.expr(branch)?;
            self.checked.truncate(checked);
            self.jump(join, &[value]);
        }
        self.enter(join);
        Ok(result)
    }
}

/// Whether an expression may fail or be slow: loads may be out of bounds where they are not meant to run.
fn must_be_lazy(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => false,
        ExprKind::Load { .. } | ExprKind::Gather { .. } => true,
        ExprKind::Unary(op, a) => is_long(math::unary(*op, expr.ty)) || must_be_lazy(a),
        ExprKind::Binary(op, a, b) => {
            let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem) && expr.ty.is_int();
            divides || is_long(math::binary(*op, a.ty)) || must_be_lazy(a) || must_be_lazy(b)
        }
        ExprKind::Cast(a) | ExprKind::At(_, a) => must_be_lazy(a),
        ExprKind::Select(cond, a, b) => must_be_lazy(cond) || must_be_lazy(a) || must_be_lazy(b),
    }
}

fn is_long(function: Option<MathFunction>) -> bool {
    function.is_some_and(|function| !function.is_short())
}
