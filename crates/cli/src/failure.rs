//! Failures of a command: whose fault it is, what to say, and the exit code.

use std::fmt;
use std::io;
use std::process::ExitCode;

use farkas::diag::Resource;
use farkas::{CallError, Error, GpuFailure, RunError};

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    // In the order in which one outweighs another when several files fail.
    Budget,
    Program,
    Run,
    Usage,
    Bug,
    Interrupted,
}

impl Exit {
    /// What shells expect of a command that Ctrl-C ended.
    pub(crate) const INTERRUPTED: i32 = 130;

    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Exit::Program => 1,
            Exit::Usage => 2,
            Exit::Budget => 3,
            Exit::Run => 4,
            Exit::Bug => 101,
            Exit::Interrupted => Exit::INTERRUPTED as u8,
        })
    }

    /// The word by which JSON messages without a diagnostic code name the kind.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Exit::Program => "program",
            Exit::Usage => "usage",
            Exit::Budget => "budget",
            Exit::Run => "run",
            Exit::Bug => "bug",
            Exit::Interrupted => "interrupted",
        }
    }
}

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A message of the command itself.
    Message { exit: Exit, message: String, helps: Vec<String> },
    /// The library's error, with source lines where it has them.
    Engine(Error),
    /// Everything has been said already.
    Told(Exit),
    /// Nobody reads our stdout any more.
    Closed,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::Message { exit: Exit::Usage, message: message.into(), helps: Vec::new() }
    }

    pub(crate) fn run(message: impl Into<String>) -> Failure {
        Failure::Message { exit: Exit::Run, message: message.into(), helps: Vec::new() }
    }

    /// Adds what the user could do about it.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Failure {
        if let Failure::Message { helps, .. } = &mut self {
            helps.push(text.into());
        }
        self
    }

    /// A failed write to stdout.
    pub(crate) fn stdout(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::run(format!("cannot write to stdout: {}", reason(error))),
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::Message { exit, .. } | Failure::Told(exit) => *exit,
            Failure::Engine(Error::User { .. }) => Exit::Program,
            Failure::Engine(Error::Budget { .. }) => Exit::Budget,
            Failure::Engine(Error::Call(CallError::Run(RunError::Cancelled))) => Exit::Interrupted,
            Failure::Engine(Error::Fault { .. } | Error::Call(CallError::Run(_) | CallError::Interpret(_))) => {
                Exit::Run
            }
            Failure::Engine(Error::Refused { .. }) => Exit::Usage,
            Failure::Engine(Error::Call(error)) => match error.gpu_failure() {
                Some(GpuFailure::Budget) => Exit::Budget,
                Some(GpuFailure::Run) => Exit::Run,
                Some(GpuFailure::Bug) => Exit::Bug,
                // Every other refusal of a call is about what the command line gave.
                Some(GpuFailure::Arguments) | None => Exit::Usage,
            },
            Failure::Engine(_) => Exit::Bug,
            Failure::Closed => Exit::Run,
        }
    }

    pub(crate) fn helps(&self) -> Vec<String> {
        let help = match self {
            Failure::Message { helps, .. } => return helps.clone(),
            Failure::Engine(Error::Budget { spent, .. }) => match spent.resource {
                Resource::Memory => "give more memory with --memory-limit MIB".to_string(),
                Resource::Time | Resource::Operations => "give more time with --time-limit SECONDS".to_string(),
            },
            Failure::Engine(Error::Bug { .. }) => {
                "this is a bug in farkas; please report it, with the program and the command line".to_string()
            }
            Failure::Engine(Error::Call(CallError::MissingSize { name })) => format!("give it with -D {name}=…"),
            _ => return Vec::new(),
        };
        vec![help]
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Message { message, .. } => f.write_str(message),
            Failure::Engine(error) => write!(f, "{error}"),
            Failure::Told(_) | Failure::Closed => Ok(()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Engine(error)
    }
}

/// An input or output error in plain words, without the number of the operating system where there is a word.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or directory".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        io::ErrorKind::IsADirectory => "it is a directory".to_string(),
        io::ErrorKind::StorageFull => "the disk is full".to_string(),
        _ => error.to_string(),
    }
}
