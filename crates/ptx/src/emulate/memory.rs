//! Global memory: buffers that the host made, each in a window of addresses of its own.
//!
//! An address that leaves its buffer is in no other one, so every access out of bounds is found. Cells are atomics
//! because blocks run on several host threads; programs without races never see the difference.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use super::shadow::GlobalCell;

/// Bits of an address inside a window.
const WINDOW: u32 = 40;
/// The window of shared memory among generic addresses.
pub(super) const SHARED_BASE: u64 = 0xffff << WINDOW;

/// A buffer of [`Memory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BufferId(u32);

/// The memory of the emulated device.
#[derive(Debug, Default)]
pub struct Memory {
    buffers: Vec<Buffer>,
}

#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) bytes: u64,
    words: Vec<AtomicU32>,
    /// Held by atomic operations on double words, which are two cells.
    double: Mutex<()>,
    /// Who touched which cell; made when a launch touches the buffer first.
    cells: OnceLock<Vec<GlobalCell>>,
}

impl Memory {
    pub fn new() -> Memory {
        Memory::default()
    }

    /// A new buffer with this content. The name is for messages.
    pub fn allocate(&mut self, name: impl Into<String>, content: &[u8]) -> BufferId {
        let words = content.chunks(4).map(|chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(word))
        });
        let words = words.collect();
        let bytes = content.len() as u64;
        self.buffers.push(Buffer { name: name.into(), bytes, words, double: Mutex::new(()), cells: OnceLock::new() });
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// The content of a buffer; empty if it is of another memory.
    pub fn read(&self, buffer: BufferId) -> Vec<u8> {
        let Some(buffer) = self.buffers.get(buffer.0 as usize) else { return Vec::new() };
        let words = buffer.words.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes());
        words.take(buffer.bytes as usize).collect()
    }

    /// The address of a buffer's first byte, if the buffer is of this memory.
    pub(super) fn address(&self, buffer: BufferId) -> Option<u64> {
        self.buffers.get(buffer.0 as usize).map(|_| (u64::from(buffer.0) + 1) << WINDOW)
    }

    /// Forgets who touched what: launches are ordered.
    pub(super) fn forget_accesses(&mut self) {
        for buffer in &mut self.buffers {
            buffer.cells = OnceLock::new();
        }
    }

    /// The buffer that an address is in or near, and the offset.
    #[inline]
    pub(super) fn find(&self, address: u64) -> (Option<&Buffer>, u64) {
        let window = (address >> WINDOW) as usize;
        (self.buffers.get(window.wrapping_sub(1)), address & ((1 << WINDOW) - 1))
    }

    /// Where an address points, for messages.
    pub(super) fn describe(&self, address: u64) -> String {
        // Just in front of a buffer is nearer to it than the far end of the window before.
        let (after, _) = self.find(address.wrapping_add(1 << (WINDOW - 1)));
        match self.find(address) {
            (Some(buffer), offset) if offset < 1 << (WINDOW - 1) => {
                format!("byte {offset} of `{}`, which has {} bytes", buffer.name, buffer.bytes)
            }
            (_, offset) if after.is_some() && offset >= 1 << (WINDOW - 1) => {
                let name = after.map_or("", |buffer| &buffer.name);
                format!("{} bytes in front of `{name}`", (1 << WINDOW) - offset)
            }
            _ => format!("address {address:#x}, where no buffer is"),
        }
    }
}

impl Buffer {
    /// One of the cells' records; cells are `1 << granule` bytes.
    pub(super) fn cells(&self, granule: u32) -> &[GlobalCell] {
        self.cells.get_or_init(|| {
            let count = self.bytes.div_ceil(1 << granule) as usize;
            std::iter::repeat_with(GlobalCell::default).take(count).collect()
        })
    }

    /// `size` bytes (1, 2, 4 or 8) at an offset that is a multiple of it and in bounds.
    #[inline]
    pub(super) fn load(&self, offset: u64, size: u32) -> u64 {
        let word = |at: usize| self.words.get(at).map_or(0, |word| word.load(Ordering::Relaxed));
        let at = (offset / 4) as usize;
        match size {
            4 => u64::from(word(at)),
            8 => u64::from(word(at)) | u64::from(word(at + 1)) << 32,
            size => u64::from(word(at) >> (offset % 4 * 8)) & ((1 << (size * 8)) - 1),
        }
    }

    /// An atomic operation on 4 or 8 bytes; returns what was there.
    pub(super) fn update(&self, offset: u64, size: u32, update: impl Fn(u64) -> u64) -> u64 {
        if size == 8 {
            // Plain accesses to the same cell would be a race, so the lock is among atomics only.
            let _held = self.double.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let old = self.load(offset, 8);
            self.store(offset, 8, update(old));
            return old;
        }
        let Some(word) = self.words.get((offset / 4) as usize) else { return 0 };
        let next = |old: u32| Some(update(u64::from(old)) as u32);
        match word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(old) | Err(old) => u64::from(old),
        }
    }

    #[inline]
    pub(super) fn store(&self, offset: u64, size: u32, value: u64) {
        let at = (offset / 4) as usize;
        let Some(word) = self.words.get(at) else { return };
        match size {
            4 => word.store(value as u32, Ordering::Relaxed),
            8 => {
                word.store(value as u32, Ordering::Relaxed);
                if let Some(high) = self.words.get(at + 1) {
                    high.store((value >> 32) as u32, Ordering::Relaxed);
                }
            }
            size => {
                // Another block may write the other bytes of the word at the same time.
                let shift = offset as u32 % 4 * 8;
                let mask = ((1u32 << (size * 8)) - 1) << shift;
                let merged = |old| Some(old & !mask | (value as u32) << shift & mask);
                let _ = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, merged);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_survives_whatever_its_length() {
        let mut memory = Memory::new();
        let content: Vec<u8> = (0..23).collect();
        let buffer = memory.allocate("a", &content);
        assert_eq!(memory.read(buffer), content);
        let (found, offset) = memory.find(memory.address(buffer).expect("allocated here") + 5);
        assert_eq!(offset, 5);
        let found = found.expect("inside");
        assert_eq!(found.load(6, 2), 0x0706);
        found.store(5, 1, 0xab);
        found.store(8, 8, 0x1122_3344_5566_7788);
        assert_eq!(memory.read(buffer)[4..9], [4, 0xab, 6, 7, 0x88]);
        assert_eq!(found.load(8, 8), 0x1122_3344_5566_7788);
    }

    #[test]
    fn addresses_near_a_buffer_name_it() {
        let mut memory = Memory::new();
        let a = memory.allocate("a", &[0; 8]);
        let base = memory.address(a).expect("allocated here");
        assert_eq!(memory.describe(base + 8), "byte 8 of `a`, which has 8 bytes");
        assert_eq!(memory.describe(base - 4), "4 bytes in front of `a`");
        assert_eq!(memory.describe(16), "address 0x10, where no buffer is");
    }
}
