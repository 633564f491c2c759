//! Which registers an instruction reads and writes.

use super::{Address, Base, Instruction, Op, Operand, Reg};

impl Instruction {
    /// Every register that is read, the guard included.
    pub fn reads(&self) -> Vec<Reg> {
        let mut found: Vec<Reg> = self.guard.iter().map(|guard| guard.predicate).collect();
        self.op.for_each_read(&mut |reg| found.push(reg));
        found
    }

    pub fn writes(&self) -> Vec<Reg> {
        let mut found = Vec::new();
        self.op.for_each_write(&mut |reg| found.push(reg));
        found
    }
}

impl Op {
    pub fn for_each_read(&self, found: &mut dyn FnMut(Reg)) {
        let mut operands = |operands: &[&Operand]| {
            for operand in operands {
                if let Operand::Reg(reg) = operand {
                    found(*reg);
                }
            }
        };
        match self {
            Op::Load { from, .. } => address(from, found),
            Op::Store { to, src, .. } => {
                operands(&src.iter().collect::<Vec<_>>());
                address(to, found);
            }
            Op::Pack { src, .. } => operands(&src.iter().collect::<Vec<_>>()),
            Op::Move { src, .. } | Op::Unpack { src, .. } | Op::Convert { src, .. } | Op::Address { src, .. } => {
                operands(&[src]);
            }
            Op::Unary { a, .. } => operands(&[a]),
            Op::Binary { a, b, .. } => operands(&[a, b]),
            Op::Ternary { a, b, c, .. } => operands(&[a, b, c]),
            Op::Compare { a, b, combine, .. } => {
                operands(&[a, b]);
                combine.iter().for_each(|combine| found(combine.predicate));
            }
            Op::Select { a, b, condition, .. } => {
                operands(&[a, b]);
                found(*condition);
            }
            Op::WarpBarrier { mask } => operands(&[mask]),
            Op::Shuffle { src, lane, clamp, mask, .. } => operands(&[src, lane, clamp, mask]),
            Op::Vote { predicate, mask, .. } => {
                operands(&[mask]);
                found(*predicate);
            }
            Op::Atomic { at, b, c, .. } => {
                operands(&[b]);
                c.iter().for_each(|c| operands(&[c]));
                address(at, found);
            }
            Op::CopyAsync { to, from, .. } => {
                address(to, found);
                address(from, found);
            }
            Op::Branch { .. }
            | Op::Return
            | Op::Barrier
            | Op::Fence { .. }
            | Op::ActiveMask { .. }
            | Op::CommitGroup
            | Op::WaitGroup { .. }
            | Op::Unsupported { .. } => {}
        }
    }

    pub fn for_each_write(&self, found: &mut dyn FnMut(Reg)) {
        match self {
            Op::Load { dst, .. } | Op::Unpack { dst, .. } => dst.iter().copied().for_each(found),
            Op::Move { dst, .. }
            | Op::Pack { dst, .. }
            | Op::Convert { dst, .. }
            | Op::Address { dst, .. }
            | Op::Unary { dst, .. }
            | Op::Binary { dst, .. }
            | Op::Ternary { dst, .. }
            | Op::Select { dst, .. }
            | Op::Vote { dst, .. }
            | Op::ActiveMask { dst } => found(*dst),
            Op::Compare { dst, inverse, .. } => [Some(*dst), *inverse].into_iter().flatten().for_each(found),
            Op::Shuffle { dst, valid, .. } => [Some(*dst), *valid].into_iter().flatten().for_each(found),
            Op::Atomic { dst, .. } => dst.iter().copied().for_each(found),
            Op::Store { .. }
            | Op::Branch { .. }
            | Op::Return
            | Op::Barrier
            | Op::WarpBarrier { .. }
            | Op::Fence { .. }
            | Op::CopyAsync { .. }
            | Op::CommitGroup
            | Op::WaitGroup { .. }
            | Op::Unsupported { .. } => {}
        }
    }
}

fn address(address: &Address, found: &mut dyn FnMut(Reg)) {
    if let Base::Reg(reg) = address.base {
        found(reg);
    }
}
