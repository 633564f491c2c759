//! Small sizes: what recipes prepare takes longer there than what they save.
//!
//! In: orders of loops that were compared without recipes.  Out: the best of them, and the sizes up to which it is run instead.
//! Not here: how code chooses between the two (`loops::InBounds::or_else`).

use std::rc::Rc;

use poly::{Branch, Proven, Scop, Statement, Subject, Tree, Verdict, is_box, prove};
use program::{Affine, Cond, Function, ParamId};

use crate::candidates::{Candidate, candidate};
use crate::machine::Machine;
use crate::recipes::{Plan, Reasoned, vector};

/// What a candidate prepares before it gains anything, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Vector loops.
    Vectors,
    /// Tiles of sweeps, and rows side by side.
    Sweeps,
    /// Products in tiles, with operands that are packed.
    Products,
    /// Reductions that are pushed.
    Pushed,
    /// Factorisations by blocks.
    Blocks,
}

/// A schedule for some sizes.
#[derive(Debug)]
pub struct Version {
    /// Which sizes.
    pub sizes: Cond,
    /// What the gate has made of it.
    pub proven: Proven,
    /// The steps that make it, if they can be said.
    pub steps: Option<Vec<Reasoned>>,
}

/// The best of these orders as it is, for sizes that are too small for a candidate, beside which there may be one that reads operands where they are; none if
/// there are no such.
pub(crate) fn version(
    subject: &Rc<Subject>,
    plain: &[(&'static str, Tree)],
    chosen: &Candidate,
    streamed: bool,
    machine: &Machine,
) -> diag::Result<Option<Version>> {
    let about = chosen.start.as_ref().map_or(subject, |plan| &plan.state.subject);
    let most = i64::from(machine.small) * most(&about.scop, chosen, streamed)?;
    let Some(sizes) = at_most(&subject.scop.function, most).filter(|_| most > 0) else { return Ok(None) };
    let mut candidates = Vec::new();
    for (origin, tree) in plain {
        candidates.push(candidate(subject, None, origin, tree.clone(), Vec::new(), &[])?);
    }
    // Small arrays are in a cache whatever the order is, and bounds of loops that are skewed take longer than what they run.
    candidates.sort_by_key(|candidate| (is_skewed(&candidate.tree), candidate.cost));
    for candidate in candidates {
        if let Verdict::Legal(proven) = prove(subject, candidate.tree)? {
            let why = format!("{}, for sizes that are too small for more", candidate.origin);
            let steps = Plan::from_tree(subject, proven.tree(), &why)?.steps;
            return Ok(Some(Version { sizes, proven, steps }));
        }
    }
    Ok(None)
}

/// Whether a loop counts anything but one index.
fn is_skewed(tree: &Tree) -> bool {
    tree.branches().iter().any(|branch| branch.loops().any(|(_, _, expr)| expr.as_iter().is_none()))
}

/// Up to which extents a candidate does not pay, in units of the smallest: where its time on one thread falls below that of plain loops for those kernels of PolyBench
/// that are like it (`cargo bench -p farkas --bench tiny -- --small=0`). Where the range of one index depends on another one, vectors and tiles are
/// partly empty up to larger extents, and sums over few lanes are mostly their ends.
fn most(scop: &Scop, chosen: &Candidate, streamed: bool) -> diag::Result<i64> {
    let branches = chosen.tree.branches();
    let named = |name: &str| scop.statements.iter().find(|statement| statement.name == name);
    Ok(match chosen.effort {
        Effort::Sweeps => 3,
        Effort::Pushed => 10,
        Effort::Blocks => 16,
        Effort::Products if chosen.contractions.iter().any(|found| found.along_columns > 1) => 12,
        Effort::Products => {
            let mut products = chosen.contractions.iter().filter_map(|found| named(&found.statement));
            match (all_boxes(scop, &mut products)?, streamed) {
                // What reads operands where they are prepares nothing.
                (true, true) => 0,
                (true, false) | (false, true) => 2,
                (false, false) => 6,
            }
        }
        Effort::Vectors => {
            let vectors: Vec<&Branch> = branches
                .iter()
                .filter(|branch| chosen.vectors.iter().any(|id| branch.level_of(*id).is_some()))
                .collect();
            let sums = vectors.iter().any(|branch| vector::is_sum(scop, &chosen.tree, branch));
            match all_boxes(scop, &mut vectors.iter().map(|branch| scop.at(branch.statement)))? {
                true => 4,
                false if sums => 14,
                false => 10,
            }
        }
    })
}

fn all_boxes(scop: &Scop, statements: &mut dyn Iterator<Item = &Statement>) -> diag::Result<bool> {
    for statement in statements {
        if !is_box(scop, statement)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// That no size which an extent depends on is larger; how often something is repeated is no matter.
fn at_most(function: &Function, most: i64) -> Option<Cond> {
    let mut needed: Vec<bool> = Vec::new();
    for number in 0..function.params.len() {
        let param = ParamId(number as u32);
        needed.push(function.arrays.iter().flat_map(|array| &array.shape).any(|extent| extent.mentions(param)));
    }
    // Of a size that follows from others, those; they stand in front of it.
    for (number, param) in function.params.iter().enumerate().rev() {
        let Some(derived) = param.derived.as_ref().filter(|_| needed[number]) else { continue };
        for (other, needed) in needed.iter_mut().enumerate() {
            let other = ParamId(other as u32);
            *needed |= derived.lhs.mentions(other) || derived.rhs.mentions(other);
        }
    }
    let written = function.params.iter().zip(needed).enumerate();
    let written = written.filter(|(_, (param, needed))| *needed && param.derived.is_none());
    let conds = written.map(|(number, _)| {
        let room = Affine::constant(most).sub(&Affine::param(ParamId(number as u32)))?;
        Some(Cond::NonNegative(room))
    });
    let conds: Vec<Cond> = conds.collect::<Option<_>>()?;
    conds.into_iter().reduce(Cond::and)
}
