//! Interleaved rows: recurrences that wait for themselves, several at a time.
//!
//! Where each cell of a row needs the one before it, a processor waits for every operation in turn. Rows that have nothing to do with each
//! other, or that can follow each other at a distance of a few cells, run side by side in straight code, and the waits overlap. No
//! operation changes, nor the order of those on one row. Where a loop repeats such a sweep over rows that wait for each other, a sweep
//! follows the one before it at a distance of some rows: these are waves of tiles, which threads share (as in `time`).
//! Not here: rows whose cells lie side by side across the recurrence, which are lanes (`vector`).

use std::ops::Range;

use poly::{Access, Branch, Entry, Loop, LoopId, LoopKind, Scop, Statement, StatementKind, Tree};
use program::{Affine, ArrayId, IterId};

use crate::cost::Walk;

/// So many rows of a sweep are a tile, where sweeps follow each other.
const TILE: i64 = 32;
/// So many rows at a time: a division takes about twice as many cycles as additions, and one of these starts in each.
const ROWS: i64 = 8;

/// Statements that go along the same rows.
struct Rows {
    /// Their branches.
    group: Range<usize>,
    /// The level of the outer one of the two loops.
    level: usize,
    /// The loop along the rows, and what each statement counts with it.
    along: (LoopId, Vec<Affine>),
    /// What each statement counts across the rows.
    across: Vec<IterId>,
    /// How many cells along the row the next row is behind.
    behind: i64,
    /// Sweeps over the rows that follow each other.
    sweeps: Option<Sweeps>,
}

/// Sweeps over rows that a loop repeats, each of which needs some rows of the one before it.
struct Sweeps {
    /// What that loop counts.
    time: IterId,
    /// By how many rows a sweep is behind the one before it.
    lean: i64,
}

/// The tree in which recurrences along rows run several rows at a time, but for the loops that are vector loops; none if there are none.
pub(crate) fn rows(scop: &Scop, tree: &Tree, vectors: &[LoopId]) -> Option<Tree> {
    let (mut loops, mut branches) = (tree.table(), tree.branches());
    let mut found = Vec::new();
    let mut start = 0;
    while start < branches.len() {
        let rows = recognise(scop, &branches, start, vectors);
        start = rows.as_ref().map_or(start + 1, |rows| rows.group.end);
        found.extend(rows);
    }
    if found.is_empty() {
        return None;
    }
    for rows in found {
        rows.interleave(&mut loops, &mut branches)?;
    }
    Some(Tree::grow(loops, branches))
}

/// The rows that the statements from a branch on have in common.
fn recognise(scop: &Scop, branches: &[Branch], start: usize, vectors: &[LoopId]) -> Option<Rows> {
    let first = &branches[start];
    let depth = first.loops().count();
    let (outer_level, outer, _) = first.loops().nth(depth.checked_sub(2)?)?;
    let group = start..start + branches[start..].iter().take_while(|branch| branch.level_of(outer).is_some()).count();
    // All of the loop, and nothing of it elsewhere.
    if start > 0 && branches[start - 1].level_of(outer).is_some() {
        return None;
    }
    let inside = &branches[group.clone()];
    let fits = |branch: &Branch| {
        let statement = scop.at(branch.statement);
        let plain = statement.kind == StatementKind::Assign && statement.block.is_none();
        let below = &branch.entries[outer_level + 1..];
        let counted = below.iter().all(|entry| matches!(entry, Entry::Place(_) | Entry::Loop(..)));
        plain && counted && below.iter().filter(|entry| entry.as_loop().is_some()).count() == 1
    };
    let in_lanes = |branch: &Branch| branch.loops().next_back().is_some_and(|(_, id, _)| vectors.contains(&id));
    if !inside.iter().all(fits) || inside.iter().all(in_lanes) {
        return None;
    }
    // The rows are along the outer loop, or along the inner one if all share it.
    let inner = first.loops().next_back().map(|(level, id, _)| (level, id))?;
    let shared = inside.iter().all(|branch| branch.level_of(inner.1).is_some());
    let candidates = [(outer, false), (inner.1, true)];
    let mut usable = candidates.into_iter().filter(|(_, is_inner)| !is_inner || shared);
    usable.find_map(|(along, is_inner)| {
        let mut rows = Rows::new(scop, inside, group.clone(), outer_level, along)?;
        rows.sweeps = rows.repeated(scop, branches);
        rows.gains(scop, inside, (is_inner, &in_lanes)).then_some(rows)
    })
}

impl Rows {
    fn new(scop: &Scop, inside: &[Branch], group: Range<usize>, level: usize, along: LoopId) -> Option<Rows> {
        let mut counted = Vec::new();
        let mut across = Vec::new();
        for branch in inside {
            for (_, id, expr) in branch.loops().filter(|(own, ..)| *own >= level) {
                if id == along {
                    single(expr)?;
                    counted.push(expr.clone());
                } else {
                    across.push(expr.as_iter()?);
                }
            }
        }
        let rows = Rows { group, level, along: (along, counted), across, behind: 0, sweeps: None };
        let behind = rows.distance(scop, inside)?;
        Some(Rows { behind, ..rows })
    }

    /// How many cells a row must be behind the one before it so that all it needs is there; none if rows depend on later ones, or on what
    /// is not known.
    fn distance(&self, scop: &Scop, inside: &[Branch]) -> Option<i64> {
        let statements: Vec<&Statement> = inside.iter().map(|branch| scop.at(branch.statement)).collect();
        let written: Vec<ArrayId> = statements.iter().map(|statement| statement.write.array).collect();
        let mut touches = Vec::new();
        for (number, statement) in statements.iter().enumerate() {
            let accesses = std::iter::once((&statement.write, true));
            let accesses = accesses.chain(statement.reads.iter().map(|read| (read, false)));
            for (access, writes) in accesses.filter(|(access, _)| written.contains(&access.array)) {
                touches.push((number, writes, self.touch(number, access)?, access.array));
            }
        }
        let rows_outside = inside[0].level_of(self.along.0) != Some(self.level);
        let mut behind = 0;
        for (one, writes, from, array) in &touches {
            for (two, also, to, other) in &touches {
                if array != other || !(*writes || *also) || from.rest != to.rest {
                    continue;
                }
                let (down, on) = (from.across - to.across, from.along - to.along);
                let order = if rows_outside { (down, on) } else { (on, down) };
                let later = order > (0, 0) || order == (0, 0) && one <= two;
                match down {
                    _ if !later => {}
                    0 => {}
                    down if down > 0 => {
                        behind = behind.max((1 - on).div_euclid(down) + i64::from((1 - on).rem_euclid(down) > 0))
                    }
                    _ => return None,
                }
            }
        }
        Some(behind)
    }

    /// The sweeps, if the rows are all that a loop around them has, and wait for each other.
    fn repeated(&self, scop: &Scop, branches: &[Branch]) -> Option<Sweeps> {
        let ([branch], [_]) = (&branches[self.group.clone()], self.across.as_slice()) else { return None };
        let (id, expr) = branch.entries[self.level.checked_sub(1)?].as_loop()?;
        let alone = branches.iter().filter(|other| other.level_of(id).is_some()).count() == 1;
        if !alone || self.behind == 0 {
            return None;
        }
        let statement = scop.at(branch.statement);
        let touched = std::iter::once(&statement.write).chain(&statement.reads);
        let same = touched.filter(|access| access.array == statement.write.array);
        let rows = same.map(|access| Some(self.touch(0, access)?.across)).collect::<Option<Vec<i64>>>()?;
        let written = rows.first()?;
        let lean = rows.iter().map(|row| (row - written).abs()).max()?;
        Some(Sweeps { time: expr.as_iter()?, lean })
    }

    /// Where an access is, seen from the row and the place on it.
    fn touch(&self, number: usize, access: &Access) -> Option<Seen> {
        let (along, direction) = single(&self.along.1[number])?;
        let across = self.across[number];
        let mut seen = Seen { across: 0, along: 0, rest: Vec::new() };
        let mut known = (false, false);
        for (dimension, subscript) in access.index.iter().enumerate() {
            let affine = subscript.as_affine()?;
            let mut used = Vec::new();
            affine.visit_iters(&mut |iter| used.push(iter));
            let is = |iter: IterId| used.contains(&iter);
            let offset = |iter: IterId| affine.sub(&Affine::iter(iter))?.as_constant();
            match (is(along), is(across)) {
                (true, false) if !known.0 => (seen.along, known.0) = (direction * offset(along)?, true),
                (false, true) if !known.1 => (seen.across, known.1) = (offset(across)?, true),
                (false, false) => seen.rest.push((dimension, affine.clone())),
                _ => return None,
            }
        }
        // A cell that several instances write has no constant distance.
        (known == (true, true)).then_some(seen)
    }

    /// Whether statements that have no lanes wait along the rows, and walk closely there.
    fn gains(&self, scop: &Scop, inside: &[Branch], (is_inner, in_lanes): (bool, &dyn Fn(&Branch) -> bool)) -> bool {
        let (mut near, mut near_across, mut waits) = (0, 0, false);
        for ((branch, expr), across) in inside.iter().zip(&self.along.1).zip(&self.across) {
            let statement = scop.at(branch.statement);
            let Some((along, direction)) = single(expr) else { return false };
            if in_lanes(branch) {
                continue;
            }
            let walk = Walk::stepping(along, direction);
            near += walk.kinds_of_steps(statement, &[]).near;
            near_across += Walk::along(*across).kinds_of_steps(statement, &[]).near;
            waits |= walk.chain(statement) > 0;
        }
        waits && (is_inner || near >= near_across)
    }

    fn interleave(&self, loops: &mut Vec<Loop>, branches: &mut [Branch]) -> Option<()> {
        let mut fresh = |kind: LoopKind| {
            loops.push(Loop { kind, ..Loop::named("rows") });
            LoopId(loops.len() as u32 - 1)
        };
        let [waves, tile, step, tiles] = [(); 4].map(|()| fresh(LoopKind::Serial));
        let along = fresh(LoopKind::Serial);
        let several = self.group.len() > 1;
        for (number, branch) in branches[self.group.clone()].iter_mut().enumerate() {
            let row = Affine::iter(self.across[number]);
            let on = self.along.1[number].add_scaled(&row, self.behind)?;
            branch.entries.truncate(self.level);
            if let Some(Sweeps { time, lean }) = &self.sweeps {
                let time = Affine::iter(*time);
                let leaning = row.add_scaled(&time, *lean)?;
                branch.entries.pop();
                branch.entries.push(Entry::Loop(waves, leaning.div(TILE)?.add(&time)?));
                branch.entries.push(Entry::Loop(tile, leaning.div(TILE)?));
                branch.entries.push(Entry::Loop(tiles, leaning.div(ROWS)?));
                // A tile is of one step.
                branch.entries.push(Entry::Loop(step, time));
            } else {
                branch.entries.push(Entry::Loop(tiles, row.div(ROWS)?));
            }
            branch.entries.push(Entry::Loop(along, on));
            branch.entries.extend(several.then_some(Entry::Place(number as i64)));
            branch.entries.push(Entry::Loop(fresh(LoopKind::Unrolled), row));
        }
        Some(())
    }
}

/// A cell as seen from a row and a place on it.
struct Seen {
    across: i64,
    along: i64,
    rest: Vec<(usize, Affine)>,
}

/// The iterator that a loop counts up or down.
fn single(expr: &Affine) -> Option<(IterId, i64)> {
    let mut found = None;
    expr.visit_iters(&mut |iter| found = Some(iter));
    let iter = found?;
    let direction = [1, -1]
        .into_iter()
        .find(|by| expr.add_scaled(&Affine::iter(iter), -by).is_some_and(|rest| rest.as_constant() == Some(0)))?;
    Some((iter, direction))
}
