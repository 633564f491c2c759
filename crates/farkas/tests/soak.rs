//! Compiling and calling over and over, and from many threads at once: nothing grows, nothing mixes.
//!
//! `FARKAS_CYCLES=10000`, `FARKAS_CALLS=1000000` and `FARKAS_SOAK_SECONDS=600` are the long forms.
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "the long form says how much it did")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use farkas::{Args, Data, Engine, Module, Options};

const MATMUL: &str = "fn f<N>(x: f64[N, N], y: f64[N, N]) -> (z: f64[N, N]) { z[i, j] = sum[k] x[i, k] * y[k, j] }";
const STENCIL: &str = "fn f<N>(x: f64[N, N], y: f64[N, N]) -> (z: f64[N, N]) {
    let a[i, j] = 2 * x[i, j]
    z[i, j] = if i >= 1 then a[i, j] + a[i - 1, j] * y[i, j] else a[i, j]
}";

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn compile(text: &str) -> Module {
    // Machines that run tests are busy, and under valgrind everything takes long.
    let engine = Engine::with_options(Options { time_limit: Duration::from_secs(600), ..Options::default() });
    engine.compile(text).unwrap_or_else(|error| panic!("{error}"))
}

fn call(module: &Module, n: usize) -> Data {
    let values = |seed: usize| (0..n * n).map(|at| ((at * 31 + seed) % 17) as f64 - 8.0).collect::<Vec<f64>>();
    let (x, y, mut z) = (Data::from(values(1)), Data::from(values(2)), Data::from(vec![0.0; n * n]));
    let mut args = Args::new();
    args.data("x", &x, &[n, n]).data("y", &y, &[n, n]).data_mut("z", &mut z, &[n, n]);
    let function = module.function("f").unwrap_or_else(|error| panic!("{error}"));
    function.call(&mut args).unwrap_or_else(|error| panic!("{error}"));
    drop(args);
    z
}

/// What is in memory of this process, in KiB.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says how large a process is");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a size");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

/// In a process of its own, so that other tests do not count. Whether this is it.
#[cfg(target_os = "linux")]
fn is_alone(test: &str) -> bool {
    const CHILD: &str = "FARKAS_SOAK_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let this = std::env::current_exe().expect("a path");
    let words = ["--exact", "--nocapture", test];
    let output = std::process::Command::new(this).args(words).env(CHILD, "1").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    eprint!("{said}");
    false
}

#[test]
#[cfg(target_os = "linux")]
fn compiling_and_dropping_does_not_grow() {
    if !is_alone("compiling_and_dropping_does_not_grow") {
        return;
    }
    let cycle = || {
        for text in [MATMUL, STENCIL] {
            assert_eq!(call(&compile(text), 3).as_slice().len(), 9);
        }
    };
    // What is allocated once, and what the allocator keeps.
    (0..50).for_each(|_| cycle());
    let before = resident();
    let cycles = number("FARKAS_CYCLES", 200);
    (0..cycles).for_each(|_| cycle());
    let grown = resident().saturating_sub(before);
    assert!(grown < 5 << 10, "{grown} KiB more than before");
    eprintln!("{cycles} cycles: {grown} KiB more than {before} before");
}

#[test]
#[cfg(target_os = "linux")]
fn four_threads_call_one_function_while_others_compile() {
    if !is_alone("four_threads_call_one_function_while_others_compile") {
        return;
    }
    let shared = compile(STENCIL);
    let expected = call(&shared, 4);
    let round = |calls: u64| {
        let calling = AtomicUsize::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    (0..calls / 4).for_each(|_| assert_eq!(call(&shared, 4), expected));
                    calling.fetch_sub(1, Ordering::Relaxed);
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    while calling.load(Ordering::Relaxed) > 0 {
                        drop(compile(MATMUL));
                    }
                });
            }
        });
    };
    // What is allocated once, and what the allocator keeps for each thread.
    (0..5).for_each(|_| round(2_000));
    let before = resident();
    let calls = number("FARKAS_CALLS", 20_000);
    round(calls);
    let grown = resident().saturating_sub(before);
    assert!(grown < 8 << 10, "{grown} KiB more than before");
    eprintln!("{calls} calls: {grown} KiB more than {before} before");
}

#[test]
fn eight_threads_compile_and_call_at_once() {
    let expected = [MATMUL, STENCIL].map(|text| call(&compile(text), 7));
    let shared = [MATMUL, STENCIL].map(compile);
    let end = Instant::now() + Duration::from_secs(number("FARKAS_SOAK_SECONDS", 3));
    let rounds: u64 = std::thread::scope(|scope| {
        let work = |thread: usize| {
            let (expected, shared) = (&expected, &shared);
            scope.spawn(move || {
                let mut rounds = 0;
                while Instant::now() < end {
                    let which = (thread + rounds as usize) % 2;
                    let own = compile([MATMUL, STENCIL][which]);
                    assert_eq!(call(&own, 7), expected[which]);
                    (0..20).for_each(|_| assert_eq!(call(&shared[which], 7), expected[which]));
                    rounds += 1;
                }
                rounds
            })
        };
        let threads: Vec<_> = (0..8).map(work).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panic!("a thread failed"))).sum()
    });
    assert!(rounds >= 8, "only {rounds} rounds");
    eprintln!("{rounds} rounds");
}
