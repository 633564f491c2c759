//! Random kernels compute the same here as in the interpreter, bit for bit.

use std::fmt::Write;

use farkas_cpu::{CallError, Options};
use interp::{Env, run_loops};
use program::{Data, Value};

mod run;
use run::{compiled_with, verified};

/// The size parameter. Every dimension of every array has this extent, or `2 * N` for the last of `B`.
const N: i64 = 16;

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

struct Writer {
    random: Random,
    out: String,
    /// Names of loop variables, each between 0 and 3.
    vars: Vec<String>,
    fresh: usize,
}

impl Writer {
    /// A subscript between 0 and 15.
    fn subscript(&mut self) -> String {
        let mut lowest = 0;
        let mut text = String::new();
        for var in self.vars.clone() {
            let factor = self.random.below(3) as i64 - 1;
            if factor != 0 {
                lowest += if factor < 0 { -3 } else { 0 };
                let _ = write!(text, "{factor} * {var} + ");
            }
        }
        // At most five variables are in scope, each moving the sum by 3 at most, so 15 is the largest.
        let plain = format!("{text}{}", -lowest);
        match self.random.below(6) {
            0 => format!("({plain}) mod 7"),
            1 => format!("floor(({plain}) / 3)"),
            2 => format!("min({plain}, N - 1)"),
            3 => format!("N - 1 - ({plain})"),
            _ => plain,
        }
    }

    fn cell(&mut self, array: &str) -> String {
        let (a, b) = (self.subscript(), self.subscript());
        match array {
            "B" => format!("B[{a}, 2 * ({b})]"),
            "I" | "J" => format!("{array}[{b}]"),
            _ => format!("{array}[{a}, {b}]"),
        }
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.subscript(), self.subscript());
        let (c, d) = (self.subscript(), self.subscript());
        let (op, other) = (self.random.pick(&["<", ">=", "=="]), self.random.pick(&["<=", "!=", ">"]));
        match self.random.below(3) {
            0 => format!("{a} {op} {b}"),
            1 => format!("not ({a} {op} {b} and {c} {other} {d})"),
            _ => format!("{a} {op} {b} or {c} {other} {d}"),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(7) {
                0 => "x".to_owned(),
                1 => "1.25".to_owned(),
                2 => "a".to_owned(),
                3 => format!("f64({})", self.cell("I")),
                4 => self.cell("B"),
                5 => self.cell("C"),
                _ => self.cell("A"),
            };
        }
        let (l, r) = (self.float(depth - 1), self.float(depth - 1));
        match self.random.below(9) {
            0 => format!("({l} + {r})"),
            1 => format!("({l} - {r})"),
            2 => format!("({l} * {r})"),
            3 => format!("({l} / {r})"),
            4 => format!("min({l}, {r})"),
            5 => format!("max({l}, {r})"),
            6 => format!("select(cond({}), {l}, {r})", self.condition()),
            7 => format!("select({l} < {r}, {r}, {l})"),
            _ => format!("{}({l})", self.random.pick(&["sqrt", "exp", "tanh", "floor", "abs", "-"])),
        }
    }

    fn integer(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(5) {
                0 => "n".to_owned(),
                1 => "-7".to_owned(),
                2 => format!("index({})", self.subscript()),
                3 => self.cell("J"),
                _ => self.cell("I"),
            };
        }
        let (l, r) = (self.integer(depth - 1), self.integer(depth - 1));
        match self.random.below(8) {
            0 => format!("({l} + {r})"),
            1 => format!("({l} * {r})"),
            2 => format!("({l} - {r})"),
            3 => format!("({l} / ({r} * 2 + 1))"),
            4 => format!("({l} % {})", self.random.pick(&["8", "-3", "10"])),
            5 => format!("min({l}, {r})"),
            6 => format!("i64(i32({l}))"),
            _ => format!("select({l} <= {r}, i64({}), {r})", self.float(1)),
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(if depth == 0 { 4 } else { 8 }) {
            0 => {
                let (cell, value) = (self.cell("J"), self.integer(2));
                let op = self.random.pick(&["=", "=", "+=", "max="]);
                let _ = writeln!(self.out, "{cell} {op} {value}");
            }
            1 => {
                let value = self.float(2);
                let op = self.random.pick(&["=", "=", "+=", "min="]);
                let _ = writeln!(self.out, "a {op} {value}");
            }
            2 | 3 => {
                let (cell, value) = (self.cell("C"), self.float(2));
                let op = self.random.pick(&["=", "=", "+=", "*=", "max="]);
                let _ = writeln!(self.out, "{cell} {op} {value}");
            }
            4 => {
                let condition = self.condition();
                let _ = writeln!(self.out, "if {condition} {{");
                self.block(depth - 1);
                self.out.push_str("} else {\n");
                self.block(depth - 1);
                self.out.push_str("}\n");
            }
            _ if self.vars.len() == 5 => self.block(depth - 1),
            _ => {
                let var = format!("v{}", self.fresh);
                self.fresh += 1;
                let kind = self.random.pick(&["", "unroll "]);
                let outer = self.vars.last().cloned().unwrap_or_else(|| "1".to_owned());
                let (lo, hi) = (self.random.pick(&["0", "0", "1", &outer]), self.random.pick(&["4", "N - 12", &outer]));
                let step = self.random.pick(&["", "", " by 2", " by 3"]);
                let _ = writeln!(self.out, "{kind}for {var} in {lo}..{hi}{step} {{");
                self.vars.push(var);
                self.block(depth - 1);
                self.vars.pop();
                self.out.push_str("}\n");
            }
        }
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..=self.random.below(3) {
            self.statement(depth);
        }
    }
}

fn kernel(seed: u64) -> String {
    let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut writer = Writer { random, out: String::new(), vars: Vec::new(), fresh: 0 };
    for _ in 0..3 {
        writer.statement(4);
    }
    format!(
        "kernel t(N; x: f64, n: i64; A: in f64[N, N], B: in f64[N, 2 * N], I: in i64[N], C: inout f64[N, N],
            J: inout i64[N]) {{
            local a: f64
            a = 0.5
            {}
        }}",
        writer.out
    )
}

#[test]
fn random_kernels_agree_with_the_interpreter() {
    let mut finished = 0;
    for seed in 1..=200 {
        let text = kernel(seed);
        let floats = |len: i64| (0..len).map(|at| ((at * 7919) % 37) as f64 / 4.0 - 4.0).collect::<Vec<f64>>();
        let integers = (0..N).map(|at| (at * 31) % 13 - 6).collect::<Vec<i64>>();
        let arrays: [Data; 5] = [
            floats(N * N).into(),
            floats(2 * N * N).into(),
            integers.clone().into(),
            floats(N * N).into(),
            integers.into(),
        ];
        let scalars = vec![Value::F64(-1.5), Value::I64(11)];
        let mut env =
            Env { params: vec![N], scalars: scalars.clone(), arrays: arrays.iter().cloned().map(Some).collect() };
        let expected = run_loops(&verified(&text), &mut env);
        for check_bounds in [false, true] {
            let mut arrays = arrays.clone();
            let compiled = compiled_with(&text, &Options { check_bounds, ..Options::default() });
            let mut buffers = run::buffers(&verified(&text), &mut arrays);
            let got = compiled.call(&[N], &scalars, &mut buffers);
            drop(buffers);
            match (&expected, got) {
                (Ok(()), Ok(())) => {
                    finished += 1;
                    for (position, array) in arrays.into_iter().enumerate() {
                        assert_eq!(Some(array), env.arrays[position], "array {position}, seed {seed}:\n{text}");
                    }
                }
                (Err(interp::Error::Fault(_)), Err(CallError::Fault(_))) => {}
                (expected, got) => unreachable!("seed {seed}: {expected:?}, {got:?}\n{text}"),
            }
        }
    }
    assert!(finished > 300, "only {finished} runs finished");
}
