//! Transformations: the verbs of schedule scripts, each a rewriting of a plan.
//!
//! In: a plan and one step of a script, in the user's names.  Out: a new plan, or what is wrong with the step.
//! Most verbs only rearrange; whether the result keeps every dependence is decided afterwards, by `legality`. Those in
//! `rewrite` change the statements as well.

mod order;
mod relation;
mod restructure;
mod rewrite;
mod select;
mod shape;

use diag::{Diagnostic, Span};
use program::{Affine, Cond};

use crate::deps::Dependences;
use crate::plan::Plan;
use crate::scop::Scop;

pub use rewrite::{Rewriting, Rewritten};

/// A word of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub span: Span,
}

/// One verb with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub verb: Word,
    pub targets: Vec<Target>,
    pub by: Vec<(i64, Span)>,
    pub names: Vec<Word>,
    pub at: Option<Word>,
    /// The statement whose loop `at` is, if it is said.
    pub at_statement: Option<Word>,
    pub condition: Option<Condition>,
    pub maps: Vec<StatementMap>,
    pub span: Span,
}

impl Step {
    /// A verb without operands yet.
    pub fn new(verb: Word) -> Step {
        Step {
            span: verb.span,
            verb,
            targets: Vec::new(),
            by: Vec::new(),
            names: Vec::new(),
            at: None,
            at_statement: None,
            condition: None,
            maps: Vec::new(),
        }
    }
}

/// `S0`, `i`, or `S0[i, j]`
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub name: Word,
    pub loops: Option<Vec<Word>>,
}

/// A condition on a statement's iterators, by name: `IterId(n)` in it stands for `inputs[n]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub inputs: Vec<Word>,
    pub cond: Cond,
    pub span: Span,
}

/// `S0[i, j] -> [i + j, j]`; `IterId(n)` in an output stands for input `n`.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementMap {
    pub statement: Word,
    pub inputs: Vec<Word>,
    pub outputs: Vec<Affine>,
    pub span: Span,
}

/// The clauses a verb takes.
const BY: u8 = 1;
const AS: u8 = 2;
const AT: u8 = 4;
const WHERE: u8 = 8;
const MAPS: u8 = 16;

type Applied = Result<Plan, Box<Diagnostic>>;

/// What a verb does.
#[derive(Clone, Copy)]
enum Rule {
    /// Changes the times of instances.
    Rearrange(fn(&Scop, &Plan, &Step) -> Applied),
    /// Changes the statements.
    Rewrite(rewrite::Rule),
}

use Rule::{Rearrange, Rewrite};

/// Every verb, what it does in one line, and its rule.
const VERBS: &[(&str, &str, u8, Rule)] = &[
    ("tile", "tile S[i, j] by 32, 32 as (it, jt): run the loops block by block", BY | AS, Rearrange(restructure::tile)),
    ("strip", "strip S[i] by 8 as io: cut one loop into pieces, in place", BY | AS, Rearrange(restructure::strip)),
    ("interchange", "interchange S[i, j]: swap two loops", 0, Rearrange(restructure::interchange)),
    ("reorder", "reorder S[k, i, j]: put loops into this order", 0, Rearrange(restructure::reorder)),
    ("jam", "jam S[i] by 4: unroll an outer loop and run its copies innermost", BY | AS, Rearrange(restructure::jam)),
    ("unroll", "unroll i by 8: run so many iterations as straight code", BY | AS, Rearrange(restructure::unroll)),
    ("vectorize", "vectorize j by 16: run so many iterations in lockstep", BY | AS, Rearrange(restructure::vectorize)),
    (
        "parallel",
        "parallel i: run the iterations of a loop in any order, also at once",
        0,
        Rearrange(restructure::parallel),
    ),
    ("skew", "skew S[t, i] by 2: add a multiple of the first loop to the second", BY, Rearrange(shape::skew)),
    ("shift", "shift S[i] by -1: start a loop later or earlier", BY, Rearrange(shape::shift)),
    ("reverse", "reverse S[i]: run a loop backwards", BY, Rearrange(shape::reverse)),
    ("scale", "scale S[i] by 2: leave gaps between iterations", BY, Rearrange(shape::scale)),
    ("fuse", "fuse S0, S1 at i: share the loops down to i", AT, Rearrange(order::fuse)),
    ("fission", "fission S0, S1 at t: give each its own loop t", AT, Rearrange(order::fission)),
    (
        "sequence",
        "sequence S1, S0: change the order of statements that share their outer loops",
        0,
        Rearrange(order::sequence),
    ),
    ("split", "split S[i] where i < 5: run these instances before the others", WHERE | AS, Rearrange(order::split)),
    ("map", "map { S[i, j] -> [i + j, j] }: give the times of statements directly", MAPS, Rearrange(relation::map)),
    (
        "rfactor",
        "rfactor S[ko] as P: accumulate each iteration of a reduction's loop on its own, then combine",
        AS,
        Rewrite(rewrite::rfactor),
    ),
    (
        "pack",
        "pack B at kt as Bp: keep what an iteration of a loop uses of an array in a buffer",
        AT | AS,
        Rewrite(rewrite::pack),
    ),
    (
        "compute_at",
        "compute_at a at S1[i]: compute a local array inside a loop that reads it, as far as it is needed there",
        AT | AS,
        Rewrite(rewrite::compute_at),
    ),
    ("inline", "inline a: compute the cells of a local array where they are read", 0, Rewrite(rewrite::inline)),
];

/// Names and one-line descriptions of all verbs.
pub fn verbs() -> impl Iterator<Item = (&'static str, &'static str)> {
    VERBS.iter().map(|(name, help, ..)| (*name, *help))
}

/// The order in which the program is written, with every statement as one loop nest: init, update and fini of a reduction
/// share the loops that all of them have.
pub fn tidy(scop: &Scop) -> Plan {
    restructure::tidy(scop)
}

/// Whether a verb changes statements, so that `rewrite` is needed for it.
pub fn rewrites(verb: &str) -> bool {
    VERBS.iter().any(|(name, _, _, rule)| *name == verb && matches!(rule, Rewrite(_)))
}

/// Applies one step that only rearranges.
pub fn apply(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    match find(step)? {
        Rearrange(rule) => rule(scop, plan, step),
        Rewrite(_) => {
            let message = format!("`{}` changes the statements, which is not possible here", step.verb.text);
            Err(Box::new(Diagnostic::error("E0512", step.span, message)))
        }
    }
}

/// Applies one step that may change the statements; `plan` is legal.
pub fn rewrite(scop: &Scop, dependences: &Dependences, plan: &Plan, step: &Step) -> diag::Result<Rewriting> {
    match find(step) {
        Ok(Rewrite(rule)) => rewrite::run(rewrite::Before { scop, dependences, plan }, step, rule),
        Ok(Rearrange(_)) => Err(diag::Error::bug("schedule", format!("`{}` rewrites nothing", step.verb.text))),
        Err(diagnostic) => Ok(Rewriting::Misplaced(diagnostic)),
    }
}

/// The rule of a step's verb, if it takes the clauses that are given.
fn find(step: &Step) -> Result<Rule, Box<Diagnostic>> {
    let Some((_, _, clauses, rule)) = VERBS.iter().find(|(name, ..)| *name == step.verb.text) else {
        let known: Vec<&str> = VERBS.iter().map(|(name, ..)| *name).collect();
        let message = format!("unknown verb `{}`", step.verb.text);
        let mut diagnostic = Diagnostic::error("E0510", step.verb.span, message);
        let closest = known.iter().min_by_key(|name| strsim::damerau_levenshtein(name, &step.verb.text));
        if let Some(closest) = closest.filter(|name| strsim::damerau_levenshtein(name, &step.verb.text) <= 2) {
            diagnostic = diagnostic.help(format!("did you mean `{closest}`?"));
        }
        return Err(Box::new(diagnostic.note(format!("the verbs are {}", known.join(", ")))));
    };
    let given = [
        (BY, "by", !step.by.is_empty()),
        (AS, "as", !step.names.is_empty()),
        (AT, "at", step.at.is_some()),
        (WHERE, "where", step.condition.is_some()),
        (MAPS, "{ … }", !step.maps.is_empty()),
    ];
    if let Some((_, name, _)) = given.into_iter().find(|(clause, _, given)| *given && clauses & clause == 0) {
        return Err(misuse(step, step.span, format!("`{}` takes no `{name}`", step.verb.text)));
    }
    if let (Some(statement), Rearrange(_)) = (&step.at_statement, rule) {
        return Err(misuse(
            step,
            statement.span,
            format!("`{}` takes a loop behind `at`, without a statement", step.verb.text),
        ));
    }
    Ok(*rule)
}

/// A step whose operands do not fit its verb.
fn misuse(step: &Step, span: Span, what: impl Into<String>) -> Box<Diagnostic> {
    let mut diagnostic = Diagnostic::error("E0512", span, what);
    if let Some((_, help)) = verbs().find(|(name, _)| *name == step.verb.text) {
        diagnostic = diagnostic.help(format!("the form is `{help}`"));
    }
    Box::new(diagnostic)
}

/// A bug of ours, as a message; steps have no other way to fail.
fn overflow(step: &Step) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("E0512", step.span, "the numbers of this step are too large"))
}
