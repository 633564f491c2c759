//! Witnesses: the smallest point of a set, as numbers in the user's names.

use isl::{Aff, Dim, Point, Set, Val};
use program::{Affine, Cond, Function, IterId, ParamId};

use crate::fault::{Attempt, Fault};

/// Values of the parameters, and of the set's dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// In the order of the function's.
    pub params: Vec<i64>,
    /// One value per dimension.
    pub point: Vec<i64>,
}

/// The point with the smallest sum of parameters, then the smallest parameters, then the smallest coordinates, among
/// those for possible parameter values.
pub(crate) fn smallest(set: Set, context: &Set) -> Attempt<Option<Sample>> {
    let set = set.intersect_params(context.clone())?;
    if set.is_empty()? {
        return Ok(None);
    }
    let params = set.dim(Dim::Param)?;
    let dims = set.dim(Dim::Set)?;
    let set = set.insert_dims(Dim::Set, 0, 1)?;
    let space = set.get_space()?;
    let mut sum = Aff::zero_on_domain_space(space.clone())?.add_coefficient_si(Dim::In, 0, -1)?;
    for param in 0..params {
        sum = sum.add_coefficient_si(Dim::Param, param, 1)?;
    }
    let set = set.intersect(sum.eq_set(Aff::zero_on_domain_space(space)?)?)?;
    let set = set.move_dims(Dim::Set, 1, Dim::Param, 0, params)?;
    let mut point = match set.clone().lexmin() {
        Ok(smallest) => smallest.sample_point()?,
        // What a saved tree adds to a program may go down without end.
        Err(isl::Error::Isl { kind: isl::ErrorKind::Invalid, .. }) => descend(set.clone(), 1 + params + dims)?,
        Err(error) => return Err(error.into()),
    };
    // isl can lose the integers of a minimum in which a coordinate must be even or odd.
    if point.is_void()? {
        point = descend(set, 1 + params + dims)?;
    }
    let coordinate = |position: usize| -> Attempt<i64> {
        let value = point.get_coordinate_val(Dim::Set, position)?;
        value.to_i64()?.ok_or_else(|| beyond(&value))
    };
    Ok(Some(Sample {
        params: (1..=params).map(coordinate).collect::<Attempt<_>>()?,
        point: (1 + params..1 + params + dims).map(coordinate).collect::<Attempt<_>>()?,
    }))
}

/// A coordinate that nobody can give to a call.
fn beyond(value: &Val) -> Fault {
    Fault::Isl(isl::Error::Number { number: value.to_string() })
}

/// A point of a set that is not empty, made smaller coordinate by coordinate as far as few tries do it.
fn descend(mut set: Set, dims: usize) -> Attempt<Point> {
    const TRIES: i64 = 32;
    let mut point = set.clone().sample_point()?;
    for position in 0..dims {
        let value = point.get_coordinate_val(Dim::Set, position)?;
        let found = value.to_i64()?.ok_or_else(|| beyond(&value))?;
        let mut smallest = found;
        for value in 0.max(found.saturating_sub(TRIES))..found {
            let fixed = set.clone().fix_val(Dim::Set, position, Val::from_i64(set.context(), value)?)?;
            if !fixed.is_empty()? {
                smallest = value;
                break;
            }
        }
        let value = Val::from_i64(set.context(), smallest)?;
        set = set.fix_val(Dim::Set, position, value)?;
        point = set.clone().sample_point()?;
    }
    Ok(point)
}

/// `N = 4, M = 0`, or nothing for a function without parameters.
pub(crate) fn show_params(function: &Function, values: &[i64]) -> String {
    let shown = |position: usize| function.show_param(ParamId(position as u32));
    let pairs = values.iter().enumerate().map(|(position, value)| format!("{} = {value}", shown(position)));
    pairs.collect::<Vec<_>>().join(", ")
}

/// `i = 3, j = 0`
pub(crate) fn show_point(function: &Function, iters: &[IterId], values: &[i64]) -> String {
    let pairs = iters.iter().zip(values).map(|(iter, value)| format!("{} = {value}", function.iter(*iter).name));
    pairs.collect::<Vec<_>>().join(", ")
}

/// `A[3, 0]`
pub(crate) fn show_cell(array: &str, cell: &[i64]) -> String {
    if cell.is_empty() {
        return array.to_string();
    }
    let cell: Vec<String> = cell.iter().map(i64::to_string).collect();
    format!("{array}[{}]", cell.join(", "))
}

/// An instance with its parameters, at which expressions have values. All of them are `None` on overflow.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) params: &'a [i64],
    pub(crate) iters: &'a [IterId],
    pub(crate) values: &'a [i64],
}

impl At<'_> {
    fn param(&self, id: ParamId) -> i64 {
        self.params.get(id.index()).copied().unwrap_or(0)
    }

    fn iter(&self, id: IterId) -> i64 {
        let position = self.iters.iter().position(|known| *known == id);
        position.and_then(|position| self.values.get(position)).copied().unwrap_or(0)
    }

    pub(crate) fn affine(&self, affine: &Affine) -> Option<i64> {
        affine.eval(&|id| self.param(id), &|id| self.iter(id))
    }

    pub(crate) fn cell(&self, index: &[Affine]) -> Option<Vec<i64>> {
        index.iter().map(|affine| self.affine(affine)).collect()
    }

    pub(crate) fn cond(&self, cond: &Cond) -> Option<bool> {
        cond.eval(&|id| self.param(id), &|id| self.iter(id))
    }
}

/// The values of affine expressions at a sample.
pub(crate) fn evaluate(affines: &[Affine], params: &[i64], iters: &[IterId], values: &[i64]) -> Option<Vec<i64>> {
    At { params, iters, values }.cell(affines)
}
