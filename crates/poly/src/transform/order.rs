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

/// The second statement joins the loops of the first down to `at`, behind everything that is in there. Its loops are
/// matched in order and take the first statement's names; so do those of parts of the first that stand elsewhere.
pub(super) fn fuse(_: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (first, second) = two(plan, step)?;
    let at = step.at.as_ref().ok_or_else(|| misuse(step, step.span, "`fuse` needs the loop to share, behind `at`"))?;
    let leader = first.iter().find_map(|position| {
        let (level, _) = plan.statements[*position].loop_named(&at.text)?;
        Some((*position, level))
    });
    let Some((leader, level)) = leader else { return Err(select::unknown_loop(plan, &first, at)) };
    let leader = &plan.statements[leader];
    let inside = |position: &usize| leader.shared_with(&plan.statements[*position]) > level;
    if second.iter().all(inside) {
        return Err(misuse(step, at.span, format!("they share loop `{}` already", at.text)));
    }
    let members: Vec<usize> = (0..plan.statements.len()).filter(inside).collect();
    let mut result = plan.clone();
    let place = |position: &usize| match plan.statements[*position].entries.get(level + 1) {
        Some(Entry::Position(place)) => Some(*place),
        _ => None,
    };
    let places: Option<Vec<i64>> = members.iter().map(place).collect();
    let mut next = match places {
        Some(places) => places.into_iter().max().unwrap_or(0) + 1,
        None => {
            members
                .iter()
                .for_each(|position| result.statements[*position].entries.insert(level + 1, Entry::Position(0)));
            1
        }
    };
    for group in [&first, &second] {
        for (order, position) in group.iter().filter(|position| !inside(position)).enumerate() {
            let statement = &plan.statements[*position];
            let shared = leader.shared_with(statement);
            let mut entries = statement.entries[..shared].to_vec();
            let mut rest = statement.entries[shared..].iter();
            let joined = &leader.entries[shared..=level];
            if joined.iter().any(|entry| matches!(entry, Entry::Split(_))) {
                return Err(misuse(step, at.span, format!("loop `{}` is split; fuse first, then split", at.text)));
            }
            for entry in joined {
                let Entry::Loop(wanted) = entry else {
                    entries.push(entry.clone());
                    continue;
                };
                let Some(mut found) = rest.by_ref().find_map(Entry::as_loop).cloned() else {
                    let message = format!("`{}` has no loop to share as `{}`", statement.name, wanted.name);
                    return Err(Box::new(Diagnostic::error("E0513", step.span, message)));
                };
                found.name.clone_from(&wanted.name);
                found.kind = wanted.kind;
                entries.push(Entry::Loop(found));
            }
            // Parts of one source statement keep their order inside the shared loop.
            entries.extend([Entry::Position(next), Entry::Position(order as i64)]);
            entries.extend(rest.cloned());
            result.statements[*position].entries = entries;
        }
        next += 1;
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
    for position in statements.iter().copied() {
        let Some((level, _)) = plan.statements[position].loop_named(&name.text) else { continue };
        let this = &plan.statements[position];
        let shares = |(other, statement): &(usize, &crate::plan::StatementPlan)| {
            !statements.contains(other) && this.shared_with(statement) > level
        };
        if let Some((place, other)) = plan.statements.iter().enumerate().find(shares) {
            // Parts of one statement go by their own names.
            let parts = other.source == this.source;
            let (source, other) = if parts { (&this.name, &other.name) } else { (&this.source, &other.source) };
            let message = format!("loop `{}` also contains `{other}`", name.text);
            let (first, second) = if place < position { (other, source) } else { (source, other) };
            let help = format!("separate them first: `fission {first}, {second} at {}`", name.text);
            return Err(Box::new(Diagnostic::error("E0513", name.span, message).help(help)));
        }
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
