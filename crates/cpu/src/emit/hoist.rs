//! Loads that a loop repeats: their values are fetched once, in front of it.
//!
//! In: a loop that is about to run.  Out: cells that its body reads in every iteration, at an address that does not move,
//! from arrays it does not write. Cranelift keeps such loads inside, as it cannot know that they are always executed.
//! Not here: cells that the loop also writes (`loops::promote`).

use cranelift_codegen::ir::{InstBuilder, Value};
use loops::{ArrayId, Expr, ExprKind, For, Index, Stmt, Visit};

use super::linear::Atom;
use super::{Emitter, clif_type};

/// A cell whose value is in a register for the duration of a loop.
#[derive(Clone, Debug)]
pub(super) struct Hoisted {
    pub(super) array: ArrayId,
    pub(super) index: Vec<Index>,
    pub(super) value: Value,
}

/// More would not stay in registers.
const MAX_HOISTED: usize = 8;

impl Emitter<'_> {
    /// Loads what `body` of a loop finds unchanged in each iteration. Called in front of the loop, which runs at least
    /// once.
    pub(super) fn hoist(&mut self, r#for: &For) -> diag::Result<()> {
        let mut cells = Vec::new();
        for stmt in &r#for.body {
            match stmt {
                Stmt::Store { value, .. } | Stmt::Update { value, .. } | Stmt::Set { value, .. } => {
                    always_loaded(value, &mut cells);
                }
                Stmt::Scatter { index, value, .. } => {
                    index.iter().chain([value]).for_each(|part| always_loaded(part, &mut cells));
                }
                // What these read, they may read conditionally.
                Stmt::For(_) | Stmt::If { .. } | Stmt::Alloc { .. } | Stmt::Each(_) | Stmt::Barrier => {}
            }
        }
        let mut hoisted = 0;
        for (array, index) in cells {
            let known = self.hoisted_value(array, index).is_some();
            if known || hoisted == MAX_HOISTED || !self.is_invariant(r#for, index) || stores_to(&r#for.body, array) {
                continue;
            }
            let ty = clif_type(self.kernel.arrays[array.index()].ty);
            let (pointer, displacement) = self.address(array, index)?;
            let flags = self.flags[array.index()];
            let value = self.b.ins().load(ty, flags, pointer, displacement);
            self.hoisted.push(Hoisted { array, index: index.to_vec(), value });
            hoisted += 1;
        }
        Ok(())
    }

    pub(super) fn hoisted_value(&self, array: ArrayId, index: &[Index]) -> Option<Value> {
        let cell = self.hoisted.iter().find(|cell| cell.array == array && cell.index == index);
        cell.map(|cell| cell.value)
    }

    /// Whether subscripts can be computed in front of the loop.
    fn is_invariant(&self, r#for: &For, index: &[Index]) -> bool {
        index.iter().all(|subscript| {
            let terms = self.linearize(subscript).terms;
            // The loop's own variable has no value yet, and so no depth.
            terms.iter().all(|(atom, _)| *atom != Atom::Var(r#for.var) && self.depth(atom) <= self.depth)
        })
    }
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

fn stores_to(body: &[Stmt], array: ArrayId) -> bool {
    let mut stores = Stores { array, found: false };
    stores.block(body);
    stores.found
}

struct Stores {
    array: ArrayId,
    found: bool,
}

impl Visit for Stores {
    // Only statements store.
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &Stmt) {
        self.found |= match stmt {
            Stmt::Store { array, .. } | Stmt::Scatter { array, .. } => *array == self.array,
            Stmt::Update { target, .. } => target.array() == Some(self.array),
            _ => false,
        };
        self.descend_stmt(stmt);
    }
}
