//! Whose subscripts are in bounds: loops that come from a proof, and passes that keep it true.
//!
//! In: what `poly` generated from a proven schedule.  Out: the same after any of the passes, and at last [`Verified`] loops
//! that a back end need not check. Loops from anywhere else (text, a file, a pass of one's own) go through [`verify`], and a
//! back end that runs them checks every subscript while they run.

use std::fmt;
use std::ops::Deref;

use crate::verify::check;
use crate::{Kernel, Verified, apart, cascade, fast, optimize};

/// Loops that touch only cells that exist, at all sizes that the program allows (callers check its `where`). Nobody can
/// change them but the passes here.
#[derive(Clone, Debug)]
pub struct InBounds(Kernel);

impl InBounds {
    /// For the loop generator, which has the proof, and for tests. Who says this of other loops makes a call of their code
    /// write anywhere; `cargo xtask tidy` finds every place that says it.
    pub fn by_proof(kernel: Kernel) -> InBounds {
        InBounds(kernel)
    }

    /// For loops that are made of such that are in bounds, each where it was.
    pub(crate) fn of_parts(kernel: Kernel) -> InBounds {
        InBounds(kernel)
    }

    /// After [`optimize`].
    pub fn optimized(self) -> InBounds {
        InBounds(optimize(self.0))
    }

    /// After [`cascade`].
    pub fn cascaded(self) -> InBounds {
        InBounds(cascade(self.0))
    }

    /// After [`apart`].
    pub fn apart(self) -> InBounds {
        InBounds(apart(self.0))
    }

    /// After [`fast`].
    pub fn fast(self) -> InBounds {
        InBounds(fast(self.0))
    }

    /// After [`verify`](crate::verify()).
    pub fn verified(self) -> diag::Result<Verified> {
        check(&self.0)?;
        Ok(Verified::new(self.0, true))
    }

    /// The kernel, which anyone may change, and about which nothing is known any more.
    pub fn into_kernel(self) -> Kernel {
        self.0
    }
}

impl Deref for InBounds {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.0
    }
}

impl fmt::Display for InBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
