//! The kinds of dimensions a space has.

use std::ffi::c_int;

use crate::runtime::{Arg, Call};

/// `enum isl_dim_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// The constant term.
    Cst,
    /// A parameter.
    Param,
    /// An input dimension of a map.
    In,
    /// An output dimension of a map.
    Out,
    /// A dimension of a set; to isl the same as `Out`.
    Set,
    /// A local variable defined by an integer division.
    Div,
    /// All of the above.
    All,
}

impl Arg for Dim {
    type Raw = c_int;
    fn into_raw(self, _: &Call) -> c_int {
        match self {
            Dim::Cst => 0,
            Dim::Param => 1,
            Dim::In => 2,
            Dim::Out | Dim::Set => 3,
            Dim::Div => 4,
            Dim::All => 5,
        }
    }
}
