//! How many registers the threads of a kernel need at once, and so how many of its blocks shall run beside each other.
//!
//! The assembler, left alone, aims at many threads for each processor, and rather spills a few values than let some of them go. A kernel that names the blocks that it
//! wants beside each other has all the registers that these leave it.

use crate::ir::{Kernel, Op, Statement, Type};

/// Registers that a thread may have while enough threads hide the latency of memory.
const REGISTERS: u32 = 128;
/// So many threads with that many registers have all of a processor's.
const THREADS: u32 = 512;
/// Blocks and bytes of shared memory that every processor has room for.
const MOST_BLOCKS: u32 = 16;
const SHARED: u64 = 64 << 10;

/// How many blocks of a kernel shall run beside each other, at least.
pub(super) fn blocks_wanted(kernel: &Kernel) -> u32 {
    let threads: u32 = kernel.max_threads.map_or(THREADS, |threads| threads.iter().product());
    if most_alive(kernel) > REGISTERS {
        return 1;
    }
    let fitting = match kernel.variable_offsets().1[0] {
        0 => MOST_BLOCKS,
        shared => (SHARED / shared).min(u64::from(MOST_BLOCKS)) as u32,
    };
    (THREADS / threads.max(1)).min(fitting).max(1)
}

/// Registers of 32 bits that are alive at once, at the worst place.
fn most_alive(kernel: &Kernel) -> u32 {
    // Predicates have registers of their own.
    let size = |ty: Type| if ty == Type::Pred { 0 } else { ty.bits().div_ceil(32) };
    let sizes: Vec<u32> = kernel.registers.iter().map(|register| size(register.ty)).collect();
    let nothing = Alive { is: vec![false; sizes.len()], registers: 0, sizes: &sizes };
    let mut at_labels = vec![nothing.clone(); kernel.labels.len()];
    loop {
        let (mut most, mut changed) = (0, false);
        let mut alive = nothing.clone();
        for statement in kernel.body.iter().rev() {
            let instruction = match statement {
                Statement::Label(label) => {
                    if let Some(known) = at_labels.get_mut(label.index()) {
                        changed |= known.join(&alive);
                    }
                    continue;
                }
                Statement::Instruction(instruction) => instruction,
            };
            // Without a condition nothing that stands behind a jump is reached from in front of it.
            if instruction.guard.is_none() && matches!(instruction.op, Op::Branch { .. } | Op::Return) {
                alive = nothing.clone();
            }
            if let Op::Branch { target, .. } = &instruction.op
                && let Some(there) = at_labels.get(target.index())
            {
                alive.join(there);
            }
            if instruction.guard.is_none() {
                instruction.writes().into_iter().for_each(|reg| alive.set(reg.index(), false));
            }
            instruction.reads().into_iter().for_each(|reg| alive.set(reg.index(), true));
            most = most.max(alive.registers);
        }
        if !changed {
            return most;
        }
    }
}

/// A set of registers, and how many of 32 bits they are.
#[derive(Clone)]
struct Alive<'a> {
    is: Vec<bool>,
    registers: u32,
    sizes: &'a [u32],
}

impl Alive<'_> {
    fn set(&mut self, register: usize, value: bool) {
        let (Some(is), Some(size)) = (self.is.get_mut(register), self.sizes.get(register)) else { return };
        if *is != value {
            *is = value;
            self.registers = if value { self.registers + size } else { self.registers - size };
        }
    }

    /// Adds another set; whether that changed anything.
    fn join(&mut self, other: &Alive<'_>) -> bool {
        let mut changed = false;
        for (register, is) in other.is.iter().enumerate() {
            if *is && self.is.get(register) == Some(&false) {
                self.set(register, true);
                changed = true;
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(body: &str) -> Kernel {
        let text = format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x)\n.maxntid 128, 1, 1\n\
             {{ .reg .pred %p<2>; .reg .b32 %r<300>; .reg .b64 %rd<4>; {body} ret; }}\n"
        );
        let mut module = crate::parse(&text).expect("it is PTX");
        module.kernels.remove(0)
    }

    #[test]
    fn values_are_alive_from_their_assignment_to_their_last_use() {
        let two = "mov.u32 %r0, 1; mov.u32 %r1, 2; add.u32 %r2, %r0, %r1; add.u32 %r3, %r2, 1;";
        assert_eq!(most_alive(&kernel(two)), 2);
        let wide = "ld.param.u64 %rd0, [x]; mov.u32 %r0, 1; st.global.u32 [%rd0], %r0;";
        assert_eq!(most_alive(&kernel(wide)), 3, "an address is two registers");
        // What a loop reads again is alive to its end.
        let again = "mov.u32 %r0, 1; mov.u32 %r1, 0; $L: add.u32 %r2, %r0, 1; add.u32 %r1, %r1, %r2; \
                     setp.lt.u32 %p0, %r1, 9; @%p0 bra $L;";
        assert_eq!(most_alive(&kernel(again)), 3);
        assert_eq!(most_alive(&kernel(&again.replace("@%p0 bra $L;", ""))), 2);
    }

    #[test]
    fn kernels_with_many_values_want_one_block() {
        assert_eq!(blocks_wanted(&kernel("")), 4, "512 threads");
        let assigned: String = (0..200).map(|r| format!("mov.u32 %r{r}, {r};")).collect();
        let used: String = (0..200).map(|r| format!("add.u32 %r299, %r{r}, 1;")).collect();
        assert_eq!(blocks_wanted(&kernel(&(assigned.clone() + &used))), 1);
        assert_eq!(blocks_wanted(&kernel(&assigned)), 4);
        let shared = ".shared .align 4 .b8 s[30000];";
        assert_eq!(blocks_wanted(&kernel(shared)), 2, "as shared memory allows");
    }
}
