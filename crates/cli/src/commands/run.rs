//! `farkas run`: compile a function, give it data, and show, store or compare what it makes of them.
//!
//! In: a program and words such as `A=rand:1`.  Out: results. Output files appear together, and only if nothing failed.

pub(super) mod inputs;
mod tune;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use farkas::{Args, Argument, Function, Role, Signature};

use crate::commands::{Compile, choose_function};
use crate::data::compare::{self, Tolerance, Worst};
use crate::data::show::declaration;
use crate::data::spec::{self, Named, Origin};
use crate::data::{HostArray, npy, show};
use crate::failure::Failure;
use crate::files::{self, Target};
use crate::interrupt::Interruptible;
use crate::progress::Progress;
use crate::terminal::{self, Terminal};
use inputs::Given;

// Lines of at most 95 characters, or clap breaks them.
const AFTER_HELP: &str = "\
Examples:
  farkas run examples/matmul.fks -D N=512,M=512,K=512 --in A=rand:1 --in B=rand:2 --verify
  farkas run examples/matmul.fks --in A=@a.npy --in B=@b.npy --out C=@c.npy --time --repeat 5
  farkas run examples/matmul.fks --in 'A=[[1,2],[3,4]]' --in 'B=[[1],[1]]' --expect 'C=[[3],[7]]'
  farkas run examples/cholesky.fks -D N=5 --in shift=8 --in A=rand:1 --out A=@l.npy

Where elements come from (--in, --expect):
  @FILE.npy      a NumPy file of exactly the argument's type; either byte order, C or Fortran order
  rand:SEED      pseudo-random, the same on every machine: SplitMix64 from SEED, one output per
                 element in row-major order; floats uniform in [0, 1), signed integers in -9..=9,
                 unsigned ones in 0..=9, bool fair
  iota           0, 1, 2, … in row-major order, wrapped to the type; for bool, whether it is odd
  zeros, ones
  1.5            a number (also nan, inf, true, false): of a scalar, or of every element
  [[1,2],[3,4]]  the elements, row by row
Sizes are inferred from files and lists; the others are given with -D.

Checksums of printed results: `sum` adds all elements as f64 from first to last; `fnv1a` is the
64-bit FNV-1a hash of their little-endian bytes in row-major order.

Exit codes: 1 the program is at fault; 2 a flag, value or file that cannot be used, or inputs that
do not fit the function; 3 a budget ran out; 4 a run-time error or a difference that --verify or
--expect found; 101 a bug in farkas.";

/// Compile a function and run it
///
/// Results without --out are printed on stdout: type, shape, a few values, checksums. Output files are replaced as a
/// whole, after everything else has succeeded; if --verify or --expect finds a difference (exit code 4), none is.
#[derive(Debug, ClapArgs)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The program
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The function to run; not needed if the file has only one that no other one calls
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,

    /// Sizes, such as -D N=512,M=4
    #[arg(short = 'D', value_delimiter = ',', value_name = "NAME=SIZE,…", value_parser = spec::parse_size)]
    sizes: Vec<Named<i64>>,

    /// The value of an argument, such as A=@a.npy, A=rand:1, A=iota or alpha=1.5
    #[arg(long = "in", value_name = "NAME=ORIGIN", value_parser = spec::parse_origin)]
    inputs: Vec<Named<Origin>>,

    /// The file for a result (an output or an `inout`), such as C=@c.npy
    #[arg(long = "out", value_name = "NAME=@FILE", value_parser = spec::parse_target)]
    outputs: Vec<Named<PathBuf>>,

    /// What a result must be, such as C=@ref.npy: each element within ATOL + RTOL * |expected|, integers exactly
    #[arg(long, value_name = "NAME=ORIGIN", value_parser = spec::parse_origin)]
    expect: Vec<Named<Origin>>,

    /// Also run the interpreter, and compare: integers and bool exactly, floats within ATOL + RTOL * the largest
    /// magnitude in the array, because compiled sums may have another order; NaN equals NaN
    #[arg(long)]
    verify: bool,

    /// Relative tolerance [default: 1e-6 for --expect; 1e-9 for --verify, and 1e-4 if it is f32]
    #[arg(long, value_name = "RTOL", value_parser = parse_tolerance)]
    rtol: Option<f64>,

    /// Absolute tolerance
    #[arg(long, value_name = "ATOL", default_value = "0", value_parser = parse_tolerance)]
    atol: f64,

    /// Print on stderr how long each stage took, and the run
    #[arg(long)]
    time: bool,

    /// Run so many times, each from the same inputs, and take the shortest time
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,

    /// Run it with several schedules first, and take the fastest, which is remembered for runs with the same sizes;
    /// after Ctrl-C, the next --tune goes on where this one was
    #[arg(long)]
    tune: bool,

    #[command(flatten)]
    compile: Compile,
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(tolerance) if tolerance >= 0.0 => Ok(tolerance),
        _ => Err("a tolerance is a number that is not negative".to_string()),
    }
}

pub(crate) fn run(options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    let source = options.compile.read(&options.file)?;
    let engine = options.compile.engine(Vec::new())?;
    let program = engine.read(&source)?;
    let signature = choose_function(&source, program.signatures(), options.function.as_deref())?;
    check_names(options, &signature)?;
    let targets = targets(options)?;

    let shape_of = |args: &Args<'_>, array: &str| program.shape_of(&signature.name, args, array);
    let given = match inputs::load(&signature, &shape_of, &options.sizes, &options.inputs) {
        Ok(given) => given,
        Err(failure) => {
            // What is wrong with the program comes first.
            program.compile(&signature.name)?;
            return Err(failure);
        }
    };
    let function = match program.sizes_of(&signature.name, &given.all()) {
        Ok(sizes) => {
            if options.tune {
                tune::tune(&program, &signature.name, &sizes, &given)?;
            }
            program.compile_for(&signature.name, &sizes)?
        }
        // The call will say what is wrong with them.
        Err(_) => program.compile(&signature.name)?,
    };
    let progress = Progress::new(options.repeat.into(), "runs");
    let (results, time) = execute(&function, options.repeat, &given, |done| progress.tell(done.into()))?;
    drop(progress);
    if options.time {
        for timing in function.timings() {
            tell_time(timing.stage, timing.time);
        }
        tell_time("run", time);
    }
    if options.verify {
        verify(&function, options, &given, &results)?;
    }
    for expected in &options.expect {
        expect(&function, options, expected, &results)?;
    }

    let mut staged = Vec::new();
    for (name, target) in targets {
        if let Some(result) = results.iter().find(|result| result.name == name) {
            staged.push(target.stage(|out| npy::write(out, &result.array))?);
        }
    }
    files::commit(staged)?;
    for result in &results {
        if !options.outputs.iter().any(|output| output.name == result.name) {
            match terminal.is_json() {
                true => terminal::data(&format!("{}\n", show::to_json(&result.name, &result.array)))?,
                false => terminal::data(&show::to_text(&result.name, &result.array))?,
            }
        }
    }
    Ok(())
}

/// An array that the function writes, before or after.
#[derive(Clone, Debug)]
pub(super) struct Written {
    name: String,
    array: HostArray,
}

/// Every name that the command line uses must be one that the function has, in that place, once; no input is missing.
fn check_names(options: &Options, signature: &Signature) -> Result<(), Failure> {
    check_given(&options.sizes, &options.inputs, signature)?;
    let outputs: Vec<&String> = options.outputs.iter().map(|output| &output.name).collect();
    check_flag("--out", signature, &outputs)?;
    let expected: Vec<&String> = options.expect.iter().map(|expected| &expected.name).collect();
    check_flag("--expect", signature, &expected)?;
    let inputs = signature.args.iter().filter(|arg| arg.role != Role::Out);
    let missing: Vec<&Argument> =
        inputs.filter(|arg| !options.inputs.iter().any(|input| input.name == arg.name)).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => {
            let what = if missing.len() == 1 { "an input is missing" } else { "inputs are missing" };
            let example = if first.shape.is_empty() { "1" } else { "rand:1" };
            Err(Failure::usage(format!("{what}: {}", listed(&missing)))
                .help(format!("give each with --in, such as --in {}={example}; see `farkas run --help`", first.name)))
        }
    }
}

/// Sizes and inputs must be ones that the function has, each given once.
pub(super) fn check_given(
    sizes: &[Named<i64>],
    inputs: &[Named<Origin>],
    signature: &Signature,
) -> Result<(), Failure> {
    check_flag("--in", signature, &inputs.iter().map(|input| &input.name).collect::<Vec<_>>())?;
    if let Some(size) = sizes.iter().find(|size| !signature.params.contains(&size.name)) {
        let message = format!("`{}` has no size `{}`", signature.name, size.name);
        let help = match signature.args.iter().find(|arg| arg.name == size.name) {
            Some(arg) => format!("`{}` is an argument; give it with --in {}={}", arg.name, arg.name, size.value),
            None if signature.params.is_empty() => "it has none".to_string(),
            None => format!("it has {}", signature.params.join(", ")),
        };
        return Err(Failure::usage(message).help(help));
    }
    Ok(())
}

/// The names behind one flag: inputs behind `--in`, results behind the others.
fn check_flag(flag: &str, signature: &Signature, names: &[&String]) -> Result<(), Failure> {
    let (what, other) = if flag == "--in" { ("input", Role::Out) } else { ("result", Role::In) };
    let known: Vec<&Argument> = signature.args.iter().filter(|arg| arg.role != other).collect();
    for (position, name) in names.iter().enumerate() {
        if names[..position].contains(name) {
            return Err(Failure::usage(format!("{flag} {name} is given twice")));
        }
        if known.iter().any(|arg| arg.name == **name) {
            continue;
        }
        let function = &signature.name;
        let message = match signature.args.iter().find(|arg| arg.name == **name) {
            Some(arg) if arg.role == Role::In => format!("`{name}` is an input of `{function}`, not a result"),
            Some(_) => format!("`{name}` is a result of `{function}`, and takes no {flag}"),
            None if signature.params.contains(name) => format!("`{name}` is a size of `{function}`, not an {what}"),
            None => format!("`{function}` has no {what} `{name}`"),
        };
        let failure = Failure::usage(message);
        return Err(if signature.params.contains(name) {
            failure.help(format!("give it with -D {name}=…"))
        } else {
            failure.help(format!("it has {}", listed(&known)))
        });
    }
    Ok(())
}

fn listed(args: &[&Argument]) -> String {
    if args.is_empty() {
        return "none".to_string();
    }
    args.iter().map(|arg| declaration(&arg.name, arg.ty, &arg.shape)).collect::<Vec<_>>().join(", ")
}

/// The files to write, found to be writable before any work is done.
fn targets(options: &Options) -> Result<Vec<(String, Target)>, Failure> {
    let mut targets: Vec<(String, Target)> = Vec::new();
    for output in &options.outputs {
        let target = Target::new(&output.value)?;
        if let Some((other, _)) = targets.iter().find(|(_, other)| other.is_same(&target)) {
            return Err(Failure::usage(format!("`{other}` and `{}` both go to `{}`", output.name, target.name())));
        }
        targets.push((output.name.clone(), target));
    }
    Ok(targets)
}

/// Runs the machine code as often as asked, and gives the results and the shortest time.
pub(super) fn execute(
    function: &Function,
    repeat: u32,
    given: &Given,
    progress: impl Fn(u32),
) -> Result<(Vec<Written>, Duration), Failure> {
    let mut results = given.writes.clone();
    let mut shortest = Duration::MAX;
    let interruptible = Interruptible::new();
    for repetition in 0..repeat {
        if repetition > 0 {
            results.clone_from(&given.writes);
        }
        let mut args = arguments(given, &mut results);
        if let Some(token) = interruptible.token() {
            args.cancel(token);
        }
        let started = Instant::now();
        function.call(&mut args)?;
        shortest = shortest.min(started.elapsed());
        progress(repetition + 1);
    }
    Ok((results, shortest))
}

fn arguments<'a>(given: &'a Given, writes: &'a mut [Written]) -> Args<'a> {
    let mut args = given.args();
    for written in writes {
        let (elements, shape) = written.array.parts_mut();
        args.elements_mut(&written.name, elements, shape);
    }
    args
}

fn verify(function: &Function, options: &Options, given: &Given, results: &[Written]) -> Result<(), Failure> {
    let mut reference = given.writes.clone();
    let started = Instant::now();
    function.interpret(&mut arguments(given, &mut reference))?;
    if options.time {
        tell_time("verify", started.elapsed());
    }
    for (result, reference) in results.iter().zip(&reference) {
        let tolerance = compare::verify_tolerance(result.array.ty(), options.rtol, options.atol);
        agree(result, &reference.array, tolerance, "the interpreter gives")
            .map_err(|failure| failure.help("this is a bug in farkas unless the sums are ill-conditioned"))?;
    }
    terminal::note(format_args!("verify: the interpreter agrees"));
    Ok(())
}

fn expect(
    function: &Function,
    options: &Options,
    expected: &Named<Origin>,
    results: &[Written],
) -> Result<(), Failure> {
    let argument = function.signature().args.iter().find(|arg| arg.name == expected.name);
    let result = results.iter().find(|result| result.name == expected.name);
    let (Some(argument), Some(result)) = (argument, result) else { return Ok(()) };
    let wanted = inputs::make(argument, &expected.value, || Ok(result.array.shape.clone()))?;
    if wanted.shape != result.array.shape {
        let (name, found, wanted) = (&result.name, &result.array.shape, &wanted.shape);
        return Err(Failure::run(format!("`{name}` has the shape {found:?}, but {wanted:?} is expected")));
    }
    agree(result, &wanted, compare::expect_tolerance(options.rtol, options.atol), "expected is")
}

fn agree(result: &Written, wanted: &HostArray, tolerance: Tolerance, says: &str) -> Result<(), Failure> {
    let Some(Worst { position, found, wanted, error, allowed, count }) =
        compare::compare(&result.array, wanted, tolerance)
    else {
        return Ok(());
    };
    let subscripts = result.array.subscripts(position);
    let cell = if subscripts.is_empty() { result.name.clone() } else { format!("{}{subscripts:?}", result.name) };
    let len = result.array.len();
    let allowed =
        if result.array.ty().is_float() { format!("{allowed:.3e} is allowed") } else { "none is allowed".into() };
    Err(Failure::run(format!(
        "`{}` differs: {cell} is {found}, but {says} {wanted} (a difference of {error:.3e}, {allowed}); \
         {count} of {len} elements differ",
        result.name
    )))
}

fn tell_time(stage: &str, time: Duration) {
    terminal::note(format_args!("time: {stage} {:.3} ms", time.as_secs_f64() * 1e3));
}
