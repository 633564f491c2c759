//! Layouts in the notations of the `layout` crate, as places of cells.
//!
//! In: `((4,8),16):((8,1),32)`, `split(j, 8); reorder(jo, i, ji)`, or a coordinate graph, for an array.  Out: a place per cell, and how
//! many there are; or what does not fit, at its place in the script.

use diag::{Diagnostic, Span};
use layout::{Axis, Expr, Transform};
use poly::{Scop, storage};
use program::{Affine, ArrayId, Atom, IterId, ParamId};

use super::layout::Plan;
use super::{Drafted, Refusal};
use crate::xor;

/// What `text`, which stands at `span`, says about the array.
pub(super) fn read(scop: &Scop, array: ArrayId, names: Vec<String>, text: &str, span: Span) -> Drafted<Plan> {
    let declared = scop.array(array);
    let mut axes = Vec::new();
    for (name, extent) in names.iter().zip(&declared.shape) {
        axes.push(Axis::new(name.clone(), size(scop, extent).ok_or_else(|| unfit(span, "an extent of the array"))?));
    }
    let rank = axes.len();
    let transform = layout::calculator::storage(text, axes).map_err(|error| moved(error, span))?;
    if transform.inputs().len() != rank {
        let has = if rank == 1 { "1 subscript".to_owned() } else { format!("{rank} subscripts") };
        let message = format!("`{}` has {has}, the layout is for {}", declared.name, transform.inputs().len());
        return Err(Diagnostic::error("E0520", span, message).into());
    }
    check_inputs(scop, array, &transform, span)?;
    let lower = |expr: &Expr| lowered(scop, expr).ok_or_else(|| unfit(span, &expr.display(&names).to_string()));
    let places = transform.index().iter().map(lower).collect::<Drafted<_>>()?;
    let shape = transform.outputs().iter().map(|axis| lower(&axis.extent)).collect::<Drafted<_>>()?;
    Ok(Plan { places, shape: Some(shape), names })
}

/// An error in the notation, at its place in the script.
fn moved(error: diag::Error, span: Span) -> Refusal {
    match error {
        diag::Error::User(diagnostics) => {
            let told = diagnostics.into_iter().next();
            let (at, message) = told.map_or((Span::default(), String::new()), |told| (told.span(), told.message));
            let within = Span::new((span.start + at.start) as usize, (span.start + at.end) as usize);
            let at = if within.end <= span.end && within.start < within.end { within } else { span };
            Diagnostic::error("E0520", at, format!("this is no layout: {message}")).into()
        }
        error => Refusal::Failed(error),
    }
}

fn unfit(span: Span, what: &str) -> Refusal {
    let message = format!("`{what}` is not quasi-affine: only numbers can be multiplied and divided by");
    Diagnostic::error("E0520", span, message).into()
}

/// The layout is for as many cells as the array has, at least.
fn check_inputs(scop: &Scop, array: ArrayId, transform: &Transform, span: Span) -> Drafted<()> {
    let declared = scop.array(array);
    for (position, (axis, extent)) in transform.inputs().iter().zip(&declared.shape).enumerate() {
        let Some(most) = lowered(scop, &axis.extent) else { continue };
        if most == *extent {
            continue;
        }
        let spare = most.sub(extent).ok_or_else(|| unfit(span, "an extent"))?;
        if let Some(sizes) = storage::find_negative(scop, &spare)? {
            let function = &scop.function;
            let (most, extent) = (function.show(&most), function.show(extent));
            let message = format!(
                "the layout has {most} cells along subscript {} of `{}`, which has {extent}",
                position + 1,
                declared.name
            );
            let diagnostic = Diagnostic::error("E0520", span, message);
            return Err(if sizes.is_empty() {
                diagnostic
            } else {
                diagnostic.note(format!("this happens for {sizes}"))
            }
            .into());
        }
    }
    Ok(())
}

/// An extent as `layout` writes it.
fn size(scop: &Scop, affine: &Affine) -> Option<Expr> {
    let mut sum = Expr::Const(0);
    for (atom, coefficient) in &affine.terms {
        let value = match atom {
            Atom::Param(id) => Expr::param(scop.function.params[id.index()].name.clone()),
            Atom::Div(numerator, divisor) => size(scop, numerator)?.div(Expr::Const(*divisor)),
            Atom::Iter(_) => return None,
        };
        sum = sum.add(value.times(*coefficient));
    }
    Some(sum.add(Expr::Const(affine.constant)))
}

/// An expression of `layout` as an affine one, if it is; inputs are subscripts.
fn lowered(scop: &Scop, expr: &Expr) -> Option<Affine> {
    let go = |expr: &Expr| lowered(scop, expr);
    match expr {
        Expr::Const(value) => Some(Affine::constant(*value)),
        Expr::Input(position) => Some(Affine::iter(IterId(u32::try_from(*position).ok()?))),
        Expr::Param(name) => {
            let position = scop.function.params.iter().position(|param| param.name == *name)?;
            Some(Affine::param(ParamId(position as u32)))
        }
        Expr::Add(a, b) => go(a)?.add(&go(b)?),
        Expr::Mul(a, b) => {
            let (a, b) = (go(a)?, go(b)?);
            match (a.as_constant(), b.as_constant()) {
                (_, Some(factor)) => a.scale(factor),
                (Some(factor), _) => b.scale(factor),
                (None, None) => None,
            }
        }
        Expr::Div(a, b) => go(a)?.div(go(b)?.as_constant().filter(|divisor| *divisor > 0)?),
        Expr::Mod(a, b) => go(a)?.rem(go(b)?.as_constant().filter(|divisor| *divisor > 0)?),
        Expr::Xor { a, b, bits } => {
            let (low, high) = needed_bits(b).unwrap_or((0, *bits));
            let (a, b) = (go(a)?, go(b)?);
            let power = 1i64.checked_shl(low)?;
            // Only the bits that the right side can set are looked at.
            let changed = xor::exclusive(&a.div(power)?, &b.div(power)?, high.min(*bits).checked_sub(low)?)?;
            changed.scale(power)?.add(&a.rem(power)?)
        }
        Expr::Select { .. } => None,
    }
}

/// From which bit on, and below which, an expression can have bits; `None` if its form does not tell.
fn needed_bits(expr: &Expr) -> Option<(u32, u32)> {
    let power = |value: i64| (value > 0 && value & (value - 1) == 0).then(|| value.trailing_zeros());
    match expr {
        Expr::Mod(_, b) => Some((0, power(b.constant()?)?)),
        Expr::Mul(a, b) => {
            let by = power(b.constant()?)?;
            let (low, high) = needed_bits(a)?;
            Some((low + by, high + by))
        }
        _ => None,
    }
}
