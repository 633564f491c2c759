//! Conditions: as a word where all lanes agree, else as a mask.

use loops::{CompareOp, Cond};
use program::ScalarType;

use super::{Lower, Nest};
use crate::lanes::ir::{self, BinaryOp, Op, Type, UnaryOp, ValueId, WordOp};
use crate::linear::Linear;

impl Nest<'_> {
    /// Whether a condition is the same for all lanes.
    pub(super) fn is_uniform(&self, cond: &Cond) -> bool {
        match cond {
            Cond::Compare(_, a, b) => !self.differs_by_lane(a) && !self.differs_by_lane(b),
            Cond::Not(cond) => self.is_uniform(cond),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().all(|cond| self.is_uniform(cond)),
        }
    }

    /// A condition that all lanes share, as 0 or 1.
    pub(super) fn cond_word(&mut self, cond: &Cond) -> Lower<ValueId> {
        match cond {
            Cond::Compare(op, a, b) => {
                let (a, b) = (self.index_word(a)?, self.index_word(b)?);
                let (op, a, b) = match op {
                    CompareOp::Lt => (WordOp::Lt, a, b),
                    CompareOp::Le => (WordOp::Le, a, b),
                    CompareOp::Gt => (WordOp::Lt, b, a),
                    CompareOp::Ge => (WordOp::Le, b, a),
                    CompareOp::Eq => (WordOp::Eq, a, b),
                    CompareOp::Ne => (WordOp::Ne, a, b),
                };
                Ok(self.make(Type::Word, Op::Word(op, a, b)))
            }
            Cond::Not(cond) => {
                let holds = self.cond_word(cond)?;
                Ok(self.opposite(holds))
            }
            Cond::And(conds) | Cond::Or(conds) => {
                let all = matches!(cond, Cond::And(_));
                let op = if all { WordOp::And } else { WordOp::Max };
                let mut result: Option<ValueId> = None;
                for cond in conds {
                    let holds = self.cond_word(cond)?;
                    result = Some(match result {
                        None => holds,
                        Some(result) => self.make(Type::Word, Op::Word(op, result, holds)),
                    });
                }
                Ok(result.unwrap_or_else(|| self.word(i64::from(all))))
            }
        }
    }

    /// 1 for 0 and the other way round.
    pub(super) fn opposite(&mut self, holds: ValueId) -> ValueId {
        let zero = self.word(0);
        self.make(Type::Word, Op::Word(WordOp::Eq, holds, zero))
    }

    pub(super) fn cond_mask(&mut self, cond: &Cond) -> Lower<ValueId> {
        if self.is_uniform(cond) {
            let holds = self.cond_word(cond)?;
            let lanes = self.times(holds, i64::from(self.program.lanes));
            return Ok(self.make(Type::Mask, Op::Prefix(lanes)));
        }
        match cond {
            Cond::Compare(op, a, b) => {
                let difference = self.linear(a)?.plus(&self.linear(b)?, -1);
                self.compare_lanes(*op, &difference)
            }
            Cond::Not(cond) => {
                let mask = self.cond_mask(cond)?;
                Ok(self.not(mask))
            }
            Cond::And(conds) | Cond::Or(conds) => {
                let op = if matches!(cond, Cond::And(_)) { BinaryOp::And } else { BinaryOp::Or };
                let mut result: Option<ValueId> = None;
                for cond in conds {
                    let mask = self.cond_mask(cond)?;
                    result = Some(match result {
                        None => mask,
                        Some(result) => self.make(Type::Mask, Op::Binary(op, result, mask)),
                    });
                }
                result.ok_or_else(|| "an empty condition differs by lane".to_owned())
            }
        }
    }

    pub(super) fn not(&mut self, mask: ValueId) -> ValueId {
        self.make(Type::Mask, Op::Unary(UnaryOp::Not, mask))
    }

    pub(super) fn and(&mut self, outer: Option<ValueId>, mask: ValueId) -> ValueId {
        match outer {
            None => mask,
            Some(outer) => self.make(Type::Mask, Op::Binary(BinaryOp::And, outer, mask)),
        }
    }

    /// `difference op 0` in each lane.
    fn compare_lanes(&mut self, op: CompareOp, difference: &Linear) -> Lower<ValueId> {
        let vector = self.vector.ok_or("no vector loop")?;
        let per_lane = difference.coefficient(vector).wrapping_mul(self.step);
        // A step of one, up or down, cuts the lanes at one place.
        let (op, difference) = match per_lane {
            -1 => (op.swapped(), difference.scaled(-1)),
            _ => (op, difference.clone()),
        };
        if per_lane.abs() != 1 {
            return self.compare_numbers(op, &difference, per_lane);
        }
        // first + lane op 0
        let before = self.linear_word(&difference.scaled(-1))?;
        Ok(match op {
            CompareOp::Lt => self.make(Type::Mask, Op::Prefix(before)),
            CompareOp::Ge => {
                let below = self.make(Type::Mask, Op::Prefix(before));
                self.not(below)
            }
            CompareOp::Le => self.prefix_and_one(before),
            CompareOp::Gt => {
                let up_to = self.prefix_and_one(before);
                self.not(up_to)
            }
            CompareOp::Eq | CompareOp::Ne => {
                let below = self.make(Type::Mask, Op::Prefix(before));
                let up_to = self.prefix_and_one(before);
                let equal = self.make(Type::Mask, Op::Binary(BinaryOp::Xor, below, up_to));
                if op == CompareOp::Eq { equal } else { self.not(equal) }
            }
        })
    }

    fn prefix_and_one(&mut self, count: ValueId) -> ValueId {
        let one = self.word(1);
        let count = self.add(count, one);
        self.make(Type::Mask, Op::Prefix(count))
    }

    fn compare_numbers(&mut self, op: CompareOp, difference: &Linear, per_lane: i64) -> Lower<ValueId> {
        let first = self.linear_word(difference)?;
        let numbers = self.numbers(first, per_lane);
        let zero = self.splat(program::Value::I64(0));
        Ok(self.make(Type::Mask, Op::Compare(lane_compare(op), numbers, zero)))
    }

    /// `first + lane * per_lane`, as integers.
    pub(super) fn numbers(&mut self, first: ValueId, per_lane: i64) -> ValueId {
        let ty = Type::Lanes(ScalarType::I64);
        let first = self.make(ty, Op::FromWord(first));
        if per_lane == 0 {
            return first;
        }
        let lanes = self.once(ty, Op::Iota);
        let steps = if per_lane == 1 {
            lanes
        } else {
            let factor = self.splat(program::Value::I64(per_lane));
            self.once(ty, Op::Binary(BinaryOp::Mul, lanes, factor))
        };
        self.make(ty, Op::Binary(BinaryOp::Add, first, steps))
    }
}

fn lane_compare(op: CompareOp) -> ir::CompareOp {
    match op {
        CompareOp::Eq => ir::CompareOp::Eq,
        CompareOp::Ne => ir::CompareOp::Ne,
        CompareOp::Lt => ir::CompareOp::Lt,
        CompareOp::Le => ir::CompareOp::Le,
        CompareOp::Gt => ir::CompareOp::Gt,
        CompareOp::Ge => ir::CompareOp::Ge,
    }
}
