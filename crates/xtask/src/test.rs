//! Everything that must hold before a change is good: formatting, lints, house rules and tests.

use std::time::{Duration, Instant};

use crate::process::{cargo, command, complain, heading, run_shown, say};
use crate::{setup, tidy};

/// One step with its verdict.
struct Finished {
    name: &'static str,
    time: Duration,
    error: Option<String>,
}

/// Sets up and runs every step, also after a failure, so that one run tells all that is wrong.
pub(crate) fn test_all() -> Result<(), String> {
    heading("setup");
    setup::set_up()?;
    setup::set_up_rust_components()?;

    let run_cargo = |args: &[&str]| run_shown(&mut command(cargo(), args));
    let steps = vec![
        finish("fmt", || run_cargo(&["fmt", "--all", "--check"])),
        finish("clippy", || run_cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
        finish("tidy", tidy::check_workspace),
        // Doctests are part of this: there is no `--all-targets`, which would leave them out.
        finish("test", || run_cargo(&["test", "--workspace", "--no-fail-fast"])),
    ];
    heading("summary");
    say(summary(&steps));
    verdict(&steps)
}

fn finish(name: &'static str, step: impl FnOnce() -> Result<(), String>) -> Finished {
    heading(name);
    let start = Instant::now();
    let error = step().err();
    if let Some(message) = &error {
        complain(format!("error: {message}"));
    }
    Finished { name, time: start.elapsed(), error }
}

fn summary(steps: &[Finished]) -> String {
    let line = |step: &Finished| {
        let verdict = if step.error.is_some() { "FAILED" } else { "ok" };
        format!("{:<8}{:>8.1} s  {verdict}", step.name, step.time.as_secs_f64())
    };
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn verdict(steps: &[Finished]) -> Result<(), String> {
    let failed: Vec<_> = steps.iter().filter(|step| step.error.is_some()).map(|step| step.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(name: &'static str, error: Option<&str>) -> Finished {
        Finished { name, time: Duration::from_millis(1250), error: error.map(str::to_owned) }
    }

    #[test]
    fn every_failed_step_is_named() {
        let steps = [finished("fmt", Some("x")), finished("clippy", None), finished("test", Some("y"))];
        assert_eq!(verdict(&steps), Err("failed: fmt, test".to_owned()));
        assert_eq!(summary(&steps[1..]), "clippy       1.2 s  ok\ntest         1.2 s  FAILED");
        assert_eq!(verdict(&steps[1..2]), Ok(()));
    }
}
