//! Calls: prepared ones, scalars of other types, scalar results, and what is refused.

use farkas::{Args, CallError, Cancel, Engine, Error, Function, RunError};

const AXPY: &str = "fn axpy<N>(k: f32, x: f32[N], y: f32[N]) -> (z: f32[N], s: f32) where N >= 1 {
    let t[i] = k * x[i]
    z[i] = t[i] + y[i]
    s = sum[i] t[i]
}";

fn axpy() -> Function {
    Engine::new().compile(AXPY).expect("a program that is right").function("axpy").expect("it is there").clone()
}

#[test]
fn prepared_calls_give_what_calls_by_name_give() {
    let function = axpy();
    let x: Vec<f32> = (0..100).map(|cell| cell as f32 / 7.0).collect();
    let (mut z, mut s) = (vec![0.0_f32; 100], 0.0_f32);
    let mut args = Args::new();
    args.scalar("k", 1.5_f32).slice("x", &x, &[100]).slice("y", &x, &[100]);
    args.slice_mut("z", &mut z, &[100]).result("s", &mut s);
    function.call(&mut args).expect("a call that is right");
    drop(args);
    let mut prepared = function.prepare(&[("N", 100)]).expect("sizes that are right");
    for k in [0.5_f32, 1.5] {
        let (mut again, mut sum) = (vec![0.0_f32; 100], [0.0_f32]);
        let mut arrays =
            [x.as_slice().into(), x.as_slice().into(), again.as_mut_slice().into(), sum.as_mut_slice().into()];
        prepared.call(&[k.into()], &mut arrays).expect("a call that is right");
        assert_eq!(k == 1.5, again == z && sum == [s], "k = {k}");
    }
}

#[test]
fn prepared_calls_are_checked() {
    let function = axpy();
    let refused = |sizes: &[(&str, i64)]| function.prepare(sizes).expect_err("sizes that are wrong");
    assert!(matches!(refused(&[]), Error::Call(CallError::MissingSize { .. })));
    assert!(matches!(refused(&[("N", 0)]), Error::Call(CallError::Requirement { .. })));
    assert!(matches!(refused(&[("M", 1)]), Error::Call(CallError::UnknownSize { .. })));
    let mut prepared = function.prepare(&[("N", 2)]).expect("sizes that are right");
    let (x, mut z, mut s) = ([1.0_f32, 2.0], [0.0_f32; 2], [0.0_f32]);
    let short = &mut [x[..1].into(), x[..].into(), z[..].as_mut().into(), s[..].as_mut().into()];
    let error = prepared.call(&[1.0_f32.into()], short).expect_err("a buffer that is short");
    assert!(matches!(error, Error::Call(CallError::Run(RunError::Length { .. }))), "{error}");
    let double = &mut [[1.0, 2.0][..].into(), x[..].into(), z[..].as_mut().into(), s[..].as_mut().into()];
    let error = prepared.call(&[1.0_f32.into()], double).expect_err("a buffer of another type");
    assert!(matches!(error, Error::Call(CallError::Run(RunError::ElementType { .. }))), "{error}");
    let read_only = &mut [x[..].into(), x[..].into(), x[..].into(), s[..].as_mut().into()];
    let error = prepared.call(&[1.0_f32.into()], read_only).expect_err("a result that cannot be written");
    assert!(matches!(error, Error::Call(CallError::Run(RunError::NotWritable { .. }))), "{error}");
    let error = prepared.call(&[1.0.into()], &mut []).expect_err("no buffers");
    assert!(matches!(error, Error::Call(CallError::Run(RunError::ArrayCount { .. }))), "{error}");
    let token = Cancel::new();
    token.cancel();
    let right = &mut [x[..].into(), x[..].into(), z[..].as_mut().into(), s[..].as_mut().into()];
    let error = prepared.cancel(&token).call(&[1.0_f32.into()], right).expect_err("a call that is cancelled");
    assert!(matches!(error, Error::Call(CallError::Run(RunError::Cancelled))), "{error}");
    assert_eq!((z, s), ([0.0; 2], [0.0]));
}

#[test]
fn prepared_calls_go_to_other_threads() {
    let function = axpy();
    std::thread::scope(|scope| {
        for n in [1, 5, 64] {
            let mut prepared = function.prepare(&[("N", n)]).expect("sizes that are right");
            scope.spawn(move || {
                let n = n as usize;
                let (x, mut z, mut s) = (vec![1.0_f32; n], vec![0.0_f32; n], [0.0_f32]);
                for _ in 0..100 {
                    let arrays = &mut [x[..].into(), x[..].into(), z[..].as_mut().into(), s[..].as_mut().into()];
                    prepared.call(&[2.0_f32.into()], arrays).expect("a call that is right");
                }
                assert_eq!((z, s), (vec![3.0; n], [2.0 * n as f32]));
            });
        }
    });
}

#[test]
fn a_number_of_another_type_will_do_where_it_is_exact() {
    let source = "fn f<N>(a: f32, b: u8, c: i64, x: f32[N]) -> (y: f32[N], n: i64) {
    y[i] = a * x[i]
    n = c + i64(b)
}";
    let module = Engine::new().compile(source).expect("a program that is right");
    let function = module.function("f").expect("it is there");
    let call = |a: f64, b: i32| {
        let (mut y, mut n) = ([0.0_f32], 0_i64);
        let mut args = Args::new();
        args.scalar("a", a).scalar("b", b).scalar("c", 1_u8).slice("x", &[3.0_f32], &[1]);
        args.slice_mut("y", &mut y, &[1]).result("n", &mut n);
        function.call(&mut args)?;
        drop(args);
        Ok::<_, Error>((y[0], n))
    };
    assert_eq!(call(2.0, 255).expect("exact numbers"), (6.0, 256));
    for (a, b) in [(0.1, 0), (1.0, 256), (1.0, -1)] {
        let refused = call(a, b).expect_err("a number that is not exact");
        assert!(matches!(refused, Error::Call(CallError::WrongType { .. })), "{refused}");
    }
}
