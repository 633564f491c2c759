//! Loads and stores of whole pieces: unit stride, the same for all lanes, reversed.
//!
//! Not here: lanes one by one (`scattered`), which is also the way of whatever has no instruction.

use iced_x86::Code;
use program::ScalarType;

use super::arithmetic::{broadcast, by_bytes};
use super::scattered::Lanes;
use super::{Selector, Source, view};
use crate::lanes::ir::{Access, Address, ValueId};
use crate::lanes::x86::family;
use crate::lanes::x86::machine::{First, Inst, Item, Mem, Operand, VReg, View};

use Source::{As, Imm, Reg};

impl Selector<'_> {
    pub(super) fn load(
        &mut self,
        value: ValueId,
        at: &Address,
        access: Access,
        mask: Option<ValueId>,
    ) -> diag::Result<()> {
        let ty = self.element(value)?;
        let mem = self.memory(at);
        match access {
            Access::Same => {
                for (position, to) in self.result(value).into_iter().enumerate() {
                    self.load_same(to, mem, ty, mask, position)?;
                }
                Ok(())
            }
            Access::Unit if mask.is_none() || self.can_mask(ty) => {
                let bytes = self.cut.bytes(ty);
                for (position, to) in self.result(value).into_iter().enumerate() {
                    let mem = self.further(mem, i64::from(bytes) * position as i64)?;
                    match mask {
                        None => self.load_piece(to, mem, bytes),
                        Some(mask) => {
                            let mask = self.mask_for(mask, position, ty.bytes())?;
                            self.load_masked(to, mem, ty, mask)?;
                        }
                    }
                }
                Ok(())
            }
            Access::Reversed if self.can_reverse(ty) => {
                let bytes = self.cut.bytes(ty);
                for (position, to) in self.result(value).into_iter().enumerate() {
                    let mem = self.further(mem, reversed_start(bytes, ty, position))?;
                    let Some(mask) = mask else {
                        self.reverse(to, Source::Mem(mem), ty)?;
                        continue;
                    };
                    let (straight, mask) = (self.vector(), self.reversed_mask(mask, position, ty)?);
                    self.load_masked(straight, mem, ty, mask)?;
                    self.reverse(to, Reg(straight), ty)?;
                }
                Ok(())
            }
            _ => self.load_lanes(value, ty, Lanes::Apart(mem, self.stride(access, ty)), mask),
        }
    }

    pub(super) fn store(
        &mut self,
        value: ValueId,
        at: &Address,
        access: Access,
        mask: Option<ValueId>,
    ) -> diag::Result<()> {
        let ty = self.element(value)?;
        let mem = self.memory(at);
        let bytes = self.cut.bytes(ty);
        let pieces = self.cut.pieces as usize;
        match access {
            Access::Same => self.store_first(value, mem, ty, mask),
            Access::Unit | Access::Streamed if mask.is_none() || self.can_mask(ty) => {
                for position in 0..pieces {
                    let from = self.piece(value, position);
                    let mem = self.further(mem, i64::from(bytes) * position as i64)?;
                    match mask {
                        None if access == Access::Streamed && bytes >= 16 => {
                            let code = self.code(family::STORE_PAST, view(bytes))?;
                            let operands = vec![Operand::Mem(mem), Operand::Reg(from, view(bytes))];
                            self.push(code, First::Read, operands);
                        }
                        None => self.store_piece(mem, from, bytes),
                        Some(mask) => {
                            let mask = self.mask_for(mask, position, ty.bytes())?;
                            self.store_masked(mem, from, ty, mask)?;
                        }
                    }
                }
                Ok(())
            }
            Access::Reversed if self.can_reverse(ty) => {
                for position in 0..pieces {
                    let from = self.piece(value, position);
                    let mem = self.further(mem, reversed_start(bytes, ty, position))?;
                    let reversed = self.vector();
                    self.reverse(reversed, Reg(from), ty)?;
                    match mask {
                        None => self.store_piece(mem, reversed, bytes),
                        Some(mask) => {
                            let mask = self.reversed_mask(mask, position, ty)?;
                            self.store_masked(mem, reversed, ty, mask)?;
                        }
                    }
                }
                Ok(())
            }
            _ => self.store_lanes(value, ty, Lanes::Apart(mem, self.stride(access, ty)), mask),
        }
    }

    /// Whether the machine can leave out lanes of a piece of this type.
    fn can_mask(&self, ty: ScalarType) -> bool {
        self.cut.wide512 || ty.bytes() >= 4 && self.cut.bytes(ty) >= 16
    }

    fn can_reverse(&self, ty: ScalarType) -> bool {
        ty.bytes() >= 4 && self.cut.bytes(ty) >= 16
    }

    /// Pieces smaller than a register are moved as one element of their size.
    fn load_piece(&mut self, to: VReg, mem: Mem, bytes: u32) {
        let wide512 = self.cut.wide512;
        let (register, memory) = (Operand::Reg(to, View::X), Operand::Mem(mem));
        match bytes {
            8 => self.push(family::MOVQ_LOAD.code(wide512), First::Written, vec![register, memory]),
            4 => self.push(family::MOVD_LOAD.code(wide512), First::Written, vec![register, memory]),
            1 | 2 => {
                self.clear(to);
                let single = if bytes == 1 { family::PINSRB } else { family::PINSRW };
                let operands = vec![register, register, memory, Operand::Imm(0)];
                self.push(single.code(wide512), First::ReadAndWritten, operands);
            }
            _ => {
                let view = view(bytes);
                let code = family::LOAD.code(wide512, view).unwrap_or_default();
                self.push(code, First::Written, vec![Operand::Reg(to, view), memory]);
            }
        }
    }

    fn store_piece(&mut self, mem: Mem, from: VReg, bytes: u32) {
        let view = view(bytes);
        let (register, memory) = (Operand::Reg(from, view), Operand::Mem(mem));
        let wide512 = self.cut.wide512;
        let (code, operands) = match bytes {
            8 => (family::MOVQ_STORE.code(wide512), vec![memory, register]),
            4 => (family::MOVD_STORE.code(wide512), vec![memory, register]),
            2 => (family::PEXTRW.code(wide512), vec![memory, register, Operand::Imm(0)]),
            1 => (family::PEXTRB.code(wide512), vec![memory, register, Operand::Imm(0)]),
            _ => (family::STORE.code(wide512, view).unwrap_or_default(), vec![memory, register]),
        };
        self.push(code, First::Read, operands);
    }

    fn load_masked(&mut self, to: VReg, mem: Mem, ty: ScalarType, mask: VReg) -> diag::Result<()> {
        let view = view(self.cut.bytes(ty));
        if !self.cut.wide512 {
            let family = if ty.bytes() == 4 { family::PMASKLOADD } else { family::PMASKLOADQ };
            return self.op(family, view, to, &[Reg(mask), Source::Mem(mem)]);
        }
        let family = by_bytes([family::LOAD8, family::LOAD16, family::LOAD, family::LOAD64], ty.bytes());
        let code = self.code(family, view)?;
        self.push_masked(code, First::Written, vec![Operand::Reg(to, view), Operand::Mem(mem)], Some(mask), true);
        Ok(())
    }

    fn store_masked(&mut self, mem: Mem, from: VReg, ty: ScalarType, mask: VReg) -> diag::Result<()> {
        let view = view(self.cut.bytes(ty));
        let (memory, from) = (Operand::Mem(mem), Operand::Reg(from, view));
        if !self.cut.wide512 {
            let family = if ty.bytes() == 4 { family::PMASKSTORED } else { family::PMASKSTOREQ };
            let code = self.code(family, view)?;
            self.push(code, First::Read, vec![memory, Operand::Reg(mask, view), from]);
            return Ok(());
        }
        let family = by_bytes([family::STORE8, family::STORE16, family::STORE, family::STORE64], ty.bytes());
        let code = self.code(family, view)?;
        self.push_masked(code, First::Read, vec![memory, from], Some(mask), false);
        Ok(())
    }

    fn load_same(
        &mut self,
        to: VReg,
        mem: Mem,
        ty: ScalarType,
        mask: Option<ValueId>,
        position: usize,
    ) -> diag::Result<()> {
        let family = broadcast(ty.bytes());
        let view = view(self.cut.bytes(ty));
        let Some(mask) = mask else { return self.op(family, view, to, &[Source::Mem(mem)]) };
        let mask = self.mask_for(mask, position, ty.bytes())?;
        if self.cut.wide512 {
            let code = self.code(family, view)?;
            self.push_masked(code, First::Written, vec![Operand::Reg(to, view), Operand::Mem(mem)], Some(mask), true);
            return Ok(());
        }
        // The address is valid only if some lane is active.
        let piece = self.general();
        let loaded = self.vector();
        self.clear(loaded);
        let skip = self.stream.label();
        self.any_active(piece, mask, ty)?;
        self.jump(Code::Je_rel32_64, skip);
        self.op(family, view, loaded, &[Source::Mem(mem)])?;
        self.place_label(skip);
        self.op(family::PAND, view, to, &[Reg(loaded), Reg(mask)])
    }

    /// Sets the zero flag if no lane of a vector mask is set.
    fn any_active(&mut self, bits: VReg, mask: VReg, ty: ScalarType) -> diag::Result<()> {
        let bytes = self.cut.bytes(ty);
        let code = if bytes > 16 { Code::VEX_Vpmovmskb_r32_ymm } else { Code::VEX_Vpmovmskb_r32_xmm };
        self.push(code, First::Written, vec![Operand::Reg(bits, View::D), Operand::Reg(mask, view(bytes))]);
        let within = self.general();
        // One bit per byte.
        self.set_word(within, (1_i64 << bytes.min(32)) - 1);
        self.general_op(Code::And_r64_rm64, within, Operand::Reg(bits, View::Q));
        Ok(())
    }

    fn store_first(&mut self, value: ValueId, mem: Mem, ty: ScalarType, mask: Option<ValueId>) -> diag::Result<()> {
        let from = self.piece(value, 0);
        let Some(mask) = mask else {
            self.store_piece(mem, from, ty.bytes() as u32);
            return Ok(());
        };
        let mask = self.piece(mask, 0);
        let (bits, _) = self.mask_bits(mask);
        let skip = self.stream.label();
        self.push(Code::Bt_rm64_imm8, First::Read, vec![Operand::Reg(bits, View::Q), Operand::Imm(0)]);
        self.jump(Code::Jae_rel32_64, skip);
        self.store_piece(mem, from, ty.bytes() as u32);
        self.place_label(skip);
        Ok(())
    }

    /// The elements of a piece in the opposite order.
    fn reverse(&mut self, to: VReg, from: Source, ty: ScalarType) -> diag::Result<()> {
        let bytes = self.cut.bytes(ty);
        match (bytes, ty.bytes()) {
            (16, 4) => self.op(family::PSHUFD, View::X, to, &[from, Imm(0x1b)]),
            (16, _) => self.op(family::PSHUFD, View::X, to, &[from, Imm(0x4e)]),
            (32, 8) => {
                let code = if self.cut.wide512 {
                    Code::EVEX_Vpermq_ymm_k1z_ymmm256b64_imm8
                } else {
                    Code::VEX_Vpermq_ymm_ymmm256_imm8
                };
                let operands = vec![Operand::Reg(to, View::Y), from.operand(View::Y), Operand::Imm(0x1b)];
                self.push(code, First::Written, operands);
                Ok(())
            }
            (_, size) => {
                let (view, order) = (view(bytes), self.opposite_order(bytes, size)?);
                let code = match (self.cut.wide512, view, size) {
                    (false, _, _) => Code::VEX_Vpermd_ymm_ymm_ymmm256,
                    (true, View::Y, _) => Code::EVEX_Vpermd_ymm_k1z_ymm_ymmm256b32,
                    (true, _, 4) => Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32,
                    (true, _, _) => Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64,
                };
                let operands = vec![Operand::Reg(to, view), Operand::Reg(order, view), from.operand(view)];
                self.push(code, First::Written, operands);
                Ok(())
            }
        }
    }

    /// The numbers of the elements of a piece, the last one first: in one register for the whole program, as loops ask for them.
    fn opposite_order(&mut self, bytes: u32, size: usize) -> diag::Result<VReg> {
        if let Some((_, order)) = self.orders.iter().find(|(known, _)| *known == (bytes, size)) {
            return Ok(*order);
        }
        let lanes = (0..self.cut.group).rev();
        let order: Vec<u8> = lanes.flat_map(|lane| u64::from(lane).to_le_bytes().into_iter().take(size)).collect();
        let mem = self.stream.constant(&order);
        let (order, view) = (self.vector(), view(bytes));
        let operands = vec![Operand::Reg(order, view), Operand::Mem(mem)];
        let code = self.code(family::LOAD, view)?;
        self.prologue.push(Item::Inst(Inst { code, first: First::Written, operands, mask: None, zeroing: false }));
        self.orders.push(((bytes, size), order));
        Ok(order)
    }

    /// A piece of a mask in the opposite order, for elements of a type.
    fn reversed_mask(&mut self, mask: ValueId, position: usize, ty: ScalarType) -> diag::Result<VReg> {
        let piece = self.mask_for(mask, position, ty.bytes())?;
        let lanes = self.vector();
        if !self.cut.wide512 {
            self.reverse(lanes, Reg(piece), ty)?;
            return Ok(lanes);
        }
        let view = view(self.cut.bytes(ty));
        let (to_lanes, to_mask) = match ty.bytes() {
            4 => (family::PMOVM2D, family::PMOVD2M),
            _ => (family::PMOVM2Q, family::PMOVQ2M),
        };
        let code = self.code(to_lanes, view)?;
        self.push(code, First::Written, vec![Operand::Reg(lanes, view), Operand::Reg(piece, View::K)]);
        let (turned, reversed) = (self.vector(), self.mask_register());
        self.reverse(turned, Reg(lanes), ty)?;
        let code = self.code(to_mask, view)?;
        self.push(code, First::Written, vec![Operand::Reg(reversed, View::K), Operand::Reg(turned, view)]);
        Ok(reversed)
    }

    /// Joins 16-byte parts into a piece.
    pub(super) fn join(&mut self, to: VReg, parts: &[VReg]) -> diag::Result<()> {
        match *parts {
            [one] => self.copy(to, one),
            [low, high] => self.insert_high(to, low, high),
            [a, b, c, d] => {
                let (low, high) = (self.vector(), self.vector());
                self.insert_high(low, a, b);
                self.insert_high(high, c, d);
                let sources = [Reg(low), As(high, View::Y), Imm(1)];
                let mut operands = vec![Operand::Reg(to, View::Z)];
                operands.extend(sources.map(|source| source.operand(View::Z)));
                self.push(Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8, First::Written, operands);
            }
            _ => return Err(super::bug("a piece of three parts")),
        }
        Ok(())
    }

    fn insert_high(&mut self, to: VReg, low: VReg, high: VReg) {
        let code = family::INSERT_YX.code(self.cut.wide512);
        let operands =
            vec![Operand::Reg(to, View::Y), Operand::Reg(low, View::Y), Operand::Reg(high, View::X), Operand::Imm(1)];
        self.push(code, First::Written, operands);
    }

    /// A 16-byte part of a piece.
    pub(super) fn part(&mut self, from: VReg, bytes: u32, number: u32) -> VReg {
        if number == 0 {
            return from;
        }
        let to = self.vector();
        let code = match bytes {
            64 => Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8,
            _ => family::EXTRACT_XY.code(self.cut.wide512),
        };
        let operands =
            vec![Operand::Reg(to, View::X), Operand::Reg(from, view(bytes)), Operand::Imm(i64::from(number))];
        self.push(code, First::Written, operands);
        to
    }
}

/// Where the first byte of a reversed piece is, from the address of the first lane.
fn reversed_start(bytes: u32, ty: ScalarType, position: usize) -> i64 {
    ty.bytes() as i64 - i64::from(bytes) * (position as i64 + 1)
}
