//! Registers: the cells to which a thread comes back in every iteration of a loop stay in locals meanwhile.
//!
//! In: the statements of a thread.  Out: the same, with loads in front of such loops and stores behind them. All accesses of the
//! loop to the array are to cells that no loop in it changes, under the same conditions, and two of them are the same or
//! differ by a constant. No other thread minds: nobody waits in the loop, or each cell of the array has one thread in the
//! whole block (`owned`). `loops::promote` keeps single cells; a thread has a tile of them.

use program::{Data, ScalarType, Value};

use crate::access::declare_local;
use crate::promote::not_empty;
use crate::walk::{Rewrite, VarsBound, VarsUsed, Visit};
use crate::{ArrayId, CompareOp, Cond, Expr, ExprKind, For, Index, Kernel, LocalId, Stmt, Target};
use index::constant_difference;

use super::under;

/// The most cells of one array: a thread has 255 registers.
const MAX_CELLS: usize = 128;

/// Keeps cells in locals, in the outermost loops where it is possible.
pub(super) fn kept(kernel: &mut Kernel, stmts: Vec<Stmt>, owned: &[ArrayId]) -> Vec<Stmt> {
    Keep { kernel, owned }.block(stmts)
}

struct Keep<'a> {
    kernel: &'a mut Kernel,
    owned: &'a [ArrayId],
}

/// Cells that stay in locals during a loop.
struct Tile {
    array: ArrayId,
    cells: Vec<Vec<Index>>,
    locals: Vec<LocalId>,
    /// Whether the loop writes a cell before it reads it.
    fresh: Vec<bool>,
    ty: ScalarType,
    /// Under which the loop touches them.
    conds: Vec<Cond>,
    /// Whether it may do nothing at all: its bounds.
    empty: Option<Cond>,
}

impl Rewrite for Keep<'_> {
    fn block(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut done: Vec<Stmt> = Vec::new();
        for stmt in stmts {
            let ordered = matches!(&stmt, Stmt::For(f) if f.kind.is_ordered());
            if !ordered {
                done.push(self.descend_stmt(stmt));
                continue;
            }
            let mut stmt = stmt;
            let mut behind = Vec::new();
            for number in 0..self.kernel.arrays.len() {
                let Some(tile) = self.tile(&stmt, ArrayId(number as u32)) else { continue };
                stmt = Replace(&tile).descend_stmt(stmt);
                let stored = tile.take_over(&mut done);
                if !stored {
                    done.extend(tile.loads());
                }
                behind.extend(tile.stores(stored));
            }
            done.push(self.descend_stmt(stmt));
            done.extend(behind);
        }
        done
    }
}

impl Keep<'_> {
    fn tile(&mut self, stmt: &Stmt, array: ArrayId) -> Option<Tile> {
        let Stmt::For(f) = stmt else { return None };
        let mut survey = Survey::of(array);
        survey.stmt(stmt);
        let (first, ..) = survey.found.first()?;
        let (loads, stores) = (survey.loads, survey.stores);
        if survey.unfit || !loads || !stores || survey.waits && !self.owned.contains(&array) {
            return None;
        }
        let bound = VarsBound::of(stmt);
        let conds = first.clone();
        let (mut cells, mut fresh): (Vec<Vec<Index>>, Vec<bool>) = (Vec::new(), Vec::new());
        for (around, index, stored) in &survey.found {
            let mut used = VarsUsed::of_indices(index);
            around.iter().for_each(|cond| used.extend(VarsUsed::of_cond(cond)));
            if *around != conds || used.iter().any(|var| bound.contains(var)) {
                return None;
            }
            if cells.iter().any(|cell| same(cell, index)) {
                continue;
            }
            if !cells.iter().all(|cell| apart(cell, index)) || cells.len() == MAX_CELLS {
                return None;
            }
            cells.push(index.clone());
            fresh.push(*stored);
        }
        let empty = (!not_empty(f, &[])).then(|| Cond::Compare(CompareOp::Lt, f.lo.clone(), f.hi.clone()));
        let ty = self.kernel.arrays.get(array.index())?.ty;
        let locals = cells.iter().map(|_| declare_local(self.kernel, array, false)).collect();
        Some(Tile { array, cells, locals, fresh, ty, conds, empty })
    }
}

fn same(one: &[Index], two: &[Index]) -> bool {
    one.iter().zip(two).all(|(a, b)| constant_difference(a, b) == Some(0))
}

fn apart(one: &[Index], two: &[Index]) -> bool {
    one.iter().zip(two).any(|(a, b)| constant_difference(a, b).is_some_and(|distance| distance != 0))
}

impl Tile {
    fn local(&self, index: &[Index]) -> Option<LocalId> {
        let place = self.cells.iter().position(|cell| same(cell, index))?;
        self.locals.get(place).copied()
    }

    fn each(&self) -> impl Iterator<Item = (&Vec<Index>, LocalId)> {
        self.cells.iter().zip(self.locals.iter().copied())
    }

    /// Locals have a value on every way, though only what is under the conditions reads it.
    fn zeros(&self) -> impl Iterator<Item = Stmt> {
        let value = zero(self.ty).map(Expr::constant);
        self.locals.iter().filter_map(move |local| Some(Stmt::Set { local: *local, value: value.clone()? }))
    }

    fn loads(&self) -> Vec<Stmt> {
        let load = |(cell, local): (&Vec<Index>, LocalId)| Stmt::Set {
            local,
            value: Expr::load(self.array, cell.clone(), self.ty),
        };
        let conds: Vec<Cond> = self.conds.iter().chain(&self.empty).cloned().collect();
        let known = conds.is_empty() && !self.fresh.contains(&true);
        let mut stmts: Vec<Stmt> = if known { Vec::new() } else { self.zeros().collect() };
        let old = self.each().zip(&self.fresh).filter(|(_, fresh)| !**fresh).map(|(cell, _)| load(cell));
        let old: Vec<Stmt> = old.collect();
        if !old.is_empty() {
            stmts.extend(under(&conds, old));
        }
        stmts
    }

    /// `always`: the cells are ours even if the loop does not run.
    fn stores(&self, always: bool) -> Vec<Stmt> {
        let store = |(cell, local): (&Vec<Index>, LocalId)| Stmt::Store {
            array: self.array,
            index: cell.clone(),
            value: Expr::local(local, self.ty),
        };
        let empty = self.empty.iter().filter(|_| !always);
        let conds: Vec<Cond> = self.conds.iter().chain(empty).cloned().collect();
        under(&conds, self.each().map(store).collect())
    }

    /// Where the last of `done` stores to all cells and to nothing else, the locals take that over.
    fn take_over(&self, done: &mut Vec<Stmt>) -> bool {
        let count = self.cells.len();
        let stores = |stmts: &[Stmt]| -> Option<Vec<Stmt>> {
            let mut set = Vec::new();
            for stmt in stmts {
                let Stmt::Store { array, index, value } = stmt else { return None };
                let local = self.local(index).filter(|_| *array == self.array && !loads(value, *array))?;
                set.push(Stmt::Set { local, value: value.clone() });
            }
            let covered = self.locals.iter().all(|local| {
                set.iter().filter(|stmt| matches!(stmt, Stmt::Set { local: own, .. } if own == local)).count() == 1
            });
            (covered && set.len() == count).then_some(set)
        };
        let wanted = under(&self.conds, Vec::new());
        let set = match (wanted.first(), done.last()) {
            (None, _) => done.len().checked_sub(count).and_then(|from| Some((from, stores(done.get(from..)?)?))),
            (Some(Stmt::If { cond: wanted, .. }), Some(Stmt::If { cond, then, otherwise }))
                if wanted == cond && otherwise.is_empty() =>
            {
                let last = done.len() - 1;
                stores(then).map(|set| (last, [self.zeros().collect(), under(&self.conds, set)].concat()))
            }
            _ => None,
        };
        let Some((from, set)) = set else { return false };
        done.truncate(from);
        done.extend(set);
        true
    }
}

/// A zero of that type.
pub(super) fn zero(ty: ScalarType) -> Option<Value> {
    Data::zeros(ty, 1)?.get(0)
}

/// Whether an expression reads an array.
fn loads(expr: &Expr, array: ArrayId) -> bool {
    let mut survey = Survey::of(array);
    survey.expr(expr);
    survey.loads || survey.unfit
}

/// All accesses of a loop to an array.
struct Survey {
    array: ArrayId,
    /// Conditions around an access, its subscripts, and whether it is a store and the first to its cell.
    found: Vec<(Vec<Cond>, Vec<Index>, bool)>,
    conds: Vec<Cond>,
    around: Vec<For>,
    loads: bool,
    stores: bool,
    waits: bool,
    unfit: bool,
}

impl Survey {
    fn of(array: ArrayId) -> Survey {
        let (found, conds, around) = (Vec::new(), Vec::new(), Vec::new());
        Survey { array, found, conds, around, loads: false, stores: false, waits: false, unfit: false }
    }

    fn access(&mut self, index: &[Index], store: bool) {
        let known = self.found.iter().any(|(conds, known, _)| *conds == self.conds && known == index);
        if !known {
            self.found.push((self.conds.clone(), index.to_vec(), store));
        }
    }

    fn for_loop(&mut self, f: &For) {
        let (before, unfit) = (self.found.len(), self.unfit);
        // Loads are put in front of the loop only where it is sure to come to them.
        let around: Vec<&For> = self.around.iter().collect();
        let sure = self.around.is_empty() || not_empty(f, &around);
        self.around.push(For { body: Vec::new(), ..f.clone() });
        f.body.iter().for_each(|stmt| self.stmt(stmt));
        self.around.pop();
        let touched = self.found.len() > before;
        self.unfit = self.unfit || unfit || touched && !(sure && f.kind.is_ordered());
    }
}

impl Visit for Survey {
    // Index arithmetic loads nothing.
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Load { array, index } if *array == self.array => {
                self.loads = true;
                self.access(index, false);
            }
            ExprKind::Gather { array, .. } => self.unfit |= *array == self.array,
            // Only one side of a choice is evaluated.
            ExprKind::Select(..) => {
                let found = self.found.len();
                self.descend_expr(expr);
                self.unfit |= self.found.len() > found;
                return;
            }
            _ => {}
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) => return self.for_loop(f),
            Stmt::If { cond, then, otherwise } => {
                self.conds.push(cond.clone());
                self.block(then);
                self.conds.pop();
                self.conds.push(Cond::Not(Box::new(cond.clone())));
                self.block(otherwise);
                self.conds.pop();
                return;
            }
            Stmt::Store { array, index, .. } if *array == self.array => {
                self.descend_stmt(stmt);
                self.stores = true;
                self.access(index, true);
                return;
            }
            Stmt::Update { target: Target::Cell { array, index }, .. } if *array == self.array => {
                (self.loads, self.stores) = (true, true);
                self.access(index, false);
            }
            Stmt::Scatter { array, .. } => self.unfit |= *array == self.array,
            Stmt::Alloc { array, .. } => self.unfit |= *array == self.array,
            Stmt::Barrier => self.waits = true,
            Stmt::Each(_) => {
                let found = self.found.len();
                self.descend_stmt(stmt);
                self.unfit |= self.found.len() > found;
                return;
            }
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}

/// Puts locals in the place of cells.
struct Replace<'a>(&'a Tile);

impl Rewrite for Replace<'_> {
    fn expr(&mut self, expr: Expr) -> Expr {
        if let ExprKind::Load { array, index } = &expr.kind
            && *array == self.0.array
            && let Some(local) = self.0.local(index)
        {
            return Expr::local(local, expr.ty);
        }
        self.descend_expr(expr)
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let local = match &stmt {
            Stmt::Store { array, index, .. } | Stmt::Update { target: Target::Cell { array, index }, .. } => {
                self.0.local(index).filter(|_| *array == self.0.array)
            }
            _ => None,
        };
        vec![match (stmt, local) {
            (Stmt::Store { value, .. }, Some(local)) => Stmt::Set { local, value: self.expr(value) },
            (Stmt::Update { op, value, .. }, Some(local)) => {
                Stmt::Update { target: Target::Local(local), op, value: self.expr(value) }
            }
            (stmt, _) => self.descend_stmt(stmt),
        }]
    }
}
