//! Steps that count loops in another way: split, merge, resize, swizzle, shift, and several of them at once.
//!
//! The operations are those of `layout::iter`, on the domains that the loops have. What comes of them is, for each instance, its iteration in
//! each new loop. So every instance runs once, whatever divides what, and loops are generated with no more conditions than that takes.
//! A slice that drops instances is not: the gate finds them missing. What a written predicate lets run is judged by `poly::visits`.

use diag::Diagnostic;
use isl::Set;
use layout::iter::{Operation, Schedule};
use layout::{Axis, Expr, Transform};
use poly::visits::{Visits, find_wrong_visit};
use poly::{Entry, Fault, Loop, LoopId, LoopKind};
use program::{Affine, Cond};

use super::{Applied, Edit, misuse};
use crate::algebra::{lowered, size};
use crate::bounds;
use crate::refusal::{Drafted, Refusal};
use crate::step::{Condition, Loops, Step, Word};

/// One operation.
pub(super) fn recount(edit: &mut Edit<'_>, loops: &Loops, operation: &Operation, names: &[Word]) -> Drafted<()> {
    let (step, words) = (edit.step, loops.names());
    let make = |axes: Vec<Axis>| -> Drafted<Schedule> {
        let mut schedule = Schedule::new(axes);
        let domains: Vec<_> = words.iter().filter_map(|word| schedule.loop_named(&word.text)).collect();
        let made = match (operation, domains.as_slice()) {
            (Operation::Split { kind, factor }, &[whole]) => schedule.split(whole, *factor, *kind).map(drop),
            (Operation::Merge, &[outer, inner]) => schedule.merge(outer, inner).map(drop),
            (Operation::Resize { left, right }, &[whole]) => schedule.resize(whole, *left, *right).map(drop),
            (Operation::Swizzle(kind), &[x, y]) => schedule.swizzle(*kind, x, y).map(drop),
            _ => return Err(Fault::bug("an operation on other loops than it takes").into()),
        };
        made.map_err(|error| unfit(step, &error))?;
        Ok(schedule)
    };
    edit.recount(loops, names, &make, None)
}

/// Several operations, perhaps with the iterations that run.
pub(super) fn count(edit: &mut Edit<'_>, loops: &Loops, text: &Word, runs: Option<&Condition>) -> Drafted<()> {
    let make = |axes: Vec<Axis>| {
        let made = layout::calculator::schedule(&text.text, axes);
        made.map_err(|error| Refusal::in_notation(error, text.span, "E0512", "these are no operations on loops"))
    };
    edit.recount(loops, &[], &make, runs)
}

fn unfit(step: &Step, error: &layout::Error) -> Refusal {
    misuse(step, step.span, error.to_string()).into()
}

/// The domain of a loop that is there.
struct Domain {
    id: LoopId,
    axis: Axis,
    /// What it counts when the domain counts 0.
    first: Affine,
}

/// Domains with operations on them, as far as they are affine.
struct Counted {
    schedule: Schedule,
    forward: Transform,
    /// The iteration of each new loop; `IterId(n)` is what the n-th domain counts.
    index: Vec<Affine>,
    /// Of the new loops.
    extents: Vec<Option<Affine>>,
}

type Make<'a> = &'a dyn Fn(Vec<Axis>) -> Drafted<Schedule>;

impl Edit<'_> {
    fn recount(&mut self, loops: &Loops, names: &[Word], make: Make<'_>, runs: Option<&Condition>) -> Drafted<()> {
        let numbers = self.targets(loops)?;
        let words = loops.names();
        if words.len() > 1 {
            self.gather(&numbers);
        }
        let mut found = false;
        for nest in self.nests(&numbers, &words)? {
            found |= self.recount_nest(&nest, &words, names, (make, runs))?;
        }
        if found {
            return Ok(());
        }
        let names: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let message = format!("no statement has the loops {} around it", names.join(", "));
        Err(self.refuse(self.step.span, message).into())
    }

    /// Counts the loops of one nest in another way, for the statements that have all of them; the others keep theirs.
    fn recount_nest(
        &mut self,
        nest: &[usize],
        words: &[&Word],
        names: &[Word],
        (make, runs): (Make<'_>, Option<&Condition>),
    ) -> Drafted<bool> {
        let has_all = |number: &usize| self.levels(*number, words).len() == words.len();
        let members: Vec<usize> = nest.iter().copied().filter(has_all).collect();
        let Some(&leader) = members.first() else { return Ok(false) };
        let mut levels = self.levels(leader, words);
        levels.sort_unstable();
        let mut domains = Vec::new();
        for level in &levels {
            domains.push(self.domain(&members, leader, *level, words)?);
        }
        let counted = self.counted(make(domains.iter().map(|domain| domain.axis.clone()).collect())?)?;
        let made = self.made_loops(&counted, names, &domains)?;
        let mut values = Vec::new();
        for number in &members {
            self.refuse_splits(*number, &levels_of(self, *number, &domains)?)?;
            let old = self.counts(*number, &domains)?;
            let through = |index: &Affine| index.substitute(&|input| old.get(input.index()).cloned());
            let new = counted.index.iter().map(through).collect::<Option<Vec<_>>>().ok_or_else(|| self.overflow())?;
            if let Some(runs) = runs {
                self.check_runs(*number, &counted, runs, (&old, &new))?;
            }
            let kept = self.kept(&counted, &old)?;
            values.push((*number, new, kept));
        }
        for (number, new, kept) in values {
            let places = levels_of(self, number, &domains)?;
            let entries = &mut self.branches[number].entries;
            let new = made.iter().copied().zip(new).map(|(id, expr)| Entry::Loop(id, expr));
            if places.len() == made.len() {
                places.iter().zip(new).for_each(|(place, entry)| entries[*place] = entry);
            } else {
                places.iter().rev().for_each(|place| drop(entries.remove(*place)));
                entries.splice(places[0]..places[0], new);
            }
            if !kept.is_true() {
                entries.insert(places[0], Entry::Only(kept));
            }
        }
        self.forget_bands(nest);
        Ok(true)
    }

    /// What the loop at a level of the leader counts, for all members, which share it.
    fn domain(&self, members: &[usize], leader: usize, level: usize, words: &[&Word]) -> Drafted<Domain> {
        let Some((id, _)) = self.branches[leader].entries[level].as_loop() else {
            return Err(Fault::bug("a named loop is none").into());
        };
        let info = self.tree.info(id);
        let name = words.iter().find(|word| info.is_called(&word.text)).map_or(&info.name, |word| &word.text).clone();
        if info.kind != LoopKind::Serial || info.separate {
            let message =
                format!("`{}` makes new loops: the mark of `{name}` would be lost", super::verb_name(self.step));
            let help = "count loops first; `parallel`, `vectorize`, `unroll` and `separate` come afterwards";
            return Err(self.refuse(self.step.span, message).help(help).into());
        }
        let mut values: Option<Set> = None;
        for number in members {
            let Some(level) = self.branches[*number].level_of(id) else {
                let message =
                    format!("`{}` and `{}` have loops `{name}` of their own", self.name(leader), self.name(*number));
                let help =
                    format!("separate them first: `fission {}, {} at …`", self.source(leader), self.source(*number));
                return Err(self.refuse(self.step.span, message).help(help).into());
            };
            let own = self.branches[*number].values(self.scop, level)?;
            values = Some(match values {
                Some(known) => known.union(own)?,
                None => own,
            });
        }
        let Some(values) = values else { return Err(Fault::bug("a nest without statements").into()) };
        let (first, extent) = self.range(id, &name, &values)?;
        let extent = extent.and_then(|extent| size(&self.scop.function, &extent));
        // What needs an extent that is not known says so by this name.
        let extent = extent.unwrap_or_else(|| Expr::param(format!("extent({name})")));
        Ok(Domain { id, axis: Axis::new(name, extent), first })
    }

    /// Where a loop begins to count, and how far it does: from 0 unless it begins before that, and as far as an operation has said or
    /// instances show.
    fn range(&self, id: LoopId, name: &str, values: &Set) -> Drafted<(Affine, Option<Affine>)> {
        let zero = Affine::constant(0);
        if let Some(extent) = &self.loops[id.index()].extent
            && values.is_subset(&poly::sets::below(&values.get_space()?, 0, extent)?)?
        {
            return Ok((zero, Some(extent.clone())));
        }
        let first = match bounds::first(self.scop, values, 0)? {
            Some(first) if first.as_constant().is_some_and(|first| first >= 0) => zero,
            Some(first) => first,
            None => {
                let message = format!("where loop `{name}` begins is no single expression");
                return Err(self.refuse(self.step.span, message).into());
            }
        };
        let past = bounds::last(self.scop, values, 0)?.and_then(|last| last.add(&Affine::constant(1)));
        Ok((first.clone(), past.and_then(|past| past.sub(&first))))
    }

    /// The operations as affine expressions.
    fn counted(&self, schedule: Schedule) -> Drafted<Counted> {
        let forward = schedule.loops_of_roots().map_err(|error| unfit(self.step, &error))?;
        let names: Vec<String> = forward.inputs().iter().map(|axis| axis.name.clone()).collect();
        let index = forward.index().iter().map(|expr| self.affine(expr, &names)).collect::<Drafted<_>>()?;
        let extents = forward.outputs().iter().map(|axis| lowered(&self.scop.function, &axis.extent)).collect();
        Ok(Counted { schedule, forward, index, extents })
    }

    fn affine(&self, expr: &Expr, names: &[String]) -> Drafted<Affine> {
        lowered(&self.scop.function, expr).ok_or_else(|| {
            let message =
                format!("`{}` is not affine: only numbers can be multiplied and divided by", expr.display(names));
            self.refuse(self.step.span, message).into()
        })
    }

    /// New loops, by the names given or by those that the operations give.
    fn made_loops(&mut self, counted: &Counted, names: &[Word], domains: &[Domain]) -> Applied<Vec<LoopId>> {
        let axes = counted.forward.outputs().iter().enumerate();
        let called: Vec<String> =
            axes.map(|(position, axis)| names.get(position).map_or(&axis.name, |word| &word.text).clone()).collect();
        for (position, name) in called.iter().enumerate() {
            let consumed = |id: LoopId| domains.iter().any(|domain| domain.id == id);
            let taken = self.tree.loops().any(|(id, known)| known.is_called(name) && !consumed(id));
            if taken || called[..position].contains(name) {
                let span = names.get(position).map_or(self.step.span, |word| word.span);
                return Err(self.misuse(span, format!("there is a loop `{name}` already; choose a name with `as`")));
            }
        }
        let loops = called.into_iter().zip(&counted.extents);
        let loops: Vec<Loop> =
            loops.map(|(name, extent)| Loop { extent: extent.clone(), ..Loop::named(name) }).collect();
        Ok(loops.into_iter().map(|made| self.add_loop(made)).collect())
    }

    /// What the domains count for an instance.
    fn counts(&self, number: usize, domains: &[Domain]) -> Drafted<Vec<Affine>> {
        let entries = &self.branches[number].entries;
        let places = levels_of(self, number, domains)?;
        let count = |(place, domain): (&usize, &Domain)| entries[*place].as_loop()?.1.sub(&domain.first);
        let counts: Option<Vec<Affine>> = places.iter().zip(domains).map(count).collect();
        counts.ok_or_else(|| self.overflow().into())
    }

    /// The instances that no slice takes away.
    fn kept(&self, counted: &Counted, old: &[Affine]) -> Drafted<Cond> {
        let names: Vec<String> = counted.forward.inputs().iter().map(|axis| axis.name.clone()).collect();
        let mut kept = Cond::TRUE;
        for bound in counted.forward.bounds() {
            let (index, extent) = (self.affine(&bound.index, &names)?, self.affine(&bound.extent, &names)?);
            let index = index.substitute(&|input| old.get(input.index()).cloned());
            let below = index.as_ref().and_then(|index| extent.sub(index)?.sub(&Affine::constant(1)));
            let (Some(index), Some(below)) = (index, below) else { return Err(self.overflow().into()) };
            kept = kept.and(Cond::NonNegative(index)).and(Cond::NonNegative(below));
        }
        Ok(kept)
    }

    /// The iterations that are said to run must be those that have instances.
    fn check_runs(
        &self,
        number: usize,
        counted: &Counted,
        runs: &Condition,
        (old, new): (&[Affine], &[Affine]),
    ) -> Drafted<()> {
        let (schedule, step) = (&counted.schedule, self.step);
        let loops: Vec<String> = schedule.loop_axes().into_iter().map(|axis| axis.name).collect();
        let mut inputs = Vec::new();
        for word in runs.inputs() {
            let Some(index) = schedule.index_named(&word.text).map_err(|error| unfit(step, &error))? else {
                let message = format!("there is no domain `{}`", word.text);
                let note = format!("the loops are {}", loops.join(", "));
                return Err(Diagnostic::error("E0511", word.span, message).note(note).into());
            };
            inputs.push(self.affine(&index, &loops)?);
        }
        let condition = runs.body().substitute(&|input| inputs.get(input.index()).cloned());
        let condition = condition.ok_or_else(|| self.overflow())?;
        let back = schedule.roots_of_loops().map_err(|error| unfit(step, &error))?;
        let back = back.index().iter().map(|expr| self.affine(expr, &loops)).collect::<Drafted<Vec<_>>>()?;
        let extents =
            schedule.loop_axes().iter().map(|axis| self.affine(&axis.extent, &[])).collect::<Drafted<Vec<_>>>()?;
        let visits = Visits { names: &loops, extents: &extents, runs: &condition, counted: &back, old, new };
        match find_wrong_visit(self.scop, &self.branches[number], &visits, step.span)? {
            None => Ok(()),
            Some(diagnostic) => {
                let needed = schedule.minimal_predicate().map_err(|error| unfit(step, &error))?;
                Err(diagnostic.help(format!("what is needed is {needed}; without `where` it is known")).into())
            }
        }
    }
}

/// The levels of the domains' loops in a branch.
fn levels_of(edit: &Edit<'_>, number: usize, domains: &[Domain]) -> Drafted<Vec<usize>> {
    let level = |domain: &Domain| edit.branches[number].level_of(domain.id);
    let levels: Option<Vec<usize>> = domains.iter().map(level).collect();
    levels.ok_or_else(|| Fault::bug("a statement has lost a loop").into())
}
