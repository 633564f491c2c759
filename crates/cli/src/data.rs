//! Arrays of the host: where they come from, how they are compared, shown and stored.

pub(crate) mod compare;
pub(crate) mod generate;
pub(crate) mod literal;
pub(crate) mod npy;
pub(crate) mod show;
pub(crate) mod spec;

use farkas::{Data, ScalarType, Slice, SliceMut, Value};

use crate::failure::Failure;

/// Elements begin at a multiple of so many bytes: a vector that reaches over the end of a cache line costs twice as much.
pub(crate) const LINE: usize = 64;

/// Elements in row-major order, and their shape.
#[derive(Debug)]
pub(crate) struct HostArray {
    /// The elements, and others in front and behind, so that they can begin with a line.
    data: Data,
    start: usize,
    len: usize,
    pub(crate) shape: Vec<usize>,
}

impl HostArray {
    /// The elements of `data` from `start` on.
    pub(crate) fn new(data: impl Into<Data>, start: usize, shape: Vec<usize>) -> HostArray {
        let data = data.into();
        HostArray { start, len: data.len().saturating_sub(start), data, shape }
    }

    /// Zeros, if that much memory can be had.
    pub(crate) fn zeros(name: &str, ty: ScalarType, shape: Vec<usize>) -> Result<HostArray, Failure> {
        let len = shape.iter().try_fold(1usize, |len, extent| len.checked_mul(*extent));
        match len.and_then(|len| HostArray::aligned(ty, len)) {
            Some(array) => Ok(HostArray { shape, ..array }),
            None => Err(Failure::run(format!(
                "there is not enough memory for `{name}`, with elements of type {ty} and the shape {shape:?}"
            ))),
        }
    }

    /// So many zeros, the first of which begins a line; none if that much memory cannot be had.
    fn aligned(ty: ScalarType, len: usize) -> Option<HostArray> {
        let in_line = LINE / ty.bytes();
        let data = Data::zeros(ty, len.checked_add(in_line)?)?;
        let start = data.as_slice().align_offset(LINE).min(in_line);
        Some(HostArray { data, start, len, shape: vec![len] })
    }

    pub(crate) fn ty(&self) -> ScalarType {
        self.data.ty()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, position: usize) -> Option<Value> {
        self.elements().get(position)
    }

    /// Stores a value of the array's own type; `false` if the position or the type does not fit.
    pub(crate) fn set(&mut self, position: usize, value: Value) -> bool {
        position < self.len && self.data.set(self.start + position, value)
    }

    pub(crate) fn elements(&self) -> Slice<'_> {
        self.data.as_slice().part(self.start..self.start + self.len)
    }

    /// The elements, to write, and the shape.
    pub(crate) fn parts_mut(&mut self) -> (SliceMut<'_>, &[usize]) {
        (self.data.as_mut_slice().part(self.start..self.start + self.len), &self.shape)
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
        (0..self.len()).filter_map(|position| self.get(position))
    }
}

impl Clone for HostArray {
    fn clone(&self) -> HostArray {
        let shape = self.shape.clone();
        match HostArray::aligned(self.ty(), self.len) {
            Some(copy) => {
                let mut copy = HostArray { shape, ..copy };
                copy.parts_mut().0.copy_from(self.elements());
                copy
            }
            None => HostArray { data: self.data.clone(), start: self.start, len: self.len, shape },
        }
    }

    /// Keeps the memory that is there if it fits.
    fn clone_from(&mut self, from: &HostArray) {
        if self.shape != from.shape || !self.parts_mut().0.copy_from(from.elements()) {
            *self = from.clone();
        }
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
    fn elements_begin_with_a_line_in_copies_too() {
        for ty in ScalarType::ALL {
            let mut array = HostArray::zeros("x", ty, vec![3, 5]).expect("memory");
            assert!(array.set(14, Value::from_i64(ty, 1)) && !array.set(15, Value::from_i64(ty, 1)));
            let mut copy = array.clone();
            copy.set(0, Value::from_i64(ty, 1));
            copy.clone_from(&array);
            for array in [&array, &copy] {
                assert_eq!((array.len(), array.elements().align_offset(LINE)), (15, 0), "{ty}");
                assert_eq!(array.get(14), Some(Value::from_i64(ty, 1)));
                assert_eq!(array.values().filter(|value| *value == Value::from_i64(ty, 0)).count(), 14);
            }
        }
    }

    #[test]
    fn subscripts_are_row_major() {
        let array = HostArray::zeros("x", ScalarType::F64, vec![2, 3, 4]).expect("memory");
        assert_eq!(array.subscripts(0), [0, 0, 0]);
        assert_eq!(array.subscripts(23), [1, 2, 3]);
        assert_eq!(array.subscripts(13), [1, 0, 1]);
    }
}
