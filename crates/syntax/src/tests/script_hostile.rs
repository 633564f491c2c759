//! Scripts made to exhaust the stack or the clock, and random ones.

use std::time::{Duration, Instant};

use diag::{Style, render};
use proptest::prelude::*;

use super::script::{parsed_script, script_source, shapes};
use crate::{MAX_SOURCE_BYTES, parse_script, print_script};

/// As for programs: linear work takes seconds, quadratic work many minutes.
const PATIENCE: Duration = Duration::from_secs(120);

fn code_of(text: &str) -> &'static str {
    let start = Instant::now();
    let errors = parse_script(&script_source(text)).unwrap_err();
    assert!(start.elapsed() < PATIENCE, "took {:?} for {:.40}…", start.elapsed(), text);
    assert!(errors.len() <= 50);
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
    for piece in ["(", "[", "{", "if a then ", "f(", "A["] {
        assert_eq!(code_of(&fill(MAX_SOURCE_BYTES, "schedule f { s where ", piece, "")), "E0003", "{piece}");
    }
    for piece in ["a,", "\n", "# c\n", "; x where a"] {
        assert_eq!(code_of(&fill(MAX_SOURCE_BYTES, "schedule f { s where a", piece, "")), "E0001", "{piece}");
    }
    assert_eq!(code_of(&" ".repeat(MAX_SOURCE_BYTES + 1)), "E0002");
}

#[test]
fn long_noise_is_an_error_and_not_a_crash() {
    for piece in [
        ")",
        "]",
        "}",
        "schedule ",
        "schedule\n",
        "a ",
        "1",
        "a,",
        "x ! ;",
        "x !\n",
        "schedule f { + }\n",
        "µ",
        "by ",
        "as at ",
        "S[",
        "-> ",
        "x by\n",
        "by 4 ",
        "where a ",
        "{ S->[i] ",
        "x by 99999999999999999999\n",
    ] {
        code_of(&fill(LONG, "schedule f { s ", piece, " %"));
        code_of(&fill(LONG, "schedule f { map { ", piece, " %"));
        code_of(&fill(LONG, "", piece, " %"));
    }
}

#[test]
fn long_chains_are_too_deep() {
    for piece in ["a+", "a * ", "a < ", "-", "not ", "sum[k] ", "a and not "] {
        assert_eq!(code_of(&fill(LONG, "schedule f { s where ", piece, "a }")), "E0003", "{piece}");
        assert_eq!(code_of(&fill(LONG, "schedule f { map { S -> [", piece, "a] } }")), "E0003", "{piece}");
    }
}

#[test]
fn deep_nesting_has_no_help_that_does_not_apply() {
    for text in [fill(LONG, "schedule f { s where ", "-", "a }"), fill(LONG, "schedule f { s where ", "(", "")] {
        assert!(parse_script(&script_source(&text)).unwrap_err()[0].helps.is_empty());
    }
}

#[test]
fn wide_is_not_deep() {
    for (prefix, piece, suffix) in [
        ("schedule f { fuse a", ", a", " }"),
        ("schedule f { tile S[", "a,", "a] }"),
        ("schedule f { tile S by 1", ", -1", " }"),
        ("schedule f { tile S as (", "a,", "a) }"),
        ("schedule f { ", "s where if a then b else c\n", "}"),
        ("schedule f { ", "s where -(a); ", "}"),
        ("schedule f { map {", "S[i, j] -> [i + j, j];", "} }"),
        ("", "schedule f { parallel i }\n", ""),
        ("schedule f { tile", "\n", "}"),
        ("schedule f {", ";", "}"),
    ] {
        parsed_script(&fill(LONG, prefix, piece, suffix));
    }
}

#[test]
fn the_limit_itself_is_safe() {
    for (open, close) in [("(", ")"), ("f(", ")"), ("A[", "]"), ("-", ""), ("a + ", "")] {
        let text = |count: usize| format!("schedule f {{ s where {}a{} }}", open.repeat(count), close.repeat(count));
        let script = parsed_script(&text(255));
        assert_eq!(script.clone(), script);
        assert_eq!(print_script(&parsed_script(&print_script(&script))), print_script(&script));
        assert_eq!(code_of(&text(256)), "E0003", "{open}");
    }
}

#[test]
fn a_megabyte_of_script_parses() {
    let schedule = "
schedule gemm {
    tile S0[i, j, k] by 64, 64, 256 as (it, jt, kt)  # blocks
    unroll i by 8; vectorize j by 16
    split S0[i] where 0 <= i < 5 as (lo, hi)
    map { S0[i, j] -> [i + j, j]; S1[i] -> [2*i, 0] }
}
";
    let start = Instant::now();
    assert!(parsed_script(&fill(MAX_SOURCE_BYTES, "", schedule, "")).schedules.len() > 4000);
    assert!(start.elapsed() < PATIENCE, "took {:?}", start.elapsed());
}

const SOUP: [&str; 48] = [
    "schedule",
    "by",
    "as",
    "at",
    "where",
    "tile",
    "map",
    "S0",
    "i",
    "fn",
    "for",
    "if",
    "then",
    "else",
    "and",
    "or",
    "not",
    "true",
    "sum",
    "min",
    "0",
    "1",
    "-1",
    "1.5",
    "2x",
    "99999999999999999999",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    "=",
    ",",
    ";",
    ";",
    "\n",
    "\n",
    "->",
    "..",
    "+",
    "-",
    "*",
    "&&",
    "# c\n",
    "µ",
    "\\",
];

fn step() -> impl Strategy<Value = String> {
    let target = prop::sample::select(vec!["S0", "S1[i]", "k", "S2 [ i,\n j ]"]);
    let clause = prop::sample::subsequence(
        vec![
            "by 4, -2",
            "as (a, b)",
            "at k",
            "where 0 <= i < 5 and not (j = 2 or a * -b % 2 > 1)",
            "{ S0[i] -> [i + 1, 0]\nS1 -> []; }",
        ],
        0..=5,
    );
    (prop::collection::vec(target, 0..3), clause.prop_shuffle(), any::<bool>()).prop_map(
        |(targets, clauses, broken)| {
            format!("verb {} {}", targets.join(", "), clauses.join(if broken { "\n" } else { " " }))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn token_soup_never_panics(picks in prop::collection::vec(0..SOUP.len(), 0..60), framed: bool) {
        let soup = picks.iter().map(|&pick| SOUP[pick]).collect::<Vec<_>>().join(" ");
        let text = if framed { format!("schedule f {{ tile {soup} }}") } else { soup };
        let source = script_source(&text);
        match parse_script(&source) {
            Ok(script) => {
                let printed = print_script(&script);
                let again = parsed_script(&printed);
                prop_assert_eq!(shapes(&again), shapes(&script));
                prop_assert_eq!(print_script(&again), printed);
            }
            Err(errors) => {
                render(&source, &errors, Style::Plain);
                let starts: Vec<_> = errors.iter().map(|error| error.span()).collect();
                prop_assert!(starts.iter().all(|span| span.end as usize <= text.len()));
            }
        }
    }

    #[test]
    fn any_text_never_panics(text in any::<String>()) {
        let source = script_source(&text);
        if let Err(errors) = parse_script(&source) {
            render(&source, &errors, Style::Plain);
        }
    }

    #[test]
    fn printing_keeps_the_steps_and_is_stable(steps in prop::collection::vec(step(), 0..6), semicolons: bool) {
        let text = format!("schedule f {{ {} }}", steps.join(if semicolons { ";" } else { "\n" }));
        let script = parsed_script(&text);
        prop_assert_eq!(script.schedules[0].steps.len(), steps.len());
        let printed = print_script(&script);
        let again = parsed_script(&printed);
        prop_assert_eq!(shapes(&again), shapes(&script));
        prop_assert_eq!(print_script(&again), printed);
    }
}
