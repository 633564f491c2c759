//! The host: what its processor says about itself, read once.

use std::sync::OnceLock;

use crate::{Machine, Tier};

/// In what steps it is said up to which extents recipes do not pay.
const SMALL: u32 = 4;

/// The host, as far as code of a tier uses it; of the best tier if none is given.
pub fn host(tier: Option<Tier>) -> Machine {
    static CACHES: OnceLock<[u64; 3]> = OnceLock::new();
    let [l1, l2, l3] = *CACHES.get_or_init(caches);
    let (vector_bytes, vector_registers) = match tier.unwrap_or_else(Tier::native) {
        Tier::Baseline | Tier::V2 | Tier::V2Fma => (16, 16),
        Tier::V3 => (32, 16),
        Tier::V4 => (64, 32),
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u32;
    Machine { vector_bytes, vector_registers, l1, l2, l3, cores, small: SMALL, ..Machine::REFERENCE }
}

/// The caches for data, the smallest first; where nothing is said, those of a common machine.
fn caches() -> [u64; 3] {
    let mut caches = [Machine::REFERENCE.l1, Machine::REFERENCE.l2, Machine::REFERENCE.l3];
    for (level, bytes) in said() {
        if let Some(known) = usize::from(level).checked_sub(1).and_then(|level| caches.get_mut(level)) {
            *known = bytes;
        }
    }
    // A machine without a third cache has the second as its last.
    caches[2] = caches[2].max(caches[1]);
    caches
}

/// The levels of caches for data, and their sizes.
#[cfg(target_arch = "x86_64")]
fn said() -> Vec<(u8, u64)> {
    use raw_cpuid::{CacheType, CpuId, CpuIdReaderNative};

    let size = |cache: raw_cpuid::CacheParameter| {
        let lines = cache.sets() as u64 * cache.associativity() as u64 * cache.physical_line_partitions() as u64;
        (cache.level(), lines * cache.coherency_line_size() as u64)
    };
    let for_data =
        |cache: &raw_cpuid::CacheParameter| matches!(cache.cache_type(), CacheType::Data | CacheType::Unified);
    let cpuid: CpuId<CpuIdReaderNative> = CpuId::new();
    let found: Vec<(u8, u64)> = cpuid.get_cache_parameters().into_iter().flatten().filter(for_data).map(size).collect();
    if !found.is_empty() {
        return found;
    }
    // Processors of the other maker.
    let mut found = Vec::new();
    found.extend(cpuid.get_l1_cache_and_tlb_info().map(|info| (1, u64::from(info.dcache_size()) << 10)));
    if let Some(info) = cpuid.get_l2_l3_cache_and_tlb_info() {
        found.push((2, u64::from(info.l2cache_size()) << 10));
        found.push((3, u64::from(info.l3cache_size()) << 19));
    }
    found.retain(|(_, bytes)| *bytes > 0);
    found
}

/// The levels of caches for data, and their sizes.
#[cfg(not(target_arch = "x86_64"))]
fn said() -> Vec<(u8, u64)> {
    Vec::new()
}
