//! Budgets: no call to isl runs longer than its caller allows.
//!
//! In: limits on time and operations, and what to do under them.  Out: its result, or [`crate::Error::Budget`].
//! Operations alone do not bound time (they count allocations), so time is watched from outside (`watchdog`).

use std::time::{Duration, Instant};

use super::context::Context;
use super::error::Result;
use super::watchdog::{self, WatchId};

/// What a piece of work may cost. `None` means no limit of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// isl's own operations, roughly its allocations: the same on every machine.
    pub operations: Option<u64>,
}

/// A budget in force.
pub(super) struct Frame {
    started: Instant,
    /// The operation count at which isl stops; 0 for none.
    max_operations: u64,
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
    watch: Option<WatchId>,
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
        context.frames().borrow_mut().push(Frame { started, max_operations });
        Ok(InForce { context, watch })
    }
}

impl Drop for InForce<'_> {
    fn drop(&mut self) {
        if let Some(watch) = self.watch {
            watchdog::end(watch);
        }
        let mut frames = self.context.frames().borrow_mut();
        frames.pop();
        let outer = frames.last().map_or(0, |frame| frame.max_operations);
        self.context.set_max_operations(outer);
        self.context.reset_error();
    }
}
