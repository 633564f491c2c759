//! What the verifier refuses, and what it says.

extern crate farkas_loops as loops;

use loops::{ArrayId, Expr, ExprKind, Index, Kernel, LocalId, ParamId, ScalarId, Stmt, parse, verify};
use program::{ScalarType, Value};

fn message(kernel: Kernel) -> String {
    verify(kernel).expect_err("the kernel is wrong").to_string()
}

#[test]
fn refused_kernels() {
    let cases = [
        ("a[N] = 1.0", "subscripts of `a`: 1 subscripts for an array of rank 2"),
        ("b[0] = 1.0", "kernel f, store to `b`: an input is written"),
        ("a[0, 0] = 1i32", "store to `a`: the cell is f64, the value i32"),
        ("t = x", "assignment to `t`: the local is f64, the value f32"),
        ("a[0, 0] = t", "store to `a`: local `t` may be read before it is set"),
        ("for i in 0..N { t = 1.0 } a[0, 0] = t", "may be read before"),
        ("if N > 2 { t = 1.0 } a[0, 0] = t", "may be read before"),
        ("for i in 0..N { a[i, 0] = t t = 1.0 }", "for i, store to `a`: local `t`"),
        ("t = 0.0 parallel for i in 0..N { t = t + 1.0 }", "for i, assignment to `t`: local `t` may be read"),
        ("t = 0.0 parallel for i in 0..N { t = 1.0 } a[0, 0] = t", "may be read before"),
        ("t = 0.0 for i in 0..N { a[i, 0] = t parallel for j in 0..N { t = 1.0 } }", "may be read before"),
        ("t = 0.0 for i in 0..N { parallel for j in 0..N { t = 1.0 } } a[0, 0] = t", "may be read before"),
        ("for i in 0..N by 0 { a[i, 0] = 1.0 }", "for i: the step is 0"),
        ("vector(0) for i in 0..N { a[i, 0] = 1.0 }", "no lanes"),
        ("a[0, 0 mod 0] = 1.0", "the divisor is 0"),
        ("a[0, floor(N / -2)] = 1.0", "the divisor is -2"),
        ("a[0, 0] = not 1.0", "`not` does not apply to f64"),
        ("a[0, 0] = f64(true % false)", "`%` does not apply to bool"),
        ("a[0, 0] = 1.0 + x", "the operands of `+` are f64 and f32"),
        ("a[0, 0] = f64(sqrt(1i32))", "`sqrt` does not apply to i32"),
        ("a[0, 0] = f64(pow(1i32, 2))", "`pow` does not apply to i32"),
        ("a[0, 0] = f64(true + false)", "`+` does not apply to bool"),
        ("a[0, 0] = select(1, 1.0, 2.0)", "`select` decides by a value of type i64"),
        ("a[0, 0] = select(true, 1.0, x)", "the branches of `select` are f64 and f32"),
    ];
    refuse(&cases);
}

#[test]
fn refused_concurrency() {
    let same = "store to `a`: all iterations of the parallel loop over `i` write the same cell";
    let cases = [
        ("parallel for i in 0..N { a[0, 0] = 1.0 }", same),
        ("for j in 0..N { parallel for i in 0..N { a[j, 0] = 1.0 } }", same),
        ("parallel for i in 0..N { for j in 0..N { a[j, 0] = 1.0 } }", same),
        (
            "parallel for i in 0..N { for j in 0..N { a[j, 0] += 1.0 } }",
            "update of `a`: all iterations of the parallel",
        ),
        ("parallel for i in 0..N { scatter(a, 0, i64(f64(b[i]))) += 1.0 }", same),
        ("parallel for i in 0..N reducing a by + { a[0, 0] max= 1.0 }", "touched otherwise than `reducing` says"),
        ("parallel for i in 0..N reducing a by + { a[i, 0] = 1.0 }", "touched otherwise than `reducing` says"),
        ("parallel for i in 0..N reducing a by + { t = a[0, 0] }", "load of `a`: the array is touched otherwise"),
        ("parallel for i in 0..N reducing a by and { a[0, 0] += 1.0 }", "`a` of f64 is no reduction by `and`"),
        ("t = 0.0 parallel for i in 0..N { t += 1.0 }", "update of `t`: local `t` may be read before it is set"),
        ("parallel for i in 0..N private a { a[0, 0] = 1.0 }", "`a` is an argument"),
        ("parallel for i in 0..N private p { p[0] = 1.0 } a[0, 0] = p[0]", "load of `p`: the array is used outside"),
        ("parallel for i in 0..N private p, p { p[0] = 1.0 }", "`p` is there already"),
        ("alloc p in scratch { alloc p in scratch { p[0] = 1.0 } }", "alloc of `p`: `p` is there already"),
        ("alloc p in shared { parallel for i in 0..N { p[0] = 1.0 } }", "store to `p`: all iterations"),
        ("alloc p in scratch { } p[0] = 1.0", "store to `p`: the array is used outside its scope"),
        ("alloc q in registers { q[0] = 1.0 }", "an array in registers has no constant shape"),
        ("alloc p in registers { for i in 0..4 { p[i] = 1.0 } }", "a cell in registers is not known"),
        ("vector(4) for i in 0..4 { a[0, 0] = 1.0 }", "all lanes of the vector loop over `i` write the same cell"),
        ("vector(4) for i in 0..4 { for j in 0..i { a[i, j] = 1.0 } }", "the lanes of a vector loop would part"),
        (
            "vector(4) for i in 0..4 { parallel for j in 0..N { a[i, j] = 1.0 } }",
            "the lanes of a vector loop would part",
        ),
        (
            "vector(4) for i in 0..4 { vector(4) for j in 0..4 { a[i, j] = 1.0 } }",
            "the lanes of a vector loop would part",
        ),
        ("t = 0.0 vector(4) for i in 0..4 { t = 1.0 } a[0, 0] = t", "may be read before"),
        ("t = 0.0 vector(4) for i in 0..4 { t += 1.0 a[i, 0] = t }", "lanes read `t`, to which all of them add"),
        ("barrier", "barrier: there is no parallel loop around it"),
        ("for i in 0..N { barrier }", "there is no parallel loop around it"),
        ("parallel for i in 0..N { if i < 3 { barrier } }", "not all iterations of the parallel loop get there"),
        ("parallel for i in 0..N { for j in 0..i { barrier } }", "not all iterations"),
        ("a[0, 0] and= true", "the target is f64, the value bool"),
    ];
    refuse(&cases);
}

fn refuse(cases: &[(&str, &str)]) {
    for (body, expected) in cases {
        let text = format!(
            "kernel f(N; x: f32; a: out f64[N, N], b: in f64[N]) {{ array p: f64[4] array q: f64[N] local t: f64 {body} }}"
        );
        let found = message(parse(&text).expect(body));
        assert!(found.contains(expected), "{body}: {found}");
        assert!(found.contains("stage `loops`"), "{found}");
    }
}

#[test]
fn accepted_kernels() {
    for body in [
        "t = 0.0 for i in 0..N { t = t + 1.0 } a[0] = t",
        "if N > 2 { t = 1.0 } else { t = 2.0 } a[0] = t",
        "t = 2.0 parallel for i in 0..N { a[i] = t }",
        "parallel for i in 0..N { t = 2.0 a[i] = t }",
        "parallel for i in 0..N { for j in i..i + 1 { a[j] = 1.0 } }",
        "parallel for i in 0..N { if i == 3 { a[0] = 1.0 } }",
        "parallel for i in max(0, N - 1)..N { a[N - 1] = 1.0 }",
        "parallel for i in 0..N reducing a by + { a[0] += 1.0 for j in 0..N { a[j] += 2.0 } }",
        "parallel for i in 0..N private p { p[0] = 1.0 a[i] = p[0] }",
        "parallel for i in 0..N { alloc p in scratch { p[0] = 1.0 a[i] = p[0] } }",
        "parallel for i in 0..N { for j in 0..N { barrier } a[i] = 1.0 }",
        "alloc p in registers { unroll for i in 0..4 { p[i] = 1.0 } }",
        "vector(4) for i in 0..4 { for j in 0..N { a[i] = 1.0 } if i < N { a[i] = 2.0 } }",
        "t = 0.0 vector(4) for i in 0..4 { t += 1.0 } a[0] = t",
        "vector(4) for i in 0..4 { t = 0.0 for j in 0..N { t += 1.0 } a[i] = t }",
        "vector(4) for i in 0..4 { a[0] += 1.0 }",
        "a[0] = select(true == false, 1.0, f64(max(true, false)))",
    ] {
        let text = format!("kernel f(N; a: out f64[N]) {{ array p: f64[4] local t: f64 {body} }}");
        assert!(verify(parse(&text).expect(body)).is_ok(), "{body}");
    }
}

/// Mistakes that the text form cannot express.
#[test]
fn wrong_ids_and_types() {
    let base = parse("kernel f(N; a: out f64[N]) { for i in 0..N { a[i] = 1.0 } for j in 0..N { } }").expect("fine");
    let with = |value: Expr| Kernel {
        body: vec![Stmt::Store { array: ArrayId(0), index: vec![Index::Const(0)], value }],
        ..base.clone()
    };
    let kind = |kind| with(Expr { kind, ty: ScalarType::F64 });
    assert!(message(kind(ExprKind::Local(LocalId(0)))).contains("there is no local 0"));
    assert!(message(kind(ExprKind::Scalar(ScalarId(3)))).contains("there is no scalar 3"));
    assert!(message(kind(ExprKind::Index(Index::Const(1)))).contains("type i64 says that it is f64"));
    assert!(message(kind(ExprKind::Const(Value::Bool(true)))).contains("type bool says that it is f64"));
    assert!(message(kind(ExprKind::Load { array: ArrayId(9), index: Vec::new() })).contains("there is no array 9"));

    let mut twice = base.clone();
    if let [Stmt::For(first), Stmt::For(second)] = twice.body.as_mut_slice() {
        second.var = first.var;
    }
    assert!(message(twice).contains("for i: the variable is bound by another loop"));

    let mut outside = base.clone();
    if let [Stmt::For(first), Stmt::For(second)] = outside.body.as_mut_slice() {
        second.hi = Index::Var(first.var);
    }
    assert!(message(outside).contains("for j: loop variable `i` is used outside its loop"));

    let mut shape = base.clone();
    shape.arrays[0].shape = vec![Index::Param(ParamId(4))];
    assert!(message(shape).contains("shape of `a`: there is no parameter 4"));

    let mut shape = base;
    shape.arrays[0].shape = vec![Index::Var(loops::VarId(0))];
    assert!(message(shape).contains("shape of `a`: loop variable `i` is used outside"));
}
