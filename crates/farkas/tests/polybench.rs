//! The PolyBench kernels of `examples/polybench`: machine code agrees with the interpreter at small sizes, and with what
//! the original C programs computed.
//!
//! The reference data is not part of the repository. It is looked for in `FARKAS_ORACLES`, or else in `../shared/oracles`
//! beside the workspace; without it the tests that need it are reported as ignored.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use farkas::{
    Args, Argument, CallError, Data, Engine, Error, Function, Module, Options, Recipes, Result as Called, Role,
    ScalarType, Source, Style, Value,
};
use libtest_mimic::{Arguments, Failed, Trial};
use npyz::{Deserialize, NpyFile};
use serde_json::Value as Json;
use zip::ZipArchive;

const KERNELS: usize = 30;

/// The folders of reference data.
const SETS: [&str; 2] = ["mini", "rand"];

fn main() -> Result<(), Failed> {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut kernels = BTreeMap::new();
    for path in files(&root.join("examples/polybench"), "fks")? {
        let kernel = Kernel::read(&path)?;
        kernels.insert(kernel.name.clone(), Arc::new(kernel));
    }
    let count = kernels.len();
    let mut trials = vec![Trial::test("all_kernels_are_there", move || match count {
        KERNELS => Ok(()),
        _ => Err(format!("there are {count} programs, not {KERNELS}").into()),
    })];
    for kernel in kernels.values().cloned() {
        let name = format!("small_sizes::{}", kernel.name);
        trials.push(Trial::test(name, move || Ok(agree_at_small_sizes(&kernel)?)));
    }
    trials.extend(reference_trials(&root, &kernels)?);
    libtest_mimic::run(&arguments, trials).exit()
}

/// The files of a folder with an extension, sorted.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(|error| error.to_string()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, String>>()?;
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

struct Kernel {
    name: String,
    source: Source,
    module: OnceLock<Result<Module, String>>,
}

impl Kernel {
    fn read(path: &Path) -> Result<Kernel, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Kernel { name: stem(path), source: Source::new(path.to_string_lossy(), text), module: OnceLock::new() })
    }

    /// Compiled by whoever needs it first.
    fn function(&self) -> Result<&Function, String> {
        // The sizes are small, and recipes are what is to be tried.
        let options = || Options { recipes: Recipes::Always, ..Options::default() };
        let compile =
            || Engine::with_options(options()).compile_source(&self.source).map_err(|error| error.render(Style::Plain));
        let module = self.module.get_or_init(compile).as_ref()?;
        let prefix = if self.name.starts_with(|first: char| first.is_ascii_digit()) { "k" } else { "" };
        let name = format!("{prefix}{}", self.name.replace('-', "_"));
        module.function(&name).map_err(|error| error.to_string())
    }
}

/// An argument as a host would hold it.
#[derive(Clone)]
enum Held {
    Scalar(Value),
    Array { data: Data, shape: Vec<usize> },
}

type Sizes = Vec<(String, i64)>;
type Inputs = Vec<(String, Held)>;
type Outputs = Vec<(String, Data, Vec<usize>)>;

/// Everything that the function writes, after one call.
fn run(
    function: &Function,
    sizes: &Sizes,
    inputs: &Inputs,
    engine: fn(&Function, &mut Args<'_>) -> Called<()>,
) -> Called<Outputs> {
    let mut held = inputs.clone();
    for output in function.signature().args.iter().filter(|argument| argument.role == Role::Out) {
        let shape = shape_of(function, sizes, &output.name)?;
        // What no kernel computes, so that a cell that is not written shows.
        let data = fill(output.ty, &shape, |_| -86.0);
        held.push((output.name.clone(), Held::Array { data, shape }));
    }
    let mut args = Args::new();
    for (name, value) in sizes {
        args.size(name, *value);
    }
    for (name, held) in &mut held {
        match (held, is_written(function, name)) {
            (Held::Scalar(value), _) => args.scalar(name, *value),
            (Held::Array { data, shape }, true) => args.data_mut(name, data, shape),
            (Held::Array { data, shape }, false) => args.data(name, data, shape),
        };
    }
    engine(function, &mut args)?;
    drop(args);
    let outputs = held.into_iter().filter_map(|(name, held)| match held {
        Held::Array { data, shape } if is_written(function, &name) => Some((name, data, shape)),
        _ => None,
    });
    Ok(outputs.collect())
}

fn is_written(function: &Function, name: &str) -> bool {
    function.signature().args.iter().any(|argument| argument.name == name && argument.role != Role::In)
}

fn shape_of(function: &Function, sizes: &Sizes, name: &str) -> Called<Vec<usize>> {
    let mut args = Args::new();
    for (name, value) in sizes {
        args.size(name, *value);
    }
    function.shape_of(&args, name)
}

/// An array whose elements are a function of their position.
fn fill(ty: ScalarType, shape: &[usize], mut element: impl FnMut(usize) -> f64) -> Data {
    let positions = 0..shape.iter().product();
    match ty {
        ScalarType::F64 => Data::F64(positions.map(element).collect()),
        ScalarType::F32 => Data::F32(positions.map(|position| element(position) as f32).collect()),
        ScalarType::I32 => Data::I32(positions.map(|position| element(position) as i32).collect()),
        ScalarType::I8 => Data::I8(positions.map(|position| element(position) as i8).collect()),
        other => unreachable!("no kernel of PolyBench has arrays of {other}"),
    }
}

// Interpreter and machine code.

/// The sizes to try: equal ones, then different ones, of which the first parameter takes each in turn.
fn small_sizes(params: &[String]) -> Vec<Sizes> {
    const DIFFERENT: [i64; 7] = [5, 3, 7, 2, 1, 9, 0];
    let equal = [0, 1, 2].map(|size| params.iter().map(|name| (name.clone(), size)).collect::<Sizes>());
    let rotated = (0..DIFFERENT.len()).map(|shift| {
        let size = |position: usize| DIFFERENT[(position + shift) % DIFFERENT.len()];
        params.iter().enumerate().map(|(position, name)| (name.clone(), size(position))).collect::<Sizes>()
    });
    equal.into_iter().chain(rotated).collect()
}

fn agree_at_small_sizes(kernel: &Kernel) -> Result<(), String> {
    let function = kernel.function()?;
    let mut agreed = 0;
    for sizes in small_sizes(&function.signature().params) {
        if !is_well_posed(kernel, &sizes) {
            continue;
        }
        let at = |what: String| format!("{sizes:?}: {what}");
        let inputs = match inputs(function, &sizes) {
            Ok(inputs) => inputs,
            Err(Error::Refused { error: CallError::Requirement { .. }, .. }) => continue,
            Err(error) => return Err(at(error.to_string())),
        };
        let expected = run(function, &sizes, &inputs, Function::interpret).map_err(|error| at(error.to_string()))?;
        let found = run(function, &sizes, &inputs, Function::call).map_err(|error| at(error.to_string()))?;
        for ((name, expected, shape), (_, found, _)) in expected.iter().zip(&found) {
            compare(expected, found, shape, |_| true).map_err(|what| at(format!("{name}{what}")))?;
        }
        agreed += 1;
    }
    if agreed < 5 { Err(format!("only {agreed} calls were possible")) } else { Ok(()) }
}

/// More columns than rows cannot be independent: what is left of the later ones is rounding errors.
fn is_well_posed(kernel: &Kernel, sizes: &Sizes) -> bool {
    let size = |name: &str| sizes.iter().find(|(known, _)| known == name).map_or(0, |(_, size)| *size);
    kernel.name != "gramschmidt" || size("M") == 0 || size("M") >= size("N")
}

/// Inputs that are generic but well conditioned: large diagonals make matrices regular (and positive definite where only
/// one triangle is read), and small vectors make Toeplitz matrices so.
fn inputs(function: &Function, sizes: &Sizes) -> Called<Inputs> {
    let mut random = Random(1);
    let mut inputs = Vec::new();
    for argument in function.signature().args.iter().filter(|argument| argument.role != Role::Out) {
        let Argument { name, ty, .. } = argument;
        let held = if argument.shape.is_empty() {
            // `float_n` is the number of observations, N, as a number.
            let size = sizes.iter().find(|(param, _)| name == "float_n" && param == "N").map(|(_, size)| *size as f64);
            Held::Scalar(scalar(*ty, size.unwrap_or_else(|| 0.25 + random.fraction())))
        } else {
            let shape = shape_of(function, sizes, name)?;
            let data = fill(*ty, &shape, |position| match (ty, shape.as_slice()) {
                (ScalarType::I8, _) => (4.0 * random.fraction()).floor(),
                (ScalarType::I32, _) => (20.0 * random.fraction()).floor(),
                (_, [length]) => (random.fraction() - 0.5) / *length as f64,
                (_, [rows, columns]) if position % (columns + 1) == 0 => {
                    random.fraction() + (rows + columns) as f64 / 2.0
                }
                _ => random.fraction() - 0.5,
            });
            Held::Array { data, shape }
        };
        inputs.push((name.clone(), held));
    }
    Ok(inputs)
}

fn scalar(ty: ScalarType, value: f64) -> Value {
    match ty {
        ScalarType::F32 => Value::F32(value as f32),
        _ => Value::F64(value),
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    /// In `0..1`.
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}

// Comparisons.

fn number(data: &Data, position: usize) -> f64 {
    match data.get(position) {
        Some(Value::F64(value)) => value,
        Some(Value::F32(value)) => f64::from(value),
        Some(Value::I32(value)) => f64::from(value),
        other => unreachable!("no kernel of PolyBench has the result {other:?}"),
    }
}

/// Integers exactly, floats relative to the largest one that is compared; the message begins with the position.
fn compare(
    expected: &Data,
    found: &Data,
    shape: &[usize],
    is_compared: impl Fn(&[usize]) -> bool,
) -> Result<(), String> {
    if expected.ty() != found.ty() || expected.len() != found.len() {
        return Err(format!(": {} x {}, not {} x {}", found.len(), found.ty(), expected.len(), expected.ty()));
    }
    let tolerance = match expected.ty() {
        ScalarType::F64 => 1e-10,
        ScalarType::F32 => 1e-5,
        _ => 0.0,
    };
    let compared: Vec<usize> = (0..expected.len()).filter(|at| is_compared(&indices(*at, shape))).collect();
    let values = compared.iter().map(|at| number(expected, *at).abs());
    let largest = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    for at in compared {
        let (expected, found) = (number(expected, at), number(found, at));
        let is_same = expected == found || expected.is_nan() && found.is_nan();
        // Not so for NaN, nor for an infinity on one side.
        let is_near = (expected - found).abs() <= tolerance * largest;
        if !is_same && !is_near {
            return Err(format!("{:?} is {found:e}, not {expected:e}", indices(at, shape)));
        }
    }
    Ok(())
}

/// The subscripts of a position in row-major order.
fn indices(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut indices = vec![0; shape.len()];
    for (index, length) in indices.iter_mut().zip(shape).rev() {
        *index = position % length;
        position /= length;
    }
    indices
}

// Reference data.

fn reference_trials(root: &Path, kernels: &BTreeMap<String, Arc<Kernel>>) -> Result<Vec<Trial>, String> {
    let wanted = std::env::var_os("FARKAS_ORACLES").map(PathBuf::from);
    let is_wanted = wanted.is_some();
    let folder = wanted.unwrap_or_else(|| root.join("../shared/oracles")).join("polybench");
    let mut trials = Vec::new();
    for set in SETS {
        let folder = folder.join(set);
        if !folder.is_dir() {
            // Asked for by name, it has to be there.
            let what = format!("no reference data in {} (set FARKAS_ORACLES)", folder.display());
            let name = format!("{set}: {}{what}", if is_wanted { "" } else { "skipped, " });
            trials.push(Trial::test(name, || Err(what.into())).with_ignored_flag(!is_wanted));
            continue;
        }
        for path in files(&folder, "json")? {
            let name = stem(&path);
            let kernel = kernels.get(&name).cloned();
            trials.push(Trial::test(format!("{set}::{name}"), move || match kernel {
                Some(kernel) => Ok(agree_with_reference(&kernel, &path)?),
                None => Err("there is no program".into()),
            }));
        }
    }
    Ok(trials)
}

fn agree_with_reference(kernel: &Kernel, path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let description: Json = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let file = File::open(path.with_extension("npz")).map_err(|error| error.to_string())?;
    let mut archive = ZipArchive::new(file).map_err(|error| error.to_string())?;

    let function = kernel.function()?;
    let scalars = list(&description, "scalars")?;
    let named = |name: &str| scalars.iter().find(|scalar| scalar["name"].as_str() == Some(name));
    let mut sizes = Sizes::new();
    for param in &function.signature().params {
        let size = named(&param.to_lowercase()).and_then(|scalar| scalar["value"].as_i64());
        sizes.push((param.clone(), size.ok_or_else(|| format!("parameter `{param}` is not in the data"))?));
    }
    let mut inputs = Inputs::new();
    for argument in function.signature().args.iter().filter(|argument| argument.role != Role::Out) {
        let held = match named(&argument.name).and_then(|scalar| scalar["value"].as_f64()) {
            Some(value) => Held::Scalar(scalar(argument.ty, value)),
            None => array(&mut archive, "before", &argument.name, argument.ty)?,
        };
        inputs.push((argument.name.clone(), held));
    }
    let outputs = run(function, &sizes, &inputs, Function::call).map_err(|error| error.to_string())?;

    let prefix = description["well_determined_prefix"].as_u64().map(|prefix| prefix as usize);
    for live in list(&description, "arrays")?.iter().filter(|array| array["live_out"] == true) {
        let name = live["name"].as_str().unwrap_or_default();
        let output = outputs.iter().find(|(known, ..)| known == name);
        let (_, found, shape) = output.ok_or_else(|| format!("`{name}` is not a result"))?;
        let Held::Array { data: expected, shape: expected_shape } = array(&mut archive, "after", name, found.ty())?
        else {
            return Err(format!("`{name}` is not an array"));
        };
        if *shape != expected_shape {
            return Err(format!("{name}: shape {shape:?}, not {expected_shape:?}"));
        }
        let is_compared = |indices: &[usize]| match (live["live_out_region"].as_str(), prefix, indices) {
            (Some("lower"), _, [row, column]) => column <= row,
            (Some("upper"), _, [row, column]) => column >= row,
            // Columns of Q and rows of R.
            (_, Some(prefix), [_, column]) if name == "Q" => *column < prefix,
            (_, Some(prefix), [row, _]) => *row < prefix,
            _ => true,
        };
        compare(&expected, found, shape, is_compared).map_err(|what| format!("{name}{what}"))?;
    }
    Ok(())
}

fn list<'a>(json: &'a Json, key: &str) -> Result<&'a Vec<Json>, String> {
    json[key].as_array().ok_or_else(|| format!("the description has no list `{key}`"))
}

fn array(archive: &mut ZipArchive<File>, when: &str, name: &str, ty: ScalarType) -> Result<Held, String> {
    let name = npyz::npz::file_name_from_array_name(&format!("{when}/{name}"));
    match ty {
        ScalarType::F64 => elements::<f64>(archive, &name),
        ScalarType::F32 => elements::<f32>(archive, &name),
        ScalarType::I32 => elements::<i32>(archive, &name),
        ScalarType::I8 => elements::<i8>(archive, &name),
        other => Err(format!("{name}: no array of the data is {other}")),
    }
}

fn elements<T: Deserialize>(archive: &mut ZipArchive<File>, name: &str) -> Result<Held, String>
where
    Data: From<Vec<T>>,
{
    let entry = archive.by_name(name).map_err(|error| format!("{name}: {error}"))?;
    let file = NpyFile::new(entry).map_err(|error| format!("{name}: {error}"))?;
    let shape = file.shape().iter().map(|length| *length as usize).collect();
    let data = file.into_vec::<T>().map_err(|error| format!("{name}: {error}"))?;
    Ok(Held::Array { data: data.into(), shape })
}
