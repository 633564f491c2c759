//! The machine this process runs on, as a Cranelift target.
//!
//! In: nothing.  Out: one shared target with every feature of the host switched on.
//! Not here: code generation, which asks the target nothing.

use std::sync::OnceLock;

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};

/// The host, detected once per process.
pub(crate) fn host() -> diag::Result<OwnedTargetIsa> {
    static HOST: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    HOST.get_or_init(detect).clone().map_err(|what| diag::Error::bug("cpu", what))
}

fn detect() -> Result<OwnedTargetIsa, String> {
    let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
    let mut flags = settings::builder();
    let settings = [
        ("opt_level", "speed"),
        ("enable_verifier", verifier),
        // Code is placed next to nothing: calls and constants use absolute addresses.
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        // Nothing unwinds through a kernel, and its frames are small.
        ("unwind_info", "false"),
        ("preserve_frame_pointers", "false"),
        ("enable_probestack", "false"),
        // Labels between the blocks of the disassembly.
        ("machine_code_cfg_info", "true"),
    ];
    for (name, value) in settings {
        flags.set(name, value).map_err(|error| format!("Cranelift setting {name}: {error}"))?;
    }
    let builder =
        cranelift_native::builder().map_err(|what| format!("no code can be generated for this host: {what}"))?;
    builder.finish(settings::Flags::new(flags)).map_err(|error| format!("Cranelift target: {error}"))
}
