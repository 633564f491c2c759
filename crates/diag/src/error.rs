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
    Budget { stage: &'static str, spent: Duration },
    /// We are at fault.
    Bug { stage: &'static str, what: String },
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
            Error::Budget { stage, spent } => {
                write!(f, "the budget of stage `{stage}` ran out after {} ms", spent.as_millis())
            }
            Error::Bug { stage, what } => write!(f, "internal error in stage `{stage}`: {what}"),
        }
    }
}

impl std::error::Error for Error {}
