//! Lanes one by one: strides, indices, and masks that no instruction has.

use iced_x86::Code;
use program::ScalarType;

use super::{Selector, bug};
use crate::lanes::ir::{Access, ValueId};
use crate::lanes::x86::family;
use crate::lanes::x86::machine::{Base, First, Mem, Operand, VReg, View};

/// Where lanes are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lanes {
    /// From an address on, so far apart.
    Apart(Mem, Stride),
    /// At a base and an index per lane, in elements.
    At(VReg, ValueId),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Stride {
    Constant(i64),
    Word(ValueId),
}

impl Selector<'_> {
    pub(super) fn stride(&self, access: Access, ty: ScalarType) -> Stride {
        let bytes = ty.bytes() as i64;
        match access {
            Access::Unit | Access::Streamed => Stride::Constant(bytes),
            Access::Same => Stride::Constant(0),
            Access::Reversed => Stride::Constant(-bytes),
            Access::Strided(stride) => match self.constants[stride.index()] {
                Some(constant) => Stride::Constant(constant),
                None => Stride::Word(stride),
            },
        }
    }

    pub(super) fn gather(
        &mut self,
        value: ValueId,
        base: ValueId,
        index: ValueId,
        mask: Option<ValueId>,
    ) -> diag::Result<()> {
        let (ty, base) = (self.element(value)?, self.word(base));
        self.load_lanes(value, ty, Lanes::At(base, index), mask)
    }

    pub(super) fn scatter(
        &mut self,
        value: ValueId,
        base: ValueId,
        index: ValueId,
        mask: Option<ValueId>,
    ) -> diag::Result<()> {
        let (ty, base) = (self.element(value)?, self.word(base));
        self.store_lanes(value, ty, Lanes::At(base, index), mask)
    }

    pub(super) fn load_lanes(
        &mut self,
        value: ValueId,
        ty: ScalarType,
        lanes: Lanes,
        mask: Option<ValueId>,
    ) -> diag::Result<()> {
        let mut places = self.lane_places(lanes, ty);
        let per_part = (16 / ty.bytes() as u32).min(self.cut.group);
        let wide512 = self.cut.wide512;
        for (position, to) in self.result_apart(value).into_iter().enumerate() {
            let bits = self.active_bits(mask, position);
            let mut parts = Vec::new();
            for lane in 0..self.cut.group {
                if lane % per_part == 0 {
                    let part = self.vector();
                    self.clear(part);
                    parts.push(part);
                }
                let part = *parts.last().ok_or_else(|| bug("no part"))?;
                let mem = places.next(self, position, lane)?;
                let skip = self.skip_unless(bits, lane);
                let single = match ty.bytes() {
                    1 => family::PINSRB,
                    2 => family::PINSRW,
                    4 => family::PINSRD,
                    _ => family::PINSRQ,
                };
                let register = Operand::Reg(part, View::X);
                let operands = vec![register, register, Operand::Mem(mem), Operand::Imm(i64::from(lane % per_part))];
                self.push(single.code(wide512), First::ReadAndWritten, operands);
                if let Some(skip) = skip {
                    self.place_label(skip);
                }
            }
            self.join(to, &parts)?;
        }
        self.finish_apart(value);
        Ok(())
    }

    pub(super) fn store_lanes(
        &mut self,
        value: ValueId,
        ty: ScalarType,
        lanes: Lanes,
        mask: Option<ValueId>,
    ) -> diag::Result<()> {
        let mut places = self.lane_places(lanes, ty);
        let per_part = (16 / ty.bytes() as u32).min(self.cut.group);
        let single = match ty.bytes() {
            1 => family::PEXTRB,
            2 => family::PEXTRW,
            4 => family::PEXTRD,
            _ => family::PEXTRQ,
        };
        let code = single.code(self.cut.wide512);
        for position in 0..self.cut.pieces as usize {
            let bits = self.active_bits(mask, position);
            let from = self.piece(value, position);
            let mut part = from;
            for lane in 0..self.cut.group {
                if lane % per_part == 0 {
                    part = self.part(from, self.cut.bytes(ty), lane / per_part);
                }
                let mem = places.next(self, position, lane)?;
                let skip = self.skip_unless(bits, lane);
                let place = Operand::Imm(i64::from(lane % per_part));
                self.push(code, First::Read, vec![Operand::Mem(mem), Operand::Reg(part, View::X), place]);
                if let Some(skip) = skip {
                    self.place_label(skip);
                }
            }
        }
        Ok(())
    }

    /// New registers for a value that is made step by step, while what it is made of is still read.
    fn result_apart(&mut self, value: ValueId) -> Vec<VReg> {
        let registers = self.fresh_for(value);
        self.places[value.index()] = registers.clone();
        registers
    }

    /// Moves such a value to where it has to be.
    fn finish_apart(&mut self, value: ValueId) {
        if let Some(wanted) = self.wanted[value.index()].take() {
            let made = std::mem::replace(&mut self.places[value.index()], wanted.clone());
            for (to, from) in wanted.into_iter().zip(made) {
                self.copy(to, from);
            }
        }
    }

    fn active_bits(&mut self, mask: Option<ValueId>, position: usize) -> Option<(VReg, u32)> {
        let mask = self.piece(mask?, position);
        Some(self.mask_bits(mask))
    }

    /// Jumps over what follows if the lane is left out.
    fn skip_unless(&mut self, bits: Option<(VReg, u32)>, lane: u32) -> Option<crate::lanes::x86::machine::Label> {
        let (bits, spacing) = bits?;
        let skip = self.stream.label();
        let bit = Operand::Imm(i64::from(lane * spacing));
        self.push(Code::Bt_rm64_imm8, First::Read, vec![Operand::Reg(bits, View::Q), bit]);
        self.jump(Code::Jae_rel32_64, skip);
        Some(skip)
    }

    fn lane_places(&mut self, lanes: Lanes, ty: ScalarType) -> Places {
        match lanes {
            Lanes::Apart(mem, Stride::Constant(bytes)) => Places::Constant { mem, bytes },
            Lanes::Apart(mem, Stride::Word(stride)) => {
                let (pointer, stride) = (self.general(), self.word(stride));
                self.lea(pointer, mem);
                Places::Stepped { pointer, stride, started: false }
            }
            Lanes::At(base, index) => Places::Indexed { base, index, bytes: ty.bytes() as u8, part: None },
        }
    }
}

/// The addresses of lanes, in order.
enum Places {
    Constant { mem: Mem, bytes: i64 },
    Stepped { pointer: VReg, stride: VReg, started: bool },
    Indexed { base: VReg, index: ValueId, bytes: u8, part: Option<VReg> },
}

impl Places {
    fn next(&mut self, selector: &mut Selector<'_>, position: usize, lane: u32) -> diag::Result<Mem> {
        match self {
            Places::Constant { mem, bytes } => {
                let number = position as i64 * i64::from(selector.cut.group) + i64::from(lane);
                selector.further(*mem, bytes.wrapping_mul(number))
            }
            Places::Stepped { pointer, stride, started } => {
                if std::mem::replace(started, true) {
                    let next = selector.general();
                    let sum = Mem { base: Base::Reg(*pointer), index: Some((*stride, 1)), offset: 0, broadcast: false };
                    selector.lea(next, sum);
                    *pointer = next;
                }
                Ok(Mem::new(Base::Reg(*pointer), 0))
            }
            Places::Indexed { base, index, bytes, part } => {
                let whole = selector.piece(*index, position);
                if lane.is_multiple_of(2) {
                    let size = selector.cut.bytes(ScalarType::I64);
                    *part = Some(selector.part(whole, size, lane / 2));
                }
                let part = part.ok_or_else(|| bug("no part"))?;
                let number = selector.general();
                let code = family::PEXTRQ.code(selector.cut.wide512);
                let operands =
                    vec![Operand::Reg(number, View::Q), Operand::Reg(part, View::X), Operand::Imm(i64::from(lane % 2))];
                selector.push(code, First::Written, operands);
                Ok(Mem { base: Base::Reg(*base), index: Some((number, *bytes)), offset: 0, broadcast: false })
            }
        }
    }
}
