//! Every example, and every schedule for one, runs as its `# run:` line says, and agrees with the interpreter.

use std::path::{Path, PathBuf};

use crate::support::{command, outcome, repository};

#[test]
fn examples_run_as_they_say() {
    let count = run_all("fks");
    assert!(count >= 70, "only {count} examples");
}

#[test]
fn examples_are_formatted() {
    let output =
        command(&repository()).args(["fmt", "--check"]).args(files(&repository().join("examples"), "fks")).output();
    assert_eq!(outcome(&output.expect("the binary starts")).succeeds().stdout, "");
}

#[test]
fn schedules_for_examples_run_as_they_say() {
    let count = run_all("sched");
    assert!(count >= 3, "only {count} schedules");
}

#[test]
fn examples_run_as_ptx_or_say_why_not() {
    let (mut agree, mut refused) = (0, 0);
    for path in files(&repository().join("examples"), "fks") {
        let text = std::fs::read_to_string(&path).expect("an example is text");
        let line = text.lines().find_map(|line| line.strip_prefix("# run: farkas ")).expect("a `# run:` line");
        let words = line.split_whitespace().chain(["--verify", "--target=ptx", "--device=emulate"]);
        let output = command(&repository()).args(words).output().expect("the binary starts");
        let outcome = outcome(&output);
        if outcome.stderr.contains("error[E0601]") {
            assert_eq!(outcome.code, Some(1), "{outcome:#?}");
            refused += 1;
            continue;
        }
        assert!(outcome.succeeds().stderr.contains("the interpreter agrees"), "{}", path.display());
        agree += 1;
    }
    assert!(agree > 5 * refused, "{agree} agree, {refused} are refused");
}

/// Schedules for GPUs do what they are for on the emulator, too.
#[test]
fn schedules_for_gpus_run_as_ptx() {
    let mut count = 0;
    for path in files(&repository().join("examples/schedules"), "sched") {
        if !path.to_string_lossy().ends_with("-gpu.sched") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("an example is text");
        let line = text.lines().find_map(|line| line.strip_prefix("# run: farkas ")).expect("a `# run:` line");
        let words = line.split_whitespace().chain(["--verify", "--target=ptx", "--device=emulate"]);
        let output = command(&repository()).args(words).output().expect("the binary starts");
        assert!(outcome(&output).succeeds().stderr.contains("the interpreter agrees"), "{}", path.display());
        count += 1;
    }
    assert!(count >= 5, "only {count} schedules");
}

#[test]
fn fast_math_multiplies_by_reciprocals_and_agrees() {
    let line = "examples/softmax.fks -D B=3,N=50 --in X=rand:1 --schedule examples/schedules/softmax.sched --verify";
    let run = |rules: &[&str]| {
        let words = ["run"].into_iter().chain(line.split(' ')).chain(rules.iter().copied());
        let output = command(&repository()).args(words).output().expect("the binary starts");
        outcome(&output).succeeds()
    };
    let (strict, fast) = (run(&["--math=strict"]), run(&["--math=fast"]));
    assert!(fast.stderr.contains("the interpreter agrees"), "{fast:#?}");
    assert_eq!(run(&[]).stdout, strict.stdout, "strict is the default");
    assert_ne!(fast.stdout, strict.stdout, "a reciprocal is rounded once more");
}

/// How many files there are with this ending.
fn run_all(ending: &str) -> usize {
    let mut count = 0;
    for path in files(&repository().join("examples"), ending) {
        let text = std::fs::read_to_string(&path).expect("an example is text");
        let line = text.lines().find_map(|line| line.strip_prefix("# run: farkas "));
        let line = line.unwrap_or_else(|| unreachable!("{} has no `# run: farkas` line", path.display()));
        let words = line.split_whitespace().chain(["--verify"]);
        let output = command(&repository()).args(words).output().expect("the binary starts");
        let outcome = outcome(&output).succeeds();
        assert!(outcome.stderr.contains("the interpreter agrees"), "{outcome:#?}");
        assert!(outcome.stdout.contains("fnv1a"), "{outcome:#?}");
        count += 1;
    }
    count
}

/// All files below a folder that end so.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the examples are there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found
}
