//! Unrolling: loops that are to be written out, written out.
//!
//! In: a kernel with `unroll` loops.  Out: one in which those of a constant, small number of iterations are copies of their
//! bodies; the others are serial loops.

use crate::concurrent::only_iteration;
use crate::copy::copy;
use crate::walk::{Rewrite, Substitute};
use crate::{For, Index, Kernel, LoopKind, Stmt};
use index::{constant_difference, simplify_index};

/// Loops of more iterations are not written out.
const MAX_TRIPS: i64 = 64;
/// Once a kernel has this many copies of statements, further loops stay loops.
const MAX_STMTS: usize = 4096;

/// Writes out the loops that are marked so.
pub fn unroll(mut kernel: Kernel) -> Kernel {
    let mut unroll = Unroll { names: std::mem::take(&mut kernel.vars), stmts: 0 };
    kernel.body = unroll.block(kernel.body);
    kernel.vars = unroll.names;
    crate::simplify(kernel)
}

struct Unroll {
    names: Vec<String>,
    /// How many copies of statements have been made.
    stmts: usize,
}

impl Rewrite for Unroll {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let Stmt::For(f) = stmt else { return vec![self.descend_stmt(stmt)] };
        if f.kind != LoopKind::Unrolled {
            return vec![self.descend_stmt(Stmt::For(f))];
        }
        match trips(&f).filter(|trips| *trips <= MAX_TRIPS && self.stmts < MAX_STMTS) {
            None => {
                let body = self.block(f.body);
                vec![Stmt::For(For { kind: LoopKind::Serial, body, ..f })]
            }
            Some(trips) => {
                let copies = (0..trips).flat_map(|trip| {
                    self.stmts += f.body.len();
                    let offset = Index::Const(trip.wrapping_mul(f.step));
                    let value = simplify_index(&Index::Add(Box::new(f.lo.clone()), Box::new(offset)));
                    let body = copy(&f.body, &mut self.names);
                    Substitute { var: f.var, with: &value }.block(only_iteration(f.kind.clone(), body))
                });
                let copies: Vec<Stmt> = copies.collect();
                // Bounds of loops inside may be constants now.
                self.block(copies)
            }
        }
    }
}

/// The number of iterations, if the loop shows it.
fn trips(f: &For) -> Option<i64> {
    let length = constant_difference(&f.hi, &f.lo)?;
    Some(if length <= 0 { 0 } else { (length - 1) / f.step + 1 })
}
