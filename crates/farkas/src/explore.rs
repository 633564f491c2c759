//! Exploring: the legality of every schedule in a space of transformations, and the speed of the legal ones.
//!
//! In: a function and a space.  Out: one row per point. The judging is `choice::explore`'s; functions and code are made here.

use std::time::Duration;

use diag::Source;
use isl::{Budget, Context};

use choice::explore::Explorer;
pub use choice::explore::{Choice, Dimension, Exploration, Judgement, Row, Space};

use crate::pipeline::{self, Log};
use crate::{Engine, Error, Function, Result};

/// Judges the points of a space, in the order of their numbers. `progress` is told how many are done.
pub fn explore(
    engine: &Engine,
    source: &Source,
    function: &str,
    space: &Space,
    exploration: &Exploration,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Row>> {
    let function = engine.lower_only(source, function)?;
    let analyse = || analyse(engine, &function);
    let rows = choice::explore::explore(&analyse, budget(engine), space, exploration, progress);
    rows.map_err(|error| Error::new(source, error))
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
    let function = engine.lower_only(source, function)?;
    let start = analyse(engine, &function).map_err(|error| Error::new(source, error))?;
    let explorer = Explorer { start, budget: budget(engine), space };
    for row in rows.iter_mut().filter(|row| row.judgement == Judgement::Legal && row.same_as.is_none()) {
        let mut log = Log::default();
        let code = explorer.start.subject.within(budget(engine), || {
            let proven = explorer.prove(row.point)?;
            pipeline::generate(&proven, engine.options(), &mut log).map_err(Error::without_source)
        });
        let code = code.map_err(|error| Error::new(source, error))?;
        row.time = Some(run(&Function::new(source, function.clone(), code, log))?);
    }
    Ok(())
}

fn budget(engine: &Engine) -> Budget {
    engine.options().budget()
}

fn analyse(engine: &Engine, function: &program::Function) -> diag::Result<steps::State> {
    let bug = |error: isl::Error| diag::Error::bug("budget", error.to_string());
    let ctx = Context::new().map_err(bug)?;
    ctx.with_budget(budget(engine), || Ok(pipeline::analyse(&ctx, function, engine.options()))).map_err(bug)?
}
