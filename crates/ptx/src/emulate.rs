//! The emulator: PTX text, run on the host, with every mistake that a GPU would hide reported as an error.
//!
//! In: PTX, buffers, a launch.  Out: what the kernel wrote and what it cost, or a [`Fault`] with the line.
//! Blocks run on several host threads; the warps of a block take turns that a seed decides. A race is found by what
//! threads touch between barriers (`emulate/shadow`), not by what the turns happen to be.

mod access;
mod arithmetic;
mod block;
mod code;
mod convert;
mod count;
mod fault;
mod memory;
mod shadow;
mod shared;
mod step;
mod warp;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

pub use count::{Class, Counts};
pub use fault::{Fault, FaultKind};
pub use memory::{BufferId, Memory};

use crate::ir::Module;
use crate::parse::{SyntaxError, parse};
use crate::shape::{check_arguments, check_shape};
use block::{Grid, Random, Room};
use code::{Code, decode};

/// The most shared memory that a block of any architecture has.
const MAX_SHARED: u64 = 227 << 10;
/// The most memory that the threads of a block have for themselves.
const MAX_LOCAL: u64 = 64 << 20;

/// A module that is ready to run.
#[derive(Debug)]
pub struct Emulator {
    module: Module,
    /// Each kernel of the module; an error if its operands do not fit.
    kernels: Vec<Result<Code, Fault>>,
}

/// Which kernel to run, on how many threads, with what.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    pub kernel: &'a str,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Bytes for the variables whose size the kernel leaves open.
    pub dynamic_shared: u64,
    pub arguments: &'a [Argument],
}

#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The address of a byte of a buffer.
    Pointer(BufferId, u64),
    U32(u32),
    S32(i32),
    U64(u64),
    S64(i64),
    F32(f32),
    F64(f64),
    /// A structure.
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Decides the turns of warps and the order of blocks.
    pub seed: u64,
    /// Host threads; 0 for as many as the machine has.
    pub host_threads: usize,
    /// The most thread-instructions that a launch may take.
    pub budget: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { seed: 0, host_threads: 0, budget: 20_000_000_000 }
    }
}

impl Emulator {
    pub fn load(text: &str) -> Result<Emulator, SyntaxError> {
        let module = parse(text)?;
        let kernels = module.kernels.iter().map(|kernel| decode(&module, kernel)).collect();
        Ok(Emulator { module, kernels })
    }

    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Runs a kernel to its end. After a fault the memory holds what was written until then.
    pub fn launch(&self, launch: &Launch<'_>, memory: &mut Memory, options: &Options) -> Result<Counts, Fault> {
        let code = self.find(launch.kernel)?;
        check_launch(code, launch)?;
        let params = pack_arguments(code, launch.arguments, memory)?;
        let shared_bytes = code.static_shared.next_multiple_of(16) + launch.dynamic_shared;
        if shared_bytes > MAX_SHARED {
            return Err(Fault::launch(format!("{shared_bytes} bytes of shared memory; a block has {MAX_SHARED}")));
        }
        let threads: u64 = launch.block.iter().map(|axis| u64::from(*axis)).product();
        if code.local_bytes.saturating_mul(threads) > MAX_LOCAL {
            let (bytes, all) = (code.local_bytes, threads);
            return Err(Fault::launch(format!("{bytes} bytes for each of {all} threads; a block has {MAX_LOCAL}")));
        }
        memory.forget_accesses();
        let grid = Grid {
            code,
            params: &params,
            memory,
            threads: launch.block,
            grid: launch.grid,
            shared_bytes: if code.variables.iter().any(|(.., bytes)| bytes.is_none()) {
                shared_bytes
            } else {
                code.static_shared
            },
            seed: options.seed,
            budget: options.budget,
            spent: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        };
        run_blocks(&grid, options)
    }

    fn find(&self, name: &str) -> Result<&Code, Fault> {
        match self.module.kernels.iter().position(|kernel| kernel.name == name).and_then(|at| self.kernels.get(at)) {
            Some(Ok(code)) => Ok(code),
            Some(Err(fault)) => Err(fault.clone()),
            None => {
                let known: Vec<_> = self.module.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect();
                Err(Fault::launch(format!("no kernel `{name}`; there is {}", known.join(", "))))
            }
        }
    }
}

fn check_launch(code: &Code, launch: &Launch<'_>) -> Result<(), Fault> {
    check_shape(&code.name, code.max_threads, launch.grid, launch.block).map_err(Fault::launch)?;
    let blocks: u64 = launch.grid.iter().map(|axis| u64::from(*axis)).product();
    if blocks > shadow::MAX_BLOCKS {
        return Err(Fault::launch(format!("{blocks} blocks; the emulator runs at most {}", shadow::MAX_BLOCKS)));
    }
    Ok(())
}

/// The parameters as the kernel reads them.
fn pack_arguments(code: &Code, arguments: &[Argument], memory: &Memory) -> Result<Vec<u8>, Fault> {
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(match argument {
            Argument::Pointer(buffer, start) => match memory.address(*buffer) {
                Some(address) => address.wrapping_add(*start).to_le_bytes().to_vec(),
                None => return Err(Fault::launch("an argument is a buffer of another memory")),
            },
            Argument::U32(value) => value.to_le_bytes().to_vec(),
            Argument::S32(value) => value.to_le_bytes().to_vec(),
            Argument::U64(value) => value.to_le_bytes().to_vec(),
            Argument::S64(value) => value.to_le_bytes().to_vec(),
            Argument::F32(value) => value.to_le_bytes().to_vec(),
            Argument::F64(value) => value.to_le_bytes().to_vec(),
            Argument::Bytes(bytes) => bytes.clone(),
        });
    }
    let sizes: Vec<u64> = values.iter().map(|value| value.len() as u64).collect();
    let params = code.params.iter().map(|(name, _, size)| (name.as_str(), *size));
    check_arguments(&code.name, params, &sizes).map_err(Fault::launch)?;
    let mut packed = vec![0; code.param_bytes as usize];
    for (value, (_, offset, _)) in values.iter().zip(&code.params) {
        let start = *offset as usize;
        if let Some(place) = packed.get_mut(start..start + value.len()) {
            place.copy_from_slice(value);
        }
    }
    Ok(packed)
}

fn run_blocks(grid: &Grid<'_>, options: &Options) -> Result<Counts, Fault> {
    let blocks: u64 = grid.grid.iter().map(|axis| u64::from(*axis)).product();
    let order = Order::new(blocks, options.seed);
    let machine = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if options.host_threads == 0 { machine } else { options.host_threads };
    let workers = workers.min(64).min(blocks as usize).max(1);
    let next = AtomicU64::new(0);
    let total = Mutex::new(Counts::default());
    // Of several faults the one of the first block in the order, so that runs agree as far as they can.
    let failed: Mutex<Option<(u64, Fault)>> = Mutex::new(None);
    let work = || {
        let mut room = Room::new(grid);
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            if position >= blocks || grid.stop.load(Ordering::Relaxed) {
                break;
            }
            if let Err(fault) = room.run(order.at(position)) {
                grid.stop.store(true, Ordering::Relaxed);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(first, _)| position < *first) {
                    *failed = Some((position, fault));
                }
            }
        }
        total.lock().unwrap_or_else(PoisonError::into_inner).add(&room.counts);
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, fault)) => Err(fault),
        None => Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// All blocks in an order that the seed decides: `position * step + start`, with a step that shares no factor with the
/// number of blocks.
struct Order {
    blocks: u64,
    start: u64,
    step: u64,
}

impl Order {
    fn new(blocks: u64, seed: u64) -> Order {
        let mut random = Random(seed);
        let start = random.next() % blocks;
        let mut step = random.next() % blocks;
        while common_divisor(step, blocks) != 1 {
            step = (step + 1) % blocks.max(2);
        }
        Order { blocks, start, step }
    }

    fn at(&self, position: u64) -> u32 {
        ((position * self.step + self.start) % self.blocks) as u32
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_its_turn() {
        for blocks in 1..40 {
            for seed in 0..5 {
                let order = Order::new(blocks, seed);
                let mut seen: Vec<u32> = (0..blocks).map(|position| order.at(position)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..blocks as u32), "{blocks} blocks, seed {seed}");
            }
        }
    }
}
