//! The same for reductions: a sum into `C` with its init, updates and fini, and a statement that reads what it makes.
//!
//! Updates of one cell may run in any order, at once or in lanes; everything else about them is as for other statements. The way
//! to each part follows from docs/schedules.md, and is written down here again.

use diag::{Diagnostic, Source, Style};
use farkas::{Args, Data, Error};

use crate::dice::Dice;
use crate::program::{Access, Instance};
use crate::schedule::{Entry, Kind, Schedule, Time};
use crate::{Tally, engine, number};

/// The parts, by the numbers that instances have.
const PARTS: [&str; 4] = ["S0_init", "S0_update", "S0_fini", "S1"];
const SUM: [usize; 3] = [0, 1, 2];
const UPDATE: usize = 1;
const READER: usize = 3;

const SIZES: std::ops::RangeInclusive<i64> = 0..=8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    Read,
    Write,
    Update,
}

/// `C[i, j] = sum[k] (31 * first + 17 * second)`, then `write = 31 * C[i + …, j + …] + 6`.
struct Program {
    depth: usize,
    terms: Vec<Access>,
    offsets: Vec<i64>,
    write: Access,
}

impl Program {
    fn random(dice: &mut Dice) -> Program {
        let depth = 1 + dice.roll(2);
        let terms = (0..1 + dice.roll(2)).map(|_| Access::random(dice, depth + 1)).collect();
        let offsets = (0..depth).map(|_| *dice.among(&[0, 0, 1, -1, 2])).collect();
        Program { depth, terms, offsets, write: Access::random(dice, depth) }
    }

    /// Of the loops, and of the terms of the sum.
    fn names(&self) -> (&'static [&'static str], &'static [&'static str]) {
        if self.depth == 1 { (&["i"], &["i", "k"]) } else { (&["i", "j"], &["i", "j", "k"]) }
    }

    fn text(&self) -> String {
        let (outer, all) = self.names();
        let nest =
            |body: String| outer.iter().rev().fold(body, |body, name| format!("for {name} in 2..N - 2 {{ {body} }}"));
        let terms: Vec<String> =
            self.terms.iter().zip([31, 17]).map(|(term, factor)| format!("{factor} * {}", term.text(all))).collect();
        let read: Vec<String> = outer
            .iter()
            .zip(&self.offsets)
            .map(|(name, offset)| format!("{name} + {offset}").replace("+ -", "- "))
            .collect();
        let sum = nest(format!("C[{}] = sum[k: 2..N - 2] ({})", outer.join(", "), terms.join(" + ")));
        let reader = nest(format!("{} = 31 * C[{}] + 6", self.write.text(outer), read.join(", ")));
        let shape = vec!["N"; self.depth].join(", ");
        format!(
            "fn f<N>(inout A: i64[2 * N + 4], inout B: i64[2 * N + 4, 2 * N + 4], inout C: i64[{shape}]) {{\n    {sum}\n    {reader}\n}}\n"
        )
    }

    /// All instances in the order of the program.
    fn instances(&self, n: i64) -> Vec<Instance> {
        let mut points: Vec<Vec<i64>> = vec![Vec::new()];
        for _ in 0..self.depth {
            points = points.iter().flat_map(|point| (2..n - 2).map(|value| [&point[..], &[value]].concat())).collect();
        }
        let mut all = Vec::new();
        for point in &points {
            all.push((0, point.clone()));
            all.extend((2..n - 2).map(|term| (UPDATE, [&point[..], &[term]].concat())));
            all.push((2, point.clone()));
        }
        all.extend(points.into_iter().map(|point| (READER, point)));
        all
    }

    fn read_cell(&self, values: &[i64]) -> Vec<i64> {
        values.iter().zip(&self.offsets).map(|(value, offset)| value + offset).collect()
    }

    fn accesses(&self, n: i64, (part, values): &Instance) -> Vec<(&'static str, Vec<i64>, Touch)> {
        let own = values[..self.depth].to_vec();
        match *part {
            0 => vec![("C", own, Touch::Write)],
            UPDATE => {
                let terms = self.terms.iter().map(|term| (term.array(), term.cell(n, values), Touch::Read));
                terms.chain([("C", own, Touch::Update)]).collect()
            }
            2 => vec![("C", own.clone(), Touch::Read), ("C", own, Touch::Write)],
            _ => vec![
                ("C", self.read_cell(values), Touch::Read),
                (self.write.array(), self.write.cell(n, values), Touch::Write),
            ],
        }
    }

    /// Pairs that must stay in order: they touch a cell, not both reading and not both adding to it.
    fn conflicts(&self, n: i64) -> Vec<(Instance, Instance)> {
        let mut touched: std::collections::HashMap<_, Vec<(Instance, Touch)>> = std::collections::HashMap::new();
        for instance in self.instances(n) {
            for (array, cell, touch) in self.accesses(n, &instance) {
                touched.entry((array, cell)).or_default().push((instance.clone(), touch));
            }
        }
        let mut pairs = Vec::new();
        for all in touched.values() {
            for (position, (second, after)) in all.iter().enumerate() {
                let earlier = all[..position].iter().filter(|(first, before)| {
                    let free = before == after && *before != Touch::Write;
                    first != second && !free
                });
                pairs.extend(earlier.map(|(first, _)| (first.clone(), second.clone())));
            }
        }
        pairs
    }

    /// What is in memory afterwards.
    fn run(&self, n: i64, a: &mut [i64], b: &mut [i64], c: &mut [i64]) {
        let at = |width: i64, cell: &[i64]| cell.iter().fold(0, |place, index| place * width + index) as usize;
        for (part, values) in self.instances(n) {
            let own = at(n, &values[..self.depth]);
            match part {
                0 => c[own] = 0,
                UPDATE => {
                    for (term, factor) in self.terms.iter().zip([31_i64, 17]) {
                        let memory: &[i64] = if term.array() == "A" { a } else { b };
                        let value = memory[at(2 * n + 4, &term.cell(n, &values))];
                        c[own] = c[own].wrapping_add(factor.wrapping_mul(value));
                    }
                }
                READER => {
                    let value = c[at(n, &self.read_cell(&values))].wrapping_mul(31).wrapping_add(6);
                    let memory: &mut [i64] = if self.write.array() == "A" { a } else { b };
                    memory[at(2 * n + 4, &self.write.cell(n, &values))] = value;
                }
                _ => {}
            }
        }
    }
}

/// The ways to the parts in the program as it is written.
fn original(program: &Program) -> Schedule {
    let (outer, _) = program.names();
    let entry = |number: usize, level: usize, name: &str| Entry::Loop {
        number,
        name: name.to_owned(),
        time: Time::Iterator(level),
        kind: Kind::Serial,
    };
    let way = |part: usize| {
        let first = if part == READER { 10 } else { 0 };
        let mut way = vec![Entry::Place(i64::from(part == READER))];
        way.extend(outer.iter().enumerate().map(|(level, name)| entry(first + level, level, name)));
        if part != READER {
            way.push(Entry::Place(part as i64));
        }
        if part == UPDATE {
            way.push(entry(5, program.depth, "k"));
        }
        way
    };
    Schedule::of_ways((0..PARTS.len()).map(way).collect())
}

/// A random script of one to three steps.
fn script(dice: &mut Dice, program: &Program) -> Schedule {
    let mut schedule = original(program);
    let (outer, _) = program.names();
    let mut lines = Vec::new();
    let steps = 1 + dice.roll(3);
    // A shift of the reader makes room for fusing.
    if dice.roll(3) == 0 {
        let by = *dice.among(&[1, 2]);
        schedule.each(&[READER], "i", |time| time.plus(Time::Constant(by)));
        lines.push(format!("shift S1[i] by {by}"));
        schedule.keep();
        fuse(&mut schedule, dice.roll(program.depth), &mut lines, outer);
    } else if dice.roll(3) == 0 {
        fuse(&mut schedule, dice.roll(program.depth), &mut lines, outer);
    } else if dice.roll(4) == 0 {
        fission(&mut schedule, dice.roll(program.depth), &mut lines, outer);
    } else {
        for position in 0..steps {
            if let Some(line) = step(&mut schedule, dice, program, position) {
                lines.push(line);
                schedule.keep();
            }
            if schedule.is_marked() {
                break;
            }
        }
    }
    if lines.is_empty() || !schedule.is_marked() && dice.roll(3) == 0 {
        let name = if dice.roll(2) == 0 { "k" } else { outer[dice.roll(outer.len())] };
        // Every statement that has such a loop.
        schedule.mark(&[0, 1, 2, 3], name, Kind::Parallel);
        lines.push(format!("parallel {name}"));
        schedule.keep();
    }
    schedule.text = format!("schedule f {{\n    {}\n}}\n", lines.join("\n    "));
    schedule
}

/// The reader joins the loops of the sum, behind everything in them.
fn fuse(schedule: &mut Schedule, level: usize, lines: &mut Vec<String>, outer: &[&str]) {
    let innermost = level + 1 == outer.len();
    for part in SUM {
        let way = schedule.way(part);
        way.remove(0);
        if !innermost {
            way.insert(level + 1, Entry::Place(0));
        }
    }
    let reader = schedule.way(READER);
    reader.remove(0);
    reader.insert(level + 1, Entry::Place(if innermost { 3 } else { 1 }));
    lines.push(format!("fuse S0, S1 at {}", outer[level]));
    schedule.keep();
}

/// The init has loops of its own, in front of those of the updates and the fini.
fn fission(schedule: &mut Schedule, level: usize, lines: &mut Vec<String>, outer: &[&str]) {
    for part in SUM {
        let second = i64::from(part != 0);
        let way = schedule.way(part);
        let inside = outer.len() + 1;
        if part == 0 {
            way.remove(inside);
        } else {
            way[inside] = Entry::Place(part as i64 - 1);
        }
        if level == 0 {
            way[0] = Entry::Place(second);
        } else {
            way.insert(level + 1, Entry::Place(second));
        }
    }
    if level == 0 {
        schedule.way(READER)[0] = Entry::Place(2);
    }
    lines.push(format!("fission S0_init, S0_update at {}", outer[level]));
    schedule.keep();
}

fn step(schedule: &mut Schedule, dice: &mut Dice, program: &Program, position: usize) -> Option<String> {
    let (outer, all) = program.names();
    let (statement, parts, names): (&str, &[usize], _) =
        if dice.roll(3) > 0 { ("S0", &SUM, all) } else { ("S1", &[READER], outer) };
    let name = names[dice.roll(names.len())];
    let size = *dice.among(&[2, 3, 4]);
    match dice.roll(7) {
        0 => {
            schedule.each(parts, name, |time| time.times(-1));
            Some(format!("reverse {statement}[{name}]"))
        }
        1 => {
            let by = *dice.among(&[1, -1, 2]);
            schedule.each(parts, name, |time| time.plus(Time::Constant(by)));
            Some(format!("shift {statement}[{name}] by {by}"))
        }
        2 => {
            schedule.strip(parts, name, size, Kind::Serial);
            schedule.rename(parts, &format!("{name}o{position}"));
            Some(format!("strip {statement}[{name}] by {size} as {name}o{position}"))
        }
        3 => {
            schedule.each(parts, name, |time| time.times(size));
            Some(format!("scale {statement}[{name}] by {size}"))
        }
        4 => {
            schedule.mark(parts, name, Kind::Parallel);
            Some(format!("parallel {statement}[{name}]"))
        }
        5 => {
            schedule.strip(parts, name, size, Kind::Lanes(size));
            schedule.rename(parts, &format!("{name}v{position}"));
            Some(format!("vectorize {statement}[{name}] by {size} as {name}v{position}"))
        }
        _ if outer.len() == 2 => {
            for part in parts {
                let (a, b) = (schedule.position(*part, "i")?, schedule.position(*part, "j")?);
                schedule.way(*part).swap(a, b);
            }
            Some(format!("interchange {statement}[i, j]"))
        }
        _ => None,
    }
}

fn judge(program: &Program, schedule: &Schedule, computes: bool, tally: &mut Tally) -> Result<(), String> {
    let source = Source::new("f.fks", program.text());
    match engine(schedule).check(&source) {
        Ok(_) => {
            tally.legal += 1;
            for n in SIZES {
                for (first, second) in program.conflicts(n) {
                    if let Some(fault) = schedule.fault(&first, &second) {
                        return Err(format!("UNSOUND: N = {n}, {first:?} and {second:?}: {fault:?}"));
                    }
                }
            }
            if computes { computes_the_same(program, schedule, &source) } else { Ok(()) }
        }
        Err(Error::Budget { .. }) => {
            tally.unknown += 1;
            Ok(())
        }
        Err(Error::User { diagnostics, .. }) => {
            let refusal = diagnostics.iter().find(|one| matches!(one.code, "E0501" | "E0503"));
            match refusal {
                Some(refusal) => {
                    tally.illegal += 1;
                    let line = schedule.text[..refusal.span().start as usize].matches('\n').count();
                    is_illegal(program, &schedule.on_line(line), refusal)
                }
                None if diagnostics.iter().all(|one| matches!(one.code, "E0511" | "E0512" | "E0513")) => {
                    tally.unfit += 1;
                    Ok(())
                }
                None => Err(format!("refused for another reason: {:?}", diagnostics.first().map(|one| &one.message))),
            }
        }
        Err(error) => Err(error.render(Style::Plain)),
    }
}

/// The witness is one.
fn is_illegal(program: &Program, schedule: &Schedule, refusal: &Diagnostic) -> Result<(), String> {
    let data = refusal.data.as_deref().ok_or("a refusal without a witness")?;
    let broken = |what: &str| Err(format!("FALSE WITNESS: {what} in {data}"));
    let n = data["params"]["N"].as_i64().unwrap_or(-1);
    if !(0..=40).contains(&n) {
        return broken("no usable size");
    }
    let (outer, all) = program.names();
    let instance = |end: &str| -> Option<Instance> {
        let part = PARTS.iter().position(|part| data[end]["statement"] == *part)?;
        let names = if part == UPDATE { all } else { outer };
        let values = names.iter().map(|name| data[end]["values"][*name].as_i64()).collect::<Option<_>>()?;
        Some((part, values))
    };
    let (Some(first), Some(second)) = (instance("source"), instance("sink")) else {
        return broken("no two instances");
    };
    let order = program.instances(n);
    let place = |instance: &Instance| order.iter().position(|known| known == instance);
    match (place(&first), place(&second)) {
        (Some(before), Some(after)) if before < after => {}
        _ => return broken("no pair that the program orders so"),
    }
    let cell: Vec<i64> =
        data["cell"].as_array().map(|cell| cell.iter().filter_map(|i| i.as_i64()).collect()).unwrap_or_default();
    let touches = |instance: &Instance, wanted: Touch| {
        let accesses = program.accesses(n, instance);
        let fits = |touch: Touch| touch == wanted || touch == Touch::Update;
        accesses.iter().any(|(array, at, touch)| data["array"] == *array && *at == cell && fits(*touch))
    };
    let (before, after) = match data["kind"].as_str() {
        Some("flow") => (Touch::Write, Touch::Read),
        Some("anti") => (Touch::Read, Touch::Write),
        Some("output") => (Touch::Write, Touch::Write),
        _ => return broken("no kind"),
    };
    if !touches(&first, before) || !touches(&second, after) {
        return broken("a cell that is not touched so");
    }
    if first.0 == UPDATE && second.0 == UPDATE && data["array"] == "C" {
        return broken("a pair of updates, which is free");
    }
    match schedule.fault(&first, &second) {
        Some(_) => Ok(()),
        None => broken("a pair that runs in order"),
    }
}

fn computes_the_same(program: &Program, schedule: &Schedule, source: &Source) -> Result<(), String> {
    let module = match engine(schedule).compile_source(source) {
        Ok(module) => module,
        Err(Error::Budget { .. }) => return Ok(()),
        Err(error) => return Err(error.render(Style::Plain)),
    };
    for n in [5, 8, 11] {
        let (side, width) = (n as usize, (2 * n + 4) as usize);
        let start = |count: usize| (0..count as i64).map(|at| at * 7919 % 1009).collect::<Vec<i64>>();
        let shape = vec![side; program.depth];
        let (mut a, mut b, mut c) = (start(width), start(width * width), start(shape.iter().product()));
        let (mut found_a, mut found_b, mut found_c) =
            (Data::from(a.clone()), Data::from(b.clone()), Data::from(c.clone()));
        let mut args = Args::new();
        args.size("N", n).data_mut("A", &mut found_a, &[width]).data_mut("B", &mut found_b, &[width, width]);
        args.data_mut("C", &mut found_c, &shape);
        let function = module.function("f").map_err(|error| error.to_string())?;
        function.call(&mut args).map_err(|error| error.to_string())?;
        drop(args);
        program.run(n, &mut a, &mut b, &mut c);
        if found_a != Data::from(a) || found_b != Data::from(b) || found_c != Data::from(c) {
            return Err(format!("UNSOUND: called legal, but computes something else for N = {n}"));
        }
    }
    Ok(())
}

#[test]
fn verdicts_and_witnesses_hold_for_reductions() {
    let pairs = number("FARKAS_PAIRS", 1200) / 3;
    let start = number("FARKAS_SEED", 0).wrapping_mul(1_000_003) + 3_500_000_000;
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for at in 0..pairs {
        let mut dice = Dice::new(start + at + 1);
        let program = Program::random(&mut dice);
        let schedule = script(&mut dice, &program);
        if let Err(what) = judge(&program, &schedule, at % 8 == 0, &mut tally) {
            failures.push(format!("{what}\n{}{}", program.text(), schedule.text));
        }
    }
    let shown = failures[..failures.len().min(5)].join("\n");
    assert!(failures.is_empty(), "{} of {pairs} ({tally:?}):\n{shown}", failures.len());
    // Else it is not about verdicts.
    assert!(pairs < 100 || tally.legal * 10 > pairs as usize && tally.illegal * 20 > pairs as usize, "{tally:?}");
    eprintln!("{pairs} pairs with reductions: {tally:?}");
}
