//! The `farkas` command: compile, check, inspect and run array programs.
//!
//! In: files and flags.  Out: results on stdout, everything else on stderr, and an exit code that says who is at fault.
//! Not here: anything about programs, schedules or code; that is the `farkas` library's.
#![forbid(unsafe_code)]

mod commands;
mod data;
mod failure;
mod files;
mod interrupt;
mod panic;
mod progress;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::commands::{build, cache, check, completions, eval, explain, explore, fmt, info, layout, run};
use crate::failure::{Exit, Failure};
use crate::terminal::{Color, MessageFormat, Terminal};

/// Arrays are read and written on large pages.
#[global_allocator]
static MEMORY: farkas::LargePages = farkas::LargePages;

const AFTER_HELP: &str = "\
Examples:
  farkas run examples/matmul.fks -D N=512,M=512,K=512 --in A=rand:1 --in B=rand:2 --verify
  farkas check examples/*.fks
  farkas build examples/matmul.fks --emit=statements,schedule,loops
  farkas explore examples/gemm.fks --space 'tile(i,j,k; 8,32), permute(i,j,k)'
  farkas explain E0401
  farkas eval 'sum[i: 0..10] i * i'
  farkas layout 'composition((4,8):(8,1), 2:4)' --draw

Exit codes:
    0  fine
    1  the program is at fault (also: `fmt --check` found a file that is not formatted)
    2  usage: a flag, a value or a file that cannot be used
    3  a budget ran out (see --time-limit)
    4  a run-time error, or a result that differs from --verify or --expect
  101  a bug in farkas
  130  interrupted (Ctrl-C); no output file was written

Environment:
  NO_COLOR          if set and not empty, no colours (unless --color=always)
  FARKAS_LOG        what to log on stderr, such as `debug` or `farkas=debug`; `warn` if not set
  FARKAS_CACHE_DIR  where `run` keeps loops that were compiled; if empty, nowhere";

/// A polyhedral array compiler: checked schedules, compiled loops.
#[derive(Debug, Parser)]
#[command(name = "farkas", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
struct Cli {
    /// When to colour messages
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = "Messages")]
    color: Color,

    /// How to write messages and results
    ///
    /// Results go to stdout. Diagnostics go to stderr, except those of `check`, whose result they are.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Messages")]
    message_format: MessageFormat,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Options),
    Check(check::Options),
    Build(build::Options),
    Info(info::Options),
    Explore(explore::Options),
    Explain(explain::Options),
    Eval(eval::Options),
    Layout(layout::Options),
    Fmt(fmt::Options),
    Cache(cache::Options),
    Completions(completions::Options),
}

/// Deeply nested programs need more stack than a main thread is sure to have.
const STACK_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    panic::report_as_bug();
    let worker = std::thread::Builder::new().name("farkas".to_string()).stack_size(STACK_BYTES).spawn(work);
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic hook has told the user.
        Ok(Err(_)) => Exit::Bug.code(),
        Err(error) => {
            terminal::note(format_args!("error: cannot start a thread: {error}"));
            Exit::Run.code()
        }
    }
}

fn work() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version end here too. A reader who has gone away is no reason to fail.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.code() } else { ExitCode::SUCCESS };
        }
    };
    let terminal = Terminal::new(cli.color, cli.message_format);
    log_to_stderr(&terminal);
    let result = match &cli.command {
        Command::Run(options) => run::run(options, &terminal),
        Command::Check(options) => check::check(options, &terminal),
        Command::Build(options) => build::build(options),
        Command::Info(options) => info::info(options, &terminal),
        Command::Explore(options) => explore::explore(options, &terminal),
        Command::Explain(options) => explain::explain(options),
        Command::Eval(options) => eval::eval(options, &terminal),
        Command::Layout(options) => layout::layout(options, &terminal),
        Command::Fmt(options) => fmt::fmt(options, &terminal),
        Command::Cache(options) => cache::cache(options, &terminal),
        Command::Completions(options) => completions::completions(options),
    };
    match result {
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(failure) => {
            terminal.report(&failure);
            failure.exit().code()
        }
    }
}

fn log_to_stderr(terminal: &Terminal) {
    let filter = match std::env::var("FARKAS_LOG") {
        Ok(text) => EnvFilter::try_new(&text).unwrap_or_else(|error| {
            terminal::note(format_args!("warning: FARKAS_LOG={text} is ignored: {error}"));
            EnvFilter::new("warn")
        }),
        Err(_) => EnvFilter::new("warn"),
    };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(terminal.is_coloured())
        .without_time();
    // It fails only if there is one already, and there is none.
    let _ = subscriber.try_init();
}
