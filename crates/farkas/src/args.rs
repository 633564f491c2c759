//! Arguments of a call: host arrays by name, borrowed, of any layout.

use ndarray::{ArrayView, ArrayViewD, ArrayViewMut, ArrayViewMutD, Dimension, IxDyn, ShapeError};
use program::{Data, ScalarType, Slice, SliceMut, Value, bf16, f16};

use crate::{Buffer, Cancel, Workspace};

/// A type that arrays can have as elements.
pub trait Element: Copy + sealed::Sealed {}

mod sealed {
    use super::{ArrayViewD, ArrayViewMutD, View, ViewMut};

    pub trait Sealed: Sized {
        fn view(array: ArrayViewD<'_, Self>) -> View<'_>;
        fn view_mut(array: ArrayViewMutD<'_, Self>) -> ViewMut<'_>;
    }
}

macro_rules! elements {
    ($($variant:ident: $element:ty),* $(,)?) => {
        /// A host array that is read.
        #[derive(Debug)]
        pub enum View<'a> {
            $($variant(ArrayViewD<'a, $element>)),*
        }

        /// A host array that is read and written.
        #[derive(Debug)]
        pub enum ViewMut<'a> {
            $($variant(ArrayViewMutD<'a, $element>)),*
        }

        $(
            impl Element for $element {}

            impl sealed::Sealed for $element {
                fn view(array: ArrayViewD<'_, Self>) -> View<'_> {
                    View::$variant(array)
                }

                fn view_mut(array: ArrayViewMutD<'_, Self>) -> ViewMut<'_> {
                    ViewMut::$variant(array)
                }
            }
        )*

        impl View<'_> {
            pub(crate) fn ty(&self) -> ScalarType {
                match self {
                    $(View::$variant(_) => ScalarType::$variant),*
                }
            }

            pub(crate) fn shape(&self) -> &[usize] {
                match self {
                    $(View::$variant(array) => array.shape()),*
                }
            }

            /// How far neighbours are apart, in elements.
            pub(crate) fn strides(&self) -> &[isize] {
                match self {
                    $(View::$variant(array) => array.strides()),*
                }
            }

            /// The cells where they lie.
            pub(crate) fn buffer(&self) -> Buffer<'_> {
                match self {
                    $(View::$variant(array) => array.view().into()),*
                }
            }

            /// The elements in row-major order, if they lie so in memory.
            pub(crate) fn as_slice(&self) -> Option<Slice<'_>> {
                match self {
                    $(View::$variant(array) => array.as_slice().map(Slice::$variant)),*
                }
            }

            /// A row-major copy.
            pub(crate) fn to_data(&self) -> Data {
                match self {
                    $(View::$variant(array) => Data::$variant(array.iter().copied().collect())),*
                }
            }
        }

        impl ViewMut<'_> {
            pub(crate) fn reborrow(&self) -> View<'_> {
                match self {
                    $(ViewMut::$variant(array) => View::$variant(array.view())),*
                }
            }

            /// The cells where they lie.
            pub(crate) fn buffer(&mut self) -> Buffer<'_> {
                match self {
                    $(ViewMut::$variant(array) => array.view_mut().into()),*
                }
            }

            pub(crate) fn as_mut_slice(&mut self) -> Option<SliceMut<'_>> {
                match self {
                    $(ViewMut::$variant(array) => array.as_slice_mut().map(SliceMut::$variant)),*
                }
            }

            /// Copies row-major elements of the same type back; others are left alone.
            pub(crate) fn assign(&mut self, data: &Data) {
                match (self, data) {
                    $((ViewMut::$variant(array), Data::$variant(elements)) => {
                        array.iter_mut().zip(elements).for_each(|(cell, element)| *cell = *element);
                    })*
                    _ => {}
                }
            }
        }

        /// An owned array as a view of its shape.
        fn view_of<'a>(elements: Slice<'a>, shape: &[usize]) -> Result<View<'a>, ShapeError> {
            Ok(match elements {
                $(Slice::$variant(elements) => {
                    View::$variant(ArrayView::from_shape(IxDyn(shape), elements)?)
                })*
            })
        }

        fn view_mut_of<'a>(elements: SliceMut<'a>, shape: &[usize]) -> Result<ViewMut<'a>, ShapeError> {
            Ok(match elements {
                $(SliceMut::$variant(elements) => {
                    ViewMut::$variant(ArrayViewMut::from_shape(IxDyn(shape), elements)?)
                })*
            })
        }

        $(
            impl From<$element> for ScalarArg {
                fn from(value: $element) -> ScalarArg {
                    ScalarArg(Value::$variant(value))
                }
            }
        )*
    };
}

elements!(
    F16: f16, BF16: bf16, F32: f32, F64: f64, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, Bool: bool,
);

/// A scalar argument of a known type.
#[derive(Clone, Copy, Debug)]
pub struct ScalarArg(pub(crate) Value);

impl From<Value> for ScalarArg {
    fn from(value: Value) -> ScalarArg {
        ScalarArg(value)
    }
}

/// One named argument.
#[derive(Debug)]
pub(crate) enum Given<'a> {
    Read(View<'a>),
    Write(ViewMut<'a>),
    Scalar(Value),
    /// A slice whose length does not fit the shape it was given with.
    Misshapen {
        len: usize,
        shape: Vec<usize>,
    },
}

/// The arguments of one call, by name. Sizes are inferred from the arrays; [`Args::size`] is for those that no array
/// shows.
#[derive(Debug, Default)]
pub struct Args<'a> {
    pub(crate) given: Vec<(String, Given<'a>)>,
    pub(crate) sizes: Vec<(String, i64)>,
    pub(crate) threads: Option<usize>,
    pub(crate) cancel: Option<Cancel>,
    pub(crate) workspace: Option<&'a mut Workspace>,
}

impl<'a> Args<'a> {
    /// No arguments yet.
    pub fn new() -> Self {
        Args::default()
    }

    /// An array that is only read.
    pub fn array<T: Element, D: Dimension>(&mut self, name: &str, view: ArrayView<'a, T, D>) -> &mut Self {
        self.push(name, Given::Read(T::view(view.into_dyn())))
    }

    /// An `out` or `inout` array.
    pub fn array_mut<T: Element, D: Dimension>(&mut self, name: &str, view: ArrayViewMut<'a, T, D>) -> &mut Self {
        self.push(name, Given::Write(T::view_mut(view.into_dyn())))
    }

    /// A row-major slice that is only read.
    pub fn slice<T: Element>(&mut self, name: &str, elements: &'a [T], shape: &[usize]) -> &mut Self {
        let given = match ArrayView::from_shape(IxDyn(shape), elements) {
            Ok(view) if view.len() == elements.len() => Given::Read(T::view(view)),
            _ => Given::Misshapen { len: elements.len(), shape: shape.to_vec() },
        };
        self.push(name, given)
    }

    /// A row-major slice for an `out` or `inout` array.
    pub fn slice_mut<T: Element>(&mut self, name: &str, elements: &'a mut [T], shape: &[usize]) -> &mut Self {
        let len = elements.len();
        let given = match ArrayViewMut::from_shape(IxDyn(shape), elements) {
            Ok(view) if view.len() == len => Given::Write(T::view_mut(view)),
            _ => Given::Misshapen { len, shape: shape.to_vec() },
        };
        self.push(name, given)
    }

    /// Owned elements whose type is known only at run time, to be read.
    pub fn data(&mut self, name: &str, data: &'a Data, shape: &[usize]) -> &mut Self {
        self.elements(name, data.as_slice(), shape)
    }

    /// Borrowed elements whose type is known only at run time, to be read.
    pub fn elements(&mut self, name: &str, elements: Slice<'a>, shape: &[usize]) -> &mut Self {
        let len = elements.len();
        let given = match view_of(elements, shape) {
            Ok(view) if shape.iter().product::<usize>() == len => Given::Read(view),
            _ => Given::Misshapen { len, shape: shape.to_vec() },
        };
        self.push(name, given)
    }

    /// Owned elements whose type is known only at run time, to be read and written.
    pub fn data_mut(&mut self, name: &str, data: &'a mut Data, shape: &[usize]) -> &mut Self {
        self.elements_mut(name, data.as_mut_slice(), shape)
    }

    /// Borrowed elements whose type is known only at run time, to be read and written.
    pub fn elements_mut(&mut self, name: &str, elements: SliceMut<'a>, shape: &[usize]) -> &mut Self {
        let len = elements.as_slice().len();
        let given = match view_mut_of(elements, shape) {
            Ok(view) if shape.iter().product::<usize>() == len => Given::Write(view),
            _ => Given::Misshapen { len, shape: shape.to_vec() },
        };
        self.push(name, given)
    }

    /// A scalar. A number of another type will do where the function's type has exactly its value.
    pub fn scalar(&mut self, name: &str, value: impl Into<ScalarArg>) -> &mut Self {
        self.push(name, Given::Scalar(value.into().0))
    }

    /// A scalar result.
    pub fn result<T: Element>(&mut self, name: &str, value: &'a mut T) -> &mut Self {
        self.slice_mut(name, std::slice::from_mut(value), &[])
    }

    /// The value of a parameter.
    pub fn size(&mut self, name: &str, value: i64) -> &mut Self {
        self.sizes.push((name.to_string(), value));
        self
    }

    /// At most so many threads work on this call, the calling one included.
    pub fn threads(&mut self, limit: usize) -> &mut Self {
        self.threads = Some(limit);
        self
    }

    /// A token that ends the call.
    pub fn cancel(&mut self, token: &Cancel) -> &mut Self {
        self.cancel = Some(token.clone());
        self
    }

    /// Memory of the host for the function's local arrays, so that calls one after the other need not ask the system for it.
    /// Arrays of which every thread of a parallel loop has its own are not in it.
    pub fn workspace(&mut self, workspace: &'a mut Workspace) -> &mut Self {
        self.workspace = Some(workspace);
        self
    }

    fn push(&mut self, name: &str, given: Given<'a>) -> &mut Self {
        self.given.push((name.to_string(), given));
        self
    }
}
