//! Rules about single files: where they are, what they are called, how long they are and what they hold.

use std::path::Path;

use super::{Problem, SourceFile};

const TOP_LEVEL: [&str; 8] =
    ["Cargo.toml", "Cargo.lock", "crates", "grammar", "examples", "tests", "docs", "README.md"];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 6] = ["util", "utils", "helper", "helpers", "misc", "common"];

/// Longer files are split by concept.
const LONGEST_FILE: usize = 800;

/// What is read by people, and so kept short; data files may be long.
const WRITTEN_BY_HAND: [&str; 5] = ["rs", "pest", "fks", "md", "c"];

/// Made of shorter files, and checked to be in step with them.
const GENERATED: [&str; 1] = ["docs/errors.md"];

/// Crates that own unsafe code; of `ptx` only what talks to the driver.
const UNSAFE_CRATES: [&str; 3] = ["isl", "cpu", "ptx"];

/// Marks of unfinished work. Spelled in two parts, so that this file does not hold them.
const UNFINISHED: [(&str, &str); 4] = [
    (concat!("todo", "!("), "unfinished code"),
    (concat!("unimplemented", "!("), "unfinished code"),
    (concat!("dbg", "!("), "debugging output"),
    (concat!("#[", "ignore"), "an ignored test; assert today's wrong result and say that it is wrong"),
];

/// Folders of one machine.
const MACHINE_FOLDERS: [&str; 4] = ["work", "root", "home", "tmp"];

pub(super) fn check_top_level(paths: &[String]) -> Vec<Problem> {
    let mut entries: Vec<&str> = paths.iter().filter_map(|path| path.split('/').next()).collect();
    entries.sort_unstable();
    entries.dedup();
    entries
        .into_iter()
        .filter(|entry| !TOP_LEVEL.contains(entry) && !entry.starts_with('.') && !entry.starts_with("LICENSE-"))
        .map(|entry| Problem {
            path: entry.to_owned(),
            line: None,
            message: "does not belong at the top level".to_owned(),
        })
        .collect()
}

pub(super) fn check_name(path: &str) -> Option<Problem> {
    let module = Path::new(path.strip_suffix(".rs")?);
    let empty = module.iter().find_map(|part| EMPTY_NAMES.into_iter().find(|name| part == *name))?;
    Some(Problem {
        path: path.to_owned(),
        line: None,
        message: format!("`{empty}` says nothing; name the module after what it holds"),
    })
}

pub(super) fn check_text(file: &SourceFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |line: Option<usize>, message: String| {
        problems.push(Problem { path: file.path.clone(), line, message });
    };
    let extension = Path::new(&file.path).extension().and_then(|extension| extension.to_str()).unwrap_or_default();

    let length = file.text.lines().count();
    let generated = GENERATED.contains(&file.path.as_str());
    if WRITTEN_BY_HAND.contains(&extension) && !generated && length > LONGEST_FILE {
        report(None, format!("{length} lines; past {LONGEST_FILE}, split by concept"));
    }
    if extension == "lock" {
        return problems;
    }
    for (number, line) in (1..).zip(file.text.lines()) {
        if extension == "rs" {
            for (mark, what) in UNFINISHED {
                if line.contains(mark) {
                    report(Some(number), format!("`{mark}`: {what}"));
                }
            }
        }
        if let Some(path) = machine_path(line) {
            report(Some(number), format!("`{path}…` is a path of one machine"));
        }
    }
    problems
}

/// The start of an absolute path below one of [`MACHINE_FOLDERS`].
fn machine_path(line: &str) -> Option<&str> {
    line.match_indices('/').find_map(|(start, _)| {
        let rest = &line[start + 1..];
        let folder = MACHINE_FOLDERS.into_iter().find(|folder| rest.starts_with(folder))?;
        let inside = rest[folder.len()..].strip_prefix('/')?;
        inside.starts_with(|c: char| c.is_ascii_lowercase()).then(|| &line[start..start + folder.len() + 3])
    })
}

/// Every crate root but those of [`UNSAFE_CRATES`] forbids unsafe code.
/// The page that names the tests which hold what it promises.
const PROMISES: &str = "docs/reliability.md";

/// Every test that the page of promises names exists.
pub(super) fn check_promises(sources: &[SourceFile]) -> Vec<Problem> {
    let Some(page) = sources.iter().find(|file| file.path == PROMISES) else { return Vec::new() };
    let exists = |name: &str| {
        let test = format!("fn {name}()");
        sources.iter().any(|file| file.path.ends_with(".rs") && file.text.contains(&test))
    };
    let mut problems = Vec::new();
    for (line, text) in page.text.lines().enumerate().filter(|(_, text)| text.starts_with('|')) {
        let quoted = text.split('`').skip(1).step_by(2);
        // Names of tests are long; what else is quoted has other signs in it.
        let is_test = |word: &&str| {
            word.matches('_').count() >= 2 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        for name in quoted.filter(is_test).filter(|name| !exists(name)) {
            let message = format!("there is no test `{name}`");
            problems.push(Problem { path: PROMISES.to_owned(), line: Some(line + 1), message });
        }
    }
    problems
}

/// The word by which loops are said to be in bounds, spelled so that this file does not hold it.
const VOUCHING: &str = concat!("by_", "proof(");

/// Who may say it: the loop generator, the place that defines it, and whatever is not part of the product.
const VOUCHERS: [&str; 3] = ["crates/poly/src/generate.rs", "crates/poly/src/reprove.rs", "crates/loops/src/bounds.rs"];

/// Loops that are said to be in bounds run unchecked, so only the proof may say it.
pub(super) fn check_bounds_proven(sources: &[SourceFile]) -> Vec<Problem> {
    let is_product = |path: &str| path.ends_with(".rs") && path.contains("/src/") && !VOUCHERS.contains(&path);
    let mut problems = Vec::new();
    for file in sources.iter().filter(|file| is_product(&file.path)) {
        for (line, _) in file.text.lines().enumerate().filter(|(_, line)| line.contains(VOUCHING)) {
            let message = "only the loop generator may say that loops are in bounds; others go through `verify`";
            problems.push(Problem { path: file.path.clone(), line: Some(line + 1), message: message.to_owned() });
        }
    }
    problems
}

pub(super) fn check_unsafe_forbidden(sources: &[SourceFile]) -> Vec<Problem> {
    let is_root = |path: &str| {
        let mut parts = path.split('/');
        parts.next() == Some("crates")
            && parts.next().is_some_and(|name| !UNSAFE_CRATES.contains(&name))
            && parts.next() == Some("src")
            && matches!((parts.next(), parts.next()), (Some("lib.rs" | "main.rs"), None) | (Some("bin"), Some(_)))
    };
    sources
        .iter()
        .filter(|file| is_root(&file.path) && !file.text.lines().any(|line| line == "#![forbid(unsafe_code)]"))
        .map(|file| Problem {
            path: file.path.clone(),
            line: Some(1),
            message: "lacks `#![forbid(unsafe_code)]`".to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: impl Into<String>) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.into() }
    }

    fn found(problems: &[Problem]) -> Vec<String> {
        problems.iter().map(Problem::to_string).collect()
    }

    #[test]
    fn top_level_holds_what_the_layout_says() {
        let paths = ["Cargo.toml", "LICENSE-MIT", ".ci/run", "crates/a/b.rs", "src/lib.rs", "notes.txt", "src/x.rs"];
        let problems = check_top_level(&paths.map(str::to_owned));
        assert_eq!(problems.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), ["notes.txt", "src"]);
    }

    #[test]
    fn promises_name_tests_that_exist() {
        let page = "# Page\n| a | `it_holds_that_one` |\n| b | `it_holds_that_two`, `crates/x.rs`, `FARKAS_X_Y` |\n";
        let sources = [file("docs/reliability.md", page), file("crates/a/tests/b.rs", "fn it_holds_that_one() {}\n")];
        let problems = found(&check_promises(&sources));
        assert_eq!(problems, ["docs/reliability.md:3: there is no test `it_holds_that_two`"]);
    }

    #[test]
    fn only_the_generator_says_that_loops_are_in_bounds() {
        let text = format!("let a = 1;\nlet b = InBounds::{VOUCHING}kernel);\n");
        let paths = ["crates/poly/src/generate.rs", "crates/cpu/tests/run/mod.rs", "crates/farkas/src/pipeline.rs"];
        let problems = check_bounds_proven(&paths.map(|path| file(path, text.clone())));
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().starts_with("crates/farkas/src/pipeline.rs:2: "));
    }

    #[test]
    fn module_names_mean_something() {
        assert!(check_name("crates/poly/src/utils.rs").is_some());
        assert!(check_name("tests/common/mod.rs").is_some());
        assert!(check_name("crates/poly/src/commonality.rs").is_none());
        assert!(check_name("docs/misc.md").is_none(), "only modules are meant");
    }

    #[test]
    fn long_files_are_reported_once() {
        let long = "x\n".repeat(LONGEST_FILE + 1);
        assert_eq!(found(&check_text(&file("a.rs", long.clone()))), ["a.rs: 801 lines; past 800, split by concept"]);
        assert!(check_text(&file("a.rs", "x\n".repeat(LONGEST_FILE))).is_empty());
        assert!(check_text(&file("Cargo.lock", long)).is_empty());
    }

    #[test]
    fn unfinished_code_is_found_in_rust_only() {
        let text = format!("fn f() {{\n    {}\n}}\n", UNFINISHED[0].0);
        assert_eq!(check_text(&file("a.rs", text.clone()))[0].line, Some(2));
        assert!(check_text(&file("a.md", text)).is_empty());
    }

    #[test]
    fn machine_paths_are_found() {
        for folder in MACHINE_FOLDERS {
            assert!(machine_path(&format!("see /{folder}/alice/x")).is_some());
            assert!(machine_path(&format!("see é/{folder}/a")).is_some());
            assert!(machine_path(&format!("see /{folder}/")).is_none());
            assert!(machine_path(&format!("see /{folder}/<name>")).is_none());
        }
        assert!(machine_path("crates/workspace/a").is_none());
    }

    #[test]
    fn crate_roots_forbid_unsafe() {
        let sources = [
            file("crates/poly/src/lib.rs", "//! Doc.\n#![forbid(unsafe_code)]\n"),
            file("crates/poly/src/scop.rs", ""),
            file("crates/isl/src/lib.rs", ""),
            file("crates/cli/src/main.rs", "// #![forbid(unsafe_code)]\n"),
            file("crates/cli/src/bin/other.rs", ""),
        ];
        assert_eq!(
            found(&check_unsafe_forbidden(&sources)),
            [
                "crates/cli/src/main.rs:1: lacks `#![forbid(unsafe_code)]`",
                "crates/cli/src/bin/other.rs:1: lacks `#![forbid(unsafe_code)]`",
            ]
        );
    }
}
