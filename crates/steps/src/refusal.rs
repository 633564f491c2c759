//! Why a step is not carried out: it does not fit, or something failed while that was found out.

use diag::{Diagnostic, Span};
use poly::Fault;

use crate::Outcome;
use crate::rearrange::overflow;
use crate::step::Step;

/// Why a step gives up.
pub(crate) enum Refusal {
    Misplaced(Box<Diagnostic>),
    Fault(Fault),
    Failed(diag::Error),
}

pub(crate) type Drafted<T> = Result<T, Refusal>;

impl Refusal {
    /// What comes of the step: numbers that are too large are its own fault.
    pub(crate) fn told(self, step: &Step) -> diag::Result<Outcome> {
        match self {
            Refusal::Misplaced(diagnostic) => Ok(Outcome::Misplaced(diagnostic)),
            Refusal::Fault(Fault::Overflow(_) | Fault::Isl(isl::Error::Number { .. })) => {
                Ok(Outcome::Misplaced(overflow(step)))
            }
            Refusal::Fault(fault) => Err(fault.at("schedule")),
            Refusal::Failed(error) => Err(error),
        }
    }

    /// An error in a notation of `layout`, which stands at `span`, at its place in the script.
    pub(crate) fn in_notation(error: diag::Error, span: Span, code: &'static str, what: &str) -> Refusal {
        match error {
            diag::Error::User(diagnostics) => {
                let told = diagnostics.into_iter().next();
                let (at, message) = told.map_or((Span::default(), String::new()), |told| (told.span(), told.message));
                let within = Span::new((span.start + at.start) as usize, (span.start + at.end) as usize);
                let at = if within.end <= span.end && within.start < within.end { within } else { span };
                Diagnostic::error(code, at, format!("{what}: {message}")).into()
            }
            error => Refusal::Failed(error),
        }
    }
}

impl From<Box<Diagnostic>> for Refusal {
    fn from(diagnostic: Box<Diagnostic>) -> Refusal {
        Refusal::Misplaced(diagnostic)
    }
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Refusal {
        Refusal::Misplaced(Box::new(diagnostic))
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}

impl From<isl::Error> for Refusal {
    fn from(error: isl::Error) -> Refusal {
        Fault::from(error).into()
    }
}
