//! What has been computed already: values of index arithmetic, addresses, and cells that were loaded.
//!
//! A value is known in the place where it was computed and in what is nested in it; nothing that it is made of changes there.
//! Cells of arrays that the kernel writes are forgotten where something may have written them.

use std::collections::{BTreeMap, HashSet};

use loops::{ArrayId, Index};

use crate::ir::{Operand, Reg};

/// What varies in the subscripts of an access; the constants are in the offset.
pub(super) type Moving = (ArrayId, Vec<Option<Index>>);

/// Values by what they are.
#[derive(Debug, Default)]
pub(super) struct Reuse {
    indices: BTreeMap<Index, Operand>,
    addresses: BTreeMap<Moving, Reg>,
    cells: BTreeMap<(ArrayId, Reg, i64), Reg>,
    /// In the order in which they were computed.
    log: Vec<Key>,
}

#[derive(Debug)]
enum Key {
    Index(Index),
    Address(Moving),
    Cell(ArrayId, Reg, i64),
}

/// A place in the log.
#[derive(Debug)]
pub(super) struct Mark(usize);

impl Reuse {
    /// The beginning of statements that may not be run.
    pub(super) fn open(&self) -> Mark {
        Mark(self.log.len())
    }

    /// Their end: what was computed in them is not known behind them.
    pub(super) fn close(&mut self, mark: Mark) {
        for key in self.log.drain(mark.0.min(self.log.len())..) {
            match key {
                Key::Index(index) => drop(self.indices.remove(&index)),
                Key::Address(moving) => drop(self.addresses.remove(&moving)),
                Key::Cell(array, at, offset) => drop(self.cells.remove(&(array, at, offset))),
            }
        }
    }

    pub(super) fn index(&self, index: &Index) -> Option<Operand> {
        self.indices.get(index).copied()
    }

    pub(super) fn keep_index(&mut self, index: &Index, value: Operand) {
        self.indices.insert(index.clone(), value);
        self.log.push(Key::Index(index.clone()));
    }

    pub(super) fn address(&self, moving: &Moving) -> Option<Reg> {
        self.addresses.get(moving).copied()
    }

    pub(super) fn keep_address(&mut self, moving: Moving, at: Reg) {
        self.addresses.insert(moving.clone(), at);
        self.log.push(Key::Address(moving));
    }

    pub(super) fn cell(&self, array: ArrayId, at: Reg, offset: i64) -> Option<Reg> {
        self.cells.get(&(array, at, offset)).copied()
    }

    pub(super) fn keep_cell(&mut self, array: ArrayId, at: Reg, offset: i64, value: Reg) {
        self.cells.insert((array, at, offset), value);
        self.log.push(Key::Cell(array, at, offset));
    }

    /// The array is somewhere else from here on.
    pub(super) fn forget_place(&mut self, array: ArrayId) {
        self.forget(array);
        self.addresses.retain(|(known, _), _| *known != array);
    }

    /// A cell of the array is written.
    pub(super) fn forget(&mut self, array: ArrayId) {
        self.cells.retain(|(known, ..), _| *known != array);
    }

    /// Any of these arrays may have been written.
    pub(super) fn forget_all(&mut self, written: &HashSet<ArrayId>) {
        self.cells.retain(|(known, ..), _| !written.contains(known));
    }
}
