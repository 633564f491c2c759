//! Long forms of tests about hostile input and memory.
//!
//! In: how long.  Out: what the tests say; failing inputs are in `target/fuzz`.
//! Not here: the inputs and what must hold, which are tests of `crates/cli` and `crates/farkas`.

use crate::process::{cargo, command, run_shown, say};

/// The time without `--minutes`.
const MINUTES: u64 = 10;

/// Runs the fuzzer of command lines for some minutes.
pub(crate) fn fuzz(words: &[String]) -> Result<(), String> {
    let minutes = match words {
        [] => MINUTES,
        [flag, minutes] if flag == "--minutes" => {
            minutes.parse().map_err(|_| format!("`{minutes}` is not a number of minutes"))?
        }
        _ => return Err(format!("`cargo xtask fuzz` takes `--minutes N`, not `{}`", words.join(" "))),
    };
    say(format!("{minutes} minutes; FARKAS_SEED starts elsewhere"));
    let mut test =
        command(cargo(), &["test", "--release", "--package", "farkas-cli", "--test", "fuzz", "--", "--nocapture"]);
    test.env("FARKAS_FUZZ_SECONDS", (60 * minutes).to_string());
    run_shown(&mut test)
}

/// Tests that call isl and generated code the most, by package and targets; those that are about deadlines are left out, as
/// everything takes some thirty times as long.
const WATCHED: [(&str, &[&str]); 3] = [
    (
        "farkas-isl",
        &["--lib", "--test=hazards", "--test=pipeline", "--test=repairs", "--test=schedule_trees", "--test=text"],
    ),
    ("farkas-cpu", &["--test=hostile", "--test=calls", "--test=loops"]),
    ("farkas", &["--test=verdicts", "--test=soak"]),
];

/// The probe of odd arguments lives in child processes, which valgrind does not follow; the others measure memory, of which
/// valgrind needs much itself.
const UNWATCHED: [&str; 3] = ["--skip=probe", "--skip=leave_no_memory_behind", "--skip=does_not_grow"];

/// Runs tests under valgrind, which sees every access of isl, of our own code and of the code that we generate.
pub(crate) fn sanitize() -> Result<(), String> {
    let present = command("valgrind", &["--version"]).output().is_ok_and(|output| output.status.success());
    if !present {
        return Err("valgrind is not installed; `apt-get install valgrind` or the like does it".to_owned());
    }
    // Valgrind shows the program a processor without AVX-512, so code is made for one without it.
    let runner =
        "valgrind --quiet --error-exitcode=99 --exit-on-first-error=yes --leak-check=no --smc-check=all-non-file";
    for (package, targets) in WATCHED {
        let mut test = command(cargo(), &["test", "--package", package]);
        test.args(targets).args(["--", "--test-threads=1"]).args(UNWATCHED);
        test.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner);
        test.env("FARKAS_PAIRS", "40").env("FARKAS_SOAK_SECONDS", "2").env("FARKAS_CYCLES", "20");
        run_shown(&mut test)?;
    }
    say("covered: the tests of the isl bindings, hostile loops, calls, verdicts, threads; not: the other tests");
    Ok(())
}
