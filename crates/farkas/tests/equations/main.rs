//! Random systems of equations: an order is found where there is one, a cycle where there is one, and compiled code,
//! interpreter and a computation of its own kind agree on every cell.
//!
//! The same systems are tried each time; `FARKAS_SEED` gives others, and `FARKAS_CASES` another number of them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod system;

use std::cell::RefCell;
use std::collections::HashMap;

use farkas::{Args, Data, Engine, Error, Options, Order, Recipes, Source, Style};
use interp::{Env, run_program};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use system::{System, generate};

/// Small sizes; a cycle among the cells that are not given needs only a few of these.
const SIZES: std::ops::RangeInclusive<i64> = 0..=8;

/// What the interpreter makes of a system, without the compiler's judgement on it.
fn interpreted(function: &program::Function, n: i64) -> Result<Vec<Data>, interp::Error> {
    let mut env = Env { params: vec![n], scalars: Vec::new(), arrays: vec![None; function.arrays.len()] };
    run_program(function, &mut env)?;
    Ok(env.arrays.into_iter().flatten().collect())
}

fn compiled(system: &System, function: &farkas::Function, expected: &[Vec<i64>], n: i64) -> Vec<Data> {
    let mut results: Vec<Data> = expected.iter().map(|values| Data::I64(vec![0; values.len()])).collect();
    let size = usize::try_from(n).unwrap();
    let mut args = Args::new();
    args.size("N", n);
    for (result, name) in results.iter_mut().zip(["U", "V", "W"]) {
        args.data_mut(name, result, &vec![size; system.dims]);
    }
    function.call(&mut args).unwrap();
    drop(args);
    results
}

/// What became of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Outcome {
    Compiled,
    Cycle,
    /// Neither an order nor a cycle was found.
    Unknown,
    /// It reads what has no value, or took too long.
    Skipped,
}

fn check(system: &System) -> Result<Outcome, String> {
    let solutions: Vec<Option<Vec<Vec<i64>>>> = SIZES.map(|n| system.solve(n)).collect();
    let source = Source::new("random.fks", system.source());
    let recipes = Recipes::Always;
    let engine = |order| Engine::with_options(Options { order, recipes, verify_dynamic: true, ..Options::default() });
    let outcome = engine(Order::Scheduled).compile_source(&source);
    let code = outcome.as_ref().err().map(|error| error.render(Style::Plain));
    let is = |wanted: &str| code.as_ref().is_some_and(|text| text.contains(&format!("error[{wanted}]")));
    if is("E0405") && system.reads_without_value() {
        return Ok(Outcome::Skipped);
    }
    let program = program::lower(&syntax::parse(&source).unwrap(), &source).unwrap();
    for (n, solution) in SIZES.zip(&solutions) {
        let found = interpreted(&program.functions[0], n);
        let agrees = match (solution, &found) {
            (Some(expected), Ok(found)) => expected.iter().cloned().map(Data::I64).eq(found.iter().cloned()),
            (None, Err(interp::Error::Cycle { .. })) => true,
            _ => false,
        };
        if !agrees {
            return Err(format!("N = {n}: expected {solution:?}, but the interpreter finds {found:?}"));
        }
    }
    let cyclic = solutions.iter().any(Option::is_none);
    let module = match outcome {
        Ok(_) if cyclic => return Err("an order is found, but there is none".into()),
        Ok(module) => module,
        Err(_) if is("E0410") && cyclic => return Ok(Outcome::Cycle),
        Err(_) if is("E0411") && !cyclic && !system.has_order => return Ok(Outcome::Unknown),
        Err(Error::Budget { .. }) => return Ok(Outcome::Skipped),
        Err(error) => return Err(error.render(Style::Plain)),
    };
    let original = engine(Order::Original).compile_source(&source).map_err(|error| error.render(Style::Plain))?;
    for module in [&module, &original] {
        let function = module.function("f").unwrap();
        for (n, expected) in SIZES.zip(&solutions) {
            let Some(expected) = expected else { continue };
            let found = compiled(system, function, expected, n);
            if !expected.iter().cloned().map(Data::I64).eq(found.iter().cloned()) {
                return Err(format!("N = {n}: expected {expected:?}, but the code gives {found:?}"));
            }
        }
    }
    Ok(Outcome::Compiled)
}

#[test]
fn orders_and_cycles_are_found() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let cases = number("FARKAS_CASES").unwrap_or(80);
    let mut bytes = [7; 32];
    bytes[..4].copy_from_slice(&number("FARKAS_SEED").unwrap_or(0).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config { cases, failure_persistence: None, ..Config::default() }, rng);
    let choices = proptest::collection::vec(any::<u8>(), 0..60);
    let outcomes: RefCell<HashMap<Outcome, u32>> = RefCell::default();
    let result = runner.run(&choices, |choices| {
        let system = generate(&choices);
        let outcome = check(&system).map_err(|what| TestCaseError::fail(format!("{}\n{what}", system.source())))?;
        *outcomes.borrow_mut().entry(outcome).or_default() += 1;
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let outcomes = outcomes.into_inner();
    let enough = |outcome| outcomes.get(&outcome).is_some_and(|count| count * 10 >= cases);
    assert!(enough(Outcome::Compiled) && enough(Outcome::Cycle), "of {cases} systems: {outcomes:?}");
}
