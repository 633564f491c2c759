//! Masks: comparisons, prefixes, checks.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value as ClifValue, types};
use program::ScalarType;

use super::{Emitter, integer, integers};
use crate::lanes::ir::{BinaryOp, CompareOp, ValueId};

impl Emitter<'_> {
    /// A mask of this program, as wide as elements of `bytes`.
    pub(super) fn mask_for(&mut self, mask: ClifValue, bytes: usize) -> ClifValue {
        self.resize_mask(mask, self.cut.widest as usize, bytes)
    }

    /// All bytes of an element of a mask are alike, so any of them will do.
    fn resize_mask(&mut self, mask: ClifValue, from: usize, to: usize) -> ClifValue {
        if from == to {
            return mask;
        }
        let resized = self.shuffle(mask, std::array::from_fn(|byte| (byte / to * from % 16) as u8));
        self.cast(integers(to), resized)
    }

    pub(super) fn compare(&mut self, op: CompareOp, ty: ScalarType, x: ClifValue, y: ClifValue) -> ClifValue {
        let mask = if ty.is_float() {
            let cc = match op {
                CompareOp::Eq => FloatCC::Equal,
                CompareOp::Ne => FloatCC::NotEqual,
                CompareOp::Lt => FloatCC::LessThan,
                CompareOp::Le => FloatCC::LessThanOrEqual,
                CompareOp::Gt => FloatCC::GreaterThan,
                CompareOp::Ge => FloatCC::GreaterThanOrEqual,
            };
            self.b.ins().fcmp(cc, x, y)
        } else {
            let cc = match op {
                CompareOp::Eq => IntCC::Equal,
                CompareOp::Ne => IntCC::NotEqual,
                CompareOp::Lt => IntCC::SignedLessThan,
                CompareOp::Le => IntCC::SignedLessThanOrEqual,
                CompareOp::Gt => IntCC::SignedGreaterThan,
                CompareOp::Ge => IntCC::SignedGreaterThanOrEqual,
            };
            match ty {
                ScalarType::U64 => {
                    let (x, y) = (self.flip_sign(x), self.flip_sign(y));
                    self.b.ins().icmp(cc, x, y)
                }
                _ if ty.is_unsigned() => self.b.ins().icmp(cc.unsigned(), x, y),
                _ => self.b.ins().icmp(cc, x, y),
            }
        };
        self.resize_mask(mask, ty.bytes(), self.cut.widest as usize)
    }

    /// Numbers without a sign as numbers with one, in the same order.
    pub(super) fn flip_sign(&mut self, x: ClifValue) -> ClifValue {
        let sign = self.splat(program::Value::I64(i64::MIN));
        self.b.ins().bxor(x, sign)
    }

    /// Ones in the lanes of the group, zeros past it.
    fn group_mask(&mut self) -> ClifValue {
        let within = (self.cut.group * self.cut.widest) as usize;
        let bytes = std::array::from_fn(|byte| if byte < within { 0xff } else { 0 });
        self.bytes(integers(self.cut.widest as usize), bytes)
    }

    pub(super) fn mask_reduce(&mut self, op: BinaryOp, mask: ClifValue) -> ClifValue {
        let group = self.group_mask();
        let holds = if op == BinaryOp::Or {
            let inside = self.b.ins().band(mask, group);
            self.b.ins().vany_true(inside)
        } else {
            let outside = self.b.ins().bnot(group);
            let all = self.b.ins().bor(mask, outside);
            self.b.ins().vall_true(all)
        };
        let ty = integer(self.cut.widest as usize);
        let (ones, zeros) = (self.b.ins().iconst(types::I64, -1), self.b.ins().iconst(types::I64, 0));
        let chosen = self.b.ins().select(holds, ones, zeros);
        let chosen = self.low(chosen, ty.bytes() as usize);
        self.b.ins().splat(integers(self.cut.widest as usize), chosen)
    }

    pub(super) fn prefix(&mut self, count: ValueId, position: usize) -> ClifValue {
        let count = self.word(count);
        let group = i64::from(self.cut.group);
        let before = group * position as i64;
        let (least, most) = (self.b.ins().iconst(types::I64, before), self.b.ins().iconst(types::I64, before + group));
        let count = self.b.ins().smin(count, most);
        let count = self.b.ins().smax(count, least);
        let count = self.b.ins().isub(count, least);
        let bytes = self.cut.widest as usize;
        let count = self.low(count, bytes);
        let count = self.b.ins().splat(integers(bytes), count);
        let lanes = self.counting(crate::lanes::facts::integer_type(bytes), 0);
        self.b.ins().icmp(IntCC::SignedGreaterThan, count, lanes)
    }

    /// Lane by lane, in order: the first that fails ends the program.
    pub(super) fn check(
        &mut self,
        index: ValueId,
        extent: ValueId,
        mask: Option<ValueId>,
        site: u32,
    ) -> diag::Result<()> {
        let extent = self.word(extent);
        let failure = self.b.create_block();
        self.b.set_cold_block(failure);
        let report = self.b.append_block_param(failure, types::I64);
        for position in 0..self.cut.pieces as usize {
            for lane in 0..self.cut.group as u8 {
                let indices = self.piece(index, position);
                let found = self.b.ins().extractlane(indices, lane);
                let mut fails = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, found, extent);
                if let Some(mask) = mask {
                    let mask = self.piece(mask, position);
                    let active = self.b.ins().extractlane(mask, lane);
                    let active = self.b.ins().ireduce(types::I8, active);
                    fails = self.b.ins().band(fails, active);
                }
                let next = self.b.create_block();
                self.b.ins().brif(fails, failure, &[found.into()], next, &[]);
                self.enter(next);
            }
        }
        let rest = self.b.create_block();
        self.b.ins().jump(rest, &[]);
        self.enter(failure);
        let pointer = self.slot(types::I64, self.program.slots.saturating_sub(1))?;
        self.b.ins().store(MemFlagsData::trusted(), report, pointer, 0);
        self.leave(i64::from(site));
        self.enter(rest);
        Ok(())
    }
}
