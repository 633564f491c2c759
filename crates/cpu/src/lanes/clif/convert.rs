//! Conversions between element types, as Rust's `as`: integers wrap, floats saturate and NaN becomes 0.

use cranelift_codegen::ir::{InstBuilder, Value as ClifValue, types};
use program::ScalarType;

use super::{Emitter, integer, scalar_type, vector};

impl Emitter<'_> {
    pub(super) fn convert(&mut self, from: ScalarType, to: ScalarType, x: ClifValue) -> ClifValue {
        use ScalarType::{F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        match (from, to) {
            _ if from == to => x,
            _ if !from.is_float() && !to.is_float() && from.bytes() == to.bytes() => x,
            (F32, F64) => self.b.ins().fvpromote_low(x),
            (F64, F32) => self.b.ins().fvdemote(x),
            (I32, F32) => self.b.ins().fcvt_from_sint(types::F32X4, x),
            (F32, I32) => self.b.ins().fcvt_to_sint_sat(types::I32X4, x),
            (I8, I16 | U16) | (I16, I32 | U32) | (I32, I64 | U64) => self.b.ins().swiden_low(x),
            (U8, I16 | U16) | (U16, I32 | U32) | (U32, I64 | U64) => self.b.ins().uwiden_low(x),
            _ => self.lane_by_lane(from, to, x),
        }
    }

    fn lane_by_lane(&mut self, from: ScalarType, to: ScalarType, x: ClifValue) -> ClifValue {
        let mut result = self.zero(to);
        for lane in 0..self.cut.group as u8 {
            let element = self.b.ins().extractlane(x, lane);
            let element = self.scalar(from, to, element);
            result = self.b.ins().insertlane(result, element, lane);
        }
        debug_assert_eq!(self.b.func.dfg.value_type(result), vector(to));
        result
    }

    fn scalar(&mut self, from: ScalarType, to: ScalarType, x: ClifValue) -> ClifValue {
        match (from.is_float(), to.is_float()) {
            (true, true) if to == ScalarType::F64 => self.b.ins().fpromote(types::F64, x),
            (true, true) => self.b.ins().fdemote(types::F32, x),
            (false, true) => {
                if from == ScalarType::U64 {
                    return self.b.ins().fcvt_from_uint(scalar_type(to), x);
                }
                let wide = from.bytes() == 8 || from == ScalarType::U32;
                let wide = self.resize(from, if wide { 8 } else { 4 }, x);
                self.b.ins().fcvt_from_sint(scalar_type(to), wide)
            }
            (false, false) => self.resize(from, to.bytes(), x),
            (true, false) => {
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
                self.b.ins().ireduce(integer(to.bytes()), x)
            }
        }
    }

    fn resize(&mut self, from: ScalarType, bytes: usize, x: ClifValue) -> ClifValue {
        let ty = integer(bytes);
        match bytes.cmp(&from.bytes()) {
            std::cmp::Ordering::Less => self.b.ins().ireduce(ty, x),
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater if from.is_unsigned() => self.b.ins().uextend(ty, x),
            std::cmp::Ordering::Greater => self.b.ins().sextend(ty, x),
        }
    }
}
