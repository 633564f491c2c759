//! The operations of `math` as Cranelift instructions on scalars.

use std::marker::PhantomData;

use ::math::{Format, Ops};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;

use crate::fma::multiply_add;

/// How Cranelift names a format.
pub(crate) trait ClifFormat: Format {
    const TYPE: Type;
    const BITS_TYPE: Type;

    fn constant(self, b: &mut FunctionBuilder<'_>) -> Value;
    /// As Cranelift wants integer constants: zeros above the width.
    fn immediate(bits: Self::Bits) -> i64;
}

impl ClifFormat for f32 {
    const TYPE: Type = types::F32;
    const BITS_TYPE: Type = types::I32;

    fn constant(self, b: &mut FunctionBuilder<'_>) -> Value {
        b.ins().f32const(Ieee32::with_bits(self.to_bits()))
    }

    fn immediate(bits: i32) -> i64 {
        i64::from(bits.cast_unsigned())
    }
}

impl ClifFormat for f64 {
    const TYPE: Type = types::F64;
    const BITS_TYPE: Type = types::I64;

    fn constant(self, b: &mut FunctionBuilder<'_>) -> Value {
        b.ins().f64const(Ieee64::with_bits(self.to_bits()))
    }

    fn immediate(bits: i64) -> i64 {
        bits
    }
}

/// Appends to the present block of a function. Conditions are bytes; equal constants are merged by Cranelift.
pub(super) struct Instructions<'a, 'f, T> {
    b: &'a mut FunctionBuilder<'f>,
    /// The host has multiply-adds.
    fused: bool,
    format: PhantomData<T>,
}

impl<'a, 'f, T> Instructions<'a, 'f, T> {
    pub(super) fn new(b: &'a mut FunctionBuilder<'f>, fused: bool) -> Instructions<'a, 'f, T> {
        Instructions { b, fused, format: PhantomData }
    }
}

/// Operations that are one instruction.
macro_rules! instructions {
    ($($name:ident($($operand:ident),*) $instruction:ident;)*) => {
        $(fn $name(&mut self, $($operand: Value),*) -> Value {
            self.b.ins().$instruction($($operand),*)
        })*
    };
}

impl<T: ClifFormat> Ops for Instructions<'_, '_, T> {
    type Format = T;
    type F = Value;
    type I = Value;
    type B = Value;

    fn float(&mut self, value: T) -> Value {
        value.constant(self.b)
    }

    fn int(&mut self, value: T::Bits) -> Value {
        self.b.ins().iconst(T::BITS_TYPE, T::immediate(value))
    }

    instructions! {
        add(a, b) fadd;
        sub(a, b) fsub;
        mul(a, b) fmul;
        div(a, b) fdiv;
        sqrt(a) sqrt;
        neg(a) fneg;
        abs(a) fabs;
        floor(a) floor;
        ceil(a) ceil;
        trunc(a) trunc;
        and(a, b) band;
        or(a, b) bor;
        select(condition, a, b) select;
        int_add(a, b) iadd;
        int_sub(a, b) isub;
        int_and(a, b) band;
        int_or(a, b) bor;
        int_xor(a, b) bxor;
    }

    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        multiply_add(self.b, self.fused, [[a, b, c]])[0]
    }

    fn lt(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fcmp(FloatCC::LessThan, a, b)
    }

    fn le(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fcmp(FloatCC::LessThanOrEqual, a, b)
    }

    fn eq(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fcmp(FloatCC::Equal, a, b)
    }

    fn int_lt(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().icmp(IntCC::SignedLessThan, a, b)
    }

    fn not(&mut self, a: Value) -> Value {
        self.b.ins().bxor_imm_u(a, 1)
    }

    fn bits(&mut self, a: Value) -> Value {
        self.b.ins().bitcast(T::BITS_TYPE, MemFlagsData::new(), a)
    }

    fn of_bits(&mut self, a: Value) -> Value {
        self.b.ins().bitcast(T::TYPE, MemFlagsData::new(), a)
    }

    fn shl(&mut self, a: Value, bits: u32) -> Value {
        self.b.ins().ishl_imm_u(a, i64::from(bits))
    }

    fn shr(&mut self, a: Value, bits: u32) -> Value {
        self.b.ins().ushr_imm_u(a, i64::from(bits))
    }

    /// A branch around what is rare.
    fn rarely<const N: usize>(
        &mut self,
        needed: Value,
        usual: [Value; N],
        rare: impl FnOnce(&mut Self) -> [Value; N],
    ) -> [Value; N] {
        let (rare_block, join) = (self.b.create_block(), self.b.create_block());
        let results = usual.map(|_| self.b.append_block_param(join, T::TYPE));
        self.b.set_cold_block(rare_block);
        let usual = usual.map(Into::into);
        self.b.ins().brif(needed, rare_block, &[], join, &usual);
        self.b.seal_block(rare_block);
        self.b.switch_to_block(rare_block);
        let values = rare(self).map(Into::into);
        self.b.ins().jump(join, &values);
        self.b.seal_block(join);
        self.b.switch_to_block(join);
        results
    }
}
