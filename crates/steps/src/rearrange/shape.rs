//! Steps that change the values of a loop and nothing else: skew, shift, reverse, scale.
//!
//! They keep which loops there are and what they contain; only the time at which an instance runs changes.

use poly::{Branch, Entry};
use program::Affine;

use super::{Applied, Edit};
use crate::step::Loops;

impl Edit<'_> {
    /// Replaces the expression of the last of the named loops in the branches that have it.
    fn revalue(&mut self, loops: &Loops, change: impl Fn(&Branch, &Affine) -> Option<Affine>) -> Applied<()> {
        let numbers = self.targets(loops)?;
        let names = loops.names();
        let Some(name) = names.last() else { return Ok(()) };
        for number in &numbers {
            let branch = &self.branches[*number];
            let Some((level, id, expr)) = self.tree.loop_named(branch, &name.text) else { continue };
            let expr = change(branch, expr).ok_or_else(|| self.overflow())?;
            self.branches[*number].entries[level] = Entry::Loop(id, expr);
            self.loops[id.index()].extent = None;
        }
        self.forget_bands(&numbers);
        Ok(())
    }
}

pub(super) fn skew(edit: &mut Edit<'_>, loops: &Loops, factor: i64) -> Applied<()> {
    let Some(outer) = loops.names().first().map(|outer| outer.text.clone()) else { return Ok(()) };
    let tree = edit.tree;
    edit.revalue(loops, |branch, expr| match tree.loop_named(branch, &outer) {
        Some((_, _, outer)) => expr.add_scaled(outer, factor),
        None => Some(expr.clone()),
    })
}

pub(super) fn shift(edit: &mut Edit<'_>, loops: &Loops, distance: i64) -> Applied<()> {
    edit.revalue(loops, |_, expr| expr.add(&Affine::constant(distance)))
}

pub(super) fn reverse(edit: &mut Edit<'_>, loops: &Loops) -> Applied<()> {
    edit.revalue(loops, |_, expr| expr.scale(-1))
}

pub(super) fn scale(edit: &mut Edit<'_>, loops: &Loops, factor: i64) -> Applied<()> {
    edit.revalue(loops, |_, expr| expr.scale(factor))
}
