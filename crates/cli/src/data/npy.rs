//! NumPy's `.npy` files: all element types, both byte orders, C and Fortran order.
//!
//! In: a path and the type that is wanted.  Out: the array, or in one sentence why the file cannot be it.
//! The header is held against limits before the `npyz` crate sees it, which trusts its numbers.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::Path;

use farkas::{Data, ScalarType, Slice, bf16, f16};
use ndarray::{ArrayView, IxDyn, ShapeBuilder};
use npyz::{DType, NpyFile, NpyHeader, Order, TypeChar, WriterBuilder};

use crate::data::{HostArray, LINE};
use crate::failure::reason;

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy itself refuses longer ones by default.
const MAX_HEADER_BYTES: usize = 10_000;

/// Records of records could otherwise nest until the stack ends.
const MAX_HEADER_NESTING: usize = 32;

/// Reads a file whose elements must be of type `ty`. The messages start after "cannot read".
pub(crate) fn read(path: &Path, ty: ScalarType) -> Result<HostArray, Problem> {
    let file = File::open(path).map_err(|error| Problem::Unreadable(reason(&error)))?;
    let metadata = file.metadata().map_err(|error| Problem::Unreadable(reason(&error)))?;
    let len = metadata.is_file().then_some(metadata.len());
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut start = read_header(&mut reader)?;
    let brain = ty == ScalarType::BF16 && brain_as_integers(&mut start);
    let data_bytes = len.map(|len| len.saturating_sub(start.len() as u64));
    let header = NpyHeader::from_reader(Cursor::new(start)).map_err(|error| Problem::Malformed(error.to_string()))?;

    let found = element_type(&header.dtype());
    let found = if brain { Some(ty) } else { found };
    if found != Some(ty) {
        let holds = found.map_or_else(|| format!("elements of dtype {}", header.dtype().descr()), |ty| ty.to_string());
        return Err(if is_complex(&header.dtype()) { Problem::Complex { holds } } else { Problem::Type { holds } });
    }
    let needed = header.len().checked_mul(ty.bytes() as u64);
    if let (Some(needed), Some(there)) = (needed, data_bytes)
        && there < needed
    {
        return Err(Problem::Malformed(format!(
            "it is truncated: {needed} bytes of elements are missing {}",
            needed - there
        )));
    }
    let npy = NpyFile::with_header(header, reader);
    match ty {
        ScalarType::F16 => elements::<f16>(npy),
        ScalarType::BF16 => elements_as(npy, bf16::from_bits),
        ScalarType::F32 => elements::<f32>(npy),
        ScalarType::F64 => elements::<f64>(npy),
        ScalarType::I8 => elements::<i8>(npy),
        ScalarType::I16 => elements::<i16>(npy),
        ScalarType::I32 => elements::<i32>(npy),
        ScalarType::I64 => elements::<i64>(npy),
        ScalarType::U8 => elements::<u8>(npy),
        ScalarType::U16 => elements::<u16>(npy),
        ScalarType::U32 => elements::<u32>(npy),
        ScalarType::U64 => elements::<u64>(npy),
        ScalarType::Bool => elements::<bool>(npy),
    }
}

/// Why a file cannot be used.
#[derive(Debug)]
pub(crate) enum Problem {
    Unreadable(String),
    Malformed(String),
    Type {
        holds: String,
    },
    /// Numbers with two parts, of which a conversion would drop one.
    Complex {
        holds: String,
    },
}

/// The bytes up to the first element, within limits, with a shape whose size can be computed.
fn read_header(reader: &mut impl Read) -> Result<Vec<u8>, Problem> {
    let malformed = |what: &str| Problem::Malformed(what.to_string());
    let mut bytes = Vec::new();
    let mut take = |bytes: &mut Vec<u8>, count: usize| -> Result<(), Problem> {
        let read = reader.by_ref().take(count as u64).read_to_end(bytes);
        match read.map_err(|error| Problem::Unreadable(reason(&error)))? {
            read if read == count => Ok(()),
            _ => Err(malformed("its header is truncated")),
        }
    };
    match take(&mut bytes, MAGIC.len()) {
        Ok(()) if bytes == MAGIC => {}
        Err(Problem::Unreadable(why)) => return Err(Problem::Unreadable(why)),
        _ => return Err(malformed("it is not a .npy file")),
    }
    take(&mut bytes, 2)?;
    // Version 1 has two bytes for the length of the header, later ones have four.
    let width = if bytes[MAGIC.len()] == 1 { 2 } else { 4 };
    let before = bytes.len();
    take(&mut bytes, width)?;
    let header_len = bytes[before..].iter().rev().fold(0usize, |len, byte| len << 8 | usize::from(*byte));
    if header_len > MAX_HEADER_BYTES {
        return Err(Problem::Malformed(format!("its header has {header_len} bytes, more than {MAX_HEADER_BYTES}")));
    }
    let before = bytes.len();
    take(&mut bytes, header_len)?;
    check_header_text(&String::from_utf8_lossy(&bytes[before..])).map_err(malformed)?;
    Ok(bytes)
}

/// Refuses what would nest too deep or overflow when the shape is multiplied out.
fn check_header_text(text: &str) -> Result<(), &'static str> {
    let openings = text.chars().filter(|c| matches!(c, '(' | '[' | '{')).count();
    if openings > MAX_HEADER_NESTING {
        return Err("its header is nested too deeply");
    }
    let mut after_key = text.split("shape").skip(1);
    let (Some(after), None) = (after_key.next(), after_key.next()) else {
        return Err("its header must have one shape");
    };
    let inside = after.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(inside, _)| inside);
    let extents = inside.unwrap_or_default().split(',').map(str::trim).filter(|extent| !extent.is_empty());
    let mut size: u64 = 16;
    for extent in extents {
        let extent: u64 = extent.parse().map_err(|_| "its shape is not a tuple of sizes")?;
        size = size.checked_mul(extent.max(1)).ok_or("its shape is larger than any memory")?;
    }
    if inside.is_some() { Ok(()) } else { Err("its shape is not a tuple of sizes") }
}

/// NumPy has no `bf16`; what extends it stores such elements as two bytes without a meaning, which are read as integers.
/// Whether they are such elements.
fn brain_as_integers(header: &mut [u8]) -> bool {
    let found = header.windows(5).position(|window| window == b"'<V2'" || window == b"'|V2'");
    if let Some(at) = found {
        header[at..at + 5].copy_from_slice(b"'<u2'");
    }
    found.is_some()
}

/// The scalar type of plain elements, whatever their byte order.
fn element_type(dtype: &DType) -> Option<ScalarType> {
    let DType::Plain(plain) = dtype else { return None };
    Some(match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 2) => ScalarType::F16,
        (TypeChar::Float, 4) => ScalarType::F32,
        (TypeChar::Float, 8) => ScalarType::F64,
        (TypeChar::Int, 1) => ScalarType::I8,
        (TypeChar::Int, 2) => ScalarType::I16,
        (TypeChar::Int, 4) => ScalarType::I32,
        (TypeChar::Int, 8) => ScalarType::I64,
        (TypeChar::Uint, 1) => ScalarType::U8,
        (TypeChar::Uint, 2) => ScalarType::U16,
        (TypeChar::Uint, 4) => ScalarType::U32,
        (TypeChar::Uint, 8) => ScalarType::U64,
        (TypeChar::Bool, 1) => ScalarType::Bool,
        _ => return None,
    })
}

fn is_complex(dtype: &DType) -> bool {
    matches!(dtype, DType::Plain(plain) if plain.type_char() == TypeChar::Complex)
}

/// The elements, brought into row-major order.
fn elements<T>(npy: NpyFile<impl Read>) -> Result<HostArray, Problem>
where
    T: npyz::Deserialize + Copy + Default,
    Data: From<Vec<T>>,
{
    elements_as::<T, T>(npy, |element| element)
}

/// The same, of elements that are stored as others.
fn elements_as<S, T>(npy: NpyFile<impl Read>, element: impl Fn(S) -> T) -> Result<HostArray, Problem>
where
    S: npyz::Deserialize,
    T: Copy + Default,
    Data: From<Vec<T>>,
{
    let malformed = |what: String| Problem::Malformed(what);
    let shape: Result<Vec<usize>, _> = npy.shape().iter().map(|extent| usize::try_from(*extent)).collect();
    let shape = shape.map_err(|_| malformed("its shape is larger than any memory".to_string()))?;
    let order = npy.order();
    let count = usize::try_from(npy.len()).map_err(|_| malformed("its shape is larger than any memory".to_string()))?;
    let mut elements: Vec<T> = room(count)?;
    let start = elements.len();
    let mut read = npy.data::<S>().map_err(|error| malformed(error.to_string()))?;
    while elements.len() < start + count {
        match read.next() {
            Some(Ok(stored)) => elements.push(element(stored)),
            Some(Err(error)) if error.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(malformed(error.to_string()));
            }
            Some(Err(_)) | None => return Err(malformed("it is truncated".to_string())),
        }
    }
    let (elements, start) = match order {
        Order::C => (elements, start),
        Order::Fortran => {
            let view = ArrayView::from_shape(IxDyn(&shape).f(), &elements[start..]);
            let mut row_major = room(count)?;
            let start = row_major.len();
            row_major.extend(view.map_err(|error| malformed(error.to_string()))?.iter());
            (row_major, start)
        }
    };
    Ok(HostArray::new(elements, start, shape))
}

/// A list with room for so many elements, behind those that it has, which fill the line in front of them.
fn room<T: Copy + Default>(count: usize) -> Result<Vec<T>, Problem> {
    let mut list: Vec<T> = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>());
    let in_line = LINE / size_of::<T>();
    list.try_reserve_exact(count.saturating_add(in_line))
        .map_err(|_| Problem::Unreadable(format!("there is no memory for its {bytes} bytes of elements")))?;
    list.resize(list.as_ptr().align_offset(LINE).min(in_line), T::default());
    Ok(list)
}

/// Writes an array in row-major order, little-endian.
pub(crate) fn write(out: &mut dyn Write, array: &HostArray) -> io::Result<()> {
    match array.elements() {
        Slice::F16(elements) => write_elements(out, elements, &array.shape),
        Slice::BF16(elements) => write_brain(out, elements, &array.shape),
        Slice::F32(elements) => write_elements(out, elements, &array.shape),
        Slice::F64(elements) => write_elements(out, elements, &array.shape),
        Slice::I8(elements) => write_elements(out, elements, &array.shape),
        Slice::I16(elements) => write_elements(out, elements, &array.shape),
        Slice::I32(elements) => write_elements(out, elements, &array.shape),
        Slice::I64(elements) => write_elements(out, elements, &array.shape),
        Slice::U8(elements) => write_elements(out, elements, &array.shape),
        Slice::U16(elements) => write_elements(out, elements, &array.shape),
        Slice::U32(elements) => write_elements(out, elements, &array.shape),
        Slice::U64(elements) => write_elements(out, elements, &array.shape),
        Slice::Bool(elements) => write_elements(out, elements, &array.shape),
    }
}

/// The header of the package ml_dtypes, and the bits.
fn write_brain(out: &mut dyn Write, elements: &[bf16], shape: &[usize]) -> io::Result<()> {
    let bits: Vec<u16> = elements.iter().map(|element| element.to_bits()).collect();
    let mut file = Vec::new();
    write_elements(&mut file, &bits, shape)?;
    if let Some(at) = file.windows(5).position(|window| window == b"'<u2'") {
        file[at..at + 5].copy_from_slice(b"'<V2'");
    }
    out.write_all(&file)
}

fn write_elements<T: npyz::AutoSerialize + Copy>(
    out: &mut dyn Write,
    elements: &[T],
    shape: &[usize],
) -> io::Result<()> {
    let shape: Vec<u64> = shape.iter().map(|extent| *extent as u64).collect();
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(out).begin_nd()?;
    writer.extend(elements.iter().copied())?;
    writer.finish()
}
