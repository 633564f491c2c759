//! The common core: a transform is an integer map with extents.
//!
//! In: named inputs and outputs with extents (numbers or expressions over parameters), and an expression per output.
//! Out: evaluation at points here; relations, and answers to questions about them, from a [`Solver`].
//! Division is Euclidean with positive divisors throughout, which is also isl's floor.
//! Not here: the vocabularies that make transforms (`iter`, `cute`, `graph`).

mod axis;
mod enumerate;
mod expr;
mod from_isl;
mod pieces;
mod points;
mod solver;
mod to_isl;
mod verdict;

pub use axis::{Axis, Bound, Transform};
pub use expr::{Expr, Params};
pub use points::{Region, Relation};
pub use solver::Solver;
pub use verdict::{Equivalence, Sample, Truth};
