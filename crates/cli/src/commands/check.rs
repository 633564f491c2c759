//! `farkas check`: are all functions of some files right, and is their schedule proven legal?

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::commands::{Compile, explain};
use crate::failure::{Exit, Failure};
use crate::terminal::{self, Terminal};

/// Check programs: types, bounds, order, and the proof that the schedule is legal
///
/// Prints `NAME: legal` for each function of a file without errors. With --message-format=json, stdout has one object
/// per function ({"file", "function", "verdict"}) and one per diagnostic.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  farkas check examples/*.fks
  farkas check examples/gemm.fks --schedule gemm.sched
  farkas check --explain E0401")]
pub(crate) struct Options {
    /// The programs
    #[arg(required_unless_present = "explain", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Explain an error code instead, as `farkas explain` does
    #[arg(long, value_name = "CODE", conflicts_with = "files")]
    explain: Option<String>,

    #[command(flatten)]
    compile: Compile,
}

pub(crate) fn check(options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    if let Some(code) = &options.explain {
        return terminal::data(explain::page(code)?);
    }
    let mut worst: Option<Exit> = None;
    for path in &options.files {
        match check_file(path, options, terminal) {
            Ok(()) => {}
            Err(Failure::Closed) => return Err(Failure::Closed),
            Err(failure) => {
                match terminal.is_json() {
                    true => terminal::data(&format!("{}\n", terminal::json_lines(&failure)))?,
                    false => terminal.report(&failure),
                }
                worst = worst.max(Some(failure.exit()));
            }
        }
    }
    worst.map_or(Ok(()), |exit| Err(Failure::Told(exit)))
}

fn check_file(path: &Path, options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    let source = options.compile.read(path)?;
    let checked = options.compile.engine(Vec::new())?.check(&source)?;
    if checked.is_empty() {
        terminal::note(format_args!("warning: `{}` defines no function", source.name()));
    }
    for function in &checked {
        let name = &function.signature().name;
        let replayed = function.replayed().map(|(sizes, left_out)| match left_out {
            0 => format!(", replayed at {sizes} combinations of small sizes"),
            _ => format!(
                ", replayed at {sizes} combinations of small sizes; {left_out} others have too many instances or too large numbers for that"
            ),
        });
        let replayed_text = replayed.unwrap_or_default();
        let line = if terminal.is_json() {
            let mut line = json!({ "file": source.name(), "function": name, "verdict": "legal" });
            if let Some((sizes, left_out)) = function.replayed() {
                line["replayed"] = json!({ "sizes": sizes, "left_out": left_out });
            }
            line.to_string()
        } else if options.files.len() > 1 {
            format!("{}: {name}: legal{replayed_text}", source.name())
        } else {
            format!("{name}: legal{replayed_text}")
        };
        terminal::data(&format!("{line}\n"))?;
    }
    Ok(())
}
