//! Errors of the façade: those of compiling, with the source they speak of, and those of calling.

use std::fmt;

use diag::{Diagnostic, Source, Style};
use program::Fault;

use crate::CallError;

/// What may fail in this library.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, and whose fault it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The program is at fault.
    User {
        /// The text that the spans are about: the program, or a schedule of it.
        source: Source,
        /// What is wrong with it; at least one.
        diagnostics: Vec<Diagnostic>,
    },
    /// A budget ran out.
    Budget {
        /// What it ran out in.
        stage: &'static str,
        /// Of what, and how much.
        spent: diag::Spent,
    },
    /// Farkas is at fault.
    Bug {
        /// Where it was noticed.
        stage: &'static str,
        /// An invariant that does not hold.
        what: String,
    },
    /// Bytes that are to be a module are none.
    Unusable {
        /// What is wrong with them.
        why: String,
    },
    /// A call was refused, or failed while it ran.
    Call(CallError),
    /// A call was refused because of something that the program, or its schedule, says about its sizes.
    Refused {
        /// The text that the place is in.
        source: Source,
        /// What it is.
        error: CallError,
    },
    /// A call failed while it ran, because of its data, at a known place of the program.
    Fault {
        /// The text that the span of the fault is about.
        source: Source,
        /// What happened, and where.
        fault: Fault,
    },
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

    /// The same without the source, for stages that add it again.
    pub(crate) fn without_source(self) -> diag::Error {
        match self {
            Error::User { diagnostics, .. } => diag::Error::User(diagnostics),
            Error::Budget { stage, spent } => diag::Error::Budget { stage, spent },
            Error::Bug { stage, what } => diag::Error::Bug { stage, what },
            Error::Unusable { .. } | Error::Call(_) | Error::Refused { .. } | Error::Fault { .. } => {
                diag::Error::bug("call", self.to_string())
            }
        }
    }

    /// The message with its source lines, for a terminal or a log.
    pub fn render(&self, style: Style) -> String {
        match self {
            Error::User { source, diagnostics } => diag::render(source, diagnostics, style),
            other => match other.of_run() {
                Some((source, diagnostic)) => diag::render(source, &[diagnostic], style),
                None => format!("error: {other}"),
            },
        }
    }

    /// A call that was refused or failed, as a message at its place in the program, if it has one.
    pub fn of_run(&self) -> Option<(&Source, Diagnostic)> {
        match self {
            Error::Refused { source, error } => Some((source, error.diagnostic()?)),
            Error::Fault { source, fault } => Some((source, fault.diagnostic()?)),
            _ => None,
        }
    }

    /// The error of a call of a function of `source`.
    pub(crate) fn of_call(source: &Source, error: CallError) -> Error {
        match error {
            CallError::Run(cpu::CallError::Fault(fault))
            | CallError::Gpu(ptx::RunError::Data(fault))
            | CallError::Interpret(interp::Error::Fault(fault)) => Error::Fault { source: source.clone(), fault },
            CallError::Layout { schedule: Some(ref text), .. } => Error::Refused { source: Source::clone(text), error },
            error if error.diagnostic().is_some() => Error::Refused { source: source.clone(), error },
            error => Error::Call(error),
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
            Error::Budget { stage, spent } => write!(f, "the budget of stage `{stage}` {spent}"),
            Error::Bug { stage, what } => write!(f, "internal error in stage `{stage}`: {what}"),
            Error::Unusable { why } => write!(f, "the stored module cannot be used: {why}"),
            Error::Call(error) | Error::Refused { error, .. } => write!(f, "{error}"),
            Error::Fault { fault, .. } => write!(f, "{fault}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Call(error) | Error::Refused { error, .. } => Some(error),
            Error::Fault { fault, .. } => Some(fault),
            _ => None,
        }
    }
}
