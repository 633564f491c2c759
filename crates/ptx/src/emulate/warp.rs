//! The state of 32 threads that run in lockstep, and where they part and meet.

use super::code::{Code, Fixed, Lanes, Source};
use super::fault::{FaultKind, Step, trouble};
use crate::ir::Special;

/// Threads at one place of the code.
#[derive(Clone, Copy, Debug)]
struct Path {
    at: u32,
    mask: u32,
    /// Where they wait for the threads that went another way: the path below starts there.
    meet: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// At a barrier of the block.
    Waiting,
    Done,
}

/// An asynchronous copy that has not arrived: lane, offset in shared memory, words and position of the instruction.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    pub(super) group: u32,
    pub(super) lane: u32,
    pub(super) to: u64,
    pub(super) words: Vec<u32>,
    pub(super) at: u32,
}

#[derive(Debug)]
pub(super) struct Warp {
    pub(super) number: u32,
    rows: Vec<Lanes>,
    /// The values of [`Code::fixed`] in this block.
    fixed: Vec<Lanes>,
    /// The lanes of each row that were assigned.
    assigned: Vec<u32>,
    predicates: Vec<u32>,
    predicates_assigned: Vec<u32>,
    paths: Vec<Path>,
    /// Threads that have not left.
    pub(super) live: u32,
    pub(super) clock: u32,
    pub(super) state: State,
    pub(super) arrivals: Vec<Arrival>,
    /// The group that copies belong to until it is committed.
    pub(super) group: u32,
}

impl Warp {
    pub(super) fn new(number: u32, code: &Code) -> Warp {
        Warp {
            number,
            rows: vec![[0; 32]; code.rows.len()],
            fixed: vec![[0; 32]; code.fixed.len()],
            assigned: vec![0; code.rows.len()],
            predicates: vec![0; code.predicates.len()],
            predicates_assigned: vec![0; code.predicates.len()],
            paths: Vec::new(),
            live: 0,
            clock: 0,
            state: State::Ready,
            arrivals: Vec::new(),
            group: 0,
        }
    }

    /// As it is before the first instruction of a block, with `threads` of its lanes in use.
    pub(super) fn reset(&mut self, threads: u32, code: &Code, specials: &Specials) {
        for (lanes, fixed) in self.fixed.iter_mut().zip(&code.fixed) {
            *lanes = specials.lanes(*fixed, self.number);
        }
        self.live = if threads >= 32 { u32::MAX } else { (1 << threads) - 1 };
        self.assigned.fill(0);
        self.predicates_assigned.fill(0);
        self.paths.clear();
        self.paths.push(Path { at: 0, mask: self.live, meet: None });
        self.clock = 0;
        self.state = State::Ready;
        self.arrivals.clear();
        self.group = 0;
    }

    // ---- Control ----------------------------------------------------------------------------------------

    /// The next instruction and the threads that run it; `None` if all have left.
    #[inline]
    pub(super) fn current(&mut self) -> Option<(u32, u32)> {
        loop {
            let path = self.paths.last_mut()?;
            path.mask &= self.live;
            if path.mask != 0 && Some(path.at) != path.meet {
                return Some((path.at, path.mask));
            }
            self.paths.pop();
        }
    }

    #[inline]
    pub(super) fn advance(&mut self) {
        if let Some(path) = self.paths.last_mut() {
            path.at += 1;
        }
    }

    /// The `taken` threads go to `target`, the others on; both meet at `meet`. `first` says who goes first.
    pub(super) fn branch(&mut self, mask: u32, taken: u32, target: u32, meet: Option<u32>, taken_first: bool) {
        let Some(path) = self.paths.last_mut() else { return };
        let next = path.at + 1;
        if taken == mask {
            path.at = target;
            return;
        }
        if taken == 0 {
            path.at = next;
            return;
        }
        // Threads that meet where the path below starts anyway need no path of their own.
        if path.meet == meet {
            self.paths.pop();
        } else if let Some(meet) = meet {
            path.at = meet;
        }
        let mut sides = [(target, taken), (next, mask & !taken)];
        if taken_first {
            sides.reverse();
        }
        for (at, mask) in sides {
            if Some(at) != meet {
                self.paths.push(Path { at, mask, meet });
            }
        }
    }

    pub(super) fn leave(&mut self, mask: u32) {
        self.live &= !mask;
    }

    // ---- Registers --------------------------------------------------------------------------------------

    /// The lanes of an operand; an error if a lane of `mask` was never assigned.
    #[inline]
    pub(super) fn read<'a>(&'a self, code: &'a Code, source: Source, mask: u32) -> Step<&'a Lanes> {
        match source {
            Source::Row(row) => {
                if self.assigned[row as usize] & mask != mask {
                    return self.unassigned(&code.rows[row as usize], mask & !self.assigned[row as usize]);
                }
                Ok(&self.rows[row as usize])
            }
            Source::Constant(constant) => Ok(&code.constants[constant as usize]),
            Source::Fixed(fixed) => Ok(&self.fixed[fixed as usize]),
        }
    }

    #[cold]
    fn unassigned<T>(&self, name: &str, lanes: u32) -> Step<T> {
        let thread = self.number * 32 + lanes.trailing_zeros();
        let message = format!("thread {thread} of its block reads `{name}`, which it has not assigned");
        trouble(FaultKind::UninitialisedRegister, message)
    }

    #[inline]
    pub(super) fn write(&mut self, row: u32, values: &Lanes, mask: u32) {
        let target = &mut self.rows[row as usize];
        if mask == u32::MAX {
            *target = *values;
        } else {
            for lane in 0..32 {
                if mask >> lane & 1 == 1 {
                    target[lane] = values[lane];
                }
            }
        }
        self.assigned[row as usize] |= mask;
    }

    /// Makes lanes of a row as if they had never been assigned.
    pub(super) fn forget(&mut self, row: u32, mask: u32) {
        self.assigned[row as usize] &= !mask;
    }

    #[inline]
    pub(super) fn predicate(&self, code: &Code, predicate: u32, mask: u32) -> Step<u32> {
        let assigned = self.predicates_assigned[predicate as usize];
        if assigned & mask != mask {
            return self.unassigned(&code.predicates[predicate as usize], mask & !assigned);
        }
        Ok(self.predicates[predicate as usize])
    }

    #[inline]
    pub(super) fn set_predicate(&mut self, predicate: u32, values: u32, mask: u32) {
        let old = self.predicates[predicate as usize];
        self.predicates[predicate as usize] = old & !mask | values & mask;
        self.predicates_assigned[predicate as usize] |= mask;
    }
}

/// What special registers say in a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Specials {
    pub(super) block: [u32; 3],
    pub(super) threads: [u32; 3],
    pub(super) grid: [u32; 3],
    /// Bytes of shared memory; the threads' own memory is behind it.
    pub(super) shared: u64,
    /// Bytes of a thread's own memory.
    pub(super) local: u64,
}

impl Specials {
    /// Where a thread's own memory starts.
    #[inline]
    pub(super) fn local_start(&self, number: u32) -> u64 {
        self.shared.next_multiple_of(16) + u64::from(number) * self.local
    }

    /// Whether an offset in shared memory is behind it.
    #[inline]
    pub(super) fn is_local(&self, offset: u64) -> bool {
        self.local > 0 && offset >= self.local_start(0)
    }

    /// The coordinates of a thread in its block.
    pub(super) fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.threads;
        [number % x, number / x % y, number / (x * y)]
    }

    fn lanes(&self, fixed: Fixed, warp: u32) -> Lanes {
        let special = match fixed {
            Fixed::Special(special) => special,
            Fixed::Local(offset) => {
                return std::array::from_fn(|lane| self.local_start(warp * 32 + lane as u32) + offset);
            }
        };
        let all = |value: u32| [u64::from(value); 32];
        let thread = |axis: usize| std::array::from_fn(|lane| u64::from(self.thread(warp * 32 + lane as u32)[axis]));
        let by_lane = |f: fn(u32) -> u32| std::array::from_fn(|lane| u64::from(f(lane as u32)));
        match special {
            Special::TidX => thread(0),
            Special::TidY => thread(1),
            Special::TidZ => thread(2),
            Special::NtidX => all(self.threads[0]),
            Special::NtidY => all(self.threads[1]),
            Special::NtidZ => all(self.threads[2]),
            Special::CtaidX => all(self.block[0]),
            Special::CtaidY => all(self.block[1]),
            Special::CtaidZ => all(self.block[2]),
            Special::NctaidX => all(self.grid[0]),
            Special::NctaidY => all(self.grid[1]),
            Special::NctaidZ => all(self.grid[2]),
            Special::LaneId => by_lane(|lane| lane),
            Special::WarpId => all(warp),
            Special::WarpSize => all(32),
            Special::LanemaskEq => by_lane(|lane| 1 << lane),
            Special::LanemaskLt => by_lane(|lane| (1 << lane) - 1),
            Special::LanemaskLe => by_lane(|lane| ((1u64 << (lane + 1)) - 1) as u32),
            Special::LanemaskGt => by_lane(|lane| !((1u64 << (lane + 1)) - 1) as u32),
            Special::LanemaskGe => by_lane(|lane| !((1 << lane) - 1)),
        }
    }
}
