//! Times: a tree as numbers. The time of an instance has a number per place and loop on the way to it, and instances run in
//! the lexicographic order of their times.

use std::cmp::Ordering;

use isl::{PwAff, Set};
use program::{Affine, Function};

use super::{Branch, Entry, Loop, LoopId, LoopKind, StatementId, Tree};
use crate::fault::{Attempt, Fault};
use crate::scop::{Scop, Statement};
use crate::sets::Frame;
use crate::witness::At;

/// Says what a loop is called, given its level and what each statement counts with it.
pub type Naming<'a> = dyn Fn(usize, &[(StatementId, &Affine)]) -> Loop + 'a;

impl Tree {
    /// The tree in which each statement runs at the times given, components that are missing being 0. Statements share a
    /// component that is a loop for one of them. `name` is asked for each loop, at its level, with what the statements count.
    pub fn from_times(times: &[(StatementId, Vec<Affine>)], name: &Naming<'_>) -> Tree {
        let mut loops = Vec::new();
        let mut branches: Vec<Branch> =
            times.iter().map(|(statement, _)| Branch { statement: *statement, entries: Vec::new() }).collect();
        let depth = times.iter().map(|(_, time)| time.len()).max().unwrap_or(0);
        let zero = Affine::constant(0);
        let mut groups: Vec<Vec<usize>> = vec![(0..times.len()).collect()];
        for level in 0..depth {
            let component = |number: usize| times[number].1.get(level).unwrap_or(&zero);
            let mut next = Vec::new();
            for group in groups {
                let constants: Option<Vec<i64>> = group.iter().map(|number| component(*number).as_constant()).collect();
                match constants {
                    Some(places) => {
                        let mut distinct = places.clone();
                        distinct.sort_unstable();
                        distinct.dedup();
                        for place in distinct {
                            let here = group.iter().zip(&places).filter(|(_, own)| **own == place);
                            next.push(here.map(|(number, _)| *number).collect());
                        }
                        for (number, place) in group.iter().zip(&places) {
                            branches[*number].entries.push(Entry::Place(*place));
                        }
                    }
                    None => {
                        let counted: Vec<(StatementId, &Affine)> =
                            group.iter().map(|number| (times[*number].0, component(*number))).collect();
                        let id = LoopId(loops.len() as u32);
                        loops.push(name(level, &counted));
                        for number in &group {
                            branches[*number].entries.push(Entry::Loop(id, component(*number).clone()));
                        }
                        next.push(group);
                    }
                }
            }
            groups = next;
        }
        Tree::grow(loops, branches)
    }

    /// The time of each branch as expressions; none if some instances of a statement go another way than others.
    pub fn times(&self) -> Option<Vec<(StatementId, Vec<Affine>)>> {
        let time = |branch: Branch| {
            let component = |entry: &Entry| match entry {
                Entry::Place(place) => Some(Affine::constant(*place)),
                Entry::Loop(_, expr) => Some(expr.clone()),
                Entry::Free(_) | Entry::Only(_) => None,
            };
            let time: Option<Vec<Affine>> = branch.entries.iter().map(component).collect();
            Some((branch.statement, time?))
        };
        self.branches().into_iter().map(time).collect()
    }

    /// The branch on which an instance runs, and when: a number per place and loop. None if it does not run, or on overflow.
    pub(crate) fn time_at(&self, at: &At<'_>, statement: StatementId) -> Option<(Branch, Vec<i64>)> {
        let own = self.branches().into_iter().filter(|branch| branch.statement == statement);
        own.into_iter().find_map(|branch| {
            let time = branch.time_at(at)?;
            Some((branch, time))
        })
    }

    /// What identifies the times and kinds of all loops: equal for equal schedules, names left aside.
    pub fn to_text(&self, scop: &Scop) -> String {
        let function = &scop.function;
        let lines = self.branches().into_iter().map(|branch| {
            let entries = branch.entries.iter().map(|entry| self.show_entry(function, entry));
            let entries = entries.collect::<Vec<_>>().join(", ");
            format!("{}: {entries}\n", scop.statements[branch.statement.index()].name)
        });
        lines.collect()
    }

    fn show_entry(&self, function: &Function, entry: &Entry) -> String {
        match entry {
            Entry::Place(place) => place.to_string(),
            Entry::Free(place) => format!("free {place}"),
            Entry::Only(cond) => format!("only {}", function.show_cond(cond)),
            Entry::Loop(id, expr) => {
                let found = self.info(*id);
                let kind = match found.kind {
                    LoopKind::Serial => String::new(),
                    LoopKind::Parallel => "parallel ".into(),
                    LoopKind::Placed(axis) => format!("parallel({}) ", axis.name()),
                    LoopKind::Vector(lanes) => format!("vector({lanes}) "),
                    LoopKind::Unrolled => "unroll ".into(),
                };
                let separate = if found.separate { "separate " } else { "" };
                format!("{separate}{kind}for {}", function.show(expr))
            }
        }
    }

    /// Where two instances that are turned round part, in words; `first` should come first.
    pub(crate) fn parting(&self, first: (&Branch, &[i64]), second: (&Branch, &[i64])) -> Option<String> {
        let mut around: Option<&str> = None;
        let (mut first_time, mut second_time) = (first.1.iter(), second.1.iter());
        for (one, two) in first.0.entries.iter().zip(&second.0.entries) {
            match (one, two) {
                (Entry::Free(one), Entry::Free(two)) if one != two => return None,
                (Entry::Free(_) | Entry::Only(_), _) => continue,
                (Entry::Place(_) | Entry::Loop(..), _) => {}
            }
            match first_time.next()?.cmp(second_time.next()?) {
                Ordering::Less => return None,
                Ordering::Greater => {
                    return Some(match (one.as_loop().or(two.as_loop()), around) {
                        (Some((id, _)), _) => format!("the loop `{}` turns them round", self.info(id).name),
                        (None, Some(around)) => format!("the order inside the loop `{around}` turns them round"),
                        (None, None) => "the order of the loops turns them round".into(),
                    });
                }
                Ordering::Equal => around = one.as_loop().map(|(id, _)| self.info(id).name.as_str()).or(around),
            }
        }
        None
    }
}

impl Branch {
    /// When an instance runs on this branch; none if it does not, or on overflow.
    pub(crate) fn time_at(&self, at: &At<'_>) -> Option<Vec<i64>> {
        let mut time = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Place(place) => time.push(*place),
                Entry::Loop(_, expr) => time.push(at.affine(expr)?),
                Entry::Free(_) => {}
                Entry::Only(cond) if at.cond(cond)? => {}
                Entry::Only(_) => return None,
            }
        }
        Some(time)
    }

    /// The instances of the statement that run on this branch.
    pub(crate) fn instances(&self, scop: &Scop) -> Attempt<Set> {
        let statement = &scop.statements[self.statement.index()];
        let mut domain = statement.domain.clone();
        for entry in &self.entries {
            if let Entry::Only(cond) = entry {
                domain = domain.intersect(frame(scop, statement)?.cond(cond)?)?;
            }
        }
        Ok(domain)
    }

    /// The iterations of the loop at a level in which instances run.
    pub fn values(&self, scop: &Scop, level: usize) -> Attempt<Set> {
        let statement = &scop.statements[self.statement.index()];
        let Some((_, expr)) = self.entries.get(level).and_then(Entry::as_loop) else {
            return Err(Fault::bug("a level that is no loop has no iterations"));
        };
        let range = scop.params.tuple(None, &[""])?;
        let iterations = frame(scop, statement)?.map(range, std::slice::from_ref(expr))?;
        Ok(iterations.intersect_domain(self.instances(scop)?)?.range()?)
    }

    /// Whether all instances of the statement run on it.
    pub(crate) fn is_whole(&self) -> bool {
        !self.entries.iter().any(|entry| matches!(entry, Entry::Only(_)))
    }

    /// The iteration of a loop in which an instance runs.
    pub(crate) fn iteration(&self, scop: &Scop, level: usize) -> Attempt<PwAff> {
        let statement = &scop.statements[self.statement.index()];
        let frame = frame(scop, statement)?;
        Ok(match &self.entries[level] {
            Entry::Loop(_, expr) => PwAff::from_aff(frame.aff(expr)?)?,
            Entry::Place(place) | Entry::Free(place) => PwAff::from_aff(frame.aff(&Affine::constant(*place))?)?,
            Entry::Only(_) => PwAff::from_aff(frame.aff(&Affine::constant(0))?)?,
        })
    }
}

/// The space of a statement's instances.
pub(crate) fn frame(scop: &Scop, statement: &Statement) -> Attempt<Frame> {
    Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)
}

/// The loop of a program: named after the first index it counts.
pub(crate) fn of_program<'a>(function: &'a Function) -> impl Fn(usize, &[(StatementId, &Affine)]) -> Loop + 'a {
    |_, counted| {
        let mut name = None;
        for (_, expr) in counted {
            expr.visit_iters(&mut |iter| {
                name.get_or_insert_with(|| function.iter(iter).name.clone());
            });
        }
        Loop::named(name.unwrap_or_else(|| "c".into()))
    }
}
