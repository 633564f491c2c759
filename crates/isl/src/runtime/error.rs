//! What can go wrong in a call to isl.
//!
//! In: the error state of a context after a failed call.  Out: [`Error`], which owns all it says.

use std::fmt;
use std::time::Duration;

/// The result of a call to isl.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// What the enclosing [`crate::Context::with_budget`] allows ran out, or the memory of the machine.
    Budget {
        /// What there is no more of.
        resource: Resource,
        /// Time since the innermost budget began.
        spent: Duration,
    },
    /// isl refused or failed.
    Isl {
        /// isl's own classification.
        kind: ErrorKind,
        /// isl's message, often naming the precondition that did not hold.
        message: String,
        /// The C function that was called.
        function: &'static str,
        /// Where in the sources of isl the failure was noticed.
        location: Option<(String, u32)>,
    },
    /// One call was given objects of two contexts.
    ContextMix {
        /// The C function that would have been called.
        function: &'static str,
    },
    /// A call was given nothing that belongs to a context (an empty list alone).
    NoContext {
        /// The C function that would have been called.
        function: &'static str,
    },
    /// A string for isl contains a NUL character.
    InteriorNul,
    /// A position, size or number does not fit isl's C type.
    OutOfRange {
        /// The number in question.
        number: i128,
    },
    /// Text was refused before or after isl's parser saw it.
    Text {
        /// What is wrong with the text.
        problem: String,
    },
    /// A result has a number that needs more than 64 bits.
    Number {
        /// In decimal digits.
        number: String,
    },
    /// A callback reached itself while it was still running.
    ReentrantCallback,
    /// The watchdog thread behind time budgets could not be started.
    Watchdog {
        /// The operating system's reason.
        reason: String,
    },
    /// An error that a caller's closure made to leave a callback early.
    Callback {
        /// The caller's own words.
        message: String,
    },
}

impl Error {
    /// An error for a caller's closure to leave a callback with.
    pub fn callback(message: impl fmt::Display) -> Error {
        Error::Callback { message: message.to_string() }
    }

    /// The refusal of arguments that isl itself would not look at closely enough.
    pub(crate) fn invalid(function: &'static str, message: &str) -> Error {
        Error::Isl { kind: ErrorKind::Invalid, message: message.to_owned(), function, location: None }
    }

    /// True if a budget ran out, so that the caller may fall back to something simpler.
    pub fn is_budget(&self) -> bool {
        matches!(self, Error::Budget { .. })
    }
}

/// What can run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Resource {
    /// Wall-clock time.
    Time,
    /// isl's own operations.
    Operations,
    /// Memory: that of the budget, or that of the machine.
    Memory,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Time => "time",
            Resource::Operations => "operations",
            Resource::Memory => "memory",
        })
    }
}

/// isl's classification of its failures (`enum isl_error`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Failed without saying why.
    Unspecified,
    /// Stopped by the watchdog.
    Abort,
    /// Out of memory.
    Alloc,
    /// An internal assertion.
    Unknown,
    /// A bug in isl.
    Internal,
    /// A precondition does not hold.
    Invalid,
    /// Out of operations.
    Quota,
    /// Not implemented in isl.
    Unsupported,
}

impl ErrorKind {
    /// True if isl stopped because it was not allowed, or not able, to go on.
    pub(super) fn is_budget(self) -> bool {
        matches!(self, ErrorKind::Abort | ErrorKind::Alloc | ErrorKind::Quota)
    }

    pub(super) fn from_raw(raw: i32) -> ErrorKind {
        match raw {
            1 => ErrorKind::Abort,
            2 => ErrorKind::Alloc,
            3 => ErrorKind::Unknown,
            4 => ErrorKind::Internal,
            5 => ErrorKind::Invalid,
            6 => ErrorKind::Quota,
            7 => ErrorKind::Unsupported,
            _ => ErrorKind::Unspecified,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Budget { resource, spent } => {
                write!(f, "isl ran out of its budget of {resource} after {spent:.1?}")
            }
            Error::Isl { kind, message, function, location } => {
                write!(f, "{function}: {message} ({kind:?}")?;
                if let Some((file, line)) = location {
                    write!(f, ", {file}:{line}")?;
                }
                f.write_str(")")
            }
            Error::ContextMix { function } => {
                write!(f, "{function}: objects of two isl contexts in one call")
            }
            Error::NoContext { function } => {
                write!(f, "{function}: no argument belongs to an isl context")
            }
            Error::InteriorNul => f.write_str("a string for isl contains a NUL character"),
            Error::OutOfRange { number } => write!(f, "{number} does not fit isl's C type"),
            Error::Number { number } => write!(f, "the number {number} needs more than 64 bits"),
            Error::Text { problem } => write!(f, "isl text: {problem}"),
            Error::ReentrantCallback => f.write_str("an isl callback reached itself"),
            Error::Watchdog { reason } => write!(f, "cannot start the isl watchdog: {reason}"),
            Error::Callback { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
