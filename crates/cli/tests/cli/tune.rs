//! `farkas run --tune`.

use std::path::Path;

use crate::support::{Outcome, Place, command, outcome};

const RUN: [&str; 9] =
    ["run", "matmul.fks", "-D", "N=40,M=40,K=40", "--in", "A=rand:1", "--in", "B=rand:2", "--verify"];

fn farkas(place: &Place, words: &[&str], cache: &Path) -> Outcome {
    let output = command(place.root()).args(RUN).args(words).env("FARKAS_CACHE_DIR", cache).output();
    outcome(&output.expect("it runs")).succeeds()
}

fn rows(outcome: &Outcome) -> Vec<&str> {
    outcome.stderr.lines().filter(|line| line.starts_with("tune:")).collect()
}

#[test]
fn each_schedule_has_a_row_and_is_measured_once() {
    let place = Place::new();
    let cache = place.root().join("cache");
    let plain = farkas(&place, &[], &cache);
    assert_eq!(rows(&plain), Vec::<&str>::new());
    let tuned = farkas(&place, &["--tune"], &cache);
    let all = rows(&tuned);
    assert!(all.len() >= 4 && all[0].starts_with("tune: 1. by cost, the best, cost "), "{all:#?}");
    assert!(all.iter().any(|row| row.starts_with("tune: the fastest is: ")), "{all:#?}");
    // Times are never the same twice; what is known is told again.
    assert_eq!(rows(&farkas(&place, &["--tune"], &cache)), all);
    // Other threads are another matter.
    let other = farkas(&place, &["--tune", "--threads", "1"], &cache);
    assert_ne!(rows(&other), all);
}

#[test]
fn only_machine_code_is_tuned() {
    let place = Place::new();
    let run = place.farkas("run copy.fks --in A=[1,2] --tune --target ptx --device emulate");
    run.fails(2, &["only code for this machine can be prepared or tuned"]);
}
