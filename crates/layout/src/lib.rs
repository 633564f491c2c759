//! Coordinate transforms: one algebra of integer maps, in three vocabularies.
//!
//! - [`iter`]: loops by split, merge, resize, swizzle and reorder, with the predicates that guard their items;
//! - [`cute`]: CuTe layouts, nested shape:stride pairs, in pure arithmetic; [`morphism`]: the categories behind them;
//! - [`graph`]: coordinate graphs, dimensions with Flatten, Tile, Join and the like between them.
//!
//! What they share is a [`Transform`], an integer map with extents; a [`Solver`] gives it as a relation and answers
//! questions about it. [`bridge`] leads from one vocabulary to another, [`calculator`] is for people.
//!
//! ```
//! # use farkas_layout as layout;
//! use layout::iter::{Schedule, SplitKind};
//! use layout::{Axis, Expr, Solver, Truth};
//!
//! let mut schedule = Schedule::new([Axis::new("i", Expr::param("N"))]);
//! let [outer, _] = schedule.split(schedule.roots()[0], 6, SplitKind::Inner)?;
//! schedule.split(outer, 2, SplitKind::Inner)?;
//! assert_eq!(schedule.minimal_predicate()?.to_string(), "0 <= (ioo*2 + ioi)*6 + ii < N");
//! assert_eq!(schedule.confirm_minimal(&Solver::new()?)?, Truth::Yes);
//! # Ok::<_, layout::Error>(())
//! ```
//! Not here: programs and code generation. isl is reached only under a budget, never through text, and none of its objects
//! is handed out.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod bridge;
pub mod calculator;
pub mod cute;
mod error;
pub mod graph;
pub mod iter;
pub mod morphism;
mod nested;
mod text;
pub mod transform;

pub use cute::{ComposedLayout, Layout, Swizzle};
pub use error::{Error, Result};
pub use nested::{MAX_DEPTH, Nested};
pub use transform::{Axis, Equivalence, Expr, Region, Relation, Solver, Transform, Truth};
