//! Loops that nobody has proven: whatever their text says, their code stays inside the arrays it is given.
//!
//! Arrays stand in the middle of larger ones, so that a store beside them shows.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use farkas_cpu::{Buffer, CallError, Options, Tier, compile_with};
use loops::{Verified, parse, verify};
use program::{Data, FaultKind, Slice, SliceMut};

const MARGIN: usize = 64;
const CANARY: i64 = 0x5a5a_5a5a_5a5a_5a5a;

fn unproven(text: &str) -> Verified {
    let kernel = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(kernel).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs `kernel t(N, K; X: in i64[…], Z: inout i64[…])` with arrays of so many cells; what came of it and what is in `Z`.
fn run(text: &str, params: [i64; 2], cells: [usize; 2]) -> (Result<(), CallError>, Vec<i64>) {
    let mut first = None;
    // Without a tier that is wide there are vector loops for Cranelift, too.
    for tier in [None, Some(Tier::Baseline)] {
        let compiled = compile_with(&unproven(text), &Options { tier, ..Options::default() });
        let compiled = compiled.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let x: Vec<i64> = (0..cells[0] as i64).collect();
        let mut room = vec![CANARY; cells[1] + 2 * MARGIN];
        let inside = MARGIN..MARGIN + cells[1];
        room[inside.clone()].fill(7);
        let mut buffers = [Buffer::Read(Slice::I64(&x)), Buffer::Write(SliceMut::I64(&mut room[inside.clone()]))];
        let result = compiled.call(&params, &[], &mut buffers);
        let beside = room[..inside.start].iter().chain(&room[inside.end..]);
        assert!(beside.into_iter().all(|cell| *cell == CANARY), "a store beside the array\n{text}");
        let outcome = (result, room[inside].to_vec());
        assert_eq!(*first.get_or_insert_with(|| outcome.clone()), outcome, "{text}");
    }
    first.expect("two runs")
}

fn is_outside(result: &Result<(), CallError>) -> bool {
    matches!(result, Err(CallError::Fault(fault)) if matches!(fault.kind, FaultKind::Subscript { .. }))
}

#[test]
fn subscripts_outside_are_faults_wherever_they_stand() {
    let bodies = [
        "for i in 0..N { Z[i + K] = 1 }",
        "for i in 0..N { Z[K * 0 + i - 1] = 1 }",
        "for i in 0..N { Z[0 - i - 1] = X[i] }",
        "for i in 0..N { Z[i] = X[i + 1] }",
        "for i in 0..N { Z[i] = X[1000000000 * i + 1] }",
        "for i in 0..N { Z[i + 60] += X[0] }",
        "for i in 0..N + 1 { Z[0] = X[N] }",
        "for i in 0..N { Z[i] = gather(X, index(i + 1)) }",
        "for i in 0..N { scatter(Z, index(i + N)) += 1 }",
        "vector(8) for i in 0..N { Z[i + 1] = X[i] }",
        "vector(8) for i in 0..N { Z[i] = X[i + 4096] }",
        "unroll for i in 0..4 { Z[N + i] = 1 }",
        "parallel for i in 0..N { Z[i + N] = 1 }",
        "for i in 0..N { if i >= 0 { Z[N] = 1 } }",
        "for i in 0..N { Z[i] = select(i >= 0, X[N + i], 0) }",
        "for i in 0..N { Z[min(i, N) + max(N, 1)] = 1 }",
        "for i in 0..N { Z[(i mod 3) - 1] = 1 }",
        "for i in 0..N { Z[floor((i - 1) / 2)] = 1 }",
    ];
    for body in bodies {
        let text = format!("kernel t(N, K; X: in i64[N], Z: inout i64[N]) {{ {body} }}");
        let (result, _) = run(&text, [9, 1], [9, 9]);
        assert!(is_outside(&result), "{result:?}\n{text}");
    }
}

#[test]
fn arithmetic_that_wraps_does_not_slip_past_a_check() {
    // Each of them is 0 in 64 bits, or points back into the array after the multiplication by 8.
    let wrapped = [
        ("4611686018427387904 * (4 * i)", true),
        ("2305843009213693952 * i", false),
        ("1152921504606846976 * i + 1", false),
        ("9223372036854775807 * i + i", false),
    ];
    for (subscript, fine) in wrapped {
        let text = format!(
            "kernel t(N, K; X: in i64[N], Z: inout i64[N]) {{ for i in 1..N {{ Z[{subscript}] = X[{subscript}] }} }}"
        );
        let (result, _) = run(&text, [9, 1], [9, 9]);
        assert!(fine && result.is_ok() || is_outside(&result), "{result:?}\n{text}");
    }
}

#[test]
fn buffers_of_the_call_have_bounds_too() {
    let text = "kernel t(N, K; X: in i64[N], Z: inout i64[N]) {
        array T: i64[4]
        for i in 0..N { T[i] = X[i] }
        for i in 0..N { Z[i] = T[i] }
    }";
    assert_eq!(run(text, [4, 0], [4, 4]).1, [0, 1, 2, 3]);
    assert!(is_outside(&run(text, [5, 0], [5, 5]).0));
    let text = "kernel t(N, K; X: in i64[N], Z: inout i64[N]) {
        array T: i64[2]
        alloc T in scratch { for i in 0..N { T[i - K] = 1  Z[i] = T[i - K] } }
    }";
    assert!(is_outside(&run(text, [4, 0], [4, 4]).0));
    assert!(is_outside(&run(text, [4, 5], [4, 4]).0));
}

#[test]
fn a_subscript_too_large_for_one_dimension_does_not_reach_the_next() {
    let text = "kernel t(N, K; X: in i64[N], Z: inout i64[3, 3]) { Z[0, N] = 1 }";
    assert_eq!(run(text, [2, 0], [2, 9]).1, [7, 7, 1, 7, 7, 7, 7, 7, 7]);
    assert!(is_outside(&run(text, [3, 0], [3, 9]).0));
}

/// Subscripts by chance; the interpreter, which checks all of them, says what must come out.
#[test]
fn random_loops_do_what_the_interpreter_does_or_fault_where_it_does() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut pick = move |count: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % count
    };
    let (mut fine, mut faults) = (0, 0);
    for _ in 0..150 {
        let mut subscript = |vars: &[&str]| {
            let var = vars[pick(vars.len() as u64) as usize];
            match pick(7) {
                0 => format!("{} * {var} + {}", pick(4), pick(5)),
                1 => format!("{var} - {}", pick(3)),
                2 => format!("(K * 3 + {var}) mod {}", pick(12) + 1),
                3 => format!("floor({var} / {})", pick(3) + 1),
                4 => format!("min({var}, {})", pick(9)),
                5 => format!("max({var} - 2, {})", pick(4)),
                _ => var.to_owned(),
            }
        };
        let (a, b, c) = (subscript(&["i", "j"]), subscript(&["i", "j"]), subscript(&["i"]));
        let kind = ["", "unroll ", ""][subscript(&["i"]).len() % 3];
        let text = format!(
            "kernel t(N, K; X: in i64[N], Z: inout i64[N]) {{
                for i in 0..N {{
                    Z[{c}] = 3
                    {kind}for j in 0..4 {{ Z[{a}] += X[{b}] }}
                }}
            }}"
        );
        let (result, z) = run(&text, [8, 2], [8, 8]);
        let arrays: [Data; 2] = [(0..8_i64).collect::<Vec<_>>().into(), vec![7_i64; 8].into()];
        let mut env =
            interp::Env { params: vec![8, 2], scalars: vec![], arrays: arrays.into_iter().map(Some).collect() };
        let expected = interp::run_loops(&unproven(&text), &mut env);
        assert_eq!(expected.is_ok(), result.is_ok(), "{expected:?} {result:?}\n{text}");
        match result {
            Ok(()) => {
                fine += 1;
                assert_eq!(env.arrays[1], Some(Data::from(z)), "{text}");
            }
            Err(_) => faults += 1,
        }
    }
    assert!(fine > 20 && faults > 20, "{fine} fine, {faults} faults");
}
