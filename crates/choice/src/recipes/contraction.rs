//! Contractions: sums of products whose operands each miss an index of the result.
//!
//! Such a sum reads every operand many times over. Run in tiles, with the tiles' operands packed in the order in which they are read and a tile
//! of results in registers, it is bound by multiply-adds and by nothing else. Found from the accesses alone: some operands move with the
//! columns of the result and not with its rows, others with the rows and not with the columns, and all of them with the terms. A sum of two
//! products has two of each.

use std::rc::Rc;

use poly::{Access, Branch, Entry, LoopId, Scop, Statement, StatementKind, Tree};
use program::{Affine, IterId, ReduceOp};
use steps::{Loops, Place, Step, Verb, Word};

use super::{Plan, vector};
use crate::machine::Machine;

/// So many registers side by side hold a row of the tile, at most: what is broadcast along a row serves all of them, and whole lines are read of the rows
/// of an operand that is not packed.
const ABREAST: u32 = 4;
/// With fewer registers for each of those side by side, there would be too few rows, or none left for the operands.
const REGISTERS_FOR_EACH: u32 = 8;
/// The same where rows are those of images, of which few are much longer than that.
const ABREAST_IN_WINDOWS: u32 = 2;
/// The same for blocks along a diagonal: the wider a tile is, the more of it is beyond.
const ABREAST_IN_BLOCKS: u32 = 2;

/// More cells than so of one column are not read for one term: each row of them takes the registers of a row of results.
const MOST_ALONG_COLUMNS: usize = 2;

/// Why a loop is parallel.
const FREE: &str = "iterations have nothing to do with each other";

/// A sum that is one.
#[derive(Clone, Debug)]
pub(crate) struct Contraction {
    /// The statement that adds a term, by its name: packing numbers statements anew.
    pub(crate) statement: String,
    /// The index of the result that becomes lanes.
    pub(crate) columns: IterId,
    /// The index of the result that is unrolled.
    pub(crate) rows: IterId,
    /// The index that is summed over.
    pub(super) terms: IterId,
    /// Further ones, as of a convolution, inside of it; those of its window come first. What is read then overlaps, and is not packed.
    window: Vec<IterId>,
    /// Other indices of the result, outside of everything.
    pub(super) batch: Vec<IterId>,
    /// Registers side by side.
    abreast: u32,
    /// How many cells of a column are read for one term.
    pub(crate) along_columns: u32,
    /// How many terms there are at a time, if somebody has cut them into blocks.
    in_block: Option<i64>,
    /// Whether operands are read where they are if lanes allow it.
    streamed: bool,
}

/// How far out the loops of a contraction may be taken from what is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of its forall and its sum, whose order is free.
    Forall,
    /// Those of `for` loops as well, around nothing but one assignment: all its sums are made before any result. The gate has to say whether
    /// they may be.
    Nest,
}

/// A tree in which every contraction of `tree` has loops of its own, with its batches outside, and what they are; none if there is no
/// contraction in it, or none that needs this reach.
pub(crate) fn set_apart(scop: &Scop, tree: &Tree, reach: Reach) -> Option<(Tree, Vec<Contraction>)> {
    let (loops, mut branches) = (tree.table(), tree.branches());
    let mut found = Vec::new();
    let mut needed = reach == Reach::Forall;
    for number in 0..branches.len() {
        let own = branches[number].clone();
        let (source, ordered) = (&scop.at(own.statement).source, scop.at(own.statement).ordered);
        let alone = |level: usize| {
            let inside = branches.iter().filter(|branch| branch.shared_with(&own) > level);
            inside.into_iter().all(|branch| scop.at(branch.statement).source == *source)
        };
        let far = if reach == Reach::Nest && ordered > 0 { recognise(scop, &own, 0) } else { None };
        let far = far.filter(|(_, level)| alone(*level));
        needed |= far.is_some();
        let Some((contraction, level)) = far.or_else(|| recognise(scop, &own, ordered)) else { continue };
        // What shares its loops comes before it or after it, as a whole.
        for (other, branch) in branches.iter_mut().enumerate() {
            if branch.shared_with(&own) > level {
                branch.entries.insert(level, Entry::Place(1 + other.cmp(&number) as i64));
            }
        }
        let counting = |iter: IterId| {
            own.loops().find(|(_, _, expr)| expr.as_iter() == Some(iter)).map(|(level, ..)| own.entries[level].clone())
        };
        let order = contraction.batch.iter().copied().chain(contraction.order());
        let entries = &mut branches[number].entries;
        entries.truncate(level + 1);
        entries.extend(order.filter_map(counting));
        found.push(contraction);
    }
    if found.is_empty() || !needed { None } else { Some((Tree::grow(loops, branches), found)) }
}

/// The contraction that a statement is in its loops from the `outer`-th on, and the level of the outermost of them.
fn recognise(scop: &Scop, branch: &Branch, outer: usize) -> Option<(Contraction, usize)> {
    let statement = scop.at(branch.statement);
    if !statement.kind.is_update() || statement.scatters() {
        return None;
    }
    let own = &statement.iters[outer..];
    let (kept, reduced) = own.split_at(statement.kept - outer);
    // All its indices have a loop of their own, around nothing but what belongs to the same assignment.
    let level = own_loops(own, branch)?;
    Some((Contraction::of(statement, kept, reduced)?, level))
}

impl Contraction {
    /// The contraction that an update of a result with the indices `kept` is, which sums over `reduced`.
    pub(crate) fn of(statement: &Statement, kept: &[IterId], reduced: &[IterId]) -> Option<Contraction> {
        // Of a window, the terms that stand alone come last: along them, nothing that is read overlaps.
        let overlaps = |term: &IterId| {
            let subscripts = statement.reads.iter().flat_map(|read| &read.index);
            let alone = |affine: &Affine| affine.as_iter() == Some(*term) || !mentions(Some(affine), *term);
            !subscripts.into_iter().all(|subscript| subscript.as_affine().is_some_and(alone))
        };
        let (overlapping, alone): (Vec<IterId>, Vec<IterId>) = reduced.iter().copied().partition(overlaps);
        let ordered = [overlapping, alone].concat();
        let (terms, window) = ordered.split_first()?;
        let sums = matches!(statement.kind, StatementKind::Update(ReduceOp::Sum)) && !statement.scatters();
        if !sums || !vector::has_lanes(statement) {
            return None;
        }
        let columns = statement.write.index.last()?.as_affine()?.as_iter().filter(|iter| kept.contains(iter))?;
        let operands: Vec<&Access> =
            statement.reads.iter().filter(|read| read.array != statement.write.array).collect();
        if operands.len() + 1 != statement.reads.len() {
            return None;
        }
        let moves =
            |access: &Access, iter: IterId| access.index.iter().any(|subscript| mentions(subscript.as_affine(), iter));
        // The operands that move with an index, if they can all be read as tiles need it.
        let along = |iter: IterId| {
            let moving: Vec<&Access> = distinct(operands.iter().copied().filter(|read| moves(read, iter)));
            let fits = |read: &&Access| {
                let readable = match window {
                    [] => can_be_packed(read, iter),
                    _ => iter != columns || runs_along(read, iter),
                };
                readable && reduced.iter().any(|term| moves(read, *term))
            };
            // What a window reads is not packed, and is only known to be worth it for single products.
            let most = if window.is_empty() { MOST_ALONG_COLUMNS } else { 1 };
            ((1..=most).contains(&moving.len()) && moving.iter().all(fits)).then_some(moving)
        };
        let along_columns = along(columns)?;
        let is_row = |row: &IterId| {
            *row != columns && !along_columns.iter().any(|read| moves(read, *row)) && along(*row).is_some()
        };
        let rows = kept.iter().rev().copied().find(is_row)?;
        let batch = kept.iter().copied().filter(|iter| *iter != rows && *iter != columns).collect();
        let abreast = if window.is_empty() { ABREAST } else { ABREAST_IN_WINDOWS };
        let along_columns = along_columns.len() as u32;
        let statement = statement.name.clone();
        let (terms, window) = (*terms, window.to_vec());
        let (in_block, streamed) = (None, false);
        Some(Contraction { statement, columns, rows, terms, window, batch, abreast, along_columns, in_block, streamed })
    }

    /// How its loops nest before they are tiled.
    fn order(&self) -> Vec<IterId> {
        match self.window.as_slice() {
            [] => vec![self.columns, self.terms, self.rows],
            window => [self.columns, self.rows, self.terms].into_iter().chain(window.iter().copied()).collect(),
        }
    }

    /// The same as a part of a factorisation.
    pub(crate) fn along_diagonal(self) -> Contraction {
        Contraction { abreast: ABREAST_IN_BLOCKS, ..self }
    }

    /// The same of a statement that has some of the terms, few at a time.
    pub(crate) fn in_block(self, statement: String, terms: i64) -> Contraction {
        Contraction { statement, in_block: Some(terms), ..self }
    }

    pub(super) fn tiles(&self, machine: &Machine, bytes: u32, terms: Option<i64>) -> Tiles {
        Tiles::new(machine, bytes, (self.abreast, self.along_columns), terms)
    }

    /// The same with operands that are read where they are, if lanes allow it.
    pub(crate) fn streamed(&self) -> Contraction {
        Contraction { streamed: true, ..self.clone() }
    }

    /// Whether its operands may be read where they are: no window, whose operands always are, and no block of another nest.
    pub(crate) fn can_be_streamed(&self) -> bool {
        !self.is_window() && self.in_block.is_none() && self.along_columns == 1
    }

    /// Whether what is read for neighbouring terms overlaps.
    pub(crate) fn is_window(&self) -> bool {
        !self.window.is_empty()
    }

    /// The index that is summed over.
    pub(super) fn terms(&self) -> IterId {
        self.terms
    }

    /// Whether the result has no other indices than those of a matrix.
    pub(crate) fn is_flat(&self) -> bool {
        self.batch.is_empty()
    }

    /// Whether what moves with the columns lies side by side along them.
    pub(crate) fn runs_along_columns(&self, update: &Statement) -> bool {
        let last = |access: &Access| access.index.last().is_some_and(|last| mentions(last.as_affine(), self.columns));
        let moves = |access: &&Access| access.index.iter().any(|one| mentions(one.as_affine(), self.columns));
        update.reads.iter().filter(moves).all(last)
    }

    /// How many terms make a block: about so many, or what the cache holds, and such that whole tiles of registers divide them.
    pub(crate) fn block(&self, scop: &Scop, machine: &Machine, about: i64) -> i64 {
        let bytes = scop.statement(&self.statement).map_or(8, |statement| vector::widest(scop, &[statement]));
        let tiles = self.tiles(machine, bytes, None);
        let (lanes, mut step) = (i64::from(tiles.lanes), tiles.rows);
        while step % lanes != 0 {
            step += tiles.rows;
        }
        let about = about.min(tiles.terms_packed);
        (about + step - 1) / step * step
    }
}

/// The level from which on a branch has nothing but places and loops that count one index each, all of `free`.
fn own_loops(free: &[IterId], branch: &Branch) -> Option<usize> {
    let counts =
        |entry: &Entry| entry.as_loop().and_then(|(_, expr)| expr.as_iter()).is_some_and(|iter| free.contains(&iter));
    let level = branch.entries.iter().position(counts)?;
    let inner = &branch.entries[level..];
    let plain = inner.iter().all(|entry| counts(entry) || matches!(entry, Entry::Place(_)));
    let loops = inner.iter().filter(|entry| entry.as_loop().is_some()).count();
    (plain && loops == free.len()).then_some(level)
}

pub(super) fn mentions(affine: Option<&Affine>, iter: IterId) -> bool {
    let mut found = affine.is_none();
    if let Some(affine) = affine {
        affine.visit_iters(&mut |used| found |= used == iter);
    }
    found
}

/// The same cell read twice is one operand.
fn distinct<'a>(reads: impl Iterator<Item = &'a Access>) -> Vec<&'a Access> {
    let mut found: Vec<&Access> = Vec::new();
    for read in reads {
        if !found.iter().any(|known| known.array == read.array && known.index == read.index) {
            found.push(read);
        }
    }
    found
}

/// Whether what is read for neighbours of an index lies side by side.
pub(super) fn runs_along(read: &Access, iter: IterId) -> bool {
    let Some((last, outer)) = read.index.split_last() else { return false };
    let one_by_one = last.as_affine().is_some_and(|last| {
        let rest = last.sub(&Affine::iter(iter));
        rest.is_some_and(|rest| !mentions(Some(&rest), iter))
    });
    one_by_one && !outer.iter().any(|subscript| mentions(subscript.as_affine(), iter))
}

/// Whether panels along an index are panels along a subscript.
fn can_be_packed(read: &Access, iter: IterId) -> bool {
    let along: Vec<Option<&Affine>> = read.index.iter().map(|subscript| subscript.as_affine()).collect();
    let with = along.iter().filter(|affine| mentions(**affine, iter)).count();
    with == 1 && along.iter().any(|affine| affine.and_then(Affine::as_iter) == Some(iter))
}

/// How large the tiles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiles {
    /// Of the tile in registers.
    lanes: u32,
    rows: i64,
    registers: i64,
    /// Of the packed operands.
    columns_packed: i64,
    pub(super) terms_packed: i64,
    pub(super) rows_packed: i64,
}

impl Tiles {
    /// For numbers of so many bytes, and so many terms if that is settled: three quarters of the registers hold results, or fewer where more than one
    /// cell of a column is read for a term; the packed rows half of the second cache and more, the packed columns a part of the last one.
    fn new(machine: &Machine, bytes: u32, (abreast, along_columns): (u32, u32), terms: Option<i64>) -> Tiles {
        let abreast = abreast.min(machine.vector_registers / REGISTERS_FOR_EACH).max(1);
        let lanes = machine.lanes(bytes) * abreast;
        let results = (machine.vector_registers * 3 / 4).saturating_sub(along_columns.saturating_sub(1) * abreast);
        let rows = i64::from((results / abreast).max(1));
        let registers = rows * i64::from(abreast);
        let bytes = i64::from(bytes);
        let most = if machine.l2 >= 1 << 20 { 512 } else { 256 };
        let terms_packed = terms.unwrap_or((machine.l2 as i64 >> 10).clamp(4, most));
        let below = |limit: i64, step: i64| (limit / step).max(1) * step;
        let bytes = bytes * i64::from(along_columns);
        let rows_packed = below((machine.l2 as i64 * 3 / 4) / (terms_packed * bytes), rows);
        let columns_packed = below(((machine.l3 as i64 / 8) / (terms_packed * bytes)).min(2048), i64::from(lanes));
        Tiles { lanes, rows, registers, columns_packed, terms_packed, rows_packed }
    }
}

impl Tiles {
    fn why(&self) -> String {
        format!("{} results at a time in {} registers", self.rows * i64::from(self.lanes), self.registers)
    }

    /// The same with a power of two of rows. Images and filters have numbers of rows and channels that are multiples of one more often than of
    /// anything else, and a tile that is partly empty takes as long as a full one.
    fn with_even_rows(self) -> Tiles {
        let rows = 1 << self.rows.ilog2();
        Tiles { rows, registers: self.registers / self.rows * rows, ..self }
    }
}

/// Tiles, packs and register tiles for contractions, each in a nest of its own.
pub(crate) fn tile(plan: &mut Plan, contractions: &[Contraction], machine: &Machine) -> diag::Result<bool> {
    for contraction in contractions {
        if !contraction.tile(plan, machine)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Contraction {
    /// Tiles in registers alone: a window reads its operands over and over while they are in the caches anyway.
    fn tile_window(&self, plan: &mut Plan, machine: &Machine) -> diag::Result<bool> {
        let subject = Rc::clone(&plan.state.subject);
        let (scop, name) = (&subject.scop, &self.statement);
        let Some(statement) = scop.statement(name) else { return Ok(false) };
        let tiles = self.tiles(machine, vector::widest(scop, &[statement]), None).with_even_rows();
        let called = |iter: IterId| scop.function.iter(iter).name.clone();
        let (columns, rows) = (called(self.columns), called(self.rows));
        let over = |loops: &[String]| Loops::of(name.clone(), loops.iter().cloned());
        let fresh = |plan: &Plan, name: &str, kind: char| Word::new(plan.fresh(&format!("{name}{kind}")));
        let names = vec![fresh(plan, &columns, 'r'), fresh(plan, &rows, 'r')];
        let both = [columns.clone(), rows.clone()];
        let sizes = vec![i64::from(tiles.lanes), tiles.rows];
        let registers = Verb::Tile { loops: over(&both), sizes, names };
        let around = self.around_lanes(scop, statement)?;
        let terms = || std::iter::once(self.terms).chain(self.window.iter().copied());
        let inside = terms().filter(|term| !around.contains(term));
        let order: Vec<String> = if around.is_empty() {
            inside.chain([self.rows]).map(called).collect()
        } else {
            around.iter().copied().chain([self.columns]).chain(inside).chain([self.rows]).map(called).collect()
        };
        let why = if around.is_empty() {
            ""
        } else {
            "which columns there are depends on it; inside, sums stay in registers"
        };
        let order = Verb::Reorder { loops: over(&order) };
        let lanes = Some(fresh(plan, &columns, 'v'));
        let lanes = Verb::Vectorize { loops: over(&[columns]), lanes: tiles.lanes, name: lanes };
        let copies = Some(fresh(plan, &rows, 'u'));
        let unrolled = Verb::Unroll { loops: over(&[rows]), size: Some(tiles.rows), name: copies };
        let steps = [(registers, tiles.why()), (order, why.into()), (lanes, String::new()), (unrolled, String::new())];
        for (verb, why) in steps {
            if !plan.take(Step::new(verb), why)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The terms that decide which columns there are, as those of a window that reaches beyond a border: inside of lanes, every one of them would
    /// have a mask of its own, and sums under masks that change do not stay in registers.
    fn around_lanes(&self, scop: &Scop, statement: &Statement) -> diag::Result<Vec<IterId>> {
        if poly::is_box(scop, statement)? {
            return Ok(Vec::new());
        }
        let along = |term: &IterId| {
            let subscripts = statement.reads.iter().flat_map(|read| &read.index);
            subscripts.into_iter().any(|subscript| {
                let subscript = subscript.as_affine();
                mentions(subscript, *term) && mentions(subscript, self.columns)
            })
        };
        let terms = std::iter::once(self.terms).chain(self.window.iter().copied());
        Ok(terms.filter(along).collect())
    }

    fn tile(&self, plan: &mut Plan, machine: &Machine) -> diag::Result<bool> {
        if !self.window.is_empty() {
            return self.tile_window(plan, machine);
        }
        let subject = Rc::clone(&plan.state.subject);
        let (scop, name) = (&subject.scop, &self.statement);
        let Some(statement) = scop.statement(name) else { return Ok(false) };
        let tiles = self.tiles(machine, vector::widest(scop, &[statement]), self.in_block);
        let called = |iter: IterId| scop.function.iter(iter).name.clone();
        let (columns, rows, terms) = (called(self.columns), called(self.rows), called(self.terms));
        let over = |loops: &[&str]| Loops::of(name.clone(), loops.iter().map(|name| (*name).to_string()));
        let fresh = |plan: &Plan, name: &str| Word::new(plan.fresh(name));
        let (jt, kt, it) = (format!("{columns}t"), format!("{terms}t"), format!("{rows}t"));
        let (jt, kt, it) = (fresh(plan, &jt), fresh(plan, &kt), fresh(plan, &it));
        let caches = if self.in_block.is_some() {
            Verb::Tile {
                loops: over(&[&columns, &rows]),
                sizes: vec![tiles.columns_packed, tiles.rows_packed],
                names: vec![jt.clone(), it.clone()],
            }
        } else {
            Verb::Tile {
                loops: over(&[&columns, &terms, &rows]),
                sizes: vec![tiles.columns_packed, tiles.terms_packed, tiles.rows_packed],
                names: vec![jt.clone(), kt.clone(), it.clone()],
            }
        };
        let around_columns = if self.in_block.is_some() { jt } else { kt };
        let (jr, ir) = (fresh(plan, &format!("{columns}r")), fresh(plan, &format!("{rows}r")));
        let registers = Verb::Tile {
            loops: over(&[&columns, &rows]),
            sizes: vec![i64::from(tiles.lanes), tiles.rows],
            names: vec![jr.clone(), ir],
        };
        let steps = [(caches, "what a tile reads stays in the caches".to_string()), (registers, tiles.why())];
        for (verb, why) in steps {
            if !plan.take(Step::new(verb), why)? {
                return Ok(false);
            }
        }
        if !self.share(plan, [&it, &jr])? {
            return Ok(false);
        }
        let operands = [(self.columns, i64::from(tiles.lanes), around_columns), (self.rows, tiles.rows, it)];
        for (iter, panel, at) in operands {
            let reads = statement.reads.iter();
            for read in distinct(reads.filter(|read| read.array != statement.write.array && can_be_packed(read, iter)))
            {
                if self.streamed && (iter == self.rows || runs_along(read, iter)) {
                    continue;
                }
                if !pack(plan, name, read, (iter, panel), &at)? {
                    return Ok(false);
                }
            }
        }
        let exchange = Verb::Interchange { loops: over(&[&terms, &rows]) };
        let lanes = Some(fresh(plan, &format!("{columns}v")));
        let lanes = Verb::Vectorize { loops: over(&[&columns]), lanes: tiles.lanes, name: lanes };
        let copies = Some(fresh(plan, &format!("{rows}u")));
        let unrolled = Verb::Unroll { loops: over(&[&rows]), size: Some(tiles.rows), name: copies };
        for verb in [exchange, lanes, unrolled] {
            if !plan.take(Step::new(verb), "")? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Contraction {
    /// Makes parallel loops: of the batch, or else of blocks of rows, and, where these have no copies of their own, of the columns of each as well.
    fn share(&self, plan: &mut Plan, [blocks, panels]: [&Word; 2]) -> diag::Result<bool> {
        if !self.batch.is_empty() {
            return self.share_batch(plan);
        }
        let (loops, why) = match self.streamed {
            true => (vec![blocks, panels], FREE),
            false => (vec![blocks], "each has its own packed rows; all read the same columns"),
        };
        for name in loops {
            let over = Loops::of(self.statement.clone(), [name.text.clone()]);
            if !plan.take(Step::new(Verb::Parallel { loops: over }), why)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the loops over the batch parallel, with all that is in them; two of them at most, which become one.
    fn share_batch(&self, plan: &mut Plan) -> diag::Result<bool> {
        let subject = Rc::clone(&plan.state.subject);
        let scop = &subject.scop;
        for iter in self.batch.iter().take(2) {
            let tree = plan.state.tree.clone();
            let branches = tree.branches();
            let own = branches.iter().find(|branch| scop.at(branch.statement).name == self.statement);
            let counts = |(_, id, expr): (usize, LoopId, &Affine)| (expr.as_iter() == Some(*iter)).then_some(id);
            let Some(id) = own.and_then(|own| own.loops().find_map(counts)) else { return Ok(false) };
            // A product that shares the loop may have seen to it.
            if tree.info(id).kind.is_parallel() {
                continue;
            }
            let Some(targets) = vector::targets(scop, &tree, id) else { return Ok(false) };
            if !plan.take(Step::new(Verb::Parallel { loops: Loops { targets } }), FREE)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Packs what a read fetches, in panels along an index, and copies it in lanes or several rows at a time.
fn pack(plan: &mut Plan, reader: &str, read: &Access, (iter, panel): (IterId, i64), at: &Word) -> diag::Result<bool> {
    let subject = Rc::clone(&plan.state.subject);
    let array = &subject.scop.array(read.array).name;
    let along = |subscript: &program::Subscript| mentions(subscript.as_affine(), iter);
    let panels: Vec<i64> = read.index.iter().map(|subscript| if along(subscript) { panel } else { 1 }).collect();
    let place = Place { statement: Some(Word::new(reader)), at: at.clone() };
    let reads = shared(&subject.scop, reader, read);
    let verb = Verb::Pack { array: Word::new(array), reads, at: Some(place), panels, name: None };
    if !plan.take(Step::new(verb), "side by side, in the order in which they are read")? {
        return Ok(false);
    }
    let known = |name: &str| subject.scop.statement(name).is_some();
    let scop = &Rc::clone(&plan.state.subject).scop;
    let Some(copy) = scop.statements.iter().find(|statement| !known(&statement.name)) else { return Ok(false) };
    let own = &copy.iters[copy.iters.len() - read.index.len()..];
    let Some(position) = read.index.iter().position(along) else { return Ok(false) };
    let called = |position: usize| scop.function.iter(own[position]).name.clone();
    let over = |loops: Vec<String>| Loops::of(copy.name.clone(), loops);
    let last = own.len() - 1;
    let outside = |plan: &Plan, kind: char| Some(Word::new(plan.fresh(&format!("{}{kind}", called(position)))));
    let along = || over(vec![called(position)]);
    let steps = if position == last {
        vec![Verb::Vectorize { loops: along(), lanes: panel as u32, name: outside(plan, 'v') }]
    } else {
        vec![
            Verb::Strip { loops: along(), size: panel, name: outside(plan, 'p') },
            Verb::Interchange { loops: over(vec![called(position), called(last)]) },
            Verb::Unroll { loops: along(), size: Some(panel), name: outside(plan, 'u') },
        ]
    };
    for verb in steps {
        if !plan.take(Step::new(verb), "")? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Which reads of an array a pack is for, if the reader has several: by the indices that are its subscripts.
pub(super) fn shared(scop: &Scop, reader: &str, read: &Access) -> Option<Vec<Word>> {
    let others = scop.statement(reader)?.reads.iter().filter(|other| other.array == read.array).count();
    let name = |subscript: &program::Subscript| {
        let iter = subscript.as_affine().and_then(Affine::as_iter)?;
        Some(Word::new(scop.function.iter(iter).name.clone()))
    };
    if others > 1 { read.index.iter().map(name).collect() } else { None }
}

/// The loops of a tree around statements that are none of these.
pub(crate) fn others(scop: &Scop, tree: &Tree, loops: Vec<LoopId>, contractions: &[Contraction]) -> Vec<LoopId> {
    let branches = tree.branches();
    let is_contraction = |branch: &Branch| {
        contractions.iter().any(|contraction| contraction.statement == scop.at(branch.statement).name)
    };
    let is_other =
        |id: &LoopId| !branches.iter().any(|branch| branch.level_of(*id).is_some() && is_contraction(branch));
    loops.into_iter().filter(is_other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_leave_registers_for_operands_on_every_machine() {
        for (vector_registers, vector_bytes) in [(16, 16), (16, 32), (32, 64)] {
            let machine = Machine { vector_registers, vector_bytes, ..Machine::REFERENCE };
            for (bytes, abreast) in [(4, ABREAST), (8, ABREAST), (4, ABREAST_IN_WINDOWS)] {
                let tiles = Tiles::new(&machine, bytes, (abreast, 1), None);
                let of_a_row = i64::from(tiles.lanes / machine.lanes(bytes));
                // A row of the one operand, and an element of the other.
                assert!(tiles.registers + of_a_row < i64::from(vector_registers), "{}", tiles.why());
                assert!(tiles.rows >= 6, "{}", tiles.why());
            }
        }
    }
}
