//! Checks while a kernel runs: a thread whose data is at fault reports it, and goes on with something harmless.
//!
//! A kernel with checks is given a report of three words: the number of the check that failed, from 1, or 0 while none has,
//! and two values. The thread that puts its number there, by a compare-and-swap, writes the values, too. No
//! thread leaves, since others may wait for it at a barrier; what it computes from then on does not matter, because the host looks at the report
//! before it launches anything else.

use loops::Site;

use super::body::Emitter;
use crate::ir::{Address, AtomicOp, Compare, Op, Operand, Reg, Space, Type};

/// The words of a report.
pub(crate) const REPORT_WORDS: usize = 3;

impl Emitter<'_> {
    /// Reports a fault, with what was found, unless `holds`.
    pub(super) fn require(&mut self, holds: Reg, site: Site, found: &[Reg]) {
        let number = self.number(site);
        let param = match self.report {
            Some(param) => param,
            None => *self.report.insert(self.b.param("report", Type::U64)),
        };
        let fine = self.b.label("fine");
        self.b.branch_if(holds, false, fine);
        let report = self.b.load_pointer(param);
        let before = self.b.reg(Type::B64);
        let (at, b, c) = (Address::at(report, 0), Operand::Int(0), Some(Operand::Int(number)));
        let op = AtomicOp::CompareSwap;
        self.b.push(Op::Atomic { space: Space::Global, op, ty: Type::B64, dst: Some(before), at, b, c });
        let first = self.b.compare(Compare::Eq, Type::S64, before, 0);
        for (value, offset) in found.iter().zip([8, 16]) {
            let to = Address::at(report, offset);
            self.b.guarded(first, false, |b| b.store(Space::Global, Type::S64, to, &[*value]));
        }
        self.b.place(fine);
    }

    fn number(&mut self, site: Site) -> i64 {
        let known = self.sites.iter().position(|known| *known == site);
        let position = known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        position as i64 + 1
    }
}
