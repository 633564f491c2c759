//! Sizes: the parameters of a call, given or inferred from the shapes of its arrays.

use program::{Affine, Atom, Function, ParamId};

use crate::CallError;

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
        let position = function.params.iter().position(|param| param.name == *name).ok_or_else(|| {
            let known = function.params.iter().map(|param| param.name.clone()).collect();
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
        let inferred = dimensions.iter().find_map(|dimension| infer(dimension, &values));
        let Some((param, value)) = inferred else { break };
        values[param.index()] = Some(value);
    }
    let missing = function.params.iter().zip(&values).find(|(_, value)| value.is_none());
    if let Some((param, _)) = missing {
        return Err(CallError::MissingSize { name: param.name.clone() });
    }
    let values: Vec<i64> = values.into_iter().flatten().collect();
    check(function, &values, dimensions)?;
    Ok(values)
}

/// The value that a dimension forces on the one parameter in it that is unknown.
fn infer(dimension: &Dimension<'_>, values: &[Option<i64>]) -> Option<(ParamId, i64)> {
    let mut rest = dimension.length.checked_sub(dimension.extent.constant)?;
    let mut unknown: Option<(ParamId, i64)> = None;
    for (atom, coefficient) in &dimension.extent.terms {
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
            return Err(CallError::Requirement { condition: requirement.text.clone(), sizes: show(function, values) });
        }
    }
    Ok(())
}

/// `N = 4, M = 0`
pub(crate) fn show(function: &Function, values: &[i64]) -> String {
    let pairs = function.params.iter().zip(values).map(|(param, value)| format!("{} = {value}", param.name));
    pairs.collect::<Vec<_>>().join(", ")
}

/// The extents of an array for given parameters.
pub(crate) fn shape(function: &Function, array: &program::Array, values: &[i64]) -> Result<Vec<usize>, CallError> {
    let param = |id: ParamId| values[id.index()];
    let extents = array.shape.iter().map(|extent| {
        let value = extent.eval(&param, &|_| 0).and_then(|value| usize::try_from(value).ok());
        value.ok_or_else(|| CallError::TooLarge { array: array.name.clone(), extent: function.show(extent) })
    });
    extents.collect()
}
