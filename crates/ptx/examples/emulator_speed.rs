//! How many thread-instructions the emulator runs in a second, on a tiled matrix multiplication.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a command of its own")]

#[path = "kernels/elementwise.rs"]
#[expect(dead_code, reason = "only some kernels are measured")]
mod elementwise;
#[path = "kernels/matmul.rs"]
#[expect(dead_code, reason = "only some kernels are measured")]
mod matmul;

use std::time::Instant;

use farkas_ptx::emulate::{Argument, Emulator, Launch, Memory, Options};
use farkas_ptx::ir::{Kernel, Module, Target};

fn measure(kernel: Kernel, grid: [u32; 3], block: [u32; 3], memory: &mut Memory, arguments: &[Argument]) {
    let name = kernel.name.clone();
    let module = Module { target: Target::default(), files: Vec::new(), kernels: vec![kernel] };
    let emulator = Emulator::load(&module.to_string()).expect("our own text is PTX");
    let launch = Launch { kernel: &name, grid, block, dynamic_shared: 0, arguments };
    for host_threads in [1, 2] {
        let options = Options { host_threads, ..Options::default() };
        let start = Instant::now();
        let counts = emulator.launch(&launch, memory, &options).expect("the kernel is right");
        let seconds = start.elapsed().as_secs_f64();
        let rate = counts.all_instructions() as f64 / seconds / 1e6;
        println!("{name}: {rate:.0} million thread-instructions/s on {host_threads} host threads");
    }
}

fn main() {
    let n = 512u32;
    let mut memory = Memory::new();
    // Small numbers of both signs: what is computed must not be easier than what people compute.
    let matrix: Vec<u8> = (0..n * n).flat_map(|cell| ((cell % 17) as f32 * 0.37 - 3.0).to_le_bytes()).collect();
    let [a, b, c] = ["a", "b", "c"].map(|name| Argument::Pointer(memory.allocate(name, &matrix), 0));
    for tile in matmul::TILES {
        let grid = [n / tile.columns, n / tile.rows, 1];
        let arguments = [Argument::U32(n), Argument::U32(n), a.clone(), b.clone(), c.clone()];
        measure(matmul::matmul(tile), grid, [tile.threads(), 1, 1], &mut memory, &arguments);
    }
    let arguments = [Argument::U32(n * n), Argument::F32(2.0), a, b];
    let kernel = elementwise::axpy(farkas_ptx::ir::Type::F32, 256);
    measure(kernel, [n * n / 256, 1, 1], [256, 1, 1], &mut memory, &arguments);
}
