//! The loop tree that back ends consume.
//!
//! In: what `poly` generated ([`InBounds`]), or loops from anywhere.  Out: a [`Verified`] kernel, simplified once for all back ends.
//! Not here: isl, the choice of a schedule, machine code.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod access;
mod apart;
mod bits;
mod bounds;
mod cascade;
mod concurrent;
mod contract;
mod copy;
mod fast;
mod fix;
mod hoist;
mod ir;
mod lane_sums;
mod locality;
mod lockstep;
mod magnitude;
mod narrow;
mod optimize;
mod partials;
mod print;
mod promote;
mod proof;
mod prune;
mod quotient;
mod read;
mod rebase;
mod scale;
mod simplify;
mod site;
mod strips;
mod threads;
mod unroll;
mod verify;
mod versions;
mod walk;

pub use apart::apart;
pub use bits::bits;
pub use bounds::InBounds;
pub use cascade::cascade;
pub use concurrent::{Scoped, reductions_of, runs_in_lockstep, writes_one_cell};
pub use contract::contract;
pub use fast::fast;
pub use hoist::hoist;
pub use index::{CompareOp, Cond, Index, ParamId, VarId, extremum_operands, gather_bits};
pub use ir::{
    ArrayDecl, ArrayId, Axis, Dim, Each, Expr, ExprKind, For, Kernel, LocalDecl, LocalId, LoopKind, Parallel,
    Reduction, ScalarDecl, ScalarId, Space, Stmt, Target, combines, fused_factors,
};
pub use lane_sums::{LaneSum, lane_sums, order_matters, spread_sums};
pub use locality::{ITERATIONS, Walked, locality};
pub use lockstep::keep_together;
pub use magnitude::{extents_fit, index_arithmetic_fits};
pub use narrow::{keep_private, narrow};
pub use optimize::optimize;
pub use partials::partials;
pub use promote::promote;
pub use read::{ReadError, parse};
pub use rebase::rebase;
pub use scale::scale;
pub use simplify::simplify;
pub use site::{Site, SiteKind};
pub use strips::strips;
pub use threads::{Unplaced, threads};
pub use unroll::unroll;
pub use verify::{Verified, verify};
pub use walk::{Rewrite, Substitute, VarsBound, VarsUsed, Visit};
