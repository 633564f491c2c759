//! Small array programs, built by hand.

extern crate farkas_interp as interp;

use diag::Span;
use interp::{Env, Error, run_program};
use program::{
    Affine, ArgRef, Array, ArrayId, Assign, BinaryOp, Bound, Cond, Data, Expr, ExprKind, Fault, FaultKind, For,
    Function, Iter, IterId, Node, Param, ParamId, ReduceOp, Requirement, Role, Scalar, ScalarType, Value,
};

fn iter(number: u32) -> Affine {
    Affine::iter(IterId(number))
}

fn param(number: u32) -> Affine {
    Affine::param(ParamId(number))
}

fn plus(affine: Affine, constant: i64) -> Affine {
    affine.add(&Affine::constant(constant)).expect("small")
}

fn bound(number: u32, lo: Affine, hi: Affine) -> Bound {
    Bound { iter: IterId(number), lo, hi }
}

fn expr(kind: ExprKind, ty: ScalarType) -> Expr {
    Expr { kind, ty, span: Span::new(10, 20) }
}

fn load(array: u32, index: Vec<Affine>, ty: ScalarType) -> Expr {
    expr(ExprKind::Load { array: ArrayId(array), index }, ty)
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let ty = if op.is_comparison() { ScalarType::Bool } else { left.ty };
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty)
}

fn assign(foralls: Vec<Bound>, guard: Cond, target: u32, index: Vec<Affine>, value: Expr) -> Node {
    let span = Span::default();
    let target = ArrayId(target);
    Node::Assign(Assign { name: "S0".to_owned(), foralls, guard, target, index, target_span: span, value, span })
}

fn function(params: u32, arrays: Vec<(ScalarType, Vec<Affine>, Role)>, iters: u32, body: Vec<Node>) -> Function {
    let span = Span::default();
    let arrays = arrays.into_iter().enumerate().map(|(number, (ty, shape, role))| {
        let name = format!("a{number}");
        Array { name, ty, shape, role, span }
    });
    let arrays: Vec<Array> = arrays.collect();
    Function {
        name: "f".to_owned(),
        span,
        params: (0..params).map(|number| Param { name: format!("N{number}"), span, derived: None }).collect(),
        context: Vec::new(),
        scalars: Vec::new(),
        signature: (0..arrays.len() as u32).map(|number| ArgRef::Array(ArrayId(number))).collect(),
        arrays,
        iters: (0..iters).map(|number| Iter { name: format!("i{number}"), span, made_up: false }).collect(),
        counters: Vec::new(),
        body,
        calls: Vec::new(),
        outside: Vec::new(),
        layouts: Vec::new(),
        stored: Vec::new(),
    }
}

fn env(params: &[i64], arrays: Vec<Option<Data>>) -> Env {
    Env { params: params.to_vec(), scalars: Vec::new(), arrays }
}

const F64: ScalarType = ScalarType::F64;
const I64: ScalarType = ScalarType::I64;

/// `C[i, j] = sum[k] A[i, k] * B[k, j]`, all N by N.
fn matmul() -> Function {
    let square = || vec![param(0), param(0)];
    let all = |number| bound(number, Affine::constant(0), param(0));
    let product = binary(BinaryOp::Mul, load(0, vec![iter(0), iter(2)], F64), load(1, vec![iter(2), iter(1)], F64));
    let sum = ExprKind::Reduce { op: ReduceOp::Sum, bounds: vec![all(2)], guard: Cond::TRUE, body: Box::new(product) };
    let node = assign(vec![all(0), all(1)], Cond::TRUE, 2, vec![iter(0), iter(1)], expr(sum, F64));
    let arrays = vec![(F64, square(), Role::In), (F64, square(), Role::In), (F64, square(), Role::Out)];
    function(1, arrays, 3, vec![node])
}

#[test]
fn matmul_of_two_by_two() {
    let a = Data::F64(vec![1.0, 2.0, 3.0, 4.0]);
    let b = Data::F64(vec![5.0, 6.0, 7.0, 8.0]);
    let mut env = env(&[2], vec![Some(a), Some(b), None]);
    assert_eq!(run_program(&matmul(), &mut env), Ok(()));
    assert_eq!(env.arrays[2], Some(Data::F64(vec![19.0, 22.0, 43.0, 50.0])));
}

/// Verification runs this at 512; here only that the interpreter is not absurdly slow.
#[test]
fn matmul_of_some_size_is_right() {
    let n = 48usize;
    let a: Vec<f64> = (0..n * n).map(|x| (x % 7) as f64).collect();
    let b: Vec<f64> = (0..n * n).map(|x| (x % 5) as f64).collect();
    let mut expected = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            expected[i * n + j] = (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum::<f64>();
        }
    }
    let mut env = env(&[n as i64], vec![Some(a.into()), Some(b.into()), None]);
    assert_eq!(run_program(&matmul(), &mut env), Ok(()));
    assert_eq!(env.arrays[2], Some(expected.into()));
}

/// A `for` that appends its values to an array shows the order.
fn visited(lo: i64, hi: i64, step: i64, rev: bool) -> Vec<i64> {
    // a0[a1[]] cannot be written, so each visit shifts the record by a digit.
    let shifted = binary(BinaryOp::Mul, load(0, Vec::new(), I64), expr(ExprKind::Const(Value::I64(10)), I64));
    let value = binary(BinaryOp::Add, shifted, expr(ExprKind::Index(iter(0)), I64));
    let node = Node::For(For {
        bound: bound(0, Affine::constant(lo), Affine::constant(hi)),
        step,
        rev,
        body: vec![assign(Vec::new(), Cond::TRUE, 0, Vec::new(), value)],
        span: Span::default(),
    });
    let function = function(0, vec![(I64, Vec::new(), Role::InOut)], 1, vec![node]);
    let mut env = env(&[], vec![Some(Data::I64(vec![0]))]);
    assert_eq!(run_program(&function, &mut env), Ok(()));
    let Some(Data::I64(record)) = &env.arrays[0] else { return Vec::new() };
    let mut record = record[0];
    let mut digits = Vec::new();
    while record > 0 {
        digits.insert(0, record % 10);
        record /= 10;
    }
    digits
}

#[test]
fn for_visits_its_values_in_order() {
    assert_eq!(visited(1, 5, 1, false), [1, 2, 3, 4]);
    assert_eq!(visited(1, 5, 1, true), [4, 3, 2, 1]);
    assert_eq!(visited(1, 6, 2, false), [1, 3, 5]);
    assert_eq!(visited(1, 7, 2, false), [1, 3, 5]);
    assert_eq!(visited(1, 7, 2, true), [5, 3, 1]);
    assert_eq!(visited(1, 7, -1, false), [6, 5, 4, 3, 2, 1]);
    assert_eq!(visited(1, 7, -2, false), [6, 4, 2]);
    assert_eq!(visited(1, 7, -2, true), [2, 4, 6]);
    assert_eq!(visited(3, 3, 1, false), [0i64; 0]);
    assert_eq!(visited(3, 1, -1, false), [0i64; 0]);
    assert_eq!(visited(1, 3, i64::MAX, false), [1]);
    assert_eq!(visited(1, 3, i64::MIN, false), [2]);
}

#[test]
fn guards_limit_foralls_and_reductions() {
    // a0[i | i >= 1] = sum[k: 0..N | k < i] k
    let below = |a: Affine, b: Affine| Cond::NonNegative(plus(b.sub(&a).expect("small"), -1));
    let sum = ExprKind::Reduce {
        op: ReduceOp::Sum,
        bounds: vec![bound(1, Affine::constant(0), param(0))],
        guard: below(iter(1), iter(0)),
        body: Box::new(expr(ExprKind::Index(iter(1)), I64)),
    };
    let all = bound(0, Affine::constant(0), param(0));
    let node = assign(vec![all], Cond::NonNegative(plus(iter(0), -1)), 0, vec![iter(0)], expr(sum, I64));
    let function = function(1, vec![(I64, vec![param(0)], Role::InOut)], 2, vec![node]);
    let mut env = env(&[4], vec![Some(Data::I64(vec![-9; 4]))]);
    assert_eq!(run_program(&function, &mut env), Ok(()));
    assert_eq!(env.arrays[0], Some(Data::I64(vec![-9, 0, 1, 3])));
}

#[test]
fn an_empty_reduction_is_the_neutral_element() {
    for (op, ty, expected) in [
        (ReduceOp::Sum, F64, Data::F64(vec![0.0])),
        (ReduceOp::Prod, F64, Data::F64(vec![1.0])),
        (ReduceOp::Max, ScalarType::I32, Data::I32(vec![i32::MIN])),
        (ReduceOp::Min, ScalarType::F32, Data::F32(vec![f32::INFINITY])),
        (ReduceOp::All, ScalarType::Bool, Data::Bool(vec![true])),
        (ReduceOp::Any, ScalarType::Bool, Data::Bool(vec![false])),
    ] {
        let body = Box::new(load(0, vec![iter(0)], ty));
        let bounds = vec![bound(0, Affine::constant(0), param(0))];
        let reduce = expr(ExprKind::Reduce { op, bounds, guard: Cond::TRUE, body }, ty);
        let node = assign(Vec::new(), Cond::TRUE, 1, Vec::new(), reduce);
        let arrays = vec![(ty, vec![param(0)], Role::In), (ty, Vec::new(), Role::Out)];
        let mut env = env(&[0], vec![Data::zeros(ty, 0), None]);
        assert_eq!(run_program(&function(1, arrays, 1, vec![node]), &mut env), Ok(()));
        assert_eq!(env.arrays[1], Some(expected));
    }
}

#[test]
fn only_the_chosen_branch_is_evaluated() {
    let int = |value| expr(ExprKind::Const(Value::I64(value)), I64);
    let fails = binary(BinaryOp::Div, int(1), int(0));
    let zero = Error::Fault(Fault::new(FaultKind::DivisionByZero, Some(Span::new(10, 20))));
    for (chosen, expected) in [(true, Ok(())), (false, Err(zero))] {
        let select = ExprKind::Select {
            cond: Box::new(expr(ExprKind::Const(Value::Bool(chosen)), ScalarType::Bool)),
            affine: None,
            then: Box::new(int(7)),
            otherwise: Box::new(fails.clone()),
        };
        let node = assign(Vec::new(), Cond::TRUE, 0, Vec::new(), expr(select, I64));
        let mut env = env(&[], vec![None]);
        assert_eq!(run_program(&function(0, vec![(I64, Vec::new(), Role::Out)], 0, vec![node]), &mut env), expected);
    }
}

#[test]
fn wrong_accesses_are_typed_errors() {
    let run = |index: Affine, n: i64| {
        let value = expr(ExprKind::Const(Value::I64(1)), I64);
        let node = assign(vec![bound(0, Affine::constant(0), param(0))], Cond::TRUE, 0, vec![index], value);
        let function = function(1, vec![(I64, vec![Affine::constant(4)], Role::Out)], 1, vec![node]);
        run_program(&function, &mut env(&[n], vec![None]))
    };
    let outside = |index| Error::OutOfBounds {
        array: "a0".to_owned(),
        index: vec![index],
        shape: vec![4],
        span: Some(Span::default()),
    };
    assert_eq!(run(iter(0), 4), Ok(()));
    assert_eq!(run(iter(0), 5), Err(outside(4)));
    assert_eq!(run(plus(iter(0), -1), 1), Err(outside(-1)));
    assert_eq!(run(iter(0).div(2).expect("small"), 8), Ok(()));
    assert_eq!(run(iter(0).div(2).expect("small"), 9), Err(outside(4)));
    let huge = iter(0).scale(i64::MAX).expect("fits");
    assert_eq!(run(huge, 3), Err(outside(i64::MAX)));
    let huge = iter(0).scale(i64::MAX).and_then(|huge| huge.add(&Affine::constant(1))).expect("fits");
    assert_eq!(run(plus(huge.clone(), -1), 1), Ok(()));
    assert_eq!(run(huge, 3), Err(Error::IndexOverflow { span: Some(Span::default()) }));
}

#[test]
fn arguments_are_checked_before_anything_runs() {
    let mut function = matmul();
    function.scalars = vec![Scalar { name: "alpha".to_owned(), ty: F64, span: Span::default() }];
    function.context =
        vec![Requirement { cond: Cond::NonNegative(plus(param(0), -1)), text: "N >= 1".into(), span: Span::new(3, 4) }];
    let good = Env {
        params: vec![1],
        scalars: vec![Value::F64(0.0)],
        arrays: vec![Some(Data::F64(vec![1.0])), Some(Data::F64(vec![2.0])), None],
    };
    let run = |change: &dyn Fn(&mut Env)| {
        let mut env = good.clone();
        change(&mut env);
        let before = env.clone();
        let error = run_program(&function, &mut env).map_err(|error| error.to_string());
        if error.is_err() {
            assert_eq!(env, before, "nothing is lost");
        }
        error.err().unwrap_or_default()
    };
    assert_eq!(run(&|_| {}), "");
    assert_eq!(run(&|env| env.params.clear()), "expected 1 parameters, found 0");
    assert_eq!(run(&|env| env.params = vec![-1]), "parameter `N0` is -1, which is negative");
    assert_eq!(run(&|env| env.params = vec![0]), "the parameters do not satisfy the `where` clause");
    assert_eq!(run(&|env| env.scalars[0] = Value::F32(0.0)), "scalar `alpha` is f64, the argument is f32");
    assert_eq!(run(&|env| env.arrays[0] = None), "array `a0` needs an argument");
    assert_eq!(run(&|env| env.arrays.truncate(1)), "expected 3 arrays, found 1");
    assert_eq!(
        run(&|env| env.arrays[1] = Some(Data::F32(vec![1.0]))),
        "array `a1` has elements of type f64, the argument has f32"
    );
    assert_eq!(run(&|env| env.arrays[2] = Some(Data::F64(vec![]))), "array `a2` has 1 elements, the argument has 0");
    assert_eq!(
        run(&|env| env.params = vec![i64::MAX]),
        format!("array `a0` has the shape [{0}, {0}], which is negative or too large", i64::MAX)
    );
}

#[test]
fn malformed_functions_are_errors() {
    let mut wrong_iter = matmul();
    wrong_iter.iters.clear();
    let mut wrong_array = matmul();
    wrong_array.arrays.truncate(2);
    for (function, arrays) in [(wrong_iter, 3), (wrong_array, 2)] {
        let mut arguments = vec![Some(Data::F64(vec![1.0])); arrays];
        arguments.truncate(arrays);
        let result = run_program(&function, &mut env(&[1], arguments));
        assert!(matches!(result, Err(Error::Malformed { .. })), "{result:?}");
    }
}
