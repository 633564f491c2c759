//! Pushed reductions: a recurrence whose cells are reductions over the cells before them.
//!
//! As it is written, each cell fetches all that it is made of, one term after the other, and often across the rows. Turned round, each cell
//! that is finished is added to all those that wait for it, whose cells lie side by side: lanes run along them. The reductions that
//! are under way need a cell each, so what was one local becomes a row of them. The updates of a reduction have no order, so nothing changes.
//! Not here: reductions over what is there from the beginning, whose loops are simply exchanged.

use std::rc::Rc;

use poly::{Branch, Entry, Loop, LoopId, Scop, Statement, StatementKind, Tree};
use program::{Affine, ArrayId, IterId, Role};
use steps::{Step, Verb, Word};

use super::{Plan, vector};
use crate::cost::Walk;

/// A reduction that can be pushed.
struct Pushed {
    /// The statement that adds a term.
    update: String,
    /// The index of the loop that it is in, and that of its terms.
    cell: IterId,
    term: IterId,
}

/// The program and the tree in which reductions are pushed; none if there is none to push.
pub(crate) fn reductions(start: &Plan, own: impl Fn(&Scop, &Tree) -> Tree) -> diag::Result<Option<(Plan, Tree)>> {
    let scop = &start.state.subject.scop;
    let found: Vec<Pushed> = scop.statements.iter().filter_map(|statement| recognise(scop, statement)).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let mut plan = start.clone();
    for pushed in &found {
        let subject = Rc::clone(&plan.state.subject);
        let Some(array) = subject.scop.statement(&pushed.update).map(|update| update.write.array) else {
            return Ok(None);
        };
        if !is_shared(&subject.scop, array, pushed.cell) {
            continue;
        }
        let index = Word::new(subject.scop.function.iter(pushed.cell).name.clone());
        let array = Word::new(subject.scop.array(array).name.clone());
        let step = Step::new(Verb::Expand { array, indices: vec![index], name: None });
        if !plan.take(step, "reductions that are under way at once need a cell each")? {
            return Ok(None);
        }
    }
    let scop = &plan.state.subject.scop;
    let mut tree = own(scop, &plan.state.tree);
    for pushed in &found {
        let Some(next) = pushed.push(scop, &tree) else { return Ok(None) };
        tree = next;
    }
    Ok(Some((plan, tree)))
}

/// Whether an array has no cell of its own for each value of an index.
fn is_shared(scop: &Scop, array: ArrayId, index: IterId) -> bool {
    let uses = |statement: &&Statement| statement.write.array == array;
    scop.statements.iter().filter(uses).any(|statement| {
        let mut has = false;
        for subscript in &statement.write.index {
            if let Some(affine) = subscript.as_affine() {
                affine.visit_iters(&mut |iter| has |= iter == index);
            }
        }
        !has
    })
}

fn recognise(scop: &Scop, statement: &Statement) -> Option<Pushed> {
    let updates = matches!(statement.kind, StatementKind::Update(_)) && !statement.scatters();
    if !updates || !vector::has_lanes(statement) || scop.array(statement.write.array).role != Role::Local {
        return None;
    }
    // One reduction for each iteration of a `for`, over one index.
    let (around, terms) = statement.iters.split_at(statement.kept);
    let ([.., cell], [term]) = (around, terms) else { return None };
    if statement.kept != statement.ordered {
        return None;
    }
    // Terms are made of what the loop itself makes, and lie side by side along the cells rather than along the terms.
    let made = |array: ArrayId| {
        let writes = |other: &&Statement| other.write.array == array && other.iters[..other.ordered].contains(cell);
        scop.statements.iter().any(|other| writes(&other))
    };
    let operands: Vec<_> = statement.reads.iter().filter(|read| read.array != statement.write.array).collect();
    let recurs = operands.iter().any(|read| made(read.array));
    let far = |iter: IterId| Walk::along(iter).kinds_of_steps(statement, &[statement.write.array]).far;
    let near = |iter: IterId| Walk::along(iter).kinds_of_steps(statement, &[statement.write.array]).near;
    let gains = recurs && far(*term) > 0 && far(*cell) == 0 && near(*cell) > 0;
    gains.then(|| Pushed { update: statement.name.clone(), cell: *cell, term: *term })
}

impl Pushed {
    /// The tree in which each iteration of the loop ends with the updates that it makes possible, and the reductions begin in front of it.
    fn push(&self, scop: &Scop, tree: &Tree) -> Option<Tree> {
        let (mut loops, mut branches) = (tree.table(), tree.branches());
        let update = scop.statement(&self.update)?;
        let number = branches.iter().position(|branch| scop.at(branch.statement).name == self.update)?;
        let (level, id, _) = branches[number].loops().find(|(_, _, expr)| expr.as_iter() == Some(self.cell))?;
        let inner = branches[number].loops().next_back()?;
        if inner.2.as_iter() != Some(self.term) || inner.0 <= level {
            return None;
        }
        let mut fresh = |name: &str| {
            loops.push(Loop::named(name));
            LoopId(loops.len() as u32 - 1)
        };
        let (pushed, begun) = (fresh("pushed"), fresh("begun"));
        let begins = |branch: &Branch| {
            let statement = scop.at(branch.statement);
            matches!(statement.kind, StatementKind::Init(_)) && statement.write.array == update.write.array
        };
        // The loop is one ahead of the indices, so that it is called after none of them: the loop inside is.
        let ahead = |expr: &Affine| expr.add(&Affine::constant(1));
        for (other, branch) in branches.iter_mut().enumerate().filter(|(_, branch)| branch.level_of(id).is_some()) {
            let cell = Entry::Loop(begun, Affine::iter(self.cell));
            if begins(branch) {
                branch.entries.truncate(level);
                branch.entries.extend([Entry::Place(0), cell]);
            } else if other == number {
                let along = Affine::iter(self.cell);
                branch.entries.truncate(level);
                let after = [Entry::Place(1), Entry::Loop(id, ahead(&Affine::iter(self.term))?), Entry::Place(1)];
                branch.entries.extend(after);
                branch.entries.push(Entry::Loop(pushed, along));
            } else {
                let counted = branch.entries[level].as_loop().and_then(|(_, expr)| ahead(expr))?;
                branch.entries[level] = Entry::Loop(id, counted);
                branch.entries.insert(level + 1, Entry::Place(0));
                branch.entries.insert(level, Entry::Place(1));
            }
        }
        Some(Tree::grow(loops, sorted(branches)))
    }
}

/// The branches from left to right, by their places.
fn sorted(mut branches: Vec<Branch>) -> Vec<Branch> {
    let places = |branch: &Branch| -> Vec<i64> {
        let place = |entry: &Entry| match entry {
            Entry::Place(place) => *place,
            Entry::Free(_) | Entry::Loop(..) | Entry::Only(_) => 0,
        };
        branch.entries.iter().map(place).collect()
    };
    branches.sort_by_key(places);
    branches
}
