//! Dependences: which pairs of instances must keep their order, and through which memory cell.
//!
//! In: a Scop.  Out: flow, anti and output dependences, each `{ source -> [sink -> cell] }`, with the reduction rewrite:
//! the updates of one accumulator are not ordered among each other, but its init comes before *every* update, and
//! *every* update before whatever uses the result.
//! Not here: schedules.

use std::fmt;

use isl::{Dim, Map, UnionAccessInfo, UnionMap};

use crate::fault::Attempt;
use crate::scop::{Scop, StatementKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DependenceKind {
    /// A value is written, then read.
    Flow,
    /// A value is read, then overwritten.
    Anti,
    /// A cell is written twice.
    Output,
    /// Two updates of one accumulator: no constraint on their order, but they cannot run at the same time.
    Reduction,
}

impl DependenceKind {
    pub const ALL: [DependenceKind; 4] =
        [DependenceKind::Flow, DependenceKind::Anti, DependenceKind::Output, DependenceKind::Reduction];

    pub fn name(self) -> &'static str {
        match self {
            DependenceKind::Flow => "flow",
            DependenceKind::Anti => "anti",
            DependenceKind::Output => "output",
            DependenceKind::Reduction => "reduction",
        }
    }
}

/// All dependences of a Scop. Each relation keeps the cell: `{ source -> [sink -> cell] }`.
#[derive(Debug)]
pub struct Dependences {
    pub flow: UnionMap,
    pub anti: UnionMap,
    pub output: UnionMap,
    pub reduction: UnionMap,
    /// Reads that no statement's write reaches, as `{ instance -> cell }`.
    pub without_source: UnionMap,
}

impl Dependences {
    pub fn of_kind(&self, kind: DependenceKind) -> &UnionMap {
        match kind {
            DependenceKind::Flow => &self.flow,
            DependenceKind::Anti => &self.anti,
            DependenceKind::Output => &self.output,
            DependenceKind::Reduction => &self.reduction,
        }
    }

    /// The pairs that a schedule must keep in order, without their cells.
    pub(crate) fn ordered_pairs(&self) -> isl::Result<UnionMap> {
        let all = self.flow.clone().union(self.anti.clone())?.union(self.output.clone())?;
        all.range_factor_domain()?.coalesce()
    }
}

/// Computes the dependences of the original order.
pub fn dependences(scop: &Scop) -> diag::Result<Dependences> {
    compute(scop).map_err(|fault| fault.at("deps"))
}

fn compute(scop: &Scop) -> Attempt<Dependences> {
    let order = scop.order()?;
    let reads = scop.reads()?;
    // An update neither starts nor ends the life of its cell's value, so it hides no other access: that is what
    // connects the init with every update and every update with the use of the result.
    let definite = scop.writes(|kind| !kind.is_update())?;
    let updates = scop.writes(StatementKind::is_update)?;
    let writes = definite.clone().union(updates.clone())?;

    let flow = UnionAccessInfo::from_sink(reads.clone())?
        .set_must_source(definite.clone())?
        .set_may_source(updates.clone())?
        .set_schedule_map(order.clone())?
        .compute_flow()?;
    let overwrites = UnionAccessInfo::from_sink(writes.clone())?
        .set_must_source(definite)?
        .set_may_source(reads.clone().union(updates)?)?
        .set_schedule_map(order)?
        .compute_flow()?
        .get_full_may_dependence()?;

    let mut reduction = UnionMap::empty(scop.params.space())?;
    let mut split = |all: UnionMap| -> Attempt<UnionMap> {
        let mut kept = UnionMap::empty(scop.params.space())?;
        for map in all.maps()? {
            if is_reduction_pair(scop, &map)? {
                reduction = reduction.clone().add_map(map)?;
            } else {
                kept = kept.add_map(map)?;
            }
        }
        Ok(kept.coalesce()?)
    };
    Ok(Dependences {
        flow: split(flow.get_full_may_dependence()?)?,
        anti: split(overwrites.clone().intersect_range_factor_range(reads)?)?,
        output: split(overwrites.intersect_range_factor_range(writes)?)?,
        reduction: reduction.coalesce()?,
        without_source: flow.get_may_no_source()?,
    })
}

/// Whether a relation `{ source -> [sink -> cell] }` connects updates of one accumulator with each other.
fn is_reduction_pair(scop: &Scop, map: &Map) -> isl::Result<bool> {
    let source = map.get_tuple_name(Dim::In)?;
    let (sink, array) = sink_and_array(map)?;
    let statement = source.as_deref().and_then(|name| scop.statement(name));
    Ok(source == sink
        && statement.is_some_and(|statement| {
            statement.kind.is_update() && Some(&scop.array(statement.write.array).name) == array.as_ref()
        }))
}

/// The tuple names inside `[sink -> cell]`.
pub(crate) fn sink_and_array(map: &Map) -> isl::Result<(Option<String>, Option<String>)> {
    let inner = map.get_space()?.range()?.unwrap()?;
    Ok((inner.get_tuple_name(Dim::In)?, inner.get_tuple_name(Dim::Out)?))
}

impl fmt::Display for Dependences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in DependenceKind::ALL {
            let mut maps: Vec<String> = match self.of_kind(kind).maps() {
                Ok(maps) => maps.iter().map(Map::to_string).collect(),
                Err(error) => vec![error.to_string()],
            };
            maps.sort();
            for map in maps {
                writeln!(f, "{}: {map}", kind.name())?;
            }
        }
        Ok(())
    }
}
