//! Kernels that NVIDIA's compiler made of CUDA C (`kernels.cu`, by NVRTC 12.9 for compute_70 with `-lineinfo`).
#![forbid(unsafe_code)]
#![expect(clippy::panic, reason = "a test fails by panicking")]

use farkas_ptx::emulate::{Argument, BufferId, Counts, Emulator, Fault, FaultKind, Launch, Memory, Options};

const TEXT: &str = include_str!("kernels.ptx");
/// As the compiler writes it, but by hand.
const LOCAL: &str = include_str!("local.ptx");

struct Run {
    memory: Memory,
    outcome: Result<Counts, Fault>,
}

impl Run {
    fn of(text: &str, kernel: &str, grid: [u32; 3], block: [u32; 3], memory: Memory, arguments: &[Argument]) -> Run {
        let mut memory = memory;
        let emulator = Emulator::load(text).expect("the text is PTX");
        let launch = Launch { kernel, grid, block, dynamic_shared: 4, arguments };
        let options = Options { seed: 7, host_threads: 2, budget: 100_000_000 };
        let outcome = emulator.launch(&launch, &mut memory, &options);
        Run { memory, outcome }
    }

    fn words(&self, buffer: BufferId) -> Vec<u32> {
        if let Err(fault) = &self.outcome {
            panic!("{fault}");
        }
        self.memory.read(buffer).chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect()
    }

    fn floats(&self, buffer: BufferId) -> Vec<f32> {
        self.words(buffer).into_iter().map(f32::from_bits).collect()
    }
}

fn bytes<T: Copy, const N: usize>(values: &[T], to_bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| to_bytes(*value)).collect()
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * 37 % 19) as f32 - 9.0).collect()
}

#[test]
fn saxpy() {
    let (x, y) = (numbers(1000), numbers(1000));
    let mut memory = Memory::new();
    let a = memory.allocate("x", &bytes(&x, f32::to_le_bytes));
    let b = memory.allocate("y", &bytes(&y, f32::to_le_bytes));
    let arguments = [Argument::S32(1000), Argument::F32(2.5), Argument::Pointer(a, 0), Argument::Pointer(b, 0)];
    let run = Run::of(TEXT, "saxpy", [8, 1, 1], [128, 1, 1], memory, &arguments);
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5f32.mul_add(*x, *y)).collect();
    assert_eq!(run.floats(b), expected);
}

#[test]
fn block_sum_with_barriers_in_a_loop() {
    let x = numbers(5000);
    let mut memory = Memory::new();
    let a = memory.allocate("x", &bytes(&x, f32::to_le_bytes));
    let out = memory.allocate("out", &[0; 16]);
    let arguments = [Argument::Pointer(a, 0), Argument::Pointer(out, 0), Argument::S32(5000)];
    let run = Run::of(TEXT, "block_sum", [4, 1, 1], [256, 1, 1], memory, &arguments);
    assert_eq!(run.floats(out).iter().sum::<f32>(), x.iter().sum::<f32>());
}

#[test]
fn warp_max_by_shuffles() {
    let x: Vec<i32> = (0..96).map(|i| (i * 77) % 101 - 50).collect();
    let mut memory = Memory::new();
    let a = memory.allocate("x", &bytes(&x, i32::to_le_bytes));
    let out = memory.allocate("out", &[0; 12]);
    let arguments = [Argument::Pointer(a, 0), Argument::Pointer(out, 0)];
    let run = Run::of(TEXT, "warp_max", [3, 1, 1], [32, 1, 1], memory, &arguments);
    let expected: Vec<u32> = x.chunks(32).map(|row| *row.iter().max().expect("32 values") as u32).collect();
    assert_eq!(run.words(out), expected);
}

fn multiply(text: &str) -> (Run, BufferId, Vec<f32>) {
    let n = 32;
    let (a, b) = (numbers(n * n), numbers(n * n));
    let mut memory = Memory::new();
    let buffer_a = memory.allocate("a", &bytes(&a, f32::to_le_bytes));
    let buffer_b = memory.allocate("b", &bytes(&b, f32::to_le_bytes));
    let c = memory.allocate("c", &vec![0; n * n * 4]);
    let arguments = [
        Argument::Pointer(buffer_a, 0),
        Argument::Pointer(buffer_b, 0),
        Argument::Pointer(c, 0),
        Argument::S32(n as i32),
    ];
    let run = Run::of(text, "tiled_matmul", [2, 2, 1], [16, 16, 1], memory, &arguments);
    let cell = |at: usize| (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum();
    (run, c, (0..n * n).map(cell).collect())
}

#[test]
fn tiled_matmul() {
    let (run, c, expected) = multiply(TEXT);
    assert_eq!(run.floats(c), expected);
}

#[test]
fn a_missing_barrier_is_reported_at_the_line_of_the_source() {
    let start = TEXT.find(".entry tiled_matmul").expect("the kernel");
    for at in TEXT[start..].match_indices("bar.sync").map(|(at, _)| start + at).take(2) {
        let without = format!("{}//      {}", &TEXT[..at], &TEXT[at + 8..]);
        let (run, ..) = multiply(&without);
        let fault = run.outcome.expect_err("a barrier is missing");
        assert_eq!(fault.kind, FaultKind::Race, "{fault}");
        let (_, line, _) = fault.source.clone().expect("the text has places");
        assert!((37..=42).contains(&line), "{fault}");
        assert!(fault.earlier.is_some(), "{fault}");
    }
}

#[test]
fn threads_of_a_warp_leave_a_loop_at_different_times() {
    let start: Vec<u32> = (1..=100).collect();
    let mut memory = Memory::new();
    let a = memory.allocate("start", &bytes(&start, u32::to_le_bytes));
    let steps = memory.allocate("steps", &[0; 400]);
    let arguments = [Argument::Pointer(a, 0), Argument::Pointer(steps, 0), Argument::S32(100)];
    let run = Run::of(TEXT, "collatz", [2, 1, 1], [64, 1, 1], memory, &arguments);
    let count = |start: u32| {
        let (mut value, mut count) = (u64::from(start), 0);
        while value != 1 {
            value = if value % 2 == 0 { value / 2 } else { 3 * value + 1 };
            count += 1;
        }
        count
    };
    assert_eq!(run.words(steps), start.into_iter().map(count).collect::<Vec<u32>>());
}

#[test]
fn narrow_types_are_extended_and_cut() {
    let x: Vec<i8> = (-128..=127).collect();
    let mut memory = Memory::new();
    let a = memory.allocate("x", &bytes(&x, i8::to_le_bytes));
    let y = memory.allocate("y", &[0; 256]);
    let z = memory.allocate("z", &[0; 512]);
    let w = memory.allocate("w", &[0; 2048]);
    let arguments = [
        Argument::Pointer(a, 0),
        Argument::Pointer(y, 0),
        Argument::Pointer(z, 0),
        Argument::Pointer(w, 0),
        Argument::S32(256),
    ];
    let run = Run::of(TEXT, "bytes", [2, 1, 1], [128, 1, 1], memory, &arguments);
    run.outcome.as_ref().expect("it runs");
    assert_eq!(run.memory.read(y), x.iter().map(|x| x.unsigned_abs()).collect::<Vec<u8>>());
    let shorts: Vec<i16> = x.iter().map(|x| (i32::from(*x) * 300) as i16).collect();
    assert_eq!(run.memory.read(z), bytes(&shorts, i16::to_le_bytes));
    let doubles: Vec<f64> = x.iter().map(|x| f64::from(*x) / 3.0 + (f64::from(*x) * 0.5).floor()).collect();
    assert_eq!(run.memory.read(w), bytes(&doubles, f64::to_le_bytes));
}

#[test]
fn atomics_in_shared_and_global_memory() {
    let x: Vec<i32> = (0..300).map(|i| i * i % 7).collect();
    let mut memory = Memory::new();
    let a = memory.allocate("x", &bytes(&x, i32::to_le_bytes));
    let total = memory.allocate("total", &[0; 4]);
    let arguments = [Argument::Pointer(a, 0), Argument::Pointer(total, 0), Argument::S32(300)];
    let run = Run::of(TEXT, "count_odd", [5, 1, 1], [64, 1, 1], memory, &arguments);
    assert_eq!(run.words(total), [x.iter().filter(|x| *x % 2 != 0).count() as u32]);
}

/// Threads have arrays of their own, reached by addresses of their own and by generic ones; nothing is there before it is written.
#[test]
fn histogram_in_local_memory() {
    let launch = |text: &str| {
        let x: Vec<u32> = (0..64 * 9).map(|i| i * 7 % 13).collect();
        let mut memory = Memory::new();
        let a = memory.allocate("x", &bytes(&x, u32::to_le_bytes));
        let out = memory.allocate("out", &[0; 64 * 16]);
        let arguments = [Argument::Pointer(a, 0), Argument::Pointer(out, 0), Argument::S32(9)];
        (Run::of(text, "histogram", [1, 1, 1], [64, 1, 1], memory, &arguments), out, x)
    };
    let (run, out, x) = launch(LOCAL);
    let count =
        |row: &[u32]| (0..4).map(|bin| row.iter().filter(|x| **x & 3 == bin).count() as u32).collect::<Vec<_>>();
    assert_eq!(run.words(out), x.chunks(9).flat_map(count).collect::<Vec<_>>());

    let fault = |text: &str| launch(text).0.outcome.expect_err("the text is wrong");
    let without = LOCAL.replace("st.local.v4.u32 	[%rd1], {%r9, %r9, %r9, %r9};", "");
    assert_eq!(fault(&without).kind, FaultKind::UninitialisedShared);
    let beyond = fault(&LOCAL.replace("and.b32  	%r13, %r12, 3;", "and.b32  	%r13, %r12, 7;"));
    assert_eq!(beyond.kind, FaultKind::OutOfBounds, "{beyond}");
    assert!(beyond.message.contains("of its own memory, which has 16 bytes"), "{beyond}");
    let large = fault(&LOCAL.replace("__local_depot0[16]", "__local_depot0[134217728]"));
    assert_eq!(large.kind, FaultKind::Launch, "{large}");
}
