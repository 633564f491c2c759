//! The dependences of equations: each cell has one definition, so each read has one source, wherever both stand.

use isl::{Map, UnionMap};
use program::ArrayId;

use super::{definitions, place};
use crate::fault::Attempt;
use crate::scop::{Access, Scop, Statement, StatementKind};

/// Where the reads of equation arrays find their values.
pub(crate) struct Sources {
    /// `{ source -> [sink -> cell] }`
    pub(crate) flow: UnionMap,
    /// Reads of cells that no clause defines, as `{ instance -> cell }`.
    pub(crate) without_source: UnionMap,
}

/// Connects every read of an equation array with the definition of the cell, and the parts of a reduction that
/// accumulates in such an array with each other.
pub(crate) fn sources(scop: &Scop) -> Attempt<Sources> {
    let mut found = Sources { flow: scop.nothing()?, without_source: scop.nothing()? };
    for system in &scop.equations.systems {
        let first = system.clauses.first().copied().unwrap_or(0);
        for array in &system.arrays {
            for statement in &scop.statements {
                for read in statement.reads.iter().filter(|read| read.array == *array) {
                    if is_own_accumulator(scop, statement, *array) {
                        accumulate(scop, statement, read, &mut found)?;
                    } else if place(statement) < first {
                        found.without_source = found.without_source.add_map(read.map.clone())?;
                    } else {
                        define(scop, read, &mut found)?;
                    }
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
fn accumulate(scop: &Scop, statement: &Statement, read: &Access, found: &mut Sources) -> Attempt<()> {
    let comes_before = |part: &Statement| match part.kind {
        StatementKind::Init(_) => true,
        StatementKind::Update(_) => statement.kind == StatementKind::Fini,
        StatementKind::Assign | StatementKind::Fini => false,
    };
    for part in parts(scop, statement).filter(|part| comes_before(part)) {
        found.flow = found.flow.clone().add_map(connect(part, read)?)?;
    }
    Ok(())
}

fn define(scop: &Scop, read: &Access, found: &mut Sources) -> Attempt<()> {
    let mut missing = read.map.clone();
    for definition in definitions(scop, read.array) {
        found.flow = found.flow.clone().add_map(connect(definition, read)?)?;
        missing = missing.subtract_range(definition.write.map.clone().range()?)?;
    }
    found.without_source = found.without_source.clone().add_map(missing)?;
    Ok(())
}

/// `{ writer -> [reader -> cell] }`
fn connect(writer: &Statement, read: &Access) -> Attempt<Map> {
    let cells = Map::identity(read.map.get_space()?.range()?.map_from_set()?)?;
    let readers = read.map.clone().reverse()?.range_product(cells)?;
    Ok(writer.write.map.clone().apply_range(readers)?)
}
