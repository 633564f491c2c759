//! `farkas cache`: what the cache holds, and making it empty.

use clap::{Args, Subcommand};
use farkas::CacheDirectory;
use serde_json::json;

use crate::failure::{Failure, reason};
use crate::terminal::{self, Terminal};

/// Look at the cache of compiled functions, or empty it
///
/// `farkas run` keeps the loops of what it has compiled, so that the next run of the same program with the same options need not look for
/// a schedule again. They are proven again before they are used. The directory is what FARKAS_CACHE_DIR says, or `farkas` among the
/// user's caches; what was not used longest is removed when there is too much.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  farkas cache stat\n  farkas cache clear")]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Action {
    /// Say where it is, and how much is in it
    Stat,
    /// Remove everything from it
    Clear,
}

pub(crate) fn cache(options: &Options, terminal: &Terminal) -> Result<(), Failure> {
    let Some(directory) = CacheDirectory::of_user() else {
        return Err(Failure::usage("there is no cache").help(
            "FARKAS_CACHE_DIR is empty, or there is no home directory; say where it shall be with FARKAS_CACHE_DIR",
        ));
    };
    let path = directory.path().display().to_string();
    let failed = |error: std::io::Error| Failure::run(format!("cannot use the cache `{path}`: {}", reason(&error)));
    let (size, what) = match options.action {
        Action::Stat => (directory.size().map_err(failed)?, "holds"),
        Action::Clear => (directory.clear().map_err(failed)?, "no longer holds"),
    };
    let (functions, bytes, limit) = (size.functions, size.bytes, directory.limit_bytes());
    if terminal.is_json() {
        let object = json!({ "directory": path, "functions": functions, "bytes": bytes, "limit": limit });
        return terminal::data(&format!("{object}\n"));
    }
    let plural = if functions == 1 { "" } else { "s" };
    terminal::data(&format!("{path} {what} {functions} function{plural}, {bytes} of {limit} bytes\n"))
}
