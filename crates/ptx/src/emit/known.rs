//! Index arithmetic that is known while a kernel is written: constants, and variables of loops that are written out.

use loops::{Cond, Index};

use super::body::Emitter;
use crate::ir::Operand;

impl Emitter<'_> {
    /// The value of an index, if it is the same for all threads and launches.
    pub(super) fn known(&self, index: &Index) -> Option<i64> {
        let pair = |a: &Index, b: &Index| Some((self.known(a)?, self.known(b)?));
        match index {
            Index::Const(value) => Some(*value),
            Index::Param(_) => None,
            Index::Var(var) => match self.vars.get(var.index()).copied().flatten() {
                Some(Operand::Int(value)) => Some(value),
                _ => None,
            },
            Index::Add(a, b) => pair(a, b).and_then(|(a, b)| a.checked_add(b)),
            Index::Sub(a, b) => pair(a, b).and_then(|(a, b)| a.checked_sub(b)),
            Index::Mul(a, factor) => self.known(a)?.checked_mul(*factor),
            Index::FloorDiv(a, divisor) => self.known(a)?.checked_div_euclid(*divisor),
            Index::Mod(a, divisor) => self.known(a)?.checked_rem_euclid(*divisor),
            Index::Xor(a, b) => pair(a, b).map(|(a, b)| a ^ b),
            Index::Min(a, b) => pair(a, b).map(|(a, b)| a.min(b)),
            Index::Max(a, b) => pair(a, b).map(|(a, b)| a.max(b)),
            Index::Select(cond, a, b) => self.known(if self.known_cond(cond)? { a } else { b }),
        }
    }

    pub(super) fn known_cond(&self, cond: &Cond) -> Option<bool> {
        match cond {
            Cond::Compare(op, a, b) => Some(op.holds(self.known(a)?, self.known(b)?)),
            Cond::Not(inner) => Some(!self.known_cond(inner)?),
            Cond::And(parts) => parts.iter().try_fold(true, |all, part| Some(all && self.known_cond(part)?)),
            Cond::Or(parts) => parts.iter().try_fold(false, |any, part| Some(any || self.known_cond(part)?)),
        }
    }

    /// An index as something that varies, if anything does, and a constant.
    pub(super) fn parted(&self, index: &Index) -> (Option<Index>, i64) {
        if let Some(value) = self.known(index) {
            return (None, value);
        }
        let whole = || (Some(index.clone()), 0);
        match index {
            Index::Add(a, b) => {
                let ((a, x), (b, y)) = (self.parted(a), self.parted(b));
                let Some(constant) = x.checked_add(y) else { return whole() };
                let rest = match (a, b) {
                    (Some(a), Some(b)) => Some(Index::Add(Box::new(a), Box::new(b))),
                    (one, other) => one.or(other),
                };
                (rest, constant)
            }
            Index::Sub(a, b) => match (self.parted(a), self.known(b)) {
                ((rest, x), Some(y)) if x.checked_sub(y).is_some() => (rest, x - y),
                _ => whole(),
            },
            Index::Mul(a, factor) => match self.parted(a) {
                (Some(rest), constant) if constant != 0 => match constant.checked_mul(*factor) {
                    Some(constant) => (Some(Index::Mul(Box::new(rest), *factor)), constant),
                    None => whole(),
                },
                _ => whole(),
            },
            _ => whole(),
        }
    }
}
