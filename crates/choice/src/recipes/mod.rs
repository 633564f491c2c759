//! Recipes: what a person would do to a nest, as steps with the reason beside each.
//!
//! In: a program with its dependences, a tree, and the facts of a machine.  Out: steps that lead from the program's own order to
//! something better. They are found from dependences and accesses alone, and the gate judges what comes of them.

pub(crate) mod batches;
mod blocks;
pub(crate) mod contraction;
pub(crate) mod factorisation;
pub(crate) mod grid;
pub(crate) mod interleave;
pub(crate) mod pad;
pub(crate) mod passes;
pub(crate) mod push;
pub(crate) mod rows;
pub(crate) mod streamed;
pub(crate) mod threads;
pub(crate) mod time;
pub(crate) mod turn;
pub(crate) mod vector;

use std::rc::Rc;

use poly::{Subject, Tree};
use steps::{Outcome, State, Step};

use crate::written::written;

/// A step, and why it is taken.
#[derive(Clone, Debug)]
pub struct Reasoned {
    /// What is done.
    pub step: Step,
    /// What it is good for; empty if that goes without saying.
    pub why: String,
}

/// Steps on their way, and the state that they have led to.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) state: State,
    /// None if the tree that it starts from cannot be said by steps.
    pub(crate) steps: Option<Vec<Reasoned>>,
}

impl Plan {
    /// No steps yet, from the program's own order.
    pub(crate) fn new(subject: &Rc<Subject>) -> Plan {
        let state = State { subject: Rc::clone(subject), tree: subject.scop.order.clone() };
        Plan { state, steps: Some(Vec::new()) }
    }

    /// The steps that make a tree, if there are such.
    pub(crate) fn from_tree(subject: &Rc<Subject>, tree: &Tree, why: &str) -> diag::Result<Plan> {
        let start = State { subject: Rc::clone(subject), tree: tree.clone() };
        // A statement that never runs may be missing in a tree; by steps it would come back, into loops of others.
        let branches = tree.branches();
        let runs = |statement: usize| branches.iter().any(|branch| branch.statement.index() == statement);
        let complete = (0..subject.scop.statements.len()).all(runs);
        let Some(steps) = written(subject, tree).filter(|_| complete) else {
            return Ok(Plan { state: start, steps: None });
        };
        let order = State { subject: Rc::clone(subject), tree: subject.scop.order.clone() };
        let mut plan = Plan { state: order, steps: Some(Vec::new()) };
        for (number, step) in steps.into_iter().enumerate() {
            let why = if number == 0 { why } else { "" };
            if !plan.take(step, why)? {
                return Ok(Plan { state: start, steps: None });
            }
        }
        Ok(plan)
    }

    /// The same steps behind those that have made the program that they start from.
    pub(crate) fn behind(self, before: &Plan) -> Plan {
        let steps = before.steps.clone().zip(self.steps).map(|(first, then)| [first, then].concat());
        Plan { state: self.state, steps }
    }

    /// Takes a step if it applies. What it leads to is still to be proven.
    pub(crate) fn take(&mut self, step: Step, why: impl Into<String>) -> diag::Result<bool> {
        match steps::apply(&self.state, &step)? {
            Outcome::Done(next) => {
                self.state = next;
                if let Some(steps) = &mut self.steps {
                    steps.push(Reasoned { step, why: why.into() });
                }
                Ok(true)
            }
            Outcome::Misplaced(diagnostic) => {
                tracing::debug!(%diagnostic.message, "a step does not fit");
                Ok(false)
            }
            Outcome::Changed(diagnostic) => {
                tracing::debug!(%diagnostic.message, "a step would change a value");
                Ok(false)
            }
        }
    }

    /// A name that no loop has yet.
    pub(crate) fn fresh(&self, wanted: &str) -> String {
        let taken = |name: &str| self.state.tree.loops().any(|(_, found)| found.is_called(name));
        let mut name = wanted.to_string();
        let mut number = 1;
        while taken(&name) {
            number += 1;
            name = format!("{wanted}{number}");
        }
        name
    }
}
