//! The array program: what a source file means, before any question of order or place.
//!
//! In: a syntax tree.  Out: a typed [`Program`], or diagnostics in the user's names.
//! Not here: isl, schedules, targets. That every access is in bounds is proven in `poly`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod buffer;
mod derived;
mod equations;
mod fault;
mod ir;
mod lower;
mod print;
mod scalar;
mod verify;

pub use buffer::{Data, Slice, SliceMut};
pub use derived::{Derived, DerivedOp, NoSize};
pub use equations::{Interruption, System, Systems, find_systems, nodes_of};
pub use fault::{Fault, FaultKind};
pub use half::{bf16, f16};
pub use index::{Affine, AffineCond as Cond, Atom, IterId, ParamId};
pub use ir::{
    ArgRef, Array, ArrayId, Assign, Bound, CounterId, DataRange, Each, Expr, ExprKind, For, Function, InlinedCall,
    Iter, Node, Param, Program, Requirement, Role, Scalar, ScalarId, Scatter, Stored, Subscript,
};
pub use lower::{branch_condition, lower, lower_condition, lower_index};
pub use scalar::{BinaryOp, ReduceOp, ScalarType, UnaryOp, Value};
pub use verify::verify;
