//! Loop trees as C99: readable, with restrict pointers and OpenMP, and without anything of ours.
//!
//! In: a verified kernel and the function that it computes.  Out: one translation unit, whose function returns 0, or why it
//! stopped. Results have the bits of the loops run in order: mathematical functions are those of `math`, written out as
//! static functions; from libm come only operations that IEEE 754 rounds correctly (`fma`, `sqrt`, `floor`, `fmod`, …).
//! Not here: decisions about order. Vector and unrolled loops are plain loops, which the C compiler may vectorise.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arithmetic;
mod emit;
mod expr;
mod functions;
mod header;
mod index;
mod locals;
mod names;
mod stmt;

pub use emit::emit;
