//! What is shown of a kernel in plain arithmetic: that its subscripts are inside their arrays, and that parallel iterations stay apart.
//!
//! In: a kernel, and what is required of sizes.  Out: what is shown of it (`forms`, `apart`); about the rest, isl has to be asked.

use loops::{ArrayId, Cond, Expr, ExprKind, For, Index, Kernel, LoopKind, Stmt, Target};
use program::{BinaryOp, UnaryOp};

use super::apart::{Accesses, Scope};
use super::forms::Facts;
use super::region::Region;

/// What is shown of a kernel, at all sizes that it may be called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// Every subscript that is index arithmetic is inside its array.
    pub(super) inside: bool,
    /// No two iterations of a parallel loop touch a cell that one of them writes.
    pub(super) apart: bool,
}

impl Shown {
    pub(super) const NOTHING: Shown = Shown { inside: false, apart: false };
    pub(super) const ALL: Shown = Shown { inside: true, apart: true };
}

/// Shows what it can of a part of a kernel that nothing is around, at all sizes for which `context` holds.
pub(super) fn show(kernel: &Kernel, part: &[Stmt], context: &[Cond]) -> Shown {
    let mut facts = Facts::of_sizes(kernel.params.len());
    context.iter().for_each(|cond| facts.assume(cond, true));
    let mut walk = Walk { kernel, facts, seen: Vec::new(), scopes: Vec::new(), regions: Vec::new(), shown: Shown::ALL };
    walk.block(part);
    walk.shown
}

struct Walk<'a> {
    kernel: &'a Kernel,
    facts: Facts,
    /// Subscripts that are known to be inside at the present place.
    seen: Vec<(ArrayId, usize, &'a Index)>,
    /// What is around.
    scopes: Vec<Scope<'a>>,
    /// The parallel loops around.
    regions: Vec<Accesses<'a>>,
    /// What nothing has spoken against.
    shown: Shown,
}

impl<'a> Walk<'a> {
    /// What is learnt inside is forgotten behind it.
    fn within(&mut self, work: impl FnOnce(&mut Self)) {
        let (mark, seen, scopes) = (self.facts.mark(), self.seen.len(), self.scopes.len());
        work(self);
        self.facts.forget(mark);
        self.seen.truncate(seen);
        self.scopes.truncate(scopes);
    }

    fn block(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::For(f) => self.for_loop(f),
            Stmt::If { cond, then, otherwise } => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    self.within(|walk| {
                        walk.learn(cond, holds);
                        walk.block(branch);
                    });
                }
            }
            Stmt::Store { array, index, value } => {
                self.expr(value);
                self.access(*array, index, true);
            }
            Stmt::Update { target, value, .. } => {
                self.expr(value);
                if let Target::Cell { array, index } = target {
                    self.access(*array, index, true);
                }
            }
            Stmt::Scatter { array, index, value, .. } => {
                self.expr(value);
                self.data_access(*array, index, true);
            }
            Stmt::Set { value, .. } => self.expr(value),
            Stmt::Alloc { array, body, .. } => {
                self.regions.iter_mut().for_each(|region| region.own(*array));
                self.block(body);
            }
            Stmt::Barrier => {}
            Stmt::Each(each) => {
                each.ends().for_each(|end| self.expr(end));
                self.block(&each.body);
            }
        }
    }

    fn for_loop(&mut self, f: &'a For) {
        if let LoopKind::Parallel(parallel) = &f.kind {
            parallel.private.iter().for_each(|array| self.regions.iter_mut().for_each(|region| region.own(*array)));
            self.regions.push(Accesses::new(Region::new(f, parallel), f, self.scopes.len()));
        }
        self.within(|walk| {
            walk.facts.enter(f.var, &f.lo, &f.hi, f.step);
            walk.scopes.push(Scope::Loop(f));
            walk.block(&f.body);
        });
        if f.kind.is_parallel()
            && let Some(region) = self.regions.pop()
        {
            self.shown.apart = self.shown.apart && region.are_apart(&mut self.facts);
        }
    }

    fn learn(&mut self, cond: &'a Cond, holds: bool) {
        self.facts.assume(cond, holds);
        self.scopes.push(Scope::If(cond, holds));
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => {}
            ExprKind::Load { array, index } => self.access(*array, index, false),
            ExprKind::Gather { array, index } => self.data_access(*array, index, false),
            ExprKind::At(_, a) | ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.expr(a),
            ExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Select(cond, a, b) => {
                self.expr(cond);
                for (branch, holds) in [(a, true), (b, false)] {
                    self.within(|walk| {
                        walk.assume(cond, holds);
                        walk.expr(branch);
                    });
                }
            }
        }
    }

    /// What a truth value says, as far as it is index arithmetic.
    fn assume(&mut self, value: &'a Expr, holds: bool) {
        match &value.kind {
            ExprKind::Cond(cond) => self.learn(cond, holds),
            ExprKind::At(_, a) => self.assume(a, holds),
            ExprKind::Unary(UnaryOp::Not, a) => self.assume(a, !holds),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if (*op == BinaryOp::And) == holds => {
                self.assume(a, holds);
                self.assume(b, holds);
            }
            _ => {}
        }
    }

    fn access(&mut self, array: ArrayId, index: &'a [Index], is_write: bool) {
        for (dimension, index) in index.iter().enumerate() {
            self.subscript(array, dimension, index);
        }
        if !self.regions.is_empty() {
            self.record(array, &index.iter().map(Some).collect::<Vec<_>>(), is_write);
        }
    }

    /// Subscripts that are values are checked while the loops run.
    fn data_access(&mut self, array: ArrayId, index: &'a [Expr], is_write: bool) {
        let mut known = Vec::new();
        for (dimension, subscript) in index.iter().enumerate() {
            match &subscript.kind {
                ExprKind::Index(index) => {
                    self.subscript(array, dimension, index);
                    known.push(Some(index));
                }
                _ => {
                    self.expr(subscript);
                    known.push(None);
                }
            }
        }
        self.record(array, &known, is_write);
    }

    /// Keeps an access for the parallel loops around.
    fn record(&mut self, array: ArrayId, subscripts: &[Option<&'a Index>], is_write: bool) {
        if self.shown.apart {
            for region in &mut self.regions {
                region.record(array, subscripts, is_write, &self.scopes);
            }
        }
    }

    fn subscript(&mut self, array: ArrayId, dimension: usize, index: &'a Index) {
        if !self.shown.inside || self.seen.contains(&(array, dimension, index)) {
            return;
        }
        let extent = self.kernel.arrays.get(array.index()).and_then(|decl| decl.shape.get(dimension));
        match extent.is_some_and(|extent| self.facts.is_inside(index, extent)) {
            true => self.seen.push((array, dimension, index)),
            false => self.shown.inside = false,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// What is shown of all of a kernel.
    fn shown(kernel: &Kernel) -> Shown {
        show(kernel, &kernel.body, &[])
    }

    /// The facts inside of loops, outermost first, and an array: whether all its subscripts are shown to be inside.
    fn is_shown(loops: &str, access: &str, shape: &str) -> bool {
        let (opening, closing) = (loops.matches('{').count(), "}".repeat(loops.matches('{').count()));
        assert!(opening > 0);
        let text = format!("kernel f(N, M; A: inout f64[{shape}]) {{ {loops} A[{access}] = 1.0 {closing} }}");
        let kernel = loops::parse(&text).unwrap();
        shown(&kernel).inside
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
    fn one_of_the_greatest_and_of_the_least_is_enough() {
        assert!(is_shown("for i in 1..N {", "i - 1", "max(0, N - 1)"));
        assert!(!is_shown("for i in 0..N {", "i", "max(0, N - 1)"));
        assert!(is_shown("for i in 0..N {", "min(i + 1, N - 1)", "N"));
        assert!(is_shown("for i in 0..N {", "max(i - 1, 0)", "N"));
        assert!(!is_shown("for i in 0..N {", "min(i - 1, 0)", "N"));
        // The greatest of `M - i - 11` and a negative number is not negative.
        let guarded = "for i in 0..N { if i <= max(M, i) - 11 { for j in i..i + 12 {";
        assert!(is_shown(guarded, "j", "M + 1"));
        assert!(!is_shown(guarded, "j", "M"));
    }

    #[test]
    fn quotients_are_of_use_wherever_they_were_met() {
        // There is an iteration of the second loop only if the block of the first is a whole one.
        let blocks = "for b in 0..floor((N + 7) / 8) { for k in 2 * b + 1..floor(N / 4) { for i in 8 * b..8 * b + 8 {";
        assert!(is_shown(blocks, "i", "N"));
        assert!(!is_shown(&blocks.replace("2 * b + 1", "2 * b"), "i", "N"));
    }

    #[test]
    fn numbers_that_are_too_large_show_nothing() {
        assert!(!is_shown("for i in 0..N {", "9223372036854775807 * i + 9223372036854775807", "N"));
    }

    /// Whether the iterations of the parallel loops of a kernel are shown to stay apart.
    fn is_apart(body: &str) -> bool {
        let text = format!("kernel f(N, M; A: inout f64[N, M], B: in f64[N, M]) {{ {body} }}");
        let shown = shown(&loops::parse(&text).unwrap());
        assert!(shown.inside, "{text}");
        shown.apart
    }

    #[test]
    fn iterations_with_cells_of_their_own_are_apart() {
        assert!(is_apart("parallel for i in 0..N { for j in 0..M { A[i, j] = B[i, j] } }"));
        assert!(is_apart("for i in 0..N { parallel for j in 0..M { A[i, j] = A[i, j] + B[i, j] } }"));
        assert!(is_apart("parallel for i in 0..N { parallel for j in 0..M { A[i, j] = B[i, j] } }"));
        assert!(!is_apart("parallel for i in 0..N { for j in 0..M { if i < 3 { A[0, j] = B[i, j] } } }"));
        assert!(!is_apart("for i in 0..N { parallel for j in 1..M { A[i, j] = A[i, j - 1] } }"));
        assert!(is_apart("for i in 1..N { parallel for j in 1..M { A[i, j] = A[i - 1, j - 1] } }"));
        // Only one of the iterations does anything.
        let first = "parallel for i in 0..N { for j in 0..M { if i <= 0 { A[i, j] = A[N - 1, j] } } }";
        assert!(is_apart(first));
        assert!(!is_apart(&first.replace("i <= 0", "i <= 1")));
    }

    #[test]
    fn iterations_that_only_read_the_same_cells_are_apart() {
        assert!(is_apart("parallel for i in 0..N { for j in 0..M { A[i, j] = B[0, j] } }"));
        // Of a row that nobody writes.
        let row = "for k in 0..N { parallel for i in k + 1..N { for j in 0..M { A[i, j] = A[i, j] - A[k, j] } } }";
        assert!(is_apart(row));
        assert!(!is_apart(&row.replace("k + 1..N", "k..N")));
    }

    #[test]
    fn tiles_are_apart() {
        let tile = "parallel for t in 0..floor((N + 31) / 32) {
            for i in 32 * t..min(N, 32 * t + 32) { for j in 0..M { A[i, j] = B[i, j] } } }";
        assert!(is_apart(tile));
        assert!(!is_apart(&tile.replace("t + 32)", "t + 33)")));
        let stepping =
            "parallel for t in 0..N by 4 { for i in t..min(N, t + 4) { for j in 0..M { A[i, j] = B[i, j] } } }";
        assert!(is_apart(stepping));
        assert!(!is_apart(&stepping.replace("by 4", "by 3")));
        let backwards = "parallel for t in 0..N { for j in 0..M { A[N - 1 - t, j] = B[t, j] } }";
        assert!(is_apart(backwards));
    }

    /// Steps of a stencil in tiles, of which those of a wave are parallel. A tile leans by `lean` rows per step.
    fn waves(lean: usize) -> String {
        format!(
            "kernel waves(T, N; A: inout f64[N, N], B: inout f64[N, N]) {{
            for w in 0..floor((4 * T + N + 27) / 32) {{
            parallel for c in max(w - floor((T + 15) / 16) + 1, 0)..min(w, floor((N + 2 * T) / 32)) + 1 {{
            for b in 0..floor((N + 511) / 512) {{
            for t in max(max(0, 16 * w - 16 * c), 16 * c - N)..min(T, 16 * w - 16 * c + 16) {{
            for r in max(32 * c, {lean} * t + 1)..min(32 * c + 32, {lean} * t + N) {{
                if {lean} * t + N >= r + 2 {{
                for j in max(1, 512 * b)..min(N - 1, 512 * b + 512) {{
                    B[r - {lean} * t, j] = A[r - {lean} * t - 1, j] + A[r - {lean} * t, j + 1] + A[r - {lean} * t + 1, j]
                }} }}
                if {lean} * t <= r - 2 {{
                for j in max(1, 512 * b)..min(N - 1, 512 * b + 512) {{
                    A[r - {lean} * t - 1, j] = B[r - {lean} * t - 2, j] + B[r - {lean} * t - 1, j - 1] + B[r - {lean} * t, j]
                }} }}
            }} }} }} }} }} }}"
        )
    }

    #[test]
    fn tiles_of_a_wave_are_apart() {
        let shown = |text: &str| shown(&loops::parse(text).unwrap());
        assert_eq!(shown(&waves(2)), Shown::ALL);
        // A tile must lean as far as values travel in a step.
        assert_eq!(shown(&waves(1)), Shown { inside: true, apart: false });
        // Nor are tiles of the same steps, or of some that are.
        let upright = waves(2).replace("16 * w - 16 * c", "16 * w").replace("..min(w, ", "..min(w + 1, ");
        assert_eq!(shown(&upright), Shown { inside: true, apart: false });
        let tall = waves(2).replace("16 * w - 16 * c + 16", "16 * w - 16 * c + 33");
        assert_eq!(shown(&tall), Shown { inside: true, apart: false });
    }
}
