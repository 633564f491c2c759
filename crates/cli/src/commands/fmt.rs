//! `farkas fmt`: programs in the one layout.

use std::path::PathBuf;

use clap::Args;
use farkas::Source;

use crate::failure::{Exit, Failure};
use crate::files;
use crate::terminal::{self, Terminal};

/// Format programs in place
///
/// A file is replaced as a whole, and only if its formatted text differs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  farkas fmt examples/*.fks
  farkas fmt --check examples/*.fks     # names the files that are not formatted; exit code 1 if there are any
  farkas fmt --stdin < a.fks > b.fks")]
pub(crate) struct Options {
    /// The programs
    #[arg(required_unless_present = "stdin", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Change nothing; name the files that are not formatted on stdout, and exit with 1 if there are any
    #[arg(long)]
    check: bool,

    /// Read a program from stdin and write it to stdout
    #[arg(long, conflicts_with = "files")]
    stdin: bool,
}

pub(crate) fn fmt(options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    if options.stdin {
        let source = files::read_stdin()?;
        let formatted = farkas::format(&source)?;
        return match options.check {
            true => check(&source, &formatted),
            false => terminal::data(&formatted),
        };
    }
    let mut worst: Option<Exit> = None;
    for path in &options.files {
        let result = files::read_source(path).and_then(|source| {
            let formatted = farkas::format(&source)?;
            match options.check {
                true => check(&source, &formatted),
                false if formatted == source.text() => Ok(()),
                false => files::write_text(path, &formatted),
            }
        });
        match result {
            Err(Failure::Closed) => return Err(Failure::Closed),
            Err(failure) => {
                terminal.report(&failure);
                worst = worst.max(Some(failure.exit()));
            }
            Ok(()) => {}
        }
    }
    worst.map_or(Ok(()), |exit| Err(Failure::Told(exit)))
}

fn check(source: &Source, formatted: &str) -> Result<(), Failure> {
    if formatted == source.text() {
        return Ok(());
    }
    terminal::data(&format!("{}\n", source.name()))?;
    Err(Failure::Told(Exit::Program))
}
