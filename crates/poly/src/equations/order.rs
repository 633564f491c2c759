//! The order of equations: the one in the text if it happens to work, otherwise the one that isl's scheduler finds.

use std::rc::Rc;

use diag::{Diagnostic, Error};
use program::Affine;

use super::cycle::{self, Search};
use crate::deps::Dependences;
use crate::propose::{Fusion, propose_some};
use crate::prove::{Subject, Verdict, prove};
use crate::scop::{Scop, Statement, StatementKind};
use crate::tree::{Branch, Entry, Loop, LoopId, StatementId, Tree};

/// The order that transformations start from: as written, unless equations need another.
pub fn base_tree(subject: &Rc<Subject>) -> diag::Result<Tree> {
    let scop = &subject.scop;
    if scop.equations.is_empty() {
        return Ok(scop.order.clone());
    }
    match prove(subject, scop.order.clone())? {
        Verdict::Legal(_) => Ok(scop.order.clone()),
        Verdict::Unknown { spent } => Err(Error::Budget { stage: "legality", spent }),
        Verdict::Illegal(_) => found(subject),
    }
}

/// The order that the scheduler finds. Inits are put in front of their updates, into the same loops: on its own, an init
/// depends on nothing, and the scheduler would put it anywhere.
fn found(subject: &Rc<Subject>) -> diag::Result<Tree> {
    let scop = &subject.scop;
    let is_init = |statement: &Statement| matches!(statement.kind, StatementKind::Init(_));
    let none = || explain_failure(scop, &subject.dependences);
    if scop.statements.iter().any(is_init) {
        let some = propose_some(subject, Fusion::Least, &|statement| !is_init(statement))?.ok_or_else(none)?;
        let (mut loops, mut branches) = (some.table(), some.branches());
        for (position, _) in scop.statements.iter().enumerate().filter(|(_, statement)| is_init(statement)) {
            add_init(scop, &mut loops, &mut branches, StatementId::new(position));
        }
        let tree = Tree::grow(loops, branches);
        if let Verdict::Legal(_) = prove(subject, tree.clone())? {
            return Ok(tree);
        }
    }
    propose_some(subject, Fusion::Least, &|_| true)?.ok_or_else(none)
}

/// Gives an init its place: in the loops of its update as far as these count indices that both have.
fn add_init(scop: &Scop, loops: &mut Vec<Loop>, branches: &mut Vec<Branch>, id: StatementId) {
    let init = scop.at(id);
    let same = |branch: &&Branch| {
        let other = scop.at(branch.statement);
        other.kind.is_update() && other.source == init.source && other.write.array == init.write.array
    };
    let Some(update) = branches.iter().find(same) else { return };
    let known = |entry: &&Entry| match entry {
        Entry::Place(_) => true,
        Entry::Loop(_, expr) => {
            let mut known = true;
            expr.visit_iters(&mut |iter| known &= init.iters.contains(&iter));
            known
        }
        Entry::Only(_) | Entry::Free(_) => false,
    };
    let mut entries: Vec<Entry> = update.entries.iter().take_while(known).cloned().collect();
    // Behind the last loop that they share.
    while let Some(Entry::Place(_)) = entries.last() {
        entries.pop();
    }
    let depth = entries.len();
    let own = Branch { statement: id, entries: entries.clone() };
    let inside: Vec<usize> =
        (0..branches.len()).filter(|number| branches[*number].shared_with(&own) >= depth).collect();
    for number in &inside {
        branches[*number].entries.insert(depth, Entry::Place(1));
    }
    let missing: Vec<_> = init.iters.iter().filter(|iter| !own.counts(**iter)).collect();
    entries.push(Entry::Place(0));
    for iter in missing {
        entries.push(Entry::Loop(LoopId(loops.len() as u32), Affine::iter(*iter)));
        loops.push(Loop::named(&scop.function.iter(*iter).name));
    }
    let place = inside.first().copied().unwrap_or(branches.len());
    branches.insert(place, Branch { statement: id, entries });
}

/// The error when the scheduler has found no order: a cycle if there is one at small sizes.
pub(crate) fn explain_failure(scop: &Scop, dependences: &Dependences) -> Error {
    match cycle::find(scop, dependences) {
        Ok(Search::Found(cycle)) => Error::User(vec![cycle.explain(scop)]),
        Ok(Search::Nothing { tried }) => Error::User(vec![not_found(scop, tried)]),
        Err(fault) => fault.of_function("schedule", &scop.function),
    }
}

fn not_found(scop: &Scop, tried: usize) -> Diagnostic {
    let arrays = scop.equations.systems.iter().flat_map(|system| &system.arrays);
    let names: Vec<String> = arrays.clone().map(|array| format!("`{}`", scop.array(*array).name)).collect();
    let mut spans =
        scop.statements.iter().filter(|statement| arrays.clone().any(|array| *array == statement.write.array));
    let span = spans.next().map_or(scop.function.span, |statement| statement.write.span);
    let message = format!("no order was found for the equations of {}", names.join(", "));
    let searched = match tried {
        0 => "even the smallest sizes have too many instances to look for a cycle".to_string(),
        _ => format!("no cycle was found at {tried} combinations of small sizes, so there may be an order"),
    };
    Diagnostic::error("E0411", span, message)
        .note("an order must be affine in the indices of each clause, and the same for all sizes")
        .note(searched)
        .help("split the clause where its order changes direction, or write the order as a `for` loop")
}
