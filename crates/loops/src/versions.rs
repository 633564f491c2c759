//! Versions: several ways to run one function, of which the sizes of a call decide.
//!
//! In: the loops of each version, and for which sizes it is.  Out: one kernel, whose body chooses; and back, the part of it that some sizes
//! choose, so that code need not be made for what is not run.
//! Not here: which versions a function should have.

use std::collections::HashSet;

use program::Role;

use crate::prune::{Renumber, Used, prune};
use crate::verify::check;
use crate::walk::{Rewrite, Visit};
use crate::{ArrayId, Cond, InBounds, Kernel, LocalId, Scoped, Space, Stmt, VarId, Verified};

impl InBounds {
    /// These loops for the sizes for which a condition on sizes holds, and `others` for all others. Both are of the same function, and
    /// each is in bounds for all sizes.
    pub fn or_else(self, sizes: Cond, others: InBounds) -> diag::Result<InBounds> {
        join(self.into_kernel(), sizes, others.into_kernel()).map(InBounds::of_parts)
    }
}

impl Kernel {
    /// How many versions there are to choose from.
    pub fn version_count(&self) -> usize {
        self.versions().count()
    }

    /// The bodies of all versions, in the order in which they are asked for.
    pub fn versions(&self) -> impl Iterator<Item = &[Stmt]> {
        let rests = std::iter::successors(Some(self.body.as_slice()), |rest| choice(rest).map(|(_, _, others)| others));
        rests.map(|rest| choice(rest).map_or(rest, |(_, version, _)| version))
    }

    /// The number of the version that runs at these sizes, in the order in which they are asked for; none if a condition on sizes overflows.
    pub fn version_at(&self, params: &[i64]) -> Option<usize> {
        let mut rest: &[Stmt] = &self.body;
        let mut number = 0;
        while let Some((sizes, _, others)) = choice(rest) {
            if sizes.holds(params, &[])? {
                break;
            }
            rest = others;
            number += 1;
        }
        Some(number)
    }

    /// The loops of one version alone; they do the same at its sizes.
    fn version(&self, number: usize) -> Kernel {
        let mut body: &[Stmt] = &self.body;
        for _ in 0..number {
            body = choice(body).map_or(body, |(_, _, others)| others);
        }
        let body = choice(body).map_or(body, |(_, version, _)| version).to_vec();
        prune(Kernel { body, ..self.clone() })
    }
}

impl InBounds {
    /// The loops of one version alone, which are in bounds at all sizes like the whole.
    pub fn version(&self, number: usize) -> InBounds {
        InBounds::of_parts(Kernel::version(self, number))
    }
}

impl Verified {
    /// The loops of one version alone.
    pub fn version(&self, number: usize) -> Verified {
        Verified::new(Kernel::version(self, number), self.is_in_bounds())
    }

    /// The same loops with the local arrays that only one version uses as buffers of that version, for those who would make room for all of
    /// them in each call.
    pub fn with_own_arrays(&self) -> Verified {
        let mut kernel = Kernel::clone(self);
        if kernel.version_count() > 1 {
            let used: Vec<HashSet<ArrayId>> = kernel.versions().map(used).collect();
            let scoped = Scoped::of(&kernel.body);
            let is_own = |array: &ArrayId| {
                let local = kernel.arrays[array.index()].role == Role::Local && !scoped.contains(array);
                local && used.iter().filter(|used| used.contains(array)).count() == 1
            };
            let own = (0..kernel.arrays.len()).map(|number| ArrayId(number as u32)).filter(is_own).collect::<Vec<_>>();
            kernel.body = with_buffers(kernel.body, &own);
        }
        let verdict = if cfg!(debug_assertions) { check(&kernel) } else { Ok(()) };
        debug_assert!(verdict.is_ok(), "buffers broke the kernel: {verdict:?}\n{kernel}");
        Verified::new(kernel, self.is_in_bounds())
    }
}

fn used(body: &[Stmt]) -> HashSet<ArrayId> {
    let mut used = Used::default();
    used.block(body);
    used.arrays
}

/// The versions in a body, each with those of the arrays that it uses as buffers of its own.
fn with_buffers(body: Vec<Stmt>, own: &[ArrayId]) -> Vec<Stmt> {
    if choice(&body).is_none() {
        let used = used(&body);
        let own = own.iter().filter(|array| used.contains(array));
        return own.fold(body, |body, array| vec![Stmt::Alloc { array: *array, space: Space::Scratch, body }]);
    }
    let inside = |stmt| match stmt {
        Stmt::If { cond, then, otherwise } => {
            Stmt::If { cond, then: with_buffers(then, own), otherwise: with_buffers(otherwise, own) }
        }
        stmt => stmt,
    };
    body.into_iter().map(inside).collect()
}

/// A body that is nothing but a choice by sizes.
fn choice(body: &[Stmt]) -> Option<(&Cond, &[Stmt], &[Stmt])> {
    match body {
        [Stmt::If { cond, then, otherwise }] if !otherwise.is_empty() => Some((cond, then, otherwise)),
        _ => None,
    }
}

fn join(mut one: Kernel, sizes: Cond, other: Kernel) -> diag::Result<Kernel> {
    let differ = |what: &str| diag::Error::bug("versions", format!("the {what} of two versions differ"));
    if one.params != other.params || one.scalars != other.scalars {
        return Err(differ("sizes"));
    }
    let mut arguments = (0..).zip(&one.arrays).filter(|(_, decl)| decl.role != Role::Local);
    let mut arrays = Vec::with_capacity(other.arrays.len());
    let mut locals = Vec::new();
    for decl in &other.arrays {
        arrays.push(Some(if decl.role == Role::Local {
            locals.push(decl.clone());
            ArrayId((one.arrays.len() + locals.len() - 1) as u32)
        } else {
            let (number, _) = arguments.next().filter(|(_, own)| *own == decl).ok_or_else(|| differ("arguments"))?;
            ArrayId(number)
        }));
    }
    if arguments.next().is_some() {
        return Err(differ("arguments"));
    }
    let behind = |first: usize, count: usize| (first..first + count).map(|number| number as u32);
    let vars = behind(one.vars.len(), other.vars.len()).map(|number| Some(VarId(number)));
    let own = behind(one.locals.len(), other.locals.len()).map(|number| Some(LocalId(number)));
    let mut renumber = Renumber { arrays, locals: own.collect(), vars: vars.collect() };
    let otherwise = renumber.block(other.body);
    one.arrays.extend(locals);
    one.locals.extend(other.locals);
    one.vars.extend(other.vars);
    one.body = vec![Stmt::If { cond: sizes, then: one.body, otherwise }];
    Ok(one)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{parse, verify};

    const SMALL: &str = "kernel f(N; x: in f64[N], y: out f64[N]) {
    for c0 in 0..N {
        y[c0] = x[c0]
    }
}
";
    const LARGE: &str = "kernel f(N; x: in f64[N], y: out f64[N]) {
    array t: f64[N]
    local a: f64
    for c0 in 0..N {
        a = x[c0]
        t[c0] = a
    }
    for c0 in 0..N {
        y[c0] = t[c0]
    }
}
";

    fn parsed(text: &str) -> InBounds {
        InBounds::of_parts(parse(text).unwrap())
    }

    fn at_most(most: i64) -> Cond {
        use crate::{CompareOp, Index, ParamId};
        Cond::Compare(CompareOp::Le, Index::Param(ParamId(0)), Index::Const(most))
    }

    fn three() -> Verified {
        let others = parsed(SMALL).or_else(at_most(100), parsed(LARGE)).unwrap();
        parsed(LARGE).or_else(at_most(10), others).unwrap().verified().unwrap()
    }

    #[test]
    fn a_kernel_of_versions_reads_back() {
        let joined = three();
        let text = joined.to_string();
        assert!(text.contains("if N <= 10 {") && text.contains("if N <= 100 {"), "{text}");
        assert_eq!(text.matches("array t").count(), 2, "each version has locals of its own:\n{text}");
        assert_eq!(verify(parse(&text).unwrap()).unwrap().to_string(), text);
    }

    #[test]
    fn sizes_choose_the_first_version_that_is_for_them() {
        let joined = three();
        assert_eq!(joined.version_count(), 3);
        let chosen = [0, 10, 11, 100, 101].map(|size| joined.version_at(&[size]));
        assert_eq!(chosen, [Some(0), Some(0), Some(1), Some(1), Some(2)]);
        assert_eq!(joined.version_at(&[]), None, "nothing is known of sizes that are not given");
    }

    #[test]
    fn a_version_alone_is_what_it_was() {
        let joined = three();
        for (number, text) in [LARGE, SMALL, LARGE].into_iter().enumerate() {
            let alone = joined.version(number);
            assert_eq!(alone.to_string(), text);
            assert!(alone.is_in_bounds());
            assert_eq!((alone.version_count(), alone.version_at(&[5])), (1, Some(0)));
        }
    }

    #[test]
    fn arrays_of_one_version_can_be_its_buffers() {
        let text = three().with_own_arrays().to_string();
        assert_eq!(text.matches("alloc t in scratch {").count(), 1, "{text}");
        assert_eq!(text.matches("alloc ").count(), 2, "{text}");
        assert_eq!(verify(parse(&text).unwrap()).unwrap().to_string(), text);
        let alone = three().version(0);
        assert_eq!(alone.with_own_arrays().to_string(), alone.to_string(), "a call needs all that there is");
    }

    #[test]
    fn versions_of_different_functions_are_not_joined() {
        let other = SMALL.replace('x', "z");
        let error = parsed(SMALL).or_else(at_most(1), parsed(&other)).unwrap_err();
        assert!(format!("{error:?}").contains("the arguments of two versions differ"), "{error:?}");
        let other = SMALL.replace("(N;", "(M;").replace('N', "M");
        assert!(parsed(SMALL).or_else(at_most(1), parsed(&other)).is_err());
        // A condition without another side is no choice.
        let guarded = parsed("kernel f(N; y: out f64[N]) {\n    if N <= 3 {\n        y[0] = 1.0\n    }\n}\n");
        assert_eq!(guarded.verified().unwrap().version_count(), 1);
    }
}
