//! A site: a loop of the plan with the statements inside it, and the place just inside where new statements go.

use isl::Map;
use program::{Affine, ArrayId, IterId};

use super::{Before, Draft, Drafted};
use crate::fault::Attempt;
use crate::plan::{Entry, Loop, Plan};
use crate::sets::Frame;
use crate::transform::{Step, misuse, select};

/// Where a step points to with `at`.
pub(super) struct Site {
    /// The place of the loop among the entries of each member.
    pub(super) level: usize,
    /// The statements inside the loop.
    pub(super) members: Vec<usize>,
    /// The entries that the members share, down to the loop.
    prefix: Vec<Entry>,
    /// An iterator per loop around the site, and the site's own; for new statements.
    pub(super) iters: Vec<IterId>,
}

impl Site {
    /// The loop that the step names; of several loops of that name, the one in which `array` is read.
    pub(super) fn find(before: Before<'_>, step: &Step, draft: &mut Draft, array: ArrayId) -> Drafted<Site> {
        let plan = before.plan;
        let Some(at) = &step.at else {
            let what = format!("`{}` needs a loop, behind `at`", step.verb.text);
            return Err(misuse(step, step.span, what).into());
        };
        let candidates = match &step.at_statement {
            Some(statement) => select::statements(plan, statement)?,
            None => select::with_loop(plan, at)?,
        };
        let with_loop = |position: &usize| plan.statements[*position].loop_named(&at.text).map(|(level, _)| level);
        let mut inside: Vec<(usize, usize)> =
            candidates.iter().filter_map(|position| Some((*position, with_loop(position)?))).collect();
        let reads = |position: usize| before.scop.statements[position].reads.iter().any(|read| read.array == array);
        if inside.iter().any(|(position, _)| reads(*position)) {
            inside.retain(|(position, _)| reads(*position));
        }
        let Some((leader, level)) = inside.first().copied() else {
            return Err(select::unknown_loop(plan, &candidates, at).into());
        };
        let shares = |position: usize| plan.statements[leader].shared_with(&plan.statements[position]) > level;
        if let Some((other, _)) = inside.iter().find(|(position, _)| !shares(*position)) {
            let (one, two) = (&plan.statements[leader].name, &plan.statements[*other].name);
            let what = format!("there are several loops `{0}`; say `at {one}[{0}]` or `at {two}[{0}]`", at.text);
            return Err(misuse(step, at.span, what).into());
        }
        let prefix = plan.statements[leader].entries[..=level].to_vec();
        if prefix.iter().any(|entry| matches!(entry, Entry::Split(_))) {
            let what = format!("loop `{}` is split; `{}` first, then `split`", at.text, step.verb.text);
            return Err(misuse(step, at.span, what).into());
        }
        let members = (0..plan.statements.len()).filter(|position| shares(*position)).collect();
        let span = before.scop.statements[leader].span;
        let names: Vec<String> = prefix.iter().filter_map(Entry::as_loop).map(|found| found.name.clone()).collect();
        let iters = names.iter().map(|name| draft.iter(name, span)).collect();
        Ok(Site { level, members, prefix, iters })
    }

    /// The loops around the site, and its own, outermost first.
    pub(super) fn loops(&self) -> impl Iterator<Item = &Loop> {
        self.prefix.iter().filter_map(Entry::as_loop)
    }

    /// What the site's iterators are at an instance of a member.
    pub(super) fn values(&self, plan: &Plan, member: usize) -> Vec<Affine> {
        let entries = plan.statements[member].entries.iter().take(self.level + 1);
        entries.filter_map(Entry::as_loop).map(|found| found.expr.clone()).collect()
    }

    /// From the iterations of the site to the instances of a member that run in them.
    pub(super) fn instances(&self, before: Before<'_>, member: usize) -> Attempt<Map> {
        let (scop, statement) = (before.scop, &before.scop.statements[member]);
        let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
        let values = self.values(before.plan, member);
        let range = scop.params.tuple(None, &vec![""; values.len()])?;
        let iterations = frame.map(range, &values)?.intersect_domain(statement.domain.clone())?;
        Ok(iterations.reverse()?)
    }

    /// Makes room in front of the members and returns the entries of a statement that goes there.
    pub(super) fn enter(&self, plan: &mut Plan) -> Vec<Entry> {
        let place = |plan: &Plan, member: &usize| match plan.statements[*member].entries.get(self.level + 1) {
            Some(Entry::Position(place)) => Some(*place),
            _ => None,
        };
        let places: Option<Vec<i64>> = self.members.iter().map(|member| place(plan, member)).collect();
        let first = match places.and_then(|places| places.into_iter().min()) {
            Some(first) => first - 1,
            None => {
                for member in &self.members {
                    plan.statements[*member].entries.insert(self.level + 1, Entry::Position(1));
                }
                0
            }
        };
        let mut iters = self.iters.iter();
        let mut entries = self.prefix.clone();
        for entry in &mut entries {
            if let Entry::Loop(found) = entry
                && let Some(iter) = iters.next()
            {
                found.expr = Affine::iter(*iter);
            }
        }
        entries.push(Entry::Position(first));
        entries
    }

    /// The entries of a statement that goes behind the members, after `enter` has made `entries` for one in front.
    pub(super) fn leave(&self, plan: &Plan, entries: &[Entry]) -> Vec<Entry> {
        let place = |member: &usize| match plan.statements[*member].entries.get(self.level + 1) {
            Some(Entry::Position(place)) => *place,
            _ => 0,
        };
        let last = self.members.iter().map(place).max().unwrap_or(0);
        let mut behind = entries.to_vec();
        behind.pop();
        behind.push(Entry::Position(last + 1));
        behind
    }
}
