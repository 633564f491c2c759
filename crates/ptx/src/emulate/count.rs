//! What a launch cost, in figures that do not depend on the machine it was emulated on.
//!
//! Global memory moves in sectors of 32 bytes, shared memory in waves of one word from each of 32 banks. Both are
//! counted for each instruction of each warp, beside the least that the same threads could have taken.

/// Classes of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Fused multiply-add of floats.
    Fma,
    /// Other arithmetic of floats.
    Float,
    /// Arithmetic and logic of integers, comparisons and selections.
    Integer,
    Convert,
    /// Between registers, from parameters and special registers.
    Move,
    Global,
    Shared,
    Atomic,
    /// Between threads of a warp.
    Warp,
    Barrier,
    Branch,
}

impl Class {
    pub const ALL: [Class; 11] = [
        Class::Fma,
        Class::Float,
        Class::Integer,
        Class::Convert,
        Class::Move,
        Class::Global,
        Class::Shared,
        Class::Atomic,
        Class::Warp,
        Class::Barrier,
        Class::Branch,
    ];
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Thread-instructions by class, in the order of [`Class::ALL`].
    instructions: [u64; Class::ALL.len()],
    /// Sectors of global memory that were moved, and the least for the same bytes.
    pub sectors: u64,
    pub ideal_sectors: u64,
    /// Waves of shared memory, and how many there were if no two words of a part of a warp shared a bank.
    pub waves: u64,
    pub ideal_waves: u64,
    /// Barriers that blocks passed.
    pub barriers: u64,
}

impl Counts {
    pub fn instructions(&self, class: Class) -> u64 {
        self.instructions[class as usize]
    }

    pub fn all_instructions(&self) -> u64 {
        self.instructions.iter().sum()
    }

    #[inline]
    pub(super) fn instruction(&mut self, class: Class, threads: u32) {
        self.instructions[class as usize] += u64::from(threads);
    }

    pub(crate) fn add(&mut self, other: &Counts) {
        for (sum, more) in self.instructions.iter_mut().zip(other.instructions) {
            *sum += more;
        }
        self.sectors += other.sectors;
        self.ideal_sectors += other.ideal_sectors;
        self.waves += other.waves;
        self.ideal_waves += other.ideal_waves;
        self.barriers += other.barriers;
    }

    /// One access of a warp to global memory: `bytes` at each of the addresses.
    pub(super) fn global_access(&mut self, addresses: &mut [u64], bytes: u64) {
        let (Some(first), Some(last)) = (addresses.first().copied(), addresses.last().copied()) else { return };
        // Almost always the threads of a warp walk along memory.
        let apart = addresses.len() as u64;
        if last.wrapping_sub(first) == (apart - 1) * bytes
            && addresses.iter().zip(0..).all(|(address, lane)| address.wrapping_sub(first) == lane * bytes)
        {
            self.sectors += (first % 32 + apart * bytes).div_ceil(32);
            self.ideal_sectors += (apart * bytes).div_ceil(32);
            return;
        }
        addresses.sort_unstable();
        let (mut sectors, mut touched) = (0, 0);
        let mut next_sector = 0;
        let mut end = 0;
        for address in addresses.iter().copied() {
            let from = next_sector.max(address / 32);
            let to = (address + bytes).div_ceil(32);
            sectors += to.saturating_sub(from);
            next_sector = next_sector.max(to);
            touched += (address + bytes).saturating_sub(end.max(address));
            end = end.max(address + bytes);
        }
        self.sectors += sectors;
        self.ideal_sectors += touched.div_ceil(32);
    }

    /// One access of a warp to shared memory. Wide accesses are served for half or a quarter of the warp at a time;
    /// parts that want the same words are served together.
    pub(super) fn shared_access(&mut self, lanes: &[(u32, u64)], bytes: u64) {
        let group = if bytes > 8 {
            8
        } else if bytes > 4 {
            16
        } else {
            32
        };
        // Almost always the threads of a warp read one place, or walk along memory.
        if let [(_, first), rest @ ..] = lanes {
            if rest.iter().all(|(_, at)| at == first) {
                self.waves += 1;
                self.ideal_waves += 1;
                return;
            }
            if lanes.len() == 32
                && bytes >= 4
                && rest.iter().zip(1..).all(|((_, at), lane)| *at == first + lane * bytes)
            {
                let parts = u64::from(32 / group);
                self.waves += parts;
                self.ideal_waves += parts;
                return;
            }
        }
        if let Some(parts) = parts_without_conflict(lanes, bytes, group) {
            self.waves += parts;
            self.ideal_waves += parts;
            return;
        }
        let mut served: Vec<Vec<u64>> = Vec::new();
        let mut waves = 0;
        let mut rest = lanes;
        while let Some((lane, _)) = rest.first() {
            let part = lane / group;
            let (here, after) = rest.split_at(rest.partition_point(|(lane, _)| lane / group == part));
            rest = after;
            let mut words: Vec<u64> =
                here.iter().flat_map(|(_, at)| at / 4..(at + bytes).div_ceil(4).max(at / 4 + 1)).collect();
            words.sort_unstable();
            words.dedup();
            if served.contains(&words) {
                continue;
            }
            let mut banks = [0u64; 32];
            words.iter().for_each(|word| banks[(word % 32) as usize] += 1);
            waves += banks.into_iter().max().unwrap_or(0);
            served.push(words);
        }
        self.waves += waves;
        self.ideal_waves += served.len() as u64;
    }
}

/// How many different parts of a warp are served, if none of them wants two words of a bank.
fn parts_without_conflict(lanes: &[(u32, u64)], bytes: u64, group: u32) -> Option<u64> {
    /// The word that is wanted of each bank; no word has this number, because addresses are in bytes.
    const NONE: u64 = u64::MAX;
    let mut parts = [[NONE; 32]; 4];
    let mut used = [false; 4];
    for (lane, at) in lanes {
        let part = (lane / group) as usize % 4;
        used[part] = true;
        for word in at / 4..at.checked_add(bytes)?.div_ceil(4) {
            let wanted = &mut parts[part][(word % 32) as usize];
            if *wanted != NONE && *wanted != word {
                return None;
            }
            *wanted = word;
        }
    }
    let known = |part: usize| (0..part).any(|earlier| used[earlier] && parts[earlier] == parts[part]);
    Some((0..4).filter(|part| used[*part] && !known(*part)).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(addresses: impl IntoIterator<Item = u64>, bytes: u64) -> (u64, u64) {
        let mut counts = Counts::default();
        counts.global_access(&mut addresses.into_iter().collect::<Vec<_>>(), bytes);
        (counts.sectors, counts.ideal_sectors)
    }

    fn shared(addresses: impl IntoIterator<Item = u64>, bytes: u64) -> (u64, u64) {
        let mut counts = Counts::default();
        counts.shared_access(&(0..).zip(addresses).collect::<Vec<_>>(), bytes);
        (counts.waves, counts.ideal_waves)
    }

    #[test]
    fn sectors_of_usual_patterns() {
        assert_eq!(global((0..32).map(|i| i * 4), 4), (4, 4), "a row");
        assert_eq!(global((0..32).map(|i| 4 + i * 4), 4), (5, 4), "a row that starts off a sector");
        assert_eq!(global((0..32).map(|_| 64), 4), (1, 1), "all the same");
        assert_eq!(global((0..32).map(|i| i * 128), 4), (32, 4), "a column");
        assert_eq!(global((0..32).rev().map(|i| i * 4), 4), (4, 4), "a row backwards");
        assert_eq!(global((0..32).map(|i| i * 16), 16), (16, 16), "wide");
    }

    #[test]
    fn waves_of_usual_patterns() {
        assert_eq!(shared((0..32).map(|i| i * 4), 4), (1, 1), "a row");
        assert_eq!(shared((0..32).map(|_| 64), 4), (1, 1), "all the same");
        assert_eq!(shared((0..32).map(|i| i * 128), 4), (32, 1), "a column");
        assert_eq!(shared((0..32).map(|i| i * 132), 4), (1, 1), "a column of padded rows");
        assert_eq!(shared((0..32).map(|i| i * 16), 16), (4, 4), "wide");
        assert_eq!(shared((0..32).map(|i| (i % 8) * 16), 16), (1, 1), "quarters that want the same");
        assert_eq!(shared((0..32).map(|i| i * 8), 8), (2, 2), "double words");
    }
}
