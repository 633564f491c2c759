//! `explain`: every code has a page, and every page tells the truth.
//!
//! `FARKAS_BLESS=1` writes the messages into the pages, and `docs/errors.md` from them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{Outcome, Place, repository};

/// Codes that stand in the sources, but that no text can cause.
const UNREACHABLE: [&str; 1] = [
    // The parser refuses `inout` in front of a result.
    "E0109",
];

/// The top of `docs/errors.md`; the pages follow.
const HEAD: &str = "# Errors

A page per error code, as `farkas explain E0401` prints it: a wrong program, its message, why, and a corrected program. This
file is made of the pages in `crates/diag/src/explain`, by the tests of `cli` with `FARKAS_BLESS=1`.
";

fn folder() -> PathBuf {
    repository().join("crates/diag/src/explain")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the file is there")
}

fn blesses() -> bool {
    std::env::var_os("FARKAS_BLESS").is_some()
}

/// The codes that have a page, ascending.
fn codes() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the pages are there");
    let stem = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("an entry").path().file_stem().map(|stem| stem.to_string_lossy().into_owned())
    };
    let mut codes: Vec<String> = entries.filter_map(stem).collect();
    codes.sort();
    codes
}

/// A fenced block of a page, such as `fks wrong`.
fn block<'a>(page: &'a str, info: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("```{info}\n"))?;
    rest.split_once("```").map(|(text, _)| text)
}

/// The program of a side; a right schedule is for the program that is shown.
fn program(code: &str, page: &str, side: &str) -> Vec<u8> {
    let shown = block(page, &format!("fks {side}")).or(block(page, "fks wrong"));
    match (code, side, shown) {
        ("E0002", "wrong", None) => vec![b'\n'; (1 << 20) + 1],
        ("E0003", "wrong", None) => {
            format!("fn f() -> (y: i64) {{ y = {}1{} }}", "(".repeat(300), ")".repeat(300)).into_bytes()
        }
        ("E0005", "wrong", None) => b"\xff\xfefn".to_vec(),
        (_, _, Some(text)) => text.as_bytes().to_vec(),
        (_, _, None) => unreachable!("{code} shows no program"),
    }
}

fn check(code: &str, page: &str, side: &str) -> Outcome {
    let place = Place::new();
    place.write("program.fks", &program(code, page, side));
    // Whether loops can be written down, and for whom, is found only where they are.
    let mut words = match code {
        "E0519" => vec!["build", "program.fks"],
        "E0601" => vec!["build", "program.fks", "--target=ptx"],
        _ => vec!["check", "program.fks"],
    };
    for (info, name) in [("sched", "program.sched"), ("yaml", "program.yaml")] {
        if let Some(schedule) = block(page, &format!("{info} {side}")) {
            place.write(name, schedule.as_bytes());
            words.extend(["--schedule", name]);
        }
    }
    place.farkas_words(&words)
}

#[test]
fn every_code_in_the_sources_has_a_page() {
    fn visit(path: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(path).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = read(&path);
                let is_code = |text: &&str| text.len() == 5 && text[1..].bytes().all(|byte| byte.is_ascii_digit());
                let quoted = text.split('"').filter(|text| text.starts_with('E'));
                found.extend(quoted.filter(is_code).map(str::to_string));
            }
        }
    }
    let mut found = BTreeSet::new();
    for name in ["syntax", "program", "poly", "steps", "choice", "farkas"] {
        visit(&repository().join("crates").join(name).join("src"), &mut found);
    }
    let explained: BTreeSet<String> = codes().into_iter().chain(UNREACHABLE.map(str::to_string)).collect();
    let missing: Vec<&String> = found.difference(&explained).collect();
    assert!(missing.is_empty(), "no page in crates/diag/src/explain for {missing:?}");
    let idle: Vec<&String> = explained.difference(&found).collect();
    assert!(idle.is_empty(), "pages for codes that nothing emits: {idle:?}");
}

#[test]
fn wrong_programs_give_the_message_corrected_ones_pass_and_the_document_is_in_step() {
    let mut document = String::from(HEAD);
    for code in codes() {
        let path = folder().join(format!("{code}.md"));
        let page = read(&path);
        assert!(page.starts_with(&format!("# {code}: ")), "{}", path.display());
        let wrong = check(&code, &page, "wrong").fails(1, &[&format!("error[{code}]")]);
        let count = |text: &str| wrong.stderr.matches(text).count();
        assert_eq!(count("error["), count(&format!("error[{code}]")), "{code} should give no other error: {wrong:#?}");
        check(&code, &page, "right").succeeds();
        assert!(page.contains("```fks right") || page.contains("```sched right") || page.contains("```yaml right"));

        let (head, rest) = page.split_once("```text message\n").expect("each page shows the message");
        let (told, tail) = rest.split_once("```").expect("the block ends");
        let message = format!("{}\n", wrong.stderr.trim_end());
        let page = format!("{head}```text message\n{message}```{tail}");
        if blesses() {
            std::fs::write(&path, &page).expect("the page is writable");
        } else {
            assert_eq!(told, message, "{code}: run the tests with FARKAS_BLESS=1 if this is right");
        }
        document.push_str(&format!("\n#{page}"));
    }
    let path = repository().join("docs/errors.md");
    if blesses() {
        std::fs::write(&path, document).expect("the document is writable");
    } else {
        assert!(read(&path) == document, "docs/errors.md is not in step: run the tests with FARKAS_BLESS=1");
    }
}

#[test]
fn pages_are_printed() {
    let place = Place::new();
    let page = place.farkas("explain E0401").succeeds().stdout;
    assert_eq!(page, read(&folder().join("E0401.md")));
    for line in ["explain e0401", "explain 401", "check --explain E0401"] {
        assert_eq!(place.farkas(line).succeeds().stdout, page, "{line}");
    }
    let all = place.farkas("explain").succeeds();
    for code in codes() {
        assert!(
            all.stdout.contains(&format!("# {code}: ")),
            "{code} is not in the table of crates/diag/src/explain.rs"
        );
    }
    place.farkas("explain E9999").fails(2, &["no error `E9999`", "E0401"]);
    place.farkas("explain what").fails(2, &["no error `what`"]);
    place.farkas("check").fails(2, &["FILE"]);
    place.farkas("check --explain E0401 copy.fks").fails(2, &["cannot be used with"]);
}

#[test]
fn unreachable_codes_are() {
    let place = Place::new();
    place.write("program.fks", b"fn f<N>() -> (inout y: f64[N]) { y[i] = 0 }");
    place.farkas("check program.fks").fails(1, &["error[E0001]"]);
}
