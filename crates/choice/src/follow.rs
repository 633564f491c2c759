//! Following a script: step by step, each proven before the next.

use std::rc::Rc;

use diag::{Diagnostic, Source, Span};
use poly::{LoopKind, Proven, Subject, Tree, Verdict, Violation, prove};
use steps::{NotATree, Outcome, State, Step};

use crate::repair;

/// What came of a script or a tree.
#[derive(Debug)]
pub enum Followed {
    /// All of it is legal.
    Proven(Box<Proven>),
    /// Something is refused; the diagnostics are about the script.
    Refused(Vec<Diagnostic>),
    /// The budget ran out.
    Unknown(diag::Spent),
}

/// Applies the steps to the program's own order, proving after each; a step that breaks something is refused at its line.
pub fn follow(subject: &Rc<Subject>, steps: &[Step], program: &Source) -> diag::Result<Followed> {
    let tree = poly::base_tree(subject)?;
    let mut state = State { subject: Rc::clone(subject), tree };
    let mut proven = None;
    for step in steps {
        let moved = |explained: Diagnostic| {
            let verb = steps::show(step, &subject.scop.function);
            let verb = verb.split_whitespace().next().unwrap_or_default().to_string();
            explained.moved_to(program, step.span, format!("refused: `{verb}` is illegal here"))
        };
        let next = match steps::apply(&state, step)? {
            Outcome::Done(next) => next,
            Outcome::Misplaced(diagnostic) => return Ok(Followed::Refused(vec![*diagnostic])),
            Outcome::Changed(explained) => return Ok(Followed::Refused(vec![moved(*explained)])),
        };
        match prove(&next.subject, next.tree.clone())? {
            Verdict::Legal(legal) => proven = Some(legal),
            Verdict::Unknown { spent } => return Ok(Followed::Unknown(spent)),
            Verdict::Illegal(violation) => {
                // Not a matter of the program, so none of its lines is shown.
                if matches!(*violation, Violation::Wide { .. } | Violation::Misplaced { .. }) {
                    let explained = violation.explain(&next.subject, &next.tree);
                    let labels = Diagnostic::error("E0504", step.span, "").labels;
                    return Ok(Followed::Refused(vec![Diagnostic { labels, ..explained }]));
                }
                let mut explained = moved(violation.explain(&next.subject, &next.tree));
                if let Some(repair) = repair::suggest(&state, step, &violation) {
                    explained = explained.help(format!("with `{repair}` in front of it, it is legal"));
                }
                return Ok(Followed::Refused(vec![explained]));
            }
        }
        state = next;
    }
    match proven {
        Some(proven) => Ok(Followed::Proven(Box::new(proven))),
        None => {
            let verdict = prove(subject, state.tree.clone())?;
            Ok(judged(verdict, |violation| violation.explain(subject, &state.tree)))
        }
    }
}

/// Judges a tree that somebody has saved, from `text`. Its marks are not proofs: one that does not hold is dropped.
pub fn load(subject: &Rc<Subject>, mut tree: Tree, program: &Source, text: &Source) -> diag::Result<Followed> {
    loop {
        let verdict = prove(subject, tree.clone())?;
        if let Verdict::Illegal(violation) = &verdict
            && let Some(id) = violation.unfit_loop()
        {
            tree.edit(id, |found| found.kind = LoopKind::Serial);
            continue;
        }
        return Ok(judged(verdict, |violation| refused_tree(violation.explain(subject, &tree), program, text)));
    }
}

/// Why a text is no schedule of the program, as an error about the text.
pub fn not_a_tree(not: NotATree, subject: &Subject, program: &Source, text: &Source) -> Diagnostic {
    match not {
        NotATree::Text(what) => {
            let message = format!("not a schedule of `{}`: {what}", subject.scop.function.name);
            Diagnostic::error("E0515", first_line(text), message)
        }
        NotATree::Illegal(violation) => refused_tree(violation.explain(subject, &subject.scop.order), program, text),
    }
}

/// An error of a tree as a whole, at its first line.
fn refused_tree(explained: Diagnostic, program: &Source, text: &Source) -> Diagnostic {
    explained.moved_to(program, first_line(text), "refused: this tree is illegal")
}

fn first_line(text: &Source) -> Span {
    Span::new(0, text.text().find('\n').unwrap_or(text.text().len()))
}

fn judged(verdict: Verdict, explain: impl Fn(&Violation) -> Diagnostic) -> Followed {
    match verdict {
        Verdict::Legal(proven) => Followed::Proven(Box::new(proven)),
        Verdict::Unknown { spent } => Followed::Unknown(spent),
        Verdict::Illegal(violation) => Followed::Refused(vec![explain(&violation)]),
    }
}
