//! Proposals: schedules that isl's scheduler finds. Whether one is legal is judged by the gate, like any other.
//!
//! In: a program and its dependences.  Out: a tree, or none where the scheduler fails; for equations, which have no other
//! order, a failure is explained.
//! Not here: which of several proposals is good.

use isl::{Dim, Map, Schedule, ScheduleConstraints, ScheduleOptions, UnionMap, UnionSet};

use crate::deps::Dependences;
use crate::equations::explain_failure;
use crate::fault::{Attempt, Fault};
use crate::prove::Subject;
use crate::scop::{Scop, Statement};
use crate::tree::{Tree, Unread, from_isl};

/// How eagerly statements are put into one loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// Wherever the order allows it, for parallelism and locality.
    Most,
    /// Only statements that depend on each other both ways.
    Least,
}

/// A schedule by isl of all statements. A failure of the scheduler is no proposal; only a budget that runs out, and
/// equations without any order, are errors.
pub fn propose(subject: &Subject, fusion: Fusion) -> diag::Result<Option<Tree>> {
    let tree = propose_some(subject, fusion, &|_| true)?;
    if tree.is_none() && !subject.scop.equations.is_empty() {
        return Err(explain_failure(&subject.scop, &subject.dependences));
    }
    Ok(tree)
}

/// The same for some of the statements.
pub(crate) fn propose_some(
    subject: &Subject,
    fusion: Fusion,
    wanted: &dyn Fn(&Statement) -> bool,
) -> diag::Result<Option<Tree>> {
    let (scop, dependences) = (&subject.scop, &subject.dependences);
    // isl takes no notice of an instance that needs itself.
    if !scop.equations.is_empty()
        && needs_itself(scop, dependences).map_err(|fault| fault.of_function("schedule", &scop.function))?
    {
        return Ok(None);
    }
    // Bounds keep the scheduler from skewing by large or parametric amounts.
    let options = ScheduleOptions {
        max_coefficient: Some(20),
        max_constant_term: Some(20),
        serialize_sccs: fusion == Fusion::Least,
        ..ScheduleOptions::default()
    };
    let mut found = compute(scop, dependences, &options, wanted)?;
    if found.is_none() && !scop.equations.is_empty() {
        let unbounded = ScheduleOptions { max_coefficient: None, max_constant_term: None, ..options };
        found = compute(scop, dependences, &unbounded, wanted)?;
    }
    let Some(schedule) = found else { return Ok(None) };
    match from_isl(scop, &schedule)? {
        // What may run in any order runs in one.
        Ok(tree) => Ok(Some(tree.in_sequence())),
        Err(Unread::Unsupported(what)) => {
            tracing::debug!(what, "the scheduler's tree cannot be read");
            Ok(None)
        }
        Err(Unread::Superfluous { .. }) => {
            Err(diag::Error::bug("schedule", "the scheduler runs an instance that the program does not have"))
        }
    }
}

fn needs_itself(scop: &Scop, dependences: &Dependences) -> Attempt<bool> {
    for pairs in dependences.flow.clone().range_factor_domain()?.maps()? {
        if pairs.get_tuple_name(Dim::In)? == pairs.get_tuple_name(Dim::Out)? {
            let same = pairs.clone().intersect(Map::identity(pairs.get_space()?)?)?;
            if !same.intersect_params(scop.context.clone())?.is_empty()? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// isl's schedule; none where it fails for another reason than the budget.
fn compute(
    scop: &Scop,
    dependences: &Dependences,
    options: &ScheduleOptions,
    wanted: &dyn Fn(&Statement) -> bool,
) -> diag::Result<Option<Schedule>> {
    match schedule(scop, dependences, options, wanted) {
        Ok(schedule) => Ok(Some(schedule)),
        Err(Fault::Isl(error @ isl::Error::Isl { .. })) => {
            tracing::debug!(%error, "the scheduler finds no order");
            Ok(None)
        }
        Err(fault) => Err(fault.of_function("schedule", &scop.function)),
    }
}

fn schedule(
    scop: &Scop,
    dependences: &Dependences,
    options: &ScheduleOptions,
    wanted: &dyn Fn(&Statement) -> bool,
) -> Attempt<Schedule> {
    scop.params.ctx().set_schedule_options(options)?;
    let mut domain = UnionSet::empty(scop.params.space())?;
    for statement in scop.statements.iter().filter(|statement| wanted(statement)) {
        domain = domain.add_set(statement.domain.clone())?;
    }
    let all = scop.statements.iter().all(wanted);
    let among = |pairs: UnionMap| {
        if all { Ok(pairs) } else { pairs.intersect_domain(domain.clone())?.intersect_range(domain.clone()) }
    };
    let ordered = among(dependences.ordered_pairs()?)?;
    let flow = among(dependences.flow.clone().range_factor_domain()?)?;
    // Updates may run in any order, but two of one cell not at the same time: their loop is not parallel.
    let updates = among(dependences.reduction.clone().range_factor_domain()?)?;
    let constraints = ScheduleConstraints::on_domain(domain)?
        .set_validity(ordered.clone())?
        .set_coincidence(ordered.union(updates)?)?
        .set_proximity(flow)?;
    Ok(constraints.compute_schedule()?)
}
