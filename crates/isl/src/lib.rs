//! The safe layer over libisl: integer sets, maps, schedules and loop generation, with budgets.
//!
//! In: affine expressions, sets and maps built by method calls.  Out: the same types, or an [`Error`].
//! Needs: isl 0.27, built and linked by `isl-rs`; nothing else of that crate is used.
//! Not here: our IR and any policy (which schedule, which budget) live in `poly` and `layout`.
//!
//! Rules every method keeps, so that callers need not think of C:
//! - a method is named as in C without `isl_<type>_`; `__isl_take` is by value, `__isl_keep` by reference;
//! - every result is judged by its own return value, never by what an earlier call left behind;
//! - an object keeps its [`Context`] alive, and objects of two contexts never meet in one call;
//! - what isl trusts its caller with is checked here first, so that no argument can corrupt memory (tried by `probe`);
//! - nothing is [`Send`]: isl is not thread-safe, so one context belongs to one thread;
//! - isl never prints, and the only place that limits its appetite is [`Context::with_budget`].
//!
//! ```
//! # use farkas_isl as isl;
//! # fn main() -> isl::Result<()> {
//! let context = isl::Context::new()?;
//! let set = isl::Set::read_from_str(&context, "[n] -> { S[i] : 0 <= i < n }")?;
//! assert_eq!(set.lexmin()?.to_string(), "[n] -> { S[i = 0] : n > 0 }");
//! # Ok(())
//! # }
//! ```
//! Objects cannot leave their thread:
//! ```compile_fail,E0277
//! # use farkas_isl as isl;
//! let context = isl::Context::new().unwrap();
//! let set = isl::Set::read_from_str(&context, "{ [i] }").unwrap();
//! std::thread::spawn(move || drop(set));
//! ```
//! nor can contexts, not even by reference:
//! ```compile_fail,E0277
//! # use farkas_isl as isl;
//! let context = isl::Context::new().unwrap();
//! std::thread::scope(|scope| { scope.spawn(|| drop(&context)); });
//! ```
//! The same without threads compiles:
//! ```
//! # use farkas_isl as isl;
//! let context = isl::Context::new().unwrap();
//! let set = isl::Set::read_from_str(&context, "{ [i] }").unwrap();
//! (move || drop(set))();
//! (|| drop(&context))();
//! ```

#![warn(missing_docs)]
#![expect(
    clippy::should_implement_trait,
    reason = "methods carry isl's names and its ownership, so that its manual applies"
)]

use isl_rs as _;

#[macro_use]
mod runtime;

pub mod ast;
mod expr;
mod flow;
mod map;
mod options;
#[cfg(all(test, target_os = "linux"))]
mod probe;
mod schedule;
mod set;
mod space;
mod text;
mod value;

pub use ast::{AstBuild, AstExpr, AstLoopType, AstNode};
pub use expr::{Aff, MultiAff, MultiUnionPwAff, PwAff, PwMultiAff, UnionPwAff, UnionPwMultiAff};
pub use flow::{UnionAccessInfo, UnionFlow};
pub use map::{BasicMap, FixedBox, Map, UnionMap};
pub use options::{AstOptions, ScheduleAlgorithm, ScheduleOptions, SeparationBounds};
pub use runtime::{Allowance, Budget, Context, Error, ErrorKind, Resource, Result, version};
pub use schedule::{Schedule, ScheduleConstraints, ScheduleNode, ScheduleNodeType};
pub use set::{BasicSet, Constraint, Point, Set, UnionSet};
pub use space::{Dim, LocalSpace, Space};
pub use value::{Id, MultiVal, Val};
