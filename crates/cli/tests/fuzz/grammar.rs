//! Programs and scripts from scratch: well-formed most of the time, with conditions, divisions and shapes as odd as they get.

use crate::dice::Dice;

const INDICES: [&str; 3] = ["i", "j", "k"];

fn affine(dice: &mut Dice, names: &[&str]) -> String {
    let name = *dice.among(names);
    let other = *dice.among(names);
    let number = *dice.among(&[0, 1, 2, 3, 7, 100, 1_234_567, 4_000_000_000_000_000_000_i64]);
    match dice.roll(10) {
        0 => format!("{name} + {number}"),
        1 => format!("{name} - {number}"),
        2 => format!("{number} * {name} + {other}"),
        3 => format!("({name} + {other}) / {}", number + 1),
        4 => format!("({name} - {number}) % {}", number + 2),
        5 => "N - 1 - i".to_owned(),
        6 => number.to_string(),
        7 => {
            let depth = *dice.among(&[2, 5, 40, 200]);
            let (open, close) = ("(".repeat(depth), format!(" + {name}) % {}", number + 2).repeat(depth));
            format!("{open}{name}{close}")
        }
        _ => name.to_owned(),
    }
}

fn condition(dice: &mut Dice, names: &[&str], depth: usize) -> String {
    if depth > 0 && dice.roll(2) == 0 {
        let joined = *dice.among(&["and", "or"]);
        return format!("({} {joined} {})", condition(dice, names, depth - 1), condition(dice, names, depth - 1));
    }
    let compared = *dice.among(&["<", "<=", "=", "!=", ">", ">="]);
    format!("{} {compared} {}", affine(dice, names), affine(dice, names))
}

fn cell(dice: &mut Dice, names: &[&str]) -> String {
    match dice.roll(2) {
        0 => format!("A[{}]", affine(dice, names)),
        _ => format!("B[{}, {}]", affine(dice, names), affine(dice, names)),
    }
}

fn value(dice: &mut Dice, names: &[&str], depth: usize) -> String {
    if depth == 0 {
        return cell(dice, names);
    }
    match dice.roll(6) {
        0 => format!("{} + {}", value(dice, names, depth - 1), value(dice, names, depth - 1)),
        1 => format!("{} * 2", value(dice, names, depth - 1)),
        2 => format!("(sum[m: 0..N | {}] {})", condition(dice, &["i", "m"], 1), cell(dice, &["i", "m"])),
        3 => format!("if {} then {} else 1", condition(dice, names, 1), cell(dice, names)),
        4 => format!("max({}, 3)", cell(dice, names)),
        _ => cell(dice, names),
    }
}

fn statement(dice: &mut Dice, depth: usize) -> String {
    let names = &INDICES[..1 + dice.roll(3)];
    match dice.roll(6) {
        5 if depth > 0 => {
            let inner = statement(dice, depth - 1);
            let ends = *dice.among(&["0..A[0]", "A[0]..N", "0..N while A[0] < 3", "0..N by 2 while B[0, 0] != 1"]);
            format!("for {} in {ends} {{ {inner} }}", dice.among(&["u", "v", "w"]))
        }
        0 if depth > 0 => {
            let name = *dice.among(&["t", "i", "j"]);
            let (inner, second) = (statement(dice, depth - 1), statement(dice, depth - 1));
            format!("for {name} in {}..{} {{ {inner}\n {second} }}", affine(dice, &["N"]), affine(dice, &["N", "M"]))
        }
        1 => format!("A[i | {}] = {}", condition(dice, &["i", "N"], 2), value(dice, &["i"], 2)),
        2 => format!("B[i, j | {}] = {}", condition(dice, &["i", "j", "N", "M"], 2), value(dice, &["i", "j"], 2)),
        3 => format!("{} = {}", cell(dice, names), value(dice, names, 2)),
        _ => format!("let c{0}[i: 0..N] = {1}", dice.roll(1000), value(dice, &["i"], 1)),
    }
}

pub(crate) fn program(dice: &mut Dice) -> String {
    let count = 1 + dice.roll(4);
    let statements: Vec<String> = (0..count).map(|_| statement(dice, 2)).collect();
    let ty = *dice.among(&["f64", "i64", "f32", "i8"]);
    let demand = if dice.roll(2) == 0 { "where N >= 3, M >= N " } else { "" };
    format!("fn f<N, M>(inout A: {ty}[N], inout B: {ty}[N, M]) {demand}{{\n    {}\n}}\n", statements.join("\n    "))
}

pub(crate) fn script(dice: &mut Dice) -> String {
    let count = 1 + dice.roll(4);
    let step = |_| {
        let (a, b) = (*dice.among(&INDICES), *dice.among(&["i", "j", "t"]));
        let statement = *dice.among(&["S0", "S1", "S2"]);
        let size = *dice.among(&[0, 1, 2, 8, 1_000_000, i64::MAX]);
        match dice.roll(18) {
            0 => format!("tile {statement}[{a}, {b}] by {size}, {size}"),
            1 => format!("interchange {statement}[{a}, {b}]"),
            2 => format!("skew {statement}[{a}, {b}] by {size}"),
            3 => format!("shift {statement}[{a}] by -{size}"),
            4 => format!("parallel {a}"),
            5 => format!("vectorize {a} by {size}"),
            6 => format!("unroll {a} by {size}"),
            7 => format!("fuse S0, S1 at {a}"),
            8 => format!("fission S0, S1 at {a}"),
            9 => format!("reverse {a}"),
            10 => format!("split {statement}[{a}] where {}", condition(dice, &["i", "N"], 1)),
            11 => format!("pack A at {statement}[{a}]"),
            12 => format!("rfactor {statement}[{a}]"),
            13 => format!("layout A[i] => [{}, i % {size}]", affine(dice, &["i"])),
            14 => format!("strip {a} by {size}; compute_at A at {a}o"),
            15 => format!("scale {statement}[{a}] by {size}; jam {statement}[{b}] by {size}"),
            16 => format!("place {a} -> {}", dice.among(&["block.x", "thread.x", "thread.z"])),
            _ => format!("map {{ {statement}[i] -> [{}] }}", affine(dice, &["i", "N"])),
        }
    };
    let steps: Vec<String> = (0..count).map(step).collect();
    format!("schedule f {{\n    {}\n}}\n", steps.join("\n    "))
}
