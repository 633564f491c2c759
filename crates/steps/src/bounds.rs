//! How many cells an array needs: the range of a dimension of a set, as expressions over the parameters.

use isl::{Aff, Dim, LocalSpace, Set};
use poly::{Attempt, Scop, sets};
use program::{Affine, Atom};

/// From where a dimension starts, and how many values it has room for.
pub(crate) struct Range {
    pub(crate) first: Affine,
    pub(crate) extent: Affine,
}

/// The range of one dimension for all parameter values; `None` if no single expression bounds it.
pub(crate) fn range(scop: &Scop, set: &Set, position: usize) -> Attempt<Option<Range>> {
    let line = line(scop, set, position)?;
    if line.is_empty()? {
        return Ok(Some(Range { first: Affine::constant(0), extent: Affine::constant(0) }));
    }
    if !line.dim_is_bounded(Dim::Set, 0)? {
        return Ok(None);
    }
    let first = bounds(scop, &line, line.clone().dim_min(0)?, true)?.into_iter().next();
    let last = bounds(scop, &line, line.clone().dim_max(0)?, false)?.into_iter().next();
    let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
    let extent = last.sub(&first).and_then(|size| size.add(&Affine::constant(1)));
    Ok(extent.map(|extent| Range { first, extent }))
}

/// The first value of one dimension for all parameter values; `None` if no single expression is.
pub(crate) fn first(scop: &Scop, set: &Set, position: usize) -> Attempt<Option<Affine>> {
    let line = line(scop, set, position)?;
    if line.is_empty()? {
        return Ok(Some(Affine::constant(0)));
    }
    if !line.dim_is_bounded(Dim::Set, 0)? {
        return Ok(None);
    }
    Ok(bounds(scop, &line, line.clone().dim_min(0)?, true)?.into_iter().next())
}

/// The last value of one dimension for all parameter values: the simplest expression that no value passes, which is a number rather
/// than a quotient. `None` if there is none.
pub(crate) fn last(scop: &Scop, set: &Set, position: usize) -> Attempt<Option<Affine>> {
    let line = line(scop, set, position)?;
    if line.is_empty()? {
        return Ok(Some(Affine::constant(-1)));
    }
    if !line.dim_is_bounded(Dim::Set, 0)? {
        return Ok(None);
    }
    let mut found = bounds(scop, &line, line.clone().dim_max(0)?, false)?;
    let quotients = |bound: &Affine| bound.terms.keys().filter(|atom| matches!(atom, Atom::Div(..))).count();
    found.sort_by_key(|bound| (quotients(bound), bound.terms.len()));
    let simplest = found.into_iter().next();
    if simplest.as_ref().is_some_and(|bound| quotients(bound) == 0) {
        return Ok(simplest);
    }
    let anywhere = line.clone().project_out(Dim::Param, 0, line.dim(Dim::Param)?)?;
    if anywhere.dim_is_bounded(Dim::Set, 0)? {
        // isl takes what bounds the quotient of a stride for a bound of the dimension.
        let largest = match anywhere.dim_max(0) {
            Ok(largest) => largest,
            Err(error @ isl::Error::Budget { .. }) => return Err(error.into()),
            Err(_) => return Ok(simplest),
        };
        for (_, piece) in largest.pieces()? {
            if let Some(number) = piece.get_constant_val()?.to_i64()? {
                return Ok(Some(Affine::constant(number)));
            }
        }
    }
    Ok(simplest)
}

/// The last value of one dimension of the places of an array with these extents. Where [`last`] is made of several sizes, as for places
/// that are exclusive-or-ed, an extent that is rounded up to a power of two that the place is divided by may do, and is what a person would say.
pub(crate) fn last_place(
    scop: &Scop,
    set: &Set,
    (position, place): (usize, &Affine),
    extents: &[Affine],
) -> Attempt<Option<Affine>> {
    let found = last(scop, set, position)?;
    if found.as_ref().is_some_and(|bound| parts(bound) <= 2) {
        return Ok(found);
    }
    let line = line(scop, set, position)?;
    // Few, as each question takes a while.
    let largest = largest_power(place);
    for power in [largest, largest.saturating_mul(2)].into_iter().filter(|power| *power > 1) {
        for extent in extents.iter().rev() {
            let rounded = extent.add(&Affine::constant(power - 1)).and_then(|sum| sum.div(power)?.scale(power));
            let Some(bound) = rounded.and_then(|rounded| rounded.add(&Affine::constant(-1))) else { continue };
            if is_last(&line, &bound)? {
                return Ok(Some(bound));
            }
        }
    }
    Ok(found)
}

/// How many sizes and quotients an expression has.
fn parts(affine: &Affine) -> usize {
    let part = |atom: &Atom| match atom {
        Atom::Div(numerator, _) => 1 + parts(numerator),
        Atom::Param(_) | Atom::Iter(_) => 1,
    };
    affine.terms.keys().map(part).sum()
}

/// The largest power of two that something in an expression is divided by, or 1.
fn largest_power(affine: &Affine) -> i64 {
    let power = |atom: &Atom| match atom {
        Atom::Div(numerator, divisor) if divisor.count_ones() == 1 => largest_power(numerator).max(*divisor),
        Atom::Div(numerator, _) => largest_power(numerator),
        Atom::Param(_) | Atom::Iter(_) => 1,
    };
    affine.terms.keys().map(power).max().unwrap_or(1)
}

fn is_last(line: &Set, bound: &Affine) -> Attempt<bool> {
    let space = line.get_space()?;
    let value = Aff::var_on_domain(LocalSpace::from_space(space.clone())?, Dim::Set, 0)?;
    Ok(line.is_subset(&value.le_set(sets::aff(&space, bound, &|_| None)?)?)?)
}

/// One dimension of a set, for the parameter values that are possible.
pub(crate) fn line(scop: &Scop, set: &Set, position: usize) -> Attempt<Set> {
    let dims = set.dim(Dim::Set)?;
    let line = set.clone().intersect_params(scop.context.clone())?;
    let line = line.project_out(Dim::Set, position + 1, dims - position - 1)?.project_out(Dim::Set, 0, position)?;
    Ok(line.reset_space(scop.params.tuple(None, &[""])?)?.coalesce()?)
}

/// The pieces of `extreme` that bound the whole line.
fn bounds(scop: &Scop, line: &Set, extreme: isl::PwAff, below: bool) -> Attempt<Vec<Affine>> {
    let mut found = Vec::new();
    for (_, piece) in extreme.pieces()? {
        let Some(bound) = sets::affine(&scop.params, &piece, &[])? else { continue };
        let space = line.get_space()?;
        let value = Aff::var_on_domain(LocalSpace::from_space(space.clone())?, Dim::Set, 0)?;
        let limit = sets::aff(&space, &bound, &|_| None)?;
        let within = if below { value.ge_set(limit)? } else { value.le_set(limit)? };
        if line.is_subset(&within)? {
            found.push(bound);
        }
    }
    Ok(found)
}
