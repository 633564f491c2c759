//! `farkas completions`: the script by which a shell completes the command.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::terminal;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  farkas completions bash > ~/.local/share/bash-completion/completions/farkas")]
pub(crate) struct Options {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn completions(options: &Options) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut crate::Cli::command(), "farkas", &mut script);
    terminal::data(&String::from_utf8_lossy(&script))
}
