//! Answers of other systems: two CuTe implementations and the categorical one.
//!
//! A subset is committed; the whole is read from `FARKAS_ORACLES` (default `../shared/oracles` beside the workspace).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "a skipped comparison must be seen")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use farkas_layout::calculator::jsonl;
use serde_json::{Value, json};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The committed subset and, if it is there, the whole.
fn files(name: &str) -> Vec<Value> {
    let all = std::env::var_os("FARKAS_ORACLES").map_or(workspace().join("../shared/oracles"), PathBuf::from);
    let mut files = vec![workspace().join("tests/oracles/layouts").join(name)];
    let whole = all.join("layouts").join(name);
    if whole.exists() {
        files.push(whole);
    } else {
        eprintln!("SKIPPED: all of {name}, since {} does not exist; set FARKAS_ORACLES", whole.display());
    }
    files.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

fn judge(name: &str, passes: impl Fn(&str, &Value, &Value) -> Option<bool>) -> (usize, usize) {
    let (mut judged, mut undecided) = (0, 0);
    for file in files(name) {
        let mut failures: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (operation, cases) in file["ops"].as_object().unwrap() {
            for case in cases.as_array().unwrap() {
                let question = json!({ "op": operation, "in": case["in"] }).to_string();
                let answer: Value = serde_json::from_str(&jsonl(&question)).unwrap();
                match passes(operation, case, &answer) {
                    None => undecided += 1,
                    Some(true) => judged += 1,
                    Some(false) => failures.entry(operation).or_default().push(format!("{case}\n  answered {answer}")),
                }
            }
        }
        for (operation, cases) in &failures {
            eprintln!("{operation}: {} wrong, such as\n  {}", cases.len(), cases[0]);
        }
        assert!(failures.is_empty());
    }
    (judged, undecided)
}

fn leaves(value: &Value) -> Vec<i64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(leaves).collect(),
        value => vec![value.as_i64().unwrap()],
    }
}

fn is_layout(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| fields.contains_key("shape") && fields.contains_key("stride"))
}

/// Layouts with stride 0 for modes of size 1; other values as they are.
fn normalised(value: &Value) -> Value {
    fn modes(shape: &Value, stride: &Value) -> Value {
        match (shape, stride) {
            (Value::Array(shape), Value::Array(stride)) => {
                assert_eq!(shape.len(), stride.len());
                shape.iter().zip(stride).map(|(shape, stride)| modes(shape, stride)).collect()
            }
            (shape, _) if shape == 1 => json!({ "s": 1, "d": 0 }),
            (shape, stride) => json!({ "s": shape, "d": stride }),
        }
    }
    if is_layout(value) { modes(&value["shape"], &value["stride"]) } else { value.clone() }
}

fn size(layout: &Value) -> i64 {
    leaves(&layout["shape"]).iter().product()
}

fn at(layout: &Value, index: i64) -> i64 {
    let (shape, stride) = (leaves(&layout["shape"]), leaves(&layout["stride"]));
    let (mut rest, mut value) = (index, 0);
    for (position, (s, d)) in shape.iter().zip(&stride).enumerate() {
        value += if position + 1 == shape.len() { rest } else { rest % s } * d;
        rest /= s;
    }
    value
}

fn same_function(a: &Value, b: &Value) -> bool {
    size(a) == size(b) && size(a) <= 20_000 && (0..size(a)).all(|index| at(a, index) == at(b, index))
}

/// The published rule. `None`: the two systems disagree and neither answer was confirmed.
fn cute_passes(operation: &str, case: &Value, answer: &Value) -> Option<bool> {
    let answers = ["pycute", "dsl"].map(|system| case.get(system));
    let given = answers.iter().flatten().count();
    let valid = ["valid", "dsl_valid"].map(|field| case.get(field).and_then(Value::as_bool));
    let right = answers.iter().flatten().filter_map(|answer| answer.get("ok")).collect::<Vec<_>>();
    let (ok, rejected) = (answer.get("ok"), answer.get("err").is_some());
    if operation == "left_inverse" || operation == "right_inverse" {
        let layout = &case["in"]["L"];
        let image = (0..size(layout).min(20_000)).map(|index| at(layout, index)).collect::<Vec<_>>();
        let mut distinct = image.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if operation == "left_inverse" && distinct.len() < image.len() {
            return None;
        }
        return Some(match ok {
            Some(inverse) if operation == "right_inverse" => {
                (0..size(inverse)).all(|index| at(layout, at(inverse, index)) == index)
            }
            Some(inverse) => (0..size(layout).min(4096)).all(|index| at(inverse, at(layout, index)) == index),
            None => rejected && (right.len() < given || !valid.contains(&Some(true))),
        });
    }
    if right.is_empty() {
        return Some(rejected);
    }
    if right.len() == given && right.iter().all(|other| normalised(other) == normalised(right[0])) {
        let agrees = ok.is_some_and(|ok| normalised(ok) == normalised(right[0]));
        return Some(agrees || (rejected && valid.contains(&Some(false))));
    }
    if !valid.contains(&Some(true)) {
        return None;
    }
    let confirmed = answers.iter().zip(valid).filter(|(_, valid)| *valid == Some(true));
    let confirmed = confirmed.filter_map(|(answer, _)| answer.and_then(|answer| answer.get("ok"))).collect::<Vec<_>>();
    Some(ok.is_some_and(|ok| {
        confirmed.iter().any(|answer| {
            normalised(ok) == normalised(answer) || (is_layout(ok) && is_layout(answer) && same_function(ok, answer))
        })
    }))
}

#[test]
fn cute_implementations_agree_with_us() {
    let (judged, undecided) = judge("cute.json", cute_passes);
    eprintln!("{judged} answers of CuTe implementations agree, {undecided} are undecided among them");
}

#[test]
fn categorical_implementation_agrees_with_us() {
    let (judged, _) = judge("tract.json", |_, case, answer| {
        Some(match case["tract"].get("ok") {
            Some(wanted) => answer.get("ok") == Some(wanted),
            None => answer.get("err").is_some(),
        })
    });
    eprintln!("{judged} answers of the categorical implementation agree");
}

/// A product that leaves holes, or copies past its size, says so.
#[test]
fn shortcomings_of_a_product_are_reported() {
    let question =
        r#"{"op":"logical_product","in":{"A":{"shape":[2,5],"stride":[1,3]},"B":{"shape":[4,2],"stride":[1,4]}}}"#;
    let answer: Value = serde_json::from_str(&jsonl(question)).unwrap();
    assert_eq!(answer["ok"], json!({ "shape": [[2, 5], [4, 2]], "stride": [[1, 3], [15, 60]] }));
    assert!(answer["note"].as_str().unwrap().contains("stride 3 is not a multiple of 2"), "{answer}");

    // 5 copies in rows of 2: the product holds 4, and its last mode runs on to the fifth.
    let question = r#"{"op":"logical_product","in":{"A":{"shape":8,"stride":2},"B":{"shape":5,"stride":1}}}"#;
    let answer: Value = serde_json::from_str(&jsonl(question)).unwrap();
    assert_eq!(answer["ok"], json!({ "shape": [8, [2, 2]], "stride": [2, [1, 16]] }));
    assert!(answer["note"].as_str().unwrap().contains("4 of the 5 copies"), "{answer}");
    // Where nothing runs on (3 copies: one row and a half), or other modes follow, or by another name, it is refused.
    for (operation, b) in [
        ("logical_product", r#"{"shape":3,"stride":1}"#),
        ("logical_product", r#"{"shape":[5,3],"stride":[1,8]}"#),
        ("logical_product", r#"{"shape":[5,1],"stride":[1,8]}"#),
        ("flat_product", r#"{"shape":5,"stride":1}"#),
        ("blocked_product", r#"{"shape":5,"stride":1}"#),
    ] {
        let answer = jsonl(&format!(r#"{{"op":"{operation}","in":{{"A":{{"shape":8,"stride":2}},"B":{b}}}}}"#));
        assert!(answer.contains("2 does not divide"), "{operation} {b}: {answer}");
    }
}

/// A tile larger than a mode of one item: both reference systems give stride 0 where the mode has it.
#[test]
fn a_mode_of_one_item_is_divided_by_any_tile() {
    for (operation, a, tiler, expected) in [
        ("tiled_divide", "(2,1):(320,0)", "[2:1, (5,3):(5,1)]", "((2,(5,3)),1,1):((320,(0,0)),0,0)"),
        ("zipped_divide", "(2,1):(320,0)", "[2:1, (5,3):(5,1)]", "((2,(5,3)),(1,1)):((320,(0,0)),(0,0))"),
        ("flat_divide", "(2,1):(320,0)", "[2:1, (5,3):(5,1)]", "(2,(5,3),1,1):(320,(0,0),0,0)"),
        ("logical_divide", "(2,1):(320,0)", "[2:1, (5,3):(5,1)]", "((2,1),((5,3),1)):((320,0),((0,0),0))"),
        // The gap in front of the second mode, rounded down, is a mode of the rest.
        ("logical_divide", "(2,1):(320,0)", "[2:1, (5,3):(7,1)]", "((2,1),((5,3),2)):((320,0),((0,0),0))"),
        ("tiled_divide", "(2,1):(1,7)", "[2:1, (5,3):(5,1)]", "((2,(5,3)),1,1):((1,(35,7)),0,0)"),
    ] {
        let answer = farkas_layout::calculator::evaluate(&format!("{operation}({a}, {tiler})")).unwrap();
        assert_eq!(answer.result, expected, "{operation}({a}, {tiler})");
    }
    // Tiles whose modes overlap cover no item once, nor does a longer mode fit.
    for script in ["logical_divide(1:0, (4,4):(12,12))", "logical_divide(4:1, (5,3):(5,1))"] {
        assert!(farkas_layout::calculator::evaluate(script).is_err(), "{script}");
    }
}
