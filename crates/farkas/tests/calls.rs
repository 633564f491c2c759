//! Calls: prepared ones, scalars of other types, scalar results, and what is refused.

use std::time::{Duration, Instant};

use farkas::{
    Args, CallError, Cancel, Emit, Engine, Error, Factor, Function, Options, Order, RunError, Source, Specialize,
    Workspace,
};

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
    assert!(matches!(refused(&[("N", 0)]), Error::Refused { error: CallError::Requirement { .. }, .. }));
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

const MATMUL: &str = "fn matmul<N, M, K>(A: f64[N, K], B: f64[K, M]) -> (C: f64[N, M]) where K >= 1 {
    C[i, j] = sum[k] A[i, k] * B[k, j]
}";

fn matmul(specialize: Specialize) -> farkas::Result<Function> {
    let engine = Engine::with_options(Options { specialize, ..Options::default() });
    Ok(engine.compile(MATMUL)?.functions()[0].clone())
}

fn product(function: &Function, n: usize) -> Vec<u64> {
    let a: Vec<f64> = (0..n * n).map(|cell| 1.0 / (cell + 1) as f64).collect();
    let mut c = vec![0.0; n * n];
    let mut args = Args::new();
    args.slice("A", &a, &[n, n]).slice("B", &a, &[n, n]).slice_mut("C", &mut c, &[n, n]);
    function.call(&mut args).expect("a call that is right");
    drop(args);
    c.into_iter().map(f64::to_bits).collect()
}

#[test]
fn calls_again_and_again_get_code_for_their_sizes() {
    let expected = product(&matmul(Specialize::Never).expect("it is right"), 37);
    let function = matmul(Specialize::default()).expect("it is right");
    let end = Instant::now() + Duration::from_secs(120);
    while function.specialized().is_empty() && Instant::now() < end {
        assert_eq!(product(&function, 37), expected);
    }
    let sizes = ["K", "M", "N"].map(|name| (name.to_owned(), 37));
    let mut found = function.specialized();
    found.iter_mut().for_each(|sizes| sizes.sort());
    assert_eq!(found, [sizes]);
    assert_eq!(product(&function, 37), expected);
    let other = product(&matmul(Specialize::Never).expect("it is right"), 5);
    assert_eq!(product(&function, 5), other, "the code for all sizes is still there");

    let function = matmul(Specialize::default()).expect("it is right");
    let mut prepared = function.prepare(&[("N", 37), ("M", 37), ("K", 37)]).expect("sizes that are right");
    let a: Vec<f64> = (0..37 * 37).map(|cell| 1.0 / (cell + 1) as f64).collect();
    let mut c = vec![0.0_f64; 37 * 37];
    let mut after = 0;
    while after < 3 && Instant::now() < end {
        prepared
            .call(&[], &mut [a.as_slice().into(), a.as_slice().into(), c.as_mut_slice().into()])
            .expect("a call that is right");
        assert!(c.iter().map(|cell| cell.to_bits()).eq(expected.iter().copied()));
        after += usize::from(!function.specialized().is_empty());
    }
    assert_eq!(after, 3, "prepared calls are counted, too");
}

#[test]
fn code_is_made_for_the_sizes_that_are_asked_for() {
    let sizes = |n: i64| ["N", "M", "K"].map(|name| (name.to_owned(), n)).to_vec();
    let function = matmul(Specialize::For(sizes(8))).expect("it is right");
    assert_eq!(function.specialized(), [sizes(8)]);
    let general = matmul(Specialize::Never).expect("it is right");
    for n in [8, 9] {
        assert_eq!(product(&function, n), product(&general, n));
    }
    assert_eq!(function.specialized().len(), 1, "and for no others");
    let refused = matmul(Specialize::For(sizes(0))).expect_err("`where` says that it is at least 1");
    assert!(matches!(refused, Error::Refused { error: CallError::Requirement { .. }, .. }), "{refused}");
    let refused = matmul(Specialize::For(Vec::new())).expect_err("sizes are missing");
    assert!(matches!(refused, Error::Call(CallError::MissingSize { .. })), "{refused}");
    let options =
        Options { emit: vec![Emit::Loops, Emit::Asm], specialize: Specialize::For(sizes(8)), ..Options::default() };
    let module = Engine::with_options(options).compile(MATMUL).expect("it is right");
    let texts = module.functions()[0].texts();
    assert_eq!(texts.len(), 2);
    assert!(texts[0].1.contains("0..8") && !texts[0].1.contains("0..N"), "{}", texts[0].1);
    let always = matmul(Specialize::Always).expect("it is right");
    assert_eq!(product(&always, 3), product(&general, 3));
    assert_eq!(always.specialized(), [sizes(3)]);
}

#[test]
fn signatures_have_extents_and_conditions_as_data() {
    let text = "fn f<H, D, N>(x: f64[H * D, N + 1, N / 2]) -> (y: f64[min(H, N)]) where H >= 1 and D = 4 or N > H {
    y[i] = 1
}";
    let signature = Engine::new().signatures(&Source::new("f.fks", text)).expect("it is right").remove(0);
    let sizes = |name: &str| match name {
        "H" => Some(3),
        "D" => Some(4),
        "N" => Some(7),
        _ => None,
    };
    let values = |position: usize| -> Vec<Option<i64>> {
        signature.args[position].shape.iter().map(|extent| extent.value(&sizes)).collect()
    };
    assert_eq!(values(0), [Some(12), Some(8), Some(3)]);
    assert_eq!(values(1), [Some(3)]);
    let texts: Vec<String> = signature.args[0].shape.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["H * D", "N + 1", "N / 2"]);
    assert!(matches!(&signature.args[0].shape[0].terms[..], [(1, Factor::Product(..))]));
    assert_eq!(signature.args[0].shape[1].constant, 1);
    let holds: Vec<Option<bool>> = signature.context.iter().map(|one| one.condition.holds(&sizes)).collect();
    assert!(!holds.is_empty() && holds.iter().all(|holds| *holds == Some(true)), "{holds:?}");
    let small = |name: &str| if name == "N" { Some(0) } else { Some(1) };
    assert!(signature.context.iter().any(|one| one.condition.holds(&small) == Some(false)));
    assert_eq!(signature.context[0].condition.holds(&|_| None), None);
}

#[test]
fn local_arrays_live_in_memory_of_the_host() {
    // In its own order, `t` is an array.
    let engine = Engine::with_options(Options { order: Order::Original, ..Options::default() });
    let function = engine.compile(AXPY).expect("it is right").functions()[0].clone();
    let call = |n: usize, workspace: Option<&mut Workspace>| {
        let x: Vec<f32> = (0..n).map(|cell| cell as f32 / 7.0).collect();
        let (mut z, mut s) = (vec![0.0_f32; n], 0.0_f32);
        let mut args = Args::new();
        args.scalar("k", 1.5_f32).slice("x", &x, &[n]).slice("y", &x, &[n]);
        args.slice_mut("z", &mut z, &[n]).result("s", &mut s);
        if let Some(workspace) = workspace {
            args.workspace(workspace);
        }
        function.call(&mut args).expect("a call that is right");
        drop(args);
        (z, s)
    };
    let mut workspace = Workspace::new();
    assert_eq!(workspace.bytes(), 0);
    assert_eq!(call(1000, Some(&mut workspace)), call(1000, None));
    let grown = workspace.bytes();
    assert!(grown >= 4000, "{grown} bytes");
    for n in [1, 999, 1000] {
        assert_eq!(call(n, Some(&mut workspace)), call(n, None));
        assert_eq!(workspace.bytes(), grown, "what is there is enough");
    }
    assert_eq!(call(2000, Some(&mut workspace)), call(2000, None));
    assert!((8000..12000).contains(&workspace.bytes()), "what is too small is replaced");
}

/// Small calls run a version that has no room for anything else.
#[test]
fn a_call_needs_nothing_of_the_versions_that_it_does_not_run() {
    let text = "fn f<N>(x: f64[N]) -> (b: f64[N]) where N >= 2 {
    let a[i] = x[i] * 2
    b[i] = if i >= 1 then a[i] + a[i - 1] else a[i]
}
schedule f where N > 1000, N < 2000 { layout a[i] => [9000000000000000 * i] }
schedule f {}
";
    let emit = vec![Emit::C];
    let module = Engine::with_options(Options { emit, ..Options::default() }).compile(text).expect("it is right");
    let function = module.function("f").expect("it is there");
    let sum_of = |size: usize| {
        let (x, mut b) = (vec![1.0; size], vec![0.0; size]);
        let mut args = Args::new();
        args.slice("x", &x, &[size]).slice_mut("b", &mut b, &[size]);
        function.call(&mut args).map(|()| b.iter().sum::<f64>())
    };
    assert_eq!(sum_of(3).expect("there is room"), 10.0);
    assert_eq!(sum_of(1000).expect("there is room"), 3998.0);
    let refused = sum_of(1500).expect_err("more places than 64 bits can count").render(farkas::Style::Plain);
    assert!(refused.contains("the layout of `a`") && refused.contains("5 |"), "{refused}");
    let mut prepared = function.prepare(&[("N", 3)]).expect("there is room");
    let (x, mut b) = ([1.0; 3], [0.0; 3]);
    prepared.call(&[], &mut [x.as_slice().into(), b.as_mut_slice().into()]).expect("there is room");
    assert_eq!(b, [2.0, 4.0, 4.0]);
    // In C, what a version needs is asked for when it runs.
    let (_, c) = &function.texts()[0];
    let (choice, room) = (c.find("if (N >= 1001").expect("versions"), c.find("= allocate(").expect("an array"));
    assert!(choice < room, "{c}");
}
