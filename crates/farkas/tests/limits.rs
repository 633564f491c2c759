//! Time limits hold in every stage: a program that would take a stage far longer is given up soon after its limit.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use farkas::{Engine, Error, Options, Order, Schedule, Source};

const LIMIT: Duration = Duration::from_millis(500);
/// Machines that run tests are busy; without a limit, these programs take minutes.
const PATIENCE: Duration = Duration::from_secs(5);

/// What comes of a program under the limit, which must be known soon after it.
fn compile(text: &str, options: Options) -> Result<(), Error> {
    let engine = Engine::with_options(Options { time_limit: LIMIT, operation_limit: None, ..options });
    let started = Instant::now();
    let compiled = engine.compile(text).map(drop);
    let spent = started.elapsed();
    assert!(spent < LIMIT + PATIENCE, "{spent:?}");
    if let Err(error @ (Error::User { .. } | Error::Bug { .. })) = &compiled {
        panic!("{error}");
    }
    compiled
}

/// Statements that each end somewhere else in one loop: their conditions can be combined in very many ways.
fn many_ends(statements: usize) -> String {
    let numbers = || 0..statements;
    let sizes: Vec<String> = numbers().map(|number| format!("N{number}")).collect();
    let arrays: Vec<String> = numbers().map(|number| format!("inout A{number}: f64[M]")).collect();
    let requirements: Vec<String> = numbers().map(|number| format!("N{number} <= M")).collect();
    let body: Vec<String> = numbers().map(|number| format!("A{number}[i | i < N{number}] = 1")).collect();
    format!(
        "fn f<M, T, {}>({}) where {} {{\n    for t in 0..T {{\n        {}\n    }}\n}}\n",
        sizes.join(", "),
        arrays.join(", "),
        requirements.join(", "),
        body.join("\n        ")
    )
}

/// The steps that put all of them into one loop.
fn fused(statements: usize) -> Schedule {
    let steps: Vec<String> = (1..statements).map(|number| format!("    fuse S0, S{number} at i\n")).collect();
    Schedule::Script(Source::new("f.sched", format!("schedule f {{\n{}    separate i\n}}\n", steps.concat())))
}

#[test]
fn of_dependences_and_the_scheduler() {
    drop(compile(&many_ends(14), Options::default()));
}

#[test]
fn of_the_program_s_own_order() {
    drop(compile(&many_ends(14), Options { order: Order::Original, ..Options::default() }));
}

#[test]
fn of_proofs_and_loop_generation() {
    drop(compile(&many_ends(11), Options { schedule: Some(fused(11)), ..Options::default() }));
}

#[test]
fn of_replays() {
    let deep = "fn f<N>(x: f64[N, N, N, N, N, N]) -> (y: f64[N, N, N, N, N, N]) {
    y[a, b, c, d, e, f] = x[f, e, d, c, b, a]
}
";
    drop(compile(deep, Options { verify_dynamic: true, ..Options::default() }));
}
