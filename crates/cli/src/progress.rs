//! How far something is: a bar on stderr, if somebody is looking, and if it takes longer than a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What takes less time needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A number of steps, some of which are done. Threads may share it.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    bar: ProgressBar,
}

impl Progress {
    /// So many steps, in words such as `points`.
    pub(crate) fn new(total: u64, steps: &'static str) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len} {msg}, {eta} to go");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(steps);
        Progress { started: Instant::now(), bar }
    }

    /// So many steps are done. What is drawn is drawn here and nowhere else, so that nothing disturbs what is measured between two steps.
    pub(crate) fn tell(&self, done: u64) {
        if self.bar.is_hidden() && self.started.elapsed() >= PATIENCE {
            // Stays hidden where stderr is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(done);
    }
}

impl Progress {
    /// Writes something else, which the bar stands behind.
    pub(crate) fn aside(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }
}

impl Drop for Progress {
    /// Nothing of it stays.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
