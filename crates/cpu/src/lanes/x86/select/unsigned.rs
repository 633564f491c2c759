//! Conversions of 32- and 64-bit integers without a sign: one instruction with AVX-512, an element at a time with AVX2.

use iced_x86::Code;
use program::{ScalarType, Value};

use super::{Selector, Source, view};
use crate::lanes::x86::family;
use crate::lanes::x86::machine::{First, Mem, Operand, VReg, View};

use Source::Reg;

impl Selector<'_> {
    pub(super) fn make_float_unsigned(
        &mut self,
        to: VReg,
        x: VReg,
        from: ScalarType,
        to_type: ScalarType,
    ) -> diag::Result<()> {
        let (double, word) = (to_type == ScalarType::F64, from == ScalarType::U64);
        if self.cut.wide512 {
            return match (word, double) {
                (false, true) => self.resized(family::CVTUDQ2PD, to, to_type, x, from),
                (false, false) => self.resized(family::CVTUDQ2PS, to, to_type, x, from),
                (true, true) => self.resized(family::CVTUQQ2PD, to, to_type, x, from),
                (true, false) => self.resized_down(family::CVTUQQ2PS, to, to_type, x, from),
            };
        }
        self.one_by_one(to, x, from, to_type, |selector, source, target| {
            let number = selector.general();
            let (code, size) = if word { (Code::Mov_r64_rm64, View::Q) } else { (Code::Mov_r32_rm32, View::D) };
            // What is moved in 32 bits has zeros above.
            selector.push(code, First::Written, vec![Operand::Reg(number, size), Operand::Mem(source)]);
            selector.float_of_word(number, word, double, target);
        })
    }

    /// Half of a number from 2^63 on, with the bit that goes kept in the last one, is rounded as the number is.
    fn float_of_word(&mut self, number: VReg, may_be_large: bool, double: bool, target: Mem) {
        let signed = self.general();
        self.copy(signed, number);
        if may_be_large {
            let (half, last) = (self.general(), self.general());
            self.copy(half, number);
            self.general_op(Code::Shr_rm64_imm8, half, Operand::Imm(1));
            self.copy(last, number);
            self.general_op(Code::And_rm64_imm32, last, Operand::Imm(1));
            self.general_op(Code::Or_r64_rm64, half, Operand::Reg(last, View::Q));
            let operands = vec![Operand::Reg(number, View::Q), Operand::Reg(number, View::Q)];
            self.push(Code::Test_rm64_r64, First::Read, operands);
            self.general_op(Code::Cmovs_r64_rm64, signed, Operand::Reg(half, View::Q));
        }
        let (convert, add) = match double {
            true => (Code::VEX_Vcvtsi2sd_xmm_xmm_rm64, Code::VEX_Vaddsd_xmm_xmm_xmmm64),
            false => (Code::VEX_Vcvtsi2ss_xmm_xmm_rm64, Code::VEX_Vaddss_xmm_xmm_xmmm32),
        };
        let (zero, result) = (self.vector(), self.vector());
        self.clear(zero);
        let operands = vec![Operand::Reg(result, View::X), Operand::Reg(zero, View::X), Operand::Reg(signed, View::Q)];
        self.push(convert, First::Written, operands);
        let store = if double { family::MOVQ_STORE } else { family::MOVD_STORE }.code(false);
        self.push(store, First::Read, vec![Operand::Mem(target), Operand::Reg(result, View::X)]);
        if may_be_large {
            let small = self.stream.label();
            let operands = vec![Operand::Reg(number, View::Q), Operand::Reg(number, View::Q)];
            self.push(Code::Test_rm64_r64, First::Read, operands);
            self.jump(Code::Jns_rel32_64, small);
            let twice = self.vector();
            self.push(add, First::Written, [twice, result, result].map(|reg| Operand::Reg(reg, View::X)).to_vec());
            self.push(store, First::Read, vec![Operand::Mem(target), Operand::Reg(twice, View::X)]);
            self.place_label(small);
        }
    }

    /// NaN and what is negative become 0 first; what is too large becomes ones.
    pub(super) fn make_unsigned(
        &mut self,
        to: VReg,
        x: VReg,
        from: ScalarType,
        to_type: ScalarType,
    ) -> diag::Result<()> {
        let (single, from_view) = (from == ScalarType::F32, view(self.cut.bytes(from)));
        let zero = self.vector();
        self.clear(zero);
        // The second operand is what a maximum with NaN is.
        let max = if single { family::MAXPS } else { family::MAXPD };
        let x = self.op_new(max, from_view, &[Reg(x), Reg(zero)])?;
        if self.cut.wide512 {
            return match (single, to_type) {
                (true, _) => self.op(family::CVTTPS2UDQ, from_view, to, &[Reg(x)]),
                (false, ScalarType::U32) => self.resized_down(family::CVTTPD2UDQ, to, to_type, x, from),
                (false, _) => self.op(family::CVTTPD2UQQ, from_view, to, &[Reg(x)]),
            };
        }
        let limit = if to_type == ScalarType::U32 { 4_294_967_296.0 } else { 18_446_744_073_709_551_616.0 };
        let number = |value: f64| if single { Value::F32(value as f32) } else { Value::F64(value) };
        let min = if single { family::MINPS } else { family::MINPD };
        let limit = self.constant(from, number(limit))?;
        let x = self.op_new(min, from_view, &[Reg(x), Reg(limit)])?;
        self.one_by_one(to, x, from, to_type, |selector, source, target| match to_type {
            ScalarType::U32 => selector.half_word_of_float(single, source, target),
            _ => selector.word_of_double(source, target),
        })
    }

    fn half_word_of_float(&mut self, single: bool, source: Mem, target: Mem) {
        let (number, most) = (self.general(), self.general());
        let code = if single { Code::VEX_Vcvttss2si_r64_xmmm32 } else { Code::VEX_Vcvttsd2si_r64_xmmm64 };
        self.push(code, First::Written, vec![Operand::Reg(number, View::Q), Operand::Mem(source)]);
        self.set_word(most, i64::from(u32::MAX));
        self.compare_words(number, Operand::Reg(most, View::Q));
        self.general_op(Code::Cmovg_r64_rm64, number, Operand::Reg(most, View::Q));
        self.push(Code::Mov_rm32_r32, First::Read, vec![Operand::Mem(target), Operand::Reg(number, View::D)]);
    }

    /// From 2^63 on, what is above that is converted, and the top bit set; 2^64 itself becomes ones.
    fn word_of_double(&mut self, source: Mem, target: Mem) {
        let (number, large, done) = (self.general(), self.general(), self.stream.label());
        let convert = Code::VEX_Vcvttsd2si_r64_xmmm64;
        self.push(convert, First::Written, vec![Operand::Reg(number, View::Q), Operand::Mem(source)]);
        self.push(Code::Mov_rm64_r64, First::Read, vec![Operand::Mem(target), Operand::Reg(number, View::Q)]);
        let operands = vec![Operand::Reg(number, View::Q), Operand::Reg(number, View::Q)];
        self.push(Code::Test_rm64_r64, First::Read, operands);
        self.jump(Code::Jns_rel32_64, done);
        let (value, above) = (self.vector(), self.vector());
        let load = family::MOVQ_LOAD.code(false);
        self.push(load, First::Written, vec![Operand::Reg(value, View::X), Operand::Mem(source)]);
        let half = self.stream.constant(&9_223_372_036_854_775_808_f64.to_le_bytes());
        let operands = vec![Operand::Reg(above, View::X), Operand::Reg(value, View::X), Operand::Mem(half)];
        self.push(Code::VEX_Vsubsd_xmm_xmm_xmmm64, First::Written, operands);
        self.push(convert, First::Written, vec![Operand::Reg(large, View::Q), Operand::Reg(above, View::X)]);
        // 2^63 gives the top bit alone, which is no number below it: all bits are set then.
        let (top, ones) = (self.general(), self.general());
        self.set_word(top, i64::MIN);
        self.set_word(ones, -1);
        self.compare_words(large, Operand::Reg(top, View::Q));
        self.general_op(Code::Cmove_r64_rm64, large, Operand::Reg(ones, View::Q));
        self.general_op(Code::Or_r64_rm64, large, Operand::Reg(top, View::Q));
        self.push(Code::Mov_rm64_r64, First::Read, vec![Operand::Mem(target), Operand::Reg(large, View::Q)]);
        self.place_label(done);
    }
}
