//! Every bound function, called with odd arguments: wrong spaces, empty sets, huge positions, zero, NaN.
//!
//! In: the probes that `bind!` and `bind_callbacks!` leave behind, one per function, so that a new binding is tried without
//! being asked for.  Out: nothing but results and errors; a signal is a failure that names the function.
//! Needs: child processes, because what is looked for would end this one.
//! Not here: whether results are right.

mod odd;

use std::fmt::Debug;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

pub(crate) use odd::{Odd, Source};

use crate::{Budget, Context};

/// One bound function.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    pub(crate) name: &'static str,
    /// Calls it once; `None` if no arguments could be made.
    pub(crate) call: fn(&mut Source) -> Option<bool>,
}

static PROBES: Mutex<Vec<Probe>> = Mutex::new(Vec::new());

/// Adds a probe; called before `main`, once per binding.
pub(crate) fn register(probe: Probe) {
    PROBES.lock().expect("nothing panics while the list grows").push(probe);
}

fn probes() -> Vec<Probe> {
    let mut probes = PROBES.lock().expect("nothing panics while the list grows").clone();
    probes.sort_by_key(|probe| probe.name);
    probes
}

/// What a probed function returned.
pub(crate) struct Seen<'a, T>(pub(crate) &'a T);

/// Prints what can be printed, because an object can be wrong without having crashed yet.
pub(crate) trait Show {
    fn look(&self);
}

impl<T: Debug> Show for Seen<'_, T> {
    fn look(&self) {
        assert!(!format!("{:?}", self.0).is_empty());
    }
}

/// Chosen for what cannot be printed.
pub(crate) trait Hide {
    fn look(&self) {}
}

impl<T> Hide for &Seen<'_, T> {}

/// How often each function is called, every time with other arguments, unless the environment says otherwise.
const ROUNDS: u64 = 25;
const ROUNDS_SET: &str = "FARKAS_ISL_PROBE_ROUNDS";
/// Set in the child: the first probe and round to run.
const START: &str = "FARKAS_ISL_PROBE_FROM";

/// Prints `probe round` before each call, so that the parent knows the last one.
fn run_probes(from: (usize, u64)) {
    if !is_sanitized() {
        limit_memory();
    }
    let rounds = std::env::var(ROUNDS_SET).map_or(ROUNDS, |text| text.parse().expect("a number"));
    let mut out = std::io::stdout();
    for (i, probe) in probes().into_iter().enumerate().skip(from.0) {
        let mut succeeded = 0;
        for round in (0..rounds).skip(if i == from.0 { from.1 as usize } else { 0 }) {
            writeln!(out, "@ {i} {round} {}", probe.name).expect("the parent reads");
            let context = Context::new().expect("a context is small");
            let mut source = Source::new(&context, (i as u64) << 32 | round);
            let budget = Budget { time: Some(Duration::from_millis(300)), ..Budget::default() };
            let outcome = context.with_budget(budget, || Ok((probe.call)(&mut source)));
            succeeded += u32::from(matches!(outcome, Ok(Some(true))));
        }
        writeln!(out, "= {i} {succeeded}").expect("the parent reads");
    }
}

/// Whether an address sanitizer is at work, which needs more space than it uses, and watches over memory by itself.
fn is_sanitized() -> bool {
    std::env::var_os("ASAN_OPTIONS").is_some()
}

/// Huge requests fail here rather than fill the machine.
fn limit_memory() {
    let limit = libc::rlimit { rlim_cur: 2 << 30, rlim_max: 2 << 30 };
    // SAFETY: the structure is initialised and only read.
    let outcome = unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    assert_eq!(outcome, 0, "a limit may always be lowered");
}

#[test]
fn no_binding_crashes_on_odd_arguments() {
    if let Ok(start) = std::env::var(START) {
        let (probe, round) = start.split_once(' ').expect("two numbers");
        return run_probes((probe.parse().expect("a number"), round.parse().expect("a number")));
    }
    let probes = probes();
    assert!(probes.len() > 400, "only {} bindings were found", probes.len());
    let (mut crashes, mut never) = (Vec::new(), Vec::new());
    let mut from = (0, 0);
    while from.0 < probes.len() {
        let mut command = Command::new(std::env::current_exe().expect("we run"));
        command
            .args(["--exact", "probe::no_binding_crashes_on_odd_arguments", "--nocapture", "--test-threads=1"])
            .env(START, format!("{} {}", from.0, from.1));
        if !is_sanitized() {
            // glibc's own checks end the process when a block of memory was overrun.
            command
                .env("GLIBC_TUNABLES", "glibc.malloc.check=3:glibc.malloc.perturb=165")
                .env("LD_PRELOAD", "libc_malloc_debug.so.0");
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("we can run ourselves");
        let mut last = from;
        for line in BufReader::new(child.stdout.take().expect("piped")).lines() {
            let line = line.expect("the child writes text");
            let numbers: Vec<usize> = line.split(' ').skip(1).filter_map(|word| word.parse().ok()).take(2).collect();
            match (line.as_bytes().first(), numbers.as_slice()) {
                (Some(b'@'), &[probe, round]) => last = (probe, round as u64),
                (Some(b'='), &[probe, 0]) => never.push(probes[probe].name),
                _ => {}
            }
        }
        let status = child.wait().expect("the child ends");
        if status.success() {
            break;
        }
        crashes.push(format!("{} (round {}): signal {:?}", probes[last.0].name, last.1, status.signal()));
        // A function that crashes once need not be tried again.
        from = (last.0 + 1, 0);
    }
    assert!(crashes.is_empty(), "{} of {} bindings crash:\n{}", crashes.len(), probes.len(), crashes.join("\n"));
    // Arguments that are always refused would try nothing.
    assert!(never.len() * 20 < probes.len(), "these never succeed:\n{}", never.join("\n"));
}
