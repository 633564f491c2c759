//! What `call` refuses, and what becomes of the memory.

use farkas_cpu::{Buffer, CallError, Compiled, compile};
use ndarray::{Array2, s};
use program::{ScalarType, Slice, SliceMut, Value};

mod run;
use run::{compiled, verified};

const SCALE: &str = "
kernel scale(N, M; a: f64; X: in f64[N, M], Z: out f64[N, M]) {
    for i in 0..N { for j in 0..M { Z[i, j] = a * X[i, j] } }
}";

fn name(name: &str) -> String {
    name.to_owned()
}

#[test]
fn every_mismatch_is_refused_in_the_users_names() {
    let compiled = compiled(SCALE);
    let x = [1.0; 6];
    let mut z = [0.0; 6];
    let short = [1.0; 5];
    let single = [1.0_f32; 6];
    let a = [Value::F64(2.0)];

    let mut call = |params: &[i64], scalars: &[Value], x: &[f64]| {
        let mut buffers = [Buffer::Read(Slice::F64(x)), Buffer::Write(SliceMut::F64(&mut z))];
        compiled.call(params, scalars, &mut buffers)
    };
    assert_eq!(call(&[2, 3], &a, &x), Ok(()));
    assert_eq!(call(&[2], &a, &x), Err(CallError::ParamCount { expected: 2, given: 1 }));
    assert_eq!(call(&[2, 3], &[], &x), Err(CallError::ScalarCount { expected: 1, given: 0 }));
    let (expected, given) = (ScalarType::F64, ScalarType::I64);
    assert_eq!(call(&[2, 3], &[Value::I64(2)], &x), Err(CallError::ScalarType { name: name("a"), expected, given }));
    assert_eq!(call(&[2, 3], &a, &short), Err(CallError::Length { name: name("X"), expected: 6, given: 5 }));
    let negative = CallError::NegativeExtent { name: name("X"), dimension: 1, extent: -3 };
    assert_eq!(call(&[2, -3], &a, &x), Err(negative));
    assert_eq!(call(&[i64::MAX, 3], &a, &x), Err(CallError::TooLarge { name: name("X") }));
    assert_eq!(z, [2.0; 6]);

    assert_eq!(compiled.call(&[2, 3], &a, &mut []), Err(CallError::ArrayCount { expected: 2, given: 0 }));
    let mut buffers = [Buffer::Read(Slice::F32(&single)), Buffer::Write(SliceMut::F64(&mut z))];
    let (expected, given) = (ScalarType::F64, ScalarType::F32);
    let refused = compiled.call(&[2, 3], &a, &mut buffers);
    assert_eq!(refused, Err(CallError::ElementType { name: name("X"), expected, given }));
    let mut buffers = [Buffer::Read(Slice::F64(&x)), Buffer::Read(Slice::F64(&x))];
    let refused = compiled.call(&[2, 3], &a, &mut buffers).expect_err("`Z` is written");
    assert_eq!(refused, CallError::NotWritable { name: name("Z") });
    assert_eq!(refused.to_string(), "array `Z` is written, but its buffer is read-only");
}

#[test]
fn an_input_may_be_given_a_writable_buffer() {
    let (mut x, mut z) = ([1.0, 2.0], [0.0; 2]);
    let mut buffers = [Buffer::Write(SliceMut::F64(&mut x)), Buffer::Write(SliceMut::F64(&mut z))];
    compiled(SCALE).call(&[1, 2], &[Value::F64(3.0)], &mut buffers).expect("runs");
    assert_eq!(z, [3.0, 6.0]);
}

#[test]
fn empty_arrays_are_fine() {
    for params in [[0, 3], [3, 0], [0, i64::MAX]] {
        let mut buffers = [Buffer::Read(Slice::F64(&[])), Buffer::Write(SliceMut::F64(&mut []))];
        assert_eq!(compiled(SCALE).call(&params, &[Value::F64(1.0)], &mut buffers), Ok(()));
    }
}

#[test]
fn local_arrays_that_do_not_fit_are_reported() {
    let text = "
    kernel t(N; Z: out f64[1]) {
        array T: f64[N, 1000]
        T[0, 0] = 1.0
        Z[0] = T[0, 0]
    }";
    let compiled = compiled(text);
    let mut z = [0.0];
    let mut call = |n| compiled.call(&[n], &[], &mut [Buffer::Write(SliceMut::F64(&mut z))]);
    assert_eq!(call(1), Ok(()));
    assert_eq!(call(1 << 62), Err(CallError::TooLarge { name: name("T") }));
    let bytes = (1_usize << 46) * 8000;
    assert_eq!(call(1 << 46), Err(CallError::OutOfMemory { name: name("T"), bytes }));
}

#[test]
fn compiled_kernels_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let compiled = compiled(SCALE);
    shared(&compiled);
    let run = |factor: f64| {
        let (x, mut z) = (vec![1.5; 4000], vec![0.0; 4000]);
        let mut buffers = [Buffer::Read(Slice::F64(&x)), Buffer::Write(SliceMut::F64(&mut z))];
        compiled.call(&[40, 100], &[Value::F64(factor)], &mut buffers).expect("runs");
        assert!(z.iter().all(|z| *z == 1.5 * factor));
    };
    std::thread::scope(|scope| {
        for factor in 0..8 {
            scope.spawn(move || run(f64::from(factor)));
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn dropped_kernels_leave_no_memory_behind() {
    fn footprint() -> (usize, usize) {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("readable").lines().count();
        let statm = std::fs::read_to_string("/proc/self/statm").expect("readable");
        let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
        (maps, pages)
    }
    fn churn(kernel: &loops::Verified, count: usize) {
        let kept: Vec<Compiled> = (0..10).map(|_| compile(kernel).expect("compiles")).collect();
        for _ in 0..count {
            compile(kernel).expect("compiles");
        }
        drop(kept);
    }
    let kernel = verified(SCALE);
    churn(&kernel, 50);
    let before = footprint();
    churn(&kernel, 2000);
    let after = footprint();
    assert!(after.0 <= before.0 + 50, "mappings grew from {} to {}", before.0, after.0);
    assert!(after.1 <= before.1 + 1500, "resident pages grew from {} to {}", before.1, after.1);
}

#[test]
fn views_must_lie_where_the_code_looks() {
    let x = Array2::from_shape_fn((4, 6), |(i, j)| (6 * i + j) as f64);
    let block = x.slice(s![1..3, 2..5]).into_dyn();
    let mut z = [0.0; 6];
    let mut call = |compiled: &Compiled, params: &[i64], x: Buffer<'_>| {
        compiled.call(params, &[Value::F64(2.0)], &mut [x, Buffer::Write(SliceMut::F64(&mut z))])
    };
    let refused = Err(CallError::Strides { name: name("X") });
    assert_eq!(call(&compiled(SCALE), &[2, 3], block.clone().into()), refused, "it is for row-major arrays");
    let strided = verified(SCALE).strided(loops::ArrayId(0), &[true, false]).expect("an argument");
    let strided = compile(&strided).expect("it compiles");
    assert_eq!(call(&strided, &[2, 3, 5], block.clone().into()), refused);
    assert_eq!(call(&strided, &[2, 3, 6], block.t().to_owned().view().reversed_axes().into_dyn().into()), refused);
    assert_eq!(call(&strided, &[2, 3, 6], Buffer::Read(Slice::F64(&[1.0; 6]))), refused, "rows of 3, not of 6");
    let other = x.slice(s![1..4, 2..4]).into_dyn();
    assert_eq!(call(&strided, &[2, 3, 6], other.into()), Err(CallError::Shape { name: name("X"), given: vec![3, 2] }));
    assert_eq!(call(&strided, &[2, 3, 6], block.into()), Ok(()));
    assert_eq!(z, [16.0, 18.0, 20.0, 28.0, 30.0, 32.0]);
    let mut read_only = [Buffer::Read(Slice::F64(&[1.0; 6])), x.slice(s![..2, ..3]).into_dyn().into()];
    let strided = verified(SCALE).strided(loops::ArrayId(1), &[true, false]).expect("an argument");
    let refused = compile(&strided).expect("it compiles").call(&[2, 3, 6], &[Value::F64(2.0)], &mut read_only);
    assert_eq!(refused, Err(CallError::NotWritable { name: name("Z") }));
}
