//! `fmt`, `completions`, help, versions, colours and logs.

use crate::support::{Place, command, outcome, with_stdin};

const UGLY: &str = "fn   f<N>( A:f64[N] )->(B:f64[N]){B[i]=A[i]}";

#[test]
fn files_are_formatted_in_place() {
    let place = Place::new();
    place.write("ugly.fks", UGLY.as_bytes());
    let check = place.farkas("fmt --check ugly.fks").fails(1, &[]);
    assert_eq!(check.stdout, "ugly.fks\n");
    assert_eq!(place.read("ugly.fks"), UGLY.as_bytes());
    let before = place.names();
    place.farkas("fmt ugly.fks").succeeds();
    assert_ne!(place.read("ugly.fks"), UGLY.as_bytes());
    assert_eq!(place.names(), before);
    assert_eq!(place.farkas("fmt --check ugly.fks").succeeds().stdout, "");
}

#[test]
fn a_bad_file_is_left_alone_and_the_others_are_formatted() {
    let place = Place::new();
    place.write("ugly.fks", UGLY.as_bytes());
    place.write("bad.fks", b"fn f( {");
    place.farkas("fmt bad.fks ugly.fks").fails(1, &["bad.fks:1"]);
    assert_eq!(place.read("bad.fks"), b"fn f( {");
    place.farkas("fmt --check ugly.fks").succeeds();
}

#[test]
fn stdin_is_formatted_to_stdout() {
    let place = Place::new();
    let formatted = with_stdin(&place, &["fmt", "--stdin"], UGLY.as_bytes()).succeeds();
    assert!(formatted.stdout.starts_with("fn f<N>(A: f64[N]) -> (B: f64[N])"), "{formatted:#?}");
    with_stdin(&place, &["fmt", "--stdin", "--check"], formatted.stdout.as_bytes()).succeeds();
    let check = with_stdin(&place, &["fmt", "--stdin", "--check"], UGLY.as_bytes()).fails(1, &[]);
    assert_eq!(check.stdout, "<stdin>\n");
    with_stdin(&place, &["fmt", "--stdin"], b"\xff\x00").fails(1, &["<stdin>", "not a text file"]);
    place.farkas("fmt").fails(2, &["FILE"]);
}

#[test]
fn help_and_version_go_to_stdout() {
    let place = Place::new();
    let version = place.farkas("--version").succeeds();
    assert_eq!(version.stdout, format!("farkas {}\n", env!("CARGO_PKG_VERSION")));
    place.farkas("--help").succeeds().prints(&["Exit codes:", "FARKAS_LOG", "farkas run examples/matmul.fks"]);
    for command in ["run", "check", "build", "info", "explore", "explain", "eval", "layout", "fmt", "completions"] {
        place.farkas(&format!("{command} --help")).succeeds().prints(&["Usage: farkas", "Example"]);
    }
}

#[test]
fn shells_get_a_script() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        place.farkas(&format!("completions {shell}")).succeeds().prints(&["farkas", "emit"]);
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let place = Place::new();
    place.write("bad.fks", b"fn f( {");
    let escape = '\u{1b}';
    assert!(!place.farkas("check bad.fks").stderr.contains(escape));
    assert!(!place.farkas("check bad.fks --color=never").stderr.contains(escape));
    assert!(place.farkas("check bad.fks --color=always").stderr.contains(escape));
    assert!(place.farkas("check nowhere.fks --color=always").stderr.contains(escape));
}

#[test]
fn logs_go_to_stderr_when_asked_for() {
    let place = Place::new();
    let run = |filter: &str| {
        let output = command(place.root()).args(["check", "copy.fks"]).env("FARKAS_LOG", filter).output();
        outcome(&output.expect("the binary starts")).succeeds()
    };
    let loud = run("debug");
    assert!(loud.stderr.contains("schedule"), "{loud:#?}");
    assert_eq!(loud.stdout, "copy: legal\n");
    assert_eq!(run("off").stderr, "");
    assert!(run("=,=[").stderr.contains("warning: FARKAS_LOG"));
    assert_eq!(place.farkas("check copy.fks").stderr, "");
}
