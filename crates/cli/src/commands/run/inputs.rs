//! The arguments of a run: what files and lists bring, then what is made up in the shape that follows from them.

use std::path::Path;

use farkas::{Args, Argument, CallError, Error, Role, Signature};

use crate::commands::run::Written;
use crate::data::literal::Literal;
use crate::data::npy::{self, Problem};
use crate::data::spec::{Named, Origin};
use crate::data::{HostArray, generate};
use crate::failure::Failure;

/// Everything that a call is given.
#[derive(Debug)]
pub(crate) struct Given {
    sizes: Vec<(String, i64)>,
    reads: Vec<Read>,
    /// Outputs as zeros, `inout` arrays as given, in the order of the signature.
    pub(super) writes: Vec<Written>,
}

#[derive(Debug)]
struct Read {
    name: String,
    array: HostArray,
    is_scalar: bool,
}

impl Given {
    /// The arguments that are only read, and the sizes.
    pub(super) fn args(&self) -> Args<'_> {
        let mut args = Args::new();
        for (name, size) in &self.sizes {
            args.size(name, *size);
        }
        for Read { name, array, is_scalar } in &self.reads {
            match array.get(0) {
                Some(value) if *is_scalar => args.scalar(name, value),
                _ => args.elements(name, array.elements(), &array.shape),
            };
        }
        args
    }

    /// All of them, for those who ask about sizes only: they may follow from arrays that are written.
    pub(super) fn all(&self) -> Args<'_> {
        let mut args = self.args();
        for Written { name, array } in &self.writes {
            args.elements(name, array.elements(), &array.shape);
        }
        args
    }
}

/// Who knows the shapes of arrays: given what is known of a call, and the name of one.
pub(in crate::commands) type ShapeOf<'a> = dyn Fn(&Args<'_>, &str) -> Result<Vec<usize>, Error> + 'a;

/// Loads or makes all inputs. Each input of the function must be there.
pub(in crate::commands) fn load(
    signature: &Signature,
    shape_of: &ShapeOf<'_>,
    sizes: &[Named<i64>],
    inputs: &[Named<Origin>],
) -> Result<Given, Failure> {
    let arguments = &signature.args;
    let origin =
        |argument: &Argument| inputs.iter().find(|input| input.name == argument.name).map(|input| &input.value);
    // First what has a shape of its own, because the others' shapes follow from it.
    let mut arrays: Vec<Option<HostArray>> = Vec::new();
    for argument in arguments {
        arrays.push(match origin(argument) {
            Some(origin) if argument.shape.is_empty() || has_shape(origin) => {
                Some(make(argument, origin, || Ok(Vec::new()))?)
            }
            _ => None,
        });
    }
    let mut shapes = Vec::new();
    {
        let mut args = Args::new();
        for size in sizes {
            args.size(&size.name, size.value);
        }
        for (argument, array) in arguments.iter().zip(&arrays) {
            if let Some(array) = array.as_ref().filter(|_| !argument.shape.is_empty()) {
                args.elements(&argument.name, array.elements(), &array.shape);
            }
        }
        for (argument, array) in arguments.iter().zip(&arrays) {
            shapes.push(match array {
                None => match shape_of(&args, &argument.name) {
                    Ok(shape) => shape,
                    Err(Error::Call(CallError::MissingSize { name })) => {
                        return Err(missing_sizes(shape_of, args, &argument.name, name));
                    }
                    Err(error) => return Err(error.into()),
                },
                Some(array) => array.shape.clone(),
            });
        }
    }
    let mut given = Given {
        sizes: sizes.iter().map(|size| (size.name.clone(), size.value)).collect(),
        reads: Vec::new(),
        writes: Vec::new(),
    };
    for ((argument, array), shape) in arguments.iter().zip(arrays).zip(shapes) {
        let array = match (array, origin(argument)) {
            (Some(array), _) => array,
            (None, Some(origin)) => make(argument, origin, || Ok(shape))?,
            (None, None) => HostArray::zeros(&argument.name, argument.ty, shape)?,
        };
        let name = argument.name.clone();
        match argument.role {
            Role::In | Role::Local => {
                given.reads.push(Read { name, array, is_scalar: argument.shape.is_empty() });
            }
            Role::Out | Role::InOut => given.writes.push(Written { name, array }),
        }
    }
    Ok(given)
}

/// Names all sizes that nothing shows: pretends to know one after the other until none is missing.
fn missing_sizes(shape_of: &ShapeOf<'_>, mut args: Args<'_>, argument: &str, first: String) -> Failure {
    let mut missing = vec![first.clone()];
    args.size(&first, 1);
    while let Err(Error::Call(CallError::MissingSize { name })) = shape_of(&args, argument) {
        args.size(&name, 1);
        missing.push(name);
    }
    let verb = if missing.len() == 1 { "size is" } else { "sizes are" };
    let given = missing.iter().map(|name| format!("{name}=…")).collect::<Vec<_>>().join(",");
    Failure::usage(format!("the {verb} not known: {}", missing.join(", ")))
        .help(format!("write -D {given}, or give arrays whose shapes show it, from files or as lists"))
}

fn has_shape(origin: &Origin) -> bool {
    match origin {
        Origin::File(_) => true,
        Origin::Literal(literal) => !literal.shape.is_empty(),
        Origin::Random(_) | Origin::Iota | Origin::Zeros | Origin::Ones => false,
    }
}

/// The array that an origin stands for; `shape` is asked only by those that have none of their own.
pub(super) fn make(
    argument: &Argument,
    origin: &Origin,
    shape: impl FnOnce() -> Result<Vec<usize>, Failure>,
) -> Result<HostArray, Failure> {
    let Argument { name, ty, .. } = argument;
    let zeros = || HostArray::zeros(name, *ty, shape()?);
    let array = match origin {
        Origin::File(path) => read_file(argument, path)?,
        Origin::Literal(literal) if !literal.shape.is_empty() => {
            literal.to_array(*ty).map_err(|why| bad_value(argument, &why))?
        }
        Origin::Literal(literal) => filled(argument, literal, zeros()?)?,
        Origin::Zeros => zeros()?,
        Origin::Ones => {
            let mut array = zeros()?;
            generate::constant(&mut array, farkas::Value::from_i64(*ty, 1));
            array
        }
        Origin::Iota => {
            let mut array = zeros()?;
            generate::iota(&mut array);
            array
        }
        Origin::Random(seed) => {
            let mut array = zeros()?;
            generate::random(&mut array, *seed);
            array
        }
    };
    if array.shape.len() != argument.shape.len() {
        let is = match argument.shape.len() {
            0 => "a scalar".to_string(),
            1 => "an array of 1 dimension".to_string(),
            rank => format!("an array of {rank} dimensions"),
        };
        let shape = &array.shape;
        let failure = Failure::usage(format!("`{name}` is {is}, but what is given has the shape {shape:?}"));
        return Err(failure.help("give it another shape, in Python with array.reshape(…), or a part of it"));
    }
    Ok(array)
}

fn filled(argument: &Argument, literal: &Literal, mut array: HostArray) -> Result<HostArray, Failure> {
    let value = literal.to_value(argument.ty).map_err(|why| bad_value(argument, &why))?;
    generate::constant(&mut array, value);
    Ok(array)
}

fn bad_value(argument: &Argument, why: &str) -> Failure {
    Failure::usage(format!("`{}` is {}: {why}", argument.name, argument.ty))
}

fn read_file(argument: &Argument, path: &Path) -> Result<HostArray, Failure> {
    let Argument { name, ty, .. } = argument;
    let file = path.display();
    npy::read(path, *ty).map_err(|problem| match problem {
        Problem::Unreadable(why) => Failure::usage(format!("cannot read `{file}` for `{name}`: {why}")),
        Problem::Malformed(why) => {
            let failure = Failure::usage(format!("cannot read `{file}` for `{name}`: {why}"));
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("npz") => failure.help("it has several arrays: in Python, numpy.save(\"a.npy\", numpy.load(file)[\"name\"])"),
                Some("csv" | "txt" | "tsv" | "dat") => {
                    failure.help("read it in Python: numpy.save(\"a.npy\", numpy.loadtxt(file, delimiter=\",\"))")
                }
                _ => failure,
            }
        }
        Problem::Type { holds } => Failure::usage(format!("`{name}` is {ty}, but `{file}` holds {holds}"))
            .help(format!("convert it, in Python with numpy.save(file, array.astype(\"{}\"))", numpy_name(*ty))),
        Problem::Complex { holds } => Failure::usage(format!("`{name}` is {ty}, but `{file}` holds {holds}"))
            .help("there are no complex numbers: give the two parts as arrays of their own, or as a last axis of extent 2")
            .help(format!(
                "in Python: numpy.save(file, numpy.stack([array.real, array.imag], axis=-1).astype(\"{}\"))",
                numpy_name(*ty)
            )),
    })
}

fn numpy_name(ty: farkas::ScalarType) -> &'static str {
    match ty {
        farkas::ScalarType::F16 => "float16",
        // Of the package ml_dtypes, which gives NumPy the type.
        farkas::ScalarType::BF16 => "bfloat16",
        farkas::ScalarType::F32 => "float32",
        farkas::ScalarType::F64 => "float64",
        farkas::ScalarType::I8 => "int8",
        farkas::ScalarType::I16 => "int16",
        farkas::ScalarType::I32 => "int32",
        farkas::ScalarType::I64 => "int64",
        farkas::ScalarType::U8 => "uint8",
        farkas::ScalarType::U16 => "uint16",
        farkas::ScalarType::U32 => "uint32",
        farkas::ScalarType::U64 => "uint64",
        farkas::ScalarType::Bool => "bool",
    }
}
