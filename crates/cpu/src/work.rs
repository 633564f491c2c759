//! How much an iteration of a loop does, told from the sizes alone.
//!
//! In: statements, once.  Out: a skeleton of loops and operations, and from it, for given sizes, about how many operations an
//! iteration has. It is a guess: conditions count as if they held, loops whose ends depend on data as if they ran once,
//! variables around as if they were 0, and those inside as if they were in the middle of their ranges.

use loops::{Each, Expr, ExprKind, For, Index, Stmt, VarId, Visit};

/// What some statements do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    operations: u64,
    loops: Vec<Counted>,
}

#[derive(Clone, Debug)]
struct Counted {
    var: VarId,
    lo: Index,
    hi: Index,
    step: i64,
    inside: Work,
}

impl Work {
    /// What one iteration of a loop does, which is all there is to the outermost loop of the result.
    pub(crate) fn of_loop(f: &For) -> Work {
        let mut work = Work::default();
        work.enter(f);
        work
    }

    fn enter(&mut self, f: &For) {
        let mut inside = Work::default();
        inside.block(&f.body);
        self.loops.push(Counted { var: f.var, lo: f.lo.clone(), hi: f.hi.clone(), step: f.step.max(1), inside });
    }

    /// How many operations one iteration of the outermost loop has.
    pub(crate) fn per_iteration(&self, params: &[i64], vars: usize) -> u64 {
        let mut values = vec![0; vars];
        self.loops.iter().map(|counted| counted.once(params, &mut values)).fold(0, u64::saturating_add)
    }

    fn all(&self, params: &[i64], values: &mut [i64]) -> u64 {
        let loops = self.loops.iter().map(|counted| {
            let trips = counted.trips(params, values);
            counted.once(params, values).saturating_mul(trips)
        });
        loops.fold(self.operations, u64::saturating_add)
    }
}

impl Counted {
    fn ends(&self, params: &[i64], values: &[i64]) -> (i64, i64) {
        let value = |index: &Index| index.value(params, values).unwrap_or(0);
        (value(&self.lo), value(&self.hi))
    }

    fn trips(&self, params: &[i64], values: &[i64]) -> u64 {
        let (lo, hi) = self.ends(params, values);
        let distance = u64::try_from(hi.saturating_sub(lo)).unwrap_or(0);
        distance.div_ceil(self.step.unsigned_abs())
    }

    /// One iteration, in the middle.
    fn once(&self, params: &[i64], values: &mut [i64]) -> u64 {
        let (lo, hi) = self.ends(params, values);
        if let Some(value) = values.get_mut(self.var.index()) {
            *value = lo.saturating_add(hi.saturating_sub(lo).max(0) / 2);
        }
        self.inside.all(params, values)
    }
}

impl Visit for Work {
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        if !matches!(expr.kind, ExprKind::At(..) | ExprKind::Const(_) | ExprKind::Local(_)) {
            self.operations += 1;
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) => self.enter(f),
            Stmt::Each(each) => {
                let Each { body, .. } = &**each;
                self.block(body);
            }
            _ => {
                self.operations += 1;
                self.descend_stmt(stmt);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    fn per_iteration(bounds: &str, params: &[i64]) -> u64 {
        let text = format!(
            "kernel f(N; A: out f64[N]) {{\n    for c0 in 0..N {{\n        for c1 in {bounds} {{\n            A[c1] = 1.0\n        }}\n    }}\n}}\n"
        );
        let kernel = loops::parse(&text).unwrap();
        let [Stmt::For(f)] = kernel.body.as_slice() else { panic!("one loop") };
        Work::of_loop(f).per_iteration(params, kernel.vars.len())
    }

    #[test]
    fn trips_multiply_and_triangles_are_half() {
        assert_eq!(per_iteration("0..N", &[100]), 100);
        assert_eq!(per_iteration("0..N by 3", &[100]), 34);
        assert_eq!(per_iteration("0..c0", &[100]), 50);
        assert_eq!(per_iteration("N..0", &[100]), 0);
        assert_eq!(per_iteration("0..N", &[i64::MAX]), i64::MAX.unsigned_abs());
    }
}
