//! Panics: what a user sees of one, instead of Rust's message.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

use crate::terminal;

/// From now on a panic is reported as a bug in farkas. The exit code is the business of `main`.
pub(crate) fn report_as_bug() {
    std::panic::set_hook(Box::new(|info| {
        terminal::note(format_args!("error: this is a bug in farkas: {}", message(info)));
        if let Some(location) = info.location() {
            terminal::note(format_args!("  = note: at {location}, farkas {}", env!("CARGO_PKG_VERSION")));
        }
        terminal::note(format_args!("  = help: please report it, with the program and the command line"));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            terminal::note(format_args!("{backtrace}"));
        }
    }));
}

fn message<'a>(info: &'a PanicHookInfo<'_>) -> &'a str {
    info.payload_as_str().unwrap_or("a panic without a message")
}
