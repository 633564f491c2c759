//! Layouts as text: where the cells of each array live, how large that is, and what is left over.
//!
//! In: a program, after all steps.  Out: a paragraph per array.
//! Not here: which layouts are legal (`prove::storage`).

use std::time::Duration;

use isl::{Budget, Set};
use program::{Affine, Atom, Function, Iter, Role};

use crate::fault::{Attempt, Fault};
use crate::prove::storage::cell_places;
use crate::scop::{Laid, Scop, ScopArray};
use crate::witness::{Sample, show_params, smallest};

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

/// A remainder as one.
fn show_place(function: &Function, place: &Affine) -> String {
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
