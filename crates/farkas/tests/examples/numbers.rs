//! Arrays of numbers: made up, and compared.
//!
//! Whatever the type of an argument, it is held as `f64` here; integers must be small enough to be exact.

use std::collections::BTreeMap;

use ndarray::{ArrayD, Dimension, IntoDimension, arr0};

/// Results by name.
pub(crate) type Outputs = BTreeMap<String, ArrayD<f64>>;

/// How far results of `f32` may be from those of `f64`, relative to the largest.
pub(crate) const SINGLE: f64 = 1e-5;
pub(crate) const DOUBLE: f64 = 1e-12;
pub(crate) const EXACT: f64 = 0.0;

pub(crate) fn scalar(value: f64) -> ArrayD<f64> {
    arr0(value).into_dyn()
}

/// An array whose elements are a function of their subscripts.
pub(crate) fn array<D: IntoDimension>(
    shape: D,
    element: impl FnMut(<D::Dim as Dimension>::Pattern) -> f64,
) -> ArrayD<f64> {
    ndarray::Array::from_shape_fn(shape.into_dimension(), element).into_dyn()
}

/// Multiples of 1/64 in `-1..1`, which every float type holds exactly.
pub(crate) fn random<D: IntoDimension>(seed: u64, shape: D) -> ArrayD<f64> {
    let mut random = Random(seed);
    array(shape, |_| random.below(128) / 64.0 - 1.0)
}

/// Integers in `0..bound`.
pub(crate) fn random_integers<D: IntoDimension>(seed: u64, bound: usize, shape: D) -> ArrayD<f64> {
    let mut random = Random(seed);
    array(shape, |_| random.below(bound))
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// In `0..1`.
    pub(crate) fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An integer in `0..bound`.
    pub(crate) fn below(&mut self, bound: usize) -> f64 {
        (bound as f64 * self.fraction()).floor()
    }
}

/// Relative to the largest number that is expected; the message begins with the place.
pub(crate) fn compare(found: &ArrayD<f64>, expected: &ArrayD<f64>, tolerance: f64) -> Result<(), String> {
    if found.shape() != expected.shape() {
        return Err(format!(" has the shape {:?}, not {:?}", found.shape(), expected.shape()));
    }
    let largest =
        expected.iter().filter(|value| value.is_finite()).fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for ((place, found), expected) in found.indexed_iter().zip(expected) {
        let is_same = found == expected || found.is_nan() && expected.is_nan();
        // Not so for NaN, nor for an infinity on one side.
        let is_near = (found - expected).abs() <= tolerance * largest;
        if !is_same && !is_near {
            return Err(format!("{:?} is {found:e}, not {expected:e}", place.slice()));
        }
    }
    Ok(())
}

/// One result and what it should be.
pub(crate) fn expect(outputs: &Outputs, name: &str, expected: &ArrayD<f64>, tolerance: f64) -> Result<(), String> {
    let found = outputs.get(name).ok_or_else(|| format!("there is no result `{name}`"))?;
    compare(found, expected, tolerance).map_err(|what| format!("{name}{what}"))
}

/// The subscript `place + shift`, if it is inside `0..length`.
pub(crate) fn shifted(place: usize, shift: isize, length: usize) -> Option<usize> {
    place.checked_add_signed(shift).filter(|place| *place < length)
}
