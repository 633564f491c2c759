//! Steps that change which statements there are, and not only when they run.
//!
//! A rule drafts the new program: the order so far becomes the order in which it is written, with the new statements in
//! their places. It also claims what every new read finds. Nothing a rule says is trusted: `poly::rewriting` checks it.

mod bounds;
mod buffer;
mod compute_at;
mod expr;
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
use crate::step::{Step, Verb, Word};
use crate::{Outcome, State};

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
        Verb::Layout { array, storage, name } => {
            return layout::layout(state, before, step, (array, storage, name.as_ref()));
        }
        _ => return Err(diag::Error::bug("schedule", "a step that rewrites nothing")),
    };
    let draft = match drafted {
        Ok(draft) => draft,
        Err(Refusal::Misplaced(diagnostic)) => return Ok(Outcome::Misplaced(diagnostic)),
        Err(Refusal::Failed(error)) => return Err(error),
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

/// Why a rule gives up.
enum Refusal {
    Misplaced(Box<Diagnostic>),
    Failed(diag::Error),
}

type Drafted<T> = Result<T, Refusal>;

impl From<Box<Diagnostic>> for Refusal {
    fn from(diagnostic: Box<Diagnostic>) -> Refusal {
        Refusal::Misplaced(diagnostic)
    }
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Refusal {
        Refusal::Misplaced(Box::new(diagnostic))
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Failed(fault.at("schedule"))
    }
}

impl From<isl::Error> for Refusal {
    fn from(error: isl::Error) -> Refusal {
        Fault::from(error).into()
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
