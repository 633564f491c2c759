//! IterDomain: schedules of loop dimensions by split, merge, resize, swizzle, reorder and broadcast.
//!
//! In: root domains with extents, and operations on them.  Out: loop extents, indices of the roots, the predicates
//! that guard items, holes and allocation sizes, and what correctness an unpredicated execution needs.
//!
//! | operation | extents | index forward | and back |
//! |---|---|---|---|
//! | inner split by f | ⌈N/f⌉, f | i / f, i mod f | o·f + i |
//! | outer split by f | f, ⌈N/f⌉ | i / ⌈N/f⌉, i mod ⌈N/f⌉ | o·⌈N/f⌉ + i |
//! | merge | N·M | o·M + i | m / M, m mod M |
//! | resize by L, R | N + L + R | i + L | i − L |
//! | swizzle xor | N, N (a power of 2) | x, x xor y | the same |
//! | swizzle cyclic | M, N | x, (x + y) mod N | x, (y − x) mod N |
//!
//! Not here: isl; questions are asked through a [`crate::transform::Solver`].

mod access;
mod correctness;
mod index;
mod predicate;
mod schedule;
mod storage;

pub use access::{Access, Strided, vector_access};
pub use correctness::{Consumer, Fill, Reduction, Requirement, requirement};
pub use predicate::{Condition, Predicate};
pub use schedule::{DomainId, Operation, Schedule, SplitKind, Step, SwizzleKind};
pub use storage::Allocation;
