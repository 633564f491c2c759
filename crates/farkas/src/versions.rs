//! Versions: several ways to run a function, of which the sizes of a call decide.
//!
//! In: schedules for some sizes, and one for all others; loops that choose between them.  Out: machine code for each version, made when a call first
//! comes to it.
//! Not here: which versions there are, which scripts and `choice` say.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use diag::deadline;
use program::{Cond, ParamId};

use crate::pipeline::{Code, Made};
use crate::{CallError, Math};

/// Several ways to run a function, of which the sizes of a call decide.
#[derive(Clone, Debug)]
pub(crate) struct Versions<T> {
    /// Each for the sizes for which its condition is the first to hold.
    pub(crate) special: Vec<(Cond, T)>,
    /// For all others.
    pub(crate) general: T,
}

impl<T> Versions<T> {
    /// All of them, in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Option<&Cond>, &T)> {
        let special = self.special.iter().map(|(sizes, version)| (Some(sizes), version));
        special.chain([(None, &self.general)])
    }

    /// The one for these sizes.
    pub(crate) fn at(&self, params: &[i64]) -> &T {
        let special = self.special.iter().find(|(sizes, _)| hold(sizes, params));
        special.map_or(&self.general, |(_, version)| version)
    }

    /// Something of each of them.
    pub(crate) fn try_map<U, E>(
        self,
        mut change: impl FnMut(Option<&Cond>, T) -> Result<U, E>,
    ) -> Result<Versions<U>, E> {
        let mut special = Vec::new();
        for (sizes, version) in self.special {
            let version = change(Some(&sizes), version)?;
            special.push((sizes, version));
        }
        Ok(Versions { special, general: change(None, self.general)? })
    }
}

/// Whether sizes are some that a version is for.
pub(crate) fn hold(sizes: &Cond, params: &[i64]) -> bool {
    let value = |param: ParamId| params.get(param.index()).copied().unwrap_or_default();
    sizes.eval(&value, &|_| 0).unwrap_or(false)
}

/// The code of the versions in one kernel. A call needs one of them, and small programs would wait for the code of the others
/// longer than they run.
#[derive(Debug)]
pub(crate) struct Parts {
    /// As they were generated.
    kernel: loops::InBounds,
    made: Vec<Mutex<Option<Arc<Code>>>>,
    make: Make,
}

impl Parts {
    /// None is made yet.
    pub(crate) fn new(kernel: loops::InBounds, make: Make) -> Parts {
        let made = (0..kernel.version_count()).map(|_| Mutex::default()).collect();
        Parts { kernel, made, make }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.made.len()
    }

    /// The number of the one for these sizes; none if a condition on them overflows.
    pub(crate) fn version_at(&self, params: &[i64]) -> Option<usize> {
        self.kernel.version_at(params)
    }

    /// The code of one version. Threads that want the same one wait for it; where it could not be made, the next call tries again.
    pub(crate) fn code(&self, generated: &Arc<str>, number: usize) -> Result<Arc<Code>, CallError> {
        let mut place =
            self.made.get(number).ok_or(CallError::NoMachineCode)?.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = &*place {
            return Ok(Arc::clone(code));
        }
        let work = || self.make.code(Arc::clone(generated), self.kernel.version(number));
        let made = deadline::within(Instant::now(), self.make.time_limit, work).map(Arc::new);
        let made = made.map_err(|error| CallError::NotMade { why: error.to_string() })?;
        *place = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// How code is made of the loops of a version.
#[derive(Debug)]
pub(crate) struct Make {
    pub(crate) finish: Finish,
    pub(crate) options: cpu::Options,
    pub(crate) time_limit: Duration,
}

impl Make {
    fn code(&self, generated: Arc<str>, kernel: loops::InBounds) -> diag::Result<Code> {
        let kernel = self.finish.apply(kernel)?;
        let compiled = cpu::compile_with(&kernel, &self.options)?;
        Ok(Code { generated, kernel, made: Made::Cpu(Box::new(compiled)) })
    }
}

/// What passes do to loops that were generated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish {
    pub(crate) strict_order: bool,
    pub(crate) math: Math,
}

impl Finish {
    pub(crate) fn apply(self, kernel: loops::InBounds) -> diag::Result<loops::Verified> {
        let kernel = kernel.optimized();
        // Blocks change the order of terms, and products that are added one by one their grouping.
        let kernel = if self.strict_order { kernel } else { kernel.cascaded().apart() };
        let kernel = match self.math {
            Math::Strict => kernel,
            Math::Fast => kernel.fast(),
        };
        kernel.verified()
    }
}
