//! Masks: comparisons, logic, prefixes, checks.

use iced_x86::Code;
use program::ScalarType;

use super::arithmetic::{UNSIGNED_MINIMA, by_bytes};
use super::{Selector, Source, bug, view};
use crate::lanes::facts::integer_type;
use crate::lanes::ir::{BinaryOp, CompareOp, ValueId};
use crate::lanes::x86::family::{self, Family};
use crate::lanes::x86::machine::{Base, First, Item, Mem, Operand, VReg, View};

use Source::{Imm, Reg};

impl Selector<'_> {
    /// The view of a mask that is a vector.
    fn mask_view(&self) -> View {
        view(self.cut.group * self.cut.widest)
    }

    /// A piece of a mask as wide as elements of `bytes`.
    pub(super) fn mask_for(&mut self, mask: ValueId, position: usize, bytes: usize) -> diag::Result<VReg> {
        let piece = self.piece(mask, position);
        if self.cut.wide512 || bytes as u32 == self.cut.widest {
            return Ok(piece);
        }
        self.narrow(piece, self.cut.widest as usize, bytes)
    }

    /// The mask of a comparison of elements of `bytes`, as masks of this program are.
    fn widen_mask(&mut self, to: VReg, mask: VReg, bytes: usize) -> diag::Result<()> {
        if self.cut.wide512 || bytes as u32 == self.cut.widest {
            self.copy(to, mask);
            return Ok(());
        }
        let (from, to_type) = (integer_type(bytes), integer_type(self.cut.widest as usize));
        self.widen_into(to, mask, from, to_type)
    }

    pub(super) fn compare(&mut self, value: ValueId, op: CompareOp, a: ValueId, b: ValueId) -> diag::Result<()> {
        let ty = self.element(a)?;
        let view = view(self.cut.bytes(ty));
        for (position, to) in self.result(value).into_iter().enumerate() {
            let (x, y) = (self.piece(a, position), self.piece(b, position));
            let mask = if ty.is_float() {
                let predicate = match op {
                    CompareOp::Eq => 0x00,
                    CompareOp::Ne => 0x04,
                    CompareOp::Lt => 0x11,
                    CompareOp::Le => 0x12,
                    CompareOp::Gt => 0x1e,
                    CompareOp::Ge => 0x1d,
                };
                self.compare_floats(ty, view, predicate, x, y)?
            } else {
                self.compare_integers(op, ty, view, x, y)?
            };
            self.widen_mask(to, mask, ty.bytes())?;
        }
        Ok(())
    }

    pub(super) fn compare_floats(
        &mut self,
        ty: ScalarType,
        view: View,
        predicate: i64,
        x: VReg,
        y: VReg,
    ) -> diag::Result<VReg> {
        let family = if ty == ScalarType::F32 { family::CMPPS } else { family::CMPPD };
        self.compared(family, ty, view, &[Reg(x), Reg(y), Imm(predicate)])
    }

    /// A comparison into a mask as wide as its operands.
    fn compared(&mut self, family: Family, ty: ScalarType, view: View, sources: &[Source]) -> diag::Result<VReg> {
        let to = self.mask_register();
        if !self.cut.wide512 {
            self.op(family, view, to, sources)?;
            return Ok(to);
        }
        // Elements past the group would set bits.
        let within = if self.cut.bytes(ty) < 16 { Some(self.full_mask()) } else { None };
        let code = self.code(family, view)?;
        let mut operands = vec![Operand::Reg(to, View::K)];
        operands.extend(sources.iter().map(|source| source.operand(view)));
        self.push_masked(code, First::Written, operands, within, false);
        Ok(to)
    }

    fn compare_integers(&mut self, op: CompareOp, ty: ScalarType, view: View, x: VReg, y: VReg) -> diag::Result<VReg> {
        if self.cut.wide512 {
            let family = match ty {
                _ if ty.is_unsigned() => {
                    by_bytes([family::PCMPUB, family::PCMPUW, family::PCMPUD, family::PCMPUQ], ty.bytes())
                }
                _ => by_bytes([family::PCMPB, family::PCMPW, family::PCMPD, family::PCMPQ], ty.bytes()),
            };
            let predicate = match op {
                CompareOp::Eq => 0,
                CompareOp::Lt => 1,
                CompareOp::Le => 2,
                CompareOp::Ne => 4,
                CompareOp::Ge => 5,
                CompareOp::Gt => 6,
            };
            return self.compared(family, ty, view, &[Reg(x), Reg(y), Imm(predicate)]);
        }
        let equal = by_bytes([family::PCMPEQB, family::PCMPEQW, family::PCMPEQD, family::PCMPEQQ], ty.bytes());
        let greater = by_bytes([family::PCMPGTB, family::PCMPGTW, family::PCMPGTD, family::PCMPGTQ], ty.bytes());
        // There is only `==` and signed `>`; for small numbers without sign, `a <= b` says that `a` is the smaller.
        let (x, y) = match op {
            CompareOp::Lt | CompareOp::Ge => (y, x),
            _ => (x, y),
        };
        let (mask, negate) = match op {
            CompareOp::Eq | CompareOp::Ne => (self.op_new(equal, view, &[Reg(x), Reg(y)])?, op == CompareOp::Ne),
            _ if ty == ScalarType::U64 => {
                (self.greater_words(ty, view, x, y)?, matches!(op, CompareOp::Le | CompareOp::Ge))
            }
            _ if ty.is_unsigned() => {
                let least = self.op_new(by_bytes(UNSIGNED_MINIMA, ty.bytes()), view, &[Reg(x), Reg(y)])?;
                let at_most = self.op_new(equal, view, &[Reg(least), Reg(x)])?;
                (at_most, matches!(op, CompareOp::Gt | CompareOp::Lt))
            }
            _ => (self.op_new(greater, view, &[Reg(x), Reg(y)])?, matches!(op, CompareOp::Le | CompareOp::Ge)),
        };
        if !negate {
            return Ok(mask);
        }
        let ones = self.ones();
        self.op_new(family::PXOR, view, &[Reg(mask), Reg(ones)])
    }

    /// The bits of all lanes of a group, at the spacing of `mask_bits`.
    fn full_bits(&self) -> i64 {
        let bits = self.cut.group * self.spacing();
        if bits >= 64 { -1 } else { (1 << bits) - 1 }
    }

    /// How many bits of `mask_bits` stand for a lane.
    fn spacing(&self) -> u32 {
        if !self.cut.wide512 && self.cut.widest == 2 { 2 } else { 1 }
    }

    fn full_mask(&mut self) -> VReg {
        let bits = self.general();
        self.set_word(bits, self.full_bits());
        let to = self.mask_register();
        self.mask_from(to, bits);
        to
    }

    /// A mask register from bits, for AVX-512.
    fn mask_from(&mut self, to: VReg, bits: VReg) {
        self.push(Code::VEX_Kmovq_kr_r64, First::Written, vec![Operand::Reg(to, View::K), Operand::Reg(bits, View::Q)]);
    }

    /// A mask as bits in a general register; with AVX2, bits past the group mean nothing.
    pub(super) fn mask_bits(&mut self, mask: VReg) -> (VReg, u32) {
        let to = self.general();
        if self.cut.wide512 {
            let operands = vec![Operand::Reg(to, View::Q), Operand::Reg(mask, View::K)];
            self.push(Code::VEX_Kmovq_r64_kr, First::Written, operands);
            return (to, 1);
        }
        let wide = self.mask_view() == View::Y;
        let code = match (self.cut.widest, wide) {
            (4, false) => Code::VEX_Vmovmskps_r32_xmm,
            (4, true) => Code::VEX_Vmovmskps_r32_ymm,
            (8, false) => Code::VEX_Vmovmskpd_r32_xmm,
            (8, true) => Code::VEX_Vmovmskpd_r32_ymm,
            (_, false) => Code::VEX_Vpmovmskb_r32_xmm,
            (_, true) => Code::VEX_Vpmovmskb_r32_ymm,
        };
        let operands = vec![Operand::Reg(to, View::D), Operand::Reg(mask, self.mask_view())];
        self.push(code, First::Written, operands);
        (to, self.spacing())
    }

    /// The same, with no bits past the group.
    pub(super) fn exact_bits(&mut self, mask: VReg) -> (VReg, u32) {
        let (bits, spacing) = self.mask_bits(mask);
        if self.cut.wide512 {
            return (bits, spacing);
        }
        let full = self.general();
        self.set_word(full, self.full_bits());
        self.general_op(Code::And_r64_rm64, full, Operand::Reg(bits, View::Q));
        (full, spacing)
    }

    pub(super) fn mask_not(&mut self, value: ValueId, a: ValueId) -> diag::Result<()> {
        for (position, to) in self.result(value).into_iter().enumerate() {
            let x = self.piece(a, position);
            if self.cut.wide512 {
                let full = self.full_mask();
                self.mask_op(Code::VEX_Kandnq_kr_kr_kr, to, x, full);
            } else {
                let ones = self.ones();
                self.op(family::PXOR, self.mask_view(), to, &[Reg(x), Reg(ones)])?;
            }
        }
        Ok(())
    }

    fn mask_op(&mut self, code: Code, to: VReg, x: VReg, y: VReg) {
        let operands = vec![Operand::Reg(to, View::K), Operand::Reg(x, View::K), Operand::Reg(y, View::K)];
        self.push(code, First::Written, operands);
    }

    pub(super) fn mask_binary(&mut self, value: ValueId, op: BinaryOp, a: ValueId, b: ValueId) -> diag::Result<()> {
        for (position, to) in self.result(value).into_iter().enumerate() {
            let (x, y) = (self.piece(a, position), self.piece(b, position));
            self.mask_logic(op, to, x, y)?;
        }
        Ok(())
    }

    fn mask_logic(&mut self, op: BinaryOp, to: VReg, x: VReg, y: VReg) -> diag::Result<()> {
        let (code, family) = match op {
            BinaryOp::And => (Code::VEX_Kandq_kr_kr_kr, family::PAND),
            BinaryOp::Or => (Code::VEX_Korq_kr_kr_kr, family::POR),
            BinaryOp::Xor => (Code::VEX_Kxorq_kr_kr_kr, family::PXOR),
            _ => return Err(bug(format!("{} of masks", op.name()))),
        };
        if self.cut.wide512 {
            self.mask_op(code, to, x, y);
            return Ok(());
        }
        self.op(family, self.mask_view(), to, &[Reg(x), Reg(y)])
    }

    pub(super) fn mask_reduce(&mut self, value: ValueId, op: BinaryOp, a: ValueId) -> diag::Result<()> {
        let mut all = self.piece(a, 0);
        for position in 1..self.cut.pieces as usize {
            let sum = self.mask_register();
            let x = self.piece(a, position);
            self.mask_logic(op, sum, all, x)?;
            all = sum;
        }
        let (bits, _) = self.exact_bits(all);
        let (zero, result) = (self.general(), self.general());
        // All lanes set, unless the bits say otherwise.
        self.set_word(zero, 0);
        self.set_word(result, if self.cut.wide512 { self.full_bits() } else { -1 });
        let code = if op == BinaryOp::Or {
            self.compare_words(bits, Operand::Imm(0));
            Code::Cmove_r64_rm64
        } else {
            let full = self.general();
            self.set_word(full, self.full_bits());
            self.compare_words(bits, Operand::Reg(full, View::Q));
            Code::Cmovne_r64_rm64
        };
        self.general_op(code, result, Operand::Reg(zero, View::Q));
        let to = self.result(value)[0];
        if self.cut.wide512 {
            self.mask_from(to, result);
            return Ok(());
        }
        self.splat_word(to, result, 8, self.mask_view())
    }

    pub(super) fn prefix(&mut self, value: ValueId, count: ValueId) -> diag::Result<()> {
        let most = self.constants[count.index()].filter(|count| *count >= 0).or(self.most[count.index()]);
        let count = self.word(count);
        let group = i64::from(self.cut.group);
        let pieces = self.result(value);
        let lanes = group * pieces.len() as i64;
        if self.cut.wide512 && group < 32 && lanes <= 64 {
            let bits = if most.is_some_and(|most| most <= lanes) {
                self.low_bits(count)
            } else {
                self.prefix_bits(count, 0, lanes)
            };
            self.cut_bits(&pieces, bits);
            return Ok(());
        }
        for (position, to) in pieces.into_iter().enumerate() {
            let before = group * position as i64;
            if self.cut.wide512 {
                let bits = self.prefix_bits(count, before, group);
                self.mask_from(to, bits);
            } else {
                let rest = self.within(count, before, group);
                let ty = integer_type(self.cut.widest as usize);
                let splat = self.vector();
                self.splat_word(splat, rest, ty.bytes(), self.mask_view())?;
                let lanes = self.counting(ty, 0);
                let lanes = self.op_new(family::LOAD, self.mask_view(), &[Source::Mem(lanes)])?;
                let greater =
                    by_bytes([family::PCMPGTB, family::PCMPGTW, family::PCMPGTD, family::PCMPGTQ], ty.bytes());
                self.op(greater, self.mask_view(), to, &[Reg(splat), Reg(lanes)])?;
            }
        }
        Ok(())
    }

    /// How many of the `most` lanes behind the first `before` are among the first `count`, from none to all.
    fn within(&mut self, count: VReg, before: i64, most: i64) -> VReg {
        let (rest, limit) = (self.general(), self.general());
        self.copy(rest, count);
        self.set_word(limit, before + most);
        self.compare_words(rest, Operand::Reg(limit, View::Q));
        self.general_op(Code::Cmovg_r64_rm64, rest, Operand::Reg(limit, View::Q));
        self.compare_words(rest, Operand::Imm(before));
        // Set after the comparison, so that it may be what is compared with.
        self.set_word(limit, before);
        self.general_op(Code::Cmovl_r64_rm64, rest, Operand::Reg(limit, View::Q));
        if before != 0 {
            self.general_op(Code::Add_rm64_imm32, rest, Operand::Imm(-before));
        }
        rest
    }

    /// The same as that many bits, of at most 64.
    fn prefix_bits(&mut self, count: VReg, before: i64, most: i64) -> VReg {
        let rest = self.within(count, before, most);
        self.low_bits(rest)
    }

    /// So many ones; from none to all.
    fn low_bits(&mut self, count: VReg) -> VReg {
        let (ones, bits) = (self.general(), self.general());
        self.set_word(ones, -1);
        let operands = vec![Operand::Reg(bits, View::Q), Operand::Reg(ones, View::Q), Operand::Reg(count, View::Q)];
        self.push(Code::VEX_Bzhi_r64_rm64_r64, First::Written, operands);
        bits
    }

    /// Pieces of a mask from the bits of all of them. Those past the group of a piece stay zero.
    fn cut_bits(&mut self, pieces: &[VReg], bits: VReg) {
        for (position, to) in pieces.iter().enumerate() {
            let own = self.general();
            self.copy(own, bits);
            if position > 0 {
                let before = i64::from(self.cut.group) * position as i64;
                self.general_op(Code::Shr_rm64_imm8, own, Operand::Imm(before));
            }
            if position + 1 < pieces.len() {
                self.general_op(Code::And_rm64_imm32, own, Operand::Imm(self.full_bits()));
            }
            self.mask_from(*to, own);
        }
    }

    /// Ends the program at the first piece with a lane whose index is not below the extent.
    pub(super) fn check(
        &mut self,
        index: ValueId,
        extent: ValueId,
        mask: Option<ValueId>,
        site: u32,
    ) -> diag::Result<()> {
        let extent = self.word(extent);
        let view = view(self.cut.bytes(ScalarType::I64));
        let limit = self.vector();
        self.splat_word(limit, extent, 8, view)?;
        let pieces = self.places[index.index()].len().max(mask.map_or(1, |mask| self.places[mask.index()].len()));
        for position in 0..pieces {
            let index = self.piece(index, position);
            let mut outside = if self.cut.wide512 {
                self.compared(family::PCMPUQ, ScalarType::I64, view, &[Reg(index), Reg(limit), Imm(5)])?
            } else {
                // Without a sign: the order with the top bits flipped. Not (limit > index).
                let top = self.constant(ScalarType::I64, program::Value::I64(i64::MIN))?;
                let (x, y) = (
                    self.op_new(family::PXOR, view, &[Reg(index), Reg(top)])?,
                    self.op_new(family::PXOR, view, &[Reg(limit), Reg(top)])?,
                );
                let inside = self.op_new(family::PCMPGTQ, view, &[Reg(y), Reg(x)])?;
                let ones = self.ones();
                self.op_new(family::PXOR, view, &[Reg(inside), Reg(ones)])?
            };
            if let Some(mask) = mask {
                let active = self.piece(mask, position);
                let both = self.mask_register();
                self.mask_logic(BinaryOp::And, both, outside, active)?;
                outside = both;
            }
            let (bits, _) = self.exact_bits(outside);
            let inside = self.stream.label();
            let operands = vec![Operand::Reg(bits, View::Q), Operand::Reg(bits, View::Q)];
            self.push(Code::Test_rm64_r64, First::Read, operands);
            self.jump(Code::Je_rel32_64, inside);
            self.fail(index, bits, site);
            self.place_label(inside);
        }
        Ok(())
    }

    /// Reports the index of the first lane whose bit is set, and ends the program.
    fn fail(&mut self, index: VReg, bits: VReg, site: u32) {
        let (lane, value, report) = (self.general(), self.general(), self.general());
        let count = vec![Operand::Reg(lane, View::Q), Operand::Reg(bits, View::Q)];
        self.push(Code::Tzcnt_r64_rm64, First::Written, count);
        let slot = self.stream.frame_slot();
        let view = view(self.cut.bytes(ScalarType::I64));
        let store = family::STORE.code(self.cut.wide512, view).unwrap_or_default();
        self.push(store, First::Read, vec![Operand::Mem(slot), Operand::Reg(index, view)]);
        let from = Mem { index: Some((lane, 8)), ..slot };
        self.push(Code::Mov_r64_rm64, First::Written, vec![Operand::Reg(value, View::Q), Operand::Mem(from)]);
        let last = (self.program.slots.saturating_sub(1) * 8) as i32;
        let pointer = Mem::new(Base::Arguments, last);
        self.push(Code::Mov_r64_rm64, First::Written, vec![Operand::Reg(report, View::Q), Operand::Mem(pointer)]);
        let to = Mem::new(Base::Reg(report), 0);
        self.push(Code::Mov_rm64_r64, First::Read, vec![Operand::Mem(to), Operand::Reg(value, View::Q)]);
        self.stream.items.push(Item::Return(i32::try_from(site).unwrap_or(i32::MAX)));
    }
}
