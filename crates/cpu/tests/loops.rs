//! Control flow, index arithmetic and addresses.

use diag::Span;
use farkas_cpu::{Buffer, CallError, Options};
use loops::{CompareOp, Cond, Expr, ExprKind, Index, ParamId, Stmt};
use program::{BinaryOp, Data, Fault, ScalarType, Slice, SliceMut, Value};

mod run;
use run::{compiled_with, output, run, verified};

type IndexCase = (&'static str, fn(i64, i64) -> i64);
type CondCase = (&'static str, fn(i64) -> bool);

const MATMUL: &str = "
kernel matmul(N, M, K; A: in f64[N, K], B: in f64[K, M], C: out f64[N, M]) {
    local t: f64
    for i in 0..N {
        for j in 0..M {
            t = 0.0
            for k in 0..K { t = t + A[i, k] * B[k, j] }
            C[i, j] = t
        }
    }
}";

fn floats(len: usize, seed: usize) -> Vec<f64> {
    (0..len).map(|position| ((position * 37 + seed) % 101) as f64 / 8.0 - 6.0).collect()
}

#[test]
fn matmul_of_odd_sizes() {
    for (n, m, k) in [(3, 5, 7), (1, 1, 1), (4, 1, 9), (0, 3, 3), (3, 0, 3), (3, 3, 0)] {
        let (a, b) = (floats(n * k, 1), floats(k * m, 2));
        let mut expected = vec![0.0; n * m];
        for i in 0..n {
            for j in 0..m {
                expected[i * m + j] = (0..k).fold(0.0, |t, kk| t + a[i * k + kk] * b[kk * m + j]);
            }
        }
        let got = output(MATMUL, &[n as i64, m as i64, k as i64], &[a.into(), b.into()], vec![1.0; n * m].into());
        assert_eq!(got, expected.into());
    }
}

#[test]
fn the_inner_loop_of_matmul_is_tight() {
    let options = Options { keep_text: true, ..Options::default() };
    let compiled = compiled_with(MATMUL, &options);
    assert!(compiled.clif().contains("fmul"), "{}", compiled.clif());
    if cfg!(target_arch = "x86_64") {
        let block = compiled.asm().split("block").find(|block| block.contains("mulsd")).expect("a product");
        let instructions = block.lines().count() - 2;
        assert!(instructions <= 8, "{instructions} instructions:\n{block}");
        assert!(!block.contains("imul"), "{block}");
    }
}

#[test]
fn text_is_kept_on_request_only() {
    let compiled = compiled_with(MATMUL, &Options::default());
    assert_eq!((compiled.clif(), compiled.asm()), ("", ""));
}

/// Serial, parallel, vector and unrolled loops compute the same, whatever the bounds and the step.
#[test]
fn loop_kinds_bounds_and_steps() {
    for kind in ["", "parallel ", "vector(4) ", "unroll "] {
        for (lo, hi) in [("0", "10"), ("3", "3"), ("5", "2"), ("N - 7", "N"), ("N - 7", "N - 2"), ("0", "N")] {
            for step in [1, 2, 3, 20] {
                let text = format!(
                    "kernel t(N; Z: inout i64[N, 2]) {{
                        {kind}for i in {lo}..{hi} by {step} {{ Z[i, 1] = Z[i, 1] + 1 + i }}
                    }}"
                );
                let n = 12_i64;
                let number = |bound: &str| match bound {
                    "N" => n,
                    "N - 7" => n - 7,
                    "N - 2" => n - 2,
                    bound => bound.parse().expect("a number"),
                };
                let mut expected = vec![0_i64; 24];
                for i in (number(lo)..number(hi)).step_by(step) {
                    expected[2 * i as usize + 1] = 1 + i;
                }
                assert_eq!(output(&text, &[n], &[], vec![0_i64; 24].into()), expected.into(), "{text}");
            }
        }
    }
}

/// The last step would leave the range of 64 bits.
#[test]
fn loops_at_the_ends_of_the_integers() {
    let text = "kernel t(LO, HI; Z: inout i64[1]) { for i in LO..HI by 1000 { Z[0] = Z[0] + 1 } }";
    for (lo, hi, trips) in [
        (i64::MAX - 2500, i64::MAX, 3),
        (i64::MAX - 1, i64::MAX, 1),
        (i64::MIN, i64::MIN + 2001, 3),
        (i64::MIN, i64::MIN + 1, 1),
        (i64::MAX, i64::MIN, 0),
    ] {
        assert_eq!(output(text, &[lo, hi], &[], vec![0_i64].into()), vec![i64::from(trips)].into(), "{lo}..{hi}");
    }
}

#[test]
fn unrolled_loops_inside_loops() {
    let text = "
    kernel t(N; X: in f64[4 * N, 3], Z: out f64[3, 4 * N]) {
        for i in 0..4 * N by 4 {
            unroll for u in i..i + 4 {
                unroll for v in 0..3 {
                    if v == 1 { Z[v, u] = X[u, v] * 2.0 } else { Z[v, u] = X[u, v] }
                }
            }
        }
    }";
    let n = 3;
    let x = floats(4 * n * 3, 5);
    let mut expected = vec![0.0; x.len()];
    for u in 0..4 * n {
        for v in 0..3 {
            expected[v * 4 * n + u] = x[u * 3 + v] * if v == 1 { 2.0 } else { 1.0 };
        }
    }
    assert_eq!(output(text, &[n as i64], &[x.into()], vec![0.0; 12 * n].into()), expected.into());
}

#[test]
fn index_arithmetic() {
    let cases: [IndexCase; 12] = [
        ("floor(i / 8)", |i, _| i.div_euclid(8)),
        ("floor(i / 7)", |i, _| i.div_euclid(7)),
        ("floor((3 * i - N) / 1)", |i, n| 3 * i - n),
        ("i mod 8", |i, _| i.rem_euclid(8)),
        ("i mod 7", |i, _| i.rem_euclid(7)),
        ("(2 * i - 5) mod 10", |i, _| (2 * i - 5).rem_euclid(10)),
        ("min(i, 3)", |i, _| i.min(3)),
        ("max(min(i, N), -3)", |i, n| i.min(n).max(-3)),
        ("select(i < 3, i, N - i)", |i, n| if i < 3 { i } else { n - i }),
        ("select(i < 3 and not i == -2 or i == N, 1, 2)", |i, n| if i < 3 && i != -2 || i == n { 1 } else { 2 }),
        ("-i + N - 3 * i", |i, n| n - 4 * i),
        ("min(i + 1, i + 2) + max(5, 4)", |i, _| i + 6),
    ];
    let n = 4;
    for (index, expected) in cases {
        let text = format!("kernel t(N; Z: out i64[41]) {{ for i in -20..21 {{ Z[i + 20] = index({index}) }} }}");
        let wanted: Vec<i64> = (-20..21).map(|i| expected(i, n)).collect();
        assert_eq!(output(&text, &[n], &[], vec![0_i64; 41].into()), wanted.into(), "{index}");
    }
}

#[test]
fn conditions_as_branches_and_as_values() {
    let cases: [CondCase; 7] = [
        ("i < 3", |i| i < 3),
        ("not i >= 3", |i| i < 3),
        ("i > -2 and i < 3 and not i == 1", |i| i > -2 && i < 3 && i != 1),
        ("i < -2 or i > 3 or i == 0", |i| !(-2..=3).contains(&i) || i == 0),
        ("not (i < -2 or i > 3) and (i != 0 or i <= -1)", |i| (-2..=3).contains(&i) && i != 0),
        ("true", |_| true),
        ("i < i", |_| false),
    ];
    for (cond, expected) in cases {
        let text = format!(
            "kernel t(B: out bool[11], Z: out i32[11]) {{
                for i in -5..6 {{
                    B[i + 5] = cond({cond})
                    if {cond} {{ Z[i + 5] = 1 }} else {{ Z[i + 5] = 2 }}
                    if {cond} {{ Z[i + 5] = Z[i + 5] + 10 }}
                }}
            }}"
        );
        let mut arrays: [Data; 2] = [vec![false; 11].into(), vec![0_i32; 11].into()];
        run(&text, &[], &[], &mut arrays).expect("runs");
        let holds: Vec<bool> = (-5..6).map(expected).collect();
        assert_eq!(arrays[1], holds.iter().map(|holds| if *holds { 11 } else { 2 }).collect::<Vec<i32>>().into());
        assert_eq!(arrays[0], holds.into(), "{cond}");
    }
}

/// The load that is not chosen would be far outside of the array.
#[test]
fn select_evaluates_only_the_chosen_branch() {
    let text = "
    kernel t(N; X: in f64[N], I: in i64[N], Z: out f64[N], Q: out i64[N]) {
        for i in 0..N {
            Z[i] = select(cond(i >= 2), X[1099511627776 * i - 2199023255552], 7.0)
            Q[i] = select(I[i] != 0, 100 / I[i], -1)
        }
    }";
    let mut arrays: [Data; 4] =
        [vec![1.0, 2.0, 3.0].into(), vec![0_i64, 5, 7].into(), vec![0.0; 3].into(), vec![0_i64; 3].into()];
    run(text, &[3], &[], &mut arrays).expect("runs");
    assert_eq!(arrays[2], vec![7.0, 7.0, 1.0].into());
    assert_eq!(arrays[3], vec![-1_i64, 20, 14].into());
}

/// Reading `X[0]` in front of the loops would leave the empty array.
#[test]
fn invariant_loads_are_not_executed_for_loops_that_do_not_run() {
    let text = "
    kernel t(N, M; X: in f64[N], Z: out f64[M, N]) {
        for i in 0..M {
            for j in 0..N { Z[i, j] = X[0] + X[1099511627776 * N - 1099511627776] }
        }
    }";
    assert_eq!(output(text, &[0, 3], &[Data::F64(vec![])], Data::F64(vec![])), Data::F64(vec![]));
    let got = output(text, &[1, 3], &[vec![2.0].into()], vec![0.0; 3].into());
    assert_eq!(got, vec![4.0; 3].into());
}

#[test]
fn invariant_loads_see_stores_of_the_same_loop() {
    let text = "
    kernel t(N; X: inout f64[N], Y: in f64[1]) {
        for i in 0..N { X[i] = X[0] + Y[0] }
    }";
    let mut arrays: [Data; 2] = [vec![1.0, 0.0, 0.0].into(), vec![10.0].into()];
    run(text, &[3], &[], &mut arrays).expect("runs");
    assert_eq!(arrays[0], vec![11.0, 21.0, 21.0].into());
}

#[test]
fn strides_negative_large_and_of_three_dimensions() {
    let text = "
    kernel t(N, M; X: in i16[N, 3, M], Z: out i16[M, N, 3]) {
        for i in 0..N {
            for j in 0..3 {
                for k in 0..M { Z[M - 1 - k, i, 2 - j] = X[N - 1 - i, j, k] }
            }
        }
    }";
    let (n, m) = (4, 5);
    let x: Vec<i16> = (0..60).collect();
    let mut expected = vec![0_i16; 60];
    for i in 0..n {
        for j in 0..3 {
            for k in 0..m {
                expected[((m - 1 - k) * n + i) * 3 + 2 - j] = x[((n - 1 - i) * 3 + j) * m + k];
            }
        }
    }
    assert_eq!(output(text, &[4, 5], &[x.into()], vec![0_i16; 60].into()), expected.into());
}

#[test]
fn local_arrays_and_locals() {
    let text = "
    kernel t(N; X: in f32[N], Z: out f32[N]) {
        array T: f32[N + 1]
        local a: f32
        for i in 0..N { T[i + 1] = X[i] * 2.0 }
        a = 0.0
        for i in 0..N {
            a = a + T[i + 1]
            Z[i] = a
        }
    }";
    let got = output(text, &[4], &[vec![1.0_f32, 2.0, 3.0, 4.0].into()], vec![0.0_f32; 4].into());
    assert_eq!(got, vec![2.0_f32, 6.0, 12.0, 20.0].into());
}

#[test]
fn calls_inside_loops_keep_memory_in_order() {
    let text = "
    kernel t(N; X: inout f64[N]) {
        for i in 1..N { X[i] = exp(X[i - 1]) + X[i] }
    }";
    let mut expected = floats(6, 9);
    let mut arrays: [Data; 1] = [expected.clone().into()];
    for i in 1..6 {
        expected[i] += math::Unary::Exp.f64(expected[i - 1]);
    }
    run(text, &[6], &[], &mut arrays).expect("runs");
    assert_eq!(arrays[0], expected.into());
}

#[test]
fn deep_expressions_and_deep_choices() {
    let mut kernel = verified("kernel t(N; X: in i64[1], Z: out i64[1]) { Z[0] = X[0] }").into_kernel();
    let value = match kernel.body.first_mut() {
        Some(Stmt::Store { value, .. }) => value,
        _ => unreachable!("the kernel is one store"),
    };
    let load = value.clone();
    let one = Expr::constant(Value::I64(1));
    for depth in 0..256 {
        let inner = value.clone();
        let ty = ScalarType::I64;
        let kind = if depth % 2 == 0 {
            ExprKind::Binary(BinaryOp::Add, Box::new(inner), Box::new(one.clone()))
        } else {
            let cond = Cond::Compare(CompareOp::Lt, Index::Const(depth), Index::Param(ParamId(0)));
            let cond = Expr { kind: ExprKind::Cond(cond), ty: ScalarType::Bool };
            ExprKind::Select(Box::new(cond), Box::new(inner), Box::new(load.clone()))
        };
        *value = Expr { kind, ty };
    }
    let compiled = farkas_cpu::compile(&loops::verify(kernel).expect("valid")).expect("compiles");
    let (x, mut z) = ([5_i64], [0_i64]);
    let mut buffers = [Buffer::Read(Slice::I64(&x)), Buffer::Write(SliceMut::I64(&mut z))];
    compiled.call(&[1000], &[], &mut buffers).expect("runs");
    assert_eq!(z, [133]);
}

#[test]
fn bounds_are_tested_on_request() {
    let text = "kernel t(N, K; Z: out f64[N, 2]) { for i in 0..N { Z[i + K, 1] = 1.0 } }";
    let compiled = compiled_with(text, &Options { check_bounds: true, ..Options::default() });
    let call = |k| {
        let mut z = [0.0; 6];
        compiled.call(&[3, k], &[], &mut [Buffer::Write(SliceMut::F64(&mut z))])
    };
    assert_eq!(call(0), Ok(()));
    let outside = |index| Err(CallError::Fault(Fault::subscript("Z", 0, 2, index, 3, None)));
    assert_eq!(call(1), outside(3));
    assert_eq!(call(-1), outside(-1));
}

#[test]
fn cells_that_depend_on_data_are_checked() {
    let text = "kernel t(N; at: in i64[N], X: in f64[3, 2], Z: out f64[N], H: inout i64[3, 2]) {
        for i in 0..N {
            Z[i] = 2.0 * gather(X, at[i], index(i mod 2))@5..9
            scatter(H, at[i] * at[i], i % 2)@10..20 += 10
        }
    }";
    let compiled = compiled_with(text, &Options::default());
    let call = |at: &[i64]| {
        let (x, mut z, mut h) = ([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], [0.0; 4], [1; 6]);
        let n = at.len();
        let mut buffers = [
            Buffer::Read(Slice::I64(at)),
            Buffer::Read(Slice::F64(&x)),
            Buffer::Write(SliceMut::F64(&mut z[..n])),
            Buffer::Write(SliceMut::I64(&mut h)),
        ];
        compiled.call(&[n as i64], &[], &mut buffers).map(|()| (z, h))
    };
    assert_eq!(call(&[1, 0, 1, 1]), Ok(([3.0, 2.0, 3.0, 4.0], [1, 11, 21, 11, 1, 1])));
    let outside = |array, index, span| Err(CallError::Fault(Fault::subscript(array, 0, 2, index, 3, Some(span))));
    assert_eq!(call(&[0, 3]), outside("X", 3, Span::new(5, 9)));
    assert_eq!(call(&[0, -1]), outside("X", -1, Span::new(5, 9)));
    assert_eq!(call(&[i64::MIN]), outside("X", i64::MIN, Span::new(5, 9)));
    assert_eq!(call(&[1, 2]), outside("H", 4, Span::new(10, 20)));
}

#[test]
fn a_condition_protects_a_cell_that_depends_on_data() {
    let text = "kernel t(N; at: in i64[N], X: in f64[2], Z: out f64[N]) {
        for i in 0..N { Z[i] = select(at[i] >= 0 and at[i] < 2, gather(X, at[i]), -1.0) }
    }";
    let mut arrays: [Data; 3] = [vec![1i64, -5, 2, 0].into(), vec![7.0, 8.0].into(), vec![0.0; 4].into()];
    assert_eq!(run(text, &[4], &[], &mut arrays), Ok(()));
    assert_eq!(arrays[2], vec![8.0, -1.0, -1.0, 7.0].into());
}
