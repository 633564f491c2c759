//! Budgets: no call to isl takes longer, or more memory, than its caller allows.
//!
//! In: limits on time, operations and memory, and what to do under them.  Out: its result, or [`crate::Error::Budget`].
//! Operations alone do not bound time (they count allocations), so time is watched from outside (`watchdog`), and memory
//! where it is allocated (`memory`).

use std::time::{Duration, Instant};

use super::context::Context;
use super::error::Result;
use super::memory;
use super::watchdog::{self, WatchId};

/// What a piece of work may cost. `None` means no limit of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// isl's own operations, roughly its allocations: the same on every machine.
    pub operations: Option<u64>,
    /// Bytes that isl may hold beyond what it holds at the beginning. Only isl's own memory counts.
    pub memory: Option<u64>,
}

/// What a whole computation may take, of which work that can be given up gets a part.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// The time for all of it.
    pub limit: Duration,
    /// What is left of that.
    pub left: Duration,
}

/// Fewer than isl does in a second on a machine of today, so that parts are used up in operations before they are in time.
const OPERATIONS_PER_SECOND: f64 = 3e6;

impl Allowance {
    /// One of so many parts. It is counted in operations, so that what is given up depends neither on the machine nor on what else it does; time ends it
    /// only where a machine is far too slow, or where operations take unusually long.
    pub fn part(self, parts: u32) -> Budget {
        let operations = self.limit.as_secs_f64() / f64::from(parts.max(1)) * OPERATIONS_PER_SECOND;
        Budget { time: Some(self.left / parts.max(1)), operations: Some((operations as u64).max(1)), memory: None }
    }
}

/// A budget in force.
pub(super) struct Frame {
    started: Instant,
    /// The operation count at which isl stops; 0 for none.
    max_operations: u64,
    deadline: Option<Instant>,
    watch: Option<WatchId>,
}

impl Frame {
    pub(super) fn spent(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Context {
    /// Runs `work` under a budget. Calls that go over it return [`crate::Error::Budget`], as do all later ones within `work`.
    ///
    /// Afterwards the context works as before. Budgets nest: an inner one cannot outlast an outer one.
    pub fn with_budget<T>(&self, budget: Budget, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let _in_force = InForce::begin(self, budget)?;
        work()
    }

    /// Watches the deadlines in force again if the process was forked since they began.
    pub(super) fn watch_after_fork(&self) -> Result<()> {
        for frame in self.frames().borrow_mut().iter_mut() {
            if let (Some(deadline), Some(watch)) = (frame.deadline, frame.watch)
                && watch.is_lost()
            {
                frame.watch = Some(watchdog::start(self, deadline)?);
            }
        }
        Ok(())
    }

    /// The operations counted so far, which isl does not tell: found by asking at which limit it would stop, and
    /// exact but for the few operations that asking costs.
    fn operations_spent(&self) -> u64 {
        let (mut reached, mut beyond) = (0, u64::MAX / 2);
        while reached + 1 < beyond {
            let middle = reached + (beyond - reached) / 2;
            self.set_max_operations(middle);
            if self.is_exhausted() {
                reached = middle;
            } else {
                beyond = middle;
            }
        }
        beyond
    }
}

/// Ends the budget also when `work` panics.
struct InForce<'a> {
    context: &'a Context,
    outer_memory: memory::Outer,
}

impl<'a> InForce<'a> {
    fn begin(context: &'a Context, budget: Budget) -> Result<InForce<'a>> {
        let started = Instant::now();
        // A deadline too far away to be expressed is no deadline. The outer watch goes on, which caps this one.
        let deadline = budget.time.and_then(|time| started.checked_add(time));
        let watch = deadline.map(|deadline| watchdog::start(context, deadline)).transpose()?;
        let outer = context.frames().borrow().last().map(|f| f.max_operations);
        let max_operations = match (outer, budget.operations) {
            (None, own) => {
                context.reset_operations();
                own.map_or(0, |own| own.max(1))
            }
            (Some(outer), None) => outer,
            (Some(outer), Some(own)) => {
                let own = context.operations_spent().saturating_add(own.max(1));
                if outer == 0 { own } else { own.min(outer) }
            }
        };
        context.set_max_operations(max_operations);
        context.reset_error();
        context.frames().borrow_mut().push(Frame { started, max_operations, deadline, watch });
        let outer_memory = memory::begin(context, budget.memory);
        Ok(InForce { context, outer_memory })
    }
}

impl Drop for InForce<'_> {
    fn drop(&mut self) {
        let mut frames = self.context.frames().borrow_mut();
        let watch = frames.pop().and_then(|frame| frame.watch);
        watchdog::end(self.context, watch);
        memory::end(&self.outer_memory);
        let outer = frames.last().map_or(0, |frame| frame.max_operations);
        self.context.set_max_operations(outer);
        self.context.reset_error();
    }
}
