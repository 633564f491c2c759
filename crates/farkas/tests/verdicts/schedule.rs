//! Random schedules, as text for the compiler and as times of our own.
//!
//! The meaning of each verb is taken from docs/schedules.md and written down here again.

use crate::dice::Dice;
use crate::program::{Form, Instance, NAMES, Program};

/// What a loop counts, of the iterators of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Time {
    Iterator(usize),
    Constant(i64),
    Sum(Box<Time>, Box<Time>),
    Times(i64, Box<Time>),
    Floor(Box<Time>, i64),
    /// 0 where an iterator is less than the number, else 1.
    Half(usize, i64),
}

impl Time {
    fn value(&self, values: &[i64]) -> i64 {
        match self {
            Time::Iterator(iterator) => values[*iterator],
            Time::Constant(value) => *value,
            Time::Sum(a, b) => a.value(values) + b.value(values),
            Time::Times(factor, a) => factor * a.value(values),
            Time::Floor(a, divisor) => a.value(values).div_euclid(*divisor),
            Time::Half(iterator, limit) => i64::from(values[*iterator] >= *limit),
        }
    }

    pub(crate) fn plus(self, other: Time) -> Time {
        Time::Sum(Box::new(self), Box::new(other))
    }

    pub(crate) fn times(self, factor: i64) -> Time {
        Time::Times(factor, Box::new(self))
    }

    fn floor(self, divisor: i64) -> Time {
        Time::Floor(Box::new(self), divisor)
    }

    fn text(&self) -> String {
        match self {
            Time::Iterator(iterator) => NAMES[*iterator].to_owned(),
            Time::Constant(value) => value.to_string(),
            Time::Sum(a, b) => format!("{} + {}", a.text(), b.text()),
            Time::Times(factor, a) => format!("{factor}*({})", a.text()),
            Time::Floor(a, divisor) => format!("floor(({})/{divisor})", a.text()),
            Time::Half(..) => unreachable!("a half is said by a step"),
        }
    }
}

/// A place on the way to a statement. Loops with the same number are shared.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Place(i64),
    Loop { number: usize, name: String, time: Time, kind: Kind },
}

/// How a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Serial,
    Parallel,
    /// In groups of so many.
    Lanes(i64),
}

/// When every instance runs, and the text that says so.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    ways: Vec<Vec<Entry>>,
    pub(crate) text: String,
    pub(crate) is_tree: bool,
    /// The times after each step before the last one.
    before: Vec<Vec<Vec<Entry>>>,
    /// No step may follow.
    ended: bool,
}

/// Why two instances are not in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Reversed,
    AtOnce,
}

impl Schedule {
    /// The program as it is written.
    fn original(program: &Program) -> Schedule {
        let way = |statement: usize| {
            let first = if program.form == Form::Apart { 10 * statement } else { 0 };
            let loops = (0..program.depth).map(|level| Entry::Loop {
                number: first + level,
                name: NAMES[level].to_owned(),
                time: Time::Iterator(level),
                kind: Kind::Serial,
            });
            let place = Entry::Place(statement as i64);
            match program.form {
                Form::Single => loops.collect(),
                Form::Together => loops.chain([place]).collect(),
                Form::Apart => [place].into_iter().chain(loops).collect(),
            }
        };
        let ways = (0..program.statements.len()).map(way).collect();
        Schedule::of_ways(ways)
    }

    /// A schedule of which only the ways are known yet.
    pub(crate) fn of_ways(ways: Vec<Vec<Entry>>) -> Schedule {
        Schedule { ways, text: String::new(), is_tree: false, before: Vec::new(), ended: false }
    }

    /// The way to a statement, or to a part of one.
    pub(crate) fn way(&mut self, statement: usize) -> &mut Vec<Entry> {
        &mut self.ways[statement]
    }

    /// What a step has made stays known.
    pub(crate) fn keep(&mut self) {
        self.before.push(self.ways.clone());
    }

    /// The schedule that the script has made on a line of its text, where it was refused.
    pub(crate) fn on_line(&self, line: usize) -> Schedule {
        let ways = line.checked_sub(1).and_then(|step| self.before.get(step)).unwrap_or(&self.ways);
        Schedule { ways: ways.clone(), ..self.clone() }
    }

    /// What is wrong about the order of two instances of which the first must run before the second.
    pub(crate) fn fault(&self, first: &Instance, second: &Instance) -> Option<Fault> {
        for (a, b) in self.ways[first.0].iter().zip(&self.ways[second.0]) {
            let (before, after, kind) = match (a, b) {
                (Entry::Place(a), Entry::Place(b)) => (*a, *b, Kind::Serial),
                (Entry::Loop { time: a, kind, .. }, Entry::Loop { time: b, .. }) => {
                    (a.value(&first.1), b.value(&second.1), *kind)
                }
                _ => unreachable!("ways that part without a place"),
            };
            if before == after {
                continue;
            }
            return match kind {
                _ if before > after => Some(Fault::Reversed),
                Kind::Parallel => Some(Fault::AtOnce),
                Kind::Lanes(lanes) if before.div_euclid(lanes) == after.div_euclid(lanes) => Some(Fault::AtOnce),
                _ => None,
            };
        }
        Some(Fault::Reversed)
    }

    /// Random times as a tree: bands of affine expressions around or inside a sequence.
    pub(crate) fn tree(dice: &mut Dice, program: &Program) -> Schedule {
        let count = program.statements.len();
        let mut ways: Vec<Vec<Entry>> = vec![Vec::new(); count];
        let around = dice.roll(program.depth + 1);
        let domains: Vec<String> = (0..count).map(|number| program.domain(number)).collect();
        let mut text = format!("domain: \"[N] -> {{ {} }}\"\n", domains.join("; "));
        let mut indent = String::new();
        let names = NAMES[..program.depth].join(", ");
        // A random order of the loops, now and then reversed, skewed, shifted or blocked.
        let mut orders: Vec<Vec<usize>> = Vec::new();
        for _ in 0..count {
            let mut order: Vec<usize> = (0..program.depth).collect();
            if dice.roll(3) == 0 {
                order.rotate_left(1);
            }
            orders.push(order);
        }
        let mut number = 0;
        let time = |dice: &mut Dice, level: usize, order: &[usize]| {
            let plain = Time::Iterator(order[level]);
            match dice.roll(9) {
                0 => plain.times(-1),
                1 => plain.plus(Time::Iterator(order[dice.roll(order.len())])),
                2 => plain.plus(Time::Constant(*dice.among(&[1, -1, 2]))),
                3 => plain.floor(2),
                4 => plain.times(2),
                _ => plain,
            }
        };
        if count > 1 {
            for level in 0..around {
                let times: Vec<Time> = (0..count).map(|statement| time(dice, level, &orders[statement])).collect();
                let parts: Vec<String> = times
                    .iter()
                    .enumerate()
                    .map(|(statement, time)| format!("S{statement}[{names}] -> [({})]", time.text()))
                    .collect();
                text.push_str(&format!(
                    "{indent}child:\n{indent}  schedule: \"[N] -> [{{ {} }}]\"\n",
                    parts.join("; ")
                ));
                indent.push_str("  ");
                for (way, time) in ways.iter_mut().zip(times) {
                    way.push(Entry::Loop { number, name: String::new(), time, kind: Kind::Serial });
                }
                number += 1;
            }
            let swapped = dice.roll(3) == 0;
            text.push_str(&format!("{indent}child:\n{indent}  sequence:\n"));
            let order = if swapped { [1, 0] } else { [0, 1] };
            for (place, statement) in order.into_iter().enumerate() {
                ways[statement].push(Entry::Place(place as i64));
                text.push_str(&format!("{indent}  - filter: \"[N] -> {{ S{statement}[{names}] }}\"\n"));
                let mut inner = format!("{indent}    ");
                for level in around..program.depth {
                    let time = time(dice, level, &orders[statement]);
                    text.push_str(&format!(
                        "{inner}child:\n{inner}  schedule: \"[N] -> [{{ S{statement}[{names}] -> [({})] }}]\"\n",
                        time.text()
                    ));
                    inner.push_str("  ");
                    ways[statement].push(Entry::Loop { number, name: String::new(), time, kind: Kind::Serial });
                    number += 1;
                }
            }
        } else {
            for level in 0..program.depth {
                let time = time(dice, level, &orders[0]);
                text.push_str(&format!(
                    "{indent}child:\n{indent}  schedule: \"[N] -> [{{ S0[{names}] -> [({})] }}]\"\n",
                    time.text()
                ));
                indent.push_str("  ");
                ways[0].push(Entry::Loop { number: level, name: String::new(), time, kind: Kind::Serial });
            }
        }
        Schedule { ways, text, is_tree: true, before: Vec::new(), ended: false }
    }

    /// A random script of one to three steps.
    pub(crate) fn script(dice: &mut Dice, program: &Program) -> Schedule {
        let mut schedule = Schedule::original(program);
        let mut lines = Vec::new();
        for position in 0..1 + dice.roll(3) {
            if let Some(line) = schedule.step(dice, program, position) {
                lines.push(line);
                schedule.keep();
            }
            // What later steps make of a marked or divided loop is a question of its own.
            if schedule.is_marked() || schedule.ended {
                break;
            }
        }
        schedule.text = format!("schedule f {{\n    {}\n}}\n", lines.join("\n    "));
        schedule
    }

    pub(crate) fn position(&self, statement: usize, wanted: &str) -> Option<usize> {
        self.ways[statement].iter().position(|entry| matches!(entry, Entry::Loop { name, .. } if name == wanted))
    }

    /// Changes the loop `name` of some statements.
    pub(crate) fn each(&mut self, statements: &[usize], name: &str, change: impl Fn(Time) -> Time) {
        for statement in statements {
            if let Some(position) = self.position(*statement, name)
                && let Entry::Loop { time, .. } = &mut self.ways[*statement][position]
            {
                *time = change(time.clone());
            }
        }
    }

    /// One step, if there is one that fits; it changes the times as the page says.
    fn step(&mut self, dice: &mut Dice, program: &Program, position: usize) -> Option<String> {
        let all: Vec<usize> = (0..self.ways.len()).collect();
        let loops: Vec<String> = self.ways[0]
            .iter()
            .filter_map(|entry| match entry {
                Entry::Loop { name, .. } => Some(name.clone()),
                Entry::Place(_) => None,
            })
            .collect();
        let name = loops[dice.roll(loops.len())].clone();
        let other = loops[dice.roll(loops.len())].clone();
        // Steps that change the loops of two statements at once are about both, by the bare name.
        let shared = program.form == Form::Together || self.is_fused();
        let statement = dice.roll(self.ways.len());
        let one = [statement];
        let (chosen, place): (&[usize], String) = if program.form == Form::Single || !shared && dice.roll(2) == 0 {
            (&one, format!("S{statement}[{name}]"))
        } else {
            (&all, name.clone())
        };
        let size = *dice.among(&[2, 3, 4]);
        match dice.roll(16) {
            0 => {
                self.each(chosen, &name, |time| time.times(-1));
                Some(format!("reverse {place}"))
            }
            1 if !shared => {
                let by = *dice.among(&[1, -1, 2]);
                self.each(&one, &name, |time| time.plus(Time::Constant(by)));
                Some(format!("shift S{statement}[{name}] by {by}"))
            }
            2 => {
                self.strip(chosen, &name, size, Kind::Serial);
                Some(format!("strip {place} by {size} as {name}o{position}"))
                    .inspect(|_| self.rename(chosen, &format!("{name}o{position}")))
            }
            3 if !shared && name != other => {
                let factor = *dice.among(&[1, -1, 2]);
                let from = self.position(statement, &name)?;
                let Entry::Loop { time: added, .. } = self.ways[statement][from].clone() else { return None };
                self.each(&one, &other, |time| time.plus(added.clone().times(factor)));
                Some(format!("skew S{statement}[{name}, {other}] by {factor}"))
            }
            4 | 5 if !shared && name != other => {
                let (a, b) = (self.position(statement, &name)?, self.position(statement, &other)?);
                self.ways[statement].swap(a, b);
                Some(format!("interchange S{statement}[{name}, {other}]"))
            }
            6 | 7 if !shared && name != other => {
                let (a, b) = (self.position(statement, &name)?, self.position(statement, &other)?);
                let (a, b) = (a.min(b), a.max(b));
                let names = |at: usize, way: &[Entry]| match &way[at] {
                    Entry::Loop { name, .. } => name.clone(),
                    Entry::Place(_) => String::new(),
                };
                let way = &self.ways[statement];
                let (outer, inner) = (names(a, way), names(b, way));
                self.tile(statement, a, b, size, position);
                Some(format!("tile S{statement}[{outer}, {inner}] by {size}, {size} as (t{position}a, t{position}b)"))
            }
            8 if program.form == Form::Apart && !shared && self.is_plain() => {
                let level = dice.roll(program.depth);
                let places: Vec<Entry> = self.ways.iter().map(|way| way[0].clone()).collect();
                for (way, place) in self.ways.iter_mut().zip(places) {
                    way.remove(0);
                    way.insert(level + 1, place);
                    for (number, entry) in way[..=level].iter_mut().enumerate() {
                        if let Entry::Loop { number: known, .. } = entry {
                            *known = number;
                        }
                    }
                }
                Some(format!("fuse S0, S1 at {}", NAMES[level]))
            }
            8 if program.form == Form::Together && self.is_plain() && self.is_fused() => {
                let level = dice.roll(program.depth);
                for way in &mut self.ways {
                    let place = way.pop()?;
                    way.insert(level, place);
                }
                Some(format!("fission S0, S1 at {}", NAMES[level]))
            }
            9 if program.form == Form::Together && self.is_plain() => {
                for (statement, way) in self.ways.iter_mut().enumerate() {
                    for entry in way {
                        if let Entry::Place(place) = entry {
                            *place = 1 - statement as i64;
                        }
                    }
                }
                Some("sequence S1, S0".to_owned())
            }
            10 => {
                self.mark(chosen, &name, Kind::Parallel);
                Some(format!("parallel {place}"))
            }
            11 => {
                self.strip(chosen, &name, size, Kind::Lanes(size));
                self.rename(chosen, &format!("{name}v{position}"));
                Some(format!("vectorize {place} by {size} as {name}v{position}"))
            }
            12 if !shared => {
                self.each(&one, &name, |time| time.times(size));
                Some(format!("scale S{statement}[{name}] by {size}"))
            }
            13 if !shared => {
                let at = self.position(statement, &name)?;
                self.strip(&one, &name, size, Kind::Serial);
                self.rename(&one, &format!("{name}j{position}"));
                let innermost = self.ways[statement].remove(at + 1);
                self.ways[statement].push(innermost);
                Some(format!("jam S{statement}[{name}] by {size} as {name}j{position}"))
            }
            14 if !shared && NAMES.contains(&name.as_str()) => {
                let at = self.position(statement, &name)?;
                let iterator = NAMES.iter().position(|known| *known == name)?;
                let limit = *dice.among(&[3, 4, 5]);
                let half = Entry::Loop {
                    number: 900 + position,
                    name: String::new(),
                    time: Time::Half(iterator, limit),
                    kind: Kind::Serial,
                };
                self.ways[statement].insert(at, half);
                self.ended = true;
                Some(format!("split S{statement}[{name}] where {name} < {limit}"))
            }
            15 if program.form == Form::Single => Some(self.map(dice, program.depth)),
            _ => None,
        }
    }

    /// Times of the only statement, directly.
    fn map(&mut self, dice: &mut Dice, depth: usize) -> String {
        let mut order: Vec<usize> = (0..depth).collect();
        order.rotate_left(dice.roll(depth));
        let mut times = Vec::new();
        for level in 0..depth {
            let plain = Time::Iterator(order[level]);
            times.push(match dice.roll(5) {
                0 => plain.times(-1),
                1 => plain.plus(Time::Iterator(order[dice.roll(depth)])),
                2 => plain.times(2),
                _ => plain,
            });
        }
        let texts: Vec<String> = times.iter().map(Time::text).collect();
        let entry = |(number, time)| Entry::Loop { number, name: String::new(), time, kind: Kind::Serial };
        self.ways[0] = times.into_iter().enumerate().map(entry).collect();
        self.ended = true;
        format!("map {{ S0[{}] -> [{}] }}", NAMES[..depth].join(", "), texts.join(", "))
    }

    /// Whether two statements share loops that they did not share in the text.
    fn is_fused(&self) -> bool {
        self.ways.len() > 1 && !matches!(self.ways[0][0], Entry::Place(_))
    }

    /// Whether no step has changed anything yet.
    fn is_plain(&self) -> bool {
        self.ways.iter().enumerate().all(|(statement, way)| {
            let fine = |(at, entry): (usize, &Entry)| match entry {
                Entry::Place(place) => *place == statement as i64 && (at == 0 || at + 1 == way.len()),
                Entry::Loop { time, kind, .. } => matches!(time, Time::Iterator(_)) && *kind == Kind::Serial,
            };
            let order: Vec<usize> = way
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Loop { time: Time::Iterator(iterator), .. } => Some(*iterator),
                    _ => None,
                })
                .collect();
            way.iter().enumerate().all(fine) && order.is_sorted()
        })
    }

    pub(crate) fn is_marked(&self) -> bool {
        let marked = |entry: &Entry| matches!(entry, Entry::Loop { kind, .. } if *kind != Kind::Serial);
        self.ways.iter().flatten().any(marked)
    }

    pub(crate) fn strip(&mut self, statements: &[usize], name: &str, size: i64, inner: Kind) {
        for statement in statements {
            let Some(position) = self.position(*statement, name) else { continue };
            let Entry::Loop { number, time, kind, .. } = self.ways[*statement][position].clone() else { continue };
            let outer = Entry::Loop { number: number + 100, name: "new".to_owned(), time: time.floor(size), kind };
            self.ways[*statement].insert(position, outer);
            if let Entry::Loop { kind, .. } = &mut self.ways[*statement][position + 1] {
                *kind = if inner == Kind::Serial { *kind } else { inner };
            }
        }
    }

    /// How the loop `name` of some statements runs.
    pub(crate) fn mark(&mut self, statements: &[usize], name: &str, how: Kind) {
        for statement in statements {
            if let Some(position) = self.position(*statement, name)
                && let Entry::Loop { kind, .. } = &mut self.ways[*statement][position]
            {
                *kind = how;
            }
        }
    }

    pub(crate) fn rename(&mut self, statements: &[usize], to: &str) {
        for statement in statements {
            if let Some(position) = self.position(*statement, "new")
                && let Entry::Loop { name, .. } = &mut self.ways[*statement][position]
            {
                to.clone_into(name);
            }
        }
    }

    /// The loops at `a` and `b` of one statement, in tiles: the blocks of both, then the two loops, then what was between.
    fn tile(&mut self, statement: usize, a: usize, b: usize, size: i64, position: usize) {
        let way = &mut self.ways[statement];
        let inner = way.remove(b);
        let outer = way.remove(a);
        let block = |entry: &Entry, letter: char| match entry {
            Entry::Loop { number, time, kind, .. } => Entry::Loop {
                number: number + 200,
                name: format!("t{position}{letter}"),
                time: time.clone().floor(size),
                kind: *kind,
            },
            Entry::Place(_) => unreachable!("a tile of a place"),
        };
        let blocks = [block(&outer, 'a'), block(&inner, 'b'), outer, inner];
        way.splice(a..a, blocks);
    }
}
