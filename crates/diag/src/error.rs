//! The three kinds of failure, never mixed.

use std::fmt;
use std::time::Duration;

use crate::Diagnostic;

/// What a stage returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a stage has no result.
#[derive(Clone, Debug)]
pub enum Error {
    /// The program is at fault: in the user's names, at their source, several at once where recovery is easy.
    User(Vec<Diagnostic>),
    /// A budget ran out; the caller may fall back to something simpler.
    Budget {
        /// Where in the pipeline.
        stage: &'static str,
        /// Of what there was not enough.
        spent: Spent,
    },
    /// We are at fault.
    Bug {
        /// Where in the pipeline.
        stage: &'static str,
        /// What was found to be wrong.
        what: String,
    },
}

/// What ran out, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// What ran out.
    pub resource: Resource,
    /// The time from the start until then.
    pub after: Duration,
}

/// What a budget limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Wall-clock time.
    Time,
    /// Steps of a search.
    Operations,
    /// What isl may hold at once.
    Memory,
}

impl Spent {
    /// Time that ran out.
    pub fn time(after: Duration) -> Spent {
        Spent { resource: Resource::Time, after }
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.after.as_millis();
        match self.resource {
            Resource::Time => write!(f, "ran out after {millis} ms"),
            Resource::Operations => write!(f, "ran out of steps after {millis} ms"),
            Resource::Memory => write!(f, "ran out of memory after {millis} ms"),
        }
    }
}

impl Error {
    /// A fault of ours.
    pub fn bug(stage: &'static str, what: impl Into<String>) -> Self {
        Error::Bug { stage, what: what.into() }
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Error::User(vec![diagnostic])
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::User(diagnostics) => {
                let messages = diagnostics.iter().map(|d| format!("{}: {}", d.code, d.message));
                f.write_str(&messages.collect::<Vec<_>>().join("; "))
            }
            Error::Budget { stage, spent } => write!(f, "the budget of stage `{stage}` {spent}"),
            Error::Bug { stage, what } => write!(f, "internal error in stage `{stage}`: {what}"),
        }
    }
}

impl std::error::Error for Error {}
