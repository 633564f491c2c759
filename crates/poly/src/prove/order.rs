//! Does a tree run every dependence forwards?
//!
//! Two branches are compared from the top: in a loop that they share, no pair may run backwards, and only pairs in the same
//! iteration go on; where they part, their places decide.

use isl::{Map, Set};

use super::Subject;
use super::pair::{Pair, Times, smallest_pair};
use super::relations::Relation;
use crate::deps::DependenceKind;
use crate::fault::{Attempt, Fault};
use crate::scop::Scop;
use crate::tree::{Branch, Entry, StatementId};

/// A pair that runs backwards at sizes in `context`.
pub(super) fn find_reversed(subject: &Subject, branches: &[Branch], context: &Set) -> Attempt<Option<Pair>> {
    let scop = &subject.scop;
    let ordered = |relation: &&Relation| relation.kind != DependenceKind::Reduction;
    for relation in subject.relations()?.iter().filter(ordered) {
        for (source, sink) in ends(branches, relation) {
            let Some(reversed) = reversed(scop, source, sink, relation.within(scop, context)?)? else { continue };
            let times = Times { scop, branches, context };
            if let Some(pair) = smallest_pair(&times, relation.kind, relation.cells.clone(), reversed)? {
                return Ok(Some(pair));
            }
        }
    }
    Ok(None)
}

/// The branches of both ends of a dependence, every combination.
pub(super) fn ends<'a>(
    branches: &'a [Branch],
    relation: &Relation,
) -> impl Iterator<Item = (&'a Branch, &'a Branch)> + use<'a> {
    let of = move |wanted: StatementId| branches.iter().filter(move |branch| branch.statement == wanted);
    let sink = relation.sink;
    of(relation.source).flat_map(move |one| of(sink).map(move |two| (one, two)))
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
