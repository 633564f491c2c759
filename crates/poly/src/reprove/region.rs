//! A parallel loop that is walked through: which arrays its iterations share and write.

use loops::{ArrayId, For, Parallel, Stmt, Target, Visit};

/// A parallel loop, at some place inside.
#[derive(Debug)]
pub(super) struct Region<'a> {
    parallel: &'a Parallel,
    /// The arrays that iterations write.
    written: Vec<ArrayId>,
    /// Arrays of which every iteration has its own.
    own: Vec<ArrayId>,
}

impl<'a> Region<'a> {
    pub(super) fn new(f: &'a For, parallel: &'a Parallel) -> Region<'a> {
        let mut writes = Writes(Vec::new());
        writes.block(&f.body);
        Region { parallel, written: writes.0, own: parallel.private.clone() }
    }

    /// Each iteration has this array for itself.
    pub(super) fn own(&mut self, array: ArrayId) {
        self.own.push(array);
    }

    /// Whether it matters who touches the array. What is reduced is only updated, which the verifier has seen.
    pub(super) fn watches(&self, array: ArrayId) -> bool {
        let reduced = self.parallel.reductions.iter().any(|reduction| reduction.array == array);
        self.written.contains(&array) && !self.own.contains(&array) && !reduced
    }

    /// The arrays that it matters of.
    pub(super) fn watched(&self) -> impl Iterator<Item = ArrayId> {
        self.written.iter().copied().filter(|array| self.watches(*array))
    }
}

/// The arrays that statements write.
struct Writes(Vec<ArrayId>);

impl Visit for Writes {
    fn stmt(&mut self, stmt: &Stmt) {
        let array = match stmt {
            Stmt::Store { array, .. } | Stmt::Scatter { array, .. } => Some(*array),
            Stmt::Update { target: Target::Cell { array, .. }, .. } => Some(*array),
            _ => None,
        };
        self.0.extend(array.filter(|array| !self.0.contains(array)));
        self.descend_stmt(stmt);
    }
}
