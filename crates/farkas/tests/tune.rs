//! Tuning: what is tried, what is remembered, and by whom it is found again.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use farkas::tune::{Outcome, Trial, fastest};
use farkas::{Cache, CacheDirectory, Emit, Engine, Error, Function, Options, Program, Recipes, Source, Target};

const MATMUL: &str = "fn matmul<N, M, K>(A: f64[N, K], B: f64[K, M]) -> (C: f64[N, M]) {
    C[i, j] = sum[k] A[i, k] * B[k, j]
}";

fn program(options: Options) -> Program {
    // What is compiled can be seen.
    let engine = Engine::with_options(Options { emit: vec![Emit::Loops], ..options });
    engine.read(&Source::new("matmul.fks", MATMUL)).unwrap()
}

fn sizes(n: i64) -> Vec<(String, i64)> {
    ["N", "M", "K"].map(|name| (name.to_string(), n)).to_vec()
}

fn loops(function: &Function) -> String {
    function.texts().iter().find(|(emit, _)| *emit == Emit::Loops).unwrap().1.clone()
}

/// Tunes with times that nobody measured: the later a schedule is tried, the faster it is.
fn tune(program: &Program, n: i64, runs: &mut Vec<String>) -> Vec<Trial> {
    let run = |function: &Function| {
        runs.push(loops(function));
        Ok::<_, Error>(Duration::from_millis(100 - runs.len() as u64))
    };
    program.tune("matmul", &sizes(n), run, |_, _, _| {}).unwrap()
}

#[test]
fn the_fastest_schedule_is_compiled_for_its_sizes_only() {
    let program = program(Options { cache: Cache::Off, ..Options::default() });
    let before = loops(&program.compile_for("matmul", &sizes(64)).unwrap());
    assert_eq!(before, loops(&program.compile("matmul").unwrap()));
    let mut runs = Vec::new();
    let trials = tune(&program, 64, &mut runs);
    // The last that was run is the fastest, and is another one than that which is chosen.
    assert!(runs.len() > 1 && runs[0] == before, "{trials:#?}");
    assert_eq!(loops(&program.compile_for("matmul", &sizes(64)).unwrap()), *runs.last().unwrap());
    assert_eq!(loops(&program.compile_for("matmul", &sizes(65)).unwrap()), before);
    // No loops run twice, and each trial says what came of it.
    for (number, other) in runs.iter().enumerate() {
        assert!(!runs[..number].contains(other), "{other}");
    }
    assert!(trials.iter().all(|trial| !matches!(trial.outcome, Outcome::Failed(_))), "{trials:#?}");
    assert_eq!(trials.iter().filter(|trial| matches!(trial.outcome, Outcome::Time(_))).count(), runs.len());
    let costs: Vec<u64> = trials.iter().take(4).filter_map(|trial| trial.cost).collect();
    assert!(costs.len() == 4 && costs.is_sorted(), "{costs:?}");
}

#[test]
fn without_recipes_is_one_of_the_trials() {
    let all = program(Options { cache: Cache::Off, ..Options::default() });
    let plain = program(Options { recipes: Recipes::None, cache: Cache::Off, ..Options::default() });
    let mut runs = Vec::new();
    tune(&all, 64, &mut runs);
    assert!(runs.contains(&loops(&plain.compile("matmul").unwrap())));
}

#[test]
fn tuning_that_was_stopped_goes_on_in_another_process() {
    let place = tempfile::tempdir().unwrap();
    let directory = CacheDirectory::new(place.path());
    let options = || Options { cache: Cache::Disk(directory.clone()), ..Options::default() };
    let mut whole = Vec::new();
    let expected = tune(&program(Options { cache: Cache::Off, ..Options::default() }), 64, &mut whole);

    let mut runs = Vec::new();
    let stopped = program(options()).tune(
        "matmul",
        &sizes(64),
        |function| {
            if runs.len() == 2 {
                return Err(Error::Bug { stage: "test", what: "Ctrl-C".to_string() });
            }
            runs.push(loops(function));
            Ok(Duration::from_millis(100 - runs.len() as u64))
        },
        |_, _, _| {},
    );
    assert!(stopped.is_err());
    // What is known is used, and is not found out again.
    let other = program(options());
    assert_eq!(loops(&other.compile_for("matmul", &sizes(64)).unwrap()), runs[1]);
    let mut rest = Vec::new();
    let trials = tune(&other, 64, &mut rest);
    assert_eq!([runs, rest].concat(), whole);
    let names = |trials: &[Trial]| trials.iter().map(|trial| trial.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&trials), names(&expected));
    // A third process measures nothing.
    let mut none = Vec::new();
    assert_eq!(tune(&program(options()), 64, &mut none), trials);
    assert_eq!(none, Vec::<String>::new());
}

#[test]
fn notes_that_were_changed_cost_a_tuning() {
    let place = tempfile::tempdir().unwrap();
    let directory = CacheDirectory::new(place.path());
    let options = || Options { cache: Cache::Disk(directory.clone()), ..Options::default() };
    let mut runs = Vec::new();
    tune(&program(options()), 64, &mut runs);
    for file in std::fs::read_dir(place.path()).unwrap() {
        let path = file.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    let again = program(options());
    assert_eq!(loops(&again.compile_for("matmul", &sizes(64)).unwrap()), runs[0]);
    let mut anew = Vec::new();
    let trials = tune(&again, 64, &mut anew);
    assert_eq!(anew, runs);
    assert!(fastest(&trials).is_some());
}

#[test]
fn what_is_not_machine_code_is_not_tuned() {
    let program = program(Options { target: Target::Ptx { sm: 70 }, ..Options::default() });
    let run = |_: &Function| Ok::<_, Error>(Duration::ZERO);
    assert!(matches!(program.tune("matmul", &sizes(4), run, |_, _, _| {}), Err(Error::Call(_))));
    assert!(program.compile_for("matmul", &sizes(4)).is_ok());
}
