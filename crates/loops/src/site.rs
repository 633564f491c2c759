//! Checks that generated code makes while it runs: what each of them is about, and what a failure means.
//!
//! In: the number of a check and the values that it reported.  Out: the fault, in the user's names.
//! Not here: the code of a check, and how it reports, which each back end has its own way for.

use diag::Span;
use program::{Fault, FaultKind};

use crate::{ArrayDecl, ArrayId};

/// A check in generated code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What is checked.
    pub kind: SiteKind,
    /// Where in the source.
    pub span: Option<Span>,
}

/// What a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// The divisor of integers is not zero.
    DivisionByZero,
    /// A subscript is inside; the report holds it.
    Subscript {
        /// Of the array.
        array: ArrayId,
        /// In this dimension, from 0.
        dimension: usize,
    },
    /// A range that depends on data ends before it begins; the report holds by how much.
    Backwards,
    /// A step that depends on data is less than 1; the report holds it.
    Step,
    /// Two have claimed the same cell; the report holds who came second, and behind it who came first.
    Twice,
}

impl Site {
    /// Whether a failure reports one value.
    pub fn reports_value(&self) -> bool {
        self.kind != SiteKind::DivisionByZero
    }

    /// What a failure says that reported these values.
    pub fn fault(&self, [value, earlier]: [i64; 2], arrays: &[ArrayDecl], params: &[i64]) -> Fault {
        let kind = match self.kind {
            SiteKind::Subscript { array, dimension } => {
                let declared = arrays.get(array.index());
                let (name, shape) =
                    declared.map_or(("an array", &[][..]), |declared| (&*declared.name, &declared.shape));
                let extent = shape.get(dimension).and_then(|extent| extent.value(params, &[])).unwrap_or(0);
                return Fault::subscript(name, dimension, shape.len(), value, extent, self.span);
            }
            SiteKind::Backwards => FaultKind::Backwards { by: value },
            SiteKind::Step => FaultKind::Step { step: value },
            SiteKind::Twice => FaultKind::Twice { first: earlier, second: value },
            SiteKind::DivisionByZero => FaultKind::DivisionByZero,
        };
        Fault::new(kind, self.span)
    }
}
