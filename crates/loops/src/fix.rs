//! Fixing: loops for sizes that are known.
//!
//! In: verified loops, after all passes, and a value for every size.  Out: loops that do the same at these sizes, in the same order,
//! so that results have the same bits: extents, strides and trip counts are numbers, and conditions on sizes are gone.
//! An argument whose cells do not lie row-major gets strides of its own here, too: numbers that a call gives.
//! Passes that cut sums into blocks must have run before: they look at trip counts.

use crate::simplify::simplify_around_vectors;
use crate::verify::check;
use crate::walk::Rewrite;
use crate::{ArrayId, Index, Kernel, ParamId, Verified};
use program::Role;

impl Verified {
    /// The loops for these sizes, one per parameter. They still take the sizes, so that they are called alike, and look at none of them. What is
    /// proven of the loops is proven of these where the sizes are some that the program allows.
    pub fn fixed(&self, sizes: &[i64]) -> diag::Result<Verified> {
        if sizes.len() != self.kernel.params.len() {
            return Err(diag::Error::bug("fix", "there is not one value for each size"));
        }
        let kernel = fix(self.kernel.clone(), sizes);
        check(&kernel)?;
        Ok(Verified::new(kernel, self.in_bounds))
    }
}

impl Verified {
    /// The loops with an argument whose neighbours are apart by numbers that a call gives, after the sizes, one for each dimension that
    /// is said to have one; in the others they lie side by side.
    pub fn strided(&self, array: ArrayId, given: &[bool]) -> diag::Result<Verified> {
        let mut kernel = self.kernel.clone();
        let params = kernel.params.len();
        let decl = kernel.arrays.get_mut(array.index()).filter(|decl| decl.role != Role::Local);
        let decl = decl.filter(|decl| decl.shape.len() == given.len() && decl.strides.is_none());
        let decl = decl.ok_or_else(|| diag::Error::bug("strides", "no argument of that rank"))?;
        let mut names = Vec::new();
        let stride = |(dimension, given): (usize, &bool)| {
            if !given {
                return Index::Const(1);
            }
            names.push(format!("{}.{dimension}", decl.name));
            Index::Param(ParamId((params + names.len() - 1) as u32))
        };
        let strides = given.iter().enumerate().map(stride).collect();
        decl.strides = Some(strides);
        kernel.params.extend(names);
        Ok(Verified::new(kernel, self.in_bounds))
    }
}

fn fix(mut kernel: Kernel, sizes: &[i64]) -> Kernel {
    let mut fix = Fix { sizes };
    for array in &mut kernel.arrays {
        array.shape = fix.indices(std::mem::take(&mut array.shape));
    }
    kernel.body = fix.block(kernel.body);
    simplify_around_vectors(kernel)
}

struct Fix<'a> {
    sizes: &'a [i64],
}

impl Fix<'_> {
    fn size(&self, param: ParamId) -> Option<Index> {
        self.sizes.get(param.index()).map(|size| Index::Const(*size))
    }
}

impl Rewrite for Fix<'_> {
    fn index(&mut self, index: Index) -> Index {
        match index {
            Index::Param(param) => self.size(param).unwrap_or(index),
            index => self.descend_index(index),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use crate::{parse, verify};

    #[test]
    fn sizes_become_numbers_and_decide_conditions() {
        let text = "kernel f(N, M; x: in f64[N, M], y: out f64[N]) {
    for c0 in 0..N {
        if M >= 3 {
            y[c0] = x[c0, M - 3]
        } else {
            y[c0] = 0.0
        }
    }
}
";
        let kernel = verify(parse(text).unwrap()).unwrap();
        let fixed = kernel.fixed(&[5, 7]).unwrap().to_string();
        assert!(fixed.contains("for c0 in 0..5") && fixed.contains("y[c0] = x[c0, 4]"), "{fixed}");
        assert!(!fixed.contains("if") && !fixed.contains("else"), "{fixed}");
        let other = kernel.fixed(&[5, 2]).unwrap().to_string();
        assert!(!other.contains("x[c0"), "{other}");
        assert!(kernel.fixed(&[5]).is_err());
    }
}
