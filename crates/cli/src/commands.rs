//! The sub-commands, one module each, and what they share.

pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod fmt;
pub(crate) mod info;
pub(crate) mod layout;
pub(crate) mod run;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use farkas::{Engine, Signature, Source};

use crate::data::spec::{self, Named};
use crate::failure::{Exit, Failure};
use crate::files;

/// Flags of every command that compiles.
#[derive(Debug, Args)]
pub(crate) struct Compile {
    /// Replay the schedule at small sizes, every read checked for its writer, as a second opinion
    #[arg(long, help_heading = "Compiling")]
    verify_dynamic: bool,

    /// Instructions to use: native, x86-64-v4, x86-64-v3, x86-64-v2-fma, x86-64-v2 or baseline [default: native]
    #[arg(long, value_name = "LEVEL", value_parser = parse_tier, help_heading = "Compiling")]
    cpu: Option<farkas::Tier>,

    /// What is done for speed to schedules that nobody has written
    #[arg(long, value_enum, default_value_t, value_name = "WHICH", help_heading = "Compiling")]
    recipes: Recipes,

    /// Make code for the very sizes of the run, or for these, beside that for all sizes; results are the same
    /// [default: when calls with the same sizes come again and again]
    #[arg(long, value_name = "NAME=SIZE,…", num_args = 0.., require_equals = true, value_delimiter = ',', value_parser = spec::parse_size, help_heading = "Compiling")]
    specialize: Option<Vec<Named<i64>>>,

    /// Threads that share parallel loops; results do not depend on them [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Compiling")]
    threads: Option<u16>,

    /// Which roundings are as the program says
    #[arg(long, value_enum, default_value_t, value_name = "RULES", help_heading = "Compiling")]
    math: Math,

    /// What to compile to: cpu, ptx, or ptx with an architecture such as ptx:sm_80
    #[arg(long, value_name = "TARGET", default_value = "cpu", help_heading = "Compiling")]
    target: farkas::Target,

    /// Where PTX runs
    #[arg(long, value_enum, default_value_t, value_name = "DEVICE", help_heading = "Compiling")]
    device: Device,

    /// Compile, even if the cache has the loops, and store nothing
    #[arg(long, help_heading = "Compiling")]
    no_cache: bool,

    #[command(flatten)]
    proof: Proof,
}

/// Where PTX runs.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Device {
    /// On the first GPU if there is one, otherwise on the emulator
    #[default]
    Any,
    /// On the emulator, which reports races, uninitialised reads and accesses past the end
    Emulate,
    /// On the first GPU
    Gpu,
}

/// How floats may be rounded.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Math {
    /// All but those of reductions
    #[default]
    Strict,
    /// Products that are added are not rounded by themselves, and reciprocals take the place of repeated divisions
    Fast,
}

/// Flags of every command that proves something about schedules.
#[derive(Debug, Args)]
pub(crate) struct Proof {
    /// Who decides the order of the instances
    #[arg(long, value_enum, default_value_t, value_name = "WHO", help_heading = "Compiling")]
    order: Order,

    /// A schedule to follow instead of that in the program's file: a script, or an isl schedule tree if the name ends in .yaml or .yml
    #[arg(long, value_name = "FILE", help_heading = "Compiling", conflicts_with = "order")]
    schedule: Option<PathBuf>,

    /// The folder that files which the program uses lie in [default: the folder of the program]
    #[arg(long, value_name = "DIR", help_heading = "Compiling")]
    root: Option<PathBuf>,

    /// Keep the order of the terms of every reduction as well
    #[arg(long, help_heading = "Compiling")]
    strict_order: bool,

    /// Time for proving and compiling one function; the scheduler has a share of it, and then the program's own order is used
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds, help_heading = "Compiling")]
    time_limit: Duration,

    /// Memory that the solver may hold at once, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 40), help_heading = "Compiling")]
    memory_limit: u64,
}

/// What is done to schedules that nobody has written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Recipes {
    /// What a person would do for this machine: vector loops, tiles, packed copies; plain loops where sizes are small
    #[default]
    Auto,
    /// The same at all sizes
    Always,
    /// Nothing but a good order of loops
    None,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Order {
    /// The `schedule` in the program's file; for functions without one, the scheduler
    #[default]
    Written,
    /// The scheduler
    Scheduled,
    /// The program: textual order, loops as written
    Original,
}

impl Compile {
    /// Whether code is wanted for sizes that only a run has.
    fn is_for_sizes_of_run(&self) -> bool {
        self.specialize.as_ref().is_some_and(Vec::is_empty)
    }

    /// The program with the files that it uses.
    fn read(&self, path: &Path) -> Result<Source, Failure> {
        self.proof.read(path)
    }

    fn engine(&self, emit: Vec<farkas::Emit>) -> Result<Engine, Failure> {
        self.drawing_engine(emit, false)
    }

    /// An engine that also draws layouts, if that is wanted.
    fn drawing_engine(&self, emit: Vec<farkas::Emit>, draw: bool) -> Result<Engine, Failure> {
        let options = self.proof.options()?;
        Ok(Engine::with_options(farkas::Options {
            emit,
            draw,
            verify_dynamic: self.verify_dynamic,
            recipes: match self.recipes {
                Recipes::Auto => farkas::Recipes::Auto,
                Recipes::Always => farkas::Recipes::Always,
                Recipes::None => farkas::Recipes::None,
            },
            cpu: self.cpu,
            target: self.target,
            device: match self.device {
                Device::Any => farkas::Device::Any,
                Device::Emulate => farkas::Device::Emulate,
                Device::Gpu => farkas::Device::Gpu,
            },
            threads: self.threads.map_or(farkas::Threads::All, |threads| farkas::Threads::Count(threads.into())),
            specialize: match self.specialize.as_deref() {
                None => farkas::Specialize::Repeated,
                Some([]) => farkas::Specialize::Always,
                Some(sizes) => {
                    farkas::Specialize::For(sizes.iter().map(|size| (size.name.clone(), size.value)).collect())
                }
            },
            math: match self.math {
                Math::Strict => farkas::Math::Strict,
                Math::Fast => farkas::Math::Fast,
            },
            cache: match farkas::CacheDirectory::of_user() {
                Some(directory) if !self.no_cache => farkas::Cache::Disk(directory),
                _ => farkas::Cache::Off,
            },
            ..options
        }))
    }
}

impl Proof {
    /// The program with the files that it uses.
    fn read(&self, path: &Path) -> Result<Source, Failure> {
        files::read_program(path, self.root.as_deref())
    }

    fn options(&self) -> Result<farkas::Options, Failure> {
        let order = match self.order {
            Order::Written => farkas::Order::Written,
            Order::Scheduled => farkas::Order::Scheduled,
            Order::Original => farkas::Order::Original,
        };
        let schedule = match &self.schedule {
            Some(path) => {
                let source = files::read_source(path)?;
                let tree = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
                Some(if tree { farkas::Schedule::Tree(source) } else { farkas::Schedule::Script(source) })
            }
            None => None,
        };
        Ok(farkas::Options {
            order,
            schedule,
            // Spaces of transformations speak of the loops as they are ordered.
            recipes: farkas::Recipes::None,
            time_limit: self.time_limit,
            memory_limit: Some(self.memory_limit << 20),
            strict_order: self.strict_order,
            ..Default::default()
        })
    }
}

/// A level of instructions that this machine has.
fn parse_tier(text: &str) -> Result<farkas::Tier, String> {
    let names = || farkas::Tier::ALL.map(farkas::Tier::name).join(", ");
    let tier = farkas::Tier::from_name(text).ok_or_else(|| format!("the levels are native, {}", names()))?;
    match tier.is_available() {
        true => Ok(tier),
        false => Err(format!("this machine does not have it; the best that it has is {}", farkas::Tier::native())),
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("a positive number of seconds is needed".to_string()),
    }
}

/// Whether a function is called anywhere: `name(…)`, or `(name rank 1)`.
fn is_called(text: &str, name: &str) -> bool {
    let code: Vec<&str> = text.lines().map(|line| line.split('#').next().unwrap_or_default()).collect();
    let code = code.join(" ");
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let defined = ["fn", "schedule"].iter().any(|word| before.trim_end().ends_with(word));
        let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let after = after.trim_start();
        whole && !defined && (after.starts_with('(') || after.starts_with("rank"))
    })
}

/// The function that `--fn` names, the only one, or the only one that the others are there for.
fn choose_function(source: &Source, functions: Vec<Signature>, name: Option<&str>) -> Result<Signature, Failure> {
    let known = functions.iter().map(|function| function.name.as_str()).collect::<Vec<_>>().join(", ");
    if functions.is_empty() {
        let message = format!("`{}` defines no function", source.name());
        return Err(Failure::Message { exit: Exit::Program, message, helps: Vec::new() });
    }
    let refuse = match name {
        Some(name) => format!("`{}` has no function `{name}`; it has {known}", source.name()),
        None => format!("`{}` has several functions: {known}", source.name()),
    };
    let mut chosen = functions.into_iter().filter(|function| name.is_none_or(|name| function.name == name));
    match (chosen.next(), chosen.next()) {
        (Some(function), None) => Ok(function),
        (Some(first), Some(second)) => {
            let all: Vec<Signature> = [first, second].into_iter().chain(chosen).collect();
            // Most often the one that is meant is the one that the others are there for.
            let (mut apart, called): (Vec<Signature>, Vec<Signature>) =
                all.into_iter().partition(|function| !is_called(source.text(), &function.name));
            if apart.len() == 1 {
                return Ok(apart.remove(0));
            }
            let meant = if apart.is_empty() { called } else { apart };
            let names: Vec<&str> = meant.iter().map(|function| function.name.as_str()).collect();
            Err(Failure::usage(refuse).help(format!("choose one: --fn {}", names.join(", or --fn "))))
        }
        (None, _) => Err(Failure::usage(refuse)),
    }
}
