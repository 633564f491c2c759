//! Steps that say how the iterations of a loop run: unroll, vectorize, parallel, place, separate.

use poly::{Axis, Loop, LoopId, LoopKind};

use super::{Applied, Edit};
use crate::step::{Loops, Word};

impl Edit<'_> {
    /// The loops that a step means.
    fn meant(&self, loops: &Loops) -> Applied<Vec<LoopId>> {
        let mut meant = Vec::new();
        for number in self.targets(loops)? {
            for name in loops.names() {
                meant.extend(self.tree.loop_named(&self.branches[number], &name.text).map(|(_, id, _)| id));
            }
        }
        Ok(meant)
    }

    fn mark(&mut self, loops: &Loops, change: impl Fn(&mut Loop)) -> Applied<()> {
        for id in self.meant(loops)? {
            change(&mut self.loops[id.index()]);
        }
        Ok(())
    }
}

pub(super) fn unroll(edit: &mut Edit<'_>, loops: &Loops, size: Option<i64>, name: Option<&Word>) -> Applied<()> {
    match size {
        None => edit.mark(loops, |found| found.kind = LoopKind::Unrolled),
        Some(size) => cut(edit, loops, size, name, LoopKind::Unrolled),
    }
}

pub(super) fn vectorize(edit: &mut Edit<'_>, loops: &Loops, lanes: u32, name: Option<&Word>) -> Applied<()> {
    cut(edit, loops, i64::from(lanes), name, LoopKind::Vector(lanes))
}

/// A strip whose inner loop is of a kind.
fn cut(edit: &mut Edit<'_>, loops: &Loops, size: i64, name: Option<&Word>, kind: LoopKind) -> Applied<()> {
    for id in edit.cut(loops, size, name, false)? {
        edit.loops[id.index()].kind = kind;
    }
    Ok(())
}

pub(super) fn parallel(edit: &mut Edit<'_>, loops: &Loops) -> Applied<()> {
    edit.mark(loops, |found| found.kind = LoopKind::Parallel)
}

pub(super) fn place(edit: &mut Edit<'_>, loops: &Loops, axis: Axis) -> Applied<()> {
    edit.mark(loops, |found| found.kind = LoopKind::Placed(axis))
}

pub(super) fn separate(edit: &mut Edit<'_>, loops: &Loops) -> Applied<()> {
    edit.mark(loops, |found| found.separate = true)
}
