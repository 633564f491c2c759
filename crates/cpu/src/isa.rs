//! The machine this process runs on, as a Cranelift target.
//!
//! In: a tier.  Out: one shared target for it.
//! Not here: code generation, which asks the target nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};

use crate::Tier;

/// The host with the instructions of a tier, made once per process.
pub(crate) fn host(tier: Tier) -> diag::Result<OwnedTargetIsa> {
    static HOSTS: OnceLock<Mutex<BTreeMap<Tier, Result<OwnedTargetIsa, String>>>> = OnceLock::new();
    if !tier.is_available() {
        return Err(diag::Error::bug("cpu", format!("this host does not have the instructions of {tier}")));
    }
    let mut hosts = HOSTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    hosts.entry(tier).or_insert_with(|| make(tier)).clone().map_err(|what| diag::Error::bug("cpu", what))
}

/// Whether there is an instruction for multiply-adds that are rounded once. Only x86-64 says; all others have one.
pub(crate) fn has_fma(isa: &dyn TargetIsa) -> bool {
    let flags = isa.isa_flags();
    flags.iter().find(|flag| flag.name == "has_fma").is_none_or(|flag| flag.as_bool() == Some(true))
}

/// What Cranelift may use on x86-64, by the tier that has it.
const FEATURES: [(Tier, &str); 13] = [
    (Tier::V2, "has_cmpxchg16b"),
    (Tier::V2, "has_sse3"),
    (Tier::V2, "has_ssse3"),
    (Tier::V2, "has_sse41"),
    (Tier::V2, "has_sse42"),
    (Tier::V2, "has_popcnt"),
    (Tier::V2Fma, "has_avx"),
    (Tier::V2Fma, "has_fma"),
    (Tier::V3, "has_avx2"),
    (Tier::V3, "has_bmi1"),
    (Tier::V3, "has_bmi2"),
    (Tier::V3, "has_lzcnt"),
    (Tier::V4, "has_avx512vl"),
];

fn make(tier: Tier) -> Result<OwnedTargetIsa, String> {
    let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
    let mut flags = settings::builder();
    let settings = [
        ("opt_level", "speed"),
        ("enable_verifier", verifier),
        // Code is placed next to nothing: calls and constants use absolute addresses.
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        // Nothing unwinds through a kernel.
        ("unwind_info", "false"),
        ("preserve_frame_pointers", "false"),
        // A frame larger than the guard page touches its pages in order, so that an overflow is a fault, not corruption.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        // Labels between the blocks of the disassembly.
        ("machine_code_cfg_info", "true"),
    ];
    for (name, value) in settings {
        flags.set(name, value).map_err(|error| format!("Cranelift setting {name}: {error}"))?;
    }
    // The best tier has whatever the host has, others only what their name says.
    let all = tier == Tier::native();
    let mut builder = cranelift_native::builder_with_options(all)
        .map_err(|what| format!("no code can be generated for this host: {what}"))?;
    for (_, feature) in FEATURES.into_iter().filter(|(since, _)| !all && *since <= tier) {
        builder.enable(feature).map_err(|error| format!("Cranelift feature {feature}: {error}"))?;
    }
    builder.finish(settings::Flags::new(flags)).map_err(|error| format!("Cranelift target: {error}"))
}
