//! Images and cells: what a filter does to simple images, known patterns, and plain loops.

use ndarray::ArrayD;

use crate::Check;
use crate::example::Example;
use crate::numbers::{EXACT, SINGLE, array, expect, random, random_integers, scalar, shifted};

pub(crate) const CHECKS: &[(&str, Check)] = &[
    ("imaging/bilateral-grid-slice", bilateral_grid_slice),
    ("imaging/blur", blur),
    ("imaging/game-of-life", game_of_life),
    ("imaging/mandelbrot", mandelbrot),
    ("imaging/sobel", sobel),
];

const SIZES: [(usize, usize); 5] = [(1, 1), (2, 3), (5, 7), (33, 4), (3, 31)];

fn blur(example: &Example) -> Result<(), String> {
    for (h, w) in SIZES {
        for r in 0..4 {
            // The binomials of 2 * r.
            let weight = array(2 * r + 1, |k| (0..k).map(|k| (2 * r - k) as f64 / (k + 1) as f64).product());
            let constant = array((h, w), |_| 0.75);
            let outputs = example.run(&[], &[("weight", weight.clone()), ("X", constant.clone())])?;
            expect(&outputs, "Y", &constant, SINGLE)?;

            // A mean over both directions at once.
            let image = random(1, (h, w));
            let expected = array((h, w), |(y, x)| {
                let (mut sum, mut weights) = (0.0, 0.0);
                for (a, b) in ndarray::indices((2 * r + 1, 2 * r + 1)) {
                    let shift = |k: usize| k as isize - r as isize;
                    if let (Some(y), Some(x)) = (shifted(y, shift(a), h), shifted(x, shift(b), w)) {
                        sum += weight[[a]] * weight[[b]] * image[[y, x]];
                        weights += weight[[a]] * weight[[b]];
                    }
                }
                sum / weights
            });
            expect(&example.run(&[], &[("weight", weight), ("X", image)])?, "Y", &expected, SINGLE)?;
        }
    }
    Ok(())
}

fn sobel(example: &Example) -> Result<(), String> {
    for (h, w) in SIZES {
        // A plane has the same slope everywhere, and the filter multiplies it by 8.
        let plane = array((h + 2, w + 2), |(y, x)| 3.0 * x as f64 + 4.0 * y as f64);
        let outputs = example.run(&[], &[("X", plane)])?;
        for (name, slope) in [("across", 24.0), ("down", 32.0), ("edge", 40.0)] {
            expect(&outputs, name, &array((h, w), |_| slope), EXACT)?;
        }
        let image = random(1, (h + 2, w + 2));
        let filter = [[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]];
        let sum = |pixel: &dyn Fn(usize, usize) -> f64| {
            ndarray::indices((3, 3)).into_iter().map(|(a, b)| filter[a][b] * pixel(a, b)).sum::<f64>()
        };
        let across = array((h, w), |(y, x)| sum(&|a, b| image[[y + a, x + b]]));
        let down = array((h, w), |(y, x)| sum(&|a, b| image[[y + b, x + a]]));
        let edge = array((h, w), |(y, x)| across[[y, x]].hypot(down[[y, x]]));
        let outputs = example.run(&[], &[("X", image)])?;
        expect(&outputs, "across", &across, SINGLE)?;
        expect(&outputs, "down", &down, SINGLE)?;
        expect(&outputs, "edge", &edge, SINGLE)?;
    }
    Ok(())
}

/// Linear interpolation gives back a function that is linear in each direction.
fn bilateral_grid_slice(example: &Example) -> Result<(), String> {
    for (h, w) in SIZES {
        for z in [1, 2, 7] {
            let image = random_integers(1, 65, (h, w)) / 64.0;
            let value = |y: f64, x: f64, brightness: f64| y / 8.0 - x / 4.0 + brightness * (2.0 + x / 8.0);
            let grid = array((h / 8 + 2, w / 8 + 2, z + 1), |(y, x, level)| {
                value(8.0 * y as f64, 8.0 * x as f64, level as f64 / z as f64)
            });
            let expected = array((h, w), |(y, x)| value(y as f64, x as f64, image[[y, x]]));
            let outputs = example.run(&[("H", h), ("W", w)], &[("X", image), ("grid", grid)])?;
            expect(&outputs, "Y", &expected, SINGLE)?;
        }
    }
    Ok(())
}

/// A picture whose `#` are alive.
fn cells(rows: &[&str]) -> ArrayD<f64> {
    array((rows.len(), rows[0].len()), |(y, x)| f64::from(rows[y].as_bytes()[x] == b'#'))
}

fn game_of_life(example: &Example) -> Result<(), String> {
    let run = |before: &ArrayD<f64>, generations: usize, after: &ArrayD<f64>| {
        expect(&example.run(&[("T", generations)], &[("A", before.clone())])?, "A", after, EXACT)
    };
    let upright = cells(&[".....", "..#..", "..#..", "..#..", "....."]);
    let lying = cells(&[".....", ".....", ".###.", ".....", "....."]);
    for generations in 0..6 {
        run(&upright, generations, if generations % 2 == 0 { &upright } else { &lying })?;
    }
    let block = cells(&["....", ".##.", ".##.", "...."]);
    run(&block, 7, &block)?;
    // A glider moves by one cell along the diagonal every four generations.
    let glider = |at: usize| {
        let shape = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)];
        array((31, 33), |(y, x)| f64::from(shape.iter().any(|(dy, dx)| (at + dy, at + dx) == (y, x))))
    };
    run(&glider(1), 4 * 10, &glider(11))?;

    for (h, w) in SIZES {
        let before = random_integers(1, 2, (h, w));
        let after = array((h, w), |(y, x)| {
            let mut neighbours = 0.0;
            for (a, b) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)] {
                if let (Some(y), Some(x)) = (shifted(y, a, h), shifted(x, b, w)) {
                    neighbours += before[[y, x]];
                }
            }
            f64::from(neighbours == 3.0 || neighbours == 2.0 && before[[y, x]] == 1.0)
        });
        run(&before, 1, &after)?;
    }
    Ok(())
}

fn mandelbrot(example: &Example) -> Result<(), String> {
    let run = |(h, w): (usize, usize), t: usize, [left, top, step]: [f64; 3]| {
        let inputs = [("left", scalar(left)), ("top", scalar(top)), ("step", scalar(step))];
        example.run(&[("H", h), ("W", w), ("T", t)], &inputs)
    };
    // On the real axis: 0, -1 and -2 never leave, 1 goes 1, 2, 5, and -3 leaves at once.
    for t in [0, 1, 2, 31] {
        let expected = array((1, 5), |(_, x)| [0, t, t, t, t.min(2)][x] as f64);
        expect(&run((1, 5), t, [-3.0, 0.0, 1.0])?, "count", &expected, EXACT)?;
    }
    for (h, w) in SIZES {
        let [left, top, step] = [-2.0, -1.125, 0.0625];
        let expected = array((h, w), |(y, x)| {
            let (re, im) = (left + step * x as f64, top + step * y as f64);
            let mut z = (0.0, 0.0);
            let stays = (0..20).take_while(|_| {
                z = (z.0 * z.0 - z.1 * z.1 + re, 2.0 * z.0 * z.1 + im);
                z.0 * z.0 + z.1 * z.1 <= 4.0
            });
            stays.count() as f64
        });
        expect(&run((h, w), 20, [left, top, step])?, "count", &expected, EXACT)?;
    }
    Ok(())
}
