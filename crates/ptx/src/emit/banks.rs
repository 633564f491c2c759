//! Rows of shared memory: how far they are apart, so that the threads of a warp touch different banks.
//!
//! In: an array in shared memory and the statements that use it.  Out: how many cells to leave free at the end of each row: the
//! fewest with which a warp's accesses take the fewest waves, counted for the first warp of a block.

use std::collections::BTreeSet;

use loops::{ArrayId, Expr, ExprKind, Index, Kernel, Stmt, Target, VarId, Visit};

/// Threads of a warp, and banks of four bytes.
const LANES: i64 = 32;
const BANKS: i64 = 32;
/// Rows stay at multiples of so many bytes, for wide accesses.
const KEPT: i64 = 16;

/// The cells to leave free at the end of rows.
pub(super) fn padding(kernel: &Kernel, stmts: &[Stmt], thread: VarId, array: ArrayId, extents: &[i64]) -> i64 {
    let Some(declared) = kernel.arrays.get(array.index()) else { return 0 };
    let bytes = declared.ty.bytes() as i64;
    if extents.len() < 2 || bytes > KEPT || extents.contains(&0) {
        return 0;
    }
    let mut accesses = Accesses { array, found: Vec::new() };
    accesses.block(stmts);
    let cells: Vec<Vec<Vec<i64>>> =
        accesses.found.iter().filter_map(|index| cells_of_warp(kernel, thread, index)).collect();
    let step = (KEPT / bytes).max(1);
    let waves = |padding: i64| -> i64 { cells.iter().map(|cells| waves(cells, extents, padding, bytes)).sum() };
    // The first of the least.
    (0..=BANKS * 4 / KEPT).map(|number| number * step).min_by_key(|padding| (waves(*padding), *padding)).unwrap_or(0)
}

/// The cell of each thread of a warp, with all other variables at zero; none if it depends on sizes.
fn cells_of_warp(kernel: &Kernel, thread: VarId, index: &[Index]) -> Option<Vec<Vec<i64>>> {
    let params = vec![0; kernel.params.len()];
    let lane = |lane: i64| -> Option<Vec<i64>> {
        let mut vars = vec![0; kernel.vars.len()];
        *vars.get_mut(thread.index())? = lane;
        index.iter().map(|subscript| subscript.value(&params, &vars)).collect()
    };
    (0..LANES).map(lane).collect()
}

/// How often the busiest bank is used, for different words.
fn waves(cells: &[Vec<i64>], extents: &[i64], padding: i64, bytes: i64) -> i64 {
    let mut words = vec![BTreeSet::new(); BANKS as usize];
    for cell in cells {
        let last = extents.len() - 1;
        let place = cell.iter().zip(extents).enumerate().fold(0i64, |place, (dim, (subscript, extent))| {
            let extent = if dim == last { extent + padding } else { *extent };
            place.saturating_mul(extent).saturating_add(*subscript)
        });
        let word = place.saturating_mul(bytes).div_euclid(4);
        if let Some(bank) = words.get_mut(word.rem_euclid(BANKS) as usize) {
            bank.insert(word);
        }
    }
    words.iter().map(|bank| bank.len() as i64).max().unwrap_or(0)
}

/// The subscripts of an array, each once.
struct Accesses {
    array: ArrayId,
    found: Vec<Vec<Index>>,
}

impl Accesses {
    fn access(&mut self, index: &[Index]) {
        if !self.found.iter().any(|known| known == index) {
            self.found.push(index.to_vec());
        }
    }
}

impl Visit for Accesses {
    // Index arithmetic loads nothing.
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Load { array, index } = &expr.kind
            && *array == self.array
        {
            self.access(index);
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Store { array, index, .. } | Stmt::Update { target: Target::Cell { array, index }, .. } = stmt
            && *array == self.array
        {
            self.access(index);
        }
        self.descend_stmt(stmt);
    }
}
