//! An example, compiled in both orders and in small tiles, and calls of it with arrays of numbers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use farkas::{
    Args, Argument, CallError, Data, Engine, Error, Function, Machine, Module, Options, Order, Role, ScalarType,
    Source, Style, Value,
};
use ndarray::ArrayD;

use crate::numbers::{self, Outputs};

pub(crate) struct Example {
    /// The path below `examples` without its extension: `ml/softmax`.
    pub(crate) name: String,
    pub(crate) source: Source,
    scheduled: OnceLock<Result<Module, String>>,
    original: OnceLock<Result<Module, String>>,
    in_small_tiles: OnceLock<Result<Module, String>>,
}

/// A machine for which tiles are so small that small sizes have several of them.
const SMALL: Machine =
    Machine { vector_bytes: 16, vector_registers: 16, l1: 256, l2: 1 << 10, l3: 4 << 10, ..Machine::REFERENCE };

/// Why a call gave no results.
pub(crate) enum Refusal {
    /// The sizes are not those of the `where` clause.
    Sizes,
    /// The data does not fit, as when it names a cell that is not there.
    Data(String),
    Failed(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        match error {
            Error::Refused { error: CallError::Requirement { .. }, .. } => Refusal::Sizes,
            Error::Fault { fault, .. } => Refusal::Data(fault.to_string()),
            error => Refusal::Failed(error.to_string()),
        }
    }
}

impl Example {
    pub(crate) fn read(root: &Path, path: &Path) -> Result<Example, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix(root).unwrap_or(path).with_extension("");
        let name = name.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        let source = Source::new(format!("examples/{name}.fks"), text);
        Ok(Example {
            name,
            source,
            scheduled: OnceLock::new(),
            original: OnceLock::new(),
            in_small_tiles: OnceLock::new(),
        })
    }

    /// Whether its `# run:` line says what comes out, so that running it (`cli/examples`) shows that it is right. Most random data is
    /// none that such an example could take: rows that begin before they end, permutations.
    pub(crate) fn brings_its_data(&self) -> bool {
        self.source.text().lines().any(|line| line.starts_with("# run: ") && line.contains(" --expect "))
    }

    /// It says what it is and how to run it, and looks as the formatter wants it.
    pub(crate) fn is_presentable(&self) -> Result<(), String> {
        let text = self.source.text();
        let header = format!("# run: farkas run {} ", self.source.name());
        if !text.starts_with("# ") || text.lines().take_while(|line| !line.starts_with(&header)).count() == 0 {
            return Err("the first line must say what it computes".into());
        }
        if !text.lines().any(|line| line.starts_with(&header)) {
            return Err(format!("there is no line `{header}…`"));
        }
        match farkas::format(&self.source).map_err(|error| error.to_string())? == text {
            true => Ok(()),
            false => Err("it is not formatted; use `farkas fmt`".into()),
        }
    }

    /// The one function, in the order of the scheduler.
    pub(crate) fn function(&self) -> Result<&Function, String> {
        self.compiled(&self.scheduled, Options::default())
    }

    fn compiled<'a>(
        &'a self,
        module: &'a OnceLock<Result<Module, String>>,
        options: Options,
    ) -> Result<&'a Function, String> {
        let compile = || {
            let engine = Engine::with_options(options);
            engine.compile_source(&self.source).map_err(|error| error.render(Style::Plain))
        };
        match module.get_or_init(compile).as_ref()?.functions() {
            [function] => Ok(function),
            functions => Err(format!("an example has one function, not {}", functions.len())),
        }
    }

    /// All results of a call, on which all engines must agree. Sizes that the arrays show need not be given.
    pub(crate) fn run(&self, sizes: &[(&str, usize)], inputs: &[(&str, ArrayD<f64>)]) -> Result<Outputs, String> {
        self.try_run(sizes, inputs).map_err(|refusal| match refusal {
            Refusal::Sizes => format!("{sizes:?} are refused"),
            Refusal::Data(why) | Refusal::Failed(why) => why,
        })
    }

    pub(crate) fn try_run(&self, sizes: &[(&str, usize)], inputs: &[(&str, ArrayD<f64>)]) -> Result<Outputs, Refusal> {
        let scheduled = self.function().map_err(Refusal::Failed)?;
        let in_order = Options { order: Order::Original, ..Options::default() };
        let original = self.compiled(&self.original, in_order).map_err(Refusal::Failed)?;
        let for_small = Options { machine: Some(SMALL), ..Options::default() };
        let in_small_tiles = self.compiled(&self.in_small_tiles, for_small).map_err(Refusal::Failed)?;
        let interpreted = match call(scheduled, Function::interpret, sizes, inputs) {
            Err(Refusal::Data(why)) => {
                let others =
                    [scheduled, original, in_small_tiles].map(|function| call(function, Function::call, sizes, inputs));
                let agree = others.iter().all(|other| matches!(other, Err(Refusal::Data(_))));
                let failed = || Refusal::Failed(format!("only the interpreter says: {why}"));
                return Err(if agree { Refusal::Data(why) } else { failed() });
            }
            other => other?,
        };
        let found = call(scheduled, Function::call, sizes, inputs)?;
        let in_order = call(original, Function::call, sizes, inputs)?;
        let in_tiles = call(in_small_tiles, Function::call, sizes, inputs)?;
        let others = [
            ("machine code", &found),
            ("machine code in the original order", &in_order),
            ("machine code in small tiles", &in_tiles),
        ];
        for (engine, other) in others {
            for (name, expected) in &interpreted {
                let tolerance = tolerance(argument(scheduled, name)?.ty);
                numbers::compare(&other[name], expected, tolerance)
                    .map_err(|what| Refusal::Failed(format!("{engine} and interpreter, {sizes:?}: {name}{what}")))?;
            }
        }
        Ok(found)
    }

    /// The extents of an argument for given sizes.
    pub(crate) fn shape(&self, sizes: &[(&str, usize)], name: &str) -> Result<Vec<usize>, Refusal> {
        let function = self.function().map_err(Refusal::Failed)?;
        Ok(function.shape_of(&with_sizes(sizes), name)?)
    }
}

/// How far the engines may be apart, whose sums may have different orders.
pub(crate) fn tolerance(ty: ScalarType) -> f64 {
    match ty {
        ScalarType::F64 => 1e-10,
        ScalarType::F32 => 1e-5,
        // Sums in another order may end on the other side of a rounding.
        ScalarType::F16 => 1e-3,
        ScalarType::BF16 => 1e-2,
        _ => 0.0,
    }
}

fn argument<'a>(function: &'a Function, name: &str) -> Result<&'a Argument, Refusal> {
    let found = function.signature().args.iter().find(|argument| argument.name == name);
    found.ok_or_else(|| Refusal::Failed(format!("there is no argument `{name}`")))
}

pub(crate) fn with_sizes<'a>(sizes: &[(&str, usize)]) -> Args<'a> {
    let mut args = Args::new();
    for (name, size) in sizes {
        args.size(name, *size as i64);
    }
    args
}

pub(crate) fn call(
    function: &Function,
    engine: fn(&Function, &mut Args<'_>) -> farkas::Result<()>,
    sizes: &[(&str, usize)],
    inputs: &[(&str, ArrayD<f64>)],
) -> Result<Outputs, Refusal> {
    let mut held = Vec::new();
    for (name, array) in inputs {
        let argument = argument(function, name)?;
        held.push((argument, data(argument.ty, array.iter().copied()), array.shape().to_vec()));
    }
    let mut args = with_sizes(sizes);
    for (argument, data, shape) in &held {
        if !is_scalar(argument) {
            args.data(&argument.name, data, shape);
        }
    }
    let mut outputs = Vec::new();
    for argument in function.signature().args.iter().filter(|argument| argument.role == Role::Out) {
        let shape = function.shape_of(&args, &argument.name)?;
        // What no example computes, so that a cell that is not written shows.
        let unset = data(argument.ty, std::iter::repeat_n(86.0, shape.iter().product()));
        outputs.push((argument, unset, shape));
    }
    held.extend(outputs);

    let mut args = with_sizes(sizes);
    for (argument, data, shape) in &mut held {
        match argument.role {
            _ if is_scalar(argument) => {
                let value = data.get(0).ok_or_else(|| Refusal::Failed(format!("`{}` is empty", argument.name)))?;
                args.scalar(&argument.name, value)
            }
            Role::In => args.data(&argument.name, data, shape),
            _ => args.data_mut(&argument.name, data, shape),
        };
    }
    engine(function, &mut args)?;
    drop(args);
    let mut found = BTreeMap::new();
    for (argument, data, shape) in held.iter().filter(|(argument, ..)| argument.role != Role::In) {
        let elements = (0..data.len()).filter_map(|position| data.get(position)).map(number).collect();
        let array = ArrayD::from_shape_vec(shape.as_slice(), elements);
        found.insert(argument.name.clone(), array.map_err(|error| Refusal::Failed(error.to_string()))?);
    }
    Ok(found)
}

/// Scalar results are arrays without dimensions; scalar arguments are passed by value.
pub(crate) fn is_scalar(argument: &Argument) -> bool {
    argument.role == Role::In && argument.shape.is_empty()
}

pub(crate) fn data(ty: ScalarType, elements: impl Iterator<Item = f64>) -> Data {
    match ty {
        ScalarType::F16 => Data::F16(elements.map(farkas::f16::from_f64).collect()),
        ScalarType::BF16 => Data::BF16(elements.map(farkas::bf16::from_f64).collect()),
        ScalarType::F32 => Data::F32(elements.map(|element| element as f32).collect()),
        ScalarType::F64 => Data::F64(elements.collect()),
        ScalarType::I8 => Data::I8(elements.map(|element| element as i8).collect()),
        ScalarType::I16 => Data::I16(elements.map(|element| element as i16).collect()),
        ScalarType::I32 => Data::I32(elements.map(|element| element as i32).collect()),
        ScalarType::I64 => Data::I64(elements.map(|element| element as i64).collect()),
        ScalarType::U8 => Data::U8(elements.map(|element| element as u8).collect()),
        ScalarType::U16 => Data::U16(elements.map(|element| element as u16).collect()),
        ScalarType::U32 => Data::U32(elements.map(|element| element as u32).collect()),
        ScalarType::U64 => Data::U64(elements.map(|element| element as u64).collect()),
        ScalarType::Bool => Data::Bool(elements.map(|element| element != 0.0).collect()),
    }
}

pub(crate) fn number(value: Value) -> f64 {
    match value {
        Value::F16(value) => value.into(),
        Value::BF16(value) => value.into(),
        Value::F32(value) => value.into(),
        Value::F64(value) => value,
        Value::I8(value) => value.into(),
        Value::I16(value) => value.into(),
        Value::I32(value) => value.into(),
        Value::I64(value) => value as f64,
        Value::U8(value) => value.into(),
        Value::U16(value) => value.into(),
        Value::U32(value) => value.into(),
        Value::U64(value) => value as f64,
        Value::Bool(value) => value.into(),
    }
}
