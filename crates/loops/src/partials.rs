//! Partial results: a parallel loop whose iterations add up in the same cells is cut into blocks.
//!
//! In: parallel loops that name reductions.  Out: parallel loops that name none. Every block of iterations has cells of its
//! own, which are combined afterwards, block by block:
//!
//! ```text
//! parallel for c0 in 0..N reducing s by + { s[] += x[c0] }
//! ```
//! becomes
//! ```text
//! parallel for b in 0..floor((N + 4095) / 4096) {
//!     s_parts[b] = -0.0
//!     for c0 in 4096 * b..min(N, 4096 * b + 4096) { s_parts[b] += x[c0] }
//! }
//! for b in 0..floor((N + 4095) / 4096) { s[] += s_parts[b] }
//! ```
//!
//! The blocks follow from the loop alone, so results do not depend, in any bit, on who runs them and when. Where it cannot be
//! done (the number of blocks is not known before the call, or other iterations that run at once share the array), the
//! loop is serial.

use program::{BinaryOp, ReduceOp, Role, ScalarType, Value};

use crate::concurrent::{only_iteration, trip_bound, waits};
use crate::print::free_name;
use crate::walk::{Rewrite, VarsBound, VarsUsed, Visit};
use crate::{ArrayDecl, ArrayId, Expr, For, Index, Kernel, LoopKind, Parallel, Reduction, Space, Stmt, Target, VarId};
use index::{extremum_operands, simplify_index};

/// Iterations per block where each does little.
pub(crate) const BLOCK: i64 = 4096;
/// Iterations per block where each contains loops: their number decides how many threads find work.
const HEAVY: i64 = 8;
/// The same where the partial results are whole arrays, of which there should not be many.
const HEAVY_ON_ARRAYS: i64 = 64;
/// How many partial results are cleared and combined at once: each has a cell of its own.
const ABREAST: u32 = 16;
/// Inner loops of fewer iterations do not make a body heavy.
const LIGHT_TRIPS: i64 = 16;

/// Cuts parallel loops over reductions into blocks with partial results.
pub fn partials(mut kernel: Kernel) -> Kernel {
    let body = std::mem::take(&mut kernel.body);
    let body = Cut { kernel: &mut kernel, parallel: 0 }.block(body);
    kernel.body = body;
    kernel
}

struct Cut<'a> {
    kernel: &'a mut Kernel,
    /// How many parallel loops are around.
    parallel: usize,
}

impl Rewrite for Cut<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let Stmt::For(mut f) = stmt else { return vec![self.descend_stmt(stmt)] };
        let parallel = usize::from(f.kind.is_parallel());
        self.parallel += parallel;
        f.body = self.block(f.body);
        self.parallel -= parallel;
        match &f.kind {
            // Iterations that wait for each other cannot be put one after the other, not even in blocks.
            LoopKind::Parallel(parallel) if !parallel.reductions.is_empty() && !waits(&f.body) => {
                let reductions = parallel.reductions.clone();
                match self.plan(&f, &reductions) {
                    Some(plan) => self.cut(f, plan),
                    None => vec![Stmt::For(in_order(f))],
                }
            }
            _ => vec![Stmt::For(f)],
        }
    }
}

/// The loop, one iteration after the other.
fn in_order(f: For) -> For {
    let body = only_iteration(f.kind, f.body);
    For { kind: LoopKind::Serial, body, ..f }
}

/// How a loop is to be cut.
struct Plan {
    /// Iterations per block.
    size: i64,
    /// At most so many blocks, over parameters.
    most: Index,
    reduced: Vec<Reduced>,
}

/// What is known of one reduction of a loop.
struct Reduced {
    array: ArrayId,
    op: BinaryOp,
    /// Per dimension: the subscript, if all updates in the loop agree in it and it does not change meanwhile.
    fixed: Vec<Option<Index>>,
}

impl Cut<'_> {
    fn plan(&self, f: &For, reductions: &[Reduction]) -> Option<Plan> {
        let reduced: Vec<Reduced> = reductions.iter().map(|reduction| self.reduced(f, *reduction)).collect();
        let on_arrays = reduced.iter().any(|reduced| reduced.fixed.contains(&None));
        if on_arrays && self.parallel > 0 {
            return None;
        }
        let size = match (Heavy::is(&f.body), on_arrays) {
            (false, _) => BLOCK,
            (true, false) => HEAVY,
            (true, true) => (HEAVY_ON_ARRAYS / pieces_inside(f, &f.body)).max(1),
        };
        let length = known_length(f)?;
        let most = Index::Max(Box::new(Index::Const(0)), Box::new(blocks(length, size.checked_mul(f.step)?)));
        Some(Plan { size, most: simplify_index(&most), reduced })
    }

    fn reduced(&self, f: &For, Reduction { array, op }: Reduction) -> Reduced {
        let mut updates = Updates { array, found: Vec::new() };
        updates.block(&f.body);
        let mut bound = vec![f.var];
        bound.extend(f.body.iter().flat_map(VarsBound::of));
        let fixed = (0..self.kernel.arrays[array.index()].shape.len()).map(|dim| {
            let (first, rest) = updates.found.split_first()?;
            let same = rest.iter().all(|index| index[dim] == first[dim]);
            let outside = VarsUsed::of_indices([&first[dim]]).iter().all(|var| !bound.contains(var));
            (same && outside).then(|| first[dim].clone())
        });
        Reduced { array, op, fixed: fixed.collect() }
    }

    fn cut(&mut self, f: For, plan: Plan) -> Vec<Stmt> {
        let width = plan.size.saturating_mul(f.step);
        let length = Index::Sub(Box::new(f.hi.clone()), Box::new(f.lo.clone()));
        let count = simplify_index(&blocks(length, width));
        let block = self.var("b");
        let start = Index::Add(Box::new(f.lo.clone()), Box::new(Index::Mul(Box::new(Index::Var(block)), width)));
        let end = Index::Add(Box::new(start.clone()), Box::new(Index::Const(width)));

        let mut body = Vec::new();
        let mut after = Vec::new();
        let mut inner = f.body;
        let mut scoped = Vec::new();
        for reduced in &plan.reduced {
            let parts = self.declare(reduced, plan.most.clone());
            scoped.push(parts);
            inner = UsePart { reduced, parts, block }.block(inner);
            body.extend(self.clear(reduced, parts, block));
            after.push(self.combine(reduced, parts, &count));
        }
        body.push(Stmt::For(For {
            var: f.var,
            kind: LoopKind::Serial,
            lo: simplify_index(&start),
            hi: simplify_index(&Index::Min(Box::new(f.hi), Box::new(end))),
            step: f.step,
            body: inner,
        }));
        let parallel = match f.kind {
            LoopKind::Parallel(parallel) => parallel,
            _ => Parallel::default(),
        };
        let kind = LoopKind::Parallel(Parallel { reductions: Vec::new(), ..parallel });
        let mut stmts = vec![Stmt::For(For { var: block, kind, lo: Index::Const(0), hi: count, step: 1, body })];
        stmts.extend(after);
        if self.parallel == 0 {
            return stmts;
        }
        // Every iteration around needs partial results of its own.
        scoped.into_iter().fold(stmts, |body, array| vec![Stmt::Alloc { array, space: Space::Scratch, body }])
    }

    fn var(&mut self, name: &str) -> VarId {
        self.kernel.vars.push(name.to_owned());
        VarId(self.kernel.vars.len() as u32 - 1)
    }

    /// Cells for the partial results: those of one block, times the blocks.
    fn declare(&mut self, reduced: &Reduced, blocks: Index) -> ArrayId {
        let decl = &self.kernel.arrays[reduced.array.index()];
        let (ty, extents) = (decl.ty, reduced.open_dims(&decl.shape));
        let taken = |name: &str| self.kernel.arrays.iter().any(|array| array.name == name);
        let name = free_name(&format!("{}_parts", decl.name), &taken);
        let shape = [vec![blocks], extents].concat();
        self.kernel.arrays.push(ArrayDecl { name, ty, shape, role: Role::Local, strides: None });
        ArrayId(self.kernel.arrays.len() as u32 - 1)
    }

    /// Gives every partial result of a block its first value.
    fn clear(&mut self, reduced: &Reduced, parts: ArrayId, block: VarId) -> Vec<Stmt> {
        let ty = self.kernel.arrays[parts.index()].ty;
        vec![self.cells(reduced, |_, cell| Stmt::Store {
            array: parts,
            index: [vec![Index::Var(block)], cell].concat(),
            value: Expr::constant(neutral(reduced.op, ty)),
        })]
    }

    /// Adds the partial results to the total, in the order of the blocks.
    fn combine(&mut self, reduced: &Reduced, parts: ArrayId, count: &Index) -> Stmt {
        let block = self.var("b");
        let ty = self.kernel.arrays[parts.index()].ty;
        let update = self.cells(reduced, |total, cell| Stmt::Update {
            target: Target::Cell { array: reduced.array, index: total },
            op: reduced.op,
            value: Expr::load(parts, [vec![Index::Var(block)], cell].concat(), ty),
        });
        let (lo, hi) = (Index::Const(0), count.clone());
        Stmt::For(For { var: block, kind: LoopKind::Serial, lo, hi, step: 1, body: vec![update] })
    }

    /// Loops over all cells that a block may touch; `body` is given the subscripts in the whole array and among the parts.
    fn cells(&mut self, reduced: &Reduced, body: impl FnOnce(Vec<Index>, Vec<Index>) -> Stmt) -> Stmt {
        let shape = self.kernel.arrays[reduced.array.index()].shape.clone();
        let extents = reduced.open_dims(&shape);
        let vars: Vec<VarId> = extents.iter().map(|_| self.var("c")).collect();
        let mut open = vars.iter().map(|var| Index::Var(*var));
        let total = reduced.fixed.iter().map(|fixed| fixed.clone().or_else(|| open.next()).unwrap_or(Index::Const(0)));
        let total = total.collect();
        let stmt = body(total, vars.iter().map(|var| Index::Var(*var)).collect());
        let around = |body: Stmt, (number, (var, extent)): (usize, (VarId, Index))| {
            let kind = if number == 0 { LoopKind::Vector(ABREAST) } else { LoopKind::Serial };
            Stmt::For(For { var, kind, lo: Index::Const(0), hi: extent, step: 1, body: vec![body] })
        };
        vars.into_iter().zip(extents).rev().enumerate().fold(stmt, around)
    }
}

impl Reduced {
    /// What belongs to the dimensions that are not fixed.
    fn open_dims(&self, of_dims: &[Index]) -> Vec<Index> {
        let open = self.fixed.iter().zip(of_dims).filter(|(fixed, _)| fixed.is_none());
        open.map(|(_, index)| index.clone()).collect()
    }
}

/// How many blocks of a width cover a length.
fn blocks(length: Index, width: i64) -> Index {
    let rounded = Index::Add(Box::new(length), Box::new(Index::Const(width - 1)));
    Index::FloorDiv(Box::new(rounded), width)
}

/// What the loop's range is no longer than, over parameters.
fn known_length(f: &For) -> Option<Index> {
    let lows = extremum_operands(&f.lo, true);
    let lengths = extremum_operands(&f.hi, false).into_iter().flat_map(|hi| {
        lows.iter().map(move |lo| simplify_index(&Index::Sub(Box::new(hi.clone()), Box::new(lo.clone()))))
    });
    let known = lengths.filter(|length| VarsUsed::of_indices([length]).is_empty());
    known.reduce(|one, two| Index::Min(Box::new(one), Box::new(two)))
}

/// What changes nothing it is combined with, not even the sign of a zero.
pub(crate) fn neutral(op: BinaryOp, ty: ScalarType) -> Value {
    let by = match op {
        BinaryOp::Mul => ReduceOp::Prod,
        BinaryOp::Min => ReduceOp::Min,
        BinaryOp::Max => ReduceOp::Max,
        BinaryOp::And => ReduceOp::All,
        BinaryOp::Or => ReduceOp::Any,
        _ => ReduceOp::Sum,
    };
    match by.neutral(ty) {
        Value::F64(0.0) => Value::F64(-0.0),
        Value::F32(0.0) => Value::F32(-0.0),
        value => value,
    }
}

/// The subscripts of all updates of an array.
struct Updates {
    array: ArrayId,
    found: Vec<Vec<Index>>,
}

impl Visit for Updates {
    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Update { target: Target::Cell { array, index }, .. } = stmt
            && *array == self.array
        {
            self.found.push(index.clone());
        }
        self.descend_stmt(stmt);
    }
}

/// Puts the partial results of a block in the place of the total.
struct UsePart<'a> {
    reduced: &'a Reduced,
    parts: ArrayId,
    block: VarId,
}

impl Rewrite for UsePart<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match stmt {
            Stmt::Update { target: Target::Cell { array, index }, op, value } if array == self.reduced.array => {
                let index = [vec![Index::Var(self.block)], self.reduced.open_dims(&index)].concat();
                Stmt::Update { target: Target::Cell { array: self.parts, index }, op, value }
            }
            stmt => self.descend_stmt(stmt),
        }]
    }
}

/// How many iterations loops of known length have around others that may run long, if they begin where an iteration of `outer` does: an iteration of
/// a loop over pieces is as good as those of all its pieces.
fn pieces_inside(outer: &For, stmts: &[Stmt]) -> i64 {
    let inside = stmts.iter().map(|stmt| match stmt {
        Stmt::For(f) if Heavy::is(&f.body) && VarsUsed::of_indices([&f.lo]).contains(&outer.var) => {
            let own = trip_bound(f).unwrap_or(1).max(1);
            own.saturating_mul(pieces_inside(f, &f.body))
        }
        Stmt::If { then, otherwise, .. } => pieces_inside(outer, then).max(pieces_inside(outer, otherwise)),
        Stmt::Alloc { body, .. } => pieces_inside(outer, body),
        _ => 1,
    });
    inside.max().unwrap_or(1)
}

/// Whether statements contain loops that may run long.
struct Heavy(bool);

impl Heavy {
    fn is(stmts: &[Stmt]) -> bool {
        let mut heavy = Heavy(false);
        heavy.block(stmts);
        heavy.0
    }
}

impl Visit for Heavy {
    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::For(f) = stmt {
            self.0 |= trip_bound(f).is_none_or(|trips| trips > LIGHT_TRIPS);
        }
        self.descend_stmt(stmt);
    }
}
