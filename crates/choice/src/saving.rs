//! What each step of a schedule is expected to save, by the one cost.
//!
//! In: a program, and the steps that a choice has led to.  Out: for each step, the cost of the program's statements behind it and in
//! front of it. The cost knows the order of loops, vectors, tiles in registers and chains of operations. It knows nothing of the
//! capacity of caches, how often a tile is packed, threads, or statements in parts: steps for these have no number.

use std::rc::Rc;

use poly::{Branch, LoopId, LoopKind, Subject, Tree, uneven};
use steps::{Outcome, State, Step, Verb};

use crate::cost::{Lanes, cost};

/// What a step changes less than this part of is not worth a number.
const LEAST: f64 = 0.005;

/// What a step makes of the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saving {
    /// The cost in front of it.
    pub before: u64,
    /// The cost behind it.
    pub after: u64,
}

impl Saving {
    /// In words; empty if the cost stays what it was.
    pub fn text(&self) -> String {
        if self.before == self.after {
            return String::new();
        }
        let part = self.after as f64 / self.before.max(1) as f64;
        let percent = |part: f64| (100.0 * part).round().max(1.0);
        match 1.0 - part {
            saved if saved >= LEAST => format!("saves {:.0} %", percent(saved).min(99.0)),
            saved if saved <= -LEAST && part < 2.0 => format!("costs {:.0} % more", percent(-saved)),
            saved if saved <= -LEAST => format!("costs {part:.1} times as much"),
            _ => String::new(),
        }
    }
}

/// What the steps are expected to save, one after the other, from the program's own order on.
pub fn savings<'a>(
    subject: &Rc<Subject>,
    steps: impl IntoIterator<Item = &'a Step>,
) -> diag::Result<Vec<Option<Saving>>> {
    let mut state = State { subject: Rc::clone(subject), tree: subject.scop.order.clone() };
    let mut copies: Vec<String> = Vec::new();
    let mut before = price(&state, &copies)?;
    let mut savings = Vec::new();
    let mut steps = steps.into_iter();
    for step in steps.by_ref() {
        let Outcome::Done(next) = steps::apply(&state, step)? else {
            savings.push(None);
            break;
        };
        let new: Vec<String> =
            names(&next).filter(|name| !names(&state).any(|known| known == *name)).cloned().collect();
        let is_pack = matches!(step.verb, Verb::Pack { .. });
        let is_known = new.is_empty() || is_pack;
        if is_pack {
            copies.extend(new);
        }
        state = next;
        let after = price(&state, &copies)?;
        savings.push(is_known.then_some(Saving { before, after }));
        before = after;
    }
    // Where one does not apply, nothing is known about those behind it.
    savings.extend(steps.map(|_| None));
    Ok(savings)
}

fn names(state: &State) -> impl Iterator<Item = &String> {
    state.subject.scop.statements.iter().map(|statement| &statement.name)
}

/// The cost of a tree as it is but for copies, with the vectors and register tiles that it has by now.
fn price(state: &State, copies: &[String]) -> diag::Result<u64> {
    let scop = &state.subject.scop;
    let mut branches = state.tree.branches();
    branches.retain(|branch| !copies.contains(&scop.at(branch.statement).name));
    let tree = &Tree::grow(state.tree.table(), branches);
    let is_vector = |id: LoopId| matches!(tree.info(id).kind, LoopKind::Vector(_));
    let vectors: Vec<LoopId> = tree.loops().map(|(id, _)| id).filter(|id| is_vector(*id)).collect();
    let branches = tree.branches();
    let tiled = branches.iter().filter(|branch| is_in_registers(tree, branch));
    let tiled: Vec<&str> = tiled.map(|branch| scop.at(branch.statement).name.as_str()).collect();
    let lanes = Lanes { vectors: &vectors, tiled: &tiled, rests: &[], cached: &[] };
    Ok(cost(scop, tree, &uneven(scop, tree)?, Some(lanes)))
}

/// Whether a statement adds to a tile of vectors: straight code inside of a loop inside of a vector loop.
fn is_in_registers(tree: &Tree, branch: &Branch) -> bool {
    let kinds: Vec<LoopKind> = branch.loops().map(|(_, id, _)| tree.info(id).kind).collect();
    let vector = kinds.iter().position(|kind| matches!(kind, LoopKind::Vector(_)));
    let straight = kinds.iter().rposition(|kind| *kind == LoopKind::Unrolled);
    vector.zip(straight).is_some_and(|(vector, straight)| straight > vector + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_said_where_there_is_something_to_say() {
        let text = |before, after| Saving { before, after }.text();
        assert_eq!(text(400, 100), "saves 75 %");
        assert_eq!(text(1000, 1), "saves 99 %");
        assert_eq!(text(1000, 999), "");
        assert_eq!(text(1000, 1030), "costs 3 % more");
        assert_eq!(text(100, 250), "costs 2.5 times as much");
        assert_eq!(text(0, 0), "");
    }
}
