//! Exploring: the legality of every schedule in a space of transformations, and the speed of the legal ones.
//!
//! In: a function and a space.  Out: one row per point. The judging is `choice::explore`'s; functions and code are made here.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use diag::Source;
use isl::Context;

use choice::explore::Explorer;
pub use choice::explore::{Choice, Dimension, Exploration, Judgement, Row, Space};

use crate::pipeline::{self, Log};
use crate::{Engine, Error, Function, Options, Result};

/// Judges the points of a space, in the order of their numbers. The transformations of a point are applied to the schedule that
/// compiling would use: the user's, the program's own, or the one that is chosen. `progress` is told how many points are done.
pub fn explore(
    engine: &Engine,
    source: &Source,
    function: &str,
    space: &Space,
    exploration: &Exploration,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Row>> {
    let (function, options) = engine.lower_only(source, function)?;
    let start = || start(source, &function, &options);
    let failed = |error: diag::Error| Error::new(source, error);
    choice::explore::explore(&start, &failed, options.budget(), space, exploration, progress)
}

/// Compiles the legal points among `rows`, one of each schedule, and has `run` time each.
pub fn measure<E: From<Error>>(
    engine: &Engine,
    source: &Source,
    function: &str,
    space: &Space,
    rows: &mut [Row],
    mut run: impl FnMut(&Function) -> std::result::Result<Duration, E>,
) -> std::result::Result<(), E> {
    let (function, options) = engine.lower_only(source, function)?;
    let explorer = Explorer { start: start(source, &function, &options)?, budget: options.budget(), space };
    for row in rows.iter_mut().filter(|row| row.judgement == Judgement::Legal && row.same_as.is_none()) {
        let mut log = Log::default();
        let code = explorer.start.subject.within(options.budget(), || {
            let proven = explorer.prove(row.point)?;
            pipeline::generate(source, &proven, &options, &mut log).map_err(Error::without_source)
        });
        let code = code.map_err(|error| Error::new(source, error))?;
        row.time = Some(run(&Function::new(source, function.clone(), Arc::new(code), log, &options)?)?);
    }
    Ok(())
}

/// What the transformations of every point start from: the schedule that compiling would use.
fn start(source: &Source, function: &program::Function, options: &Options) -> Result<steps::State> {
    let bug = |error: isl::Error| Error::Bug { stage: "budget", what: error.to_string() };
    let ctx = Context::new().map_err(bug)?;
    let decide = || Ok(pipeline::decide(&ctx, source, function, options));
    let proven = ctx.with_budget(options.budget(), decide).map_err(bug)??;
    Ok(steps::State { subject: Rc::clone(proven.subject()), tree: proven.tree().clone() })
}
