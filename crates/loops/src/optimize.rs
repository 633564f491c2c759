//! The passes in their order.

use crate::{Kernel, contract, narrow, promote, rebase, simplify};

/// Runs all passes.
///
/// `simplify` goes first because the others compare subscripts by their text, so equal ones must look equal. `rebase` is
/// about subscripts too. `narrow` goes before `contract`, which finds more cells that are alone in smaller arrays.
/// `contract` goes before `promote`: a local array that vanishes altogether needs no copy in a register, and the
/// stores that it removes would otherwise be promoted for nothing. `simplify` then cleans up the guards that
/// `promote` adds.
pub fn optimize(kernel: Kernel) -> Kernel {
    simplify(promote(contract(narrow(rebase(simplify(kernel))))))
}
