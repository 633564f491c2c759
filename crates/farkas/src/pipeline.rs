//! The pipeline: from one function of the array program to machine code, as one straight line.
//!
//! Every stage is timed, its text form is kept if wanted, and its result is verified before the next stage sees it.

use std::time::{Duration, Instant};

use diag::Error;
use isl::{Budget, Context};
use poly::{DependenceGraph, Dependences, LegalSchedule, Scop, Storage, Verdict};
use program::Function;

use crate::{Emit, Options};

/// How long a stage took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    pub stage: &'static str,
    pub time: Duration,
}

/// Who decides the order of the instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The scheduler.
    #[default]
    Scheduled,
    /// The program: its textual order, with loops as written.
    Original,
}

/// What the stages leave behind besides their result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) timings: Vec<Timing>,
    pub(crate) texts: Vec<(Emit, String)>,
}

impl Log {
    pub(crate) fn stage<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let _span = tracing::debug_span!("stage", stage).entered();
        let started = Instant::now();
        let result = work();
        let time = started.elapsed();
        tracing::debug!(stage, micros = time.as_micros() as u64, "done");
        match self.timings.iter_mut().find(|timing| timing.stage == stage) {
            Some(timing) => timing.time += time,
            None => self.timings.push(Timing { stage, time }),
        }
        result
    }

    /// Keeps the text of a stage if it is wanted, in place of an earlier one.
    fn emit(&mut self, options: &Options, emit: Emit, text: impl FnOnce() -> String) {
        if options.emit.contains(&emit) {
            self.texts.retain(|(known, _)| *known != emit);
            self.texts.push((emit, text()));
        }
    }
}

/// A function with a schedule that is proven legal. It holds isl objects, so it stays in its thread.
pub(crate) struct Scheduled {
    scop: Scop,
    legal: LegalSchedule,
}

/// Model, checks, dependences, schedule and its proof.
pub(crate) fn schedule(function: &Function, options: &Options, log: &mut Log) -> diag::Result<Scheduled> {
    schedule_with(function, Storage::Expanded, options, log)
}

fn schedule_with(function: &Function, storage: Storage, options: &Options, log: &mut Log) -> diag::Result<Scheduled> {
    let ctx = Context::new().map_err(|error| Error::bug("model", error.to_string()))?;
    let budget = Budget { time: Some(options.time_limit), operations: options.operation_limit };

    let scop = log.stage("model", || within(&ctx, budget, "model", || poly::model(&ctx, function, storage)))?;
    log.emit(options, Emit::Statements, || scop.to_string());
    log.stage("check", || within(&ctx, budget, "check", || poly::check_program(&scop)))?;
    let deps = log.stage("deps", || within(&ctx, budget, "deps", || poly::dependences(&scop)))?;
    log.stage("check", || within(&ctx, budget, "check", || poly::check_defined(&scop, &deps)))?;
    emit_dependences(&scop, &deps, options, log)?;

    let legal = match options.order {
        Order::Original => None,
        Order::Scheduled => choose(&ctx, budget, &scop, &deps, log)?,
    };
    let legal = match legal {
        Some(legal) => legal,
        None => {
            let original = log.stage("schedule", || poly::Plan::original(&scop).tree(&scop))?;
            prove(&ctx, budget, &scop, &deps, original, log)?
        }
    };
    log.emit(options, Emit::Schedule, || legal.schedule().to_yaml().unwrap_or_else(|error| error.to_string()));
    Ok(Scheduled { scop, legal })
}

/// The scheduler's proposal, if it comes in time and is proven in time.
fn choose(
    ctx: &Context,
    budget: Budget,
    scop: &Scop,
    deps: &Dependences,
    log: &mut Log,
) -> diag::Result<Option<LegalSchedule>> {
    let proposal = log.stage("schedule", || within(ctx, budget, "schedule", || poly::choose(scop, deps)));
    let proven = proposal.and_then(|proposal| prove(ctx, budget, scop, deps, proposal, log));
    match proven {
        Ok(legal) => Ok(Some(legal)),
        Err(Error::Budget { stage, spent }) => {
            tracing::warn!(stage, spent_ms = spent.as_millis() as u64, "over budget: keeping the original order");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Only what `check_legal` calls legal goes on. A schedule of our own that is not is our bug.
fn prove(
    ctx: &Context,
    budget: Budget,
    scop: &Scop,
    deps: &Dependences,
    schedule: isl::Schedule,
    log: &mut Log,
) -> diag::Result<LegalSchedule> {
    let verdict =
        log.stage("legality", || within(ctx, budget, "legality", || poly::check_legal(scop, deps, schedule)))?;
    match verdict {
        Verdict::Legal(legal) => Ok(legal),
        Verdict::Unknown { spent } => Err(Error::Budget { stage: "legality", spent }),
        Verdict::Illegal(violation) => Err(Error::bug("schedule", violation.explain(scop).message)),
    }
}

/// Loops and machine code of one function.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) kernel: loops::Verified,
    pub(crate) compiled: cpu::Compiled,
}

/// Schedules a function and generates its code.
pub(crate) fn compile(function: &Function, options: &Options, log: &mut Log) -> diag::Result<Code> {
    let mut scheduled = schedule(function, options, log)?;
    let mut kernel = log.stage("loops", || lower(&scheduled))?;
    // Accumulators with a cell per iteration are worth it only where they end up in a register.
    if scheduled.scop.arrays.iter().any(|array| array.expanded && is_in_memory(&kernel, &array.name)) {
        tracing::debug!("accumulators stay in memory: modelling again with one set of cells");
        scheduled = schedule_with(function, Storage::Reused, options, log)?;
        kernel = log.stage("loops", || lower(&scheduled))?;
    }
    let kernel = log.stage("loops", || loops::verify(kernel))?;
    log.emit(options, Emit::Loops, || kernel.to_string());

    let keep_text = options.emit.iter().any(|emit| matches!(emit, Emit::Clif | Emit::Asm));
    let cpu_options = cpu::Options { keep_text, ..cpu::Options::default() };
    let compiled = log.stage("codegen", || cpu::compile_with(&kernel, &cpu_options))?;
    log.emit(options, Emit::Clif, || compiled.clif().to_string());
    log.emit(options, Emit::Asm, || compiled.asm().to_string());
    Ok(Code { kernel, compiled })
}

fn lower(scheduled: &Scheduled) -> diag::Result<loops::Kernel> {
    Ok(loops::optimize(poly::generate(&scheduled.scop, &scheduled.legal)?))
}

fn is_in_memory(kernel: &loops::Kernel, array: &str) -> bool {
    kernel.arrays.iter().any(|declared| declared.name == array)
}

fn emit_dependences(scop: &Scop, deps: &Dependences, options: &Options, log: &mut Log) -> diag::Result<()> {
    if options.emit.iter().any(|emit| matches!(emit, Emit::Deps | Emit::DepsDot)) {
        let graph = DependenceGraph::new(scop, deps)?;
        log.emit(options, Emit::Deps, || format!("{deps}\n{}", graph.to_text()));
        log.emit(options, Emit::DepsDot, || graph.to_dot());
    }
    Ok(())
}

/// Runs a stage under the budget.
fn within<T>(
    ctx: &Context,
    budget: Budget,
    stage: &'static str,
    work: impl FnOnce() -> diag::Result<T>,
) -> diag::Result<T> {
    ctx.with_budget(budget, || Ok(work())).unwrap_or_else(|error| Err(Error::bug(stage, error.to_string())))
}
