//! `layout`: the cells of an array live in other places, such as in tiles, in columns, or folded onto a few rows.
//!
//! Before: `… A[i, j] …`.  After: `… A[p(i, j)] …`, for reads and writes alike, in an array as large as the places need. An argument
//! keeps what its callers see: it is packed into a local array for the call, and that one is laid out.
//! Checked in `poly::storage`: no two cells that are needed at once share a place, and all places exist.

use diag::{Diagnostic, Span};
use poly::rewriting::{Draft, prove_rewriting};
use poly::storage::{find_collision, find_outside, place_map, placed, prove_storage};
use poly::{Fault, Laid, Parts, Scop};
use program::{Affine, ArrayId, Atom, Function, IterId, Role, Stored, Subscript};

use super::inline::array_named;
use super::{Before, Drafted, Refusal, array_name, buffer, expr, holes, load, notation, outcome, pack};
use crate::bounds;
use crate::rearrange::{misuse, overflow};
use crate::step::{Step, Storage, Verb, Word};
use crate::{Outcome, State};

/// Where cells go, and how much room there is.
pub(super) struct Plan {
    /// `IterId(n)` is the n-th subscript.
    pub(super) places: Vec<Affine>,
    /// Known from the notation, or left to the places.
    pub(super) shape: Option<Vec<Affine>>,
    pub(super) names: Vec<String>,
    /// How many cells the notation is for, per subscript, and where that is said.
    pub(super) covers: Option<(Vec<Option<Affine>>, Span)>,
    /// Whether the places are the digits of an offset that strides say.
    pub(super) digits: bool,
}

/// What is laid out, and how.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub(super) array: &'a Word,
    pub(super) storage: &'a Storage,
    pub(super) name: Option<&'a Word>,
    /// Whether callers hand it over so.
    pub(super) given: bool,
    /// What is written to places without a cell.
    pub(super) fill: Option<&'a Word>,
}

pub(super) fn lay_out(state: &State, before: Before<'_>, step: &Step, operands: Operands<'_>) -> Drafted<Outcome> {
    let (scop, name) = (before.scop, operands.name);
    let array = array_named(before, operands.array)?;
    let plan = plan(&scop.function, step, (&scop.array(array).name, &scop.array(array).shape), operands.storage)?;
    if let Some((covers, span)) = &plan.covers {
        notation::check_covers(scop, array, covers, *span)?;
        notation::check_digits(scop, array, &plan, *span)?;
    }
    let shape = match &plan.shape {
        Some(shape) => shape.clone(),
        None => room(scop, step, array, &plan.places)?,
    };
    let declared = scop.array(array);
    if declared.role == Role::Local {
        if let Some(name) = name {
            let what = format!("`{}` is local and keeps its name; `as` names the copy of an argument", declared.name);
            return Err(misuse(step, name.span, what).into());
        }
        return filled(moved(state, step, array, &plan, shape)?, array, operands.fill);
    }
    check_places(scop, step, array, (&plan, &shape))?;
    if operands.given {
        if let Some(value) = operands.fill {
            return Err(Diagnostic::error("E0520", value.span, "what callers hand over is filled by them").into());
        }
        return moved(state, step, array, &plan, shape);
    }
    let stored = array_name(scop, step, name, &format!("{}_stored", declared.name))?;
    let draft = Draft::new("layout", scop, before.tree)?;
    let draft = pack::packed(before, step, (pack::Uses::all(array), None, &[]), stored.clone(), draft)?;
    let state = match outcome(prove_rewriting(&state.subject, draft).map_err(Refusal::Failed)?) {
        Outcome::Done(state) => state,
        other => return Ok(other),
    };
    let Some((array, _)) = state.subject.scop.array_named(&stored) else {
        return Err(Fault::bug("a packed array is not there").into());
    };
    filled(moved(&state, step, array, &plan, shape)?, array, operands.fill)
}

/// With its holes filled, if a value is given.
fn filled(moved: Outcome, array: ArrayId, value: Option<&Word>) -> Drafted<Outcome> {
    match (moved, value) {
        (Outcome::Done(state), Some(value)) => holes::fill(&state, array, value),
        (other, _) => Ok(other),
    }
}

/// What a notation says about an array.
fn plan(function: &Function, step: &Step, (array, extents): (&str, &[Affine]), storage: &Storage) -> Drafted<Plan> {
    let rank = extents.len();
    let wrong_rank = |given: usize| -> Refusal {
        let message = format!("`{array}` has {}, the layout is for {given}", pack::subscripts(rank));
        Diagnostic::error("E0520", step.span, message).into()
    };
    match storage {
        Storage::Map { places, .. } if places.inputs().len() != rank => Err(wrong_rank(places.inputs().len())),
        Storage::Map { places, shape } => Ok(Plan {
            places: places.body().clone(),
            shape: shape.clone(),
            names: places.inputs().iter().map(|input| input.text.clone()).collect(),
            covers: None,
            digits: false,
        }),
        Storage::Panels(panels) if panels.len() != rank => Err(wrong_rank(panels.len())),
        Storage::Panels(panels) => {
            let cell: Vec<Affine> = (0..rank).map(|position| Affine::iter(IterId(position as u32))).collect();
            let places = buffer::in_panels(&cell, panels, Affine::div, Affine::rem).ok_or_else(|| overflow(step))?;
            let shape = buffer::panel_shape(extents, panels).ok_or_else(|| overflow(step))?;
            Ok(Plan { places, shape: Some(shape), names: usual_names(rank), covers: None, digits: false })
        }
        Storage::Notation { inputs, .. } if !inputs.is_empty() && inputs.len() != rank => Err(wrong_rank(inputs.len())),
        Storage::Notation { inputs, text, span } => {
            let names = match inputs.as_slice() {
                [] => usual_names(rank),
                inputs => inputs.iter().map(|input| input.text.clone()).collect(),
            };
            notation::read(function, array, extents, names, (text, *span))
        }
    }
}

/// An argument that callers hand over in a layout: which, with how many places, and where its cells are. Callers have to know how many, so
/// that is said, or follows from the notation.
pub(crate) fn stored(function: &Function, step: &Step) -> Drafted<Option<Stored>> {
    let Verb::Layout { array, storage, given: true, .. } = &step.verb else { return Ok(None) };
    let is_argument = |id: &ArrayId| function.array(*id).name == array.text && function.array(*id).role != Role::Local;
    let Some(id) = function.array_ids().find(is_argument) else {
        let message = format!("`{}` is no argument, so nobody hands it over", array.text);
        let help = "`layout` is for arrays of the function, and for arguments that it copies itself";
        return Err(Diagnostic::error("E0520", array.span, message).help(help).into());
    };
    let declared = function.array(id);
    let plan = plan(function, step, (&declared.name, &declared.shape), storage)?;
    let Some(shape) = plan.shape else {
        let message = format!("how much room callers give `{}` is not said", array.text);
        let help = "give the extents: `stored A[i, j] => [j, i] in [M, N]`";
        return Err(Diagnostic::error("E0520", step.span, message).help(help).into());
    };
    Ok(Some(Stored { array: id, shape, places: plan.places }))
}

fn usual_names(rank: usize) -> Vec<String> {
    (0..rank)
        .map(|position| ["i", "j", "k", "l"].get(position).map_or(format!("i{position}"), |name| (*name).into()))
        .collect()
}

/// How many places there are per dimension, so that every cell that is declared has one.
fn room(scop: &Scop, step: &Step, array: ArrayId, places: &[Affine]) -> Drafted<Vec<Affine>> {
    let cells = scop.cells(array)?;
    let used = place_map(scop, array, places)?.intersect_domain(cells)?.range()?;
    let mut shape = Vec::new();
    for (position, place) in places.iter().enumerate() {
        if is_past_64_bits(place, &scop.array(array).shape) {
            let message = format!("the places of `{}` do not fit 64 bits", scop.array(array).name);
            return Err(Diagnostic::error("E0520", step.span, message).into());
        }
        let Some(last) = bounds::last_place(scop, &used, (position, place), &scop.array(array).shape)? else {
            let message =
                format!("how many places dimension {} of the layout has is no single expression", position + 1);
            let help = "give the extents: `layout A[i] => [i] in [N + 1]`";
            return Err(Diagnostic::error("E0518", step.span, message).help(help).into());
        };
        let extent = last.add(&Affine::constant(1)).and_then(tidy);
        shape.push(extent.ok_or_else(|| overflow(step))?);
    }
    Ok(shape)
}

/// Whether a cell of an array whose extents are numbers has a place that no number of 64 bits is.
fn is_past_64_bits(place: &Affine, extents: &[Affine]) -> bool {
    let lasts: Option<Vec<i64>> = extents.iter().map(|extent| extent.as_constant()?.checked_sub(1)).collect();
    lasts.is_some_and(|lasts| {
        let last = |iter: IterId| lasts.get(iter.index()).copied().unwrap_or(0);
        place.eval(&|_| 0, &last).and_then(|place| place.checked_add(1)).is_none()
    })
}

/// `(N - 1) / 4 + 1` is `(N + 3) / 4`.
fn tidy(extent: Affine) -> Option<Affine> {
    match extent.terms.first_key_value() {
        Some((Atom::Div(numerator, divisor), 1)) if extent.terms.len() == 1 => {
            numerator.add(&Affine::constant(extent.constant.checked_mul(*divisor)?))?.div(*divisor)
        }
        _ => Some(extent),
    }
}

/// All cells of an argument are kept, so each has a place, and no two of them share one.
fn check_places(scop: &Scop, step: &Step, array: ArrayId, (plan, shape): (&Plan, &[Affine])) -> Drafted<()> {
    let cells = scop.cells(array)?.intersect_params(scop.context.clone())?;
    let map = place_map(scop, array, &plan.places)?.intersect_domain(cells)?;
    if map.is_injective()? {
        let mut laid = scop.clone();
        relabel(&mut laid, array, plan, shape.to_vec());
        return match find_outside(scop, &laid, (array, &plan.places), &map, step.span)? {
            Some(diagnostic) => Err((*diagnostic).into()),
            None => Ok(()),
        };
    }
    let Some(told) = find_collision(scop, array, &map)? else {
        return Err(Fault::bug("a map that is not injective without two cells").into());
    };
    let message = format!("the layout of `{}` puts two cells into one place: {told}", scop.array(array).name);
    let help = "an argument keeps all of its cells; only a local array can be folded";
    Err(Diagnostic::error("E0520", step.span, message).help(help).into())
}

/// The program with the accesses to a local array moved, proven.
fn moved(state: &State, step: &Step, array: ArrayId, plan: &Plan, shape: Vec<Affine>) -> Drafted<Outcome> {
    let scop = &state.subject.scop;
    let mut draft = Draft::new("layout", scop, &state.tree)?;
    relabel(&mut draft.scop, array, plan, shape);
    for (position, statement) in scop.statements.iter().enumerate() {
        let uses = statement.write.array == array || statement.reads.iter().any(|read| read.array == array);
        if !uses {
            continue;
        }
        for access in std::iter::once(&statement.write).chain(&statement.reads) {
            if access.array == array && !access.is_exact() {
                let message = format!(
                    "which cell of `{}` is used in `{}` depends on data",
                    scop.array(array).name,
                    statement.name
                );
                let diagnostic = Diagnostic::error("E0516", step.span, message).label(access.span, "here");
                let note = "such a cell is looked for, and checked, by the subscripts of the program";
                return Err(diagnostic.note(note).into());
            }
        }
        let mut parts = Parts::of(statement);
        if parts.target.0 == array {
            parts.target.1 = placed(&plan.places, &parts.target.1).ok_or_else(|| overflow(step))?;
        }
        let value = expr::with_loads(&statement.value, &|whole, read, index| {
            if read != array {
                return None;
            }
            let index: Vec<Subscript> = index.iter().cloned().map(Subscript::Affine).collect();
            Some(load(array, Subscript::all_affine(&placed(&plan.places, &index)?)?, whole))
        });
        parts.value = value.ok_or_else(|| overflow(step))?;
        draft.replace(position, parts)?;
    }
    let proven = prove_storage(&state.subject, &state.tree, draft, (array, &plan.places), step.span);
    Ok(outcome(proven.map_err(Refusal::Failed)?))
}

/// The array with its new shape, and how it came to it.
fn relabel(scop: &mut Scop, array: ArrayId, plan: &Plan, shape: Vec<Affine>) {
    let declared = &mut scop.arrays[array.index()];
    let laid = match &declared.laid {
        // A layout of a layout goes through both.
        Some(laid) => {
            let through = |place: &Affine| place.substitute(&|input| laid.places.get(input.index()).cloned());
            let places = plan.places.iter().map(through).collect::<Option<Vec<_>>>().unwrap_or_default();
            Laid { shape: laid.shape.clone(), places, names: laid.names.clone(), fill: None }
        }
        None => {
            Laid { shape: declared.shape.clone(), places: plan.places.clone(), names: plan.names.clone(), fill: None }
        }
    };
    (declared.laid, declared.shape, declared.first_at_most, declared.expanded) = (Some(laid), shape, None, 0);
}
