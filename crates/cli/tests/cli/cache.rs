//! `farkas cache`, and runs that use it.

use std::fs;
use std::path::Path;

use crate::support::{Outcome, Place, command, outcome};

const RUN: [&str; 6] = ["run", "copy.fks", "--in", "A=[1,2]", "--time", "--verify"];

fn farkas(place: &Place, directory: &Path, words: &[&str]) -> Outcome {
    let output = command(place.root()).args(words).env("FARKAS_CACHE_DIR", directory).output();
    outcome(&output.expect("it runs"))
}

#[test]
fn the_second_run_is_served() {
    let place = Place::new();
    let cache = place.root().join("made/when needed");
    let cold = farkas(&place, &cache, &RUN).succeeds();
    assert!(cold.stderr.contains("time: loops") && cold.stderr.contains("time: remember"), "{cold:#?}");
    let warm = farkas(&place, &cache, &RUN).succeeds();
    assert!(!warm.stderr.contains("time: loops") && warm.stderr.contains("time: reprove"), "{warm:#?}");
    assert_eq!(cold.stdout, warm.stdout);
    let anew = farkas(&place, &cache, &[&RUN[..], &["--no-cache"]].concat()).succeeds();
    assert!(anew.stderr.contains("time: loops") && !anew.stderr.contains("remember"), "{anew:#?}");
    // What is proven is shown by proving it.
    farkas(&place, &cache, &["build", "copy.fks", "--emit=schedule"]).succeeds().prints(&["domain"]);
}

#[test]
fn the_cache_is_looked_at_and_emptied() {
    let place = Place::new();
    let cache = place.root().join("cache");
    farkas(&place, &cache, &["cache", "stat"]).succeeds().prints(&["holds 0 functions"]);
    farkas(&place, &cache, &RUN).succeeds();
    farkas(&place, &cache, &["cache", "stat"]).succeeds().prints(&["holds 1 function,"]);
    farkas(&place, &cache, &["cache", "stat", "--message-format=json"]).succeeds().prints(&["\"functions\":1"]);
    farkas(&place, &cache, &["cache", "clear"]).succeeds().prints(&["no longer holds 1 function,"]);
    assert_eq!(fs::read_dir(&cache).expect("it is there").count(), 0);
    farkas(&place, Path::new(""), &["cache", "stat"]).fails(2, &["there is no cache"]);
    farkas(&place, &place.root().join("copy.fks"), &["cache", "clear"]).fails(4, &["cannot use the cache"]);
}

#[test]
fn a_directory_that_cannot_be_is_told_of() {
    let place = Place::new();
    for action in ["stat", "clear"] {
        // Nobody can make a directory there, the system's administrator included.
        let nowhere = farkas(&place, Path::new("/proc/nowhere/cache"), &["cache", action]);
        nowhere.fails(4, &["cannot use the cache `/proc/nowhere/cache`", "`/proc` takes no new directories"]);
        let below_a_file = place.root().join("copy.fks/cache");
        farkas(&place, &below_a_file, &["cache", action]).fails(4, &["cannot use the cache"]);
    }
    farkas(&place, Path::new("not/made/yet"), &["cache", "stat"]).succeeds().prints(&["holds 0 functions"]);
    assert!(!place.root().join("not").exists(), "looking makes nothing");
}

#[test]
fn a_damaged_file_is_told_of_and_replaced() {
    let place = Place::new();
    let cache = place.root().join("cache");
    let right = farkas(&place, &cache, &RUN).succeeds();
    let file = fs::read_dir(&cache).expect("it is there").next().expect("a file").expect("a file").path();
    fs::write(&file, "something else").expect("it can be written");
    let damaged = farkas(&place, &cache, &RUN).succeeds();
    assert!(damaged.stderr.contains("a file of the cache is not used"), "{damaged:#?}");
    assert_eq!(damaged.stdout, right.stdout);
    let again = farkas(&place, &cache, &RUN).succeeds();
    assert!(!again.stderr.contains("not used") && again.stderr.contains("time: reprove"), "{again:#?}");
    // A directory that cannot be made is told of, and the run goes on.
    let nowhere = farkas(&place, &place.root().join("copy.fks"), &RUN).succeeds();
    assert!(nowhere.stderr.contains("nothing can be stored in the cache"), "{nowhere:#?}");
    assert_eq!(nowhere.stdout, right.stdout);
}
