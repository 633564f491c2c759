//! Loops to kernels: a parallel loop becomes a grid of threads, everything inside it runs serially in a thread.
//!
//! In: a verified loop tree.  Out: a [`Program`]: PTX, and the launches that the host makes, in loops of its own where
//! parallel loops stand inside serial ones.  Or what the tree holds that is not supported.
//! Two parallel loops that are nested without anything between them become two axes, the inner one along x, so that
//! neighbouring threads touch neighbouring cells. Where the loops inside share memory or wait for each other, an iteration
//! of the outer loops is a block, and one of the inner loops a thread. Loops that are placed become what they are placed on
//! (`loops::threads`). What is outside of every parallel loop runs on a
//! single thread.
//! Not here: any choice of what is shared; running a program (`run`).

mod banks;
mod block;
pub(crate) mod body;
mod data;
mod divide;
mod expr;
pub(crate) mod fault;
mod hoist;
mod host;
mod index;
mod known;
mod locals;
mod pressure;
mod reuse;
mod warp;
mod widen;

use diag::deadline;
use loops::{Cond, Index, Site, VarId, Verified};

use crate::ir::{Kernel, Module, Target};
use crate::verify::{self, Problem, verify};

/// What is computed by whom.
#[derive(Clone, Debug)]
pub struct Program {
    /// The loops it was made of: declarations of parameters, scalars and arrays.
    pub loops: loops::Kernel,
    /// How many of the arrays its caller knows: the first ones. The others are local.
    pub given: usize,
    pub module: verify::Verified,
    pub host: Vec<HostStep>,
    /// The checks that kernels make while they run, by the numbers in their reports, from 1.
    pub sites: Vec<Site>,
}

/// What the host does, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum HostStep {
    Launch(LaunchPlan),
    /// One launch after the other.
    For {
        var: VarId,
        lo: Index,
        hi: Index,
        step: i64,
        body: Vec<HostStep>,
    },
    If {
        cond: Cond,
        then: Vec<HostStep>,
        otherwise: Vec<HostStep>,
    },
}

/// One launch: a thread, or a block of threads, for each combination of the axes' iterations.
///
/// A kernel's arguments are: the parameters, the loop variables of the host around the launch, the scalars, the arrays, and
/// the report if it has checks.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchPlan {
    pub kernel: String,
    /// Along x, then y, then z; none for a single thread or block.
    pub axes: Vec<Axis>,
    /// An iteration of the axes is a block; otherwise it is a thread.
    pub per_block: bool,
    /// Threads of a block.
    pub block: [u32; 3],
    /// Host loops around, outermost first.
    pub vars: Vec<VarId>,
    /// Arrays of which every thread has a copy of its own, one after the other.
    pub private: Vec<loops::ArrayId>,
    /// Whether it checks something while it runs.
    pub reports: bool,
}

impl LaunchPlan {
    /// Whether rows of blocks that y has no room for go on along z. Where a schedule has placed blocks each of them has much to do, so that there are few; the number of
    /// a row would take a register of kernels that have none to spare.
    pub(crate) fn folds(&self) -> bool {
        !self.per_block && self.axes.len() == 2
    }
}

/// The iterations of a parallel loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub var: VarId,
    pub lo: Index,
    pub hi: Index,
    pub step: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The tree holds something that has no translation yet.
    #[error("{0}")]
    Unsupported(String),
    /// There is no time left.
    #[error("the time is over")]
    OutOfTime,
    /// We are at fault.
    #[error("internal error: the loop over the threads of a block is none: {0}")]
    Threads(String),
    /// We are at fault.
    #[error("internal error: the emitted kernel is not PTX: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Problem>),
}

type Emit<T> = Result<T, EmitError>;

fn unsupported<T>(what: impl Into<String>) -> Emit<T> {
    Err(EmitError::Unsupported(what.into()))
}

/// Translates a loop tree for a target.
pub fn emit(loops: &Verified, target: Target) -> Emit<Program> {
    let given = loops.arrays.len();
    let placed = loops::threads((**loops).clone()).map_err(|loops::Unplaced(why)| EmitError::Unsupported(why))?;
    if deadline::check("ptx").is_err() {
        return Err(EmitError::OutOfTime);
    }
    let loops = loops::verify(placed).map_err(|error| EmitError::Threads(error.to_string()))?;
    let (host, Kernels { done: kernels, sites, .. }, loops) = host::split(loops, target)?;
    let module = Module { target, files: Vec::new(), kernels };
    let module = verify(module).map_err(EmitError::Invalid)?;
    Ok(Program { loops: (*loops).clone(), given, module, host, sites })
}

/// The kernels of a program so far, with their checks, and the name of the next.
struct Kernels {
    stem: String,
    done: Vec<Kernel>,
    sites: Vec<Site>,
}

impl Kernels {
    fn next_name(&self) -> String {
        format!("{}_{}", self.stem, self.done.len())
    }
}

/// A name that PTX takes: letters that it does not know become underscores.
fn plain_name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("k{plain}") }
}
