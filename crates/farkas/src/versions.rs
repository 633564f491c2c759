//! Versions: several ways to run a function, of which the sizes of a call decide.
//!
//! In: schedules for some sizes, and one for all others; loops that choose between them.  Out: machine code for each version, made when a call first
//! comes to it.
//! Not here: which versions there are, which scripts and `choice` say.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use diag::deadline;
use program::{Cond, ParamId};

use crate::CallError;
use crate::pipeline::{Code, Made};

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

    /// Something of each of them.
    pub(crate) fn try_map<U, E>(self, mut change: impl FnMut(T) -> Result<U, E>) -> Result<Versions<U>, E> {
        let special = self.special.into_iter().map(|(sizes, version)| Ok((sizes, change(version)?)));
        let special = special.collect::<Result<_, E>>()?;
        Ok(Versions { special, general: change(self.general)? })
    }
}

/// Whether sizes are some that a version is for.
pub(crate) fn hold(sizes: &Cond, params: &[i64]) -> bool {
    let value = |param: ParamId| params.get(param.index()).copied().unwrap_or_default();
    sizes.eval(&value, &|_| 0).unwrap_or(false)
}

/// Machine code of the versions in one kernel. A call needs one of them, and small programs would wait for the code of the others
/// longer than they run.
#[derive(Debug)]
pub(crate) struct Parts {
    made: Vec<OnceLock<Result<Arc<Code>, String>>>,
    options: cpu::Options,
    time_limit: Duration,
}

impl Parts {
    /// None is made yet.
    pub(crate) fn new(kernel: &loops::Verified, options: cpu::Options, time_limit: Duration) -> Parts {
        Parts { made: vec![OnceLock::new(); kernel.version_count()], options, time_limit }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.made.len()
    }

    /// The code of one version. Threads that want the same one wait for it.
    pub(crate) fn code(&self, whole: &Code, number: usize) -> Result<Arc<Code>, CallError> {
        let place = self.made.get(number).ok_or(CallError::NoMachineCode)?;
        let made = place.get_or_init(|| {
            let work = || {
                let kernel = whole.kernel.version(number);
                let compiled = cpu::compile_with(&kernel, &self.options)?;
                Ok(Code { generated: Arc::clone(&whole.generated), kernel, made: Made::Cpu(Box::new(compiled)) })
            };
            let made = deadline::within(Instant::now(), self.time_limit, work);
            made.map(Arc::new).map_err(|error: diag::Error| error.to_string())
        });
        made.clone().map_err(|why| CallError::NotMade { why })
    }
}
