//! Nothing leaks: neither objects, nor strings, nor contexts. One test at a time, since the process's memory is measured.

#![expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

use farkas_isl as isl;
use isl::{Context, Dim, Error, Set};

fn set(context: &Context, text: &str) -> Set {
    Set::read_from_str(context, text).unwrap()
}

#[test]
fn nothing_leaks() {
    objects_and_strings_do_not_leak();
    contexts_do_not_leak();
}

fn objects_and_strings_do_not_leak() {
    let context = Context::new().unwrap();
    let there = Context::new().unwrap();
    let round = |i: i64| {
        let objects = set(&context, &format!("[n] -> {{ S[i, j] : 0 <= i < {i} and 0 <= j < n }}"));
        let text = objects.to_string();
        let name = objects.get_tuple_name().unwrap();
        let sum = objects.clone().union(objects.clone()).unwrap();
        drop((text, name, sum.basic_sets().unwrap(), sum.clone()));
        // Failures give everything back as well.
        assert!(objects.clone().intersect(set(&there, "{ [i] }")).is_err());
        assert!(objects.clone().project_out(Dim::Set, 9, 9).is_err());
        assert!(Set::read_from_str(&context, "{ [i] : oops").is_err());
        objects.foreach_basic_set(|_| Err(Error::callback("stop"))).unwrap_err();
    };
    (1..1_000).for_each(round);
    let before = resident_bytes();
    (1..10_001).for_each(round);
    let growth = resident_bytes().saturating_sub(before);
    assert!(growth < 5 << 20, "grew by {growth} bytes");
}

fn contexts_do_not_leak() {
    let round = |_| {
        let context = Context::new().unwrap();
        let keep = set(&context, "[n] -> { [i] : 0 <= i < n }");
        drop(context);
        drop(keep.lexmin().unwrap());
    };
    (0..200).for_each(round);
    let before = resident_bytes();
    (0..2_000).for_each(round);
    let growth = resident_bytes().saturating_sub(before);
    assert!(growth < 5 << 20, "grew by {growth} bytes");
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}
