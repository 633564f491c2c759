//! The pipeline: from one function of the array program to machine code, as one straight line.
//!
//! Every stage is timed, its text form is kept if wanted, and its result is verified before the next stage sees it. No stage
//! runs twice. The whole line is under one budget.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use choice::{Followed, Reasoned};
use diag::{Diagnostic, Source, deadline};
use isl::Context;
use poly::{DependenceGraph, Proven, Scop, Subject};
use program::Function;
use steps::Step;

use crate::cache::Key;
use crate::versions::{Finish, Make, Parts, Versions};
use crate::{
    CallError, Device, Emit, Error, Options, Recipes, Result, Schedule, Specialize, Target, sizes, storage, stored,
};

/// The part of the time that is for exact dependences.
const EXACT_SHARE: u32 = 4;
/// No stage is given up before this part of the time is over: exact dependences are the first.
pub(crate) const SMALLEST_SHARE: u32 = EXACT_SHARE;

/// How long a stage took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Its name.
    pub stage: &'static str,
    /// From its beginning to its end.
    pub time: Duration,
}

/// Who decides the order of the instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The `schedule` beside the function in its file; without one, the scheduler.
    #[default]
    Written,
    /// The scheduler.
    Scheduled,
    /// The program: its textual order, with loops as written.
    Original,
}

/// What the stages leave behind besides their result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// One per stage, in the order in which they ran.
    pub(crate) timings: Vec<Timing>,
    pub(crate) texts: Vec<(Emit, String)>,
    pub(crate) replayed: Option<poly::Replayed>,
    /// What the schedule was expected to cost, where it was chosen.
    pub(crate) cost: Option<u64>,
}

impl Log {
    pub(crate) fn stage<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let _span = tracing::debug_span!("stage", stage).entered();
        let started = Instant::now();
        let result = work();
        let time = started.elapsed();
        tracing::debug!(stage, micros = time.as_micros() as u64, "done");
        self.timings.push(Timing { stage, time });
        result
    }

    /// When the stages began that are in it, as if nothing had been between them and now.
    pub(crate) fn began(&self) -> Instant {
        let before: Duration = self.timings.iter().map(|timing| timing.time).sum();
        let now = Instant::now();
        now.checked_sub(before).unwrap_or(now)
    }

    /// A stage whose result is of no use if the deadline is over when it ends.
    pub(crate) fn stage_in_time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> diag::Result<T> {
        let result = self.stage(stage, work);
        deadline::check(stage).map(|()| result)
    }
}

/// Loops and machine code of one function.
#[derive(Debug)]
pub(crate) struct Code {
    /// The loops as they were generated, as text.
    pub(crate) generated: Arc<str>,
    /// After all passes, or as generated where versions go through them alone.
    pub(crate) kernel: loops::Verified,
    pub(crate) made: Made,
}

impl Code {
    /// What calls with these sizes run: itself, or one of its versions.
    pub(crate) fn at(self: &Arc<Code>, params: &[i64]) -> std::result::Result<Arc<Code>, CallError> {
        match &self.made {
            Made::Cpu(_) | Made::Ptx { .. } => Ok(Arc::clone(self)),
            Made::Versions(parts) => {
                let number = parts.version_at(params).ok_or(CallError::Run(cpu::CallError::Stride))?;
                // All versions are right for all sizes.
                parts.code(&self.generated, number).or_else(|_| parts.code(&self.generated, parts.count() - 1))
            }
        }
    }

    /// What calls run with sizes that have no version of their own.
    pub(crate) fn general(self: &Arc<Code>) -> std::result::Result<Arc<Code>, CallError> {
        match &self.made {
            Made::Cpu(_) | Made::Ptx { .. } => Ok(Arc::clone(self)),
            Made::Versions(parts) => parts.code(&self.generated, parts.count() - 1),
        }
    }

    /// Whether a call may have work for several threads.
    pub(crate) fn is_parallel(&self) -> bool {
        match &self.made {
            Made::Cpu(compiled) => compiled.is_parallel(),
            Made::Versions(_) => self.kernel.has_parallel_loops(),
            Made::Ptx { .. } => false,
        }
    }

    /// Machine code of this host.
    pub(crate) fn compiled(&self) -> std::result::Result<&cpu::Compiled, CallError> {
        match &self.made {
            Made::Cpu(compiled) => Ok(compiled),
            Made::Ptx { .. } | Made::Versions(_) => Err(CallError::NoMachineCode),
        }
    }
}

/// What is called.
#[derive(Debug)]
pub(crate) enum Made {
    /// Machine code.
    Cpu(Box<cpu::Compiled>),
    /// Machine code for some sizes, and other code for others.
    Versions(Box<Parts>),
    /// Kernels, and what the host does between them.
    Ptx { program: Box<ptx::Program>, device: Device },
}

/// One function on its way.
struct Line<'a> {
    source: &'a Source,
    function: &'a Function,
    options: &'a Options,
    log: &'a mut Log,
    started: Instant,
}

/// From a function to its code; by way of the cache if there is one and it has a key.
pub(crate) fn compile(
    source: &Source,
    function: &Function,
    options: &Options,
    key: Option<&Key>,
    log: &mut Log,
) -> Result<Code> {
    let mut line = Line::new(source, function, options, log);
    line.within_budget(|line, ctx| {
        if let Some(kernel) = line.recall(ctx, key)? {
            return line.finish(kernel);
        }
        let subject = line.analyse(ctx)?;
        let decided = line.stage("schedule", |line| line.decide(ctx, &subject))?;
        line.log.cost = decided.cost;
        line.emit_schedule(&decided)?;
        line.replay(&decided)?;
        let kernel = line.generate(&decided)?;
        line.remember(ctx, key, &kernel)?;
        line.finish(kernel)
    })
}

/// The code of loops that were generated before, if they are what they say.
pub(crate) fn restore(
    source: &Source,
    function: &Function,
    options: &Options,
    text: &str,
    log: &mut Log,
) -> Result<std::result::Result<Code, String>> {
    let mut line = Line::new(source, function, options, log);
    line.within_budget(|line, ctx| match line.stage("reprove", |line| Ok(line.reprove(ctx, text)))? {
        Ok(kernel) => line.finish(kernel).map(Ok),
        Err(why) => Ok(Err(why)),
    })
}

/// The same up to the schedule and its proof.
pub(crate) fn check(source: &Source, function: &Function, options: &Options, log: &mut Log) -> Result<()> {
    let mut line = Line::new(source, function, options, log);
    line.within_budget(|line, ctx| {
        let subject = line.analyse(ctx)?;
        let decided = line.stage("schedule", |line| line.decide(ctx, &subject))?;
        line.emit_schedule(&decided)?;
        line.replay(&decided)
    })
}

/// A function with everything that is known about it, and the schedule that [`compile`] would use; of several versions, the one for
/// sizes that have no other.
pub(crate) fn decide(ctx: &Context, source: &Source, function: &Function, options: &Options) -> Result<Proven> {
    let mut log = Log::default();
    let mut line = Line::new(source, function, options, &mut log);
    deadline::within(line.started, options.time_limit, || {
        let subject = line.analyse(ctx)?;
        Ok(line.decide(ctx, &subject)?.versions.general.proven)
    })
}

/// The code of a schedule that is proven already.
pub(crate) fn generate(source: &Source, proven: &Proven, options: &Options, log: &mut Log) -> Result<Code> {
    let function = &proven.subject().scop.function;
    let mut line = Line::new(source, function, options, log);
    deadline::within(line.started, options.time_limit, || {
        let decided = Decided::only(Way { proven: proven.clone(), steps: None }, None);
        line.emit_schedule(&decided)?;
        let kernel = line.generate(&decided)?;
        line.finish(kernel)
    })
}

/// What was followed, if it is legal; `text` is where it stands.
fn proven(followed: Followed, text: &Source) -> Result<Proven> {
    match followed {
        Followed::Proven(proven) => Ok(*proven),
        Followed::Unknown(spent) => Err(Error::Budget { stage: "legality", spent }),
        Followed::Refused(diagnostics) => {
            let gathered = diagnostics.into_iter().map(|diagnostic| diagnostic.gathered(text)).collect();
            Err(Error::user(text, gathered))
        }
    }
}

/// A schedule, and the steps that make it if they can be said.
struct Way {
    proven: Proven,
    steps: Option<Vec<Reasoned>>,
}

impl Way {
    /// It as a script, for some sizes or for all that are left.
    fn script(&self, sizes: Option<&program::Cond>) -> String {
        let (subject, tree) = (self.proven.subject(), self.proven.tree());
        let function = &subject.scop.function;
        let reasoned = |steps: &[Reasoned]| {
            let lines = steps.iter().map(|reasoned| (&reasoned.step, reasoned.why.as_str()));
            steps::show_reasoned(sizes, lines, function)
        };
        let order = || Some(steps::show_script(sizes, &choice::written(subject, tree)?, function));
        let steps = self.steps.as_deref().filter(|steps| !steps.is_empty());
        steps.map(reasoned).or_else(order).unwrap_or_else(|| {
            let name = &function.name;
            format!(
                "# The times of `{name}` have pieces, which a script cannot say; `--emit=schedule` saves the tree.\n"
            )
        })
    }
}

/// The schedule of a function, or several for different sizes.
struct Decided {
    versions: Versions<Way>,
    /// What the one for most sizes was expected to cost, if it was chosen.
    cost: Option<u64>,
}

impl Decided {
    /// One for all sizes.
    fn only(way: Way, cost: Option<u64>) -> Decided {
        Decided { versions: Versions { special: Vec::new(), general: way }, cost }
    }
}

impl<'a> Line<'a> {
    /// What the front end has taken, which is in the log, counts, and so does what came before where a deadline is in force.
    fn new(source: &'a Source, function: &'a Function, options: &'a Options, log: &'a mut Log) -> Line<'a> {
        let started = deadline::began().unwrap_or_else(|| log.began());
        Line { source, function, options, log, started }
    }

    /// What finding exact dependences may cost; with others, a schedule can still be judged.
    fn exact_share(&self) -> isl::Budget {
        self.allowed().part(EXACT_SHARE)
    }

    /// What work that can be given up gets its parts of.
    fn allowed(&self) -> isl::Allowance {
        isl::Allowance { limit: self.options.time_limit, left: self.left() }
    }

    /// How much time there is.
    fn left(&self) -> Duration {
        self.options.time_limit.saturating_sub(self.started.elapsed())
    }

    /// Runs all of `work` under one budget.
    fn within_budget<T>(&mut self, work: impl FnOnce(&mut Self, &Context) -> Result<T>) -> Result<T> {
        let bug = |error: isl::Error| Error::Bug { stage: "budget", what: error.to_string() };
        let ctx = Context::new().map_err(bug)?;
        let budget = isl::Budget { time: Some(self.left()), ..self.options.budget() };
        let (started, limit) = (self.started, self.options.time_limit);
        let work = || deadline::within(started, limit, || work(self, &ctx));
        ctx.with_budget(budget, || Ok(work())).map_err(bug)?
    }

    /// One stage; none begins when the time is over, and what one leaves behind that was cut short by it is not looked at.
    fn stage<T>(&mut self, stage: &'static str, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let spent = self.started.elapsed();
        if spent > self.options.time_limit {
            return Err(Error::Budget { stage, spent: diag::Spent::time(spent) });
        }
        let mut log = std::mem::take(self.log);
        let result = log.stage(stage, || work(self));
        log.timings.append(&mut self.log.timings);
        log.texts.append(&mut self.log.texts);
        *self.log = log;
        match result {
            Err(Error::Budget { .. }) => result,
            _ => self.poly(deadline::check(stage)).and(result),
        }
    }

    /// The result of another crate, whose errors are about the program.
    fn poly<T>(&self, result: diag::Result<T>) -> Result<T> {
        result.map_err(|error| Error::new(self.source, self.function.at_calls(error)))
    }

    /// Keeps the text of a stage if it is wanted.
    fn emit(&mut self, emit: Emit, text: impl FnOnce() -> String) {
        if self.options.emit.contains(&emit) {
            self.log.texts.retain(|(known, _)| *known != emit);
            self.log.texts.push((emit, text()));
        }
    }

    /// Model, checks and dependences.
    fn analyse(&mut self, ctx: &Context) -> Result<Rc<Subject>> {
        let scop = self.stage("model", |line| line.poly(poly::model(ctx, line.function)))?;
        self.emit(Emit::Statements, || scop.to_string());
        self.stage("check", |line| line.poly(poly::check_program(&scop)))?;
        let dependences = self.stage("deps", |line| line.poly(poly::dependences(&scop, line.exact_share())))?;
        self.stage("defined", |line| line.poly(poly::check_defined(&scop, &dependences)))?;
        let dependences = match self.options.strict_order {
            true => self.poly(dependences.in_strict_order())?,
            false => dependences,
        };
        self.emit_dependences(&scop, &dependences)?;
        Ok(Rc::new(Subject::new(scop, dependences, None)))
    }

    /// The schedule: the user's, the program's own, or the one that is chosen; proven in any case.
    fn decide(&mut self, ctx: &Context, subject: &Rc<Subject>) -> Result<Decided> {
        let (source, options) = (self.source, self.options);
        let subject = &self.laid_out(subject)?;
        let text = options.schedule.as_ref().map_or(source, Schedule::text);
        let only = |followed| Ok(Decided::only(Way { proven: proven(followed, text)?, steps: None }, None));
        match (&options.schedule, options.order) {
            (Some(Schedule::Tree(text)), _) => {
                let refuse = |diagnostics| Error::user(text, diagnostics);
                let read = self.poly(steps::read_yaml(ctx, &subject.scop, text.text()))?;
                let tree = read.map_err(|not| refuse(vec![choice::not_a_tree(not, subject, source, text)]))?;
                only(self.poly(choice::load(subject, tree, source, text))?)
            }
            (Some(schedule), _) => {
                let refuse = |diagnostics| Error::user(schedule.text(), diagnostics);
                let own_order = || Versions { special: Vec::new(), general: Vec::new() };
                let versions = schedule.versions(self.function).map_err(refuse)?.unwrap_or_else(own_order);
                let versions = versions.try_map(|sizes, steps| -> Result<Way> {
                    let followed = self.poly(choice::follow(subject, &steps, source))?;
                    let all_sizes = |sizes| {
                        let sizes = self.function.show_cond(sizes);
                        format!("each schedule has to be legal for all sizes, not only where {sizes}")
                    };
                    let proven = proven(followed, text).map_err(|error| match (error, sizes) {
                        (Error::User { source, mut diagnostics }, Some(sizes)) => {
                            diagnostics.iter_mut().for_each(|diagnostic| diagnostic.notes.push(all_sizes(sizes)));
                            Error::User { source, diagnostics }
                        }
                        (error, _) => error,
                    })?;
                    let given = |step: Step| Reasoned { step, why: String::new() };
                    Ok(Way { proven, steps: Some(steps.into_iter().map(given).collect()) })
                })?;
                Ok(Decided { versions, cost: None })
            }
            (None, Order::Original) => only(self.poly(choice::follow(subject, &[], source))?),
            (None, Order::Written | Order::Scheduled) => self.choose(subject),
        }
    }

    /// The schedule that is expected to be the best.
    fn choose(&mut self, subject: &Rc<Subject>) -> Result<Decided> {
        let options = self.options;
        let machine = options.facts();
        let mut chosen = self.poly(choice::choose(subject, machine.as_ref(), options.passed_over, self.allowed()))?;
        if options.target != Target::Cpu && options.recipes != Recipes::None {
            chosen = self.poly(choice::spread(chosen, self.allowed()))?;
        }
        let steps = match chosen.steps {
            // For a GPU, the cost has nothing to say.
            Some(steps) if options.target == Target::Cpu => Some(self.with_savings(subject, steps)?),
            steps => steps,
        };
        // What blocks of a grid do for small sizes, nobody waits for.
        let others = chosen.versions.into_iter().filter(|_| options.target == Target::Cpu);
        let special = others.map(|choice::Version { sizes, proven, steps }| (sizes, Way { proven, steps })).collect();
        let general = Way { proven: chosen.proven, steps };
        Ok(Decided { versions: Versions { special, general }, cost: chosen.cost })
    }

    /// The steps, with what each is expected to save beside its reason, if they are to be shown.
    fn with_savings(&self, subject: &Rc<Subject>, mut steps: Vec<Reasoned>) -> Result<Vec<Reasoned>> {
        if !self.options.emit.contains(&Emit::Script) {
            return Ok(steps);
        }
        let savings = self.poly(choice::savings(subject, steps.iter().map(|reasoned| &reasoned.step)))?;
        for (Reasoned { why, .. }, saving) in steps.iter_mut().zip(savings) {
            let text = saving.map(|saving| saving.text()).unwrap_or_default();
            *why = [why.as_str(), &text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        }
        Ok(steps)
    }

    /// The program with its arrays kept where the function says, before anybody decides about its order.
    fn laid_out(&mut self, subject: &Rc<Subject>) -> Result<Rc<Subject>> {
        if self.function.layouts.is_empty() {
            return Ok(Rc::clone(subject));
        }
        let steps = stored::layouts(self.function).map_err(|errors| Error::user(self.source, errors))?;
        let followed = self.poly(choice::follow(subject, &steps, self.source))?;
        Ok(Rc::clone(proven(followed, self.source)?.subject()))
    }

    /// Replays the schedule at small sizes as a second opinion, if that is wanted.
    fn replay(&mut self, decided: &Decided) -> Result<()> {
        if !self.options.verify_dynamic {
            return Ok(());
        }
        let all = |line: &mut Self| {
            // At how many sizes each of several versions was.
            let mut all: Option<poly::Replayed> = None;
            for (_, way) in decided.versions.iter() {
                let one = line.poly(poly::replay_small(&way.proven))?;
                all = Some(all.map_or(one, |all| poly::Replayed {
                    sizes: all.sizes.min(one.sizes),
                    skipped: all.skipped.max(one.skipped),
                }));
            }
            Ok(all.unwrap_or_default())
        };
        let replayed = self.stage("replay", all)?;
        tracing::info!(sizes = replayed.sizes, skipped = replayed.skipped, "replayed");
        self.log.replayed = Some(replayed);
        Ok(())
    }

    /// Loops that the cache has, proven again. Those that cannot be used are told of and compiled anew.
    fn recall(&mut self, ctx: &Context, key: Option<&Key>) -> Result<Option<loops::InBounds>> {
        let (Some(key), Some(directory)) = (key, self.options.cache.directory()) else { return Ok(None) };
        let Some(text) = self.stage("recall", |_| Ok(directory.recall(key)))? else { return Ok(None) };
        match self.stage("reprove", |line| Ok(line.reprove(ctx, &text)))? {
            Ok(kernel) => Ok(Some(kernel)),
            Err(why) => {
                directory.disbelieve(key, &why);
                Ok(None)
            }
        }
    }

    /// Gives loops to the cache, if they can be proven again, and if none of the stages so far can have been cut short for want
    /// of time: another time they might give a better schedule, and nobody would be told that they did not.
    fn remember(&mut self, ctx: &Context, key: Option<&Key>, kernel: &loops::InBounds) -> Result<()> {
        let (Some(key), Some(directory)) = (key, self.options.cache.directory()) else { return Ok(()) };
        if !self.options.is_unhurried(self.started.elapsed()) {
            return Ok(());
        }
        self.stage("remember", |line| {
            let text = kernel.to_string();
            match line.reprove(ctx, &text) {
                Ok(_) => directory.remember(key, &text),
                Err(why) => tracing::debug!(why, "the loops cannot be proven again, so they are not stored"),
            }
            Ok(())
        })
    }

    /// Reads loops, verifies them, and proves that they are in bounds.
    fn reprove(&self, ctx: &Context, text: &str) -> std::result::Result<loops::InBounds, String> {
        let kernel = loops::parse(text).map_err(|error| error.to_string())?;
        let kernel = loops::verify(kernel).map_err(|error| error.to_string())?;
        // It is quick or of no use.
        let proven = ctx.with_budget(self.exact_share(), || Ok(poly::reprove(ctx, self.function, kernel)));
        proven.map_err(|error| error.to_string())?
    }

    /// Loops of a schedule; of several, those that choose between them.
    fn generate(&mut self, decided: &Decided) -> Result<loops::InBounds> {
        let Versions { special, general } = &decided.versions;
        self.stage("loops", |line| {
            let general = line.poly(poly::generate(&general.proven))?;
            special.iter().rev().try_fold(general, |others, (sizes, way)| {
                let sizes = loops::Cond::of_affine(sizes, &|param| Some(loops::Index::Param(param)), &|_| None);
                let sizes = sizes.ok_or_else(|| diag::Error::bug("loops", "a version is not for sizes"));
                let version = line.poly(poly::generate(&way.proven))?;
                line.poly(sizes.and_then(|sizes| version.or_else(sizes, others)))
            })
        })
    }

    /// Machine code of loops.
    fn finish(&mut self, kernel: loops::InBounds) -> Result<Code> {
        let generated: Arc<str> = kernel.to_string().into();
        let Options { strict_order, math, target, .. } = *self.options;
        let finish = Finish { strict_order, math };
        let wants = |kinds: &[Emit]| self.options.emit.iter().any(|emit| kinds.contains(emit));
        let keep_text = wants(&[Emit::Lanes, Emit::Clif, Emit::Asm]);
        let shows_loops = wants(&[Emit::Loops, Emit::Layouts, Emit::C, Emit::Ptx]);
        let cpu_options = cpu::Options { keep_text, ..self.options.code() };
        let has_versions = kernel.version_count() > 1 && target == Target::Cpu;
        let make = Make { finish, options: cpu_options, time_limit: self.options.time_limit };
        let parts = has_versions.then(|| Parts::new(kernel.clone(), make));
        // Versions are optimised one by one, as they are called.
        let kernel = match has_versions && !shows_loops && !keep_text {
            true => self.poly(kernel.verified())?,
            false => self.stage("optimize", |line| line.poly(finish.apply(kernel)))?,
        };
        // What is shown is for the sizes that are asked for, if some are; what is kept is for all.
        let fixed = if shows_loops || keep_text { self.fixed(&kernel)? } else { None };
        self.show_loops(&kernel, fixed.as_ref())?;
        if target != Target::Cpu {
            let program = Box::new(self.stage("ptx", |line| line.ptx(&kernel))?);
            self.emit(Emit::Ptx, || program.module.text());
            return Ok(Code { generated, kernel, made: Made::Ptx { program, device: self.options.device } });
        }
        if let Some(parts) = parts {
            self.make_ahead(&parts, &generated, keep_text)?;
            if let Some(fixed) = fixed.filter(|_| keep_text) {
                self.show_code_for(&fixed, &cpu_options)?;
            }
            return Ok(Code { generated, kernel, made: Made::Versions(Box::new(parts)) });
        }
        let compiled = self.stage("codegen", |line| line.poly(cpu::compile_with(&kernel, &cpu_options)))?;
        match fixed.filter(|_| keep_text) {
            Some(fixed) => self.show_code_for(&fixed, &cpu_options)?,
            None => self.emit_code(&[("", &compiled)]),
        }
        Ok(Code { generated, kernel, made: Made::Cpu(Box::new(compiled)) })
    }

    /// The text forms of optimised loops.
    fn show_loops(&mut self, kernel: &loops::Verified, fixed: Option<&loops::Verified>) -> Result<()> {
        let shown = fixed.unwrap_or(kernel);
        self.emit(Emit::Loops, || shown.to_string());
        // The arrays were shown of one version, so their walks are.
        match fixed {
            Some(fixed) => self.emit_locality(fixed)?,
            None => self.emit_locality(&kernel.version(kernel.version_count() - 1))?,
        }
        if self.options.emit.contains(&Emit::C) {
            let text =
                self.stage("c", |line| line.poly(c::emit(&shown.with_own_arrays(), line.function, line.source)))?;
            self.emit(Emit::C, || text);
        }
        if self.options.emit.contains(&Emit::Ptx) && self.options.target == Target::Cpu {
            let program = self.stage("ptx", |line| line.ptx(kernel))?;
            self.emit(Emit::Ptx, || program.module.text());
        }
        Ok(())
    }

    /// Makes the code of one version, of that for the sizes that are known to be called, or of all that are to be shown.
    fn make_ahead(&mut self, parts: &Parts, generated: &Arc<str>, all: bool) -> Result<()> {
        let last = parts.count() - 1;
        let wanted = match self.called_sizes()? {
            _ if all => 0..=last,
            Some(params) => parts.version_at(&params).map_or(last..=last, |number| number..=number),
            None => last..=last,
        };
        let made = self.stage("codegen", |line| {
            let refuse = |error| Error::of_call(line.source, error);
            wanted.map(|number| parts.code(generated, number).map_err(refuse)).collect::<Result<Vec<_>>>()
        })?;
        if all {
            let heads = (1..=made.len()).map(|number| format!("# version {number} of {}\n", made.len()));
            let heads: Vec<String> = heads.collect();
            let compiled =
                heads.iter().zip(&made).filter_map(|(head, code)| Some((head.as_str(), code.compiled().ok()?)));
            self.emit_code(&compiled.collect::<Vec<_>>());
        }
        Ok(())
    }

    /// Shows the code for the sizes that are asked for.
    fn show_code_for(&mut self, fixed: &loops::Verified, options: &cpu::Options) -> Result<()> {
        let compiled = self.stage("specialize", |line| line.poly(cpu::compile_with(fixed, options)))?;
        self.emit_code(&[("", &compiled)]);
        Ok(())
    }

    /// The sizes that are asked for, if some are.
    fn given_sizes(&self) -> Result<Option<Vec<i64>>> {
        match &self.options.specialize {
            Specialize::For(given) => self.solve(given),
            Specialize::Never | Specialize::Repeated | Specialize::Always => Ok(None),
        }
    }

    /// The sizes that are known to be called, if some are.
    fn called_sizes(&self) -> Result<Option<Vec<i64>>> {
        match &self.options.ahead {
            // Whether they are those of a call is for the call to say.
            Some(sizes) => Ok(self.solve(sizes).unwrap_or(None)),
            None => self.given_sizes(),
        }
    }

    fn solve(&self, given: &[(String, i64)]) -> Result<Option<Vec<i64>>> {
        let solved = sizes::solve(self.function, given, &[]);
        solved.map(Some).map_err(|error| Error::of_call(self.source, error))
    }

    /// Adds to the layouts, if they are wanted, how the loops walk through the arrays.
    fn emit_locality(&mut self, kernel: &loops::Verified) -> Result<()> {
        let sizes = self.given_sizes()?;
        if let Some((_, text)) = self.log.texts.iter_mut().find(|(emit, _)| *emit == Emit::Layouts) {
            text.push_str(&storage::show_locality(kernel, sizes.as_deref()));
        }
        Ok(())
    }

    /// The loops for the sizes that are asked for.
    fn fixed(&self, kernel: &loops::Verified) -> Result<Option<loops::Verified>> {
        let Some(params) = self.given_sizes()? else { return Ok(None) };
        let fits = sizes::check_index_arithmetic(self.function, self.options.schedule.as_ref(), kernel, &params);
        fits.map_err(|error| Error::of_call(self.source, error))?;
        let version = kernel.version_at(&params).map(|number| kernel.version(number));
        self.poly(version.as_ref().unwrap_or(kernel).fixed(&params)).map(Some)
    }

    /// The text forms of code; of several versions, each under its head.
    fn emit_code(&mut self, parts: &[(&str, &cpu::Compiled)]) {
        let text = |show: &dyn Fn(&cpu::Compiled) -> String| {
            parts.iter().map(|(head, compiled)| format!("{head}{}", show(compiled))).collect::<Vec<_>>().join("\n")
        };
        let name = &self.function.name;
        self.emit(Emit::Lanes, || {
            text(&|compiled| match compiled.lanes() {
                "" => format!("# `{name}` has no vector loops.\n"),
                lanes => lanes.to_string(),
            })
        });
        self.emit(Emit::Clif, || text(&|compiled| compiled.clif().to_string()));
        self.emit(Emit::Asm, || text(&|compiled| compiled.asm().to_string()));
    }

    fn ptx(&self, kernel: &loops::Verified) -> Result<ptx::Program> {
        ptx::emit(kernel, self.options.target.ptx()).map_err(|error| match error {
            ptx::EmitError::Unsupported(what) => {
                let message = format!("`{}` has no translation to PTX: {what}", self.function.name);
                let diagnostic = Diagnostic::error("E0601", self.function.span, message);
                Error::user(self.source, vec![diagnostic.help("`--target=cpu` compiles it for this machine")])
            }
            ptx::EmitError::OutOfTime => {
                let late = deadline::check("ptx").err();
                Error::new(self.source, late.unwrap_or_else(|| diag::Error::bug("ptx", "time that was over is not")))
            }
            error @ (ptx::EmitError::Invalid(_) | ptx::EmitError::Threads(_)) => {
                Error::new(self.source, diag::Error::bug("ptx", error.to_string()))
            }
        })
    }

    /// What was decided, in its text forms. Where versions differ, all but the script show the one for sizes that have no other.
    fn emit_schedule(&mut self, decided: &Decided) -> Result<()> {
        let Way { proven, .. } = &decided.versions.general;
        let (subject, tree) = (proven.subject(), proven.tree());
        let scop = &subject.scop;
        if subject.written.is_some() {
            self.emit(Emit::Statements, || scop.to_string());
            self.emit_dependences(scop, &subject.dependences)?;
        }
        self.emit(Emit::Schedule, || steps::to_yaml(tree, scop).unwrap_or_else(|error| error.to_string()));
        if self.options.emit.contains(&Emit::Layouts) {
            let sizes = self.given_sizes()?;
            let way = sizes.as_ref().map_or(&decided.versions.general, |sizes| decided.versions.at(sizes));
            let scop = &way.proven.subject().scop;
            let mut text = self.poly(poly::show_layouts(scop))?;
            if self.options.draw {
                text.push_str(&storage::show_offsets(&self.poly(poly::offsets(scop, sizes.as_deref()))?));
            }
            self.emit(Emit::Layouts, || text);
        }
        self.emit(Emit::Script, || decided.versions.iter().map(|(sizes, way)| way.script(sizes)).collect());
        Ok(())
    }

    fn emit_dependences(&mut self, scop: &Scop, dependences: &poly::Dependences) -> Result<()> {
        if self.options.emit.iter().any(|emit| matches!(emit, Emit::Deps | Emit::DepsDot)) {
            let graph = self.poly(DependenceGraph::new(scop, dependences))?;
            self.emit(Emit::Deps, || format!("{dependences}\n{}", graph.to_text()));
            self.emit(Emit::DepsDot, || graph.to_dot());
        }
        Ok(())
    }
}
