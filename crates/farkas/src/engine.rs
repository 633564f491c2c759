//! The engine: source text to callable functions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use diag::{Diagnostic, Source};

use crate::pipeline::{self, Code, Log, Order, Timing};
use crate::prepared::Prepared;
use crate::schedule;
use crate::threads::{Team, Threads};
use crate::{Args, Device, Emit, Error, Result, Schedule, Signature, Target, call};

/// Which roundings of floats are as the program says. Sums and products of reductions may be regrouped in any case, unless their
/// order is strict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Math {
    /// All that are not of a reduction.
    #[default]
    Strict,
    /// Products that are added to a cell need not be rounded, and what is divided by the same number again and again may be
    /// multiplied by its reciprocal.
    Fast,
}

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which text forms to keep.
    pub emit: Vec<Emit>,
    /// Wall-clock time for compiling or checking one function. isl's scheduler gets a share of it, and the program's own
    /// order is used where that is not enough; anything else that runs out of it fails with [`Error::Budget`].
    pub time_limit: Duration,
    /// The same as a number of isl's operations, which does not depend on the machine.
    pub operation_limit: Option<u64>,
    /// How many bytes isl may hold at once while it works on one function; none for no limit.
    pub memory_limit: Option<u64>,
    pub order: Order,
    /// Keep the order of the terms of every reduction as well.
    pub strict_order: bool,
    /// Which roundings are as the program says.
    pub math: Math,
    /// Replay every schedule at small sizes as a second opinion; slow.
    pub verify_dynamic: bool,
    /// The instructions to use; the best that the host has if nothing is said. Results have the same bits with all of them.
    pub cpu: Option<cpu::Tier>,
    /// Whose threads run parallel loops.
    pub threads: Threads,
    /// A parallel loop is shared among threads if its iterations after the first one are expected to take at least so long.
    pub worth_sharing: Duration,
    /// What to compile to.
    pub target: Target,
    /// Where PTX runs.
    pub device: Device,
    /// A schedule to follow instead of those in the program's file.
    pub schedule: Option<Schedule>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            emit: Vec::new(),
            time_limit: Duration::from_secs(10),
            operation_limit: Some(500_000_000),
            memory_limit: Some(4 << 30),
            order: Order::Written,
            strict_order: false,
            math: Math::Strict,
            verify_dynamic: false,
            cpu: None,
            target: Target::Cpu,
            device: Device::Any,
            threads: Threads::All,
            worth_sharing: cpu::Run::WORTH_SHARING,
            schedule: None,
        }
    }
}

impl Options {
    /// What compiling or checking one function may cost.
    pub(crate) fn budget(&self) -> isl::Budget {
        isl::Budget { time: Some(self.time_limit), operations: self.operation_limit, memory: self.memory_limit }
    }
}

/// Compiles sources. Cheap to make; holds nothing but options.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    options: Options,
}

impl Engine {
    pub fn new() -> Engine {
        Engine::default()
    }

    pub fn with_options(options: Options) -> Engine {
        Engine { options }
    }

    /// Compiles every function of a source text.
    pub fn compile(&self, text: &str) -> Result<Module> {
        self.compile_source(&Source::new("input", text))
    }

    /// Compiles every function of a named source.
    pub fn compile_source(&self, source: &Source) -> Result<Module> {
        let Front { program, scheduled, log } = self.front_end(source)?;
        let mut functions = Vec::new();
        for function in program.functions {
            functions.push(self.compile_function(source, function, &scheduled, log.clone())?);
        }
        Ok(Module { source: source.clone(), functions })
    }

    /// Compiles one function of a named source; the others are checked only for names, types and shapes.
    pub fn compile_only(&self, source: &Source, name: &str) -> Result<Function> {
        let (function, scheduled, log) = self.one(source, name)?;
        self.compile_function(source, function, &scheduled, log)
    }

    /// Checks every function, up to the proof that its schedule is legal, and reports the errors of all of them.
    pub fn check(&self, source: &Source) -> Result<Vec<Checked>> {
        let Front { program, scheduled, log: front_end } = self.front_end(source)?;
        let mut checked = Vec::new();
        let mut diagnostics = Vec::new();
        let mut failure = None;
        for function in &program.functions {
            let mut log = front_end.clone();
            let options = self.options_for(source, function, &scheduled);
            match pipeline::check(source, function, &options, &mut log) {
                Ok(()) => checked.push(Checked { signature: Signature::of(function), log }),
                Err(Error::User { source: about, diagnostics: errors }) if about.name() == source.name() => {
                    // A function that is called brings its errors into every caller.
                    for error in errors {
                        let known = |other: &Diagnostic| other.code == error.code && other.span() == error.span();
                        if !diagnostics.iter().any(known) {
                            diagnostics.push(error);
                        }
                    }
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            _ if !diagnostics.is_empty() => Err(Error::user(source, diagnostics)),
            Some(failure) => Err(failure),
            None => Ok(checked),
        }
    }

    /// What the functions of a source take and give, without compiling them.
    pub fn signatures(&self, source: &Source) -> Result<Vec<Signature>> {
        let Front { program, .. } = self.front_end(source)?;
        Ok(program.functions.iter().map(Signature::of).collect())
    }

    /// One function of a source as an array program, with the options that it is compiled with.
    pub(crate) fn lower_only(&self, source: &Source, name: &str) -> Result<(program::Function, Options)> {
        let (function, scheduled, _) = self.one(source, name)?;
        let options = self.options_for(source, &function, &scheduled);
        Ok((function, options))
    }

    /// One function of a source, which functions have a schedule beside them, and how long that took.
    fn one(&self, source: &Source, name: &str) -> Result<(program::Function, Vec<String>, Log)> {
        let Front { program, scheduled, log } = self.front_end(source)?;
        let known: Vec<String> = program.functions.iter().map(|function| function.name.clone()).collect();
        let found = program.functions.into_iter().find(|function| function.name == name);
        let unknown = || Error::Call(call::CallError::UnknownFunction { name: name.to_string(), known });
        Ok((found.ok_or_else(unknown)?, scheduled, log))
    }

    fn front_end(&self, source: &Source) -> Result<Front> {
        let mut log = Log::default();
        let user = |diagnostics| Error::user(source, diagnostics);
        let file = log.stage("parse", || syntax::parse(source)).map_err(user)?;
        let program = log.stage("lower", || program::lower(&file, source)).map_err(user)?;
        program::verify(&program).map_err(|error| Error::new(source, error))?;
        schedule::check_names(&file.schedules, &program).map_err(user)?;
        if let Some(schedule @ Schedule::Script(text)) = &self.options.schedule {
            let refuse = |diagnostics| Error::user(text, diagnostics);
            let script = schedule.parse().map_err(refuse)?;
            schedule::check_names(&script.schedules, &program).map_err(refuse)?;
        }
        let scheduled = file.schedules.into_iter().map(|schedule| schedule.function.name).collect();
        Ok(Front { program, scheduled, log })
    }

    /// The options, with the schedule beside the function if nobody asks for another order.
    fn options_for(&self, source: &Source, function: &program::Function, scheduled: &[String]) -> Options {
        let mut options = self.options.clone();
        let beside = options.order == Order::Written && scheduled.contains(&function.name);
        if beside && options.schedule.is_none() {
            options.schedule = Some(Schedule::Beside(source.clone()));
        }
        options
    }

    fn compile_function(
        &self,
        source: &Source,
        function: program::Function,
        scheduled: &[String],
        mut log: Log,
    ) -> Result<Function> {
        let started = Instant::now();
        let before: Duration = log.timings.iter().map(|timing| timing.time).sum();
        if self.options.emit.contains(&Emit::Program) {
            log.texts.push((Emit::Program, function.to_string()));
        }
        let options = self.options_for(source, &function, scheduled);
        let code = pipeline::compile(source, &function, &options, &mut log)?;
        log.timings.push(Timing { stage: "total", time: before + started.elapsed() });
        log.texts.sort_by_key(|(emit, _)| *emit);
        Function::new(source, function, code, log, &self.options)
    }
}

/// What the front end makes of a source.
struct Front {
    program: program::Program,
    /// The functions with a schedule beside them.
    scheduled: Vec<String>,
    log: Log,
}

/// A function that passed all checks.
#[derive(Clone, Debug)]
pub struct Checked {
    signature: Signature,
    log: Log,
}

impl Checked {
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The time of each stage, in order.
    pub fn timings(&self) -> &[Timing] {
        &self.log.timings
    }

    /// The text forms that were asked for, up to the schedule.
    pub fn texts(&self) -> &[(Emit, String)] {
        &self.log.texts
    }

    /// At how many combinations of small sizes the schedule was replayed, and how many others have too many instances;
    /// if that was wanted.
    pub fn replayed(&self) -> Option<(usize, usize)> {
        self.log.replayed.map(|replayed| (replayed.sizes, replayed.skipped))
    }
}

/// The compiled functions of one source.
#[derive(Debug)]
pub struct Module {
    source: Source,
    functions: Vec<Function>,
}

impl Module {
    pub fn source(&self) -> &Source {
        &self.source
    }

    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    pub fn function(&self, name: &str) -> Result<&Function> {
        self.functions.iter().find(|function| function.name() == name).ok_or_else(|| {
            let known = self.functions.iter().map(|function| function.name().to_string()).collect();
            Error::Call(call::CallError::UnknownFunction { name: name.to_string(), known })
        })
    }
}

/// A compiled function: `Send + Sync`, and free of isl. Clones share everything; it outlives its module.
#[derive(Clone, Debug)]
pub struct Function(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    source: Source,
    signature: Signature,
    program: program::Function,
    code: Code,
    team: Team,
    log: Log,
}

impl Function {
    pub(crate) fn new(
        source: &Source,
        program: program::Function,
        code: Code,
        log: Log,
        options: &Options,
    ) -> Result<Function> {
        let team = Team::new(options, code.compiled().is_ok_and(cpu::Compiled::is_parallel))?;
        let signature = Signature::of(&program);
        Ok(Function(Arc::new(Compiled { source: source.clone(), signature, program, code, team, log })))
    }

    pub fn name(&self) -> &str {
        &self.0.signature.name
    }

    pub fn signature(&self) -> &Signature {
        &self.0.signature
    }

    /// The time of each stage, in order, and the total.
    pub fn timings(&self) -> &[Timing] {
        &self.0.log.timings
    }

    /// The text forms that were asked for, in the order of the pipeline.
    pub fn texts(&self) -> &[(Emit, String)] {
        &self.0.log.texts
    }

    /// Prepares calls for one set of sizes, which then take next to no time beside the work itself.
    pub fn prepare(&self, sizes: &[(&str, i64)]) -> Result<Prepared> {
        Prepared::new(self, sizes)
    }

    pub(crate) fn program(&self) -> &program::Function {
        &self.0.program
    }

    pub(crate) fn code(&self) -> &Code {
        &self.0.code
    }

    pub(crate) fn team(&self) -> &Team {
        &self.0.team
    }

    pub(crate) fn source(&self) -> &Source {
        &self.0.source
    }

    /// Runs the machine code.
    pub fn call(&self, args: &mut Args<'_>) -> Result<()> {
        call::call(&self.0.program, &self.0.code, &self.0.team, args)
            .map_err(|error| Error::of_call(&self.0.source, error))
    }

    /// Runs the reference interpreter instead, with the same arguments and checks.
    pub fn interpret(&self, args: &mut Args<'_>) -> Result<()> {
        call::interpret(&self.0.program, args).map_err(|error| Error::of_call(&self.0.source, error))
    }

    /// The extents of an array argument once the sizes are known, for hosts that allocate outputs.
    pub fn shape_of(&self, args: &Args<'_>, name: &str) -> Result<Vec<usize>> {
        Ok(call::shape_of(&self.0.program, args, name)?)
    }
}
