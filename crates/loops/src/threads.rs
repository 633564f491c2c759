//! Threads: placed loops as one program that every thread of a block runs.
//!
//! In: a kernel in which some loops are placed on a GPU (`parallel(block.x)`, `parallel(thread.y)`).  Out: one in which an
//! iteration of the innermost loop over blocks is a single loop over all threads of the block, with barriers where threads
//! hand something on, around it what they share, and around that nothing but loops over blocks. Or why there is none.
//! A nest of loops over threads becomes conditions on the thread, whose number counts through the nest, x first; what is outside
//! of all of them is done by the first thread, or by all where it only sets locals. Several loops over blocks in one another follow each other: their iterations are independent,
//! so that all of the first may be over before the next begins.
//! Not here: that iterations may run at once, which the schedule's proof knows; registers and instructions.

mod ahead;
mod barriers;
mod lanes;
mod owner;
mod phases;
mod rectangle;
mod registers;

use crate::concurrent::trip_bound;
use crate::simplify::simplified;
use crate::walk::{Substitute, Visit};
use crate::{ArrayId, Axis, Cond, Dim, For, Index, Kernel, LoopKind, Parallel, Rewrite, Space, Stmt, VarId};
use barriers::Item;
use index::simplify_index;
use phases::Phases;
use rectangle::{Around, rectangular};

/// The most threads of a block.
const MAX_THREADS: i64 = 1024;

const DIMS: [Dim; 3] = [Dim::X, Dim::Y, Dim::Z];

/// Why placed loops cannot be run as blocks and threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unplaced(pub String);

type Placed<T> = Result<T, Unplaced>;

fn unplaced<T>(why: impl Into<String>) -> Placed<T> {
    Err(Unplaced(why.into()))
}

/// Gives every block one loop over its threads. Lanes that are no threads run one after the other.
pub fn threads(kernel: Kernel) -> Placed<Kernel> {
    let mut kernel = lanes::spread(kernel);
    if !holds(&kernel.body, &|_| true) {
        return Ok(kernel);
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = simplified(Placer { kernel: &mut kernel }.host(body)?);
    Ok(kernel)
}

/// Whether a loop on such an axis is among the statements.
fn holds(stmts: &[Stmt], wanted: &dyn Fn(Axis) -> bool) -> bool {
    struct Find<'a> {
        wanted: &'a dyn Fn(Axis) -> bool,
        found: bool,
    }
    impl Visit for Find<'_> {
        fn expr(&mut self, _: &crate::Expr) {}
        fn index(&mut self, _: &Index) {}
        fn stmt(&mut self, stmt: &Stmt) {
            if let Stmt::For(f) = stmt {
                self.found |= f.kind.axis().is_some_and(self.wanted);
            }
            self.descend_stmt(stmt);
        }
    }
    let mut find = Find { wanted, found: false };
    find.block(stmts);
    find.found
}

fn holds_blocks(stmt: &Stmt) -> bool {
    holds(std::slice::from_ref(stmt), &|axis| !axis.is_thread())
}

fn holds_threads(stmts: &[Stmt]) -> bool {
    holds(stmts, &Axis::is_thread)
}

struct Placer<'a> {
    kernel: &'a mut Kernel,
}

impl Placer<'_> {
    fn fresh(&mut self, name: &str) -> VarId {
        self.kernel.vars.push(name.to_owned());
        VarId(self.kernel.vars.len() as u32 - 1)
    }

    /// Statements around all placed loops.
    fn host(&mut self, stmts: Vec<Stmt>) -> Placed<Vec<Stmt>> {
        let mut done = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::For(f) if f.kind.axis().is_some_and(|axis| !axis.is_thread()) => done.extend(self.grid(f)?),
                Stmt::For(f) if f.kind.axis().is_some() => done.extend(self.block(vec![Stmt::For(f)], Vec::new())?),
                Stmt::For(f) if holds(&f.body, &|_| true) => {
                    let kind = match &f.kind {
                        LoopKind::Serial | LoopKind::Unrolled => LoopKind::Serial,
                        LoopKind::Parallel(parallel)
                            if parallel.private.is_empty() && parallel.reductions.is_empty() =>
                        {
                            LoopKind::Serial
                        }
                        _ => return unplaced("loops are placed inside of a loop that runs at once and is not placed"),
                    };
                    let body = self.host(f.body)?;
                    done.push(Stmt::For(For { kind, body, ..f }));
                }
                Stmt::If { cond, then, otherwise } => {
                    done.push(Stmt::If { cond, then: self.host(then)?, otherwise: self.host(otherwise)? });
                }
                // What threads share, they share in a block.
                Stmt::Alloc { space: Space::Shared, ref body, .. } if holds_threads(body) && !holds_blocks(&stmt) => {
                    done.extend(self.block(vec![stmt], Vec::new())?);
                }
                Stmt::Alloc { array, space, body } => {
                    done.push(Stmt::Alloc { array, space, body: self.host(body)? });
                }
                other => done.push(other),
            }
        }
        Ok(done)
    }

    /// A loop over blocks, as one nest for each part of it that is a kernel.
    fn grid(&mut self, f: For) -> Placed<Vec<Stmt>> {
        let For { var, kind, lo, hi, step, body } = f;
        let LoopKind::Parallel(Parallel { reductions, private, axis }) = kind else {
            return unplaced("a loop is placed that does not run at once");
        };
        if !reductions.is_empty() {
            return unplaced("blocks have no common accumulator");
        }
        let mut nests = Vec::new();
        for (number, part) in parts(body).into_iter().enumerate() {
            let inner = match part {
                Part::Blocks(_) if !private.is_empty() => {
                    return unplaced("an array of a block is used by blocks inside of it");
                }
                Part::Blocks(inner) => match rectangular(*inner, Around { var, lo: &lo, hi: &hi }) {
                    Some(inner) => self.grid(inner)?,
                    None => return unplaced("how many blocks there are along one axis depends on another"),
                },
                Part::Mixed => return unplaced("a loop over blocks stands inside of other statements of a block"),
                Part::Threads(stmts) => self.block(stmts, private.clone())?,
            };
            for (place, stmt) in inner.into_iter().enumerate() {
                let mut body = vec![stmt];
                let mut own = var;
                if number + place > 0 {
                    let name = self.kernel.vars.get(var.index()).cloned().unwrap_or_default();
                    own = self.fresh(&name);
                    body = Substitute { var, with: &Index::Var(own) }.block(body);
                }
                let kind = LoopKind::Parallel(Parallel { axis, ..Parallel::default() });
                nests.push(Stmt::For(For { var: own, kind, lo: lo.clone(), hi: hi.clone(), step, body }));
            }
        }
        Ok(nests)
    }

    /// One iteration of the innermost loop over blocks, of which each has the arrays `private`.
    fn block(&mut self, body: Vec<Stmt>, private: Vec<ArrayId>) -> Placed<Vec<Stmt>> {
        let mut nests: Vec<Nest> = Vec::new();
        for extents in nests_of(&body)? {
            if nests.iter().all(|nest| nest.extents != extents) {
                let places = DIMS.map(|dim| self.fresh(["x", "y", "z"][dim.index()]));
                nests.push(Nest { extents, places });
            }
        }
        let all = nests.iter().map(Nest::threads).max().unwrap_or(1);
        if all > MAX_THREADS {
            return unplaced(format!("a block would have {all} threads, and GPUs have room for {MAX_THREADS}"));
        }
        let thread = self.fresh("t");
        let mut phases = Phases::new(thread, all, nests.clone());
        let items = phases.items(body, &phases::Context::default())?;
        let shared = [private, std::mem::take(&mut phases.shared)].concat();
        for array in &shared {
            let declared = self.kernel.arrays.get(array.index());
            let constant = declared.is_some_and(|found| found.shape.iter().all(|at| matches!(at, Index::Const(_))));
            if !constant {
                let name = declared.map_or("?", |found| found.name.as_str());
                return unplaced(format!("the size of `{name}`, which the threads of a block share, is no constant"));
            }
        }
        phases.check_locals(&items)?;
        let own = std::mem::take(&mut phases.private);
        let items = ahead::ahead(self.kernel, items, &shared);
        let owned = barriers::owned(&items, &phases);
        let body = simplified(barriers::placed(items, &phases, &own));
        let mut body = registers::kept(self.kernel, body, &owned);
        for nest in nests {
            for (dim, place) in DIMS.into_iter().zip(nest.places) {
                body = Substitute { var: place, with: &position(thread, dim, nest.extents) }.block(body);
            }
        }
        let kind =
            LoopKind::Parallel(Parallel { private: own, axis: Some(Axis::Thread(Dim::X)), ..Parallel::default() });
        let all = Stmt::For(For { var: thread, kind, lo: Index::Const(0), hi: Index::Const(all), step: 1, body });
        let around = |body: Stmt, array: ArrayId| Stmt::Alloc { array, space: Space::Shared, body: vec![body] };
        Ok(vec![shared.into_iter().fold(all, around)])
    }
}

/// What a loop over blocks holds.
enum Part {
    /// Another loop over blocks.
    Blocks(Box<For>),
    /// Loops over blocks inside of something else.
    Mixed,
    /// Statements of a block.
    Threads(Vec<Stmt>),
}

fn parts(stmts: Vec<Stmt>) -> Vec<Part> {
    let mut parts = Vec::new();
    for stmt in stmts {
        match (stmt, parts.last_mut()) {
            (Stmt::For(f), _) if f.kind.axis().is_some_and(|axis| !axis.is_thread()) => {
                parts.push(Part::Blocks(Box::new(f)));
            }
            (stmt, _) if holds_blocks(&stmt) => parts.push(Part::Mixed),
            (stmt, Some(Part::Threads(stmts))) => stmts.push(stmt),
            (stmt, _) => parts.push(Part::Threads(vec![stmt])),
        }
    }
    parts
}

/// The threads along each axis of a nest, and what stands for the place of a thread among them.
#[derive(Clone, Copy, Debug)]
struct Nest {
    extents: [i64; 3],
    places: [VarId; 3],
}

impl Nest {
    fn threads(&self) -> i64 {
        self.extents.iter().fold(1, |all, extent| all.saturating_mul(*extent))
    }
}

/// How many threads each outermost loop over threads needs along the axes.
fn nests_of(stmts: &[Stmt]) -> Placed<Vec<[i64; 3]>> {
    let mut found = Vec::new();
    for stmt in stmts {
        match stmt {
            Stmt::For(f) if f.kind.axis().is_some() => found.push(extents(std::slice::from_ref(stmt))?),
            Stmt::For(f) => found.extend(nests_of(&f.body)?),
            Stmt::If { then, otherwise, .. } => {
                found.extend(nests_of(then)?);
                found.extend(nests_of(otherwise)?);
            }
            Stmt::Alloc { body, .. } => found.extend(nests_of(body)?),
            _ => {}
        }
    }
    Ok(found)
}

/// The threads along each axis: as many as the longest loop has iterations.
fn extents(stmts: &[Stmt]) -> Placed<[i64; 3]> {
    struct Longest {
        extents: [i64; 3],
        open: bool,
    }
    impl Visit for Longest {
        fn expr(&mut self, _: &crate::Expr) {}
        fn index(&mut self, _: &Index) {}
        fn stmt(&mut self, stmt: &Stmt) {
            if let Stmt::For(f) = stmt
                && let Some(Axis::Thread(dim)) = f.kind.axis()
            {
                match (trip_bound(f), self.extents.get_mut(dim.index())) {
                    (Some(trips), Some(extent)) => *extent = (*extent).max(trips),
                    _ => self.open = true,
                }
            }
            self.descend_stmt(stmt);
        }
    }
    let mut longest = Longest { extents: [1; 3], open: false };
    longest.block(stmts);
    if longest.open {
        return unplaced("a loop over threads has no constant bound");
    }
    Ok(longest.extents)
}

/// The place of a thread along an axis, x first.
fn position(thread: VarId, dim: Dim, extents: [i64; 3]) -> Index {
    let inner: i64 = extents.iter().take(dim.index()).product();
    let outer: i64 = extents.iter().skip(dim.index() + 1).product();
    let extent = extents[dim.index()];
    if extent == 1 {
        return Index::Const(0);
    }
    let mut place = Index::Var(thread);
    if inner > 1 {
        place = Index::FloorDiv(Box::new(place), inner);
    }
    if outer > 1 {
        place = Index::Mod(Box::new(place), extent);
    }
    place
}

/// `lo + step * place`
fn iteration(lo: &Index, step: i64, place: VarId) -> Index {
    let moved = Index::Mul(Box::new(Index::Var(place)), step);
    simplify_index(&Index::Add(Box::new(lo.clone()), Box::new(moved)))
}

/// Statements under conditions, none if there are none.
fn under(conds: &[Cond], stmts: Vec<Stmt>) -> Vec<Stmt> {
    match conds {
        [] => stmts,
        [cond] => vec![Stmt::If { cond: cond.clone(), then: stmts, otherwise: Vec::new() }],
        conds => vec![Stmt::If { cond: Cond::And(conds.to_vec()), then: stmts, otherwise: Vec::new() }],
    }
}

/// What some items hold, for everyone that walks them.
fn walk<'a>(items: &'a [Item], visit: &mut dyn FnMut(&'a phases::Phase)) {
    for item in items {
        match item {
            Item::Phase(phase) => visit(phase),
            Item::Loop(_, body) => walk(body, visit),
            Item::If(_, then, otherwise) => {
                walk(then, visit);
                walk(otherwise, visit);
            }
            Item::Barrier => {}
        }
    }
}
