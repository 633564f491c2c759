//! Reference semantics: what an array program and a loop tree mean, executed slowly and plainly.
//!
//! In: a function of `program` or a verified kernel of `loops`, and the arguments.  Out: the arrays afterwards, or a
//! typed error. Both forms are resolved into one small machine form (`machine`), which is then executed.
//! Not here: isl, schedules, optimisation.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod concurrent;
mod demand;
mod env;
mod error;
pub mod eval;
mod float;
mod machine;
mod resolve_loops;
mod resolve_program;

pub use env::Env;
pub use error::Error;
pub use resolve_loops::{run_concurrently, run_loops};
pub use resolve_program::run_program;
