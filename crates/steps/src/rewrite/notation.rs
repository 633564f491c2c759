//! Layouts in the notations of the `layout` crate, as places of cells.
//!
//! In: `((4,8),16):((8,1),32)`, `split(j, 8); reorder(jo, i, ji)`, or a coordinate graph, for an array.  Out: a place per cell, and how
//! many there are; or what does not fit, at its place in the script.

use diag::{Diagnostic, Span};
use layout::{Axis, Expr};
use poly::{Scop, storage};
use program::{Affine, ArrayId, Function};

use super::layout::Plan;
use super::{Drafted, Refusal};
use crate::algebra::{lowered, lowered_over, size};

/// What `text`, which stands at `span`, says about an array of a function.
pub(super) fn read(
    function: &Function,
    array: &str,
    extents: &[Affine],
    names: Vec<String>,
    (text, span): (&str, Span),
) -> Drafted<Plan> {
    let mut axes = Vec::new();
    for (name, extent) in names.iter().zip(extents) {
        axes.push(Axis::new(
            name.clone(),
            size(function, extent).ok_or_else(|| unfit(span, "an extent of the array"))?,
        ));
    }
    let rank = axes.len();
    let transform = layout::calculator::storage(text, axes)
        .map_err(|error| Refusal::in_notation(error, span, "E0520", "this is no layout"))?;
    if transform.inputs().len() != rank {
        let has = if rank == 1 { "1 subscript".to_owned() } else { format!("{rank} subscripts") };
        let message = format!("`{array}` has {has}, the layout is for {}", transform.inputs().len());
        return Err(Diagnostic::error("E0520", span, message).into());
    }
    let known = |name: &String| function.params.iter().any(|param| param.name == *name);
    if let Some(unknown) = transform.params().into_iter().find(|name| !known(name)) {
        let message = format!("`{unknown}` is no size of the function");
        return Err(Diagnostic::error("E0520", span, message).into());
    }
    let lower = |expr: &Expr| {
        lowered_over(function, transform.inputs(), expr).ok_or_else(|| match expr.chooses() {
            true => unchosen(span, &expr.display(&names).to_string()),
            false => unfit(span, &expr.display(&names).to_string()),
        })
    };
    let places = transform.index().iter().map(lower).collect::<Drafted<_>>()?;
    let shape = transform.outputs().iter().map(|axis| lower(&axis.extent)).collect::<Drafted<_>>()?;
    let covers = transform.inputs().iter().map(|axis| lowered(function, &axis.extent)).collect();
    let digits = layout::calculator::is_parametric(text);
    Ok(Plan { places, shape: Some(shape), names, covers: Some((covers, span)), digits })
}

fn unfit(span: Span, what: &str) -> Refusal {
    let message = format!("`{what}` is not quasi-affine: only numbers can be multiplied and divided by");
    Diagnostic::error("E0520", span, message).into()
}

fn unchosen(span: Span, what: &str) -> Refusal {
    let message = format!("`{what}` is no single quasi-affine expression");
    let note = "pieces differ by a number, or along indices whose extents are numbers, at most 64 together; so are the indices that choose";
    Diagnostic::error("E0520", span, message).note(note).into()
}

/// Where strides are sizes, places are the digits of an offset, so none may run over into the next: then two cells can meet.
pub(super) fn check_digits(scop: &Scop, array: ArrayId, plan: &Plan, span: Span) -> Drafted<()> {
    let Some(shape) = plan.shape.as_ref().filter(|_| plan.digits) else { return Ok(()) };
    let name = &scop.array(array).name;
    let message = match storage::find_carry(scop, array, &plan.places, shape)? {
        None => return Ok(()),
        Some(storage::Carry::Collision(told)) => {
            format!("the layout of `{name}` puts two cells into one place: {told}")
        }
        Some(storage::Carry::Cell(told)) => {
            format!(
                "the strides of `{name}` are too small for its shape: an index runs over into the next stride at {told}"
            )
        }
    };
    Err(Diagnostic::error("E0520", span, message).into())
}

/// The layout is for as many cells as the array has, at least.
pub(super) fn check_covers(scop: &Scop, array: ArrayId, covers: &[Option<Affine>], span: Span) -> Drafted<()> {
    let declared = scop.array(array);
    for (position, (most, extent)) in covers.iter().zip(&declared.shape).enumerate() {
        let Some(most) = most.as_ref().filter(|most| *most != extent) else { continue };
        let spare = most.sub(extent).ok_or_else(|| unfit(span, "an extent"))?;
        if let Some(sizes) = storage::find_negative(scop, &spare)? {
            let function = &scop.function;
            let (most, extent) = (function.show(most), function.show(extent));
            let message = format!(
                "the layout has {most} cells along subscript {} of `{}`, which has {extent}",
                position + 1,
                declared.name
            );
            let diagnostic = Diagnostic::error("E0520", span, message);
            return Err(match sizes.as_str() {
                "" => diagnostic,
                sizes => diagnostic.note(format!("this happens for {sizes}")),
            }
            .into());
        }
    }
    Ok(())
}
