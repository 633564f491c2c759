//! Talking to the user and starting other programs, always from the top of the workspace.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A line on standard output. A reader that has gone away is not an error.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// A line on standard error.
pub(crate) fn complain(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A title that stands out in the output of other programs.
pub(crate) fn heading(title: impl Display) {
    say(format!("\n=== {title}"));
}

/// The top of the workspace: where `cargo run` says the package is now, else where it was compiled.
pub(crate) fn workspace_root() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).ancestors().nth(2).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The cargo that started us.
pub(crate) fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

pub(crate) fn command(program: impl AsRef<OsStr>, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(workspace_root());
    command
}

/// The command as one would type it. Paths below the workspace are shortened.
pub(crate) fn command_line(command: &Command) -> String {
    let root = workspace_root();
    let program = Path::new(command.get_program());
    let program = match program.file_name() {
        Some(name) if program.as_os_str() == cargo() => Path::new(name),
        _ => program.strip_prefix(&root).unwrap_or(program),
    };
    let mut line = program.display().to_string();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&Path::new(arg).strip_prefix(&root).unwrap_or(Path::new(arg)).to_string_lossy());
    }
    line
}

/// Shows the command, runs it with our input and output, and fails if it does.
pub(crate) fn run_shown(command: &mut Command) -> Result<(), String> {
    let line = command_line(command);
    say(format!("$ {line}"));
    let status = command.status().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed ({status})")) }
}

/// Runs the command silently and returns what it wrote; fails, with its standard error, if it does.
pub(crate) fn capture(command: &mut Command) -> Result<Output, String> {
    let line = command_line(command);
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{line}` failed ({})\n{}", output.status, stderr.trim_end()))
}

/// What is off by default and must work all the same: it builds without the hardware, and says that it is missing.
pub(crate) const OPTIONAL: &str = "farkas-ptx/cuda";

/// Builds the `farkas` command in release mode and says where it is.
pub(crate) fn build_farkas() -> Result<PathBuf, String> {
    build_as(&["build", "--release", "--package", "farkas-cli"], COMMAND)
}

/// The same without optimisation and for the tests of the command, which have built it in most cases: other features would build all dependencies anew.
pub(crate) fn build_farkas_for_tests() -> Result<PathBuf, String> {
    build_as(&["test", "--no-run", "--workspace", "--test", "cli", "--features", OPTIONAL], COMMAND)
}

/// Builds an example of a crate with the features that the tests have built everything with.
pub(crate) fn build_example(name: &str) -> Result<PathBuf, String> {
    build_as(&["build", "--workspace", "--example", name, "--features", OPTIONAL], name)
}

/// The name of the command.
const COMMAND: &str = "farkas";

fn build_as(what: &[&str], name: &str) -> Result<PathBuf, String> {
    let mut build = command(cargo(), what);
    say(format!("$ {}", command_line(&build)));
    // The location depends on the user's cargo configuration; only cargo's own messages tell it reliably.
    build.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = capture(&mut build)?;
    let messages = String::from_utf8_lossy(&output.stdout);
    messages
        .lines()
        .filter_map(executable_in)
        .rfind(|path| Path::new(path).file_stem().is_some_and(|stem| stem == name))
        .map(PathBuf::from)
        .ok_or_else(|| format!("cargo did not say where it put `{name}`"))
}

/// The value of `"executable"` in one of cargo's JSON messages, unless it is null.
fn executable_in(message: &str) -> Option<String> {
    let (_, rest) = message.split_once(r#""executable":""#)?;
    let mut path = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return Some(path),
            // Paths hold no control characters, so an escape is a quote or a backslash.
            '\\' => path.push(chars.next()?),
            other => path.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executable_is_read_from_cargo_messages() {
        let message = r#"{"reason":"compiler-artifact","executable":"C:\\a \"b\"\\farkas.exe","fresh":true}"#;
        assert_eq!(executable_in(message).as_deref(), Some(r#"C:\a "b"\farkas.exe"#));
        assert_eq!(executable_in(r#"{"executable":null}"#), None);
        assert_eq!(executable_in(r#"{"executable":"cut"#), None);
    }

    #[test]
    fn root_holds_the_workspace_manifest() {
        assert!(workspace_root().join("Cargo.toml").is_file());
        assert!(workspace_root().join("crates/xtask").is_dir());
    }

    #[test]
    fn command_lines_are_short_enough_to_repeat() {
        let program = workspace_root().join("target").join("release").join("farkas");
        let line = command_line(&command(program, &["run", "examples/matmul.fks"]));
        assert_eq!(line, Path::new("target").join("release").join("farkas run examples/matmul.fks").to_string_lossy());
        assert!(command_line(&command(cargo(), &["build"])).starts_with("cargo"));
    }

    #[test]
    fn failures_carry_the_command_and_its_words() {
        let error = capture(&mut command(cargo(), &["no-such-subcommand"])).expect_err("no such subcommand exists");
        assert!(error.contains("cargo no-such-subcommand` failed"), "{error}");
        assert!(error.contains("no such command"), "{error}");
        let error = capture(&mut command("no-such-program-anywhere", &[])).expect_err("no such program exists");
        assert!(error.contains("cannot start `no-such-program-anywhere`"), "{error}");
    }
}
