//! Loops whose iterations run at once: right kinds compute what serial loops compute, wrong ones show.

#![expect(clippy::panic, reason = "a test fails by panicking")]

extern crate farkas_interp as interp;

use interp::{Env, run_concurrently, run_loops};
use loops::{Kernel, Verified, cascade, optimize, parse, verify};
use program::{Data, Role};

const SIZE: i64 = 9;

fn kernel(body: &str) -> Verified {
    let text = format!(
        "kernel f(N; a: inout f64[N], b: in f64[N], s: inout f64[]) {{
            array p: f64[N] array q: f64[N]
            local t: f64
            {body}
        }}"
    );
    verify(parse(&text).expect(body)).expect(body)
}

fn arguments() -> Env {
    let numbers = |factor: f64| Some(Data::F64((0..SIZE).map(|number| number as f64 * factor + 1.0).collect()));
    Env {
        params: vec![SIZE],
        scalars: Vec::new(),
        arrays: vec![numbers(1.0), numbers(3.0), Some(vec![0.5].into()), None, None],
    }
}

fn in_order(kernel: &Verified) -> Env {
    let mut env = arguments();
    run_loops(kernel, &mut env).expect("it runs");
    env
}

fn shuffled(kernel: &Verified, seed: u64) -> Env {
    let mut env = arguments();
    run_concurrently(kernel, &mut env, seed).expect("it runs");
    env
}

#[test]
fn right_kinds_compute_what_serial_loops_do() {
    for body in [
        "parallel for i in 0..N { a[i] = b[i] * 2.0 }",
        "parallel for i in 0..N by 2 { t = b[i] a[i] = t + t }",
        "parallel for i in 0..N reducing s by + { s[] += a[i] }",
        "parallel for i in 0..N private p { for j in 0..N { p[j] = b[i] } a[i] = p[N - 1] }",
        "parallel for i in 0..N { alloc p in scratch { p[0] = b[i] a[i] = p[0] } }",
        // Everyone writes before anyone reads.
        "parallel for i in 0..N { p[i] = b[i] barrier a[i] = p[N - 1 - i] }",
        "for j in 0..N { p[j] = b[j] } \
         parallel for i in 0..N { for j in 0..3 { q[i] = p[N - 1 - i] barrier p[i] = q[i] + 1.0 barrier } a[i] = p[i] }",
        "vector(4) for i in 0..N { a[i] = a[i] + b[i] }",
        // All lanes read before one of them writes, as a loop that reads ahead does.
        "vector(4) for i in 0..N - 1 { a[i] = a[i + 1] }",
        "vector(4) for i in 0..4 { t = 0.0 for k in 0..N { t += b[k] * a[i] } a[i] = t }",
        "vector(4) for i in 0..N { if i mod 2 == 0 { a[i] = 1.0 } else { a[i] = b[i] } }",
        "t = 0.0 for i in 0..2 { vector(4) for j in 0..4 { t += a[4 * i + j] } } s[] = t",
        "vector(4) for i in 0..N { s[] max= b[i] }",
        "vector(4) for i in 0..4 { alloc p in scratch { p[0] = b[i] a[i] = p[0] } }",
    ] {
        let kernel = kernel(body);
        let expected = in_order(&kernel);
        for seed in 0..4 {
            assert_eq!(shuffled(&kernel, seed), expected, "{body}");
        }
    }
}

#[test]
fn wrong_kinds_show() {
    for body in [
        "parallel for i in 1..N { a[i] = a[i - 1] * 2.0 }",
        "parallel for i in 0..N - 1 { a[i] = a[i + 1] }",
        "parallel for i in 0..N { if i mod 3 == 0 { s[] = b[i] } }",
        // Private cells do not keep the value of the last iteration, nor do scoped ones.
        "parallel for i in 0..N private p { if i == 0 { p[0] = 1.0 } a[i] = p[0] }",
        "for i in 0..N { alloc p in scratch { if i == 0 { p[0] = 1.0 } a[i] = p[0] } }",
        "parallel for i in 0..N { p[i] = b[i] a[i] = p[N - 1 - i] }",
        "vector(4) for i in 1..N { a[i] = a[i - 1] * 2.0 }",
        "vector(4) for i in 0..4 { a[i + 1] = b[i] a[i + 4] = a[i] }",
    ] {
        let kernel = kernel(body);
        let expected = in_order(&kernel);
        let differs = |seed| format!("{:?}", shuffled(&kernel, seed)) != format!("{expected:?}");
        assert!((0..4).any(differs), "{body}");
    }
}

/// Partial results are cut by the loop and combined in order, so it does not matter who computes them when.
#[test]
fn partial_results_give_the_same_bits_in_every_order() {
    let body = "parallel for i in 0..N reducing s by + { for j in 0..N { s[] += b[i] / (a[j] + 0.3) } }";
    let text = format!("kernel f(N; a: inout f64[N], b: in f64[N], s: inout f64[]) {{ {body} }}");
    let kernel = verify(optimize(parse(&text).expect("well-formed"))).expect("valid");
    assert!(!kernel.to_string().contains("reducing"), "{kernel}");
    let run = |seed| {
        let numbers = |factor: f64| Data::F64((0..100).map(|number| f64::from(number) * factor + 1.0).collect());
        let mut arrays = vec![Some(numbers(1.0)), Some(numbers(3.0)), Some(vec![0.5].into())];
        arrays.resize(kernel.arrays.len(), None);
        let mut env = Env { params: vec![100], scalars: Vec::new(), arrays };
        run_concurrently(&kernel, &mut env, seed).expect("it runs");
        env.arrays[2].clone()
    };
    let first = run(0);
    assert!((1..6).all(|seed| run(seed) == first));
}

/// Blocks lose less than one accumulator does.
#[test]
fn a_cascade_is_closer_to_the_sum() {
    let text = "kernel f(N; x: in f32[N], s: out f32[]) { s[] = 0.0 for i in 0..N { s[] += x[i] } }";
    let kernel = optimize(parse(text).expect("well-formed"));
    let sum = |kernel: Kernel| {
        const LENGTH: usize = 100_000;
        let arrays = vec![Some(Data::F32(vec![0.1; LENGTH])), None];
        let mut env = Env { params: vec![LENGTH as i64], scalars: Vec::new(), arrays };
        run_loops(&verify(kernel).expect("valid"), &mut env).expect("it runs");
        match &env.arrays[1] {
            Some(Data::F32(sum)) => (f64::from(sum[0]) - LENGTH as f64 * f64::from(0.1f32)).abs(),
            other => panic!("{other:?}"),
        }
    };
    let (plain, cascaded) = (sum(kernel.clone()), sum(cascade(kernel)));
    assert!(cascaded * 3.0 < plain, "{cascaded} and {plain}");
}

/// What `verify` can know to be wrong, nobody has to run.
#[test]
fn some_wrong_kinds_are_refused() {
    for body in ["parallel for i in 0..N { s[] = s[] + a[i] }", "parallel for i in 0..N { p[0] = b[i] a[i] = p[0] }"] {
        let text = format!("kernel f(N; a: inout f64[N], b: in f64[N], s: inout f64[]) {{ array p: f64[N] {body} }}");
        let error = verify(parse(&text).expect(body)).expect_err(body).to_string();
        assert!(error.contains("all iterations of the parallel loop over `i` write the same cell"), "{error}");
    }
}

/// Without parallel and vector loops there is nothing to shuffle.
#[test]
fn serial_loops_run_in_order() {
    let kernel = kernel("for i in 1..N { a[i] = a[i - 1] + b[i] } unroll for i in 0..3 { s[] = s[] * 2.0 + a[i] }");
    assert_eq!(shuffled(&kernel, 7), in_order(&kernel));
    assert!(kernel.arrays.iter().all(|array| array.role != Role::Out));
}
