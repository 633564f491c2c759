//! What the threads of a block do between two places at which they may have to wait.

use crate::walk::{Rewrite, Substitute, Visit};
use crate::{
    ArrayId, Axis, CompareOp, Cond, Dim, Expr, ExprKind, For, Index, LocalId, LoopKind, Stmt, Target, VarId, VarsUsed,
};
use index::{constant_difference, extremum_operands, simplify_cond};

use super::barriers::Item;
use super::owner::{Access, Owner, accesses};
use super::{DIMS, Nest, Placed, extents, holds_threads, iteration, unplaced, walk};

/// Statements that some threads run, each for itself.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    /// Which threads.
    pub(super) guard: Vec<Cond>,
    pub(super) stmts: Vec<Stmt>,
    pub(super) accesses: Vec<Access>,
}

impl Phase {
    /// The same threads do more.
    fn join(&mut self, next: Phase) {
        self.stmts.extend(next.stmts);
        for access in next.accesses {
            if !self.accesses.contains(&access) {
                self.accesses.push(access);
            }
        }
    }
}

/// The loops over threads around a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// Which nest.
    nest: Option<usize>,
    dims: Vec<Dim>,
    /// The threads that have an iteration.
    conds: Vec<Cond>,
}

/// Turns the statements of a block into phases.
pub(super) struct Phases {
    /// The number of the thread.
    thread: VarId,
    /// How many there are.
    all: i64,
    pub(super) nests: Vec<Nest>,
    /// Arrays of a single thread.
    pub(super) private: Vec<ArrayId>,
    /// Arrays with a scope around loops over threads.
    pub(super) shared: Vec<ArrayId>,
}

impl Phases {
    pub(super) fn new(thread: VarId, all: i64, nests: Vec<Nest>) -> Phases {
        Phases { thread, all, nests, private: Vec::new(), shared: Vec::new() }
    }

    fn varies(&self, used: &[VarId]) -> bool {
        used.iter().any(|var| self.nests.iter().any(|nest| nest.places.contains(var)))
    }

    pub(super) fn items(&mut self, stmts: Vec<Stmt>, context: &Context) -> Placed<Vec<Item>> {
        let mut items: Vec<Item> = Vec::new();
        // Whether the last item is of this iteration of the threads: then it is not waited for.
        let mut own = false;
        for stmt in stmts {
            let before = std::mem::replace(&mut own, false);
            match stmt {
                Stmt::For(f) if f.kind.axis().is_some() => {
                    let inside = self.entered(&f, context)?;
                    items.extend(self.thread_loop(f, inside)?);
                }
                Stmt::For(f) if holds_threads(&f.body) => {
                    if !f.kind.is_ordered() {
                        return unplaced("threads are inside of a loop that runs at once and is not placed");
                    }
                    if self.varies(&VarsUsed::of_indices([&f.lo, &f.hi])) {
                        return unplaced("how often threads meet would depend on the thread");
                    }
                    let For { var, lo, hi, step, body, .. } = f;
                    let inside = self.items(body, context)?;
                    let head = For { var, kind: LoopKind::Serial, lo, hi, step, body: Vec::new() };
                    items.push(Item::Loop(Box::new(head), inside));
                }
                Stmt::If { cond, then, otherwise } if holds_threads(&then) || holds_threads(&otherwise) => {
                    if self.varies(&VarsUsed::of_cond(&cond)) {
                        return unplaced("whether threads meet would depend on the thread");
                    }
                    let (then, otherwise) = (self.items(then, context)?, self.items(otherwise, context)?);
                    items.push(Item::If(cond, then, otherwise));
                }
                Stmt::Alloc { array, body, .. } if holds_threads(&body) => {
                    self.shared.push(array);
                    items.extend(self.items(body, context)?);
                }
                Stmt::Barrier => items.push(Item::Barrier),
                leaf => {
                    own = true;
                    let next = self.phase(leaf, context);
                    match items.last_mut() {
                        Some(Item::Phase(known)) if before && known.guard == next.guard => known.join(next),
                        _ => items.push(Item::Phase(next)),
                    }
                }
            }
        }
        Ok(items)
    }

    /// The nest that a loop over threads is the outermost of, or the one that it is in.
    fn entered(&self, f: &For, context: &Context) -> Placed<(Context, Nest)> {
        let mut inside = context.clone();
        let own = match context.nest {
            Some(nest) => Some(nest),
            None => {
                let wanted = extents(&[Stmt::For(f.clone())])?;
                self.nests.iter().position(|nest| nest.extents == wanted)
            }
        };
        let Some(nest) = own.and_then(|own| self.nests.get(own)) else {
            return unplaced("a nest of loops over threads that nobody has counted");
        };
        if context.nest.is_none() && nest.threads() < self.all {
            let number = Index::Var(self.thread);
            inside.conds.push(Cond::Compare(CompareOp::Lt, number, Index::Const(nest.threads())));
        }
        inside.nest = own;
        Ok((inside, *nest))
    }

    /// The iterations of a loop over threads, each of which is one of the thread of its number.
    fn thread_loop(&mut self, f: For, (mut inner, nest): (Context, Nest)) -> Placed<Vec<Item>> {
        let (LoopKind::Parallel(parallel), Some(Axis::Thread(dim))) = (&f.kind, f.kind.axis()) else {
            return unplaced("a loop over blocks is inside of threads");
        };
        if !parallel.reductions.is_empty() {
            return unplaced("threads have no common accumulator");
        }
        self.private.extend(&parallel.private);
        let (place, extent) = (nest.places[dim.index()], nest.extents[dim.index()]);
        let own = iteration(&f.lo, f.step, place);
        inner.dims.push(dim);
        let last = f.step.saturating_mul(extent - 1);
        for hi in extremum_operands(&f.hi, false) {
            if constant_difference(&hi, &f.lo).is_none_or(|length| length <= last) {
                inner.conds.push(simplify_cond(&Cond::Compare(CompareOp::Lt, own.clone(), hi)));
            }
        }
        let body = Substitute { var: f.var, with: &own }.block(f.body);
        self.items(body, &inner)
    }

    /// A statement without loops over threads. Along axes on which no loop is placed around it the first thread does it; all do
    /// what only sets locals, of which each thread has its own.
    fn phase(&self, stmt: Stmt, context: &Context) -> Phase {
        let alone = writes(&stmt);
        let mut guard = context.conds.clone();
        let first = |place: VarId| Cond::Compare(CompareOp::Eq, Index::Var(place), Index::Const(0));
        let mut owners = [Owner::First; 3];
        let Some(nest) = context.nest.and_then(|nest| self.nests.get(nest)) else {
            if self.all > 1 && alone {
                guard.push(first(self.thread));
            } else if self.all > 1 {
                owners = [Owner::Any; 3];
            }
            return Phase { guard, accesses: accesses(&stmt, (None, owners)), stmts: vec![stmt] };
        };
        for dim in DIMS {
            if context.dims.contains(&dim) {
                owners[dim.index()] = Owner::Own;
            } else if nest.extents[dim.index()] > 1 {
                if alone {
                    guard.push(first(nest.places[dim.index()]));
                } else {
                    owners[dim.index()] = Owner::Any;
                }
            }
        }
        Phase { guard, accesses: accesses(&stmt, (context.nest, owners)), stmts: vec![stmt] }
    }

    /// A local that some threads set is read by no others.
    pub(super) fn check_locals(&self, items: &[Item]) -> Placed<()> {
        let mut phases: Vec<(&Phase, Locals)> = Vec::new();
        walk(items, &mut |phase| {
            let mut locals = Locals::default();
            locals.block(&phase.stmts);
            phases.push((phase, locals));
        });
        for (setter, set) in &phases {
            for (reader, read) in &phases {
                let hands_on = set.set.iter().any(|local| read.read.contains(local));
                if hands_on && !setter.guard.iter().all(|cond| reader.guard.contains(cond)) {
                    return unplaced("a value in a register of one thread is used by another");
                }
            }
        }
        Ok(())
    }
}

/// Whether a statement writes memory.
fn writes(stmt: &Stmt) -> bool {
    struct Writes(bool);
    impl Visit for Writes {
        fn expr(&mut self, _: &Expr) {}
        fn index(&mut self, _: &Index) {}
        fn stmt(&mut self, stmt: &Stmt) {
            let cell = matches!(stmt, Stmt::Store { .. } | Stmt::Scatter { .. })
                || matches!(stmt, Stmt::Update { target: Target::Cell { .. }, .. });
            self.0 |= cell;
            self.descend_stmt(stmt);
        }
    }
    let mut writes = Writes(false);
    writes.stmt(stmt);
    writes.0
}

#[derive(Default)]
struct Locals {
    set: Vec<LocalId>,
    read: Vec<LocalId>,
}

impl Visit for Locals {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Local(local) = expr.kind {
            self.read.push(local);
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set { local, .. } => self.set.push(*local),
            Stmt::Update { target: Target::Local(local), .. } => {
                self.set.push(*local);
                self.read.push(*local);
            }
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}
