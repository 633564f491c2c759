//! The polyhedral model: statements as sets and maps, dependences, schedules and their proof, loops.
//!
//! In: a verified array program.  Out: a loop tree, by way of a schedule that has been proven legal.
//! Not here: scripts and what steps do (`steps`), which schedule is good (`choice`), machine code (`cpu`).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod check;
mod deps;
mod equations;
mod fault;
mod generate;
mod graph;
mod layouts;
mod model;
mod propose;
mod prove;
mod replay;
mod reprove;
mod scop;
pub mod sets;
mod terms;
mod tree;
mod witness;

pub use check::{check_defined, check_program};
pub use deps::{DependenceKind, Dependences, dependences, uses};
pub use equations::{Equations, base_tree};
pub use fault::{Attempt, Fault, spent};
pub use generate::generate;
pub use graph::DependenceGraph;
/// How much a piece of work may cost.
pub use isl::{Allowance, Budget};
pub use layouts::{Offsets, offsets, show_layouts};
pub use loops::{Axis, Dim};
pub use model::{Parts, affine_subscripts, model, unique};
pub use propose::{Fusion, propose};
pub use prove::{
    Instance, InstanceFault, Pair, Proven, Reduction, Subject, Verdict, Violation, may_carry, may_meet, prove,
};
pub use prove::{holes, parting, rewriting, storage, visits};
pub use replay::{Disagreement, Replay, Replayed, confirm, replay, replay_small};
pub use reprove::reprove;
pub use scop::{Access, ArrayOrigin, Laid, Scop, ScopArray, Statement, StatementKind};
pub use tree::{
    Band, Branch, Entry, Loop, LoopId, LoopKind, Marks, Naming, Node, StatementId, Tree, Unread, from_isl, is_box,
    uneven,
};
pub use witness::Sample;
