//! Placed loops: the threads of a block compute what the interpreter computes, and each barrier is there for a reason.
#![forbid(unsafe_code)]
#![expect(clippy::panic, reason = "a test fails by panicking")]

use farkas_ptx::emulate::{Counts, FaultKind, Options};
use farkas_ptx::ir::Target;
use farkas_ptx::{EmitError, HostStep, Program, RunError, emit};
use interp::{Env, run_concurrently, run_loops};
use loops::{Verified, parse, threads, verify};
use program::{Data, Role, ScalarType};

/// Loops, the sizes, how many cells each array has, and how many barriers there are.
struct Case {
    text: &'static str,
    params: &'static [i64],
    cells: &'static [usize],
    barriers: usize,
}

const CASES: [Case; 18] = [
    Case { text: TILES, params: &[2, 2, 3], cells: &[96, 96, 64], barriers: 1 },
    Case { text: TRANSPOSE, params: &[2, 3], cells: &[6 * 64, 6 * 64], barriers: 1 },
    Case { text: STENCIL, params: &[5], cells: &[42, 40], barriers: 1 },
    Case { text: NEIGHBOURS, params: &[4], cells: &[32, 32, 32], barriers: 1 },
    Case { text: REVERSE, params: &[3], cells: &[48, 48], barriers: 1 },
    Case { text: PARTIAL_SUMS, params: &[3], cells: &[3 * 64, 3], barriers: 1 },
    Case { text: STEPS_OF_TIME, params: &[3, 4], cells: &[48, 48], barriers: 2 },
    Case { text: ONE_FOR_ALL, params: &[4], cells: &[4 * 16, 4 * 16], barriers: 1 },
    Case { text: SCAN, params: &[3], cells: &[3 * 8, 3 * 8], barriers: 5 },
    Case { text: SOFTMAX, params: &[3], cells: &[3 * 16, 3 * 16], barriers: 3 },
    Case { text: ALTERNATING, params: &[2, 5], cells: &[16], barriers: 2 },
    Case { text: NO_BLOCK, params: &[], cells: &[16, 16], barriers: 1 },
    Case { text: TRIANGLE, params: &[4], cells: &[4 * 4 * 16, 4 * 4 * 4 * 16], barriers: 1 },
    Case { text: LANES, params: &[3, 200], cells: &[600, 3], barriers: 2 },
    Case { text: LANES_IN_STRIPS, params: &[2, 3], cells: &[2 * 3072, 2], barriers: 4 },
    Case { text: LANES_OF_A_WARP, params: &[2, 77], cells: &[154, 2, 2], barriers: 0 },
    Case { text: LANES_TWICE, params: &[2, 150], cells: &[300, 300], barriers: 4 },
    Case { text: LANES_IN_STEPS, params: &[2, 7], cells: &[256], barriers: 1 },
];

/// Along two axes there are as many blocks as the longest rows have; those outside of the triangle do nothing.
const TRIANGLE: &str = "
kernel triangle(N; x: in f32[N, N, 16], y: inout f32[N, N, N, 16]) {
    array s: f32[16]
    parallel(block.z) for i in 0..N {
        parallel(block.y) for j in max(0, i - 2)..floor((i + 3) / 2) {
            parallel(block.x) for k in 0..min(N, i + j + 1) private s {
                parallel(thread.x) for a in 0..16 { s[a] = x[i, j, a] }
                parallel(thread.x) for b in 0..16 { y[i, j, k, b] = s[15 - b] }
            }
        }
    }
}";

/// A tile of each operand in shared memory, and the next one on its way: one barrier for each of them.
const TILES: &str = "
kernel tiles(N, M, K; A: in f32[4 * N, 4 * K], B: in f32[4 * K, 4 * M], C: out f32[4 * N, 4 * M]) {
    array s: f32[4, 4]
    array u: f32[4, 4]
    parallel(block.y) for i in 0..N {
        parallel(block.x) for j in 0..M private s, u {
            parallel(thread.y) for y in 0..4 { parallel(thread.x) for x in 0..4 { C[4 * i + y, 4 * j + x] = 0.0 } }
            for k in 0..K {
                parallel(thread.y) for a in 0..4 { parallel(thread.x) for b in 0..4 { s[a, b] = A[4 * i + a, 4 * k + b] } }
                parallel(thread.y) for c in 0..4 { parallel(thread.x) for d in 0..4 { u[c, d] = B[4 * k + c, 4 * j + d] } }
                parallel(thread.y) for e in 0..4 {
                    parallel(thread.x) for f in 0..4 {
                        for l in 0..4 { C[4 * i + e, 4 * j + f] += s[e, l] * u[l, f] }
                    }
                }
            }
        }
    }
}";

/// Rows are read and columns are written, by other threads.
const TRANSPOSE: &str = "
kernel transpose(N, M; A: in f32[8 * N, 8 * M], B: out f32[8 * M, 8 * N]) {
    array s: f32[8, 8]
    parallel(block.y) for i in 0..N {
        parallel(block.x) for j in 0..M private s {
            parallel(thread.y) for y in 0..8 { parallel(thread.x) for x in 0..8 { s[y, x] = A[8 * i + y, 8 * j + x] } }
            parallel(thread.y) for v in 0..8 { parallel(thread.x) for u in 0..8 { B[8 * j + v, 8 * i + u] = s[u, v] } }
        }
    }
}";

/// A tile with a border, which ten threads copy and eight use.
const STENCIL: &str = "
kernel stencil(N; a: in f64[8 * N + 2], b: out f64[8 * N]) {
    array s: f64[10]
    parallel(block.x) for i in 0..N private s {
        parallel(thread.x) for x in 0..10 { s[x] = a[8 * i + x] }
        parallel(thread.x) for y in 0..8 { b[8 * i + y] = s[y] + s[y + 1] + s[y + 2] }
    }
}";

/// What a neighbour has written is in global memory; what a thread has written itself needs no barrier.
const NEIGHBOURS: &str = "
kernel neighbours(N; x: in f32[N, 8], y: out f32[N, 8], z: out f32[N, 8]) {
    parallel(block.x) for i in 0..N {
        parallel(thread.x) for j in 0..8 { y[i, j] = x[i, j] * 2.0 }
        parallel(thread.x) for k in 0..8 { y[i, k] = y[i, k] + 1.0 }
        parallel(thread.x) for l in 1..8 { z[i, l] = y[i, l] - y[i, l - 1] }
        parallel(thread.x) for m in 0..1 { z[i, m] = x[i, m] }
    }
}";

const REVERSE: &str = "
kernel reverse(N; x: in i32[N, 16], y: out i32[N, 16]) {
    array s: i32[16]
    parallel(block.x) for i in 0..N private s {
        parallel(thread.x) for j in 0..16 { s[15 - j] = x[i, j] }
        parallel(thread.x) for k in 0..16 { y[i, k] = s[k] }
    }
}";

/// The first thread puts together what all have added up.
const PARTIAL_SUMS: &str = "
kernel sums(N; x: in f64[N, 64], y: out f64[N]) {
    array p: f64[8]
    parallel(block.x) for i in 0..N private p {
        parallel(thread.x) for j in 0..8 {
            p[j] = 0.0
            for k in 0..8 { p[j] += x[i, 8 * k + j] }
        }
        y[i] = 0.0
        for l in 0..8 { y[i] += p[l] }
    }
}";

/// Threads wait for each other in a loop of all of them.
const STEPS_OF_TIME: &str = "
kernel time(N, T; x: in f32[N, 16], y: out f32[N, 16]) {
    array a: f32[18]
    array b: f32[18]
    parallel(block.x) for i in 0..N private a, b {
        parallel(thread.x) for j in 0..16 { a[j + 1] = x[i, j] }
        a[0] = 0.0
        a[17] = 0.0
        for t in 0..T {
            parallel(thread.x) for k in 1..17 { b[k] = a[k - 1] + a[k + 1] }
            parallel(thread.x) for l in 1..17 { a[l] = b[l] }
        }
        parallel(thread.x) for m in 0..16 { y[i, m] = a[m + 1] }
    }
}";

/// The first thread computes what all need.
const ONE_FOR_ALL: &str = "
kernel one(N; x: in f64[N, 16], y: out f64[N, 16]) {
    array s: f64[1]
    parallel(block.x) for i in 0..N private s {
        s[0] = x[i, 0] + x[i, 15]
        parallel(thread.x) for j in 0..16 { y[i, j] = x[i, j] * s[0] }
    }
}";

/// Prefix sums in three steps, each of which reads what others have written.
const SCAN: &str = "
kernel scan(N; x: in i64[N, 8], y: out i64[N, 8]) {
    array a: i64[8]
    array b: i64[8]
    parallel(block.x) for i in 0..N private a, b {
        parallel(thread.x) for c in 0..8 { a[c] = x[i, c] }
        parallel(thread.x) for d in 0..8 { if d >= 1 { b[d] = a[d] + a[d - 1] } else { b[d] = a[d] } }
        parallel(thread.x) for e in 0..8 { a[e] = b[e] }
        parallel(thread.x) for f in 0..8 { if f >= 2 { b[f] = a[f] + a[f - 2] } else { b[f] = a[f] } }
        parallel(thread.x) for g in 0..8 { a[g] = b[g] }
        parallel(thread.x) for h in 0..8 { if h >= 4 { b[h] = a[h] + a[h - 4] } else { b[h] = a[h] } }
        parallel(thread.x) for k in 0..8 { y[i, k] = b[k] }
    }
}";

/// Two reductions of a row by its first thread.
const SOFTMAX: &str = "
kernel softmax(N; x: in f32[N, 16], y: out f32[N, 16]) {
    array m: f32[1]
    array s: f32[1]
    array e: f32[16]
    parallel(block.x) for i in 0..N private m, s, e {
        m[0] = x[i, 0]
        for k in 1..16 { m[0] max= x[i, k] }
        parallel(thread.x) for a in 0..16 { e[a] = exp(x[i, a] - m[0]) }
        s[0] = 0.0
        for l in 0..16 { s[0] += e[l] }
        parallel(thread.x) for b in 0..16 { y[i, b] = e[b] / s[0] }
    }
}";

/// Threads change places in every other step.
const ALTERNATING: &str = "
kernel alternating(N, T; x: inout i32[N, 8]) {
    parallel(block.x) for i in 0..N {
        for t in 0..T {
            parallel(thread.x) for a in 0..4 { x[i, 2 * a] = x[i, 2 * a + 1] + 1 }
            parallel(thread.x) for b in 0..3 { x[i, 2 * b + 1] = x[i, 2 * b + 2] * 3 }
        }
    }
}";

/// Threads without blocks are a single one.
const NO_BLOCK: &str = "
kernel alone(; x: in f32[16], y: out f32[16]) {
    array s: f32[16]
    alloc s in shared {
        parallel(thread.x) for i in 0..16 { s[i] = x[i] }
        parallel(thread.x) for j in 0..16 { y[j] = s[15 - j] }
    }
}";

/// A row for each block, a lane for each thread: their sums meet in shared memory.
const LANES: &str = "
kernel lanes(N, M; x: in f32[N, M], y: out f32[N]) {
    local s: f32
    parallel for i in 0..N {
        s = 0.5
        vector(64) for k in 0..M { s += x[i, k] * x[i, k] }
        y[i] = s
    }
}";

/// Lanes that have four neighbours each.
const LANES_IN_STRIPS: &str = "
kernel strips(N, M; x: in f32[N, 1024 * M], y: out f32[N]) {
    local s: f32
    parallel(block.x) for i in 0..N {
        s = 0.0
        vector(256) for k in 0..256 * M { unroll for l in 0..4 { s += x[i, 4 * k + l] } }
        y[i] = s
    }
}";

/// A warp needs no barrier of the block; 64 bits are shuffled in two parts.
const LANES_OF_A_WARP: &str = "
kernel warp(N, M; x: in f64[N, M], y: out f64[N], z: out f64[N]) {
    parallel for i in 0..N {
        y[i] = 0.0
        z[i] = x[i, 0]
        vector(32) for k in 3..M { y[i] += x[i, k] }
        vector(32) for l in 0..M by 2 { z[i] max= x[i, l] }
    }
}";

/// What one reduction has found is used by the lanes of the next.
const LANES_TWICE: &str = "
kernel twice(N, M; x: in f32[N, M], y: out f32[N, M]) {
    local m: f32
    local s: f32
    parallel for i in 0..N {
        m = x[i, 0]
        vector(64) for j in 0..M { m max= x[i, j] }
        s = 0.0
        vector(64) for k in 0..M { s += exp(x[i, k] - m) }
        vector(64) for l in 0..M { y[i, l] = exp(x[i, l] - m) / s }
    }
}";

/// One group of lanes needs what another has written.
const LANES_IN_STEPS: &str = "
kernel steps(N, T; x: inout i32[N, 128]) {
    parallel for i in 0..N {
        for t in 0..T { vector(64) for k in 0..64 { x[i, k] = x[i, 127 - k] + 1 } }
        vector(64) for l in 64..128 { x[i, l] = x[i, 127 - l] * 2 }
    }
}";

fn verified(text: &str) -> Verified {
    let kernel = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(kernel).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn start(case: &Case, kernel: &Verified) -> Env {
    let element = |at: usize| ((at * 37 + 11) % 23) as f64 - 7.0;
    let given = kernel.arrays.iter().zip(case.cells.iter().map(Some).chain(std::iter::repeat(None)));
    let arrays = given.map(|(array, cells)| {
        let all = (0..*cells.filter(|_| array.role != Role::Local)?).map(element);
        Some(match array.ty {
            ScalarType::F32 => Data::F32(all.map(|x| x as f32).collect()),
            ScalarType::F64 => Data::F64(all.collect()),
            ScalarType::I32 => Data::I32(all.map(|x| x as i32).collect()),
            ScalarType::I64 => Data::I64(all.map(|x| x as i64).collect()),
            other => panic!("no case has {other}"),
        })
    });
    Env { params: case.params.to_vec(), scalars: Vec::new(), arrays: arrays.collect() }
}

fn emulate(program: &Program, text: &str, env: &mut Env, seed: u64) -> Result<Counts, RunError> {
    let options = Options { seed, host_threads: 2, budget: 50_000_000 };
    program.emulate_text(text, &env.params, &env.scalars, &mut env.arrays, &options)
}

fn assert_same(kernel: &Verified, found: &Env, expected: &Env, what: &str) {
    for (array, (found, expected)) in kernel.arrays.iter().zip(found.arrays.iter().zip(&expected.arrays)) {
        if array.role != Role::Local {
            assert_eq!(found, expected, "`{}`\n{what}", array.name);
        }
    }
}

fn expected(case: &Case, kernel: &Verified) -> Env {
    let mut expected = start(case, kernel);
    run_loops(kernel, &mut expected).unwrap_or_else(|error| panic!("{error}\n{}", case.text));
    expected
}

fn barriers(text: &str) -> Vec<usize> {
    text.lines().enumerate().filter(|(_, line)| line.trim() == "bar.sync 0;").map(|(at, _)| at).collect()
}

#[test]
fn blocks_and_threads_compute_what_the_loops_do() {
    for case in &CASES {
        let kernel = verified(case.text);
        let expected = expected(case, &kernel);
        let program = emit(&kernel, Target::sm(70)).unwrap_or_else(|error| panic!("{error}\n{}", case.text));
        let text = program.module.text();
        for seed in 0..3 {
            let mut found = start(case, &kernel);
            emulate(&program, &text, &mut found, seed).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_same(&kernel, &found, &expected, &text);
        }
        assert!(matches!(program.host.as_slice(), [HostStep::Launch(plan)] if plan.per_block), "{text}");
    }
}

#[test]
fn the_loop_over_threads_computes_the_same_in_any_order() {
    for case in &CASES {
        let kernel = verified(case.text);
        let expected = expected(case, &kernel);
        let placed = threads((*kernel).clone()).unwrap_or_else(|why| panic!("{why:?}\n{}", case.text));
        let placed = verify(placed.clone()).unwrap_or_else(|error| panic!("{error}\n{placed}"));
        for seed in 0..3 {
            let mut found = start(case, &placed);
            run_concurrently(&placed, &mut found, seed).unwrap_or_else(|error| panic!("{error}\n{placed}"));
            assert_same(&kernel, &found, &expected, &placed.to_string());
        }
    }
}

/// Barriers stand where they are needed, and nowhere else.
#[test]
fn without_any_one_barrier_there_is_a_race() {
    let mut removed = 0;
    for case in &CASES {
        let kernel = verified(case.text);
        let program = emit(&kernel, Target::sm(70)).unwrap_or_else(|error| panic!("{error}\n{}", case.text));
        let text = program.module.text();
        let places = barriers(&text);
        assert_eq!(places.len(), case.barriers, "{text}");
        for at in places {
            removed += 1;
            let without: Vec<&str> =
                text.lines().enumerate().filter(|(line, _)| *line != at).map(|(_, line)| line).collect();
            let mut env = start(case, &kernel);
            match emulate(&program, &without.join("\n"), &mut env, 1) {
                Err(RunError::Fault { fault, .. }) => assert_eq!(fault.kind, FaultKind::Race, "{fault}\n{text}"),
                other => panic!("nothing is wrong without the barrier in line {}: {other:?}\n{text}", at + 1),
            }
        }
    }
    assert!(removed >= 20, "{removed} barriers");
}

#[test]
fn what_is_no_block_is_refused() {
    let refused = |text: &str, why: &str| match emit(&verified(text), Target::sm(70)) {
        Err(EmitError::Unsupported(what)) => assert!(what.contains(why), "{what}"),
        other => panic!("{other:?}"),
    };
    refused(
        "kernel f(N; x: inout f32[N]) { parallel(thread.x) for i in 0..N { x[i] = 1.0 } }",
        "a loop over threads has no constant bound",
    );
    refused(
        "kernel f(; x: inout f32[64, 32]) {
            parallel(thread.y) for i in 0..64 { parallel(thread.x) for j in 0..32 { x[i, j] = 1.0 } } }",
        "a block would have 2048 threads",
    );
    refused(
        "kernel f(N; x: inout f32[N, N]) {
            parallel(block.x) for i in 0..N { parallel(block.y) for j in 0..i mod 3 { x[i, j] = 1.0 } } }",
        "how many blocks there are along one axis depends on another",
    );
    refused(
        "kernel f(; x: inout f32[8, 8]) {
            parallel(thread.y) for i in 0..8 { for k in 0..i { parallel(thread.x) for j in 0..8 { x[i, j] += 1.0 } } } }",
        "how often threads meet would depend on the thread",
    );
    refused(
        "kernel f(N; x: in f64[N, 8192], y: out f64[N, 8192]) {
            array s: f64[8192]
            parallel(block.x) for i in 0..N private s {
                parallel(thread.x) for j in 0..256 { for k in 0..32 { s[256 * k + j] = x[i, 256 * k + j] } }
                parallel(thread.x) for j in 0..256 { for k in 0..32 { y[i, 256 * k + j] = s[8191 - 256 * k - j] } } } }",
        "with `s` a block has 65536 bytes of shared memory, and GPUs have room for 49152",
    );
}

/// Lanes are threads only where what a block has for itself fits into shared memory.
#[test]
fn iterations_with_large_arrays_are_no_blocks() {
    let text = |cells: usize| {
        format!(
            "kernel f(N; x: in f64[N, {cells}], y: out f64[N, {cells}]) {{
    array s: f64[{cells}]
    parallel for i in 0..N private s {{
        vector(256) for j in 0..{cells} {{ s[j] = x[i, j] }}
        vector(256) for j in 0..{cells} {{ y[i, j] = s[{cells} - 1 - j] }}
    }}
}}"
        )
    };
    for (cells, per_block) in [(4096, true), (8192, false)] {
        let kernel = verified(&text(cells));
        let program = emit(&kernel, Target::sm(70)).unwrap_or_else(|error| panic!("{error}"));
        let [HostStep::Launch(plan)] = program.host.as_slice() else { panic!("{:?}", program.host) };
        assert_eq!(plan.per_block, per_block);
        let x: Vec<f64> = (0..2 * cells).map(|at| at as f64).collect();
        let y = x.chunks(cells).flat_map(|row| row.iter().rev().copied()).collect();
        let mut arrays = vec![Some(Data::F64(x)), None, None];
        let options = Options { seed: 3, host_threads: 2, budget: 50_000_000 };
        program.emulate(&[2], &[], &mut arrays, &options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(arrays[1], Some(Data::F64(y)));
    }
}

/// Blocks do not wait for each other: what follows is another launch, also inside of a loop over blocks.
#[test]
fn blocks_that_follow_each_other_are_launches() {
    let text = "
kernel f(N; x: in f32[N], y: out f32[N], z: out f32[N, 3]) {
    parallel(block.x) for i in 0..N { y[i] = x[i] * 2.0 }
    parallel(block.y) for k in 0..N {
        parallel(block.x) for l in 0..3 { z[k, l] = y[k] }
        parallel(block.x) for m in 0..2 { z[k, m] += y[N - 1 - k] }
    }
}";
    let case = Case { text, params: &[9], cells: &[9, 9, 27], barriers: 0 };
    let kernel = verified(text);
    let program = emit(&kernel, Target::sm(70)).unwrap_or_else(|error| panic!("{error}"));
    let mut found = start(&case, &kernel);
    let text = program.module.text();
    emulate(&program, &text, &mut found, 1).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_same(&kernel, &found, &expected(&case, &kernel), &text);
    let launches: Vec<usize> = program
        .host
        .iter()
        .map(|step| match step {
            HostStep::Launch(plan) => plan.axes.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(launches, [1, 2, 2]);
}
