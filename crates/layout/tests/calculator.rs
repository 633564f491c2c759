//! The calculator: the examples of `docs/layouts.md`, and input that is bad in every way.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use farkas_layout::calculator::{evaluate, evaluate_with, jsonl};
use farkas_layout::{Layout, Solver};
use proptest::prelude::*;
use proptest::sample::select;

/// What the documentation shows for a script.
fn shown(script: &str, draw: bool) -> String {
    match evaluate(script) {
        Ok(answer) => {
            let mut lines = vec![answer.result];
            lines.extend(answer.notes.iter().filter(|_| !draw).map(|note| format!("note: {note}")));
            if draw {
                lines.push(answer.table.unwrap().to_text().trim_end_matches('\n').to_owned());
            }
            lines.join("\n")
        }
        Err(diag::Error::User(diagnostics)) => format!("error: {}", diagnostics[0].message),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn documented_examples() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/layouts.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut examples = 0;
    let mut wrong = Vec::new();
    for block in text.split("```layout").skip(1) {
        let (kind, rest) = block.split_once('\n').unwrap();
        let body = rest.split("```").next().unwrap();
        for example in body.split("\n> ").map(|example| example.trim_start_matches("> ")) {
            let (script, wanted) = example.split_once('\n').unwrap();
            let got = shown(script, kind.contains("draw"));
            if got != wanted.trim_end_matches('\n') {
                wrong.push(format!("> {script}\n{got}\n"));
            }
            examples += 1;
        }
    }
    assert!(wrong.is_empty(), "the documentation should say\n{}", wrong.join("\n"));
    assert!(examples >= 20, "{examples} examples");
}

/// The table of error codes shows what it says.
#[test]
fn documented_errors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/layouts.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut examples = 0;
    for row in text.lines().filter(|line| line.starts_with("| L0")) {
        let Some(script) = row.split('`').nth(1) else { continue };
        match evaluate(script).unwrap_err() {
            diag::Error::User(diagnostics) => assert!(row.contains(diagnostics[0].code), "{row}: {diagnostics:?}"),
            error => unreachable!("{row}: {error}"),
        }
        examples += 1;
    }
    assert_eq!(examples, 6);
}

fn position(script: &str) -> (u32, String) {
    match evaluate(script).unwrap_err() {
        diag::Error::User(diagnostics) => (diagnostics[0].span().start, diagnostics[0].message.clone()),
        error => (u32::MAX, error.to_string()),
    }
}

#[test]
fn errors_have_positions() {
    for (script, at, says) in [
        ("", 0, "the text ends"),
        ("composition((4,8", 16, "expected `,`"),
        ("composition((4,8)):(8,1)", 0, "takes (A, B"),
        ("size((0,2):(1,1))", 5, "shape 0 is not positive"),
        ("size((-3):(1))", 5, "shape -3 is not positive"),
        ("size(3:-1)", 5, "stride -1 is negative"),
        ("size((2,3):(1))", 5, "not congruent"),
        ("size(99999999999999999999)", 5, "does not fit 64 bits"),
        ("size((9223372036854775807,2):(1,1))", 5, "does not fit 64 bits"),
        ("coalesce((2,3):(1,2), (1,1,1))", 0, "rank 3"),
        ("composition((2,3):(1,2), [2:1,3:1,4:1])", 0, "3 modes"),
        ("compositon(2:1, 2:1)", 0, "did you mean composition"),
        ("composition(2:1, 2:1) x", 0, "expected the end"),
        ("split(N, 4); mrge", 13, "no step `mrge`"),
        ("split(N, 4); merge(a, b)", 19, "no loop `a`"),
        ("split(N, 0)", 0, "factor 0"),
        ("merge", 0, "no loop yet"),
        ("split(N, 4); resize(0, -9223372036854775808)", 13, ""),
        ("complement(2:1, 0)", 0, "not positive"),
        ("complement(2:1, _)", 16, "without `_`"),
        ("mutual_refinement((0,2),(2))", 0, "not positive"),
        ("composed(swizzle(2,0,3), -1, 4:1)", 25, "not negative"),
        ("inverse((2,2):(1,1))", 0, "not injective"),
        ("equivalent(2:1)", 0, "takes (x, x)"),
        ("equivalent(2:1, [2:1])", 16, "expected a layout"),
        ("inverse(linear((1,1), 2, 2))", 0, "singular"),
        ("linear((1,2), 1, 2)", 0, "2 columns for 1"),
        ("vector_access((2,2):(1,2), 8:1, 2)", 14, "one dimension"),
        ("restrict(morphism((2,3):(1,4)), 9)", 0, "between 1 and 2"),
        ("4:1 == size(", 12, "the text ends"),
        ("split(N, 4) == split(N, 0)", 15, "factor 0"),
        ("split(9, 4); item(1)", 13, "a number for each loop"),
        ("split(9, 4); item(3, 0)", 13, "io = 3 is not in 0..3"),
        ("split(9, 4); correctness(sum, k)", 30, "no root `k`"),
        ("split(9, 4); allocation(x)", 24, "no domain `x`"),
        ("split(9, 4); allocation(io)", 13, "index every root"),
        ("split(9, 4); holes(3)", 13, "without arguments"),
        ("graph; dim(a: 4); foo(a)", 18, "no step `foo`"),
        ("graph; dim(a: 0)", 7, "not positive"),
        ("graph; dim(cube a: 4)", 17, "no kind `cube`"),
        ("graph; dim(a: 4, a: 5)", 18, "already"),
        ("graph; dim(a: 4); pass(a -> b)", 28, "no dimension `b`"),
        ("graph; dim(a: 4, b: 4); pass(a b)", 31, "expected `->`"),
        ("graph; dim(a: 4, b: 4); pass(a, b -> a)", 24, "does not go from 2 to 1"),
        ("graph; dim(a: 4, b: 4); join(a -> b); reverse(b -> a)", 38, "Join(a -> b)"),
        ("graph; dim(a: 4, b: 4); pass(a -> b); stride(a -> b)", 38, "by 3"),
        ("graph; dim(a: 4, b: 4); piecewise(a -> b, a, a, b)", 48, "left of `->`"),
        ("graph; dim(a: 4); forward(a -> a", 32, "expected `)`"),
    ] {
        assert!(evaluate(script).is_err() || says.is_empty(), "{script}");
        let Err(_) = evaluate(script) else { continue };
        let (found, message) = position(script);
        assert!(message.contains(says), "{script}: {message}");
        assert!(says.is_empty() || found == at || says == "expected the end", "{script}: at {found}, {message}");
    }
}

/// Whatever it is given, it answers soon and does not panic.
#[test]
fn hostile_input() {
    let deep = 10_000;
    let open = "(".repeat(deep);
    let nested = format!("{open}1{}", ")".repeat(deep));
    let calls = format!("{}1:1{}", "coalesce(".repeat(deep / 2), ")".repeat(deep / 2));
    let splits = format!("split(N, 2){}", "; split(2)".repeat(300));
    let swizzles = format!("domain(8, 8){}", "; swizzle; reorder(1, 0)".repeat(60));
    let doubling = format!("domain(N){}", "; split(7); merge".repeat(60));
    let started = Instant::now();
    for script in [
        open.as_str(),
        &nested,
        &format!("{nested}:{nested}"),
        &calls,
        &splits,
        &swizzles,
        &doubling,
        &"[".repeat(deep),
        &"1,".repeat(deep),
        "((((",
        ")",
        ":",
        "2:",
        "::",
        "_",
        "_:_",
        "\u{0}",
        "é(1)",
        "size(é)",
        "split(1000000000, 7); holes",
        "domain(A,B,C,D,E,G,H,K); merge; merge; merge == domain(A,B,C,D,E,G,H,K); merge; merge; merge",
        "inverse(swizzle(8,0,8))",
        "outer_split(N, 256); split(ii, 7); holes; bijective",
        "graph; dim(a: 9223372036854775807, x: ?); tile(x -> a, a); stride(x by 9223372036854775807 -> a)",
        "domain(1000000000, 1000000000); merge; split(1000); predicate; holes",
        "resize(9223372036854775807, 9223372036854775807, 1)",
        "domain(9223372036854775807, 9223372036854775807); merge",
        "swizzle(20, 20, 20)",
        "swizzle(63, 0, 63)",
        "at(swizzle(2,0,3), -5)",
        "composed(swizzle(2,0,3), -1, 4:1)",
        "composed(swizzle(2,0,3), 9223372036854775807, 4:1)",
        "morphism((2,3),(2,3),(3,1))",
        "morphism((2,3),(2,3),(-1,1))",
        "complement((4611686018427387904,1):(1,1), 9223372036854775807)",
        "logical_product(4611686018427387904:1, 4:1)",
    ] {
        // Both outcomes are fine; a panic or a hang is not.
        let _ = evaluate(script);
    }
    assert!(started.elapsed().as_secs() < 120, "took {:?}", started.elapsed());
    for text in [&open, &nested] {
        assert!(text.parse::<Layout>().is_err());
    }
    let list = format!("{}1{}", "[".repeat(deep), "]".repeat(deep));
    for line in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"op":"coalesce"}"#,
        r#"{"op":7,"in":{}}"#,
        r#"{"op":"nothing","in":{}}"#,
        r#"{"op":"coalesce","in":{"L":{"shape":[2,0],"stride":[1,1]}}}"#,
        r#"{"op":"coalesce","in":{"L":{"shape":[2,3],"stride":[1]}}}"#,
        r#"{"op":"coalesce","in":{"L":{"shape":1.5,"stride":1}}}"#,
        r#"{"op":"coalesce","in":{"L":{"shape":9223372036854775807,"stride":9223372036854775807}}}"#,
        r#"{"op":"coalesce","in":{"L":{"shape":99999999999999999999,"stride":1}}}"#,
        r#"{"op":"mutual_refinement","in":{"T":[0,2],"U":[2,2]}}"#,
        r#"{"op":"eval_linear","in":{"L":{"shape":[2,2],"stride":[1,2]},"idx":[-1]}}"#,
        r#"{"op":"idx2crd","in":{"shape":[0],"idx":[1]}}"#,
        r#"{"op":"shape_div","in":{"a":[4,2],"b":0}}"#,
        r#"{"op":"swizzle","in":{"b":1,"m":0,"s":-9223372036854775808,"x":[1]}}"#,
        r#"{"op":"tuple_restrict","in":{"f":{"dom":[2],"cod":[2],"map":[1]},"idx":[0]}}"#,
        r#"{"op":"tuple_compose","in":{"f":{"dom":[2],"cod":[2],"map":[5]},"g":{"dom":[2],"cod":[2],"map":[1]}}}"#,
        r#"{"op":"pullback_along","in":{"f":{"dom":[4],"cod":[4],"map":[1]},"refinement":[[2,3]]}}"#,
        &format!(r#"{{"op":"coalesce","in":{{"L":{{"shape":{list},"stride":{list}}}}}}}"#),
    ] {
        let answer = jsonl(line);
        assert!(answer.starts_with(r#"{"err":"#), "{line}: {answer}");
        assert!(!answer.contains('\n'));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Words of the language in any order: an answer or an error, at a place within the script.
    #[test]
    fn random_scripts(words in proptest::collection::vec(select(WORDS.to_vec()), 1..14), kind in 0..3usize) {
        let script = format!("{}{}", ["", "domain(6, N); ", "graph; dim(a: 4, b: N, x: 12: 3); "][kind], words.join(""));
        let solver = Solver::with_time(Duration::from_millis(50)).unwrap();
        if let Err(diag::Error::User(diagnostics)) = evaluate_with(&script, &solver) {
            prop_assert!(diagnostics[0].span().end as usize <= script.len(), "{}", script);
        }
    }
}

const WORDS: &[&str] = &[
    "(",
    ")",
    ",",
    ":",
    ";",
    " ",
    "[",
    "]",
    "_",
    "-",
    "->",
    "=",
    "==",
    "by ",
    "*",
    "+",
    "?",
    "0",
    "1",
    "2",
    "3",
    "4",
    "6",
    "64",
    "-1",
    "9223372036854775807",
    "N",
    "i",
    "j",
    "io",
    "a",
    "b",
    "x",
    "(2,3)",
    "(4,8):(8,1)",
    "(2,3):(1,2)",
    "4:1",
    "((2,2),3):((1,6),2)",
    "composition(",
    "complement(",
    "logical_product(",
    "logical_divide(",
    "coalesce(",
    "morphism(",
    "linear(",
    "inverse(",
    "swizzle(",
    "composed(",
    "at(",
    "slice(",
    "weak_composite(",
    "equivalent(",
    "holes(",
    "domain(",
    "split(",
    "outer_split(",
    "merge",
    "resize(",
    "shift",
    "reorder(",
    "broadcast(",
    "predicate",
    "index",
    "allocation",
    "holes",
    "inverse",
    "layout",
    "dot",
    "item(",
    "correctness(sum)",
    "dim(",
    "flatten(",
    "tile(",
    "join(",
    "sunder(",
    "piecewise(",
    "forward(",
    "reverse(",
    "stride(",
    "pass(",
    "map(",
    "a -> b",
    "a, b -> x",
    "split(3); ",
    "merge; ",
    "resize(-1, 2); ",
    "swizzle; ",
    "tile(x -> a, b); ",
    "flatten(a, b -> x); ",
    "forward(a, b -> x); ",
    "stride(x by 2 -> a, b); ",
];

#[test]
fn drawings_as_svg() {
    let table = evaluate("(2,3):(3,1)").unwrap().table.unwrap();
    let svg = table.to_svg();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<rect").count(), 6);
    assert!(svg.contains(">5</text>"));
    assert!(evaluate("(100,100)").unwrap().table.is_none());
}
