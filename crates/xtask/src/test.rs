//! Everything that must hold before a change is good: formatting, lints, house rules and tests.

use std::time::{Duration, Instant};

use crate::process::{OPTIONAL, cargo, command, complain, heading, run_shown, say};
use crate::{ptx, setup, tidy};

/// One step with its verdict.
struct Finished {
    name: &'static str,
    time: Duration,
    verdict: Verdict,
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Fine,
    /// What the step needs is not here; why.
    Skipped(String),
    Failed,
}

/// Sets up and runs every step, also after a failure, so that one run tells all that is wrong.
pub(crate) fn test_all() -> Result<(), String> {
    heading("setup");
    setup::set_up()?;
    setup::set_up_rust_components()?;

    let run_cargo = |args: &[&str]| run_shown(&mut command(cargo(), args));
    let steps = vec![
        finish("fmt", || run_cargo(&["fmt", "--all", "--check"])),
        finish("clippy", || {
            run_cargo(&["clippy", "--workspace", "--all-targets", "--features", OPTIONAL, "--", "-D", "warnings"])
        }),
        finish("tidy", tidy::check_workspace),
        // Doctests are part of this: there is no `--all-targets`, which would leave them out.
        finish("test", || run_cargo(&["test", "--workspace", "--features", OPTIONAL, "--no-fail-fast"])),
        finish_or_skip("ptx", ptx::check_if_possible),
    ];
    heading("summary");
    say(summary(&steps));
    verdict(&steps)
}

fn finish(name: &'static str, step: impl FnOnce() -> Result<(), String>) -> Finished {
    finish_or_skip(name, || step().map(|()| ptx::Outcome::Checked))
}

fn finish_or_skip(name: &'static str, step: impl FnOnce() -> Result<ptx::Outcome, String>) -> Finished {
    heading(name);
    let start = Instant::now();
    let verdict = match step() {
        Ok(ptx::Outcome::Checked) => Verdict::Fine,
        Ok(ptx::Outcome::Skipped(reason)) => Verdict::Skipped(reason),
        Err(message) => {
            complain(format!("error: {message}"));
            Verdict::Failed
        }
    };
    Finished { name, time: start.elapsed(), verdict }
}

fn summary(steps: &[Finished]) -> String {
    let line = |step: &Finished| {
        let verdict = match &step.verdict {
            Verdict::Fine => "ok".to_owned(),
            Verdict::Skipped(reason) => format!("skipped: {reason}"),
            Verdict::Failed => "FAILED".to_owned(),
        };
        format!("{:<8}{:>8.1} s  {verdict}", step.name, step.time.as_secs_f64())
    };
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn verdict(steps: &[Finished]) -> Result<(), String> {
    let failed = steps.iter().filter(|step| step.verdict == Verdict::Failed);
    let failed: Vec<_> = failed.map(|step| step.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(name: &'static str, verdict: Verdict) -> Finished {
        Finished { name, time: Duration::from_millis(1250), verdict }
    }

    #[test]
    fn every_failed_step_is_named() {
        let steps = [
            finished("fmt", Verdict::Failed),
            finished("clippy", Verdict::Fine),
            finished("test", Verdict::Failed),
            finished("ptx", Verdict::Skipped("no Python".to_owned())),
        ];
        assert_eq!(verdict(&steps), Err("failed: fmt, test".to_owned()));
        assert_eq!(
            summary(&steps[1..]),
            "clippy       1.2 s  ok\ntest         1.2 s  FAILED\nptx          1.2 s  skipped: no Python"
        );
        assert_eq!(verdict(&steps[1..2]), Ok(()));
        assert_eq!(verdict(&steps[3..]), Ok(()), "what is skipped has not failed");
    }
}
