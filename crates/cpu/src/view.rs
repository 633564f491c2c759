//! Views of host arrays whose cells do not lie row-major, and the check that code reaches their cells and no others.

use std::marker::PhantomData;

use loops::ArrayDecl;
use ndarray::{ArrayViewD, ArrayViewMutD};
use program::ScalarType;

use crate::call::{Buffer, CallError};

/// The cells of a host array, at strides of their own.
#[derive(Debug)]
pub struct View<'a> {
    pub(crate) ty: ScalarType,
    /// Of the cell whose subscripts are all 0.
    pub(crate) address: *mut u8,
    pub(crate) is_writable: bool,
    shape: Vec<usize>,
    /// In elements.
    strides: Vec<isize>,
    borrowed: PhantomData<&'a mut ()>,
}

// SAFETY: it stands for a borrowed array of numbers, which may be used from any thread.
unsafe impl Send for View<'_> {}
// SAFETY: nothing can be done with the cells through `&View`.
unsafe impl Sync for View<'_> {}

impl<'a> View<'a> {
    pub(crate) fn read<T>(ty: ScalarType, array: &ArrayViewD<'a, T>) -> View<'a> {
        let address = array.as_ptr().cast::<u8>().cast_mut();
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        View { ty, address, is_writable: false, shape, strides, borrowed: PhantomData }
    }

    pub(crate) fn write<T>(ty: ScalarType, mut array: ArrayViewMutD<'a, T>) -> View<'a> {
        let address = array.as_mut_ptr().cast();
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        View { ty, address, is_writable: true, shape, strides, borrowed: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the view has the declared shape, and its cells lie where code looks for them.
    pub(crate) fn check(&self, decl: &ArrayDecl, params: &[i64]) -> Result<(), CallError> {
        let extents =
            decl.shape.iter().map(|extent| extent.value(params, &[]).and_then(|extent| extent.try_into().ok()));
        if !extents.eq(self.shape.iter().map(|extent| Some(*extent))) {
            return Err(CallError::Shape { name: decl.name.clone(), given: self.shape.clone() });
        }
        check_strides(decl, params, &self.strides)
    }
}

/// The strides of an array that lies row-major.
fn row_major(extents: &[i64]) -> Vec<isize> {
    let mut strides = vec![1_isize; extents.len()];
    for dimension in (1..extents.len()).rev() {
        strides[dimension - 1] = strides[dimension].wrapping_mul(extents[dimension] as isize);
    }
    strides
}

/// Whether code for these strides finds the cells of a row-major buffer.
pub(crate) fn check_row_major(decl: &ArrayDecl, params: &[i64]) -> Result<(), CallError> {
    let extents: Vec<i64> = decl.shape.iter().map(|extent| extent.value(params, &[]).unwrap_or(0)).collect();
    check_strides(decl, params, &row_major(&extents))
}

/// Whether code looks for cells at these strides. Those of dimensions in which there is no neighbour do not matter, and nothing does where there are
/// no cells.
fn check_strides(decl: &ArrayDecl, params: &[i64], found: &[isize]) -> Result<(), CallError> {
    let extents: Vec<i64> = decl.shape.iter().map(|extent| extent.value(params, &[]).unwrap_or(0)).collect();
    if extents.contains(&0) {
        return Ok(());
    }
    let expected: Vec<Option<i64>> = match &decl.strides {
        Some(strides) => strides.iter().map(|stride| stride.value(params, &[])).collect(),
        None => row_major(&extents).into_iter().map(|stride| Some(stride as i64)).collect(),
    };
    let fits =
        |((extent, expected), found): ((&i64, Option<i64>), &isize)| *extent == 1 || expected == Some(*found as i64);
    match extents.iter().zip(expected).zip(found).all(fits) {
        true => Ok(()),
        false => Err(CallError::Strides { name: decl.name.clone() }),
    }
}

macro_rules! views {
    ($($variant:ident: $element:ty),* $(,)?) => {
        $(
            impl<'a> From<ArrayViewD<'a, $element>> for Buffer<'a> {
                fn from(array: ArrayViewD<'a, $element>) -> Buffer<'a> {
                    Buffer::View(View::read(ScalarType::$variant, &array))
                }
            }

            impl<'a> From<ArrayViewMutD<'a, $element>> for Buffer<'a> {
                fn from(array: ArrayViewMutD<'a, $element>) -> Buffer<'a> {
                    Buffer::View(View::write(ScalarType::$variant, array))
                }
            }
        )*
    };
}

views!(
    F16: program::f16, BF16: program::bf16, F32: f32, F64: f64, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16,
    U32: u32, U64: u64, Bool: bool,
);
