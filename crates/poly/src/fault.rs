//! What can go wrong inside a stage, before the stage's name is known.

use diag::Error;

/// A failure inside `poly`: isl's, or a broken assumption of ours.
#[derive(Debug)]
pub enum Fault {
    Isl(isl::Error),
    Bug(String),
}

pub type Attempt<T> = Result<T, Fault>;

impl From<isl::Error> for Fault {
    fn from(error: isl::Error) -> Self {
        Fault::Isl(error)
    }
}

impl Fault {
    pub fn bug(what: impl Into<String>) -> Fault {
        Fault::Bug(what.into())
    }

    /// The failure as callers see it.
    pub fn at(self, stage: &'static str) -> Error {
        match self {
            Fault::Isl(isl::Error::Budget { spent, .. }) => Error::Budget { stage, spent },
            Fault::Isl(error) => Error::bug(stage, error.to_string()),
            Fault::Bug(what) => Error::bug(stage, what),
        }
    }
}
