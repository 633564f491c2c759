//! Is this module PTX that means what it says?
//!
//! In: a module.  Out: [`Verified`], or every problem with the instruction it is in.
//! `verify/types` is also what the emulator asks before it runs other people's kernels; the rest are rules for our own:
//! rounding is always said, every register is assigned before it is read, and the target knows every instruction.

mod assigned;
mod types;

use std::collections::HashSet;
use std::fmt;

use crate::ir::{BinaryOp, Instruction, Kernel, Module, Op, Statement, Type, UnaryOp};
use crate::print::print_instruction;

pub(crate) use types::{check_types, supports};

/// A module that passed [`verify`]: the only kind that has a text for assemblers.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified(Module);

impl Verified {
    pub fn module(&self) -> &Module {
        &self.0
    }

    /// The PTX.
    pub fn text(&self) -> String {
        self.0.to_string()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kernel: String,
    /// The instruction as text, if one is at fault.
    pub instruction: Option<String>,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.instruction {
            Some(text) => write!(f, "{}: `{text}`: {}", self.kernel, self.message),
            None => write!(f, "{}: {}", self.kernel, self.message),
        }
    }
}

/// The most static shared memory that every architecture has.
pub(crate) const MAX_SHARED: u64 = 48 << 10;
const MAX_THREADS: u64 = 1024;

pub fn verify(module: Module) -> Result<Verified, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut names = HashSet::new();
    for kernel in &module.kernels {
        if !names.insert(&kernel.name) {
            let message = "a kernel of this name exists already".to_owned();
            problems.push(Problem { kernel: kernel.name.clone(), instruction: None, message });
        }
        KernelCheck { kernel, sm: module.target.sm, problems: &mut problems }.run();
    }
    if problems.is_empty() { Ok(Verified(module)) } else { Err(problems) }
}

struct KernelCheck<'a> {
    kernel: &'a Kernel,
    sm: u32,
    problems: &'a mut Vec<Problem>,
}

impl KernelCheck<'_> {
    fn report(&mut self, instruction: Option<&Instruction>, message: impl Into<String>) {
        self.problems.push(Problem {
            kernel: self.kernel.name.clone(),
            instruction: instruction.map(|instruction| print_instruction(self.kernel, instruction)),
            message: message.into(),
        });
    }

    fn run(&mut self) {
        let kernel = self.kernel;
        self.check_declarations();
        self.check_labels();
        let before = self.problems.len();
        for statement in &kernel.body {
            let Statement::Instruction(instruction) = statement else { continue };
            if let Err(message) = check_types(kernel, instruction) {
                self.report(Some(instruction), message);
            } else if let Err(message) = supports(&instruction.op) {
                self.report(Some(instruction), message);
            } else if let Some(message) = missing_rounding(&instruction.op) {
                self.report(Some(instruction), message);
            } else if let Some(sm) = needs_sm(&instruction.op).filter(|sm| *sm > self.sm) {
                self.report(Some(instruction), format!("needs sm_{sm}, but the target is sm_{}", self.sm));
            }
        }
        let last = kernel.body.iter().rev().find_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            Statement::Label(_) => None,
        });
        let ends = |instruction: &Instruction| {
            instruction.guard.is_none() && matches!(instruction.op, Op::Return | Op::Branch { .. })
        };
        if !last.is_some_and(ends) || !matches!(kernel.body.last(), Some(Statement::Instruction(_))) {
            self.report(last, "a kernel must not run past its end");
        }
        if self.problems.len() == before {
            for (instruction, register) in assigned::read_before_assigned(kernel) {
                self.report(Some(instruction), format!("`{register}` may be read before it is assigned"));
            }
        }
    }

    fn check_declarations(&mut self) {
        let kernel = self.kernel;
        let mut names = HashSet::new();
        let declared = kernel.registers.iter().map(|register| &register.name);
        let declared = declared.chain(kernel.variables.iter().map(|variable| &variable.name));
        let declared = declared.chain(kernel.params.iter().map(|param| &param.name)).chain(&kernel.labels);
        for name in declared.chain([&kernel.name]) {
            let mut chars = name.chars();
            let start = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '%'));
            if !start || !chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$')) {
                self.report(None, format!("`{name}` is no name in PTX"));
            }
            if !names.insert(name) {
                self.report(None, format!("`{name}` is declared twice"));
            }
        }
        let shared = kernel.variable_offsets().1[0];
        if shared > MAX_SHARED {
            self.report(None, format!("{shared} bytes of shared memory; at most {MAX_SHARED} may be static"));
        }
        if let Some(threads) = kernel.max_threads {
            let count: u64 = threads.iter().map(|axis| u64::from(*axis)).product();
            if !(1..=MAX_THREADS).contains(&count) {
                self.report(None, format!("a block of {count} threads; it must have 1 to {MAX_THREADS}"));
            }
        }
        self.check_blocks();
    }

    /// The assembler ignores a number of blocks without a size.
    fn check_blocks(&mut self) {
        let kernel = self.kernel;
        match kernel.min_blocks {
            Some(0) => self.report(None, "no block at all beside each other".to_owned()),
            Some(_) if kernel.max_threads.is_none() => {
                self.report(None, "a number of blocks without the number of their threads".to_owned());
            }
            _ => {}
        }
    }

    fn check_labels(&mut self) {
        let mut placed = vec![0u32; self.kernel.labels.len()];
        for statement in &self.kernel.body {
            if let Statement::Label(label) = statement
                && let Some(count) = placed.get_mut(label.index())
            {
                *count += 1;
            }
        }
        for (name, count) in self.kernel.labels.iter().zip(placed) {
            if count != 1 {
                self.report(None, format!("the label `{name}` stands at {count} places"));
            }
        }
    }
}

/// Without a word for it the assembler may fuse a multiplication and an addition.
fn missing_rounding(op: &Op) -> Option<&'static str> {
    let (ty, float, needed) = match op {
        Op::Binary { op, ty, float, .. } => {
            let rounds = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
            (*ty, float, rounds)
        }
        Op::Ternary { ty, float, .. } => (*ty, float, true),
        Op::Unary { op, ty, float, .. } => (*ty, float, !matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Not)),
        Op::Convert { to, from, float, .. } => {
            let narrows = to.is_float() != from.is_float() || (to.is_float() && to.bits() < from.bits());
            return (narrows && float.rounding.is_none()).then_some("the rounding must be said");
        }
        _ => return None,
    };
    (needed && matches!(ty, Type::F32 | Type::F64) && float.rounding.is_none()).then_some("the rounding must be said")
}

/// The architecture that an instruction came with, if it is younger than sm_70.
fn needs_sm(op: &Op) -> Option<u32> {
    match op {
        Op::Binary { op: BinaryOp::MinNan | BinaryOp::MaxNan, .. } => Some(80),
        Op::CopyAsync { .. } | Op::CommitGroup | Op::WaitGroup { .. } => Some(80),
        Op::Unary { op: UnaryOp::Tanh, .. } => Some(75),
        _ => None,
    }
}
