//! The mathematical functions, each defined once.
//!
//! A definition is straight-line code over the operations of [`Ops`], with selections in place of branches, generic over
//! what carries the operations out. The interpreter computes with [`Plain`] values; back ends append instructions, for
//! scalars or for vectors of any width. Every operation is exact or correctly rounded, so all of them get the same bits.
//!
//! Results are within 2 units in the last place over the whole range (`docs/math.md` has the figures), and special values
//! are those of C's Annex F. Rounding is to nearest; exceptions are not kept track of; subnormal numbers count in full.
//!
//! ```
//! use farkas_math::{Binary, Plain, Unary, exp};
//!
//! assert_eq!(Unary::Exp.f64(0.0), 1.0);
//! assert_eq!(Binary::Pow.f32(2.0, 10.0), 1024.0);
//! // What an emitter does: the same definition, carried out by its own operations.
//! assert_eq!(exp(&mut Plain::<f64>::new(), 0.0), 1.0);
//! ```
//! Not here: any instruction set. `sqrt`, `floor`, `ceil`, `trunc` and `abs` are operations themselves.
#![forbid(unsafe_code)]

mod error_function;
mod exact;
mod exponential;
mod format;
mod function;
mod half;
mod hyperbolic;
mod inverse;
mod logarithm;
mod ops;
mod plain;
mod power;
mod reduction;
mod trigonometric;

pub use error_function::{erf, erfc};
pub use exponential::{exp, exp2, expm1};
pub use format::{Format, Window};
pub use function::{Binary, Unary};
pub use half::Half;
pub use hyperbolic::{cosh, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use logarithm::{log, log1p, log2, log10};
pub use ops::Ops;
pub use plain::Plain;
pub use power::{cbrt, hypot, pow, round};
pub use trigonometric::{cos, sin, tan};
