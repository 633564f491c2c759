//! Vector loops as lane programs: the same bits on every tier of this host as in the interpreter.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use farkas_cpu::{CallError, Options, Tier};
use interp::{Env, run_loops};
use program::{Data, FaultKind, Value, bf16, f16};

mod run;
use run::{buffers, compiled_with, verified};

/// The tiers of this host.
fn tiers() -> impl Iterator<Item = Tier> {
    Tier::ALL.into_iter().filter(|tier| tier.is_available())
}

fn options(tier: Tier) -> Options {
    Options { keep_text: true, tier: Some(tier), ..Options::default() }
}

/// Runs a kernel everywhere and compares; returns the lane programs as text.
fn agree(text: &str, params: &[i64], scalars: &[Value], arrays: &[Data]) -> String {
    agree_with(text, params, scalars, arrays, Options::default())
}

/// The same with options, but for the tier and the text.
fn agree_with(text: &str, params: &[i64], scalars: &[Value], arrays: &[Data], given: Options) -> String {
    let kernel = verified(text);
    let mut env =
        Env { params: params.to_vec(), scalars: scalars.to_vec(), arrays: arrays.iter().cloned().map(Some).collect() };
    run_loops(&kernel, &mut env).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let expected: Vec<Data> = env.arrays.into_iter().flatten().collect();
    let mut lanes = String::new();
    for tier in tiers() {
        let compiled = compiled_with(text, &Options { streams: given.streams, ..options(tier) });
        let mut found = arrays.to_vec();
        let called = compiled.call(params, scalars, &mut buffers(&kernel, &mut found));
        called.unwrap_or_else(|error| panic!("{tier}: {error}\n{text}"));
        assert!(
            found == expected,
            "{tier}: {found:?}\ninstead of {:?}\n{text}\n{}\n{}",
            expected,
            compiled.lanes(),
            compiled.asm()
        );
        lanes = compiled.lanes().to_owned();
    }
    lanes
}

fn floats(length: usize) -> Data {
    (0..length).map(|at| ((at * 7919) % 37) as f32 / 4.0 - 4.0).collect::<Vec<_>>().into()
}

#[test]
fn a_register_tile_stays_in_registers() {
    // As many rows as the registers of a tier hold, beside a row of B and one element of A.
    for (tier, rows) in [(Tier::V3, 6), (Tier::V4, 14)] {
        let lanes = if tier == Tier::V3 { 16 } else { 32 };
        let text = format!(
            "kernel tile(K; A: in f32[K, {rows}], B: in f32[K, {lanes}], C: inout f32[{rows}, {lanes}]) {{
                vector({lanes}) for j in 0..{lanes} {{
                    for k in 0..K {{
                        unroll for i in 0..{rows} {{
                            C[i, j] += A[k, i] * B[k, j]
                        }}
                    }}
                }}
            }}"
        );
        agree(&text, &[9], &[], &[floats(9 * rows), floats(9 * lanes), floats(rows * lanes)]);
        if tier.is_available() {
            let compiled = compiled_with(&text, &options(tier));
            assert!(compiled.asm().contains("tile j: 0 spills, 0 values loaded again"), "{}", compiled.asm());
            // Accumulators are changed in place: nothing but two loads per row of B and one per row of A is moved.
            let lanes = compiled.lanes();
            assert_eq!(lanes.matches("fma").count(), rows, "{lanes}");
            assert_eq!(lanes.matches(" same").count(), rows, "{lanes}");
        }
    }
}

#[test]
fn sums_of_several_products_stay_in_registers() {
    // Each product is added to the sum in its register, without another one for what is between.
    for (tier, rows) in [(Tier::V3, 3), (Tier::V4, 5)] {
        let lanes = if tier == Tier::V3 { 16 } else { 64 };
        let text = format!(
            "kernel tile(K; A: in f32[K, {rows}], B: in f32[K, {lanes}], D: in f32[K, {lanes}], C: inout f32[{rows}, {lanes}]) {{
                vector({lanes}) for j in 0..{lanes} {{
                    for k in 0..K {{
                        unroll for i in 0..{rows} {{
                            C[i, j] += A[k, i] * B[k, j]
                            C[i, j] += A[k, i] * D[k, j]
                            C[i, j] += B[k, j] * D[k, j]
                        }}
                    }}
                }}
            }}"
        );
        agree(&text, &[9], &[], &[floats(9 * rows), floats(9 * lanes), floats(9 * lanes), floats(rows * lanes)]);
        if tier.is_available() {
            let asm = compiled_with(&text, &options(tier)).asm().to_owned();
            assert!(asm.contains("tile j: 0 spills, 0 values loaded again"), "{asm}");
            // What is moved between registers is moved in front of the loop over k.
            let (_, turn) = asm.split_once("vfmadd").expect("a product");
            let moves = turn.lines().filter(|line| line.contains("vmovups") && !line.contains('['));
            assert_eq!(moves.count(), 0, "{asm}");
        }
    }
}

#[test]
fn rows_compute_what_they_have_in_common_once() {
    let text = "kernel tile(K; alpha: f32; A: in f32[K, 4], B: in f32[K, 16], C: inout f32[4, 16]) {
        vector(16) for j in 0..16 {
            for k in 0..K {
                unroll for i in 0..4 {
                    C[i, j] += B[k, j] * alpha * A[k, i]
                }
            }
        }
    }";
    let lanes = agree(text, &[9], &[Value::F32(1.5)], &[floats(36), floats(144), floats(64)]);
    assert_eq!(lanes.matches("fma").count(), 4, "{lanes}");
    assert_eq!(lanes.matches("= mul").count(), 1, "{lanes}");
}

#[test]
fn roots_and_quotients_that_stay_the_same_are_made_in_front_of_loops() {
    let text = "kernel f(N; v: f32, e: f32; x: in f32[N], y: inout f32[N], z: inout f32[N]) {
        vector(16) for i in 0..N {
            y[i] = x[i] / sqrt(v / e)
            z[i] = (v + e) * x[i]
        }
    }";
    for n in [0, 3, 16, 40] {
        let scalars = [Value::F32(2.5), Value::F32(0.3)];
        let lanes = agree(text, &[n as i64], &scalars, &[floats(n), floats(n), floats(n)]);
        // In front of the loop over whole groups, for the rest as well; a sum is not worth a register.
        assert_eq!(lanes.matches("= sqrt").count(), 1, "{lanes}");
        let (front, loops) = lanes.split_once("loop ").expect("a loop");
        assert!(front.contains("= sqrt") && !front.contains("= add"), "{lanes}");
        assert_eq!(loops.matches("= div").count(), 2, "{lanes}");
    }
}

#[test]
fn what_a_loop_makes_is_not_known_behind_it() {
    // The product of the first loop is not there where that does not run.
    let text = "kernel f(K; alpha: f32; B: in f32[16], C: inout f32[16], D: inout f32[16]) {
        vector(16) for j in 0..16 {
            for k in 0..K {
                C[j] += B[j] * alpha
            }
            D[j] = B[j] * alpha
        }
    }";
    for trips in [0, 3] {
        agree(text, &[trips], &[Value::F32(1.5)], &[floats(16), floats(16), floats(16)]);
    }
}

#[test]
fn sums_over_lanes_are_combined_in_one_order() {
    let values: Vec<f32> = (0..1000).map(|at| (at as f32).sin()).collect();
    // A single lane has a sum of its own, too.
    for lanes in [1, 2, 64] {
        let text = format!(
            "kernel sum(N; x: in f32[N], y: inout f32[]) {{ vector({lanes}) for i in 0..N {{ y[] += x[i] }} }}"
        );
        agree(&text, &[1000], &[], &[Data::from(values.clone()), Data::from(vec![0.5f32])]);
    }
}

const GATHERS: &str = "
kernel gathers(N, M; x: in f32[M, 3], at: in i64[N], y: inout f32[N], z: inout f32[N, M]) {
    vector(8) for i in 0..N {
        y[i] = gather(x, at[i], index(2)) * select(cond(i < 5), gather(x, at[i] + 1, at[0]), 2.0)
        scatter(z, index(i), at[i]) last= y[i]
        scatter(z, index(i), at[0]) += y[i]
    }
}
";

#[test]
fn rows_beside_each_other_are_summed_in_lanes() {
    // Four rows at a time, the last of which may not be there; what the rows before have come to is read meanwhile.
    let text = "kernel rows(M, N; A: in f32[M, N], x: in f32[N], s: inout f32[M], y: inout f32[N]) {
        for b in 0..floor((M + 7) / 4) {
            vector(16) for j in 0..N {
                unroll for i in 4 * b..min(M, 4 * b + 4) {
                    s[i] += A[i, j] * x[j]
                }
                unroll for i in 4 * b - 4..min(M, 4 * b) {
                    if i >= 0 { y[j] += A[i, j] * s[i] }
                }
            }
        }
    }";
    for rows in 0..10 {
        for length in [0, 1, 15, 16, 35] {
            let arrays = [floats(rows * length), floats(length), floats(rows), floats(length)];
            let (m, n) = (rows as i64, length as i64);
            let lanes = agree(text, &[m, n], &[], &arrays);
            assert!(lanes.contains("reduce"), "{lanes}");
        }
    }
}

#[test]
fn what_is_only_written_goes_past_the_caches() {
    // `z` is read, too; rows of `y` begin anywhere in a line.
    let text = "kernel copies(N, M; x: in f32[M], y: out f32[N, M], z: inout f64[M]) {
        for i in 0..N {
            vector(32) for j in 0..M {
                y[i, j] = 2.0 * x[j]
            }
        }
        vector(32) for j in 0..M {
            z[j] = z[j] + 1.0
        }
    }";
    for (n, m) in [(0, 5), (3, 0), (3, 95), (100, 96), (5, 97), (7, 200), (64, 128)] {
        let doubles: Data = (0..m).map(|at| at as f64 / 8.0).collect::<Vec<f64>>().into();
        let arrays = [floats(m), floats(n * m), doubles];
        let large = Options { streams: Some(4 << 10), ..Options::default() };
        let lanes = agree_with(text, &[n as i64, m as i64], &[], &arrays, large);
        let wide = Tier::native() >= Tier::V3;
        assert_eq!(lanes.matches(" streamed").count(), usize::from(wide), "{lanes}");
    }
    let arrays = [floats(96), floats(96), vec![0.5; 96].into()];
    let lanes = agree(text, &[1, 96], &[], &arrays);
    assert!(!lanes.contains("streamed"), "{lanes}");
}

#[test]
fn arrays_of_other_elements_than_the_first_stay_in_the_caches() {
    let text = "kernel mixed(N; x: in f32[N], c: in u8[N], y: out f32[N], z: out f64[N], b: out u8[N]) {
        vector(16) for i in 0..N {
            b[i] = c[i]
            y[i] = x[i]
            z[i] = f64(x[i])
        }
    }";
    for n in 90..110 {
        let bytes = || Data::from((0..n).map(|at| at as u8).collect::<Vec<u8>>());
        let arrays = [floats(n), bytes(), floats(n), vec![0.0; n].into(), bytes()];
        let large = Options { streams: Some(0), ..Options::default() };
        let lanes = agree_with(text, &[n as i64], &[], &arrays, large);
        assert_eq!(lanes.matches(" streamed").count(), usize::from(Tier::native() >= Tier::V3), "{lanes}");
    }
}

#[test]
fn a_tile_of_cells_asks_for_those_of_the_next() {
    let text = |terms: &str| {
        format!(
            "kernel tiles(K; A: in f32[8, K], B: in f32[K, 32], C: inout f32[8, 32]) {{
                for i in 0..8 {{
                    vector(32) for j in 0..32 {{
                        for k in 0..{terms} {{
                            C[i, j] += A[i, k] * B[k, j]
                        }}
                    }}
                }}
            }}"
        )
    };
    let wide = Tier::native() >= Tier::V3;
    // Two lines, and the one on which the last lane is if they begin elsewhere; a few terms are over before anything arrives.
    for (terms, lines) in [("K", 3), ("4", 0)] {
        let lanes = agree(&text(terms), &[9], &[], &[floats(72), floats(9 * 32), floats(256)]);
        assert_eq!(lanes.matches("fetch").count(), if wide { lines } else { 0 }, "{lanes}");
    }
}

#[test]
fn the_last_pass_over_a_row_fetches_the_next_row() {
    let text = |second: &str| {
        format!(
            "kernel rows(N, M; x: inout f32[N, M], y: out f32[N, M], s: inout f32[N]) {{
                for i in 0..N {{
                    vector(32) for j in 0..M {{
                        s[i] += x[i, j]
                    }}
                    vector(32) for j in 0..M {{
                        {second}
                    }}
                }}
            }}"
        )
    };
    let wide = Tier::native() >= Tier::V3;
    for (n, m) in [(0, 3), (1, 0), (3, 31), (2, 100)] {
        let arrays = [floats(n * m), floats(n * m), floats(n)];
        let params = [n as i64, m as i64];
        let lanes = agree(&text("y[i, j] = x[i, j] - s[i]"), &params, &[], &arrays);
        // 32 lanes of 4 bytes are two lines.
        assert_eq!(lanes.matches("fetch").count(), if wide { 2 } else { 0 }, "{lanes}");
        // What is written, and what is another row, is not asked for.
        for second in ["x[i, j] = x[i, j] - s[i]", "y[i, j] = x[N - 1 - i, j] - s[i]"] {
            let lanes = agree(&text(second), &params, &[], &arrays);
            assert!(!lanes.contains("fetch"), "{lanes}");
        }
        // Of two branches one runs, which is the first pass.
        let branches = "kernel rows(N, M; x: in f32[N, M], y: out f32[N, M], s: inout f32[N]) {
            for i in 0..N {
                if i < 1 {
                    vector(32) for j in 0..M { y[i, j] = x[i, j] }
                } else {
                    vector(32) for j in 0..M { y[i, j] = x[i, j] + 1.0 }
                }
            }
        }";
        let lanes = agree(branches, &params, &[], &arrays);
        assert!(!lanes.contains("fetch"), "{lanes}");
    }
}

#[test]
fn cells_that_depend_on_data_are_gathered_and_scattered() {
    let at: Vec<i64> = (0..20).map(|position| if position < 5 { position % 3 } else { position - 3 }).collect();
    let lanes = agree(GATHERS, &[20, 17], &[], &[floats(51), Data::from(at), floats(20), floats(340)]);
    for part in ["gather ", "scatter ", "check "] {
        assert!(lanes.contains(part), "{part}: {lanes}");
    }
}

#[test]
fn lanes_outside_an_array_are_reported() {
    for (lane, bad, extent) in [(3, 17, 17), (11, -1, 17), (19, i64::MAX, 17)] {
        let mut at: Vec<i64> = (0..20).map(|position| position % 3).collect();
        at[lane] = bad;
        let kernel = verified(GATHERS);
        for tier in tiers() {
            let compiled = compiled_with(GATHERS, &options(tier));
            let mut arrays = [floats(51), Data::from(at.clone()), floats(20), floats(340)];
            let before = arrays[3].clone();
            let failed = compiled.call(&[20, 17], &[], &mut buffers(&kernel, &mut arrays));
            let Err(CallError::Fault(fault)) = failed else { panic!("{tier}: {failed:?}") };
            let expected = FaultKind::Subscript { array: "x".to_owned(), dimension: Some(1), index: bad, extent };
            assert_eq!(fault.kind, expected, "{tier}");
            // Nothing of the group is stored.
            let mut unchanged = lane / 8 * 8 * 17..340;
            assert!(unchanged.all(|cell| arrays[3].get(cell) == before.get(cell)), "{tier}");
        }
    }
}

#[test]
fn integers_are_divided_in_lanes() {
    let small = [0, 1, -1, 7, -7, 100, -128, 127, 255, -32768, 65535, i64::from(i32::MIN), i64::from(u32::MAX), 12345];
    // Where 53 bits end, where 64 do, and products that are just not reached.
    let large = [i64::MIN, i64::MIN + 1, i64::MAX, 1 << 53, (1 << 53) + 1, 3_037_000_500, 9_223_372_030_926_249_001];
    let values = [small.as_slice(), &large].concat();
    let n = values.len() * values.len();
    for ty in ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"] {
        let data = |pick: &dyn Fn(usize) -> i64| {
            let ty = program::ScalarType::ALL.into_iter().find(|known| known.to_string() == ty).expect("a type");
            let mut data = Data::zeros(ty, n).expect("memory");
            (0..n).for_each(|at| assert!(data.set(at, Value::from_i64(ty, pick(at)))));
            data
        };
        let x = data(&|at| values[at % values.len()]);
        let y = data(&|at| values[at / values.len()] | i64::from(values[at / values.len()] & 0xff == 0));
        let text = format!(
            "kernel divides(N; x: in {ty}[N], y: in {ty}[N], q: out {ty}[N], r: out {ty}[N]) {{
                vector(16) for i in 0..N {{
                    q[i] = x[i] / y[i]
                    r[i] = x[i] % y[i]
                }}
            }}"
        );
        let lanes = agree(&text, &[n as i64], &[], &[x.clone(), y, x.clone(), x.clone()]);
        assert!(lanes.starts_with("lanes"), "{lanes}");
        let mut arrays = [x.clone(), data(&|at| at as i64 - 77), x.clone(), x];
        let failed = compiled_with(&text, &options(Tier::native())).call(
            &[n as i64],
            &[],
            &mut buffers(&verified(&text), &mut arrays),
        );
        let by_zero = |fault: &program::Fault| fault.kind == FaultKind::DivisionByZero;
        assert!(matches!(&failed, Err(CallError::Fault(fault)) if by_zero(fault)), "{failed:?}");
    }
}

#[test]
fn a_loop_that_has_no_lanes_says_why() {
    let text = "
kernel folded(N; x: in f32[N], s: inout f32[]) {
    vector(8) for i in 0..N {
        s[] += x[i] * x[i mod 3]
    }
}
";
    // The sum has the bits that it would have in lanes.
    let tenths = || Data::from((0..20).map(|at| at as f32 / 10.0).collect::<Vec<_>>());
    let lanes = agree(text, &[20], &[], &[tenths(), floats(1)]);
    assert_eq!(lanes, "# loop i: no lanes: index arithmetic that is not linear in its loops\n");
}

#[test]
fn strides_of_unknown_size_are_stepped() {
    let text = "
kernel transpose(N, M; x: in f32[N, M], y: out f32[M, N]) {
    for j in 0..M {
        vector(16) for i in 0..N {
            y[j, i] = x[i, j]
        }
    }
}
";
    let lanes = agree(text, &[37, 5], &[], &[floats(37 * 5), floats(37 * 5)]);
    assert!(lanes.contains(" by v"), "{lanes}");
}

/// One element of an array and its neighbours, row by row, for few lanes and none at all. The rows begin and end with their array, so that a lane
/// too many is outside.
fn neighbours(ty: &str, lanes: u32, to: &str, n: i64) -> String {
    let text = format!(
        "kernel neighbours(N; A: inout {ty}[3, N + 5], B: inout {ty}[3, N + 5]) {{
            for p in 0..3 {{
                vector({lanes}) for i in 0..N {{
                    {to}[p, i] = A[p, i + 5] - A[p, i] - A[p, i + 2] - A[p, i + 1]
                }}
            }}
        }}"
    );
    let length = 3 * (n as usize + 5);
    let data = || match ty {
        "f64" => Data::from((0..length).map(|at| (at * 31 % 17) as f64 / 7.0).collect::<Vec<_>>()),
        "f32" => floats(length),
        _ => Data::from((0..length).map(|at| (at * 31 % 17) as i32).collect::<Vec<_>>()),
    };
    agree(&text, &[n], &[], &[data(), data()])
}

#[test]
fn neighbours_are_loaded_once() {
    let slides = |lanes: &str| lanes.matches("slide").count();
    for ty in ["f32", "f64", "i32"] {
        for lanes in [2, 8, 16, 32] {
            let all = i64::from(lanes);
            for n in [0, 1, all - 1, all, all + 1, 2 * all, 2 * all + 3] {
                let text = neighbours(ty, lanes, "B", n);
                // The first one reaches too far for two lanes; only AVX-512 shifts lanes for as much as it takes to load them.
                let expected = match (Tier::V4.is_available(), lanes) {
                    (false, _) => 0,
                    (true, 2) => 1,
                    (true, _) => 3,
                };
                assert_eq!(slides(&text), expected, "{text}");
            }
            // What is stored in one turn is not what the next one would have loaded.
            assert_eq!(slides(&neighbours(ty, lanes, "A", 2 * all + 3)), 0);
        }
    }
}

/// Iterations before the first whole group, and those that are left over, have a mask each.
fn masks(text: &str) -> usize {
    let compiled = compiled_with(text, &Options { keep_text: true, ..Options::default() });
    compiled.lanes().matches("prefix").count()
}

/// A sum of rows, with `more` added.
fn rows(ty: &str, lanes: u32, more: &str) -> String {
    format!(
        "kernel rows(LO, HI, M; A: in {ty}[5, M], B: inout {ty}[3, M], s: inout {ty}[]) {{
            for p in 0..3 {{
                vector({lanes}) for i in LO..HI {{
                    B[p, i] += A[p, i] - A[p + 1, i] - A[p + 2, i]
                    {more}
                }}
            }}
        }}"
    )
}

#[test]
fn whole_groups_begin_at_cache_lines_if_nobody_can_tell() {
    let at_lines = usize::from(Tier::native() == Tier::V4);
    assert_eq!(masks(&rows("f64", 16, "")), 1 + at_lines);
    // Another row that is read or written is no reason, a cell of another iteration is.
    assert_eq!(masks(&rows("f64", 16, "if 2 * i < M { B[p, i] = A[p, 2 * i] }")), 1 + at_lines);
    assert_eq!(masks(&rows("f64", 16, "B[p, i] += B[0, i]")), 1);
    assert_eq!(masks(&rows("f64", 16, "B[p, i] = B[p, i + 1]")), 1);
    // Which lane a term is added to shows in the sum.
    assert_eq!(masks(&rows("f64", 16, "s[] += A[p, i]")), 1);
    // What little can be gained would be lost again.
    assert_eq!(
        masks("kernel f(N; A: in f64[2, N], B: out f64[N]) { vector(8) for i in 0..N { B[i] = A[0, i] + A[1, i] } }"),
        1
    );
}

/// Memory in which a copy of `values` begins so many elements behind a cache line, and where that is.
fn behind_a_line<T: Copy + Default>(values: &[T], offset: usize) -> (Vec<T>, usize) {
    let line = 64 / size_of::<T>();
    let mut memory = vec![T::default(); values.len() + 2 * line];
    let start = (line + offset - (memory.as_ptr().addr() / size_of::<T>()) % line) % line;
    memory[start..start + values.len()].copy_from_slice(values);
    (memory, start)
}

#[test]
fn rows_that_begin_anywhere_have_the_same_bits() {
    let compiled: Vec<_> = [8, 16]
        .into_iter()
        .flat_map(|lanes| tiers().map(move |tier| (lanes, tier)))
        .map(|(lanes, tier)| (lanes, tier, compiled_with(&rows("f64", lanes, ""), &options(tier))))
        .collect();
    for (lanes, tier, code) in &compiled {
        let kernel = verified(&rows("f64", *lanes, ""));
        // Rows that are whole lines apart, and others.
        for m in [5 * i64::from(*lanes) + 8, 5 * i64::from(*lanes) + 5] {
            for (offset, other, lo) in
                (0..8).flat_map(|offset| [(offset, offset, 0), (offset, offset, 3), (offset, 5, 1)])
            {
                let all = i64::from(*lanes);
                for trips in [0, 1, 2 * all, 3 * all - 1, 3 * all, 3 * all + 7, 4 * all + 5] {
                    let value = |at: usize| (at * 7919 % 97) as f64 / 7.0;
                    let a: Vec<f64> = (0..5 * m as usize).map(value).collect();
                    let b: Vec<f64> = (0..3 * m as usize).map(|at| value(at + 11)).collect();
                    let params = [lo, lo + trips, m];
                    let arrays = [a.clone().into(), b.clone().into(), vec![0.0].into()].map(Some);
                    let mut env = Env { params: params.to_vec(), scalars: Vec::new(), arrays: arrays.to_vec() };
                    run_loops(&kernel, &mut env).unwrap_or_else(|error| panic!("{error}"));
                    let expected = env.arrays[1].take();
                    let (a, from) = behind_a_line(&a, offset);
                    let (mut written, to) = behind_a_line(&b, other);
                    let (a, cells) = (&a[from..from + 5 * m as usize], &mut written[to..to + b.len()]);
                    code.call(&params, &[], &mut [a.into(), (&mut *cells).into(), (&mut [0.0][..]).into()])
                        .unwrap_or_else(|error| panic!("{tier}: {error}"));
                    let found = Some(Data::from(cells.to_vec()));
                    assert!(
                        found == expected,
                        "{tier}: {lanes} lanes, rows of {m}, {params:?}, from {offset} to {other}"
                    );
                    let outside = written[..to].iter().chain(&written[to + b.len()..]);
                    assert!(outside.into_iter().all(|cell| *cell == 0.0), "{tier}: something outside is written");
                }
            }
        }
    }
}

#[test]
fn a_tier_that_the_host_lacks_is_refused() {
    for tier in Tier::ALL {
        assert_eq!(Tier::from_name(tier.name()), Some(tier));
        let kernel = verified("kernel nothing(N; x: out f32[N]) {}");
        let compiled = farkas_cpu::compile_with(&kernel, &options(tier));
        match compiled {
            Ok(_) => assert!(tier.is_available()),
            Err(error) => assert!(!tier.is_available() && error.to_string().contains(tier.name()), "{error}"),
        }
    }
    assert!(Tier::native().is_available());
    assert_eq!(Tier::from_name("native"), Some(Tier::native()));
    assert_eq!(Tier::from_name("z80"), None);
}

/// Numbers of all magnitudes, and the special ones.
fn edges() -> Vec<f64> {
    let mut edges =
        vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 0.5, -0.5, 88.9, -104.2, 710.1];
    edges.extend((0..60).map(|at| (f64::from(at) * 0.37 - 11.0) * 1.5f64.powi(at % 23 - 11)));
    edges.extend([1e-40, -1e-40, 1e-310, 3e38, -1e300, 1e22, 12345.678]);
    edges
}

#[test]
fn functions_have_the_bits_of_their_definition() {
    let (wide, n) = (edges(), edges().len());
    let narrow: Vec<f32> = wide.iter().map(|x| *x as f32).collect();
    let turned = |by: usize| (0..n).map(move |at| (at * 7 + by) % n);
    for (ty, x) in [("f32", Data::from(narrow.clone())), ("f64", Data::from(wide.clone()))] {
        let y: Data = match ty {
            "f32" => turned(3).map(|at| narrow[at]).collect::<Vec<_>>().into(),
            _ => turned(3).map(|at| wide[at]).collect::<Vec<_>>().into(),
        };
        let unary = math::Unary::ALL.iter().map(|function| format!("{}(x[i])", function.name()));
        let binary = math::Binary::ALL.iter().map(|function| format!("{}(x[i], y[i])", function.name()));
        for value in unary.chain(binary) {
            let text = format!(
                "kernel function(N; x: in {ty}[N], y: in {ty}[N], z: out {ty}[N]) {{
                    vector(8) for i in 0..N {{ z[i] = {value} }}
                }}"
            );
            let lanes = agree(&text, &[n as i64], &[], &[x.clone(), y.clone(), x.clone()]);
            assert!(!lanes.starts_with('#'), "{value}: {lanes}");
        }
    }
}

/// Every float of 16 bits, and floats around the middles between them.
#[test]
fn halves_are_widened_and_rounded_by_lanes() {
    for half in ["f16", "bf16"] {
        let text = format!(
            "kernel halves(N; c: {half}; a: in {half}[N], x: in f32[N], w: out f32[N], h: out {half}[N], s: inout {half}[N]) {{
                vector(16) for i in 0..N {{
                    w[i] = f32(a[i]) * f32(c)
                    h[i] = {half}(x[i])
                    s[i] = select(x[i] < 0.0, a[i], s[i])
                }}
            }}"
        );
        let bits = || 0..=u16::MAX;
        let (all, c) = match half {
            "f16" => (Data::F16(bits().map(f16::from_bits).collect()), Value::F16(f16::from_f32(-0.75))),
            _ => (Data::BF16(bits().map(bf16::from_bits).collect()), Value::BF16(bf16::from_f32(-0.75))),
        };
        // One more and one less than the middle of two neighbours, and the middle itself.
        let low = if half == "f16" { 12 } else { 15 };
        let near = |at: u16| {
            let wide = if half == "f16" { f16::from_bits(at).to_f32() } else { bf16::from_bits(at).to_f32() };
            f32::from_bits((wide.to_bits() | 1 << low).wrapping_add(u32::from(at % 3)).wrapping_sub(1))
        };
        let x = Data::F32(bits().map(near).collect());
        let zeros = Data::zeros(all.ty(), 65536).expect("small");
        let wide = Data::zeros(program::ScalarType::F32, 65536).expect("small");
        let lanes = agree(&text, &[65536], &[c], &[all, x, wide, zeros.clone(), zeros]);
        assert!(!lanes.contains("no lanes"), "{lanes}");
    }
}
