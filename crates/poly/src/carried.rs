//! Kinds of loops: may the iterations of a parallel or vector loop really run at once?
//!
//! In: a plan that is legal in sequence.  Out: nothing, or a dependence that such a loop carries.
//! A loop carries a dependence whose ends agree in everything outside the loop and differ in the loop. Pairs of updates
//! of one reduction are not counted: their order is free, and parallel code combines partial results.

use std::time::Duration;

use diag::Diagnostic;
use isl::{Dim, Map};

use crate::deps::{DependenceKind, Dependences, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::legality::{LegalSchedule, Pair, smallest_pair};
use crate::plan::{Entry, LoopKind, Plan, StatementPlan};
use crate::scop::{Scop, Statement};
use crate::witness::{At, show_cell};

/// A dependence between iterations that would run at the same time.
#[derive(Clone, Debug)]
pub struct Carried {
    pub pair: Pair,
    pub loop_name: String,
    pub kind: LoopKind,
}

/// What is known about the kinds of a plan's loops.
#[derive(Debug)]
pub enum Kinds {
    /// The schedule, whose kinds count from now on.
    Proven(LegalSchedule),
    Carried(Box<Carried>),
    /// The budget ran out before the question was decided.
    Unknown {
        spent: Duration,
    },
}

/// Checks every parallel and vector loop of a plan, of which `legal` is the schedule.
pub fn check_kinds(scop: &Scop, dependences: &Dependences, plan: &Plan, legal: LegalSchedule) -> diag::Result<Kinds> {
    match find_carried(scop, dependences, plan) {
        Ok(None) => Ok(Kinds::Proven(legal.with_proven_kinds())),
        Ok(Some(carried)) => Ok(Kinds::Carried(Box::new(carried))),
        Err(Fault::Isl(isl::Error::Budget { spent, .. })) => Ok(Kinds::Unknown { spent }),
        Err(fault) => Err(fault.at("legality")),
    }
}

fn find_carried(scop: &Scop, dependences: &Dependences, plan: &Plan) -> Attempt<Option<Carried>> {
    let concurrent = |entry: &Entry| {
        entry.as_loop().is_some_and(|found| matches!(found.kind, LoopKind::Parallel | LoopKind::Vector(_)))
    };
    if !plan.statements.iter().any(|statement| statement.entries.iter().any(concurrent)) {
        return Ok(None);
    }
    let find = |name: Option<String>| {
        let position = scop.statements.iter().position(|statement| Some(&statement.name) == name.as_ref());
        position.ok_or_else(|| Fault::bug("a dependence of an unknown statement"))
    };
    for kind in [DependenceKind::Flow, DependenceKind::Anti, DependenceKind::Output] {
        for dependence in dependences.of_kind(kind).maps()? {
            let source = find(dependence.get_tuple_name(Dim::In)?)?;
            let sink = find(sink_and_array(&dependence)?.0)?;
            let (one, two) = (&plan.statements[source], &plan.statements[sink]);
            let levels = one.entries.iter().zip(&two.entries).enumerate();
            for (level, _) in levels.filter(|(_, (one, two))| concurrent(one) || concurrent(two)) {
                let Some(found) = one.entries[level].as_loop().filter(|_| share(one, two, level)) else { continue };
                let pairs = carried_at(scop, plan, (source, sink), &dependence, level)?;
                if pairs.is_empty()? {
                    continue;
                }
                let time = |statement: &Statement, params: &[i64], values: &[i64]| {
                    time_at(scop, plan, statement, params, values)
                };
                if let Some(pair) = smallest_pair(scop, kind, dependence.clone(), pairs, &time)? {
                    return Ok(Some(Carried { pair, loop_name: found.name.clone(), kind: found.kind }));
                }
            }
        }
    }
    Ok(None)
}

/// Whether two statements are inside the same loop at `level`.
fn share(one: &StatementPlan, two: &StatementPlan, level: usize) -> bool {
    one.shared_with(two) > level
}

/// The pairs of a dependence that agree before `level` and differ there.
fn carried_at(
    scop: &Scop,
    plan: &Plan,
    (source, sink): (usize, usize),
    dependence: &Map,
    level: usize,
) -> Attempt<Map> {
    let times =
        |position: usize| Plan::times(scop, &scop.statements[position], &plan.statements[position].entries[..=level]);
    let (one, two) = (times(source)?, times(sink)?);
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
    let time = plan.statements[position].entries.iter().map(|entry| match entry {
        Entry::Position(position) => Some(*position),
        Entry::Loop(found) => at.affine(&found.expr),
        Entry::Split(cond) => at.cond(cond).map(|holds| i64::from(!holds)),
    });
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
        self.pair.explain(scop, "E0503", message)
    }
}
