//! Layers and steps of machine learning, next to the same in plain loops.

use ndarray::{Array2, ArrayD, Axis};

use crate::Check;
use crate::example::Example;
use crate::numbers::{DOUBLE, EXACT, SINGLE, array, expect, random, random_integers, scalar, shifted};

pub(crate) const CHECKS: &[(&str, Check)] = &[
    ("arrays/layernorm", layernorm),
    ("arrays/softmax", softmax),
    ("matmul", |example| matmul(example, DOUBLE)),
    ("ml/attention", attention),
    ("ml/avg-pool", avg_pool),
    ("ml/batched-matmul", batched_matmul),
    ("ml/causal-attention", causal_attention),
    ("ml/conv2d-nchw", conv2d_nchw),
    ("ml/conv2d-nhwc", conv2d_nhwc),
    ("ml/conv2d-stride-2", conv2d_stride_2),
    ("ml/cumulative-sum", cumulative_sum),
    ("ml/depthwise-conv", depthwise_conv),
    ("ml/embedding", embedding),
    ("ml/histogram", histogram),
    ("ml/kmeans-step", kmeans_step),
    ("ml/gelu-mlp", gelu_mlp),
    ("ml/kmeans-assign", kmeans_assign),
    ("ml/kmeans-update", kmeans_update),
    ("ml/layernorm", layernorm),
    ("ml/log-softmax", log_softmax),
    ("ml/matmul-f32", |example| matmul(example, SINGLE)),
    ("ml/matmul-i32", matmul_of_integers),
    ("ml/linear-bf16", linear_of_halves),
    ("ml/matmul-i8", matmul_of_bytes),
    ("ml/max-pool", max_pool),
    ("ml/rmsnorm", rmsnorm),
    ("ml/silu-mlp", silu_mlp),
    ("ml/top-1", top_1),
    ("softmax", softmax),
];

/// Sizes of two dimensions, with one side of a tile and the other.
const PAIRS: [(usize, usize); 5] = [(1, 1), (2, 3), (5, 7), (33, 4), (3, 31)];

// Products.

fn product(a: &ArrayD<f64>, b: &ArrayD<f64>) -> ArrayD<f64> {
    let (rows, inner, columns) = (a.len_of(Axis(0)), a.len_of(Axis(1)), b.len_of(Axis(1)));
    array((rows, columns), |(i, j)| (0..inner).map(|k| a[[i, k]] * b[[k, j]]).sum())
}

fn matmul(example: &Example, tolerance: f64) -> Result<(), String> {
    for (n, m) in PAIRS {
        let (a, b) = (random(1, (n, 6)), random(2, (6, m)));
        let expected = product(&a, &b);
        expect(&example.run(&[], &[("A", a), ("B", b)])?, "C", &expected, tolerance)?;
    }
    Ok(())
}

fn matmul_of_integers(example: &Example) -> Result<(), String> {
    for (n, m) in PAIRS {
        let (a, b) = (random_integers(1, 2000, (n, 6)), random_integers(2, 2000, (6, m)));
        let expected = product(&a, &b);
        expect(&example.run(&[], &[("A", a), ("B", b)])?, "C", &expected, EXACT)?;
    }
    // 2^16 squared is 2^32, of which nothing is left in 32 bits; 2^31 becomes negative.
    let outputs = example
        .run(&[], &[("A", array((2, 1), |(i, _)| 65536.0 / (1 << i) as f64)), ("B", array((1, 1), |_| 65536.0))])?;
    expect(&outputs, "C", &array((2, 1), |(i, _)| [0.0, -2147483648.0][i]), EXACT)
}

fn matmul_of_bytes(example: &Example) -> Result<(), String> {
    for (n, m) in PAIRS {
        let (a, b) = (random_integers(1, 200, (n, 6)) - 100.0, random_integers(2, 200, (6, m)) - 100.0);
        // The largest results do not fit a byte.
        let expected = product(&(&a - 3.0), &(&b + 7.0)).mapv(|sum| (sum / 128.0 + 0.5).floor().clamp(-128.0, 127.0));
        let scalars = [("scale", scalar(1.0 / 128.0)), ("a_zero", scalar(3.0)), ("b_zero", scalar(-7.0))];
        let inputs = [&scalars[..], &[("A", a), ("B", b)]].concat();
        expect(&example.run(&[], &inputs)?, "C", &expected, EXACT)?;
    }
    Ok(())
}

/// All numbers are exact until the result is rounded, to 11 bits.
fn linear_of_halves(example: &Example) -> Result<(), String> {
    for (n, m) in PAIRS {
        let (x, w, bias) = (random(1, (4, m)), random(2, (n, m)), random(3, n));
        let exact = array((4, n), |(b, i)| bias[[i]] + (0..m).map(|j| x[[b, j]] * w[[i, j]]).sum::<f64>());
        let expected = exact.mapv(|value| f64::from(farkas::f16::from_f64(value)));
        expect(&example.run(&[], &[("X", x), ("W", w), ("bias", bias)])?, "Y", &expected, EXACT)?;
    }
    Ok(())
}

fn batched_matmul(example: &Example) -> Result<(), String> {
    for (n, m) in PAIRS {
        let (x, y) = (random(1, (3, n, 6)), random(2, (3, 6, m)));
        let expected = array((3, n, m), |(b, i, j)| (0..6).map(|k| x[[b, i, k]] * y[[b, k, j]]).sum());
        expect(&example.run(&[], &[("X", x), ("Y", y)])?, "Z", &expected, SINGLE)?;
    }
    Ok(())
}

// Convolutions and pooling.

/// The image with a border of zeros.
fn padded(x: &ArrayD<f64>, border: usize) -> ArrayD<f64> {
    let shape = x.shape();
    let mut wide = array((shape[0], shape[1], shape[2] + 2 * border, shape[3] + 2 * border), |_| 0.0);
    for (place, value) in x.indexed_iter() {
        wide[[place[0], place[1], place[2] + border, place[3] + border]] = *value;
    }
    wide
}

fn conv2d_nchw(example: &Example) -> Result<(), String> {
    for ((h, w), p) in PAIRS.into_iter().zip([0, 1, 2, 1, 3]) {
        let (b, c, f, size) = (2, 3, 2, 2 * p + 1);
        let (x, k, bias) = (random(1, (b, c, h, w)), random(2, (f, c, size, size)), random(3, f));
        let wide = padded(&x, p);
        let expected = array((b, f, h, w), |(b, f, y, x)| {
            let terms = ndarray::indices((c, size, size)).into_iter();
            bias[[f]] + terms.map(|(c, r, s)| wide[[b, c, y + r, x + s]] * k[[f, c, r, s]]).sum::<f64>()
        });
        expect(&example.run(&[], &[("X", x), ("K", k), ("bias", bias)])?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

fn conv2d_nhwc(example: &Example) -> Result<(), String> {
    for (h, w) in PAIRS {
        let (b, c, f, r, s) = (2, 3, 2, 3, 2);
        let (x, k) = (random(1, (b, h + r - 1, w + s - 1, c)), random(2, (r, s, c, f)));
        let expected = array((b, h, w, f), |(b, y, x_, f)| {
            let terms = ndarray::indices((r, s, c)).into_iter();
            terms.map(|(r, s, c)| x[[b, y + r, x_ + s, c]] * k[[r, s, c, f]]).sum()
        });
        expect(&example.run(&[], &[("X", x), ("K", k)])?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

fn conv2d_stride_2(example: &Example) -> Result<(), String> {
    for (h, w) in PAIRS {
        let (b, c, f) = (2, 3, 2);
        let (x, k) = (random(1, (b, c, h, w)), random(2, (f, c, 3, 3)));
        let wide = padded(&x, 1);
        let expected = array((b, f, h.div_ceil(2), w.div_ceil(2)), |(b, f, y, x)| {
            let terms = ndarray::indices((c, 3, 3)).into_iter();
            terms.map(|(c, r, s)| wide[[b, c, 2 * y + r, 2 * x + s]] * k[[f, c, r, s]]).sum()
        });
        expect(&example.run(&[], &[("X", x), ("K", k)])?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

fn depthwise_conv(example: &Example) -> Result<(), String> {
    for ((h, w), p) in PAIRS.into_iter().zip([0, 1, 2, 1, 3]) {
        let (b, c, size) = (2, 3, 2 * p + 1);
        let (x, k) = (random(1, (b, c, h, w)), random(2, (c, size, size)));
        let wide = padded(&x, p);
        let expected = array((b, c, h, w), |(b, c, y, x)| {
            let terms = ndarray::indices((size, size)).into_iter();
            terms.map(|(r, s)| wide[[b, c, y + r, x + s]] * k[[c, r, s]]).sum()
        });
        expect(&example.run(&[], &[("X", x), ("K", k)])?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

/// The pixels of a channel in a window.
fn window(image: &ArrayD<f64>, (b, c): (usize, usize), rows: [isize; 2], columns: [isize; 2]) -> Vec<f64> {
    let inside =
        |[low, high]: [isize; 2], axis| (low..high).filter_map(move |at| shifted(0, at, image.len_of(Axis(axis))));
    inside(rows, 2).flat_map(|y| inside(columns, 3).map(move |x| image[[b, c, y, x]])).collect()
}

fn max_pool(example: &Example) -> Result<(), String> {
    for (h, w) in PAIRS {
        let x = random(1, (2, 3, h, w)) - 2.0;
        let expected = array((2, 3, h.div_ceil(2), w.div_ceil(2)), |(b, c, y, column)| {
            let (y, column) = (2 * y as isize, 2 * column as isize);
            window(&x, (b, c), [y, y + 2], [column, column + 2]).into_iter().fold(f64::NEG_INFINITY, f64::max)
        });
        expect(&example.run(&[], &[("X", x)])?, "Y", &expected, EXACT)?;
    }
    Ok(())
}

fn avg_pool(example: &Example) -> Result<(), String> {
    for (h, w) in PAIRS {
        let x = random(1, (2, 3, h, w));
        let expected = array((2, 3, h.div_ceil(2), w.div_ceil(2)), |(b, c, y, column)| {
            let (y, column) = (2 * y as isize, 2 * column as isize);
            let pixels = window(&x, (b, c), [y - 1, y + 2], [column - 1, column + 2]);
            pixels.iter().sum::<f64>() / pixels.len() as f64
        });
        expect(&example.run(&[], &[("X", x)])?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

// Rows.

/// Each row by itself.
fn by_rows(x: &ArrayD<f64>, row: impl Fn(&[f64]) -> Vec<f64>) -> ArrayD<f64> {
    let rows = x.outer_iter().flat_map(|values| row(&values.iter().copied().collect::<Vec<f64>>()));
    let rows: Vec<f64> = rows.collect();
    array((x.len_of(Axis(0)), x.len_of(Axis(1))), |(i, j)| rows[i * x.len_of(Axis(1)) + j])
}

fn softmax_of(row: &[f64]) -> Vec<f64> {
    let total: f64 = row.iter().map(|x| x.exp()).sum();
    row.iter().map(|x| x.exp() / total).collect()
}

fn softmax(example: &Example) -> Result<(), String> {
    for shape in PAIRS {
        let x = random(1, shape);
        let outputs = example.run(&[], &[("X", x.clone())])?;
        expect(&outputs, "Y", &by_rows(&x, softmax_of), SINGLE)?;
        let sums = outputs["Y"].sum_axis(Axis(1));
        crate::numbers::compare(&sums, &sums.mapv(|_| 1.0), SINGLE)?;
        // Adding a number to all scores changes nothing, not even one that would overflow an exponential.
        let moved = example.run(&[], &[("X", &x + 512.0)])?;
        expect(&moved, "Y", &outputs["Y"], SINGLE)?;
    }
    Ok(())
}

fn log_softmax(example: &Example) -> Result<(), String> {
    for shape in PAIRS {
        let x = random(1, shape) * 4.0;
        let expected = by_rows(&x, |row| softmax_of(row).into_iter().map(f64::ln).collect());
        expect(&example.run(&[], &[("X", x)])?, "Y", &expected, SINGLE)?;
    }
    // The softmax of 0 and 200 is beyond `f32`; its logarithm is not.
    let outputs = example.run(&[], &[("X", array((1, 2), |(_, j)| 200.0 * j as f64))])?;
    expect(&outputs, "Y", &array((1, 2), |(_, j)| [-200.0, 0.0][j]), EXACT)
}

fn layernorm(example: &Example) -> Result<(), String> {
    for (b, n) in PAIRS {
        let (x, gain, bias) = (random(1, (b, n)), random(2, n), random(3, n));
        let expected = by_rows(&x, |row| {
            let mean = row.iter().sum::<f64>() / n as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            (0..n).map(|j| (row[j] - mean) / (variance + 0.125).sqrt() * gain[[j]] + bias[[j]]).collect()
        });
        let inputs = [("X", x), ("gain", gain), ("bias", bias), ("eps", scalar(0.125))];
        expect(&example.run(&[], &inputs)?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

fn rmsnorm(example: &Example) -> Result<(), String> {
    for (b, n) in PAIRS {
        let (x, gain) = (random(1, (b, n)), random(2, n));
        let expected = by_rows(&x, |row| {
            let square = row.iter().map(|x| x * x).sum::<f64>() / n as f64;
            (0..n).map(|j| row[j] / (square + 0.125).sqrt() * gain[[j]]).collect()
        });
        expect(&example.run(&[], &[("X", x), ("gain", gain), ("eps", scalar(0.125))])?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

fn cumulative_sum(example: &Example) -> Result<(), String> {
    // The sum of the first odd numbers is a square.
    let outputs = example.run(&[], &[("X", array((3, 33), |(_, j)| (2 * j + 1) as f64))])?;
    expect(&outputs, "Y", &array((3, 33), |(_, j)| ((j + 1) * (j + 1)) as f64), EXACT)?;
    expect(&outputs, "rest", &array((3, 33), |(_, j)| (33 * 33 - (j + 1) * (j + 1)) as f64), EXACT)?;
    // The order is fixed, and so is each rounding.
    let x = random(1, (5, 31)) / 3.0;
    let expected = by_rows(&x, |row| {
        let mut total = 0.0;
        let add = |x: &f64| {
            total += x;
            total
        };
        row.iter().map(add).collect()
    });
    expect(&example.run(&[], &[("X", x)])?, "Y", &expected, EXACT)
}

// Attention.

/// One head: softmax(scale * q * transpose(k)) * v, where query `i` sees the keys for which `sees(i, j)`.
fn head(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>, sees: fn(usize, usize) -> bool) -> Array2<f64> {
    let mut result = Array2::zeros((q.nrows(), v.ncols()));
    for (i, query) in q.outer_iter().enumerate() {
        let seen: Vec<usize> = (0..k.nrows()).filter(|j| sees(i, *j)).collect();
        let scores: Vec<f64> = seen.iter().map(|j| query.dot(&k.row(*j)) / (q.ncols() as f64).sqrt()).collect();
        for (j, weight) in seen.iter().zip(softmax_of(&scores)) {
            result.row_mut(i).scaled_add(weight, &v.row(*j));
        }
    }
    result
}

/// The matrix at some leading subscripts.
fn matrix(x: &ArrayD<f64>, lead: &[usize]) -> Array2<f64> {
    let rest = &x.shape()[lead.len()..];
    Array2::from_shape_fn((rest[0], rest[1]), |(i, j)| x[[lead, &[i, j]].concat().as_slice()])
}

/// Makes scores whose exponentials overflow in `f32`. With 4 elements in a query they are exact.
const LARGE: f64 = 64.0;

fn attention(example: &Example) -> Result<(), String> {
    for ((n, m), large) in PAIRS.into_iter().zip([1.0, 1.0, 1.0, LARGE, LARGE]) {
        let (q, k, v) = (random(1, (2, 3, n, 4)) * large, random(2, (2, 3, m, 4)), random(3, (2, 3, m, 5)));
        let expected = array((2, 3, n, 5), |(b, h, i, e)| {
            head(&matrix(&q, &[b, h]), &matrix(&k, &[b, h]), &matrix(&v, &[b, h]), |_, _| true)[[i, e]]
        });
        expect(&example.run(&[], &[("Q", q), ("K", k), ("V", v)])?, "O", &expected, SINGLE)?;
    }
    Ok(())
}

fn causal_attention(example: &Example) -> Result<(), String> {
    for (n, d, large) in [(0, 2, 1.0), (1, 1, 1.0), (2, 3, 1.0), (7, 5, 1.0), (31, 4, LARGE), (33, 4, LARGE)] {
        let [q, k, v] = [1, 2, 3].map(|seed| random(seed, (2, n, d)));
        let q = q * large;
        let heads = [0, 1].map(|h| head(&matrix(&q, &[h]), &matrix(&k, &[h]), &matrix(&v, &[h]), |i, j| j <= i));
        let expected = array((2, n, d), |(h, i, d)| heads[h][[i, d]]);
        expect(&example.run(&[], &[("Q", q), ("K", k), ("V", v)])?, "O", &expected, SINGLE)?;
    }
    Ok(())
}

// Feed-forward blocks.

fn gelu_mlp(example: &Example) -> Result<(), String> {
    let gelu = |x: f64| 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh());
    for (d, f) in PAIRS {
        let (x, w1, b1, w2, b2) = (random(1, (3, d)), random(2, (d, f)), random(3, f), random(4, (f, d)), random(5, d));
        let hidden = (product(&x, &w1) + &b1).mapv(gelu);
        let expected = product(&hidden, &w2) + &b2;
        let inputs = [("X", x), ("W1", w1), ("b1", b1), ("W2", w2), ("b2", b2)];
        expect(&example.run(&[], &inputs)?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

fn silu_mlp(example: &Example) -> Result<(), String> {
    for (d, f) in PAIRS {
        let (x, gate, up, down) = (random(1, (3, d)), random(2, (d, f)), random(3, (d, f)), random(4, (f, d)));
        let hidden = product(&x, &gate).mapv(|x| x / (1.0 + (-x).exp())) * product(&x, &up);
        let expected = product(&hidden, &down);
        let inputs = [("X", x), ("Gate", gate), ("Up", up), ("Down", down)];
        expect(&example.run(&[], &inputs)?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

// Choices.

/// The first place of the largest.
fn argmax(values: impl IntoIterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (place, value) in values.into_iter().enumerate() {
        if value > best.1 {
            best = (place, value);
        }
    }
    best.0
}

fn top_1(example: &Example) -> Result<(), String> {
    for (b, n) in PAIRS {
        // Few values, so that the largest one is often there twice.
        let (score, target) = (random_integers(1, 3, (b, n)), random_integers(2, n, b));
        let places: Vec<usize> = score.outer_iter().map(|row| argmax(row.iter().copied())).collect();
        let right = (0..b).filter(|row| places[*row] as f64 == target[[*row]]).count();
        let value = array(b, |row| score[[row, places[row]]]);
        let outputs = example.run(&[], &[("score", score), ("target", target)])?;
        expect(&outputs, "value", &value, EXACT)?;
        expect(&outputs, "class", &array(b, |row| places[row] as f64), EXACT)?;
        expect(&outputs, "right", &scalar(right as f64), EXACT)?;
    }
    Ok(())
}

fn kmeans_assign(example: &Example) -> Result<(), String> {
    for (n, k) in PAIRS {
        // On a coarse grid distances are exact, and several centres are equally near.
        let (x, c) = (random_integers(1, 4, (n, 2)), random_integers(2, 4, (k, 2)));
        let distance = array((n, k), |(n, k)| (0..2).map(|d| (x[[n, d]] - c[[k, d]]).powi(2)).sum());
        let nearest: Vec<usize> = distance.outer_iter().map(|row| argmax(row.iter().map(|x| -x))).collect();
        let outputs = example.run(&[], &[("X", x), ("C", c)])?;
        expect(&outputs, "distance", &distance, EXACT)?;
        expect(&outputs, "nearest", &array(n, |n| nearest[n] as f64), EXACT)?;
        expect(&outputs, "member", &array((n, k), |(n, k)| f64::from(nearest[n] == k)), EXACT)?;
    }
    Ok(())
}

fn embedding(example: &Example) -> Result<(), String> {
    for (n, d) in PAIRS {
        let (table, token) = (random(1, (9, d)), random_integers(2, 9, n));
        let expected = array((n, d), |(place, axis)| {
            let angle = place as f64 * (-9.21034 * (2 * (axis / 2)) as f64 / d as f64).exp();
            table[[token[[place]] as usize, axis]] + if axis % 2 == 0 { angle.sin() } else { angle.cos() }
        });
        expect(&example.run(&[], &[("E", table), ("token", token)])?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

fn histogram(example: &Example) -> Result<(), String> {
    for (n, b) in PAIRS {
        let x = random(1, n).mapv(|x| x.abs().fract());
        let bins: Vec<usize> = x.iter().map(|x| ((x * b as f64) as usize).min(b - 1)).collect();
        let count = array(b, |bin| bins.iter().filter(|found| **found == bin).count() as f64);
        let total = array(b, |bin| x.iter().zip(&bins).filter(|(_, found)| **found == bin).map(|(x, _)| x).sum());
        let outputs = example.run(&[("B", b)], &[("x", x)])?;
        expect(&outputs, "count", &count, EXACT)?;
        expect(&outputs, "total", &total, DOUBLE)?;
        expect(&outputs, "mode", &scalar(argmax(count.iter().copied()) as f64), EXACT)?;
    }
    Ok(())
}

fn kmeans_step(example: &Example) -> Result<(), String> {
    for (n, k) in PAIRS {
        // On a coarse grid distances are exact, and several centres are equally near.
        let (x, c) = (random_integers(1, 4, (n, 2)), random_integers(2, 4, (k, 2)));
        let distance = |n: usize, k: usize| (0..2).map(|d| (x[[n, d]] - c[[k, d]]).powi(2)).sum::<f64>();
        let nearest: Vec<usize> = (0..n).map(|n| argmax((0..k).map(|k| -distance(n, k)))).collect();
        let members = |k: usize| (0..n).filter(|n| nearest[*n] == k).collect::<Vec<usize>>();
        let expected = array((k, 2), |(k, d)| match members(k).as_slice() {
            [] => c[[k, d]],
            members => members.iter().map(|n| x[[*n, d]]).sum::<f64>() / members.len() as f64,
        });
        let outputs = example.run(&[], &[("X", x.clone()), ("C", c.clone())])?;
        expect(&outputs, "nearest", &array(n, |n| nearest[n] as f64), EXACT)?;
        expect(&outputs, "size", &array(k, |k| members(k).len() as f64), EXACT)?;
        expect(&outputs, "C", &expected, DOUBLE)?;
    }
    Ok(())
}

fn kmeans_update(example: &Example) -> Result<(), String> {
    for (n, k) in PAIRS {
        let (x, c, owner) = (random(1, (n, 2)), random(2, (k, 2)), random_integers(3, k, n));
        let mut expected = c.clone();
        for centre in 0..k {
            let members: Vec<usize> = (0..n).filter(|n| owner[[*n]] == centre as f64).collect();
            for d in (0..2).filter(|_| !members.is_empty()) {
                expected[[centre, d]] = members.iter().map(|n| x[[*n, d]]).sum::<f64>() / members.len() as f64;
            }
        }
        let member = array((n, k), |(n, k)| f64::from(owner[[n]] == k as f64));
        expect(&example.run(&[], &[("X", x), ("member", member), ("C", c)])?, "C", &expected, DOUBLE)?;
    }
    Ok(())
}
