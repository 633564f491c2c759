//! The pipeline: from one function of the array program to machine code, as one straight line.
//!
//! Every stage is timed, its text form is kept if wanted, and its result is verified before the next stage sees it.

use std::time::{Duration, Instant};

use diag::Source;
use isl::{Budget, Context};
use poly::{DependenceGraph, Dependences, LegalSchedule, Scop, Storage, Verdict};
use program::Function;

use crate::script::{self, Outcome};
use crate::{Emit, Error, Options, Result, Schedule};

/// How long a stage took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    pub stage: &'static str,
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
    analysed: Analysed,
    legal: LegalSchedule,
}

/// Model, checks, dependences, schedule and its proof.
pub(crate) fn schedule(source: &Source, function: &Function, options: &Options, log: &mut Log) -> Result<Scheduled> {
    schedule_with(source, function, Storage::Expanded, options, log)
}

fn schedule_with(
    source: &Source,
    function: &Function,
    storage: Storage,
    options: &Options,
    log: &mut Log,
) -> Result<Scheduled> {
    let fail = |error| Error::new(source, function.at_calls(error));
    let ctx = Context::new().map_err(|error| fail(diag::Error::bug("model", error.to_string())))?;
    let budget = Budget { time: Some(options.time_limit), operations: options.operation_limit, memory: None };

    let scop = log.stage("model", || within(&ctx, budget, || poly::model(&ctx, function, storage))).map_err(fail)?;
    log.emit(options, Emit::Statements, || scop.to_string());
    log.stage("check", || within(&ctx, budget, || poly::check_program(&scop))).map_err(fail)?;
    let deps = log.stage("deps", || within(&ctx, budget, || poly::dependences(&scop))).map_err(fail)?;
    log.stage("check", || within(&ctx, budget, || poly::check_defined(&scop, &deps))).map_err(fail)?;
    let deps = if options.strict_order { deps.in_strict_order().map_err(fail)? } else { deps };
    emit_dependences(&scop, &deps, options, log).map_err(fail)?;

    let mut analysed = Analysed { ctx, budget, scop, deps, written: None };
    let legal = match (&options.schedule, options.order) {
        (Some(schedule), _) => analysed.follow(source, schedule, log)?,
        (None, Order::Written | Order::Scheduled) => match analysed.tidy_single(log).map_err(fail)? {
            Some(legal) => Some(legal),
            None => analysed.choose(log).map_err(fail)?,
        },
        (None, Order::Original) => None,
    };
    let legal = match legal {
        Some(legal) => legal,
        None => analysed.original(log).map_err(fail)?,
    };
    if analysed.written.is_some() {
        log.emit(options, Emit::Statements, || analysed.scop.to_string());
        emit_dependences(&analysed.scop, &analysed.deps, options, log).map_err(fail)?;
    }
    if options.verify_dynamic {
        log.stage("replay", || replay(&analysed, &legal)).map_err(fail)?;
    }
    emit_schedule(&analysed, &legal, options, log);
    Ok(Scheduled { analysed, legal })
}

/// Replays a schedule at all small sizes that the function accepts, at most some dozens.
fn replay(analysed: &Analysed, legal: &LegalSchedule) -> diag::Result<()> {
    const SIZES: [i64; 5] = [0, 1, 2, 3, 5];
    const MOST: usize = 40;
    let scop = &analysed.scop;
    let params = scop.function.params.len();
    let combinations = SIZES.len().saturating_pow(u32::try_from(params).unwrap_or(u32::MAX));
    // A stride that has no factor in common with the number of sizes visits different combinations.
    let stride = (combinations / MOST).max(1) | 1;
    for number in (0..combinations).step_by(stride) {
        let mut rest = number;
        let sizes: Vec<i64> = (0..params)
            .map(|_| {
                let size = SIZES[rest % SIZES.len()];
                rest /= SIZES.len();
                size
            })
            .collect();
        let accepted = scop
            .function
            .context
            .iter()
            .all(|requirement| requirement.cond.eval(&|id| sizes[id.index()], &|_| 0) == Some(true));
        if !accepted {
            continue;
        }
        let disagreement = match &analysed.written {
            Some(written) => poly::replay_rewritten(written, scop, legal.schedule(), &sizes)?,
            None => poly::replay(scop, legal.schedule(), &sizes)?,
        };
        if let Some(disagreement) = disagreement {
            let what = format!("the schedule was called legal, but for sizes {sizes:?} {}", disagreement.what);
            return Err(diag::Error::bug("replay", what));
        }
    }
    Ok(())
}

/// A function about which everything is known but its schedule.
struct Analysed {
    ctx: Context,
    budget: Budget,
    scop: Scop,
    deps: Dependences,
    /// The program as it was written, if the schedule has changed its statements.
    written: Option<Scop>,
}

impl Analysed {
    /// The scheduler's proposal, if it comes in time and is proven in time.
    fn choose(&self, log: &mut Log) -> diag::Result<Option<LegalSchedule>> {
        let proposal =
            log.stage("schedule", || within(&self.ctx, self.budget, || poly::choose(&self.scop, &self.deps)));
        match proposal.and_then(|proposal| self.prove(proposal, log)) {
            Ok(legal) => Ok(Some(legal)),
            Err(diag::Error::Budget { stage, spent }) => {
                tracing::warn!(stage, spent_ms = spent.as_millis() as u64, "over budget: keeping the original order");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the program is one statement, outside `for` loops.
    fn is_single(&self) -> bool {
        let statements = &self.scop.statements;
        statements.iter().all(|statement| statement.source == statements[0].source && statement.ordered == 0)
    }

    /// With nothing to fuse, a statement's own loops are all there is to order.
    fn tidy_single(&self, log: &mut Log) -> diag::Result<Option<LegalSchedule>> {
        if !self.is_single() {
            return Ok(None);
        }
        let tidy = log.stage("schedule", || poly::transform::tidy(&self.scop).tree(&self.scop))?;
        match self.judge(tidy, log)? {
            Verdict::Legal(legal) => Ok(Some(legal)),
            Verdict::Illegal(_) | Verdict::Unknown { .. } => Ok(None),
        }
    }

    fn original(&self, log: &mut Log) -> diag::Result<LegalSchedule> {
        let original = log.stage("schedule", || poly::base_plan(&self.scop, &self.deps)?.tree(&self.scop))?;
        self.prove(original, log)
    }

    /// Only what `check_legal` calls legal goes on. A schedule of our own that is not is our bug.
    fn prove(&self, schedule: isl::Schedule, log: &mut Log) -> diag::Result<LegalSchedule> {
        match self.judge(schedule, log)? {
            Verdict::Legal(legal) => Ok(legal),
            Verdict::Unknown { spent } => Err(diag::Error::Budget { stage: "legality", spent }),
            Verdict::Illegal(violation) => {
                Err(diag::Error::bug("schedule", violation.explain(&self.scop, None).message))
            }
        }
    }

    fn judge(&self, schedule: isl::Schedule, log: &mut Log) -> diag::Result<Verdict> {
        log.stage("legality", || within(&self.ctx, self.budget, || poly::check_legal(&self.scop, &self.deps, schedule)))
    }

    /// The user's schedule: step by step for a script, as a whole for a tree. None if it has nothing for this function.
    fn follow(&mut self, source: &Source, schedule: &Schedule, log: &mut Log) -> Result<Option<LegalSchedule>> {
        let fail = |error| Error::new(source, error);
        match schedule {
            Schedule::Script(text) | Schedule::Beside(text) => {
                let refuse = |diagnostics| Error::user(text, diagnostics);
                let parsed = schedule.parse().map_err(refuse)?;
                let Some(steps) = script::steps(&parsed, &self.scop.function).map_err(refuse)? else { return Ok(None) };
                let outcome = log.stage("legality", || {
                    within(&self.ctx, self.budget, || script::apply(&self.scop, &self.deps, &steps, source))
                });
                match outcome.map_err(fail)? {
                    Outcome::Legal(legal, rewritten) => {
                        if let Some(rewritten) = rewritten {
                            let (scop, deps) = *rewritten;
                            self.written = Some(std::mem::replace(&mut self.scop, scop));
                            self.deps = deps;
                        }
                        Ok(Some(legal))
                    }
                    Outcome::Empty => Ok(None),
                    Outcome::Refused(diagnostics) => {
                        Err(refuse(diagnostics.into_iter().map(|diagnostic| diagnostic.gathered(text)).collect()))
                    }
                    Outcome::Unknown(spent) => Err(Error::Budget { stage: "legality", spent }),
                }
            }
            Schedule::Tree(text) => {
                let tree = script::load(&self.ctx, &self.scop, text).map_err(|errors| Error::user(text, errors))?;
                match self.judge(tree, log).map_err(fail)? {
                    Verdict::Legal(legal) => Ok(Some(legal)),
                    Verdict::Unknown { spent } => Err(Error::Budget { stage: "legality", spent }),
                    Verdict::Illegal(violation) => {
                        let explained = violation.explain(&self.scop, None);
                        let whole = diag::Span::new(0, text.text().find('\n').unwrap_or(text.text().len()));
                        Err(Error::user(text, vec![explained.moved_to(source, whole, "refused: this tree is illegal")]))
                    }
                }
            }
        }
    }
}

/// Loops and machine code of one function.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) kernel: loops::Verified,
    pub(crate) compiled: cpu::Compiled,
}

/// Schedules a function and generates its code.
pub(crate) fn compile(source: &Source, function: &Function, options: &Options, log: &mut Log) -> Result<Code> {
    let fail = |error| Error::new(source, error);
    let mut scheduled = schedule(source, function, options, log)?;
    let mut kernel = log.stage("loops", || lower(&scheduled.analysed.scop, &scheduled.legal)).map_err(fail)?;
    if options.schedule.is_none() && options.order != Order::Original {
        smooth(&mut scheduled, &mut kernel, options, log).map_err(fail)?;
    }
    // Accumulators with a cell per iteration are worth it only where they end up in a register.
    // A user's schedule was proven for this model and stays with it.
    let expanded = |array: &poly::ScopArray| {
        array.expanded > 0 && rank_in_memory(&kernel, &array.name) > Some(array.shape.len() - array.expanded)
    };
    if options.schedule.is_none() && scheduled.analysed.scop.arrays.iter().any(expanded) {
        tracing::debug!("accumulators stay in memory: modelling again with one set of cells");
        scheduled = schedule_with(source, function, Storage::Reused, options, log)?;
        kernel = log.stage("loops", || lower(&scheduled.analysed.scop, &scheduled.legal)).map_err(fail)?;
    }
    code(kernel, options, log).map_err(fail)
}

/// Machine code of loops.
pub(crate) fn code(kernel: loops::Kernel, options: &Options, log: &mut Log) -> diag::Result<Code> {
    // Blocks change the order of terms.
    let cascade = |kernel| if options.strict_order { kernel } else { loops::cascade(kernel) };
    let kernel = log.stage("loops", || loops::verify(cascade(kernel)))?;
    log.emit(options, Emit::Loops, || kernel.to_string());

    let keep_text = options.emit.iter().any(|emit| matches!(emit, Emit::Clif | Emit::Asm));
    let cpu_options = cpu::Options { keep_text, ..cpu::Options::default() };
    let compiled = log.stage("codegen", || cpu::compile_with(&kernel, &cpu_options))?;
    log.emit(options, Emit::Clif, || compiled.clif().to_string());
    log.emit(options, Emit::Asm, || compiled.asm().to_string());
    Ok(Code { kernel, compiled })
}

/// Where fusion has left conditions or arrays inside loops, cutting the loops may help; and the order as written,
/// statement by statement, may be smoother or walk memory more closely.
fn smooth(scheduled: &mut Scheduled, kernel: &mut loops::Kernel, options: &Options, log: &mut Log) -> diag::Result<()> {
    let analysed = &scheduled.analysed;
    if loops::roughness(kernel) > 0 {
        match log.stage("loops", || poly::generate_separated(&analysed.scop, &scheduled.legal)) {
            Ok(separated) => {
                let separated = log.stage("loops", || loops::optimize(separated));
                let small = stores(&separated.body) <= 4 * stores(&kernel.body);
                if small && loops::roughness(&separated) < loops::roughness(kernel) {
                    *kernel = separated;
                }
            }
            // isl 0.27 fails to cut some strided domains; the loops are good without.
            Err(error) => tracing::debug!(%error, "the loops cannot be cut"),
        }
    }
    // A single statement has been given its own order already.
    if analysed.is_single() {
        return Ok(());
    }
    let tidy = log.stage("schedule", || poly::transform::tidy(&analysed.scop).tree(&analysed.scop))?;
    let legal = match analysed.judge(tidy, log)? {
        Verdict::Legal(legal) => legal,
        _ if analysed.scop.equations.is_empty() || loops::roughness(kernel) == 0 => return Ok(()),
        // Equations have no order as written; the next best is to keep those apart that do not need each other.
        _ => match analysed.original(log) {
            Ok(legal) => legal,
            Err(diag::Error::Budget { .. }) => return Ok(()),
            Err(error) => return Err(error),
        },
    };
    let candidate = log.stage("loops", || lower(&analysed.scop, &legal))?;
    let smoother = loops::roughness(&candidate) < loops::roughness(kernel);
    let closer = 2 * loops::strides(&candidate) <= loops::strides(kernel);
    if smoother || closer {
        emit_schedule(analysed, &legal, options, log);
        *kernel = candidate;
        scheduled.legal = legal;
    }
    Ok(())
}

/// How much code there is.
fn stores(stmts: &[loops::Stmt]) -> usize {
    let of = |stmt: &loops::Stmt| match stmt {
        loops::Stmt::For(found) => stores(&found.body),
        loops::Stmt::If { then, otherwise, .. } => stores(then) + stores(otherwise),
        loops::Stmt::Alloc { body, .. } => stores(body),
        _ => 1,
    };
    stmts.iter().map(of).sum()
}

pub(crate) fn lower(scop: &Scop, legal: &LegalSchedule) -> diag::Result<loops::Kernel> {
    Ok(loops::optimize(poly::generate(scop, legal)?))
}

/// What the loops have left of an array.
fn rank_in_memory(kernel: &loops::Kernel, array: &str) -> Option<usize> {
    kernel.arrays.iter().find(|declared| declared.name == array).map(|declared| declared.shape.len())
}

fn emit_schedule(analysed: &Analysed, legal: &LegalSchedule, options: &Options, log: &mut Log) {
    let (scop, schedule) = (&analysed.scop, legal.schedule());
    log.emit(options, Emit::Schedule, || schedule.to_yaml().unwrap_or_else(|error| error.to_string()));
    log.emit(options, Emit::Script, || match poly::Plan::recover(scop, schedule) {
        _ if analysed.written.is_some() => {
            format!(
                "# The schedule of `{}` changes its statements; only its own script says how.\n",
                scop.function.name
            )
        }
        Ok(Some(plan)) => plan.to_script(scop),
        Ok(None) => {
            let name = &scop.function.name;
            format!(
                "# The times of `{name}` have pieces, which a script cannot say; `--emit=schedule` saves the tree.\n"
            )
        }
        Err(error) => format!("# {error}\n"),
    });
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
fn within<T>(ctx: &Context, budget: Budget, work: impl FnOnce() -> diag::Result<T>) -> diag::Result<T> {
    ctx.with_budget(budget, || Ok(work())).unwrap_or_else(|error| Err(diag::Error::bug("budget", error.to_string())))
}
