//! Steps that change which statements share loops and in which order they stand: fuse, fission, sequence, split.

use diag::Diagnostic;
use poly::{Branch, Entry, LoopKind, Scop, Statement};
use program::IterId;

use super::{Applied, Edit, unknown_loop};
use crate::step::{Condition, Loops, Word};

/// The second statement joins the loops of the first down to `at`, behind everything that is in there; so do parts of the
/// first that stand elsewhere. Its loops are matched in order, and become those of the first statement.
pub(super) fn fuse(edit: &mut Edit<'_>, first: &Word, second: &Word, at: &Word) -> Applied<()> {
    let (first, second) = (edit.statement(first)?, edit.statement(second)?);
    let leader = first.iter().find_map(|number| {
        let (level, ..) = edit.tree.loop_named(&edit.branches[*number], &at.text)?;
        Some((edit.branches[*number].clone(), level))
    });
    let Some((leader, level)) = leader else {
        return Err(unknown_loop(edit.tree, first.iter().map(|number| &edit.branches[*number]), at));
    };
    let inside = |branch: &Branch| leader.shared_with(branch) > level;
    if second.iter().all(|number| inside(&edit.branches[*number])) {
        return Err(edit.misuse(at.span, format!("they share loop `{}` already", at.text)));
    }
    let members: Vec<usize> = (0..edit.branches.len()).filter(|number| inside(&edit.branches[*number])).collect();
    let place = |number: &usize| match edit.branches[*number].entries.get(level + 1) {
        Some(Entry::Place(place)) => Some(*place),
        _ => None,
    };
    let places: Option<Vec<i64>> = members.iter().map(place).collect();
    let free = match places {
        Some(places) => places.into_iter().max().unwrap_or(0) + 1,
        None => {
            members.iter().for_each(|number| edit.branches[*number].entries.insert(level + 1, Entry::Place(0)));
            1
        }
    };
    let joining = [first, second]
        .map(|group| group.into_iter().filter(|number| !members.contains(number)).collect::<Vec<usize>>());
    for (next, group) in (free..).zip(joining) {
        for (order, number) in group.iter().enumerate() {
            edit.join(*number, &leader, level, at)?;
            // Parts of one source statement keep their order inside the shared loop.
            let inside = level + 1..level + 1;
            edit.branches[*number].entries.splice(inside, [Entry::Place(next), Entry::Place(order as i64)]);
        }
        edit.forget_bands(&group);
    }
    edit.forget_bands(&members);
    Ok(())
}

impl Edit<'_> {
    /// Replaces the outer entries of a branch by those of a leader, down to a level. Loops are matched in order.
    fn join(&mut self, number: usize, leader: &Branch, level: usize, at: &Word) -> Applied<()> {
        let branch = &self.branches[number];
        let shared = leader.shared_with(branch);
        if branch.entries[shared..].iter().any(|entry| matches!(entry, Entry::Only(_))) {
            let what = format!("`{}` is split; fuse first, then split", self.name(number));
            return Err(self.misuse(self.step.span, what));
        }
        let mut entries = branch.entries[..shared].to_vec();
        let mut rest = branch.entries[shared..].iter();
        let mut matched = Vec::new();
        for entry in &leader.entries[shared..=level] {
            match entry {
                Entry::Loop(wanted, _) => {
                    let Some((own, expr)) = rest.by_ref().find_map(Entry::as_loop) else {
                        let wanted = &self.tree.info(*wanted).name;
                        let message = format!("`{}` has no loop to share as `{wanted}`", self.name(number));
                        let help = self.how_far(number, leader);
                        return Err(Box::new(self.refuse(self.step.span, message).help(help)));
                    };
                    matched.push((*wanted, own));
                    entries.push(Entry::Loop(*wanted, expr.clone()));
                }
                Entry::Only(_) => {
                    let what = format!("loop `{}` is split; fuse first, then split", at.text);
                    return Err(self.misuse(at.span, what));
                }
                Entry::Place(_) | Entry::Free(_) => entries.push(entry.clone()),
            }
        }
        entries.extend(rest.cloned());
        self.branches[number].entries = entries;
        // A mark stays, and is proven for the loop that is shared now.
        for (wanted, own) in matched {
            let kind = self.loops[own.index()].kind;
            if self.loops[wanted.index()].kind == LoopKind::Serial {
                self.loops[wanted.index()].kind = kind;
            }
        }
        Ok(())
    }

    /// How many loops a statement could share with a leader, and how that is said.
    fn how_far(&self, number: usize, leader: &Branch) -> String {
        let branch = &self.branches[number];
        let shared = leader.shared_with(branch);
        let own = branch.entries[shared..].iter().filter_map(Entry::as_loop).count();
        let mut loops = leader.entries[shared..].iter().filter_map(Entry::as_loop);
        let name = self.name(number);
        match own.checked_sub(1).and_then(|last| loops.nth(last)) {
            Some((id, _)) => {
                let (first, loops) = (&self.scop.at(leader.statement).source, if own == 1 { "loop" } else { "loops" });
                let deepest = &self.tree.info(id).name;
                format!("`{name}` has {own} {loops} of its own: `fuse {first}, {name} at {deepest}` shares as many")
            }
            None => format!("`{name}` has no loop of its own, so there is nothing to share; `sequence` moves it"),
        }
    }
}

/// Statements up to the first get a loop `at` of their own before those from the second on.
pub(super) fn fission(edit: &mut Edit<'_>, first: &Word, second: &Word, at: &Word) -> Applied<()> {
    let (first, second) = (edit.statement(first)?, edit.statement(second)?);
    let found = first.iter().find_map(|number| edit.tree.loop_named(&edit.branches[*number], &at.text));
    let Some((level, id, _)) = found else {
        return Err(unknown_loop(edit.tree, first.iter().map(|number| &edit.branches[*number]), at));
    };
    let shares = |number: &usize| edit.branches[*number].level_of(id).is_some();
    if let Some(stranger) = first.iter().chain(&second).find(|number| !shares(number)) {
        let message = format!("`{}` does not share loop `{}`", edit.name(*stranger), at.text);
        return Err(Box::new(edit.refuse(at.span, message)));
    }
    let boundary = second.iter().min().copied();
    let inside: Vec<usize> = (0..edit.branches.len()).filter(shares).collect();
    for number in &inside {
        let after = second.contains(number) || !first.contains(number) && Some(*number) >= boundary;
        edit.branches[*number].entries.insert(level, Entry::Place(i64::from(after)));
    }
    edit.loops[id.index()].apart = true;
    edit.forget_bands(&inside);
    Ok(())
}

/// The statements, which share their outer loops, in this order: they take each other's places in the sequence, and
/// whatever else stands there stays where it is.
pub(super) fn sequence(edit: &mut Edit<'_>, statements: &[Word]) -> Applied<()> {
    let mut groups = Vec::new();
    for name in statements {
        groups.push(edit.statement(name)?);
    }
    let all: Vec<usize> = groups.iter().flatten().copied().collect();
    let leader = edit.branches[all[0]].clone();
    let shared = all.iter().map(|number| leader.shared_with(&edit.branches[*number])).min().unwrap_or(0);
    let shared = if all.len() == 1 { 0 } else { shared.min(leader.entries.len()) };
    let place = |number: usize| match edit.branches[number].entries.get(shared) {
        Some(Entry::Place(place)) => Some(*place),
        _ => None,
    };
    let mut places = Vec::new();
    for number in &all {
        match place(*number) {
            Some(place) => places.push(place),
            None => {
                let diagnostic = edit.refuse(edit.step.span, "the statements are not in one sequence");
                return Err(Box::new(diagnostic.help("`fission` separates statements that share a loop")));
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    let beside = |number: &usize| {
        let inside = edit.branches[*number].shared_with(&leader) >= shared;
        !all.contains(number) && inside && place(*number).is_some_and(|place| places.contains(&place))
    };
    if (0..edit.branches.len()).any(|number| beside(&number)) {
        let message = "another statement stands at the same place as one of these";
        return Err(Box::new(edit.refuse(edit.step.span, message)));
    }
    // Each group takes as many places as it has, in its own order.
    let mut next = places.iter();
    let mut moved: Vec<(usize, i64)> = Vec::new();
    for group in &groups {
        let mut own: Vec<i64> = group.iter().filter_map(|number| place(*number)).collect();
        own.sort_unstable();
        own.dedup();
        for old in own {
            let Some(new) = next.next() else {
                let message = "two of these statements stand at the same place";
                return Err(Box::new(edit.refuse(edit.step.span, message)));
            };
            moved.extend(group.iter().filter(|number| place(**number) == Some(old)).map(|number| (*number, *new)));
        }
    }
    for (number, new) in moved {
        edit.branches[number].entries[shared] = Entry::Place(new);
    }
    Ok(())
}

/// The instances for which the condition holds come before the others, in loops of their own.
pub(super) fn split(edit: &mut Edit<'_>, loops: &Loops, condition: &Condition) -> Applied<()> {
    let numbers = edit.targets(loops)?;
    let names = loops.names();
    let name = names[0];
    let mut halves: Vec<(usize, [Branch; 2])> = Vec::new();
    for number in &numbers {
        let Some((level, id, _)) = edit.tree.loop_named(&edit.branches[*number], &name.text) else { continue };
        let stranger = |other: &usize| !numbers.contains(other) && edit.branches[*other].level_of(id).is_some();
        if let Some(other) = (0..edit.branches.len()).find(stranger) {
            // Parts of one statement go by their own names.
            let parts = edit.source(other) == edit.source(*number);
            let call = |number: usize| if parts { edit.name(number) } else { edit.source(number) };
            let (first, second) = if other < *number { (other, *number) } else { (*number, other) };
            let help = format!("separate them first: `fission {}, {} at {}`", call(first), call(second), name.text);
            let message = format!("loop `{}` also contains `{}`", name.text, call(other));
            return Err(Box::new(edit.refuse(name.span, message).help(help)));
        }
        let statement = edit.scop.at(edit.branches[*number].statement);
        let iters = indices(edit.scop, statement, condition)?;
        let holds = condition.bind(&iters).ok_or_else(|| edit.overflow())?;
        let fails = holds.negate().ok_or_else(|| edit.overflow())?;
        let half = |place: i64, cond| {
            let mut half = edit.branches[*number].clone();
            half.entries.splice(level..level, [Entry::Place(place), Entry::Only(cond)]);
            half
        };
        halves.push((*number, [half(0, holds), half(1, fails)]));
    }
    for (number, halves) in halves.into_iter().rev() {
        edit.branches.splice(number..=number, halves);
    }
    Ok(())
}

/// The statement's own iterators for the inputs of a condition.
pub(crate) fn indices(scop: &Scop, statement: &Statement, condition: &Condition) -> Applied<Vec<IterId>> {
    let mut iters = Vec::new();
    for word in condition.inputs() {
        let found = statement.iters.iter().find(|iter| scop.function.iter(**iter).name == word.text);
        let Some(found) = found else {
            let scalar = scop.function.scalars.iter().any(|scalar| scalar.name == word.text);
            let message = match scalar {
                true => format!(
                    "`{}` is a scalar argument, whose value is data; a condition needs sizes and indices",
                    word.text
                ),
                false => format!("`{}` has no index `{}`", statement.name, word.text),
            };
            return Err(Box::new(Diagnostic::error("E0511", word.span, message)));
        };
        iters.push(*found);
    }
    Ok(iters)
}
