//! Programs on whole arrays, next to plain loops. Those that are also written with indices are checked as these are (`ml`).

use crate::Check;
use crate::example::Example;
use crate::numbers::{DOUBLE, SINGLE, array, expect, random};

pub(crate) const CHECKS: &[(&str, Check)] = &[
    ("arrays/block-means", block_means),
    ("arrays/distances", distances),
    ("arrays/fft-stage", fft_stage),
    ("arrays/polynomial-product", polynomial_product),
];

fn block_means(example: &Example) -> Result<(), String> {
    for (h, w) in [(0, 4), (4, 4), (8, 12), (32, 4), (36, 28)] {
        let x = random(1, (h, w));
        let expected = array((h / 4, w / 4), |(i, j)| {
            let block = (0..16).map(|cell| x[[4 * i + cell / 4, 4 * j + cell % 4]]);
            block.sum::<f64>() / 16.0
        });
        expect(&example.run(&[], &[("X", x)])?, "Y", &expected, SINGLE)?;
    }
    Ok(())
}

fn distances(example: &Example) -> Result<(), String> {
    for (n, m, d) in [(0, 3, 2), (1, 1, 1), (2, 3, 5), (33, 4, 3), (7, 31, 2)] {
        let (x, y) = (random(1, (n, d)), random(2, (m, d)));
        let distance = |i: usize, j: usize| (0..d).map(|d| (x[[i, d]] - y[[j, d]]).powi(2)).sum::<f64>().sqrt();
        let all = array((n, m), |(i, j)| distance(i, j));
        let nearest = array(n, |i| (0..m).map(|j| distance(i, j)).fold(f64::INFINITY, f64::min));
        let outputs = example.run(&[], &[("X", x.clone()), ("Y", y.clone())])?;
        expect(&outputs, "L", &all, DOUBLE)?;
        expect(&outputs, "nearest", &nearest, DOUBLE)?;
    }
    Ok(())
}

/// With the stage's own factors, what it gives has half of the frequencies each: their first are sums.
fn fft_stage(example: &Example) -> Result<(), String> {
    for n in [1, 2, 3, 16, 31, 33] {
        let (re, im) = (random(1, 2 * n), random(2, 2 * n));
        let angle = |k: usize| -std::f64::consts::PI * k as f64 / n as f64;
        let (c, s) = (array(n, |k| angle(k).cos()), array(n, |k| angle(k).sin()));
        let transform = |frequency: usize, imaginary: bool| {
            let turn = |k: usize| angle(k * frequency);
            let term = |k: usize| match imaginary {
                false => re[[k]] * turn(k).cos() - im[[k]] * turn(k).sin(),
                true => re[[k]] * turn(k).sin() + im[[k]] * turn(k).cos(),
            };
            (0..2 * n).map(term).sum::<f64>()
        };
        let inputs = [("re", re.clone()), ("im", im.clone()), ("c", c), ("s", s)];
        let outputs = example.run(&[], &inputs)?;
        for (name, frequency, imaginary) in
            [("even_re", 0, false), ("even_im", 0, true), ("odd_re", 1, false), ("odd_im", 1, true)]
        {
            let found = outputs[name].sum();
            let expected = transform(frequency, imaginary);
            if (found - expected).abs() > 1e-9 {
                return Err(format!("N = {n}: the sum of {name} is {found} instead of {expected}"));
            }
        }
    }
    Ok(())
}

/// At any point, the product of the values is the value of the product.
fn polynomial_product(example: &Example) -> Result<(), String> {
    for (n, m) in [(1, 1), (2, 3), (31, 4), (5, 33)] {
        let (a, b) = (random(1, n), random(2, m));
        let value = |coefficients: &[f64], x: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
        let outputs = example.run(&[], &[("a", a.clone()), ("b", b.clone())])?;
        for x in [-1.0, -0.5, 0.0, 0.25, 1.0] {
            let list = |values: &ndarray::ArrayD<f64>| values.iter().copied().collect::<Vec<f64>>();
            let expected = value(&list(&a), x) * value(&list(&b), x);
            let found = value(&list(&outputs["c"]), x);
            if (found - expected).abs() > 1e-9 {
                return Err(format!("N = {n}, M = {m}: {found} at {x} instead of {expected}"));
            }
        }
    }
    Ok(())
}
