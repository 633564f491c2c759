//! Faults: what can go wrong while a checked program runs, because of its data.
//!
//! One type for all who run programs, so that they say the same. Not here: mistakes of the caller, such as sizes.

use std::fmt;

use diag::{Diagnostic, Span};

/// What data can do wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Of integers; floats know infinity.
    DivisionByZero,
    /// A subscript that depends on data left its array.
    Subscript {
        /// The array.
        array: String,
        /// From 1; `None` in an array of one dimension.
        dimension: Option<usize>,
        /// The subscript.
        index: i64,
        /// What it should have been below.
        extent: i64,
    },
    /// A range that depends on data ends so many values before it begins.
    Backwards {
        /// How many.
        by: i64,
    },
    /// A step that depends on data is less than 1.
    Step {
        /// What it is.
        step: i64,
    },
    /// Two values of an index name the same cell, where the program says that they do not.
    Twice {
        /// The value that came first.
        first: i64,
        /// The value that came second.
        second: i64,
    },
}

/// A fault and its circumstances, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Where in the source.
    pub span: Option<Span>,
    /// The indices around the fault, outermost first.
    pub instance: Vec<(String, i64)>,
}

impl Fault {
    /// A fault of which no indices are known.
    pub fn new(kind: FaultKind, span: Option<Span>) -> Fault {
        Fault { kind, span, instance: Vec::new() }
    }

    /// A subscript that is not in `0..extent`, in dimension `position` of `rank`.
    pub fn subscript(array: &str, position: usize, rank: usize, index: i64, extent: i64, span: Option<Span>) -> Fault {
        let dimension = (rank > 1).then_some(position + 1);
        Fault::new(FaultKind::Subscript { array: array.to_string(), dimension, index, extent }, span)
    }

    /// The fault as a message at its place in the source, if that is known.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let mut diagnostic = Diagnostic::error("run", self.span?, self.kind.to_string());
        diagnostic = match &self.kind {
            FaultKind::DivisionByZero => diagnostic.here("the divisor is 0"),
            FaultKind::Subscript { index, .. } => diagnostic.here(format!("a subscript is {index}")),
            FaultKind::Backwards { .. } => diagnostic.here("this range"),
            FaultKind::Step { step } => diagnostic.here(format!("the step is {step}")),
            FaultKind::Twice { first, second } => diagnostic.here(format!("for {first} and for {second}")),
        };
        if !self.instance.is_empty() {
            diagnostic = diagnostic.note(format!("this happened at {}", self.show_instance()));
        }
        Some(diagnostic)
    }

    fn show_instance(&self) -> String {
        let pairs = self.instance.iter().map(|(name, value)| format!("{name} = {value}"));
        pairs.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::DivisionByZero => f.write_str("integer division by zero"),
            FaultKind::Backwards { by } => write!(f, "the end of a range is {by} before its begin"),
            FaultKind::Twice { first, second } => {
                write!(f, "a cell that is `unique` is assigned twice, at index {first} and at index {second}")
            }
            FaultKind::Step { step } => write!(f, "a step of {step}, where at least 1 is needed"),
            FaultKind::Subscript { array, dimension, index, extent } => {
                write!(f, "index {index} is outside ")?;
                if let Some(dimension) = dimension {
                    write!(f, "dimension {dimension} of ")?;
                }
                match extent {
                    ..=0 => write!(f, "`{array}`, which is empty"),
                    _ => write!(f, "`{array}`, which has extent {extent}"),
                }
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Fault {}
