//! Coordinate transforms: one algebra of integer maps, in three vocabularies.
//!
//! - [`cute`]: CuTe layouts, nested shape:stride pairs, in pure arithmetic;
//! - [`morphism`]: tuple morphisms and nested tuple morphisms, the categories behind tractable layouts.
//!
//! Every object can be asked for its isl map, and every identity is checked there.
//! Not here: programs and code generation. isl is reached only under a budget, and never through text.
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
pub use transform::{Axis, Equivalence, Expr, Solver, Transform, Truth};
