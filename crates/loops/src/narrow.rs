//! Narrowing: a local array of which every iteration uses a slice of its own keeps one slice.
//!
//! In: a kernel with normalised subscripts (`simplify`).  Out: one with smaller local arrays.
//!
//! If all accesses to an array lie in one loop, and all have the loop's variable (plus something that does not change in
//! it) at one dimension, no two iterations touch the same cell. No value passes between them, so they can share the cells
//! of one iteration; if they run at once, each has such cells (`private`). The same holds for a loop inside that one, and so
//! on inwards; a loop whose variable is no subscript ends it, because its iterations may pass values on, and so does a
//! vector loop, whose lanes keep their cells side by side.

use program::Role;

use crate::concurrent::is_scoped;
use crate::walk::{Rewrite, VarsUsed, Visit};
use crate::{ArrayId, Expr, ExprKind, For, Index, Kernel, LoopKind, Stmt, Target, VarId};
use index::offset_of;

/// Drops the dimensions of local arrays along which nothing has to be kept.
pub fn narrow(mut kernel: Kernel) -> Kernel {
    for number in 0..kernel.arrays.len() {
        let array = ArrayId(number as u32);
        let declared = &kernel.arrays[number];
        if declared.role != Role::Local || declared.shape.is_empty() || Gathered::is(&kernel.body, array) {
            continue;
        }
        let mut own = Own { array, scoped: is_scoped(&kernel.body, array), dims: Vec::new(), parallel: None };
        own.block(&kernel.body);
        if !own.dims.is_empty() {
            let mut drop = DropDims { array, dims: own.dims, private_in: own.parallel.into_iter().collect() };
            kernel.arrays[number].shape = drop.rest(std::mem::take(&mut kernel.arrays[number].shape));
            kernel.body = drop.block(std::mem::take(&mut kernel.body));
        }
    }
    kernel
}

/// Keeps one slice of a local array for each iteration of a parallel loop that is known to read nothing of it but what it has written
/// itself; `vars` are the variables of the loop and its pieces. The kernel stays as it is where subscripts do not show which
/// slice is whose.
pub fn keep_private(mut kernel: Kernel, array: ArrayId, vars: &[VarId]) -> Kernel {
    let pieces = Pieces { array, vars, found: Vec::new(), outside: false }.of(&kernel.body);
    let Some(pieces) = pieces.filter(|_| !Gathered::is(&kernel.body, array) && !is_scoped(&kernel.body, array)) else {
        return kernel;
    };
    let rank = kernel.arrays[array.index()].shape.len();
    let own = |dim: &usize| pieces.iter().all(|(var, subscripts)| is_private(subscripts, *dim, *var, &[]));
    let Some(dim) = (0..rank).find(own) else { return kernel };
    let private_in = pieces.into_iter().map(|(var, _)| var).collect();
    let mut drop = DropDims { array, dims: vec![dim], private_in };
    kernel.arrays[array.index()].shape = drop.rest(std::mem::take(&mut kernel.arrays[array.index()].shape));
    kernel.body = drop.block(std::mem::take(&mut kernel.body));
    kernel
}

/// The pieces of a loop that touch an array, with the subscripts in each.
struct Pieces<'a> {
    array: ArrayId,
    vars: &'a [VarId],
    found: Vec<(VarId, Vec<Vec<Index>>)>,
    /// Whether the array is touched elsewhere, too.
    outside: bool,
}

impl Pieces<'_> {
    /// None if something else touches the array.
    fn of(mut self, stmts: &[Stmt]) -> Option<Vec<(VarId, Vec<Vec<Index>>)>> {
        self.block(stmts);
        (!self.outside && !self.found.is_empty()).then_some(self.found)
    }

    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let subscripts = Subscripts::of(stmt, self.array);
            match stmt {
                _ if subscripts.is_empty() => {}
                Stmt::For(f) if self.vars.contains(&f.var) && f.kind.is_parallel() => {
                    self.found.push((f.var, subscripts));
                }
                Stmt::For(f) => self.block(&f.body),
                Stmt::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                Stmt::Alloc { body, .. } => self.block(body),
                Stmt::Store { .. }
                | Stmt::Update { .. }
                | Stmt::Scatter { .. }
                | Stmt::Set { .. }
                | Stmt::Each(_)
                | Stmt::Barrier => self.outside = true,
            }
        }
    }
}

/// Whether cells of an array depend on data somewhere, so that nobody knows which.
struct Gathered {
    array: ArrayId,
    found: bool,
}

impl Gathered {
    fn is(stmts: &[Stmt], array: ArrayId) -> bool {
        let mut gathered = Gathered { array, found: false };
        gathered.block(stmts);
        gathered.found
    }
}

impl Visit for Gathered {
    fn expr(&mut self, expr: &Expr) {
        self.found |= matches!(&expr.kind, ExprKind::Gather { array, .. } if *array == self.array);
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.found |= matches!(stmt, Stmt::Scatter { array, .. } if *array == self.array);
        self.descend_stmt(stmt);
    }
}

/// The dimensions of an array that the loops around all its accesses make their own, from the outside in.
struct Own {
    array: ArrayId,
    /// Whether something else has given the array a scope already.
    scoped: bool,
    dims: Vec<usize>,
    /// The innermost parallel loop among those loops.
    parallel: Option<VarId>,
}

impl Own {
    fn block(&mut self, stmts: &[Stmt]) {
        let mut touching = stmts.iter().filter_map(|stmt| {
            let subscripts = Subscripts::of(stmt, self.array);
            (!subscripts.is_empty()).then_some((stmt, subscripts))
        });
        let (Some((stmt, subscripts)), None) = (touching.next(), touching.next()) else { return };
        match stmt {
            Stmt::For(For { var, kind, body, .. }) if kind.is_ordered() || kind.is_parallel() && !self.scoped => {
                let is_own = |dim: &usize| is_private(&subscripts, *dim, *var, &self.dims);
                let Some(dim) = (0..subscripts[0].len()).find(is_own) else { return };
                self.dims.push(dim);
                if kind.is_parallel() {
                    self.parallel = Some(*var);
                }
                self.block(body);
            }
            Stmt::If { then, otherwise, .. } => {
                let touches = |stmts: &[Stmt]| stmts.iter().any(|stmt| !Subscripts::of(stmt, self.array).is_empty());
                // Two branches would have to agree.
                match (touches(then), touches(otherwise)) {
                    (true, false) => self.block(then),
                    (false, true) => self.block(otherwise),
                    _ => {}
                }
            }
            Stmt::Alloc { body, .. } => self.block(body),
            Stmt::For(_)
            | Stmt::Store { .. }
            | Stmt::Update { .. }
            | Stmt::Scatter { .. }
            | Stmt::Set { .. }
            | Stmt::Each(_)
            | Stmt::Barrier => {}
        }
    }
}

/// Whether every access has, at this dimension, the variable plus the same thing, which is made of sizes.
fn is_private(subscripts: &[Vec<Index>], dim: usize, var: VarId, taken: &[usize]) -> bool {
    let first = &subscripts[0][dim];
    let made_of_sizes = offset_of(first, var).is_some_and(|offset| VarsUsed::of_indices([&offset]).is_empty());
    !taken.contains(&dim) && made_of_sizes && subscripts.iter().all(|subscript| subscript[dim] == *first)
}

/// The subscripts of all accesses to an array.
struct Subscripts {
    array: ArrayId,
    found: Vec<Vec<Index>>,
}

impl Subscripts {
    fn of(stmt: &Stmt, array: ArrayId) -> Vec<Vec<Index>> {
        let mut subscripts = Subscripts { array, found: Vec::new() };
        subscripts.stmt(stmt);
        subscripts.found
    }
}

impl Visit for Subscripts {
    // Index arithmetic loads nothing.
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Load { array, index } = &expr.kind
            && *array == self.array
        {
            self.found.push(index.clone());
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Store { array, index, .. } | Stmt::Update { target: Target::Cell { array, index }, .. } = stmt
            && *array == self.array
        {
            self.found.push(index.clone());
        }
        self.descend_stmt(stmt);
    }
}

struct DropDims {
    array: ArrayId,
    dims: Vec<usize>,
    /// The parallel loops whose iterations have a copy each.
    private_in: Vec<VarId>,
}

impl DropDims {
    fn rest(&self, subscripts: Vec<Index>) -> Vec<Index> {
        let numbered = subscripts.into_iter().enumerate();
        numbered.filter(|(dim, _)| !self.dims.contains(dim)).map(|(_, subscript)| subscript).collect()
    }
}

impl Rewrite for DropDims {
    fn expr(&mut self, expr: Expr) -> Expr {
        match expr.kind {
            ExprKind::Load { array, index } if array == self.array => {
                Expr { kind: ExprKind::Load { array, index: self.rest(index) }, ty: expr.ty }
            }
            _ => self.descend_expr(expr),
        }
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match stmt {
            Stmt::Store { array, index, value } if array == self.array => {
                Stmt::Store { array, index: self.rest(index), value: self.expr(value) }
            }
            Stmt::Update { target: Target::Cell { array, index }, op, value } if array == self.array => {
                let target = Target::Cell { array, index: self.rest(index) };
                Stmt::Update { target, op, value: self.expr(value) }
            }
            Stmt::For(For { var, kind: LoopKind::Parallel(mut parallel), lo, hi, step, body })
                if self.private_in.contains(&var) =>
            {
                parallel.private.push(self.array);
                Stmt::For(For { var, kind: LoopKind::Parallel(parallel), lo, hi, step, body: self.block(body) })
            }
            stmt => self.descend_stmt(stmt),
        }]
    }
}
