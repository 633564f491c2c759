//! Whole-array statements and expressions: arrays without subscripts, and verbs on their cells.
//!
//! In: statements such as `C = A + B`, and applications of verbs anywhere.  Out: the same foralls and reductions that the
//! indexed form gives. First the shape of every part is found and checked (`shape`, `agree`); then the expression
//! is lowered once, for the cell that indices made up here point to (`verb`, `rearrange`).
//! Not here: what an operator does to two numbers; a cell is lowered like any other scalar expression.

mod agree;
mod hoist;
mod names;
mod rearrange;
mod shape;
mod spread;
mod statement;
mod verb;

pub(super) use names::visit;

use crate::Affine;

/// The extents of an expression's axes; a scalar has none.
type Shape = Vec<Affine>;
