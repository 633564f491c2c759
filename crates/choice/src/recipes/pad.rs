//! Padded rows: a local array that is walked down its columns, a multiple of 4096 bytes at a time, gets a cache line more in each row.
//!
//! Caches find a place for a line by the low bits of its address, so lines so far apart share a few places and push each other out, long before a cache is full.
//! Not here: arguments, which would have to be copied, and rows whose length is not a number.

use poly::{ArrayOrigin, Scop, ScopArray, Tree};
use program::{Affine, ArrayId, IterId, Role};
use steps::{Formula, Step, Storage, Verb, Word};

use super::Plan;
use crate::cost::Walk;
use crate::machine::Machine;

/// The program with such arrays padded; none if there are none.
pub(crate) fn rows(start: &Plan, own: &Tree, machine: &Machine) -> diag::Result<Option<Plan>> {
    let mut plan = start.clone();
    let scop = &start.state.subject.scop;
    let mut padded = false;
    for (position, array) in scop.arrays.iter().enumerate() {
        let id = ArrayId(position as u32);
        let Some(shape) = longer_rows(array, machine) else { continue };
        if conflicts(scop, own, id, &shape) >= conflicts(scop, own, id, &array.shape) {
            continue;
        }
        let inputs: Vec<IterId> = (0..array.shape.len()).map(|number| IterId(number as u32)).collect();
        let names = inputs.iter().map(|input| Word::new(format!("i{}", input.0))).collect();
        let places = inputs.into_iter().map(Affine::iter).collect();
        let step = Step::new(Verb::Layout {
            array: Word::new(array.name.clone()),
            storage: Storage::Map { places: Formula::new(names, places), shape: Some(shape) },
            name: None,
            given: false,
            fill: None,
        });
        padded |= plan.take(step, "lines of a column get places of their own in a cache")?;
    }
    Ok(padded.then_some(plan))
}

/// The extents of a local matrix with a cache line more in each row, if it has rows of a known length.
fn longer_rows(array: &ScopArray, machine: &Machine) -> Option<Vec<Affine>> {
    let local = array.role == Role::Local && array.origin == ArrayOrigin::Declared && array.laid.is_none();
    let (last, outer) = array.shape.split_last().filter(|(_, outer)| local && !outer.is_empty())?;
    let line = i64::from(machine.line) / i64::try_from(array.ty.bytes()).ok()?;
    let longer = Affine::constant(last.as_constant()?.checked_add(line)?);
    Some(outer.iter().cloned().chain([longer]).collect())
}

/// How many of the walks over an array go from conflict to conflict, if it has these extents.
fn conflicts(scop: &Scop, tree: &Tree, array: ArrayId, shape: &[Affine]) -> usize {
    let bytes = scop.arrays[array.index()].ty.bytes();
    let count = |branch: &poly::Branch| {
        let statement = scop.at(branch.statement);
        let walk = Walk::new(tree, branch, statement);
        let accesses = std::iter::once(&statement.write).chain(&statement.reads);
        accesses.filter(|access| access.array == array && walk.conflicts(&access.index, shape, bytes)).count()
    };
    tree.branches().iter().map(count).sum()
}
