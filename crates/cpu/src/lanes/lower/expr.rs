//! Scalar expressions, for all lanes at once. `bool` is a mask.

use loops::{Expr, ExprKind};
use program::{BinaryOp, ScalarType, UnaryOp, Value};

use super::functions::Floats;
use super::{Argument, Lower, Nest, element, lane_type};
use crate::lanes::ir::{self, Op, Type, ValueId};

impl Nest<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Lower<ValueId> {
        let ty = expr.ty;
        let at = self.at.take();
        if !ir::is_element(element(ty)) && ty != ScalarType::Bool {
            return Err(format!("elements of type {ty}"));
        }
        match &expr.kind {
            ExprKind::Const(Value::Bool(holds)) => Ok(self.all_lanes(*holds)),
            ExprKind::Const(value) => Ok(self.splat(*value)),
            ExprKind::Index(index) => {
                let linear = self.linear(index)?;
                let per_lane = self.vector.map_or(0, |vector| linear.coefficient(vector).wrapping_mul(self.step));
                let first = self.linear_word(&linear)?;
                Ok(self.numbers(first, per_lane))
            }
            ExprKind::Cond(cond) => self.cond_mask(cond),
            ExprKind::Scalar(scalar) => Ok(self.uniform(Argument::Scalar(*scalar), ty)),
            ExprKind::Local(local) => match self.state.locals.get(&local.0) {
                Some(value) => Ok(*value),
                None => Ok(self.uniform(Argument::Local(*local), ty)),
            },
            ExprKind::Load { array, index } => {
                let place = self.place(*array, index)?;
                let value = match self.cell(&place) {
                    Some(value) => return Ok(value),
                    None => self.load_place(&place)?,
                };
                Ok(if ty == ScalarType::Bool { self.is_nonzero(ScalarType::U8, value) } else { value })
            }
            ExprKind::Gather { array, index } => self.gather(*array, index, at),
            ExprKind::At(span, a) => {
                self.at = Some(*span);
                self.expr(a)
            }
            ExprKind::Unary(op, a) => {
                let a = self.expr(a)?;
                self.unary(*op, ty, a)
            }
            ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), a, b) if ty.is_int() => self.divide(*op, a, b, at),
            ExprKind::Binary(op, a, b) => {
                let operand = a.ty;
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.binary(*op, operand, a, b)
            }
            ExprKind::Cast(a) => {
                let from = a.ty;
                let a = self.expr(a)?;
                Ok(self.cast(from, ty, a))
            }
            ExprKind::Select(cond, a, b) => {
                let cond = self.expr(cond)?;
                // Loads happen only in lanes that take their branch.
                let outer = self.mask;
                self.mask = Some(self.and(outer, cond));
                let a = self.expr(a);
                let other = self.not(cond);
                self.mask = Some(self.and(outer, other));
                let b = self.expr(b);
                self.mask = outer;
                let (a, b) = (a?, b?);
                Ok(self.choose(ty, cond, a, b))
            }
        }
    }

    /// The same truth value in every lane.
    pub(super) fn all_lanes(&mut self, holds: bool) -> ValueId {
        let count = self.word(if holds { i64::from(self.program.lanes) } else { 0 });
        self.once(Type::Mask, Op::Prefix(count))
    }

    /// An element that the caller passes.
    pub(super) fn uniform(&mut self, argument: Argument, ty: ScalarType) -> ValueId {
        let slot = self.slot(argument);
        if ty != ScalarType::Bool {
            return self.once(lane_type(ty), Op::Scalar(slot));
        }
        let byte = self.once(Type::Lanes(ScalarType::U8), Op::Scalar(slot));
        let zero = self.splat(Value::U8(0));
        self.once(Type::Mask, Op::Compare(ir::CompareOp::Ne, byte, zero))
    }

    pub(super) fn is_nonzero(&mut self, ty: ScalarType, value: ValueId) -> ValueId {
        let zero = self.splat(Value::from_i64(ty, 0));
        self.make(Type::Mask, Op::Compare(ir::CompareOp::Ne, value, zero))
    }

    /// `a` where the mask is set, else `b`.
    pub(super) fn choose(&mut self, ty: ScalarType, mask: ValueId, a: ValueId, b: ValueId) -> ValueId {
        if ty != ScalarType::Bool {
            return self.lanes(ty, Op::Select(mask, a, b));
        }
        let a = self.make(Type::Mask, Op::Binary(ir::BinaryOp::And, mask, a));
        let other = self.not(mask);
        let b = self.make(Type::Mask, Op::Binary(ir::BinaryOp::And, other, b));
        self.make(Type::Mask, Op::Binary(ir::BinaryOp::Or, a, b))
    }

    fn unary(&mut self, op: UnaryOp, ty: ScalarType, a: ValueId) -> Lower<ValueId> {
        let op = match op {
            UnaryOp::Neg => ir::UnaryOp::Neg,
            UnaryOp::Not => ir::UnaryOp::Not,
            UnaryOp::Function(math::Unary::Abs) => ir::UnaryOp::Abs,
            UnaryOp::Function(math::Unary::Sqrt) => ir::UnaryOp::Sqrt,
            UnaryOp::Function(math::Unary::Floor) => ir::UnaryOp::Floor,
            UnaryOp::Function(math::Unary::Ceil) => ir::UnaryOp::Ceil,
            UnaryOp::Function(math::Unary::Trunc) => ir::UnaryOp::Trunc,
            UnaryOp::BitNot => ir::UnaryOp::Not,
            UnaryOp::Function(function) => {
                return match ty {
                    ScalarType::F32 => Ok(function.apply(&mut Floats::<f32>::new(self), a)),
                    ScalarType::F64 => Ok(function.apply(&mut Floats::<f64>::new(self), a)),
                    _ => Err(format!("`{}` of {ty}", function.name())),
                };
            }
        };
        Ok(self.make(lane_type(ty), Op::Unary(op, a)))
    }

    /// `ty` is the type of the operands.
    pub(super) fn binary(&mut self, op: BinaryOp, ty: ScalarType, a: ValueId, b: ValueId) -> Lower<ValueId> {
        use ir::CompareOp;
        let compare = match op {
            BinaryOp::Eq => Some(CompareOp::Eq),
            BinaryOp::Ne => Some(CompareOp::Ne),
            BinaryOp::Lt => Some(CompareOp::Lt),
            BinaryOp::Le => Some(CompareOp::Le),
            BinaryOp::Gt => Some(CompareOp::Gt),
            BinaryOp::Ge => Some(CompareOp::Ge),
            _ => None,
        };
        if let Some(compare) = compare {
            return Ok(match ty {
                ScalarType::Bool => self.compare_masks(compare, a, b),
                _ => self.make(Type::Mask, Op::Compare(compare, a, b)),
            });
        }
        let op = match op {
            BinaryOp::Add => ir::BinaryOp::Add,
            BinaryOp::Sub => ir::BinaryOp::Sub,
            BinaryOp::Mul => ir::BinaryOp::Mul,
            BinaryOp::Div if ty.is_float() => ir::BinaryOp::Div,
            BinaryOp::Min if ty == ScalarType::Bool => ir::BinaryOp::And,
            BinaryOp::Max if ty == ScalarType::Bool => ir::BinaryOp::Or,
            BinaryOp::Min => ir::BinaryOp::Min,
            BinaryOp::Max => ir::BinaryOp::Max,
            BinaryOp::And | BinaryOp::BitAnd => ir::BinaryOp::And,
            BinaryOp::Or | BinaryOp::BitOr => ir::BinaryOp::Or,
            BinaryOp::BitXor => ir::BinaryOp::Xor,
            BinaryOp::Function(function) if ty == ScalarType::F32 => {
                return Ok(function.apply(&mut Floats::<f32>::new(self), a, b));
            }
            BinaryOp::Function(function) if ty == ScalarType::F64 => {
                return Ok(function.apply(&mut Floats::<f64>::new(self), a, b));
            }
            _ => return Err(format!("`{}` of {ty}", op.name())),
        };
        Ok(self.make(lane_type(ty), Op::Binary(op, a, b)))
    }

    /// `false` is less than `true`.
    fn compare_masks(&mut self, op: ir::CompareOp, a: ValueId, b: ValueId) -> ValueId {
        use ir::CompareOp;
        let (a, b) = match op {
            CompareOp::Gt | CompareOp::Ge => (b, a),
            _ => (a, b),
        };
        match op {
            CompareOp::Ne => self.make(Type::Mask, Op::Binary(ir::BinaryOp::Xor, a, b)),
            CompareOp::Eq => {
                let differ = self.make(Type::Mask, Op::Binary(ir::BinaryOp::Xor, a, b));
                self.not(differ)
            }
            CompareOp::Lt | CompareOp::Gt => {
                let a = self.not(a);
                self.make(Type::Mask, Op::Binary(ir::BinaryOp::And, a, b))
            }
            CompareOp::Le | CompareOp::Ge => {
                let a = self.not(a);
                self.make(Type::Mask, Op::Binary(ir::BinaryOp::Or, a, b))
            }
        }
    }

    fn cast(&mut self, from: ScalarType, to: ScalarType, a: ValueId) -> ValueId {
        if from == to {
            return a;
        }
        // Above the bits of a half, the sign is repeated; neither conversion looks there.
        if let Some(half) = from.half() {
            let bits = self.lanes(ScalarType::I32, Op::Convert(a));
            return half.widen(&mut Floats::<f32>::new(self), bits);
        }
        if let Some(half) = to.half() {
            let bits = half.narrow(&mut Floats::<f32>::new(self), a);
            return self.lanes(ScalarType::I16, Op::Convert(bits));
        }
        if to == ScalarType::Bool {
            return self.is_nonzero(from, a);
        }
        if from == ScalarType::Bool {
            let (one, zero) = (self.splat(Value::from_i64(to, 1)), self.splat(Value::from_i64(to, 0)));
            return self.lanes(to, Op::Select(a, one, zero));
        }
        self.lanes(to, Op::Convert(a))
    }

    /// What is stored for a value: a byte for a truth value.
    pub(super) fn stored(&mut self, ty: ScalarType, value: ValueId) -> ValueId {
        if ty != ScalarType::Bool {
            return value;
        }
        let (one, zero) = (self.splat(Value::U8(1)), self.splat(Value::U8(0)));
        self.lanes(ScalarType::U8, Op::Select(value, one, zero))
    }
}
