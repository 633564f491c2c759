//! The dependences of equations: each cell has one definition, so each read has one source, wherever both stand.
//!
//! Inside `for` loops that holds for each iteration. The cells are used again in the next one, which may not overwrite
//! them before everything in this one has read them.

use isl::{Dim, Map, UnionMap};
use program::{ArrayId, System};

use super::{definitions, place};
use crate::fault::Attempt;
use crate::scop::{Access, Scop, Statement, StatementKind};

/// Where the reads of equation arrays find their values.
pub(crate) struct Sources {
    /// `{ source -> [sink -> cell] }`
    pub(crate) flow: UnionMap,
    /// From every access to every later iteration's write of the cell, likewise.
    pub(crate) anti: UnionMap,
    pub(crate) output: UnionMap,
    /// Reads of cells that no clause defines, as `{ instance -> cell }`.
    pub(crate) without_source: UnionMap,
}

/// Connects every read of an equation array with the definition of the cell, and the parts of a reduction that
/// accumulates in such an array with each other.
pub(crate) fn sources(scop: &Scop) -> Attempt<Sources> {
    let mut found = Sources {
        flow: scop.nothing()?,
        anti: scop.nothing()?,
        output: scop.nothing()?,
        without_source: scop.nothing()?,
    };
    for system in &scop.equations.systems {
        let first = system.clauses.first().copied().unwrap_or(0);
        for array in &system.arrays {
            for statement in &scop.statements {
                for read in statement.reads.iter().filter(|read| read.array == *array) {
                    if is_own_accumulator(scop, statement, *array) {
                        accumulate(scop, system, statement, read, &mut found)?;
                    } else if place(statement, system) < Some(first) {
                        found.without_source = found.without_source.add_map(read.map.clone())?;
                    } else {
                        define(scop, system, read, &mut found)?;
                    }
                    found.anti = found.anti.union(overwritten(scop, system, statement, read)?)?;
                }
                if statement.write.array == *array {
                    found.output = found.output.union(overwritten(scop, system, statement, &statement.write)?)?;
                }
            }
        }
    }
    Ok(found)
}

/// The parts of the clause that a statement belongs to, of the array that it writes.
fn parts<'a>(scop: &'a Scop, statement: &'a Statement) -> impl Iterator<Item = &'a Statement> {
    let same = |other: &&Statement| other.source == statement.source && other.write.array == statement.write.array;
    scop.statements.iter().filter(same)
}

/// Whether a statement reads `array` only because its reduction accumulates there.
pub(super) fn is_own_accumulator(scop: &Scop, statement: &Statement, array: ArrayId) -> bool {
    let init = |part: &Statement| matches!(part.kind, StatementKind::Init(_));
    statement.write.array == array && parts(scop, statement).any(init)
}

/// An update finds what its init left, a fini what the init and the updates left.
fn accumulate(scop: &Scop, system: &System, statement: &Statement, read: &Access, found: &mut Sources) -> Attempt<()> {
    let comes_before = |part: &Statement| match part.kind {
        StatementKind::Init(_) => true,
        StatementKind::Update(_) => statement.kind == StatementKind::Fini,
        StatementKind::Assign | StatementKind::Fini => false,
    };
    for part in parts(scop, statement).filter(|part| comes_before(part)) {
        let pairs = in_one_iteration(connect(&part.write, read)?, system.block.len())?;
        found.flow = found.flow.clone().add_map(pairs)?;
    }
    Ok(())
}

fn define(scop: &Scop, system: &System, read: &Access, found: &mut Sources) -> Attempt<()> {
    let mut missing = read.map.clone();
    for definition in definitions(scop, read.array) {
        let pairs = in_one_iteration(connect(&definition.write, read)?, system.block.len())?;
        missing = missing.subtract(pairs.clone().range()?.unwrap()?)?;
        found.flow = found.flow.clone().add_map(pairs)?;
    }
    found.without_source = found.without_source.clone().add_map(missing)?;
    Ok(())
}

/// `{ one -> [other -> cell] }` for the instances of two accesses that meet in a cell.
pub(super) fn connect(one: &Access, other: &Access) -> Attempt<Map> {
    let cells = Map::identity(other.map.get_space()?.range()?.map_from_set()?)?;
    let others = other.map.clone().reverse()?.range_product(cells)?;
    Ok(one.map.clone().apply_range(others)?)
}

/// The pairs that are in one iteration of so many loops around them.
pub(super) fn in_one_iteration(mut pairs: Map, loops: usize) -> Attempt<Map> {
    for depth in 0..loops {
        pairs = pairs.equate(Dim::In, depth, Dim::Out, depth)?;
    }
    Ok(pairs)
}

/// From an access to the writes of its cell in later iterations of the loops around the system.
fn overwritten(scop: &Scop, system: &System, statement: &Statement, access: &Access) -> Attempt<UnionMap> {
    let mut later = scop.nothing()?;
    for writer in scop.statements.iter().filter(|writer| writer.write.array == access.array) {
        for depth in 0..system.block.len() {
            let together = in_one_iteration(connect(access, &writer.write)?, depth)?;
            let pairs = if counts_down(statement, depth) {
                together.order_gt(Dim::In, depth, Dim::Out, depth)?
            } else {
                together.order_lt(Dim::In, depth, Dim::Out, depth)?
            };
            later = later.add_map(pairs)?;
        }
    }
    Ok(later)
}

/// Whether the loop at a depth runs from its largest value to its smallest.
fn counts_down(statement: &Statement, depth: usize) -> bool {
    let counter = statement.time.iter().filter(|time| time.as_constant().is_none()).nth(depth);
    counter.is_some_and(|counter| counter.terms.values().any(|coefficient| *coefficient < 0))
}
