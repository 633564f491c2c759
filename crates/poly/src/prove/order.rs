//! Does a tree run every dependence forwards?
//!
//! Two branches are compared from the top: in a loop that they share, no pair may run backwards, and only pairs in the same
//! iteration go on; where they part, their places decide.

use isl::{Dim, Map, Set};

use super::Subject;
use super::pair::{Pair, Times, smallest_pair};
use crate::deps::{DependenceKind, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::scop::Scop;
use crate::tree::{Branch, Entry, StatementId};

/// A pair that runs backwards at sizes in `context`.
pub(super) fn find_reversed(subject: &Subject, branches: &[Branch], context: &Set) -> Attempt<Option<Pair>> {
    let scop = &subject.scop;
    for kind in [DependenceKind::Flow, DependenceKind::Anti, DependenceKind::Output] {
        for dependence in subject.dependences.of_kind(kind).maps()? {
            for (source, sink) in ends(scop, branches, &dependence)? {
                let pairs = without_cells(context, &dependence)?;
                let Some(reversed) = reversed(scop, source, sink, pairs)? else { continue };
                let times = Times { scop, branches, context };
                if let Some(pair) = smallest_pair(&times, kind, dependence.clone(), reversed)? {
                    return Ok(Some(pair));
                }
            }
        }
    }
    Ok(None)
}

/// The pairs of a dependence, for the sizes in question.
pub(super) fn without_cells(context: &Set, dependence: &Map) -> Attempt<Map> {
    Ok(dependence.clone().range_factor_domain()?.intersect_params(context.clone())?)
}

/// The branches of both ends of a dependence, every combination.
pub(super) fn ends<'a>(
    scop: &Scop,
    branches: &'a [Branch],
    dependence: &Map,
) -> Attempt<Vec<(&'a Branch, &'a Branch)>> {
    let find = |name: Option<String>| {
        let position = scop.statements.iter().position(|statement| Some(&statement.name) == name.as_ref());
        position.map(StatementId::new).ok_or_else(|| Fault::bug("a dependence of an unknown statement"))
    };
    let (source, sink) = (find(dependence.get_tuple_name(Dim::In)?)?, find(sink_and_array(dependence)?.0)?);
    let of = |wanted: StatementId| branches.iter().filter(move |branch| branch.statement == wanted);
    Ok(of(source).flat_map(|one| of(sink).map(move |two| (one, two))).collect())
}

/// The pairs whose instances really are on these branches.
pub(super) fn on_branches(scop: &Scop, source: &Branch, sink: &Branch, mut pairs: Map) -> Attempt<Map> {
    if !source.is_whole() {
        pairs = pairs.intersect_domain(source.instances(scop)?)?;
    }
    if !sink.is_whole() {
        pairs = pairs.intersect_range(sink.instances(scop)?)?;
    }
    Ok(pairs)
}

/// The pairs that do not run forwards; none if all do.
fn reversed(scop: &Scop, source: &Branch, sink: &Branch, pairs: Map) -> Attempt<Option<Map>> {
    // Pairs that are together so far.
    let mut together = on_branches(scop, source, sink, pairs)?;
    for (level, (one, two)) in source.entries.iter().zip(&sink.entries).enumerate() {
        match (one, two) {
            (Entry::Place(one), Entry::Place(two)) if one < two => return Ok(None),
            (Entry::Place(one), Entry::Place(two)) | (Entry::Free(one), Entry::Free(two)) if one != two => break,
            (Entry::Loop(one, _), Entry::Loop(two, _)) if one == two => {
                let (one, two) = (source.iteration(scop, level)?, sink.iteration(scop, level)?);
                let backwards = together.clone().intersect(one.clone().gt_map(two.clone())?)?;
                if !backwards.is_empty()? {
                    return Ok(Some(backwards));
                }
                together = together.intersect(one.eq_map(two)?)?;
                if together.is_empty()? {
                    return Ok(None);
                }
            }
            (one, two) if one.is_same_place(two) => {}
            _ => return Err(Fault::bug("two branches part at different places")),
        }
    }
    Ok(Some(together))
}
