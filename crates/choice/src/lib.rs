//! Choice: which schedule to use.
//!
//! In: a program with its dependences; or a script, or a space of scripts.  Out: a schedule that the gate has proven, or why
//! there is none.
//! Alternatives are candidates, compared by one cost before anything is generated; the cheapest that is proven wins. What is
//! decided here can be written as a script.
//! Not here: what is true about a schedule (`poly::prove`), what steps do (`steps`), isl.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod candidates;
mod cost;
pub mod explore;
mod follow;
mod machine;
mod recipes;
mod repair;
mod saving;
mod small;
mod written;

pub use candidates::{Chosen, choose, own_order};
pub use follow::{Followed, follow, load, not_a_tree};
pub use machine::Machine;
pub use recipes::Reasoned;
pub use recipes::grid::spread;
pub use saving::{Saving, savings};
pub use small::Version;
pub use written::written;
