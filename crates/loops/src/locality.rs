//! Locality: how the accesses of innermost loops walk through memory.
//!
//! In: loops, and sizes.  Out: for each access, the step from one iteration to the next, how many cache lines some iterations touch, and
//! how often 32 of them, as the threads of a warp, would have to take turns at the banks of shared memory. All is counted from the
//! subscripts as they are, with outer loops at their first iteration; nothing is assumed about what a layout meant.
//! Not here: what that costs (`choice`).

use std::collections::{BTreeMap, BTreeSet};

use index::{Linear, linear};

use crate::print::Shown;
use crate::walk::Visit;
use crate::{ArrayId, Expr, ExprKind, For, Index, Kernel, Stmt, Target, VarId};

/// How many iterations are looked at, if there are so many.
pub const ITERATIONS: i64 = 64;

/// Bytes of a cache line.
const LINE: i64 = 64;

/// Threads that ask shared memory at once, its banks, and the bytes that a bank gives at once.
const WARP: i64 = 32;
const BANKS: i64 = 32;
const WORD: i64 = 4;

/// What an access of an innermost loop does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walked {
    /// The array.
    pub array: ArrayId,
    /// `A[c0, c1]`
    pub cell: String,
    /// The variable of the loop.
    pub var: String,
    /// Whether the cell is written.
    pub writes: bool,
    /// How many elements neighbouring iterations are apart, each different number once, in the order of iterations.
    pub steps: Vec<i64>,
    /// That number as the sizes say it, where it is always the same and depends on sizes.
    pub stride: Option<String>,
    /// How many iterations were looked at.
    pub iterations: i64,
    /// How many lines these touch.
    pub lines: usize,
    /// How many turns the banks of shared memory take for a request of 32 threads; one if none has to wait.
    pub turns: usize,
    /// Bytes of an element.
    pub bytes: i64,
}

/// The accesses of all innermost loops that run at these sizes, in the order of the loops. Equal ones of a loop are told once.
pub fn locality(kernel: &Kernel, sizes: &[i64]) -> Vec<Walked> {
    let values = vec![0; kernel.vars.len()];
    let mut walk = Walk { kernel, sizes, values, shown: Shown::new(kernel), found: Vec::new() };
    walk.block(&kernel.body);
    walk.found
}

struct Walk<'a> {
    kernel: &'a Kernel,
    sizes: &'a [i64],
    /// Of the loop variables around.
    values: Vec<i64>,
    shown: Shown<'a>,
    found: Vec<Walked>,
}

impl Visit for Walk<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        let Stmt::For(f) = stmt else { return self.descend_stmt(stmt) };
        let first = f.lo.value(self.sizes, &self.values).unwrap_or(0);
        if let Some(value) = self.values.get_mut(f.var.index()) {
            *value = first;
        }
        let mut inner = HasLoop(false);
        inner.block(&f.body);
        if inner.0 {
            self.descend_stmt(stmt);
        } else {
            self.innermost(f, first);
        }
    }

    fn index(&mut self, _: &Index) {}
}

impl Walk<'_> {
    fn innermost(&mut self, f: &For, first: i64) {
        let last = f.hi.value(self.sizes, &self.values).unwrap_or(i64::MAX);
        let trips = last.saturating_sub(first).max(0).checked_add(f.step - 1).map_or(ITERATIONS, |past| past / f.step);
        let iterations = trips.min(ITERATIONS);
        if iterations == 0 {
            return;
        }
        let mut accesses = Accesses(Vec::new());
        accesses.block(&f.body);
        let mut told = Vec::new();
        for (array, index, writes) in accesses.0 {
            if told.contains(&(array, index.clone(), writes)) {
                continue;
            }
            if let Some(walked) = self.walked(f, (array, &index, writes), (first, iterations)) {
                self.found.push(walked);
            }
            told.push((array, index, writes));
        }
    }

    /// `None` where a number does not fit, which no allocation has.
    fn walked(
        &mut self,
        f: &For,
        (array, index, writes): (ArrayId, &[Index], bool),
        (first, iterations): (i64, i64),
    ) -> Option<Walked> {
        let decl = self.kernel.arrays.get(array.index())?;
        let bytes = i64::try_from(decl.ty.bytes()).ok()?;
        let mut offsets = Vec::new();
        for iteration in 0..iterations {
            *self.values.get_mut(f.var.index())? = first.checked_add(iteration.checked_mul(f.step)?)?;
            let mut offset = 0i64;
            for (extent, subscript) in decl.shape.iter().zip(index) {
                let subscript = subscript.value(self.sizes, &self.values)?;
                offset = offset.checked_mul(extent.value(self.sizes, &[])?)?.checked_add(subscript)?;
            }
            offsets.push(offset.checked_mul(bytes)?);
        }
        *self.values.get_mut(f.var.index())? = first;
        let mut steps = Vec::new();
        for pair in offsets.windows(2) {
            let step = (pair[1] - pair[0]) / bytes;
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        let lines: BTreeSet<i64> = offsets.iter().map(|offset| offset.div_euclid(LINE)).collect();
        let stride = if steps.len() == 1 { self.stride(&decl.shape, index, f) } else { None };
        Some(Walked {
            array,
            cell: self.shown.access(array, index),
            var: self.shown.var(f.var),
            writes,
            steps,
            stride,
            iterations,
            lines: lines.len(),
            turns: turns(&offsets, bytes),
            bytes,
        })
    }

    /// The step from one iteration to the next in terms of sizes, if it has some.
    fn stride(&mut self, shape: &[Index], index: &[Index], f: &For) -> Option<String> {
        let mut terms = Vec::new();
        let mut symbolic = false;
        for (position, subscript) in index.iter().enumerate() {
            let by = moved(subscript, f.var)?.checked_mul(f.step)?;
            if by == 0 {
                continue;
            }
            let extents = shape.get(position + 1..)?;
            let mut factor = by;
            let mut factors = Vec::new();
            for extent in extents {
                match extent {
                    Index::Const(value) => factor = factor.checked_mul(*value)?,
                    size => factors.push(self.shown.factor(size)),
                }
            }
            symbolic |= !factors.is_empty();
            if factor != 1 || factors.is_empty() {
                factors.insert(0, factor.to_string());
            }
            terms.push(factors.join(" * "));
        }
        symbolic.then(|| terms.join(" + "))
    }
}

/// By how much a subscript moves when a variable does by one, where that is always the same.
fn moved(subscript: &Index, var: VarId) -> Option<i64> {
    if !subscript.uses(var) {
        return Some(0);
    }
    let linear = linear(subscript)?;
    let by = linear.coefficient(var)?;
    let rest = linear.replace(var, &Linear::constant(0))?;
    (!rest.build().uses(var)).then_some(by)
}

/// How often the most wanted bank is asked for different words by one request. Threads that want a word share it; elements of more than a
/// word are asked for by as many threads at once as there are words for.
fn turns(offsets: &[i64], bytes: i64) -> usize {
    let words = (bytes / WORD).max(1);
    let together = usize::try_from((WARP / words).max(1)).unwrap_or(1);
    let warp = offsets.get(..usize::try_from(WARP).unwrap_or(0)).unwrap_or(offsets);
    let most = warp.chunks(together).map(|threads| {
        let mut banks: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        for offset in threads {
            for word in 0..words {
                let word = offset.div_euclid(WORD) + word;
                banks.entry(word.rem_euclid(BANKS)).or_default().insert(word);
            }
        }
        banks.values().map(BTreeSet::len).max().unwrap_or(1)
    });
    most.max().unwrap_or(1)
}

struct HasLoop(bool);

impl Visit for HasLoop {
    fn stmt(&mut self, stmt: &Stmt) {
        self.0 |= matches!(stmt, Stmt::For(_));
        self.descend_stmt(stmt);
    }
}

/// Cells at known subscripts, and whether they are written.
struct Accesses(Vec<(ArrayId, Vec<Index>, bool)>);

impl Visit for Accesses {
    fn expr(&mut self, expr: &Expr) {
        self.descend_expr(expr);
        if let ExprKind::Load { array, index } = &expr.kind {
            self.0.push((*array, index.clone(), false));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.descend_stmt(stmt);
        if let Stmt::Store { array, index, .. } | Stmt::Update { target: Target::Cell { array, index }, .. } = stmt {
            self.0.push((*array, index.clone(), true));
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn turns_of(stride: i64, bytes: i64) -> usize {
        let offsets: Vec<i64> = (0..WARP).map(|thread| thread * stride * bytes).collect();
        turns(&offsets, bytes)
    }

    #[test]
    fn banks_take_turns_as_strides_share_factors_with_them() {
        let found = [1, 2, 8, 32, 33].map(|stride| turns_of(stride, 4));
        assert_eq!(found, [1, 2, 8, 32, 1]);
        assert_eq!(turns_of(0, 4), 1, "threads that want one word share it");
        assert_eq!([1, 16, 17].map(|stride| turns_of(stride, 8)), [1, 16, 1]);
        assert_eq!(turns_of(1, 1), 1);
    }

    #[test]
    fn a_column_of_a_matrix_touches_a_line_each() {
        let text = "kernel f(N, M; A: in f32[N, M], y: out f32[N]) {
    for c0 in 0..M {
        for c1 in 0..N {
            y[c1] = A[c1, c0] + A[floor(c1 / 4), 0]
        }
    }
}
";
        let kernel = crate::parse(text).unwrap();
        let told: Vec<String> = locality(&kernel, &[100, 1024])
            .into_iter()
            .map(|w| format!("{} {:?} {:?} {} {} {}", w.cell, w.steps, w.stride, w.iterations, w.lines, w.turns))
            .collect();
        assert_eq!(
            told,
            [
                "A[c1, c0] [1024] Some(\"M\") 64 64 32",
                "A[floor(c1 / 4), 0] [0, 1024] None 64 16 8",
                "y[c1] [1] None 64 4 1"
            ]
        );
    }
}
