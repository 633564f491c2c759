//! The watchdog: one thread that aborts contexts whose deadline has passed.
//!
//! In: a context and a deadline.  Out: `isl_ctx_abort` at the deadline, unless the watch was ended first.
//! Aborting, ending a watch and resuming all happen under one lock, so that the thread never touches a context that
//! is no longer watched, and a late abort cannot reach the next call.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::context::Context;
use super::error::{Error, Result};

unsafe extern "C" {
    fn isl_ctx_abort(ctx: *mut c_void);
    fn isl_ctx_resume(ctx: *mut c_void);
}

/// A running watch. Ended by [`end`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WatchId(u64);

struct Watched {
    ctx: SharedCtx,
    deadline: Instant,
    fired: bool,
}

/// A context as the watchdog sees it: only ever aborted or resumed, and only while watched.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SharedCtx(*mut c_void);

// SAFETY: the pointer is used by the watchdog thread only for `isl_ctx_abort`, a store to one flag that isl allows from
// elsewhere (its manual suggests signal handlers), and only while the owner keeps the context alive.
unsafe impl Send for SharedCtx {}

#[derive(Default)]
struct Registry {
    next_id: u64,
    watched: BTreeMap<WatchId, Watched>,
    /// The watches that have not fired, by deadline.
    queue: BTreeSet<(Instant, WatchId)>,
    /// When the thread will look next by itself.
    wakes_at: Option<Instant>,
    running: bool,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    next_id: 0,
    watched: BTreeMap::new(),
    queue: BTreeSet::new(),
    wakes_at: None,
    running: false,
});
static EARLIER_DEADLINE: Condvar = Condvar::new();

/// Starts to watch `context`, which must stay alive until [`end`].
pub(super) fn start(context: &Context, deadline: Instant) -> Result<WatchId> {
    let mut registry = lock();
    if !registry.running {
        thread::Builder::new()
            .name("isl-watchdog".to_owned())
            .spawn(watch)
            .map_err(|error| Error::Watchdog { reason: error.to_string() })?;
        registry.running = true;
    }
    let id = WatchId(registry.next_id);
    registry.next_id += 1;
    let watched = Watched { ctx: SharedCtx(context.as_ptr()), deadline, fired: false };
    registry.watched.insert(id, watched);
    registry.queue.insert((deadline, id));
    registry.fire(Instant::now());
    // Waking the thread is the only dear step, and a later deadline than the one it sleeps for does not need it.
    if registry.wakes_at.is_none_or(|wakes_at| deadline < wakes_at) {
        EARLIER_DEADLINE.notify_one();
    }
    Ok(id)
}

/// Ends a watch. The context works again, unless another watch on it has fired.
pub(super) fn end(id: WatchId) {
    let mut registry = lock();
    let Some(watched) = registry.watched.remove(&id) else {
        return;
    };
    registry.queue.remove(&(watched.deadline, id));
    let ctx = watched.ctx;
    let others_fired = registry.watched.values().any(|other| other.ctx == ctx && other.fired);
    if !others_fired {
        // SAFETY: the caller keeps the context alive.
        unsafe { isl_ctx_resume(ctx.0) }
    }
}

impl Registry {
    /// Aborts every context whose deadline is not after `now`.
    fn fire(&mut self, now: Instant) {
        while let Some(&(deadline, id)) = self.queue.first()
            && deadline <= now
        {
            self.queue.pop_first();
            if let Some(watched) = self.watched.get_mut(&id) {
                watched.fired = true;
                // SAFETY: still watched, so its owner keeps it alive.
                unsafe { isl_ctx_abort(watched.ctx.0) }
            }
        }
    }
}

fn watch() {
    let mut registry = lock();
    loop {
        let now = Instant::now();
        registry.fire(now);
        let next = registry.queue.first().map(|&(deadline, _)| deadline);
        registry.wakes_at = next;
        registry = match next {
            Some(deadline) => {
                let woken = EARLIER_DEADLINE.wait_timeout(registry, deadline - now);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
            None => EARLIER_DEADLINE.wait(registry).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

/// Nothing under the lock can panic half-way, so a poisoned registry is still consistent.
fn lock() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}
