//! The scheduler's order, saved as a script, is a script like any other: it is read again, proven, and means the same.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use diag::{Source, Style};
use farkas::{Emit, Engine, Options, Schedule};

fn programs(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let entries = std::fs::read_dir(&root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "fks"));
    found.sort();
    found
}

/// The schedule of a program's only function, as a script, under another schedule or the scheduler's.
fn script(source: &Source, schedule: Option<String>) -> String {
    let schedule = schedule.map(|text| Schedule::Script(Source::new("saved.sched", text)));
    let engine = Engine::with_options(Options { emit: vec![Emit::Script], schedule, ..Options::default() });
    let module = engine
        .compile_source(source)
        .unwrap_or_else(|error| panic!("{}: {}", source.name(), error.render(Style::Plain)));
    match module.functions() {
        [function] => function.texts()[0].1.clone(),
        functions => panic!("{} has {} functions", source.name(), functions.len()),
    }
}

/// Positions may be counted in another way when they are read again, so that text settles after one round.
fn check(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let source = Source::new(path.display().to_string(), text);
    let saved = script(&source, None);
    assert!(saved.starts_with("schedule "), "{}: {saved}", path.display());
    let again = script(&source, Some(saved.clone()));
    assert_eq!(script(&source, Some(again.clone())), again, "{}, saved as\n{saved}", path.display());
}

#[test]
fn orders_of_the_examples_are_read_again() {
    programs("").iter().chain(&programs("polybench")).for_each(|path| check(path));
}

/// Steps can follow what was saved.
#[test]
fn a_saved_order_can_be_edited() {
    let text = "fn f<N, T>(inout A: f64[N], inout B: f64[N]) {
    for t in 0..T {
        B[i | 1 <= i < N - 1] = A[i - 1] + A[i + 1]
        A[i | 1 <= i < N - 1] = B[i - 1] + B[i + 1]
    }
}
";
    let source = Source::new("f.fks", text);
    let saved = script(&source, None);
    assert!(saved.contains("S0[t, i] -> [t, 2*t + i"), "{saved}");
    let edited = saved.replace("\n}\n", "\n    tile S0[t, t1], S1[t, t1] by 8, 32\n}\n");
    let tiled = script(&source, Some(edited));
    assert!(tiled.contains("[t / 8, (2*t + i) / 32"), "{tiled}");
}
