//! Storage: an array whose cells live elsewhere than its subscripts say.
//!
//! In: a legal schedule, and a [`Draft`] in which all accesses to one array go through a map from its cells to places.  Out: the new
//! program with its dependences, or what is wrong with the map.
//! Where no two cells that are touched share a place, the dependences are the old ones, seen through the map. Otherwise the storage is
//! folded: who reads what is compared before and after, as for every rewriting, and that cells share places becomes part of what
//! later steps have to keep in order.
//! Not here: which map is meant by a notation, and how much room it takes.

use std::collections::BTreeMap;
use std::rc::Rc;

use diag::{Diagnostic, Span};
use isl::{Dim, Map, Set, UnionMap, Val};
use program::{Affine, ArrayId, IterId, Subscript};

use super::Subject;
use super::rewriting::{Claim, Draft, Rewriting, inputs, prove_rewriting, writers};
use crate::deps::Dependences;
use crate::fault::{Attempt, Fault};
use crate::scop::{Access, Scop, ScopArray, Statement};
use crate::sets::Frame;
use crate::tree::Tree;
use crate::witness::{Sample, evaluate, show_cell, show_params, smallest};

/// Where the cells of an array are: a place, or part of one, for each; `IterId(n)` is the n-th subscript.
pub type Places = [Affine];

/// The map from the cells of an array to their places, in the space of the array both.
pub fn place_map(scop: &Scop, array: ArrayId, places: &Places) -> Attempt<Map> {
    let declared = scop.array(array);
    let iters: Vec<IterId> = (0..declared.shape.len()).map(|position| IterId(position as u32)).collect();
    let space = scop.params.tuple(Some(&declared.name), &vec![""; iters.len()])?;
    let range = scop.params.tuple(Some(&declared.name), &vec![""; places.len()])?;
    Frame { space, iters }.map(range, places)
}

/// The map from the cells that an array is declared with to where its layout has put them, for the sizes that are possible.
pub fn cell_places(scop: &Scop, array: ArrayId) -> Attempt<Map> {
    let found = scop.array(array);
    let Some(laid) = &found.laid else {
        let own: Vec<Affine> = (0..found.shape.len()).map(|position| Affine::iter(IterId(position as u32))).collect();
        return Ok(place_map(scop, array, &own)?.intersect_domain(scop.cells(array)?)?);
    };
    let mut declared = scop.clone();
    declared.arrays[array.index()] =
        ScopArray { shape: laid.shape.clone(), first_at_most: None, laid: None, ..found.clone() };
    let cells = declared.cells(array)?.intersect_params(scop.context.clone())?;
    Ok(place_map(&declared, array, &laid.places)?.intersect_domain(cells)?)
}

/// Subscripts as the map of places sees them; `None` if a place depends on one that only data knows, or on overflow. A place that
/// is just a subscript takes it as it is.
pub fn placed(places: &Places, index: &[Subscript]) -> Option<Vec<Subscript>> {
    let place = |place: &Affine| {
        if let Some(input) = place.as_iter()
            && let Some(subscript @ Subscript::Data(_)) = index.get(input.index())
        {
            return Some(subscript.clone());
        }
        let mut known = true;
        place.visit_iters(&mut |input| known &= matches!(index.get(input.index()), Some(Subscript::Affine(_))));
        let value = |input: IterId| match index.get(input.index()) {
            Some(Subscript::Affine(affine)) => Some(affine.clone()),
            _ => None,
        };
        if known { place.substitute(&value).map(Subscript::Affine) } else { None }
    };
    places.iter().map(place).collect()
}

/// Checks a draft that was made from `before`, whose order is `tree`, by laying out `array` by `places`; `span` is where that is said.
pub fn prove_storage(
    before: &Rc<Subject>,
    tree: &Tree,
    draft: Draft,
    (array, places): (ArrayId, &Places),
    span: Span,
) -> diag::Result<Rewriting> {
    let judge = || -> Attempt<Judged> {
        check_accesses(&before.scop, &draft.scop, array, places)?;
        let map = place_map(&before.scop, array, places)?;
        let live = map.clone().intersect_domain(touched(&before.scop, array)?)?;
        let live = live.intersect_params(before.scop.context.clone())?;
        if let Some(diagnostic) = find_outside(&before.scop, &draft.scop, (array, places), &live, span)? {
            return Ok(Judged::Unfit(diagnostic));
        }
        if live.is_injective()? {
            return Ok(Judged::Apart(seen_through(&before.dependences, &before.scop, array, &map)?));
        }
        Ok(Judged::Folded(folded(before, &draft.scop, array, &map)?))
    };
    match judge().map_err(|fault| fault.of_function("legality", &before.scop.function))? {
        Judged::Unfit(diagnostic) => Ok(Rewriting::Unfit(diagnostic)),
        Judged::Apart(dependences) => {
            let written = Some(before.written.clone().unwrap_or_else(|| Rc::clone(before)));
            let subject = Subject::new(draft.scop, dependences, written);
            Ok(Rewriting::Done(Rc::new(subject), tree.clone()))
        }
        Judged::Folded(claims) => prove_rewriting(before, Draft { claims, ..draft }),
    }
}

enum Judged {
    Unfit(Box<Diagnostic>),
    /// No two cells meet.
    Apart(Dependences),
    /// Some do; this is what each read has to find all the same.
    Folded(Vec<Claim>),
}

/// All accesses are those of the old program, those to the array through the map.
fn check_accesses(old: &Scop, new: &Scop, array: ArrayId, places: &Places) -> Attempt<()> {
    let moved = |access: &Access| {
        if access.array == array { placed(places, &access.index) } else { Some(access.index.clone()) }
    };
    let same = |(old, new): (&Access, &Access)| {
        // What data decides is not compared: it is made of other accesses, which are.
        let known = |subscripts: Vec<Subscript>| -> Vec<Option<Affine>> {
            let affine = |subscript| match subscript {
                Subscript::Affine(affine) => Some(affine),
                Subscript::Data(_) => None,
            };
            subscripts.into_iter().map(affine).collect()
        };
        old.array == new.array && moved(old).map(known) == Some(known(new.index.clone()))
    };
    let mut accesses = old.statements.iter().flat_map(|statement| statement.writes().chain(&statement.reads));
    if accesses.any(|access| moved(access).is_none()) {
        return Err(Fault::Overflow("the place of a cell"));
    }
    let all = |statement: &Statement| statement.writes().chain(&statement.reads).count();
    let agree = old.statements.len() == new.statements.len()
        && old.statements.iter().zip(&new.statements).all(|(old, new)| {
            let accesses = old.writes().chain(&old.reads).zip(new.writes().chain(&new.reads));
            old.name == new.name && all(old) == all(new) && accesses.into_iter().all(same)
        });
    if agree { Ok(()) } else { Err(Fault::bug("a layout has changed an access")) }
}

/// The cells of an array that are read or written.
pub fn touched(scop: &Scop, array: ArrayId) -> Attempt<Set> {
    let name = &scop.array(array).name;
    let mut cells = Set::empty(scop.params.tuple(Some(name), &vec![""; scop.array(array).shape.len()])?)?;
    for statement in &scop.statements {
        for access in statement.writes().chain(&statement.reads).filter(|access| access.array == array) {
            cells = cells.union(access.map.clone().range()?)?;
        }
    }
    Ok(cells.intersect_params(scop.context.clone())?.coalesce()?)
}

/// Two different cells with one place, told, if there are such: `A[0] and A[4], for N = 5`.
pub fn find_collision(scop: &Scop, array: ArrayId, map: &Map) -> Attempt<Option<String>> {
    let declared = scop.array(array);
    let space = map.clone().domain()?.get_space()?;
    let pairs = map.clone().apply_range(map.clone().reverse()?)?.intersect(Map::lex_lt(space)?)?;
    let Some(Sample { params, point }) = smallest(pairs.wrap()?, &scop.context)? else { return Ok(None) };
    let (one, two) = point.split_at(declared.shape.len());
    Ok(Some(told_pair(scop, array, (one, two), &params)))
}

/// What is wrong with places that are the digits of an offset, where a digit can be too large: it runs over into the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carry {
    /// Two cells have one offset, told as by [`find_collision`].
    Collision(String),
    /// None were found that do: a cell whose digit is too large, and sizes.
    Cell(String),
}

/// Whether a digit of the place of a declared cell can be too large for its extent. Offsets are row by row, which is not affine where
/// extents are sizes, so cells that meet are looked for at small sizes from the first on at which a digit carries.
pub fn find_carry(scop: &Scop, array: ArrayId, places: &Places, shape: &[Affine]) -> Attempt<Option<Carry>> {
    let mut laid = scop.clone();
    laid.arrays[array.index()] =
        ScopArray { shape: shape.to_vec(), first_at_most: None, laid: None, ..scop.array(array).clone() };
    let map = place_map(scop, array, places)?.intersect_domain(scop.cells(array)?)?;
    let carried = map.subtract_range(laid.cells(array)?)?.domain()?;
    let Some(Sample { params, point }) = smallest(carried, &scop.context)? else { return Ok(None) };
    for sizes in near(&params) {
        if is_possible(scop, &sizes)?
            && let Some((one, two)) = meeting(&scop.array(array).shape, places, shape, &sizes)
        {
            return Ok(Some(Carry::Collision(told_pair(scop, array, (&one, &two), &sizes))));
        }
    }
    let (cell, values) = (show_cell(&scop.array(array).name, &point), show_params(&scop.function, &params));
    Ok(Some(Carry::Cell(if values.is_empty() { cell } else { format!("{cell}, for {values}") })))
}

/// These sizes, and others where each is up to two larger; few, and the smallest first.
fn near(params: &[i64]) -> Vec<Vec<i64>> {
    const MOST: usize = 5;
    let mut all = vec![params.to_vec()];
    for position in 0..params.len().min(MOST) {
        let more = |by: i64| {
            move |sizes: &Vec<i64>| {
                let mut sizes = sizes.clone();
                sizes[position] = sizes[position].saturating_add(by);
                sizes
            }
        };
        let larger: Vec<Vec<i64>> = all.iter().map(more(1)).chain(all.iter().map(more(2))).collect();
        all.extend(larger);
    }
    all.sort_by_key(|sizes| sizes.iter().fold(0i64, |sum, size| sum.saturating_add(*size)));
    all
}

/// Whether a function can have these sizes.
pub(crate) fn is_possible(scop: &Scop, params: &[i64]) -> Attempt<bool> {
    let mut context = scop.context.clone();
    for (position, value) in params.iter().enumerate() {
        context = context.fix_val(Dim::Param, position, Val::from_i64(scop.params.ctx(), *value)?)?;
    }
    Ok(!context.is_empty()?)
}

/// Two cells of an array with these extents whose places have one offset, row by row, if there are such among the first.
fn meeting(extents: &[Affine], places: &Places, shape: &[Affine], params: &[i64]) -> Option<(Vec<i64>, Vec<i64>)> {
    const MOST: i64 = 4096;
    let extents = evaluate(extents, params, &[], &[])?;
    let mut found: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for cell in cells_of(&extents, MOST) {
        if let Some(other) = found.insert(offset(places, shape, params, &cell)?, cell.clone()) {
            return Some((other, cell));
        }
    }
    None
}

/// The cells of an array with these extents, row by row, and no more than so many.
pub(crate) fn cells_of(extents: &[i64], most: i64) -> impl Iterator<Item = Vec<i64>> {
    let count = extents.iter().fold(1i64, |count, extent| count.saturating_mul((*extent).max(0)));
    let extents = extents.to_vec();
    (0..count.min(most)).map(move |mut number| {
        let mut cell = vec![0; extents.len()];
        for (subscript, extent) in cell.iter_mut().zip(&extents).rev() {
            (*subscript, number) = (number % extent, number / extent);
        }
        cell
    })
}

/// Where the place of a cell is in an allocation that is kept row by row.
pub(crate) fn offset(places: &Places, shape: &[Affine], params: &[i64], cell: &[i64]) -> Option<i64> {
    let iters: Vec<IterId> = (0..cell.len()).map(|position| IterId(position as u32)).collect();
    let place = evaluate(places, params, &iters, cell)?;
    let room = evaluate(shape, params, &[], &[])?;
    let mut digits = place.iter().zip(&room);
    digits.try_fold(0i64, |sum, (digit, extent)| sum.checked_mul(*extent)?.checked_add(*digit))
}

fn told_pair(scop: &Scop, array: ArrayId, (one, two): (&[i64], &[i64]), params: &[i64]) -> String {
    let name = &scop.array(array).name;
    let both = format!("{} and {}", show_cell(name, one), show_cell(name, two));
    let values = show_params(&scop.function, params);
    if values.is_empty() { both } else { format!("{both}, for {values}") }
}

/// Sizes for which a number is negative, told; empty if it always is.
pub fn find_negative(scop: &Scop, value: &Affine) -> Attempt<Option<String>> {
    let space = scop.params.tuple(None, &[])?;
    let value = crate::sets::aff(&space, value, &|_| None)?;
    let below = value.lt_set(isl::Aff::zero_on_domain_space(space)?)?;
    let sample = smallest(below, &scop.context)?;
    Ok(sample.map(|Sample { params, .. }| show_params(&scop.function, &params)))
}

/// One of the cells in `live`, a map to their places, whose place is not in the array as `new` has it; told.
pub fn find_outside(
    scop: &Scop,
    new: &Scop,
    (array, places): (ArrayId, &Places),
    live: &Map,
    span: Span,
) -> Attempt<Option<Box<Diagnostic>>> {
    let outside = live.clone().subtract_range(new.cells(array)?)?.domain()?;
    let Some(Sample { params, point }) = smallest(outside, &scop.context)? else { return Ok(None) };
    let name = &scop.array(array).name;
    let iters: Vec<IterId> = (0..point.len()).map(|position| IterId(position as u32)).collect();
    let place = evaluate(places, &params, &iters, &point).unwrap_or_default();
    let room = evaluate(&new.array(array).shape, &params, &[], &[]).unwrap_or_default();
    let message = format!("the layout of `{name}` has no room for {}", show_cell(name, &point));
    let list = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let note = format!("it would be at [{}], in an allocation of [{}]", list(&place), list(&room));
    let diagnostic = Diagnostic::error("E0520", span, message).note(note);
    let values = show_params(&scop.function, &params);
    let diagnostic = if values.is_empty() { diagnostic } else { diagnostic.note(format!("this happens for {values}")) };
    Ok(Some(Box::new(diagnostic)))
}

/// The dependences with the places of the array's cells for the cells.
fn seen_through(dependences: &Dependences, scop: &Scop, array: ArrayId, map: &Map) -> Attempt<Dependences> {
    let name = &scop.array(array).name;
    let through = |pairs: &UnionMap| -> Attempt<UnionMap> {
        let mut all = scop.nothing()?;
        for pair in pairs.maps()? {
            let cell = pair.get_space()?.range()?.unwrap()?.get_tuple_name(Dim::Out)?;
            if cell.as_ref() != Some(name) {
                all = all.add_map(pair)?;
                continue;
            }
            let ends = UnionMap::from_map(pair.clone())?.range()?.unwrap()?;
            let place = ends.clone().range_map()?.apply_range(UnionMap::from_map(map.clone())?)?;
            let moved = ends.domain_map()?.range_product(place)?;
            all = all.union(UnionMap::from_map(pair)?.apply_range(moved)?)?;
        }
        Ok(all)
    };
    let mut without_source = scop.nothing()?;
    for read in dependences.without_source.maps()? {
        let own = read.get_tuple_name(Dim::Out)?.as_ref() == Some(name);
        without_source = without_source.add_map(if own { read.apply_range(map.clone())? } else { read })?;
    }
    Ok(Dependences {
        flow: through(&dependences.flow)?,
        anti: through(&dependences.anti)?,
        output: through(&dependences.output)?,
        reduction: through(&dependences.reduction)?,
        without_source,
        strict: dependences.strict,
        exact: dependences.exact,
    })
}

/// Every read of the array finds what it found before it was folded.
fn folded(before: &Subject, new: &Scop, array: ArrayId, map: &Map) -> Attempt<Vec<Claim>> {
    let mut claims = Vec::new();
    for (old, new) in before.scop.statements.iter().zip(&new.statements) {
        for (old, new) in old.reads.iter().zip(&new.reads).filter(|(old, _)| old.array == array) {
            let untouched = inputs(&before.dependences, &old.map)?.unwrap()?;
            claims.push(Claim {
                access: new.map.clone(),
                writers: writers(&before.dependences, &old.map)?,
                inputs: untouched.apply_range(UnionMap::from_map(map.clone())?)?.wrap()?,
            });
        }
    }
    Ok(claims)
}
