//! The passes in their order.

use diag::deadline;

use crate::{Kernel, bits, contract, narrow, partials, promote, rebase, scale, simplify, strips, unroll, verify};

/// A pass and its name.
type Pass = (&'static str, fn(Kernel) -> Kernel);

/// `simplify` goes first because the others compare subscripts by their text, so equal ones must look equal. `strips` leaves fewer loops to the others. `partials` turns
/// what parallel loops reduce into arrays like all others. `rebase` is about subscripts too. `narrow` goes before
/// `contract`, which finds more cells that are alone in smaller arrays. `contract` goes before `promote`: a local array that
/// vanishes altogether needs no copy in a register, and the stores that it removes would otherwise be promoted for nothing.
/// `scale` goes before `unroll`, which makes many readers of one. `unroll` goes before `promote`, which finds the cells of each copy.
/// `simplify` then cleans up the guards that `promote` adds. `bits` makes exclusive ors and remainders, which the others do not look into.
const PASSES: [Pass; 11] = [
    ("simplify", simplify),
    ("strips", strips),
    ("partials", partials),
    ("rebase", rebase),
    ("scale", scale),
    ("narrow", narrow),
    ("contract", contract),
    ("unroll", unroll),
    ("promote", promote),
    ("simplify", simplify),
    ("bits", bits),
];

/// Runs all passes, or as many as there is time for (`diag::deadline`). Where debug assertions are on, what each of them makes is verified, so that the one at fault is named.
pub fn optimize(kernel: Kernel) -> Kernel {
    let valid = !cfg!(debug_assertions) || verify(kernel.clone()).is_ok();
    PASSES.iter().fold(kernel, |kernel, (name, pass)| {
        if deadline::check(name).is_err() {
            return kernel;
        }
        let kernel = pass(kernel);
        if cfg!(debug_assertions) && valid {
            let verdict = verify(kernel.clone());
            debug_assert!(verdict.is_ok(), "{name} broke the kernel: {verdict:?}\n{kernel}");
        }
        kernel
    })
}
