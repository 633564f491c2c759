//! The kinds of dimensions a space has.

use std::ffi::c_int;

use crate::runtime::{Arg, Call};

/// `enum isl_dim_type`, without the constant term and "all": isl's range checks pass them, and few functions mean them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
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
}

impl Arg for Dim {
    type Raw = c_int;
    fn into_raw(self, _: &Call) -> c_int {
        match self {
            Dim::Param => 1,
            Dim::In => 2,
            Dim::Out | Dim::Set => 3,
            Dim::Div => 4,
        }
    }
}
