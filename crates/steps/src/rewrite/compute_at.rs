//! `compute_at`: a local array is computed inside a loop that reads it, each time just the cells that are needed.
//!
//! Before: `a[i] = e(i)` for all `i`, then `… a[f(x)] …` inside the loop.  After: each iteration of the loop computes the
//! cells that it reads into a buffer. A cell that several iterations read is computed by each of them. Claimed and
//! checked: every repetition reads what its original read, and every reader finds a repetition of its writer.

use std::collections::BTreeMap;

use diag::Diagnostic;
use isl::{Map, UnionMap, UnionSet};
use poly::rewriting::{self as flow, Claim, Draft};
use poly::sets::Frame;
use poly::{Attempt, Entry, Fault, LoopId, Parts, Scop, Statement, affine_subscripts, unique};
use program::{Affine, ArrayId, IterId};

use super::buffer::{self, Buffer};
use super::inline::local_array;
use super::pack::{Uses, redirect};
use super::site::Site;
use super::{Before, Drafted, array_name, branch_of, expr, load};
use crate::rearrange::overflow;
use crate::step::{Place, Step, Word};

/// One of the statements that compute the array.
struct Producer<'a> {
    position: usize,
    statement: &'a Statement,
    /// `{ iteration -> instance }`: which instances an iteration of the site needs.
    needed: Map,
}

pub(super) fn compute_at(
    before: Before<'_>,
    step: &Step,
    target: &Word,
    at: &Place,
    given: Option<&Word>,
) -> Drafted<Draft> {
    let scop = before.scop;
    let array = local_array(before, step, target)?;
    let mut draft = Draft::new("compute_at", scop, before.tree)?;
    let site = Site::find(before, step, at, &mut draft, array)?;
    let group = group(before, step, &at.at, &site, array)?;
    let producers = needs(before, step, &at.at, &site, &group, array)?;
    // A repetition has the iterators of the site besides its own; witnesses must tell them apart.
    for iter in &site.iters {
        let name = scop_name(&draft.scop, *iter);
        let clashes =
            |producer: &Producer<'_>| producer.statement.iters.iter().any(|own| scop_name(&draft.scop, *own) == name);
        if producers.iter().any(clashes) {
            draft.scop.function.iters[iter.index()].name = format!("{name}_at");
        }
    }

    // The array, and accumulators that only its statements use, become buffers.
    let mut buffers: Vec<(ArrayId, Buffer)> = Vec::new();
    for producer in &producers {
        let own = producer.statement.write.array;
        if buffers.iter().any(|(known, _)| *known == own) {
            continue;
        }
        let mut footprint: Option<Map> = None;
        for other in producers.iter().filter(|other| other.statement.write.array == own) {
            let cells = other.needed.clone().apply_range(other.statement.write.map.clone())?;
            footprint = Some(match footprint {
                Some(all) => all.union(cells)?,
                None => cells,
            });
        }
        let footprint = footprint.ok_or_else(|| Fault::bug("an array without writers"))?;
        let usual = format!("{}_local", scop.array(own).name);
        let name = if own == array {
            array_name(&draft.scop, step, given, &usual)?
        } else {
            unique(&usual, |name| draft.scop.array_named(name).is_some())
        };
        buffers.push((own, Buffer::new(before, step, &at.at, &mut draft, &site, (own, name, &[]), &footprint)?));
    }
    let own = |wanted: ArrayId| buffers.iter().find(|(known, _)| *known == wanted).map(|(_, buffer)| buffer);
    let buffer = own(array).ok_or_else(|| Fault::bug("no buffer for the array"))?;
    redirect(before, step, &mut draft, &site, buffer, Uses::all(array))?;

    let (prefix, _) = site.open(&mut draft);
    let front = site.places(&draft).first().copied().unwrap_or(0);
    let mut moved_branches = Vec::new();
    let mut copies = BTreeMap::new();
    let values: Vec<Affine> = site.iters.iter().map(|iter| Affine::iter(*iter)).collect();
    for producer in &producers {
        let statement = producer.statement;
        let mut parts = Parts::of(statement);
        parts.iters = [site.iters.as_slice(), &statement.iters].concat();
        parts.ordered += site.iters.len();
        parts.kept += site.iters.len();
        parts.domain = producer.needed.clone().wrap()?.flatten()?;
        let moved = |array: ArrayId, index: &[Affine]| -> Option<Drafted<(ArrayId, Vec<Affine>)>> {
            let buffer = own(array)?;
            Some(buffer.index(step, &site, &values, index).map(|index| (buffer.array, index)))
        };
        let (target, _, span) = parts.target;
        let (target, index) = moved(target, &statement.write.affine_index()?)
            .ok_or_else(|| Fault::bug("a result without a buffer"))??;
        parts.target = (target, affine_subscripts(&index), span);
        let value = expr::with_loads(&statement.value, &|whole, array, index| {
            let (array, index) = moved(array, index)?.ok()?;
            Some(load(array, index, whole))
        });
        parts.value = value.ok_or_else(|| overflow(step))?;
        draft.replace(producer.position, parts)?;
        let own = branch_of(&draft, producer.position)?;
        let mut branch = draft.branches[own].clone();
        branch.entries =
            [prefix.as_slice(), &copied(before, &mut draft, &mut copies, &prefix, &branch.entries)].concat();
        moved_branches.push(branch);
        claim(before, &mut draft, producer)?;
    }
    // In front of the members, in the order in which they stood.
    let stays = |number: usize| moved_branches.iter().all(|moved| moved.statement != draft.branches[number].statement);
    let front = (0..front).filter(|number| stays(*number)).count();
    draft.branches.retain(|branch| moved_branches.iter().all(|moved| moved.statement != branch.statement));
    draft.branches.splice(front..front, moved_branches);
    Ok(draft)
}

fn scop_name(scop: &Scop, iter: IterId) -> String {
    scop.function.iter(iter).name.clone()
}

/// The statements that compute the array, with all parts of theirs, outside of the site.
fn group(before: Before<'_>, step: &Step, at: &Word, site: &Site, array: ArrayId) -> Drafted<Vec<usize>> {
    let scop = before.scop;
    let name = &scop.array(array).name;
    let refuse = |message: String| Diagnostic::error("E0516", step.span, message);
    let mut sources: Vec<&str> = Vec::new();
    for statement in scop.statements.iter().filter(|statement| statement.write.array == array) {
        if !sources.contains(&statement.source.as_str()) {
            sources.push(&statement.source);
        }
    }
    let is_part = |position: &usize| sources.contains(&scop.statements[*position].source.as_str());
    let group: Vec<usize> = (0..scop.statements.len()).filter(is_part).collect();
    if let Some(scatter) = group.iter().find(|position| !scop.statements[**position].write.is_exact()) {
        let message =
            format!("which cells of `{name}` are written in `{}` depends on data", scop.statements[*scatter].name);
        return Err(refuse(message).into());
    }
    if let Some(inside) = group.iter().find(|position| site.members.contains(position)) {
        let diagnostic = refuse(format!("`{name}` is computed inside loop `{}` already", at.text));
        let help = format!("`fission` gives `{}` a loop of its own", scop.statements[*inside].source);
        return Err(diagnostic.help(help).into());
    }
    let elsewhere = scop.statements.iter().enumerate().find(|(position, statement)| {
        let reads = statement.reads.iter().any(|read| read.array == array);
        reads && !group.contains(position) && !site.members.contains(position)
    });
    if let Some((_, reader)) = elsewhere {
        let message = format!("`{name}` is also read outside of the loop, by `{}`", reader.name);
        return Err(refuse(message).help("`fuse` brings all readers into one loop").into());
    }
    Ok(group)
}

/// What each iteration of the site needs of each statement: who writes what its members read, and who writes what
/// those read in turn, as long as they are parts of the group.
fn needs<'a>(
    before: Before<'a>,
    step: &Step,
    at: &Word,
    site: &Site,
    group: &[usize],
    array: ArrayId,
) -> Drafted<Vec<Producer<'a>>> {
    let scop = before.scop;
    let mut parts = UnionSet::empty(scop.params.space())?;
    for position in group {
        parts = parts.add_set(scop.statements[*position].domain.clone())?;
    }
    let mut needed = scop.nothing()?;
    for member in &site.members {
        let instances = UnionMap::from_map(site.instances(before, step, *member)?)?;
        for read in scop.statements[*member].reads.iter().filter(|read| read.array == array) {
            needed = needed.union(instances.clone().apply_range(flow::writers(before.dependences, &read.map)?)?)?;
        }
    }
    if needed.is_empty()? {
        let message = format!("`{}` is not read inside loop `{}`", scop.array(array).name, at.text);
        return Err(Diagnostic::error("E0516", step.span, message).into());
    }
    let mut inner = scop.nothing()?;
    for position in group {
        for read in &scop.statements[*position].reads {
            inner = inner.union(flow::writers(before.dependences, &read.map)?.intersect_range(parts.clone())?)?;
        }
    }
    // A fini needs updates, and these inits; more steps than there are parts go round in a circle.
    for _ in 0..=group.len() {
        let more = needed.clone().apply_range(inner.clone())?.subtract(needed.clone())?;
        if more.is_empty()? {
            return split(scop, group, &needed.coalesce()?);
        }
        needed = needed.union(more)?;
    }
    let message = format!("`{}` is computed from its own cells", scop.array(array).name);
    Err(Diagnostic::error("E0516", step.span, message).into())
}

/// `needed`, statement by statement.
fn split<'a>(scop: &'a Scop, group: &[usize], needed: &UnionMap) -> Drafted<Vec<Producer<'a>>> {
    let mut producers = Vec::new();
    for position in group {
        let statement = &scop.statements[*position];
        let instances = UnionSet::from_set(statement.domain.clone())?;
        let maps = needed.clone().intersect_range(instances)?.maps()?;
        // What nobody in the loop reads, and nobody reads elsewhere, need not be computed at all.
        let Some(needed) = maps.into_iter().next() else { continue };
        producers.push(Producer { position: *position, statement, needed: buffer::tidy(needed)? });
    }
    Ok(producers)
}

/// A producer's own loops, inside the site; a name that the site uses gets a `p`. Producers that share a loop share its copy.
fn copied(
    before: Before<'_>,
    draft: &mut Draft,
    copies: &mut BTreeMap<LoopId, LoopId>,
    prefix: &[Entry],
    own: &[Entry],
) -> Vec<Entry> {
    let clashes =
        |name: &str| prefix.iter().filter_map(Entry::as_loop).any(|(id, _)| before.tree.info(id).is_called(name));
    let copy = |entry: &Entry| {
        let Entry::Loop(id, expr) = entry else { return entry.clone() };
        let copy = *copies.entry(*id).or_insert_with(|| {
            let found = before.tree.info(*id);
            let name = match clashes(&found.name) {
                true => unique(&format!("{}p", found.name), |name| before.is_loop(name)),
                false => found.name.clone(),
            };
            let copy = draft.add_loop(&name);
            draft.loops[copy.index()].kind = found.kind;
            copy
        });
        Entry::Loop(copy, expr.clone())
    };
    own.iter().map(copy).collect()
}

/// A repetition reads what its original did.
fn claim(before: Before<'_>, draft: &mut Draft, producer: &Producer<'_>) -> Attempt<()> {
    let scop = before.scop;
    let old = producer.statement;
    let new = &draft.scop.statements[producer.position];
    let frame = Frame::new(&draft.scop.params, &draft.scop.function, Some(&new.name), &new.iters)?;
    let range = Frame::new(&scop.params, &scop.function, Some(&old.name), &old.iters)?;
    let outputs: Vec<Affine> = old.iters.iter().map(|iter| Affine::iter(*iter)).collect();
    let original = frame.map(range.space, &outputs)?.intersect_domain(new.domain.clone())?;
    let through = UnionMap::from_map(original.clone())?;
    // Both list their loads in the order of the expression.
    let mut claims = Vec::new();
    for (now, was) in new.reads.iter().zip(&old.reads) {
        let inputs = flow::inputs(before.dependences, &was.map)?.unwrap()?;
        claims.push(Claim {
            access: now.map.clone(),
            writers: through.clone().apply_range(flow::writers(before.dependences, &was.map)?)?,
            inputs: through.clone().apply_range(inputs)?.wrap()?,
        });
    }
    draft.claims.extend(claims);
    draft.repeats = draft.repeats.clone().add_map(original)?;
    Ok(())
}
