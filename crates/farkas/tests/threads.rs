//! Calls on several threads: faults, cancellation, limits, and pools of the host.

use std::sync::Arc;
use std::time::Duration;

use farkas::rayon::ThreadPoolBuilder;
use farkas::{Args, CallError, Cancel, Emit, Engine, Error, Function, Options, Recipes, RunError, Style, Threads};

/// Every parallel loop is shared, however small.
fn compile(text: &str, threads: Threads) -> Function {
    let recipes = Recipes::Always;
    let options = Options { threads, recipes, worth_sharing: Some(Duration::ZERO), ..Options::default() };
    let module = Engine::with_options(options).compile(text).expect("a program that is right");
    module.functions()[0].clone()
}

const PICK: &str = "fn pick<N, M>(x: f64[M], at: i64[N]) -> (y: f64[N]) {
    y[i] = x[at[i]]
}
schedule pick { parallel i }";

/// Two buffers that each iteration has for itself, and a sum that all iterations add to.
const ROWS: &str = "fn rows<N, M>(x: f64[N, M]) -> (y: f64[N, M], s: f64) {
    let a[i, j] = x[i, j] * 2
    let m[i] = sum[j] a[i, j]
    y[i, j] = a[i, j] - m[i]
    s = sum[i, j] x[i, j]
}
schedule rows { parallel i }";

fn rows(function: &Function, limit: Option<usize>) -> (Vec<f64>, f64) {
    let (n, m) = (61, 17);
    let x: Vec<f64> = (0..n * m).map(|cell| 1.0 / (cell + 1) as f64).collect();
    let (mut y, mut s) = (vec![0.0; n * m], [0.0]);
    let mut args = Args::new();
    args.slice("x", &x, &[n, m]).slice_mut("y", &mut y, &[n, m]).slice_mut("s", &mut s, &[]);
    if let Some(limit) = limit {
        args.threads(limit);
    }
    function.call(&mut args).expect("a call that is right");
    drop(args);
    (y, s[0])
}

#[test]
fn bits_do_not_depend_on_threads() {
    let alone = rows(&compile(ROWS, Threads::Count(1)), None);
    for threads in [2, 3, 7] {
        let function = compile(ROWS, Threads::Count(threads));
        assert_eq!(rows(&function, None), alone, "{threads} threads");
        assert_eq!(rows(&function, Some(2)), alone, "at most 2 of {threads} threads");
    }
}

/// A step of each of them needs the neighbours from the step before it.
const SWEEPS: [&str; 3] = [
    "fn sweeps<N, T>(inout a: f64[N, N], inout b: f64[N, N]) {
        for t in 0..T {
            b[i, j | 1 <= i < N - 1 and 1 <= j < N - 1] = (a[i - 1, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j]) / 4
            a[i, j | 1 <= i < N - 1 and 1 <= j < N - 1] = (b[i - 1, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j]) / 4
        }
    }",
    "fn sweeps<N, T>(inout a: f64[N, N], inout b: f64[N, N]) {
        for t in 0..T {
            a[i, j | i >= 1] = a[i, j] - (b[i, j] - b[i - 1, j]) / 2
            b[i, j | i < N - 1] = b[i, j] - (a[i + 1, j] - a[i, j]) / 2
        }
    }",
    "fn sweeps<N, T>(inout a: f64[N, N], b: f64[N, N]) {
        for t in 0..T { for i in 1..N - 1 { for j in 1..N - 1 {
            a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + b[i, j]) / 5
        } } }
    }",
];

#[test]
fn steps_run_in_waves_and_bits_do_not_depend_on_threads() {
    let (n, t) = (181, 37);
    for text in SWEEPS {
        let sweep = |threads: usize| {
            let emit = vec![Emit::Loops];
            let threads = Threads::Count(threads);
            let (recipes, worth_sharing) = (Recipes::Always, Some(Duration::ZERO));
            let options = Options { threads, emit, recipes, worth_sharing, ..Options::default() };
            let module = Engine::with_options(options).compile(text).expect("a program that is right");
            let function = module.functions()[0].clone();
            let loops = function.texts()[0].1.clone();
            let outermost = loops.lines().filter(|line| line.contains("for ")).take(2).collect::<Vec<_>>();
            assert!(!outermost[0].contains("parallel") && outermost[1].contains("parallel"), "{loops}");
            let [mut a, mut b] =
                [3, 7].map(|by| (0..n * n).map(|cell| (cell * by % 101) as f64 / 9.0).collect::<Vec<_>>());
            let mut args = Args::new();
            args.slice_mut("a", &mut a, &[n, n]).size("T", t);
            if text.contains("inout b") {
                args.slice_mut("b", &mut b, &[n, n])
            } else {
                args.slice("b", &b, &[n, n])
            };
            function.call(&mut args).expect("a call that is right");
            drop(args);
            (a, b)
        };
        let alone = sweep(1);
        for threads in [2, 3, 7] {
            assert!(sweep(threads) == alone, "{threads} threads: {text}");
        }
    }
}

#[test]
fn a_host_gives_its_own_pool_and_calls_from_it() {
    let alone = rows(&compile(ROWS, Threads::Count(1)), None);
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(3).build().expect("a pool"));
    let function = compile(ROWS, Threads::Pool(Arc::clone(&pool)));
    assert_eq!(rows(&function, None), alone);
    assert_eq!(pool.install(|| rows(&function, None)), alone);
    // Many at once, each of which waits for threads that are busy with others.
    pool.scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|_| assert_eq!(rows(&function, None), alone));
        }
    });
}

#[test]
fn a_pool_whose_other_tasks_panic_runs_loops_all_the_same() {
    let alone = rows(&compile(ROWS, Threads::Count(1)), None);
    let builder = ThreadPoolBuilder::new().num_threads(3).panic_handler(|_| {});
    let pool = Arc::new(builder.build().expect("a pool"));
    let function = compile(ROWS, Threads::Pool(Arc::clone(&pool)));
    for _ in 0..20 {
        (0..6).for_each(|_| pool.spawn(|| std::panic::resume_unwind(Box::new("a task of the host"))));
        assert_eq!(rows(&function, None), alone);
    }
    // A scope of the host that panics takes the call in it along, and nothing else.
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        pool.scope(|scope| {
            scope.spawn(|_| std::panic::resume_unwind(Box::new("a task of the host")));
            scope.spawn(|_| assert_eq!(rows(&function, None), alone));
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(rows(&function, None), alone);
}

#[test]
fn a_fault_in_one_iteration_is_reported_with_its_place() {
    let function = compile(PICK, Threads::Count(4));
    let x = [1.0, 2.0, 3.0];
    for wrong in [0, 1, 57, 99] {
        let mut at = vec![2_i64; 100];
        at[wrong] = 3;
        let mut y = vec![0.0; 100];
        let mut args = Args::new();
        args.slice("x", &x, &[3]).slice("at", &at, &[100]).slice_mut("y", &mut y, &[100]);
        let error = function.call(&mut args).expect_err("a cell that is not there");
        let text = error.render(Style::Plain);
        assert!(matches!(error, Error::Fault { .. }), "{text}");
        assert!(text.contains("x[at[i]]") && text.contains('3'), "{text}");
    }
    // The function is as good as before.
    let mut y = vec![0.0; 2];
    let mut args = Args::new();
    args.slice("x", &x, &[3]).slice("at", &[0_i64, 2], &[2]).slice_mut("y", &mut y, &[2]);
    function.call(&mut args).expect("a call that is right");
    drop(args);
    assert_eq!(y, [1.0, 3.0]);
}

#[test]
fn no_thread_is_too_few() {
    let options = Options { threads: Threads::Count(0), ..Options::default() };
    let refused = Engine::with_options(options).compile(PICK);
    assert!(matches!(refused, Err(Error::Call(CallError::NoThreads))), "{refused:?}");
    let function = compile(PICK, Threads::Count(2));
    let mut y = [0.0];
    let mut args = Args::new();
    args.slice("x", &[1.0], &[1]).slice("at", &[0_i64], &[1]).slice_mut("y", &mut y, &[1]).threads(0);
    assert!(matches!(function.call(&mut args), Err(Error::Call(CallError::NoThreads))));
}

#[test]
fn a_call_is_cancelled_before_it_starts() {
    for threads in [1, 3] {
        let function = compile(PICK, Threads::Count(threads));
        let token = Cancel::new();
        token.cancel();
        let mut y = [7.0];
        let mut args = Args::new();
        args.slice("x", &[1.0], &[1]).slice("at", &[0_i64], &[1]).slice_mut("y", &mut y, &[1]).cancel(&token);
        assert!(matches!(function.call(&mut args), Err(Error::Call(CallError::Run(RunError::Cancelled)))));
        drop(args);
        assert_eq!(y, [7.0]);
    }
}

#[test]
fn a_long_call_is_cancelled_while_it_runs() {
    // It would take hours.
    const LONG: &str = "fn long<N>(x: f64[1]) -> (y: f64[1]) where N >= 1 {
    y[i | i = 0] = sum[a : 0..N, b : 0..N, c : 0..N] x[0] * x[0]
}";
    let parallel = "schedule long { parallel a }";
    for (schedule, threads) in [("", 1), (parallel, 1), (parallel, 3)] {
        let function = compile(&format!("{LONG}\n{schedule}"), Threads::Count(threads));
        let token = Cancel::new();
        let other = token.clone();
        let ending = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            other.cancel();
        });
        let mut y = [0.0];
        let mut args = Args::new();
        args.slice("x", &[1.0], &[1]).slice_mut("y", &mut y, &[1]).size("N", 20_000).cancel(&token);
        let ended = function.call(&mut args);
        assert!(matches!(ended, Err(Error::Call(CallError::Run(RunError::Cancelled)))), "{schedule} {ended:?}");
        ending.join().expect("a thread that sleeps");
    }
}

#[test]
fn functions_outlive_their_module_and_are_called_from_many_threads() {
    let function = compile(ROWS, Threads::Count(2));
    let alone = rows(&function, Some(1));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let function = function.clone();
            let alone = &alone;
            scope.spawn(move || (0..50).for_each(|_| assert_eq!(&rows(&function, None), alone)));
        }
        // Others come and go meanwhile.
        scope.spawn(|| (0..3).for_each(|_| drop(compile(PICK, Threads::Count(2)))));
    });
}
