//! The gate: is this schedule what the program means?
//!
//! In: a program with its dependences, and a tree.  Out: [`Proven`], which owns both and is all that loops are generated
//! from; or a [`Violation`] with a witness; or `Unknown`, which is never treated as legal.
//! Proven are: exactly the program's instances run, each once (`instances`); every dependence runs forwards (`order`); and
//! parallel and vector loops carry none, or only pairs of updates of reductions, which are then named (`kinds`). Loops that are
//! placed on a GPU carry none at all, and nest as blocks and threads do.
//! Not here: choosing a tree, changing one. What a step claims that changes statements is proven in `rewriting`, where cells live in
//! `storage`, what is in places without one in `holes`, what a predicate lets run in `visits`,
//! and that instances go by another name in `parting`.

mod explain;
pub mod holes;
mod instances;
mod kinds;
mod order;
mod pair;
pub mod parting;
mod relations;
pub mod rewriting;
mod staging;
pub mod storage;
pub mod visits;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use isl::{Budget, Set};
use program::{ArrayId, ReduceOp};

use crate::deps::Dependences;
use crate::fault::{Attempt, Fault};
use crate::scop::Scop;
use crate::tree::{Branch, LoopId, LoopKind, StatementId, Tree};

pub(crate) use kinds::stays_within;
pub use kinds::{may_carry, may_meet};
pub use pair::{Instance, Pair};

/// A program about which everything is known but its schedule.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its statements.
    pub scop: Scop,
    /// What must be kept in order.
    pub dependences: Dependences,
    /// The program as it was written, if steps have changed its statements since.
    pub written: Option<Rc<Subject>>,
    /// The dependences one by one, once somebody has asked.
    relations: OnceCell<Vec<relations::Relation>>,
}

impl Subject {
    /// A program with its dependences; `written` is what steps have made it of, if they have.
    pub fn new(scop: Scop, dependences: Dependences, written: Option<Rc<Subject>>) -> Subject {
        Subject { scop, dependences, written, relations: OnceCell::new() }
    }

    /// Runs some work under a budget of its own, inside of whatever budget is in force.
    pub fn within<T>(&self, budget: Budget, work: impl FnOnce() -> diag::Result<T>) -> diag::Result<T> {
        let done = self.scop.params.ctx().with_budget(budget, || Ok(work()));
        done.unwrap_or_else(|error| Err(diag::Error::bug("budget", error.to_string())))
    }
}

/// A schedule that has been proven, with what it has been proven for.
#[derive(Clone, Debug)]
pub struct Proven {
    subject: Rc<Subject>,
    tree: Tree,
    reductions: BTreeMap<LoopId, Vec<Reduction>>,
    /// Loops over strips of lanes whose iterations are as independent as the lanes, so that it does not matter where a strip begins.
    strips: Vec<LoopId>,
}

/// An accumulator whose updates meet in different iterations of a parallel or vector loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Where partial results go.
    pub array: ArrayId,
    /// How they are combined.
    pub op: ReduceOp,
}

impl Proven {
    /// The program.
    pub fn subject(&self) -> &Rc<Subject> {
        &self.subject
    }

    /// The schedule.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The schedule as loops are made of it: vector loops run from end to end, in groups of lanes that begin where the loop does, if
    /// their iterations do not mind.
    pub(crate) fn to_run(&self) -> Tree {
        self.tree.without(&self.strips)
    }

    /// What a parallel or vector loop accumulates over its iterations.
    pub fn reductions(&self, id: LoopId) -> &[Reduction] {
        self.reductions.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// The answer of the gate.
#[derive(Debug)]
pub enum Verdict {
    /// All that has to be proven is.
    Legal(Proven),
    /// Something is not so.
    Illegal(Box<Violation>),
    /// The budget ran out before the question was decided. This is never treated as legal.
    Unknown {
        /// What ran out.
        spent: diag::Spent,
    },
}

/// Why a schedule is illegal.
#[derive(Clone, Debug)]
pub enum Violation {
    /// A dependence runs backwards, or its ends run at the same time.
    Reversed(Pair),
    /// The schedule does not run exactly the instances of the program.
    Instances {
        /// Of which statement.
        statement: StatementId,
        /// One of them.
        values: Vec<i64>,
        /// At these sizes.
        params: Vec<i64>,
        /// What is wrong with it.
        fault: InstanceFault,
    },
    /// Iterations of a parallel or vector loop depend on each other.
    Carried {
        /// The dependence.
        pair: Pair,
        /// The loop.
        id: LoopId,
    },
    /// A vector loop has more iterations than lanes, or a loop over threads more than a block has.
    Wide {
        /// The loop.
        id: LoopId,
        /// Its lanes, or the threads.
        lanes: u32,
    },
    /// Loops are placed on a GPU in a way in which nothing can run there.
    Misplaced {
        /// The one around.
        outer: LoopId,
        /// The one inside.
        inner: LoopId,
    },
}

impl Violation {
    /// The sizes at which it shows.
    pub fn params(&self) -> Option<&[i64]> {
        match self {
            Violation::Reversed(pair) | Violation::Carried { pair, .. } => Some(&pair.params),
            Violation::Instances { params, .. } => Some(params),
            Violation::Wide { .. } | Violation::Misplaced { .. } => None,
        }
    }

    /// The loop that cannot be of its kind, if that is what is wrong.
    pub fn unfit_loop(&self) -> Option<LoopId> {
        match self {
            Violation::Carried { id, .. } | Violation::Wide { id, .. } | Violation::Misplaced { inner: id, .. } => {
                Some(*id)
            }
            Violation::Reversed(_) | Violation::Instances { .. } => None,
        }
    }
}

/// How a schedule can fail to run exactly the instances of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceFault {
    /// It is never run.
    Missing,
    /// It is run, but is not part of the program.
    Superfluous,
    /// It is run more than once.
    Repeated,
}

/// Decides whether `tree` is a legal schedule of `subject`.
pub fn prove(subject: &Rc<Subject>, tree: Tree) -> diag::Result<Verdict> {
    match find(subject, &tree) {
        Ok(Found::Nothing { reductions, strips }) => {
            Ok(Verdict::Legal(Proven { subject: Rc::clone(subject), tree, reductions, strips }))
        }
        Ok(Found::Violation(violation)) => Ok(Verdict::Illegal(violation)),
        Err(Fault::Isl(isl::Error::Budget { resource, spent })) => {
            Ok(Verdict::Unknown { spent: crate::fault::spent(resource, spent) })
        }
        Err(fault) => Err(fault.of_program("legality", &subject.scop.function)),
    }
}

enum Found {
    Nothing { reductions: BTreeMap<LoopId, Vec<Reduction>>, strips: Vec<LoopId> },
    Violation(Box<Violation>),
}

fn find(subject: &Subject, tree: &Tree) -> Attempt<Found> {
    let (branches, context) = (tree.branches(), &subject.scop.context);
    let found = |violation: Violation| Ok(Found::Violation(Box::new(shrunk(subject, tree, &branches, violation)?)));
    if let Some(violation) = instances::find_wrong(&subject.scop, &branches, context)? {
        return found(violation);
    }
    if let Some(pair) = order::find_reversed(subject, &branches, context)? {
        return found(Violation::Reversed(pair));
    }
    if let Some(violation) = kinds::find_misplaced(tree, &branches) {
        return found(violation);
    }
    let mut reductions = BTreeMap::new();
    for (id, info) in
        tree.loops().filter(|(_, info)| info.kind.is_parallel() || matches!(info.kind, LoopKind::Vector(_)))
    {
        match kinds::judge(subject, &branches, (id, info.kind), context)? {
            kinds::Judged::Fit(reduced) => drop(reductions.insert(id, reduced)),
            kinds::Judged::Unfit(violation) => return found(*violation),
        }
    }
    let mut strips = Vec::new();
    for id in tree.strips() {
        if !kinds::carries(subject, &branches, id, false)? {
            strips.push(id);
        }
    }
    Ok(Found::Nothing { reductions, strips })
}

/// A violation of the same kind at sizes none of which can be made smaller: it is looked for again below the sizes of the last one,
/// until there is none, or no time to look.
fn shrunk(subject: &Subject, tree: &Tree, branches: &[Branch], mut violation: Violation) -> Attempt<Violation> {
    loop {
        let smaller = match violation.params().map(|params| sizes_below(&subject.scop, params)).transpose()?.flatten() {
            Some(context) => find_again(subject, tree, branches, &violation, &context),
            None => Ok(None),
        };
        match smaller {
            Ok(Some(smaller)) => violation = smaller,
            Ok(None) | Err(Fault::Isl(isl::Error::Budget { .. })) => return Ok(violation),
            Err(fault) => return Err(fault),
        }
    }
}

fn find_again(
    subject: &Subject,
    tree: &Tree,
    branches: &[Branch],
    violation: &Violation,
    context: &Set,
) -> Attempt<Option<Violation>> {
    Ok(match violation {
        Violation::Instances { .. } => instances::find_wrong(&subject.scop, branches, context)?,
        Violation::Reversed(_) => order::find_reversed(subject, branches, context)?.map(Violation::Reversed),
        Violation::Carried { id, .. } => match kinds::judge(subject, branches, (*id, tree.info(*id).kind), context)? {
            kinds::Judged::Unfit(smaller) => Some(*smaller),
            kinds::Judged::Fit(_) => None,
        },
        Violation::Wide { .. } | Violation::Misplaced { .. } => None,
    })
}

/// The possible sizes none of which is larger than the one given, and one of which is smaller; none if these are no small numbers.
fn sizes_below(scop: &Scop, params: &[i64]) -> Attempt<Option<Set>> {
    let Ok(params) = params.iter().map(|size| i32::try_from(*size)).collect::<Result<Vec<i32>, _>>() else {
        return Ok(None);
    };
    let mut within = scop.context.clone();
    for (position, size) in params.iter().enumerate() {
        within = within.upper_bound_si(isl::Dim::Param, position, *size)?;
    }
    let mut below: Option<Set> = None;
    for (position, size) in params.iter().enumerate().filter(|(_, size)| **size > 0) {
        let smaller = within.clone().upper_bound_si(isl::Dim::Param, position, size - 1)?;
        below = Some(match below {
            Some(known) => known.union(smaller)?,
            None => smaller,
        });
    }
    match below {
        Some(below) if !below.is_empty()? => Ok(Some(below)),
        _ => Ok(None),
    }
}
