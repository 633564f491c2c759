//! The polyhedral model: statements as sets and maps, dependences, legality, schedules, loops.
//!
//! In: a verified array program.  Out: a loop tree, by way of a schedule that has been proven legal.
//! Not here: text of any kind (`syntax`), machine code (`cpu`).
#![forbid(unsafe_code)]

mod carried;
mod check;
mod choose;
mod deps;
mod equations;
mod fault;
mod generate;
mod graph;
mod legality;
mod load;
mod model;
mod plan;
mod replay;
mod scop;
mod sets;
mod terms;
pub mod transform;
mod witness;

pub use carried::{Carried, Kinds, check_kinds};
pub use check::{check_defined, check_program};
pub use choose::choose;
pub use deps::{DependenceKind, Dependences, dependences};
pub use equations::{Equations, base_plan};
pub use generate::{generate, generate_separated};
pub use graph::DependenceGraph;
pub use legality::{Instance, InstanceFault, LegalSchedule, Pair, Reversed, Verdict, Violation, check_legal};
pub use load::load_tree;
pub use model::{Storage, model};
pub use plan::{Entry, Loop, LoopKind, Plan, StatementPlan};
pub use replay::{Disagreement, confirm, replay};
pub use scop::{Access, ArrayOrigin, Scop, ScopArray, Statement, StatementKind};
pub use terms::replay_rewritten;
pub use witness::Sample;
