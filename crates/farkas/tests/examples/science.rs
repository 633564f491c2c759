//! Numerical methods: conservation laws, residuals, closed forms, and plain loops.

use std::f64::consts::PI;

use ndarray::{ArrayD, Axis};

use crate::Check;
use crate::example::Example;
use crate::numbers::{DOUBLE, EXACT, array, compare, expect, random, scalar};

pub(crate) const CHECKS: &[(&str, Check)] = &[
    ("science/advection-periodic", advection_periodic),
    ("science/fft-stage", fft_stage),
    ("science/heat-2d-clamped", heat_2d_clamped),
    ("science/heat-3d-periodic", heat_3d_periodic),
    ("science/n-body", n_body),
    ("science/triangular-solve", triangular_solve),
    ("science/tridiagonal", tridiagonal),
];

const LENGTHS: [usize; 6] = [1, 2, 3, 7, 31, 33];

// Stencils.

/// With a Courant number of 1 each step moves the wave by one cell; with any, nothing is lost.
fn advection_periodic(example: &Example) -> Result<(), String> {
    for n in LENGTHS {
        let wave = random(1, n);
        for t in [0, 1, 2, 5, 31] {
            let outputs = example.run(&[("T", t)], &[("courant", scalar(1.0)), ("A", wave.clone())])?;
            expect(&outputs, "A", &array(n, |i| wave[[(i + t * n - t) % n]]), EXACT)?;
            let outputs = example.run(&[("T", t)], &[("courant", scalar(0.25)), ("A", wave.clone() + 2.0)])?;
            compare(&scalar(outputs["A"].sum()), &scalar(wave.sum() + 2.0 * n as f64), DOUBLE)?;
        }
    }
    Ok(())
}

/// Waves that the borders reflect keep their shape and fade by a factor that is known.
fn heat_2d_clamped(example: &Example) -> Result<(), String> {
    let (k, t) = (0.125, 5);
    for (h, w) in [(1, 1), (2, 3), (5, 7), (33, 4), (3, 31)] {
        for (p, q) in [(0, 0), (1, 0), (1, 2)] {
            let angle = |mode: usize, length: usize| PI * (mode % length) as f64 / length as f64;
            let (v, u) = (angle(p, h), angle(q, w));
            let wave = array((h, w), |(y, x)| (v * (y as f64 + 0.5)).cos() * (u * (x as f64 + 0.5)).cos());
            let fade: f64 = 1.0 + k * (2.0 * v.cos() + 2.0 * u.cos() - 4.0);
            let expected = &wave * fade.powi(t);
            let outputs = example.run(&[("T", t as usize)], &[("k", scalar(k)), ("A", wave)])?;
            expect(&outputs, "A", &expected, 1e-10)?;
        }
    }
    Ok(())
}

/// So do waves that run around the box.
fn heat_3d_periodic(example: &Example) -> Result<(), String> {
    let (k, t) = (0.0625, 3);
    for n in [1, 2, 3, 7, 13] {
        for mode in [[0, 0, 0], [1, 0, 0], [1, 2, 3]] {
            let angles = mode.map(|mode| 2.0 * PI * mode as f64 / n as f64);
            let wave = array((n, n, n), |(z, y, x)| {
                (0.3 + angles[0] * z as f64 + angles[1] * y as f64 + angles[2] * x as f64).cos()
            });
            let fade: f64 = 1.0 + k * angles.iter().map(|angle| 2.0 * angle.cos() - 2.0).sum::<f64>();
            let expected = &wave * fade.powi(t);
            let outputs = example.run(&[("T", t as usize)], &[("k", scalar(k)), ("A", wave)])?;
            expect(&outputs, "A", &expected, 1e-9)?;
        }
    }
    Ok(())
}

// Systems of equations.

fn triangular_solve(example: &Example) -> Result<(), String> {
    for n in LENGTHS {
        // What is below the diagonal must not be read.
        let u = array((n, n), |(i, j)| if i > j { f64::NAN } else { ((3 * i + 5 * j) % 7) as f64 / 16.0 });
        let u = u + array((n, n), |(i, j)| if i == j { n as f64 } else { 0.0 });
        let x = random(1, (n, 4));
        let b = array((n, 4), |(i, r)| (i..n).map(|j| u[[i, j]] * x[[j, r]]).sum());
        expect(&example.run(&[], &[("U", u), ("X", b)])?, "X", &x, 1e-10)?;
    }
    Ok(())
}

fn tridiagonal(example: &Example) -> Result<(), String> {
    for n in LENGTHS {
        let [below, above, b] = [1, 2, 3].map(|seed| random(seed, n));
        let diagonal = random(4, n) * 0.5 + 3.0;
        let inputs = [("below", below.clone()), ("diagonal", diagonal.clone()), ("above", above.clone())];
        let outputs = example.run(&[], &[&inputs[..], &[("b", b.clone())]].concat())?;
        let x = &outputs["x"];
        let found = array(n, |i| {
            let before = if i > 0 { below[[i]] * x[[i - 1]] } else { 0.0 };
            let after = if i + 1 < n { above[[i]] * x[[i + 1]] } else { 0.0 };
            before + diagonal[[i]] * x[[i]] + after
        });
        compare(&found, &b, DOUBLE)?;
    }
    // A string that is pulled down evenly hangs in a parabola.
    let n = 31;
    let side = array(n, |_| -1.0);
    let inputs = [("below", side.clone()), ("diagonal", array(n, |_| 2.0)), ("above", side), ("b", array(n, |_| 1.0))];
    expect(&example.run(&[], &inputs)?, "x", &array(n, |i| ((i + 1) * (n - i)) as f64 / 2.0), DOUBLE)
}

// Particles and waves.

fn n_body(example: &Example) -> Result<(), String> {
    for n in LENGTHS {
        let (mass, position, softening) = (random(1, n) + 2.0, random(2, (n, 3)), 0.25_f64);
        let mut force = array((n, 3), |_| 0.0);
        for (i, j) in ndarray::indices((n, n)).into_iter().filter(|(i, j)| i != j) {
            let to: Vec<f64> = (0..3).map(|d| position[[j, d]] - position[[i, d]]).collect();
            let square = to.iter().map(|x| x * x).sum::<f64>() + softening * softening;
            for d in 0..3 {
                force[[i, d]] += mass[[i]] * mass[[j]] * to[d] * square.powf(-1.5);
            }
        }
        let inputs = [("softening", scalar(softening)), ("mass", mass), ("position", position)];
        let outputs = example.run(&[], &inputs)?;
        expect(&outputs, "force", &force, DOUBLE)?;
        // Action is reaction.
        let total = outputs["force"].sum_axis(Axis(0));
        if total.iter().any(|component| component.abs() > 1e-9 * n as f64) {
            return Err(format!("the forces do not add up to zero but to {total}"));
        }
    }
    Ok(())
}

/// All stages in a row are the transform.
fn fft_stage(example: &Example) -> Result<(), String> {
    for n in [2, 4, 8, 64] {
        let signal = [random(1, n), random(2, n)];
        let [mut re, mut im] = signal.clone();
        let mut stride = 1;
        while stride < n {
            let reshape = |x: ArrayD<f64>, shape: &[usize]| x.to_shape(shape).map(|x| x.to_owned());
            let shape = [2, n / (2 * stride), stride];
            let stage = |x: ArrayD<f64>| reshape(x, &shape).map_err(|error| error.to_string());
            let mut outputs = example.run(&[], &[("re", stage(re)?), ("im", stage(im)?)])?;
            let mut take = |name| outputs.remove(name).ok_or("a result is missing");
            (re, im) = (take("out_re")?, take("out_im")?);
            stride *= 2;
        }
        let term = |k: usize, j: usize| {
            let angle = -2.0 * PI * (j * k % n) as f64 / n as f64;
            let (re, im) = (signal[0][[j]], signal[1][[j]]);
            (re * angle.cos() - im * angle.sin(), re * angle.sin() + im * angle.cos())
        };
        let flat = |x: ArrayD<f64>| array(n, |k| x.as_slice().map_or(f64::NAN, |x| x[k]));
        compare(&flat(re), &array(n, |k| (0..n).map(|j| term(k, j).0).sum()), DOUBLE)?;
        compare(&flat(im), &array(n, |k| (0..n).map(|j| term(k, j).1).sum()), DOUBLE)?;
    }
    Ok(())
}
