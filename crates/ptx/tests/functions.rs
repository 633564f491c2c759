//! Mathematical functions have the same bits in PTX as in their definition.
#![forbid(unsafe_code)]
#![expect(clippy::panic, reason = "a test fails by panicking")]

#[path = "../examples/kernels/elementwise.rs"]
#[expect(dead_code, reason = "only the addresses are needed here")]
mod elementwise;
#[path = "../examples/kernels/functions.rs"]
#[expect(dead_code, reason = "kernels are made one by one here")]
mod functions;

use farkas_ptx::emulate::{Argument, Emulator, Launch, Memory, Options};
use farkas_ptx::ir::{Kernel, Module, Target, Type};
use farkas_ptx::verify;

/// Runs a kernel on inputs of `n` elements each.
fn run(kernel: Kernel, n: u32, inputs: &[Vec<u8>]) -> Vec<u8> {
    let name = kernel.name.clone();
    let module = Module { target: Target::default(), files: Vec::new(), kernels: vec![kernel] };
    let text = match verify(module) {
        Ok(verified) => verified.text(),
        Err(problems) => panic!("{name}: {}", problems[0]),
    };
    let emulator = Emulator::load(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut memory = Memory::new();
    let mut arguments = vec![Argument::U32(n)];
    for input in inputs {
        arguments.push(Argument::Pointer(memory.allocate("input", input), 0));
    }
    let y = memory.allocate("y", &vec![0; inputs[0].len()]);
    arguments.push(Argument::Pointer(y, 0));
    let (grid, block) = ([n.div_ceil(128), 1, 1], [128, 1, 1]);
    let launch = Launch { kernel: &name, grid, block, dynamic_shared: 0, arguments: &arguments };
    emulator.launch(&launch, &mut memory, &Options::default()).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    memory.read(y)
}

/// Special values, and numbers of all sizes.
fn arguments() -> Vec<f64> {
    let mut found = vec![0.0, 1.0, 0.5, 2.0, 10.0, 88.5, 745.0, 1e-310, 1e300, 1e-30, f64::INFINITY, f64::NAN];
    found.extend((1..60).map(|i| f64::from(i) * 0.37));
    found.extend((-40..40).map(|i| 1.7f64.powi(i)));
    found.extend([1e5, 1e9, 1e22, 3.0e38, 1.4e-45]);
    found.iter().flat_map(|x| [*x, -x]).collect()
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[track_caller]
fn assert_same_f32(name: &str, found: &[u8], expected: impl Iterator<Item = f32>) {
    let found = found.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().expect("4 bytes")));
    for (at, (found, expected)) in found.zip(expected).enumerate() {
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(same, "{name}, argument {at}: {found:e}, not {expected:e}");
    }
}

#[track_caller]
fn assert_same_f64(name: &str, found: &[u8], expected: impl Iterator<Item = f64>) {
    let found = found.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("8 bytes")));
    for (at, (found, expected)) in found.zip(expected).enumerate() {
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(same, "{name}, argument {at}: {found:e}, not {expected:e}");
    }
}

#[test]
fn functions_of_one_argument() {
    let doubles = arguments();
    let singles: Vec<f32> = doubles.iter().map(|x| *x as f32).collect();
    let n = doubles.len() as u32;
    for function in math::Unary::ALL {
        let found = run(functions::of_one(*function, Type::F32), n, &[f32s(&singles)]);
        assert_same_f32(function.name(), &found, singles.iter().map(|x| function.f32(*x)));
        let found = run(functions::of_one(*function, Type::F64), n, &[f64s(&doubles)]);
        assert_same_f64(function.name(), &found, doubles.iter().map(|x| function.f64(*x)));
    }
}

#[test]
fn functions_of_two_arguments() {
    let some: Vec<f64> = arguments().into_iter().step_by(7).collect();
    let x: Vec<f64> = some.iter().flat_map(|x| vec![*x; some.len()]).collect();
    let z: Vec<f64> = some.iter().flat_map(|_| some.clone()).collect();
    let single = |values: &[f64]| values.iter().map(|x| *x as f32).collect::<Vec<f32>>();
    let (single_x, single_z) = (single(&x), single(&z));
    let n = x.len() as u32;
    for function in math::Binary::ALL {
        let found = run(functions::of_two(*function, Type::F32), n, &[f32s(&single_x), f32s(&single_z)]);
        let expected = single_x.iter().zip(&single_z).map(|(x, z)| function.f32(*x, *z));
        assert_same_f32(function.name(), &found, expected);
        let found = run(functions::of_two(*function, Type::F64), n, &[f64s(&x), f64s(&z)]);
        assert_same_f64(function.name(), &found, x.iter().zip(&z).map(|(x, z)| function.f64(*x, *z)));
    }
}
