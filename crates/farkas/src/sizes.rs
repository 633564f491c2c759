//! Sizes: the parameters of a call, given or inferred from the shapes of its arrays.

use diag::Span;
use program::{Affine, ArrayId, Atom, Derived, DerivedOp, Function, ParamId};
use syntax::script;

use crate::signature::written;
use crate::{CallError, Schedule};

/// An equation `extent = length` that an array argument contributes.
pub(crate) struct Dimension<'a> {
    pub(crate) array: &'a str,
    pub(crate) position: usize,
    pub(crate) extent: &'a Affine,
    pub(crate) length: i64,
}

/// Solves for all parameters, then checks every dimension and the `where` conditions.
pub(crate) fn solve(
    function: &Function,
    given: &[(String, i64)],
    dimensions: &[Dimension<'_>],
) -> Result<Vec<i64>, CallError> {
    let mut values: Vec<Option<i64>> = vec![None; function.params.len()];
    for (name, value) in given {
        let is_named = |param: &program::Param| param.derived.is_none() && param.name == *name;
        let position = function.params.iter().position(is_named).ok_or_else(|| {
            let known = written(function).map(|param| param.name.clone()).collect();
            CallError::UnknownSize { name: name.clone(), known }
        })?;
        if *value < 0 {
            return Err(CallError::NegativeSize { name: name.clone(), value: *value });
        }
        if values[position].is_some_and(|known| known != *value) {
            return Err(CallError::SizeGivenTwice { name: name.clone() });
        }
        values[position] = Some(*value);
    }
    // Each round solves the equations with one unknown left, until a round finds none.
    loop {
        let inferred = dimensions.iter().find_map(|dimension| infer(dimension.extent, dimension.length, &values));
        let inferred = inferred.or_else(|| {
            let mut params = function.params.iter().zip(&values);
            params.find_map(|(param, value)| infer_factor(param.derived.as_ref()?, (*value)?, &values))
        });
        let Some((param, value)) = inferred else { break };
        values[param.index()] = Some(value);
    }
    // What a shape says about a derived size is checked with that shape.
    for position in 0..values.len() {
        let Some(derived) = &function.params[position].derived else { continue };
        if values.iter().zip(&function.params).all(|(value, param)| value.is_some() || param.derived.is_some()) {
            let known: Vec<i64> = values.iter().map(|value| value.unwrap_or(0)).collect();
            let value = derived.eval(&|id| known[id.index()]).map_err(|why| CallError::Derived {
                size: function.show_param(ParamId(position as u32)),
                why,
                sizes: show(function, &known),
                computed: derived.show_computed(&|id| known[id.index()]),
                span: function.params[position].span,
            })?;
            values[position] = Some(value);
        }
    }
    let missing = function.params.iter().zip(&values).find(|(param, value)| value.is_none() && param.derived.is_none());
    if let Some((param, _)) = missing {
        return Err(CallError::MissingSize { name: param.name.clone() });
    }
    let values: Vec<i64> = values.into_iter().flatten().collect();
    check(function, &values, dimensions)?;
    Ok(values)
}

/// The factor that is left of a product, one of which is known.
fn infer_factor(derived: &Derived, product: i64, values: &[Option<i64>]) -> Option<(ParamId, i64)> {
    let sides = [(&derived.lhs, &derived.rhs), (&derived.rhs, &derived.lhs)];
    sides.into_iter().filter(|_| derived.op == DerivedOp::Product).find_map(|(known, other)| {
        let unknown = std::cell::Cell::new(false);
        let param = |id: ParamId| {
            values[id.index()].unwrap_or_else(|| {
                unknown.set(true);
                0
            })
        };
        let value = known.eval(&param, &|_| 0)?;
        if unknown.get() || value == 0 { None } else { infer(other, product / value, values) }
    })
}

/// The value that an equation `extent = length` forces on the one parameter in it that is unknown.
fn infer(extent: &Affine, length: i64, values: &[Option<i64>]) -> Option<(ParamId, i64)> {
    let mut rest = length.checked_sub(extent.constant)?;
    let mut unknown: Option<(ParamId, i64)> = None;
    for (atom, coefficient) in &extent.terms {
        let Atom::Param(param) = atom else { return None };
        match values[param.index()] {
            Some(value) => rest = rest.checked_sub(value.checked_mul(*coefficient)?)?,
            None if unknown.is_some() => return None,
            None => unknown = Some((*param, *coefficient)),
        }
    }
    let (param, coefficient) = unknown?;
    // A remainder or a negative value is reported by the check of this dimension.
    Some((param, rest.checked_div(coefficient)?.max(0)))
}

fn check(function: &Function, values: &[i64], dimensions: &[Dimension<'_>]) -> Result<(), CallError> {
    let param = |id: ParamId| values[id.index()];
    for dimension in dimensions {
        if dimension.extent.eval(&param, &|_| 0) != Some(dimension.length) {
            return Err(CallError::Extent {
                array: dimension.array.to_string(),
                dimension: dimension.position + 1,
                length: dimension.length,
                extent: function.show(dimension.extent),
                sizes: show(function, values),
            });
        }
    }
    for requirement in &function.context {
        if requirement.cond.eval(&param, &|_| 0) != Some(true) {
            let (condition, span) = (requirement.text.clone(), requirement.span);
            return Err(CallError::Requirement { condition, sizes: show(function, values), span });
        }
    }
    Ok(())
}

/// Whether index arithmetic stays within 64 bits.
pub(crate) fn check_index_arithmetic(
    function: &Function,
    schedule: Option<&Schedule>,
    kernel: &loops::Verified,
    values: &[i64],
) -> Result<(), CallError> {
    if kernel.index_arithmetic_fits(values) {
        return Ok(());
    }
    let mut places = kernel.arrays.iter().filter(|array| !loops::extents_fit(array, values));
    let laid_out = places.find_map(|array| too_wide(function, schedule, &array.name, values));
    Err(laid_out.unwrap_or_else(|| CallError::IndexOverflow { sizes: show(function, values) }))
}

/// What code says about an array that is too large, at the layout that makes it so.
pub(crate) fn too_large(
    function: &Function,
    schedule: Option<&Schedule>,
    values: &[i64],
    error: cpu::CallError,
) -> CallError {
    let laid_out = match &error {
        cpu::CallError::TooLarge { name } => too_wide(function, schedule, name, values),
        _ => None,
    };
    laid_out.unwrap_or_else(|| error.into())
}

/// That an array has too many places, if a layout gives them to it. Those of a schedule come last, and so decide.
fn too_wide(function: &Function, schedule: Option<&Schedule>, array: &str, values: &[i64]) -> Option<CallError> {
    // A schedule that cannot be read any more was never followed.
    let scheduled = schedule.and_then(|schedule| {
        let lines = schedule.lines(function, values).ok()??;
        Some((layout_among(&lines, array)?, Some(Box::new(schedule.text().clone()))))
    });
    let (span, schedule) = scheduled.or_else(|| Some((layout_among(&function.layouts, array)?, None)))?;
    Some(CallError::Layout { array: array.to_owned(), sizes: show(function, values), span, schedule })
}

/// The last of the lines that lays an array out, or that copies one into it.
fn layout_among(lines: &[script::Step], array: &str) -> Option<Span> {
    let mut layouts = lines.iter().rev().filter(|line| matches!(line.verb.name.as_str(), "layout" | "stored"));
    let line = layouts.find(|line| {
        let of = line.targets.first().map_or("", |target| target.name.name.as_str());
        let copy = line.names.first().map_or(format!("{of}_stored"), |name| name.name.clone());
        array == of || array == copy
    });
    line.map(|line| line.span)
}

/// `N = 4, M = 0`
pub(crate) fn show(function: &Function, values: &[i64]) -> String {
    let pairs = function.params.iter().zip(values).filter(|(param, _)| param.derived.is_none());
    let pairs = pairs.map(|(param, value)| format!("{} = {value}", param.name));
    pairs.collect::<Vec<_>>().join(", ")
}

/// The extents of an array, as callers see it, for given parameters.
pub(crate) fn shape(function: &Function, array: ArrayId, values: &[i64]) -> Result<Vec<usize>, CallError> {
    let param = |id: ParamId| values[id.index()];
    let name = &function.array(array).name;
    let span = layout_among(&function.layouts, name).unwrap_or(function.array(array).span);
    let extents = function.outside_shape(array).iter().map(|extent| {
        let value = extent.eval(&param, &|_| 0).and_then(|value| usize::try_from(value).ok());
        value.ok_or_else(|| CallError::TooLarge { array: name.clone(), extent: function.show(extent), span })
    });
    extents.collect()
}
