//! Contiguous access: may a merge be split for vectors?
//!
//! Splitting a merge by v gives the same items in each vector as splitting the inner dimension iff v divides the
//! inner extent. Otherwise some vector runs over the end of a row, where memory may jump.

use std::fmt;

/// A dimension in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided {
    /// How many items it has.
    pub extent: i64,
    /// How far one step is, in items.
    pub stride: i64,
}

/// Whether the items of every vector are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The two dimensions are one run of memory.
    OneRun,
    /// The vector length divides the inner extent, so no vector leaves its row.
    WithinRows,
    /// There is only one row.
    SingleRow,
    /// The innermost dimension jumps by itself.
    InnerStride(i64),
    /// A vector would cross from one row to the next, where memory jumps.
    CrossesRows {
        /// How many items a row has.
        inner: i64,
        /// How many a vector has.
        factor: i64,
    },
    /// There is nothing to access by such a factor.
    NoFactor(i64),
}

impl Access {
    /// Whether vectors may be used.
    pub fn is_allowed(self) -> bool {
        matches!(self, Access::OneRun | Access::WithinRows | Access::SingleRow)
    }
}

/// Whether the merge of `outer` and `inner`, split by `factor`, gives contiguous vectors.
pub fn vector_access(outer: Strided, inner: Strided, factor: i64) -> Access {
    if factor < 1 {
        Access::NoFactor(factor)
    } else if inner.stride != 1 && factor > 1 && inner.extent > 1 {
        Access::InnerStride(inner.stride)
    } else if inner.extent > 0 && inner.extent % factor == 0 {
        Access::WithinRows
    } else if outer.extent == 1 {
        Access::SingleRow
    } else if inner.extent.checked_mul(inner.stride) == Some(outer.stride) {
        Access::OneRun
    } else {
        Access::CrossesRows { inner: inner.extent, factor }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Access::OneRun => f.write_str("yes: both dimensions are one run of memory"),
            Access::WithinRows => f.write_str("yes: the factor divides the inner extent"),
            Access::SingleRow => f.write_str("yes: there is only one row"),
            Access::InnerStride(stride) => write!(f, "no: the inner dimension has stride {stride}"),
            Access::CrossesRows { inner, factor } => {
                write!(f, "no: {factor} does not divide the inner extent {inner}, and memory jumps between rows")
            }
            Access::NoFactor(factor) => write!(f, "no: {factor} is not positive"),
        }
    }
}
