//! `detach`: some instances of a statement become a statement of their own.
//!
//! Before: `S` for all of its instances.  After: `S` for those for which a condition does not hold, and a new statement that does the same for
//! the others, in the same loops, so that every instance runs when it ran. Steps can then treat the two differently.

use poly::parting::prove_parting;
use poly::rewriting::Draft;
use poly::sets::Frame;
use poly::{Entry, Parts};

use super::{Before, Drafted, outcome, statement_name};
use crate::rearrange::{indices, misuse, overflow, statements};
use crate::step::{Condition, Step, Word};
use crate::{Outcome, State};

/// The program with the new statement, and the names of both.
pub(super) struct Detached {
    draft: Draft,
    whole: String,
    part: String,
}

impl Detached {
    /// Proves it.
    pub(super) fn judge(self, state: &State) -> diag::Result<Outcome> {
        Ok(outcome(prove_parting(&state.subject, self.draft, &self.whole, &self.part)?))
    }
}

pub(super) fn detach(
    before: Before<'_>,
    step: &Step,
    name: &Word,
    condition: &Condition,
    given: Option<&Word>,
) -> Drafted<Detached> {
    let scop = before.scop;
    let found = statements(scop, name)?;
    let [id] = found.as_slice() else {
        let parts: Vec<&str> = found.iter().map(|id| scop.at(*id).name.as_str()).collect();
        return Err(misuse(step, name.span, format!("`{}` is {}; name one", name.text, parts.join(", "))).into());
    };
    let (position, statement) = (id.index(), scop.at(*id));
    let branch = before.branch(step, position)?;
    let part = match given {
        None => statement_name(scop, &format!("{}_part", statement.name)),
        Some(word) if scop.statements.iter().any(|known| known.name == word.text || known.source == word.text) => {
            let what = format!("there is a statement `{}` already", word.text);
            return Err(misuse(step, word.span, what).into());
        }
        Some(word) => word.text.clone(),
    };
    let holds = condition.bind(&indices(scop, statement, condition)?).ok_or_else(|| overflow(step))?;
    let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
    let taken = statement.domain.clone().intersect(frame.cond(&holds)?)?.coalesce()?;
    let rest = statement.domain.clone().subtract(taken.clone())?.coalesce()?;
    let context = &scop.context;
    for (set, which) in [(&taken, "none of the instances of"), (&rest, "all instances of")] {
        if set.clone().intersect_params(context.clone())?.is_empty()? {
            let what = format!("the condition holds for {which} `{}`", statement.name);
            return Err(misuse(step, step.span, what).into());
        }
    }
    let mut draft = Draft::new("detach", scop, before.tree)?;
    let place = before.branches.iter().position(|known| known == branch).unwrap_or(0);
    let mut entries = branch.entries.clone();
    draft.branches[place].entries.push(Entry::Place(1));
    entries.push(Entry::Place(0));
    draft.replace(position, Parts { domain: rest, ..Parts::of(statement) })?;
    draft.insert(position, Parts { name: part.clone(), domain: taken, ..Parts::of(statement) }, place, entries)?;
    Ok(Detached { draft, whole: statement.name.clone(), part })
}
