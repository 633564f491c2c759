//! Bits and digits: subscripts of arrays whose places are exclusive-or-ed or counted in tiles, with `xor` and `mod` for what affine expressions
//! say with quotients.
//!
//! In: loops.  Out: loops with the same cells in them. It goes last: other passes know sums and quotients, not `xor`.

use index::{gather_bits, gather_remainders};

use crate::walk::Rewrite;
use crate::{Index, Kernel};

/// Gathers the bits and remainders of all subscripts.
pub fn bits(mut kernel: Kernel) -> Kernel {
    kernel.body = Bits.block(kernel.body);
    kernel
}

struct Bits;

impl Rewrite for Bits {
    fn index(&mut self, index: Index) -> Index {
        gather_remainders(&gather_bits(&index))
    }
}
