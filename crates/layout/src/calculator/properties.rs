//! Questions that can be asked of everything that is a map: layouts, swizzles, morphisms, matrices, schedules.

use diag::Span;

use super::Located;
use super::script::{Argument, Value};
use crate::error::{Error, Result};
use crate::transform::{Region, Solver, Transform};

/// The functions that [`ask`] answers.
pub(super) const NAMES: &[&str] = &["injective", "surjective", "bijective", "image", "holes", "inverse", "equivalent"];

/// The map of a value, for printing: a layout is a function of its coordinates.
pub(super) fn coordinate_transform(value: &Value) -> Option<Result<Transform>> {
    Some(match value {
        Value::Layout(layout) => layout.to_coordinate_transform(),
        Value::Composed(composed) => composed.to_transform(),
        Value::Swizzle(swizzle) => swizzle.to_transform(0),
        Value::Morphism(morphism) => morphism.to_transform(),
        Value::Linear(matrix) => matrix.to_transform(),
        Value::Schedule(schedule) => schedule.roots_of_loops(),
        Value::Transform(transform) => Ok(transform.clone()),
        _ => return None,
    })
}

/// The map of a value, for questions: a layout is a function of one index, so that other groupings of its modes compare.
pub(super) fn linear_transform(argument: &Argument) -> Located<Transform> {
    let transform = match &argument.value {
        Value::Layout(_) | Value::Tuple(_) => argument.layout()?.to_transform(),
        value => match coordinate_transform(value) {
            Some(transform) => transform,
            None => return argument.wrong("a layout, swizzle, morphism, matrix or schedule"),
        },
    };
    transform.map_err(|error| (argument.span, error))
}

/// The points of a set, counted if that is soon done.
pub(super) fn counted(solver: &Solver, set: &Region, what: &str) -> String {
    match solver.count(set) {
        Ok(Some(count)) => format!("{count} {what}: {set}"),
        _ => format!("{what}: {set}"),
    }
}

pub(super) fn ask(name: &str, span: Span, arguments: &[Argument], solver: &Solver) -> Located<Option<Value>> {
    let at = |error: Error| (span, error);
    let answer = match (name, arguments) {
        ("equivalent", [a, b]) => {
            solver.equivalent(&linear_transform(a)?, &linear_transform(b)?).map_err(at)?.to_string()
        }
        ("inverse", [Argument { value: Value::Linear(matrix), .. }]) => {
            return Ok(Some(Value::Linear(matrix.inverse().map_err(at)?)));
        }
        // A layout's inverse is a layout where its strides divide one another.
        ("inverse", [Argument { value: Value::Layout(layout), .. }]) if layout.left_inverse().is_ok() => {
            return Ok(layout.left_inverse().ok().map(Value::Layout));
        }
        ("inverse", [a]) => {
            return Ok(Some(Value::Transform(solver.invert(&linear_transform(a)?).map_err(at)?)));
        }
        ("equivalent", _) => return Ok(None),
        (_, [a]) => describe(solver, name, &linear_transform(a)?).map_err(at)?,
        _ => return Ok(None),
    };
    Ok(Some(Value::Text(answer)))
}

/// The answer to a question about one map.
pub(super) fn describe(solver: &Solver, question: &str, transform: &Transform) -> Result<String> {
    Ok(match question {
        "injective" => solver.injective(transform)?.to_string(),
        "surjective" => solver.surjective(transform)?.to_string(),
        "bijective" => solver.bijective(transform)?.to_string(),
        "image" => counted(solver, &solver.image(transform)?, "points"),
        _ => counted(solver, &solver.holes(transform)?, "holes"),
    })
}
