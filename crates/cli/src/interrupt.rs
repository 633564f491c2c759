//! Ctrl-C: a call that runs is cancelled, so that the command ends as it ends after any failure and leaves no partial file;
//! anything else, and a second Ctrl-C, ends the command at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use farkas::Cancel;

use crate::failure::Exit;

/// Cancelled by Ctrl-C.
static TOKEN: OnceLock<Cancel> = OnceLock::new();
/// Whether a call would notice.
static CALLING: AtomicBool = AtomicBool::new(false);

/// While it lives, Ctrl-C cancels calls that have its token.
#[derive(Debug)]
pub(crate) struct Interruptible;

impl Interruptible {
    pub(crate) fn new() -> Interruptible {
        TOKEN.get_or_init(|| {
            let token = Cancel::new();
            let own = token.clone();
            let handler = move || {
                if !CALLING.load(Ordering::SeqCst) || own.is_cancelled() {
                    std::process::exit(Exit::INTERRUPTED);
                }
                own.cancel();
            };
            if let Err(error) = ctrlc::set_handler(handler) {
                tracing::warn!(%error, "Ctrl-C will end the command without ceremony");
            }
            token
        });
        CALLING.store(true, Ordering::SeqCst);
        Interruptible
    }

    pub(crate) fn token(&self) -> Option<&'static Cancel> {
        TOKEN.get()
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        CALLING.store(false, Ordering::SeqCst);
    }
}
