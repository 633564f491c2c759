//! The case files of `tests/cases`: every file is a test of its own.
//!
//! A case is a program, a first line that says why it exists, and sections `--- name` with what is expected. Stage
//! sections (`ast program statements deps schedule loops`, and `script` and `prepared` for what recipes make of it) hold text in which `…` stands for anything; `run` holds
//! calls that every engine executes; `message` holds rendered errors. `#~ error: text` marks a line that must be
//! rejected. Cases in `sched` have a schedule as well (`sched`, `tree`; see the module of that name). `FARKAS_BLESS=1` writes what is found into the sections that do not match; it has no effect under CI.

mod case;
mod engines;
mod errors;
mod pattern;
mod run;
mod sched;
mod stages;
mod value;

use std::path::{Path, PathBuf};

use case::Case;
use libtest_mimic::{Arguments, Failed, Trial};

/// The folders of cases, in the order of the pipeline.
const FOLDERS: [&str; 11] =
    ["parse", "check", "statements", "deps", "schedule", "sched", "recipes", "layout", "loops", "run", "errors"];

fn main() -> std::io::Result<()> {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut trials = Vec::new();
    for entry in std::fs::read_dir(&root)? {
        let folder = entry?.file_name().to_string_lossy().into_owned();
        if !FOLDERS.contains(&folder.as_str()) {
            trials.push(Trial::test(folder.clone(), move || Err(format!("`{folder}` is no folder of cases").into())));
        }
    }
    for folder in FOLDERS {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(root.join(folder))? {
            paths.push(entry?.path());
        }
        paths.sort();
        for path in paths {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            trials.push(Trial::test(format!("{folder}::{stem}"), move || test(&path)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit()
}

fn test(path: &PathBuf) -> Result<(), Failed> {
    if path.extension().is_none_or(|extension| extension != "fks") {
        return Err("a case file ends in `.fks`".into());
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut case = Case::parse(&name, &text)?;
    let mut failures = Vec::new();
    if case.section("sched").is_some() || case.section("tree").is_some() {
        sched::check(&mut case, &mut failures);
    } else if case.markers.is_empty() && case.section("message").is_none() {
        stages::check(&mut case, &mut failures);
    } else {
        errors::check(&mut case, &mut failures);
    }
    let blessed = case.to_text();
    let bless = std::env::var_os("FARKAS_BLESS").is_some() && std::env::var_os("CI").is_none();
    if bless && blessed != text {
        std::fs::write(path, blessed).map_err(|error| error.to_string())?;
        failures.retain(|failure| !failure.blessable);
    }
    if failures.is_empty() {
        return Ok(());
    }
    let failures: Vec<String> = failures.iter().map(|failure| failure.text.trim_end().to_string()).collect();
    Err(format!("{}\n{}", path.display(), failures.join("\n\n")).into())
}

/// One thing that is wrong with a case.
struct Failure {
    text: String,
    /// Whether the case's new text holds what was found instead.
    blessable: bool,
}

impl Failure {
    fn new(text: impl Into<String>) -> Failure {
        Failure { text: text.into(), blessable: false }
    }
}
