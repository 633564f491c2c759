//! Coordinate graphs: dimensions as nodes, coordinate transforms as edges between groups of them.
//!
//! In: dimensions with size, stride and kind; edges.  Out: forward and reverse indices along any path, strides with
//! the condition under which they are exact, the isl map between any two groups of dimensions, DOT text.
//!
//! | edge | forward | reverse |
//! |---|---|---|
//! | Flatten (many → one) | row-major by sizes | successive mod and div, the first unbounded |
//! | Tile (one → many) | as Flatten in reverse | as Flatten forward |
//! | Join (many → one) | Σ index·stride | not a function |
//! | Split (one → many) | not a function | Σ index·stride |
//! | Sunder (pieces and a switch on one side) | the piece that the switch selects, after those before it | same |
//! | Piecewise affine join | condition ? affine : affine, from the many to the one | same |
//! | PassThrough | identity | identity |
//!
//! Data-flow edges carry no arithmetic. Asking for a direction that is no function is an error that names the edge.

mod build;
mod dot;
mod query;
mod stride;

pub use build::{Affine, CoordinateGraph, Dimension, DimensionId, DimensionKind, Edge, EdgeId};
pub use query::Indices;
pub use stride::{Exact, Stride};
