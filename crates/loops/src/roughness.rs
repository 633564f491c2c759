//! Roughness: how much a kernel pays for its order, as a number to compare schedules by.
//!
//! Counted are conditions that are decided again in every iteration, and local arrays that a better order would keep in
//! registers. It says nothing about locality.

use crate::{Kernel, Stmt};
use program::Role;

/// 0 for a kernel without conditions inside loops and without local arrays.
pub fn roughness(kernel: &Kernel) -> usize {
    let arrays = kernel.arrays.iter().filter(|array| array.role == Role::Local).count();
    2 * arrays + 4 * conditions(&kernel.body, 0)
}

/// Conditions, weighted by the number of loops around them.
fn conditions(stmts: &[Stmt], depth: usize) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::For(found) => conditions(&found.body, depth + 1),
        Stmt::If { then, otherwise, .. } => depth + conditions(then, depth) + conditions(otherwise, depth),
        Stmt::Alloc { body, .. } => conditions(body, depth),
        Stmt::Store { .. } | Stmt::Update { .. } | Stmt::Scatter { .. } | Stmt::Set { .. } | Stmt::Barrier => 0,
    };
    stmts.iter().map(of).sum()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn conditions_count_by_depth_and_arrays_once() {
        let text = "kernel f(N; A: out i64[N]) {\n    array t: i64[N]\n    if N >= 2 {\n        for c0 in 0..N {\n            if c0 >= 1 {\n                t[c0] = 1\n            }\n            A[c0] = 2\n        }\n    }\n}\n";
        assert_eq!(roughness(&crate::parse(text).unwrap()), 2 + 4);
    }
}
