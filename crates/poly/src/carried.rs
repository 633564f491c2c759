//! Kinds of loops: may the iterations of a parallel or vector loop really run at once?
//!
//! In: a plan that is legal in sequence.  Out: nothing, or a dependence that such a loop carries.
//! A loop carries a dependence whose ends agree in everything outside the loop and differ in the loop. Pairs of updates
//! of one reduction are not counted: their order is free, and parallel code combines partial results. Those of updates
//! at cells that depend on data are.

use std::time::Duration;

use diag::Diagnostic;
use isl::{Dim, Map, PwAff};

use crate::deps::{DependenceKind, Dependences, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::legality::{LegalSchedule, Pair, smallest_pair};
use crate::plan::{Entry, LoopKind, Plan};
use crate::scop::{ArrayOrigin, Scop, Statement};
use crate::witness::{At, show_cell};

/// A dependence between iterations that would run at the same time.
#[derive(Clone, Debug)]
pub struct Carried {
    pub pair: Pair,
    pub loop_name: String,
    pub kind: LoopKind,
}

/// Why a loop cannot be of its kind.
enum Obstacle {
    Carried(Box<Carried>),
    Wide { loop_name: String, lanes: u32 },
}

/// What is known about the kinds of a plan's loops.
#[derive(Debug)]
pub enum Kinds {
    /// The schedule, whose kinds count from now on.
    Proven(LegalSchedule),
    Carried(Box<Carried>),
    /// A vector loop has more iterations than lanes.
    Wide {
        loop_name: String,
        lanes: u32,
    },
    /// The budget ran out before the question was decided.
    Unknown {
        spent: Duration,
    },
}

/// Checks every parallel and vector loop of a plan, of which `legal` is the schedule.
pub fn check_kinds(scop: &Scop, dependences: &Dependences, plan: &Plan, legal: LegalSchedule) -> diag::Result<Kinds> {
    match find_carried(scop, dependences, plan) {
        Ok(None) => Ok(Kinds::Proven(legal.with_proven_kinds())),
        Ok(Some(Obstacle::Carried(carried))) => Ok(Kinds::Carried(carried)),
        Ok(Some(Obstacle::Wide { loop_name, lanes })) => Ok(Kinds::Wide { loop_name, lanes }),
        Err(Fault::Isl(isl::Error::Budget { spent, .. })) => Ok(Kinds::Unknown { spent }),
        Err(fault) => Err(fault.at("legality")),
    }
}

fn find_carried(scop: &Scop, dependences: &Dependences, plan: &Plan) -> Attempt<Option<Obstacle>> {
    let bands = concurrent_bands(plan);
    for band in &bands {
        if let Some(wide) = find_wide(scop, plan, band)? {
            return Ok(Some(wide));
        }
    }
    if bands.is_empty() {
        return Ok(None);
    }
    let find = |name: Option<String>| {
        let position = scop.statements.iter().position(|statement| Some(&statement.name) == name.as_ref());
        position.ok_or_else(|| Fault::bug("a dependence of an unknown statement"))
    };
    let scatters = |name: Option<String>| find(name).map(|position| scop.statements[position].scatters());
    for kind in DependenceKind::ALL {
        for dependence in dependences.of_kind(kind).maps()? {
            // Nobody can tell which cells scattered updates share, so there are no partial results to combine.
            if kind == DependenceKind::Reduction && !scatters(dependence.get_tuple_name(Dim::In)?)? {
                continue;
            }
            let source = find(dependence.get_tuple_name(Dim::In)?)?;
            let sink = find(sink_and_array(&dependence)?.0)?;
            for band in bands.iter().filter(|band| band.members.contains(&source) && band.members.contains(&sink)) {
                let pairs = carried_at(scop, plan, (source, sink), &dependence, band.level)?;
                if pairs.is_empty()? {
                    continue;
                }
                let time = |statement: &Statement, params: &[i64], values: &[i64]| {
                    time_at(scop, plan, statement, params, values)
                };
                if let Some(pair) = smallest_pair(scop, kind, dependence.clone(), pairs, &time)? {
                    let (loop_name, kind) = (band.name.clone(), band.kind);
                    return Ok(Some(Obstacle::Carried(Box::new(Carried { pair, loop_name, kind }))));
                }
            }
        }
    }
    Ok(None)
}

/// A loop of the tree that is to run concurrently, with all statements inside it, whatever they call it.
struct Band {
    level: usize,
    members: Vec<usize>,
    name: String,
    kind: LoopKind,
}

/// Follows the tree level by level: statements part where it has a sequence, and stay together in a band.
fn concurrent_bands(plan: &Plan) -> Vec<Band> {
    let mut bands = Vec::new();
    let mut groups: Vec<Vec<usize>> = vec![(0..plan.statements.len()).collect()];
    let depth = plan.statements.iter().map(|statement| statement.entries.len()).max().unwrap_or(0);
    for level in 0..depth {
        let entry = |position: &usize| plan.statements[*position].entries.get(level);
        let mut next: Vec<Vec<usize>> = Vec::new();
        for group in groups {
            let mut loops = group.iter().filter_map(|position| entry(position).and_then(Entry::as_loop)).peekable();
            if loops.peek().is_some() {
                if let Some(found) = loops.find(|found| matches!(found.kind, LoopKind::Parallel | LoopKind::Vector(_)))
                {
                    let (name, kind) = (found.name.clone(), found.kind);
                    bands.push(Band { level, members: group.clone(), name, kind });
                }
                next.push(group);
                continue;
            }
            // A split statement is in both halves; it stays with everything, which can only find more.
            let place = |position: &usize| match entry(position) {
                Some(Entry::Position(place)) => Some(*place),
                Some(Entry::Split(_)) => None,
                Some(Entry::Loop(_)) | None => Some(0),
            };
            let mut places: Vec<i64> = group.iter().filter_map(place).collect();
            places.sort_unstable();
            places.dedup();
            if group.iter().any(|position| place(position).is_none()) || places.is_empty() {
                next.push(group);
            } else {
                let at =
                    |wanted: &i64| group.iter().copied().filter(|position| place(position) == Some(*wanted)).collect();
                next.extend(places.iter().map(at));
            }
        }
        groups = next;
    }
    bands
}

/// A vector loop with more iterations than lanes.
fn find_wide(scop: &Scop, plan: &Plan, band: &Band) -> Attempt<Option<Obstacle>> {
    let LoopKind::Vector(lanes) = band.kind else { return Ok(None) };
    for position in &band.members {
        let statement = &scop.statements[*position];
        let times = times_to(scop, plan, *position, band.level)?;
        let Some((at, before)) = times.split_last() else { continue };
        let space = statement.domain.get_space()?;
        let mut pairs = Map::universe(space.map_from_set()?)?
            .intersect_domain(statement.domain.clone())?
            .intersect_range(statement.domain.clone())?
            .intersect_params(scop.context.clone())?;
        for time in before {
            pairs = pairs.intersect(time.clone().eq_map(time.clone())?)?;
        }
        let width = isl::Val::from_i64(scop.params.ctx(), i64::from(lanes))?;
        let pairs = pairs.intersect(at.clone().add_constant_val(width)?.le_map(at.clone())?)?;
        if !pairs.is_empty()? {
            return Ok(Some(Obstacle::Wide { loop_name: band.name.clone(), lanes }));
        }
    }
    Ok(None)
}

/// The entries of a statement up to and including a level, as numbers; 0 past their end.
fn times_to(scop: &Scop, plan: &Plan, position: usize, level: usize) -> Attempt<Vec<PwAff>> {
    let mut entries = plan.statements[position].entries.clone();
    entries.resize(entries.len().max(level + 1), Entry::Position(0));
    Plan::times(scop, &scop.statements[position], &entries[..=level])
}

/// The pairs of a dependence that agree before `level` and differ there.
fn carried_at(
    scop: &Scop,
    plan: &Plan,
    (source, sink): (usize, usize),
    dependence: &Map,
    level: usize,
) -> Attempt<Map> {
    let (one, two) = (times_to(scop, plan, source, level)?, times_to(scop, plan, sink, level)?);
    let mut pairs = dependence.clone().range_factor_domain()?.intersect_params(scop.context.clone())?;
    for (one, two) in one.iter().zip(&two).take(level) {
        pairs = pairs.intersect(one.clone().eq_map(two.clone())?)?;
    }
    let (one, two) = (&one[level], &two[level]);
    let different = one.clone().lt_map(two.clone())?.union(one.clone().gt_map(two.clone())?)?;
    Ok(pairs.intersect(different)?)
}

fn time_at(scop: &Scop, plan: &Plan, statement: &Statement, params: &[i64], values: &[i64]) -> Attempt<Vec<i64>> {
    let position = scop.statements.iter().position(|known| known.name == statement.name);
    let position = position.ok_or_else(|| Fault::bug("an instance of an unknown statement"))?;
    let at = At { params, iters: &statement.iters, values };
    let time = plan.statements[position].entries.iter().map(|entry| entry.at(&at));
    time.collect::<Option<_>>().ok_or_else(|| Fault::bug("a time overflows"))
}

impl Carried {
    /// The violation as an error at the source lines of both accesses.
    pub fn explain(&self, scop: &Scop) -> Diagnostic {
        let cell = show_cell(&self.pair.array, &self.pair.cell);
        let what = match self.kind {
            LoopKind::Vector(lanes) => format!("be vectorized by {lanes}"),
            _ => "be parallel".into(),
        };
        let message = format!(
            "loop `{}` cannot {what}: it carries {} dependence through {cell}",
            self.loop_name,
            self.pair.kind.with_article()
        );
        let diagnostic = self.pair.explain(scop, "E0503", message);
        let buffer = scop.array_named(&self.pair.array).is_some_and(|(_, array)| array.origin == ArrayOrigin::Buffer);
        if buffer && self.kind == LoopKind::Parallel {
            let help = "a loop that is parallel before the step that makes the buffer has one for each iteration";
            return diagnostic.help(help);
        }
        diagnostic
    }
}
