//! Integer sets, their points and their constraints.

mod basic_set;
mod constraint;
mod general;
mod point;
mod union_set;

pub use basic_set::BasicSet;
pub use constraint::Constraint;
pub use general::Set;
pub use point::Point;
pub use union_set::UnionSet;
