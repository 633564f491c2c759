//! Threads for parallel loops: which pool they come from, and the token that ends a call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{CallError, Options};

/// Whose threads run parallel loops. Results do not depend on it.
#[derive(Clone, Debug, Default)]
pub enum Threads {
    /// As many as the machine has cores, in a pool that all engines of the process share.
    #[default]
    All,
    /// So many, the calling one included, in a pool that all engines of the process share.
    Count(usize),
    /// Those of a pool of the host, and the calling one.
    Pool(Arc<ThreadPool>),
}

/// The pools that were asked for, by their number of threads.
static POOLS: Mutex<BTreeMap<usize, SharedPool>> = Mutex::new(BTreeMap::new());

/// A pool, and how long a loop must take for its threads to be woken.
#[derive(Clone, Debug)]
struct SharedPool {
    pool: Arc<ThreadPool>,
    worth_sharing: Duration,
}

/// Threads are woken so often to find out what it takes.
const ROUNDS: usize = 9;
/// A loop is worth sharing if it takes so many times that: with two threads half of it is saved at best.
const MARGIN: u32 = 4;
/// Whatever was measured.
const LEAST: Duration = Duration::from_micros(4);
const MOST: Duration = Duration::from_micros(400);

/// What runs the parallel loops of one function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Team {
    pub(crate) pool: Option<Arc<ThreadPool>>,
    pub(crate) threads: usize,
    pub(crate) worth_sharing: Duration,
}

impl Team {
    /// Starts no threads for a function without parallel loops, or for one thread.
    pub(crate) fn new(options: &Options, is_parallel: bool) -> Result<Team, CallError> {
        let threads = &options.threads;
        let count = match threads {
            Threads::All => available_parallelism().map_or(1, Into::into),
            Threads::Count(0) => return Err(CallError::NoThreads),
            Threads::Count(count) => *count,
            Threads::Pool(pool) => pool.current_num_threads(),
        };
        let (pool, measured) = match threads {
            _ if !is_parallel || count < 2 => (None, cpu::Run::WORTH_SHARING),
            // What its threads do meanwhile is the host's affair, so nothing can be measured.
            Threads::Pool(pool) => (Some(Arc::clone(pool)), cpu::Run::WORTH_SHARING),
            Threads::All | Threads::Count(_) => {
                let SharedPool { pool, worth_sharing } = shared_pool(count)?;
                (Some(pool), worth_sharing)
            }
        };
        Ok(Team { pool, threads: count, worth_sharing: options.worth_sharing.unwrap_or(measured) })
    }
}

fn shared_pool(threads: usize) -> Result<SharedPool, CallError> {
    let mut pools = POOLS.lock().map_err(|_| CallError::Pool { why: "another thread panicked".to_owned() })?;
    if let Some(pool) = pools.get(&threads) {
        return Ok(pool.clone());
    }
    // The calling thread works, too.
    let builder = ThreadPoolBuilder::new().num_threads(threads - 1).thread_name(|number| format!("farkas {number}"));
    let pool = builder.build().map_err(|error| CallError::Pool { why: error.to_string() })?;
    let worth_sharing = (cost_of_sharing(&pool, threads - 1) * MARGIN).clamp(LEAST, MOST);
    let pool = SharedPool { pool: Arc::new(pool), worth_sharing };
    pools.insert(threads, pool.clone());
    Ok(pool)
}

/// How long it takes to wake all threads of an idle pool and to wait for them: the median of several times.
fn cost_of_sharing(pool: &ThreadPool, threads: usize) -> Duration {
    let mut rounds = [Duration::ZERO; ROUNDS];
    for round in &mut rounds {
        let started = Instant::now();
        pool.in_place_scope(|scope| (0..threads).for_each(|_| scope.spawn(|_| {})));
        *round = started.elapsed();
    }
    rounds.sort();
    rounds[ROUNDS / 2]
}

/// Ends calls that have it among their arguments, from any thread. A cancelled call returns soon, at the next iteration of an
/// outer loop, with [`RunError::Cancelled`](crate::RunError::Cancelled); arrays that it writes then hold part of the result.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A token that nobody has used yet.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends the calls that have the token, and all that will.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has called [`Cancel::cancel`].
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
