//! Exploring: the legality of every schedule in a space of transformations.
//!
//! In: a program and a space such as `tile(i, j; 8, 16), permute(i, j, k), skew(t, i; 0..2)`.  Out: one row per point,
//! legal, illegal with its witness, refused, or unknown.
//! Dependences are computed once per thread; a point costs its transformation and its proof.

mod space;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use poly::{Budget, Proven, Verdict, prove};
use steps::{Outcome, State};

pub use space::{Choice, Dimension, Space};

/// What is known about one point of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Proven.
    Legal,
    /// With the message and the witness as data.
    Illegal {
        /// What is wrong.
        message: String,
        /// The two instances and the cell.
        witness: Option<serde_json::Value>,
    },
    /// A transformation does not apply.
    Refused {
        /// Why.
        message: String,
    },
    /// The budget ran out.
    Unknown,
}

impl Judgement {
    /// As tables show it.
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
    /// The number of the point.
    pub point: usize,
    /// The choice in each dimension.
    pub choices: Vec<String>,
    /// What is known about it.
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
    /// Which points are drawn.
    pub seed: u64,
    /// How many threads judge; as many as there are cores if not given.
    pub threads: Option<NonZeroUsize>,
}

/// As much as the thread has in which functions are compiled: isl recurses on what users write.
const STACK_BYTES: usize = 8 << 20;

/// Judges the points of a space, in the order of their numbers. Each thread asks `start` for the program, with the order
/// that every point starts from; `failed` says whose error one is that comes later; `budget` is for one point, and `progress` is told
/// how many are done.
pub fn explore<E: Send>(
    start: &(dyn Fn() -> Result<State, E> + Sync),
    failed: &(dyn Fn(diag::Error) -> E + Sync),
    budget: Budget,
    space: &Space,
    exploration: &Exploration,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Row>, E> {
    let points = space.points(exploration.sample, exploration.seed);
    let threads = exploration.threads.or(std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let rows: Mutex<Vec<(Row, String)>> = Mutex::new(Vec::new());
    let judged: Judged = Mutex::new(HashMap::new());
    let failure: Mutex<Option<E>> = Mutex::new(None);
    let keep = |error: E| {
        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(points.len()).max(1) {
            let work = || {
                let start = match start() {
                    Ok(start) => start,
                    Err(error) => return keep(error),
                };
                let explorer = Explorer { start, budget, space };
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match explorer.judge(*point, &judged) {
                        Ok(row) => rows.lock().unwrap_or_else(PoisonError::into_inner).push(row),
                        Err(error) => return keep(failed(error)),
                    }
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, points.len());
                }
            };
            let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
            if let Err(error) = spawned {
                keep(failed(diag::Error::bug("explore", format!("no thread could be started: {error}"))));
            }
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|(row, _)| row.point);
    Ok(mark_duplicates(rows))
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

/// What became of the transformations of a point.
enum Transformed {
    State(Box<State>),
    Refused(String),
    Changed(diag::Diagnostic),
}

/// One thread's view of a space: isl objects stay in their thread.
#[derive(Debug)]
pub struct Explorer<'a> {
    /// What the transformations of every point start from.
    pub start: State,
    /// For one point.
    pub budget: Budget,
    /// The points.
    pub space: &'a Space,
}

impl Explorer<'_> {
    /// The schedule of a point that is known to be legal.
    pub fn prove(&self, point: usize) -> diag::Result<Proven> {
        let illegal = || diag::Error::bug("explore", format!("point {point} is legal no more"));
        self.start.subject.within(self.budget, || match self.transform(point)? {
            Transformed::State(state) => match prove(&state.subject, state.tree)? {
                Verdict::Legal(proven) => Ok(proven),
                Verdict::Illegal(_) | Verdict::Unknown { .. } => Err(illegal()),
            },
            Transformed::Refused(_) | Transformed::Changed(_) => Err(illegal()),
        })
    }

    fn transform(&self, point: usize) -> diag::Result<Transformed> {
        let mut state = self.start.clone();
        for step in self.space.choices(point).iter().flat_map(|choice| &choice.steps) {
            match steps::apply(&state, &space::aim(step, &state))? {
                Outcome::Done(next) => state = next,
                Outcome::Misplaced(diagnostic) => {
                    let facts = [vec![diagnostic.message], diagnostic.notes].concat();
                    return Ok(Transformed::Refused(facts.join("; ")));
                }
                Outcome::Changed(diagnostic) => return Ok(Transformed::Changed(*diagnostic)),
            }
        }
        Ok(Transformed::State(Box::new(state)))
    }

    /// The row of a point, and what identifies its schedule.
    fn judge(&self, point: usize, judged: &Judged) -> diag::Result<(Row, String)> {
        let labels = self.space.choices(point).iter().map(|choice| choice.label.clone()).collect();
        let row = |judgement: Judgement| Row { point, choices: labels, judgement, same_as: None, time: None };
        let judgement = self.start.subject.within(self.budget, || {
            let state = match self.transform(point)? {
                Transformed::State(state) => state,
                Transformed::Refused(message) => return Ok((Judgement::Refused { message }, String::new())),
                Transformed::Changed(diagnostic) => return Ok((illegal(diagnostic), String::new())),
            };
            let times = identity(&state);
            if let Some(known) = judged.lock().unwrap_or_else(PoisonError::into_inner).get(&times) {
                return Ok((known.clone(), times));
            }
            let judgement = match prove(&state.subject, state.tree.clone())? {
                Verdict::Legal(_) => Judgement::Legal,
                Verdict::Illegal(violation) => match violation.explain(&state.subject, &state.tree) {
                    wide if wide.code == "E0504" => Judgement::Refused { message: wide.message },
                    explained => illegal(explained),
                },
                Verdict::Unknown { .. } => Judgement::Unknown,
            };
            judged.lock().unwrap_or_else(PoisonError::into_inner).insert(times.clone(), judgement.clone());
            Ok((judgement, times))
        });
        match judgement {
            Ok((judgement, times)) => Ok((row(judgement), times)),
            Err(diag::Error::Budget { .. }) => Ok((row(Judgement::Unknown), String::new())),
            Err(error) => Err(error),
        }
    }
}

/// Equal for equal schedules of equal statements.
fn identity(state: &State) -> String {
    let times = state.tree.to_text(&state.subject.scop);
    if state.subject.written.is_some() { format!("{}{times}", state.subject.scop) } else { times }
}

fn illegal(diagnostic: diag::Diagnostic) -> Judgement {
    Judgement::Illegal { message: diagnostic.message, witness: diagnostic.data.map(|data| *data) }
}
