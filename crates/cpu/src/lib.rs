//! Loop trees as machine code, through Cranelift.
//!
//! In: a verified kernel.  Out: [`Compiled`], which owns its code and is safe to call.
//! Needs: a host that Cranelift supports.
//! Parallel loops are functions of their own, which the threads of a pool call; vector loops are lane programs.
//! Not here: decisions about order.
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs)]

mod call;
mod code;
mod compile;
mod emit;
mod fma;
mod isa;
pub mod lanes;
mod leaves;
mod libcalls;
mod linear;
mod math;
mod pages;
mod parallel;
mod place;
mod plan;
mod tier;
mod view;
mod work;
mod workspace;

pub use call::{Buffer, CallError, Run};
pub use compile::{Compiled, Options, compile, compile_with};
pub use pages::LargePages;
pub use plan::Plan;
pub use tier::Tier;
pub use view::View;
pub use workspace::Workspace;
