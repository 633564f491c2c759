//! Random layouts of random extents: verdicts agree with enumeration, and code with the interpreter.
//!
//! 2,000 of each. The same layouts are tried each time; `FARKAS_SEED` gives others, and `FARKAS_CASES` another number of compiled ones.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use farkas::{Args, Data, Engine, Error, Options, Schedule, Source, Style};
use program::{Affine, IterId};

/// A generator of numbers that is the same everywhere.
struct Random(u64);

impl Random {
    fn new(salt: u64) -> Random {
        let seed = std::env::var("FARKAS_SEED").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        Random((seed ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, end: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        i64::try_from((self.0 >> 11) % u64::try_from(end).unwrap()).unwrap()
    }

    fn chance(&mut self, of: i64) -> bool {
        self.below(of) == 0
    }
}

/// A place of the cell `[i, j]`.
#[derive(Clone, Debug)]
enum Place {
    Sum(i64, i64, i64),
    Div(Box<Place>, i64),
    Rem(Box<Place>, i64),
    Xor(Box<Place>, Box<Place>, u32),
}

impl Place {
    fn at(&self, (i, j): (i64, i64)) -> i64 {
        match self {
            Place::Sum(a, b, c) => a * i + b * j + c,
            Place::Div(place, by) => place.at((i, j)).div_euclid(*by),
            Place::Rem(place, by) => place.at((i, j)).rem_euclid(*by),
            Place::Xor(one, two, bits) => one.at((i, j)) ^ two.at((i, j)).rem_euclid(1 << bits),
        }
    }

    fn text(&self) -> String {
        match self {
            Place::Sum(a, b, c) => format!("({a} * i + {b} * j + {c})"),
            Place::Div(place, by) => format!("({} / {by})", place.text()),
            Place::Rem(place, by) => format!("({} % {by})", place.text()),
            Place::Xor(one, two, bits) => format!("({} ^ ({} % {}))", one.text(), two.text(), 1 << bits),
        }
    }

    fn affine(&self) -> Affine {
        let iter = |number| Affine::iter(IterId(number));
        match self {
            Place::Sum(a, b, c) => {
                Affine::constant(*c).add_scaled(&iter(0), *a).unwrap().add_scaled(&iter(1), *b).unwrap()
            }
            Place::Div(place, by) => place.affine().div(*by).unwrap(),
            Place::Rem(place, by) => place.affine().rem(*by).unwrap(),
            Place::Xor(..) => panic!("only in scripts"),
        }
    }

    fn random(random: &mut Random, xor: bool) -> Place {
        let sum = match random.below(4) {
            0 => Place::Sum(1, 0, 0),
            1 => Place::Sum(0, 1, 0),
            _ => Place::Sum(random.below(8) - 1, random.below(8) - 1, random.below(5)),
        };
        match random.below(if xor { 7 } else { 6 }) {
            0 | 1 => sum,
            2 => Place::Div(Box::new(sum), random.below(5) + 2),
            3 | 4 => Place::Rem(Box::new(sum), random.below(9) + 2),
            5 => Place::Rem(Box::new(Place::Div(Box::new(sum), random.below(3) + 2)), random.below(4) + 2),
            _ => Place::Xor(Box::new(sum), Box::new(Place::Sum(1, 0, 0)), u32::try_from(random.below(3) + 1).unwrap()),
        }
    }
}

/// Places in one to four dimensions; half of the time tiles or lines, of which one may be changed.
fn places(random: &mut Random, columns: i64, xor: bool) -> Vec<Place> {
    let (i, j) = (Place::Sum(1, 0, 0), Place::Sum(0, 1, 0));
    let (d, e) = (random.below(5) + 1, random.below(5) + 1);
    let mut places = match random.below(8) {
        0 => vec![Place::Sum(columns + random.below(2), 1, 0)],
        1 => vec![j, i],
        2 => vec![
            Place::Div(Box::new(i.clone()), d),
            Place::Div(Box::new(j.clone()), e),
            Place::Rem(Box::new(i), d),
            Place::Rem(Box::new(j), e),
        ],
        3 if xor => vec![i.clone(), Place::Xor(Box::new(j), Box::new(i), 2)],
        _ => (0..=random.below(3)).map(|_| Place::random(random, xor)).collect(),
    };
    if random.chance(4) {
        let position = usize::try_from(random.below(i64::try_from(places.len()).unwrap())).unwrap();
        places[position] = Place::random(random, xor);
    }
    places
}

fn all_at(places: &[Place], cell: (i64, i64)) -> Vec<i64> {
    places.iter().map(|place| place.at(cell)).collect()
}

fn cells(rows: i64, columns: i64) -> impl Iterator<Item = (i64, i64)> {
    (0..rows).flat_map(move |i| (0..columns).map(move |j| (i, j)))
}

#[test]
fn injectivity_agrees_with_enumeration() {
    let mut random = Random::new(1);
    let (mut injective, mut tried) = (0, 0);
    for _ in 0..40 {
        let (rows, columns) = (random.below(9) + 1, random.below(9) + 1);
        let text =
            format!("fn f(x: f64[{rows}, {columns}]) -> (y: f64[{rows}, {columns}]) {{\n    y[i, j] = x[i, j]\n}}\n");
        let source = Source::new("random.fks", text);
        let program = program::lower(&syntax::parse(&source).unwrap(), &source).unwrap();
        let ctx = isl::Context::new().unwrap();
        let scop = poly::model(&ctx, &program.functions[0]).unwrap();
        let (array, _) = scop.array_named("x").unwrap();
        for _ in 0..50 {
            let places = places(&mut random, columns, false);
            let mut found = HashMap::new();
            let apart = cells(rows, columns).all(|cell| found.insert(all_at(&places, cell), cell).is_none());
            let affine: Vec<Affine> = places.iter().map(Place::affine).collect();
            let map = poly::storage::place_map(&scop, array, &affine).unwrap();
            let map = map.intersect_domain(scop.cells(array).unwrap()).unwrap();
            assert_eq!(map.is_injective().unwrap(), apart, "{rows} x {columns}: {places:?}");
            let told = poly::storage::find_collision(&scop, array, &map).unwrap();
            assert_eq!(told.is_none(), apart, "{rows} x {columns}: {places:?}: {told:?}");
            injective += u32::from(apart);
            tried += 1;
        }
    }
    assert!(tried == 2000 && injective > 200 && injective < 1800, "{injective} of {tried} are injective");
}

/// What must become of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Verdict {
    Legal,
    /// A place is negative.
    Outside,
    /// A value would be overwritten that is still needed.
    Changed,
}

/// A program over a table `a` of `rows` by `columns`, and what its places must keep.
struct Table {
    text: String,
    /// Each row is made of the one before it; otherwise all cells are made, and then all are read.
    folds: bool,
    rows: i64,
    columns: i64,
}

impl Table {
    fn new(random: &mut Random) -> Table {
        let (rows, columns, folds) = (random.below(7) + 1, random.below(8) + 1, random.chance(2));
        let body = if folds {
            let before = "a[t - 1, i] + (if i >= 1 then a[t - 1, i - 1] else 1)";
            format!(
                "    let a: f64[{rows}, {columns}]\n    for t in 0..{rows} {{\n        for i in 0..{columns} {{\n            \
                 a[t, i] = if t >= 1 then {before} else x[t, i]\n        }}\n    }}\n    y[i] = a[{}, i]\n",
                rows - 1
            )
        } else {
            "    let a[i, j] = x[i, j] * 2 + 1\n    y[j] = sum[i] a[i, j]\n".to_string()
        };
        let text = format!("fn f(x: f64[{rows}, {columns}]) -> (y: f64[{columns}]) {{\n{body}}}\n");
        Table { text, folds, rows, columns }
    }

    fn verdict(&self, places: &[Place]) -> Verdict {
        if cells(self.rows, self.columns).any(|cell| all_at(places, cell).iter().any(|place| *place < 0)) {
            return Verdict::Outside;
        }
        let mut memory: HashMap<Vec<i64>, (i64, i64)> = HashMap::new();
        let mut same = true;
        for (t, i) in cells(self.rows, self.columns) {
            if self.folds && t >= 1 {
                let mut read = |cell| same &= memory.get(&all_at(places, cell)) == Some(&cell);
                read((t - 1, i));
                if i >= 1 {
                    read((t - 1, i - 1));
                }
            }
            memory.insert(all_at(places, (t, i)), (t, i));
        }
        let last = if self.folds { self.rows - 1 } else { 0 };
        same &= cells(self.rows, self.columns)
            .filter(|(t, _)| *t >= last)
            .all(|cell| memory.get(&all_at(places, cell)) == Some(&cell));
        if same { Verdict::Legal } else { Verdict::Changed }
    }
}

/// In a schedule, or `inside` the function, where the order is left to the compiler.
fn check(table: &Table, places: &[Place], inside: bool) -> Result<Verdict, String> {
    let list: Vec<String> = places.iter().map(Place::text).collect();
    let line = format!("    layout a[i, j] => [{}]\n", list.join(", "));
    let script = if inside { String::new() } else { format!("schedule f {{\n{line}}}\n") };
    let text = if inside { table.text.replacen("{\n", &format!("{{\n{line}"), 1) } else { table.text.clone() };
    let schedule = (!inside).then(|| Schedule::Script(Source::new("random.sched", script.as_str())));
    // The budget is isl's operations, which are the same everywhere; how long they take where others want the processor, too, is no verdict.
    let time_limit = Duration::from_secs(24 * 3600);
    let engine = Engine::with_options(Options { schedule, time_limit, ..Options::default() });
    let source = Source::new("random.fks", text.as_str());
    let expected = table.verdict(places);
    let shown = format!("{text}\n{script}");
    let (found, module) = match engine.compile_source(&source) {
        Ok(module) => (Verdict::Legal, Some(module)),
        Err(error @ Error::User { .. }) => {
            let text = error.render(Style::Plain);
            let changed = text.contains("error[E0517]");
            if !changed && !text.contains("error[E0520]") {
                return Err(format!("{shown}\n{text}"));
            }
            (if changed { Verdict::Changed } else { Verdict::Outside }, None)
        }
        Err(error) => return Err(format!("{shown}\n{}", error.render(Style::Plain))),
    };
    if found != expected {
        return Err(format!("{shown}\nexpected {expected:?}, found {found:?}"));
    }
    let Some(module) = module else { return Ok(found) };
    let function = module.function("f").unwrap();
    let (rows, columns) = (usize::try_from(table.rows).unwrap(), usize::try_from(table.columns).unwrap());
    let x = Data::F64((0..rows * columns).map(|value| value as f64 * 3.0 - 7.0).collect());
    let results = [farkas::Function::interpret, farkas::Function::call].map(|run| {
        let mut y = Data::F64(vec![0.0; columns]);
        let mut args = Args::new();
        args.data("x", &x, &[rows, columns]);
        args.data_mut("y", &mut y, &[columns]);
        run(function, &mut args).unwrap();
        drop(args);
        y
    });
    if results[0] == results[1] { Ok(found) } else { Err(format!("{shown}\n{results:?}")) }
}

/// How many pieces the cases come in: each has numbers of its own, so that it does not matter who runs it.
const PIECES: u64 = 40;

/// The outcomes of one piece.
fn piece(number: u64, cases: u32) -> HashMap<Verdict, u32> {
    let mut random = Random::new(2 + number);
    let mut outcomes: HashMap<Verdict, u32> = HashMap::new();
    for _ in 0..cases {
        let table = Table::new(&mut random);
        let places = places(&mut random, table.columns, true);
        let inside = random.chance(8);
        let verdict = check(&table, &places, inside).unwrap_or_else(|what| panic!("{what}"));
        *outcomes.entry(verdict).or_default() += 1;
    }
    outcomes
}

#[test]
fn layouts_keep_what_programs_compute() {
    let cases: u32 = std::env::var("FARKAS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    let each = cases.div_ceil(u32::try_from(PIECES).unwrap());
    let next = AtomicU64::new(0);
    let work = || {
        let mut outcomes: HashMap<Verdict, u32> = HashMap::new();
        while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < PIECES) {
            for (verdict, count) in piece(number, each) {
                *outcomes.entry(verdict).or_default() += count;
            }
        }
        outcomes
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let outcomes: HashMap<Verdict, u32> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().fold(HashMap::new(), |mut all, worker| {
            for (verdict, count) in worker.join().unwrap() {
                *all.entry(verdict).or_default() += count;
            }
            all
        })
    });
    let total: u32 = outcomes.values().sum();
    assert!(total >= cases, "{total} of {cases} were tried");
    let enough = |verdict| outcomes.get(&verdict).is_some_and(|count| count * 8 >= total);
    assert!(enough(Verdict::Legal) && enough(Verdict::Changed), "of {total} layouts: {outcomes:?}");
}

/// What makes a layout, in each notation: operations of CuTe and on morphisms, steps on domains, edges of coordinate graphs.
const VOCABULARIES: [(&str, &[&str]); 3] = [
    (
        "= ",
        &[
            "blocked_product",
            "coalesce",
            "complement",
            "compose",
            "composed",
            "composition",
            "concat",
            "factorise",
            "filter",
            "flat_divide",
            "flat_product",
            "flatten",
            "inverse",
            "left_inverse",
            "linear",
            "logical_divide",
            "logical_product",
            "morphism",
            "pullback",
            "pushforward",
            "raked_product",
            "restrict",
            "right_inverse",
            "slice",
            "sort",
            "squeeze",
            "sum",
            "swizzle",
            "swizzled",
            "tiled_divide",
            "tiled_product",
            "weak_composite",
            "zipped_divide",
            "zipped_product",
        ],
    ),
    ("] = ", &["merge", "outer_split", "reorder", "resize", "shift", "split", "swizzle"]),
    ("= graph; ", &["flatten", "flow", "join", "pass", "piecewise", "split", "sunder", "tile"]),
];

#[test]
fn every_word_of_the_vocabularies_has_a_case_that_runs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/layout");
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        if text.contains("--- run") {
            let is_layout = |line: &&str| line.trim_start().starts_with("layout ");
            lines.extend(text.lines().filter(is_layout).map(str::to_owned));
        }
    }
    let is_word = |before: &str| !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    for (start, words) in VOCABULARIES {
        for word in words {
            let called = |line: &String| {
                // Graphs have words of their own.
                let notation = line.split_once(start).filter(|_| start.contains("graph") || !line.contains("= graph"));
                notation.is_some_and(|(_, notation)| {
                    notation.match_indices(&format!("{word}(")).any(|(place, _)| is_word(&notation[..place]))
                })
            };
            assert!(lines.iter().any(called), "no case has a layout with `{word}` behind `{start}`");
        }
    }
}
