//! `pack`: each iteration of a loop first copies what it reads of an array into a buffer, and reads the copy.
//!
//! Before: `… B[f(x)] …` inside the loop.  After: `Bp[c - o] = B[c]` for every cell `c` that the iteration reads, then
//! `… Bp[f(x) - o] …`. An array that the loop writes is written to the buffer and copied back at the end of the iteration.
//! Claimed and checked: through the copies, each read finds what it found before, and each result keeps its last writer.

use diag::{Diagnostic, Span};
use isl::{Map, UnionMap};
use poly::rewriting::{self as flow, Claim, Draft};
use poly::sets::Frame;
use poly::{Access, Entry, Fault, Parts, Scop, StatementKind, affine_subscripts, unique};
use program::{Affine, ArrayId, Expr, ExprKind, Subscript};

use super::buffer::{self, Buffer};
use super::inline::array_named;
use super::site::Site;
use super::{Before, Drafted, array_name, expr, known_index, load, statement_name};
use crate::rearrange::overflow;
use crate::step::{Place, Step, Word};

/// What a `pack` says.
#[derive(Clone, Copy)]
pub(super) struct What<'a> {
    pub(super) array: &'a Word,
    pub(super) reads: Option<&'a [Word]>,
    pub(super) at: Option<&'a Place>,
    pub(super) panels: &'a [i64],
}

pub(super) fn pack(before: Before<'_>, step: &Step, what: What<'_>, given: Option<&Word>) -> Drafted<Draft> {
    let array = array_named(before, what.array)?;
    let usual = format!("{}_packed", before.scop.array(array).name);
    let name = array_name(before.scop, step, given, &usual)?;
    let draft = Draft::new("pack", before.scop, before.tree)?;
    let uses = Uses { array, reads: what.reads };
    packed(before, step, (uses, what.at, what.panels), name, draft)
}

/// The uses of an array that go to a buffer: all, or the reads by certain indices.
#[derive(Clone, Copy)]
pub(super) struct Uses<'a> {
    pub(super) array: ArrayId,
    pub(super) reads: Option<&'a [Word]>,
}

impl Uses<'_> {
    /// All uses of an array.
    pub(super) fn all(array: ArrayId) -> Uses<'static> {
        Uses { array, reads: None }
    }

    fn include(self, scop: &Scop, access: &Access) -> bool {
        let is_index = |(subscript, name): (&Subscript, &Word)| {
            let iter = subscript.as_affine().and_then(Affine::as_iter);
            iter.is_some_and(|iter| scop.function.iter(iter).name == name.text)
        };
        let named = |names: &[Word]| names.len() == access.index.len() && access.index.iter().zip(names).all(is_index);
        access.array == self.array && self.reads.is_none_or(named)
    }
}

/// The same for an array that is known, into a buffer of this name.
pub(super) fn packed(
    before: Before<'_>,
    step: &Step,
    (uses, place, panels): (Uses<'_>, Option<&Place>, &[i64]),
    packed: String,
    mut draft: Draft,
) -> Drafted<Draft> {
    let array = uses.array;
    let scop = before.scop;
    let name = &scop.array(array).name;
    let rank = scop.array(array).shape.len();
    if !panels.is_empty() && panels.len() != rank {
        let has = subscripts(rank);
        let message = format!("`{name}` has {has}, `by` gives panels for {}", panels.len());
        return Err(Diagnostic::error("E0516", step.span, message).help("1 leaves a subscript whole").into());
    }
    if let Some(given) = uses.reads.map(<[Word]>::len).filter(|given| *given != rank) {
        let indices = if given == 1 { "1 index is".to_owned() } else { format!("{given} indices are") };
        let message = format!("`{name}` has {}, {indices} given", subscripts(rank));
        return Err(Diagnostic::error("E0516", step.span, message).into());
    }
    let (site, at) = match place {
        Some(place) => (Site::find(before, step, place, &mut draft, array)?, place.at.clone()),
        None => (Site::everything(before, step)?, Word::new("the call")),
    };
    let (reads, writes) = (footprint(before, step, &site, uses, false)?, footprint(before, step, &site, uses, true)?);
    if uses.reads.is_some() && writes.is_some() {
        let message = format!("`{name}` is written inside loop `{}`, so all its uses there go to the buffer", at.text);
        let help = format!("write `pack {name}` without subscripts");
        return Err(Diagnostic::error("E0516", step.span, message).help(help).into());
    }
    let (all, span) = match (&reads, &writes) {
        (Some((reads, span)), Some((writes, _))) => (buffer::tidy(reads.clone().union(writes.clone())?)?, *span),
        (Some((only, span)), None) | (None, Some((only, span))) => (only.clone(), *span),
        (None, None) => {
            let message = match place {
                Some(_) if uses.reads.is_some() => {
                    format!("nothing inside loop `{}` reads `{name}` by these indices", at.text)
                }
                Some(_) => format!("`{name}` is not read inside loop `{}`", at.text),
                None => format!("`{name}` is not used"),
            };
            return Err(Diagnostic::error("E0516", step.span, message).into());
        }
    };
    let buffer = Buffer::new(before, step, &at, &mut draft, &site, (array, packed.clone(), panels), &all)?;
    // What is only read is copied first; of what is written, the cells whose values come from outside of the iteration.
    let fetched = match &writes {
        Some(_) => fetched(before, step, &at, &site, array)?,
        None => reads.map(|(reads, _)| reads),
    };
    redirect(before, step, &mut draft, &site, &buffer, uses)?;
    let (front, back) = site.open(&mut draft);
    let taken = |name: &str| before.is_loop(name);
    let loops = (0..rank).map(|dim| unique(&format!("{}{dim}", name.to_lowercase()), taken)).collect();
    let copying = Copying { step, site: &site, buffer: &buffer, array, loops, span };
    let places = site.places(&draft);
    let (Some(first), Some(last)) = (site.members.first().copied(), site.members.last().copied()) else {
        return Err(Fault::bug("a loop around nothing").into());
    };
    let (front_place, back_place) = (places.first().copied().unwrap_or(0), places.last().map_or(0, |last| last + 1));
    if let Some((writes, _)) = writes {
        let name = statement_name(scop, &format!("{packed}_back"));
        copying.insert(&mut draft, (last + 1, back_place), name, back, writes, true)?;
        others_find_the_same(before, &mut draft, &site, array)?;
        draft.writes = true;
    }
    if let Some(fetched) = fetched {
        let name = statement_name(scop, &format!("{packed}_copy"));
        copying.insert(&mut draft, (first, front_place), name, front, fetched, false)?;
    }
    // What comes back is looked through after what was fetched, which may have come back before.
    draft.copies.reverse();
    Ok(draft)
}

pub(super) fn subscripts(count: usize) -> String {
    if count == 1 { "1 subscript".to_owned() } else { format!("{count} subscripts") }
}

/// Copies between an array and its buffer.
struct Copying<'a> {
    step: &'a Step,
    site: &'a Site,
    buffer: &'a Buffer,
    array: ArrayId,
    /// A name for the loop over each subscript.
    loops: Vec<String>,
    span: Span,
}

impl Copying<'_> {
    /// A statement that copies `cells`, an instance per iteration and cell; `back` is out of the buffer.
    fn insert(
        &self,
        draft: &mut Draft,
        (position, place): (usize, usize),
        name: String,
        mut entries: Vec<Entry>,
        cells: Map,
        back: bool,
    ) -> Drafted<()> {
        let mut iters = self.site.iters.clone();
        let mut index = Vec::new();
        for name in &self.loops {
            let iter = draft.iter(name, self.span);
            entries.push(Entry::Loop(draft.add_loop(name), Affine::iter(iter)));
            index.push(Affine::iter(iter));
            iters.push(iter);
        }
        let values: Vec<Affine> = self.site.iters.iter().map(|iter| Affine::iter(*iter)).collect();
        let inside = self.buffer.index(self.step, self.site, &values, &index)?;
        let (outside, inside) = ((self.array, index), (self.buffer.array, inside));
        let ((to, target), (from, source)) = if back { (outside, inside) } else { (inside, outside) };
        let kind = ExprKind::Load { array: from, index: source };
        let parts = Parts {
            name: name.clone(),
            source: name.clone(),
            kind: StatementKind::Assign,
            ordered: 0,
            kept: iters.len(),
            iters,
            domain: cells.wrap()?.flatten()?,
            target: (to, affine_subscripts(&target), self.span),
            value: Expr { kind, ty: draft.scop.array(self.array).ty, span: self.span },
            time: Vec::new(),
            span: self.span,
            each: None,
        };
        draft.insert(position, parts, place, entries)?;
        draft.copies.push(name);
        Ok(())
    }
}

/// The cells that the iterations of the site read or write, and where in the source.
fn footprint(
    before: Before<'_>,
    step: &Step,
    site: &Site,
    uses: Uses<'_>,
    writes: bool,
) -> Drafted<Option<(Map, Span)>> {
    let mut found: Option<(Map, Span)> = None;
    for member in &site.members {
        let instances = site.instances(before, step, *member)?;
        let statement = &before.scop.statements[*member];
        let accesses = if writes { std::slice::from_ref(&statement.write) } else { statement.reads.as_slice() };
        let in_question = |access: &&Access| match writes {
            true => access.array == uses.array,
            false => uses.include(before.scop, access),
        };
        for access in accesses.iter().filter(in_question) {
            let cells = instances.clone().apply_range(access.map.clone())?;
            found = Some(match found {
                Some((all, span)) => (all.union(cells)?, span),
                None => (cells, access.span),
            });
        }
    }
    Ok(match found {
        Some((cells, span)) => Some((buffer::tidy(cells)?, span)),
        None => None,
    })
}

/// The cells that an iteration reads before it writes them. A read must not mix values from inside and outside of its
/// iteration, as the updates of a reduction that goes on over several iterations do.
fn fetched(before: Before<'_>, step: &Step, at: &Word, site: &Site, array: ArrayId) -> Drafted<Option<Map>> {
    let mut together = before.scop.nothing()?;
    let mut iterations = Vec::new();
    for member in &site.members {
        iterations.push(UnionMap::from_map(site.instances(before, step, *member)?)?);
    }
    for one in &iterations {
        for two in &iterations {
            together = together.union(one.clone().reverse()?.apply_range(two.clone())?)?;
        }
    }
    let mut fetched: Option<Map> = None;
    for (member, iterations) in site.members.iter().zip(&iterations) {
        let statement = &before.scop.statements[*member];
        if statement.write.array == array && !statement.write.is_exact() {
            let name = &before.scop.array(array).name;
            let message = format!("which cell of `{name}` is written in `{}` depends on data", statement.name);
            return Err(Diagnostic::error("E0516", step.span, message).into());
        }
        for read in statement.reads.iter().filter(|read| read.array == array) {
            let writers = flow::writers(before.dependences, &read.map)?;
            let inside = writers.clone().intersect(together.clone())?.domain()?;
            let outside = writers.subtract(together.clone())?.domain()?;
            if !inside.clone().intersect(outside.clone())?.is_empty()?
                || statement.kind.is_update() && !outside.is_empty()?
            {
                let message = format!("`{}` goes on over several iterations of `{}`", statement.name, at.text);
                let help = "point to a loop in whose iterations the reduction is complete";
                return Err(Diagnostic::error("E0516", step.span, message).help(help).into());
            }
            let from_outside = UnionMap::from_map(read.map.clone())?.subtract_domain(inside)?;
            for cells in iterations.clone().apply_range(from_outside)?.maps()? {
                fetched = Some(match fetched {
                    Some(all) => all.union(cells)?,
                    None => cells,
                });
            }
        }
    }
    Ok(match fetched {
        Some(cells) => Some(buffer::tidy(cells)?),
        None => None,
    })
}

/// Readers outside of the loop find what the loop has written, through the copies back.
fn others_find_the_same(before: Before<'_>, draft: &mut Draft, site: &Site, array: ArrayId) -> Drafted<()> {
    for (position, statement) in before.scop.statements.iter().enumerate() {
        if site.members.contains(&position) {
            continue;
        }
        for read in statement.reads.iter().filter(|read| read.array == array) {
            draft.claims.push(Claim {
                access: read.map.clone(),
                writers: flow::writers(before.dependences, &read.map)?,
                inputs: flow::inputs(before.dependences, &read.map)?,
            });
        }
    }
    Ok(())
}

/// Lets the members of a site read and write the buffer instead of `array`, and claims that they find the same.
pub(super) fn redirect(
    before: Before<'_>,
    step: &Step,
    draft: &mut Draft,
    site: &Site,
    buffer: &Buffer,
    uses: Uses<'_>,
) -> Drafted<()> {
    let (scop, array) = (before.scop, uses.array);
    for member in &site.members {
        let statement = &scop.statements[*member];
        let values = site.values(before, step, *member)?;
        let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
        let mut moved: Vec<(Vec<Affine>, Vec<Affine>)> = Vec::new();
        for read in statement.reads.iter().filter(|read| uses.include(scop, read)) {
            let from = known_index(scop, step, statement, read)?;
            let index = buffer.index(step, site, &values, &from)?;
            let packed = draft.scop.array(buffer.array);
            let range = scop.params.tuple(Some(&packed.name), &vec![""; index.len()])?;
            draft.claims.push(Claim {
                access: frame.map(range, &index)?.intersect_domain(read.map.clone().domain()?)?,
                writers: flow::writers(before.dependences, &read.map)?,
                inputs: flow::inputs(before.dependences, &read.map)?,
            });
            moved.push((from, index));
        }
        let writes = statement.write.array == array;
        if moved.is_empty() && !writes {
            continue;
        }
        let mut parts = Parts::of(statement);
        if writes {
            let index = buffer.index(step, site, &values, &statement.write.affine_index()?)?;
            parts.target = (buffer.array, affine_subscripts(&index), statement.write.span);
        }
        let value = expr::with_loads(&statement.value, &|whole, read, index| {
            let (_, to) = moved.iter().find(|(from, _)| read == array && from == index)?;
            Some(load(buffer.array, to.clone(), whole))
        });
        parts.value = value.ok_or_else(|| overflow(step))?;
        draft.replace(*member, parts)?;
    }
    Ok(())
}
