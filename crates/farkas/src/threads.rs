//! Threads for parallel loops: which pool they come from, and the token that ends a call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::available_parallelism;
use std::time::Duration;

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
static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

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
        let pool = match threads {
            _ if !is_parallel || count < 2 => None,
            Threads::Pool(pool) => Some(Arc::clone(pool)),
            Threads::All | Threads::Count(_) => Some(shared_pool(count)?),
        };
        Ok(Team { pool, threads: count, worth_sharing: options.worth_sharing })
    }
}

fn shared_pool(threads: usize) -> Result<Arc<ThreadPool>, CallError> {
    let mut pools = POOLS.lock().map_err(|_| CallError::Pool { why: "another thread panicked".to_owned() })?;
    if let Some(pool) = pools.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    // The calling thread works, too.
    let builder = ThreadPoolBuilder::new().num_threads(threads - 1).thread_name(|number| format!("farkas {number}"));
    let pool = builder.build().map_err(|error| CallError::Pool { why: error.to_string() })?;
    let pool = Arc::new(pool);
    pools.insert(threads, Arc::clone(&pool));
    Ok(pool)
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
