//! Streamed: products whose operands are read where they are.
//!
//! In: the contractions of a program.  Out: the sizes at which copies of their operands cost more than they save.
//! Columns that are packed are read again by every block of rows: with one block there is nothing to gain, and neither is where all of them fit
//! into a cache as they are.

use poly::{Scop, Statement};
use program::{Affine, Atom, Cond, IterId};

use super::contraction::{Contraction, mentions, runs_along};
use super::vector;
use crate::machine::Machine;

/// At which sizes all of these are better off without copies; none if that is never so, or nobody knows.
pub(crate) fn sizes(scop: &Scop, contractions: &[Contraction], machine: &Machine) -> Option<Cond> {
    // Of columns that lanes cannot read where they are, copies are needed anyway.
    let gains = |found: &Contraction| {
        let update = scop.statement(&found.statement);
        found.can_be_streamed() && update.is_some_and(|update| in_lanes(found, update))
    };
    if !contractions.iter().any(gains) {
        return None;
    }
    let mut all: Vec<Cond> = Vec::new();
    for contraction in contractions {
        match of(scop, contraction, machine)? {
            holds if holds == Cond::TRUE => {}
            cond if all.contains(&cond) => {}
            cond => all.push(cond),
        }
    }
    Some(all.into_iter().reduce(Cond::and).unwrap_or(Cond::TRUE))
}

fn in_lanes(contraction: &Contraction, update: &Statement) -> bool {
    let moves = |read: &&poly::Access| read.index.iter().any(|one| mentions(one.as_affine(), contraction.columns));
    let operands = update.reads.iter().filter(|read| read.array != update.write.array);
    operands.filter(moves).all(|read| runs_along(read, contraction.columns))
}

/// The sizes for one of them.
fn of(scop: &Scop, contraction: &Contraction, machine: &Machine) -> Option<Cond> {
    if !contraction.can_be_streamed() {
        // Nothing of it is packed in any case, or all of it must be.
        return contraction.is_window().then_some(Cond::TRUE);
    }
    let update = scop.statement(&contraction.statement)?;
    let bytes = vector::widest(scop, &[update]);
    let tiles = contraction.tiles(machine, bytes, None);
    let columns = machine.l2 as i64 / (tiles.terms_packed * i64::from(bytes));
    let extents = [
        (contraction.rows, tiles.rows_packed),
        (contraction.columns, columns),
        (contraction.terms(), tiles.terms_packed),
    ];
    let mut conds = Vec::new();
    for (iter, most) in extents {
        conds.push(at_most(scop, &extent(scop, update, iter)?, most)?);
    }
    let [rows, columns, terms] = <[Cond; 3]>::try_from(conds).ok()?;
    let never = Cond::FALSE;
    let whole = match (columns, terms) {
        (columns, terms) if columns == never || terms == never => never.clone(),
        (columns, terms) if columns == Cond::TRUE => terms,
        (columns, terms) if terms == Cond::TRUE => columns,
        (columns, terms) => columns.and(terms),
    };
    match (rows == never, whole == never) {
        (true, true) => None,
        (true, false) => Some(whole),
        (false, true) => Some(rows),
        (false, false) if rows == Cond::TRUE || whole == Cond::TRUE => Some(Cond::TRUE),
        (false, false) => Some(Cond::Or(vec![rows, whole])),
    }
}

/// How far an index goes: the extent of a dimension that it goes along.
fn extent(scop: &Scop, update: &Statement, iter: IterId) -> Option<Affine> {
    let accesses = std::iter::once(&update.write).chain(&update.reads);
    accesses.into_iter().find_map(|access| {
        let alone = |subscript: &program::Subscript| subscript.as_affine().and_then(Affine::as_iter) == Some(iter);
        let position = access.index.iter().position(alone)?;
        scop.array(access.array).shape.get(position).cloned()
    })
}

/// That an extent is no larger; none if it follows from sizes in a way that a condition cannot say.
fn at_most(scop: &Scop, extent: &Affine, most: i64) -> Option<Cond> {
    if let Some(extent) = extent.as_constant() {
        return Some(if extent <= most { Cond::TRUE } else { Cond::FALSE });
    }
    let plain = |atom: &Atom| matches!(atom, Atom::Param(id) if scop.function.param(*id).derived.is_none());
    if !extent.terms.keys().all(plain) {
        return None;
    }
    Affine::constant(most).sub(extent).map(Cond::NonNegative)
}
