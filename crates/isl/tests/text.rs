//! isl's notation is read with limits, and all of it must be used.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use farkas_isl as isl;
use isl::{Aff, BasicMap, Context, Error, Map, MultiUnionPwAff, Set, UnionMap, Val};

#[test]
fn what_is_printed_can_be_read() {
    let context = Context::new().unwrap();
    for text in [
        "[n] -> { S[i, j] : 0 <= i < n and (exists (e0 = floor((j)/2): 2e0 = j)) }",
        "{ [] }",
        "{ A[[B[i] -> C[j]] -> D[]] : i >= 0 or j < 3 }",
    ] {
        let set = Set::read_from_str(&context, text).unwrap();
        let again = Set::read_from_str(&context, &set.to_string()).unwrap();
        assert!(set.is_equal(&again).unwrap(), "{text}");
    }
}

#[test]
fn trailing_text_is_refused() {
    let context = Context::new().unwrap();
    for text in ["{ [i] } }", "{ [i] : i > 0 } extra", "{ [i] } ; { [j] }"] {
        let outcome = Set::read_from_str(&context, text);
        assert!(matches!(outcome, Err(Error::Text { .. })), "{text}: {outcome:?}");
    }
    assert!(Val::read_from_str(&context, "7 8").is_err());
    assert!(Aff::read_from_str(&context, "{ [i] -> [(i)] } x").is_err());
}

#[test]
fn wrong_text_is_an_error() {
    let context = Context::new().unwrap();
    for text in ["", "{", "{ [i", "{ [i] : j > 0 }", "{ [i] -> [i] }", "nonsense", "{ [i] : i == }"] {
        assert!(Set::read_from_str(&context, text).is_err(), "{text}");
    }
    assert!(UnionMap::read_from_str(&context, "{ A[i] }").is_err());
    assert!(BasicMap::read_from_str(&context, "{ [i] -> [j] : j < i or j > i }").is_err());
    assert!(BasicMap::read_from_str(&context, "{ [i] -> [j] : j < i }").is_ok());
}

#[test]
fn deep_and_long_text_is_refused_before_parsing() {
    let context = Context::new().unwrap();
    let deep = format!("{{ [i] : {}i > 0{} }}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(matches!(Set::read_from_str(&context, &deep), Err(Error::Text { .. })));
    let nested = format!("{{ {}[]{} }}", "[".repeat(10_000), " -> []]".repeat(10_000));
    assert!(matches!(Map::read_from_str(&context, &nested), Err(Error::Text { .. })));
    let long = " ".repeat(3 << 20);
    assert!(matches!(Set::read_from_str(&context, &long), Err(Error::Text { .. })));
    for part in ["not ", "!", "exists e: ", "1 * ", "- ", "i > 0 ? ", "i = 0 => "] {
        let text = format!("{{ [i] : {} }}", part.repeat(20_000));
        assert!(Set::read_from_str(&context, &text).is_err(), "{part}");
    }
}

/// isl's readers of both trust their input: the first sizes make it write beside an array, and the number is followed as a pointer.
#[test]
fn matrices_and_trees_are_not_read_as_objects() {
    let context = Context::new().unwrap();
    for text in ["1073774592 1073709058", "2000000000 2000000000\n1 1", "1 3\n1 1 0", "domain: 5", "{ domain: 5 }"] {
        assert!(matches!(Set::read_from_str(&context, text), Err(Error::Text { .. })), "{text}");
        assert!(matches!(UnionMap::read_from_str(&context, text), Err(Error::Text { .. })), "{text}");
    }
    for text in
        ["([] : domain: 5)", "([] : { domain: 5 })", "([] : 1073774592 1073709058", "([] : # 1\n1073774592 1073709058"]
    {
        assert!(matches!(MultiUnionPwAff::read_from_str(&context, text), Err(Error::Text { .. })), "{text}");
    }
    assert!(MultiUnionPwAff::read_from_str(&context, "([] : { domain[i] : i = 3 })").is_ok());
    assert!(Set::read_from_str(&context, "{ domain[i] : i = 3 }").is_ok());
}
