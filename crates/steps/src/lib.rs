//! Transformation steps: what can be done to a schedule, one typed step per verb.
//!
//! In: a program with its tree, and a step.  Out: another tree, or another program with its tree, or what is wrong with the
//! step. The text of a step is a line of a schedule script; reading what is written gives the same step again.
//! Not here: whether the result is legal (`poly::prove`), which steps are worth taking (`choice`).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod algebra;
mod bounds;
mod read;
mod rearrange;
mod refusal;
mod rewrite;
mod saved;
mod show;
mod step;
mod verbs;
mod xor;

use std::rc::Rc;

use diag::Diagnostic;
use poly::{Subject, Tree};
use program::{Function, Stored};

use refusal::Refusal;

/// Ways to count loops, which some steps name.
pub use layout::iter::{Operation, SplitKind};
pub use read::{Unread, read, read_layout, read_sizes};
pub use rearrange::gathered;
pub use saved::{NotATree, read_yaml, to_yaml};
pub use show::{show, show_reasoned, show_script};
pub use step::{Condition, Formula, Loops, Place, Relation, Step, Storage, Target, Verb, Word};
pub use verbs::verbs;

/// A program and its schedule so far.
#[derive(Clone, Debug)]
pub struct State {
    /// The program, whose statements a step may change.
    pub subject: Rc<Subject>,
    /// Its schedule.
    pub tree: Tree,
}

/// What a step makes of a state.
#[derive(Debug)]
pub enum Outcome {
    /// The next state, still to be proven.
    Done(State),
    /// The step does not fit; the diagnostic is about the script.
    Misplaced(Box<Diagnostic>),
    /// A value would change; the diagnostic is a witness, about the program.
    Changed(Box<Diagnostic>),
}

/// The argument that a step says callers hand over in a layout, if it does.
pub fn stored(function: &Function, step: &Step) -> diag::Result<Option<Stored>> {
    rewrite::stored(function, step).map_err(|refusal| match refusal {
        Refusal::Misplaced(diagnostic) => diag::Error::User(vec![*diagnostic]),
        Refusal::Fault(fault) => fault.at("schedule"),
        Refusal::Failed(error) => error,
    })
}

/// Applies a step to a state that has been proven.
pub fn apply(state: &State, step: &Step) -> diag::Result<Outcome> {
    if step.rewrites() {
        return rewrite::apply(state, step);
    }
    match rearrange::apply(&state.subject.scop, &state.tree, step) {
        Ok(tree) => Ok(Outcome::Done(State { subject: Rc::clone(&state.subject), tree })),
        Err(refusal) => refusal.told(step),
    }
}
