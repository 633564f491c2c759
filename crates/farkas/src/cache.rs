//! The cache: loops of functions that were compiled before, in memory and on disk.
//!
//! In: a key of all that decides what the loops are.  Out: loops as text, which are read, verified and proven again before anyone uses
//! them (`pipeline::recall`): nothing in a file is believed.
//! Not here: code of the machine, which is made anew each time; proofs and schedules, which are not kept.

mod directory;
mod entry;
#[cfg(test)]
#[expect(clippy::panic, reason = "a test fails by panicking")]
mod hostile;
mod key;
mod memory;

pub use directory::{CacheDirectory, CacheSize};
pub(crate) use entry::{open, seal};
pub(crate) use key::Key;
pub(crate) use memory::Memory;

/// Where functions that were compiled are kept for the next time.
#[derive(Clone, Debug, Default)]
pub enum Cache {
    /// Nowhere: everything is compiled.
    Off,
    /// In the memory of the engine and its clones, for as long as one of them is there.
    #[default]
    Memory,
    /// There, and in a directory that processes may share.
    Disk(CacheDirectory),
}

impl Cache {
    pub(crate) fn directory(&self) -> Option<&CacheDirectory> {
        match self {
            Cache::Off | Cache::Memory => None,
            Cache::Disk(directory) => Some(directory),
        }
    }
}
