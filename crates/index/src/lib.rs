//! Index arithmetic: quasi-affine expressions over sizes, iterators and loop variables, for every stage that has them.
//!
//! [`Affine`] is what programs say: a sum in one normal form, so that equal expressions compare equal. [`Index`] is what loops
//! compute: a tree that also has `min`, `max` and choices, with [`Linear`] as its normal form. Both are evaluated,
//! substituted and turned into each other here and nowhere else.
//! Not here: sets of such expressions, which are isl's work; arrays, types, text.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod affine;
mod bits;
mod linear;
mod remainder;
mod tree;

pub use affine::{Affine, Atom, Cond as AffineCond};
pub use bits::gather_bits;
pub use linear::{Linear, constant_difference, extremum_operands, linear, offset_of, simplify_cond, simplify_index};
pub use remainder::gather_remainders;
pub use tree::{CompareOp, Cond, Index};

/// Declares a type of ids: numbers that say what they number.
#[macro_export]
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The place in the table that it numbers.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A symbolic size of a function, constant during a call and never negative.
    ParamId
}
id! {
    /// An iteration variable of a program: of a `for`, a forall or a reduction. Unique in its function.
    IterId
}
id! {
    /// A loop variable of a kernel, `i64`.
    VarId
}
