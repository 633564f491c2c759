//! Batches: what has the same outer indices as a product is done for one value of them after the other.
//!
//! In: a tree in which every contraction has loops of its own.  Out: one in which the nests before and behind a contraction share the loops over
//! its batch, as far as they have such loops. What one of them makes is then still in a cache when the next one reads it, and takes the
//! room of one member of the batch.
//! Not here: whether that is legal, of which only the reads that would clearly be too early are looked at.

use std::ops::Range;

use poly::{Access, Branch, Entry, LoopId, Scop, Statement, Tree};
use program::{Affine, ArrayId, IterId};

use super::contraction::Contraction;

/// The dimensions of results that a batch goes through, with their extents.
type Batch = Vec<(usize, Affine)>;

/// The tree in which nests share the loops over the batches of contractions; none if there is nothing to share.
pub(crate) fn together(scop: &Scop, tree: &Tree, contractions: &[Contraction]) -> Option<Tree> {
    let branches = tree.branches();
    let nests = nests(&branches);
    let mut grown: Vec<Branch> = Vec::new();
    let mut shared = false;
    let mut next = 0;
    while next < nests.len() {
        let group = (next..nests.len()).find_map(|at| Group::around(scop, &branches, &nests, (next, at), contractions));
        let Some(group) = group else { break };
        for nest in next..group.nests.start {
            grown.extend(placed(&branches[nests[nest].clone()], nest));
        }
        shared |= group.nests.len() > 1;
        for (position, nest) in group.nests.clone().enumerate() {
            for branch in &branches[nests[nest].clone()] {
                grown.push(group.hoisted(scop, branch, position)?);
            }
        }
        next = group.nests.end;
    }
    for nest in next..nests.len() {
        grown.extend(placed(&branches[nests[nest].clone()], nest));
    }
    shared.then(|| Tree::grow(tree.table(), grown))
}

/// The branches of each part of the outermost sequence.
fn nests(branches: &[Branch]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (number, branch) in branches.iter().enumerate() {
        match found.last_mut().filter(|nest| branch.shared_with(&branches[nest.start]) > 0) {
            Some(nest) => nest.end = number + 1,
            None => found.push(number..number + 1),
        }
    }
    found
}

/// Branches at another place of the outermost sequence.
fn placed(branches: &[Branch], place: usize) -> impl Iterator<Item = Branch> {
    branches.iter().cloned().map(move |mut branch| {
        if let Some(entry @ Entry::Place(_)) = branch.entries.first_mut() {
            *entry = Entry::Place(place as i64);
        }
        branch
    })
}

/// Nests that follow each other and share the loops over a batch.
struct Group {
    nests: Range<usize>,
    batch: Batch,
    /// The loops that count it.
    loops: Vec<LoopId>,
}

impl Group {
    /// The nests around a contraction, none of them in front of the first that is given; none if there is no contraction with a batch.
    fn around(
        scop: &Scop,
        branches: &[Branch],
        nests: &[Range<usize>],
        (first, at): (usize, usize),
        contractions: &[Contraction],
    ) -> Option<Group> {
        let [own] = &branches[nests[at].clone()] else { return None };
        let statement = scop.at(own.statement);
        let contraction = contractions.iter().find(|found| found.statement == statement.name)?;
        let dimension = |iter: &IterId| {
            let position = statement
                .write
                .index
                .iter()
                .position(|subscript| subscript.as_affine().and_then(Affine::as_iter) == Some(*iter))?;
            Some((position, scop.array(statement.write.array).shape[position].clone()))
        };
        let batch: Batch = contraction.batch.iter().map(dimension).collect::<Option<_>>()?;
        let counting =
            |iter: &IterId| own.loops().find(|(.., expr)| expr.as_iter() == Some(*iter)).map(|(_, id, _)| id);
        let loops: Vec<LoopId> = contraction.batch.iter().map(counting).collect::<Option<_>>()?;
        if batch.is_empty() {
            return None;
        }
        let mut group = Group { nests: at..at + 1, batch, loops };
        let mut written = vec![statement.write.array];
        group.hoisted(scop, own, 0)?;
        while group.nests.end < nests.len()
            && group.takes(scop, &branches[nests[group.nests.end].clone()], &mut written)
        {
            group.nests.end += 1;
        }
        while group.nests.start > first {
            // What is written in front is read in the group.
            let front = &branches[nests[group.nests.start - 1].clone()];
            let mut made: Vec<ArrayId> = front.iter().map(|branch| scop.at(branch.statement).write.array).collect();
            let inside = nests[group.nests.start].start..nests[group.nests.end - 1].end;
            if !group.takes(scop, front, &mut made) || !group.takes(scop, &branches[inside], &mut made) {
                break;
            }
            group.nests.start -= 1;
        }
        Some(group)
    }

    /// Whether a nest can share the loops: each of its statements goes through the batch, and reads of it what the same member has written.
    fn takes(&self, scop: &Scop, nest: &[Branch], written: &mut Vec<ArrayId>) -> bool {
        written.extend(nest.iter().map(|branch| scop.at(branch.statement).write.array));
        nest.iter().all(|branch| {
            let statement = scop.at(branch.statement);
            let own = |iters: &[IterId]| {
                let same = |access: &Access| {
                    let at = |(position, _): &(usize, Affine)| access.index.get(*position)?.as_affine()?.as_iter();
                    self.batch.iter().map(at).eq(iters.iter().copied().map(Some))
                };
                statement.reads.iter().filter(|read| written.contains(&read.array)).all(same)
            };
            self.hoisted(scop, branch, 0).is_some() && self.iters(scop, statement).is_some_and(|iters| own(&iters))
        })
    }

    /// The indices of a statement that go through the batch.
    fn iters(&self, scop: &Scop, statement: &Statement) -> Option<Vec<IterId>> {
        let shape = &scop.array(statement.write.array).shape;
        let at = |(position, extent): &(usize, Affine)| {
            let iter = statement.write.index.get(*position)?.as_affine()?.as_iter()?;
            let free = statement.iters[statement.ordered..statement.kept].contains(&iter);
            (free && shape.get(*position) == Some(extent)).then_some(iter)
        };
        if statement.ordered > 0 || statement.scatters() {
            return None;
        }
        self.batch.iter().map(at).collect()
    }

    /// A branch with the loops over the batch outermost; none if it has no such loops.
    fn hoisted(&self, scop: &Scop, branch: &Branch, position: usize) -> Option<Branch> {
        let iters = self.iters(scop, scop.at(branch.statement))?;
        let (Entry::Place(_), inside) = branch.entries.split_first()? else { return None };
        if inside.iter().any(|entry| !matches!(entry, Entry::Place(_) | Entry::Loop(..))) {
            return None;
        }
        let counts = |entry: &Entry| entry.as_loop().and_then(|(_, expr)| expr.as_iter());
        let mut entries = vec![Entry::Place(self.nests.start as i64)];
        for (iter, id) in iters.iter().zip(&self.loops) {
            let found = inside.iter().find(|entry| counts(entry) == Some(*iter))?;
            entries.push(Entry::Loop(*id, found.as_loop()?.1.clone()));
        }
        entries.push(Entry::Place(position as i64));
        let rest = inside.iter().filter(|entry| counts(entry).is_none_or(|iter| !iters.contains(&iter)));
        entries.extend(rest.cloned());
        Some(Branch { statement: branch.statement, entries })
    }
}
