//! The documentation is true: its programs compile, its schedules are legal or refused with the messages it shows.
//!
//! `FARKAS_BLESS=1` writes the messages into the pages.

#![expect(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use diag::{Source, Style};
use farkas::{Engine, Options, Schedule};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A fenced block: the word behind the fence, its first line, and its text.
struct Block<'a> {
    word: &'a str,
    line: usize,
    text: &'a str,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut offset = 0;
    let mut open: Option<(&str, usize, usize)> = None;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let end = offset + line.len();
        match (line.trim_end().strip_prefix("```"), open) {
            (Some(word), None) => open = Some((word, number + 2, end)),
            (Some(_), Some((word, line, start))) => {
                blocks.push(Block { word, line, text: &page[start..offset] });
                open = None;
            }
            (None, _) => {}
        }
        offset = end;
    }
    blocks
}

#[test]
fn programs_compile() {
    let mut compiled = 0;
    for path in [
        "README.md",
        "docs/language.md",
        "docs/numpy.md",
        "docs/schedules.md",
        "docs/coordinates.md",
        "docs/architecture.md",
    ] {
        let page = read(path);
        for block in blocks(&page).iter().filter(|block| block.word == "fks") {
            let source = Source::new(path, block.text);
            if let Err(error) = Engine::new().compile_source(&source) {
                panic!("{path}:{}: {}", block.line, error.render(Style::Plain));
            }
            compiled += 1;
        }
    }
    assert!(compiled >= 12, "only {compiled} programs were found");
}

/// The pages about schedules.
const PAGES: [&str; 2] = ["docs/schedules.md", "docs/coordinates.md"];

/// The functions of these pages, each as a program of its own.
fn functions() -> Vec<(String, String)> {
    let pages = PAGES.map(read);
    let programs = pages.iter().flat_map(|page| blocks(page)).filter(|block| block.word == "fks");
    let texts = programs.flat_map(|block| block.text.split("\n\n").map(str::to_string).collect::<Vec<_>>());
    let named = texts.filter_map(|text| {
        let name = text.trim_start().strip_prefix("fn ")?.split(['<', '(']).next()?.to_string();
        Some((name, format!("{}\n", text.trim())))
    });
    named.collect()
}

/// What the check says about a script of one function: nothing if it is legal.
fn judge(functions: &[(String, String)], name: &str, steps: &str) -> Option<String> {
    let (_, program) = functions
        .iter()
        .find(|(known, _)| known == name)
        .unwrap_or_else(|| panic!("the page has no function `{name}`"));
    let script = format!("schedule {name} {{\n    {steps}\n}}\n");
    let schedule = Some(Schedule::Script(Source::new(format!("{name}.sched"), script)));
    let engine = Engine::with_options(Options { schedule, ..Options::default() });
    engine.check(&Source::new(format!("{name}.fks"), program.as_str())).err().map(|error| error.render(Style::Plain))
}

#[test]
fn refused_schedules_are_refused_as_shown() {
    let checked: usize = PAGES.map(refused_as_shown).into_iter().sum();
    assert!(checked >= 15, "only {checked} messages were found");
}

fn refused_as_shown(path: &str) -> usize {
    let page = read(path);
    let functions = functions();
    let mut blessed = page.clone();
    let mut checked = 0;
    for block in blocks(&page).iter().filter(|block| block.text.starts_with("error[")) {
        let Some((name, line)) = block.text.lines().nth(1).and_then(|line| line.split_once(".sched:")) else {
            continue;
        };
        let name = name.trim_start_matches([' ', '-', '>']);
        let number = line.split(':').next().unwrap_or_default();
        let shown = block.text.lines().find_map(|line| line.strip_prefix(&format!("{number} | ")));
        let steps = shown.unwrap_or_else(|| panic!("{path}:{}: no script line is shown", block.line)).trim();
        let said = judge(&functions, name, steps).unwrap_or_else(|| {
            panic!("{path}:{}: `{steps}` is legal for `{name}`", block.line);
        });
        if std::env::var_os("FARKAS_BLESS").is_some() {
            blessed = blessed.replacen(block.text, &format!("{}\n", said.trim_end()), 1);
        } else {
            assert_eq!(said.trim_end(), block.text.trim_end(), "{path}:{}", block.line);
        }
        checked += 1;
    }
    if blessed != page {
        std::fs::write(root().join(path), blessed).expect("a page of the documentation can be written");
    }
    checked
}

/// Sentences of the form ``Legal for `f`: `steps` ``.
#[test]
fn schedules_called_legal_are_legal() {
    let functions = functions();
    let pages = PAGES.map(read).join("\n");
    let flowing = pages.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut checked = 0;
    for claim in flowing.split("Legal for `").skip(1) {
        let mut pieces = claim.split('`');
        let (Some(name), Some(between), Some(steps)) = (pieces.next(), pieces.next(), pieces.next()) else { continue };
        // Some sentences go on in another way.
        if between.ends_with(": ") {
            if let Some(said) = judge(&functions, name, steps) {
                panic!("`{steps}` is not legal for `{name}`: {said}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 12, "only {checked} claims were found");
}
