//! Arrays of the host: where they come from, how they are compared, shown and stored.

pub(crate) mod compare;
pub(crate) mod generate;
pub(crate) mod literal;
pub(crate) mod npy;
pub(crate) mod show;
pub(crate) mod spec;

use farkas::{Data, ScalarType, Value};

use crate::failure::Failure;

/// Elements in row-major order, and their shape.
#[derive(Clone, Debug)]
pub(crate) struct HostArray {
    pub(crate) data: Data,
    pub(crate) shape: Vec<usize>,
}

impl HostArray {
    /// Zeros, if that much memory can be had.
    pub(crate) fn zeros(name: &str, ty: ScalarType, shape: Vec<usize>) -> Result<HostArray, Failure> {
        let len = shape.iter().try_fold(1usize, |len, extent| len.checked_mul(*extent));
        match len.and_then(|len| Data::zeros(ty, len)) {
            Some(data) => Ok(HostArray { data, shape }),
            None => Err(Failure::run(format!(
                "there is not enough memory for `{name}`, with elements of type {ty} and the shape {shape:?}"
            ))),
        }
    }

    /// The subscripts of a position in row-major order.
    pub(crate) fn subscripts(&self, position: usize) -> Vec<usize> {
        let mut rest = position;
        let mut subscripts: Vec<usize> = self
            .shape
            .iter()
            .rev()
            .map(|extent| {
                let subscript = rest.checked_rem(*extent).unwrap_or(0);
                rest = rest.checked_div(*extent).unwrap_or(0);
                subscript
            })
            .collect();
        subscripts.reverse();
        subscripts
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.data.len()).filter_map(|position| self.data.get(position))
    }
}

/// A value as the nearest `f64`; `true` is 1.
pub(crate) fn to_f64(value: Value) -> f64 {
    match value {
        Value::F16(v) => v.into(),
        Value::BF16(v) => v.into(),
        Value::F32(v) => v.into(),
        Value::F64(v) => v,
        Value::I8(v) => v.into(),
        Value::I16(v) => v.into(),
        Value::I32(v) => v.into(),
        Value::I64(v) => v as f64,
        Value::U8(v) => v.into(),
        Value::U16(v) => v.into(),
        Value::U32(v) => v.into(),
        Value::U64(v) => v as f64,
        Value::Bool(v) => v.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscripts_are_row_major() {
        let array = HostArray { data: Data::from(vec![0.0f64; 24]), shape: vec![2, 3, 4] };
        assert_eq!(array.subscripts(0), [0, 0, 0]);
        assert_eq!(array.subscripts(23), [1, 2, 3]);
        assert_eq!(array.subscripts(13), [1, 0, 1]);
    }
}
