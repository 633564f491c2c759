//! Array contents: owned, and borrowed from the host, with the element type known at run time.

use std::ops::Range;

use half::{bf16, f16};

use crate::{ScalarType, Value};

macro_rules! buffers {
    ($($variant:ident: $element:ty),* $(,)?) => {
        /// The elements of an array, owned, row-major.
        #[derive(Clone, Debug)]
        pub enum Data {
            $(
                #[doc = concat!("Elements of type `", stringify!($element), "`.")]
                $variant(Vec<$element>),
            )*
        }

        /// Elements that may be read.
        #[derive(Clone, Copy, Debug)]
        pub enum Slice<'a> {
            $(
                #[doc = concat!("Elements of type `", stringify!($element), "`.")]
                $variant(&'a [$element]),
            )*
        }

        /// Elements that may be read and written.
        #[derive(Debug)]
        pub enum SliceMut<'a> {
            $(
                #[doc = concat!("Elements of type `", stringify!($element), "`.")]
                $variant(&'a mut [$element]),
            )*
        }

        impl Data {
            /// `len` zeros (`false` for `bool`); `None` if that much memory cannot be had.
            pub fn zeros(ty: ScalarType, len: usize) -> Option<Data> {
                Some(match ty {
                    $(ScalarType::$variant => {
                        let mut elements: Vec<$element> = Vec::new();
                        elements.try_reserve_exact(len).ok()?;
                        elements.resize(len, <$element>::default());
                        Data::$variant(elements)
                    })*
                })
            }

            /// The elements, to read.
            pub fn as_slice(&self) -> Slice<'_> {
                match self {
                    $(Data::$variant(elements) => Slice::$variant(elements)),*
                }
            }

            /// The elements, to write.
            pub fn as_mut_slice(&mut self) -> SliceMut<'_> {
                match self {
                    $(Data::$variant(elements) => SliceMut::$variant(elements)),*
                }
            }

            /// Stores a value of the array's own type; `false` if the position or the type does not fit.
            pub fn set(&mut self, position: usize, value: Value) -> bool {
                match (self, value) {
                    $((Data::$variant(elements), Value::$variant(value)) => {
                        elements.get_mut(position).map(|element| *element = value).is_some()
                    })*
                    _ => false,
                }
            }
        }

        impl Slice<'_> {
            /// The type of the elements.
            pub fn ty(&self) -> ScalarType {
                match self {
                    $(Slice::$variant(_) => ScalarType::$variant),*
                }
            }

            /// How many elements there are.
            pub fn len(&self) -> usize {
                match self {
                    $(Slice::$variant(elements) => elements.len()),*
                }
            }

            /// One element; none beyond the end.
            pub fn get(&self, position: usize) -> Option<Value> {
                match self {
                    $(Slice::$variant(elements) => elements.get(position).map(|element| Value::$variant(*element))),*
                }
            }

            /// The elements of some positions; none if there are not as many.
            pub fn part(self, positions: Range<usize>) -> Self {
                match self {
                    $(Slice::$variant(elements) => Slice::$variant(elements.get(positions).unwrap_or_default())),*
                }
            }

            /// How many elements stand in front of the first one whose address is a multiple of `bytes`, a power of two.
            pub fn align_offset(&self, bytes: usize) -> usize {
                match self {
                    $(Slice::$variant(elements) => elements.as_ptr().align_offset(bytes)),*
                }
            }

            /// A copy that is owned.
            pub fn to_data(&self) -> Data {
                match self {
                    $(Slice::$variant(elements) => Data::$variant(elements.to_vec())),*
                }
            }
        }

        impl<'a> SliceMut<'a> {
            /// The elements of some positions; none if there are not as many.
            pub fn part(self, positions: Range<usize>) -> SliceMut<'a> {
                match self {
                    $(SliceMut::$variant(elements) => {
                        SliceMut::$variant(elements.get_mut(positions).unwrap_or_default())
                    })*
                }
            }

            /// Takes over the elements of another array; `false` if their number or type is another one.
            pub fn copy_from(&mut self, from: Slice<'_>) -> bool {
                match (self, from) {
                    $((SliceMut::$variant(elements), Slice::$variant(from)) if elements.len() == from.len() => {
                        elements.copy_from_slice(from);
                        true
                    })*
                    _ => false,
                }
            }

            /// The elements, to read.
            pub fn as_slice(&self) -> Slice<'_> {
                match self {
                    $(SliceMut::$variant(elements) => Slice::$variant(elements)),*
                }
            }
        }

        $(
            impl From<Vec<$element>> for Data {
                fn from(elements: Vec<$element>) -> Data {
                    Data::$variant(elements)
                }
            }
        )*
    };
}

buffers!(
    F16: f16, BF16: bf16, F32: f32, F64: f64, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, Bool: bool,
);

impl Data {
    /// The type of the elements.
    pub fn ty(&self) -> ScalarType {
        self.as_slice().ty()
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One element; none beyond the end.
    pub fn get(&self, position: usize) -> Option<Value> {
        self.as_slice().get(position)
    }
}

impl Slice<'_> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl PartialEq for Data {
    /// Bit for bit, except that every NaN equals every NaN.
    fn eq(&self, other: &Data) -> bool {
        self.ty() == other.ty()
            && self.len() == other.len()
            && (0..self.len()).all(|position| self.get(position) == other.get(position))
    }
}
