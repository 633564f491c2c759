//! Arrays that are made up: a count, a constant, pseudo-random numbers. The same on every machine.

use farkas::{ScalarType, Value, bf16, f16};

use crate::data::HostArray;

/// 0, 1, 2, … in row-major order, wrapped to the element type; for `bool`, whether the number is odd.
pub(crate) fn iota(array: &mut HostArray) {
    let ty = array.ty();
    fill(array, |position| match ty {
        ScalarType::Bool => Value::Bool(position % 2 == 1),
        // An array has fewer elements than an i64 can count.
        _ => Value::from_i64(ty, position as i64),
    });
}

pub(crate) fn constant(array: &mut HostArray, value: Value) {
    fill(array, |_| value);
}

/// Element by element in row-major order, the outputs of SplitMix64 from the state `seed`. Floats are uniform in
/// [0, 1), signed integers in -9..=9, unsigned ones in 0..=9, and `bool` is fair.
pub(crate) fn random(array: &mut HostArray, seed: u64) {
    let ty = array.ty();
    let mut state = seed;
    fill(array, |_| {
        let bits = split_mix(&mut state);
        // The high half of the product of 64 random bits and n is uniform in 0..n.
        let below = |n: u128| ((u128::from(bits) * n) >> 64) as i64;
        match ty {
            ScalarType::F64 => Value::F64((bits >> 11) as f64 / (1u64 << 53) as f64),
            // Fewer bits, so that none is rounded up to 1.
            ScalarType::F16 => Value::F16(f16::from_f32((bits >> 53) as f32 / 2048.0)),
            ScalarType::BF16 => Value::BF16(bf16::from_f32((bits >> 56) as f32 / 256.0)),
            ScalarType::F32 => Value::F32((bits >> 40) as f32 / (1u32 << 24) as f32),
            ScalarType::Bool => Value::Bool(bits >> 63 == 1),
            ty if ty.is_unsigned() => Value::from_i64(ty, below(10)),
            _ => Value::from_i64(ty, below(19) - 9),
        }
    });
}

fn fill(array: &mut HostArray, mut value: impl FnMut(usize) -> Value) {
    for position in 0..array.len() {
        array.set(position, value(position));
    }
}

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::to_f64;

    #[test]
    fn the_generator_is_split_mix() {
        // The reference implementation's first outputs for the seed 1234567.
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn random_values_stay_in_their_range_and_reach_its_ends() {
        for ty in ScalarType::ALL {
            let mut array = HostArray::zeros("x", ty, vec![10_000]).expect("memory");
            random(&mut array, 7);
            let values: Vec<f64> = array.values().map(to_f64).collect();
            let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
            match ty {
                ty if ty.is_float() => assert!((0.0..0.01).contains(&low) && (0.99..1.0).contains(&high)),
                ScalarType::Bool => assert_eq!((low, high), (0.0, 1.0)),
                ty if ty.is_unsigned() && ty != ScalarType::Bool => assert_eq!((low, high), (0.0, 9.0)),
                _ => assert_eq!((low, high), (-9.0, 9.0)),
            }
        }
    }

    #[test]
    fn iota_wraps() {
        let mut array = HostArray::zeros("x", ScalarType::U8, vec![300]).expect("memory");
        iota(&mut array);
        assert_eq!(array.get(257), Some(Value::U8(1)));
    }
}
