//! Mathematical functions on lanes: the one definition of each (`math`), carried out by lane operations.

use std::marker::PhantomData;

use math::Ops;
use program::{ScalarType, Value};

use super::Nest;
use crate::lanes::ir::{BinaryOp, CompareOp, Op, ShiftOp, Type, UnaryOp, ValueId};

/// Operations on floats of one format, appended to a nest.
pub(super) struct Floats<'n, 'k, T> {
    nest: &'n mut Nest<'k>,
    format: PhantomData<T>,
}

impl<'n, 'k, T> Floats<'n, 'k, T> {
    pub(super) fn new(nest: &'n mut Nest<'k>) -> Self {
        Floats { nest, format: PhantomData }
    }

    fn mask(&mut self, op: Op) -> ValueId {
        self.nest.make(Type::Mask, op)
    }
}

macro_rules! operations {
    ($format:ty, $float:ident, $value:ident, $bits:ident, $int:ident) => {
        impl Ops for Floats<'_, '_, $format> {
            type Format = $format;
            type F = ValueId;
            type I = ValueId;
            type B = ValueId;

            fn float(&mut self, value: $format) -> ValueId {
                self.nest.splat(Value::$value(value))
            }
            fn int(&mut self, value: $bits) -> ValueId {
                self.nest.splat(Value::$int(value))
            }
            fn add(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Binary(BinaryOp::Add, a, b))
            }
            fn sub(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Binary(BinaryOp::Sub, a, b))
            }
            fn mul(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Binary(BinaryOp::Mul, a, b))
            }
            fn div(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Binary(BinaryOp::Div, a, b))
            }
            fn fma(&mut self, a: ValueId, b: ValueId, c: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Fma(a, b, c))
            }
            fn sqrt(&mut self, a: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Unary(UnaryOp::Sqrt, a))
            }
            fn neg(&mut self, a: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Unary(UnaryOp::Neg, a))
            }
            fn abs(&mut self, a: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Unary(UnaryOp::Abs, a))
            }
            fn floor(&mut self, a: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Unary(UnaryOp::Floor, a))
            }
            fn ceil(&mut self, a: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Unary(UnaryOp::Ceil, a))
            }
            fn trunc(&mut self, a: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Unary(UnaryOp::Trunc, a))
            }
            fn lt(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.mask(Op::Compare(CompareOp::Lt, a, b))
            }
            fn le(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.mask(Op::Compare(CompareOp::Le, a, b))
            }
            fn eq(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.mask(Op::Compare(CompareOp::Eq, a, b))
            }
            fn int_lt(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.mask(Op::Compare(CompareOp::Lt, a, b))
            }
            fn and(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.mask(Op::Binary(BinaryOp::And, a, b))
            }
            fn or(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.mask(Op::Binary(BinaryOp::Or, a, b))
            }
            fn not(&mut self, a: ValueId) -> ValueId {
                self.mask(Op::Unary(UnaryOp::Not, a))
            }
            fn select(&mut self, condition: ValueId, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Select(condition, a, b))
            }
            fn bits(&mut self, a: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$int, Op::Bitcast(a))
            }
            fn of_bits(&mut self, a: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Bitcast(a))
            }
            fn int_add(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$int, Op::Binary(BinaryOp::Add, a, b))
            }
            fn int_sub(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$int, Op::Binary(BinaryOp::Sub, a, b))
            }
            fn int_and(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$int, Op::Binary(BinaryOp::And, a, b))
            }
            fn int_or(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$int, Op::Binary(BinaryOp::Or, a, b))
            }
            fn int_xor(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$int, Op::Binary(BinaryOp::Xor, a, b))
            }
            fn shl(&mut self, a: ValueId, bits: u32) -> ValueId {
                self.nest.lanes(ScalarType::$int, Op::Shift(ShiftOp::Left, a, bits as u8))
            }
            fn shr(&mut self, a: ValueId, bits: u32) -> ValueId {
                self.nest.lanes(ScalarType::$int, Op::Shift(ShiftOp::Right, a, bits as u8))
            }
            fn lesser(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Binary(BinaryOp::Least, a, b))
            }
            fn greater(&mut self, a: ValueId, b: ValueId) -> ValueId {
                self.nest.lanes(ScalarType::$float, Op::Binary(BinaryOp::Most, a, b))
            }
        }
    };
}

operations!(f32, F32, F32, i32, I32);
operations!(f64, F64, F64, i64, I64);
