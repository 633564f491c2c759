//! Code for the very sizes of calls, beside the code for all sizes.
//!
//! In: the loops of a function, and the sizes of its calls.  Out: code in which these sizes are numbers, once it pays. Results have the
//! same bits: it is the same schedule, and the order of everything is the same.
//! The code for all sizes is always there, and serves all other calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diag::deadline;

use crate::pipeline::{Code, Made, Timing};
use crate::{Error, Options, Result};

/// When calls get code for their very sizes. It is made by the thread that calls, for machine code only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Specialize {
    /// Never.
    Never,
    /// When calls with the same sizes have come again and again, and have taken so long together that making it is a small part of that.
    #[default]
    Repeated,
    /// At the first call with these sizes.
    Always,
    /// With the function, for these sizes, by name. The text forms of loops and code show it; calls with other sizes run the code
    /// for all sizes.
    For(Vec<(String, i64)>),
}

/// Calls with the same sizes before code is made for them.
const REPEATED: u64 = 16;
/// How much longer these calls must have taken than making code took.
const WORTH: u32 = 20;
/// What making code takes at least, whatever was measured.
const LEAST_COST: Duration = Duration::from_millis(1);
/// For so many sizes at once are calls counted, and code kept.
const MOST: usize = 8;

/// The code for special sizes of one function.
#[derive(Debug)]
pub(crate) struct Specials {
    when: Specialize,
    /// What making code took.
    cost: Duration,
    time_limit: Duration,
    code: cpu::Options,
    /// What was called last at the end.
    known: Mutex<Vec<Known>>,
}

/// What is known of calls with some sizes.
#[derive(Debug)]
struct Known {
    params: Vec<i64>,
    calls: u64,
    spent: Duration,
    code: State,
}

#[derive(Debug)]
enum State {
    /// Nobody has tried yet.
    Unmade,
    /// Somebody has begun, or it cannot be had.
    Taken,
    Made(Arc<Code>),
}

impl Known {
    fn made(&self) -> Option<Arc<Code>> {
        match &self.code {
            State::Made(code) => Some(Arc::clone(code)),
            State::Unmade | State::Taken => None,
        }
    }
}

impl Specials {
    pub(crate) fn new(options: &Options, code: &Code, timings: &[Timing]) -> Specials {
        let cost = timings.iter().filter(|timing| timing.stage == "codegen").map(|timing| timing.time).sum();
        let possible = !matches!(code.made, Made::Ptx { .. }) && !code.kernel.params.is_empty();
        Specials {
            when: if possible { options.specialize.clone() } else { Specialize::Never },
            cost: Duration::max(cost, LEAST_COST),
            time_limit: options.time_limit,
            code: options.code(),
            known: Mutex::default(),
        }
    }

    /// For another function with the same code: nothing is counted yet.
    pub(crate) fn afresh(&self) -> Specials {
        let Specials { when, cost, time_limit, code, .. } = self;
        Specials { when: when.clone(), cost: *cost, time_limit: *time_limit, code: *code, known: Mutex::default() }
    }

    /// Whether calls need not be counted.
    pub(crate) fn are_settled(&self) -> bool {
        !matches!(self.when, Specialize::Repeated | Specialize::Always)
    }

    /// The code to run for these sizes.
    pub(crate) fn code_for(&self, params: &[i64], general: &Arc<Code>) -> Arc<Code> {
        match self.when {
            Specialize::Never => return Arc::clone(general),
            Specialize::Always => self.make_known(params, general),
            Specialize::Repeated | Specialize::For(_) => {}
        }
        let made = self.known().iter().find(|known| known.params == params).and_then(Known::made);
        made.unwrap_or_else(|| Arc::clone(general))
    }

    /// The sizes that there is code for.
    pub(crate) fn made(&self) -> Vec<Vec<i64>> {
        let all = self.known();
        let made = all.iter().filter(|known| matches!(known.code, State::Made(_)));
        made.map(|known| known.params.clone()).collect()
    }

    /// Counts calls that have taken so long together, and makes code if that is worth it by now.
    pub(crate) fn count(&self, params: &[i64], calls: u64, spent: Duration, general: &Arc<Code>) {
        if self.when != Specialize::Repeated {
            return;
        }
        let worth = self.with(params, |known| {
            known.calls = known.calls.saturating_add(calls);
            known.spent = known.spent.saturating_add(spent);
            let unmade = matches!(known.code, State::Unmade);
            unmade && known.calls >= REPEATED && known.spent >= self.cost.saturating_mul(WORTH)
        });
        if worth {
            self.make_known(params, general);
        }
    }

    /// Makes code for these sizes and keeps it, unless somebody has done that or is about to. That it cannot be had is no failure.
    fn make_known(&self, params: &[i64], general: &Code) {
        let mine = self.with(params, |known| {
            let mine = matches!(known.code, State::Unmade);
            if mine {
                known.code = State::Taken;
            }
            mine
        });
        if !mine {
            return;
        }
        match self.make(params, general) {
            Ok(code) => self.keep(params, code),
            Err(why) => tracing::debug!(?params, %why, "no code for these sizes"),
        }
    }

    /// Code for these sizes, which must be some that the function allows.
    pub(crate) fn make(&self, params: &[i64], general: &Code) -> Result<Code> {
        let started = Instant::now();
        let bug = |error: diag::Error| Error::Bug { stage: "specialize", what: format!("{error:?}") };
        deadline::within(started, self.time_limit, || {
            let kernel = general.kernel.fixed(params).map_err(bug)?;
            let compiled = cpu::compile_with(&kernel, &self.code).map_err(bug)?;
            tracing::debug!(?params, time = ?started.elapsed(), "code for these sizes");
            Ok(Code { generated: Arc::clone(&general.generated), kernel, made: Made::Cpu(Box::new(compiled)) })
        })
    }

    /// Keeps code that was made for these sizes.
    pub(crate) fn keep(&self, params: &[i64], code: Code) {
        let code = Arc::new(code);
        self.with(params, |known| known.code = State::Made(code));
    }

    fn known(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with what is known of these sizes; what was not called longest is forgotten.
    fn with<T>(&self, params: &[i64], change: impl FnOnce(&mut Known) -> T) -> T {
        let mut all = self.known();
        let found = all.iter().position(|known| known.params == params).map(|position| all.remove(position));
        let mut known = found.unwrap_or_else(|| Known {
            params: params.to_vec(),
            calls: 0,
            spent: Duration::ZERO,
            code: State::Unmade,
        });
        let result = change(&mut known);
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push(known);
        result
    }
}
