//! Loop trees as kernels compute what the interpreter computes, bit for bit.
#![forbid(unsafe_code)]
#![expect(clippy::panic, reason = "a test fails by panicking")]

#[path = "../examples/kernels/emitted.rs"]
#[expect(dead_code, reason = "trees are translated one by one here")]
mod emitted;
#[path = "../../loops/tests/generate/mod.rs"]
mod generate;

use emitted::{
    FLOATS, FUNCTIONS, HALVES, HANDED, JACOBI, MATMUL, NARROW, PRIVATES, ROWS, STAGED, SUM, TILED, TRIANGLE, UNSIGNED,
};
use farkas_ptx::emulate::{Argument, Class, Counts, Emulator, FaultKind, Launch, Memory, Options};
use farkas_ptx::ir::Target;
use farkas_ptx::{EmitError, Failure, HostStep, Program, RunError, emit};
use interp::{Env, run_loops};
use loops::{Kernel, Verified, parse, verify};
use program::{Data, Role, ScalarType, Value};

const TARGETS: [u32; 2] = [70, 80];

fn verified(text: &str) -> Verified {
    let kernel = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(kernel).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Numbers of both signs; `false` and `true` in turns.
fn elements(ty: ScalarType, length: usize) -> Data {
    let number = |position: usize| (position as f64 * 0.7 - 3.0) * if position.is_multiple_of(3) { -1.0 } else { 1.0 };
    let all = (0..length).map(number);
    match ty {
        ScalarType::F16 => Data::F16((0..length).map(|i| program::f16::from_bits((i * 331) as u16)).collect()),
        ScalarType::BF16 => Data::BF16((0..length).map(|i| program::bf16::from_bits((i * 331) as u16)).collect()),
        ScalarType::F32 => Data::F32(all.map(|x| x as f32).collect()),
        ScalarType::F64 => Data::F64(all.collect()),
        ScalarType::I8 => Data::I8((0..length).map(|i| (i * 37) as i8).collect()),
        ScalarType::I16 => Data::I16((0..length).map(|i| (i * 12345) as i16).collect()),
        ScalarType::I32 => Data::I32(all.map(|x| x as i32).collect()),
        ScalarType::I64 => Data::I64(all.map(|x| (x * 1e12) as i64).collect()),
        ScalarType::U8 => Data::U8((0..length).map(|i| (i * 91) as u8).collect()),
        ScalarType::U16 => Data::U16((0..length).map(|i| (i * 9173) as u16).collect()),
        ScalarType::U32 => Data::U32((0..length).map(|i| (i as u32).wrapping_mul(2_654_435_761)).collect()),
        ScalarType::U64 => Data::U64((0..length).map(|i| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()),
        ScalarType::Bool => Data::Bool((0..length).map(|i| i % 3 == 0).collect()),
    }
}

fn emulate(program: &Program, env: &mut Env, text: &dyn std::fmt::Display) -> Counts {
    let options = Options { seed: 5, host_threads: 2, budget: 50_000_000 };
    program
        .emulate(&env.params, &env.scalars, &mut env.arrays, &options)
        .unwrap_or_else(|error| panic!("{error}\n{text}\n{}", program.module.text()))
}

/// Runs a kernel both ways, with arrays whose extents are the given ones; returns the program.
fn check(text: &str, params: &[i64], scalars: &[Value], extents: &[usize]) -> (Program, Counts) {
    let kernel = verified(text);
    let start = || {
        let given = kernel.arrays.iter().zip(extents).map(|(array, extent)| match array.role {
            Role::Local => None,
            _ => Some(elements(array.ty, *extent)),
        });
        Env { params: params.to_vec(), scalars: scalars.to_vec(), arrays: given.collect() }
    };
    let mut expected = start();
    run_loops(&kernel, &mut expected).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut last = None;
    for sm in TARGETS {
        let program = emit(&kernel, Target::sm(sm)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut found = start();
        let counts = emulate(&program, &mut found, &text);
        for (array, (found, expected)) in kernel.arrays.iter().zip(found.arrays.iter().zip(&expected.arrays)) {
            if array.role != Role::Local {
                assert_eq!(found, expected, "`{}` in\n{text}\n{}", array.name, program.module.text());
            }
        }
        last = Some((program, counts));
    }
    last.expect("there are targets")
}

#[test]
fn two_parallel_loops_become_two_axes() {
    let (program, counts) = check(MATMUL, &[5, 70, 9], &[], &[45, 630, 350]);
    let [HostStep::Launch(plan)] = program.host.as_slice() else { panic!("{:?}", program.host) };
    assert_eq!((plan.axes.len(), plan.block), (2, [32, 4, 1]));
    // Threads of a warp walk along the rows of B and C.
    assert!(counts.sectors < 2 * counts.ideal_sectors, "{counts:?}");
    assert!(program.module.text().contains("ld.global.nc.f32"), "A and B are only read");
    assert_eq!(
        counts.instructions(Class::Fma),
        5 * 70 * 9,
        "updates that add products are rounded once, as on the CPU"
    );
}

#[test]
fn parallel_loops_inside_serial_ones_are_launched_one_after_the_other() {
    let (program, _) = check(JACOBI, &[3, 20], &[], &[400, 400]);
    let [HostStep::For { body, .. }] = program.host.as_slice() else { panic!("{:?}", program.host) };
    assert!(matches!(body.as_slice(), [HostStep::Launch(_), HostStep::If { .. }]), "{body:?}");
}

#[test]
fn bounds_may_depend_on_loops_and_have_steps() {
    check(TRIANGLE, &[17], &[], &[289]);
}

#[test]
fn halves_are_widened_and_rounded() {
    let scalar = Value::F16(program::f16::from_f32(0.3));
    check(HALVES, &[200], &[scalar], &[200; 6]);
}

#[test]
fn narrow_types_wrap_and_saturate() {
    check(NARROW, &[200], &[Value::I8(7), Value::Bool(true), Value::I16(-321)], &[200; 12]);
}

#[test]
fn bits_and_unsigned_types() {
    check(UNSIGNED, &[200], &[Value::U16(54321), Value::U64(u64::MAX - 5)], &[200; 12]);
}

#[test]
fn floats_are_those_of_the_language() {
    check(FLOATS, &[150], &[], &[150; 5]);
}

#[test]
fn mathematical_functions_follow_their_definition() {
    let text = FUNCTIONS;
    let kernel = verified(text);
    let program = emit(&kernel, Target::default()).expect("a program");
    let x: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.17 + 0.01).collect();
    let mut env = Env { params: vec![100], scalars: vec![], arrays: vec![Some(x.clone().into()), None, None] };
    emulate(&program, &mut env, &text);
    use math::{Binary, Unary};
    let y = x.iter().map(|x| Unary::Exp.f64(*x) + Unary::Sin.f64(*x) * Binary::Pow.f64(*x, 0.3));
    let z = x.iter().map(|x| Unary::Tanh.f32(*x as f32) - Unary::Log.f32(*x as f32));
    assert_eq!(env.arrays[1], Some(y.collect::<Vec<f64>>().into()));
    assert_eq!(env.arrays[2], Some(z.collect::<Vec<f32>>().into()));
}

#[test]
fn every_thread_has_its_own_copy_of_private_arrays() {
    check(PRIVATES, &[300, 4], &[], &[1200, 300, 4, 2]);
}

#[test]
fn barriers_part_launches() {
    let (program, _) = check(ROWS, &[500], &[], &[500, 500]);
    assert_eq!(program.host.len(), 2, "{:?}", program.host);
}

/// Every barrier of a program is needed: without it, a race.
fn check_barriers(program: &Program, params: &[i64], extents: &[usize]) -> usize {
    let text = program.module.text();
    let lines: Vec<&str> = text.lines().collect();
    let barriers: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].trim() == "bar.sync 0;").collect();
    for at in &barriers {
        let without = [&lines[..*at], &lines[*at + 1..]].concat().join("\n");
        let module = farkas_ptx::parse(&without).expect("still PTX");
        let module = farkas_ptx::verify(module).unwrap_or_else(|problems| panic!("{}", problems[0]));
        let broken = Program { module, ..program.clone() };
        let arrays = program.loops.arrays.iter().zip(extents).map(|(array, extent)| match array.role {
            Role::Local => None,
            _ => Some(elements(array.ty, *extent)),
        });
        let mut arrays: Vec<_> = arrays.collect();
        match broken.emulate(params, &[], &mut arrays, &Options::default()) {
            Err(RunError::Fault { fault, .. }) => assert_eq!(fault.kind, FaultKind::Race, "{fault}"),
            other => panic!("without the barrier in line {}: {other:?}", at + 1),
        }
    }
    barriers.len()
}

#[test]
fn iterations_that_share_memory_are_the_threads_of_a_block() {
    let extents = [64 * 24, 24 * 96, 64 * 96, 256, 256, 16];
    let (program, counts) = check(TILED, &[64, 96, 24], &[], &extents);
    let [HostStep::Launch(plan)] = program.host.as_slice() else { panic!("{:?}", program.host) };
    assert!(plan.per_block);
    assert_eq!((plan.axes.len(), plan.block), (2, [64, 1, 1]));
    assert!(counts.instructions(Class::Shared) > counts.instructions(Class::Global));
    assert_eq!(counts.barriers, 6 * 6, "two for each of three tiles of six blocks");
    assert_eq!(check_barriers(&program, &[64, 96, 24], &extents), 2);
}

#[test]
fn memory_of_one_thread_is_its_own_whatever_it_is_called() {
    let (program, _) = check(
        "kernel own(N; x: in f64[N, 64], y: out f64[N, 64]) {
            array s: f64[64]
            array q: f64[2]
            array r: f64[2]
            parallel for b in 0..N {
                alloc s in shared {
                    parallel for t in 0..64 private r {
                        alloc q in shared {
                            q[0] = x[b, t]
                            r[1] = q[0] * 2.0
                            s[t] = q[0] + r[1]
                        }
                        barrier
                        y[b, t] = s[63 - t]
                    }
                }
            }
        }",
        &[5],
        &[],
        &[320, 320, 64, 2, 2],
    );
    let [HostStep::Launch(plan)] = program.host.as_slice() else { panic!("{:?}", program.host) };
    assert_eq!((plan.per_block, plan.private.len()), (true, 2));
}

#[test]
fn what_a_block_shares_outside_of_shared_memory_is_refused() {
    let text = "kernel f(N; x: in f64[N, 64], y: out f64[N, 64]) {
        array s: f64[64]
        parallel for b in 0..N private s {
            for k in 0..2 {
                parallel for t in 0..64 { s[t] = x[b, t] barrier y[b, t] = s[63 - t] }
            }
        }
    }";
    let error = emit(&verified(text), Target::default()).expect_err("the threads of a block share `s`");
    assert_eq!(error.to_string(), "an array of a block that is not in shared memory");
}

#[test]
fn parallel_loops_of_a_block_wait_for_each_other() {
    let extents = [3 * 200, 3 * 200, 66, 64];
    let (program, _) = check(STAGED, &[3, 200], &[], &extents);
    let [HostStep::Launch(plan)] = program.host.as_slice() else { panic!("{:?}", program.host) };
    assert_eq!((plan.per_block, plan.block), (true, [66, 1, 1]));
    assert_eq!(check_barriers(&program, &[3, 200], &extents), 3);
}

#[test]
fn reductions_over_parallel_loops_run_in_order() {
    let (program, _) = check(SUM, &[100], &[], &[100, 1, 100]);
    assert_eq!(program.host.len(), 2, "a single thread, then many: {:?}", program.host);
}

#[test]
fn locals_that_are_handed_on_are_kept_in_memory() {
    let (program, _) = check(HANDED, &[9], &[], &[9, 9]);
    let [HostStep::Launch(first), HostStep::Launch(second)] = program.host.as_slice() else {
        panic!("{:?}", program.host)
    };
    assert!(first.axes.is_empty() && second.axes.len() == 1, "{:?}", program.host);
}

#[test]
fn what_has_no_translation_is_said() {
    let refused = |text: &str| match emit(&verified(text), Target::default()) {
        Ok(program) => panic!("{}", program.module.text()),
        Err(EmitError::Unsupported(what)) => what,
        Err(error) => panic!("{error}"),
    };
    let barrier =
        "kernel f(N; x: inout i64[N]) { parallel for i in 0..N { for j in 0..2 { x[i] = x[i] + 1 barrier } } }";
    assert!(refused(barrier).starts_with("a barrier inside"));
}

#[test]
fn arguments_are_checked() {
    let kernel = verified("kernel f(N; x: in f64[N], y: out f64[N]) { parallel for i in 0..N { y[i] = x[i] } }");
    let program = emit(&kernel, Target::default()).expect("a program");
    let run = |params: &[i64], mut arrays: Vec<Option<Data>>| {
        program.emulate(params, &[], &mut arrays, &Options::default()).map(|_| ()).map_err(|error| error.to_string())
    };
    let four = || Some(elements(ScalarType::F64, 4));
    assert_eq!(run(&[4], vec![four(), None]), Ok(()));
    assert_eq!(run(&[0], vec![Some(elements(ScalarType::F64, 0)), None]), Ok(()));
    assert_eq!(run(&[], vec![four(), None]), Err("`f` has 1 parameters, not 0".to_owned()));
    assert_eq!(run(&[5], vec![four(), None]), Err("`x` has 5 cells, not 4".to_owned()));
    assert_eq!(run(&[4], vec![None, None]), Err("`x` is missing".to_owned()));
    assert_eq!(run(&[4], vec![Some(elements(ScalarType::F32, 4)), None]), Err("`x` is f64, not f32".to_owned()));
    assert_eq!(run(&[1 << 40], vec![four(), None]), Err("`x` is too large".to_owned()));
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u8
    }
}

/// The arguments of a random kernel; local arrays start as zeros both here and there.
fn arguments(kernel: &Kernel, n: i64) -> Env {
    let wide = (n as usize + 3) * 8;
    let array = |name: &str, ty| match name {
        "A" | "X" => Some(elements(ty, wide)),
        "B" | "Y" => Some(elements(ty, 8)),
        _ => None,
    };
    Env {
        params: vec![n],
        scalars: vec![Value::F64(0.75), Value::F32(-1.5)],
        arrays: kernel.arrays.iter().map(|decl| array(&decl.name, decl.ty)).collect(),
    }
}

#[test]
fn random_kernels_agree_with_the_interpreter() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut ran, mut launched) = (0, 0);
    for number in 0..400 {
        let bytes: Vec<u8> = (0..40 + number % 200).map(|_| random.byte()).collect();
        let kernel = generate::kernel(&bytes);
        let Ok(kernel) = verify(kernel) else { continue };
        let program = match emit(&kernel, Target::sm(TARGETS[number % 2])) {
            Ok(program) => program,
            Err(EmitError::Unsupported(_)) => continue,
            Err(error) => panic!("{error}\n{kernel}"),
        };
        let n = (number % 6) as i64;
        let mut expected = arguments(&kernel, n);
        if run_loops(&kernel, &mut expected).is_err() {
            continue;
        }
        let mut found = arguments(&kernel, n);
        let options = Options { seed: number as u64, host_threads: 2, budget: 50_000_000 };
        let outcome = program.emulate(&found.params, &found.scalars, &mut found.arrays, &options);
        let counts = match outcome {
            Ok(counts) => counts,
            // Iterations of the random parallel loops may read each other's cells.
            Err(RunError::Fault { fault, .. }) if fault.kind == FaultKind::Race => continue,
            Err(error) => panic!("{error}\n{kernel}\n{}", program.module.text()),
        };
        for (array, (found, expected)) in kernel.arrays.iter().zip(found.arrays.iter().zip(&expected.arrays)) {
            if array.role != Role::Local {
                assert_eq!(found, expected, "`{}` in\n{kernel}\n{}", array.name, program.module.text());
            }
        }
        ran += 1;
        launched += u64::from(counts.all_instructions() > 0);
    }
    assert!(ran > 150, "only {ran} kernels ran");
    assert!(launched > 100, "only {launched} kernels did something");
}

/// Where a schedule says that blocks are along y, they are, and there may be too many of them.
#[test]
fn too_many_blocks_are_refused() {
    let text = |rows: &str, columns: &str| {
        format!(
            "kernel k(N; x: in f32[N], y: out f32[N, 2]) {{
    parallel(block.{rows}) for i in 0..N {{
        parallel(block.{columns}) for j in 0..2 {{
            y[i, j] = x[i]
        }}
    }}
}}
"
        )
    };
    let rows = 65_536;
    check(&text("x", "y"), &[rows as i64], &[], &[rows, 2 * rows]);
    let kernel = verified(&text("y", "x"));
    let program = emit(&kernel, Target::sm(70)).unwrap_or_else(|error| panic!("{error}"));
    let mut arrays = vec![Some(elements(ScalarType::F32, rows)), Some(elements(ScalarType::F32, 2 * rows))];
    let found = program.emulate(&[rows as i64], &[], &mut arrays, &Options::default());
    let error = found.expect_err("there is no such grid");
    assert_eq!(error.failure(), Failure::Arguments);
    let error = error.to_string();
    assert!(error.contains("a grid of 2 × 65536 × 1 blocks does not exist: no GPU has more than 65535"), "{error}");
}

/// No GPU has more than 65,535 blocks along y; what a kernel of two axes computes does not depend on how its rows are shared among y and z.
#[test]
fn rows_of_threads_may_go_on_along_z() {
    let text = "kernel k(N; x: in f32[N], y: out f32[N, 2]) {
    parallel for i in 0..N {
        parallel for j in 0..2 {
            y[i, j] = x[i]
        }
    }
}
";
    let program = emit(&verified(text), Target::sm(70)).unwrap_or_else(|error| panic!("{error}"));
    let [HostStep::Launch(plan)] = program.host.as_slice() else { panic!("{:?}", program.host) };
    let rows = 5 * plan.block[1] - 1;
    let emulator = Emulator::load(&program.module.text()).expect("our own text is PTX");
    for grid in [[1, 5, 1], [1, 2, 3], [1, 1, 5], [1, 3, 2]] {
        let mut memory = Memory::new();
        let given: Vec<u8> = (0..rows).flat_map(|row| (row as f32).to_le_bytes()).collect();
        let (x, y) = (memory.allocate("x", &given), memory.allocate("y", &vec![0; 2 * given.len()]));
        let arguments = [Argument::U64(u64::from(rows)), Argument::Pointer(x, 0), Argument::Pointer(y, 0)];
        let launch = Launch { kernel: &plan.kernel, grid, block: plan.block, dynamic_shared: 0, arguments: &arguments };
        let options = Options { seed: 5, host_threads: 2, budget: 1_000_000 };
        emulator.launch(&launch, &mut memory, &options).unwrap_or_else(|fault| panic!("{fault}"));
        let expected: Vec<u8> = (0..2 * rows).flat_map(|cell| ((cell / 2) as f32).to_le_bytes()).collect();
        assert_eq!(memory.read(y), expected, "{grid:?}");
    }
}

/// Kernels end with an error when they have had their share, and the error says that it was that.
#[test]
fn budgets_are_kept_and_named() {
    let long = "kernel k(N; x: inout f32[2]) {
    for i in 0..N {
        x[1] = x[0] + x[1]
    }
}
";
    let program = emit(&verified(long), Target::sm(70)).unwrap_or_else(|error| panic!("{error}"));
    let mut arrays = vec![Some(elements(ScalarType::F32, 2))];
    let options = Options { seed: 1, host_threads: 1, budget: 1000 };
    let error = program.emulate(&[i64::MAX], &[], &mut arrays, &options).expect_err("that would take for ever");
    assert_eq!(error.failure(), Failure::Budget, "{error}");
    assert!(error.to_string().contains("the budget of 1000 thread-instructions ran out"), "{error}");
}
