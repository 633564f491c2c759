//! The shared memory of a block.

use super::shadow::LocalCell;

#[derive(Debug)]
pub(super) struct Shared {
    words: Vec<u32>,
    pub(super) cells: Vec<LocalCell>,
}

impl Shared {
    pub(super) fn new(bytes: u64, granule: u32) -> Shared {
        Shared {
            words: vec![0; bytes.div_ceil(4) as usize],
            cells: vec![LocalCell::NEW; bytes.div_ceil(1 << granule) as usize],
        }
    }

    /// As it is for a new block: never written.
    pub(super) fn reset(&mut self) {
        self.cells.fill(LocalCell::NEW);
    }

    /// `size` bytes (1, 2, 4 or 8) at an offset that is a multiple of it and in bounds.
    #[inline]
    pub(super) fn load(&self, offset: u64, size: u32) -> u64 {
        let word = |at: usize| self.words.get(at).copied().map_or(0, u64::from);
        let at = (offset / 4) as usize;
        match size {
            4 => word(at),
            8 => word(at) | word(at + 1) << 32,
            size => word(at) >> (offset % 4 * 8) & ((1 << (size * 8)) - 1),
        }
    }

    #[inline]
    pub(super) fn store(&mut self, offset: u64, size: u32, value: u64) {
        let at = (offset / 4) as usize;
        let Some(word) = self.words.get_mut(at) else { return };
        match size {
            4 => *word = value as u32,
            8 => {
                *word = value as u32;
                if let Some(high) = self.words.get_mut(at + 1) {
                    *high = (value >> 32) as u32;
                }
            }
            size => {
                let shift = offset as u32 % 4 * 8;
                let mask = ((1u32 << (size * 8)) - 1) << shift;
                *word = *word & !mask | (value as u32) << shift & mask;
            }
        }
    }
}
