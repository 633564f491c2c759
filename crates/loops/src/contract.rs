//! Contraction: a local array of which one cell at a time is alive becomes a scalar.
//!
//! In: a kernel with normalised subscripts (`simplify`).  Out: one with fewer local arrays.
//!
//! A *region* is a run of statements in one list that starts with a store to a cell and touches only that cell, by
//! the same subscripts, in which no loop of the region occurs. Whatever a region reads it has written itself, so no
//! value passes between regions or between iterations around them. If regions cover all accesses to an array, a
//! scalar does its work.

use program::Role;

use crate::access::{Accesses, UseLocal, declare_local};
use crate::prune::prune;
use crate::walk::Rewrite;
use crate::{ArrayId, Index, Kernel, Stmt};

/// Replaces local arrays by scalar locals where every value is used up before the next one is made.
pub fn contract(mut kernel: Kernel) -> Kernel {
    for number in 0..kernel.arrays.len() {
        let array = ArrayId(number as u32);
        if kernel.arrays[number].role == Role::Local && covered(&kernel.body, array) {
            let local = declare_local(&mut kernel, array, true);
            kernel.body = UseLocal { array, local }.block(std::mem::take(&mut kernel.body));
        }
    }
    prune(kernel)
}

/// Whether every access to the array in this list lies in a region.
fn covered(stmts: &[Stmt], array: ArrayId) -> bool {
    let mut region: Option<&[Index]> = None;
    for stmt in stmts {
        let accesses = Accesses::of(stmt, array);
        if !accesses.any() || region.is_some_and(|cell| accesses.only(cell)) {
            continue;
        }
        region = match stmt {
            // The value of the store may not come from the array: nothing is known to be in the cell.
            Stmt::Store { array: target, index, .. } if *target == array && accesses.loads == 0 => Some(index),
            Stmt::For(f) if covered(&f.body, array) => None,
            Stmt::Alloc { body, .. } if covered(body, array) => None,
            Stmt::If { then, otherwise, .. } if covered(then, array) && covered(otherwise, array) => None,
            _ => return false,
        };
    }
    true
}
