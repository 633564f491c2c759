//! Cells that stay in registers while a loop accumulates into them.
//!
//! All accesses of the loop to their array are to cells that do not move with it, each of which is surely written in every
//! iteration, and no two of which can be the same in any two lanes.

use loops::{ArrayId, Expr, ExprKind, For, Index, Stmt, Target, VarId};
use program::{BinaryOp, ScalarType};

use super::access::Place;
use super::{Lower, Nest};
use crate::lanes::ir::{self, ValueId};

/// A cell in registers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    place: Place,
    /// The lanes in which it matters.
    mask: Option<ValueId>,
}

/// More would not stay in registers.
const MAX_CELLS: usize = 64;

/// One access of a loop body.
struct Found {
    place: Option<Place>,
    array: ArrayId,
    /// It is written in every iteration.
    surely_written: bool,
    written: bool,
}

impl Nest<'_> {
    /// What a cell holds, if it is in registers.
    pub(super) fn cell(&self, place: &Place) -> Option<ValueId> {
        self.position(place).map(|position| self.state.cells[position].1)
    }

    fn position(&self, place: &Place) -> Option<usize> {
        let same = |known: &Cell| known.place.group == place.group && known.place.offset == place.offset;
        self.state.cells.iter().position(|(known, _)| same(known))
    }

    pub(super) fn update_cell(&mut self, place: &Place, op: BinaryOp, value: &Expr) -> Lower<()> {
        let old = self.cell(place).ok_or("a cell that is not in registers")?;
        let new = self.combined(op, old, value)?;
        self.set_cell(place, value.ty, new)
    }

    pub(super) fn set_cell(&mut self, place: &Place, ty: ScalarType, new: ValueId) -> Lower<()> {
        let position = self.position(place).ok_or("a cell that is not in registers")?;
        let (Cell { mask, .. }, old) = self.state.cells[position].clone();
        let new = self.kept(ty, new, old, mask);
        self.state.cells[position].1 = new;
        Ok(())
    }

    pub(super) fn open_cells(&mut self, cells: &[Place]) -> Lower<()> {
        for place in cells {
            let value = self.load_place(place)?;
            self.state.cells.push((Cell { place: place.clone(), mask: self.mask }, value));
        }
        Ok(())
    }

    pub(super) fn close_cells(&mut self, cells: &[Place]) -> Lower<()> {
        for place in cells {
            let position = self.position(place).ok_or("a cell that is not in registers")?;
            let (_, value) = self.state.cells.remove(position);
            let (at, access) = self.address(place)?;
            self.body.push(ir::Stmt::Store { value, at, access, mask: self.mask });
            self.forget(place.array);
        }
        Ok(())
    }

    /// The cells that a loop can keep in registers.
    pub(super) fn promotable(&mut self, r#for: &For) -> Vec<Place> {
        let inner = self.inner.clone();
        let mut found = Vec::new();
        let mut loops = vec![r#for.var];
        self.inner.push(r#for.var);
        self.collect(&r#for.body, true, &mut loops, &mut found);
        self.inner = inner;

        let mut arrays: Vec<ArrayId> =
            found.iter().filter(|access| access.written).map(|access| access.array).collect();
        arrays.sort();
        arrays.dedup();
        let mut cells = Vec::new();
        for array in arrays {
            cells.extend(self.cells_of(array, &found, &loops).unwrap_or_default());
        }
        if cells.len() > MAX_CELLS { Vec::new() } else { cells }
    }

    fn cells_of(&self, array: ArrayId, found: &[Found], loops: &[VarId]) -> Option<Vec<Place>> {
        let vector = self.vector?;
        if self.kernel.arrays[array.index()].ty == ScalarType::Bool {
            return None;
        }
        let mut cells: Vec<(Place, bool)> = Vec::new();
        for access in found.iter().filter(|access| access.array == array) {
            let place = access.place.as_ref()?;
            // Cells that are in registers already are kept there by a loop around.
            if self.cell(place).is_some() || !self.moves(place.group, vector) {
                return None;
            }
            if loops.iter().any(|var| self.moves(place.group, *var)) {
                return None;
            }
            match cells.iter_mut().find(|(known, _)| known.subscripts == place.subscripts) {
                Some((_, written)) => *written |= access.surely_written,
                None => cells.push((place.clone(), access.surely_written)),
            }
        }
        let apart = |a: &Place, b: &Place| {
            a.subscripts.iter().zip(&b.subscripts).any(|(a, b)| {
                let difference = a.clone().plus(b, -1).as_constant();
                a.of_inner(vector) == 0 && difference.is_some_and(|difference| difference != 0)
            })
        };
        let all_apart =
            cells.iter().enumerate().all(|(number, (a, _))| cells[..number].iter().all(|(b, _)| apart(a, b)));
        (all_apart && cells.iter().all(|(_, written)| *written))
            .then(|| cells.into_iter().map(|(place, _)| place).collect())
    }

    /// Every access of a body, with unrolled loops written out; `sure` says whether each iteration gets here.
    fn collect(&mut self, body: &[Stmt], sure: bool, loops: &mut Vec<VarId>, found: &mut Vec<Found>) {
        for stmt in body {
            match stmt {
                Stmt::For(inner) => match self.written_out(inner) {
                    Some(trips) => self.collect_unrolled(inner, trips, sure, loops, found),
                    None => {
                        loops.push(inner.var);
                        self.inner.push(inner.var);
                        let runs = self.surely_runs(inner);
                        self.collect(&inner.body, sure && runs, loops, found);
                    }
                },
                Stmt::If { then, otherwise, .. } => {
                    self.collect(then, false, loops, found);
                    self.collect(otherwise, false, loops, found);
                }
                Stmt::Store { array, index, value } => {
                    self.collect_expr(value, found);
                    self.record(*array, Some(index), true, sure, found);
                }
                Stmt::Update { target, value, .. } => {
                    self.collect_expr(value, found);
                    if let Target::Cell { array, index } = target {
                        self.record(*array, Some(index), true, sure, found);
                    }
                }
                Stmt::Scatter { array, index, value, .. } => {
                    index.iter().chain([value]).for_each(|part| self.collect_expr(part, found));
                    self.record(*array, None, true, false, found);
                }
                Stmt::Set { value, .. } => self.collect_expr(value, found),
                Stmt::Alloc { body, .. } => self.collect(body, false, loops, found),
                Stmt::Barrier => {}
            }
        }
    }

    fn collect_unrolled(
        &mut self,
        inner: &For,
        trips: i64,
        sure: bool,
        loops: &mut Vec<VarId>,
        found: &mut Vec<Found>,
    ) {
        let Ok(lo) = self.linear(&inner.lo) else { return };
        for trip in 0..trips {
            let offset = super::index::Linear { constant: trip.wrapping_mul(inner.step), terms: Vec::new() };
            self.bindings.insert(inner.var.0, lo.clone().plus(&offset, 1));
            self.collect(&inner.body, sure, loops, found);
        }
        self.bindings.remove(&inner.var.0);
    }

    fn surely_runs(&self, inner: &For) -> bool {
        let bounds = self.linear(&inner.hi).and_then(|hi| Ok(hi.plus(&self.linear(&inner.lo)?, -1)));
        bounds.is_ok_and(|length| length.as_constant().is_some_and(|length| length > 0))
    }

    fn collect_expr(&mut self, expr: &Expr, found: &mut Vec<Found>) {
        match &expr.kind {
            ExprKind::Load { array, index } => self.record(*array, Some(index), false, false, found),
            ExprKind::Gather { array, index } => {
                index.iter().for_each(|index| self.collect_expr(index, found));
                self.record(*array, None, false, false, found);
            }
            ExprKind::At(_, a) | ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.collect_expr(a, found),
            ExprKind::Binary(_, a, b) => {
                self.collect_expr(a, found);
                self.collect_expr(b, found);
            }
            ExprKind::Select(a, b, c) => {
                for part in [a, b, c] {
                    self.collect_expr(part, found);
                }
            }
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => {}
        }
    }

    fn record(
        &mut self,
        array: ArrayId,
        index: Option<&Vec<Index>>,
        written: bool,
        sure: bool,
        found: &mut Vec<Found>,
    ) {
        let place = index.and_then(|index| self.place(array, index).ok());
        found.push(Found { place, array, surely_written: written && sure, written });
    }
}
