//! Buffers: a small array for the cells of another one that a single iteration of a loop needs.
//!
//! In: a footprint, `{ iteration -> cell }`.  Out: an array with the size of the smallest box that holds every
//! iteration's cells, and where in it each cell is. Iterations of parallel loops have buffers of their own.

use diag::Diagnostic;
use isl::{Dim, Map, Set};
use poly::rewriting::Draft;
use poly::sets::Frame;
use poly::{ArrayOrigin, Attempt, Fault, sets};
use program::{Affine, ArrayId, Cond};

use super::site::Site;
use super::{Before, Drafted};
use crate::bounds;
use crate::rearrange::overflow;
use crate::step::{Step, Word};

/// A buffer of so many cells takes longer to get than a small array takes to use.
const LARGE: i64 = 1 << 12;

pub(super) struct Buffer {
    pub(super) array: ArrayId,
    /// Parallel loops, by place among the site's, with their first value.
    parallel: Vec<(usize, Affine)>,
    /// The first cell of an iteration, over the site's iterators.
    first: Vec<Affine>,
    /// How many neighbours stay together, per subscript.
    panels: Vec<i64>,
}

impl Buffer {
    /// A buffer for the cells of `array` in `footprint`.
    pub(super) fn new(
        before: Before<'_>,
        step: &Step,
        at: &Word,
        draft: &mut Draft,
        site: &Site,
        (array, name, panels): (ArrayId, String, &[i64]),
        footprint: &Map,
    ) -> Drafted<Buffer> {
        let scop = before.scop;
        let footprint = footprint.clone().intersect_params(scop.context.clone())?.coalesce()?;
        let (mut shape, mut parallel) = (Vec::new(), Vec::new());
        let iterations = footprint.clone().domain()?;
        for (place, found) in site.loops.iter().enumerate().filter(|(_, found)| found.kind.is_parallel()) {
            let Some(range) = bounds::range(scop, &iterations, place)? else {
                let message = format!("no array of one size holds the buffers of all iterations of `{}`", found.name);
                let help = "they run at once, so each needs a buffer; `parallel` can come after this step";
                return Err(Diagnostic::error("E0518", step.span, message).help(help).into());
            };
            shape.push(range.extent);
            parallel.push((place, range.first));
        }
        let (first, sizes) = if site.is_everything() {
            let whole = &scop.array(array).shape;
            (vec![Affine::constant(0); whole.len()], whole.clone())
        } else {
            let Some((first, sizes)) = hull(before, site, &footprint)? else {
                return Err(unbounded(before, step, at, site, array, &footprint)?.into());
            };
            (first, sizes.into_iter().map(Affine::constant).collect())
        };
        let panels = if panels.is_empty() { vec![1; sizes.len()] } else { panels.to_vec() };
        shape.extend(panel_shape(&sizes, &panels).ok_or_else(|| overflow(step))?);
        let cells = shape.iter().map(Affine::as_constant).try_fold(1i64, |cells, extent| cells.checked_mul(extent?));
        let at_most = match cells {
            Some(LARGE..) if parallel.is_empty() => {
                first_at_most(before, draft, site, (array, &panels), &first, &iterations)?
            }
            _ => None,
        };
        let array = draft.array(name, array, shape, ArrayOrigin::Buffer);
        if let Some(at_most) = at_most {
            draft.bound_first(array, at_most);
        }
        Ok(Buffer { array, parallel, first, panels })
    }

    /// Where a cell is, for the iteration in which the site's iterators have these values.
    pub(super) fn index(&self, step: &Step, site: &Site, values: &[Affine], cell: &[Affine]) -> Drafted<Vec<Affine>> {
        let value = |iter| {
            let place = site.iters.iter().position(|known| *known == iter)?;
            values.get(place).cloned()
        };
        let parallel = self.parallel.iter().map(|(place, first)| values.get(*place)?.sub(first));
        let inside = cell.iter().zip(&self.first).map(|(cell, first)| cell.sub(&first.substitute(&value)?));
        let (parallel, inside): (Option<Vec<Affine>>, Option<Vec<Affine>>) = (parallel.collect(), inside.collect());
        let index = parallel.zip(inside).and_then(|(mut index, inside)| {
            index.extend(in_panels(&inside, &self.panels, Affine::div, Affine::rem)?);
            Some(index)
        });
        Ok(index.ok_or_else(|| overflow(step))?)
    }
}

/// How many the whole array would need in the first dimension: a buffer as large as a tile is more than a small array has. None if the
/// cells of an iteration are counted from one in front of the array.
fn first_at_most(
    before: Before<'_>,
    draft: &Draft,
    site: &Site,
    (array, panels): (ArrayId, &[i64]),
    first: &[Affine],
    iterations: &Set,
) -> Attempt<Option<Affine>> {
    let scop = before.scop;
    let along = panels.iter().position(|panel| *panel > 1).unwrap_or(0);
    let Some(before_first) = first.get(along).and_then(|first| Affine::constant(-1).sub(first)) else {
        return Ok(None);
    };
    let frame = Frame::new(&scop.params, &draft.scop.function, None, &site.iters)?;
    let negative = frame.cond(&Cond::NonNegative(before_first))?;
    if site.is_everything() || !iterations.clone().intersect(negative)?.is_empty()? {
        return Ok(None);
    }
    Ok(panel_shape(&scop.array(array).shape, panels).and_then(|whole| whole.into_iter().next()))
}

/// The extents of an array in panels.
pub(super) fn panel_shape(sizes: &[Affine], panels: &[i64]) -> Option<Vec<Affine>> {
    let count = |size: &Affine, panel: i64| size.add(&Affine::constant(panel - 1))?.div(panel);
    in_panels(sizes, panels, count, |_, panel| Some(Affine::constant(panel)))
}

/// The subscripts of a buffer in panels: which panel, for those that have some; then those left whole; then the places inside a
/// panel. So `[i, k]` in panels of 8 and 1 is `[i / 8, k, i % 8]`.
pub(super) fn in_panels(
    subscripts: &[Affine],
    panels: &[i64],
    which: impl Fn(&Affine, i64) -> Option<Affine>,
    place: impl Fn(&Affine, i64) -> Option<Affine>,
) -> Option<Vec<Affine>> {
    let cut = || subscripts.iter().zip(panels).filter(|(_, panel)| **panel > 1);
    let whole = subscripts.iter().zip(panels).filter(|(_, panel)| **panel == 1);
    let which = cut().map(|(subscript, panel)| which(subscript, *panel));
    let place = cut().map(|(subscript, panel)| place(subscript, *panel));
    which.chain(whole.map(|(subscript, _)| Some(subscript.clone()))).chain(place).collect()
}

/// The same relation, in one piece if it is: the pieces come from several reads that overlap.
pub(super) fn tidy(map: Map) -> Attempt<Map> {
    // A hull of many pieces can take long, and is hardly ever the same.
    const MOST: usize = 12;
    let map = map.coalesce()?;
    if !(2..=MOST).contains(&map.basic_maps()?.len()) {
        return Ok(map);
    }
    let hull = Map::from_basic_map(map.clone().convex_hull()?)?;
    Ok(if hull.is_equal(&map)? { hull } else { map })
}

/// The first cell of each iteration, and the sizes of a box that holds all cells of any one.
fn hull(before: Before<'_>, site: &Site, footprint: &Map) -> Attempt<Option<(Vec<Affine>, Vec<i64>)>> {
    let dims = footprint.dim(Dim::Out)?;
    if footprint.is_empty()? {
        return Ok(Some((vec![Affine::constant(0); dims], vec![0; dims])));
    }
    if dims == 0 {
        return Ok(Some((Vec::new(), Vec::new())));
    }
    let hull = footprint.get_range_simple_fixed_box_hull()?;
    if !hull.is_valid()? {
        return Ok(None);
    }
    let mut first = Vec::new();
    for offset in hull.get_offset()?.get_list()? {
        let Some(offset) = sets::affine(&before.scop.params, &offset, &site.iters)? else { return Ok(None) };
        first.push(offset);
    }
    let mut sizes = Vec::new();
    for size in hull.get_size()?.get_list()? {
        sizes.push(size.to_i64()?.ok_or(Fault::Overflow("a buffer"))?);
    }
    Ok(Some((first, sizes)))
}

/// Which subscripts have no constant range.
fn unbounded(
    before: Before<'_>,
    step: &Step,
    at: &Word,
    site: &Site,
    array: ArrayId,
    footprint: &Map,
) -> Attempt<Diagnostic> {
    let dims = footprint.dim(Dim::Out)?;
    let mut wide = Vec::new();
    for dim in 0..dims {
        let one = footprint.clone().project_out(Dim::Out, dim + 1, dims - dim - 1)?.project_out(Dim::Out, 0, dim)?;
        if hull(before, site, &one)?.is_none() {
            wide.push(dim + 1);
        }
    }
    let name = &before.scop.array(array).name;
    let message = format!("what one iteration of `{}` needs of `{name}` has no constant size", at.text);
    let wide: Vec<String> = wide.iter().map(usize::to_string).collect();
    let note = match wide.as_slice() {
        [] => "its cells fit no box that moves with the loops".to_string(),
        [one] => format!("subscript {one} has a range that depends on the sizes"),
        more => format!("subscripts {} have ranges that depend on the sizes", more.join(" and ")),
    };
    let help = "tile the loops that walk these subscripts, and point to a loop inside of the tile loops";
    Ok(Diagnostic::error("E0518", step.span, message).note(note).help(help))
}
