//! Random vector loop nests: the same bits on every tier of this host as in the interpreter.
//!
//! Types, strides, masks, trip counts from none to three groups of lanes, loops inside and around, sums over lanes, cells that depend on data. Sums of
//! floats are rounded, so that their order shows. `FARKAS_NESTS_SEED` and `FARKAS_NESTS_COUNT` choose
//! other nests, and more of them.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Write;

use farkas_cpu::{Options, Tier};
use interp::{Env, run_concurrently, run_loops};
use program::{Data, Value};

mod run;
use run::{buffers, compiled_with, verified};

struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// Writes one nest. Arrays that are written are touched at the cells of their own iteration only, so that lanes may run at
/// once.
struct Writer {
    random: Random,
    out: String,
    /// The type of `A`, `C`, `t` and `s`; the type of `B` and `D`.
    types: [&'static str; 2],
    /// The subscript of `C` and `D` that belongs to an iteration.
    own: &'static str,
    /// Inner loop variables, each from 0 to 3.
    vars: Vec<String>,
    fresh: usize,
    /// Whether `t` has been set for sure.
    local: bool,
}

impl Writer {
    fn small(&mut self) -> String {
        if !self.vars.is_empty() && self.random.below(3) > 0 {
            let position = self.random.below(self.vars.len());
            return self.vars[position].clone();
        }
        self.random.below(4).to_string()
    }

    /// Up to `3 * N + 7`.
    fn far(&mut self) -> String {
        let small = self.small();
        let base = self.random.pick(&["j", "j", "j", "2 * j", "3 * j", "N - 1 - j", "j", "0"]);
        format!("{base} + {small} + {}", self.random.below(5))
    }

    fn condition(&mut self) -> String {
        let op = self.random.pick(&["<", ">=", "==", "<=", "!=", ">"]);
        let small = self.small();
        match self.random.below(6) {
            0 => format!("{small} {op} 2"),
            1 => format!("2 * j {op} N + {small}"),
            2 => format!("N - j {op} 5 and j {op} {small}"),
            3 => format!("not (j {op} 3 or N {op} 2 * {small})"),
            4 => format!("3 * j + 1 {op} N + {small}"),
            _ => format!("j {op} {small} + 2"),
        }
    }

    fn value(&mut self, which: usize, depth: usize) -> String {
        let ty = self.types[which];
        let float = ty.starts_with('f');
        if depth == 0 {
            let (small, far) = (self.small(), self.far());
            return match self.random.below(9) {
                0 if float => format!("3.0{ty}"),
                0 if ty != "bool" => format!("5{ty}"),
                1 if which == 0 => format!("C[{small}, {}]", self.own),
                2 if which == 1 => format!("D[{}]", self.own),
                3 if which == 0 && self.local => "t".to_owned(),
                4 if which == 0 => "x".to_owned(),
                5 if ty != "bool" => format!("{ty}(index({far}))"),
                6 if which == 0 => format!("A[{far}, {small}]"),
                8 if which == 0 => format!("gather(A, G[{far}], index({small}))"),
                8 => format!("gather(B, G[{far}])"),
                _ if which == 0 => format!("A[{small}, {far}]"),
                _ => format!("B[{far}]"),
            };
        }
        let (l, r) = if self.random.below(4) == 0 {
            self.neighbours(which)
        } else {
            (self.value(which, depth - 1), self.value(which, depth - 1))
        };
        if ty == "bool" {
            return match self.random.below(5) {
                0 => format!("({l} and {r})"),
                1 => format!("({l} or {r})"),
                2 => format!("(not {l})"),
                3 => format!("cond({})", self.condition()),
                _ => format!("({l} != {r})"),
            };
        }
        match self.random.below(12) {
            // Divisors are not zero.
            10 if !float => format!("(({l}) / {})", self.divisor(ty)),
            11 if !float => format!("(({l}) % {})", self.divisor(ty)),
            0 | 1 => format!("({l} + {r})"),
            2 => format!("({l} - {r})"),
            3 => format!("min({l}, {r})"),
            4 => format!("max({l}, {r})"),
            5 => format!("select(cond({}), {l}, {r})", self.condition()),
            6 => format!("select({l} < {r}, {r}, {l})"),
            7 => format!("abs({l})"),
            8 => {
                let other = self.value(1 - which, 0);
                format!("{ty}({other})")
            }
            // A literal takes the sign as its own, which not every type has.
            _ if l.starts_with(|first: char| first.is_ascii_digit()) => l,
            _ => format!("(-{l})"),
        }
    }

    /// Two elements beside each other.
    fn neighbours(&mut self, which: usize) -> (String, String) {
        let (small, far) = (self.small(), self.far());
        match which {
            0 => (format!("A[{small}, {far}]"), format!("A[{small}, {far} + 1]")),
            _ => (format!("B[{far}]"), format!("B[{far} + 1]")),
        }
    }

    fn divisor(&mut self, ty: &str) -> String {
        match self.random.below(3) {
            0 => format!("8{ty}"),
            1 => format!("7{ty}"),
            _ => format!("({ty}(index(j)) + 11{ty})"),
        }
    }

    fn statement(&mut self, depth: usize) {
        let small = self.small();
        match self.random.below(if depth == 0 { 5 } else { 9 }) {
            0 => {
                let value = self.value(0, 2);
                let _ = writeln!(self.out, "C[{small}, {}] = {value}", self.own);
            }
            1 => {
                let value = self.value(1, 2);
                let _ = writeln!(self.out, "D[{}] = {value}", self.own);
            }
            2 => {
                let value = self.value(0, 1);
                let _ = writeln!(self.out, "t = {value}");
                self.local |= self.vars.is_empty() && depth == 2;
            }
            3 => {
                let value = self.value(0, 1);
                let op = self.update();
                let _ = writeln!(self.out, "C[{small}, {}] {op} {value}", self.own);
            }
            4 => {
                let far = self.far();
                let (value, op) = (format!("A[{small}, {far}]"), self.update());
                if self.types[0] != "bool" && self.random.below(2) == 0 {
                    let _ = writeln!(self.out, "C[{small}, {}] += {value} * A[1, {far}]", self.own);
                } else {
                    let _ = writeln!(self.out, "C[{small}, {}] {op} {value}", self.own);
                }
            }
            5 => {
                let condition = self.condition();
                let _ = writeln!(self.out, "if {condition} {{");
                self.block(depth - 1);
                self.out.push_str("} else {\n");
                self.block(depth - 1);
                self.out.push_str("}\n");
            }
            _ if self.vars.len() == 3 => self.block(depth - 1),
            _ => {
                let var = format!("v{}", self.fresh);
                self.fresh += 1;
                let kind = self.random.pick(&["", "unroll "]);
                let (lo, hi) = (self.random.pick(&["0", "0", "1"]), self.random.pick(&["4", "3", "min(N, 4)"]));
                let step = self.random.pick(&["", "", " by 2"]);
                let _ = writeln!(self.out, "{kind}for {var} in {lo}..{hi}{step} {{");
                self.vars.push(var);
                self.block(depth - 1);
                self.vars.pop();
                self.out.push_str("}\n");
            }
        }
    }

    fn update(&mut self) -> &'static str {
        if self.types[0] == "bool" {
            self.random.pick(&["and=", "or="])
        } else {
            self.random.pick(&["+=", "max=", "min="])
        }
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..=self.random.below(2) {
            self.statement(depth);
        }
    }
}

const TYPES: [&str; 11] = ["f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"];

fn nest(seed: u64) -> (String, [&'static str; 2], i64) {
    let mut random = Random::new(seed);
    let types = [random.pick(&TYPES), random.pick(&TYPES)];
    let own = random.pick(&["j", "j", "N - 1 - j", "2 * j", "j + 1"]);
    let lanes = [1, 2, 4, 8, 16, 32, 3][random.below(7)];
    let n = random.below(3 * lanes + 2) as i64;
    let lo = random.below(3);
    let sum = random.below(4);
    let step = random.pick(&["", "", "", " by 2"]);
    // A short loop around is part of the leaf, if what else is in it allows.
    let around = random.pick(&["", "", "0..3", "0..min(N, 4)", "1..4"]);
    let vars = if around.is_empty() { Vec::new() } else { vec!["p".to_owned()] };
    let mut writer = Writer { random, out: String::new(), types, own, vars, fresh: 0, local: false };
    for _ in 0..2 {
        writer.statement(2);
    }
    let op = writer.update();
    let far = writer.far();
    match sum {
        0 => {
            let _ = writeln!(writer.out, "s[] {op} A[2, {far}]");
        }
        1 => {
            let _ = writeln!(writer.out, "u {op} A[2, {far}]");
        }
        2 => {
            let _ = writeln!(writer.out, "for w in 0..3 {{ r[w] {op} A[w, {far}] }}");
        }
        _ => {}
    }
    let [a, b] = types;
    let zero = match a {
        "bool" => "false",
        ty if ty.starts_with('f') => "0.0",
        _ => "0",
    };
    let lanes_of_all = format!("vector({lanes}) for j in {lo}..N{step} {{ {} }}", writer.out);
    let body = if around.is_empty() {
        lanes_of_all
    } else {
        let rarely = if seed.is_multiple_of(3) { "if p != 1" } else { "if N > p" };
        format!(
            "for p in {around} {{
                q = A[p, 2]
                v = {zero}
                {rarely} {{ {lanes_of_all} }}
                vector({lanes}) for i in 0..N {{
                    v {op} A[p, i + 1]
                    C[p, i] {op} q
                }}
                w1[p] = v
                w1[p + 4] {op} q
            }}"
        )
    };
    let text = format!(
        "kernel nest(N; x: {a}; A: in {a}[3 * N + 9, 3 * N + 9], B: in {b}[3 * N + 9], C: inout {a}[4, 2 * N + 4],
            D: inout {b}[2 * N + 4], s: inout {a}[], r: inout {a}[3], w0: inout {a}[],
            G: in i64[3 * N + 9], w1: inout {a}[8]) {{
            local t: {a}
            local u: {a}
            local q: {a}
            local v: {a}
            u = {zero}
            {body}
            w0[] = u
        }}"
    );
    (text, types, n)
}

fn data(ty: &str, length: usize) -> Data {
    let number = |at: usize| (at * 7919 % 23) as i64 - 8;
    let all = 0..length;
    match ty {
        "f32" => all.map(|at| number(at) as f32 / 7.0).collect::<Vec<_>>().into(),
        "f64" => all.map(|at| number(at) as f64 / 7.0).collect::<Vec<_>>().into(),
        "i8" => all.map(|at| number(at) as i8).collect::<Vec<_>>().into(),
        "i16" => all.map(|at| number(at) as i16).collect::<Vec<_>>().into(),
        "i32" => all.map(|at| number(at) as i32).collect::<Vec<_>>().into(),
        "i64" => all.map(number).collect::<Vec<_>>().into(),
        "u8" => all.map(|at| number(at) as u8).collect::<Vec<_>>().into(),
        "u16" => all.map(|at| number(at) as u16).collect::<Vec<_>>().into(),
        "u32" => all.map(|at| number(at) as u32).collect::<Vec<_>>().into(),
        "u64" => all.map(|at| number(at) as u64).collect::<Vec<_>>().into(),
        _ => all.map(|at| number(at) > 3).collect::<Vec<_>>().into(),
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What became of one nest.
#[derive(Default)]
struct Checked {
    /// Why it has no lanes, if so.
    reason: Option<String>,
    /// Whether neighbours are made of each other instead of loaded; known of few.
    slides: bool,
}

/// Runs one nest everywhere.
fn check(seed: u64) -> Checked {
    let (text, [a, b], n) = nest(seed);
    let size = n as usize;
    let kernel = verified(&text);
    let arrays = [
        data(a, (3 * size + 9) * (3 * size + 9)),
        data(b, 3 * size + 9),
        data(a, 4 * (2 * size + 4)),
        data(b, 2 * size + 4),
        data(a, 1),
        data(a, 3),
        data(a, 1),
        (0..3 * size + 9).map(|at| (at * 31 % (3 * size + 9)) as i64).collect::<Vec<_>>().into(),
        data(a, 8),
    ];
    let scalar: Value = data(a, 6).get(5).expect("an element");
    let env = || Env { params: vec![n], scalars: vec![scalar], arrays: arrays.iter().cloned().map(Some).collect() };
    let (mut in_order, mut in_lockstep) = (env(), env());
    run_loops(&kernel, &mut in_order).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    run_concurrently(&kernel, &mut in_lockstep, seed).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    assert_eq!(in_order.arrays, in_lockstep.arrays, "seed {seed}: lanes depend on each other\n{text}");
    let mut checked = Checked::default();
    // Those with vectors of 128 bits take turns, as most of the time goes into code for them.
    let (narrow, wide): (Vec<Tier>, Vec<Tier>) =
        Tier::ALL.into_iter().filter(|tier| tier.is_available()).partition(|tier| *tier < Tier::V3);
    let turn = narrow[seed as usize % narrow.len()];
    for tier in [turn].into_iter().chain(wide) {
        // The lanes are the same on every tier; text takes longer than code.
        let keep_text = tier == turn || tier == Tier::V4 && seed.is_multiple_of(8);
        // As if no array fitted into the caches, every other time.
        let streams = seed.is_multiple_of(2).then_some(0);
        let compiled = compiled_with(&text, &Options { keep_text, tier: Some(tier), streams, ..Options::default() });
        let mut found = arrays.to_vec();
        let called = compiled.call(&[n], &[scalar], &mut buffers(&kernel, &mut found));
        called.unwrap_or_else(|error| panic!("seed {seed}, {tier}: {error}\n{text}"));
        for (position, (found, expected)) in found.iter().zip(&in_order.arrays).enumerate() {
            assert!(
                Some(found) == expected.as_ref(),
                "seed {seed}, N={n}, {tier}, array {position}: {found:?}\ninstead of {expected:?}\n{text}\n{}",
                compiled.lanes()
            );
        }
        let reason = compiled.lanes().strip_prefix('#').map(|reason| reason.trim().to_owned());
        checked.reason = reason.or(checked.reason);
        checked.slides |= compiled.lanes().contains("= slide");
    }
    checked
}

#[test]
fn random_nests_agree() {
    let (first, count) = (setting("FARKAS_NESTS_SEED", 1), setting("FARKAS_NESTS_COUNT", 2_000));
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let part = |thread: u64| (first + thread..first + count).step_by(threads as usize).map(check).collect();
    let checked: Vec<Vec<Checked>> = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let checked: Vec<Checked> = checked.into_iter().flatten().collect();
    let slides = checked.iter().filter(|checked| checked.slides).count() as u64;
    assert!(!Tier::V4.is_available() || slides * 400 > count, "only {slides} of {count} nests have neighbours");
    let mut reasons: Vec<String> = checked.into_iter().filter_map(|checked| checked.reason).collect();
    let without = reasons.len() as u64;
    reasons.sort();
    reasons.dedup();
    assert!(without * 2 < count, "{without} of {count} nests have no lanes: {reasons:#?}");
}

/// The lane programs of a kernel with vector loops in a loop, by the names of their loops.
fn leaves_of(bounds: &str, lanes: [u32; 2]) -> Vec<String> {
    let [one, two] = lanes;
    let text = format!(
        "kernel rows(N; A: in f64[N, N], B: inout f64[N, N], s: inout f64[N]) {{
            local q: f64
            for k in 0..N {{
                for p in {bounds} {{
                    q = A[p, 0]
                    vector({one}) for i in 0..N {{
                        B[p, i] = q * A[p, i]
                    }}
                    vector({two}) for i in 0..N {{
                        s[p] += B[p, i]
                    }}
                }}
            }}
        }}"
    );
    let compiled = compiled_with(&text, &Options { keep_text: true, ..Options::default() });
    let heads = compiled.lanes().lines().filter(|line| line.starts_with("lanes"));
    heads.map(|head| head.split('"').nth(1).unwrap_or_default().to_owned()).collect()
}

#[test]
fn short_loops_around_are_part_of_the_leaf() {
    assert_eq!(leaves_of("max(0, 8 * k - N)..min(N, 8 * k - N + 8)", [8, 8]), ["rows p"]);
    // A long loop asks whether the call is cancelled, and all vector loops of a leaf have the same lanes.
    assert_eq!(leaves_of("0..N", [8, 8]), ["rows i", "rows i"]);
    assert_eq!(leaves_of("0..min(N, 65)", [8, 8]), ["rows i", "rows i"]);
    assert_eq!(leaves_of("0..min(N, 64)", [8, 16]), ["rows i", "rows i"]);
}
