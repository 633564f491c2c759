//! Looking at transforms point by point, where isl cannot answer.

use std::collections::{HashMap, HashSet};

use super::{Axis, Params, Sample, Transform, Truth};
use crate::error::{Error, Result};

/// What an enumeration found.
pub(super) enum Comparison {
    Different(Sample),
    /// Without parameters this proves that the transforms are the same; with them it does not.
    SameUpTo(i64),
    /// There are too many points even for the smallest sizes.
    TooMany,
}

/// No more points than this are looked at, and fewer of transforms with large expressions.
const MAX_POINTS: usize = 200_000;
const MAX_WORK: usize = 20_000_000;

fn point_limit(transforms: &[&Transform]) -> usize {
    let cost = transforms.iter().map(|transform| transform.nodes()).sum::<usize>();
    MAX_POINTS.min(MAX_WORK / cost.max(1))
}

/// Compares all points for all values of the parameters up to a bound, which grows as long as points are few.
pub(super) fn compare(a: &Transform, b: &Transform, names: &[String]) -> Result<Comparison> {
    let mut left = point_limit(&[a, b]);
    let mut largest = 0;
    let so_far = |largest: i64| {
        if largest == 0 { Comparison::TooMany } else { Comparison::SameUpTo(largest - 1) }
    };
    loop {
        let Some(values) = values(names, largest, left) else { return Ok(so_far(largest)) };
        for params in values {
            if !compare_extents(a, b, &params)? {
                return Ok(Comparison::Different(Sample { params: params.into_iter().collect(), point: Vec::new() }));
            }
            let Some(points) = points(a.inputs(), &params, left)? else { return Ok(so_far(largest)) };
            // Choosing the parameters is work too.
            left -= (points.len() + 1).min(left);
            for point in points {
                if defined(a.evaluate(&point, &params))? != defined(b.evaluate(&point, &params))? {
                    return Ok(Comparison::Different(Sample { params: params.into_iter().collect(), point }));
                }
            }
        }
        if names.is_empty() {
            return Ok(Comparison::SameUpTo(0));
        }
        largest += 1;
        // Extents need not grow with the parameters.
        if left == 0 || largest > 64 {
            return Ok(so_far(largest));
        }
    }
}

type Pair = (Vec<i64>, Vec<i64>);

/// Every point with its image, if there are no parameters and not too many points.
fn images(transform: &Transform) -> Result<Option<Vec<Pair>>> {
    let params = Params::new();
    if !transform.params().is_empty() {
        return Ok(None);
    }
    let Some(points) = points(transform.inputs(), &params, point_limit(&[transform]))? else { return Ok(None) };
    let mut images = Vec::with_capacity(points.len());
    for point in points {
        if let Some(image) = defined(transform.evaluate(&point, &params))? {
            images.push((point, image));
        }
    }
    Ok(Some(images))
}

fn no(point: &[i64]) -> Truth {
    Truth::No(Sample { params: Vec::new(), point: point.to_vec() })
}

/// Whether no two points have the same image; `None` if there are parameters or too many points.
pub(super) fn injective(transform: &Transform) -> Result<Option<Truth>> {
    let Some(images) = images(transform)? else { return Ok(None) };
    let mut seen = HashMap::new();
    let shared = images.iter().find(|(point, image)| seen.insert(image, point).is_some());
    Ok(Some(shared.map_or(Truth::Yes, |(point, _)| no(point))))
}

/// Whether all images are in bounds. The sample is a point whose image is not.
pub(super) fn in_bounds(transform: &Transform) -> Result<Option<Truth>> {
    let Some(images) = images(transform)? else { return Ok(None) };
    for (point, image) in &images {
        for (axis, &coordinate) in transform.outputs().iter().zip(image) {
            if coordinate < 0 || coordinate >= axis.extent.evaluate(&[], &Params::new())? {
                return Ok(Some(no(point)));
            }
        }
    }
    Ok(Some(Truth::Yes))
}

/// Whether every output in bounds is an image. The sample is one that is not.
pub(super) fn surjective(transform: &Transform) -> Result<Option<Truth>> {
    let Some(images) = images(transform)? else { return Ok(None) };
    let Some(outputs) = points(transform.outputs(), &Params::new(), MAX_POINTS)? else { return Ok(None) };
    let reached = images.into_iter().map(|(_, image)| image).collect::<HashSet<_>>();
    Ok(Some(outputs.iter().find(|output| !reached.contains(*output)).map_or(Truth::Yes, |output| no(output))))
}

/// All values of the parameters of which the largest is the given one, unless they are more than `limit`.
fn values(names: &[String], largest: i64, limit: usize) -> Option<Vec<Params>> {
    let mut all = vec![Params::new()];
    for name in names {
        if all.len().saturating_mul(usize::try_from(largest).ok()? + 1) > limit {
            return None;
        }
        let extended = all.iter().flat_map(|params| {
            (0..=largest).map(move |value| {
                let mut params = params.clone();
                params.insert(name.clone(), value);
                params
            })
        });
        all = extended.collect();
    }
    all.retain(|params| params.is_empty() || params.values().max() == Some(&largest));
    Some(all)
}

fn compare_extents(a: &Transform, b: &Transform, params: &Params) -> Result<bool> {
    let pairs = a.inputs().iter().zip(b.inputs()).chain(a.outputs().iter().zip(b.outputs()));
    for (a, b) in pairs {
        if a.extent.evaluate(&[], params)? != b.extent.evaluate(&[], params)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All points in bounds, unless there are more than `limit`.
fn points(axes: &[Axis], params: &Params, limit: usize) -> Result<Option<Vec<Vec<i64>>>> {
    let mut points = vec![Vec::new()];
    for axis in axes {
        let extent = usize::try_from(axis.extent.evaluate(&[], params)?).unwrap_or(0);
        if points.len().saturating_mul(extent) > limit {
            return Ok(None);
        }
        let extended = points.iter().flat_map(|point: &Vec<i64>| {
            (0..extent).map(move |next| {
                let mut point = point.clone();
                point.push(i64::try_from(next).unwrap_or(i64::MAX));
                point
            })
        });
        points = extended.collect();
    }
    Ok(Some(points))
}

/// A point outside the bounds of a transform has no value; other errors are errors.
fn defined(value: Result<Vec<i64>>) -> Result<Option<Vec<i64>>> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(Error::Inadmissible { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
