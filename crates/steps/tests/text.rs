//! A step, its text, and the step that is read from it are the same.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use diag::Source;
use farkas_steps as steps;
use farkas_steps::{Step, read, show_script};

const PROGRAM: &str = "fn f<N, M>(x: f64[N, M], k: f64) -> (y: f64[N, M], s: f64[N]) {
    y[i, j] = x[i, j] * k
    s[i] = sum[j] y[i, j]
}
";

/// Every verb, with every form of its operands.
const LINES: &[&str] = &[
    "tile S0[i, j] by 32, 8",
    "tile S0[i, j], S1[i, j] by 32, 8 as (it, jt)",
    "tile i by 4 as io",
    "strip i by 8",
    "strip S0_update[i] by 8 as io",
    "interchange S0[i, j]",
    "reorder S0[j, i]",
    "jam S0[i] by 4 as io",
    "unroll i",
    "unroll S0[i] by 8 as io",
    "vectorize j by 16 as jo",
    "parallel i",
    "parallel S0[i], S1[i]",
    "place i -> thread.x",
    "place S0[i], S1[i] -> block.y",
    "separate S0[j]",
    "skew S0[i, j] by -2",
    "shift S0[i] by -1",
    "reverse i",
    "scale S0[i] by 3",
    "fuse S0, S1 at i",
    "fission S1_init, S1_update at i",
    "sequence S1, S0",
    "split S0[i] where i < 5",
    "split S0[i] where i - N / 2 >= 0 and (i % 2 = 0 or N < 7)",
    "split S0[i] by 6 as (io, ii)",
    "outer_split S0[i], S1[i] by 3",
    "merge S0[i, j] as ij",
    "resize S0[i] by 1, -2",
    "swizzle S0[i, j]",
    "shift S0[i, j] as (i, js)",
    "loops S0[i, j] = split(i, 6); reorder(io, j, ii)",
    "loops S0[i] = split(i, 6); split(ii, 4) where i < N and ii < 6",
    "map { S0[i, j] -> [0, i + 2*j, -j + N / 2, i / 3]; S1_init[i] -> [i] }",
    "detach S1_update where j / 4 < i / 4 as S1_far",
    "detach S0 where i >= 3",
    "rfactor S1[j]",
    "rfactor S1[j] as (P, jc)",
    "pack x at S0[i] as xp",
    "pack x at i",
    "pack x at i by 8 as xp",
    "compute_at y at S1[i] as yl",
    "inline y",
    "pack x",
    "layout y[i, j] => [i / 4, j, i % 4] in [N, N, 4]",
    "layout x[i, j] => [i, j ^ (i % 8)] as xs",
    "layout y by 4, 1",
    "layout y[i, j] => [i, j] in [N, M + 8] fill -1.5",
    "layout y by 4, 1 fill max",
    "extend S1[j] by 8",
    "expand y[i] as ys",
    "layout y = (4,8):(8,1)",
    "layout y[i, j] = split(j, 8); reorder(jo, i, ji)",
];

fn function() -> program::Function {
    let source = Source::new("f.fks", PROGRAM);
    let file = syntax::parse(&source).unwrap_or_else(|errors| panic!("{errors:?}"));
    program::lower(&file, &source).unwrap_or_else(|errors| panic!("{errors:?}")).functions.remove(0)
}

fn read_steps(text: &str, function: &program::Function) -> Vec<Step> {
    let script = syntax::parse_script(&Source::new("f.sched", text)).unwrap_or_else(|errors| panic!("{errors:?}"));
    let read = |step| read(step, function).unwrap_or_else(|errors| panic!("{errors:?}"));
    script.schedules[0].steps.iter().map(read).collect()
}

#[test]
fn steps_read_back_as_they_are_shown() {
    let function = function();
    for line in LINES {
        let written = read_steps(&format!("schedule f {{ {line} }}"), &function);
        let shown = show_script(None, &written, &function);
        assert_eq!(read_steps(&shown, &function), written, "{line}, shown as\n{shown}");
        assert_eq!(show_script(None, &read_steps(&shown, &function), &function), shown);
    }
}

/// A verb that nobody thought of here would not be tested.
#[test]
fn every_verb_is_among_the_lines() {
    for (verb, _) in steps::verbs() {
        assert!(LINES.iter().any(|line| line.split_whitespace().next() == Some(verb)), "{verb}");
    }
}
