//! `farkas explain`: the page of an error code.

use clap::Args;

use crate::failure::Failure;
use crate::terminal;

/// Explain an error code: a wrong program, its message, the reason, and a corrected program
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  farkas explain E0401\n  farkas explain | less      # all pages")]
pub(crate) struct Options {
    /// Codes such as E0401; all of them if none is given
    #[arg(value_name = "CODE")]
    codes: Vec<String>,
}

pub(crate) fn explain(options: &Options) -> Result<(), Failure> {
    if options.codes.is_empty() {
        let pages: Vec<&str> = farkas::diag::explained_codes().filter_map(farkas::diag::explain).collect();
        return terminal::data(&pages.join("\n"));
    }
    let pages = options.codes.iter().map(|code| page(code)).collect::<Result<Vec<_>, _>>()?;
    terminal::data(&pages.join("\n"))
}

/// The page of a code, which may be written in small letters or without its zeros.
pub(super) fn page(code: &str) -> Result<&'static str, Failure> {
    let number = code.trim_start_matches(['E', 'e']).parse::<u32>();
    let wanted = number.map_or(code.to_string(), |number| format!("E{number:04}"));
    farkas::diag::explain(&wanted).ok_or_else(|| {
        let codes = farkas::diag::explained_codes().collect::<Vec<_>>().join(" ");
        Failure::usage(format!("there is no error `{code}`")).help(format!("the codes are {codes}"))
    })
}
