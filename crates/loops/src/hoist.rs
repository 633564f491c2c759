//! Hoisting: a cell that a loop reads in every iteration, and that nobody writes meanwhile, is read once, in front of it.
//!
//! In: any kernel.  Out: one with fewer loads, and locals that hold what they would have loaded.
//! The cell need not exist where the loop does not run, so the load stands under the condition that it does. Lanes are left alone:
//! what they share they share in registers anyway.
//! Not here: cells that the loop also writes (`promote`).

use crate::access::declare_local;
use crate::promote::not_empty;
use crate::walk::{Rewrite, VarsBound, VarsUsed, Visit};
use crate::{ArrayId, CompareOp, Cond, Expr, ExprKind, For, Index, Kernel, LocalId, LoopKind, Stmt};

/// More would not stay in registers.
const MAX_HOISTED: usize = 8;

/// Reads cells that stay the same during a loop in front of it.
pub fn hoist(mut kernel: Kernel) -> Kernel {
    let body = std::mem::take(&mut kernel.body);
    let body = Hoist { kernel: &mut kernel, around: Vec::new() }.block(body);
    kernel.body = body;
    kernel
}

struct Hoist<'a> {
    kernel: &'a mut Kernel,
    /// The loops around, without their bodies.
    around: Vec<For>,
}

impl Rewrite for Hoist<'_> {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        let Stmt::For(f) = stmt else { return vec![self.descend_stmt(stmt)] };
        if f.kind.is_vector() {
            return vec![Stmt::For(f)];
        }
        let head = For { body: Vec::new(), kind: LoopKind::Serial, ..f.clone() };
        let around: Vec<&For> = self.around.iter().collect();
        let runs = not_empty(&head, &around);
        let (mut kept, f) = self.in_front(f);
        self.around.push(head);
        let f = self.descend_stmt(Stmt::For(f));
        let guard = self.around.pop().filter(|_| !runs && !kept.is_empty());
        kept.push(f);
        match guard {
            None => kept,
            Some(For { lo, hi, .. }) => {
                let cond = Cond::Compare(CompareOp::Lt, lo, hi);
                vec![Stmt::If { cond, then: kept, otherwise: Vec::new() }]
            }
        }
    }
}

impl Hoist<'_> {
    /// The loads, and the loop without them.
    fn in_front(&mut self, mut f: For) -> (Vec<Stmt>, For) {
        let mut loads = Vec::new();
        for (array, index) in cells(&f).into_iter().take(MAX_HOISTED) {
            let ty = self.kernel.arrays[array.index()].ty;
            let local = declare_local(self.kernel, array, false);
            let mut read = ReadLocal { array, index: &index, local };
            f.body = read.block(f.body);
            loads.push(Stmt::Set { local, value: Expr::load(array, index, ty) });
        }
        (loads, f)
    }
}

/// What every iteration reads and none of them writes, each once.
fn cells(f: &For) -> Vec<(ArrayId, Vec<Index>)> {
    let mut loaded = Vec::new();
    for stmt in &f.body {
        match stmt {
            Stmt::Store { value, .. } | Stmt::Update { value, .. } | Stmt::Set { value, .. } => {
                always_loaded(value, &mut loaded);
            }
            Stmt::Scatter { index, value, .. } => {
                index.iter().chain([value]).for_each(|part| always_loaded(part, &mut loaded));
            }
            // What these read, they may read conditionally.
            Stmt::For(_) | Stmt::If { .. } | Stmt::Alloc { .. } | Stmt::Each(_) | Stmt::Barrier => {}
        }
    }
    let mut stored = Stored::default();
    stored.block(&f.body);
    if let LoopKind::Parallel(parallel) = &f.kind {
        stored.0.extend(&parallel.private);
    }
    let mut bound = VarsBound::default();
    bound.block(&f.body);
    bound.0.push(f.var);
    let mut cells: Vec<(ArrayId, Vec<Index>)> = Vec::new();
    for (array, index) in loaded {
        let stays = !VarsUsed::of_indices(index).iter().any(|var| bound.0.contains(var));
        let known = cells.iter().any(|(known, cell)| *known == array && cell == index);
        if stays && !known && !stored.0.contains(&array) {
            cells.push((array, index.to_vec()));
        }
    }
    cells
}

fn always_loaded<'e>(expr: &'e Expr, cells: &mut Vec<(ArrayId, &'e [Index])>) {
    match &expr.kind {
        ExprKind::Load { array, index } => cells.push((*array, index)),
        ExprKind::Gather { index, .. } => index.iter().for_each(|index| always_loaded(index, cells)),
        ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::At(_, a) => always_loaded(a, cells),
        ExprKind::Binary(_, a, b) => {
            always_loaded(a, cells);
            always_loaded(b, cells);
        }
        // The branches are not always evaluated.
        ExprKind::Select(cond, _, _) => always_loaded(cond, cells),
        ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => {}
    }
}

/// The arrays that statements write, or that exist only in them.
#[derive(Default)]
struct Stored(Vec<ArrayId>);

impl Visit for Stored {
    // Only statements store.
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Store { array, .. } | Stmt::Scatter { array, .. } | Stmt::Alloc { array, .. } => self.0.push(*array),
            Stmt::Update { target, .. } => self.0.extend(target.array()),
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}

/// Puts a local in the place of loads of one cell.
struct ReadLocal<'a> {
    array: ArrayId,
    index: &'a [Index],
    local: LocalId,
}

impl Rewrite for ReadLocal<'_> {
    fn expr(&mut self, expr: Expr) -> Expr {
        match &expr.kind {
            ExprKind::Load { array, index } if *array == self.array && index == self.index => {
                Expr::local(self.local, expr.ty)
            }
            _ => self.descend_expr(expr),
        }
    }
}
