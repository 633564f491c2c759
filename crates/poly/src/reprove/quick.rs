//! Are all subscripts of a kernel inside their arrays? An answer in plain arithmetic, where there is one.
//!
//! In: a kernel, and what is required of sizes.  Out: `true` if every subscript is shown to be inside (`forms`); else isl has to
//! find out.
//! Not here: whether parallel iterations meet.

use loops::{ArrayId, Cond, Expr, ExprKind, Index, Kernel, Stmt, Target};
use program::{BinaryOp, UnaryOp};

use super::forms::Facts;

/// Whether every subscript that is index arithmetic is shown to be inside its array, at all sizes for which `context` holds.
pub(super) fn is_inside(kernel: &Kernel, context: &[Cond]) -> bool {
    let mut facts = Facts::of_sizes(kernel.params.len());
    context.iter().for_each(|cond| facts.assume(cond, true));
    Walk { kernel, facts, seen: Vec::new() }.block(&kernel.body)
}

struct Walk<'a> {
    kernel: &'a Kernel,
    facts: Facts,
    /// Subscripts that are known to be inside at the present place.
    seen: Vec<(ArrayId, usize, &'a Index)>,
}

impl<'a> Walk<'a> {
    /// What is learnt inside is forgotten behind it.
    fn within(&mut self, work: impl FnOnce(&mut Self) -> bool) -> bool {
        let (mark, seen) = (self.facts.mark(), self.seen.len());
        let shown = work(self);
        self.facts.forget(mark);
        self.seen.truncate(seen);
        shown
    }

    fn block(&mut self, stmts: &'a [Stmt]) -> bool {
        stmts.iter().all(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> bool {
        match stmt {
            Stmt::For(f) => self.within(|walk| {
                walk.facts.enter(f.var, &f.lo, &f.hi, f.step);
                walk.block(&f.body)
            }),
            Stmt::If { cond, then, otherwise } => {
                [(then, true), (otherwise, false)].into_iter().all(|(branch, holds)| {
                    self.within(|walk| {
                        walk.facts.assume(cond, holds);
                        walk.block(branch)
                    })
                })
            }
            Stmt::Store { array, index, value } => self.expr(value) && self.access(*array, index),
            Stmt::Update { target, value, .. } => {
                self.expr(value)
                    && match target {
                        Target::Cell { array, index } => self.access(*array, index),
                        Target::Local(_) => true,
                    }
            }
            Stmt::Scatter { array, index, value, .. } => self.expr(value) && self.data_access(*array, index),
            Stmt::Set { value, .. } => self.expr(value),
            Stmt::Alloc { body, .. } => self.block(body),
            Stmt::Barrier => true,
            Stmt::Each(each) => each.ends().all(|end| self.expr(end)) && self.block(&each.body),
        }
    }

    fn expr(&mut self, expr: &'a Expr) -> bool {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => {
                true
            }
            ExprKind::Load { array, index } => self.access(*array, index),
            ExprKind::Gather { array, index } => self.data_access(*array, index),
            ExprKind::At(_, a) | ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.expr(a),
            ExprKind::Binary(_, a, b) => self.expr(a) && self.expr(b),
            ExprKind::Select(cond, a, b) => {
                self.expr(cond)
                    && [(a, true), (b, false)].into_iter().all(|(branch, holds)| {
                        self.within(|walk| {
                            walk.assume(cond, holds);
                            walk.expr(branch)
                        })
                    })
            }
        }
    }

    /// What a truth value says, as far as it is index arithmetic.
    fn assume(&mut self, value: &Expr, holds: bool) {
        match &value.kind {
            ExprKind::Cond(cond) => self.facts.assume(cond, holds),
            ExprKind::At(_, a) => self.assume(a, holds),
            ExprKind::Unary(UnaryOp::Not, a) => self.assume(a, !holds),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if (*op == BinaryOp::And) == holds => {
                self.assume(a, holds);
                self.assume(b, holds);
            }
            _ => {}
        }
    }

    fn access(&mut self, array: ArrayId, index: &'a [Index]) -> bool {
        index.iter().enumerate().all(|(dimension, index)| self.subscript(array, dimension, index))
    }

    /// Subscripts that are values are checked while the loops run.
    fn data_access(&mut self, array: ArrayId, index: &'a [Expr]) -> bool {
        index.iter().enumerate().all(|(dimension, subscript)| match &subscript.kind {
            ExprKind::Index(index) => self.subscript(array, dimension, index),
            _ => self.expr(subscript),
        })
    }

    fn subscript(&mut self, array: ArrayId, dimension: usize, index: &'a Index) -> bool {
        if self.seen.contains(&(array, dimension, index)) {
            return true;
        }
        let extent = self.kernel.arrays.get(array.index()).and_then(|decl| decl.shape.get(dimension));
        let shown = extent.is_some_and(|extent| self.facts.is_inside(index, extent));
        if shown {
            self.seen.push((array, dimension, index));
        }
        shown
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The facts inside of loops, outermost first, and an array: whether all its subscripts are shown to be inside.
    fn is_shown(loops: &str, access: &str, shape: &str) -> bool {
        let (opening, closing) = (loops.matches('{').count(), "}".repeat(loops.matches('{').count()));
        assert!(opening > 0);
        let text = format!("kernel f(N, M; A: inout f64[{shape}]) {{ {loops} A[{access}] = 1.0 {closing} }}");
        let kernel = loops::parse(&text).unwrap();
        is_inside(&kernel, &[])
    }

    #[test]
    fn plain_loops_are_shown() {
        assert!(is_shown("for i in 0..N {", "i", "N"));
        assert!(!is_shown("for i in 0..N + 1 {", "i", "N"));
        assert!(!is_shown("for i in -1..N {", "i", "N"));
        assert!(is_shown("for i in 1..N - 1 {", "i + 1", "N"));
        assert!(!is_shown("for i in 1..N {", "i + 1", "N"));
        assert!(is_shown("for i in 0..N { for j in 0..i {", "i - j - 1", "N"));
        assert!(!is_shown("for i in 0..N { for j in 0..i {", "i - j", "N - 1"));
        assert!(is_shown("for i in 0..N {", "N - 1", "N"));
    }

    #[test]
    fn tiles_are_shown() {
        let tile = "for t in 0..floor((N + 31) / 32) { for i in 32 * t..min(N, 32 * t + 32) {";
        assert!(is_shown(tile, "i", "N"));
        assert!(is_shown(tile, "i - 32 * t", "32"));
        assert!(!is_shown(tile, "i - 32 * t", "31"));
        assert!(is_shown(tile, "floor(i / 16) - 2 * t, i mod 16", "2, 16"));
        assert!(is_shown(tile, "floor(i / 16) - 2 * t", "min(2, floor((N + 15) / 16))"));
        assert!(!is_shown(tile, "floor(i / 15) - 2 * t", "2"));
    }

    #[test]
    fn packed_tiles_are_shown() {
        let tile = "for t in 0..floor((N - 1) / 192) + 1 {
            for r in 16 * t..min(16 * t + 15, floor((N - 1) / 12)) + 1 {
            for i in 12 * r..min(N - 1, 12 * r + 11) + 1 {";
        let panels = "min(16, floor((N + 11) / 12)), 12";
        let copied = "floor((-192 * t + i) / 12), -192 * t + i + -12 * floor((-192 * t + i) / 12)";
        assert!(is_shown(tile, copied, panels));
        let read = "floor((i + -192 * floor(i / 192)) / 12),
            i + -192 * floor(i / 192) + -12 * floor((i + -192 * floor(i / 192)) / 12)";
        assert!(is_shown(tile, read, panels));
        assert!(!is_shown(tile, read, "min(16, floor((N + 10) / 12)), 12"));
        assert!(!is_shown(tile, read, "16, 11"));
    }

    #[test]
    fn conditions_and_steps_are_used() {
        assert!(is_shown("for i in 0..N { if i >= 1 and N > i + 1 {", "i - 1, i + 1", "N, N"));
        assert!(!is_shown("for i in 0..N { if i >= 1 or N > i + 1 {", "i - 1", "N"));
        assert!(is_shown("for i in 0..N by 2 { if i < N - 1 {", "floor(i / 2)", "floor((N + 1) / 2)"));
        assert!(is_shown("for i in 0..2 * N by 2 {", "i + 1", "2 * N"));
        assert!(!is_shown("for i in 0..2 * N by 3 {", "i + 1", "2 * N"));
    }

    #[test]
    fn numbers_that_are_too_large_show_nothing() {
        assert!(!is_shown("for i in 0..N {", "9223372036854775807 * i + 9223372036854775807", "N"));
    }
}
