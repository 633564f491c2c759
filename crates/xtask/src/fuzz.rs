//! The long form of the tests about hostile input.
//!
//! In: how long.  Out: what the tests say; failing inputs are in `target/fuzz`.
//! Not here: the inputs and what must hold, which is a test of `crates/cli`.

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
