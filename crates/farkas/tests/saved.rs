//! The schedule that is chosen, saved as a script, is a script like any other: it is read again, proven, and makes the same
//! loops, letter by letter. And no stage runs twice on the way, and all commands decide alike.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use diag::{Source, Style};
use farkas::explore::{Exploration, Judgement, Space, explore, measure};
use farkas::{Emit, Engine, Module, Options, Order, Recipes, Schedule};

/// All programs below a folder.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(programs(&path));
        } else if path.extension().is_some_and(|extension| extension == "fks") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn examples() -> Vec<Source> {
    let paths = programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"));
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Source::new(path.display().to_string(), text)
    };
    paths.iter().map(read).collect()
}

/// The functions of a program, under a schedule or the one that is chosen.
fn compile(source: &Source, schedule: Option<String>) -> Module {
    let schedule = schedule.map(|text| Schedule::Script(Source::new("saved.sched", text)));
    let emit = vec![Emit::Schedule, Emit::Script, Emit::Loops];
    let engine = Engine::with_options(Options { emit, schedule, ..Options::default() });
    right(source, engine.compile_source(source))
}

/// What is right about a source.
fn right<T>(source: &Source, result: farkas::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{}: {}", source.name(), error.render(Style::Plain)))
}

/// A text of every function, one after the other.
fn texts(module: &Module, wanted: Emit) -> String {
    module.functions().iter().map(|function| text_of(function.texts(), wanted)).collect()
}

#[test]
fn schedules_of_the_examples_are_read_again() {
    for source in examples() {
        // A schedule beside its function is the user's, and is its own script.
        let chosen = compile(&source, None);
        let script = texts(&chosen, Emit::Script);
        assert!(script.starts_with("schedule "), "{}: {script}", source.name());
        let again = compile(&source, Some(script.clone()));
        assert_eq!(texts(&again, Emit::Script), without_reasons(&script), "{}", source.name());
        assert_eq!(texts(&again, Emit::Loops), texts(&chosen, Emit::Loops), "{}, saved as\n{script}", source.name());
    }
}

/// A script without the comments that say why.
fn without_reasons(script: &str) -> String {
    let lines = script.lines().map(|line| line.split('#').next().unwrap_or_default());
    lines.map(str::trim_end).filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

/// A text among those that were kept.
fn text_of(texts: &[(Emit, String)], wanted: Emit) -> &str {
    let found = texts.iter().find(|(emit, _)| *emit == wanted);
    found.map_or_else(|| panic!("no {wanted}"), |(_, text)| text)
}

/// What is checked is what is run, and what transformations of it start from.
#[test]
fn all_commands_decide_alike() {
    let emit = vec![Emit::Schedule, Emit::Script, Emit::Loops];
    let space: Space = "reverse(S0[i])".parse().unwrap_or_else(|error| panic!("{error}"));
    let exploration = Exploration { sample: None, seed: 0, threads: NonZeroUsize::new(1) };
    let orders = [Order::Written, Order::Original];
    for (source, order) in examples().iter().flat_map(|source| orders.map(|order| (source, order))) {
        // The tree that transformations start from is the one for sizes that are not small.
        let options = Options { emit: emit.clone(), order, recipes: Recipes::Always, ..Options::default() };
        let engine = Engine::with_options(options);
        let compiled = right(source, engine.compile_source(source));
        let checked = right(source, engine.check(source));
        assert_eq!(checked.len(), compiled.functions().len());
        for (checked, compiled) in checked.iter().zip(compiled.functions()) {
            let place = format!("{} of {}, {order:?}", compiled.name(), source.name());
            for wanted in [Emit::Schedule, Emit::Script] {
                assert_eq!(text_of(checked.texts(), wanted), text_of(compiled.texts(), wanted), "{place}");
            }
            let name = compiled.name();
            let mut rows = right(source, explore(&engine, source, name, &space, &exploration, &|_, _| {}));
            // The first point is not to reverse.
            rows.truncate(1);
            assert_eq!(rows[0].judgement, Judgement::Legal, "{place}");
            let run = |explored: &farkas::Function| {
                for wanted in [Emit::Schedule, Emit::Loops] {
                    assert_eq!(text_of(explored.texts(), wanted), text_of(compiled.texts(), wanted), "{place}");
                }
                Ok(Duration::ZERO)
            };
            right(source, measure(&engine, source, name, &space, &mut rows, run));
            assert_eq!(rows[0].time, Some(Duration::ZERO), "{place}");
        }
    }
}

/// A stage that ran twice would be there twice.
#[test]
fn no_stage_runs_twice() {
    for source in examples() {
        for function in compile(&source, None).functions() {
            let mut stages: Vec<&str> = function.timings().iter().map(|timing| timing.stage).collect();
            assert!(stages.contains(&"codegen"), "{stages:?}");
            stages.sort_unstable();
            let once = stages.windows(2).all(|pair| pair[0] != pair[1]);
            assert!(once, "{} of {}: {stages:?}", function.name(), source.name());
        }
    }
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
    // The order alone: recipes would have other statements in other loops.
    let options = Options { emit: vec![Emit::Script], recipes: Recipes::None, ..Options::default() };
    let saved = texts(&right(&source, Engine::with_options(options).compile_source(&source)), Emit::Script);
    assert!(saved.contains("S0[t, i] -> [t, 2*t + i"), "{saved}");
    let edited = saved.replace("\n}\n", "\n    tile S0[t, t1], S1[t, t1] by 8, 32\n}\n");
    let tiled = compile(&source, Some(edited));
    assert!(texts(&tiled, Emit::Script).contains("tile S0[t, t1], S1[t, t1] by 8, 32"));
    let tree = texts(&tiled, Emit::Schedule);
    assert!(tree.contains("floor((t)/8)") && tree.contains("floor((2t + i)/32)"), "{tree}");
}
