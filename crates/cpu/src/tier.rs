//! Which instructions of the host code may use.
//!
//! In: a name, or the host.  Out: a tier that the host has.
//! The levels are those of the x86-64 psABI, and one between two of them, for processors with fused multiply-adds and vectors of 128 bits. On other hosts there is one tier, the baseline, which is all they have.

use std::fmt;

use crate::lanes::x86::Wide;

/// A level of instructions; each has those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// What every host of this architecture has; vectors of 128 bits.
    Baseline,
    /// Up to SSE4.2; vectors of 128 bits.
    V2,
    /// The same with AVX and FMA, as some processors have them that lack AVX2; vectors of 128 bits.
    V2Fma,
    /// AVX2 and FMA; vectors of 256 bits.
    V3,
    /// AVX-512; vectors of 512 bits.
    V4,
}

impl Tier {
    /// All of them.
    pub const ALL: [Tier; 5] = [Tier::Baseline, Tier::V2, Tier::V2Fma, Tier::V3, Tier::V4];

    /// The best that this host has.
    pub fn native() -> Tier {
        Tier::ALL.into_iter().rev().find(|tier| tier.is_available()).unwrap_or(Tier::Baseline)
    }

    /// As the command line says it; `native` is the best that the host has.
    pub fn from_name(name: &str) -> Option<Tier> {
        if name == "native" {
            return Some(Tier::native());
        }
        Tier::ALL.into_iter().find(|tier| tier.name() == name)
    }

    /// As `--cpu` says it.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Baseline => "baseline",
            Tier::V2 => "x86-64-v2",
            Tier::V2Fma => "x86-64-v2-fma",
            Tier::V3 => "x86-64-v3",
            Tier::V4 => "x86-64-v4",
        }
    }

    /// Whether this host runs such code.
    pub fn is_available(self) -> bool {
        match self {
            Tier::Baseline => true,
            Tier::V2 => has_v2(),
            Tier::V2Fma => has_v2() && has_fma(),
            Tier::V3 => has_v2() && has_v3() && Wide::Avx2.is_available(),
            Tier::V4 => has_v2() && has_v3() && Wide::Avx512.is_available(),
        }
    }

    /// How lane programs are emitted; `None` is Cranelift's way.
    pub(crate) fn wide(self) -> Option<Wide> {
        match self {
            Tier::Baseline | Tier::V2 | Tier::V2Fma => None,
            Tier::V3 => Some(Wide::Avx2),
            Tier::V4 => Some(Wide::Avx512),
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(target_arch = "x86_64")]
fn has_v2() -> bool {
    is_x86_feature_detected!("ssse3")
        && is_x86_feature_detected!("sse4.1")
        && is_x86_feature_detected!("sse4.2")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_fma() -> bool {
    is_x86_feature_detected!("avx") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn has_v3() -> bool {
    is_x86_feature_detected!("lzcnt") && is_x86_feature_detected!("avx")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_v2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_fma() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_v3() -> bool {
    false
}
