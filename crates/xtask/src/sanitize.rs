//! All tests with an isl that watches over its memory, and some of them under valgrind, which sees generated code, too.
//!
//! In: the sources.  Out: what the tests say; both builds are in `target/sanitize`.
//! Not here: what must hold, which is in the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{capture, cargo, command, run_shown, say, workspace_root};

/// How isl is compiled otherwise, as `.cargo/isl.site` says it.
const PLAIN: &str = "CFLAGS=\"-O3 -DNDEBUG\"";
/// How it is compiled here.
const WATCHED: &str = "CFLAGS=\"-O2 -g1 -fno-omit-frame-pointer -fsanitize=address\"";

/// Memory that a context still has is isl's own business at the end of a process; memory that was freed is kept back for a while,
/// so that accesses to it are seen, but not so much that tests which measure memory fail; an allocation that is too large fails as it does without all this.
const ADDRESS_OPTIONS: &str = "detect_leaks=0:quarantine_size_mb=8:allocator_may_return_null=1:abort_on_error=0";

/// Tests that measure the memory of a process, or microseconds of isl: both are the sanitizer's here.
const MEASURING: [&str; 4] = [
    "does_not_grow",
    "nothing_leaks",
    "a_budget_costs_microseconds",
    "four_threads_call_one_function_while_others_compile",
];

/// Runs the tests.
pub(crate) fn sanitize(words: &[String]) -> Result<(), String> {
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--valgrind"] => under_valgrind(),
        ["--valgrind", ..] => Err("`cargo xtask sanitize --valgrind` takes nothing else".to_owned()),
        targets => with_watched_isl(targets),
    }
}

/// Builds everything with isl's accesses checked by the compiler's sanitizer, and runs all tests, or those that `cargo test` picks by
/// `targets`.
fn with_watched_isl(targets: &[&str]) -> Result<(), String> {
    let folder = workspace_root().join("target/sanitize");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let site = watched_site(&folder)?;
    let linker = linker(&folder)?;
    let host = host()?;
    let mut test = command(cargo(), &[]);
    test.args(words_of_cargo(&host, &folder, targets));
    let flags = format!("-Clinker={}", linker.display());
    test.env("RUSTFLAGS", &flags).env("RUSTDOCFLAGS", &flags).env("CONFIG_SITE", site);
    test.env("ASAN_OPTIONS", ADDRESS_OPTIONS);
    run_shown(&mut test)
}

/// What cargo is told. All that is its own stands before `targets`, which may have `--` and words for the tests behind it.
fn words_of_cargo(host: &str, folder: &Path, targets: &[&str]) -> Vec<String> {
    let folder = folder.to_string_lossy();
    // With a target that is named, programs that only run while building are built as ever.
    let mut words = vec!["test", "--no-fail-fast", "--target", host, "--target-dir", &folder];
    if targets.is_empty() {
        words.push("--workspace");
    }
    words.extend(targets);
    if !targets.contains(&"--") {
        words.push("--");
    }
    words.into_iter().map(str::to_owned).chain(MEASURING.map(|name| format!("--skip={name}"))).collect()
}

/// A site file that makes an isl like ours, but with its accesses checked.
fn watched_site(folder: &Path) -> Result<PathBuf, String> {
    let plain = workspace_root().join(".cargo/isl.site");
    let text = fs::read_to_string(&plain).map_err(|error| format!("cannot read {}: {error}", plain.display()))?;
    if text.matches(PLAIN).count() != 1 {
        return Err(format!("{} does not say `{PLAIN}` once", plain.display()));
    }
    write_new(folder.join("isl.site"), &text.replace(PLAIN, WATCHED))
}

/// A linker that puts the sanitizer in front of all other libraries, whose allocations it takes over.
fn linker(folder: &Path) -> Result<PathBuf, String> {
    // By this name the compiler knows what words it takes.
    let path = write_new(folder.join("cc"), "#!/bin/sh\nexec /usr/bin/env cc -Wl,--no-as-needed -lasan \"$@\"\n")?;
    run_shown(&mut command("chmod", &["+x", &path.to_string_lossy()]))?;
    Ok(path)
}

/// Writes a file unless it is there already: cargo builds anew what depends on a file that is newer.
fn write_new(path: PathBuf, text: &str) -> Result<PathBuf, String> {
    if fs::read_to_string(&path).is_ok_and(|there| there == text) {
        return Ok(path);
    }
    fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

/// What the compiler makes code for if nobody says anything.
fn host() -> Result<String, String> {
    let output = capture(Command::new("rustc").arg("-vV"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say what it makes code for".to_owned())
}

/// Tests that call generated code the most, by package and targets; those that are about deadlines are left out, as
/// everything takes some thirty times as long.
const UNDER_VALGRIND: [(&str, &[&str]); 3] = [
    (
        "farkas-isl",
        &["--lib", "--test=hazards", "--test=pipeline", "--test=repairs", "--test=schedule_trees", "--test=text"],
    ),
    ("farkas-cpu", &["--test=hostile", "--test=calls", "--test=loops"]),
    ("farkas", &["--test=verdicts", "--test=soak"]),
];

/// The probe of odd arguments lives in child processes, which valgrind does not follow; the others measure memory, of which
/// valgrind needs much itself.
const NOT_UNDER_VALGRIND: [&str; 3] = ["--skip=probe", "--skip=leave_no_memory_behind", "--skip=does_not_grow"];

/// Runs tests under valgrind, which sees every access of isl, of our own code and of the code that we generate.
fn under_valgrind() -> Result<(), String> {
    let present = command("valgrind", &["--version"]).output().is_ok_and(|output| output.status.success());
    if !present {
        return Err("valgrind is not installed; `apt-get install valgrind` or the like does it".to_owned());
    }
    // Valgrind shows the program a processor without AVX-512, so code is made for one without it.
    let runner =
        "valgrind --quiet --error-exitcode=99 --exit-on-first-error=yes --leak-check=no --smc-check=all-non-file";
    for (package, targets) in UNDER_VALGRIND {
        let mut test = command(cargo(), &["test", "--package", package]);
        test.args(targets).args(["--", "--test-threads=1"]).args(NOT_UNDER_VALGRIND);
        test.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner);
        test.env("FARKAS_PAIRS", "40").env("FARKAS_SOAK_SECONDS", "2").env("FARKAS_CYCLES", "20");
        run_shown(&mut test)?;
    }
    say("covered: the tests of the isl bindings, hostile loops, calls, verdicts, threads; not: the other tests");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else everything would be built anew beside the ordinary build, and the tests would be told of a folder.
    #[test]
    fn words_for_the_tests_leave_the_build_where_it_is() {
        let targets = ["--test", "examples", "--", "cholesky"];
        let words = words_of_cargo("a-host", Path::new("a-folder"), &targets);
        let (own, others) = words.split_at(words.iter().position(|word| word == "--").expect("words for the tests"));
        assert!(own.windows(2).any(|pair| pair == ["--target-dir", "a-folder"]), "{words:?}");
        assert_eq!(others[1], "cholesky");
        assert!(others[2..].iter().all(|word| word.starts_with("--skip=")), "{words:?}");
    }
}
