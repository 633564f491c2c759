//! Choosing a schedule: isl's scheduler, steered. (The original order, which works for all
//! but equations, is `Plan::original`.)
//!
//! In: a Scop and its dependences.  Out: a candidate schedule, to be judged by `legality` like any other.

use isl::{Dim, ErrorKind, Map, Schedule, ScheduleConstraints, ScheduleOptions, UnionMap, UnionSet};

use crate::deps::Dependences;
use crate::equations::explain_failure;
use crate::fault::{Attempt, Fault};
use crate::scop::{Scop, Statement};

/// A schedule by isl: outer parallelism and locality first.
pub fn choose(scop: &Scop, dependences: &Dependences) -> diag::Result<Schedule> {
    compute(scop, dependences, &options(), &|_| true)
}

/// A schedule by isl of some of the statements, in which they share loops only if they depend on each other both ways.
pub(crate) fn choose_apart(
    scop: &Scop,
    dependences: &Dependences,
    wanted: &dyn Fn(&Statement) -> bool,
) -> diag::Result<Schedule> {
    compute(scop, dependences, &ScheduleOptions { serialize_sccs: true, ..options() }, wanted)
}

fn options() -> ScheduleOptions {
    ScheduleOptions {
        // Bounds keep the scheduler from skewing by large or parametric amounts.
        max_coefficient: Some(20),
        max_constant_term: Some(20),
        ..ScheduleOptions::default()
    }
}

fn compute(
    scop: &Scop,
    dependences: &Dependences,
    options: &ScheduleOptions,
    wanted: &dyn Fn(&Statement) -> bool,
) -> diag::Result<Schedule> {
    // isl takes no notice of an instance that needs itself.
    if !scop.equations.is_empty() && needs_itself(scop, dependences).map_err(|fault| fault.at("schedule"))? {
        return Err(explain_failure(scop, dependences));
    }
    let mut found = propose(scop, dependences, options, wanted);
    // Only equations can leave the scheduler without an order; everything else has the one it is written in.
    let failed =
        |found: &Attempt<Schedule>| matches!(found, Err(Fault::Isl(isl::Error::Isl { kind: ErrorKind::Unknown, .. })));
    if failed(&found) && !scop.equations.is_empty() {
        let unbounded = ScheduleOptions { max_coefficient: None, max_constant_term: None, ..options.clone() };
        found = propose(scop, dependences, &unbounded, wanted);
        if failed(&found) {
            return Err(explain_failure(scop, dependences));
        }
    }
    found.map_err(|fault| fault.at("schedule"))
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

fn propose(
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
