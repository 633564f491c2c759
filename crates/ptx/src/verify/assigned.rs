//! Registers that some path reads before any instruction assigned them.

use crate::flow::successors;
use crate::ir::{Instruction, Kernel, Op, Statement};

/// A set of registers.
#[derive(Clone, PartialEq)]
struct Bits(Vec<u64>);

impl Bits {
    fn contains(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    fn insert(&mut self, index: usize) {
        if let Some(word) = self.0.get_mut(index / 64) {
            *word |= 1 << (index % 64);
        }
    }

    fn intersect(&mut self, other: &Bits) -> bool {
        let mut changed = false;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            changed |= *word & !other != 0;
            *word &= other;
        }
        changed
    }
}

/// Each instruction with a register that may be unassigned there. A guarded assignment does not count.
pub(super) fn read_before_assigned(kernel: &Kernel) -> Vec<(&Instruction, &str)> {
    let instructions: Vec<&Instruction> = kernel
        .body
        .iter()
        .filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            Statement::Label(_) => None,
        })
        .collect();
    let successors = successors(kernel);
    let words = kernel.registers.len().div_ceil(64);
    let mut before: Vec<Option<Bits>> = vec![None; instructions.len()];
    if let Some(first) = before.first_mut() {
        *first = Some(Bits(vec![0; words]));
    }
    let mut work = vec![0];
    while let Some(at) = work.pop() {
        let (Some(instruction), Some(Some(known))) = (instructions.get(at), before.get(at)) else { continue };
        let mut after = known.clone();
        if instruction.guard.is_none() {
            instruction.op.for_each_write(&mut |reg| after.insert(reg.index()));
        }
        for next in &successors[at] {
            let Some(known) = before.get_mut(*next) else { continue };
            let changed = match known {
                Some(known) => known.intersect(&after),
                None => {
                    *known = Some(after.clone());
                    true
                }
            };
            if changed {
                work.push(*next);
            }
        }
    }
    let mut found = Vec::new();
    for (instruction, known) in instructions.into_iter().zip(&before) {
        // What is never reached is never read.
        let Some(known) = known else { continue };
        if matches!(instruction.op, Op::Unsupported { .. }) {
            continue;
        }
        for reg in instruction.reads() {
            if !known.contains(reg.index())
                && let Some(register) = kernel.register(reg)
            {
                found.push((instruction, register.name.as_str()));
            }
        }
    }
    found
}
