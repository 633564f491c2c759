//! Steps that change which statements there are, and not only when they run.
//!
//! A rule drafts the new program: the order so far becomes the order in which it is written, with the new statements in
//! their places. It also claims what every new read finds. Nothing a rule says is trusted: `poly::rewriting` checks it.

mod buffer;
mod compute_at;
mod detach;
mod expand;
mod expr;
mod holes;
mod inline;
mod layout;
mod notation;
mod pack;
mod rfactor;
mod site;

use diag::Diagnostic;
use poly::rewriting::{Draft, Rewriting, prove_rewriting};
use poly::{Access, Branch, Dependences, Fault, Scop, Statement, StatementId, Tree, unique};
use program::{Affine, ArrayId, Expr, ExprKind, Subscript};

use crate::rearrange::misuse;
use crate::refusal::{Drafted, Refusal};
use crate::step::{Step, Verb, Word};
use crate::{Outcome, State};

pub(crate) use layout::stored;

/// Applies a step that changes statements.
pub(crate) fn apply(state: &State, step: &Step) -> diag::Result<Outcome> {
    let branches = state.tree.branches();
    let subject = &state.subject;
    let (scop, dependences) = (&subject.scop, &subject.dependences);
    let before = Before { scop, dependences, tree: &state.tree, branches: &branches };
    // A rule knows expressions and their accesses, but not what loops inside a statement do.
    if let Some(found) = scop.statements.iter().find(|statement| statement.has_loops()) {
        let message = format!("how often a loop inside `{}` runs depends on data", found.source);
        let diagnostic = Diagnostic::error("E0516", step.span, message)
            .label(found.span, "this statement")
            .note("which cells it touches is not known, so no statement of the function can be rewritten");
        return Ok(Outcome::Misplaced(Box::new(diagnostic)));
    }
    let drafted = match &step.verb {
        Verb::Rfactor { loops, names } => rfactor::rfactor(before, step, loops, names),
        Verb::Pack { array, reads, at, panels, name } => {
            let what = pack::What { array, reads: reads.as_deref(), at: at.as_ref(), panels };
            pack::pack(before, step, what, name.as_ref())
        }
        Verb::ComputeAt { array, at, name } => compute_at::compute_at(before, step, array, at, name.as_ref()),
        Verb::Inline { array } => inline::inline(before, step, array),
        Verb::Expand { array, indices, name } => expand::expand(before, step, (array, indices), name.as_ref()),
        Verb::Detach { statement, condition, name } => {
            return match detach::detach(before, step, statement, condition, name.as_ref()) {
                Ok(detached) => detached.judge(state),
                Err(refusal) => refusal.told(step),
            };
        }
        Verb::Layout { array, storage, name, given, fill } => {
            let fill = fill.as_ref();
            let operands = layout::Operands { array, storage, name: name.as_ref(), given: *given, fill };
            return layout::lay_out(state, before, step, operands).or_else(|refusal| refusal.told(step));
        }
        Verb::Extend { loops, size } => {
            return holes::extend(state, before, step, loops, *size).or_else(|refusal| refusal.told(step));
        }
        _ => return Err(diag::Error::bug("schedule", "a step that rewrites nothing")),
    };
    let draft = match drafted {
        Ok(draft) => draft,
        Err(refusal) => return refusal.told(step),
    };
    Ok(outcome(prove_rewriting(subject, draft)?))
}

fn outcome(rewriting: Rewriting) -> Outcome {
    match rewriting {
        Rewriting::Done(subject, tree) => Outcome::Done(State { subject, tree }),
        Rewriting::Changed(diagnostic) => Outcome::Changed(diagnostic),
        Rewriting::Unfit(diagnostic) => Outcome::Misplaced(diagnostic),
    }
}

/// The program that a step starts from.
#[derive(Clone, Copy)]
struct Before<'a> {
    scop: &'a Scop,
    dependences: &'a Dependences,
    tree: &'a Tree,
    branches: &'a [Branch],
}

impl<'a> Before<'a> {
    /// The branch of a statement, which must have only one.
    fn branch(&self, step: &Step, position: usize) -> Drafted<&'a Branch> {
        let id = StatementId::new(position);
        let mut own = self.branches.iter().filter(|branch| branch.statement == id);
        match (own.next(), own.next()) {
            (Some(branch), None) => Ok(branch),
            _ => {
                let name = &self.scop.statements[position].name;
                Err(misuse(step, step.span, format!("`{name}` is split; rewrite first, then `split`")).into())
            }
        }
    }

    /// Whether a loop is called so.
    fn is_loop(&self, name: &str) -> bool {
        self.tree.loops().any(|(_, found)| found.is_called(name))
    }
}

/// The branch of a statement in a draft.
fn branch_of(draft: &Draft, position: usize) -> Drafted<usize> {
    let found = draft.branches.iter().position(|branch| branch.statement.index() == position);
    found.ok_or_else(|| Fault::bug("a statement of a draft has no branch").into())
}

/// The name behind `as`, or `usual` made unique; it must not be that of another array.
fn array_name(scop: &Scop, step: &Step, given: Option<&Word>, usual: &str) -> Drafted<String> {
    let taken = |name: &str| scop.array_named(name).is_some();
    match given {
        None => Ok(unique(usual, taken)),
        Some(word) if taken(&word.text) => {
            Err(misuse(step, word.span, format!("there is an array `{}` already", word.text)).into())
        }
        Some(word) => Ok(word.text.clone()),
    }
}

/// A name for a statement that no other has.
fn statement_name(scop: &Scop, usual: &str) -> String {
    unique(usual, |name| scop.statements.iter().any(|known| known.name == name || known.source == name))
}

fn load(array: ArrayId, index: Vec<Affine>, like: &Expr) -> Expr {
    Expr { kind: ExprKind::Load { array, index }, ty: like.ty, span: like.span }
}

/// The subscripts by which a statement reads, if they do not depend on data.
fn known_index(scop: &Scop, step: &Step, reader: &Statement, read: &Access) -> Drafted<Vec<Affine>> {
    Subscript::all_affine(&read.index).ok_or_else(|| {
        let name = &scop.array(read.array).name;
        let message = format!("which cell of `{name}` is read in `{}` depends on data", reader.name);
        Diagnostic::error("E0516", step.span, message).into()
    })
}
