//! `layout`: scripts, drawings and JSON lines.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Place, with_stdin};

#[test]
fn results_come_with_their_map_and_notes() {
    let place = Place::new();
    let layout = place.farkas_words(&["layout", "complement((2,3):(1,2), 12)"]).succeeds();
    assert!(layout.stdout.starts_with("2:6\nmap: { [c0] -> [6c0]"), "{layout:#?}");
    let layout = place.farkas_words(&["layout", "split(N, 4); merge; predicate"]).succeeds();
    layout.prints(&["[i: N] -> [ioii: (N + 3)/4*4]", "minimal: 0 <= ioii < N", "map: [N] -> {"]);
    let noted = place.farkas_words(&["layout", "logical_product((2,5):(1,3), 4:1)"]).succeeds();
    noted.prints(&["((2,5),4):((1,3),15)\n", "note: (2,5):(1,3) leaves holes"]);
    assert_eq!(with_stdin(&place, &["layout", "-"], b"size((4,8):(8,1))").succeeds().stdout, "32\n");
}

#[test]
fn maps_are_compared_and_graphs_are_asked() {
    let place = Place::new();
    let same = place.farkas_words(&["layout", "split(N, 6); split(io, 2) == split(N, 12); split(ii, 6)"]).succeeds();
    assert_eq!(same.stdout, "equal\n");
    let script = "graph; dim(x: 60, a: 12, b: 5); tile(x -> a, b); stride(x by 2 -> b); dot";
    place.farkas_words(&["layout", script]).succeeds().prints(&["b moves by 2, exact if", "digraph coordinates {"]);
    let later = place.farkas_words(&["layout", "4:1 == compositon(4:1, 2:1)"]);
    later.fails(1, &["<script>:1:8", "did you mean composition"]);
    let hard = ["layout", "inverse(swizzle(8,0,8))", "--time-limit", "0.05"];
    place.farkas_words(&hard).fails(3, &["ran out", "--time-limit"]);
}

#[test]
fn tables_are_drawn() {
    let place = Place::new();
    let drawn = place.farkas_words(&["layout", "(2,3):(3,1)", "--draw"]).succeeds();
    assert!(drawn.stdout.starts_with("(2,3):(3,1)\n0 1 2\n3 4 5\nmap: "), "{drawn:#?}");
    let before = place.names().len();
    let silent = place.farkas_words(&["layout", "(2,3):(3,1)", "-o", "x.svg"]).succeeds();
    assert!(!silent.stdout.contains("0 1 2"), "{silent:#?}");
    assert!(place.read("x.svg").starts_with(b"<svg"));
    place.farkas_words(&["layout", "(2,3):(3,1)", "--draw", "-o", "x.txt"]).succeeds().prints(&["0 1 2"]);
    assert_eq!(place.read("x.txt"), b"0 1 2\n3 4 5\n");
    assert_eq!(place.names().len(), before + 2);
    place.farkas_words(&["layout", "(2,3):(3,1)", "-o", "x.png"]).fails(2, &[".svg or .txt"]);
    place.farkas_words(&["layout", "(2,3):(3,1)", "-o", "nowhere/x.svg"]).fails(2, &["no such directory"]);
    place.farkas_words(&["layout", "size(4:1)", "--draw"]).fails(1, &["no table to draw"]);
}

#[test]
fn answers_can_be_json() {
    let place = Place::new();
    let line = ["layout", "split(5, 2)", "--message-format=json"];
    let answer: Value = serde_json::from_str(&place.farkas_words(&line).succeeds().stdout).expect("it is JSON");
    assert_eq!(answer["table"], json!([[0, 1], [2, 3], [4, null]]));
    assert!(answer["map"].is_string() && answer["notes"].is_array());
}

#[test]
fn errors_show_where_in_the_script() {
    let place = Place::new();
    place.farkas_words(&["layout", "composition((6,4:(4,1), 3:4)"]).fails(1, &["<script>:1:17", "expected `,`"]);
    let divides = place.farkas_words(&["layout", "composition((6,4):(4,1), 3:4)"]);
    divides.fails(1, &["error[L0002]", "4 does not divide 6"]);
    place.farkas_words(&["layout", ""]).fails(1, &["the text ends"]);
    let deep = "(".repeat(10_000);
    place.farkas_words(&["layout", &deep]).fails(1, &["L0001"]);
    place.farkas("layout").fails(2, &["SCRIPT"]);
    place.farkas("layout --jsonl 4:1").fails(2, &["cannot be used with"]);
}

const QUESTION: &str =
    r#"{"op": "composition", "in": {"A": {"shape": [4, 8], "stride": [8, 1]}, "B": {"shape": 2, "stride": 4}}}"#;

#[test]
fn every_line_has_an_answer_and_a_bad_one_stops_nothing() {
    let place = Place::new();
    let mut input = format!("{QUESTION}\r\nnot json\n\n{{\"op\": \"what\", \"in\": {{}}}}\n").into_bytes();
    input.extend_from_slice(b"\xff\xfe\n");
    input.extend_from_slice("[".repeat(100_000).as_bytes());
    input.extend_from_slice(format!("\n{QUESTION}").as_bytes());
    let answers = with_stdin(&place, &["layout", "--jsonl"], &input).succeeds();
    assert_eq!(answers.stderr, "");
    let answers: Vec<Value> =
        answers.stdout.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    let good = json!({ "ok": { "shape": 2, "stride": 1 } });
    assert_eq!(answers.len(), 7);
    assert_eq!((&answers[0], &answers[6]), (&good, &good));
    for (answer, says) in answers[1..6].iter().zip(["not JSON", "not JSON", "no operation `what`", "UTF-8", "not JSON"])
    {
        assert!(answer["err"].as_str().is_some_and(|error| error.contains(says)), "{answer} should say {says}");
    }
}

#[test]
fn many_lines_are_answered_fast() {
    let place = Place::new();
    let lines = 100_000;
    let input = format!("{QUESTION}\n").repeat(lines);
    let started = Instant::now();
    let answers = with_stdin(&place, &["layout", "--jsonl"], input.as_bytes()).succeeds();
    assert_eq!(answers.stdout.lines().count(), lines);
    // In a release build it takes less than a second; tests run unoptimised and side by side.
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}
