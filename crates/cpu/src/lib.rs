//! Loop trees as machine code, through Cranelift.
//!
//! In: a verified kernel.  Out: [`Compiled`], which owns its code and is safe to call.
//! Needs: a host that Cranelift supports.
//! Not here: decisions about order. Parallel and vector loops may run one iteration after the other, and do.
#![deny(unsafe_op_in_unsafe_fn)]

mod call;
mod code;
mod compile;
mod emit;
mod isa;
pub mod lanes;
mod leaves;
mod libcalls;
mod math;
mod place;
mod tier;

pub use call::{Buffer, CallError};
pub use compile::{Compiled, Options, compile, compile_with};
pub use tier::Tier;
