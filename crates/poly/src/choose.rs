//! Choosing a schedule: isl's scheduler, steered. (The original order, which always works, is `Plan::original`.)
//!
//! In: a Scop and its dependences.  Out: a candidate schedule, to be judged by `legality` like any other.

use isl::{Schedule, ScheduleConstraints, ScheduleOptions};

use crate::deps::Dependences;
use crate::fault::Attempt;
use crate::scop::Scop;

/// A schedule by isl: outer parallelism and locality first.
pub fn choose(scop: &Scop, dependences: &Dependences) -> diag::Result<Schedule> {
    compute(scop, dependences).map_err(|fault| fault.at("schedule"))
}

fn compute(scop: &Scop, dependences: &Dependences) -> Attempt<Schedule> {
    let ctx = scop.params.ctx();
    ctx.set_schedule_options(&ScheduleOptions {
        // Bounds keep the scheduler from skewing by large or parametric amounts.
        max_coefficient: Some(20),
        max_constant_term: Some(20),
        ..ScheduleOptions::default()
    })?;
    let ordered = dependences.ordered_pairs()?;
    let flow = dependences.flow.clone().range_factor_domain()?;
    // Updates may run in any order, but two of one cell not at the same time: their loop is not parallel.
    let updates = dependences.reduction.clone().range_factor_domain()?;
    let constraints = ScheduleConstraints::on_domain(scop.domain()?)?
        .set_validity(ordered.clone())?
        .set_coincidence(ordered.union(updates)?)?
        .set_proximity(flow)?;
    Ok(constraints.compute_schedule()?)
}
