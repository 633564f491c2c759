//! Calling a compiled kernel: everything is checked here, so that the call itself is safe.
//!
//! In: sizes, scalars and buffers from the host.  Out: filled buffers, or what is wrong, in the user's names.
//! Not here: that subscripts stay inside the arrays; that is proven before a kernel reaches this crate, or checked by it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loops::{ArrayDecl, Index, Kernel, ScalarDecl, Site};
use program::{Fault, FaultKind, Role, ScalarType, Slice, SliceMut, Value, bf16, f16};

use crate::Compiled;
use crate::code::Scratch;
use crate::parallel::{Region, Report};
use crate::plan::Plan;
use crate::view::{View, check_row_major};
use crate::workspace::Workspace;

/// The elements of one array argument.
#[derive(Debug)]
pub enum Buffer<'a> {
    /// The code only reads them.
    Read(Slice<'a>),
    /// The code may write them.
    Write(SliceMut<'a>),
    /// They do not lie row-major, and the code is made for that.
    View(View<'a>),
}

macro_rules! buffers {
    ($($variant:ident: $element:ty),*) => {
        $(
            impl<'a> From<&'a [$element]> for Buffer<'a> {
                fn from(elements: &'a [$element]) -> Buffer<'a> {
                    Buffer::Read(Slice::$variant(elements))
                }
            }

            impl<'a> From<&'a mut [$element]> for Buffer<'a> {
                fn from(elements: &'a mut [$element]) -> Buffer<'a> {
                    Buffer::Write(SliceMut::$variant(elements))
                }
            }
        )*
    };
}

buffers!(
    F16: f16, BF16: bf16, F32: f32, F64: f64, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, Bool: bool
);

/// Why a call was refused, or failed while it ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// More or fewer sizes than there are.
    #[error("the function takes {expected} size parameters, but {given} were given")]
    ParamCount {
        /// What the function takes.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// More or fewer scalars than there are.
    #[error("the function takes {expected} scalars, but {given} were given")]
    ScalarCount {
        /// What the function takes.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// More or fewer arrays than there are.
    #[error("the function takes {expected} arrays, but {given} were given")]
    ArrayCount {
        /// What the function takes.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// A scalar of another type.
    #[error("scalar `{name}` is {expected}, but {given} was given")]
    ScalarType {
        /// Of the argument.
        name: String,
        /// What the function takes.
        expected: ScalarType,
        /// What was given.
        given: ScalarType,
    },
    /// An array of another type.
    #[error("array `{name}` has elements of type {expected}, but the buffer holds {given}")]
    ElementType {
        /// Of the argument.
        name: String,
        /// What the function takes.
        expected: ScalarType,
        /// What was given.
        given: ScalarType,
    },
    /// An array that is written and may only be read.
    #[error("array `{name}` is written, but its buffer is read-only")]
    NotWritable {
        /// Of the argument.
        name: String,
    },
    /// An array of another size.
    #[error("array `{name}` has {expected} elements for these sizes, but the buffer has {given}")]
    Length {
        /// Of the argument.
        name: String,
        /// What the function takes.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// A view of another shape.
    #[error("array `{name}` has another shape for these sizes than {given:?}")]
    Shape {
        /// Of the argument.
        name: String,
        /// What was given.
        given: Vec<usize>,
    },
    /// Cells that do not lie where the code looks for them.
    #[error("the cells of array `{name}` do not lie where the code looks for them")]
    Strides {
        /// Of the argument.
        name: String,
    },
    /// An extent that the sizes make negative.
    #[error("dimension {dimension} of array `{name}` would be {extent}")]
    NegativeExtent {
        /// Of the argument.
        name: String,
        /// From 0.
        dimension: usize,
        /// What it would be.
        extent: i64,
    },
    /// An array whose bytes 64 bits cannot count.
    #[error("array `{name}` would be larger than memory can be")]
    TooLarge {
        /// Of the argument.
        name: String,
    },
    /// An array of the function's own that does not fit.
    #[error("no memory for array `{name}`, which needs {bytes} bytes")]
    OutOfMemory {
        /// Of the argument.
        name: String,
        /// How many it needs.
        bytes: usize,
    },
    /// The lengths of all arrays have been computed from the same extents, so this is a fault of the compiler.
    #[error("a stride does not fit 64 bits, though all arrays do")]
    Stride,
    /// Arguments that were prepared for another function.
    #[error("the call was prepared for another function")]
    OtherKernel,
    /// The caller stopped it.
    #[error("the call was cancelled; arrays that it writes hold part of the result")]
    Cancelled,
    /// Arrays of which every thread has its own do not fit.
    #[error("no memory for the arrays that each thread needs for itself")]
    NoMemoryForThreads,
    /// Something in the pool of the host went wrong.
    #[error("a thread of the pool panicked")]
    Panicked,
    /// The data is at fault.
    #[error(transparent)]
    Fault(Fault),
}

/// An 8-byte argument that follows the parameters, so that generated code has it in a register from the start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Derived {
    /// `factor` times a product of extents: a stride. Wraps, as address arithmetic does.
    Product {
        factor: i64,
        extents: Vec<Index>,
    },
    Constant(Value),
}

impl Derived {
    pub(crate) fn is_constant(&self, value: Value) -> bool {
        matches!(self, Derived::Constant(constant) if *constant == value)
    }

    pub(crate) fn evaluate(&self, params: &[i64]) -> Option<i64> {
        match self {
            Derived::Constant(value) => Some(slot(*value).cast_signed()),
            Derived::Product { factor, extents } => {
                extents.iter().try_fold(*factor, |product, index| Some(product.wrapping_mul(index.value(params, &[])?)))
            }
        }
    }
}

/// What must be known of a kernel to call it.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) params: usize,
    /// How many loop variables there are.
    pub(crate) vars: usize,
    pub(crate) derived: Vec<Derived>,
    pub(crate) scalars: Vec<ScalarDecl>,
    pub(crate) arrays: Vec<ArrayDecl>,
    sites: Vec<Site>,
    pub(crate) regions: Vec<Region>,
}

/// How one call runs.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Whose threads help with parallel loops; without one, the calling thread is alone.
    pub pool: Option<&'a rayon::ThreadPool>,
    /// How many threads work at once at most, the calling one included.
    pub threads: usize,
    /// A parallel loop is shared if it is expected to take at least so long: by its sizes, or by how long the first iteration took.
    pub worth_sharing: Duration,
    /// Ends the call when it becomes true.
    pub cancel: Option<&'a AtomicBool>,
}

impl Run<'_> {
    /// How long a loop must take to wake the threads of a pool of which nothing was measured: several times what waking and waiting should take.
    pub const WORTH_SHARING: Duration = Duration::from_micros(40);
}

impl Default for Run<'_> {
    fn default() -> Self {
        Run { pool: None, threads: 1, worth_sharing: Run::WORTH_SHARING, cancel: None }
    }
}

impl Signature {
    pub(crate) fn new(kernel: &Kernel, derived: Vec<Derived>, sites: Vec<Site>, regions: Vec<Region>) -> Signature {
        let (scalars, arrays) = (kernel.scalars.clone(), kernel.arrays.clone());
        Signature { params: kernel.params.len(), vars: kernel.vars.len(), derived, scalars, arrays, sites, regions }
    }

    pub(crate) fn is_parallel(&self) -> bool {
        !self.regions.is_empty()
    }

    /// What a status other than `DONE` says.
    pub(crate) fn fault(&self, status: i32, report: Report, params: &[i64]) -> Fault {
        let site = usize::try_from(status).ok().and_then(|status| self.sites.get(status.checked_sub(1)?));
        match site {
            Some(site) => site.fault([report.value, report.earlier], &self.arrays, params),
            None => Fault::new(FaultKind::DivisionByZero, None),
        }
    }

    pub(crate) fn check_counts(&self, scalars: usize, arrays: usize) -> Result<(), CallError> {
        let expected = self.scalars.len();
        if scalars != expected {
            return Err(CallError::ScalarCount { expected, given: scalars });
        }
        let expected = self.arrays.iter().filter(|array| array.role != Role::Local).count();
        if arrays != expected {
            return Err(CallError::ArrayCount { expected, given: arrays });
        }
        Ok(())
    }
}

impl Compiled {
    /// Runs the kernel. One buffer per array that is not local, in the order of declaration; local arrays are
    /// in memory that the thread keeps, or allocated for the call. After an error while running, written arrays hold part of the result.
    pub fn call(&self, params: &[i64], scalars: &[Value], arrays: &mut [Buffer<'_>]) -> Result<(), CallError> {
        self.call_with(params, scalars, arrays, &Run::default())
    }

    /// The same, with threads to help and a flag that ends it. Neither changes results.
    pub fn call_with(
        &self,
        params: &[i64],
        scalars: &[Value],
        arrays: &mut [Buffer<'_>],
        run: &Run<'_>,
    ) -> Result<(), CallError> {
        Workspace::with_spare(|spare| self.call_in(params, scalars, arrays, run, spare))
    }

    /// The same with local arrays in memory of the host.
    pub fn call_in(
        &self,
        params: &[i64],
        scalars: &[Value],
        arrays: &mut [Buffer<'_>],
        run: &Run<'_>,
        workspace: &mut Workspace,
    ) -> Result<(), CallError> {
        let mut plan = Plan::new_in(self, params, workspace)?;
        let called = plan.call(self, scalars, arrays, run);
        plan.leave(workspace);
        called
    }
}

/// The number of elements of an array at the given sizes.
pub(crate) fn length(decl: &ArrayDecl, params: &[i64]) -> Result<usize, CallError> {
    let too_large = || CallError::TooLarge { name: decl.name.clone() };
    let mut extents = Vec::with_capacity(decl.shape.len());
    for (dimension, index) in decl.shape.iter().enumerate() {
        let extent = index.value(params, &[]).ok_or_else(too_large)?;
        let negative = || CallError::NegativeExtent { name: decl.name.clone(), dimension, extent };
        extents.push(usize::try_from(extent).map_err(|_| negative())?);
    }
    // An empty dimension makes an empty array, however large the others are.
    if extents.contains(&0) {
        return Ok(0);
    }
    let product = |len: usize, extent: usize| len.checked_mul(extent);
    extents.into_iter().try_fold(1, product).ok_or_else(too_large)
}

/// The address of a buffer that fits the array.
pub(crate) fn argument(
    decl: &ArrayDecl,
    len: usize,
    buffer: &mut Buffer<'_>,
    params: &[i64],
) -> Result<*mut u8, CallError> {
    let name = || decl.name.clone();
    let (ty, given) = match &*buffer {
        Buffer::Read(slice) => (slice.ty(), slice.len()),
        Buffer::Write(slice) => (slice.as_slice().ty(), slice.as_slice().len()),
        Buffer::View(view) => (view.ty, view.len()),
    };
    if ty != decl.ty {
        return Err(CallError::ElementType { name: name(), expected: decl.ty, given: ty });
    }
    if given != len {
        return Err(CallError::Length { name: name(), expected: len, given });
    }
    match &*buffer {
        Buffer::View(view) => view.check(decl, params)?,
        Buffer::Read(_) | Buffer::Write(_) if decl.strides.is_some() => check_row_major(decl, params)?,
        Buffer::Read(_) | Buffer::Write(_) => {}
    }
    match buffer {
        Buffer::View(view) if view.is_writable || decl.role == Role::In => Ok(view.address),
        Buffer::View(_) => Err(CallError::NotWritable { name: name() }),
        Buffer::Write(slice) => Ok(write_address(slice)),
        Buffer::Read(slice) if decl.role == Role::In => Ok(read_address(*slice)),
        Buffer::Read(_) => Err(CallError::NotWritable { name: name() }),
    }
}

pub(crate) fn allocate(decl: &ArrayDecl, len: usize, workspace: &mut Workspace) -> Result<Scratch, CallError> {
    let name = || decl.name.clone();
    let bytes = len.checked_mul(decl.ty.bytes()).ok_or_else(|| CallError::TooLarge { name: name() })?;
    workspace.take(bytes).ok_or_else(|| CallError::OutOfMemory { name: name(), bytes })
}

fn write_address(slice: &mut SliceMut<'_>) -> *mut u8 {
    match slice {
        SliceMut::F16(elements) => elements.as_mut_ptr().cast(),
        SliceMut::BF16(elements) => elements.as_mut_ptr().cast(),
        SliceMut::F32(elements) => elements.as_mut_ptr().cast(),
        SliceMut::F64(elements) => elements.as_mut_ptr().cast(),
        SliceMut::I8(elements) => elements.as_mut_ptr().cast(),
        SliceMut::I16(elements) => elements.as_mut_ptr().cast(),
        SliceMut::I32(elements) => elements.as_mut_ptr().cast(),
        SliceMut::I64(elements) => elements.as_mut_ptr().cast(),
        SliceMut::U8(elements) => elements.as_mut_ptr(),
        SliceMut::U16(elements) => elements.as_mut_ptr().cast(),
        SliceMut::U32(elements) => elements.as_mut_ptr().cast(),
        SliceMut::U64(elements) => elements.as_mut_ptr().cast(),
        SliceMut::Bool(elements) => elements.as_mut_ptr().cast(),
    }
}

fn read_address(slice: Slice<'_>) -> *mut u8 {
    let address: *const u8 = match slice {
        Slice::F16(elements) => elements.as_ptr().cast(),
        Slice::BF16(elements) => elements.as_ptr().cast(),
        Slice::F32(elements) => elements.as_ptr().cast(),
        Slice::F64(elements) => elements.as_ptr().cast(),
        Slice::I8(elements) => elements.as_ptr().cast(),
        Slice::I16(elements) => elements.as_ptr().cast(),
        Slice::I32(elements) => elements.as_ptr().cast(),
        Slice::I64(elements) => elements.as_ptr().cast(),
        Slice::U8(elements) => elements.as_ptr(),
        Slice::U16(elements) => elements.as_ptr().cast(),
        Slice::U32(elements) => elements.as_ptr().cast(),
        Slice::U64(elements) => elements.as_ptr().cast(),
        Slice::Bool(elements) => elements.as_ptr().cast(),
    };
    address.cast_mut()
}

/// A scalar in the low bytes of a slot.
pub(crate) fn slot(value: Value) -> u64 {
    let mut bytes = [0; 8];
    match value {
        Value::F16(v) => bytes[..2].copy_from_slice(&v.to_ne_bytes()),
        Value::BF16(v) => bytes[..2].copy_from_slice(&v.to_ne_bytes()),
        Value::F32(v) => bytes[..4].copy_from_slice(&v.to_ne_bytes()),
        Value::F64(v) => bytes = v.to_ne_bytes(),
        Value::I8(v) => bytes[..1].copy_from_slice(&v.to_ne_bytes()),
        Value::I16(v) => bytes[..2].copy_from_slice(&v.to_ne_bytes()),
        Value::I32(v) => bytes[..4].copy_from_slice(&v.to_ne_bytes()),
        Value::I64(v) => bytes = v.to_ne_bytes(),
        Value::U8(v) => bytes[0] = v,
        Value::U16(v) => bytes[..2].copy_from_slice(&v.to_ne_bytes()),
        Value::U32(v) => bytes[..4].copy_from_slice(&v.to_ne_bytes()),
        Value::U64(v) => bytes = v.to_ne_bytes(),
        Value::Bool(v) => bytes[0] = u8::from(v),
    }
    u64::from_ne_bytes(bytes)
}
