//! Verbs that change which statements share loops and in which order they stand: fuse, fission, sequence, split.

use diag::Diagnostic;
use program::{Affine, Cond, IterId};

use super::{Applied, Condition, Step, misuse, overflow, select};
use crate::plan::{Entry, Plan};
use crate::scop::{Scop, Statement};

/// The statements of two targets, `S0` and `S1`.
fn two(plan: &Plan, step: &Step) -> Result<(Vec<usize>, Vec<usize>), Box<Diagnostic>> {
    let [one, two] = step.targets.as_slice() else {
        return Err(misuse(step, step.span, format!("`{}` takes two statements", step.verb.text)));
    };
    Ok((select::statements(plan, &one.name)?, select::statements(plan, &two.name)?))
}

/// Both share the loops down to `at`, and inside it the first comes first. Their loops are matched in order, by the name
/// in the first statement.
pub(super) fn fuse(_: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (first, second) = two(plan, step)?;
    let at = step.at.as_ref().ok_or_else(|| misuse(step, step.span, "`fuse` needs the loop to share, behind `at`"))?;
    let leader = first.iter().find(|position| plan.statements[**position].loop_named(&at.text).is_some());
    let Some(leader) = leader else { return Err(select::unknown_loop(plan, &first, at)) };
    let leader = &plan.statements[*leader].entries;
    let shared = first.iter().chain(&second).fold(leader.len(), |shared, position| {
        let entries = &plan.statements[*position].entries;
        shared.min(leader.iter().zip(entries).take_while(|(one, two)| one.is_same_place(two)).count())
    });
    let level = leader.iter().position(|entry| entry.as_loop().is_some_and(|found| found.name == at.text));
    let level = level.ok_or_else(|| select::unknown_loop(plan, &first, at))?;
    if level < shared {
        return Err(misuse(step, at.span, format!("they share loop `{}` already", at.text)));
    }
    let names: Vec<&str> =
        leader[shared..=level].iter().filter_map(Entry::as_loop).map(|found| found.name.as_str()).collect();
    let mut result = plan.clone();
    for (group, statements) in [&first, &second].into_iter().enumerate() {
        for (order, position) in statements.iter().enumerate() {
            let statement = &plan.statements[*position];
            let mut entries = statement.entries[..shared].to_vec();
            let mut rest = statement.entries[shared..].iter();
            for name in &names {
                let next = rest.by_ref().find_map(Entry::as_loop).cloned();
                let Some(mut found) = next else {
                    let message = format!("`{}` has no loop to share as `{name}`", statement.name);
                    return Err(Box::new(Diagnostic::error("E0513", step.span, message)));
                };
                found.name = (*name).to_string();
                entries.push(Entry::Loop(found));
            }
            entries.push(Entry::Position(group as i64));
            // Parts of one source statement keep their order inside the shared loop.
            entries.push(Entry::Position(order as i64));
            entries.extend(rest.cloned());
            result.statements[*position].entries = entries;
        }
    }
    Ok(result)
}

/// Statements up to the first get a loop `at` of their own before those from the second on.
pub(super) fn fission(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (first, second) = two(plan, step)?;
    let at =
        step.at.as_ref().ok_or_else(|| misuse(step, step.span, "`fission` needs the loop to divide, behind `at`"))?;
    let Some((level, _)) = first.iter().find_map(|position| plan.statements[*position].loop_named(&at.text)) else {
        return Err(select::unknown_loop(plan, &first, at));
    };
    let leader = &plan.statements[first[0]].entries;
    let shares = |position: usize| {
        let entries = &plan.statements[position].entries;
        entries.len() > level && leader.iter().zip(entries).take(level + 1).all(|(one, two)| one.is_same_place(two))
    };
    if let Some(stranger) = first.iter().chain(&second).find(|position| !shares(**position)) {
        let message = format!("`{}` does not share loop `{}`", plan.statements[*stranger].name, at.text);
        return Err(Box::new(Diagnostic::error("E0513", at.span, message)));
    }
    // The textual order of the Scop's statements is the order inside the loop, unless positions say otherwise.
    let place = |position: usize| {
        let inside = plan.statements[position].entries[level + 1..].iter().map(|entry| match entry {
            Entry::Position(place) => *place,
            Entry::Loop(_) | Entry::Split(_) => 0,
        });
        inside.collect::<Vec<i64>>()
    };
    let boundary = second.iter().map(|position| place(*position)).min();
    let mut result = plan.clone();
    for position in (0..scop.statements.len()).filter(|position| shares(*position)) {
        let after = second.contains(&position) || !first.contains(&position) && Some(place(position)) >= boundary;
        let entries = &mut result.statements[position].entries;
        entries.insert(level, Entry::Position(i64::from(after)));
    }
    Ok(result)
}

/// The statements, which share their outer loops, in this order.
pub(super) fn sequence(_: &Scop, plan: &Plan, step: &Step) -> Applied {
    if step.targets.len() < 2 {
        return Err(misuse(step, step.span, "`sequence` takes at least two statements"));
    }
    let mut groups = Vec::new();
    for target in &step.targets {
        groups.push(select::statements(plan, &target.name)?);
    }
    let all: Vec<usize> = groups.iter().flatten().copied().collect();
    let leader = &plan.statements[all[0]].entries;
    let shared = all.iter().fold(leader.len(), |shared, position| {
        let entries = &plan.statements[*position].entries;
        shared.min(leader.iter().zip(entries).take_while(|(one, two)| one.is_same_place(two)).count())
    });
    let mut places = Vec::new();
    for position in &all {
        match plan.statements[*position].entries.get(shared) {
            Some(Entry::Position(place)) => places.push(*place),
            _ => {
                let message = "the statements are not in one sequence".to_string();
                return Err(Box::new(
                    Diagnostic::error("E0513", step.span, message)
                        .help("`fission` separates statements that share a loop"),
                ));
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    let strangers = plan.statements.iter().enumerate().any(|(position, statement)| {
        let inside = leader.iter().zip(&statement.entries).take(shared).all(|(one, two)| one.is_same_place(two));
        let place = statement.entries.get(shared);
        !all.contains(&position) && inside && matches!(place, Some(Entry::Position(place)) if places.contains(place))
    });
    if strangers {
        let message = "another statement stands at the same place as one of these";
        return Err(Box::new(Diagnostic::error("E0513", step.span, message)));
    }
    // Each group moves as a whole: its parts keep their order below a new position.
    let mut result = plan.clone();
    let base = places.first().copied().unwrap_or(0);
    for (order, group) in groups.iter().enumerate() {
        for position in group {
            let entries = &mut result.statements[*position].entries;
            entries.insert(shared, Entry::Position(order as i64));
            entries.insert(shared, Entry::Position(base));
        }
    }
    Ok(result)
}

/// The instances for which the condition holds come before the others, in loops of their own.
pub(super) fn split(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    let target = select::single(step)?;
    let (statements, names) = select::loops(plan, step, target)?;
    let [name] = names.as_slice() else { return Err(misuse(step, step.span, "`split` takes one loop")) };
    let condition =
        step.condition.as_ref().ok_or_else(|| misuse(step, step.span, "`split` needs a condition, behind `where`"))?;
    let mut result = plan.clone();
    for position in statements {
        let Some((level, _)) = plan.statements[position].loop_named(&name.text) else { continue };
        let cond = resolve(scop, &scop.statements[position], condition)?.ok_or_else(|| overflow(step))?;
        result.statements[position].entries.insert(level, Entry::Split(cond));
    }
    Ok(result)
}

/// The condition over the statement's own iterators; `None` on overflow.
fn resolve(scop: &Scop, statement: &Statement, condition: &Condition) -> Result<Option<Cond>, Box<Diagnostic>> {
    let mut iters = Vec::new();
    for word in &condition.inputs {
        let found = statement.iters.iter().find(|iter| scop.function.iter(**iter).name == word.text);
        let Some(found) = found else {
            let message = format!("`{}` has no index `{}`", statement.name, word.text);
            return Err(Box::new(Diagnostic::error("E0511", word.span, message)));
        };
        iters.push(*found);
    }
    Ok(rename_cond(&condition.cond, &iters))
}

fn rename_cond(cond: &Cond, iters: &[IterId]) -> Option<Cond> {
    Some(match cond {
        Cond::NonNegative(affine) => Cond::NonNegative(rename(affine, iters)?),
        Cond::Zero(affine) => Cond::Zero(rename(affine, iters)?),
        Cond::And(conds) => Cond::And(conds.iter().map(|cond| rename_cond(cond, iters)).collect::<Option<_>>()?),
        Cond::Or(conds) => Cond::Or(conds.iter().map(|cond| rename_cond(cond, iters)).collect::<Option<_>>()?),
    })
}

/// An expression over numbered inputs as one over iterators; `None` on overflow.
pub(super) fn rename(affine: &Affine, iters: &[IterId]) -> Option<Affine> {
    let mut result = Affine::constant(affine.constant);
    for (atom, coefficient) in &affine.terms {
        let atom = match atom {
            program::Atom::Iter(id) => Affine::iter(*iters.get(id.index())?),
            program::Atom::Param(id) => Affine::param(*id),
            program::Atom::Div(numerator, divisor) => rename(numerator, iters)?.div(*divisor)?,
        };
        result = result.add_scaled(&atom, *coefficient)?;
    }
    Some(result)
}
