//! The engine: source text to callable functions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use diag::{Diagnostic, Source, deadline};

use crate::cache::{Key, Memory};
use crate::pipeline::{self, Code, Log, Order, Timing};
use crate::prepared::Prepared;
use crate::schedule;
use crate::special::{Specialize, Specials};
use crate::stored;
use crate::threads::{Team, Threads};
use crate::views::{self, Views};
use crate::{
    Args, Cache, CallError, Device, Emit, Error, Machine, Result, Schedule, Signature, Target, call, machine, sizes,
};

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
    /// Who decides the order of the instances, where no schedule is given.
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
    /// A parallel loop is shared among threads if it is expected to take at least so long; if nothing is said, several times what waking the
    /// threads takes, which is measured when their pool is made.
    pub worth_sharing: Option<Duration>,
    /// What is done for speed to schedules that nobody has written.
    pub recipes: Recipes,
    /// The machine that they are for; the host if nothing is said.
    pub machine: Option<Machine>,
    /// Where a schedule is chosen, so many that would have been are passed over, as long as there are others. For those who compare.
    pub passed_over: usize,
    /// When calls get code for their very sizes, with the same results.
    pub specialize: Specialize,
    /// Sizes of calls to come, by name. Of a function with versions for different sizes, code is made for these when it is compiled, and for others when they are
    /// called; if nothing is said, for the sizes that have no version of their own.
    pub ahead: Option<Vec<(String, i64)>>,
    /// Whether [`Emit::Layouts`] draws small arrays that are laid out, as tables of offsets.
    pub draw: bool,
    /// What to compile to.
    pub target: Target,
    /// Where PTX runs.
    pub device: Device,
    /// A schedule to follow instead of those in the program's file.
    pub schedule: Option<Schedule>,
    /// Where functions that were compiled are kept. What a stage shows or replays is made anew in any case.
    pub cache: Cache,
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
            recipes: Recipes::Auto,
            machine: None,
            passed_over: 0,
            specialize: Specialize::default(),
            ahead: None,
            draw: false,
            target: Target::Cpu,
            device: Device::Any,
            threads: Threads::All,
            worth_sharing: None,
            schedule: None,
            cache: Cache::default(),
        }
    }
}

/// What is done to schedules that nobody has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recipes {
    /// What a person would do for speed: vector loops, tiles, copies that lie side by side. Where sizes are too small for that, loops as they are.
    #[default]
    Auto,
    /// The same without regard to sizes.
    Always,
    /// Nothing but a good order of loops.
    None,
}

impl Options {
    /// Whether nothing can have been cut short for want of time after so much of it, so that another compilation would decide the same.
    pub(crate) fn is_unhurried(&self, spent: Duration) -> bool {
        spent < self.time_limit / pipeline::SMALLEST_SHARE
    }

    /// What recipes may know about the machine; none if there shall be none. They are for processors.
    pub(crate) fn facts(&self) -> Option<Machine> {
        if self.recipes == Recipes::None || self.target != Target::Cpu {
            return None;
        }
        let machine = self.machine.unwrap_or_else(|| machine::host(self.cpu));
        Some(if self.recipes == Recipes::Always { Machine { small: 0, ..machine } } else { machine })
    }

    /// How machine code is made of loops.
    pub(crate) fn code(&self) -> cpu::Options {
        let machine = self.machine.unwrap_or_else(|| machine::host(self.cpu));
        cpu::Options { tier: self.cpu, streams: Some(machine.l3), ..cpu::Options::default() }
    }

    /// What compiling or checking one function may cost.
    pub(crate) fn budget(&self) -> isl::Budget {
        isl::Budget { time: Some(self.time_limit), operations: self.operation_limit, memory: self.memory_limit }
    }
}

/// Compiles sources. Cheap to make; it holds its options, and shares with its clones what it has compiled ([`Cache`]).
#[derive(Clone, Debug, Default)]
pub struct Engine {
    options: Options,
    memory: Arc<Memory>,
}

impl Engine {
    /// An engine with default options.
    pub fn new() -> Engine {
        Engine::default()
    }

    /// An engine with options of its own.
    pub fn with_options(options: Options) -> Engine {
        Engine { options, memory: Arc::default() }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Compiles every function of a source text.
    pub fn compile(&self, text: &str) -> Result<Module> {
        self.compile_source(&Source::new("input", text))
    }

    /// Compiles every function of a named source.
    pub fn compile_source(&self, source: &Source) -> Result<Module> {
        self.read(source)?.compile_all()
    }

    /// Compiles one function of a named source; the others are checked only for names, types and shapes.
    pub fn compile_only(&self, source: &Source, name: &str) -> Result<Function> {
        self.read(source)?.compile(name)
    }

    /// Reads a source and checks names, types and shapes, once for all that is asked about it afterwards.
    pub fn read(&self, source: &Source) -> Result<Program> {
        let Front { program, scheduled, log } = self.front_end(source)?;
        Ok(Program { engine: self.clone(), source: source.clone(), functions: program.functions, scheduled, log })
    }

    /// Checks every function, up to the proof that its schedule is legal, and reports the errors of all of them.
    pub fn check(&self, source: &Source) -> Result<Vec<Checked>> {
        let front = self.front_end(source)?;
        deadline::within(front.log.began(), self.options.time_limit, || self.check_functions(source, front))
    }

    fn check_functions(&self, source: &Source, front: Front) -> Result<Vec<Checked>> {
        let Front { program, scheduled, log: front_end } = front;
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
        Ok(self.read(source)?.signatures())
    }

    /// One function of a source as an array program, with the options that it is compiled with.
    pub(crate) fn lower_only(&self, source: &Source, name: &str) -> Result<(program::Function, Options)> {
        let program = self.read(source)?;
        let function = program.function(name)?;
        Ok((function.clone(), self.options_for(source, function, &program.scheduled)))
    }

    pub(crate) fn front_end(&self, source: &Source) -> Result<Front> {
        deadline::within(Instant::now(), self.options.time_limit, || self.front_end_in_time(source))
    }

    fn front_end_in_time(&self, source: &Source) -> Result<Front> {
        let mut log = Log::default();
        let user = |diagnostics| Error::user(source, diagnostics);
        let failed = |error| Error::new(source, error);
        let file = log.stage_in_time("parse", || syntax::parse(source)).map_err(failed)?.map_err(user)?;
        if let Some(used) = file.uses.first().filter(|_| !source.is_linked()) {
            let message = format!("the file `{}` is not given", used.path);
            let diagnostic = Diagnostic::error("E0115", used.span, message)
                .here("used here")
                .note("a host gives the files of a program by `farkas::link`");
            return Err(user(vec![diagnostic]));
        }
        let mut program =
            log.stage_in_time("lower", || program::lower(&file, source)).map_err(failed)?.map_err(user)?;
        program::verify(&program).map_err(failed)?;
        schedule::check_names(&file.schedules, &program).map_err(user)?;
        stored::find_all(&mut program).map_err(failed)?;
        if let Some(schedule @ Schedule::Script(text)) = &self.options.schedule {
            let refuse = |diagnostics| Error::user(text, diagnostics);
            let script = log.stage_in_time("script", || schedule.parse()).map_err(failed)?.map_err(refuse)?;
            schedule::check_names(&script.schedules, &program).map_err(refuse)?;
        }
        // What other files define is there for this one, and not to be called from outside.
        program.functions.retain(|function| source.is_own(function.span));
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
        function: &program::Function,
        scheduled: &[String],
        mut log: Log,
    ) -> Result<Function> {
        let started = Instant::now();
        let before: Duration = log.timings.iter().map(|timing| timing.time).sum();
        if self.options.emit.contains(&Emit::Program) {
            log.texts.push((Emit::Program, function.to_string()));
        }
        let options = self.options_for(source, function, scheduled);
        let key = self.is_cached().then(|| Key::new(source, &function.name, &options));
        let code = match key.as_ref().and_then(|key| self.memory.recall(key)) {
            Some(code) => code,
            None => Arc::new(pipeline::compile(source, function, &options, key.as_ref(), &mut log)?),
        };
        if let Some(key) = key.filter(|_| options.is_unhurried(started.elapsed())) {
            self.memory.remember(key, &code);
        }
        log.timings.push(Timing { stage: "total", time: before + started.elapsed() });
        log.texts.sort_by_key(|(emit, _)| *emit);
        Function::new(source, function.clone(), code, log, &options)
    }
}

impl Engine {
    /// Whether the cache will do: it knows loops, but neither how they came about nor their texts.
    fn is_cached(&self) -> bool {
        let Options { cache, emit, verify_dynamic, .. } = &self.options;
        !matches!(cache, Cache::Off) && emit.is_empty() && !verify_dynamic
    }
}

/// A source that was read: its functions can be looked at, and compiled when they are wanted.
///
/// ```
/// # let text = "fn double<N>(x: f64[N]) -> (y: f64[N]) { y[i] = 2 * x[i] }";
/// let program = farkas::Engine::new().read(&farkas::Source::new("double.fks", text))?;
/// assert_eq!(program.signatures()[0].params, ["N"]);
/// let double = program.compile("double")?;
/// # Ok::<(), farkas::Error>(())
/// ```
#[derive(Debug)]
pub struct Program {
    engine: Engine,
    source: Source,
    functions: Vec<program::Function>,
    scheduled: Vec<String>,
    log: Log,
}

impl Program {
    /// What its functions take and give.
    pub fn signatures(&self) -> Vec<Signature> {
        self.functions.iter().map(Signature::of).collect()
    }

    /// Compiles one function.
    pub fn compile(&self, name: &str) -> Result<Function> {
        self.engine.compile_function(&self.source, self.function(name)?, &self.scheduled, self.log.clone())
    }

    /// Compiles all of them.
    pub fn compile_all(&self) -> Result<Module> {
        let compile =
            |function| self.engine.compile_function(&self.source, function, &self.scheduled, self.log.clone());
        let all = || self.functions.iter().map(compile).collect::<Result<_>>();
        let functions = deadline::within(self.log.began(), self.engine.options.time_limit, all)?;
        Ok(Module::new(&self.source, functions, &self.engine.options))
    }

    /// The options that a function is compiled with.
    pub(crate) fn options_of(&self, name: &str) -> Result<Options> {
        Ok(self.engine.options_for(&self.source, self.function(name)?, &self.scheduled))
    }

    /// Compiles one function with other options.
    pub(crate) fn compile_with(&self, name: &str, options: Options) -> Result<Function> {
        let engine = Engine { options, memory: Arc::clone(&self.engine.memory) };
        engine.compile_function(&self.source, self.function(name)?, &self.scheduled, self.log.clone())
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// What was noted under a key, by this process or another one.
    pub(crate) fn note(&self, key: &Key) -> Option<String> {
        let noted = self.engine.memory.note(key);
        noted.or_else(|| self.engine.options.cache.directory()?.recall(key))
    }

    /// Notes something under a key, where others find it if the cache is one that they share.
    pub(crate) fn take_note(&self, key: &Key, text: &str) {
        self.engine.memory.take_note(*key, text);
        if let Some(directory) = self.engine.options.cache.directory() {
            directory.remember(key, text);
        }
    }

    pub(crate) fn function(&self, name: &str) -> Result<&program::Function> {
        let known = || self.functions.iter().map(|function| function.name.clone()).collect();
        let unknown = || Error::Call(CallError::UnknownFunction { name: name.to_string(), known: known() });
        self.functions.iter().find(|function| function.name == name).ok_or_else(unknown)
    }
}

/// What the front end makes of a source.
pub(crate) struct Front {
    pub(crate) program: program::Program,
    /// The functions with a schedule beside them.
    scheduled: Vec<String>,
    pub(crate) log: Log,
}

/// A function that passed all checks.
#[derive(Clone, Debug)]
pub struct Checked {
    signature: Signature,
    log: Log,
}

impl Checked {
    /// What the function takes and gives.
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

    /// At how many combinations of small sizes the schedule was replayed, and how many others have too many instances
    /// or too large numbers; if that was wanted.
    pub fn replayed(&self) -> Option<(usize, usize)> {
        self.log.replayed.map(|replayed| (replayed.sizes, replayed.skipped))
    }
}

/// The compiled functions of one source.
#[derive(Debug)]
pub struct Module {
    source: Source,
    functions: Vec<Function>,
    pub(crate) strict_order: bool,
    pub(crate) math: Math,
}

impl Module {
    pub(crate) fn new(source: &Source, functions: Vec<Function>, options: &Options) -> Module {
        let Options { strict_order, math, .. } = *options;
        Module { source: source.clone(), functions, strict_order, math }
    }

    /// The source it was compiled from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Its functions, in the order of the source.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function of that name; [`CallError::UnknownFunction`] names those that there are.
    pub fn function(&self, name: &str) -> Result<&Function> {
        self.functions.iter().find(|function| function.name() == name).ok_or_else(|| {
            let known = self.functions.iter().map(|function| function.name().to_string()).collect();
            Error::Call(CallError::UnknownFunction { name: name.to_string(), known })
        })
    }
}

/// A compiled function: `Send + Sync`, and free of isl. Clones share everything; it outlives its module.
#[derive(Clone, Debug)]
pub struct Function(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    source: Source,
    /// What was followed, for messages about its lines.
    schedule: Option<Schedule>,
    signature: Signature,
    program: program::Function,
    code: Arc<Code>,
    specials: Specials,
    views: Option<Views>,
    /// How machine code is made for other sizes and views.
    make: cpu::Options,
    team: Team,
    log: Log,
}

impl Function {
    pub(crate) fn new(
        source: &Source,
        program: program::Function,
        code: Arc<Code>,
        log: Log,
        options: &Options,
    ) -> Result<Function> {
        let team = Team::new(options, code.is_parallel())?;
        let signature = Signature::of(&program);
        let specials = Specials::new(options, &code, &log.timings);
        if let Specialize::For(given) = &options.specialize {
            let refuse = |error| Error::of_call(source, error);
            let params = sizes::solve(&program, given, &[]).map_err(refuse)?;
            let schedule = options.schedule.as_ref();
            let general = code.at(&params).map_err(refuse)?;
            sizes::check_index_arithmetic(&program, schedule, &general.kernel, &params).map_err(refuse)?;
            specials.keep(&params, specials.make(&params, &general)?);
        }
        let (source, schedule, make) = (source.clone(), options.schedule.clone(), options.code());
        let views = None;
        let compiled = Compiled { source, schedule, signature, program, code, specials, views, make, team, log };
        Ok(Function(Arc::new(compiled)))
    }

    /// As the source has it.
    pub fn name(&self) -> &str {
        &self.0.signature.name
    }

    /// What the function takes and gives.
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

    /// What its schedule was expected to cost when it was chosen. None for one that somebody wrote, or that came from a cache.
    pub fn cost(&self) -> Option<u64> {
        self.0.log.cost
    }

    /// Prepares calls for one set of sizes, which then take next to no time beside the work itself.
    pub fn prepare(&self, sizes: &[(&str, i64)]) -> Result<Prepared> {
        Prepared::new(self, sizes)
    }

    /// The same function for arrays that lie like those of `args`, with any strides: by columns, as parts of larger arrays, backwards, or
    /// apart. Calls with such views copy nothing. It is compiled for that; calls with views that lie otherwise, and prepared ones, run what this
    /// function runs.
    pub fn for_views(&self, args: &Args<'_>) -> Result<Function> {
        let Compiled { source, schedule, signature, program, code, team, log, make, .. } = &*self.0;
        let views = Views::new(self, args, make)?;
        Ok(Function(Arc::new(Compiled {
            source: source.clone(),
            schedule: schedule.clone(),
            signature: signature.clone(),
            program: program.clone(),
            code: Arc::clone(code),
            specials: self.0.specials.afresh(),
            views,
            make: *make,
            team: team.clone(),
            log: log.clone(),
        })))
    }

    /// The arrays that a call with these arguments copies before it runs, and back afterwards if it writes them, because they do not lie
    /// row-major and the function was not made for how they lie ([`Function::for_views`]).
    pub fn copied(&self, args: &Args<'_>) -> Vec<String> {
        views::copied(self, args)
    }

    pub(crate) fn views(&self) -> Option<&Views> {
        self.0.views.as_ref()
    }

    /// The sizes that there is code for by now, beside that for all sizes ([`Options::specialize`]).
    pub fn specialized(&self) -> Vec<Vec<(String, i64)>> {
        let written = |params: &Vec<i64>| {
            let named = self.0.program.params.iter().zip(params).filter(|(param, _)| param.derived.is_none());
            named.map(|(param, value)| (param.name.clone(), *value)).collect()
        };
        self.0.specials.made().iter().map(written).collect()
    }

    pub(crate) fn program(&self) -> &program::Function {
        &self.0.program
    }

    pub(crate) fn specials(&self) -> &Specials {
        &self.0.specials
    }

    pub(crate) fn code(&self) -> &Arc<Code> {
        &self.0.code
    }

    /// The code that calls with these sizes run as long as there is none for these alone.
    pub(crate) fn code_at(&self, params: &[i64]) -> std::result::Result<Arc<Code>, CallError> {
        self.0.code.at(params).map_err(|error| match error {
            CallError::Run(cpu::CallError::Stride) => {
                CallError::IndexOverflow { sizes: sizes::show(&self.0.program, params) }
            }
            error => error,
        })
    }

    pub(crate) fn team(&self) -> &Team {
        &self.0.team
    }

    pub(crate) fn source(&self) -> &Source {
        &self.0.source
    }

    pub(crate) fn schedule(&self) -> Option<&Schedule> {
        self.0.schedule.as_ref()
    }

    /// Runs the machine code.
    pub fn call(&self, args: &mut Args<'_>) -> Result<()> {
        call::call(self, args).map_err(|error| Error::of_call(&self.0.source, error))
    }

    /// Runs the reference interpreter instead, with the same arguments and checks.
    pub fn interpret(&self, args: &mut Args<'_>) -> Result<()> {
        call::interpret(&self.0.program, args).map_err(|error| Error::of_call(&self.0.source, error))
    }

    /// The extents of an array argument once the sizes are known, for hosts that allocate outputs.
    pub fn shape_of(&self, args: &Args<'_>, name: &str) -> Result<Vec<usize>> {
        call::shape_of(&self.0.program, args, name).map_err(|error| Error::of_call(&self.0.source, error))
    }
}
