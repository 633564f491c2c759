//! NVIDIA GPUs: kernels as typed instructions, and two ways to run their text.
//!
//! In: kernels made with [`build`], or anyone's PTX.  Out: PTX that NVIDIA's assembler takes, and what it computes.
//! Not here: which loop becomes which axis of the grid; no schedule is decided here.
#![cfg_attr(not(feature = "cuda"), forbid(unsafe_code))]
#![deny(unsafe_code)]

pub mod build;
#[cfg(feature = "cuda")]
pub mod device;
mod emit;
pub mod emulate;
mod flow;
pub mod ir;
pub mod mathematics;
mod parse;
mod print;
mod run;
mod shape;
mod verify;

pub use emit::{Axis, EmitError, HostStep, LaunchPlan, Program, emit};
pub use parse::{SyntaxError, parse};
pub use run::{Failure, RunError};
pub use verify::{Problem, Verified, verify};
