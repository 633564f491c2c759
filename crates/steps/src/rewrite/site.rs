//! A site: a loop of the tree with the statements inside it, and the places just inside where new statements go.

use isl::Map;
use poly::rewriting::Draft;
use poly::sets::Frame;
use poly::{Branch, Entry, Loop};
use program::{Affine, ArrayId, IterId};

use super::{Before, Drafted};
use crate::rearrange::{branches_of, misuse, statements, unknown_loop, verb_name, with_loop};
use crate::step::{Place, Step};

/// Where a step points to with `at`.
pub(super) struct Site {
    /// How many entries of the branch of each member lead there, its own loop included.
    depth: usize,
    /// The statements inside the loop, by position.
    pub(super) members: Vec<usize>,
    /// The entries that the members share, down to the loop.
    prefix: Vec<Entry>,
    /// The loops around the site, and its own, outermost first.
    pub(super) loops: Vec<Loop>,
    /// An iterator for each of them; for new statements.
    pub(super) iters: Vec<IterId>,
}

impl Site {
    /// The loop that the step names; of several loops of that name, the one in which `array` is read.
    pub(super) fn find(
        before: Before<'_>,
        step: &Step,
        place: &Place,
        draft: &mut Draft,
        array: ArrayId,
    ) -> Drafted<Site> {
        let (tree, branches, at) = (before.tree, before.branches, &place.at);
        let candidates = match &place.statement {
            Some(statement) => branches_of(branches, &statements(before.scop, statement)?),
            None => with_loop(tree, branches, at)?,
        };
        let with_loop =
            |number: &usize| tree.loop_named(&branches[*number], &at.text).map(|(level, id, _)| (level, id));
        let mut inside: Vec<(usize, _)> =
            candidates.iter().filter_map(|number| Some((*number, with_loop(number)?))).collect();
        let reads =
            |number: usize| before.scop.at(branches[number].statement).reads.iter().any(|read| read.array == array);
        if inside.iter().any(|(number, _)| reads(*number)) {
            inside.retain(|(number, _)| reads(*number));
        }
        let Some((leader, (level, id))) = inside.first().copied() else {
            return Err(unknown_loop(tree, candidates.iter().map(|number| &branches[*number]), at).into());
        };
        let prefix = branches[leader].entries[..=level].to_vec();
        if prefix.iter().any(|entry| matches!(entry, Entry::Only(_))) {
            let what = format!("loop `{}` is split; `{}` first, then `split`", at.text, verb_name(step));
            return Err(misuse(step, at.span, what).into());
        }
        if let Some((other, _)) = inside.iter().find(|(_, (_, other))| *other != id) {
            let name = |number: usize| &before.scop.at(branches[number].statement).name;
            let (one, two) = (name(leader), name(*other));
            let what = format!("there are several loops `{0}`; say `at {one}[{0}]` or `at {two}[{0}]`", at.text);
            return Err(misuse(step, at.span, what).into());
        }
        let inside = |branch: &&Branch| branch.level_of(id).is_some();
        let mut members: Vec<usize> = branches.iter().filter(inside).map(|branch| branch.statement.index()).collect();
        members.sort_unstable();
        members.dedup();
        for member in &members {
            before.branch(step, *member)?;
        }
        let span = before.scop.at(branches[leader].statement).span;
        let loops: Vec<Loop> = prefix.iter().filter_map(Entry::as_loop).map(|(id, _)| tree.info(id).clone()).collect();
        let iters = loops.iter().map(|found| draft.iter(&found.name, span)).collect();
        Ok(Site { depth: level + 1, members, prefix, loops, iters })
    }

    /// The whole call: no loop, and all statements.
    pub(super) fn everything(before: Before<'_>, step: &Step) -> Drafted<Site> {
        let members: Vec<usize> = (0..before.scop.statements.len()).collect();
        for member in &members {
            before.branch(step, *member)?;
        }
        Ok(Site { depth: 0, members, prefix: Vec::new(), loops: Vec::new(), iters: Vec::new() })
    }

    /// Whether it is the whole call.
    pub(super) fn is_everything(&self) -> bool {
        self.depth == 0
    }

    /// What the site's iterators are at an instance of a member.
    pub(super) fn values(&self, before: Before<'_>, step: &Step, member: usize) -> Drafted<Vec<Affine>> {
        let entries = before.branch(step, member)?.entries.iter().take(self.depth);
        Ok(entries.filter_map(Entry::as_loop).map(|(_, expr)| expr.clone()).collect())
    }

    /// From the iterations of the site to the instances of a member that run in them.
    pub(super) fn instances(&self, before: Before<'_>, step: &Step, member: usize) -> Drafted<Map> {
        let (scop, statement) = (before.scop, &before.scop.statements[member]);
        let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
        let values = self.values(before, step, member)?;
        let range = scop.params.tuple(None, &vec![""; values.len()])?;
        let iterations = frame.map(range, &values)?.intersect_domain(statement.domain.clone())?;
        Ok(iterations.reverse()?)
    }

    /// The branches of the members in a draft, from left to right.
    pub(super) fn places(&self, draft: &Draft) -> Vec<usize> {
        let inside = |number: &usize| self.members.contains(&draft.branches[*number].statement.index());
        (0..draft.branches.len()).filter(inside).collect()
    }

    /// Makes room around the members, and returns the entries of a statement that goes in front of them and of one that
    /// goes behind. Called once, before statements are inserted.
    pub(super) fn open(&self, draft: &mut Draft) -> (Vec<Entry>, Vec<Entry>) {
        let places = self.places(draft);
        for number in &places {
            draft.branches[*number].entries.insert(self.depth, Entry::Place(1));
        }
        let mut iters = self.iters.iter();
        let mut entries = self.prefix.clone();
        for entry in &mut entries {
            if let Entry::Loop(_, expr) = entry
                && let Some(iter) = iters.next()
            {
                *expr = Affine::iter(*iter);
            }
        }
        let at = |place: i64| [entries.as_slice(), &[Entry::Place(place)]].concat();
        (at(0), at(2))
    }
}
