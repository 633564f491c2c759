//! Conversions between scalar types, as Rust's `as`: integers wrap, floats saturate and NaN becomes 0. Floats that are only stored
//! are their bits, and converted to `f32` and back.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use program::ScalarType;

use super::{Emitter, clif_type};
use crate::math;

impl Emitter<'_> {
    pub(super) fn cast(&mut self, from: ScalarType, to: ScalarType, x: Value) -> Value {
        if from == to {
            return x;
        }
        if let Some(half) = from.half() {
            let bits = self.b.ins().uextend(types::I32, x);
            return math::widen(&mut self.b, half, bits);
        }
        if let Some(half) = to.half() {
            let bits = math::narrow(&mut self.b, half, x);
            return self.b.ins().ireduce(types::I16, bits);
        }
        match (from.is_float(), to.is_float()) {
            _ if to == ScalarType::Bool => self.is_nonzero(from, x),
            (true, true) if to == ScalarType::F64 => self.b.ins().fpromote(types::F64, x),
            (true, true) => self.b.ins().fdemote(types::F32, x),
            (false, true) => {
                let wide = if from.bytes() == 8 || from == ScalarType::U32 { ScalarType::I64 } else { ScalarType::I32 };
                let x = self.resize(from, wide, x);
                if from == ScalarType::U64 {
                    return self.b.ins().fcvt_from_uint(clif_type(to), x);
                }
                self.b.ins().fcvt_from_sint(clif_type(to), x)
            }
            (true, false) => self.saturate(to, x),
            (false, false) => self.resize(from, to, x),
        }
    }

    /// NaN is not zero.
    fn is_nonzero(&mut self, from: ScalarType, x: Value) -> Value {
        if !from.is_float() {
            return self.b.ins().icmp_imm_u(IntCC::NotEqual, x, 0);
        }
        let zero = self.zero(from);
        self.b.ins().fcmp(FloatCC::NotEqual, x, zero)
    }

    /// Between integer types; the unsigned ones and `bool` have no sign to extend.
    fn resize(&mut self, from: ScalarType, to: ScalarType, x: Value) -> Value {
        let (target, unsigned) = (clif_type(to), from.is_unsigned());
        match to.bytes().cmp(&from.bytes()) {
            std::cmp::Ordering::Less => self.b.ins().ireduce(target, x),
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater if unsigned => self.b.ins().uextend(target, x),
            std::cmp::Ordering::Greater => self.b.ins().sextend(target, x),
        }
    }

    /// A float as an integer of type `to`, to the nearest that it has.
    fn saturate(&mut self, to: ScalarType, x: Value) -> Value {
        let (least, most) = match to {
            ScalarType::I64 => return self.b.ins().fcvt_to_sint_sat(types::I64, x),
            ScalarType::U64 => return self.b.ins().fcvt_to_uint_sat(types::I64, x),
            ScalarType::U32 => return self.b.ins().fcvt_to_uint_sat(types::I32, x),
            ScalarType::I8 => (i32::from(i8::MIN), i32::from(i8::MAX)),
            ScalarType::I16 => (i32::from(i16::MIN), i32::from(i16::MAX)),
            ScalarType::U8 => (i32::from(u8::MIN), i32::from(u8::MAX)),
            ScalarType::U16 => (i32::from(u16::MIN), i32::from(u16::MAX)),
            _ => return self.b.ins().fcvt_to_sint_sat(types::I32, x),
        };
        let x = self.b.ins().fcvt_to_sint_sat(types::I32, x);
        let least = self.b.ins().iconst(types::I32, i64::from(least.cast_unsigned()));
        let most = self.b.ins().iconst(types::I32, i64::from(most.cast_unsigned()));
        let x = self.b.ins().smax(x, least);
        let x = self.b.ins().smin(x, most);
        self.b.ins().ireduce(clif_type(to), x)
    }
}
