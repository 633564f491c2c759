//! What can go wrong inside a stage, before the stage's name is known.

use std::time::Duration;

use diag::{Diagnostic, Error, Resource, Spent};
use program::Function;

/// A failure inside `poly`: isl's, or a broken assumption of ours.
#[derive(Debug)]
pub enum Fault {
    /// isl failed, or a budget ran out.
    Isl(isl::Error),
    /// Numbers of the program make one that 64 bits do not hold; in what.
    Overflow(&'static str),
    /// Something does not hold that we rely on.
    Bug(String),
}

/// What comes of work inside a stage.
pub type Attempt<T> = Result<T, Fault>;

/// What isl's budget ran out of.
pub fn spent(resource: isl::Resource, after: Duration) -> Spent {
    let resource = match resource {
        isl::Resource::Memory => Resource::Memory,
        isl::Resource::Operations => Resource::Operations,
        _ => Resource::Time,
    };
    Spent { resource, after }
}

impl From<isl::Error> for Fault {
    fn from(error: isl::Error) -> Self {
        Fault::Isl(error)
    }
}

impl Fault {
    /// A broken assumption, told in a sentence.
    pub fn bug(what: impl Into<String>) -> Fault {
        Fault::Bug(what.into())
    }

    /// The failure in what is made of a schedule, whose numbers can be larger than any in the program.
    pub fn of_loops(self, stage: &'static str, function: &Function) -> Error {
        let needed = match &self {
            Fault::Isl(isl::Error::Number { number }) => format!("the number {number}"),
            Fault::Overflow(what) => format!("a number past 64 bits, for {what}"),
            _ => return self.of_function(stage, function),
        };
        let message = format!("the loops of `{}` would need {needed}", function.name);
        Diagnostic::error("E0519", function.span, message)
            .here("whose loops cannot be written down")
            .note("loops count in 64 bits; conditions over several indices multiply their coefficients")
            .help("use smaller coefficients in conditions, subscripts and the schedule")
            .into()
    }

    /// The failure in what is shown about a program, where numbers can be larger than any that a call can give.
    pub fn of_program(self, stage: &'static str, function: &Function) -> Error {
        match self {
            Fault::Isl(isl::Error::Number { number }) => {
                let message = format!("`{}` has a fault that needs the number {number}", function.name);
                Diagnostic::error("E0414", function.span, message)
                    .here("goes wrong only where numbers are past 64 bits")
                    .note("sizes, indices and cells are counted in 64 bits, and the smallest case that fails does not fit")
                    .help("demand sizes in `where` that are small enough, or use smaller coefficients")
                    .into()
            }
            fault => fault.of_function(stage, function),
        }
    }

    /// The failure in whatever else is found out about a function.
    pub fn of_function(self, stage: &'static str, function: &Function) -> Error {
        let needed = match &self {
            Fault::Isl(isl::Error::Number { number }) => format!("the number {number}"),
            Fault::Overflow(what) => format!("a number past 64 bits, for {what}"),
            _ => return self.at(stage),
        };
        Diagnostic::error("E0415", function.span, format!("`{}` needs {needed}", function.name))
            .here("cannot be analysed with numbers of 64 bits")
            .note("ranges, conditions and times are computed from the numbers in the program and its schedule")
            .help("use smaller numbers in ranges, steps, conditions and subscripts")
            .into()
    }

    /// The failure as callers see it, where it is about no function of theirs.
    pub fn at(self, stage: &'static str) -> Error {
        match self {
            Fault::Isl(isl::Error::Budget { resource, spent: after }) => {
                Error::Budget { stage, spent: spent(resource, after) }
            }
            Fault::Isl(error) => Error::bug(stage, error.to_string()),
            Fault::Overflow(what) => Error::bug(stage, format!("{what} needs a number past 64 bits")),
            Fault::Bug(what) => Error::bug(stage, what),
        }
    }
}
