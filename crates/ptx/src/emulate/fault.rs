//! What can go wrong in a launch, with the line it happened in.

use std::fmt;

use crate::ir::Module;

/// The kind of fault; the message tells the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Two threads touch a cell, one of them writes, and nothing orders them.
    Race,
    UninitialisedRegister,
    UninitialisedShared,
    OutOfBounds,
    Misaligned,
    /// A barrier, shuffle or vote that not all threads reach which it is for.
    Divergent,
    Unsupported,
    /// The budget of instructions ran out: perhaps an endless loop.
    Budget,
    /// The launch itself makes no sense: no such kernel, wrong arguments, a grid or block that is too large.
    Launch,
}

/// A launch that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub message: String,
    /// Where in the PTX; `None` if no instruction is at fault.
    pub line: Option<u32>,
    /// Where in the source that `.loc` names: file, line and column.
    pub source: Option<(String, u32, u32)>,
    /// For races: the line of the earlier access.
    pub earlier: Option<u32>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "PTX line {line}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some((file, line, column)) = &self.source {
            write!(f, " (from {file}:{line}:{column})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl Fault {
    pub(super) fn launch(message: impl Into<String>) -> Fault {
        Fault { kind: FaultKind::Launch, message: message.into(), line: None, source: None, earlier: None }
    }
}

/// A fault while it is still known by the position of its instruction. Boxed, so that the results of steps are small.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) kind: FaultKind,
    pub(super) message: String,
    /// The position of the earlier access of a race.
    pub(super) earlier: Option<u32>,
}

pub(super) type Step<T> = Result<T, Box<Trouble>>;

pub(super) fn trouble<T>(kind: FaultKind, message: impl Into<String>) -> Step<T> {
    Err(Box::new(Trouble { kind, message: message.into(), earlier: None }))
}

/// The name of a source file that `.loc` gives by number.
pub(super) fn file_name(module: &Module, number: u32) -> String {
    let known = module.files.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| format!("file {number}"), |(_, name)| name.clone())
}
