//! Talking to the user: data on stdout, messages on stderr, both as text or as JSON.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use farkas::{Error, Style};
use serde_json::{Value, json};

use crate::failure::Failure;

/// When messages are coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// If stderr is a terminal and NO_COLOR is not set
    #[default]
    Auto,
    Always,
    Never,
}

/// For whom messages and results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// Text for people
    #[default]
    Human,
    /// One JSON object per line
    Json,
}

/// How this run talks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    style: Style,
    pub(crate) format: MessageFormat,
}

impl Terminal {
    pub(crate) fn new(color: Color, format: MessageFormat) -> Terminal {
        let coloured = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        Terminal { style: if coloured { Style::Coloured } else { Style::Plain }, format }
    }

    pub(crate) fn is_coloured(&self) -> bool {
        self.style == Style::Coloured
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == MessageFormat::Json
    }

    /// Tells on stderr why a command failed.
    pub(crate) fn report(&self, failure: &Failure) {
        if matches!(failure, Failure::Told(_) | Failure::Closed) {
            return;
        }
        let text = match self.format {
            MessageFormat::Human => self.text(failure),
            MessageFormat::Json => json_lines(failure),
        };
        note(format_args!("{text}"));
    }

    fn text(&self, failure: &Failure) -> String {
        let mut text = match failure {
            Failure::Engine(error @ (Error::User { .. } | Error::Fault { .. } | Error::Refused { .. })) => {
                error.render(self.style)
            }
            other if self.is_coloured() => format!("\u{1b}[1;91merror\u{1b}[0m: {other}"),
            other => format!("error: {other}"),
        };
        for help in failure.helps() {
            text.push_str("\n  = help: ");
            text.push_str(&help);
        }
        text
    }
}

/// A failure as JSON: one line per diagnostic, all with the same keys.
pub(crate) fn json_lines(failure: &Failure) -> String {
    let objects: Vec<Value> = match failure {
        Failure::Engine(Error::User { source, diagnostics }) => {
            diagnostics.iter().map(|diagnostic| farkas::diagnostic_json(source, diagnostic)).collect()
        }
        other => match placed(other) {
            Some((source, diagnostic)) => vec![farkas::diagnostic_json(source, &diagnostic)],
            None => vec![json!({
                "severity": "error",
                "code": other.exit().name(),
                "message": other.to_string(),
                "file": null,
                "labels": [],
                "notes": [],
                "helps": other.helps(),
            })],
        },
    };
    objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// A failure of a call as a message at its place in the program, if it has one.
fn placed(failure: &Failure) -> Option<(&farkas::Source, farkas::Diagnostic)> {
    match failure {
        Failure::Engine(error) => error.of_run(),
        _ => None,
    }
}

/// Writes data to stdout.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| Failure::stdout(&error))
}

/// Writes a line to stderr. If that fails there is nobody left to tell.
pub(crate) fn note(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
