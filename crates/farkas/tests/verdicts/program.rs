//! Random programs of one or two statements in loops, as data of our own and as text.
//!
//! What the text means is known here, from how it was made: which instances there are, in which order, and which cells they
//! touch. Nothing of the compiler is asked.

use std::collections::HashMap;

use crate::dice::Dice;

pub(crate) const NAMES: [&str; 3] = ["i", "j", "k"];

/// A subscript.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subscript {
    /// `iterator + offset`
    Near(usize, i64),
    /// `N - 1 - iterator`
    Mirrored(usize),
    /// `2 * iterator - offset`
    Spread(usize, i64),
    /// `iterator / 2`
    Halved(usize),
    /// `first + second`
    Sum(usize, usize),
    Fixed(i64),
}

impl Subscript {
    fn random(dice: &mut Dice, depth: usize) -> Subscript {
        let (iterator, other) = (dice.roll(depth), dice.roll(depth));
        match dice.roll(14) {
            0 => Subscript::Mirrored(iterator),
            1 => Subscript::Spread(iterator, *dice.among(&[0, 1, 2])),
            2 => Subscript::Halved(iterator),
            3 => Subscript::Sum(iterator, other),
            4 => Subscript::Fixed(*dice.among(&[0, 3])),
            _ => Subscript::Near(iterator, *dice.among(&[0, 0, 0, 1, -1, 2, -2])),
        }
    }

    pub(crate) fn value(self, n: i64, values: &[i64]) -> i64 {
        match self {
            Subscript::Near(iterator, offset) => values[iterator] + offset,
            Subscript::Mirrored(iterator) => n - 1 - values[iterator],
            Subscript::Spread(iterator, offset) => 2 * values[iterator] - offset,
            Subscript::Halved(iterator) => values[iterator] / 2,
            Subscript::Sum(first, second) => values[first] + values[second],
            Subscript::Fixed(value) => value,
        }
    }

    fn text(self, names: &[&str]) -> String {
        match self {
            Subscript::Near(iterator, 0) => names[iterator].to_owned(),
            Subscript::Near(iterator, offset) if offset < 0 => format!("{} - {}", names[iterator], -offset),
            Subscript::Near(iterator, offset) => format!("{} + {offset}", names[iterator]),
            Subscript::Mirrored(iterator) => format!("N - 1 - {}", names[iterator]),
            Subscript::Spread(iterator, offset) => format!("2 * {} - {offset}", names[iterator]),
            Subscript::Halved(iterator) => format!("{} / 2", names[iterator]),
            Subscript::Sum(first, second) => format!("{} + {}", names[first], names[second]),
            Subscript::Fixed(value) => value.to_string(),
        }
    }
}

/// A cell of `A` (rank 1) or `B` (rank 2).
#[derive(Clone, Debug)]
pub(crate) struct Access(pub(crate) Vec<Subscript>);

impl Access {
    pub(crate) fn random(dice: &mut Dice, depth: usize) -> Access {
        Access((0..1 + dice.roll(2)).map(|_| Subscript::random(dice, depth)).collect())
    }

    pub(crate) fn array(&self) -> &'static str {
        if self.0.len() == 1 { "A" } else { "B" }
    }

    pub(crate) fn cell(&self, n: i64, values: &[i64]) -> Vec<i64> {
        self.0.iter().map(|subscript| subscript.value(n, values)).collect()
    }

    pub(crate) fn text(&self, names: &[&str]) -> String {
        let subscripts: Vec<String> = self.0.iter().map(|subscript| subscript.text(names)).collect();
        format!("{}[{}]", self.array(), subscripts.join(", "))
    }
}

/// `write = 31 * first + 17 * second + constant`, in loops of its own or shared ones.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) write: Access,
    pub(crate) reads: Vec<Access>,
}

/// How the loops stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One statement.
    Single,
    /// Two in the same loops.
    Together,
    /// Each in loops of its own.
    Apart,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) form: Form,
    pub(crate) depth: usize,
    /// Whether the second loop starts at the first one's variable.
    pub(crate) triangular: bool,
    pub(crate) statements: Vec<Statement>,
}

/// A statement and the values of its iterators.
pub(crate) type Instance = (usize, Vec<i64>);

impl Program {
    pub(crate) fn random(dice: &mut Dice) -> Program {
        let form = *dice.among(&[Form::Single, Form::Together, Form::Apart, Form::Apart]);
        let depth = if form == Form::Single { 1 + dice.roll(3) } else { 1 + dice.roll(2) };
        let count = if form == Form::Single { 1 } else { 2 };
        let statement = |_| {
            let write = Access::random(dice, depth);
            let reads = (0..1 + dice.roll(2)).map(|_| Access::random(dice, depth)).collect();
            Statement { write, reads }
        };
        let statements = (0..count).map(statement).collect();
        Program { form, depth, triangular: depth > 1 && dice.roll(4) == 0, statements }
    }

    /// Iterators run from 2 to N - 3, so that every subscript above is between 0 and 2 * N + 3.
    pub(crate) fn text(&self) -> String {
        let names = &NAMES[..self.depth];
        let statement = |number: usize| {
            let Statement { write, reads } = &self.statements[number];
            let factors = [31, 17];
            let terms: Vec<String> =
                reads.iter().zip(factors).map(|(read, factor)| format!("{factor} * {}", read.text(names))).collect();
            format!("{} = {} + {}", write.text(names), terms.join(" + "), number + 5)
        };
        let nest = |body: String| {
            (0..self.depth).rev().fold(body, |body, level| {
                let low = if level == 1 && self.triangular { "i" } else { "2" };
                format!("for {} in {low}..N - 2 {{ {body} }}", names[level])
            })
        };
        let body = match self.form {
            Form::Single => nest(statement(0)),
            Form::Together => nest(format!("{}\n    {}", statement(0), statement(1))),
            Form::Apart => format!("{}\n    {}", nest(statement(0)), nest(statement(1))),
        };
        format!("fn f<N>(inout A: i64[2 * N + 4], inout B: i64[2 * N + 4, 2 * N + 4]) {{\n    {body}\n}}\n")
    }

    /// The domain of a statement as isl writes it.
    pub(crate) fn domain(&self, number: usize) -> String {
        let names = &NAMES[..self.depth];
        let bounds: Vec<String> = (0..self.depth)
            .map(|level| {
                let low = if level == 1 && self.triangular { "i" } else { "2" };
                format!("{low} <= {} < N - 2", names[level])
            })
            .collect();
        format!("S{number}[{}] : {}", names.join(", "), bounds.join(" and "))
    }

    /// All instances in the order of the program.
    pub(crate) fn instances(&self, n: i64) -> Vec<Instance> {
        let mut points: Vec<Vec<i64>> = vec![Vec::new()];
        for level in 0..self.depth {
            points = points
                .into_iter()
                .flat_map(|point| {
                    let low = if level == 1 && self.triangular { point[0] } else { 2 };
                    (low..n - 2).map(move |value| [point.clone(), vec![value]].concat())
                })
                .collect();
        }
        match self.form {
            Form::Single => points.into_iter().map(|point| (0, point)).collect(),
            Form::Together => points.into_iter().flat_map(|point| [(0, point.clone()), (1, point)]).collect(),
            Form::Apart => (0..2).flat_map(|number| points.iter().map(move |point| (number, point.clone()))).collect(),
        }
    }

    /// Accesses of an instance: which cell, and whether it is written; reads first.
    pub(crate) fn accesses(&self, n: i64, (number, values): &Instance) -> Vec<(&'static str, Vec<i64>, bool)> {
        let Statement { write, reads } = &self.statements[*number];
        let reads = reads.iter().map(|read| (read.array(), read.cell(n, values), false));
        reads.chain([(write.array(), write.cell(n, values), true)]).collect()
    }

    /// What is in memory after running instances in an order.
    pub(crate) fn run(&self, n: i64, order: &[Instance], a: &mut [i64], b: &mut [i64]) {
        let width = (2 * n + 4) as usize;
        let place = |access: &Access, values: &[i64]| {
            access.cell(n, values).iter().fold(0, |place, index| place * width + *index as usize)
        };
        for (number, values) in order {
            let Statement { write, reads } = &self.statements[*number];
            let mut result = *number as i64 + 5;
            for (read, factor) in reads.iter().zip([31_i64, 17]) {
                let memory: &[i64] = if read.array() == "A" { a } else { b };
                result = result.wrapping_add(factor.wrapping_mul(memory[place(read, values)]));
            }
            let memory: &mut [i64] = if write.array() == "A" { a } else { b };
            memory[place(write, values)] = result;
        }
    }

    /// Pairs of instances that touch a cell, one of them writing it, the first before the second in the program. For each
    /// cell it is enough to look from an access to the next write, and from a write to the reads up to the next one: the
    /// order of all others follows.
    pub(crate) fn conflicts(&self, n: i64) -> Vec<(Instance, Instance)> {
        let mut pairs = Vec::new();
        let mut last_write: HashMap<(&str, Vec<i64>), Instance> = HashMap::new();
        let mut reads_since: HashMap<(&str, Vec<i64>), Vec<Instance>> = HashMap::new();
        for instance in self.instances(n) {
            for (array, cell, writes) in self.accesses(n, &instance) {
                let key = (array, cell);
                if let Some(writer) = last_write.get(&key).filter(|writer| **writer != instance) {
                    pairs.push((writer.clone(), instance.clone()));
                }
                if writes {
                    let readers = reads_since.remove(&key).unwrap_or_default();
                    pairs.extend(
                        readers.into_iter().filter(|reader| *reader != instance).map(|r| (r, instance.clone())),
                    );
                    last_write.insert(key, instance.clone());
                } else {
                    reads_since.entry(key).or_default().push(instance.clone());
                }
            }
        }
        pairs
    }
}
