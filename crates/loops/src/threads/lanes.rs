//! Lanes as threads: inside of a block, a vector loop with as many lanes as a warp has threads, or more, has a thread for each lane.
//!
//! In: a kernel with loops over blocks, or with parallel loops that nobody has placed.  Out: one in which the lanes of such loops are loops over threads, and
//! the parallel loops around them loops over blocks. Lanes that share a target have a cell each, in shared memory, and these are combined by halves
//! as everywhere (`lane_sums`), so that the bits are the same. What is left of 64 cells is combined by the first thread, in loops that a
//! back end can hand to its warp.
//! All other vector loops run one iteration after the other, with a cell for each lane.
//! Not here: barriers.

use crate::concurrent::trip_bound;
use crate::copy::copy;
use crate::lane_sums::{LaneCells, halves, lane_sums, spread_sums};
use crate::walk::{Rewrite, Substitute, Visit};
use crate::{ArrayId, Axis, CompareOp, Cond, Dim, Expr, For, Index, Kernel, LoopKind, Parallel, Space, Stmt, VarId};
use index::{constant_difference, simplify_index};

use super::MAX_THREADS;

/// Threads of a warp.
const WARP: i64 = 32;
/// The most bytes of what the iterations of a parallel loop have for themselves, if they become blocks. What is left of 48 KiB of shared memory is for the cells of lanes
/// and for padding.
const MAX_OWN: i64 = 32 << 10;

/// Gives the lanes of wide vector loops in blocks a thread each.
pub(super) fn spread(mut kernel: Kernel) -> Kernel {
    let body = std::mem::take(&mut kernel.body);
    let body = Host { kernel: &mut kernel }.block(body);
    kernel.body = body;
    spread_sums(kernel, &mut |_| true)
}

/// The lanes of a loop that threads can be.
fn wide(f: &For) -> Option<i64> {
    let LoopKind::Vector(lanes) = f.kind else { return None };
    let lanes = i64::from(lanes);
    let fits = lanes.count_ones() == 1 && (WARP..=MAX_THREADS).contains(&lanes);
    (fits && lane_sums(f).is_ok()).then_some(lanes)
}

/// Around all blocks.
struct Host<'a> {
    kernel: &'a mut Kernel,
}

impl Rewrite for Host<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let Stmt::For(mut f) = stmt else { return vec![self.descend_stmt(stmt)] };
        match f.kind.axis() {
            Some(Axis::Thread(_)) => return vec![Stmt::For(f)],
            Some(Axis::Block(_)) => {}
            None => match self.blocks(&f) {
                Some(Blocks::Line) => place(&mut f.kind, Dim::X),
                Some(Blocks::Plane) => {
                    place(&mut f.kind, Dim::Y);
                    if let [Stmt::For(inner)] = f.body.as_mut_slice() {
                        place(&mut inner.kind, Dim::X);
                    }
                }
                None => return vec![self.descend_stmt(Stmt::For(f))],
            },
        }
        f.body = InBlock { kernel: self.kernel }.block(f.body);
        vec![Stmt::For(f)]
    }
}

/// What parallel loops that nobody has placed become.
enum Blocks {
    /// Blocks along x.
    Line,
    /// Blocks along y, and the loop inside along x.
    Plane,
}

impl Host<'_> {
    /// Whether the iterations of a parallel loop, or of the one directly inside, hold wide vector loops and nothing that cannot be in a block.
    fn blocks(&self, f: &For) -> Option<Blocks> {
        let parallel = self.unplaced(f)?;
        if let [Stmt::For(inner)] = f.body.as_slice()
            && self.unplaced(inner).is_some()
        {
            let apart = parallel.private.is_empty() && !inner.lo.uses(f.var) && !inner.hi.uses(f.var);
            return (apart && self.is_block(inner)).then_some(Blocks::Plane);
        }
        self.is_block(f).then_some(Blocks::Line)
    }

    fn unplaced<'f>(&self, f: &'f For) -> Option<&'f Parallel> {
        let LoopKind::Parallel(parallel) = &f.kind else { return None };
        let free = parallel.axis.is_none() && parallel.reductions.is_empty();
        free.then_some(parallel)
    }

    fn is_block(&self, f: &For) -> bool {
        let mut found = Found { kernel: self.kernel, wide: false, odd: false, own: 0 };
        if let LoopKind::Parallel(parallel) = &f.kind {
            parallel.private.iter().for_each(|array| found.owns(*array));
        }
        found.block(&f.body);
        found.wide && !found.odd && found.own <= MAX_OWN
    }
}

fn place(kind: &mut LoopKind, dim: Dim) {
    if let LoopKind::Parallel(parallel) = kind {
        parallel.axis = Some(Axis::Block(dim));
    }
}

/// What the iterations of a parallel loop hold.
struct Found<'a> {
    kernel: &'a Kernel,
    wide: bool,
    /// Something that the threads of a block do not do, or an array whose size is not known, so that shared memory cannot have it.
    odd: bool,
    /// Bytes of arrays that an iteration has for itself.
    own: i64,
}

impl Found<'_> {
    fn owns(&mut self, array: ArrayId) {
        let bytes = self.kernel.arrays.get(array.index()).and_then(|array| {
            array.shape.iter().try_fold(array.ty.bytes() as i64, |bytes, extent| match extent {
                Index::Const(extent) => bytes.checked_mul(*extent),
                _ => None,
            })
        });
        match bytes {
            Some(bytes) => self.own = self.own.saturating_add(bytes),
            None => self.odd = true,
        }
    }
}

impl Visit for Found<'_> {
    fn expr(&mut self, _: &Expr) {}
    fn index(&mut self, _: &Index) {}

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) if f.kind.is_vector() => {
                self.wide |= wide(f).is_some();
                return;
            }
            Stmt::For(f) => self.odd |= f.kind.is_parallel(),
            Stmt::Alloc { array, .. } => self.owns(*array),
            Stmt::Each(_) | Stmt::Barrier => self.odd = true,
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}

/// Inside of a block, and of no loop over threads.
struct InBlock<'a> {
    kernel: &'a mut Kernel,
}

impl Rewrite for InBlock<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::For(f) if f.kind.axis().is_some_and(Axis::is_thread) => vec![Stmt::For(f)],
            Stmt::For(f) => match wide(&f) {
                Some(lanes) => self.lanes(f, lanes),
                None if f.kind.is_vector() => vec![Stmt::For(f)],
                None => vec![self.descend_stmt(Stmt::For(f))],
            },
            stmt => vec![self.descend_stmt(stmt)],
        }
    }
}

impl InBlock<'_> {
    fn lanes(&mut self, f: For, lanes: i64) -> Vec<Stmt> {
        let cond = Cond::Compare(CompareOp::Lt, f.lo.clone(), f.hi.clone());
        let sums = lane_sums(&f).unwrap_or_default();
        let cells: Vec<LaneCells> = sums.into_iter().map(|sum| LaneCells::declare(self.kernel, sum, lanes)).collect();
        let mut stmts: Vec<Stmt> =
            cells.iter().map(|cells| self.threads(lanes, |at| vec![cells.cleared(at)])).collect();
        stmts.extend(self.groups(f, lanes, &cells));
        for half in halves(lanes) {
            for cells in &cells {
                stmts.push(if half > WARP {
                    self.threads(half, |at| vec![cells.halved(at, half)])
                } else {
                    self.counted(LoopKind::Serial, Index::Const(half), |at| vec![cells.halved(at, half)])
                });
            }
        }
        if !cells.is_empty() {
            let then = cells.iter().map(LaneCells::handed_on).collect();
            stmts.push(Stmt::If { cond, then, otherwise: Vec::new() });
        }
        let around = |body, cells: LaneCells| vec![Stmt::Alloc { array: cells.array, space: Space::Shared, body }];
        cells.into_iter().fold(stmts, around)
    }

    /// The iterations, a group for each turn of the threads: first those that are whole, which need no condition, then the rest.
    fn groups(&mut self, f: For, lanes: i64, cells: &[LaneCells]) -> Vec<Stmt> {
        let For { var, lo, hi, step, body, .. } = f.clone();
        let (around, length) = (step.saturating_mul(lanes), sub(hi, lo.clone()));
        let turn = |this: &mut Self, first: Index, count: Index, body: Vec<Stmt>| {
            this.counted(on_threads(), count, |at| {
                let own = simplify_index(&add(first, times(at.clone(), step)));
                let body = Substitute { var, with: &own }.block(body);
                cells.iter().fold(body, |body, cells| cells.used(body, &at))
            })
        };
        let trips = |length: Index| Index::FloorDiv(Box::new(add(length, Index::Const(step - 1))), step);
        if trip_bound(&f).is_some_and(|trips| trips <= lanes) {
            return vec![turn(self, lo, at_most(lanes, trips(length)), body)];
        }
        let whole = simplify_index(&Index::FloorDiv(Box::new(length.clone()), around));
        let rest = simplify_index(&Index::Mod(Box::new(length), around));
        let mut stmts = Vec::new();
        if constant_difference(&rest, &Index::Const(0)) != Some(0) {
            let first = add(lo.clone(), times(whole.clone(), around));
            let copied = copy(&body, &mut self.kernel.vars);
            stmts.push(turn(self, first, at_most(lanes, trips(rest)), copied));
        }
        let group = self.fresh("g");
        let first = add(lo, times(Index::Var(group), around));
        let body = vec![turn(self, first, Index::Const(lanes), body)];
        stmts.insert(
            0,
            Stmt::For(For { var: group, kind: LoopKind::Serial, lo: Index::Const(0), hi: whole, step: 1, body }),
        );
        stmts
    }

    fn threads(&mut self, count: i64, body: impl FnOnce(Index) -> Vec<Stmt>) -> Stmt {
        self.counted(on_threads(), Index::Const(count), body)
    }

    fn counted(&mut self, kind: LoopKind, count: Index, body: impl FnOnce(Index) -> Vec<Stmt>) -> Stmt {
        let var = self.fresh("l");
        Stmt::For(For { var, kind, lo: Index::Const(0), hi: count, step: 1, body: body(Index::Var(var)) })
    }

    fn fresh(&mut self, name: &str) -> VarId {
        self.kernel.vars.push(name.to_owned());
        VarId(self.kernel.vars.len() as u32 - 1)
    }
}

fn on_threads() -> LoopKind {
    LoopKind::Parallel(Parallel { axis: Some(Axis::Thread(Dim::X)), ..Parallel::default() })
}

fn add(a: Index, b: Index) -> Index {
    Index::Add(Box::new(a), Box::new(b))
}

fn sub(a: Index, b: Index) -> Index {
    Index::Sub(Box::new(a), Box::new(b))
}

fn times(a: Index, factor: i64) -> Index {
    Index::Mul(Box::new(a), factor)
}

fn at_most(lanes: i64, count: Index) -> Index {
    simplify_index(&Index::Min(Box::new(Index::Const(lanes)), Box::new(count)))
}
