//! Lane programs: what a vector loop nest is before it is machine code.
//!
//! In: a vector loop nest.  Out: a leaf function in bytes or in Cranelift's hands.
//! Width-free: a value has as many lanes as the schedule says, and each emitter cuts it into the registers it has.

pub(crate) mod clif;
mod eval;
mod facts;
mod ir;
pub(crate) mod lower;
mod print;
mod read;
mod regions;
mod slide;
#[cfg(test)]
mod tests;
mod verify;
pub(crate) mod x86;

use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_jit::JITModule;
use cranelift_module::Module;

pub use eval::{Outcome, evaluate};
pub use ir::{
    Access, Address, BinaryOp, Carried, CompareOp, Loop, Op, Program, ShiftOp, Stmt, Type, UnaryOp, ValueId, WordOp,
    is_element,
};
pub use read::{ReadError, parse};
pub(crate) use slide::slide;
pub use verify::{Verified, verify};

/// The signature of a leaf: the address of its block of arguments, and the status. The convention is the same on every
/// x86-64 system, so that the bytes are as well.
pub(crate) fn signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    if cfg!(target_arch = "x86_64") {
        signature.call_conv = CallConv::SystemV;
    }
    signature.params.push(AbiParam::new(module.target_config().pointer_type()));
    signature.returns.push(AbiParam::new(types::I32));
    signature
}
