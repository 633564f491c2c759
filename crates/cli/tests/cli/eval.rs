//! `eval`: values of expressions, and errors that point into them.

use crate::support::Place;

#[track_caller]
fn value(words: &[&str]) -> String {
    let eval = Place::new().farkas_words(&[&["eval"], words].concat()).succeeds();
    assert_eq!(eval.stderr, "");
    eval.stdout.trim_end().to_string()
}

#[test]
fn expressions_have_values_of_the_type_that_fits() {
    assert_eq!(value(&["sum[i: 0..10] i * i"]), "285");
    assert_eq!(value(&["prod[i: 1..6] i"]), "120");
    assert_eq!(value(&["-7 / 2"]), "-4");
    assert_eq!(value(&["sqrt(2.0)"]), "1.4142135623730951");
    assert_eq!(value(&["sum[i: 1..3] 1.0 / f64(i)"]), "1.5");
    assert_eq!(value(&["any[i: 0..3] (i = 2)"]), "true");
    assert_eq!(value(&["if 1 < 2 then 3 else 4 # a comment"]), "3");
    assert_eq!(value(&["sum[i: 0..N] i", "-D", "N=5"]), "10");
    assert_eq!(value(&["1.0 / 0.0"]), "inf");
}

#[test]
fn values_can_be_json() {
    let json = value(&["2 + 2", "--message-format=json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!((&json["dtype"], &json["values"]), (&"i64".into(), &serde_json::json!([4])));
}

#[test]
fn errors_point_into_the_expression() {
    let place = Place::new();
    for (expression, words) in [
        ("1 + true", ["<expression>:1:1", "do not mix"]),
        ("sum[i: 0..3] x[i]", ["<expression>:1:14", "`x` is not known here"]),
        ("1 +", ["<expression>:1:4", "the expression is not complete"]),
        ("(1", ["<expression>:1:3", "still open"]),
        ("1\n+ @", ["<expression>:2:3", "error[E0001]"]),
        ("1 value = 2", ["<expression>:1:3", "error[E0001]"]),
        ("1 } fn g() -> (x: i64) { x = 1", ["<expression>:1:3", "error[E0001]"]),
        ("9 / 0", ["<expression>:1:5", "by zero"]),
    ] {
        let eval = place.farkas_words(&["eval", expression]).fails(1, &words);
        assert_eq!(eval.stdout, "", "{expression}");
    }
}

#[test]
fn other_failures_are_told_as_everywhere() {
    let place = Place::new();
    place.farkas_words(&["eval", "sum[i: 0..3] 6 / i"]).fails(4, &["division by zero"]);
    place.farkas_words(&["eval", " "]).fails(2, &["the expression is empty"]);
    place.farkas_words(&["eval", "N", "-D", "N)=1"]).fails(2, &["`N)` is not a name"]);
    place.farkas_words(&["eval"]).fails(2, &["EXPR"]);
}
