//! Time limits hold in every stage: a program that would take a stage far longer is given up right after its limit.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use farkas::{Emit, Engine, Error, Options, Order, Schedule, Source, Tier};

const LIMIT: Duration = Duration::from_millis(1000);
/// What is promised beyond the limit: a tenth of it and 100 ms.
const PROMISED: Duration = Duration::from_millis(200);
/// The time that this thread has had a processor, because machines that run tests are busy; the time of day where that is not
/// known.
fn now() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|word| word.parse().ok());
    nanos.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

/// The stage whose budget ran out when a program was compiled under the limit; none if it was done in time.
fn compile(text: &str, options: Options) -> Option<&'static str> {
    let engine = Engine::with_options(Options { time_limit: LIMIT, operation_limit: None, ..options });
    let timed = || {
        let started = now();
        let compiled = engine.compile(text).map(drop);
        (compiled, now() - started)
    };
    let (mut compiled, mut spent) = timed();
    if spent > LIMIT + PROMISED {
        // A virtual machine may stand still for seconds, which counts; a stage that goes on does so every time.
        (compiled, spent) = timed();
    }
    assert!(spent <= LIMIT + PROMISED, "{spent:?}, {compiled:?}");
    match compiled {
        Ok(()) => None,
        Err(Error::Budget { stage, .. }) => Some(stage),
        Err(error) => panic!("{error}"),
    }
}

/// The stage in which the limit was reached must be the one that a test is about, or an earlier one if the machine is busy.
fn compile_up_to(stage: &str, text: &str, options: Options) {
    const STAGES: [&str; 12] = [
        "parse", "lower", "script", "model", "check", "deps", "defined", "schedule", "legality", "loops", "optimize",
        "codegen",
    ];
    let place = |wanted: &str| STAGES.iter().position(|stage| *stage == wanted);
    let reached = compile(text, options).unwrap_or_else(|| panic!("stage `{stage}` is no trouble"));
    assert!(place(reached).is_some_and(|reached| Some(reached) <= place(stage)), "`{reached}` instead of `{stage}`");
}

/// Statements that each end somewhere else in one loop: their conditions can be combined in very many ways.
fn many_ends(statements: usize) -> String {
    let each =
        |text: &dyn Fn(usize) -> String, between: &str| (0..statements).map(text).collect::<Vec<_>>().join(between);
    format!(
        "fn f<M, T, {}>({}) where {} {{\n    for t in 0..T {{\n        {}\n    }}\n}}\n",
        each(&|number| format!("N{number}"), ", "),
        each(&|number| format!("inout A{number}: f64[M]"), ", "),
        each(&|number| format!("N{number} <= M"), ", "),
        each(&|number| format!("A{number}[i | i < N{number}] = 1"), "\n        ")
    )
}

/// The steps that put all of them into one loop, and what follows.
fn fused(statements: usize, last: &str) -> Options {
    let steps: Vec<String> = (1..statements).map(|number| format!("    fuse S0, S{number} at i\n")).collect();
    let script = format!("schedule f {{\n{}{last}}}\n", steps.concat());
    Options { schedule: Some(Schedule::Script(Source::new("f.sched", script))), ..Options::default() }
}

/// A function of one statement after the other.
fn statements(statements: impl Iterator<Item = String>) -> String {
    format!("fn f<N, M>(inout A: f64[N, M]) {{\n{}}}\n", statements.map(|text| text + "\n").collect::<String>())
}

/// A sum of so many sines.
fn sines(count: usize) -> String {
    (0..count).map(|number| format!("sin({number} * A[i, j])")).collect::<Vec<_>>().join(" + ")
}

fn script(steps: &str) -> Options {
    let text = format!("schedule f {{\n{steps}\n}}\n");
    Options { schedule: Some(Schedule::Script(Source::new("f.sched", text))), ..Options::default() }
}

#[test]
fn of_parsing() {
    let deep = format!("    A[i, j] = {}A[i, j]{}", "(".repeat(240), ")".repeat(240));
    compile_up_to("deps", &statements((0..2000).map(|_| deep.clone())), Options::default());
    // Every function is broken, and parsing resumes after each.
    let broken: String = (0..20_000).map(|number| format!("fn f{number}() {{ A[i] == 1 }}\n")).collect();
    let engine = Engine::with_options(Options { time_limit: LIMIT, ..Options::default() });
    let error = engine.compile(&broken).map(drop);
    assert!(matches!(error, Err(Error::User { .. } | Error::Budget { stage: "parse", .. })), "{error:?}");
}

#[test]
fn of_names_and_types() {
    compile_up_to("model", &statements((0..30_000).map(|number| format!("A[i, j] = {number}"))), Options::default());
}

/// Loops that may stop early are looked at in two ways each, and each asks about everything inside.
#[test]
fn of_loops_that_stop() {
    let open: String = (0..200).map(|number| format!("for t{number} in 0..N while A[0, 0] < 3 {{ ")).collect();
    let text = format!("fn f<N>(inout A: f64[N, N]) {{\n{open}A[i, j] = 1{}}}\n", " }".repeat(200));
    let engine = Engine::with_options(Options { time_limit: LIMIT, ..Options::default() });
    let error = engine.compile(&text).map(drop);
    assert!(matches!(error, Err(Error::User { .. })), "{error:?}");
    let locals: String = (0..24_000).map(|number| format!("let a{number} = A[0, 0]\n")).collect();
    let text = format!("fn f<N>(inout A: f64[N, N]) {{\nfor t in 0..N while A[0, 0] < 3 {{\n{locals}}} }}\n");
    compile_up_to("deps", &text, Options::default());
}

/// Each remainder has its operand twice, so a hundred of them have no end.
#[test]
fn of_remainders_of_remainders() {
    let deep = format!("{}i{}", "(".repeat(100), ") % 7".repeat(100));
    compile(&format!("fn f<N>() -> (y: i64[N]) {{ y[i] = {deep} }}\n"), Options::default());
}

/// The limit is for all functions of a source together.
#[test]
fn of_many_functions() {
    let text: String = (0..2000).map(|number| format!("fn f{number}(x: f64) -> (y: f64) {{ y = x }}\n")).collect();
    let reached = compile(&text, Options::default());
    assert!(reached.is_some(), "two thousand functions are no trouble");
}

#[test]
fn of_scripts() {
    let steps = "    reverse i\n".repeat(60_000);
    compile_up_to("legality", &statements(["A[i, j] = 1".to_owned()].into_iter()), script(&steps));
}

/// One statement of which there are thousands of copies.
/// Numbers of thousands of digits come up where isl looks for integer points.
#[test]
fn of_places_with_many_bits() {
    let text = "fn f<N, M, K>(A: f64[N, K], B: f64[K, M]) -> (C: f64[N, M]) { C[i, j] = sum[k] A[i, k] * B[k, j] }";
    compile_up_to("schedule", text, script("layout B[k, j] => [k, j ^ (k % 4611686018427387904)]"));
}

#[test]
fn of_passes_over_loops() {
    let text = statements([format!("A[i, j] = {}", sines(200))].into_iter());
    compile_up_to("codegen", &text, script("    unroll i by 64\n    unroll j by 64"));
}

#[test]
fn of_code_generation() {
    let options = Options { order: Order::Original, ..Options::default() };
    compile_up_to("codegen", &statements((0..100).map(|_| format!("A[i, j] = {}", sines(200)))), options);
}

#[test]
fn of_vector_code() {
    let text = statements([format!("A[i, j] = {}", sines(200))].into_iter());
    for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
        compile_up_to("codegen", &text, Options { cpu: Some(tier), ..script("    vectorize j by 64") });
    }
}

#[test]
fn of_the_model() {
    // Each of eight conditions has seven cases, and all must be taken together.
    let indices = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let beyond = |one: &str| {
        let others = indices.iter().enumerate().filter(|(_, other)| **other != one);
        let cases: Vec<String> = others.map(|(number, other)| format!("{one} < {other} - {number}")).collect();
        format!("({})", cases.join(" or "))
    };
    let conditions: Vec<String> = indices.iter().map(|index| beyond(index)).collect();
    let text = format!(
        "fn f<N>(inout A: f64[{}]) {{\n    A[{} | {}] = 1\n}}\n",
        ["N"; 8].join(", "),
        indices.join(", "),
        conditions.join(" and ")
    );
    compile_up_to("model", &text, Options::default());
}

#[test]
fn of_dependences_and_their_graph() {
    let statement = |by: usize| format!("for i in {by}..N - {by} {{ A[i] = A[i - {by}] + A[i + {by}] }}");
    let body: Vec<String> = (1..150).map(statement).collect();
    let text = format!("fn f<N, T>(inout A: f64[N]) {{\n    for t in 0..T {{\n{}\n    }}\n}}\n", body.join("\n"));
    let emit = vec![Emit::Deps, Emit::DepsDot];
    compile_up_to("deps", &text, Options { emit, ..Options::default() });
}

#[test]
fn of_the_scheduler() {
    // The scheduler has a share of the time; the program's own order is what remains, and may not be enough either.
    compile_up_to("loops", &many_ends(60), Options::default());
}

#[test]
fn of_the_program_s_own_order() {
    compile_up_to("loops", &many_ends(100), Options { order: Order::Original, ..Options::default() });
}

#[test]
fn of_proofs() {
    compile_up_to("legality", &many_ends(60), fused(60, ""));
}

#[test]
fn of_loop_generation() {
    compile_up_to("loops", &many_ends(22), fused(22, ""));
}

/// What is cut where statements change is given up much earlier, and the loops are made without it.
#[test]
fn of_separation() {
    let stage = compile(&many_ends(10), fused(10, "    separate i\n"));
    assert!(matches!(stage, None | Some("deps" | "legality" | "loops" | "optimize")), "{stage:?}");
}

#[test]
fn of_saved_trees() {
    let program = "fn f<N>(x: f64[N, N]) -> (y: f64[N, N]) {\n    y[i, j] = x[j, i]\n}\n";
    let case =
        |number: usize| format!("({}i + {}j + N) mod {} <= {number}", number % 7 + 1, number % 5 + 1, number + 7);
    let cases: Vec<String> =
        (0..12).map(|group| format!("({} or {} or {})", case(group), case(group + 12), case(group + 24))).collect();
    let tree = format!(
        "domain: \"[N] -> {{ S0[i, j] : {} }}\"\nchild:\n  schedule: \"[N] -> [{{ S0[i, j] -> [(i)] }}]\"\n",
        cases.join(" and ")
    );
    let schedule = Some(Schedule::Tree(Source::new("f.yaml", tree)));
    compile_up_to("schedule", program, Options { schedule, ..Options::default() });
}

/// Each update may reach every cell of `h`, and each read may find all updates before it.
#[test]
fn of_replays() {
    let text = "fn f<N>(k: i64[N], inout h: f64[N, N], inout y: f64[N, N, N, N, N, N]) {
    for a in 0..N { for b in 0..N { for c in 0..N { for d in 0..N { for e in 0..N { for g in 0..N {
        h[k[a], k[b]] += 1.0
        y[a, b, c, d, e, g] = h[k[a], k[b]]
    } } } } } }
}
";
    let options = Options { verify_dynamic: true, order: Order::Original, ..Options::default() };
    assert_eq!(compile(text, options), Some("replay"));
}

/// isl may be told to stop anywhere, also between two matrices of which the second is made of the first.
#[test]
fn limits_may_end_dependence_analysis_anywhere() {
    let text = "fn f<N, M, T>(inout U: i64[N, M], inout x: i64[N, M]) {
        for a in 0..T { for b in a..T { for c in 0..N by 3 {
            x[i, k | not (k < i and i % 2 = 0)] = x[i, k] + U[i / 2, k]
        } } }
    }";
    let mut ended = 0;
    for step in 0..160 {
        let time_limit = Duration::from_micros(2_000 + 450 * step);
        let engine = Engine::with_options(Options { time_limit, ..Options::default() });
        match engine.compile(text) {
            Ok(_) => {}
            Err(Error::Budget { .. }) => ended += 1,
            Err(error) => panic!("{time_limit:?}: {error}"),
        }
    }
    assert!(ended > 0, "no limit was too short");
}
