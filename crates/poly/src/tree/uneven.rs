//! Uneven loops: those with a statement that does not run in every iteration, so that it needs a condition.

use isl::Set;

use super::times::frame;
use super::{Branch, LoopId, Tree};
use crate::fault::Attempt;
use crate::scop::Scop;

/// The branches, by number, that need a condition in their innermost loop: a statement with which they share iterations keeps
/// that loop running where they have nothing to do.
pub fn uneven(scop: &Scop, tree: &Tree) -> diag::Result<Vec<(usize, LoopId)>> {
    find(scop, tree).map_err(|fault| fault.of_function("schedule", &scop.function))
}

fn find(scop: &Scop, tree: &Tree) -> Attempt<Vec<(usize, LoopId)>> {
    let branches = tree.branches();
    let mut found = Vec::new();
    for (number, branch) in branches.iter().enumerate() {
        let Some((level, id, _)) = branch.loops().next_back() else { continue };
        let others: Vec<&Branch> = branches
            .iter()
            .enumerate()
            .filter(|(other, branch)| *other != number && branch.level_of(id).is_some())
            .map(|(_, branch)| branch)
            .collect();
        if others.is_empty() {
            continue;
        }
        let own = iterations(scop, branch, level)?;
        for other in others {
            // Where two are never in one iteration, the loop ends between them.
            let its = iterations(scop, other, level)?.intersect_params(scop.context.clone())?;
            let together = !its.clone().intersect(own.clone())?.is_empty()?;
            if together && !its.subtract(own.clone())?.is_empty()? {
                found.push((number, id));
                break;
            }
        }
    }
    Ok(found)
}

/// The iterations of the loops down to a level in which a branch runs something.
fn iterations(scop: &Scop, branch: &Branch, level: usize) -> Attempt<Set> {
    let frame = frame(scop, scop.at(branch.statement))?;
    let exprs: Vec<_> = branch.loops().filter(|(at, ..)| *at <= level).map(|(_, _, expr)| expr.clone()).collect();
    let range = scop.params.tuple(None, &vec![""; exprs.len()])?;
    Ok(frame.map(range, &exprs)?.intersect_domain(branch.instances(scop)?)?.range()?)
}
