//! What data decides while kernels run: cells, how often loops run, divisors. Results are the interpreter's, bit for bit, and so
//! are faults.
#![forbid(unsafe_code)]
#![expect(clippy::panic, reason = "a test fails by panicking")]

use farkas_ptx::emulate::Options;
use farkas_ptx::ir::Target;
use farkas_ptx::{RunError, emit};
use interp::{Env, run_loops};
use loops::{Verified, parse, verify};
use program::{Data, Fault, Role};

fn verified(text: &str) -> Verified {
    let kernel = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(kernel).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a kernel both ways: the arrays afterwards that are not local, or the fault, which both must agree on.
fn run(text: &str, params: &[i64], arrays: &[Option<Data>]) -> Result<Vec<Option<Data>>, Fault> {
    let kernel = verified(text);
    let env = || Env { params: params.to_vec(), scalars: Vec::new(), arrays: arrays.to_vec() };
    let mut expected = env();
    let expected = run_loops(&kernel, &mut expected).map(|()| expected.arrays);
    let mut last = None;
    for (sm, seed) in [(70, 1), (80, 2), (90, 3)] {
        let program = emit(&kernel, Target::sm(sm)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut found = env();
        let options = Options { seed, host_threads: 2, budget: 50_000_000 };
        let outcome = program.emulate(&found.params, &found.scalars, &mut found.arrays, &options);
        last = Some(match (outcome, &expected) {
            (Ok(_), Ok(expected)) => {
                for (declared, (found, expected)) in kernel.arrays.iter().zip(found.arrays.iter().zip(expected)) {
                    let same = declared.role == Role::Local || found.as_ref().map(bits) == expected.as_ref().map(bits);
                    assert!(same, "`{}` is {found:?}, not {expected:?}\n{}", declared.name, program.module.text());
                }
                Ok(found.arrays)
            }
            (Err(RunError::Data(fault)), Err(interp::Error::Fault(expected))) => {
                assert_eq!((&fault.kind, fault.span), (&expected.kind, expected.span), "{text}");
                Err(fault)
            }
            (outcome, expected) => panic!("{outcome:?}, not {expected:?}\n{text}\n{}", program.module.text()),
        });
    }
    last.expect("there are targets")
}

/// What is compared: the bits of floats, but one NaN is as good as another.
fn bits(data: &Data) -> Vec<u64> {
    match data {
        Data::F64(all) => all.iter().map(|x| if x.is_nan() { f64::NAN } else { *x }.to_bits()).collect(),
        Data::F32(all) => all.iter().map(|x| u64::from(if x.is_nan() { f32::NAN } else { *x }.to_bits())).collect(),
        Data::I64(all) => all.iter().map(|x| x.cast_unsigned()).collect(),
        Data::I32(all) => all.iter().map(|x| i64::from(*x).cast_unsigned()).collect(),
        Data::I8(all) => all.iter().map(|x| i64::from(*x).cast_unsigned()).collect(),
        Data::U32(all) => all.iter().map(|x| u64::from(*x)).collect(),
        Data::U64(all) => all.clone(),
        Data::Bool(all) => all.iter().map(|x| u64::from(*x)).collect(),
        other => panic!("no bits of {other:?}"),
    }
}

fn message(outcome: Result<Vec<Option<Data>>, Fault>) -> String {
    outcome.expect_err("the data is at fault").to_string()
}

const GATHER: &str = "kernel f(N, M; p: in i64[N], q: in i32[N], x: in f32[M, 3], b: in bool[M], y: out f32[N]) {
    parallel for i in 0..N {
        y[i] = select(gather(b, p[i]@1..5), gather(x, p[i], i64(q[i]))@7..9, 0.5)
    }
}
";

#[test]
fn cells_that_depend_on_data_are_read_and_checked() {
    let x = Data::F32((0..12).map(|at| at as f32 - 2.5).collect());
    let b = Data::Bool(vec![true, false, true, true]);
    let args =
        |p: Vec<i64>, q: Vec<i32>| [Some(Data::I64(p)), Some(Data::I32(q)), Some(x.clone()), Some(b.clone()), None];
    assert!(
        run(GATHER, &[5, 4], &args(vec![3, 0, 1, 2, 3], vec![2, 0, 9, 1, 0])).is_ok(),
        "a cell that is not asked for"
    );
    assert_eq!(message(run(GATHER, &[1, 4], &args(vec![4], vec![0]))), "index 4 is outside `b`, which has extent 4");
    assert_eq!(message(run(GATHER, &[1, 4], &args(vec![-1], vec![0]))), "index -1 is outside `b`, which has extent 4");
    let outside = message(run(GATHER, &[1, 4], &args(vec![2], vec![3])));
    assert_eq!(outside, "index 3 is outside dimension 2 of `x`, which has extent 3");
    // One of many threads.
    let mut p = vec![1; 300];
    p[177] = i64::MAX;
    let outside = message(run(GATHER, &[300, 4], &args(p, vec![0; 300])));
    assert_eq!(outside, format!("index {} is outside `b`, which has extent 4", i64::MAX));
}

#[test]
fn arrays_without_cells_are_not_touched() {
    let text = "kernel f(N, M; p: in i64[N], x: in f64[M], y: out f64[N]) {
    parallel for i in 0..N {
        y[i] = gather(x, p[i])
    }
}
";
    let args = |p: Vec<i64>| [Some(Data::I64(p)), Some(Data::F64(Vec::new())), None];
    assert!(run(text, &[0, 0], &args(Vec::new())).is_ok());
    assert_eq!(message(run(text, &[1, 0], &args(vec![0]))), "index 0 is outside `x`, which is empty");
}

#[test]
fn cells_that_depend_on_data_are_updated_in_order() {
    let histogram = "kernel f(N, M; p: in i64[N], h: inout i32[M], last: inout f64[M], seen: inout bool[M]) {
    for i in 0..N {
        scatter(h, p[i])@3..4 += 1
        scatter(last, p[i]) last= f64(i)
        scatter(seen, p[i]) or= true
    }
}
";
    let args = |p: Vec<i64>| {
        [
            Some(Data::I64(p)),
            Some(Data::I32(vec![5, 0, -1])),
            Some(Data::F64(vec![0.0, -1.0, 7.0])),
            Some(Data::Bool(vec![false; 3])),
        ]
    };
    assert!(run(histogram, &[6, 3], &args(vec![0, 2, 2, 0, 1, 2])).is_ok());
    assert!(run(histogram, &[2, 3], &args(vec![2, 2])).is_ok());
    let outside = message(run(histogram, &[3, 3], &args(vec![0, 3, -5])));
    assert_eq!(outside, "index 3 is outside `h`, which has extent 3", "the first one in the order of the loop");
    let claims = "kernel f(N, M; p: in i64[N], owner: inout i64[M]) {
    for i in 0..N {
        scatter(owner, p[i])@3..4 once= i
    }
}
";
    let args = |p: Vec<i64>| [Some(Data::I64(p)), Some(Data::I64(vec![i64::MIN; 4]))];
    assert!(run(claims, &[3, 4], &args(vec![3, 0, 2])).is_ok());
    assert!(run(claims, &[3, 4], &args(vec![3, 0, 3])).is_err(), "two of them want the last cell");
}

const ROWS: &str = "kernel f(N, K; start: in i64[N], end: in i64[N], v: in f64[K], y: out f64[N]) {
    local k: i64
    local s: f64
    parallel for i in 0..N {
        s = 0.0
        count k in start[i]..end[i] forwards at @2..6 {
            s = s + gather(v, k)
        }
        y[i] = s
    }
}
";

#[test]
fn loops_run_as_often_as_data_says() {
    let v = Data::F64((0..9).map(|at| 0.25 * f64::from(at)).collect());
    let args = |start: Vec<i64>, end: Vec<i64>| [Some(Data::I64(start)), Some(Data::I64(end)), Some(v.clone()), None];
    assert!(run(ROWS, &[4, 9], &args(vec![0, 3, 3, 8], vec![3, 3, 8, 9])).is_ok());
    assert!(run(ROWS, &[0, 9], &args(Vec::new(), Vec::new())).is_ok());
    let backwards = message(run(ROWS, &[2, 9], &args(vec![0, 5], vec![2, 3])));
    assert!(backwards.contains('2'), "{backwards}");
    assert_eq!(message(run(ROWS, &[1, 9], &args(vec![7], vec![10]))), "index 9 is outside `v`, which has extent 9");
}

#[test]
fn steps_and_ends_that_depend_on_data_are_checked() {
    let text = "kernel f(N; pace: in i64[N], most: in i64[N], y: inout i64[N]) {
    local k: i64
    parallel for i in 0..N {
        count k in 0..100 by pace[i] while y[i] < most[i] at @2..6 {
            y[i] = y[i] + k
        }
    }
}
";
    let args = |by: Vec<i64>, most: Vec<i64>| {
        let zeros = vec![0; by.len()];
        [Some(Data::I64(by)), Some(Data::I64(most)), Some(Data::I64(zeros))]
    };
    assert!(run(text, &[4], &args(vec![1, 7, 100, i64::MAX], vec![50, 1000, 1, 5])).is_ok());
    assert!(message(run(text, &[2], &args(vec![1, 0], vec![9, 9]))).contains('0'));
    assert!(message(run(text, &[1], &args(vec![-3], vec![9]))).contains("-3"));
}

/// Everything against everything that is odd.
fn pairs<T: Copy>(values: &[T]) -> (Vec<T>, Vec<T>) {
    values.iter().flat_map(|x| values.iter().map(move |y| (*x, *y))).unzip()
}

fn operate(ty: &str, op: &str) -> String {
    format!(
        "kernel f(N; x: in {ty}[N], y: in {ty}[N], z: out {ty}[N]) {{ parallel for i in 0..N {{ z[i] = (x[i] {op} y[i])@4..8 }} }}"
    )
}

#[test]
fn integers_are_divided_by_any_divisor() {
    let numbers = [i64::MIN, i64::MIN + 1, -7, -3, -1, 1, 2, 3, 7, i64::MAX];
    for op in ["/", "%"] {
        let (x, y) = pairs(&numbers);
        let z = run(&operate("i64", op), &[100], &[Some(Data::I64(x)), Some(Data::I64(y)), None]);
        assert!(z.is_ok(), "{op}");
        let (x, y) = pairs(&[-128i8, -127, -5, -1, 1, 2, 100, 127]);
        assert!(run(&operate("i8", op), &[64], &[Some(Data::I8(x)), Some(Data::I8(y)), None]).is_ok(), "{op}");
        let (x, y) = pairs(&[i32::MIN, -9, -1, 1, 4, i32::MAX]);
        assert!(run(&operate("i32", op), &[36], &[Some(Data::I32(x)), Some(Data::I32(y)), None]).is_ok(), "{op}");
        let (x, y) = pairs(&[1u32, 2, 7, u32::MAX]);
        assert!(run(&operate("u32", op), &[16], &[Some(Data::U32(x)), Some(Data::U32(y)), None]).is_ok(), "{op}");
        let (x, y) = pairs(&[1u64, 2, 7, u64::MAX]);
        assert!(run(&operate("u64", op), &[16], &[Some(Data::U64(x)), Some(Data::U64(y)), None]).is_ok(), "{op}");
        let zero = [Some(Data::I64(vec![1, 2])), Some(Data::I64(vec![3, 0])), None];
        assert_eq!(message(run(&operate("i64", op), &[2], &zero)), "integer division by zero");
    }
}

#[test]
fn a_side_that_is_not_chosen_divides_by_nothing() {
    let text = "kernel f(N; x: in i64[N], z: out i64[N]) {
    parallel for i in 0..N {
        z[i] = select(x[i] == 0, -1, 100 / x[i])
    }
}
";
    assert!(run(text, &[3], &[Some(Data::I64(vec![0, 7, -3])), None]).is_ok());
}

#[test]
fn remainders_of_floats_are_exact() {
    let mut doubles =
        vec![0.0, 5e-324, 2.5e-310, 1e-9, 0.1, 0.75, 1.0, 3.0, 17.25, 1e15, 1e300, f64::MAX, f64::INFINITY];
    doubles.extend(doubles.clone().iter().map(|x| -x));
    doubles.push(f64::NAN);
    let (x, y) = pairs(&doubles);
    let n = x.len() as i64;
    assert!(run(&operate("f64", "%"), &[n], &[Some(Data::F64(x)), Some(Data::F64(y)), None]).is_ok());
    let singles: Vec<f32> = doubles.iter().map(|x| *x as f32).chain([1e-45, 1.2e-38, 3e38]).collect();
    let (x, y) = pairs(&singles);
    let n = x.len() as i64;
    assert!(run(&operate("f32", "%"), &[n], &[Some(Data::F32(x)), Some(Data::F32(y)), None]).is_ok());
}

#[test]
fn blocks_of_threads_go_on_past_a_fault() {
    let text = "kernel f(N, M; p: in i64[N, 64], x: in f32[M], y: out f32[N, 64]) {
    array t: f32[64]
    parallel(block.x) for b in 0..N private t {
        parallel(thread.x) for i in 0..64 {
            t[i] = gather(x, p[b, i])@4..9
        }
        parallel(thread.x) for i in 0..64 {
            y[b, i] = t[63 - i] + gather(x, p[b, i])
        }
    }
}
";
    let x = Data::F32((0..64).map(|at| at as f32).collect());
    let p: Vec<i64> = (0..192).map(|at| at * 37 % 64).collect();
    assert!(run(text, &[3, 64], &[Some(Data::I64(p.clone())), Some(x.clone()), None, None]).is_ok());
    let mut wrong = p;
    wrong[100] = 64;
    let outside = message(run(text, &[3, 64], &[Some(Data::I64(wrong)), Some(x), None, None]));
    assert_eq!(outside, "index 64 is outside `x`, which has extent 64");
}
