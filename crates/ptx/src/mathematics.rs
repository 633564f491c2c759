//! Mathematical functions as instructions: the definitions of `math`, carried out by a [`Builder`].
//!
//! Every operation is the one instruction that rounds correctly, so results have the same bits as on the CPU.

use std::marker::PhantomData;

use math::Ops;

use crate::build::Builder;
use crate::ir::{BinaryOp, Compare, Float, Op, Operand, Reg, Rounding, Type, UnaryOp};

/// Appends the operations of a definition to a kernel; `T` is `f32` or `f64`.
#[derive(Debug)]
pub struct Instructions<'a, T> {
    builder: &'a mut Builder,
    format: PhantomData<T>,
}

impl<'a, T> Instructions<'a, T> {
    pub fn new(builder: &'a mut Builder) -> Instructions<'a, T> {
        Instructions { builder, format: PhantomData }
    }
}

/// Appends a function of one argument on floats of type `ty`.
pub fn unary(builder: &mut Builder, function: math::Unary, ty: Type, x: Reg) -> Reg {
    match ty {
        Type::F32 => function.apply(&mut Instructions::<f32>::new(builder), x),
        _ => function.apply(&mut Instructions::<f64>::new(builder), x),
    }
}

/// Appends a function of two arguments on floats of type `ty`.
pub fn binary(builder: &mut Builder, function: math::Binary, ty: Type, x: Reg, y: Reg) -> Reg {
    match ty {
        Type::F32 => function.apply(&mut Instructions::<f32>::new(builder), x, y),
        _ => function.apply(&mut Instructions::<f64>::new(builder), x, y),
    }
}

/// A conversion of a float to an integral one of the same type.
fn integral(builder: &mut Builder, ty: Type, rounding: Rounding, a: Reg) -> Reg {
    let dst = builder.reg(ty);
    builder.push(Op::Convert { to: ty, from: ty, float: Float::rounded(rounding), dst, src: a.into() });
    dst
}

macro_rules! instructions {
    ($format:ty, $integer:ty, $float:expr, $int:expr, $bits:expr, $constant:path) => {
        impl Ops for Instructions<'_, $format> {
            type Format = $format;
            type F = Reg;
            type I = Reg;
            /// A predicate.
            type B = Reg;

            fn float(&mut self, value: $format) -> Reg {
                self.builder.mov($float, $constant(value.to_bits()))
            }

            fn int(&mut self, value: $integer) -> Reg {
                self.builder.mov($bits, i64::from(value))
            }

            fn add(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::Add, $float, a, b)
            }

            fn sub(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::Sub, $float, a, b)
            }

            fn mul(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::Mul, $float, a, b)
            }

            fn div(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::Div, $float, a, b)
            }

            fn fma(&mut self, a: Reg, b: Reg, c: Reg) -> Reg {
                let dst = self.builder.reg($float);
                self.builder.fma_into($float, dst, a, b, c);
                dst
            }

            fn sqrt(&mut self, a: Reg) -> Reg {
                self.builder.unary(UnaryOp::Sqrt, $float, a)
            }

            fn neg(&mut self, a: Reg) -> Reg {
                self.builder.unary(UnaryOp::Neg, $float, a)
            }

            fn abs(&mut self, a: Reg) -> Reg {
                self.builder.unary(UnaryOp::Abs, $float, a)
            }

            fn floor(&mut self, a: Reg) -> Reg {
                integral(self.builder, $float, Rounding::IntDown, a)
            }

            fn ceil(&mut self, a: Reg) -> Reg {
                integral(self.builder, $float, Rounding::IntUp, a)
            }

            fn trunc(&mut self, a: Reg) -> Reg {
                integral(self.builder, $float, Rounding::IntZero, a)
            }

            fn lt(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.compare(Compare::Lt, $float, a, b)
            }

            fn le(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.compare(Compare::Le, $float, a, b)
            }

            fn eq(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.compare(Compare::Eq, $float, a, b)
            }

            fn int_lt(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.compare(Compare::Lt, $int, a, b)
            }

            fn and(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::And, Type::Pred, a, b)
            }

            fn or(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::Or, Type::Pred, a, b)
            }

            fn not(&mut self, a: Reg) -> Reg {
                self.builder.unary(UnaryOp::Not, Type::Pred, a)
            }

            fn select(&mut self, condition: Reg, a: Reg, b: Reg) -> Reg {
                self.builder.select($float, condition, a, b)
            }

            fn bits(&mut self, a: Reg) -> Reg {
                self.builder.mov($bits, a)
            }

            fn of_bits(&mut self, a: Reg) -> Reg {
                self.builder.mov($float, a)
            }

            fn int_add(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::Add, $int, a, b)
            }

            fn int_sub(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::Sub, $int, a, b)
            }

            fn int_and(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::And, $bits, a, b)
            }

            fn int_or(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::Or, $bits, a, b)
            }

            fn int_xor(&mut self, a: Reg, b: Reg) -> Reg {
                self.builder.binary(BinaryOp::Xor, $bits, a, b)
            }

            fn shl(&mut self, a: Reg, amount: u32) -> Reg {
                self.builder.binary(BinaryOp::Shl, $bits, a, i64::from(amount))
            }

            fn shr(&mut self, a: Reg, amount: u32) -> Reg {
                // Zeros enter at the top: the value is taken as unsigned.
                self.builder.binary(BinaryOp::Shr, $bits, a, i64::from(amount))
            }
        }
    };
}

instructions!(f32, i32, Type::F32, Type::S32, Type::B32, Operand::F32);
instructions!(f64, i64, Type::F64, Type::S64, Type::B64, Operand::F64);
