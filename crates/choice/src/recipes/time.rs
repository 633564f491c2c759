//! Tiles in time: sweeps over arrays that are repeated step after step, as those of a stencil.
//!
//! Each step reads what the one before it wrote, so arrays that are larger than a cache are fetched anew in every step. Run in tiles of several
//! steps and a part of the cells each, they are fetched once per tile. A tile leans by as many cells per step as values travel
//! in one, and statements that read ahead follow at a distance; both are found from the constant distances between accesses.
//! Since values then travel from a tile only to later steps and to later rows, tiles that lie on a diagonal of the two have nothing to do
//! with each other: the outermost loop counts these waves, and the next one the tiles of a wave, which threads share.
//! The innermost loops stay apart, one per statement, so that lanes run along them.
//! Not here: sweeps whose steps are ordered in themselves (`interleave`).

use poly::{Access, Branch, Entry, Loop, LoopId, Scop, StatementKind, Tree};
use program::{Affine, ArrayId, IterId, Subscript};

use crate::machine::Machine;

/// Steps in a tile, at most and at least.
const STEPS: (i64, i64) = (4, 16);
/// Cells of a row in a tile, at most: enough for long vectors, little enough for many rows.
const ROW: i64 = 512;

/// The sweeps of one loop over time.
struct Sweeps {
    /// The level of that loop.
    level: usize,
    sweeps: Vec<Sweep>,
}

/// One statement of a step.
struct Sweep {
    /// The number of its branch.
    branch: usize,
    /// The cell that an instance writes, time left aside.
    at: Vec<Affine>,
    /// The accesses to what is written in a step, by how far they are from that cell.
    touches: Vec<Touch>,
    /// By how much it is behind the others, along each dimension.
    behind: Vec<i64>,
}

struct Touch {
    array: ArrayId,
    writes: bool,
    offsets: Vec<i64>,
}

/// The tree in which sweeps of `tree` that are repeated over time run in tiles, and the numbers of the branches that do; none if there are none.
pub(crate) fn tiles(scop: &Scop, tree: &Tree, machine: &Machine) -> Option<(Tree, Vec<usize>)> {
    let (mut loops, mut branches) = (tree.table(), tree.branches());
    let mut tiled = Vec::new();
    let mut start = 0;
    while start < branches.len() {
        let end = start + steps_together(&branches[start..]);
        if let Some(sweeps) = recognise(scop, &branches, start..end) {
            tiled.extend(start..end);
            sweeps.tile(scop, &mut loops, &mut branches, machine)?;
        }
        start = end;
    }
    (!tiled.is_empty()).then(|| (Tree::grow(loops, branches), tiled))
}

/// How many branches, from the first on, share its outermost loop.
fn steps_together(branches: &[Branch]) -> usize {
    let Some((level, ..)) = branches[0].loops().next() else { return 1 };
    branches.iter().take_while(|branch| branch.shared_with(&branches[0]) > level).count()
}

fn recognise(scop: &Scop, branches: &[Branch], group: std::ops::Range<usize>) -> Option<Sweeps> {
    let (level, ..) = branches[group.start].loops().next()?;
    let all: Vec<&poly::Statement> = group.clone().map(|number| scop.at(branches[number].statement)).collect();
    let written: Vec<ArrayId> = all.iter().map(|statement| statement.write.array).collect();
    let mut sweeps = Vec::new();
    for (statement, number) in all.iter().zip(group) {
        let plain = statement.kind == StatementKind::Assign && statement.block.is_none();
        let branch = &branches[number];
        if !plain || statement.ordered != 1 || branch.entries[level].as_loop()?.1.as_iter() != Some(statement.iters[0])
        {
            return None;
        }
        // Inside of the loop over time, loops that count one index each.
        let free = &statement.iters[1..];
        let counts = |entry: &Entry| match entry {
            Entry::Place(_) => true,
            Entry::Loop(_, expr) => expr.as_iter().is_some_and(|iter| free.contains(&iter)),
            Entry::Free(_) | Entry::Only(_) => false,
        };
        if !branch.entries[level + 1..].iter().all(counts) {
            return None;
        }
        let own = statement.iters[0];
        let at = place(&statement.write, own)?;
        let on_one = |affine: &Affine| {
            let mut used = Vec::new();
            affine.visit_iters(&mut |iter| used.push(iter));
            match used.as_slice() {
                [] => Some(None),
                [iter] if affine.sub(&Affine::iter(*iter))?.is_invariant() => Some(Some(*iter)),
                _ => None,
            }
        };
        let mut along: Vec<IterId> = at.iter().map(on_one).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
        along.sort_unstable_by_key(|iter| iter.index());
        along.dedup();
        // Rows and columns at least, and every index of the statement is one of them.
        if at.len() < 2 || along.len() != free.len() {
            return None;
        }
        let mut touches = Vec::new();
        let accesses =
            std::iter::once((&statement.write, true)).chain(statement.reads.iter().map(|read| (read, false)));
        for (access, writes) in accesses.filter(|(access, _)| written.contains(&access.array)) {
            let cell = place(access, own)?;
            if cell.len() != at.len() {
                return None;
            }
            let offset = |(cell, at): (&Affine, &Affine)| cell.sub(at)?.as_constant();
            let offsets = cell.iter().zip(&at).map(offset).collect::<Option<Vec<i64>>>()?;
            touches.push(Touch { array: access.array, writes, offsets });
        }
        sweeps.push(Sweep { branch: number, at, touches, behind: Vec::new() });
    }
    let rank = sweeps.first()?.at.len();
    let reads = sweeps.iter().any(|sweep| sweep.touches.iter().any(|touch| !touch.writes));
    (reads && sweeps.iter().all(|sweep| sweep.at.len() == rank)).then_some(Sweeps { level, sweeps })
}

/// The cell of an access, without the subscripts that are a matter of time.
fn place(access: &Access, time: IterId) -> Option<Vec<Affine>> {
    let mut place = Vec::new();
    for subscript in &access.index {
        let Subscript::Affine(affine) = subscript else { return None };
        if affine.sub(&Affine::iter(time))?.as_constant().is_none() {
            place.push(affine.clone());
        }
    }
    Some(place)
}

impl Sweep {
    /// How far another sweep must be behind this one along a dimension, each counted from where it is itself, so that no cell that both
    /// touch is touched too soon; none if they share no cell that one of them writes.
    fn lead(&self, other: &Sweep, dimension: usize) -> Option<i64> {
        let pairs = self.touches.iter().flat_map(|one| other.touches.iter().map(move |two| (one, two)));
        let meeting = pairs.filter(|(one, two)| one.array == two.array && (one.writes || two.writes));
        meeting.map(|(one, two)| two.offsets[dimension] - one.offsets[dimension]).max()
    }
}

impl Sweeps {
    fn tile(mut self, scop: &Scop, loops: &mut Vec<Loop>, branches: &mut [Branch], machine: &Machine) -> Option<()> {
        let rank = self.sweeps[0].at.len();
        // Within a step, what comes later stays behind what it meets.
        for number in 0..self.sweeps.len() {
            let earlier = |dimension: usize| {
                let leads = self.sweeps[..number].iter();
                leads
                    .filter_map(|sweep| Some(sweep.behind[dimension] + sweep.lead(&self.sweeps[number], dimension)?))
                    .max()
            };
            let behind = (0..rank).map(|dimension| earlier(dimension).unwrap_or(0).max(0)).collect();
            self.sweeps[number].behind = behind;
        }
        // From one step to the next, all stay behind all.
        let lean: Vec<i64> = (0..rank)
            .map(|dimension| {
                let pairs = self.sweeps.iter().flat_map(|one| self.sweeps.iter().map(move |two| (one, two)));
                let leads = pairs.filter_map(|(one, two)| {
                    Some(one.behind[dimension] - two.behind[dimension] + one.lead(two, dimension)?)
                });
                leads.max().unwrap_or(0).max(0)
            })
            .collect();
        let (steps, sizes) = self.sizes(scop, branches, &lean, machine);
        let mut fresh = |name: &str| {
            loops.push(Loop::named(name));
            LoopId(loops.len() as u32 - 1)
        };
        let waves = fresh("wave");
        let tiles: Vec<LoopId> = (0..rank).map(|_| fresh("tile")).collect();
        let step = fresh("step");
        let rows: Vec<LoopId> = (0..rank - 1).map(|_| fresh("row")).collect();
        for (order, sweep) in self.sweeps.iter().enumerate() {
            let branch = &mut branches[sweep.branch];
            let time = Affine::iter(scop.at(branch.statement).iters[0]);
            let leaning = |dimension: usize| {
                let at = sweep.at[dimension].add_scaled(&time, lean[dimension])?;
                at.add(&Affine::constant(sweep.behind[dimension]))
            };
            let last = Entry::Place(order as i64);
            let along = sweep.at[rank - 1].clone();
            let inner = branch.entries.iter().rfind(|entry| {
                let iter = entry.as_loop().and_then(|(_, expr)| expr.as_iter());
                iter.is_some_and(|iter| along.terms.contains_key(&program::Atom::Iter(iter)))
            });
            let inner = inner.cloned();
            branch.entries.truncate(self.level);
            let wave = time.div(steps)?.add(&leaning(0)?.div(sizes[0])?)?;
            branch.entries.push(Entry::Loop(waves, wave));
            for dimension in 0..rank {
                branch.entries.push(Entry::Loop(tiles[dimension], leaning(dimension)?.div(sizes[dimension])?));
            }
            branch.entries.push(Entry::Loop(step, time.clone()));
            for (dimension, row) in rows.iter().enumerate() {
                branch.entries.push(Entry::Loop(*row, leaning(dimension)?));
            }
            branch.entries.push(last);
            branch.entries.extend(inner);
        }
        Some(())
    }

    /// How many steps a tile has, and how many cells along each dimension. What it touches, with what leans over, is half of the second
    /// cache; where tiles lean in two dimensions or more, that would be too little for more than a few steps, and it is a core's share of the last one. Rows are taken to be
    /// half as long there.
    fn sizes(&self, scop: &Scop, branches: &[Branch], lean: &[i64], machine: &Machine) -> (i64, Vec<i64>) {
        let mut arrays: Vec<ArrayId> = Vec::new();
        for sweep in &self.sweeps {
            let statement = scop.at(branches[sweep.branch].statement);
            for access in std::iter::once(&statement.write).chain(&statement.reads) {
                if access.index.len() >= sweep.at.len() && !arrays.contains(&access.array) {
                    arrays.push(access.array);
                }
            }
        }
        let bytes: i64 = arrays.iter().map(|array| scop.array(*array).ty.bytes() as i64).sum();
        let outer = &lean[..lean.len() - 1];
        let (cache, row) = match outer.len() {
            0 | 1 => (machine.l2 / 2, ROW),
            _ => ((machine.l3 / u64::from(machine.cores.max(1))).max(machine.l2 / 2), ROW / 2),
        };
        let rows = (i64::try_from(cache).unwrap_or(i64::MAX) / (bytes.max(1) * row)).max(1);
        // Rows are shared out evenly among the dimensions that are not the last; half of them lean over.
        let each = nth_root(rows, outer.len());
        let steepest = outer.iter().copied().max().unwrap_or(0).max(1);
        let steps = (each / (2 * steepest)).clamp(STEPS.0, STEPS.1);
        let size = |lean: &i64| (each - lean * steps).max(2 * STEPS.0);
        (steps, outer.iter().map(size).chain([ROW]).collect())
    }
}

/// The largest power of two whose n-th power is not above a number.
fn nth_root(number: i64, n: usize) -> i64 {
    let mut root: i64 = 1;
    while (2 * root).checked_pow(n as u32).is_some_and(|power| power <= number) {
        root *= 2;
    }
    root
}
