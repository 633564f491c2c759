//! Arguments for random programs, and when two results are the same.

use farkas::{Data, Value, bf16, f16};

/// Small values that are the same for every run.
pub(crate) fn data(ty: &str, len: usize, seed: i64) -> Data {
    let values = (0..len as i64).map(|position| (position * 7 + seed * 5) % 11 - 4);
    match ty {
        "i64" => Data::I64(values.collect()),
        "i8" => Data::I8(values.map(|value| value as i8).collect()),
        "i16" => Data::I16(values.map(|value| value as i16).collect()),
        "u8" => Data::U8(values.map(|value| value as u8).collect()),
        "u16" => Data::U16(values.map(|value| value as u16).collect()),
        "f16" => Data::F16(values.map(|value| f16::from_f64(value as f64 * 0.5)).collect()),
        "bf16" => Data::BF16(values.map(|value| bf16::from_f64(value as f64 * 0.5)).collect()),
        "i32" => Data::I32(values.map(|value| value as i32).collect()),
        // Negative values are the largest ones.
        "u32" => Data::U32(values.map(|value| value as u32).collect()),
        "u64" => Data::U64(values.map(|value| value as u64).collect()),
        "f64" => Data::F64(values.map(|value| value as f64 * 0.5).collect()),
        _ => Data::F32(values.map(|value| value as f32 * 0.5).collect()),
    }
}

fn number(value: Option<Value>) -> f64 {
    match value {
        Some(Value::F64(value)) => value,
        Some(Value::F32(value)) => f64::from(value),
        Some(Value::F16(value)) => f64::from(value),
        Some(Value::BF16(value)) => f64::from(value),
        Some(Value::I64(value)) => value as f64,
        Some(Value::I32(value)) => f64::from(value),
        other => panic!("{other:?}"),
    }
}

/// Equal, up to rounding where the order of a float sum is free.
pub(crate) fn agree(ty: &str, rounds: bool, expected: &Data, found: &Data) -> bool {
    if !rounds {
        return expected == found;
    }
    let numbers = |data: &Data| (0..data.len()).map(|position| number(data.get(position))).collect::<Vec<_>>();
    let (expected, found) = (numbers(expected), numbers(found));
    let size = expected.iter().fold(1.0_f64, |size, value| size.max(value.abs()));
    // Cancellation and data-dependent conditions can turn rounding into anything once values are large.
    if !size.is_finite() || size > 1e4 {
        return true;
    }
    let tolerance = match ty {
        "f64" => size * 1e-9,
        // A few units in the last place.
        "bf16" => size * 0.05,
        _ => size * 1e-2,
    };
    expected.iter().zip(&found).all(|(one, two)| (one - two).abs() <= tolerance)
}
