//! May the iterations of a parallel or vector loop really run at once?
//!
//! A loop carries a dependence whose ends agree in everything outside the loop and differ in the loop. Pairs of updates of
//! one reduction are allowed, and named: whoever runs the loop has to combine their partial results. Updates at cells that
//! depend on data are not, because nobody can tell which cells they share.

use isl::{Map, Set};
use loops::Axis;

use super::order::{ends, on_branches};
use super::pair::{Times, smallest_pair};
use super::{Reduction, Subject, Violation};
use crate::deps::{DependenceKind, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::scop::{Scop, StatementKind};
use crate::tree::{Branch, LoopId, LoopKind, Tree};

pub(super) enum Judged {
    Fit(Vec<Reduction>),
    Unfit(Box<Violation>),
}

/// Judges a loop, at sizes in `context`.
pub(super) fn judge(
    subject: &Subject,
    branches: &[Branch],
    (id, kind): (LoopId, LoopKind),
    context: &Set,
) -> Attempt<Judged> {
    let scop = &subject.scop;
    let most = match kind {
        LoopKind::Vector(lanes) => Some(lanes),
        kind => kind.axis().and_then(Axis::most_threads),
    };
    if let Some(lanes) = most
        && is_wide(scop, branches, id, lanes)?
    {
        return Ok(Judged::Unfit(Box::new(Violation::Wide { id, lanes })));
    }
    // Blocks have nothing in which they could meet, and threads only what a schedule gives them.
    let placed = kind.axis();
    let mut reductions = Vec::new();
    for relation in subject.relations()? {
        for (source, sink) in ends(branches, relation) {
            if source.level_of(id).is_none() || sink.level_of(id).is_none() {
                continue;
            }
            let pairs = relation.within(scop, context)?;
            let Some(carried) = carried(scop, source, sink, id, pairs)? else { continue };
            let statement = scop.at(relation.source);
            if let (DependenceKind::Reduction, StatementKind::Update(op)) = (relation.kind, statement.kind)
                && !statement.scatters()
                && placed.is_none()
            {
                let reduction = Reduction { array: statement.write.array, op };
                if !reductions.contains(&reduction) {
                    reductions.push(reduction);
                }
                continue;
            }
            let times = Times { scop, branches, context };
            if let Some(pair) = smallest_pair(&times, relation.kind, relation.cells.clone(), carried)? {
                return Ok(Judged::Unfit(Box::new(Violation::Carried { pair, id })));
            }
        }
    }
    Ok(Judged::Fit(reductions))
}

/// Whether the iterations of a loop may depend on each other, other than by updates of a reduction. It is said without a witness, and
/// also where the budget does not do: only "no" is an answer to rely on.
pub fn may_carry(subject: &Subject, tree: &Tree, id: LoopId) -> diag::Result<bool> {
    may(subject, tree, id, false)
}

/// The same, where updates of a reduction count as well.
pub fn may_meet(subject: &Subject, tree: &Tree, id: LoopId) -> diag::Result<bool> {
    may(subject, tree, id, true)
}

fn may(subject: &Subject, tree: &Tree, id: LoopId, updates: bool) -> diag::Result<bool> {
    match carries(subject, &tree.branches(), id, updates) {
        Err(Fault::Isl(isl::Error::Budget { .. })) => Ok(true),
        answer => answer.map_err(|fault| fault.of_program("legality", &subject.scop.function)),
    }
}

/// Whether a loop carries a dependence; between updates of a reduction only if these count.
pub(super) fn carries(subject: &Subject, branches: &[Branch], id: LoopId, updates: bool) -> Attempt<bool> {
    let scop = &subject.scop;
    for relation in subject.relations()? {
        let statement = scop.at(relation.source);
        let is_free = statement.kind.is_update() && !statement.scatters();
        if !updates && relation.kind == DependenceKind::Reduction && is_free {
            continue;
        }
        for (source, sink) in ends(branches, relation) {
            if carried(scop, source, sink, id, relation.pairs.clone())?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether whatever is read of an array in an iteration of a loop has been written in the same iteration, of this loop and of those
/// around it.
pub(crate) fn stays_within(subject: &Subject, branches: &[Branch], array: &str, id: LoopId) -> Attempt<bool> {
    let scop = &subject.scop;
    for relation in subject.relations()?.iter().filter(|relation| relation.kind == DependenceKind::Flow) {
        if sink_and_array(&relation.cells)?.1.as_deref() != Some(array) {
            continue;
        }
        for (source, sink) in ends(branches, relation) {
            let (Some(level), Some(_)) = (source.level_of(id), sink.level_of(id)) else { return Ok(false) };
            for (_, outer, _) in source.loops().take_while(|(outer, ..)| *outer <= level) {
                if carried(scop, source, sink, outer, relation.pairs.clone())?.is_some() {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// The pairs that agree outside of the loop and differ in it; none if there are none.
fn carried(scop: &Scop, source: &Branch, sink: &Branch, id: LoopId, pairs: Map) -> Attempt<Option<Map>> {
    let (Some(level), Some(_)) = (source.level_of(id), sink.level_of(id)) else { return Ok(None) };
    let mut together = on_branches(scop, source, sink, pairs)?;
    for outer in source.loops().map(|(level, ..)| level).take_while(|outer| *outer < level) {
        together = together.intersect(source.iteration(scop, outer)?.eq_map(sink.iteration(scop, outer)?)?)?;
    }
    let (one, two) = (source.iteration(scop, level)?, sink.iteration(scop, level)?);
    let different = one.clone().lt_map(two.clone())?.union(one.gt_map(two)?)?;
    let carried = together.intersect(different)?;
    Ok(if carried.is_empty()? { None } else { Some(carried) })
}

/// A block inside of threads, or an axis twice in a nest.
pub(super) fn find_misplaced(tree: &Tree, branches: &[Branch]) -> Option<Violation> {
    branches.iter().find_map(|branch| {
        let placed: Vec<(LoopId, Axis)> =
            branch.loops().filter_map(|(_, id, _)| Some((id, tree.info(id).kind.axis()?))).collect();
        let around = |number: usize, axis: Axis| {
            let clash = |outer: &Axis| *outer == axis || outer.is_thread() && !axis.is_thread();
            placed.iter().take(number).find(|(_, outer)| clash(outer))
        };
        let mut pairs = placed.iter().enumerate();
        pairs.find_map(|(number, (inner, axis))| {
            around(number, *axis).map(|(outer, _)| Violation::Misplaced { outer: *outer, inner: *inner })
        })
    })
}

/// Whether a loop has more iterations than lanes.
fn is_wide(scop: &Scop, branches: &[Branch], id: LoopId, lanes: u32) -> Attempt<bool> {
    for branch in branches {
        let Some(level) = branch.level_of(id) else { continue };
        let instances = branch.instances(scop)?.intersect_params(scop.context.clone())?;
        let mut pairs = Map::universe(instances.get_space()?.map_from_set()?)?
            .intersect_domain(instances.clone())?
            .intersect_range(instances)?;
        for outer in branch.loops().map(|(level, ..)| level).take_while(|outer| *outer < level) {
            let time = branch.iteration(scop, outer)?;
            pairs = pairs.intersect(time.clone().eq_map(time)?)?;
        }
        let width = isl::Val::from_i64(scop.params.ctx(), i64::from(lanes))?;
        let time = branch.iteration(scop, level)?;
        let far = time.clone().add_constant_val(width)?.le_map(time)?;
        if !pairs.intersect(far)?.is_empty()? {
            return Ok(true);
        }
    }
    Ok(false)
}
