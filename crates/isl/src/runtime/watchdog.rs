//! The watchdog: one thread that aborts contexts whose deadline has passed.
//!
//! In: a context and a deadline.  Out: `isl_ctx_abort` at the deadline, unless the watch was ended first.
//! Aborting, ending a watch and resuming all happen under one lock, so that the thread never touches a context that
//! is no longer watched, and a late abort cannot reach the next call.
//! Threads do not survive `fork`, and a lock may be held by one of them: so a child starts afresh ([`generation`]), and
//! whoever has a watch from before asks for a new one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
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
pub(super) struct WatchId {
    generation: u64,
    number: u64,
}

impl WatchId {
    /// True if the watch was left behind in the process that this one was forked from.
    pub(super) fn is_lost(self) -> bool {
        self.generation != generation()
    }
}

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

/// All watches of a process.
struct Watchdog {
    generation: u64,
    registry: Mutex<Registry>,
    earlier_deadline: Condvar,
}

#[derive(Default)]
struct Registry {
    next_number: u64,
    watched: BTreeMap<WatchId, Watched>,
    /// The watches that have not fired, by deadline.
    queue: BTreeSet<(Instant, WatchId)>,
    /// When the thread will look next by itself.
    wakes_at: Option<Instant>,
    running: bool,
}

/// How often the process was forked from another since it first used isl.
static FORKS: AtomicU64 = AtomicU64::new(0);
/// The watchdog of this process, or of one that it was forked from. Never freed: a process has few.
static WATCHDOG: AtomicPtr<Watchdog> = AtomicPtr::new(null_mut());

/// A number that changes in a forked child.
pub(super) fn generation() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The watchdog of this process.
fn watchdog() -> &'static Watchdog {
    static NOTICE_FORKS: Once = Once::new();
    #[cfg(unix)]
    NOTICE_FORKS.call_once(|| {
        // SAFETY: the handler only adds to an atomic number. If it cannot be installed for lack of memory, children
        // of a fork have no time limits, which is what they had without it.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    });
    let generation = generation();
    let known = WATCHDOG.load(Ordering::Acquire);
    // SAFETY: NULL, or leaked below and never freed.
    if let Some(watchdog) = unsafe { known.as_ref() }
        && watchdog.generation == generation
    {
        return watchdog;
    }
    let fresh: &'static Watchdog =
        Box::leak(Box::new(Watchdog { generation, registry: Mutex::default(), earlier_deadline: Condvar::new() }));
    let pointer = std::ptr::from_ref(fresh).cast_mut();
    match WATCHDOG.compare_exchange(known, pointer, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        // SAFETY: another thread of this process was faster; what it put there is leaked as well, and of this generation.
        Err(other) => unsafe { other.as_ref() }.unwrap_or(fresh),
    }
}

/// Starts to watch `context`, which must stay alive until [`end`].
pub(super) fn start(context: &Context, deadline: Instant) -> Result<WatchId> {
    let watchdog = watchdog();
    let mut registry = watchdog.lock();
    if !registry.running {
        thread::Builder::new()
            .name("isl-watchdog".to_owned())
            .spawn(|| watchdog.watch())
            .map_err(|error| Error::Watchdog { reason: error.to_string() })?;
        registry.running = true;
    }
    let id = WatchId { generation: watchdog.generation, number: registry.next_number };
    registry.next_number += 1;
    let watched = Watched { ctx: SharedCtx(context.as_ptr()), deadline, fired: false };
    registry.watched.insert(id, watched);
    registry.queue.insert((deadline, id));
    registry.fire(Instant::now());
    // Waking the thread is the only dear step, and a later deadline than the one it sleeps for does not need it.
    if registry.wakes_at.is_none_or(|wakes_at| deadline < wakes_at) {
        watchdog.earlier_deadline.notify_one();
    }
    Ok(id)
}

/// Ends a watch, if there was one. The context works again, unless another watch on it has fired.
pub(super) fn end(context: &Context, id: Option<WatchId>) {
    let mut registry = watchdog().lock();
    if let Some(id) = id
        && let Some(watched) = registry.watched.remove(&id)
    {
        registry.queue.remove(&(watched.deadline, id));
    }
    let ctx = SharedCtx(context.as_ptr());
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

impl Watchdog {
    /// What the thread does.
    fn watch(&self) {
        let mut registry = self.lock();
        loop {
            let now = Instant::now();
            registry.fire(now);
            let next = registry.queue.first().map(|&(deadline, _)| deadline);
            registry.wakes_at = next;
            registry = match next {
                Some(deadline) => {
                    let woken = self.earlier_deadline.wait_timeout(registry, deadline - now);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.earlier_deadline.wait(registry).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Nothing under the lock can panic half-way, so a poisoned registry is still consistent.
    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
