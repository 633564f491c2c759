//! Plans: a schedule in the user's words. For each statement, its loops by name, outermost first, with the positions that
//! order it among its neighbours in between.
//!
//! In: the original order, or another plan and a transformation (`transform`).  Out: a schedule tree.
//! Two statements share a loop where their entries agree up to and including it. Comparing entries from left to right is
//! the execution order, so a plan is a schedule and the tree only its shape.

mod recover;
mod tree;

use std::cmp::Ordering;

use program::{Affine, Cond, Function, IterId};

use crate::legality::Instance;
use crate::scop::Scop;
use crate::witness::At;

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// In the order of the Scop's statements.
    pub statements: Vec<StatementPlan>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StatementPlan {
    /// The statement's name in the Scop.
    pub name: String,
    /// The source statement it is part of.
    pub source: String,
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A place in a sequence.
    Position(i64),
    Loop(Loop),
    /// Index-set splitting: the instances for which it holds come first.
    Split(Cond),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub name: String,
    /// Over the statement's own iterators.
    pub expr: Affine,
    pub kind: LoopKind,
}

/// How the iterations of a loop may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    Serial,
    Parallel,
    /// All iterations, at most so many, in lockstep.
    Vector(u32),
    Unrolled,
}

impl LoopKind {
    pub fn name(self) -> String {
        match self {
            LoopKind::Serial => "serial".into(),
            LoopKind::Parallel => "parallel".into(),
            LoopKind::Vector(lanes) => format!("vector({lanes})"),
            LoopKind::Unrolled => "unroll".into(),
        }
    }

    /// The kind that a mark in a schedule tree names.
    pub fn from_name(name: &str) -> Option<LoopKind> {
        match name {
            "parallel" => Some(LoopKind::Parallel),
            "unroll" => Some(LoopKind::Unrolled),
            _ => {
                let lanes = name.strip_prefix("vector(")?.strip_suffix(')')?;
                lanes.parse().ok().map(LoopKind::Vector)
            }
        }
    }
}

impl Loop {
    /// Whether an iterator occurs in the loop's expression.
    pub(crate) fn uses(&self, iter: IterId) -> bool {
        let mut found = false;
        self.expr.visit_iters(&mut |used| found |= used == iter);
        found
    }
}

impl Entry {
    /// A component of the time of a program's instance: a place if it is a number, otherwise a loop.
    pub(crate) fn of_time(function: &Function, time: &Affine) -> Entry {
        match time.as_constant() {
            Some(position) => Entry::Position(position),
            None => {
                let name = loop_name(function, time);
                Entry::Loop(Loop { name, expr: time.clone(), kind: LoopKind::Serial })
            }
        }
    }

    /// Its number at an instance: of a split, 0 for the first half and 1 for the second; `None` on overflow.
    pub(crate) fn at(&self, at: &At<'_>) -> Option<i64> {
        match self {
            Entry::Position(position) => Some(*position),
            Entry::Loop(found) => at.affine(&found.expr),
            Entry::Split(cond) => at.cond(cond).map(|holds| i64::from(!holds)),
        }
    }

    /// Whether two entries, with the same ones in front of them, are the same place of the tree. Loops of different
    /// statements have expressions over different iterators, so they go by name.
    pub fn is_same_place(&self, other: &Entry) -> bool {
        match (self, other) {
            (Entry::Position(one), Entry::Position(two)) => one == two,
            (Entry::Loop(one), Entry::Loop(two)) => one.name == two.name,
            (Entry::Split(one), Entry::Split(two)) => one == two,
            _ => false,
        }
    }

    pub fn as_loop(&self) -> Option<&Loop> {
        match self {
            Entry::Loop(found) => Some(found),
            Entry::Position(_) | Entry::Split(_) => None,
        }
    }
}

impl Plan {
    /// The order in which the program is written.
    pub fn original(scop: &Scop) -> Plan {
        let statements = scop.statements.iter().map(|statement| {
            let (name, source) = (statement.name.clone(), statement.source.clone());
            StatementPlan { name, source, entries: statement.order.clone() }
        });
        Plan { statements: statements.collect() }
    }

    /// Where the plan parts two instances and runs the second first, in words; none if it keeps them in order.
    pub(crate) fn parting(&self, scop: &Scop, first: &Instance, second: &Instance, params: &[i64]) -> Option<String> {
        let mut around = None;
        for (one, two) in self.entries_at(scop, first, params)?.into_iter().zip(self.entries_at(scop, second, params)?)
        {
            let ((one, first_time), (two, second_time)) = (one, two);
            match first_time.cmp(&second_time) {
                Ordering::Less => return None,
                Ordering::Greater => {
                    return Some(match (one.as_loop().or(two.as_loop()), around) {
                        (Some(found), _) => format!("the loop `{}` turns them round", found.name),
                        (None, Some(around)) => format!("the order inside the loop `{around}` turns them round"),
                        (None, None) => "the order of the loops turns them round".into(),
                    });
                }
                Ordering::Equal => around = one.as_loop().map(|found| found.name.as_str()).or(around),
            }
        }
        None
    }

    /// A statement's entries, each with its value at an instance.
    fn entries_at(&self, scop: &Scop, instance: &Instance, params: &[i64]) -> Option<Vec<(&Entry, i64)>> {
        let plan = self.statements.iter().find(|plan| plan.name == instance.statement)?;
        let at = At { params, iters: &scop.statement(&instance.statement)?.iters, values: &instance.values };
        plan.entries.iter().map(|entry| Some((entry, entry.at(&at)?))).collect()
    }

    /// One line per statement: `S0_update: 0, 0, for i, for j, 1, parallel for k`.
    pub fn to_text(&self, scop: &Scop) -> String {
        let lines = self.statements.iter().map(|statement| {
            let entries = statement.entries.iter().map(|entry| match entry {
                Entry::Position(position) => position.to_string(),
                Entry::Split(cond) => format!("split {}", scop.function.show_cond(cond)),
                Entry::Loop(Loop { name, expr, kind }) => {
                    let kind = if *kind == LoopKind::Serial { String::new() } else { format!("{} ", kind.name()) };
                    format!("{kind}for {name} = {}", scop.function.show(expr))
                }
            });
            format!("{}: {}\n", statement.name, entries.collect::<Vec<_>>().join(", "))
        });
        lines.collect()
    }
}

impl StatementPlan {
    /// How many entries two statements have in common, counted from the outside.
    pub fn shared_with(&self, other: &StatementPlan) -> usize {
        self.entries.iter().zip(&other.entries).take_while(|(one, two)| one.is_same_place(two)).count()
    }

    pub fn loop_named(&self, name: &str) -> Option<(usize, &Loop)> {
        let mut loops = self.entries.iter().enumerate().filter_map(|(level, entry)| Some((level, entry.as_loop()?)));
        loops.find(|(_, found)| found.name == name)
    }

    pub fn loops(&self) -> impl Iterator<Item = &Loop> {
        self.entries.iter().filter_map(Entry::as_loop)
    }
}

/// The iterator's name for `i` and `-i`; otherwise a name made of the expression's first iterator.
fn loop_name(function: &Function, affine: &Affine) -> String {
    let mut name = None;
    affine.visit_iters(&mut |iter| {
        name.get_or_insert_with(|| function.iter(iter).name.clone());
    });
    name.unwrap_or_else(|| "c".into())
}
