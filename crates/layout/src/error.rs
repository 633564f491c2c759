//! What can be wrong with a layout, a morphism, a schedule or a question about one.
//!
//! Not here: rendering; `Error::into_diagnostic` gives what `diag` renders.

use std::fmt;

use diag::{Diagnostic, Span};

/// What may fail in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The text cannot be read.
    Syntax {
        /// Where in the text.
        at: Span,
        /// What is wrong there.
        message: String,
    },
    /// One number has to divide another and does not.
    NotDivisible {
        /// What was asked for.
        operation: &'static str,
        /// What should be a multiple.
        dividend: i64,
        /// Of what.
        divisor: i64,
        /// What needs it.
        why: &'static str,
    },
    /// A number leaves the 64-bit integers.
    Overflow {
        /// What was asked for.
        operation: &'static str,
    },
    /// Two nested tuples do not have the shape that the operation needs.
    Profile {
        /// What was asked for.
        operation: &'static str,
        /// Which shapes do not fit, and how.
        message: String,
    },
    /// A precondition other than divisibility does not hold.
    Inadmissible {
        /// What was asked for.
        operation: &'static str,
        /// What does not hold.
        message: String,
    },
    /// The expression cannot be written as a piecewise quasi-affine one, which is all that isl knows.
    NotAffine {
        /// The expression.
        what: String,
    },
    /// A direction of an edge was asked for in which it is no function.
    NotAFunction {
        /// The name of the edge.
        edge: String,
        /// The direction that was asked for.
        direction: &'static str,
        /// What is lost on the way.
        why: &'static str,
    },
    /// isl failed or ran out of its budget.
    Isl(isl::Error),
}

impl Error {
    pub(crate) fn inadmissible(operation: &'static str, message: impl Into<String>) -> Error {
        Error::Inadmissible { operation, message: message.into() }
    }

    pub(crate) fn profile(operation: &'static str, message: impl Into<String>) -> Error {
        Error::Profile { operation, message: message.into() }
    }

    /// The error as a message about `span`, or about its own position if it has one.
    pub fn into_diag(self, span: Span) -> diag::Error {
        let code = match &self {
            Error::Syntax { .. } => "L0001",
            Error::NotDivisible { .. } => "L0002",
            Error::Overflow { .. } => "L0003",
            Error::Profile { .. } => "L0004",
            Error::Inadmissible { .. } => "L0005",
            Error::NotAffine { .. } => "L0006",
            Error::NotAFunction { .. } => "L0007",
            Error::Isl(isl::Error::Budget { resource, spent }) => {
                let resource = match resource {
                    isl::Resource::Memory => diag::Resource::Memory,
                    isl::Resource::Operations => diag::Resource::Operations,
                    _ => diag::Resource::Time,
                };
                return diag::Error::Budget { stage: "layout", spent: diag::Spent { resource, after: *spent } };
            }
            Error::Isl(error) => return diag::Error::bug("layout", error.to_string()),
        };
        // The diagnostic shows the position itself.
        match self {
            Error::Syntax { at, message } => Diagnostic::error(code, at, message).into(),
            error => Diagnostic::error(code, span, error.to_string()).into(),
        }
    }
}

impl From<isl::Error> for Error {
    fn from(error: isl::Error) -> Self {
        Error::Isl(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Syntax { at, message } => write!(f, "at {}: {message}", at.start),
            Error::NotDivisible { operation, dividend, divisor, why } => {
                write!(f, "{operation}: {divisor} does not divide {dividend} ({why})")
            }
            Error::Overflow { operation } => write!(f, "{operation}: a number does not fit 64 bits"),
            Error::Profile { operation, message } | Error::Inadmissible { operation, message } => {
                write!(f, "{operation}: {message}")
            }
            Error::NotAffine { what } => write!(f, "not quasi-affine: {what}"),
            Error::NotAFunction { edge, direction, why } => {
                write!(f, "the edge {edge} is not a function in the {direction} direction: {why}")
            }
            Error::Isl(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {}

/// Products and sums that say who overflowed.
pub(crate) fn multiply(operation: &'static str, a: i64, b: i64) -> Result<i64> {
    a.checked_mul(b).ok_or(Error::Overflow { operation })
}

pub(crate) fn add(operation: &'static str, a: i64, b: i64) -> Result<i64> {
    a.checked_add(b).ok_or(Error::Overflow { operation })
}
