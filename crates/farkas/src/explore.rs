//! Exploring: the legality of every schedule in a space of transformations.
//!
//! In: a function and a space such as `tile(i, j; 8, 16), permute(i, j, k), skew(t, i; 0..2)`.  Out: one row per point,
//! legal, illegal with its witness, refused, or unknown.
//! Dependences are computed once per thread; a point costs its transformation and its proof.

mod space;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use diag::Source;
use isl::{Budget, Context};
use poly::transform;
use poly::{Dependences, Kinds, Plan, Scop, Storage, Verdict};

use crate::pipeline::{self, Log};
use crate::{Engine, Error, Function, Result};
pub use space::{Choice, Dimension, Space};

/// What is known about one point of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    Legal,
    /// With the message and the witness as data.
    Illegal {
        message: String,
        witness: Option<serde_json::Value>,
    },
    /// A transformation does not apply.
    Refused {
        message: String,
    },
    /// The budget ran out.
    Unknown,
}

impl Judgement {
    pub fn name(&self) -> &'static str {
        match self {
            Judgement::Legal => "legal",
            Judgement::Illegal { .. } => "illegal",
            Judgement::Refused { .. } => "refused",
            Judgement::Unknown => "unknown",
        }
    }
}

/// One point: which choice was made in each dimension, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub point: usize,
    pub choices: Vec<String>,
    pub judgement: Judgement,
    /// An earlier point with the same schedule.
    pub same_as: Option<usize>,
    /// How long it runs, if it was measured.
    pub time: Option<Duration>,
}

/// Which points to look at, and with what.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// At most so many points, drawn without repetition; all if there are fewer.
    pub sample: Option<usize>,
    pub seed: u64,
    pub threads: Option<NonZeroUsize>,
}

/// As much as the thread has in which functions are compiled: isl recurses on what users write.
const STACK_BYTES: usize = 8 << 20;

/// Judges the points of a space, in the order of their numbers. `progress` is told how many are done.
pub fn explore(
    engine: &Engine,
    source: &Source,
    function: &str,
    space: &Space,
    exploration: &Exploration,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Row>> {
    let function = engine.lower_only(source, function)?;
    let points = space.points(exploration.sample, exploration.seed);
    let threads = exploration.threads.or(std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let rows: Mutex<Vec<(Row, String)>> = Mutex::new(Vec::new());
    let judged: Judged = Mutex::new(HashMap::new());
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(points.len()).max(1) {
            let work = || {
                let worker = match Worker::new(engine, source, &function) {
                    Ok(worker) => worker,
                    Err(error) => return keep(&failure, error),
                };
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match worker.judge(space, *point, &judged) {
                        Ok(row) => rows.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(row),
                        Err(error) => return keep(&failure, Error::new(source, error)),
                    }
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, points.len());
                }
            };
            let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
            if let Err(error) = spawned {
                let what = format!("no thread could be started: {error}");
                keep(&failure, Error::new(source, diag::Error::bug("explore", what)));
            }
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        return Err(error);
    }
    let mut rows = rows.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    rows.sort_by_key(|(row, _)| row.point);
    Ok(mark_duplicates(rows))
}

/// Compiles the legal points among `rows`, one of each schedule, and has `run` time each.
pub fn measure<E: From<Error>>(
    engine: &Engine,
    source: &Source,
    function: &str,
    space: &Space,
    rows: &mut [Row],
    mut run: impl FnMut(&Function) -> std::result::Result<Duration, E>,
) -> std::result::Result<(), E> {
    let function = engine.lower_only(source, function)?;
    let worker = Worker::new(engine, source, &function)?;
    for row in rows.iter_mut().filter(|row| row.judgement == Judgement::Legal && row.same_as.is_none()) {
        let compiled = worker.compile(engine, space, row.point).map_err(|error| Error::new(source, error))?;
        row.time = Some(run(&compiled)?);
    }
    Ok(())
}

fn keep(failure: &Mutex<Option<Error>>, error: Error) {
    let mut failure = failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    failure.get_or_insert(error);
}

/// Points with the same times for all instances are the same schedule.
fn mark_duplicates(rows: Vec<(Row, String)>) -> Vec<Row> {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mark = |(mut row, times): (Row, String)| {
        if !times.is_empty() {
            match first.get(&times) {
                Some(earlier) => row.same_as = Some(*earlier),
                None => {
                    first.insert(times, row.point);
                }
            }
        }
        row
    };
    rows.into_iter().map(mark).collect()
}

/// What is known about each schedule, by its times.
type Judged = Mutex<HashMap<String, Judgement>>;

/// One thread's view of the function: isl objects stay in their thread.
struct Worker {
    source: Source,
    ctx: Context,
    budget: Budget,
    scop: Scop,
    deps: Dependences,
    /// What the transformations of every point start from.
    base: Plan,
}

impl Worker {
    fn new(engine: &Engine, source: &Source, function: &program::Function) -> Result<Worker> {
        let fail = |error| Error::new(source, error);
        let options = engine.options();
        let budget = Budget { time: Some(options.time_limit), operations: options.operation_limit, memory: None };
        let ctx = Context::new().map_err(|error| fail(diag::Error::bug("model", error.to_string())))?;
        let within = |work: &dyn Fn() -> diag::Result<(Scop, Dependences, Plan)>| {
            ctx.with_budget(budget, || Ok(work()))
                .unwrap_or_else(|error| Err(diag::Error::bug("budget", error.to_string())))
        };
        let (scop, deps, base) = within(&|| {
            let scop = poly::model(&ctx, function, Storage::Expanded)?;
            poly::check_program(&scop)?;
            let deps = poly::dependences(&scop)?;
            poly::check_defined(&scop, &deps)?;
            let deps = if options.strict_order { deps.in_strict_order()? } else { deps };
            let base = poly::base_plan(&scop, &deps)?;
            Ok((scop, deps, base))
        })
        .map_err(fail)?;
        Ok(Worker { source: source.clone(), ctx, budget, scop, deps, base })
    }

    /// The plan of a point, if all its transformations apply.
    fn plan(&self, space: &Space, point: usize) -> std::result::Result<Plan, Box<diag::Diagnostic>> {
        let mut plan = self.base.clone();
        for step in space.choices(point).iter().flat_map(|choice| &choice.steps) {
            let step = space::aim(step, &plan);
            plan = transform::apply(&self.scop, &plan, &step)?;
        }
        Ok(plan)
    }

    /// The machine code of a point that is known to be legal.
    fn compile(&self, engine: &Engine, space: &Space, point: usize) -> diag::Result<Function> {
        let plan = self.plan(space, point).map_err(|diagnostic| diag::Error::User(vec![*diagnostic]))?;
        let illegal = || diag::Error::bug("explore", format!("point {point} is legal no more"));
        let work = || -> diag::Result<loops::Kernel> {
            let tree = plan.tree(&self.scop)?;
            let Verdict::Legal(legal) = poly::check_legal(&self.scop, &self.deps, tree)? else { return Err(illegal()) };
            match poly::check_kinds(&self.scop, &self.deps, &plan, legal)? {
                Kinds::Proven(legal) => pipeline::lower(&self.scop, &legal),
                Kinds::Carried(_) | Kinds::Wide { .. } | Kinds::Unknown { .. } => Err(illegal()),
            }
        };
        let kernel = self.ctx.with_budget(self.budget, || Ok(work()));
        let kernel = kernel.unwrap_or_else(|error| Err(diag::Error::bug("budget", error.to_string())))?;
        let mut log = Log::default();
        let code = pipeline::code(kernel, engine.options(), &mut log)?;
        Ok(Function::new(&self.source, self.scop.function.clone(), code, log))
    }

    /// The row of a point, and its times as text.
    fn judge(&self, space: &Space, point: usize, judged: &Judged) -> diag::Result<(Row, String)> {
        let choices = space.choices(point);
        let labels = choices.iter().map(|choice| choice.label.clone()).collect();
        let row = |judgement: Judgement| Row { point, choices: labels, judgement, same_as: None, time: None };
        let plan = match self.plan(space, point) {
            Ok(plan) => plan,
            Err(diagnostic) => return Ok((row(Judgement::Refused { message: diagnostic.message }), String::new())),
        };
        let times = plan.to_text(&self.scop);
        if let Some(known) = judged.lock().unwrap_or_else(PoisonError::into_inner).get(&times) {
            return Ok((row(known.clone()), times));
        }
        let judge = || -> diag::Result<(Judgement, String)> {
            let tree = plan.tree(&self.scop)?;
            let times = times.clone();
            let legal = match poly::check_legal(&self.scop, &self.deps, tree)? {
                Verdict::Legal(legal) => legal,
                Verdict::Illegal(violation) => return Ok((illegal(violation.explain(&self.scop, Some(&plan))), times)),
                Verdict::Unknown { .. } => return Ok((Judgement::Unknown, times)),
            };
            let judgement = match poly::check_kinds(&self.scop, &self.deps, &plan, legal)? {
                Kinds::Proven(_) => Judgement::Legal,
                Kinds::Carried(carried) => illegal(carried.explain(&self.scop)),
                Kinds::Wide { loop_name, lanes } => Judgement::Refused {
                    message: format!("vector loop `{loop_name}` has more than {lanes} iterations"),
                },
                Kinds::Unknown { .. } => Judgement::Unknown,
            };
            Ok((judgement, times))
        };
        let judgement = self.ctx.with_budget(self.budget, || Ok(judge()));
        match judgement.unwrap_or_else(|error| Err(diag::Error::bug("budget", error.to_string()))) {
            Ok((judgement, times)) => {
                judged.lock().unwrap_or_else(PoisonError::into_inner).insert(times.clone(), judgement.clone());
                Ok((row(judgement), times))
            }
            Err(diag::Error::Budget { .. }) => Ok((row(Judgement::Unknown), String::new())),
            Err(error) => Err(error),
        }
    }
}

fn illegal(diagnostic: diag::Diagnostic) -> Judgement {
    Judgement::Illegal { message: diagnostic.message, witness: diagnostic.data.map(|data| *data) }
}
