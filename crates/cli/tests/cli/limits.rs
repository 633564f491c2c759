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
    let run = place.farkas("check nine.fks --verify-dynamic").succeeds();
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

#[test]
fn steps_without_statements_do_nothing() {
    let place = Place::new();
    place.write("empty.fks", b"fn f<N>(x: f64[N]) { }\n");
    let words = ["explore", "empty.fks", "--space", "skew(t, i; 0..2), tile(t, i; 8, 32)"];
    let run = place.farkas_words(&words);
    assert_ne!(run.code, Some(101), "{}", run.stderr);
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
        ("domain: \"{ rat: S0[i] : 2i = 1 }\"\n".to_owned(), "rational"),
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
