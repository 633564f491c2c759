//! Legality: does this schedule run every dependence forwards?
//!
//! In: a scop, its dependences, a candidate schedule.  Out: `Legal`, or a `Violation` with a witness, or `Unknown`.
//! Not here: choosing a schedule (`choose`).

use std::time::Duration;

use diag::{Diagnostic, Span};
use isl::{Dim, Map, PwMultiAff, Schedule, Set, UnionMap, UnionSet};

use crate::deps::{DependenceKind, Dependences, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::plan::Plan;
use crate::scop::{Scop, Statement};
use crate::witness::{Sample, show_cell, show_params, show_point, smallest};

/// A schedule that has been found legal. Loops are generated from nothing else.
#[derive(Clone, Debug)]
pub struct LegalSchedule {
    schedule: Schedule,
    /// Whether its parallel and vector loops are proven to be such; otherwise all loops run in sequence.
    kinds: bool,
}

impl LegalSchedule {
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) fn with_proven_kinds(self) -> LegalSchedule {
        LegalSchedule { kinds: true, ..self }
    }

    pub(crate) fn has_proven_kinds(&self) -> bool {
        self.kinds
    }
}

#[derive(Debug)]
pub enum Verdict {
    Legal(LegalSchedule),
    Illegal(Box<Violation>),
    /// The budget ran out before the question was decided. This is never treated as legal.
    Unknown {
        spent: Duration,
    },
}

/// One instance of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The name of the Scop's statement.
    pub statement: String,
    pub values: Vec<i64>,
    /// When the schedule runs it.
    pub time: Vec<i64>,
    /// The access to the cell.
    pub access: Span,
}

/// Why a schedule is illegal.
#[derive(Clone, Debug)]
pub enum Violation {
    /// A dependence runs backwards, or its ends run at the same time.
    Reversed(Reversed),
    /// The schedule does not run exactly the instances of the program.
    Instances { statement: String, values: Vec<i64>, params: Vec<i64>, fault: InstanceFault },
}

/// How a schedule can fail to run exactly the instances of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceFault {
    Missing,
    Superfluous,
    Repeated,
}

/// One pair of instances of a dependence, with the cell that connects them.
#[derive(Clone, Debug)]
pub struct Pair {
    pub kind: DependenceKind,
    pub source: Instance,
    pub sink: Instance,
    pub array: String,
    pub cell: Vec<i64>,
    pub params: Vec<i64>,
}

/// A dependence that the schedule breaks.
#[derive(Clone, Debug)]
pub struct Reversed {
    pub pair: Pair,
    /// The first dimension of the schedule at which the order is wrong; none if the times are equal.
    pub depth: Option<usize>,
}

/// Decides whether `schedule` is legal.
pub fn check_legal(scop: &Scop, dependences: &Dependences, schedule: Schedule) -> diag::Result<Verdict> {
    match find_violation(scop, dependences, &schedule) {
        Ok(None) => Ok(Verdict::Legal(LegalSchedule { schedule, kinds: false })),
        Ok(Some(violation)) => Ok(Verdict::Illegal(Box::new(violation))),
        Err(Fault::Isl(isl::Error::Budget { spent, .. })) => Ok(Verdict::Unknown { spent }),
        Err(fault) => Err(fault.at("legality")),
    }
}

fn find_violation(scop: &Scop, dependences: &Dependences, schedule: &Schedule) -> Attempt<Option<Violation>> {
    let times = schedule.get_map()?;
    if let Some(violation) = find_wrong_instances(scop, &schedule.get_domain()?, &times)? {
        return Ok(Some(violation));
    }
    let times = Times::new(scop, &times)?;
    for kind in [DependenceKind::Flow, DependenceKind::Anti, DependenceKind::Output] {
        for dependence in dependences.of_kind(kind).maps()? {
            if let Some(reversed) = find_reversed(scop, &times, kind, dependence)? {
                return Ok(Some(Violation::Reversed(reversed)));
            }
        }
    }
    Ok(None)
}

/// Instances that the schedule lacks, has and should not have, or runs more than once.
fn find_wrong_instances(scop: &Scop, scheduled: &UnionSet, times: &UnionMap) -> Attempt<Option<Violation>> {
    let wanted = scop.domain()?;
    let mut suspects = Vec::new();
    // A filter or a partial band can drop instances that the root of the tree still has.
    let timed = times.clone().domain()?.intersect(scheduled.clone())?;
    for set in wanted.clone().subtract(timed)?.sets()? {
        suspects.push((set, InstanceFault::Missing));
    }
    for set in scheduled.clone().subtract(wanted.clone())?.sets()? {
        suspects.push((set, InstanceFault::Superfluous));
    }
    let times = times.clone().intersect_domain(wanted)?;
    if !times.is_single_valued()? {
        let first = times.clone().lexmin()?;
        for set in times.subtract(first)?.domain()?.sets()? {
            suspects.push((set, InstanceFault::Repeated));
        }
    }
    for (set, fault) in suspects {
        let statement = set.get_tuple_name()?.unwrap_or_default();
        if let Some(Sample { params, point }) = smallest(set, &scop.context)? {
            return Ok(Some(Violation::Instances { statement, values: point, params, fault }));
        }
    }
    Ok(None)
}

/// The time of each statement's instances.
struct Times {
    of_statement: Vec<(String, PwMultiAff)>,
}

impl Times {
    fn new(scop: &Scop, times: &UnionMap) -> Attempt<Times> {
        let mut of_statement = Vec::new();
        for map in times.maps()? {
            let name = map.get_tuple_name(Dim::In)?.ok_or_else(|| Fault::bug("a schedule of unnamed instances"))?;
            // Filters are simplified for the instances that there are; outside of them, two can overlap.
            let map = match scop.statement(&name) {
                Some(statement) if !map.is_single_valued()? => map.intersect_domain(statement.domain.clone())?,
                _ => map,
            };
            of_statement.push((name, map.as_pw_multi_aff()?));
        }
        Ok(Times { of_statement })
    }

    fn of(&self, statement: Option<&str>) -> Attempt<&PwMultiAff> {
        let found = self.of_statement.iter().find(|(name, _)| Some(name.as_str()) == statement);
        found.map(|(_, time)| time).ok_or_else(|| Fault::bug(format!("no schedule for {statement:?}")))
    }
}

/// The first place at which `dependence`, `{ source -> [sink -> cell] }`, does not run forwards.
fn find_reversed(scop: &Scop, times: &Times, kind: DependenceKind, dependence: Map) -> Attempt<Option<Reversed>> {
    let source = dependence.get_tuple_name(Dim::In)?;
    let (sink, _) = sink_and_array(&dependence)?;
    let (source_time, sink_time) = (times.of(source.as_deref())?, times.of(sink.as_deref())?);
    let depths = source_time.dim(Dim::Out)?.max(sink_time.dim(Dim::Out)?);
    // Pairs whose times agree in all dimensions so far.
    let mut together = dependence.clone().range_factor_domain()?.intersect_params(scop.context.clone())?;
    let mut broken: Option<(Map, Option<usize>)> = None;
    for depth in 0..depths {
        let (one, two) = (source_time.get_at(depth)?, sink_time.get_at(depth)?);
        let backwards = together.clone().intersect(one.clone().gt_map(two.clone())?)?;
        if !backwards.is_empty()? {
            broken = Some((backwards, Some(depth)));
            break;
        }
        together = together.intersect(one.eq_map(two)?)?;
        if together.is_empty()? {
            return Ok(None);
        }
    }
    let (pairs, depth) = broken.unwrap_or((together, None));
    let time = |statement: &Statement, params: &[i64], values: &[i64]| {
        time_at(scop, times.of(Some(&statement.name))?, params, values)
    };
    let pair = smallest_pair(scop, kind, dependence, pairs, &time)?;
    Ok(pair.map(|pair| Reversed { pair, depth }))
}

/// The time of an instance, given its statement, the parameters and its iterators.
pub(crate) type TimeOf<'a> = dyn Fn(&Statement, &[i64], &[i64]) -> Attempt<Vec<i64>> + 'a;

/// The smallest of `pairs`, which are pairs of `dependence`, `{ source -> [sink -> cell] }`; `time` is for showing.
pub(crate) fn smallest_pair(
    scop: &Scop,
    kind: DependenceKind,
    dependence: Map,
    pairs: Map,
    time: &TimeOf<'_>,
) -> Attempt<Option<Pair>> {
    let source = dependence.get_tuple_name(Dim::In)?;
    let (sink, array) = sink_and_array(&dependence)?;
    let with_cell = dependence.intersect_range_factor_domain(pairs)?;
    let Some(sample) = smallest(with_cell.wrap()?, &scop.context)? else { return Ok(None) };
    let find = |name: Option<String>| {
        let statement = name.as_deref().and_then(|name| scop.statement(name));
        statement.ok_or_else(|| Fault::bug("a dependence of an unknown statement"))
    };
    let (source, sink) = (find(source)?, find(sink)?);
    let (source_values, rest) = sample.point.split_at(source.iters.len());
    let (sink_values, cell) = rest.split_at(sink.iters.len());
    let array = array.ok_or_else(|| Fault::bug("a dependence through no array"))?;
    let instance = |statement: &Statement, values: &[i64], writes: bool| -> Attempt<Instance> {
        Ok(Instance {
            statement: statement.name.clone(),
            values: values.to_vec(),
            time: time(statement, &sample.params, values)?,
            access: access_span(scop, statement, &array, &sample.params, values, cell, writes),
        })
    };
    Ok(Some(Pair {
        kind,
        source: instance(source, source_values, kind != DependenceKind::Anti)?,
        sink: instance(sink, sink_values, kind != DependenceKind::Flow)?,
        array: array.clone(),
        cell: cell.to_vec(),
        params: sample.params.clone(),
    }))
}

/// The time of one instance.
fn time_at(scop: &Scop, time: &PwMultiAff, params: &[i64], values: &[i64]) -> Attempt<Vec<i64>> {
    let mut map = Map::from_pw_multi_aff(time.clone())?;
    for (kind, numbers) in [(Dim::Param, params), (Dim::In, values)] {
        for (position, number) in numbers.iter().enumerate() {
            let value = isl::Val::from_i64(map.context(), *number)?;
            map = map.fix_val(kind, position, value)?;
        }
    }
    let times: Set = map.range()?;
    Ok(smallest(times, &scop.context)?.map(|sample| sample.point).unwrap_or_default())
}

/// Where in the source a statement touches a cell.
fn access_span(
    scop: &Scop,
    statement: &Statement,
    array: &str,
    params: &[i64],
    values: &[i64],
    cell: &[i64],
    writes: bool,
) -> Span {
    if writes {
        return statement.write.span;
    }
    let reads = statement.reads.iter().filter(|read| scop.array(read.array).name == array);
    let hit = reads.clone().find(|read| read.may_touch(params, &statement.iters, values, cell));
    hit.map_or(statement.span, |read| read.span)
}

impl Violation {
    /// The violation as an error at the source lines of both accesses; with the plan, it names the loop.
    pub fn explain(&self, scop: &Scop, plan: Option<&Plan>) -> Diagnostic {
        match self {
            Violation::Reversed(reversed) => reversed.explain(scop, plan),
            Violation::Instances { statement, values, params, fault } => {
                let what = match fault {
                    InstanceFault::Missing => "is never run",
                    InstanceFault::Superfluous => "is run, but is not part of the program",
                    InstanceFault::Repeated => "is run more than once",
                };
                let found = scop.statement(statement);
                let span = found.map_or(scop.function.span, |statement| statement.span);
                let at = show_instance(scop, statement, values);
                let diagnostic = Diagnostic::error("E0502", span, format!("illegal schedule: {at} {what}"));
                let values = show_params(&scop.function, params);
                if values.is_empty() { diagnostic } else { diagnostic.note(format!("this happens for {values}")) }
            }
        }
    }
}

impl Reversed {
    fn explain(&self, scop: &Scop, plan: Option<&Plan>) -> Diagnostic {
        let pair = &self.pair;
        let cell = show_cell(&pair.array, &pair.cell);
        let order = match self.depth {
            None => "the schedule runs them at the same time".into(),
            Some(depth) => {
                let place = plan.and_then(|plan| plan.parting(scop, &pair.source, &pair.sink, &pair.params));
                place.unwrap_or_else(|| format!("the schedule turns them round at dimension {}", depth + 1))
            }
        };
        let message = format!("illegal schedule: {} dependence through {cell} is reversed", pair.kind.with_article());
        pair.explain(scop, "E0501", message).note(order)
    }
}

impl Pair {
    /// An error at the source lines of both accesses, with the instances, their times and the cell.
    pub(crate) fn explain(&self, scop: &Scop, code: &'static str, message: String) -> Diagnostic {
        let cell = show_cell(&self.array, &self.cell);
        let (first, then) = match self.kind {
            DependenceKind::Flow => ("writes", "reads"),
            DependenceKind::Anti => ("reads", "overwrites"),
            DependenceKind::Output | DependenceKind::Reduction => ("writes", "overwrites"),
        };
        let source = show_instance(scop, &self.source.statement, &self.source.values);
        let sink = show_instance(scop, &self.sink.statement, &self.sink.values);
        let diagnostic = Diagnostic::error(code, self.sink.access, message)
            .here(format!("{sink} {then} {cell}, at time {:?}", self.sink.time))
            .label(self.source.access, format!("{source} {first} {cell}, at time {:?}", self.source.time));
        let diagnostic = diagnostic.with_data(self.to_json(scop));
        let values = show_params(&scop.function, &self.params);
        if values.is_empty() { diagnostic } else { diagnostic.note(format!("this happens for {values}")) }
    }

    /// The witness as data.
    fn to_json(&self, scop: &Scop) -> serde_json::Value {
        let instance = |instance: &Instance| {
            let statement = scop.statement(&instance.statement);
            let iters = statement.map_or(&[][..], |statement| &statement.iters);
            let named = iters.iter().zip(&instance.values);
            let values: serde_json::Map<String, serde_json::Value> =
                named.map(|(iter, value)| (scop.function.iter(*iter).name.clone(), (*value).into())).collect();
            serde_json::json!({
                "statement": instance.statement, "values": values, "time": instance.time,
                "start": instance.access.start, "end": instance.access.end,
            })
        };
        let params = scop.function.params.iter().zip(&self.params);
        let params: serde_json::Map<String, serde_json::Value> =
            params.map(|(param, value)| (param.name.clone(), (*value).into())).collect();
        serde_json::json!({
            "kind": self.kind.name(), "array": self.array, "cell": self.cell, "params": params,
            "source": instance(&self.source), "sink": instance(&self.sink),
        })
    }
}

/// `S0_update (i = 0, k = 1)`
fn show_instance(scop: &Scop, statement: &str, values: &[i64]) -> String {
    let Some(found) = scop.statement(statement) else { return statement.to_string() };
    let point = show_point(&scop.function, &found.iters, values);
    if point.is_empty() { statement.to_string() } else { format!("{statement} ({point})") }
}
