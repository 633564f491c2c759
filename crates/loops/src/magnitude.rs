//! Magnitude: how large index arithmetic can get for given sizes.
//!
//! In: a kernel and its parameters.  Out: whether every index expression stays far inside 64 bits.
//! Sizes are checked once per call, so that generated code need not check anything.

use crate::walk::Visit;
use crate::{ArrayDecl, For, Index, Kernel, Stmt};

/// Intermediate sums must stay below this, a quarter of what `i64` holds, so that no back end's regrouping overflows.
const LIMIT: i128 = 1 << 61;

/// The largest size that is worth asking about, as a power of two: no array of so many elements fits in any memory.
const LARGEST_TRIED: u32 = 48;

/// Whether all index arithmetic of a kernel stays in 64 bits for these parameters.
pub fn index_arithmetic_fits(kernel: &Kernel, params: &[i64]) -> bool {
    let mut bounds = Bounds { params, vars: vec![0; kernel.vars.len()], fits: true };
    kernel.arrays.iter().flat_map(|array| &array.shape).for_each(|extent| bounds.index(extent));
    bounds.block(&kernel.body);
    bounds.fits
}

/// Whether the extents of an array stay in 64 bits for these parameters.
pub fn extents_fit(array: &ArrayDecl, params: &[i64]) -> bool {
    let mut bounds = Bounds { params, vars: Vec::new(), fits: true };
    array.shape.iter().for_each(|extent| bounds.index(extent));
    bounds.fits
}

/// Sizes from 0 to the result are ones for which it fits, whatever each of them is: a bound of an expression grows with every size, never
/// shrinks. None if there are no such sizes.
pub(crate) fn sizes_that_fit(kernel: &Kernel) -> Option<i64> {
    let fits = |power: &u32| index_arithmetic_fits(kernel, &vec![1 << power; kernel.params.len()]);
    (0..=LARGEST_TRIED).rev().find(fits).map(|power| 1 << power)
}

struct Bounds<'a> {
    params: &'a [i64],
    /// The largest absolute value of each loop variable.
    vars: Vec<i128>,
    fits: bool,
}

impl Visit for Bounds<'_> {
    fn index(&mut self, index: &Index) {
        self.fits &= self.of(index) < LIMIT;
        // Conditions of choices inside are index arithmetic too.
        self.descend_index(index);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::For(For { var, lo, hi, step, .. }) = stmt {
            // A loop variable passes its bound by up to one step before the loop ends.
            self.vars[var.index()] = self.of(lo).max(self.of(hi)).saturating_add(i128::from(*step));
            self.fits &= self.vars[var.index()] < LIMIT;
        }
        self.descend_stmt(stmt);
    }
}

impl Bounds<'_> {
    /// The largest absolute value of an expression or of any part of it.
    fn of(&self, index: &Index) -> i128 {
        match index {
            Index::Const(value) => i128::from(*value).abs(),
            Index::Param(id) => self.params.get(id.index()).map_or(0, |value| i128::from(*value).abs()),
            Index::Var(id) => self.vars[id.index()],
            Index::Add(a, b) | Index::Sub(a, b) => self.of(a).saturating_add(self.of(b)),
            Index::Mul(a, factor) => self.of(a).max(1).saturating_mul(i128::from(*factor).abs().max(1)),
            // A quotient that rounds down may be -1.
            Index::FloorDiv(a, _) => self.of(a).max(1),
            // The remainder of a negative number may be larger than that.
            Index::Mod(a, divisor) => self.of(a).max(i128::from(*divisor).abs()),
            // No bit is set above those of both.
            Index::Xor(a, b) => self.of(a).saturating_add(self.of(b)).saturating_add(1),
            Index::Min(a, b) | Index::Max(a, b) | Index::Select(_, a, b) => self.of(a).max(self.of(b)),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn only_sizes_that_overflow_are_refused() {
        let text = "kernel f(N; A: out i64[N]) {\n    for c0 in 0..N {\n        A[c0] = index(1000 * c0)\n    }\n}\n";
        let kernel = crate::parse(text).unwrap();
        assert!(index_arithmetic_fits(&kernel, &[0]));
        assert!(index_arithmetic_fits(&kernel, &[1 << 40]));
        assert!(!index_arithmetic_fits(&kernel, &[1 << 60]));
        assert!(!index_arithmetic_fits(&kernel, &[i64::MAX]));
    }

    #[test]
    fn sizes_that_are_known_to_fit_need_no_second_look() {
        let known = |index: &str| {
            let text = format!("kernel f(N, M; A: out i64[N]) {{\n    A[0] = index({index})\n}}\n");
            let kernel = crate::parse(&text).unwrap();
            let verified = crate::verify(kernel.clone()).unwrap();
            let known = sizes_that_fit(&kernel);
            let most = known.unwrap_or(1);
            for sizes in [[0, 0], [most, 1], [2 * most, most], [i64::MAX, i64::MAX], [-1, i64::MIN + 1]] {
                assert_eq!(verified.index_arithmetic_fits(&sizes), index_arithmetic_fits(&kernel, &sizes));
            }
            known
        };
        assert_eq!(known("N + M"), Some(1 << LARGEST_TRIED));
        assert_eq!(known("1048576 * N - 1048576 * M"), Some(1 << 39));
        assert_eq!(known("4611686018427387904 * N"), None);
    }

    #[test]
    fn conditions_inside_and_remainders_count() {
        let fits = |index: &str, size: i64| {
            let text = format!("kernel f(N; A: out i64[N]) {{\n    A[0] = index({index})\n}}\n");
            index_arithmetic_fits(&crate::parse(&text).unwrap(), &[size])
        };
        assert!(fits("1 + select(1000 * N < 5, 1, 2)", 1 << 40));
        assert!(!fits("1 + select(1000 * N < 5, 1, 2)", 1 << 60));
        assert!(!fits("1000 * ((0 - N) mod 4611686018427387904)", 1));
    }
}
