//! Races: for each cell of memory, who touched it last and when.
//!
//! Time inside a block is counted by its barriers. Each warp has a clock; a barrier of the block sets all clocks to one
//! common later value, a barrier of the warp advances its own. An access is ordered before another one if it is by the
//! same thread, by the same block before its last barrier, or by the same warp before its last warp barrier. Blocks are
//! never ordered. Any two accesses that are not ordered and of which one writes are a race, whatever the interleaving
//! was: detection does not rely on luck.
//!
//! One record for the last write and one for the last reads suffice. Reads that nothing orders are merged into "several
//! threads" of a warp, a block or the grid, and a record that a barrier has ordered may be forgotten within its block,
//! because for every other block the newer record tells the same.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// An access while it happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) block: u32,
    /// In the block, counted through.
    pub(super) thread: u32,
    /// The clock of the warp.
    pub(super) clock: u32,
    /// What the clocks were set to by the block's last barrier.
    pub(super) barrier: u32,
}

/// The largest values that fit into a record.
pub(super) const MAX_BLOCKS: u64 = 1 << 24;
pub(super) const MAX_CLOCK: u32 = (1 << 24) - 1;

/// Who and when, in 64 bits: flags, level, block (24 bits), thread (10), clock (24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record(pub(super) u64);

const VALID: u64 = 1 << 63;
/// A write that is an atomic operation.
const ATOMIC: u64 = 1 << 62;
/// For atomics: the block has also written plainly, earlier. For reads: one was by `ld.global.nc`.
const STICKY: u64 = 1 << 61;
const LEVEL: u64 = 3 << 59;
const SEVERAL_LANES: u64 = 1 << 59;
const SEVERAL_WARPS: u64 = 2 << 59;
const SEVERAL_BLOCKS: u64 = 3 << 59;

impl Record {
    #[inline]
    fn of(now: Now) -> Record {
        Record(VALID | u64::from(now.block) << 34 | u64::from(now.thread) << 24 | u64::from(now.clock))
    }

    #[inline]
    pub(super) fn is_valid(self) -> bool {
        self.0 & VALID != 0
    }

    pub(super) fn block(self) -> u32 {
        (self.0 >> 34) as u32 & 0xff_ffff
    }

    pub(super) fn thread(self) -> u32 {
        (self.0 >> 24) as u32 & 0x3ff
    }

    fn clock(self) -> u32 {
        self.0 as u32 & MAX_CLOCK
    }

    /// Several threads are meant, of which [`Record::thread`] is one.
    pub(super) fn is_several(self) -> bool {
        self.0 & LEVEL != 0
    }

    /// Whether some access of the record is not ordered before `now`.
    #[inline]
    fn unordered(self, now: Now) -> bool {
        if !self.is_valid() {
            return false;
        }
        let level = self.0 & LEVEL;
        if level == SEVERAL_BLOCKS || self.block() != now.block {
            return true;
        }
        if self.clock() < now.barrier {
            return false;
        }
        if level == SEVERAL_WARPS || self.thread() / 32 != now.thread / 32 {
            return true;
        }
        self.clock() >= now.clock && (level == SEVERAL_LANES || self.thread() != now.thread)
    }

    /// The record with `now` added, for accesses that do not conflict with each other.
    #[inline]
    fn joined(self, now: Now) -> Record {
        let new = Record::of(now);
        if !self.is_valid() {
            return new;
        }
        let sticky = self.0 & STICKY;
        let level = self.0 & LEVEL;
        if level == SEVERAL_BLOCKS {
            return self;
        }
        let level = if self.block() != now.block {
            SEVERAL_BLOCKS
        } else if self.clock() < now.barrier {
            0
        } else if level == SEVERAL_WARPS || self.thread() / 32 != now.thread / 32 {
            SEVERAL_WARPS
        } else if self.clock() < now.clock {
            0
        } else if self.thread() != now.thread || level == SEVERAL_LANES {
            // One thread of the pair suffices to name, and an unchanged record need not be stored.
            return Record(self.0 | SEVERAL_LANES);
        } else {
            0
        };
        if level == SEVERAL_WARPS && self.0 & LEVEL == SEVERAL_WARPS && self.clock() == now.clock {
            return self;
        }
        Record(new.0 | sticky | level)
    }
}

/// The access that the new one is in a race with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub(super) with: Record,
    pub(super) wrote: bool,
    /// The position of its instruction.
    pub(super) at: u32,
}

/// How memory is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    /// A read that promises that nobody writes during the kernel.
    ReadOnly,
    Write,
    Atomic,
}

/// What is known of a cell of shared memory, which only one host thread works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalCell {
    write: Record,
    read: Record,
    write_at: u32,
    read_at: u32,
}

impl LocalCell {
    pub(super) const NEW: LocalCell = LocalCell { write: Record(0), read: Record(0), write_at: 0, read_at: 0 };

    pub(super) fn is_written(&self) -> bool {
        self.write.is_valid()
    }

    #[inline]
    pub(super) fn touch(&mut self, touch: Touch, now: Now, at: u32) -> Result<(), Conflict> {
        let (write, read) = (self.write, self.read);
        match touch {
            Touch::Read | Touch::ReadOnly => {
                if write.unordered(now) {
                    return Err(Conflict { with: write, wrote: true, at: self.write_at });
                }
                self.read = read.joined(now);
                self.read_at = at;
            }
            Touch::Write | Touch::Atomic => {
                let (new, free) = after_write(touch, write, now);
                if !free {
                    return Err(Conflict { with: write, wrote: true, at: self.write_at });
                }
                if read.unordered(now) {
                    return Err(Conflict { with: read, wrote: false, at: self.read_at });
                }
                self.write = new;
                self.write_at = at;
            }
        }
        Ok(())
    }
}

/// The record after a write, and whether the earlier one allows it.
#[inline]
fn after_write(touch: Touch, write: Record, now: Now) -> (Record, bool) {
    if touch == Touch::Write {
        return (Record::of(now), !write.unordered(now));
    }
    let atomic = write.0 & ATOMIC != 0;
    let plain_elsewhere = write.0 & STICKY != 0 && write.block() != now.block;
    let free = !write.unordered(now) || (atomic && !plain_elsewhere);
    let plain_before = write.is_valid() && (!atomic || write.0 & STICKY != 0);
    let new = Record(write.joined(now).0 | ATOMIC | if plain_before { STICKY } else { 0 });
    (new, free)
}

/// What is known of a cell of global memory, which blocks on several host threads touch at once.
///
/// A writer publishes its record before it looks at the readers', and a reader the other way round; so of two accesses
/// at the same time one sees the other.
#[derive(Debug, Default)]
pub(super) struct GlobalCell {
    write: AtomicU64,
    read: AtomicU64,
    write_at: AtomicU32,
    read_at: AtomicU32,
}

impl GlobalCell {
    #[inline]
    pub(super) fn touch(&self, touch: Touch, now: Now, at: u32) -> Result<(), Conflict> {
        match touch {
            Touch::Read | Touch::ReadOnly => {
                let flag = if touch == Touch::ReadOnly { STICKY } else { 0 };
                let joined = |old: u64| Record(old).joined(now).0 | flag;
                let mut old = self.read.load(Ordering::Relaxed);
                while joined(old) != old {
                    match self.read.compare_exchange_weak(old, joined(old), Ordering::SeqCst, Ordering::Relaxed) {
                        Ok(_) => {
                            self.read_at.store(at, Ordering::Relaxed);
                            break;
                        }
                        Err(found) => old = found,
                    }
                }
                let write = Record(self.write.load(Ordering::SeqCst));
                if write.unordered(now) || (touch == Touch::ReadOnly && write.is_valid()) {
                    return Err(Conflict { with: write, wrote: true, at: self.write_at.load(Ordering::Relaxed) });
                }
            }
            Touch::Write | Touch::Atomic => {
                let old = match touch {
                    Touch::Write => self.write.swap(Record::of(now).0, Ordering::SeqCst),
                    _ => {
                        let next = |old| Some(after_write(touch, Record(old), now).0.0);
                        match self.write.fetch_update(Ordering::SeqCst, Ordering::Relaxed, next) {
                            Ok(old) | Err(old) => old,
                        }
                    }
                };
                let earlier = self.write_at.swap(at, Ordering::Relaxed);
                if !after_write(touch, Record(old), now).1 {
                    return Err(Conflict { with: Record(old), wrote: true, at: earlier });
                }
                let read = Record(self.read.load(Ordering::SeqCst));
                if read.unordered(now) || (read.is_valid() && read.0 & STICKY != 0) {
                    return Err(Conflict { with: read, wrote: false, at: self.read_at.load(Ordering::Relaxed) });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(block: u32, thread: u32, clock: u32, barrier: u32) -> Now {
        Now { block, thread, clock, barrier }
    }

    /// Both kinds of cells must say the same; whether the last access is a race.
    fn races(accesses: &[(Touch, Now)]) -> bool {
        let (mut local, global) = (LocalCell::NEW, GlobalCell::default());
        let mut last = false;
        for (touch, now) in accesses {
            assert!(!last, "only the last access may be a race");
            last = local.touch(*touch, *now, 1).is_err();
            assert_eq!(global.touch(*touch, *now, 1).is_err(), last);
        }
        last
    }

    #[test]
    fn unordered_accesses_race_unless_both_read() {
        use Touch::{Read, Write};
        let (a, b) = (now(0, 0, 0, 0), now(0, 40, 0, 0));
        assert!(races(&[(Write, a), (Write, b)]));
        assert!(races(&[(Write, a), (Read, b)]));
        assert!(races(&[(Read, a), (Write, b)]));
        assert!(!races(&[(Read, a), (Read, b)]));
        assert!(!races(&[(Write, a), (Read, a), (Write, a)]));
        assert!(races(&[(Read, a), (Read, b), (Write, a)]), "the other reader is still known");
        assert!(races(&[(Read, now(0, 0, 0, 0)), (Read, now(0, 1, 0, 0)), (Write, now(0, 1, 0, 0))]));
    }

    #[test]
    fn a_barrier_orders_its_block_only() {
        use Touch::{Read, Write};
        assert!(!races(&[(Write, now(0, 0, 0, 0)), (Read, now(0, 40, 1, 1))]));
        assert!(!races(&[(Read, now(0, 0, 0, 0)), (Read, now(0, 9, 0, 0)), (Write, now(0, 40, 1, 1))]));
        assert!(races(&[(Write, now(0, 0, 0, 0)), (Read, now(1, 0, 1, 1))]), "another block");
        assert!(races(&[(Read, now(0, 0, 0, 0)), (Read, now(1, 0, 0, 0)), (Write, now(0, 0, 5, 5))]));
    }

    #[test]
    fn a_warp_barrier_orders_its_warp_only() {
        use Touch::{Read, Write};
        assert!(!races(&[(Write, now(0, 0, 3, 3)), (Read, now(0, 1, 4, 3))]));
        assert!(races(&[(Write, now(0, 0, 3, 3)), (Read, now(0, 40, 4, 3))]));
        let reads = [(Read, now(0, 0, 3, 3)), (Read, now(0, 1, 4, 3))];
        assert!(races(&[reads[0], reads[1], (Write, now(0, 0, 4, 3))]));
        assert!(!races(&[reads[0], reads[1], (Write, now(0, 0, 5, 3))]));
    }

    #[test]
    fn atomics_race_with_plain_accesses_only() {
        use Touch::{Atomic, Read, Write};
        let (a, b, other) = (now(0, 0, 0, 0), now(0, 40, 0, 0), now(1, 0, 0, 0));
        assert!(!races(&[(Atomic, a), (Atomic, b), (Atomic, other)]));
        assert!(races(&[(Atomic, a), (Read, b)]));
        assert!(races(&[(Atomic, a), (Atomic, other), (Write, now(0, 0, 1, 1))]));
        assert!(!races(&[(Atomic, a), (Atomic, b), (Read, now(0, 0, 1, 1))]));
        assert!(races(&[(Write, a), (Atomic, now(0, 40, 1, 1)), (Atomic, other)]), "the plain write is still known");
    }

    #[test]
    fn read_only_loads_forbid_all_writes() {
        let cell = GlobalCell::default();
        assert!(cell.touch(Touch::ReadOnly, now(0, 0, 0, 0), 1).is_ok());
        assert!(cell.touch(Touch::Write, now(0, 0, 7, 7), 2).is_err());
        let cell = GlobalCell::default();
        assert!(cell.touch(Touch::Write, now(0, 0, 0, 0), 1).is_ok());
        assert!(cell.touch(Touch::ReadOnly, now(0, 0, 7, 7), 2).is_err());
    }
}
