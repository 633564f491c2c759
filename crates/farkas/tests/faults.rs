//! Faults at run time: both engines say the same, at the same place of the program; the interpreter knows the instance.

use farkas::{Args, Engine, Error, Function, Result, Style};

const PROGRAM: &str = "fn pick<N, M>(x: f64[M, 3], at: i64[N]) -> (y: f64[N]) {
    y[i] = sum[j] x[at[i], j]
}

fn share<N>(total: i64, n: i64[N]) -> (q: i64[N]) {
    q[i] = total / n[i]
}
";

/// The rendered errors of machine code and interpreter, which must be faults.
fn faults(
    name: &str,
    run: impl Fn(&Function, fn(&Function, &mut Args<'_>) -> Result<()>) -> Result<()>,
) -> [String; 2] {
    let module = Engine::new().compile(PROGRAM).expect("compiles");
    let function = module.function(name).expect("exists");
    [Function::call, Function::interpret].map(|engine| match run(function, engine) {
        Err(error @ Error::Fault { .. }) => error.render(Style::Plain),
        other => unreachable!("no fault: {other:?}"),
    })
}

#[test]
fn a_subscript_outside_its_array() {
    let [called, interpreted] = faults("pick", |function, engine| {
        let mut y = [0.0; 2];
        let mut args = Args::new();
        args.slice("x", &[1.0; 6], &[2, 3]).slice("at", &[1i64, 7], &[2]).slice_mut("y", &mut y, &[2]);
        engine(function, &mut args)
    });
    let expected = "error: index 7 is outside dimension 1 of `x`, which has extent 2
 --> input:2:19
  |
2 |     y[i] = sum[j] x[at[i], j]
  |                   ^^^^^^^^^^^ a subscript is 7";
    assert_eq!(called, expected);
    assert_eq!(interpreted, format!("{expected}\n  |\n  = note: this happened at i = 1, j = 0"));
}

#[test]
fn a_division_by_zero() {
    let [called, interpreted] = faults("share", |function, engine| {
        let mut q = [0i64; 2];
        let mut args = Args::new();
        args.scalar("total", 7i64).slice("n", &[1i64, 0], &[2]).slice_mut("q", &mut q, &[2]);
        engine(function, &mut args)
    });
    let expected = "error: integer division by zero
 --> input:6:12
  |
6 |     q[i] = total / n[i]
  |            ^^^^^^^^^^^^ the divisor is 0";
    assert_eq!(called, expected);
    assert_eq!(interpreted, format!("{expected}\n  |\n  = note: this happened at i = 1"));
}

/// What a failed call leaves behind is some of the new values and some of the old ones; the next call is as good as any.
#[test]
fn a_function_can_be_called_again_after_a_fault() {
    let module = Engine::new().compile(PROGRAM).expect("compiles");
    let function = module.function("share").expect("exists");
    for engine in [Function::call, Function::interpret] {
        let mut q = [-5i64; 3];
        let call = |n: [i64; 3], q: &mut [i64; 3]| {
            let mut args = Args::new();
            args.scalar("total", 12i64).slice("n", &n, &[3]).slice_mut("q", q, &[3]);
            engine(function, &mut args)
        };
        assert!(matches!(call([2, 0, 4], &mut q), Err(Error::Fault { .. })));
        assert!([-5, 6].contains(&q[0]) && q[1] == -5 && [-5, 3].contains(&q[2]), "{q:?}");
        call([2, 3, 4], &mut q).expect("runs");
        assert_eq!(q, [6, 4, 3]);
    }
}
