//! The three kinds of failure, never mixed.

use std::fmt;
use std::time::Duration;

use crate::Diagnostic;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Debug)]
pub enum Error {
    /// The program is at fault: in the user's names, at their source, several at once where recovery is easy.
    User(Vec<Diagnostic>),
    /// A budget ran out; the caller may fall back to something simpler.
    Budget { stage: &'static str, spent: Spent },
    /// We are at fault.
    Bug { stage: &'static str, what: String },
}

/// What ran out, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    pub resource: Resource,
    /// The time from the start until then.
    pub after: Duration,
}

/// What a budget limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Time,
    /// Steps of a search.
    Operations,
    Memory,
}

impl Spent {
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
