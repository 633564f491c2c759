//! Dynamic programming, next to recursion and to trying everything.

use ndarray::ArrayD;

use crate::Check;
use crate::example::Example;
use crate::numbers::{DOUBLE, EXACT, array, compare, expect, random, random_integers, scalar};

pub(crate) const CHECKS: &[(&str, Check)] =
    &[("dp/edit-distance", edit_distance), ("dp/smith-waterman", smith_waterman), ("dp/viterbi", viterbi)];

fn letters(word: &str) -> ArrayD<f64> {
    array(word.len(), |i| f64::from(word.as_bytes()[i]))
}

fn edit_distance(example: &Example) -> Result<(), String> {
    let known =
        [("kitten", "sitting", 3.0), ("flaw", "lawn", 2.0), ("", "abc", 3.0), ("abc", "", 3.0), ("same", "same", 0.0)];
    for (a, b, distance) in known {
        let outputs = example.run(&[], &[("a", letters(a)), ("b", letters(b))])?;
        compare(&scalar(outputs["cost"][[a.len(), b.len()]]), &scalar(distance), EXACT)?;
    }
    // Removing letters costs as much as there are; the way back costs the same.
    let (a, b) = (random_integers(1, 4, 31), random_integers(2, 4, 33));
    let there = example.run(&[], &[("a", a.clone()), ("b", b.clone())])?;
    let back = example.run(&[], &[("a", b), ("b", a)])?;
    compare(&there["cost"], &array((32, 34), |(i, j)| back["cost"][[j, i]]), EXACT)
}

fn smith_waterman(example: &Example) -> Result<(), String> {
    let (same, other, gap) = (3.0, -3.0, -2.0);
    let run = |a: &ArrayD<f64>, b: &ArrayD<f64>| {
        let scores = [("match", scalar(same)), ("mismatch", scalar(other)), ("gap", scalar(gap))];
        example.run(&[], &[&scores[..], &[("a", a.clone()), ("b", b.clone())]].concat())
    };
    // From the literature: GTT-AC of TGTTACGG matches GTTGAC of GGTTGACTA.
    expect(&run(&letters("TGTTACGG"), &letters("GGTTGACTA"))?, "best", &scalar(13.0), EXACT)?;
    // Nothing in common, and everything.
    expect(&run(&letters("AAAA"), &letters("CCC"))?, "best", &scalar(0.0), EXACT)?;
    expect(&run(&letters("ACGTACGT"), &letters("ACGTACGT"))?, "best", &scalar(24.0), EXACT)?;

    for (n, m) in [(0, 0), (0, 3), (1, 1), (2, 7), (31, 5), (33, 31)] {
        let (a, b) = (random_integers(1, 3, n), random_integers(2, 3, m));
        let mut score = array((n + 1, m + 1), |_| 0.0);
        for (i, j) in ndarray::indices((n, m)) {
            let pair = score[[i, j]] + if a[[i]] == b[[j]] { same } else { other };
            score[[i + 1, j + 1]] = pair.max(score[[i, j + 1]] + gap).max(score[[i + 1, j]] + gap).max(0.0);
        }
        let outputs = run(&a, &b)?;
        expect(&outputs, "score", &score, EXACT)?;
        expect(&outputs, "best", &scalar(score.iter().copied().fold(0.0, f64::max)), EXACT)?;
    }
    Ok(())
}

/// No path is likelier than the one found, which is as likely as it says.
fn viterbi(example: &Example) -> Result<(), String> {
    for (t, s) in [(1, 1), (1, 3), (2, 2), (5, 3), (7, 2), (31, 1)] {
        for seed in 0..4 {
            let (start, step, seen) = (random(seed, s), random(seed + 10, (s, s)), random(seed + 20, (t, s)));
            let likelihood = |path: &[usize]| {
                let steps = path.windows(2).map(|pair| step[[pair[0], pair[1]]]).sum::<f64>();
                start[[path[0]]] + steps + path.iter().enumerate().map(|(t, s)| seen[[t, *s]]).sum::<f64>()
            };
            // The paths are the numbers of t digits to the base s.
            let digits = |number: usize| (0..t).map(|t| number / s.pow(t as u32) % s).collect::<Vec<usize>>();
            let best = (0..s.pow(t as u32)).map(|number| likelihood(&digits(number))).fold(f64::NEG_INFINITY, f64::max);
            let inputs = [("start", start.clone()), ("step", step.clone()), ("seen", seen.clone())];
            let outputs = example.run(&[], &inputs)?;
            expect(&outputs, "likelihood", &scalar(best), DOUBLE)?;
            let path: Vec<usize> = outputs["path"].iter().map(|state| *state as usize).collect();
            compare(&scalar(likelihood(&path)), &scalar(best), DOUBLE)?;
        }
    }
    Ok(())
}
