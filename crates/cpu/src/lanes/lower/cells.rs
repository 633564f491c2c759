//! Cells that stay in registers while a loop accumulates into them.
//!
//! All accesses of the loop to their array are to cells that do not move with it, each of which is surely written in every
//! iteration, and no two of which can be the same in any two lanes. A cell may be there only under a condition that neither lanes
//! nor iterations change: a row of the last, partial tile.

use loops::{ArrayId, Cond, Expr, ExprKind, For, Index, Stmt, Target, VarId, VarsUsed};
use program::{BinaryOp, ScalarType, Value};

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

/// A cell that a loop can keep in registers.
pub(super) struct Candidate {
    pub(super) place: Place,
    /// It is there if all of these hold.
    pub(super) conditions: Vec<Cond>,
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
    /// The conditions around it that stay the same.
    conditions: Vec<Cond>,
}

/// Where in a loop body the collection of accesses is.
struct Around {
    /// Each iteration in which the conditions hold gets here.
    sure: bool,
    conditions: Vec<Cond>,
    /// The loop and those inside of it, so far.
    loops: Vec<VarId>,
}

impl Nest<'_> {
    /// What a cell holds, if it is in registers.
    pub(super) fn cell(&self, place: &Place) -> Option<ValueId> {
        self.position(place).map(|position| self.state.cells[position].1)
    }

    fn position(&self, place: &Place) -> Option<usize> {
        let same = |known: &Cell| {
            let (known, place) = (&known.place, place);
            known.group == place.group && known.shift == place.shift && known.offset == place.offset
        };
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

    pub(super) fn open_cells(&mut self, cells: &[Candidate]) -> Lower<()> {
        for Candidate { place, conditions } in cells {
            let cell = Cell { place: place.clone(), mask: self.mask };
            if conditions.is_empty() {
                let value = self.load_place(place)?;
                self.state.cells.push((cell, value));
                continue;
            }
            let ty = self.kernel.arrays[place.array.index()].ty;
            let nothing = self.splat(Value::from_i64(ty, 0));
            let position = self.state.cells.len();
            self.state.cells.push((cell, nothing));
            let holds = self.cond_word(&Cond::And(conditions.clone()))?;
            self.guarded(holds, |nest| {
                nest.state.cells[position].1 = nest.load_place(place)?;
                Ok(())
            })?;
        }
        Ok(())
    }

    pub(super) fn close_cells(&mut self, cells: &[Candidate]) -> Lower<()> {
        for Candidate { place, conditions } in cells {
            let position = self.position(place).ok_or("a cell that is not in registers")?;
            let (_, value) = self.state.cells.remove(position);
            let store = |nest: &mut Self| {
                let (at, access) = nest.address(place)?;
                nest.body.push(ir::Stmt::Store { value, at, access, mask: nest.mask });
                Ok(())
            };
            if conditions.is_empty() {
                store(self)?;
            } else {
                let holds = self.cond_word(&Cond::And(conditions.clone()))?;
                self.guarded(holds, store)?;
            }
            self.forget(place.array);
        }
        Ok(())
    }

    /// The cells that a loop can keep in registers.
    pub(super) fn promotable(&mut self, r#for: &For) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut around = Around { sure: true, conditions: Vec::new(), loops: vec![r#for.var] };
        self.collect(&r#for.body, &mut around, &mut found);

        let mut arrays: Vec<ArrayId> =
            found.iter().filter(|access| access.written).map(|access| access.array).collect();
        arrays.sort();
        arrays.dedup();
        let mut cells = Vec::new();
        for array in arrays {
            cells.extend(self.cells_of(array, &found, &around.loops).unwrap_or_default());
        }
        if cells.len() > MAX_CELLS { Vec::new() } else { cells }
    }

    fn cells_of(&self, array: ArrayId, found: &[Found], loops: &[VarId]) -> Option<Vec<Candidate>> {
        let vector = self.vector?;
        if self.kernel.arrays[array.index()].ty == ScalarType::Bool {
            return None;
        }
        let mut cells: Vec<(Candidate, bool)> = Vec::new();
        for access in found.iter().filter(|access| access.array == array) {
            let place = access.place.as_ref()?;
            // Cells that are in registers already are kept there by a loop around.
            if self.cell(place).is_some() || !self.moves(place.group, vector) {
                return None;
            }
            if loops.iter().any(|var| self.moves(place.group, *var)) {
                return None;
            }
            let (conditions, surely_written) = (access.conditions.clone(), access.surely_written);
            let Some((known, written)) = cells.iter_mut().find(|(known, _)| known.place.subscripts == place.subscripts)
            else {
                cells.push((Candidate { place: place.clone(), conditions }, surely_written));
                continue;
            };
            // The cell is there where any access says so, hence where the one with the fewest conditions does.
            if conditions == known.conditions {
                *written |= surely_written;
            } else if known.conditions.starts_with(&conditions) {
                (known.conditions, *written) = (conditions, surely_written);
            } else if !conditions.starts_with(&known.conditions) {
                return None;
            }
        }
        let apart = |a: &Place, b: &Place| {
            a.subscripts.iter().zip(&b.subscripts).any(|(a, b)| {
                let difference = a.clone().plus(b, -1).as_constant();
                a.coefficient(vector) == 0 && difference.is_some_and(|difference| difference != 0)
            })
        };
        let all_apart = cells
            .iter()
            .enumerate()
            .all(|(number, (a, _))| cells[..number].iter().all(|(b, _)| apart(&a.place, &b.place)));
        (all_apart && cells.iter().all(|(_, written)| *written))
            .then(|| cells.into_iter().map(|(cell, _)| cell).collect())
    }

    /// Every access of a body.
    fn collect(&mut self, body: &[Stmt], around: &mut Around, found: &mut Vec<Found>) {
        for stmt in body {
            match stmt {
                Stmt::For(inner) => {
                    around.loops.push(inner.var);
                    let runs = self.surely_runs(inner);
                    self.collect_maybe(&inner.body, runs, around, found);
                }
                Stmt::If { cond, then, otherwise }
                    if self.is_uniform(cond)
                        && !VarsUsed::of_cond(cond).iter().any(|var| around.loops.contains(var)) =>
                {
                    around.conditions.push(cond.clone());
                    self.collect(then, around, found);
                    around.conditions.pop();
                    around.conditions.push(Cond::Not(Box::new(cond.clone())));
                    self.collect(otherwise, around, found);
                    around.conditions.pop();
                }
                Stmt::If { then, otherwise, .. } => {
                    self.collect_maybe(then, false, around, found);
                    self.collect_maybe(otherwise, false, around, found);
                }
                Stmt::Store { array, index, value } => {
                    self.collect_expr(value, around, found);
                    self.record(*array, Some(index), true, around, found);
                }
                Stmt::Update { target, value, .. } => {
                    self.collect_expr(value, around, found);
                    if let Target::Cell { array, index } = target {
                        self.record(*array, Some(index), true, around, found);
                    }
                }
                Stmt::Scatter { array, index, value, .. } => {
                    index.iter().chain([value]).for_each(|part| self.collect_expr(part, around, found));
                    self.record(*array, None, true, around, found);
                }
                Stmt::Set { value, .. } => self.collect_expr(value, around, found),
                Stmt::Alloc { body, .. } => self.collect_maybe(body, false, around, found),
                Stmt::Each(each) => self.collect_maybe(&each.body, false, around, found),
                Stmt::Barrier => {}
            }
        }
    }

    /// The accesses of a body that an iteration may get to only if `surely`.
    fn collect_maybe(&mut self, body: &[Stmt], surely: bool, around: &mut Around, found: &mut Vec<Found>) {
        let outside = around.sure;
        around.sure &= surely;
        self.collect(body, around, found);
        around.sure = outside;
    }

    fn surely_runs(&self, inner: &For) -> bool {
        let bounds = self.linear(&inner.hi).and_then(|hi| Ok(hi.plus(&self.linear(&inner.lo)?, -1)));
        bounds.is_ok_and(|length| length.as_constant().is_some_and(|length| length > 0))
    }

    fn collect_expr(&mut self, expr: &Expr, around: &Around, found: &mut Vec<Found>) {
        match &expr.kind {
            ExprKind::Load { array, index } => self.record(*array, Some(index), false, around, found),
            ExprKind::Gather { array, index } => {
                index.iter().for_each(|index| self.collect_expr(index, around, found));
                self.record(*array, None, false, around, found);
            }
            ExprKind::At(_, a) | ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.collect_expr(a, around, found),
            ExprKind::Binary(_, a, b) => {
                self.collect_expr(a, around, found);
                self.collect_expr(b, around, found);
            }
            ExprKind::Select(a, b, c) => {
                for part in [a, b, c] {
                    self.collect_expr(part, around, found);
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
        around: &Around,
        found: &mut Vec<Found>,
    ) {
        let place = index.and_then(|index| self.place(array, index).ok());
        let conditions = around.conditions.clone();
        found.push(Found { place, array, surely_written: written && around.sure, written, conditions });
    }
}
