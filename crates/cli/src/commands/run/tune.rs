//! `farkas run --tune`: the function with several schedules, each timed on the inputs of the run, and a row for each.

use std::time::{Duration, Instant};

use farkas::Program;
use farkas::tune::{self, Outcome, Trial};

use super::execute;
use super::inputs::Given;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::terminal;

/// A schedule runs so often at most.
const MOST_RUNS: usize = 9;
/// After so long, no other run of the same schedule begins.
const LONG: Duration = Duration::from_millis(500);

/// Times the schedules, tells what came of each, and which is the fastest.
pub(super) fn tune(program: &Program, name: &str, sizes: &[(String, i64)], given: &Given) -> Result<(), Failure> {
    let mut progress: Option<Progress> = None;
    let trials = program.tune(
        name,
        sizes,
        |function| time(function, given),
        |number, total, trial| {
            let progress = progress.get_or_insert_with(|| Progress::new(total as u64, "schedules"));
            progress.aside(|| terminal::note(format_args!("tune: {}", row(number, trial))));
            progress.tell(number as u64 + 1);
        },
    );
    drop(progress);
    let trials = trials?;
    if let Some(fastest) = tune::fastest(&trials).and_then(|number| trials.get(number)) {
        terminal::note(format_args!("tune: the fastest is: {}", fastest.name));
    }
    Ok(())
}

/// The shortest of several runs.
fn time(function: &farkas::Function, given: &Given) -> Result<Duration, Failure> {
    let started = Instant::now();
    let mut shortest = Duration::MAX;
    for _ in 0..MOST_RUNS {
        let (_, time) = execute(function, 1, given, |_| {})?;
        shortest = shortest.min(time);
        if started.elapsed() > LONG {
            break;
        }
    }
    Ok(shortest)
}

fn row(number: usize, trial: &Trial) -> String {
    let cost = trial.cost.map_or_else(|| "-".to_string(), |cost| cost.to_string());
    let outcome = match &trial.outcome {
        Outcome::Time(time) => format!("{:.3} ms", time.as_secs_f64() * 1e3),
        Outcome::Same(other) => format!("the same loops as {}", other + 1),
        Outcome::Failed(why) => format!("not compiled: {why}"),
    };
    format!("{}. {}, cost {cost}: {outcome}", number + 1, trial.name)
}
