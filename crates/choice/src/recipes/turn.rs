//! Turned arrays: local matrices that are walked across their rows are kept by columns.
//!
//! Nobody outside sees where the cells of a local array are, so it costs nothing to keep them the way in which they are walked.
//! Not here: arguments, which would have to be copied, and arrays of more than two dimensions.

use poly::{ArrayOrigin, Scop, Tree};
use program::{Affine, ArrayId, IterId, Role, Subscript};
use steps::{Formula, Step, Storage, Verb, Word};

use super::Plan;
use crate::cost::Walk;

/// The program with such arrays turned; none if there are none.
pub(crate) fn arrays(start: &Plan, own: &Tree) -> diag::Result<Option<Plan>> {
    let mut plan = start.clone();
    let scop = &start.state.subject.scop;
    let mut turned = false;
    for (position, array) in scop.arrays.iter().enumerate() {
        let local = array.role == Role::Local && array.origin == ArrayOrigin::Declared && array.laid.is_none();
        if !local || array.shape.len() != 2 || !gains(scop, own, ArrayId(position as u32)) {
            continue;
        }
        let [i, j] = ["i", "j"].map(Word::new);
        let places = vec![Affine::iter(IterId(1)), Affine::iter(IterId(0))];
        let storage = Storage::Map { places: Formula::new(vec![i, j], places), shape: None };
        let step = Step::new(Verb::Layout {
            array: Word::new(array.name.clone()),
            storage,
            name: None,
            given: false,
            fill: None,
        });
        turned |= plan.take(step, "its cells lie side by side along the loops that walk it")?;
    }
    Ok(turned.then_some(plan))
}

/// Whether more of the walks over an array are along its columns than along its rows.
fn gains(scop: &Scop, tree: &Tree, array: ArrayId) -> bool {
    let (mut gained, mut lost) = (0, 0);
    for branch in tree.branches() {
        let statement = scop.at(branch.statement);
        let walk = Walk::new(tree, &branch, statement);
        for access in std::iter::once(&statement.write).chain(&statement.reads).filter(|access| access.array == array) {
            let turned: Vec<Subscript> = access.index.iter().rev().cloned().collect();
            match (walk.is_near(&access.index), walk.is_near(&turned)) {
                (false, true) => gained += 1,
                (true, false) => lost += 1,
                _ => {}
            }
        }
    }
    gained > lost
}
