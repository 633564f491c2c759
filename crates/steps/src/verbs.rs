//! The verbs by name: the form of each in one line, and the clauses that it takes.

/// A clause of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    By,
    As,
    At,
    Where,
    Maps,
    Layout,
    Axis,
    Fill,
}

impl Clause {
    pub(crate) fn name(self) -> &'static str {
        match self {
            By => "by",
            As => "as",
            At => "at",
            Where => "where",
            Maps => "{ … }",
            Layout => "=> or =",
            Axis => "->",
            Fill => "fill",
        }
    }
}

use Clause::{As, At, Axis, By, Fill, Layout, Maps, Where};

/// Every verb with its form and its clauses.
pub(crate) const VERBS: &[(&str, &str, &[Clause])] = &[
    ("tile", "tile S[i, j] by 32, 32 as (it, jt): run the loops block by block", &[By, As]),
    ("strip", "strip S[i] by 8 as io: cut one loop into pieces, in place", &[By, As]),
    ("interchange", "interchange S[i, j]: swap two loops", &[]),
    ("reorder", "reorder S[k, i, j]: put loops into this order", &[]),
    ("jam", "jam S[i] by 4: unroll an outer loop and run its copies innermost", &[By, As]),
    ("unroll", "unroll i by 8: run so many iterations as straight code", &[By, As]),
    ("vectorize", "vectorize j by 16: run so many iterations in lockstep", &[By, As]),
    ("parallel", "parallel i: run the iterations of a loop in any order, also at once", &[]),
    ("place", "place i -> block.x: run the iterations of a loop as blocks or threads of a GPU", &[Axis]),
    ("separate", "separate i: cut a loop where the statements in it change", &[]),
    ("skew", "skew S[t, i] by 2: add a multiple of the first loop to the second", &[By]),
    ("shift", "shift S[i] by -1: start a loop later or earlier; shift S[i, j]: start j at i, round its end", &[By, As]),
    ("reverse", "reverse S[i]: run a loop backwards", &[By]),
    ("scale", "scale S[i] by 2: leave gaps between iterations", &[By]),
    ("fuse", "fuse S0, S1 at i: share the loops down to i", &[At]),
    ("fission", "fission S0, S1 at t: give each its own loop t", &[At]),
    ("sequence", "sequence S1, S0: change the order of statements that share their outer loops", &[]),
    (
        "split",
        "split S[i] by 6 as (io, ii): count pieces and places in them; split S[i] where i < 5: run these instances first",
        &[By, As, Where],
    ),
    ("outer_split", "outer_split S[i] by 4 as (io, ii): the same in so many pieces", &[By, As]),
    ("merge", "merge S[i, j] as ij: count two loops as one", &[As]),
    ("resize", "resize S[i] by 1, 2 as ir: so many iterations more in front and behind", &[By, As]),
    ("swizzle", "swizzle S[i, j] as (i, js): count j exclusive-or i", &[As]),
    ("loops", "loops S[i, j] = split(j, 8); reorder(jo, i, ji): count loops in another way", &[Layout, Where]),
    ("map", "map { S[i, j] -> [i + j, j] }: give the times of statements directly", &[Maps]),
    ("detach", "detach S where k < 5 as T: make a statement T of these instances, which run as before", &[Where, As]),
    ("rfactor", "rfactor S[ko] as P: accumulate each iteration of a reduction's loop on its own, then combine", &[As]),
    (
        "pack",
        "pack B[k, j] at kt by 1, 32 as Bp: keep what an iteration of a loop uses of an array in a buffer, in panels if told",
        &[By, At, As],
    ),
    (
        "compute_at",
        "compute_at a at S1[i]: compute a local array inside a loop that reads it, as far as it is needed there",
        &[At, As],
    ),
    ("inline", "inline a: compute the cells of a local array where they are read", &[]),
    ("expand", "expand a[j] as b: give a local array cells of its own for each iteration of a loop", &[As]),
    (
        "layout",
        "layout A[i, j] => [i / 8, j, i % 8]: keep the cells of an array in other places",
        &[By, As, Layout, Fill],
    ),
    ("extend", "extend S[k] by 8: let a reduction run on to a multiple of 8, over holes that are filled", &[By]),
];

/// Names and one-line descriptions of all verbs.
pub fn verbs() -> impl Iterator<Item = (&'static str, &'static str)> {
    VERBS.iter().map(|(name, help, _)| (*name, *help))
}
