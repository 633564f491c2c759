//! Updates: terms of reductions.
//!
//! A target that all lanes share is not touched inside the nest: each lane adds up its own terms, and at the end they are
//! combined with each other and with the target.

use loops::{Cond, Expr, For, LaneSum, Target};
use program::{BinaryOp, ScalarType, Value};

use super::access::Place;
use super::{Argument, Lower, Nest};
use crate::lanes::ir::{self, Access, Address, Op, Type, ValueId};

impl Nest<'_> {
    /// Finds the targets that all lanes and loops of the nest share, and starts their sums.
    pub(super) fn start_sums(&mut self, r#for: &For) -> Lower<()> {
        for sum in loops::lane_sums(r#for)? {
            // A value of its own, which loops can change.
            let neutral = self.neutral(sum.op, sum.ty)?;
            self.state.sums.push((sum, neutral));
        }
        Ok(())
    }

    /// What changes nothing when it is combined; for sums of floats that is -0.
    fn neutral(&mut self, op: BinaryOp, ty: ScalarType) -> Lower<ValueId> {
        let value = match (op, ty) {
            (BinaryOp::And, _) | (BinaryOp::Min, ScalarType::Bool) => return Ok(self.all_lanes(true)),
            (BinaryOp::Or, _) | (BinaryOp::Max, ScalarType::Bool) => return Ok(self.all_lanes(false)),
            (BinaryOp::Add, ScalarType::F32) => Value::F32(-0.0),
            (BinaryOp::Add, ScalarType::F64) => Value::F64(-0.0),
            (BinaryOp::Add, _) => Value::from_i64(ty, 0),
            (BinaryOp::Mul, _) => Value::from_i64(ty, 1),
            (BinaryOp::Min, _) => program::ReduceOp::Min.neutral(ty),
            (BinaryOp::Max, _) => program::ReduceOp::Max.neutral(ty),
            _ => return Err(format!("a reduction by `{}`", op.name())),
        };
        Ok(self.splat(value))
    }

    /// Combines the lanes with each other and with their targets. Not at all if no iteration has run.
    pub(super) fn finish_sums(&mut self, trips: ValueId) -> Lower<()> {
        let sums = std::mem::take(&mut self.state.sums);
        if sums.is_empty() {
            return Ok(());
        }
        let zero = self.word(0);
        let some = match self.constant_of(trips) {
            Some(trips) => self.word(i64::from(trips > 0)),
            None => self.make(Type::Word, Op::Word(ir::WordOp::Lt, zero, trips)),
        };
        self.guarded(some, |nest| {
            for (LaneSum { target, op, ty, conditions }, value) in sums {
                let lane_op = reduce_op(op, ty)?;
                let total = nest.make(super::lane_type(ty), Op::Reduce(lane_op, value));
                match target {
                    Target::Local(local) if nest.state.locals.contains_key(&local.0) => {
                        let old = nest.state.locals[&local.0];
                        let new = nest.binary(op, ty, old, total)?;
                        nest.state.locals.insert(local.0, new);
                    }
                    Target::Local(_) if !nest.is_root_in_lanes => {
                        return Err("a local that lanes add to, set outside".to_owned());
                    }
                    Target::Local(local) => {
                        let old = nest.uniform(Argument::Changed(local), ty);
                        let new = nest.binary(op, ty, old, total)?;
                        let new = nest.stored(ty, new);
                        let slot = nest.slot(Argument::Changed(local));
                        let base = nest.argument(Argument::Block);
                        let at = Address { base, index: None, offset: 8 * slot as i32 };
                        nest.body.push(ir::Stmt::Store { value: new, at, access: Access::Same, mask: None });
                    }
                    Target::Cell { array, index } => {
                        let place = nest.place(array, &index)?;
                        if conditions.is_empty() {
                            nest.combine_first(&place, op, ty, total)?;
                        } else {
                            let there = nest.cond_word(&Cond::And(conditions))?;
                            nest.guarded(there, |nest| nest.combine_first(&place, op, ty, total))?;
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// `cell = cell op total` for a cell and a value that all lanes share.
    fn combine_first(&mut self, place: &Place, op: BinaryOp, ty: ScalarType, total: ValueId) -> Lower<()> {
        let at = self.first(place)?;
        let memory = self.memory_type(place.array);
        let old = self.make(Type::Lanes(memory), Op::Load { at, access: Access::Same, mask: None });
        let old = if ty == ScalarType::Bool { self.is_nonzero(memory, old) } else { old };
        let new = self.binary(op, ty, old, total)?;
        let new = self.stored(ty, new);
        self.body.push(ir::Stmt::Store { value: new, at, access: Access::Same, mask: None });
        self.forget(place.array);
        Ok(())
    }

    pub(super) fn update(&mut self, target: &Target, op: BinaryOp, value: &Expr) -> Lower<()> {
        let ty = value.ty;
        if let Some(position) = self.state.sums.iter().position(|(known, _)| known.is_of(target, op, ty)) {
            let old = self.state.sums[position].1;
            let new = self.combined(op, old, value)?;
            let new = self.kept(ty, new, old, None);
            self.state.sums[position].1 = new;
            return Ok(());
        }
        match target {
            Target::Local(local) => {
                let old = *self.state.locals.get(&local.0).ok_or("an update of a local that is not set")?;
                let new = self.combined(op, old, value)?;
                let new = self.kept(ty, new, old, self.base_mask);
                self.state.locals.insert(local.0, new);
                Ok(())
            }
            Target::Cell { array, index } => {
                let place = self.place(*array, index)?;
                if self.cell(&place).is_some() {
                    return self.update_cell(&place, op, value);
                }
                let (at, access) = self.address(&place)?;
                if access == Access::Same && self.vector.is_some() {
                    return self.update_same(&place, op, value);
                }
                let old = self.load_place(&place)?;
                let old = if ty == ScalarType::Bool { self.is_nonzero(ScalarType::U8, old) } else { old };
                let new = self.combined(op, old, value)?;
                let new = self.stored(ty, new);
                self.body.push(ir::Stmt::Store { value: new, at, access, mask: self.mask });
                self.forget(*array);
                Ok(())
            }
        }
    }

    /// A target that all lanes share, but that a loop inside moves along: combined on the spot.
    fn update_same(&mut self, place: &Place, op: BinaryOp, value: &Expr) -> Lower<()> {
        let ty = value.ty;
        if loops::order_matters(op, ty) {
            return Err("lanes that add floats to one cell".to_owned());
        }
        let value = self.expr(value)?;
        let neutral = self.neutral(op, ty)?;
        let value = self.kept(ty, value, neutral, None);
        let lane_op = reduce_op(op, ty)?;
        let total = self.make(super::lane_type(ty), Op::Reduce(lane_op, value));
        match self.mask {
            None => self.combine_first(place, op, ty, total),
            Some(mask) => {
                // The cell need not exist if no lane is active.
                let at = self.first(place)?;
                let memory = self.memory_type(place.array);
                let any = self.make(Type::Mask, Op::Reduce(ir::BinaryOp::Or, mask));
                let old = self.make(Type::Lanes(memory), Op::Load { at, access: Access::Same, mask: Some(any) });
                let old = if ty == ScalarType::Bool { self.is_nonzero(memory, old) } else { old };
                let new = self.binary(op, ty, old, total)?;
                let new = self.stored(ty, new);
                self.body.push(ir::Stmt::Store { value: new, at, access: Access::Same, mask: Some(any) });
                self.forget(place.array);
                Ok(())
            }
        }
    }

    /// The new value in active lanes, the old one elsewhere; `within` says in which lanes it matters at all.
    pub(super) fn kept(&mut self, ty: ScalarType, new: ValueId, old: ValueId, within: Option<ValueId>) -> ValueId {
        match self.mask {
            Some(mask) if Some(mask) != within => self.choose(ty, mask, new, old),
            _ => new,
        }
    }

    /// `old op value`. The sum of a product is rounded once, as everywhere.
    pub(super) fn combined(&mut self, op: BinaryOp, old: ValueId, value: &Expr) -> Lower<ValueId> {
        let ty = value.ty;
        if let Some((a, b)) = loops::fused_factors(op, value) {
            let (a, b) = (self.expr(a)?, self.expr(b)?);
            return Ok(self.lanes(ty, Op::Fma(a, b, old)));
        }
        let value = self.expr(value)?;
        self.binary(op, ty, old, value)
    }
}

fn reduce_op(op: BinaryOp, ty: ScalarType) -> Lower<ir::BinaryOp> {
    Ok(match op {
        BinaryOp::Min if ty == ScalarType::Bool => ir::BinaryOp::And,
        BinaryOp::Max if ty == ScalarType::Bool => ir::BinaryOp::Or,
        BinaryOp::Add => ir::BinaryOp::Add,
        BinaryOp::Mul => ir::BinaryOp::Mul,
        BinaryOp::Min => ir::BinaryOp::Min,
        BinaryOp::Max => ir::BinaryOp::Max,
        BinaryOp::And => ir::BinaryOp::And,
        BinaryOp::Or => ir::BinaryOp::Or,
        _ => return Err(format!("a reduction by `{}`", op.name())),
    })
}
