//! The deadline in force on a thread: until when what is being compiled has to be done.
//!
//! In: a limit of time, and the work that is under it.  Out: whether the time is over, for whoever works there.
//! A walk over a large thing asks [`is_over`] now and then, and stops where it is once it is. What it leaves is of no use, so
//! whoever began the stage asks [`check`] before the result is looked at. What only isl can be asked is not here: isl has
//! budgets of its own.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::{Error, Result, Spent};

/// One of so many questions looks at the clock.
const QUESTIONS: u32 = 16;

#[derive(Clone, Copy)]
struct Deadline {
    began: Instant,
    end: Instant,
    /// Whether somebody saw that it is over.
    seen: bool,
}

thread_local! {
    static IN_FORCE: Cell<Option<Deadline>> = const { Cell::new(None) };
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// Does some work that has to be done `limit` after `began`. Deadlines nest: an inner one cannot outlast an outer one.
pub fn within<T>(began: Instant, limit: Duration, work: impl FnOnce() -> T) -> T {
    let outer = IN_FORCE.get();
    // A deadline too far away to be expressed is none.
    let own = began.checked_add(limit).map(|end| Deadline { began, end, seen: false });
    IN_FORCE.set([outer, own].into_iter().flatten().min_by_key(|deadline| deadline.end));
    let _restore = Restore(outer);
    work()
}

/// Ends a deadline also when the work panics.
struct Restore(Option<Deadline>);

impl Drop for Restore {
    fn drop(&mut self) {
        IN_FORCE.set(self.0);
    }
}

/// When the work that is under the deadline in force began.
pub fn began() -> Option<Instant> {
    IN_FORCE.get().map(|deadline| deadline.began)
}

/// How much time there is; none if there is no deadline.
pub fn left() -> Option<Duration> {
    IN_FORCE.get().map(|deadline| deadline.end.saturating_duration_since(Instant::now()))
}

/// Whether the time is over, or was a moment ago; cheap enough for every statement of a program. Once it is, every question is
/// answered so.
pub fn is_over() -> bool {
    let Some(deadline) = IN_FORCE.get() else { return false };
    let asked = ASKED.get().wrapping_add(1);
    ASKED.set(asked);
    let seen = deadline.seen || asked.is_multiple_of(QUESTIONS) && Instant::now() > deadline.end;
    if seen != deadline.seen {
        IN_FORCE.set(Some(Deadline { seen, ..deadline }));
    }
    seen
}

/// That the time is not over, at the end of a stage or in the middle of it.
pub fn check(stage: &'static str) -> Result<()> {
    check_ahead(stage, Duration::ZERO)
}

/// That the time is not over, cheap enough for every item of a list.
pub fn check_often(stage: &'static str) -> Result<()> {
    if is_over() { check(stage) } else { Ok(()) }
}

/// That it will not be over after something which cannot be stopped once it has begun and is expected to take `more`.
pub fn check_ahead(stage: &'static str, more: Duration) -> Result<()> {
    let Some(Deadline { began, end, .. }) = IN_FORCE.get() else { return Ok(()) };
    let now = Instant::now();
    match now.checked_add(more).is_none_or(|then| then > end) {
        true => Err(Error::Budget { stage, spent: Spent::time(now.saturating_duration_since(began)) }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_nest_and_end() {
        let (now, long) = (Instant::now(), Duration::from_secs(3600));
        assert!(check("none").is_ok() && left().is_none());
        within(now, long, || {
            assert!(check("long").is_ok());
            within(now, Duration::ZERO, || {
                assert!((0..=QUESTIONS).any(|_| is_over()));
                assert!((0..=QUESTIONS).all(|_| is_over()), "what was over is not any more");
                within(now, long, || assert!(check("inner").is_err()));
            });
            assert!(check("long again").is_ok());
            assert!(check_ahead("too much", long).is_err());
            assert!((0..=QUESTIONS).all(|_| !is_over()));
        });
        assert!(check("none again").is_ok());
    }

    #[test]
    fn a_deadline_ends_when_its_work_panics() {
        let panicked = std::panic::catch_unwind(|| {
            within(Instant::now(), Duration::ZERO, || std::panic::resume_unwind(Box::new("on purpose")))
        });
        assert!(panicked.is_err());
        assert!(check("after").is_ok());
    }
}
