//! The schedule tree of a plan: sequences where it has positions, bands where it has loops, marks for kinds of loops.

use std::collections::BTreeMap;

use isl::{Id, Map, MultiUnionPwAff, PwAff, Schedule, Set, UnionMap, UnionSet};
use program::Affine;

use super::{Entry, Loop, LoopKind, Plan};
use crate::fault::{Attempt, Fault};
use crate::scop::{Scop, Statement};
use crate::sets::Frame;

/// A statement, or the part of it that a split leaves, with the entries that are still to be placed.
#[derive(Clone)]
struct Part<'a> {
    statement: &'a Statement,
    domain: Set,
    entries: &'a [Entry],
}

impl Plan {
    /// The plan as a schedule tree.
    pub fn tree(&self, scop: &Scop) -> diag::Result<Schedule> {
        self.build(scop).map_err(|fault| fault.at("schedule"))
    }

    pub(crate) fn build(&self, scop: &Scop) -> Attempt<Schedule> {
        let parts = self.statements.iter().zip(&scop.statements).map(|(plan, statement)| Part {
            statement,
            domain: statement.domain.clone(),
            entries: &plan.entries,
        });
        subtree(scop, parts.collect())
    }

    /// What a statement's entries are at each instance: the plan as numbers.
    pub(crate) fn times(scop: &Scop, statement: &Statement, entries: &[Entry]) -> Attempt<Vec<PwAff>> {
        let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
        let universe = Set::universe(frame.space.clone())?;
        let constant = |value: i64| -> Attempt<PwAff> {
            let value = isl::Val::from_i64(universe.context(), value)?;
            Ok(PwAff::val_on_domain(universe.clone(), value)?)
        };
        let mut times = Vec::new();
        for entry in entries {
            times.push(match entry {
                Entry::Position(position) => constant(*position)?,
                Entry::Loop(Loop { expr, .. }) => PwAff::from_aff(frame.aff(expr)?)?,
                Entry::Split(cond) => {
                    let holds = frame.cond(cond)?;
                    holds.indicator_function()?.neg()?.add(constant(1)?)?
                }
            });
        }
        Ok(times)
    }
}

fn subtree(scop: &Scop, parts: Vec<Part<'_>>) -> Attempt<Schedule> {
    if parts.iter().all(|part| part.entries.is_empty()) {
        let mut domain = UnionSet::empty(scop.params.space())?;
        for part in parts {
            domain = domain.add_set(part.domain)?;
        }
        return Ok(Schedule::from_domain(domain)?);
    }
    if parts.iter().any(|part| matches!(part.entries.first(), Some(Entry::Loop(_)))) {
        return band(scop, parts);
    }
    let mut sequence: BTreeMap<i64, Vec<Part<'_>>> = BTreeMap::new();
    for part in parts {
        let rest = part.entries.get(1..).unwrap_or(&[]);
        match part.entries.first() {
            Some(Entry::Split(cond)) => {
                let frame =
                    Frame::new(&scop.params, &scop.function, Some(&part.statement.name), &part.statement.iters)?;
                let holds = frame.cond(cond)?;
                let first = part.domain.clone().intersect(holds.clone())?;
                let second = part.domain.clone().subtract(holds)?;
                for (position, domain) in [(0, first), (1, second)] {
                    sequence.entry(position).or_default().push(Part { domain, entries: rest, ..part.clone() });
                }
            }
            Some(Entry::Position(position)) => {
                sequence.entry(*position).or_default().push(Part { entries: rest, ..part });
            }
            // Past the end of its entries a statement is at position 0.
            Some(Entry::Loop(_)) | None => sequence.entry(0).or_default().push(Part { entries: rest, ..part }),
        }
    }
    let mut schedule: Option<Schedule> = None;
    for part in sequence.into_values() {
        let part = subtree(scop, part)?;
        schedule = Some(match schedule {
            Some(before) => before.sequence(part)?,
            None => part,
        });
    }
    schedule.ok_or_else(|| Fault::bug("a sequence of nothing"))
}

/// A loop around all parts. A part that has no loop here runs in the iteration that its position names.
fn band(scop: &Scop, parts: Vec<Part<'_>>) -> Attempt<Schedule> {
    let mut band = UnionMap::empty(scop.params.space())?;
    let mut kind = LoopKind::Serial;
    let mut inner = Vec::new();
    for part in parts {
        let expr = match part.entries.first() {
            Some(Entry::Loop(found)) => {
                if found.kind != LoopKind::Serial {
                    kind = found.kind;
                }
                found.expr.clone()
            }
            Some(Entry::Position(position)) => Affine::constant(*position),
            Some(Entry::Split(_)) => return Err(Fault::bug("a split beside a loop")),
            None => Affine::constant(0),
        };
        let frame = Frame::new(&scop.params, &scop.function, Some(&part.statement.name), &part.statement.iters)?;
        // Not restricted to the domain: a band knows its range even where nothing runs.
        let map: Map = frame.map(scop.params.tuple(None, &[""])?, &[expr])?;
        band = band.union(map.to_union_map()?)?;
        let rest = part.entries.get(1..).unwrap_or(&[]);
        inner.push(Part { entries: rest, ..part });
    }
    // Both halves of a split statement have the same band.
    let band = MultiUnionPwAff::from_union_map(band)?;
    let schedule = subtree(scop, inner)?.insert_partial_schedule(band)?;
    if kind == LoopKind::Serial {
        return Ok(schedule);
    }
    let mark = Id::new(scop.params.ctx(), &kind.name())?;
    Ok(schedule.get_root()?.child(0)?.insert_mark(mark)?.get_schedule()?)
}
