//! How many cells an array needs: the range of a dimension of a set, as expressions over the parameters.

use isl::{Aff, Dim, LocalSpace, Set};
use poly::{Attempt, Scop, sets};
use program::Affine;

/// From where a dimension starts, and how many values it has room for.
pub(super) struct Range {
    pub(super) first: Affine,
    pub(super) extent: Affine,
}

/// The range of one dimension for all parameter values; `None` if no single expression bounds it.
pub(super) fn range(scop: &Scop, set: &Set, position: usize) -> Attempt<Option<Range>> {
    let dims = set.dim(Dim::Set)?;
    let line = set.clone().intersect_params(scop.context.clone())?;
    let line = line.project_out(Dim::Set, position + 1, dims - position - 1)?.project_out(Dim::Set, 0, position)?;
    let line = line.reset_space(scop.params.tuple(None, &[""])?)?.coalesce()?;
    if line.is_empty()? {
        return Ok(Some(Range { first: Affine::constant(0), extent: Affine::constant(0) }));
    }
    if !line.dim_is_bounded(Dim::Set, 0)? {
        return Ok(None);
    }
    let first = bound(scop, &line, line.clone().dim_min(0)?, true)?;
    let last = bound(scop, &line, line.clone().dim_max(0)?, false)?;
    let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
    let extent = last.sub(&first).and_then(|size| size.add(&Affine::constant(1)));
    Ok(extent.map(|extent| Range { first, extent }))
}

/// The piece of `extreme` that bounds the whole line, if one does.
fn bound(scop: &Scop, line: &Set, extreme: isl::PwAff, below: bool) -> Attempt<Option<Affine>> {
    for (_, piece) in extreme.pieces()? {
        let Some(bound) = sets::affine(&scop.params, &piece, &[])? else { continue };
        let space = line.get_space()?;
        let value = Aff::var_on_domain(LocalSpace::from_space(space.clone())?, Dim::Set, 0)?;
        let limit = sets::aff(&space, &bound, &|_| None)?;
        let within = if below { value.ge_set(limit)? } else { value.le_set(limit)? };
        if line.is_subset(&within)? {
            return Ok(Some(bound));
        }
    }
    Ok(None)
}
