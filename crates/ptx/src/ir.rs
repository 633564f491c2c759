//! PTX as data: modules, kernels, registers and their declarations. Instructions are in `ir/op`.
//!
//! Made by `build` (our own kernels) or by `parse` (anyone's text), printed by `print`, checked by `verify`.
//! Ids are positions in the lists of their kernel; names are for people and for the text.

mod op;
mod types;
mod uses;

pub use op::{
    Address, AtomicOp, Base, BinaryOp, Cache, Combine, Compare, Float, Op, Operand, Rounding, ShuffleMode, TernaryOp,
    UnaryOp, VoteMode,
};
pub use types::{Space, Special, Type};

use index::id;

id! {
    /// A register of a kernel.
    Reg
}
id! {
    /// A place in a kernel's body.
    Label
}
id! {
    /// A parameter of a kernel.
    ParamId
}
id! {
    /// A variable of a kernel in shared memory.
    VariableId
}

/// A file of PTX.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    pub target: Target,
    /// Source files that `.loc` speaks of: number and name.
    pub files: Vec<(u32, String)>,
    pub kernels: Vec<Kernel>,
}

/// The language version and the oldest architecture that a module is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    pub version: (u32, u32),
    /// `70` of `sm_70`.
    pub sm: u32,
}

impl Target {
    /// The oldest version that knows the architecture: newer assemblers and drivers take it all the same.
    pub fn sm(sm: u32) -> Target {
        let version = match sm {
            0..=80 => (7, 0),
            81..=87 => (7, 4),
            88..=90 => (7, 8),
            91..=101 => (8, 6),
            _ => (8, 7),
        };
        Target { version, sm }
    }
}

impl Default for Target {
    fn default() -> Target {
        Target::sm(70)
    }
}

/// One `.entry`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    pub name: String,
    pub params: Vec<Param>,
    /// The largest block it may be launched with.
    pub max_threads: Option<[u32; 3]>,
    /// How many blocks shall run beside each other on a processor, at least: what registers may be used up for.
    pub min_blocks: Option<u32>,
    pub registers: Vec<Register>,
    pub variables: Vec<Variable>,
    pub labels: Vec<String>,
    pub body: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    pub ty: Type,
    /// More than one for structures, which are arrays of bytes.
    pub count: u32,
    pub align: u32,
}

impl Param {
    pub fn scalar(name: impl Into<String>, ty: Type) -> Param {
        Param { name: name.into(), ty, count: 1, align: ty.bytes() }
    }

    pub fn bytes(&self) -> u64 {
        u64::from(self.ty.bytes()) * u64::from(self.count)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    pub name: String,
    pub ty: Type,
}

/// An array of bytes in shared memory, or one of which each thread has its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// `Shared` or `Local`.
    pub space: Space,
    pub align: u32,
    /// `None`: as much as the launch asks for.
    pub bytes: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Label(Label),
    Instruction(Instruction),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    pub guard: Option<Guard>,
    pub op: Op,
    /// The line of the text it was parsed from; 0 if it was built.
    pub line: u32,
    pub source: Option<SourcePlace>,
}

/// `@%p` or `@!%p`: the threads that run the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub predicate: Reg,
    pub negated: bool,
}

/// What `.loc` says: where in the user's source an instruction comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// Number of the file in [`Module::files`].
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

impl Kernel {
    pub fn register(&self, reg: Reg) -> Option<&Register> {
        self.registers.get(reg.index())
    }

    /// Where each parameter starts, and how long all are.
    pub fn param_offsets(&self) -> (Vec<u64>, u64) {
        let mut at = 0u64;
        let mut offsets = Vec::with_capacity(self.params.len());
        for param in &self.params {
            at = at.next_multiple_of(u64::from(param.align.max(1)));
            offsets.push(at);
            at += param.bytes();
        }
        (offsets, at)
    }

    /// Where each variable starts in shared memory, or in that of its thread, and how long all of fixed size are in the former and in the latter. Those
    /// whose size the launch gives start at the end.
    pub fn variable_offsets(&self) -> (Vec<u64>, [u64; 2]) {
        let mut ends = [0u64; 2];
        let mut offsets = vec![0; self.variables.len()];
        for (offset, variable) in offsets.iter_mut().zip(&self.variables) {
            if let Some(bytes) = variable.bytes {
                let at = &mut ends[usize::from(variable.space == Space::Local)];
                *offset = at.next_multiple_of(u64::from(variable.align.max(1)));
                *at = *offset + bytes;
            }
        }
        for (offset, variable) in offsets.iter_mut().zip(&self.variables) {
            if variable.bytes.is_none() {
                *offset = ends[0].next_multiple_of(u64::from(variable.align.max(1)));
            }
        }
        (offsets, ends)
    }
}
