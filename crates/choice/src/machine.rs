//! The machine: the few numbers about a processor that a good schedule depends on.
//!
//! Plain data, given to the choice by whoever compiles; nothing here asks the processor.

use std::fmt;

/// What is known about a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Bytes of a vector register.
    pub vector_bytes: u32,
    /// How many of them there are.
    pub vector_registers: u32,
    /// Bytes of the first cache for data.
    pub l1: u64,
    /// Bytes of the second cache.
    pub l2: u64,
    /// Bytes of the last cache.
    pub l3: u64,
    /// Bytes of a cache line.
    pub line: u32,
    /// Threads that run at once.
    pub cores: u32,
    /// Where no extent is larger than a few times this, loops as they are take less time than what recipes prepare; how often depends on the recipe.
    pub small: u32,
}

impl Machine {
    /// A machine with 512-bit vectors, for what must not depend on the one that happens to be there. Nothing is too small for it, so that all of what
    /// recipes make can be seen at small sizes.
    pub const REFERENCE: Machine = Machine {
        vector_bytes: 64,
        vector_registers: 32,
        l1: 32 << 10,
        l2: 1 << 20,
        l3: 32 << 20,
        line: 64,
        cores: 8,
        small: 0,
    };

    /// How many numbers of so many bytes a register holds.
    pub fn lanes(&self, bytes: u32) -> u32 {
        (self.vector_bytes / bytes.max(1)).max(1)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "vectors  {} registers of {} bits", self.vector_registers, 8 * self.vector_bytes)?;
        let kib = |bytes: u64| bytes >> 10;
        writeln!(
            f,
            "caches   {}, {} and {} KiB, lines of {} bytes",
            kib(self.l1),
            kib(self.l2),
            kib(self.l3),
            self.line
        )?;
        writeln!(f, "threads  {}", self.cores)?;
        writeln!(f, "small    extents up to {}", self.small)
    }
}
