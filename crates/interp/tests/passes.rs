//! Loop trees: what they compute, and that no pass changes it.

extern crate farkas_interp as interp;

#[path = "../../loops/tests/generate/mod.rs"]
mod generate;

use interp::{Env, Error, run_loops};
use loops::{
    ArrayId, Expr, For, Index, Kernel, LoopKind, Stmt, VarId, contract, hoist, narrow, optimize, parse, promote,
    rebase, simplify, verify,
};
use program::{Data, Fault, FaultKind, Role, ScalarType, Value};
use proptest::collection::vec;
use proptest::prelude::*;

type Pass = fn(Kernel) -> Kernel;

/// Deterministic elements with a few special ones among them.
fn elements(ty: ScalarType, length: usize) -> Data {
    let number = |position: usize| (position as f64 * 0.7 - 3.0) * if position.is_multiple_of(3) { -1.0 } else { 1.0 };
    match ty {
        ScalarType::I32 => Data::I32((0..length).map(|position| number(position) as i32).collect()),
        ScalarType::F32 => Data::F32((0..length).map(|position| number(position) as f32).collect()),
        _ => Data::F64((0..length).map(|position| if position == 5 { -0.0 } else { number(position) }).collect()),
    }
}

/// The arguments of a random kernel, as far as it has arrays for them.
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

/// What the kernel leaves in its arguments, by name.
fn results(kernel: Kernel, n: i64) -> Result<Vec<(String, Option<Data>)>, Error> {
    let mut env = arguments(&kernel, n);
    let kernel = verify(kernel).expect("the pass kept the kernel valid");
    run_loops(&kernel, &mut env)?;
    let arguments = kernel.arrays.iter().zip(env.arrays).filter(|(decl, _)| decl.role != Role::Local);
    Ok(arguments.map(|(decl, data)| (decl.name.clone(), data)).collect())
}

/// The kernel with a value in every cell of its local arrays from the start; without one, floats are not numbers.
fn filled(mut kernel: Kernel, fill: Option<i64>) -> Kernel {
    let mut stores = Vec::new();
    for (number, decl) in kernel.arrays.iter().enumerate().filter(|(_, decl)| decl.role == Role::Local) {
        let first = kernel.vars.len() as u32;
        let vars: Vec<VarId> = (first..first + decl.shape.len() as u32).map(VarId).collect();
        kernel.vars.extend(vars.iter().map(|var| format!("fill{}", var.0)));
        let index = vars.iter().copied().map(Index::Var).collect();
        let value = match (fill, decl.ty) {
            (None, ScalarType::F32) => Value::F32(f32::NAN),
            (None, ScalarType::F64) => Value::F64(f64::NAN),
            (fill, ty) => Value::from_i64(ty, fill.unwrap_or(-3)),
        };
        let value = Expr::constant(value);
        let store = Stmt::Store { array: ArrayId(number as u32), index, value };
        let nest = vars.into_iter().zip(&decl.shape).rev().fold(store, |body, (var, extent)| {
            let (lo, hi) = (Index::Const(0), extent.clone());
            Stmt::For(For { var, kind: LoopKind::Serial, lo, hi, step: 1, body: vec![body] })
        });
        stores.push(nest);
    }
    kernel.body.splice(0..0, stores);
    kernel
}

/// What is in a local array before something is stored there is undefined, and so is what a kernel makes of it.
fn is_defined(kernel: &Kernel, n: i64) -> bool {
    // Two values can make the same of a kernel, as 1 and 2 do of `2 % q`, and all numbers of `0 * q`, but for the sign.
    let fills = [Some(0), Some(1), Some(2), Some(7), Some(-3), None];
    let [first, others @ ..] = fills.map(|fill| results(filled(kernel.clone(), fill), n));
    others.iter().all(|other| *other == first)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn passes_preserve_results_bit_for_bit(bytes in vec(any::<u8>(), 0..300), n in 0..6i64) {
        let kernel = generate::kernel(&bytes);
        if !is_defined(&kernel, n) {
            return Ok(());
        }
        let expected = results(kernel.clone(), n);
        let in_bounds = !matches!(expected, Err(Error::OutOfBounds { .. } | Error::IndexOverflow { .. }));
        prop_assert!(in_bounds, "{:?} in\n{}", expected, kernel);
        let passes: [(&str, Pass); 7] = [
            ("simplify", simplify),
            ("rebase", |kernel| rebase(simplify(kernel))),
            ("narrow", |kernel| narrow(simplify(kernel))),
            ("contract", |kernel| contract(simplify(kernel))),
            ("promote", |kernel| promote(simplify(kernel))),
            ("optimize", optimize),
            ("hoist", |kernel| hoist(optimize(kernel))),
        ];
        for (name, pass) in passes {
            let changed = pass(kernel.clone());
            let text = format!("{kernel}after {name}\n{changed}");
            prop_assert_eq!(results(changed, n), expected.clone(), "{} changes the result of\n{}", name, text);
        }
    }
}

#[test]
fn loops_compute_what_they_say() {
    let kernel = parse(
        "kernel f(N; alpha: f64; x: in f64[N], y: out f64[N], s: inout i32[]) {
            array half: f64[floor(N / 2)]
            local t: f64
            t = alpha
            for c0 in 0..N by 2 {
                half[min(floor(c0 / 2), floor(N / 2) - 1)] = x[c0]
                t = t * x[c0]
                if c0 mod 4 == 0 and not c0 > 3 {
                    y[c0] = t
                } else {
                    y[select(c0 < N, c0, 99)] = f64(index(N - c0))
                }
                s[] = s[] * 3 + i32(c0)
            }
            y[1] = half[0]
        }",
    )
    .expect("well-formed");
    let kernel = verify(kernel).expect("valid");
    let mut env = Env {
        params: vec![5],
        scalars: vec![Value::F64(2.0)],
        arrays: vec![Some(vec![3.0, 0.0, 4.0, 0.0, 5.0].into()), None, Some(vec![1i32].into()), None],
    };
    assert_eq!(run_loops(&kernel, &mut env), Ok(()));
    assert_eq!(env.arrays[1], Some(vec![6.0, 3.0, 3.0, 0.0, 1.0].into()));
    assert_eq!(env.arrays[2], Some(vec![(3 * 3 + 2) * 3 + 4].into()));
    assert_eq!(env.arrays[3], None);
}

#[test]
fn failures_are_typed_errors() {
    let run = |body: &str| {
        let text = format!("kernel f(N; x: out i64[N]) {{ {body} }}");
        let kernel = verify(parse(&text).expect(body)).expect(body);
        run_loops(&kernel, &mut Env { params: vec![3], scalars: Vec::new(), arrays: vec![None] })
    };
    assert_eq!(run("x[0] = 1 / x[1]"), Err(Error::Fault(Fault::new(FaultKind::DivisionByZero, None))));
    assert!(matches!(run("x[N] = 1"), Err(Error::OutOfBounds { .. })));
    assert!(matches!(run("x[-1] = 1"), Err(Error::OutOfBounds { .. })));
    assert_eq!(run("x[9223372036854775807 + N] = 1"), Err(Error::IndexOverflow { span: None }));
    assert_eq!(run("x[select(N > 9, 9223372036854775807 + N, 0)] = 1"), Ok(()));
}
