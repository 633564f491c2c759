//! Loops with a predicate that somebody wrote: is every instance run, and none twice?
//!
//! In: new loops in place of old ones, the iterations of them that a predicate lets run, and what the old loops count in each.  Out:
//! nothing, or what is wrong, told.
//! A schedule gives an instance one time, so it cannot say that an instance runs twice; a predicate that is too weak does. Where nothing is
//! wrong, the predicate lets exactly those iterations run that have instances, and the schedule needs no other.

use diag::{Diagnostic, Span};
use isl::{Map, Set, Val};
use program::{Affine, Cond, IterId};

use super::explain::{show_instance, with_sizes};
use crate::fault::{Attempt, Fault};
use crate::scop::Scop;
use crate::sets::{Frame, below};
use crate::tree::Branch;
use crate::witness::{Sample, smallest};

/// How many of the instances that run twice are told.
const TOLD: usize = 8;

/// Which iterations of new loops run, and for what.
#[derive(Debug)]
pub struct Visits<'a> {
    /// What the new loops are called.
    pub names: &'a [String],
    /// How many iterations each has, from 0 on.
    pub extents: &'a [Affine],
    /// Those that run; `IterId(n)` is the n-th new loop, as in `counted`.
    pub runs: &'a Cond,
    /// What the old loops count in an iteration of the new ones.
    pub counted: &'a [Affine],
    /// What the old loops count for an instance.
    pub old: &'a [Affine],
    /// What the new loops count for an instance.
    pub new: &'a [Affine],
}

/// What is wrong with a predicate, at `span`, for the instances of a branch.
pub fn find_wrong_visit(
    scop: &Scop,
    branch: &Branch,
    visits: &Visits<'_>,
    span: Span,
) -> Attempt<Option<Box<Diagnostic>>> {
    let statement = scop.at(branch.statement);
    let instances = branch.instances(scop)?.intersect_params(scop.context.clone())?;
    let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
    let values = |exprs: &[Affine]| -> Attempt<Map> {
        let range = scop.params.tuple(None, &vec![""; exprs.len()])?;
        Ok(frame.map(range, exprs)?.intersect_domain(instances.clone())?)
    };
    let runs = running(scop, visits)?;
    let of_iterations = runs.clone().apply_range(values(visits.old)?.reverse()?)?;
    let told = |message: String, params: &[i64]| with_sizes(Diagnostic::error("E0502", span, message), scop, params);
    let instance = |values: &[i64]| show_instance(scop, branch.statement, values);

    let space = scop.params.tuple(None, &vec![""; visits.names.len()])?;
    let meeting =
        of_iterations.clone().apply_range(of_iterations.clone().reverse()?)?.intersect(Map::lex_lt(space)?)?;
    if let Some(Sample { params, point }) = smallest(meeting.clone().wrap()?, &scop.context)? {
        let (one, two) = point.split_at(visits.names.len());
        let twice = of_iterations.clone().intersect_domain(meeting.domain()?)?.range()?;
        let of_first = fixed(of_iterations.wrap()?, &params, one)?;
        let Some(first) = smallest(of_first, &scop.context)? else {
            return Err(Fault::bug("an iteration with an instance has none"));
        };
        let first = &first.point[visits.names.len()..];
        let (one, two) = (show_iteration(visits.names, one), show_iteration(visits.names, two));
        let message = format!("with this predicate {} would run twice: at {one}, and at {two}", instance(first));
        let others = others(scop, twice, &params, first)?;
        let diagnostic = told(message, &params);
        let others: Vec<String> = others.iter().map(|values| instance(values)).collect();
        return Ok(Some(Box::new(match others.as_slice() {
            [] => diagnostic,
            others => diagnostic.note(format!("so would {}", others.join(", "))),
        })));
    }
    if let Some(Sample { params, point }) =
        smallest(instances.clone().subtract(of_iterations.clone().range()?)?, &scop.context)?
    {
        let message = format!("with this predicate {} would never run", instance(&point));
        return Ok(Some(Box::new(told(message, &params))));
    }
    if let Some(Sample { params, point }) =
        smallest(runs.domain()?.subtract(of_iterations.clone().domain()?)?, &scop.context)?
    {
        let at = show_iteration(visits.names, &point);
        let message = format!("with this predicate {at} would run, where there is no instance");
        return Ok(Some(Box::new(told(message, &params))));
    }
    let elsewhere = of_iterations.reverse()?.subtract(values(visits.new)?)?;
    let Some(Sample { params, point }) = smallest(elsewhere.wrap()?, &scop.context)? else { return Ok(None) };
    let (own, at) = point.split_at(statement.iters.len());
    let at = show_iteration(visits.names, at);
    let message = format!("with this predicate {} would run at {at}, which is a hole", instance(own));
    Ok(Some(Box::new(told(message, &params))))
}

/// The iterations that run, with what the old loops count in them.
fn running(scop: &Scop, visits: &Visits<'_>) -> Attempt<Map> {
    let space = scop.params.tuple(None, &vec![""; visits.extents.len()])?;
    let iters: Vec<IterId> = (0..visits.extents.len()).map(|position| IterId(position as u32)).collect();
    let frame = Frame { space: space.clone(), iters };
    let mut iterations = frame.cond(visits.runs)?.intersect_params(scop.context.clone())?;
    for (position, extent) in visits.extents.iter().enumerate() {
        iterations = iterations.intersect(below(&space, position, extent)?)?;
    }
    let range = scop.params.tuple(None, &vec![""; visits.counted.len()])?;
    Ok(frame.map(range, visits.counted)?.intersect_domain(iterations)?)
}

/// The points of a set at some sizes, whose first coordinates are given.
fn fixed(mut set: Set, params: &[i64], first: &[i64]) -> Attempt<Set> {
    for (kind, values) in [(isl::Dim::Param, params), (isl::Dim::Set, first)] {
        for (position, value) in values.iter().enumerate() {
            let value = Val::from_i64(set.context(), *value)?;
            set = set.fix_val(kind, position, value)?;
        }
    }
    Ok(set)
}

/// The first few points of a set at some sizes, without one.
fn others(scop: &Scop, set: Set, params: &[i64], without: &[i64]) -> Attempt<Vec<Vec<i64>>> {
    let mut rest = fixed(set, params, &[])?;
    let mut found: Vec<Vec<i64>> = Vec::new();
    let mut last = without.to_vec();
    while found.len() < TOLD {
        rest = rest.clone().subtract(fixed(rest, params, &last)?)?;
        let Some(Sample { point, .. }) = smallest(rest.clone(), &scop.context)? else { break };
        found.push(point.clone());
        last = point;
    }
    Ok(found)
}

/// `io = 0, ii = 3`
fn show_iteration(names: &[String], values: &[i64]) -> String {
    names.iter().zip(values).map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
