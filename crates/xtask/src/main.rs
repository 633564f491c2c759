//! `cargo xtask`: set-up, checks and benchmarks of the workspace.
//!
//! Uses the standard library only, and never isl: it must build on a machine where isl cannot be built yet.
#![forbid(unsafe_code)]

mod bench;
mod demo;
mod fuzz;
mod process;
mod ptx;
mod sanitize;
mod setup;
mod test;
mod tidy;

use std::process::ExitCode;

use process::{complain, say};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  setup           install what the build of isl needs, if it is missing
  demo            set up, build in release mode, and run examples/matmul.fks step by step
  test            set up, then check formatting, clippy and tidy, and run all tests
  tidy            check crate edges, file sizes, machine paths and other house rules
  ptx-check       assemble the PTX of kernels and examples with NVIDIA's assembler, if it can be installed
  bench [NAME…]   measure run time against C, compile time by stage, exploration; NAME picks some;
                  `bench code` measures micro-kernels against the peak of the machine, `bench emulator` emulated PTX
  bench polybench [--size mini|small|medium|large|extralarge] [--filter NAME,…] [--rounds N] [--sources FOLDER]
                  measure the PolyBench kernels against gcc, clang and Polly; FOLDER holds PolyBench/C, if its
                  programs are to be the peers instead of our own C; figures go to target/bench
  bench warm [NAME…]  measure a second process whose loops are in the cache, by stage: matmul and PolyBench
  bench model [--size …] [--filter NAME,…]  compare the order of candidates by cost with that by time: Kendall's tau
                  on the PolyBench kernels, of size medium unless told
  bench layouts   measure functions with an array in two layouts against each other
  bench sparse    measure a sparse matrix times a vector against the C loop, at several sizes
  bench ml [NAME…]  measure kernels of machine learning against NumPy, Numba and JAX, installed in target/
  fuzz [--minutes N]  throw hostile command lines at the release build (10 minutes unless told)
  sanitize [TESTS]  run all tests, or those that these words of `cargo test` pick, with an isl whose accesses are checked;
                  `sanitize --valgrind` runs some of them under valgrind, which sees generated code, too
  help            show this text";

/// The exit code for a command line that makes no sense, as in the `farkas` command.
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let Some((command, rest)) = args.split_first() else {
        complain(USAGE);
        return ExitCode::from(USAGE_ERROR);
    };
    let outcome = match (command.as_str(), rest) {
        ("setup", []) => setup::set_up(),
        ("demo", []) => demo::show(),
        ("test", []) => test::test_all(),
        ("tidy", []) => tidy::check_workspace(),
        ("ptx-check", []) => ptx::check(),
        ("bench", words) => bench::measure(words),
        ("fuzz", words) => fuzz::fuzz(words),
        ("sanitize", words) => sanitize::sanitize(words),
        ("help" | "--help" | "-h", []) => {
            say(USAGE);
            Ok(())
        }
        ("setup" | "demo" | "test" | "tidy" | "ptx-check" | "help" | "--help" | "-h", extra) => {
            complain(format!("`cargo xtask {command}` does not take `{}`\n\n{USAGE}", extra.join(" ")));
            return ExitCode::from(USAGE_ERROR);
        }
        _ => {
            complain(format!("no command `{command}`\n\n{USAGE}"));
            return ExitCode::from(USAGE_ERROR);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            complain(format!("error: {message}"));
            ExitCode::FAILURE
        }
    }
}
