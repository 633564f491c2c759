//! Rewriting: the verbs that change which statements there are, and not only when they run.
//!
//! In: a Scop, its dependences and a legal plan.  Out: another Scop with its plan and dependences, or why not.
//! A rule drafts the new program: the order so far becomes the order in which it is written, with the new statements in
//! their places. It also claims what every new read finds. Nothing a rule says is trusted: the statements that stay are
//! proven to keep their order, and each claim is compared with the flow dependences of the new program (`flow`).
//! Not here: whether the new program's plan is legal and its parallel loops are such; that is checked like any plan.

mod bounds;
mod buffer;
mod compute_at;
mod expr;
mod flow;
mod inline;
mod pack;
mod rfactor;
mod site;

use diag::Diagnostic;
use isl::{Map, UnionMap, UnionSet};
use program::{Affine, ArrayId, Expr, ExprKind, Iter, IterId, Role, Subscript};

use super::{Step, misuse};
use crate::deps::{Dependences, dependences};
use crate::fault::{Attempt, Fault};
use crate::legality::{Verdict, check_legal};
use crate::model::{Parts, unique};
use crate::plan::{Entry, Loop, LoopKind, Plan, StatementPlan};
use crate::scop::{Access, ArrayOrigin, Scop, ScopArray, Statement};

pub(super) use compute_at::compute_at;
pub(super) use inline::inline;
pub(super) use pack::pack;
pub(super) use rfactor::rfactor;

/// A program that computes the same as another one, with other statements.
#[derive(Clone, Debug)]
pub struct Rewritten {
    pub scop: Scop,
    pub dependences: Dependences,
    pub plan: Plan,
}

/// What became of a rewriting step.
#[derive(Debug)]
pub enum Rewriting {
    Done(Box<Rewritten>),
    /// The step does not fit; the diagnostic is about the script.
    Misplaced(Box<Diagnostic>),
    /// A value would change; the diagnostic is a witness, about the program.
    Illegal(Box<Diagnostic>),
}

/// Why a rule gives up.
pub(super) enum Refusal {
    Misplaced(Box<Diagnostic>),
    Illegal(Box<Diagnostic>),
    Failed(diag::Error),
}

pub(super) type Drafted<T> = Result<T, Refusal>;

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

impl From<diag::Error> for Refusal {
    fn from(error: diag::Error) -> Refusal {
        Refusal::Failed(error)
    }
}

impl From<isl::Error> for Refusal {
    fn from(error: isl::Error) -> Refusal {
        Fault::from(error).into()
    }
}

/// The program that a step starts from.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    pub(super) scop: &'a Scop,
    pub(super) dependences: &'a Dependences,
    pub(super) plan: &'a Plan,
}

/// What one read of the new program finds, in instances of the old one.
pub(super) struct Claim {
    /// `{ reader -> cell }`
    access: Map,
    /// `{ reader -> writer }`, the writer as an instance of the old program.
    writers: UnionMap,
    /// `{ [reader -> cell] }`: it finds what was in this cell before the call.
    inputs: UnionSet,
}

/// A new program, with what has to be checked about it.
pub(super) struct Draft {
    scop: Scop,
    plan: Plan,
    claims: Vec<Claim>,
    /// Statements that only copy a cell: who reads their copy reads that cell.
    copies: Vec<String>,
    /// From instances that repeat one of the old program to that one; all others stand for themselves.
    repeats: UnionMap,
    /// Whether other statements than before write results.
    writes: bool,
}

impl Draft {
    /// The program as it is.
    fn new(before: Before<'_>) -> Attempt<Draft> {
        Ok(Draft {
            scop: before.scop.clone(),
            plan: before.plan.clone(),
            claims: Vec::new(),
            copies: Vec::new(),
            repeats: before.scop.nothing()?,
            writes: false,
        })
    }

    fn iter(&mut self, name: &str, span: diag::Span) -> IterId {
        let id = IterId(self.scop.function.iters.len() as u32);
        self.scop.function.iters.push(Iter { name: name.to_string(), span, made_up: true });
        id
    }

    fn array(&mut self, name: String, like: ArrayId, shape: Vec<Affine>, origin: ArrayOrigin) -> ArrayId {
        let like = self.scop.array(like).clone();
        let id = ArrayId(self.scop.arrays.len() as u32);
        self.scop.arrays.push(ScopArray { name, shape, role: Role::Local, origin, expanded: 0, ..like });
        id
    }

    /// Puts a statement in front of the one at `position`.
    fn insert(&mut self, position: usize, parts: Parts, entries: Vec<Entry>) -> Attempt<()> {
        let plan = StatementPlan { name: parts.name.clone(), source: parts.source.clone(), entries };
        let statement = parts.build(&self.scop)?;
        self.scop.statements.insert(position, statement);
        self.plan.statements.insert(position, plan);
        Ok(())
    }

    /// Gives a statement other parts, in the same place.
    fn replace(&mut self, position: usize, parts: Parts) -> Attempt<()> {
        self.scop.statements[position] = parts.build(&self.scop)?;
        Ok(())
    }

    fn statement(&self, name: &str) -> Attempt<&Statement> {
        self.scop.statement(name).ok_or_else(|| Fault::bug(format!("no statement {name} in a draft")))
    }
}

pub(super) type Rule = fn(Before<'_>, &Step) -> Drafted<Draft>;

/// Applies a rule and checks what it made.
pub(super) fn run(before: Before<'_>, step: &Step, rule: Rule) -> diag::Result<Rewriting> {
    match rule(before, step).and_then(|draft| check(before, step, draft)) {
        Ok(rewritten) => Ok(Rewriting::Done(Box::new(rewritten))),
        Err(Refusal::Misplaced(diagnostic)) => Ok(Rewriting::Misplaced(diagnostic)),
        Err(Refusal::Illegal(diagnostic)) => Ok(Rewriting::Illegal(diagnostic)),
        Err(Refusal::Failed(error)) => Err(error),
    }
}

fn check(before: Before<'_>, step: &Step, mut draft: Draft) -> Drafted<Rewritten> {
    check_order(before, &draft)?;
    draft.scop.adopt(&draft.plan);
    let mut after = dependences(&draft.scop)?;
    if before.dependences.strict {
        after = after.in_strict_order()?;
    }
    flow::check(before, step, &draft, &after)?;
    Ok(Rewritten { scop: draft.scop, dependences: after, plan: draft.plan })
}

/// The statements that the new program has as well keep the order of every dependence among them.
fn check_order(before: Before<'_>, draft: &Draft) -> Drafted<()> {
    let stays = |statement: &&Statement| {
        draft.scop.statement(&statement.name).is_some_and(|same| same.iters == statement.iters)
    };
    let mut scop = before.scop.clone();
    scop.statements = before.scop.statements.iter().filter(stays).cloned().collect();
    let plans = scop
        .statements
        .iter()
        .filter_map(|statement| draft.plan.statements.iter().find(|plan| plan.name == statement.name).cloned());
    let plan = Plan { statements: plans.collect() };
    let dependences = before.dependences.among(&scop.domain()?)?;
    let tree = plan.build(&scop)?;
    match check_legal(&scop, &dependences, tree)? {
        Verdict::Legal(_) => Ok(()),
        Verdict::Illegal(violation) => Err(Refusal::Illegal(Box::new(violation.explain(&scop, Some(&plan))))),
        Verdict::Unknown { spent } => Err(diag::Error::Budget { stage: "legality", spent }.into()),
    }
}

/// The name behind `as`, or `usual` made unique; it must not be that of another array.
fn array_name(scop: &Scop, step: &Step, usual: &str) -> Drafted<String> {
    let taken = |name: &str| scop.array_named(name).is_some();
    match step.names.first() {
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

fn serial(name: &str, expr: Affine) -> Entry {
    Entry::Loop(Loop { name: name.to_string(), expr, kind: LoopKind::Serial })
}
