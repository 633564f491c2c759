//! The example kernels, run on the emulator: results, races when a barrier is missing, costs, and the text itself.
#![forbid(unsafe_code)]
#![expect(clippy::panic, reason = "a test fails by panicking")]

#[path = "../../examples/kernels/elementwise.rs"]
mod elementwise;
#[path = "../../examples/kernels/exchange.rs"]
mod exchange;
#[path = "../../examples/kernels/matmul.rs"]
mod matmul;
#[path = "../../examples/kernels/reduce.rs"]
mod reduce;
#[path = "../../examples/kernels/stencil.rs"]
mod stencil;

mod barriers;
mod cases;
mod costs;
mod results;
mod text;

use farkas_ptx::emulate::{Argument, Counts, Emulator, Fault, Launch, Memory, Options};
use farkas_ptx::ir::{Kernel, Module, Target};
use farkas_ptx::verify;

/// A launch of one kernel with what it must leave behind.
struct Case {
    kernel: Kernel,
    grid: [u32; 3],
    block: [u32; 3],
    /// Buffers come first among the arguments' values, by their position here.
    buffers: Vec<(&'static str, Vec<u8>)>,
    arguments: Vec<Value>,
    /// The position of a buffer, and its content after the launch.
    expected: (usize, Vec<u8>),
}

enum Value {
    Buffer(usize),
    Scalar(Argument),
}

/// The PTX of one kernel.
fn text_of(kernel: &Kernel) -> String {
    let sm = if kernel.name == "copy_async" { 80 } else { 70 };
    let module = Module { target: Target::sm(sm), files: Vec::new(), kernels: vec![kernel.clone()] };
    match verify(module) {
        Ok(verified) => verified.text(),
        Err(problems) => panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    }
}

/// Runs `text` as the case says; the content of the buffer that is expected.
fn run(case: &Case, text: &str, seed: u64) -> Result<(Vec<u8>, Counts), Fault> {
    let emulator = Emulator::load(text).expect("the text is PTX");
    let mut memory = Memory::new();
    let buffers: Vec<_> = case.buffers.iter().map(|(name, content)| memory.allocate(*name, content)).collect();
    let arguments: Vec<_> = case
        .arguments
        .iter()
        .map(|value| match value {
            Value::Buffer(position) => Argument::Pointer(buffers[*position], 0),
            Value::Scalar(argument) => argument.clone(),
        })
        .collect();
    let launch = Launch {
        kernel: &case.kernel.name,
        grid: case.grid,
        block: case.block,
        dynamic_shared: 0,
        arguments: &arguments,
    };
    let options = Options { seed, host_threads: 2, budget: 100_000_000 };
    let counts = emulator.launch(&launch, &mut memory, &options)?;
    Ok((memory.read(buffers[case.expected.0]), counts))
}
