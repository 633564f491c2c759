//! Inputs that ask for more than there is: each ends soon, with an error of its own and never with ours.

use crate::support::{Place, npy, with_stdin};

const COPY: &[u8] = b"fn f<N, M>(x: f64[N, M]) -> (y: f64[N, M]) { y[i, j] = 2 * x[i, j] }\n";

#[test]
fn arrays_larger_than_memory_are_refused() {
    let place = Place::new();
    place.write("f.fks", COPY);
    // A pipe does not say how long it is, so only memory is in the way.
    for order in ["False", "True"] {
        let header = npy("'<f8'", order, "(1099511627776, 4)", &[0; 64]);
        let run = with_stdin(&place, &["run", "f.fks", "--in", "x=@/dev/stdin"], &header);
        run.fails(2, &["/dev/stdin", "no memory for its 35184372088832 bytes"]);
    }
    let run = place.farkas("run f.fks --in x=zeros -D N=1099511627776,M=4");
    assert!(matches!(run.code, Some(2 | 4)) && run.stderr.contains("memory"), "{run:#?}");
}

#[test]
fn loops_over_huge_empty_extents_end_at_once() {
    let place = Place::new();
    place.write("f.fks", COPY);
    for sizes in ["N=1099511627776,M=0", "N=0,M=1099511627776"] {
        place.farkas(&format!("run f.fks --in x=zeros -D {sizes}")).succeeds();
        place.farkas(&format!("run f.fks --in x=zeros -D {sizes} --order original")).succeeds();
    }
}

#[test]
fn a_replay_says_at_how_many_sizes() {
    let place = Place::new();
    place.write("f.fks", COPY);
    place.farkas("check f.fks --verify-dynamic").succeeds().prints(&["f: legal, replayed at 25 combinations"]);
    // Nine indices of extent 5 are two million instances.
    let indices = "a, b, c, d, e, g, h, i, j";
    let program = format!("fn f<N>() -> (y: f64[{}]) {{ y[{indices}] = 1 }}\n", ["N"; 9].join(", "));
    place.write("nine.fks", program.as_bytes());
    let run = place.farkas("check nine.fks --verify-dynamic --time-limit 100").succeeds();
    run.prints(&["replayed at 4 combinations of small sizes; 1 others have too many instances"]);
}

#[test]
fn a_replay_keeps_to_sizes_that_belong_together() {
    let place = Place::new();
    let program = "fn f<N, M>(x: f64[N], y: f64[M]) -> (s: f64) {
    let p[i: 0..min(N, M)] = x[i] * y[i]
    let q[i: 0..min(N, M), j: 0..N] = p[i] + x[j]
    s = sum[i, j] q[i, j]
}
";
    place.write("f.fks", program.as_bytes());
    place.farkas("check f.fks --verify-dynamic").succeeds().prints(&["f: legal, replayed at"]);
}

/// Calls at such sizes are refused as well.
#[test]
fn a_replay_leaves_out_sizes_whose_loops_leave_64_bits() {
    let place = Place::new();
    let program = "fn f<N, M>(inout A: i8[N, M]) where N >= 3, M >= N {
    A[i, j | (i + j) / 4000000000000000001 <= N] = 1
}
";
    place.write("f.fks", program.as_bytes());
    place.farkas("run f.fks -D N=3,M=3 --in A=zeros").fails(2, &["would leave 64 bits"]);
    let check = place.farkas("check f.fks --verify-dynamic").succeeds();
    check.prints(&["f: legal, replayed at 0 combinations of small sizes; 3 others"]);
}

#[test]
fn a_replay_finds_cells_where_callers_store_them() {
    let place = Place::new();
    let program = "fn f<N, M>(A: f64[N, M], inout B: f64[N, M]) -> (C: f64[N, M]) {
    stored A[i, j] => [j, i] in [M, N]
    stored B[i, j] => [i, j] in [N, M + 3]
    stored C[i, j] => [j, i] in [M, N]
    C[i, j] = A[i, j] + 1
    B[i, j | j > i] = A[i, j] * 2
}
";
    place.write("f.fks", program.as_bytes());
    place.farkas("check f.fks --verify-dynamic").succeeds().prints(&["f: legal, replayed at 25 combinations"]);
}

#[test]
fn steps_without_statements_do_nothing() {
    let place = Place::new();
    place.write("empty.fks", b"fn f<N>(x: f64[N]) { }\n");
    let words = ["explore", "empty.fks", "--space", "skew(t, i; 0..2), tile(t, i; 8, 32)"];
    let run = place.farkas_words(&words);
    assert_ne!(run.code, Some(101), "{}", run.stderr);
}

/// In each text, `@` is the number.
const NUMBERED: [&str; 22] = [
    "fn f<N>(inout A: i64[N]) { for i in @..N { A[j] = i } }",
    "fn f<N>(inout A: i64[N]) { for i in 0..@ { A[i | i < N] = 1 } }",
    "fn f<N>(inout A: i64[N]) { for i in 0..N by @ { A[i] = i } }",
    "fn f<N>(inout A: i64[N]) { for t in @..N { for u in t - 1..N { for v in @ + u..t { A[i] = 2 } } } }",
    "fn f<N>(inout A: i64[N]) { A[i | not (i <= @ or N > @)] = 1 }",
    "fn f<N>(inout A: i64[N]) { A[i | (i + @) % 3 = 1 and i / 7 < @] = 1 }",
    "fn f<N>(inout A: i64[N]) { A[i] = A[i + @] }",
    "fn f<N>(inout A: i64[N]) { A[@ * i: 0..N] = 1 }",
    "fn f<N>(inout A: i64[@ * N]) { A[i] = 1 }",
    "fn f<N>(inout A: i64[@, @]) { A[i, j] = 1 }",
    "fn f<N>(inout A: i64[N]) where N >= @ { A[i] = A[i] + @ }",
    "fn f<N>(x: i64[N]) -> (s: i64[N]) { s[j] = 1 + sum[i: @ * j..j] x[j] }",
    "fn f<N>(x: i64[N]) -> (s: i64[N]) { let a[i: @..N] = 1\n s[j] = a[j] }",
    "fn f<N>(x: i64[N]) -> (s: i64[N]) { for t in @..x[0] { s[i] = t } }",
    "schedule g { skew S0[i, t] by @ }",
    "schedule g { shift S0[i] by @; reverse S0[i]; tile S0[t, i] by 3, 3 }",
    "schedule g { scale S0[i] by 3; shift S0[i] by @ }",
    "schedule g { split S0[i] where @ * i + @ < t }",
    "schedule g { map { S0[t, i] -> [t + @, @ * i] } }",
    "schedule h { layout a[i] => [@ * i] }",
    "schedule h { layout a[i] => [i] in [@] }",
    "schedule h { layout a[i] => [i % @, (i + @) / 2] }",
];

#[test]
fn numbers_at_the_end_of_64_bits_are_errors_of_the_user() {
    let place = Place::new();
    let relax = "fn g<N, T>(inout A: f64[N]) { for t in 0..T { for i in 1..N - 1 { A[i] = A[i - 1] + A[i + 1] } } }\n";
    let smooth = "fn h<N>(x: f64[N]) -> (b: f64[N]) where N >= 1 { let a[i] = x[i] * 2\n b[i] = a[i] + a[0] }\n";
    for text in NUMBERED {
        for number in ["-9223372036854775808", "-9223372036854775807", "9223372036854775807", "4611686018427387904"] {
            let text = text.replace('@', number);
            let program = match text.split_whitespace().nth(1) {
                Some("g") => format!("{relax}{text}\n"),
                Some("h") => format!("{smooth}{text}\n"),
                _ => format!("{text}\n"),
            };
            place.write("f.fks", program.as_bytes());
            let run = place.farkas("build f.fks --emit=loops --time-limit 2");
            assert!(matches!(run.code, Some(0 | 1 | 3)), "{text}: {:?}\n{}", run.code, run.stderr);
        }
    }
}

#[test]
fn saved_schedules_beyond_the_limits_are_refused() {
    let place = Place::new();
    place.write("f.fks", b"fn f<N>(inout A: f64[N]) { A[i] = 1 }\n");
    let domain = "domain: \"[N] -> { S0[i] : 0 <= i < N }\"";
    let time = |time: &str| format!("{domain}\nchild:\n  schedule: \"{time}\"\n");
    let cases = [
        (time("[N] -> [{ S0[i] -> [(NaN)] }]"), "NaN"),
        (time("[N] -> [{ S0[i] -> [(i)] : N > 3; S0[i] -> [(NaN)] : N <= 3 }]"), "NaN"),
        (time("[N, M] -> [{ S0[i] -> [(i + M)] }]"), "parameters that this program does not have"),
        (
            format!("{domain}\nchild:\n  filter: \"[N, K] -> {{ S0[i] : K = 0 }}\"\n"),
            "parameters that this program does not have",
        ),
        ("domain: \"[N] -> { S0[i] : i < N }\"\n".to_owned(), "E0502"),
        ("domain: \"{ rat: S0[i] : 2i = 1 }\"\n".to_owned(), "rational"),
        ("domain: \"1073774592 1073709058\"\n".to_owned(), "a matrix or a schedule tree"),
        ("domain: \"{ domain: 5 }\"\n".to_owned(), "a matrix or a schedule tree"),
        (time("([] : domain: 5)"), "a matrix or a schedule tree"),
        (time(&format!("[N] -> [{{ S0[i] -> [({} * i)] }}]", "9".repeat(100_000))), "more than 40 digits"),
        (time(&format!("[N] -> [{{ S0[i] -> [({})] }}]", vec!["i"; 50_000].join(" + "))), "more than 20000 words"),
        (
            time(
                "[N] -> [{ S0[i] -> [(floor((123456789123*i)/987654321987) + floor((floor((9876543219*i)/123456789))/77))] }, { S0[i] -> [(i)] }]",
            ),
            "E0519",
        ),
    ];
    for (yaml, words) in cases {
        place.write("s.yaml", yaml.as_bytes());
        place.farkas("build f.fks --schedule s.yaml --emit=loops").fails(1, &[words]);
    }
}
