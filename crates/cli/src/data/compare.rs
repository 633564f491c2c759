//! Comparing results: integers and `bool` exactly, floats within a tolerance, NaN equal to NaN.

use farkas::{ScalarType, Value};

use crate::data::{HostArray, to_f64};

/// How far a float may be off: by `absolute + relative * magnitude`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    pub(crate) relative: f64,
    pub(crate) absolute: f64,
    pub(crate) magnitude: Magnitude,
}

/// What a relative tolerance is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magnitude {
    /// Each wanted element, as in `numpy.allclose`.
    Element,
    /// The largest finite wanted element. A sum in another order is off by a fraction of its terms, which may be much
    /// more than that fraction of what is left when they cancel.
    Largest,
}

/// The element that is off by most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worst {
    pub(crate) position: usize,
    pub(crate) found: Value,
    pub(crate) wanted: Value,
    pub(crate) error: f64,
    pub(crate) allowed: f64,
    /// How many elements are off by more than is allowed.
    pub(crate) count: usize,
}

/// Compares arrays of one type and shape. `None` if they agree.
pub(crate) fn compare(found: &HostArray, wanted: &HostArray, tolerance: Tolerance) -> Option<Worst> {
    let exact = !found.ty().is_float();
    let largest = match tolerance.magnitude {
        Magnitude::Largest if !exact => {
            wanted.values().map(|value| to_f64(value).abs()).filter(|value| value.is_finite()).fold(0.0, f64::max)
        }
        _ => 0.0,
    };
    let mut worst: Option<Worst> = None;
    let mut count = 0;
    for (position, (found, wanted)) in found.values().zip(wanted.values()).enumerate() {
        if found.same(wanted) {
            continue;
        }
        let magnitude = match tolerance.magnitude {
            Magnitude::Element => to_f64(wanted).abs(),
            Magnitude::Largest => largest,
        };
        let allowed = if exact { 0.0 } else { tolerance.absolute + tolerance.relative * magnitude };
        let error = distance(found, wanted);
        if error <= allowed && error.is_finite() && !exact {
            continue;
        }
        count += 1;
        if worst.is_none_or(|worst| error - allowed > worst.error - worst.allowed) {
            worst = Some(Worst { position, found, wanted, error, allowed, count });
        }
    }
    worst.map(|worst| Worst { count, ..worst })
}

/// Infinite if only one of them is NaN, or infinities differ.
fn distance(found: Value, wanted: Value) -> f64 {
    let (found, wanted) = (to_f64(found), to_f64(wanted));
    if found == wanted {
        return 0.0;
    }
    let distance = (found - wanted).abs();
    if distance.is_nan() { f64::INFINITY } else { distance }
}

/// What `--verify` allows. Compiled code may sum in another order than the interpreter, which changes a sum of n terms
/// by about n roundings of its largest partial sum.
pub(crate) fn verify_tolerance(ty: ScalarType, relative: Option<f64>, absolute: f64) -> Tolerance {
    let default = match ty {
        // Sums in another order may end on the other side of a rounding.
        ScalarType::BF16 => 1e-2,
        ScalarType::F16 => 2e-3,
        ScalarType::F32 => 1e-4,
        _ => 1e-9,
    };
    Tolerance { relative: relative.unwrap_or(default), absolute, magnitude: Magnitude::Largest }
}

/// What `--expect` allows.
pub(crate) fn expect_tolerance(relative: Option<f64>, absolute: f64) -> Tolerance {
    Tolerance { relative: relative.unwrap_or(1e-6), absolute, magnitude: Magnitude::Element }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f64]) -> HostArray {
        HostArray::new(values.to_vec(), 0, vec![values.len()])
    }

    #[test]
    fn floats_are_compared_within_a_tolerance() {
        let near = |found: &[f64], wanted: &[f64], tolerance| compare(&floats(found), &floats(wanted), tolerance);
        let expect = expect_tolerance(None, 0.0);
        let verify = verify_tolerance(ScalarType::F64, None, 0.0);
        assert!(near(&[1.0 + 1e-7], &[1.0], expect).is_none());
        assert!(near(&[1.0 + 1e-5], &[1.0], expect).is_some());
        assert!(near(&[1e-12, 1.0], &[0.0, 1.0], verify).is_none());
        assert!(near(&[1e-12, 1.0], &[0.0, 1.0], expect).is_some());
        assert!(near(&[0.0], &[-0.0], expect).is_none());
    }

    #[test]
    fn not_a_number_and_infinities_only_equal_themselves() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let tolerance = verify_tolerance(ScalarType::F64, Some(1.0), 1e9);
        let agree = |a: f64, b: f64| compare(&floats(&[a]), &floats(&[b]), tolerance).is_none();
        assert!(agree(nan, nan) && agree(inf, inf));
        assert!(!agree(nan, 1.0) && !agree(1.0, nan) && !agree(inf, -inf) && !agree(inf, 1.0) && !agree(1.0, inf));
    }

    #[test]
    fn integers_are_exact_and_the_worst_is_shown() {
        let ints = |values: &[i64]| HostArray::new(values.to_vec(), 0, vec![values.len()]);
        let tolerance = expect_tolerance(Some(1.0), 100.0);
        let worst = compare(&ints(&[1, 5, 3]), &ints(&[2, 9, 3]), tolerance).expect("they differ");
        assert_eq!((worst.position, worst.count), (1, 2));
        // Both have the same nearest f64.
        assert!(compare(&ints(&[i64::MAX]), &ints(&[i64::MAX - 1]), tolerance).is_some());
    }
}
