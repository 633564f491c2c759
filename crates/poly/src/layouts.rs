//! Layouts as text: where the cells of each array live, how large that is, and what is left over.
//!
//! In: a program, after all steps.  Out: a paragraph per array, and the offsets of its cells as a table.
//! Not here: which layouts are legal (`prove::storage`).

use std::time::Duration;

use isl::{Budget, Set};
use loops::{Index, VarId, gather_bits};
use program::{Affine, Atom, Function, Iter, IterId, ParamId, Role};

use crate::fault::{Attempt, Fault};
use crate::prove::storage::{cell_places, cells_of, is_possible, offset};
use crate::scop::{Laid, Scop, ScopArray};
use crate::witness::{Sample, evaluate, show_params, smallest};

/// How long it may take to find what a layout leaves over, which is only told.
const LEFT_OVER: Budget = Budget { time: Some(Duration::from_secs(1)), operations: Some(600_000), memory: None };

/// What is known about the storage of every array.
pub fn show_layouts(scop: &Scop) -> diag::Result<String> {
    let mut text = format!("layouts {}\n", scop.function.name);
    for array in &scop.arrays {
        let told = show_array(scop, array).map_err(|fault| fault.of_function("layouts", &scop.function))?;
        text.push_str(&told);
    }
    Ok(text)
}

/// Where the cells of an array are, from the beginning of its allocation on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// The array.
    pub array: String,
    /// The sizes that this is for, told; empty if there are none.
    pub sizes: String,
    /// How many cells a row has: the first subscript runs down, all others run right.
    pub columns: usize,
    /// Row by row; no number where too many cells would have to be told.
    pub cells: Option<Vec<i64>>,
}

/// More cells than this are not told.
const MOST_CELLS: i64 = 1024;

/// The offsets of the arrays that are laid out, at these sizes, or at some small ones that are possible.
pub fn offsets(scop: &Scop, sizes: Option<&[i64]>) -> diag::Result<Vec<Offsets>> {
    let find = || -> Attempt<Vec<Offsets>> {
        let params = match sizes {
            Some(sizes) => sizes.to_vec(),
            None => small_sizes(scop)?,
        };
        let mut all = Vec::new();
        for array in &scop.arrays {
            let Some(laid) = &array.laid else { continue };
            let sizes = show_params(&scop.function, &params);
            let (columns, cells) = match array_offsets(&laid.shape, &laid.places, &array.shape, &params) {
                Some((columns, cells)) => (columns, Some(cells)),
                None => (1, None),
            };
            all.push(Offsets { array: array.name.clone(), sizes, columns, cells });
        }
        Ok(all)
    };
    find().map_err(|fault| fault.of_function("layouts", &scop.function))
}

/// 8 for each size if that is possible, and else what is.
fn small_sizes(scop: &Scop) -> Attempt<Vec<i64>> {
    const USUAL: i64 = 8;
    let usual = vec![USUAL; scop.function.params.len()];
    if is_possible(scop, &usual)? {
        return Ok(usual);
    }
    let sample = smallest(Set::universe(scop.params.tuple(None, &[])?)?, &scop.context)?;
    Ok(sample.map_or(usual, |sample| sample.params))
}

/// `None` if there are too many, or a number does not fit.
fn array_offsets(declared: &[Affine], places: &[Affine], room: &[Affine], params: &[i64]) -> Option<(usize, Vec<i64>)> {
    let extents = evaluate(declared, params, &[], &[])?;
    let count = extents.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent))?;
    if !(1..=MOST_CELLS).contains(&count) {
        return (count == 0).then(|| (1, Vec::new()));
    }
    let rows = if extents.len() < 2 { 1 } else { extents[0] };
    let cells = cells_of(&extents, i64::MAX).map(|cell| offset(places, room, params, &cell));
    Some((usize::try_from(count / rows).ok()?, cells.collect::<Option<_>>()?))
}

fn show_array(scop: &Scop, array: &ScopArray) -> Attempt<String> {
    let function = &scop.function;
    let role = if array.role == Role::Local { String::new() } else { format!("{} ", array.role.name()) };
    let declared = array.laid.as_ref().map_or(&array.shape, |laid| &laid.shape);
    let head = format!("\n{}: {role}{}[{}]\n", array.name, array.ty, function.show_list(declared));
    let Some(laid) = &array.laid else { return Ok(format!("{head}    row by row\n")) };
    let names = lent(function, &laid.names);
    let places: Vec<String> = laid.places.iter().map(|place| show_place(&names, place)).collect();
    let map = format!("    [{}] => [{}]\n", laid.names.join(", "), places.join(", "));
    let size = format!("    allocation [{}]\n", function.show_list(&array.shape));
    Ok(format!("{head}{map}{size}    {}\n", left_over_in_time(scop, array, laid)?))
}

/// A remainder as one, and an exclusive or.
fn show_place(function: &Function, place: &Affine) -> String {
    let own = |id: ParamId| Some(Index::Param(id));
    let tree = Index::of_affine(place, &own, &|iter| Some(Index::Var(VarId(iter.0))));
    if let Some(gathered) = tree.map(|tree| gather_bits(&tree))
        && let Some(text) = show_bits(function, &gathered)
    {
        return text;
    }
    let remainder = place.terms.keys().find_map(|atom| match atom {
        Atom::Div(numerator, divisor) if numerator.rem(*divisor).as_ref() == Some(place) => Some((numerator, divisor)),
        _ => None,
    });
    match remainder {
        Some((numerator, divisor)) if numerator.as_iter().is_some() => {
            format!("{} % {divisor}", function.show(numerator))
        }
        Some((numerator, divisor)) => format!("({}) % {divisor}", function.show(numerator)),
        None => function.show(place),
    }
}

/// A place with exclusive ors; `None` for one without.
fn show_bits(function: &Function, index: &Index) -> Option<String> {
    let mut found = false;
    let text = show_index(function, index, &mut found)?;
    found.then_some(text)
}

/// An index in the names of a function, in parentheses inside of anything but a sum.
fn show_index(function: &Function, index: &Index, found: &mut bool) -> Option<String> {
    let mut operand = |index: &Index| {
        let text = show_index(function, index, found)?;
        let is_atom = matches!(index, Index::Const(_) | Index::Param(_) | Index::Var(_));
        Some(if is_atom { text } else { format!("({text})") })
    };
    Some(match index {
        Index::Const(value) => value.to_string(),
        Index::Param(id) => function.show(&Affine::param(*id)),
        Index::Var(var) => function.show(&Affine::iter(IterId(var.0))),
        Index::Add(a, b) => format!("{} + {}", show_index(function, a, found)?, show_index(function, b, found)?),
        Index::Sub(a, b) => {
            let a = show_index(function, a, found)?;
            format!("{a} - {}", show_index(function, b, found)?)
        }
        Index::Mul(a, factor) => format!("{factor}*{}", operand(a)?),
        Index::FloorDiv(a, divisor) => format!("{} / {divisor}", operand(a)?),
        Index::Mod(a, divisor) => format!("{} % {divisor}", operand(a)?),
        Index::Xor(a, b) => {
            let text = format!("{} ^ {}", operand(a)?, operand(b)?);
            *found = true;
            text
        }
        Index::Min(..) | Index::Max(..) | Index::Select(..) => return None,
    })
}

/// A function whose iterators are the subscripts of an array, to show places with.
fn lent(function: &Function, names: &[String]) -> Function {
    let iter = |name: &String| Iter { name: name.clone(), span: function.span, made_up: true };
    Function { iters: names.iter().map(iter).collect(), ..function.clone() }
}

fn left_over_in_time(scop: &Scop, array: &ScopArray, laid: &Laid) -> Attempt<String> {
    let told = scop.params.ctx().with_budget(LEFT_OVER, || Ok(left_over(scop, array, laid)));
    match told.map_err(Fault::from).and_then(|told| told) {
        Err(Fault::Isl(isl::Error::Budget { .. })) => Ok("whether there are holes takes too long to find out".into()),
        told => told,
    }
}

/// Cells that share places, and places without a cell.
fn left_over(scop: &Scop, array: &ScopArray, laid: &Laid) -> Attempt<String> {
    let Some((id, _)) = scop.array_named(&array.name) else { return Ok(String::new()) };
    let map = cell_places(scop, id)?;
    let folded = if map.is_injective()? { "every cell has its own place" } else { "cells share places" };
    let room: Set = scop.cells(id)?.intersect_params(scop.context.clone())?;
    let holes = room.subtract(map.range()?)?;
    let Some(Sample { params, point }) = smallest(holes, &scop.context)? else {
        return Ok(format!("{folded}; no holes"));
    };
    let hole: Vec<String> = point.iter().map(i64::to_string).collect();
    let sizes = show_params(&scop.function, &params);
    let sizes = if sizes.is_empty() { String::new() } else { format!(" for {sizes}") };
    let filled = laid.fill.map_or(String::new(), |value| format!(", filled with {value}"));
    Ok(format!("{folded}; holes, such as [{}]{sizes}{filled}", hole.join(", ")))
}
