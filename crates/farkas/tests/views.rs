//! Views that do not lie row-major: calls that take them as they lie give the same bits as calls that copy, and touch nothing beside them.

use farkas::{Args, Engine, Function, Options, Recipes, Threads};
use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayViewMut2, Axis, s};

const MATMUL: &str = "fn matmul<N, M, K>(A: f64[N, K], B: f64[K, M], inout C: f64[N, M]) {
    C[i, j] = C[i, j] + (sum[k] A[i, k] * B[k, j])
}";

fn compile(text: &str) -> Function {
    let (threads, worth_sharing) = (Threads::Count(3), Some(std::time::Duration::ZERO));
    let options = Options { threads, worth_sharing, recipes: Recipes::Always, ..Options::default() };
    Engine::with_options(options).compile(text).expect("it is right").functions()[0].clone()
}

/// Where a matrix lies in a larger one.
type Part = for<'a> fn(ArrayViewMut2<'a, f64>) -> ArrayViewMut2<'a, f64>;

const PARTS: [(&str, Part); 6] = [
    ("whole", |whole| whole),
    ("a block", |whole| whole.slice_move(s![2.., 3..])),
    ("by columns", |whole| whole.reversed_axes()),
    ("every second row", |whole| whole.slice_move(s![..;2, ..])),
    ("every third column", |whole| whole.slice_move(s![.., 1..;3])),
    ("backwards", |whole| whole.slice_move(s![..;-1, ..;-1])),
];

/// A large matrix, whose part has at least so many rows and columns, which are numbered.
fn large(rows: usize, columns: usize) -> Array2<f64> {
    let side = 3 * rows.max(columns) + 6;
    Array2::from_shape_fn((side, side), |(i, j)| 1.0 / (1 + i * side + j) as f64)
}

fn cut(part: ArrayViewMut2<'_, f64>, rows: usize, columns: usize) -> ArrayViewMut2<'_, f64> {
    part.slice_move(s![..rows, ..columns])
}

fn call(function: &Function, a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, c: ArrayViewMut2<'_, f64>) -> Vec<String> {
    let mut args = Args::new();
    args.array("A", a).array("B", b).array_mut("C", c);
    let copied = function.copied(&args);
    function.call(&mut args).expect("a call that is right");
    copied
}

fn fitted(function: &Function, a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, c: ArrayViewMut2<'_, f64>) -> Function {
    let mut args = Args::new();
    args.array("A", a).array("B", b).array_mut("C", c);
    function.for_views(&args).expect("code for these views")
}

#[test]
fn views_are_taken_as_they_lie() {
    let parallel = format!("{MATMUL}\nschedule matmul {{ parallel i }}");
    for (text, general) in [(MATMUL, compile(MATMUL)), (&parallel, compile(&parallel))] {
        for (position, (how, part)) in PARTS.iter().enumerate() {
            let (how_b, part_b) = PARTS[(position + 2) % PARTS.len()];
            let (how_c, part_c) = PARTS[(position + 4) % PARTS.len()];
            let mut in_place = None;
            for n in [17, 1, 2, 5, 33] {
                let (rows, inner, columns) = (n, n + 1, n + 2);
                let (mut a, mut b) = (large(rows, inner), large(inner, columns));
                let (mut c, mut expected) = (large(rows, columns), large(rows, columns));
                let a = cut(part(a.view_mut()), rows, inner);
                let b = cut(part_b(b.view_mut()), inner, columns);
                call(&general, a.view(), b.view(), cut(part_c(expected.view_mut()), rows, columns));
                let mut of_c = cut(part_c(c.view_mut()), rows, columns);
                let function = in_place.get_or_insert_with(|| fitted(&general, a.view(), b.view(), of_c.view_mut()));
                let copied = call(function, a.view(), b.view(), of_c);
                let what = format!("A {how}, B {how_b}, C {how_c}, n = {n}\n{text}");
                assert_eq!(copied, [""; 0], "{what}");
                let same = c.iter().zip(&expected).all(|(found, expected)| found.to_bits() == expected.to_bits());
                assert!(same, "{what}");
            }
        }
    }
}

#[test]
fn views_that_lie_otherwise_are_copied() {
    let general = compile(MATMUL);
    let (mut a, mut c) = (large(5, 5), large(5, 5));
    let block = |whole: &mut Array2<f64>| whole.slice(s![1..6, 1..6]).to_owned();
    let (dense_a, dense_c) = (block(&mut a), block(&mut c));
    let mut expected = dense_c.clone();
    assert_eq!(call(&general, dense_a.view(), dense_a.view(), expected.view_mut()), [""; 0]);
    let of_a = a.slice(s![1..6, 1..6]);
    let mut found = c.clone();
    assert_eq!(call(&general, of_a, of_a.t().t(), found.slice_mut(s![1..6, 1..6])), ["A", "B", "C"]);
    assert_eq!(found.slice(s![1..6, 1..6]), expected);
    // Made for columns, called with blocks; and with what is row-major, which fits where only the strides differ.
    let by_columns = fitted(&general, of_a.t(), dense_a.view(), dense_c.clone().view_mut());
    let mut found = c.clone();
    assert_eq!(call(&by_columns, of_a, dense_a.view(), found.slice_mut(s![1..6, 1..6])), ["A", "C"]);
    assert_eq!(found.slice(s![1..6, 1..6]), expected);
    let of_blocks = fitted(&general, of_a, of_a, c.slice_mut(s![1..6, 1..6]));
    let mut found = dense_c.clone();
    assert_eq!(call(&of_blocks, dense_a.view(), dense_a.view(), found.view_mut()), [""; 0]);
    assert_eq!(found, expected);
    c.fill(0.0);
}

#[test]
fn views_of_one_and_three_dimensions_and_empty_ones() {
    let sum = compile(
        "fn f<N, M, K>(x: i64[N, M, K], y: i64[K]) -> (z: i64[N, M], t: i64) {
    z[i, j] = sum[k] x[i, j, k] * y[k]
    t = sum[k] y[k]
}",
    );
    let x = Array3::from_shape_fn((9, 10, 11), |(i, j, k)| (i * 110 + j * 11 + k) as i64);
    let y = Array1::from_iter(0..40_i64);
    let row = Array1::from_elem(1, 7_i64);
    for (n, m, k) in [(3, 4, 5), (1, 4, 1), (0, 3, 2), (2, 2, 0)] {
        let of_x = x.slice(s![1..n + 1, ..;2, 2..]).slice_move(s![.., ..m, ..k]).permuted_axes([0, 1, 2]);
        let of_y = y.slice(s![..;-3]).slice_move(s![..k]);
        let mut results = Vec::new();
        for in_place in [false, true] {
            let (mut z, mut t) = (Array2::<i64>::zeros((m + 1, n + 1)), 0_i64);
            let mut args = Args::new();
            args.array("x", of_x).array("y", of_y).result("t", &mut t);
            args.array_mut("z", z.slice_mut(s![..m, ..n]).reversed_axes());
            if in_place {
                let fitted = sum.for_views(&args).expect("code for these views");
                assert_eq!(fitted.copied(&args), [""; 0]);
                fitted.call(&mut args).expect("a call that is right");
            } else {
                sum.call(&mut args).expect("a call that is right");
            }
            drop(args);
            results.push((z, t));
        }
        assert_eq!(results[0], results[1], "{n} {m} {k}");
    }
    // The same cell for all: it is only read.
    let same = row.broadcast(6).expect("one cell for all");
    let (mut z, mut t) = (Array2::<i64>::zeros((9, 10)), 0_i64);
    let mut args = Args::new();
    args.array("x", x.slice(s![.., .., ..6])).array("y", same).array_mut("z", z.view_mut()).result("t", &mut t);
    let fitted = sum.for_views(&args).expect("code for these views");
    assert_eq!(fitted.copied(&args), [""; 0]);
    fitted.call(&mut args).expect("a call that is right");
    drop(args);
    assert_eq!(t, 42);
    assert_eq!(z, x.slice(s![.., .., ..6]).sum_axis(Axis(2)) * 7);
}
