//! Promotion: a cell that is updated over and over stays in a scalar local meanwhile.
//!
//! In: a kernel with normalised subscripts (`simplify`).  Out: one with fewer loads and stores.
//!
//! Three forms are recognised, each as far out as it holds. Different arrays never overlap, so only accesses to the
//! same array matter.
//! - A store to a cell, then loops that touch only that cell of its array: `C[i] = 0.0; for k { C[i] = C[i] + … }`
//!   becomes `c = 0.0; for k { c = c + … }; C[i] = c`. The first store proves that the cell exists and is ours.
//! - A loop that is sure to store to the cell if it runs at all: `if lo < hi { c = C[i]; for … ; C[i] = c }`. Where
//!   it might not store, loading the cell could leave the array and storing it back could race.
//! - Updates of a cell that follow each other, as those of rows side by side: `y[j] += a * b; y[j] += c * d` becomes
//!   `y = y[j]; y += a * b; y += c * d; y[j] = y`. The first of them proves that the cell exists and is ours.

use crate::access::{Accesses, UseLocal, declare_local};
use crate::concurrent::updated_by_many;
use crate::prune::prune;
use crate::walk::{Rewrite, VarsBound, VarsUsed};
use crate::{ArrayId, CompareOp, Cond, Expr, For, Index, Kernel, LoopKind, Stmt, Target, VarId};
use diag::deadline;
use index::{constant_difference, extremum_operands};

/// Keeps cells that do not change during a loop in scalar locals.
pub fn promote(mut kernel: Kernel) -> Kernel {
    let body = std::mem::take(&mut kernel.body);
    let body = Promote { kernel: &mut kernel, reduced: Vec::new() }.block(body);
    kernel.body = body;
    prune(kernel)
}

struct Promote<'a> {
    kernel: &'a mut Kernel,
    /// What parallel and vector loops around reduce: in them it is updated and nothing else.
    reduced: Vec<ArrayId>,
}

impl Rewrite for Promote<'_> {
    fn block(&mut self, mut stmts: Vec<Stmt>) -> Vec<Stmt> {
        for number in 0..self.kernel.arrays.len() {
            let array = ArrayId(number as u32);
            // Arrays times statements may be many.
            if deadline::is_over() {
                break;
            }
            if !self.reduced.contains(&array) && stmts.iter().any(|stmt| Accesses::of(stmt, array).stores > 0) {
                stmts = self.runs(stmts, array);
                stmts = self.around_loops(stmts, array);
            }
        }
        stmts.into_iter().flat_map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let outside = self.reduced.len();
        if let Stmt::For(f) = &stmt {
            match &f.kind {
                LoopKind::Parallel(parallel) => self.reduced.extend(parallel.reductions.iter().map(|one| one.array)),
                // What lanes add up in together is no lane's own either.
                LoopKind::Vector(_) => self.reduced.extend(updated_by_many(f)),
                LoopKind::Serial | LoopKind::Unrolled => {}
            }
        }
        let stmt = self.descend_stmt(stmt);
        self.reduced.truncate(outside);
        vec![stmt]
    }
}

impl Promote<'_> {
    /// The first form, and the third.
    fn runs(&mut self, stmts: Vec<Stmt>, array: ArrayId) -> Vec<Stmt> {
        let mut done = Vec::new();
        let mut rest = stmts;
        while !rest.is_empty() {
            let length = run_of_a_cell(&rest, array);
            let tail = rest.split_off(length.max(1));
            match (length, rest.remove(0)) {
                (2.., Stmt::Store { index, value, .. }) => done.extend(self.keep(array, index, value, rest)),
                (2.., Stmt::Update { target: Target::Cell { array, index }, op, value }) => {
                    let old = Expr::load(array, index.clone(), self.kernel.arrays[array.index()].ty);
                    let first = Stmt::Update { target: Target::Cell { array, index: index.clone() }, op, value };
                    rest.insert(0, first);
                    done.extend(self.keep(array, index, old, rest));
                }
                (_, first) => done.push(first),
            }
            rest = tail;
        }
        done
    }

    /// `array[cell] = value` and the statements after it, with the cell in a local.
    fn keep(&mut self, array: ArrayId, cell: Vec<Index>, value: Expr, mut after: Vec<Stmt>) -> Vec<Stmt> {
        let ty = value.ty;
        let local = declare_local(self.kernel, array, false);
        let mut use_local = UseLocal { array, local };
        let write_back = |value| Stmt::Store { array, index: cell.clone(), value };
        let stored_later = after.iter().any(|stmt| Accesses::of(stmt, array).stores > 0);

        let mut done = vec![Stmt::Set { local, value }];
        if !stored_later {
            done.push(write_back(Expr::local(local, ty)));
            done.extend(use_local.block(after));
            return done;
        }
        let last = match after.pop() {
            Some(Stmt::Store { array: target, value, .. }) if target == array => use_local.expr(value),
            other => {
                after.extend(other);
                Expr::local(local, ty)
            }
        };
        done.extend(use_local.block(after));
        done.push(write_back(last));
        done
    }

    /// The second form.
    fn around_loops(&mut self, stmts: Vec<Stmt>, array: ArrayId) -> Vec<Stmt> {
        let mut done = Vec::new();
        for stmt in stmts {
            match guard(&stmt, array) {
                None => done.push(stmt),
                Some((cell, conds)) => {
                    let ty = self.kernel.arrays[array.index()].ty;
                    let local = declare_local(self.kernel, array, false);
                    let mut kept = vec![Stmt::Set { local, value: Expr::load(array, cell.clone(), ty) }];
                    kept.extend(UseLocal { array, local }.stmt(stmt));
                    kept.push(Stmt::Store { array, index: cell, value: Expr::local(local, ty) });
                    if conds.is_empty() {
                        done.extend(kept);
                    } else {
                        done.push(Stmt::If { cond: Cond::And(conds), then: kept, otherwise: Vec::new() });
                    }
                }
            }
        }
        done
    }
}

/// How many statements, from a first one that stores to a cell or updates it, touch only that cell; 0 if nothing would be gained.
fn run_of_a_cell(stmts: &[Stmt], array: ArrayId) -> usize {
    let Some((first, after)) = stmts.split_first() else { return 0 };
    let (target, cell, mut gains) = match first {
        Stmt::Store { array, index, .. } => (*array, index, false),
        Stmt::Update { target: Target::Cell { array, index }, .. } => (*array, index, true),
        _ => return 0,
    };
    // What is updated is read by the first statement itself, beside which no other cell may be.
    if target != array || gains && !Accesses::of(first, array).only(cell) {
        return 0;
    }
    let mut length = 0;
    for (number, stmt) in after.iter().enumerate() {
        let accesses = Accesses::of(stmt, array);
        if !accesses.any() {
            continue;
        }
        if !accesses.only(cell) {
            break;
        }
        // What is stored at once need not be loaded again, whoever does it; a loop would do so every time.
        gains |= !VarsBound::of(stmt).is_empty() || matches!(stmt, Stmt::Each(_));
        length = number + 2;
    }
    if gains { length } else { 0 }
}

/// The cell that this loop updates, and the conditions under which it is sure to do so; if one of them fails, the
/// loop does nothing at all.
fn guard(stmt: &Stmt, array: ArrayId) -> Option<(Vec<Index>, Vec<Cond>)> {
    let ordered = match stmt {
        Stmt::For(f) => f.kind.is_ordered(),
        Stmt::Each(_) => true,
        _ => false,
    };
    let accesses = Accesses::of(stmt, array);
    if !ordered || accesses.loads == 0 || accesses.stores == 0 || accesses.shared {
        return None;
    }
    let cell = accesses.cell?;
    // What stands in it without a condition is proven to be in bounds however often it runs, and where it does not run, the cell
    // keeps its value.
    if let Stmt::Each(each) = stmt {
        return is_reached(&each.body, array, &mut Vec::new()).then_some((cell, Vec::new()));
    }
    let mut nest = Nest { array, bound: VarsBound::of(stmt), around: Vec::new(), conds: Vec::new() };
    nest.stores(std::slice::from_ref(stmt), true).then_some((cell, nest.conds))
}

/// Whether the array is stored to without a condition other than data, and in loops that are not empty.
fn is_reached<'a>(stmts: &'a [Stmt], array: ArrayId, around: &mut Vec<&'a For>) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Store { array: target, .. } => *target == array,
        Stmt::Update { target, .. } => target.array() == Some(array),
        Stmt::Alloc { body, .. } => is_reached(body, array, around),
        Stmt::Each(each) => is_reached(&each.body, array, around),
        Stmt::For(f) => {
            not_empty(f, around) && {
                around.push(f);
                let reached = is_reached(&f.body, array, around);
                around.pop();
                reached
            }
        }
        Stmt::Set { .. } | Stmt::Scatter { .. } | Stmt::If { .. } | Stmt::Barrier => false,
    })
}

/// The loops between the promoted one and a store.
struct Nest<'a> {
    array: ArrayId,
    /// Everything that is bound in the promoted loop, itself included.
    bound: Vec<VarId>,
    around: Vec<&'a For>,
    conds: Vec<Cond>,
}

impl<'a> Nest<'a> {
    /// Whether the statements are sure to store to the array if `conds` hold. Only where nothing else happens in
    /// the nest (`alone`) may a condition be added, for it will guard the whole nest.
    fn stores(&mut self, stmts: &'a [Stmt], alone: bool) -> bool {
        let alone = alone && stmts.len() == 1;
        stmts.iter().any(|stmt| {
            let conds = self.conds.len();
            let sure = match stmt {
                Stmt::Store { array, .. } => *array == self.array,
                Stmt::Update { target, .. } => target.array() == Some(self.array),
                Stmt::Set { .. } | Stmt::Scatter { .. } | Stmt::Each(_) | Stmt::Barrier => false,
                Stmt::Alloc { body, .. } => self.stores(body, alone),
                Stmt::If { cond, then, otherwise } => {
                    let known = alone && otherwise.is_empty() && self.is_outside(&VarsUsed::of_cond(cond));
                    if known {
                        self.conds.push(cond.clone());
                    }
                    known && self.stores(then, alone)
                }
                Stmt::For(f) => {
                    self.runs(f, alone) && {
                        self.around.push(f);
                        let sure = self.stores(&f.body, alone);
                        self.around.pop();
                        sure
                    }
                }
            };
            if !sure {
                self.conds.truncate(conds);
            }
            sure
        })
    }

    fn is_outside(&self, vars: &[VarId]) -> bool {
        vars.iter().all(|var| !self.bound.contains(var))
    }

    /// Whether the loop is sure to run, given the loops around it, perhaps under one more condition.
    fn runs(&mut self, f: &For, alone: bool) -> bool {
        if not_empty(f, &self.around) {
            return true;
        }
        let known = alone && self.is_outside(&VarsUsed::of_indices([&f.lo, &f.hi]));
        if known {
            self.conds.push(Cond::Compare(CompareOp::Lt, f.lo.clone(), f.hi.clone()));
        }
        known
    }
}

/// Whether the loop has an iteration in every iteration of the loops around it: each upper bound exceeds each lower
/// one by a constant, or by as much as an upper bound of a loop around exceeds its variable.
pub(crate) fn not_empty(f: &For, around: &[&For]) -> bool {
    let lows = extremum_operands(&f.lo, true);
    extremum_operands(&f.hi, false).iter().all(|hi| lows.iter().all(|lo| exceeds(hi, lo, around)))
}

fn exceeds(hi: &Index, lo: &Index, around: &[&For]) -> bool {
    let difference = Index::Sub(Box::new(hi.clone()), Box::new(lo.clone()));
    constant_difference(hi, lo).is_some_and(|difference| difference > 0)
        || around.iter().any(|outer| {
            extremum_operands(&outer.hi, false).into_iter().any(|bound| {
                // The variable is below its bound, so the distance between them is at least 1.
                let distance = Index::Sub(Box::new(bound), Box::new(Index::Var(outer.var)));
                constant_difference(&difference, &distance).is_some_and(|more| more >= 0)
            })
        })
}
