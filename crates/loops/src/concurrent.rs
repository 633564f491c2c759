//! What the iterations of a loop have to do with each other, as far as the loop shows it.
//!
//! In: one loop.  Out: which values in it change with its variable, which arrays its iterations add up in, and whether
//! they can run in lockstep.
//! Not here: that iterations may run at once; that is proven of the schedule, in `poly`.

use program::BinaryOp;

use crate::quotient::Range;
use crate::walk::{Rewrite, VarsUsed, Visit};
use crate::{
    ArrayId, Cond, Expr, ExprKind, For, Index, Kernel, LoopKind, Parallel, Reduction, Space, Stmt, Target, VarId,
};
use index::{Linear, constant_difference, extremum_operands, linear};

/// The variables whose values depend on that of one loop: its own, and those of inner loops whose bounds do.
#[derive(Clone, Debug)]
pub(crate) struct Varying(Vec<VarId>);

impl Varying {
    pub(crate) fn with(var: VarId) -> Varying {
        Varying(vec![var])
    }

    /// Takes in an inner loop; whether its bounds vary.
    pub(crate) fn enter(&mut self, inner: &For) -> bool {
        let varies = self.any([&inner.lo, &inner.hi]);
        if varies {
            self.0.push(inner.var);
        }
        varies
    }

    pub(crate) fn any<'a>(&self, indices: impl IntoIterator<Item = &'a Index>) -> bool {
        self.among(&VarsUsed::of_indices(indices))
    }

    pub(crate) fn cond(&self, cond: &Cond) -> bool {
        self.among(&VarsUsed::of_cond(cond))
    }

    fn among(&self, used: &[VarId]) -> bool {
        used.iter().any(|var| self.0.contains(var))
    }
}

/// A number that the loop's iterations do not exceed, if the loop shows one.
pub(crate) fn trip_bound(f: &For) -> Option<i64> {
    let lows = extremum_operands(&f.lo, true);
    let highs = bounds_above(&f.hi);
    let lengths = highs.iter().flat_map(|hi| lows.iter().filter_map(|lo| constant_difference(hi, lo)));
    let trips = lengths.map(|length| if length <= 0 { 0 } else { (length - 1) / f.step.max(1) + 1 });
    trips.min()
}

/// Expressions that an index never exceeds: `min(a, b) - c` has `a - c` and `b - c`.
fn bounds_above(index: &Index) -> Vec<Index> {
    match index {
        Index::Sub(a, b) => bounds_above(a).into_iter().map(|a| Index::Sub(Box::new(a), b.clone())).collect(),
        index => extremum_operands(index, false),
    }
}

/// Whether the loop is sure to have no second iteration.
pub(crate) fn runs_at_most_once(f: &For) -> bool {
    trip_bound(f).is_some_and(|trips| trips <= 1)
}

/// The body of a loop that has only this iteration, where it need not be a loop any more.
pub(crate) fn only_iteration(kind: LoopKind, body: Vec<Stmt>) -> Vec<Stmt> {
    let LoopKind::Parallel(parallel) = kind else { return body };
    let body = DropBarriers.block(body);
    parallel.private.into_iter().fold(body, |body, array| vec![Stmt::Alloc { array, space: Space::Scratch, body }])
}

/// Removes the barriers of one parallel loop.
struct DropBarriers;

impl Rewrite for DropBarriers {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::Barrier => Vec::new(),
            Stmt::For(f) if f.kind.is_parallel() => vec![Stmt::For(f)],
            stmt => vec![self.descend_stmt(stmt)],
        }
    }
}

/// Whether iterations of a loop with this body wait for each other.
pub(crate) fn waits(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Barrier => true,
        Stmt::For(f) => !f.kind.is_parallel() && waits(&f.body),
        Stmt::If { then, otherwise, .. } => waits(then) || waits(otherwise),
        Stmt::Alloc { body, .. } => waits(body),
        _ => false,
    })
}

impl Kernel {
    /// Whether it has loops that threads may share.
    pub fn has_parallel_loops(&self) -> bool {
        let mut found = ParallelLoops(false);
        found.block(&self.body);
        found.0
    }
}

struct ParallelLoops(bool);

impl Visit for ParallelLoops {
    fn stmt(&mut self, stmt: &Stmt) {
        self.0 |= matches!(stmt, Stmt::For(f) if f.kind.is_parallel());
        self.descend_stmt(stmt);
    }
}

/// The arrays that belong to a part of the statements, rather than to the whole call.
#[derive(Debug, Default)]
pub struct Scoped(pub Vec<ArrayId>);

impl Scoped {
    /// Of some statements and all in them.
    pub fn of(stmts: &[Stmt]) -> Vec<ArrayId> {
        let mut scoped = Scoped::default();
        scoped.block(stmts);
        scoped.0
    }
}

impl Visit for Scoped {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Alloc { array, .. } => self.0.push(*array),
            Stmt::For(For { kind: LoopKind::Parallel(parallel), .. }) => self.0.extend(&parallel.private),
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}

pub(crate) fn is_scoped(stmts: &[Stmt], array: ArrayId) -> bool {
    let mut scoped = Scoped::default();
    scoped.block(stmts);
    scoped.0.contains(&array)
}

/// Whether the iterations can run in lockstep: all lanes run the same loops, one after the other, and share nothing that
/// only threads share.
pub fn runs_in_lockstep(f: &For) -> bool {
    let mut lockstep = Lockstep { varying: Varying::with(f.var), holds: true };
    lockstep.block(&f.body);
    lockstep.holds
}

struct Lockstep {
    varying: Varying,
    holds: bool,
}

impl Visit for Lockstep {
    // Only statements decide.
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(inner) => self.holds &= inner.kind.is_ordered() && !self.varying.any([&inner.lo, &inner.hi]),
            Stmt::Barrier | Stmt::Each(_) | Stmt::Alloc { space: Space::Shared, .. } => self.holds = false,
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}

/// Whether the loop shows that all its iterations write one cell, as a loop does that has only one iteration. `reductions` are
/// what a parallel loop combines.
pub fn writes_one_cell(f: &For, reductions: &[Reduction]) -> bool {
    let mut shared =
        SharedCell { varying: Varying::with(f.var), parallel: f.kind.is_parallel(), reductions, found: false };
    shared.block(&f.body);
    shared.found
}

struct SharedCell<'a> {
    varying: Varying,
    parallel: bool,
    reductions: &'a [Reduction],
    found: bool,
}

impl SharedCell<'_> {
    fn write(&mut self, array: ArrayId, index: &[Index]) {
        self.found |= !self.varying.any(index) && !self.reductions.iter().any(|reduction| reduction.array == array);
    }
}

impl Visit for SharedCell<'_> {
    // Only statements decide.
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            // Not every iteration gets inside.
            Stmt::If { cond, .. } if self.varying.cond(cond) => return,
            Stmt::For(inner) if self.varying.enter(inner) => return,
            Stmt::Each(_) => return,
            Stmt::Store { array, index, .. } => self.write(*array, index),
            Stmt::Update { target: Target::Cell { array, index }, .. } if self.parallel => self.write(*array, index),
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}

/// The arrays in which iterations of the loop may update the same cells, and which nothing in the loop uses otherwise: what
/// has to be combined if the iterations run at once. Where the loop shows that every iteration has cells of its own, there
/// is nothing to combine.
pub fn reductions_of(f: &For) -> Vec<Reduction> {
    let mut uses = Uses { outer: f, inner: Vec::new(), open: Vec::new(), shared: Vec::new(), otherwise: Vec::new() };
    uses.block(&f.body);
    let mut reductions: Vec<Reduction> = Vec::new();
    for (array, op) in &uses.shared {
        let other = uses.shared.iter().any(|(known, by)| known == array && by != op);
        let reduction = Reduction { array: *array, op: *op };
        if !other && !uses.otherwise.contains(array) && !reductions.contains(&reduction) {
            reductions.push(reduction);
        }
    }
    reductions
}

/// The arrays in which iterations of the loop may update the same cells, whatever else it does with them.
pub(crate) fn updated_by_many(f: &For) -> Vec<ArrayId> {
    let mut uses = Uses { outer: f, inner: Vec::new(), open: Vec::new(), shared: Vec::new(), otherwise: Vec::new() };
    uses.block(&f.body);
    uses.shared.into_iter().map(|(array, _)| array).collect()
}

struct Uses<'a> {
    outer: &'a For,
    inner: Vec<Range>,
    /// Arrays that belong to an iteration.
    open: Vec<ArrayId>,
    /// Updates of cells that another iteration may update.
    shared: Vec<(ArrayId, BinaryOp)>,
    /// Arrays that are not only updated.
    otherwise: Vec<ArrayId>,
}

impl Uses<'_> {
    fn within(&mut self, arrays: &[ArrayId], stmt: &Stmt) {
        let outside = self.open.len();
        self.open.extend(arrays);
        self.descend_stmt(stmt);
        self.open.truncate(outside);
    }

    /// Whether no two iterations of the loop touch a cell with these subscripts.
    fn is_separate(&self, index: &[Index]) -> bool {
        let separates = |index: &Index| {
            let (stride, spread) = self.stride(index)?;
            Some(stride.checked_abs()?.checked_mul(self.outer.step)? > spread)
        };
        index.iter().any(|index| separates(index).unwrap_or(false))
    }

    /// By how much a subscript moves with the loop's variable, and how far the inner loops move it meanwhile.
    fn stride(&self, index: &Index) -> Option<(i64, i64)> {
        let mut value = linear(index)?;
        let mut spread: i64 = 0;
        for range in self.inner.iter().rev() {
            let Some(coefficient) = value.coefficient(range.var) else {
                // It may still hide in a quotient.
                value = value.replace(range.var, &Linear::constant(0))?;
                continue;
            };
            let (low, width) = range.first_and_width()?;
            value = value.replace(range.var, low)?;
            spread = spread.checked_add(coefficient.checked_abs()?.checked_mul(width)?)?;
        }
        let stride = value.coefficient(self.outer.var)?;
        value.replace(self.outer.var, &Linear::constant(0))?;
        Some((stride, spread))
    }
}

impl Visit for Uses<'_> {
    // Index arithmetic loads nothing.
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Load { array, .. } | ExprKind::Gather { array, .. } = &expr.kind {
            self.otherwise.push(*array);
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) => {
                self.inner.push(Range::of(f.var, &f.lo, &f.hi));
                match &f.kind {
                    LoopKind::Parallel(Parallel { private, .. }) => self.within(private, stmt),
                    _ => self.descend_stmt(stmt),
                }
                self.inner.pop();
            }
            Stmt::Alloc { array, .. } => self.within(&[*array], stmt),
            Stmt::Update { target: Target::Cell { array, index }, op, value } => {
                if !self.open.contains(array) && !self.is_separate(index) {
                    self.shared.push((*array, *op));
                }
                self.expr(value);
            }
            Stmt::Store { array, .. } | Stmt::Scatter { array, .. } => {
                self.otherwise.push(*array);
                self.descend_stmt(stmt);
            }
            _ => self.descend_stmt(stmt),
        }
    }
}
