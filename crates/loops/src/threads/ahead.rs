//! Copies one iteration ahead: while the threads of a block compute with one piece of an array, the next one is on its way.
//!
//! In: a loop of a block whose iterations first copy something into shared memory and then compute with it.  Out: the same with room for two pieces.
//! The first piece is copied in front of the loop; each iteration begins to load the next one into registers, computes, and then stores it in the other half.
//! One barrier for each iteration does: it stands between storing a piece and using it, and between using one and storing the next but one in the same place.
//! Not here: barriers of any other kind.

use crate::access::declare_local;
use crate::walk::{Rewrite, Substitute, Visit};
use crate::{ArrayId, CompareOp, Cond, Expr, ExprKind, For, Index, Kernel, LocalId, Stmt, VarId};
use index::{simplify_cond, simplify_index};

use super::barriers::Item;
use super::phases::Phase;
use super::registers::zero;
use super::walk;

/// The most cells that a thread copies: each takes a register while the others compute.
const MAX_COPIED: usize = 8;
/// Where each iteration computes more than this, registers are better used for that, and loads are few.
const MAX_UPDATES: usize = 64;
/// The most bytes that the two halves may take, of all arrays together.
const MAX_BYTES: i64 = 48 << 10;

/// Runs the copies of loops ahead where that is possible. `shared` are the arrays of the block.
pub(super) fn ahead(kernel: &mut Kernel, items: Vec<Item>, shared: &[ArrayId]) -> Vec<Item> {
    let mut done = Vec::new();
    for at in 0..items.len() {
        let Some(Item::Loop(f, body)) = items.get(at) else {
            done.extend(items.get(at).cloned());
            continue;
        };
        match Staged::of(kernel, (f, body), shared).filter(|staged| staged.is_alone(&items, at)) {
            Some(staged) => done.extend(staged.moved(kernel, f)),
            None => done.extend(items.get(at).cloned()),
        }
    }
    done
}

/// A loop that copies and then computes.
struct Staged {
    copies: Vec<Phase>,
    rest: Vec<Phase>,
    arrays: Vec<ArrayId>,
}

impl Staged {
    fn of(kernel: &Kernel, (f, body): (&For, &[Item]), shared: &[ArrayId]) -> Option<Staged> {
        let phases: Option<Vec<&Phase>> = body
            .iter()
            .map(|item| match item {
                Item::Phase(phase) => Some(phase),
                _ => None,
            })
            .collect();
        let phases = phases?;
        let stores = |phase: &&&Phase| phase.stmts.iter().all(|stmt| copied(stmt, shared).is_some());
        let count = phases.iter().take_while(stores).count();
        let (copies, rest) = phases.split_at(count);
        let mut arrays: Vec<ArrayId> = copies.iter().flat_map(|phase| targets(phase, shared)).collect();
        arrays.sort_unstable();
        arrays.dedup();
        let copied: usize = copies.iter().map(|phase| phase.stmts.len()).sum();
        let (mut read, mut used) = (Touched::default(), Touched::default());
        copies.iter().for_each(|phase| read.block(&phase.stmts));
        rest.iter().for_each(|phase| used.block(&phase.stmts));
        // What is loaded early must not change until it would have been loaded.
        let settled = !read.loads.iter().any(|array| used.writes.contains(array));
        let written = arrays.iter().any(|array| used.writes.contains(array));
        let bytes = |array: &ArrayId| Some(2 * size(kernel, *array)?);
        let bytes: i64 = arrays.iter().map(bytes).sum::<Option<i64>>()?;
        let fits = (1..=MAX_COPIED).contains(&copied) && bytes <= MAX_BYTES && used.updates <= MAX_UPDATES;
        if rest.is_empty() || !settled || written || !fits || f.step < 1 || read.locals {
            return None;
        }
        let own = |phases: &[&Phase]| phases.iter().map(|phase| (*phase).clone()).collect();
        Some(Staged { copies: own(copies), rest: own(rest), arrays })
    }

    /// Whether nothing but the loop at this place uses the arrays.
    fn is_alone(&self, items: &[Item], at: usize) -> bool {
        let mut alone = true;
        for (_, item) in items.iter().enumerate().filter(|(place, _)| *place != at) {
            walk(std::slice::from_ref(item), &mut |phase| {
                alone &= !phase.accesses.iter().any(|access| self.arrays.contains(&access.array));
            });
        }
        alone
    }

    fn moved(self, kernel: &mut Kernel, f: &For) -> Vec<Item> {
        for array in &self.arrays {
            if let Some(declared) = kernel.arrays.get_mut(array.index()) {
                declared.shape.insert(0, Index::Const(2));
            }
        }
        let half = |at: Index| {
            let passed = Index::FloorDiv(Box::new(Index::Sub(Box::new(at), Box::new(f.lo.clone()))), f.step);
            simplify_index(&Index::Mod(Box::new(passed), 2))
        };
        let next = Index::Add(Box::new(Index::Var(f.var)), Box::new(Index::Const(f.step)));
        let first =
            Shift { var: f.var, to: f.lo.clone(), when: Cond::Compare(CompareOp::Lt, f.lo.clone(), f.hi.clone()) };
        let then =
            Shift { var: f.var, to: next.clone(), when: Cond::Compare(CompareOp::Lt, next.clone(), f.hi.clone()) };
        let (mut before, mut early, mut late) = (Vec::new(), Vec::new(), Vec::new());
        for phase in &self.copies {
            before.push(first.phase(phase, |stmt| halved(stmt, &Index::Const(0))));
            let mut locals = Vec::new();
            for stmt in &phase.stmts {
                let Stmt::Store { array, value, .. } = stmt else { continue };
                let local = declare_local(kernel, *array, false);
                // On every way it has a value, though only what is under the condition reads it.
                if let Some(zero) = zero(value.ty) {
                    before.insert(0, alone(vec![Stmt::Set { local, value: Expr::constant(zero) }]));
                }
                locals.push(local);
            }
            let mut given = locals.iter();
            early.push(then.phase(phase, |stmt| loaded(stmt, given.next().copied())));
            let mut given = locals.iter();
            let other = half(next.clone());
            late.push(then.phase(phase, |stmt| halved(stored(stmt, given.next().copied()), &other)));
        }
        let own = half(Index::Var(f.var));
        let rest = self.rest.into_iter().map(|mut phase| {
            phase.stmts = UseHalf { arrays: &self.arrays, half: &own }.block(phase.stmts);
            phase.accesses.retain(|access| !self.arrays.contains(&access.array));
            phase
        });
        let mut body = vec![Item::Barrier];
        body.extend(early.into_iter().map(Item::Phase));
        body.extend(rest.map(Item::Phase));
        body.extend(late.into_iter().map(Item::Phase));
        let mut items: Vec<Item> = before.into_iter().map(Item::Phase).collect();
        items.push(Item::Loop(Box::new(f.clone()), body));
        items
    }
}

/// A phase that all threads run.
fn alone(stmts: Vec<Stmt>) -> Phase {
    Phase { guard: Vec::new(), stmts, accesses: Vec::new() }
}

/// A copy in another iteration, where there is one.
struct Shift {
    var: VarId,
    to: Index,
    when: Cond,
}

impl Shift {
    fn phase(&self, phase: &Phase, mut change: impl FnMut(Stmt) -> Stmt) -> Phase {
        let mut shift = Substitute { var: self.var, with: &self.to };
        let mut guard: Vec<Cond> = phase.guard.iter().map(|cond| simplify_cond(&shift.cond(cond.clone()))).collect();
        guard.push(simplify_cond(&self.when));
        let stmts = shift.block(phase.stmts.clone()).into_iter().map(&mut change).collect();
        Phase { guard, stmts, accesses: Vec::new() }
    }
}

/// `s[half, …] = …`
fn halved(stmt: Stmt, half: &Index) -> Stmt {
    match stmt {
        Stmt::Store { array, mut index, value } => {
            index.insert(0, half.clone());
            Stmt::Store { array, index, value }
        }
        stmt => stmt,
    }
}

/// The value of a copy, kept in a register.
fn loaded(stmt: Stmt, local: Option<LocalId>) -> Stmt {
    match (stmt, local) {
        (Stmt::Store { value, .. }, Some(local)) => Stmt::Set { local, value },
        (stmt, _) => stmt,
    }
}

/// A copy of what is in a register.
fn stored(stmt: Stmt, local: Option<LocalId>) -> Stmt {
    match (stmt, local) {
        (Stmt::Store { array, index, value }, Some(local)) => {
            Stmt::Store { array, index, value: Expr::local(local, value.ty) }
        }
        (stmt, _) => stmt,
    }
}

/// The array of the block that a statement copies a cell to, from elsewhere.
fn copied(stmt: &Stmt, shared: &[ArrayId]) -> Option<ArrayId> {
    let Stmt::Store { array, value, .. } = stmt else { return None };
    let mut touched = Touched::default();
    touched.expr(value);
    let from_outside = !touched.loads.iter().any(|array| shared.contains(array));
    (shared.contains(array) && from_outside && !touched.loads.is_empty()).then_some(*array)
}

fn targets(phase: &Phase, shared: &[ArrayId]) -> Vec<ArrayId> {
    phase.stmts.iter().filter_map(|stmt| copied(stmt, shared)).collect()
}

/// Bytes of an array whose size is known.
fn size(kernel: &Kernel, array: ArrayId) -> Option<i64> {
    let declared = kernel.arrays.get(array.index())?;
    declared.shape.iter().try_fold(declared.ty.bytes() as i64, |bytes, extent| match extent {
        Index::Const(extent) => bytes.checked_mul(*extent),
        _ => None,
    })
}

/// What statements touch.
#[derive(Default)]
struct Touched {
    loads: Vec<ArrayId>,
    writes: Vec<ArrayId>,
    updates: usize,
    /// Whether they read locals.
    locals: bool,
}

impl Visit for Touched {
    // Index arithmetic loads nothing.
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Load { array, .. } | ExprKind::Gather { array, .. } => self.loads.push(*array),
            ExprKind::Local(_) => self.locals = true,
            _ => {}
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Store { array, .. } | Stmt::Scatter { array, .. } => self.writes.push(*array),
            Stmt::Update { target, .. } => {
                self.updates += 1;
                self.writes.extend(target.array());
            }
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}

/// Reads arrays in one of their halves.
struct UseHalf<'a> {
    arrays: &'a [ArrayId],
    half: &'a Index,
}

impl Rewrite for UseHalf<'_> {
    fn expr(&mut self, expr: Expr) -> Expr {
        let mut expr = self.descend_expr(expr);
        if let ExprKind::Load { array, index } = &mut expr.kind
            && self.arrays.contains(array)
        {
            index.insert(0, self.half.clone());
        }
        expr
    }
}
