//! Parallel loops at run time: their iterations shared out among the threads of a pool.
//!
//! In: a function that runs some iterations, from generated code.  Out: all of them done, or the status of one that was not.
//! Which thread runs which iterations decides nothing about results: the schedule has cut everything that is shared.
//!
//! A loop is shared if it is worth it. Where that follows from the sizes (`crate::work`), threads share it from the beginning.
//! Otherwise the calling thread runs the first iteration alone and measures it, and where the others would take less than
//! [`Team::worth_sharing`] it goes on alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use loops::{ArrayDecl, ArrayId};

use crate::call::{allocate, length};
use crate::code::{Scratch, settle_stores};
use crate::emit::fault::{CANCELLED, DONE, NO_MEMORY, PANICKED};
use crate::work::Work;
use crate::workspace::Workspace;

/// The name under which generated code finds [`run_region`].
pub(crate) const RUN_REGION: &str = "farkas run parallel loop";

/// Pieces per thread, so that one that is late does not hold up the others.
const PIECES_PER_THREAD: i64 = 8;

/// No machine does more operations in a nanosecond with one thread: as many lanes as there are, several at once.
const MOST_PER_NANOSECOND: u64 = 100;

/// Where generated code finds the address of the flag that ends a call.
pub(crate) const CANCEL_OFFSET: i32 = 8;
/// Where a failed check leaves a second value.
pub(crate) const EARLIER_OFFSET: i32 = 24;

/// What generated code knows of the call that it is part of.
#[repr(C)]
pub(crate) struct State {
    /// Where a failed check leaves its value; first, because that is where generated code stores it.
    report: i64,
    /// At [`CANCEL_OFFSET`].
    cancel: *const AtomicBool,
    team: *const Team<'static>,
    /// At [`EARLIER_OFFSET`].
    earlier: i64,
}

impl State {
    /// The state is good for as long as both references are.
    pub(crate) fn new(cancel: &AtomicBool, team: &Team<'_>) -> State {
        State { report: 0, cancel, team: std::ptr::from_ref(team).cast(), earlier: 0 }
    }

    /// What a failed check has left.
    pub(crate) fn report(&self) -> Report {
        Report { value: self.report, earlier: self.earlier }
    }
}

/// The value that failed a check, and where there is one, that which it met.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    pub(crate) value: i64,
    pub(crate) earlier: i64,
}

/// What has to be known of a parallel loop to run it.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) step: i64,
    /// The length of the block that its iterations are given.
    pub(crate) words: usize,
    /// Arrays of which every thread needs its own.
    pub(crate) private: Vec<ArrayId>,
    /// What an iteration does.
    pub(crate) work: Work,
}

/// Who runs parallel loops during one call, and for which sizes.
pub(crate) struct Team<'a> {
    pub(crate) regions: &'a [Region],
    /// About how many operations an iteration of each of them has.
    pub(crate) operations: &'a [u64],
    pub(crate) arrays: &'a [ArrayDecl],
    pub(crate) params: &'a [i64],
    pub(crate) pool: Option<&'a rayon::ThreadPool>,
    pub(crate) threads: usize,
    /// How long the rest of a loop must take for threads to share it.
    pub(crate) worth_sharing: Duration,
}

/// A block of arguments, the first value of the variable, and the end.
type Iterations = unsafe extern "C" fn(*const u64, i64, i64) -> i32;

/// The positions in a block of arguments of what differs from thread to thread.
const ARRAYS: usize = 2;
const STATE: usize = 3;

pub(crate) fn symbols() -> Vec<(&'static str, *const u8)> {
    vec![(RUN_REGION, run_region as *const u8)]
}

/// Runs a parallel loop; called by generated code only.
unsafe extern "C" fn run_region(
    state: *mut State,
    iterations: Iterations,
    context: *const u64,
    region: i64,
    lo: i64,
    hi: i64,
) -> i32 {
    // SAFETY: generated code passes the state on that `Compiled::call_with` made, which is alive and used by nobody else
    // while the call waits here; its team and flag are alive as well.
    let (team, cancel) = unsafe { (&*(*state).team, &*(*state).cancel) };
    let found =
        usize::try_from(region).ok().and_then(|region| team.regions.get(region).zip(team.operations.get(region)));
    let Some((region, operations)) = found else { return PANICKED };
    // SAFETY: `emit::outline` made a block of as many words for this region.
    let context = unsafe { std::slice::from_raw_parts(context, region.words) };
    let running = Running { iterations, context, region, operations: *operations, team, cancel, lo, hi };
    match catch_unwind(AssertUnwindSafe(|| running.run())) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => {
            // SAFETY: as above; no thread runs generated code any more.
            let state = unsafe { &mut *state };
            (state.report, state.earlier) = (failure.report.value, failure.report.earlier);
            failure.status
        }
        Err(_) => PANICKED,
    }
}

/// One parallel loop under way.
struct Running<'a> {
    iterations: Iterations,
    context: &'a [u64],
    region: &'a Region,
    operations: u64,
    team: &'a Team<'a>,
    cancel: &'a AtomicBool,
    lo: i64,
    hi: i64,
}

// SAFETY: what is behind the addresses in `context` is shared by the iterations as the loop's proof allows: they touch
// different cells, or only read; what each thread needs for itself is replaced in `Thread`. All else is `Sync`.
unsafe impl Sync for Running<'_> {}

/// The failure that is reported: of those that happened, the one that comes first in the loop.
struct Failure {
    begin: i64,
    status: i32,
    report: Report,
}

impl Running<'_> {
    /// A status of the calling thread, which has left its report where it belongs; or what another one failed with.
    fn run(&self) -> Result<i32, Failure> {
        if self.lo >= self.hi {
            return Ok(DONE);
        }
        let step = self.region.step.max(1);
        let trips = (self.hi.wrapping_sub(self.lo).wrapping_sub(1)).cast_unsigned() / step.unsigned_abs() + 1;
        let trips = i64::try_from(trips).unwrap_or(i64::MAX);
        let threads = i64::try_from(self.team.threads).unwrap_or(i64::MAX).min(trips);
        let (Some(pool), true) = (self.team.pool, threads > 1) else {
            return Ok(self.piece(self.context, self.lo, self.hi));
        };
        if self.is_surely_worth_sharing(trips) {
            return self.shared(pool, threads, self.lo, stride(trips, threads, step));
        }

        let started = Instant::now();
        let second = self.lo.saturating_add(step);
        // The calling thread uses the arrays of the call itself.
        let status = self.piece(self.context, self.lo, second.min(self.hi));
        if status != DONE || second >= self.hi {
            return Ok(status);
        }
        let rest = started.elapsed().saturating_mul(u32::try_from(trips - 1).unwrap_or(u32::MAX));
        if rest < self.team.worth_sharing {
            return Ok(self.piece(self.context, second, self.hi));
        }
        self.shared(pool, threads, second, stride(trips - 1, threads, step))
    }

    /// Whether the loop takes long enough even on a machine that is faster than any.
    fn is_surely_worth_sharing(&self, trips: i64) -> bool {
        let operations = self.operations.saturating_mul(trips.unsigned_abs());
        Duration::from_nanos(operations / MOST_PER_NANOSECOND) >= self.team.worth_sharing
    }

    fn piece(&self, context: &[u64], begin: i64, end: i64) -> i32 {
        // SAFETY: the function was made for such a block by `emit::outline`, and `begin..end` is a part of the loop.
        let status = unsafe { (self.iterations)(context.as_ptr(), begin, end) };
        settle_stores();
        status
    }

    /// The iterations from `begin` on, in pieces that threads take as they get free.
    fn shared(&self, pool: &rayon::ThreadPool, threads: i64, begin: i64, stride: i64) -> Result<i32, Failure> {
        let next = AtomicI64::new(begin);
        let stop = AtomicBool::new(false);
        let failure: Mutex<Option<Failure>> = Mutex::new(None);
        let worker = || self.take_pieces(&next, stride, &stop, &failure);
        pool.in_place_scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|_| worker());
            }
            worker();
        });
        match failure.into_inner() {
            Ok(None) => Ok(DONE),
            Ok(Some(failure)) => Err(failure),
            Err(_) => Ok(PANICKED),
        }
    }

    fn take_pieces(&self, next: &AtomicI64, stride: i64, stop: &AtomicBool, failure: &Mutex<Option<Failure>>) {
        Workspace::with_spare(|spare| {
            let mut thread = None;
            self.take_pieces_with(&mut thread, spare, next, stride, stop, failure);
            spare.give_back(thread.flatten().map_or_else(Vec::new, Thread::into_buffers));
        });
    }

    fn take_pieces_with(
        &self,
        thread: &mut Option<Option<Thread>>,
        spare: &mut Workspace,
        next: &AtomicI64,
        stride: i64,
        stop: &AtomicBool,
        failure: &Mutex<Option<Failure>>,
    ) {
        while !stop.load(Ordering::Relaxed) {
            let Ok(begin) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |begin| {
                (begin < self.hi).then(|| begin.saturating_add(stride))
            }) else {
                return;
            };
            let end = begin.saturating_add(stride).min(self.hi);
            let (status, report) = match thread.get_or_insert_with(|| Thread::new(self, spare)) {
                _ if self.cancel.load(Ordering::Relaxed) => (CANCELLED, Report::default()),
                None => (NO_MEMORY, Report::default()),
                Some(thread) => (self.piece(&thread.context, begin, end), thread.state.report()),
            };
            if status != DONE {
                stop.store(true, Ordering::Relaxed);
                if let Ok(mut first) = failure.lock()
                    && first.as_ref().is_none_or(|known| begin < known.begin)
                {
                    *first = Some(Failure { begin, status, report });
                }
                return;
            }
        }
    }
}

/// How far it is from one piece to the next.
fn stride(trips: i64, threads: i64, step: i64) -> i64 {
    (trips / threads.saturating_mul(PIECES_PER_THREAD)).max(1).saturating_mul(step)
}

/// What one thread has for itself.
struct Thread {
    context: Vec<u64>,
    state: Box<State>,
    _arrays: Vec<*mut u8>,
    buffers: Vec<Scratch>,
}

impl Thread {
    /// `None` without memory.
    fn new(work: &Running<'_>, spare: &mut Workspace) -> Option<Thread> {
        let team = work.team;
        let mut context = work.context.to_vec();
        let shared = std::ptr::with_exposed_provenance::<*mut u8>(usize::try_from(context[ARRAYS]).ok()?);
        // SAFETY: the third word is the address of the table of the kernel's arrays, one pointer for each.
        let mut arrays = unsafe { std::slice::from_raw_parts(shared, team.arrays.len()) }.to_vec();
        let mut buffers = Vec::new();
        for array in &work.region.private {
            let declared = &team.arrays[array.index()];
            let len = length(declared, team.params).ok()?;
            let mut buffer = allocate(declared, len, spare).ok()?;
            arrays[array.index()] = buffer.as_mut_ptr();
            buffers.push(buffer);
        }
        let mut state = Box::new(State::new(work.cancel, team));
        context[ARRAYS] = arrays.as_ptr().expose_provenance() as u64;
        context[STATE] = std::ptr::from_mut(&mut *state).expose_provenance() as u64;
        Some(Thread { context, state, _arrays: arrays, buffers })
    }

    fn into_buffers(self) -> Vec<Scratch> {
        self.buffers
    }
}
