//! Conversions between element types, as Rust's `as`: integers wrap, floats saturate and NaN becomes 0.

use iced_x86::Code;
use program::{ScalarType, Value};

use super::{Selector, Source, bug, view};
use crate::lanes::ir::ValueId;
use crate::lanes::x86::family::{self, Family};
use crate::lanes::x86::machine::{First, Mem, Operand, VReg, View};

use Source::{As, Reg};

impl Selector<'_> {
    pub(super) fn convert(&mut self, value: ValueId, a: ValueId) -> diag::Result<()> {
        let (from, to_type) = (self.element(a)?, self.element(value)?);
        for (position, to) in self.result(value).into_iter().enumerate() {
            let x = self.piece(a, position);
            self.convert_piece(to, x, from, to_type)?;
        }
        Ok(())
    }

    fn convert_piece(&mut self, to: VReg, x: VReg, from: ScalarType, to_type: ScalarType) -> diag::Result<()> {
        match (from.is_float(), to_type.is_float()) {
            _ if from == to_type => {
                self.copy(to, x);
                Ok(())
            }
            (true, true) if to_type == ScalarType::F64 => self.resized(family::CVTPS2PD, to, to_type, x, from),
            (true, true) => self.resized_down(family::CVTPD2PS, to, to_type, x, from),
            (false, true) => self.make_float(to, x, from, to_type),
            (true, false) => self.make_integer(to, x, from, to_type),
            (false, false) if from.bytes() == to_type.bytes() => {
                self.copy(to, x);
                Ok(())
            }
            (false, false) if from.bytes() < to_type.bytes() => self.widen_into(to, x, from, to_type),
            (false, false) => {
                let narrow = self.narrow(x, from.bytes(), to_type.bytes())?;
                self.copy(to, narrow);
                Ok(())
            }
        }
    }

    /// An instruction whose form goes by its result, with a source of another size.
    pub(super) fn resized(
        &mut self,
        family: Family,
        to: VReg,
        to_type: ScalarType,
        x: VReg,
        from: ScalarType,
    ) -> diag::Result<()> {
        let (to_view, from_view) = (view(self.cut.bytes(to_type)), view(self.cut.bytes(from)));
        self.op(family, to_view, to, &[As(x, from_view)])
    }

    /// An instruction whose form goes by its source.
    pub(super) fn resized_down(
        &mut self,
        family: Family,
        to: VReg,
        to_type: ScalarType,
        x: VReg,
        from: ScalarType,
    ) -> diag::Result<()> {
        let (to_view, from_view) = (view(self.cut.bytes(to_type)), view(self.cut.bytes(from)));
        let code = self.code(family, from_view)?;
        self.push(code, First::Written, vec![Operand::Reg(to, to_view), Operand::Reg(x, from_view)]);
        Ok(())
    }

    /// Integers to larger ones.
    pub(super) fn widen_into(&mut self, to: VReg, x: VReg, from: ScalarType, to_type: ScalarType) -> diag::Result<()> {
        let family = match (from, to_type.bytes()) {
            (ScalarType::U16, 4) => family::PMOVZXWD,
            (ScalarType::U16, _) => family::PMOVZXWQ,
            (ScalarType::U32, _) => family::PMOVZXDQ,
            (ScalarType::U8, 2) => family::PMOVZXBW,
            (ScalarType::U8, 4) => family::PMOVZXBD,
            (ScalarType::U8, _) => family::PMOVZXBQ,
            (ScalarType::I8, 2) => family::PMOVSXBW,
            (ScalarType::I8, 4) => family::PMOVSXBD,
            (ScalarType::I8, _) => family::PMOVSXBQ,
            (ScalarType::I16, 4) => family::PMOVSXWD,
            (ScalarType::I16, _) => family::PMOVSXWQ,
            _ => family::PMOVSXDQ,
        };
        self.resized(family, to, to_type, x, from)
    }

    /// The low bytes of integers, in a new register.
    pub(super) fn narrow(&mut self, x: VReg, from: usize, to: usize) -> diag::Result<VReg> {
        let bytes = self.cut.group * from as u32;
        let result = self.vector();
        if self.cut.wide512 {
            let family = match (from, to) {
                (2, _) => family::PMOVWB,
                (4, 1) => family::PMOVDB,
                (4, _) => family::PMOVDW,
                (_, 1) => family::PMOVQB,
                (_, 2) => family::PMOVQW,
                _ => family::PMOVQD,
            };
            let code = self.code(family, view(bytes))?;
            let to_view = view(self.cut.group * to as u32);
            self.push(code, First::Written, vec![Operand::Reg(result, to_view), Operand::Reg(x, view(bytes))]);
            return Ok(result);
        }
        // The low bytes of each element side by side, the rest zero.
        let order = (0..16 / from).flat_map(|lane| (0..to).map(move |byte| (lane * from + byte) as u8));
        let mut order: Vec<u8> = order.collect();
        order.resize(16, 0x80);
        let order = self.stream.constant(&order);
        let order = self.op_new(family::LOAD, View::X, &[Source::Mem(order)])?;
        let low = self.op_new(family::PSHUFB, View::X, &[Reg(x), Reg(order)])?;
        if bytes <= 16 {
            return Ok(low);
        }
        let high = self.part(x, bytes, 1);
        let high = self.op_new(family::PSHUFB, View::X, &[Reg(high), Reg(order)])?;
        let join = match 16 / from * to {
            8 => family::PUNPCKLQDQ,
            4 => family::PUNPCKLDQ,
            _ => family::PUNPCKLWD,
        };
        self.op(join, View::X, result, &[Reg(low), Reg(high)])?;
        Ok(result)
    }

    fn make_float(&mut self, to: VReg, x: VReg, from: ScalarType, to_type: ScalarType) -> diag::Result<()> {
        let double = to_type == ScalarType::F64;
        if from == ScalarType::I64 {
            return match (self.cut.wide512, double) {
                (true, true) => self.resized(family::CVTQQ2PD, to, to_type, x, from),
                (true, false) => self.resized_down(family::CVTQQ2PS, to, to_type, x, from),
                (false, _) => {
                    let code = if double { Code::VEX_Vcvtsi2sd_xmm_xmm_rm64 } else { Code::VEX_Vcvtsi2ss_xmm_xmm_rm64 };
                    self.one_by_one(to, x, from, to_type, |selector, source, target| {
                        let (zero, result) = (selector.vector(), selector.vector());
                        selector.clear(zero);
                        let operands =
                            vec![Operand::Reg(result, View::X), Operand::Reg(zero, View::X), Operand::Mem(source)];
                        selector.push(code, First::Written, operands);
                        let store = if double { family::MOVQ_STORE } else { family::MOVD_STORE };
                        let operands = vec![Operand::Mem(target), Operand::Reg(result, View::X)];
                        selector.push(store.code(false), First::Read, operands);
                    })
                }
            };
        }
        if from.is_unsigned() && from.bytes() >= 4 {
            return self.make_float_unsigned(to, x, from, to_type);
        }
        let mut x = x;
        if from.bytes() < 4 {
            let wide = self.vector();
            self.widen_into(wide, x, from, ScalarType::I32)?;
            x = wide;
        }
        match double {
            true => self.resized(family::CVTDQ2PD, to, to_type, x, ScalarType::I32),
            false => self.resized(family::CVTDQ2PS, to, to_type, x, ScalarType::I32),
        }
    }

    /// NaN becomes 0 first. Then narrow results are clamped as floats, where their limits are exact; wide ones have what
    /// is too large replaced, and what is too small is already the least integer.
    fn make_integer(&mut self, to: VReg, x: VReg, from: ScalarType, to_type: ScalarType) -> diag::Result<()> {
        if from == ScalarType::F32 && to_type.bytes() == 8 {
            let wide = self.vector();
            self.resized(family::CVTPS2PD, wide, ScalarType::F64, x, from)?;
            return self.make_integer(to, wide, ScalarType::F64, to_type);
        }
        if to_type.is_unsigned() && to_type.bytes() >= 4 {
            return self.make_unsigned(to, x, from, to_type);
        }
        let from_view = view(self.cut.bytes(from));
        let single = from == ScalarType::F32;
        let number = |value: f64| if single { Value::F32(value as f32) } else { Value::F64(value) };
        let ordered = self.compare_floats(from, from_view, 7, x, x)?;
        let zero = self.vector();
        self.clear(zero);
        let number_or_zero = self.vector();
        self.blend(from.bytes(), from_view, number_or_zero, ordered, x, zero)?;
        let x = number_or_zero;
        if from.bytes() == to_type.bytes() {
            let raw = self.vector();
            let (limit, most) = if single {
                self.op(family::CVTTPS2DQ, from_view, raw, &[Reg(x)])?;
                (2_147_483_648.0, Value::I32(i32::MAX))
            } else {
                self.truncate_doubles(raw, x)?;
                (9_223_372_036_854_775_808.0, Value::I64(i64::MAX))
            };
            let limit = self.constant(from, number(limit))?;
            let too_large = self.compare_floats(from, from_view, 0x1d, x, limit)?;
            let most = self.constant(to_type, most)?;
            return self.blend(from.bytes(), from_view, to, too_large, most, raw);
        }
        let (least, most) = match to_type {
            ScalarType::I8 => (-128.0, 127.0),
            ScalarType::U8 => (0.0, 255.0),
            ScalarType::I16 => (-32768.0, 32767.0),
            ScalarType::U16 => (0.0, 65535.0),
            ScalarType::I32 => (-2_147_483_648.0, 2_147_483_647.0),
            _ => return Err(bug(format!("{from} to {to_type}"))),
        };
        let (least, most) = (self.constant(from, number(least))?, self.constant(from, number(most))?);
        let (max, min) = if single { (family::MAXPS, family::MINPS) } else { (family::MAXPD, family::MINPD) };
        let x = self.op_new(max, from_view, &[Reg(x), Reg(least)])?;
        let x = self.op_new(min, from_view, &[Reg(x), Reg(most)])?;
        let whole = self.vector();
        match single {
            true => self.op(family::CVTTPS2DQ, from_view, whole, &[Reg(x)])?,
            false => self.resized_down(family::CVTTPD2DQ, whole, ScalarType::I32, x, from)?,
        }
        let result = if to_type.bytes() < 4 { self.narrow(whole, 4, to_type.bytes())? } else { whole };
        self.copy(to, result);
        Ok(())
    }

    fn truncate_doubles(&mut self, to: VReg, x: VReg) -> diag::Result<()> {
        let view = view(self.cut.bytes(ScalarType::F64));
        if self.cut.wide512 {
            return self.op(family::CVTTPD2QQ, view, to, &[Reg(x)]);
        }
        self.one_by_one(to, x, ScalarType::F64, ScalarType::I64, |selector, source, target| {
            let number = selector.general();
            let operands = vec![Operand::Reg(number, View::Q), Operand::Mem(source)];
            selector.push(Code::VEX_Vcvttsd2si_r64_xmmm64, First::Written, operands);
            let operands = vec![Operand::Mem(target), Operand::Reg(number, View::Q)];
            selector.push(Code::Mov_rm64_r64, First::Read, operands);
        })
    }

    /// Through memory, an element at a time: what AVX2 has no vector instruction for.
    pub(super) fn one_by_one(
        &mut self,
        to: VReg,
        x: VReg,
        from: ScalarType,
        to_type: ScalarType,
        each: impl Fn(&mut Self, Mem, Mem),
    ) -> diag::Result<()> {
        let (source, target) = (self.stream.frame_slot(), self.stream.frame_slot());
        let (from_view, to_view) = (view(self.cut.bytes(from)), view(self.cut.bytes(to_type)));
        let store = self.code(family::STORE, from_view)?;
        self.push(store, First::Read, vec![Operand::Mem(source), Operand::Reg(x, from_view)]);
        for lane in 0..self.cut.group {
            let at =
                |slot: Mem, ty: ScalarType| Mem { offset: slot.offset + (lane as usize * ty.bytes()) as i32, ..slot };
            each(self, at(source, from), at(target, to_type));
        }
        self.op(family::LOAD, to_view, to, &[Source::Mem(target)])
    }
}
