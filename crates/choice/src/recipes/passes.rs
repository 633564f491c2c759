//! Passes together: nests that go through the rows of one matrix, one after the other, go through them together.
//!
//! A matrix that is larger than a cache is fetched anew by every nest that reads it. Where several nests have a loop over its rows outermost,
//! they share that loop, and what the first of them fetches is still at hand for the others. Their loops along a row stay apart, so that
//! lanes run along them as before.
//! Not here: nests with three loops, which are worth tiles (`contraction`, `time`).

use std::ops::Range;

use poly::{Access, Branch, Entry, Scop, Tree};
use program::{ArrayId, IterId};

/// A part of the tree's outermost sequence.
struct Nest {
    /// Its branches.
    branches: Range<usize>,
    /// The matrices whose rows its outermost loop counts.
    rows_of: Vec<ArrayId>,
    read: Vec<ArrayId>,
    written: Vec<ArrayId>,
}

/// The tree in which nests of `tree` go through common rows together, and the numbers of the branches that find their rows in a cache; none
/// if there are none.
pub(crate) fn together(scop: &Scop, tree: &Tree) -> Option<(Tree, Vec<usize>)> {
    let branches = tree.branches();
    let nests = nests(scop, &branches);
    let mut order: Vec<Vec<usize>> = Vec::new();
    for number in 0..nests.len() {
        if !join(&nests, &mut order, number) {
            order.push(vec![number]);
        }
    }
    if order.iter().all(|group| group.len() == 1) {
        return None;
    }
    let mut grown = Vec::new();
    let mut cached = Vec::new();
    for (place, group) in order.iter().enumerate() {
        let leader = branches[nests[group[0]].branches.start].loops().next().map(|(_, id, _)| id);
        for (position, nest) in group.iter().enumerate() {
            for number in nests[*nest].branches.clone() {
                let mut branch = branches[number].clone();
                // The place in the outermost sequence, which is the only entry in front of the loop.
                branch.entries[0] = Entry::Place(place as i64);
                if let (true, Some(leader)) = (group.len() > 1, leader) {
                    let expr = branch.entries[1].as_loop()?.1.clone();
                    branch.entries[1] = Entry::Loop(leader, expr);
                    branch.entries.insert(2, Entry::Place(position as i64));
                }
                if position > 0 {
                    cached.push(grown.len());
                }
                grown.push(branch);
            }
        }
    }
    Some((Tree::grow(tree.table(), grown), cached))
}

/// Adds a nest to the last group that goes through the rows of a matrix of its own, if what stands between can go in front of the group or
/// behind the nest.
fn join(nests: &[Nest], order: &mut Vec<Vec<usize>>, number: usize) -> bool {
    let nest = &nests[number];
    let shares = |group: &Vec<usize>| {
        group.iter().any(|other| nests[*other].rows_of.iter().any(|array| nest.rows_of.contains(array)))
    };
    let Some(place) = order.iter().rposition(shares) else { return false };
    // What stands between goes in front if it has nothing to do with the group, and behind if nothing with the nest.
    let between = order.split_off(place + 1);
    let group = order.pop().unwrap_or_default();
    let apart =
        |one: &[usize], two: &[usize]| one.iter().all(|one| two.iter().all(|two| !nests[*one].conflicts(&nests[*two])));
    let mut in_front: Vec<Vec<usize>> = Vec::new();
    let mut behind: Vec<Vec<usize>> = Vec::new();
    for other in &between {
        if apart(other, &group) && behind.iter().all(|later| apart(other, later)) {
            in_front.push(other.clone());
        } else if apart(other, &[number]) {
            behind.push(other.clone());
        } else {
            order.push(group);
            order.extend(between);
            return false;
        }
    }
    order.extend(in_front);
    order.push([group, vec![number]].concat());
    order.extend(behind);
    true
}

/// The parts of the outermost sequence.
fn nests(scop: &Scop, branches: &[Branch]) -> Vec<Nest> {
    let mut found: Vec<Nest> = Vec::new();
    for (number, branch) in branches.iter().enumerate() {
        let continues = found.last().is_some_and(|nest| branch.shared_with(&branches[nest.branches.start]) > 0);
        match found.last_mut().filter(|_| continues) {
            Some(nest) => nest.branches.end = number + 1,
            None => found.push(Nest::new(number)),
        }
    }
    for nest in &mut found {
        nest.see(scop, &branches[nest.branches.clone()]);
    }
    found
}

impl Nest {
    fn new(first: usize) -> Nest {
        Nest { branches: first..first + 1, rows_of: Vec::new(), read: Vec::new(), written: Vec::new() }
    }

    fn see(&mut self, scop: &Scop, branches: &[Branch]) {
        for branch in branches {
            let statement = scop.at(branch.statement);
            self.written.push(statement.write.array);
            self.read.extend(statement.reads.iter().map(|read| read.array));
        }
        let Some(outer) = branches.iter().map(|branch| outermost(scop, branch)).collect::<Option<Vec<_>>>() else {
            return;
        };
        for (branch, outer) in branches.iter().zip(outer) {
            let statement = scop.at(branch.statement);
            let is_row = |access: &&Access| {
                let first = access.index.first().and_then(|subscript| subscript.as_affine());
                access.index.len() >= 2 && first.and_then(|first| first.as_iter()) == Some(outer)
            };
            let accesses = std::iter::once(&statement.write).chain(&statement.reads);
            self.rows_of.extend(accesses.filter(is_row).map(|access| access.array));
        }
    }

    /// Whether one writes what the other touches.
    fn conflicts(&self, other: &Nest) -> bool {
        let meets = |one: &Nest, two: &Nest| {
            one.written.iter().any(|array| two.read.contains(array) || two.written.contains(array))
        };
        meets(self, other) || meets(other, self)
    }
}

/// The iterator that the outermost loop of a branch counts, if it stands at a place of the outermost sequence, is free, and has at most one
/// loop inside.
fn outermost(scop: &Scop, branch: &Branch) -> Option<IterId> {
    let statement = scop.at(branch.statement);
    let [Entry::Place(_), Entry::Loop(_, expr), inside @ ..] = branch.entries.as_slice() else { return None };
    let plain = inside.iter().all(|entry| matches!(entry, Entry::Place(_) | Entry::Loop(..)));
    let deep = inside.iter().filter(|entry| entry.as_loop().is_some()).count() > 1;
    expr.as_iter().filter(|iter| plain && !deep && statement.iters[statement.ordered..].contains(iter))
}
