//! The arguments of a kernel: scalars as text, arrays as `.npy` files that every contender reads.

use std::fs;
use std::path::Path;

use super::frame::{Argument, Signature};
use super::kernels::{Fill, Kernel, Scalar};

/// What a kernel is called with.
pub(super) struct Arguments {
    pub(super) sizes: Vec<(String, i64)>,
    pub(super) scalars: Vec<(String, String)>,
    /// The names of the arrays that have a file.
    pub(super) arrays: Vec<String>,
}

/// The bytes before the data, a fixed number so that a C program may skip them.
const HEADER: usize = 128;

/// Writes the arrays into a folder, one file each.
pub(super) fn write(place: &Path, kernel: &Kernel, signature: &Signature, sizes: &[i64]) -> Result<Arguments, String> {
    if sizes.len() != signature.sizes.len() {
        return Err(format!("{} sizes are listed, the program has {}", sizes.len(), signature.sizes.len()));
    }
    let named: Vec<(String, i64)> = signature.sizes.iter().cloned().zip(sizes.iter().copied()).collect();
    let mut arguments = Arguments { sizes: named, scalars: Vec::new(), arrays: Vec::new() };
    for (index, argument) in signature.args.iter().enumerate() {
        let Argument { name, ty, extents, is_read, .. } = argument;
        let Some(extents) = extents else {
            let listed = kernel.scalars.iter().find(|(listed, _)| listed == name);
            let (_, scalar) = listed.ok_or_else(|| format!("no value is listed for {name}"))?;
            let text = match scalar {
                Scalar::Number(number) => number.to_string(),
                Scalar::Size(place) => sizes[*place].to_string(),
            };
            arguments.scalars.push((name.clone(), text));
            continue;
        };
        if !is_read {
            continue;
        }
        let extent = |text: &String| {
            let found = arguments.sizes.iter().find(|(size, _)| size == text).map(|&(_, value)| value);
            found.ok_or_else(|| format!("the extent {text} of {name} is no size"))
        };
        let shape = extents.iter().map(extent).collect::<Result<Vec<i64>, String>>()?;
        let fill = kernel.fills.iter().find(|(listed, _)| listed == name).map_or(Fill::Unit, |&(_, fill)| fill);
        let bytes = npy(ty, &shape, fill, index as u64)?;
        let path = place.join(format!("{name}.npy"));
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        arguments.arrays.push(name.clone());
    }
    Ok(arguments)
}

/// A whole `.npy` file.
fn npy(ty: &str, shape: &[i64], fill: Fill, seed: u64) -> Result<Vec<u8>, String> {
    let (kind, put): (&str, fn(f64, &mut Vec<u8>)) = match ty {
        "f64" => ("<f8", |value, bytes| bytes.extend(value.to_le_bytes())),
        "f32" => ("<f4", |value, bytes| bytes.extend((value as f32).to_le_bytes())),
        "i32" => ("<i4", |value, bytes| bytes.extend((value as i32).to_le_bytes())),
        "i8" => ("|i1", |value, bytes| bytes.extend((value as i8).to_le_bytes())),
        _ => return Err(format!("no file format for {ty}")),
    };
    let mut bytes = npy_header(kind, shape);
    let count = shape.iter().product::<i64>();
    let columns = shape.last().copied().unwrap_or(1).max(1);
    for index in 0..count {
        put(value(fill, index / columns, index % columns, columns, seed), &mut bytes);
    }
    Ok(bytes)
}

/// What a `.npy` file begins with.
pub(in crate::bench) fn npy_header(kind: &str, shape: &[i64]) -> Vec<u8> {
    let extents: String = shape.iter().map(|extent| format!("{extent},")).collect();
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({extents}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(((HEADER - 10) as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.resize(HEADER - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The element in a row and a column.
fn value(fill: Fill, row: i64, column: i64, columns: i64, seed: u64) -> f64 {
    let unit = |row: i64, column: i64| {
        // The finaliser of splitmix64: every bit of the place reaches every bit of the value.
        let mut bits = (seed << 48 ^ (row as u64) << 24 ^ column as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    };
    match fill {
        Fill::Unit => unit(row, column),
        Fill::Zero => 0.0,
        Fill::Dominant if row == column => columns as f64,
        Fill::Dominant => unit(row.min(column), row.max(column)),
        Fill::Small => unit(row, column) / columns as f64,
        Fill::Bases => (unit(row, column) * 4.0).floor(),
        Fill::Lengths => (unit(row, column) * 999.0).floor() + 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_a_header_of_fixed_length_and_the_data() {
        let bytes = npy("f32", &[2, 3], Fill::Unit, 1).expect("the type is known");
        assert_eq!(bytes.len(), HEADER + 24);
        let header = String::from_utf8_lossy(&bytes[10..HEADER]);
        assert!(header.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,3,), }"), "{header}");
        assert!(header.ends_with('\n'));
        assert!(npy("bool", &[1], Fill::Unit, 1).is_err());
    }

    #[test]
    fn dominant_matrices_are_symmetric() {
        for (row, column) in [(0, 1), (2, 5), (4, 3)] {
            assert_eq!(value(Fill::Dominant, row, column, 6, 3), value(Fill::Dominant, column, row, 6, 3));
            assert!(value(Fill::Dominant, row, column, 6, 3) < 1.0);
        }
        assert_eq!(value(Fill::Dominant, 2, 2, 6, 3), 6.0);
    }
}
