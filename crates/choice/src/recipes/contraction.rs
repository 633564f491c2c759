//! Contractions: sums of products whose operands each miss an index of the result.
//!
//! Such a sum reads every operand many times over. Run in tiles, with the tiles' operands packed in the order in which they are read and a tile
//! of results in registers, it is bound by multiply-adds and by nothing else. Found from the accesses alone: one operand moves with the
//! columns of the result and not with its rows, another with the rows and not with the columns, and all of them with the terms.

use std::rc::Rc;

use poly::{Access, Branch, Entry, LoopId, Scop, Statement, StatementKind, Tree};
use program::{Affine, BinaryOp, Expr, ExprKind, IterId, ReduceOp};
use steps::{Loops, Place, Step, Verb, Word};

use super::{Plan, vector};
use crate::machine::Machine;

/// So many registers side by side hold a row of the tile.
const ABREAST: u32 = 2;
/// The same where what is broadcast along a row is computed first: it serves more of them.
const ABREAST_COMPUTED: u32 = 4;

/// A sum that is one.
#[derive(Clone, Debug)]
pub(crate) struct Contraction {
    /// The statement that adds a term, by its name: packing numbers statements anew.
    pub(crate) statement: String,
    /// The index of the result that becomes lanes.
    columns: IterId,
    /// The index of the result that is unrolled.
    rows: IterId,
    /// The index that is summed over.
    terms: IterId,
    /// Other indices of the result, outside of everything.
    batch: Vec<IterId>,
    /// Registers side by side.
    abreast: u32,
}

/// A tree in which every contraction of `tree` has loops of its own, with its batches outside, and what they are; none if there is no
/// contraction in it.
pub(crate) fn set_apart(scop: &Scop, tree: &Tree) -> Option<(Tree, Vec<Contraction>)> {
    let (loops, mut branches) = (tree.table(), tree.branches());
    let mut found = Vec::new();
    for number in 0..branches.len() {
        let own = branches[number].clone();
        let Some((contraction, level)) = recognise(scop, &own) else { continue };
        // What shares its loops comes before it or after it, as a whole.
        for (other, branch) in branches.iter_mut().enumerate() {
            if branch.shared_with(&own) > level {
                branch.entries.insert(level, Entry::Place(1 + other.cmp(&number) as i64));
            }
        }
        let counting = |iter: IterId| {
            own.loops().find(|(_, _, expr)| expr.as_iter() == Some(iter)).map(|(level, ..)| own.entries[level].clone())
        };
        let order = contraction.batch.iter().copied().chain([contraction.columns, contraction.terms, contraction.rows]);
        let entries = &mut branches[number].entries;
        entries.truncate(level + 1);
        entries.extend(order.filter_map(counting));
        found.push(contraction);
    }
    if found.is_empty() { None } else { Some((Tree::grow(loops, branches), found)) }
}

/// The contraction that a statement is, and the level of the outermost of its own loops.
fn recognise(scop: &Scop, branch: &Branch) -> Option<(Contraction, usize)> {
    let statement = scop.at(branch.statement);
    let sums = matches!(statement.kind, StatementKind::Update(ReduceOp::Sum)) && !statement.scatters();
    if !sums || !vector::has_lanes(statement) {
        return None;
    }
    let (kept, reduced) = statement.iters[statement.ordered..].split_at(statement.kept - statement.ordered);
    let [terms] = reduced else { return None };
    // All its indices have a loop of their own, around nothing but what belongs to the same assignment.
    let level = own_loops(statement, branch)?;
    let columns = statement.write.index.last()?.as_affine()?.as_iter().filter(|iter| kept.contains(iter))?;
    let operands: Vec<&Access> = statement.reads.iter().filter(|read| read.array != statement.write.array).collect();
    if operands.len() + 1 != statement.reads.len() {
        return None;
    }
    let moves =
        |access: &Access, iter: IterId| access.index.iter().any(|subscript| mentions(subscript.as_affine(), iter));
    // One operand for each index; a sum of several products would need the registers of all of them.
    let only = |iter: IterId| {
        let mut moving = operands.iter().enumerate().filter(|(_, read)| moves(read, iter));
        let (number, read) = moving.next().filter(|_| moving.next().is_none())?;
        (moves(read, *terms) && can_be_packed(read, iter)).then_some(number)
    };
    let is_row = |row: &IterId| {
        *row != columns && only(*row).is_some() && only(columns).is_some() && only(*row) != only(columns)
    };
    let rows = kept.iter().rev().copied().find(is_row)?;
    let batch = kept.iter().copied().filter(|iter| *iter != rows && *iter != columns).collect();
    // A product of two cells, or one with more to it.
    let plain = statement.term().is_ok_and(
        |term| matches!(&term.kind, ExprKind::Binary(BinaryOp::Mul, one, two) if is_load(one) && is_load(two)),
    );
    let abreast = if plain { ABREAST } else { ABREAST_COMPUTED };
    let statement = statement.name.clone();
    Some((Contraction { statement, columns, rows, terms: *terms, batch, abreast }, level))
}

/// The level from which on a branch has nothing but places and loops that count one index each, all indices of its forall and its sum among them.
fn own_loops(statement: &Statement, branch: &Branch) -> Option<usize> {
    let free = &statement.iters[statement.ordered..];
    let counts =
        |entry: &Entry| entry.as_loop().and_then(|(_, expr)| expr.as_iter()).is_some_and(|iter| free.contains(&iter));
    let level = branch.entries.iter().position(counts)?;
    let inner = &branch.entries[level..];
    let plain = inner.iter().all(|entry| counts(entry) || matches!(entry, Entry::Place(_)));
    let loops = inner.iter().filter(|entry| entry.as_loop().is_some()).count();
    (plain && loops == free.len()).then_some(level)
}

fn mentions(affine: Option<&Affine>, iter: IterId) -> bool {
    let mut found = affine.is_none();
    if let Some(affine) = affine {
        affine.visit_iters(&mut |used| found |= used == iter);
    }
    found
}

fn is_load(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Load { .. })
}

/// Whether panels along an index are panels along a subscript.
fn can_be_packed(read: &Access, iter: IterId) -> bool {
    let along: Vec<Option<&Affine>> = read.index.iter().map(|subscript| subscript.as_affine()).collect();
    let with = along.iter().filter(|affine| mentions(**affine, iter)).count();
    with == 1 && along.iter().any(|affine| affine.and_then(Affine::as_iter) == Some(iter))
}

/// How large the tiles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tiles {
    /// Of the tile in registers.
    lanes: u32,
    rows: i64,
    registers: i64,
    /// Of the packed operands.
    columns_packed: i64,
    terms_packed: i64,
    rows_packed: i64,
}

impl Tiles {
    /// For numbers of so many bytes: three quarters of the registers hold results, the packed rows half of the second cache and more, the
    /// packed columns a part of the last one.
    fn new(machine: &Machine, bytes: u32, abreast: u32) -> Tiles {
        let lanes = machine.lanes(bytes) * abreast;
        let rows = i64::from((machine.vector_registers * 3 / 4 / abreast).max(1));
        let registers = rows * i64::from(abreast);
        let bytes = i64::from(bytes);
        let terms_packed = if machine.l2 >= 1 << 20 { 512 } else { 256 };
        let below = |limit: i64, step: i64| (limit / step).max(1) * step;
        let rows_packed = below((machine.l2 as i64 * 3 / 4) / (terms_packed * bytes), rows);
        let columns_packed = below(((machine.l3 as i64 / 8) / (terms_packed * bytes)).min(2048), i64::from(lanes));
        Tiles { lanes, rows, registers, columns_packed, terms_packed, rows_packed }
    }
}

impl Tiles {
    fn why(&self) -> String {
        format!("{} results at a time in {} registers", self.rows * i64::from(self.lanes), self.registers)
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
    fn tile(&self, plan: &mut Plan, machine: &Machine) -> diag::Result<bool> {
        let subject = Rc::clone(&plan.state.subject);
        let (scop, name) = (&subject.scop, &self.statement);
        let Some(statement) = scop.statement(name) else { return Ok(false) };
        let tiles = Tiles::new(machine, vector::widest(scop, &[statement]), self.abreast);
        let called = |iter: IterId| scop.function.iter(iter).name.clone();
        let (columns, rows, terms) = (called(self.columns), called(self.rows), called(self.terms));
        let over = |loops: &[&str]| Loops::of(name.clone(), loops.iter().map(|name| (*name).to_string()));
        let fresh = |plan: &Plan, name: &str| Word::new(plan.fresh(name));
        let (jt, kt, it) = (format!("{columns}t"), format!("{terms}t"), format!("{rows}t"));
        let (jt, kt, it) = (fresh(plan, &jt), fresh(plan, &kt), fresh(plan, &it));
        let caches = Verb::Tile {
            loops: over(&[&columns, &terms, &rows]),
            sizes: vec![tiles.columns_packed, tiles.terms_packed, tiles.rows_packed],
            names: vec![jt, kt.clone(), it.clone()],
        };
        let (jr, ir) = (fresh(plan, &format!("{columns}r")), fresh(plan, &format!("{rows}r")));
        let registers = Verb::Tile {
            loops: over(&[&columns, &rows]),
            sizes: vec![i64::from(tiles.lanes), tiles.rows],
            names: vec![jr, ir],
        };
        let steps = [(caches, "what a tile reads stays in the caches".to_string()), (registers, tiles.why())];
        for (verb, why) in steps {
            if !plan.take(Step::new(verb), why)? {
                return Ok(false);
            }
        }
        let operands = [(self.columns, i64::from(tiles.lanes), kt), (self.rows, tiles.rows, it)];
        for (iter, panel, at) in operands {
            for read in
                statement.reads.iter().filter(|read| read.array != statement.write.array && can_be_packed(read, iter))
            {
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
fn shared(scop: &Scop, reader: &str, read: &Access) -> Option<Vec<Word>> {
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
