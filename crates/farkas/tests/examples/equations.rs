//! Arrays that refer to themselves, next to closed forms, recursion and plain loops.

use std::collections::HashMap;
use std::f64::consts::PI;

use ndarray::ArrayD;

use crate::Check;
use crate::example::Example;
use crate::numbers::{DOUBLE, EXACT, array, expect, random, random_integers, scalar};

pub(crate) const CHECKS: &[(&str, Check)] = &[
    ("equations/american-put", american_put),
    ("equations/cholesky", cholesky),
    ("equations/heat", heat),
    ("equations/longest-common-subsequence", longest_common_subsequence),
    ("equations/nussinov", nussinov),
];

/// Waves that vanish at the ends keep their shape, and fade by a factor that is known.
fn heat(example: &Example) -> Result<(), String> {
    for n in [2, 3, 4, 7, 31, 33] {
        for (mode, t) in [(1, 0), (1, 1), (2, 3), (3, 7)] {
            let angle = PI * f64::from(mode) / (n - 1) as f64;
            let wave = array(n, |i| if i == 0 || i == n - 1 { 0.0 } else { (angle * i as f64).sin() });
            let fade: f64 = (1.0 + 2.0 * angle.cos()) / 3.0;
            let outputs = example.run(&[("T", t)], &[("A", wave.clone())])?;
            let expected = wave * fade.powi(t as i32);
            let found = &outputs["B"];
            let error = found.iter().zip(&expected).map(|(one, two)| (one - two).abs()).fold(0.0, f64::max);
            if error > 1e-12 {
                return Err(format!("N = {n}, T = {t}, mode {mode}: {found} instead of {expected}"));
            }
        }
    }
    Ok(())
}

fn longest_common_subsequence(example: &Example) -> Result<(), String> {
    fn recurse(a: &[f64], b: &[f64], known: &mut HashMap<(usize, usize), f64>) -> f64 {
        if let Some(length) = known.get(&(a.len(), b.len())) {
            return *length;
        }
        let length = match (a.split_first(), b.split_first()) {
            (Some((one, after_a)), Some((two, after_b))) if one == two => 1.0 + recurse(after_a, after_b, known),
            (Some((_, after_a)), Some((_, after_b))) => recurse(after_a, b, known).max(recurse(a, after_b, known)),
            _ => 0.0,
        };
        known.insert((a.len(), b.len()), length);
        length
    }
    for (n, m) in [(0, 0), (0, 5), (1, 1), (7, 6), (31, 33), (40, 3)] {
        let (a, b) = (random_integers(1, 4, n), random_integers(2, 4, m));
        let slice = |word: &ArrayD<f64>| word.iter().copied().collect::<Vec<f64>>();
        let expected = recurse(&slice(&a), &slice(&b), &mut HashMap::new());
        expect(&example.run(&[], &[("a", a), ("b", b)])?, "longest", &scalar(expected), EXACT)?;
    }
    Ok(())
}

/// The first letter stays alone, or pairs with one of the others and parts the rest in two.
fn nussinov(example: &Example) -> Result<(), String> {
    fn most(strand: &[f64]) -> f64 {
        let Some((first, rest)) = strand.split_first() else { return 0.0 };
        let partners = (0..rest.len()).filter(|partner| first + rest[*partner] == 3.0);
        let folded = partners.map(|partner| 1.0 + most(&rest[..partner]) + most(&rest[partner + 1..]));
        folded.fold(most(rest), f64::max)
    }
    for (n, seed) in [(1, 0), (2, 1), (3, 2), (7, 3), (11, 4), (13, 5), (16, 6)] {
        let strand = random_integers(seed, 4, n);
        let expected = most(&strand.iter().copied().collect::<Vec<f64>>());
        expect(&example.run(&[], &[("strand", strand)])?, "most", &scalar(expected), EXACT)?;
    }
    Ok(())
}

/// The factor of a product is the matrix that it was made of.
fn cholesky(example: &Example) -> Result<(), String> {
    for n in [1, 2, 3, 7, 31, 33] {
        let random = random(n as u64, (n, n));
        let factor = array((n, n), |(i, j)| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 2.0 + random[[i, i]],
            std::cmp::Ordering::Greater => random[[i, j]] / n as f64,
        });
        let product = array((n, n), |(i, j)| (0..n).map(|k| factor[[i, k]] * factor[[j, k]]).sum());
        expect(&example.run(&[], &[("A", product)])?, "L", &factor, DOUBLE)?;
    }
    Ok(())
}

fn american_put(example: &Example) -> Result<(), String> {
    let (price, up, p, discount): (f64, f64, f64, f64) = (100.0, 1.1, 0.55, 0.99);
    for n in [0, 1, 2, 7, 31, 33] {
        for strike in [80.0, 100.0, 130.0] {
            let sold = |t: i32, s: i32| strike - price * up.powi(2 * s - t);
            let mut value: Vec<f64> = (0..=n).map(|s| sold(n, s).max(0.0)).collect();
            for t in (0..n).rev() {
                value = (0..=t)
                    .map(|s| {
                        let kept = p * value[s as usize + 1] + (1.0 - p) * value[s as usize];
                        sold(t, s).max(discount * kept)
                    })
                    .collect();
            }
            let arguments = [("price", price), ("strike", strike), ("up", up), ("p", p), ("discount", discount)];
            let arguments = arguments.map(|(name, value)| (name, scalar(value)));
            expect(&example.run(&[("N", n as usize)], &arguments)?, "worth", &scalar(value[0]), 1e-11)?;
        }
    }
    Ok(())
}
