//! One block from its first instruction to its last: which warp runs when, and barriers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::code::Code;
use super::count::Counts;
use super::fault::{Fault, FaultKind, Trouble};
use super::memory::Memory;
use super::shadow::MAX_CLOCK;
use super::shared::Shared;
use super::step::Context;
use super::warp::{Specials, State, Warp};

/// What all blocks of a launch share.
#[derive(Debug)]
pub(super) struct Grid<'a> {
    pub(super) code: &'a Code,
    pub(super) params: &'a [u8],
    pub(super) memory: &'a Memory,
    pub(super) threads: [u32; 3],
    pub(super) grid: [u32; 3],
    pub(super) shared_bytes: u64,
    pub(super) seed: u64,
    pub(super) budget: u64,
    /// Thread-instructions so far.
    pub(super) spent: AtomicU64,
    /// Some block has failed.
    pub(super) stop: AtomicBool,
}

/// Random numbers by Steele, Lea and Flood's splitting generator.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// The room for one block, used for one after the other.
#[derive(Debug)]
pub(super) struct Room<'a> {
    grid: &'a Grid<'a>,
    warps: Vec<Warp>,
    shared: Shared,
    pub(super) counts: Counts,
}

impl<'a> Room<'a> {
    pub(super) fn new(grid: &'a Grid<'a>) -> Room<'a> {
        let threads: u32 = grid.threads.iter().product();
        Room {
            grid,
            warps: (0..threads.div_ceil(32)).map(|number| Warp::new(number, grid.code)).collect(),
            shared: Shared::new(
                grid.shared_bytes.next_multiple_of(16) + u64::from(threads) * local_bytes(grid.code),
                grid.code.shared_granule,
            ),
            counts: Counts::default(),
        }
    }

    /// Runs the block with this number. Stops early, without a fault, if another block has failed.
    pub(super) fn run(&mut self, block: u32) -> Result<(), Fault> {
        let grid = self.grid;
        let threads: u32 = grid.threads.iter().product();
        self.shared.reset();
        let [columns, rows, _] = grid.grid;
        let coordinates = [block % columns, block / columns % rows, block / columns / rows];
        let specials = Specials {
            block: coordinates,
            threads: grid.threads,
            grid: grid.grid,
            shared: grid.shared_bytes,
            local: local_bytes(grid.code),
        };
        for warp in &mut self.warps {
            warp.reset(threads - warp.number * 32, grid.code, &specials);
        }
        let mut context = Context {
            code: grid.code,
            params: grid.params,
            memory: grid.memory,
            shared: &mut self.shared,
            counts: &mut self.counts,
            specials,
            block,
            barrier: 0,
            unwritten: None,
        };
        let mut random = Random(grid.seed ^ u64::from(block).wrapping_mul(0xd134_2543_de82_ef95));
        let mut ready: Vec<usize> = (0..self.warps.len()).collect();
        loop {
            while !ready.is_empty() {
                let number = random.next();
                let pick = (number >> 32) as usize % ready.len();
                let warp = &mut self.warps[ready[pick]];
                let mut spent = 0;
                // Turns are short and uneven, so that warps meet in many different ways.
                for turn in 0..1 + number % 64 {
                    match context.step(warp, number >> (turn % 24 + 6) & 1 == 1) {
                        Ok(threads) => spent += u64::from(threads),
                        Err((at, trouble)) => {
                            return Err(grid.code.fault(at as usize, *trouble));
                        }
                    }
                    if warp.state != State::Ready {
                        break;
                    }
                }
                if warp.state != State::Ready {
                    ready.swap_remove(pick);
                } else if grid.spent.fetch_add(spent, Ordering::Relaxed) + spent > grid.budget {
                    let at = warp.current().map_or(0, |(at, _)| at);
                    let (at, trouble) = context.unwritten.take().unwrap_or_else(|| (at, out_of_budget(grid)));
                    return Err(grid.code.fault(at as usize, *trouble));
                }
                if grid.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
            if let Some((at, trouble)) = context.unwritten.take() {
                return Err(grid.code.fault(at as usize, *trouble));
            }
            // Threads that have left are not waited for.
            let waiting = self.warps.iter().filter(|warp| warp.state == State::Waiting);
            let Some(latest) = waiting.map(|warp| warp.clock).max() else { return Ok(()) };
            if latest >= MAX_CLOCK {
                return Err(grid.code.fault(0, *out_of_budget(grid)));
            }
            context.barrier = latest + 1;
            context.counts.barriers += 1;
            for (number, warp) in self.warps.iter_mut().enumerate() {
                if warp.state == State::Waiting {
                    warp.state = State::Ready;
                    warp.clock = latest + 1;
                    ready.push(number);
                }
            }
        }
    }
}

/// Of each thread; threads' own memories begin at multiples of the largest access.
fn local_bytes(code: &Code) -> u64 {
    code.local_bytes.next_multiple_of(16)
}

fn out_of_budget(grid: &Grid<'_>) -> Box<Trouble> {
    let message = format!("the budget of {} thread-instructions ran out; is this loop endless?", grid.budget);
    Box::new(Trouble { kind: FaultKind::Budget, message, earlier: None })
}
