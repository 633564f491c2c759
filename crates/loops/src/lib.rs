//! The loop tree that back ends consume.
//!
//! In: what `poly` generated.  Out: a verified [`Kernel`], simplified once for all back ends.
//! Not here: isl, the choice of a schedule, machine code.
#![forbid(unsafe_code)]

mod ir;

pub use ir::{
    ArrayDecl, ArrayId, CompareOp, Cond, Expr, ExprKind, For, Index, Kernel, LocalDecl, LocalId, LoopKind, ParamId,
    ScalarDecl, ScalarId, Stmt, VarId,
};
