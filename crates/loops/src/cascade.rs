//! Cascades: long sums of floats are made of sums of blocks.
//!
//! In: loops that add to scalar locals (`promote`).  Out: the same loops in blocks of a few thousand terms, whose sums are then
//! added up. A single accumulator of 24 bits stops counting at 2^24; sums of blocks do not, and rounding errors stay small.
//!
//! ```text
//! for c0 in 0..N { s += x[c0] }
//! ```
//! becomes
//! ```text
//! for c0_block in 0..N by 4096 {
//!     s_block = 0.0
//!     for c0 in c0_block..min(N, c0_block + 4096) { s_block += x[c0] }
//!     s += s_block
//! }
//! ```
//!
//! Loops that are known to be short are left alone. Where a nest of loops does nothing but add, blocks are boxes and their loops
//! stand outside the nest, so that the inner loops stay as they are; elsewhere each loop has its blocks in its place. A nest
//! inside other loops, which may be short and run often, stays as it is where its sizes fit one box.
//! Sums that accumulate in arrays, cell beside cell, are not cascaded. A vector loop whose lanes share the target is cut into blocks of as many terms for
//! each lane; each block is combined with the target at its end, as that is what such a loop means (`lane_sums`).

use program::{BinaryOp, Value};

use crate::access::fresh_local;
use crate::concurrent::trip_bound;
use crate::copy::copy;
use crate::lane_sums::{LaneSum, lane_sums};
use crate::partials::BLOCK;
use crate::prune::may_fail;
use crate::walk::{Rewrite, VarsUsed, Visit};
use crate::{ArrayId, CompareOp, Cond, Expr, ExprKind, For, Index, Kernel, LocalId, LoopKind, Stmt, Target, VarId};
use index::{simplify_cond, simplify_index};

/// Iterations per block of outer loops of a nest, by the number of loops that are in blocks.
const OUTER: [i64; 3] = [BLOCK, 64, 16];

/// Puts long sums of floats into blocks.
pub fn cascade(mut kernel: Kernel) -> Kernel {
    let body = std::mem::take(&mut kernel.body);
    let body = Cascade { kernel: &mut kernel, depth: 0, placed: false }.block(body);
    kernel.body = body;
    kernel
}

struct Cascade<'a> {
    kernel: &'a mut Kernel,
    /// How many loops are around.
    depth: usize,
    /// Whether one of them is placed on a GPU.
    placed: bool,
}

impl Rewrite for Cascade<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::For(f) if f.kind == LoopKind::Serial => {
                let sums = self.sums(&f);
                if sums.is_empty() {
                    return self.inside(Stmt::For(f));
                }
                match Nest::of(f) {
                    Ok(nest) => self.boxes(nest, &sums),
                    Err(f) => self.blocks(*f, &sums),
                }
            }
            Stmt::For(f) if f.kind.is_vector() => self.vector_blocks(f),
            stmt => self.inside(stmt),
        }
    }
}

impl Cascade<'_> {
    fn inside(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let around = usize::from(matches!(stmt, Stmt::For(_)));
        let placed = self.placed;
        self.placed |= matches!(&stmt, Stmt::For(For { kind: LoopKind::Parallel(found), .. }) if found.axis.is_some());
        self.depth += around;
        let stmt = self.descend_stmt(stmt);
        self.depth -= around;
        self.placed = placed;
        vec![stmt]
    }

    /// A vector loop in blocks, if its lanes add floats to a target that they share.
    fn vector_blocks(&mut self, f: For) -> Vec<Stmt> {
        let LoopKind::Vector(lanes) = f.kind else { return self.inside(Stmt::For(f)) };
        let is_sum = |sum: &LaneSum| sum.op == BinaryOp::Add && sum.is_ordered();
        let sums = lane_sums(&f).unwrap_or_default();
        let width = BLOCK.saturating_mul(i64::from(lanes));
        // In a block of a GPU lanes are threads, of which there are many, and each block of terms would make all of them wait.
        if self.placed || !sums.iter().any(is_sum) || trip_bound(&f).is_some_and(|trips| trips <= width) {
            return self.inside(Stmt::For(f));
        }
        let (Range { var, lo, hi, step }, inner) = self.cut(f, width);
        let body = self.inside(Stmt::For(inner));
        vec![Stmt::For(For { var, kind: LoopKind::Serial, lo, hi, step, body })]
    }

    /// The locals that a loop adds to and otherwise neither reads nor sets.
    fn sums(&self, f: &For) -> Vec<LocalId> {
        let mut uses = Uses::default();
        uses.block(&f.body);
        let is_sum = |local: &LocalId| {
            let float = self.kernel.locals.get(local.index()).is_some_and(|decl| decl.ty.is_float());
            float && !uses.otherwise.contains(local)
        };
        let mut sums: Vec<LocalId> = uses.added.iter().copied().filter(is_sum).collect();
        sums.sort_unstable();
        sums.dedup();
        sums
    }

    /// One loop in blocks, and the loops in it likewise.
    fn blocks(&mut self, f: For, sums: &[LocalId]) -> Vec<Stmt> {
        let terms = most_terms(&f.body, sums);
        let short = trip_bound(&f).is_some_and(|trips| trips.saturating_mul(terms) <= BLOCK);
        if short || f.kind != LoopKind::Serial {
            return self.inside(Stmt::For(f));
        }
        let (range, inner) = self.cut(f, block_size(terms));
        self.block_loops(vec![range], vec![Stmt::For(inner)], sums)
    }

    /// A nest that only adds, in boxes.
    fn boxes(&mut self, nest: Nest, sums: &[LocalId]) -> Vec<Stmt> {
        let mut size = block_size(most_terms(&nest.body, sums));
        let long = nest.loops.iter().filter(|f| trip_bound(f).is_none_or(|trips| trips > OUTER[2])).count();
        let outer = OUTER[long.clamp(1, OUTER.len()) - 1];
        let mut ranges = Vec::new();
        let plain = nest.build();
        let mut body = nest.body;
        let all = nest.loops.iter().map(trip_bound).try_fold(1i64, |all, trips| all.checked_mul(trips?));
        let short = all.is_some_and(|all| all <= size);
        for mut f in nest.loops.into_iter().rev() {
            let long = trip_bound(&f).is_none_or(|trips| trips > OUTER[2]);
            if long && !short {
                let range;
                (range, f) = self.cut(f, size);
                ranges.insert(0, range);
                size = outer;
            }
            f.body = body;
            body = vec![Stmt::For(f)];
        }
        match (ranges.len(), self.depth) {
            (0, _) => body,
            (1, _) | (_, 0) => self.block_loops(ranges, body, sums),
            _ => {
                let fits = |range: &Range| {
                    let end = Index::Add(Box::new(range.lo.clone()), Box::new(Index::Const(range.step)));
                    Cond::Compare(CompareOp::Le, range.hi.clone(), end)
                };
                let cond = simplify_cond(&Cond::And(ranges.iter().map(fits).collect()));
                let then = copy(&plain, &mut self.kernel.vars);
                vec![Stmt::If { cond, then, otherwise: self.block_loops(ranges, body, sums) }]
            }
        }
    }

    /// The loop over the blocks of a loop, and the loop over one of them.
    fn cut(&mut self, f: For, size: i64) -> (Range, For) {
        let name = format!("{}_block", self.kernel.vars[f.var.index()]);
        self.kernel.vars.push(name);
        let var = VarId(self.kernel.vars.len() as u32 - 1);
        let width = size.saturating_mul(f.step);
        let end = Index::Add(Box::new(Index::Var(var)), Box::new(Index::Const(width)));
        let hi = simplify_index(&Index::Min(Box::new(f.hi.clone()), Box::new(end)));
        let range = Range { var, lo: f.lo, hi: f.hi, step: width };
        (range, For { lo: Index::Var(var), hi, ..f })
    }

    /// Loops over blocks: each is added up on its own, then to the sums.
    fn block_loops(&mut self, ranges: Vec<Range>, mut body: Vec<Stmt>, sums: &[LocalId]) -> Vec<Stmt> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for sum in sums {
            let decl = &self.kernel.locals[sum.index()];
            let name = decl.name.trim_end_matches("_block");
            let (ty, wanted) = (decl.ty, format!("{name}_block"));
            let part = fresh_local(self.kernel, &wanted, ty);
            before.push(Stmt::Set { local: part, value: Expr::constant(Value::from_i64(ty, 0)) });
            body = AddTo { from: *sum, to: part }.block(body);
            let (op, value) = (BinaryOp::Add, Expr::local(part, ty));
            after.push(Stmt::Update { target: Target::Local(*sum), op, value });
        }
        // What the block adds up may itself be made of long loops.
        if let [Stmt::For(f)] = body.as_mut_slice()
            && ranges.len() == 1
        {
            self.depth += 1;
            f.body = self.block(std::mem::take(&mut f.body));
            self.depth -= 1;
        }
        let body = [before, body, after].concat();
        ranges.into_iter().rev().fold(body, |body, Range { var, lo, hi, step }| {
            vec![Stmt::For(For { var, kind: LoopKind::Serial, lo, hi, step, body })]
        })
    }
}

/// The blocks of a loop.
struct Range {
    var: VarId,
    lo: Index,
    hi: Index,
    step: i64,
}

/// Loops directly inside each other, none of whose bounds depends on another, around nothing but updates.
struct Nest {
    loops: Vec<For>,
    body: Vec<Stmt>,
}

impl Nest {
    /// The loops again.
    fn build(&self) -> Vec<Stmt> {
        self.loops.iter().rev().fold(self.body.clone(), |body, f| vec![Stmt::For(For { body, ..f.clone() })])
    }

    /// The nest that starts with a loop, or the loop back.
    fn of(f: For) -> Result<Nest, Box<For>> {
        let mut found: Vec<&For> = vec![&f];
        let mut body = &f.body;
        while let [Stmt::For(inner)] = body.as_slice() {
            let vars: Vec<VarId> = found.iter().map(|f| f.var).collect();
            let dependent = VarsUsed::of_indices([&inner.lo, &inner.hi]).iter().any(|var| vars.contains(var));
            if dependent || inner.kind != LoopKind::Serial {
                break;
            }
            found.push(inner);
            body = &inner.body;
        }
        let depth = found.len();
        if !only_adds(body) {
            return Err(Box::new(f));
        }
        let mut loops = Vec::new();
        let mut body = vec![Stmt::For(f)];
        for _ in 0..depth {
            let Some(Stmt::For(mut inner)) = body.pop() else { break };
            body = std::mem::take(&mut inner.body);
            loops.push(inner);
        }
        Ok(Nest { loops, body })
    }
}

/// Whether statements are updates, perhaps under conditions and in short loops, that read nothing they change and cannot
/// fail: whether they may run in any order.
fn only_adds(stmts: &[Stmt]) -> bool {
    let mut adds = Adds { holds: true, locals: Vec::new(), arrays: Vec::new() };
    adds.block(stmts);
    let mut reads = Reads { adds: &adds, found: false };
    reads.block(stmts);
    adds.holds && !reads.found
}

struct Adds {
    holds: bool,
    locals: Vec<LocalId>,
    arrays: Vec<ArrayId>,
}

impl Visit for Adds {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Update { target, value, .. } => {
                self.holds &= !may_fail(value);
                match target {
                    Target::Local(local) => self.locals.push(*local),
                    Target::Cell { array, .. } => self.arrays.push(*array),
                }
            }
            Stmt::For(f) => self.holds &= trip_bound(f).is_some_and(|trips| trips <= OUTER[1]),
            Stmt::If { .. } => {}
            _ => self.holds = false,
        }
        self.descend_stmt(stmt);
    }
}

struct Reads<'a> {
    adds: &'a Adds,
    found: bool,
}

impl Visit for Reads<'_> {
    fn expr(&mut self, expr: &Expr) {
        self.found |= match &expr.kind {
            ExprKind::Local(local) => self.adds.locals.contains(local),
            ExprKind::Load { array, .. } | ExprKind::Gather { array, .. } => self.adds.arrays.contains(array),
            _ => false,
        };
        self.descend_expr(expr);
    }
}

/// Which locals are added to, and which are used in another way.
#[derive(Default)]
struct Uses {
    added: Vec<LocalId>,
    otherwise: Vec<LocalId>,
}

impl Visit for Uses {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Local(local) = expr.kind {
            self.otherwise.push(local);
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Update { target: Target::Local(local), op: BinaryOp::Add, .. } => self.added.push(*local),
            Stmt::Update { target: Target::Local(local), .. } | Stmt::Set { local, .. } => self.otherwise.push(*local),
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}

/// Iterations that make a block if each adds so many terms.
fn block_size(terms: i64) -> i64 {
    let size = (BLOCK / terms).max(OUTER[2]);
    1 << size.ilog2()
}

/// How many terms the statements add to one of the sums at most.
fn most_terms(stmts: &[Stmt], sums: &[LocalId]) -> i64 {
    sums.iter().map(|sum| terms(stmts, *sum)).max().unwrap_or(1).max(1)
}

/// Loops that may be long count once: they have blocks of their own.
fn terms(stmts: &[Stmt], sum: LocalId) -> i64 {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Update { target, .. } => i64::from(*target == Target::Local(sum)),
        Stmt::For(f) => trip_bound(f).filter(|trips| *trips <= BLOCK).unwrap_or(1).saturating_mul(terms(&f.body, sum)),
        Stmt::If { then, otherwise, .. } => terms(then, sum).max(terms(otherwise, sum)),
        Stmt::Alloc { body, .. } => terms(body, sum),
        _ => 0,
    };
    stmts.iter().map(of).fold(0i64, i64::saturating_add)
}

/// Updates of one local become updates of another.
struct AddTo {
    from: LocalId,
    to: LocalId,
}

impl Rewrite for AddTo {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match stmt {
            Stmt::Update { target: Target::Local(local), op, value } if local == self.from => {
                Stmt::Update { target: Target::Local(self.to), op, value }
            }
            stmt => self.descend_stmt(stmt),
        }]
    }
}
