//! Scripts with the verbs that change statements, on programs whose results are computed here by hand.
//!
//! Whatever such a script is allowed to do, the results stay the same. Integers wrap, so that every order of a sum gives the
//! same bits and every wrong value shows.

use diag::{Source, Style};
use farkas::{Args, Data, Engine, Error, Options};

use crate::dice::Dice;
use crate::number;

/// A program, the loops and arrays that steps may name, and what it computes.
struct Template {
    text: &'static str,
    statements: &'static [(&'static str, &'static [&'static str])],
    arrays: &'static [&'static str],
    compute: fn(usize, &[i64], &[i64]) -> Vec<i64>,
}

const TEMPLATES: [Template; 4] = [
    Template {
        text: "fn f<N>(x: i64[N, N], y: i64[N, N]) -> (z: i64[N, N]) { z[i, j] = sum[k] x[i, k] * y[k, j] }",
        statements: &[("S0", &["i", "j", "k"])],
        arrays: &["x", "y"],
        compute: |n, x, y| {
            let cell = |i: usize, j: usize| {
                (0..n).fold(0_i64, |sum, k| sum.wrapping_add(x[i * n + k].wrapping_mul(y[k * n + j])))
            };
            (0..n * n).map(|at| cell(at / n, at % n)).collect()
        },
    },
    Template {
        text: "fn f<N>(x: i64[N, N], y: i64[N, N]) -> (z: i64[N, N]) {
    let a[i, j] = 3 * x[i, j] + 1
    z[i, j] = if i >= 1 then a[i, j] - 2 * a[i - 1, j] + y[i, j] else a[i, j]
}",
        statements: &[("S0", &["i", "j"]), ("S1", &["i", "j"])],
        arrays: &["a", "x", "y"],
        compute: |n, x, y| {
            let a = |at: usize| x[at].wrapping_mul(3).wrapping_add(1);
            let cell = |at: usize| match at >= n {
                true => a(at).wrapping_sub(a(at - n).wrapping_mul(2)).wrapping_add(y[at]),
                false => a(at),
            };
            (0..n * n).map(cell).collect()
        },
    },
    Template {
        text: "fn f<N>(x: i64[N, N], y: i64[N, N]) -> (z: i64[N, N]) {
    let s[i] = sum[k] x[i, k]
    z[i, j] = s[i] * y[j, i] + s[j]
}",
        statements: &[("S0", &["i", "k"]), ("S1", &["i", "j"])],
        arrays: &["s", "x", "y"],
        compute: |n, x, y| {
            let s = |i: usize| x[i * n..(i + 1) * n].iter().fold(0_i64, |sum, x| sum.wrapping_add(*x));
            let cell = |i: usize, j: usize| s(i).wrapping_mul(y[j * n + i]).wrapping_add(s(j));
            (0..n * n).map(|at| cell(at / n, at % n)).collect()
        },
    },
    Template {
        text: "fn f<N>(x: i64[N, N], y: i64[N, N]) -> (z: i64[N, N]) {
    let a[i, j] = x[j, i] + 2 * y[i, j]
    let b[i, j] = sum[k | k <= i] a[k, j]
    z[i, j] = b[i, j] - a[i, j]
}",
        statements: &[("S0", &["i", "j"]), ("S1", &["i", "j", "k"]), ("S2", &["i", "j"])],
        arrays: &["a", "b", "x", "y"],
        compute: |n, x, y| {
            let a = |i: usize, j: usize| x[j * n + i].wrapping_add(y[i * n + j].wrapping_mul(2));
            let cell =
                |i: usize, j: usize| (0..=i).fold(0_i64, |sum, k| sum.wrapping_add(a(k, j))).wrapping_sub(a(i, j));
            (0..n * n).map(|at| cell(at / n, at % n)).collect()
        },
    },
];

fn step(dice: &mut Dice, template: &Template, position: usize) -> String {
    let (statement, loops) = *dice.among(template.statements);
    let (other, _) = *dice.among(template.statements);
    let (a, b) = (*dice.among(loops), *dice.among(loops));
    let array = *dice.among(template.arrays);
    let size = *dice.among(&[2, 3]);
    let part = format!("{statement}{}", dice.among(&["", "_update"]));
    match dice.roll(20) {
        0 => format!("tile {statement}[{a}, {b}] by {size}, {size} as (p{position}, q{position})"),
        1 => format!("strip {statement}[{a}] by {size} as p{position}"),
        2 => format!("interchange {statement}[{a}, {b}]"),
        3 => format!("fuse {statement}, {other} at {a}"),
        4 => format!("parallel {statement}[{a}]"),
        5 => format!("vectorize {statement}[{a}] by 4 as v{position}"),
        6 | 7 => format!("rfactor {statement}[{a}]"),
        8 | 9 => format!("inline {array}"),
        10 | 11 => format!("pack {array} at {statement}[{a}]"),
        12 | 13 => format!("compute_at {array} at {statement}[{a}]"),
        14 => format!("jam {statement}[{a}] by {size}"),
        15 => format!("detach {part} where {a} / {size} < {b} / {size} as d{position}"),
        16 => format!("detach {part} where {a} < {b} as d{position}\n    reverse d{position}[{b}]"),
        17 => format!("detach {part} where {a} >= {size} as d{position}\n    fission d{position}, {part} at {b}"),
        18 => format!("detach {part} where {a} % {size} = 1 as d{position}\n    pack {array} at d{position}[{b}]"),
        _ => format!("reverse {statement}[{a}]"),
    }
}

/// What came of a script: whether it was followed.
fn judge(template: &Template, script: &str) -> Result<bool, String> {
    let schedule = farkas::Schedule::Script(Source::new("s.sched", script));
    let time_limit = std::time::Duration::from_secs(10);
    let engine = Engine::with_options(Options { schedule: Some(schedule), time_limit, ..Options::default() });
    let module = match engine.compile_source(&Source::new("f.fks", template.text)) {
        Ok(module) => module,
        Err(Error::User { .. } | Error::Budget { .. }) => return Ok(false),
        Err(error) => return Err(error.render(Style::Plain)),
    };
    let function = module.function("f").map_err(|error| error.to_string())?;
    for n in [0, 1, 5, 9_usize] {
        let start = |seed: i64| (0..(n * n) as i64).map(|at| (at + seed) * 7919 % 1009 - 300).collect::<Vec<i64>>();
        let (x, y) = (start(1), start(77));
        let (given_x, given_y) = (Data::from(x.clone()), Data::from(y.clone()));
        let mut z = Data::from(vec![-1_i64; n * n]);
        let mut args = Args::new();
        args.data("x", &given_x, &[n, n]).data("y", &given_y, &[n, n]).data_mut("z", &mut z, &[n, n]);
        function.call(&mut args).map_err(|error| error.to_string())?;
        drop(args);
        if z != Data::from((template.compute)(n, &x, &y)) {
            return Err(format!("UNSOUND: followed, but computes something else for N = {n}"));
        }
    }
    Ok(true)
}

#[test]
fn what_rewriting_verbs_are_allowed_to_do_changes_no_result() {
    let pairs = number("FARKAS_PAIRS", 1200) / 4;
    let start = number("FARKAS_SEED", 0).wrapping_mul(1_000_003);
    let mut followed = 0;
    let mut failures = Vec::new();
    for at in 0..pairs {
        let mut dice = Dice::new(start + at + 77);
        let template = &TEMPLATES[dice.roll(TEMPLATES.len())];
        let steps: Vec<String> = (0..1 + dice.roll(3)).map(|position| step(&mut dice, template, position)).collect();
        let script = format!("schedule f {{\n    {}\n}}\n", steps.join("\n    "));
        match judge(template, &script) {
            Ok(fine) => followed += usize::from(fine),
            Err(what) => failures.push(format!("{what}\n{}\n{script}", template.text)),
        }
    }
    assert!(failures.is_empty(), "{} of {pairs}:\n{}", failures.len(), failures[..failures.len().min(5)].join("\n"));
    assert!(pairs < 100 || followed * 10 > pairs as usize, "only {followed} of {pairs} scripts were followed");
    eprintln!("{pairs} scripts, {followed} followed");
}
