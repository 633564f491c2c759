//! One run of the command under limits, watched from outside.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Input;

/// What the command is told, in seconds and MiB.
const TIME_LIMIT: u64 = 2;
const MEMORY_LIMIT: u64 = 256;

/// Beside a tenth of the limit: starting, reading, writing, on a machine that does other things as well.
const SLACK: Duration = Duration::from_secs(1);

/// What the process needs beside the solver's memory, in MiB.
const OTHER_MEMORY: u64 = 512;

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Exit(i32, String),
    Signal(i32),
    /// Still running after the limit.
    TooLong,
    /// More memory than it may have.
    TooLarge,
    /// A program that was asked to run, and does.
    Running,
}

impl Outcome {
    pub(crate) fn is_bad(&self) -> bool {
        !matches!(self, Outcome::Exit(0..=4, _) | Outcome::Running)
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Outcome::Exit(code, _) => format!("exit {code}"),
            Outcome::Signal(signal) => format!("signal {signal}"),
            Outcome::TooLong => "too long".to_owned(),
            Outcome::TooLarge => "too large".to_owned(),
            Outcome::Running => "running".to_owned(),
        }
    }

    /// Whether it is the same fault: an internal error begins with the same words.
    pub(crate) fn same_as(&self, other: &Outcome) -> bool {
        let words = |outcome: &Outcome| match outcome {
            Outcome::Exit(_, text) => text.split_whitespace().take(6).map(str::to_owned).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        self.name() == other.name() && words(self) == words(other)
    }
}

pub(crate) fn run(input: &Input) -> Outcome {
    let place = tempfile::tempdir().expect("a folder");
    for (name, bytes) in &input.files {
        fs::write(place.path().join(name), bytes).expect("a file");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_farkas"));
    command.current_dir(place.path()).args(&input.words);
    command.env("RUST_BACKTRACE", "0").env_remove("RUST_LOG").env("FARKAS_CACHE_DIR", "");
    let verb = input.words[0].as_str();
    if matches!(verb, "check" | "build" | "run" | "explore") {
        command.args([format!("--time-limit={TIME_LIMIT}"), format!("--memory-limit={MEMORY_LIMIT}")]);
    } else if verb == "layout" {
        command.arg(format!("--time-limit={TIME_LIMIT}"));
    }
    let stdin = if verb == "layout" { Stdio::piped() } else { Stdio::null() };
    let spawned = command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        // Words that the system does not take are not the command's business.
        Err(_) => return Outcome::Exit(2, String::new()),
    };
    let typed = child.stdin.take();
    let script = input.files.first().map(|(_, bytes)| bytes.clone()).unwrap_or_default();
    let writer = thread::spawn(move || typed.map(|mut stdin| stdin.write_all(&script)));
    let mut stderr = child.stderr.take().expect("a pipe");
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        // What is not read is not needed; a closed pipe would change the outcome.
        let _ = stderr.read_to_end(&mut text);
        String::from_utf8_lossy(&text[..text.len().min(2000)]).into_owned()
    });
    let started = Instant::now();
    // A space has several points, a layout several questions, each with the limit.
    let limits = if matches!(verb, "explore" | "layout") { 20 } else { 1 };
    let longest = Duration::from_secs_f64(TIME_LIMIT as f64 * 1.1) * limits + SLACK;
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            break status;
        }
        peak = peak.max(peak_mib(child.id()).unwrap_or(0));
        let too_large = peak > MEMORY_LIMIT + OTHER_MEMORY;
        // Where other work keeps the processors busy, what counts is the time that the child has had of them; but none waits for ever.
        let waited = started.elapsed();
        let too_long = waited > longest && busy(child.id()).is_none_or(|busy| busy > longest) || waited > longest * 10;
        if too_large || too_long {
            child.kill().expect("our own child");
            child.wait().expect("our own child");
            return match verb {
                _ if too_large => Outcome::TooLarge,
                "run" | "eval" => Outcome::Running,
                _ => Outcome::TooLong,
            };
        }
        thread::sleep(Duration::from_millis(2));
    };
    let _ = writer.join();
    let text = reader.join().unwrap_or_default();
    match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Exit(code, text),
        (None, signal) => Outcome::Signal(signal.unwrap_or(0)),
    }
}

/// The time that a process has had a processor, with all its threads; Linux counts it in hundredths of seconds.
fn busy(process: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the command, in parentheses, may have spaces; user and system time are the 12th and 13th words after it.
    let words: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| words.get(at)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

/// The largest part of a process that was in memory, so far.
fn peak_mib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib >> 10)
}
