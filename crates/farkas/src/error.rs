//! Errors of the façade: those of compiling, with the source they speak of, and those of calling.

use std::fmt;
use std::time::Duration;

use diag::{Diagnostic, Source, Style};

use crate::CallError;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Debug)]
pub enum Error {
    /// The program is at fault.
    User { source: Source, diagnostics: Vec<Diagnostic> },
    /// A budget ran out.
    Budget { stage: &'static str, spent: Duration },
    /// Farkas is at fault.
    Bug { stage: &'static str, what: String },
    /// A call was refused, or failed while it ran.
    Call(CallError),
}

impl Error {
    pub(crate) fn user(source: &Source, diagnostics: Vec<Diagnostic>) -> Error {
        Error::User { source: source.clone(), diagnostics }
    }

    pub(crate) fn new(source: &Source, error: diag::Error) -> Error {
        match error {
            diag::Error::User(diagnostics) => Error::user(source, diagnostics),
            diag::Error::Budget { stage, spent } => Error::Budget { stage, spent },
            diag::Error::Bug { stage, what } => Error::Bug { stage, what },
        }
    }

    /// The message with its source lines, for a terminal or a log.
    pub fn render(&self, style: Style) -> String {
        match self {
            Error::User { source, diagnostics } => diag::render(source, diagnostics, style),
            other => format!("error: {other}"),
        }
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        Error::Call(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::User { diagnostics, .. } => write!(f, "{}", diag::Error::User(diagnostics.clone())),
            Error::Budget { stage, spent } => {
                write!(f, "the budget of stage `{stage}` ran out after {} ms", spent.as_millis())
            }
            Error::Bug { stage, what } => write!(f, "internal error in stage `{stage}`: {what}"),
            Error::Call(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Call(error) => Some(error),
            _ => None,
        }
    }
}
