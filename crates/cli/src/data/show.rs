//! Results in short: type, shape, values (all of few, the ends of many) and checksums.

use farkas::{ScalarType, Value};
use serde_json::json;

use crate::data::{HostArray, to_f64};

/// Arrays up to this size are shown in full.
const FULL: usize = 16;

/// How many elements of either end are shown of others.
const ENDS: usize = 4;

/// An argument as its declaration shows it, such as `A: f64[N, K]`.
pub(crate) fn declaration(name: &str, ty: ScalarType, shape: &[impl ToString]) -> String {
    if shape.is_empty() {
        return format!("{name}: {ty}");
    }
    let extents = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    format!("{name}: {ty}[{extents}]")
}

/// For people: a line with type, shape and checksums, then the values.
pub(crate) fn to_text(name: &str, array: &HostArray) -> String {
    let head = declaration(name, array.ty(), &array.shape);
    format!("{head}  (sum {:?}, fnv1a {:016x})\n{}\n", sum(array), hash(array), values(array))
}

/// For programs: the same facts; `values` is null for large arrays.
pub(crate) fn to_json(name: &str, array: &HostArray) -> String {
    let values = (array.len() <= FULL).then(|| array.values().map(json_value).collect::<Vec<_>>());
    json!({
        "name": name,
        "dtype": array.ty().name(),
        "shape": array.shape,
        "values": values,
        "sum": sum(array),
        "fnv1a": format!("{:016x}", hash(array)),
    })
    .to_string()
}

/// JSON has no NaN and no infinity; they become strings.
fn json_value(value: Value) -> serde_json::Value {
    match value {
        Value::F16(v) if v.is_finite() => json!(v.to_f32()),
        Value::BF16(v) if v.is_finite() => json!(v.to_f32()),
        Value::F32(v) if v.is_finite() => json!(v),
        Value::F64(v) if v.is_finite() => json!(v),
        Value::F16(_) | Value::BF16(_) | Value::F32(_) | Value::F64(_) => json!(value.to_string()),
        Value::I8(v) => json!(v),
        Value::I16(v) => json!(v),
        Value::I32(v) => json!(v),
        Value::I64(v) => json!(v),
        Value::U8(v) => json!(v),
        Value::U16(v) => json!(v),
        Value::U32(v) => json!(v),
        Value::U64(v) => json!(v),
        Value::Bool(v) => json!(v),
    }
}

/// The sum of all elements as `f64`, from first to last.
fn sum(array: &HostArray) -> f64 {
    array.values().map(to_f64).fold(0.0, |sum, value| sum + value)
}

/// The 64-bit FNV-1a hash of the elements' little-endian bytes in row-major order.
fn hash(array: &HostArray) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for value in array.values() {
        match value {
            Value::F16(v) => add(&v.to_le_bytes()),
            Value::BF16(v) => add(&v.to_le_bytes()),
            Value::F32(v) => add(&v.to_le_bytes()),
            Value::F64(v) => add(&v.to_le_bytes()),
            Value::I8(v) => add(&v.to_le_bytes()),
            Value::I16(v) => add(&v.to_le_bytes()),
            Value::I32(v) => add(&v.to_le_bytes()),
            Value::I64(v) => add(&v.to_le_bytes()),
            Value::U8(v) => add(&v.to_le_bytes()),
            Value::U16(v) => add(&v.to_le_bytes()),
            Value::U32(v) => add(&v.to_le_bytes()),
            Value::U64(v) => add(&v.to_le_bytes()),
            Value::Bool(v) => add(&[u8::from(v)]),
        }
    }
    hash
}

fn values(array: &HostArray) -> String {
    let words =
        |range: std::ops::Range<usize>| range.filter_map(|position| array.get(position)).map(|value| value.to_string());
    let len = array.len();
    if len <= FULL {
        let words: Vec<String> = words(0..len).collect();
        let width = words.iter().map(String::len).max().unwrap_or(0);
        return nested(&array.shape, &words, if array.shape.len() > 1 { width } else { 0 }, 1);
    }
    let first = words(0..ENDS).collect::<Vec<_>>().join(", ");
    let last = words(len - ENDS..len).collect::<Vec<_>>().join(", ");
    format!("{first}, …, {last}")
}

/// Brackets as NumPy prints them, rows below each other.
fn nested(shape: &[usize], words: &[String], width: usize, depth: usize) -> String {
    let Some((extent, inner)) = shape.split_first() else {
        return words.first().map_or(String::new(), |word| format!("{word:>width$}"));
    };
    let size = words.len().checked_div(*extent).unwrap_or(0);
    let separator = match inner.len() {
        0 => ", ".to_string(),
        blank_lines => format!(",{}{}", "\n".repeat(blank_lines), " ".repeat(depth)),
    };
    // An array without elements may still have very many rows.
    let rows = if words.is_empty() { (*extent).min(1) } else { *extent };
    let items = (0..rows).map(|row| {
        let items = words.get(row * size..(row + 1) * size).unwrap_or_default();
        nested(inner, items, width, depth + 1)
    });
    let items = items.collect::<Vec<_>>().join(&separator);
    let more = if rows < *extent { ", …" } else { "" };
    format!("[{items}{more}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(values: Vec<f64>, shape: &[usize]) -> String {
        super::values(&HostArray::new(values, 0, shape.to_vec()))
    }

    #[test]
    fn small_arrays_are_shown_in_full() {
        assert_eq!(show(vec![1.5], &[]), "1.5");
        assert_eq!(show(vec![], &[0]), "[]");
        assert_eq!(show(vec![], &[2, 0]), "[[], …]");
        assert_eq!(show(vec![1.0, 20.0, 3.0, 4.0], &[2, 2]), "[[ 1.0, 20.0],\n [ 3.0,  4.0]]");
        assert_eq!(show(vec![1.0, 2.0, 3.0, 4.0], &[2, 2, 1]), "[[[1.0],\n  [2.0]],\n\n [[3.0],\n  [4.0]]]");
    }

    #[test]
    fn large_arrays_show_their_ends() {
        let values = (0..100).map(f64::from).collect();
        assert_eq!(show(values, &[100]), "0.0, 1.0, 2.0, 3.0, …, 96.0, 97.0, 98.0, 99.0");
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        let array = HostArray::new(b"foobar".to_vec(), 0, vec![6]);
        assert_eq!(hash(&array), 0x8594_4171_f739_67e8);
    }
}
