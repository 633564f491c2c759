//! Random programs through the whole compiler: interpreter and machine code must agree, scheduled and in order.
//!
//! The same 2,000 programs run each time; `FARKAS_SEED` gives others, and `FARKAS_CASES` another number of them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod program;
mod values;

use std::time::Duration;

use farkas::{Args, Data, Engine, Error, Options, Order, Recipes, Style};
use program::{Generated, generate};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use values::{agree, data};

/// The arrays `U` and `x` afterwards.
fn run(function: &farkas::Function, case: &Generated, interpret: bool) -> (Data, Data) {
    let (n, m) = (case.n, case.m);
    let (a, v, w) = (data(case.ty, n * m, 1), data(case.ty, n, 2), data(case.ty, m, 3));
    let (mut u, mut x) = (data(case.ty, n * m, 4), data(case.ty, n, 5));
    let mut args = Args::new();
    let flat = data(case.ty, n * m, 6);
    args.data("A", &a, &[n, m]).data("v", &v, &[n]).data("w", &w, &[m]).data("F", &flat, &[n * m]);
    args.data_mut("U", &mut u, &[n, m]).data_mut("x", &mut x, &[n]);
    if interpret { function.interpret(&mut args) } else { function.call(&mut args) }.unwrap();
    drop(args);
    (u, x)
}

fn check(case: &Generated) -> Result<(), String> {
    let source = case.linked();
    for order in [Order::Scheduled, Order::Original] {
        // Recipes at the small sizes of these programs, too.
        let (recipes, time_limit) = (Recipes::Always, Duration::from_secs(20));
        let engine = Engine::with_options(Options { order, recipes, time_limit, ..Options::default() });
        let module = match engine.compile_source(&source) {
            Ok(module) => module,
            // Some programs ask isl too much; that is an answer, and says nothing about the others.
            Err(Error::Budget { .. }) => return Ok(()),
            Err(error) => return Err(error.render(Style::Plain)),
        };
        let function = module.function("f").unwrap();
        let (expected, found) = (run(function, case, true), run(function, case, false));
        if !agree(case.ty, case.rounds, &expected.0, &found.0) || !agree(case.ty, case.rounds, &expected.1, &found.1) {
            return Err(format!("{order:?}: interpreted\n{expected:?}\ncompiled\n{found:?}"));
        }
    }
    Ok(())
}

/// Runs `cases` programs that depend on nothing but `seed`.
fn run_cases(seed: u8) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let cases = number("FARKAS_CASES").unwrap_or(2000) / 2;
    let mut bytes = [seed; 32];
    bytes[..4].copy_from_slice(&number("FARKAS_SEED").unwrap_or(0).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config { cases, failure_persistence: None, ..Config::default() }, rng);
    let choices = proptest::collection::vec(any::<u8>(), 0..120);
    let result = runner.run(&choices, |choices| {
        let case = generate(&choices);
        check(&case).map_err(|what| {
            TestCaseError::fail(format!("N = {}, M = {}\n{}\n{what}", case.n, case.m, case.linked().text()))
        })
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

// Two halves, so that two cores share the work.

#[test]
fn interpreter_and_machine_code_agree_on_the_first_half() {
    run_cases(1);
}

#[test]
fn interpreter_and_machine_code_agree_on_the_second_half() {
    run_cases(2);
}
