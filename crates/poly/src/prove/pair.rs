//! Witnesses of the gate: one pair of instances of a dependence, as small as it can be.

use diag::Span;
use isl::{Dim, Map, Set};

use crate::deps::{DependenceKind, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::scop::{Scop, Statement};
use crate::tree::{Branch, StatementId};
use crate::witness::{At, smallest};

/// One instance of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Which statement.
    pub statement: StatementId,
    /// The values of its iterators.
    pub values: Vec<i64>,
    /// Where in the tree it runs.
    pub branch: Branch,
    /// When the schedule runs it: a number per place and loop.
    pub time: Vec<i64>,
    /// The access to the cell.
    pub access: Span,
}

/// One pair of instances of a dependence, with the cell that connects them.
#[derive(Clone, Debug)]
pub struct Pair {
    /// What connects them.
    pub kind: DependenceKind,
    /// The one that comes first in the program.
    pub source: Instance,
    /// The other.
    pub sink: Instance,
    /// The array of the cell.
    pub array: String,
    /// The cell.
    pub cell: Vec<i64>,
    /// The sizes.
    pub params: Vec<i64>,
}

/// Where the times of instances are found.
pub(super) struct Times<'a> {
    pub(super) scop: &'a Scop,
    pub(super) branches: &'a [Branch],
    /// The sizes in question.
    pub(super) context: &'a Set,
}

impl Times<'_> {
    fn of(&self, statement: StatementId, at: &At<'_>) -> Attempt<(Branch, Vec<i64>)> {
        let own = || self.branches.iter().filter(|branch| branch.statement == statement);
        let mut found = own().filter_map(|branch| Some((branch.clone(), branch.time_at(at)?)));
        found.next().ok_or_else(|| match own().any(Branch::is_whole) {
            // All instances run there, so it is the number that is missing.
            true => Fault::Overflow("the time of an instance"),
            false => Fault::bug("an instance of a witness has no time"),
        })
    }
}

/// The smallest of `pairs`, which are pairs of `dependence`, `{ source -> [sink -> cell] }`.
pub(super) fn smallest_pair(
    times: &Times<'_>,
    kind: DependenceKind,
    dependence: Map,
    pairs: Map,
) -> Attempt<Option<Pair>> {
    let scop = times.scop;
    let source = dependence.get_tuple_name(Dim::In)?;
    let (sink, array) = sink_and_array(&dependence)?;
    let with_cell = dependence.intersect_range_factor_domain(pairs)?;
    let Some(sample) = smallest(with_cell.wrap()?, times.context)? else { return Ok(None) };
    let find = |name: Option<String>| {
        let position = scop.statements.iter().position(|statement| Some(&statement.name) == name.as_ref());
        position.ok_or_else(|| Fault::bug("a dependence of an unknown statement"))
    };
    let (source, sink) = (find(source)?, find(sink)?);
    let (source_values, rest) = sample.point.split_at(scop.statements[source].iters.len());
    let (sink_values, cell) = rest.split_at(scop.statements[sink].iters.len());
    let array = array.ok_or_else(|| Fault::bug("a dependence through no array"))?;
    let instance = |position: usize, values: &[i64], writes: bool| -> Attempt<Instance> {
        let statement = &scop.statements[position];
        let at = At { params: &sample.params, iters: &statement.iters, values };
        let (branch, time) = times.of(StatementId::new(position), &at)?;
        let access = access_span(scop, statement, &array, &at, cell, writes);
        Ok(Instance { statement: StatementId::new(position), values: values.to_vec(), branch, time, access })
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

/// Where in the source a statement touches a cell.
fn access_span(scop: &Scop, statement: &Statement, array: &str, at: &At<'_>, cell: &[i64], writes: bool) -> Span {
    if writes {
        return statement.write.span;
    }
    let mut reads = statement.reads.iter().filter(|read| scop.array(read.array).name == array);
    let hit = reads.find(|read| read.may_touch(at.params, at.iters, at.values, cell));
    hit.map_or(statement.span, |read| read.span)
}
