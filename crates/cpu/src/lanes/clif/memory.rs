//! Loads and stores.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value as ClifValue, types};
use program::ScalarType;

use super::{Emitter, integer, integers, scalar_type, vector};
use crate::lanes::ir::{Access, Address, ValueId};

/// Addresses are valid where they are used, but aligned to nothing. Cranelift is told nothing about which of them overlap.
fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap().with_endianness(cranelift_codegen::ir::Endianness::Little)
}

impl Emitter<'_> {
    /// How Cranelift may load from a place. Where nobody stores to the array meanwhile, it may do so as late as it likes, so that
    /// a value takes no register before it is used; but only at addresses that move with the innermost loop, since it must not go in front of a loop that may not run.
    fn load_flags(&self, at: &Address) -> MemFlagsData {
        match self.moving.contains(&at.base) && self.only_read.contains(&at.base) {
            true => flags().with_readonly().with_can_move(),
            false => flags(),
        }
    }

    fn address(&mut self, at: &Address) -> (ClifValue, i32) {
        let mut pointer = self.word(at.base);
        if let Some((index, scale)) = at.index {
            let index = self.word(index);
            let bits = self.b.ins().iconst(types::I64, i64::from(scale.trailing_zeros()));
            let scaled = self.b.ins().ishl(index, bits);
            pointer = self.b.ins().iadd(pointer, scaled);
        }
        (pointer, at.offset)
    }

    fn stride(&mut self, access: Access, ty: ScalarType) -> ClifValue {
        let bytes = ty.bytes() as i64;
        match access {
            Access::Unit | Access::Streamed => self.b.ins().iconst(types::I64, bytes),
            Access::Same => self.b.ins().iconst(types::I64, 0),
            Access::Reversed => self.b.ins().iconst(types::I64, -bytes),
            Access::Strided(stride) => self.word(stride),
        }
    }

    pub(super) fn load(
        &mut self,
        value: ValueId,
        at: &Address,
        access: Access,
        mask: Option<ValueId>,
    ) -> diag::Result<Vec<ClifValue>> {
        let ty = self.element(value)?;
        let (pointer, offset) = self.address(at);
        let flags = self.load_flags(at);
        let bytes = self.cut.bytes(ty) as i32;
        let pieces = self.count(value) as i32;
        match (access, mask) {
            (Access::Same, None) => {
                let scalar = self.b.ins().load(scalar_type(ty), flags, pointer, offset);
                Ok(vec![self.b.ins().splat(vector(ty), scalar); pieces as usize])
            }
            (Access::Unit, None) => {
                let place = |piece: i32| offset.wrapping_add(piece * bytes);
                Ok((0..pieces).map(|piece| self.load_piece(ty, flags, pointer, place(piece))).collect())
            }
            (Access::Reversed, None) => Ok((0..pieces)
                .map(|piece| {
                    let start = offset.wrapping_add(ty.bytes() as i32 - bytes * (piece + 1));
                    let straight = self.load_piece(ty, flags, pointer, start);
                    self.reverse(ty, straight)
                })
                .collect()),
            _ => {
                let stride = self.stride(access, ty);
                let mut place = self.offset(pointer, offset);
                Ok((0..pieces as usize)
                    .map(|position| {
                        let mask = mask.map(|mask| self.piece(mask, position));
                        self.load_lanes(ty, mask, |emitter, _| {
                            let here = place;
                            place = emitter.b.ins().iadd(place, stride);
                            here
                        })
                    })
                    .collect())
            }
        }
    }

    fn offset(&mut self, pointer: ClifValue, offset: i32) -> ClifValue {
        let offset = self.b.ins().iconst(types::I64, i64::from(offset));
        self.b.ins().iadd(pointer, offset)
    }

    fn load_piece(&mut self, ty: ScalarType, flags: MemFlagsData, pointer: ClifValue, offset: i32) -> ClifValue {
        let bytes = self.cut.bytes(ty) as usize;
        if bytes == 16 {
            return self.b.ins().load(vector(ty), flags, pointer, offset);
        }
        let part = self.b.ins().load(integer(bytes), flags, pointer, offset);
        let zero = self.zero(crate::lanes::facts::integer_type(bytes));
        let whole = self.b.ins().insertlane(zero, part, 0);
        self.cast(vector(ty), whole)
    }

    fn store_piece(&mut self, ty: ScalarType, x: ClifValue, pointer: ClifValue, offset: i32) {
        let bytes = self.cut.bytes(ty) as usize;
        if bytes == 16 {
            self.b.ins().store(flags(), x, pointer, offset);
            return;
        }
        let whole = self.cast(integers(bytes), x);
        let part = self.b.ins().extractlane(whole, 0);
        self.b.ins().store(flags(), part, pointer, offset);
    }

    fn reverse(&mut self, ty: ScalarType, x: ClifValue) -> ClifValue {
        let (size, group) = (ty.bytes(), self.cut.group as usize);
        self.shuffle(
            x,
            std::array::from_fn(|byte| {
                let lane = byte / size;
                let from = if lane < group { group - 1 - lane } else { lane };
                (from * size + byte % size) as u8
            }),
        )
    }

    /// One lane after the other; those that are left out are zero.
    fn load_lanes(
        &mut self,
        ty: ScalarType,
        mask: Option<ClifValue>,
        mut place: impl FnMut(&mut Self, u8) -> ClifValue,
    ) -> ClifValue {
        let mut result = self.zero(ty);
        for lane in 0..self.cut.group as u8 {
            let pointer = place(self, lane);
            let Some(mask) = mask else {
                let element = self.b.ins().load(scalar_type(ty), flags(), pointer, 0);
                result = self.b.ins().insertlane(result, element, lane);
                continue;
            };
            let active = self.b.ins().extractlane(mask, lane);
            let (load, join) = (self.b.create_block(), self.b.create_block());
            let joined = self.b.append_block_param(join, vector(ty));
            self.b.ins().brif(active, load, &[], join, &[result.into()]);
            self.enter(load);
            let element = self.b.ins().load(scalar_type(ty), flags(), pointer, 0);
            let with = self.b.ins().insertlane(result, element, lane);
            self.b.ins().jump(join, &[with.into()]);
            self.enter(join);
            result = joined;
        }
        result
    }

    fn store_lanes(
        &mut self,
        ty: ScalarType,
        x: ClifValue,
        mask: Option<ClifValue>,
        lanes: u8,
        mut place: impl FnMut(&mut Self, u8) -> ClifValue,
    ) {
        for lane in 0..lanes {
            let pointer = place(self, lane);
            let next = mask.map(|mask| {
                let active = self.b.ins().extractlane(mask, lane);
                let (store, next) = (self.b.create_block(), self.b.create_block());
                self.b.ins().brif(active, store, &[], next, &[]);
                self.enter(store);
                next
            });
            debug_assert_eq!(self.b.func.dfg.value_type(x), vector(ty));
            let element = self.b.ins().extractlane(x, lane);
            self.b.ins().store(flags(), element, pointer, 0);
            if let Some(next) = next {
                self.b.ins().jump(next, &[]);
                self.enter(next);
            }
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
        let (pointer, offset) = self.address(at);
        let bytes = self.cut.bytes(ty) as i32;
        match (access, mask) {
            (Access::Same, _) => {
                let place = self.offset(pointer, offset);
                let mask = mask.map(|mask| self.piece(mask, 0));
                self.store_lanes(ty, self.piece(value, 0), mask, 1, |_, _| place);
            }
            (Access::Unit | Access::Streamed | Access::Reversed, None) => {
                for position in 0..self.cut.pieces as usize {
                    let x = self.piece(value, position);
                    let piece = position as i32;
                    let (x, start) = match access {
                        Access::Unit | Access::Streamed => (x, piece * bytes),
                        _ => (self.reverse(ty, x), ty.bytes() as i32 - bytes * (piece + 1)),
                    };
                    self.store_piece(ty, x, pointer, offset.wrapping_add(start));
                }
            }
            _ => {
                let stride = self.stride(access, ty);
                let mut place = self.offset(pointer, offset);
                for position in 0..self.cut.pieces as usize {
                    let mask = mask.map(|mask| self.piece(mask, position));
                    let x = self.piece(value, position);
                    self.store_lanes(ty, x, mask, self.cut.group as u8, |emitter, _| {
                        let here = place;
                        place = emitter.b.ins().iadd(place, stride);
                        here
                    });
                }
            }
        }
        Ok(())
    }

    fn cell(&mut self, base: ClifValue, index: ClifValue, ty: ScalarType, lane: u8) -> ClifValue {
        let number = self.b.ins().extractlane(index, lane);
        let bytes = self.b.ins().iconst(types::I64, ty.bytes() as i64);
        let offset = self.b.ins().imul(number, bytes);
        self.b.ins().iadd(base, offset)
    }

    pub(super) fn gather(
        &mut self,
        value: ValueId,
        base: ValueId,
        index: ValueId,
        mask: Option<ValueId>,
    ) -> diag::Result<Vec<ClifValue>> {
        let (ty, base) = (self.element(value)?, self.word(base));
        Ok((0..self.count(value))
            .map(|position| {
                let (index, mask) = (self.piece(index, position), mask.map(|mask| self.piece(mask, position)));
                self.load_lanes(ty, mask, |emitter, lane| emitter.cell(base, index, ty, lane))
            })
            .collect())
    }

    pub(super) fn scatter(
        &mut self,
        value: ValueId,
        base: ValueId,
        index: ValueId,
        mask: Option<ValueId>,
    ) -> diag::Result<()> {
        let (ty, base) = (self.element(value)?, self.word(base));
        for position in 0..self.cut.pieces as usize {
            let (index, mask) = (self.piece(index, position), mask.map(|mask| self.piece(mask, position)));
            let x = self.piece(value, position);
            let lanes = self.cut.group as u8;
            self.store_lanes(ty, x, mask, lanes, |emitter, lane| emitter.cell(base, index, ty, lane));
        }
        Ok(())
    }
}
