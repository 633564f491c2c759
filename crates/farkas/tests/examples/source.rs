//! The C of `--emit=c`: compiled without a warning by every C compiler that is there, run, and held against the
//! interpreter.
//!
//! A generated `main` reads the arguments as bytes and writes the status and the results.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use farkas::{Data, Emit, Engine, Function, Options, Role, ScalarType, Source, Style, Value};
use ndarray::ArrayD;
use tempfile::TempDir;

use crate::example::{self, Example, Refusal};
use crate::numbers::{self, Outputs};
use crate::sizes;

/// Those that a machine may have.
const COMPILERS: [&str; 2] = ["gcc", "clang"];

pub(crate) fn agree(example: &Example) -> Result<(), String> {
    let program = Program::build(&example.source, &[])?;
    let function = example.function()?;
    let mut agreed = 0;
    for sizes in sizes::sizes_to_try(example)? {
        if !sizes::is_well_posed(example, &sizes) {
            continue;
        }
        let Ok(inputs) = sizes::inputs(example, &sizes) else { continue };
        agreed += usize::from(program.agrees(function, &sizes, &inputs).map_err(|why| format!("{sizes:?}: {why}"))?);
    }
    if agreed < 5 && !example.brings_its_data() { Err(format!("only {agreed} calls were possible")) } else { Ok(()) }
}

/// Parallel loops with OpenMP, results in parts, private buffers, and data that is at fault in one of the iterations.
pub(crate) fn agree_with_threads() -> Result<(), String> {
    let texts = [
        "fn f<N, M>(x: f64[N, M]) -> (y: f64[N, M], s: f64) {
    let t[i] = sum[j] x[i, j]
    y[i, j] = x[i, j] / (1 + t[i] * t[i])
    s = sum[i] t[i]
}
schedule f { parallel i }",
        "fn f<N, M>(x: f64[N], at: i64[M]) -> (y: f64[M]) {
    y[i] = exp(x[at[i]])
}
schedule f { parallel i }",
    ];
    for text in texts {
        let source = Source::new("threads.fks", text);
        let program = Program::build(&source, &["-fopenmp"])?;
        if !program.text.contains("OMP(omp parallel for)") {
            return Err(format!("no loop is parallel:\n{}", program.text));
        }
        let module = Engine::new().compile_source(&source).map_err(|error| error.render(Style::Plain))?;
        let function = module.function("f").map_err(|error| error.to_string())?;
        for (n, m) in [(0, 0), (1, 1), (7, 5), (40, 33)] {
            let sizes = vec![("N", n), ("M", m)];
            let inputs = match function.signature().args.iter().any(|argument| argument.name == "at") {
                true => vec![("x", numbers::random(1, [n])), ("at", numbers::random_integers(2, n.max(1), [m]))],
                false => vec![("x", numbers::random(1, [n, m]))],
            };
            program.agrees(function, &sizes, &inputs).map_err(|why| format!("{sizes:?}: {why}"))?;
        }
        // The last iteration asks for a cell that is not there.
        if function.signature().args.iter().any(|argument| argument.name == "at") {
            let at = ArrayD::from_shape_fn(vec![9], |place| if place[0] == 8 { 7.0 } else { 1.0 });
            let inputs = [("x", numbers::random(1, [7])), ("at", at)];
            if program.agrees(function, &[("N", 7), ("M", 9)], &inputs)? {
                return Err("a cell that is not there was found".to_owned());
            }
        }
    }
    Ok(())
}

/// One function as C, compiled.
struct Program {
    text: String,
    _folder: TempDir,
    binaries: Vec<PathBuf>,
}

impl Program {
    fn build(source: &Source, flags: &[&str]) -> Result<Program, String> {
        let options = Options { emit: vec![Emit::C], ..Options::default() };
        let module =
            Engine::with_options(options).compile_source(source).map_err(|error| error.render(Style::Plain))?;
        let [function] = module.functions() else { return Err("there is more than one function".to_owned()) };
        let text = function.texts().iter().find(|(emit, _)| *emit == Emit::C).ok_or("there is no C")?.1.clone();
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).map_err(|error| error.to_string());
        write("function.c", &text)?;
        write("main.c", &driver(function, &text)?)?;
        let mut binaries = Vec::new();
        for compiler in COMPILERS.into_iter().filter(|compiler| is_there(compiler)) {
            binaries.push(compile(compiler, folder.path(), flags).map_err(|why| format!("{why}\n{text}"))?);
        }
        if binaries.is_empty() {
            return Err("there is no C compiler".to_owned());
        }
        Ok(Program { text, _folder: folder, binaries })
    }

    /// Whether results came out and are those of the interpreter; both may find the data at fault.
    fn agrees(
        &self,
        function: &Function,
        sizes: &[(&str, usize)],
        inputs: &[(&str, ArrayD<f64>)],
    ) -> Result<bool, String> {
        let interpreted = match example::call(function, Function::interpret, sizes, inputs) {
            Ok(outputs) => Some(outputs),
            Err(Refusal::Data(_)) => None,
            Err(Refusal::Sizes) => return Ok(false),
            Err(Refusal::Failed(why)) => return Err(why),
        };
        for binary in &self.binaries {
            let found = run(binary, function, sizes, inputs)?;
            match (&interpreted, found) {
                (None, None) => {}
                (Some(expected), Some(found)) => compare(function, expected, &found)?,
                (None, Some(_)) => return Err("only the interpreter finds the data at fault".to_owned()),
                (Some(_), None) => return Err("only the C finds the data at fault".to_owned()),
            }
        }
        Ok(interpreted.is_some())
    }
}

fn is_there(compiler: &str) -> bool {
    let probe = Command::new(compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

fn compile(compiler: &str, folder: &Path, flags: &[&str]) -> Result<PathBuf, String> {
    let binary = folder.join(compiler);
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"]).args(flags);
    command.arg("-o").arg(&binary).args(["function.c", "main.c", "-lm"]).current_dir(folder);
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(binary),
        false => Err(format!("{compiler}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// A `main` that calls the function once.
fn driver(function: &Function, text: &str) -> Result<String, String> {
    let start = format!("int {}(", function.name());
    let line = text.lines().find(|line| line.starts_with(&start)).ok_or("the function is not there")?;
    let signature = function.signature();
    let mut arguments = Vec::new();
    let mut body = String::new();
    let mut writes = String::new();
    for position in 0..signature.params.len() {
        body.push_str(&format!("    int64_t n{position} = number();\n"));
        arguments.push(format!("n{position}"));
    }
    for (position, argument) in signature.args.iter().enumerate() {
        let ty = c_type(argument.ty);
        body.push_str(&format!(
            "    int64_t c{position} = number();\n    {ty} *a{position} = elements(c{position}, sizeof({ty}));\n"
        ));
        arguments.push(if example::is_scalar(argument) { format!("*a{position}") } else { format!("a{position}") });
        if argument.role != Role::In {
            writes.push_str(&format!("    fwrite(a{position}, sizeof({ty}), (size_t)c{position}, stdout);\n"));
        }
    }
    Ok(format!(
        "#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n{line};\n
static void fill(void *to, size_t bytes) {{\n    if (fread(to, 1, bytes, stdin) != bytes) exit(9);\n}}\n
static int64_t number(void) {{\n    int64_t n;\n    fill(&n, sizeof n);\n    return n;\n}}\n
static void *elements(int64_t count, size_t size) {{\n    void *to = malloc((size_t)count * size + 1);\n    fill(to, (size_t)count * size);\n    return to;\n}}\n
int main(void) {{\n{body}    int64_t status = {}({});\n    fwrite(&status, sizeof status, 1, stdout);\n{writes}    return 0;\n}}\n",
        function.name(),
        arguments.join(", ")
    ))
}

fn c_type(ty: ScalarType) -> String {
    match ty {
        ScalarType::F16 | ScalarType::BF16 => "uint16_t".to_owned(),
        ScalarType::F32 => "float".to_owned(),
        ScalarType::F64 => "double".to_owned(),
        ScalarType::Bool => "bool".to_owned(),
        ty => format!("{}int{}_t", if ty.is_unsigned() { "u" } else { "" }, 8 * ty.bytes()),
    }
}

/// The results, or `None` if the status says that the data is at fault.
fn run(
    binary: &Path,
    function: &Function,
    sizes: &[(&str, usize)],
    inputs: &[(&str, ArrayD<f64>)],
) -> Result<Option<Outputs>, String> {
    let signature = function.signature();
    let mut bytes = Vec::new();
    for param in &signature.params {
        let size = sizes.iter().find(|(name, _)| name == param).ok_or("a size is missing")?.1;
        bytes.extend((size as i64).to_ne_bytes());
    }
    let mut results = Vec::new();
    for argument in &signature.args {
        let given = inputs.iter().find(|(name, _)| *name == argument.name);
        let shape = match given {
            Some((_, array)) => array.shape().to_vec(),
            None => {
                function.shape_of(&example::with_sizes(sizes), &argument.name).map_err(|error| error.to_string())?
            }
        };
        let elements: Vec<f64> = match given {
            Some((_, array)) => array.iter().copied().collect(),
            None => vec![86.0; shape.iter().product()],
        };
        bytes.extend((elements.len() as i64).to_ne_bytes());
        put(&mut bytes, &example::data(argument.ty, elements.into_iter()));
        if argument.role != Role::In {
            results.push((argument, shape));
        }
    }
    let mut child =
        Command::new(binary).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take().ok_or("there is no stdin")?;
    stdin.write_all(&bytes).map_err(|error| error.to_string())?;
    drop(stdin);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("the program ends with {}", output.status));
    }
    let (status, mut rest) = output.stdout.split_first_chunk::<8>().ok_or("nothing was written")?;
    match i64::from_ne_bytes(*status) {
        0 => {}
        -1 => return Err("there is no memory".to_owned()),
        _ => return Ok(None),
    }
    let mut outputs = Outputs::new();
    for (argument, shape) in results {
        let (own, others) = rest.split_at(shape.iter().product::<usize>() * argument.ty.bytes());
        rest = others;
        let elements = own.chunks_exact(argument.ty.bytes()).map(|bytes| example::number(value(argument.ty, bytes)));
        let array = ArrayD::from_shape_vec(shape, elements.collect()).map_err(|error| error.to_string())?;
        outputs.insert(argument.name.clone(), array);
    }
    Ok(Some(outputs))
}

fn compare(function: &Function, expected: &Outputs, found: &Outputs) -> Result<(), String> {
    for argument in function.signature().args.iter().filter(|argument| argument.role != Role::In) {
        let (expected, found) = (&expected[&argument.name], &found[&argument.name]);
        numbers::compare(found, expected, example::tolerance(argument.ty))
            .map_err(|what| format!("C and interpreter: {}{what}", argument.name))?;
    }
    Ok(())
}

macro_rules! bytes {
    ($($variant:ident: $ty:ty),*) => {
        fn put(bytes: &mut Vec<u8>, data: &Data) {
            match data {
                $(Data::$variant(elements) => {
                    elements.iter().for_each(|element| bytes.extend(element.to_ne_bytes()));
                })*
                Data::Bool(elements) => elements.iter().for_each(|element| bytes.push(u8::from(*element))),
            }
        }

        fn value(ty: ScalarType, bytes: &[u8]) -> Value {
            match ty {
                $(ScalarType::$variant => {
                    Value::$variant(<$ty>::from_ne_bytes(bytes.try_into().expect("as many bytes as the type has")))
                })*
                ScalarType::Bool => Value::Bool(bytes[0] != 0),
            }
        }
    };
}

bytes!(F16: farkas::f16, BF16: farkas::bf16, F32: f32, F64: f64, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64);
