//! Inputs made to exhaust the stack or the clock.

use std::time::{Duration, Instant};

use super::{parsed, source};
use crate::{MAX_NESTING, MAX_SOURCE_BYTES, format, parse, print_ast};

/// For a megabyte: linear work takes seconds unoptimised (measured: at most 8 s on a busy machine with two cores),
/// quadratic work, some 10^11 steps, many minutes. The wide margin keeps a loaded machine from failing the test.
const PATIENCE: Duration = Duration::from_secs(120);

/// The code of the first error.
fn code_of(text: &str) -> &'static str {
    let start = Instant::now();
    let errors = parse(&source(text)).unwrap_err();
    assert!(start.elapsed() < PATIENCE, "took {:?} for {:.20}…", start.elapsed(), text);
    errors[0].code
}

/// As many pieces as fit in `bytes`.
fn fill(bytes: usize, prefix: &str, piece: &str, suffix: &str) -> String {
    let count = (bytes - prefix.len() - suffix.len()) / piece.len();
    format!("{prefix}{}{suffix}", piece.repeat(count))
}

/// Long enough to show unbounded recursion, short enough for unoptimised tests.
const LONG: usize = MAX_SOURCE_BYTES / 16;

#[test]
fn a_megabyte_of_one_thing_is_an_error_and_not_a_crash() {
    for piece in ["(", "[", "{", "if a then ", "f(", "A[", "sum[k | ", "for i in 0..N {", "if "] {
        assert_eq!(code_of(&fill(MAX_SOURCE_BYTES, "fn f() { s = ", piece, "")), "E0003", "{piece}");
    }
    for piece in ["-", "a+", "sum[k] "] {
        assert_eq!(code_of(&fill(MAX_SOURCE_BYTES, "fn f() { s = ", piece, "")), "E0001", "{piece}");
    }
}

#[test]
fn long_noise_is_an_error_and_not_a_crash() {
    for piece in [
        "not ",
        "a * sum[k] ",
        ")",
        "]",
        "}",
        "fn ",
        "a ",
        "1",
        "a,",
        "x = 1 fn\n",
        "fn f() { + }\n",
        "µ",
        "\nschedule ",
        "\nschedule f { tile i by x\n",
    ] {
        assert_eq!(code_of(&fill(LONG, "fn f() { s = ", piece, "")), "E0001", "{piece}");
        assert_eq!(code_of(&fill(LONG, "", piece, " %")), "E0001", "{piece}");
    }
}

#[test]
fn long_chains_are_too_deep() {
    for piece in
        ["a+", "a * ", "a < ", "-", "not ", "sum[k] ", "a * sum[k] ", "a and not ", "a * not ", "(reduce 1 +) "]
    {
        assert_eq!(code_of(&fill(LONG, "fn f() { s = ", piece, "a }")), "E0003", "{piece}");
    }
}

/// A verb is not an operand, so the `if`s in front of it stay open.
#[test]
fn ifs_are_counted_past_verbs() {
    for piece in ["if (reduce 1 +) a then ", "if a (+ rank 1) b then ", "if a then (take 2) b else if c then "] {
        assert_eq!(code_of(&fill(LONG, "fn f() { s = ", piece, "a }")), "E0003", "{piece}");
    }
}

/// Looking ahead for verbs costs no more than reading.
#[test]
fn parentheses_that_are_no_verbs_are_read_once() {
    for (open, close) in [("(f(x ", "))"), ("(a + (", "))"), ("a (b (", "))"), ("((f ", "))")] {
        let text = format!("fn f() {{ s = {}1{} }}", open.repeat(100), close.repeat(100));
        let started = Instant::now();
        let _ = parse(&source(&text));
        assert!(started.elapsed().as_secs() < 10, "{open}");
    }
}

#[test]
fn wide_is_not_deep() {
    for (prefix, piece, suffix) in [
        ("fn f() { s = f(", "a,", "a) }"),
        ("fn f() { ", "s = if a then b else c\n", "}"),
        ("fn f() { ", "s = if a then b else c; ", "}"),
        ("fn f() { s = g(", "if a then b else c,", "1) }"),
        ("fn f() { ", "A[i] = sum[k] if a then B[k] else 1\n", "}"),
        ("fn f() { ", "s = -(a)\n", "}"),
        ("", "fn f() { x = 1 }\n", ""),
        ("", "\n", ""),
    ] {
        parsed(&fill(LONG, prefix, piece, suffix));
    }
}

#[test]
fn a_larger_source_is_refused() {
    assert_eq!(code_of(&" ".repeat(MAX_SOURCE_BYTES + 1)), "E0002");
}

/// The deepest trees that are accepted can be walked, printed, formatted, compared and dropped on a test thread.
#[test]
fn the_limit_itself_is_safe() {
    let nested = |open: &str, middle: &str, close: &str, count: usize| {
        format!("fn f() {{ s = {}{middle}{} }}", open.repeat(count), close.repeat(count))
    };
    let cases: [(&str, &str, &str, usize); 10] = [
        ("(reduce 1 +) ", "a", "", 255),
        ("a (+ rank 1) ", "a", "", 255),
        ("(", "a", ")", 255),
        ("f(", "a", ")", 255),
        ("A[", "i", "]", 255),
        ("-", "a", "", 255),
        ("a + ", "a", "", 255),
        ("sum[k] ", "a", "", 255),
        ("if a then b else ", "c", "", 255),
        ("a * sum[k | ", "a", "] b", 127),
    ];
    for (open, middle, close, count) in cases {
        let text = nested(open, middle, close, count);
        let file = parsed(&text);
        assert_eq!(file.clone(), file);
        assert!(format!("{file:?}").len() > print_ast(&file).len() / MAX_NESTING);
        let formatted = format(&source(&text)).unwrap();
        assert_eq!(format(&source(&formatted)).unwrap(), formatted);
        assert_eq!(code_of(&nested(open, middle, close, count + 1)), "E0003", "{open}");
    }
    let loops = |count: usize| format!("fn f() {{ {} {} }}", "for i in 0..N {".repeat(count), "}".repeat(count));
    assert_eq!(print_ast(&parsed(&loops(255))).lines().count(), 256);
    assert_eq!(code_of(&loops(256)), "E0003");
}

#[test]
fn a_megabyte_of_program_parses() {
    let function = "
fn cholesky<N>(inout A: f64[N, N]) where N >= 1 {
    for i in 0..N {  # rows
        for j in 0..i { A[i, j] = (A[i, j] - sum[k | k < j] A[i, k] * A[j, k]) / A[j, j] }
        A[i, i] = sqrt(A[i, i] - sum[k | k < i] A[i, k] * A[i, k])
    }
}
";
    let text = fill(MAX_SOURCE_BYTES, "", function, "");
    let start = Instant::now();
    let file = parsed(&text);
    assert!(file.functions.len() > 3000);
    assert!(start.elapsed() < PATIENCE, "took {:?}", start.elapsed());
}
