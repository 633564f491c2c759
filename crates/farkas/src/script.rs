//! Schedule scripts: from the words of a script to the steps that `poly` applies, each checked before the next.

use std::time::Duration;

use diag::{Diagnostic, Source, Span};
use poly::transform::{self, Condition, Rewriting, StatementMap, Step, Target, Word};
use poly::{Dependences, Kinds, LegalSchedule, Scop, Verdict};
use program::Function;
use syntax::ast::{Expr, ExprKind, Ident};
use syntax::script;

use crate::repair;

/// A schedule given by the user.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// A script in the language of `docs/schedules.md`.
    Script(Source),
    /// The schedules that stand beside the functions of a program.
    Beside(Source),
    /// An isl schedule tree as YAML.
    Tree(Source),
}

impl Schedule {
    /// The schedules by function; none of a tree.
    pub(crate) fn parse(&self) -> Result<script::Script, Refused> {
        match self {
            Schedule::Script(text) => syntax::parse_script(text),
            Schedule::Beside(program) => Ok(script::Script { schedules: syntax::parse(program)?.schedules }),
            Schedule::Tree(_) => Ok(script::Script { schedules: Vec::new() }),
        }
    }
}

/// Why a script was not applied; the diagnostics are about the script.
pub(crate) type Refused = Vec<Diagnostic>;

/// Every schedule of a script must be for a function of the program.
pub(crate) fn check_names(schedules: &[script::Schedule], program: &program::Program) -> Result<(), Refused> {
    for (position, schedule) in schedules.iter().enumerate() {
        let same = |earlier: &&script::Schedule| earlier.function.name == schedule.function.name;
        if let Some(first) = schedules[..position].iter().find(same) {
            let message = format!("`{}` has two schedules", schedule.function.name);
            let diagnostic = Diagnostic::error("E0102", schedule.function.span, message);
            return Err(vec![diagnostic.label(first.function.span, "the first is here")]);
        }
    }
    let known: Vec<&str> = program.functions.iter().map(|function| function.name.as_str()).collect();
    let strangers = schedules.iter().filter(|schedule| !known.contains(&schedule.function.name.as_str()));
    let diagnostics: Vec<Diagnostic> = strangers
        .map(|schedule| {
            let message = format!("the program has no function `{}`", schedule.function.name);
            Diagnostic::error("E0511", schedule.function.span, message)
                .note(format!("its functions are {}", known.join(", ")))
        })
        .collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}

/// The steps of a script for one function; none if it has no schedule for it.
pub(crate) fn steps(script: &script::Script, function: &Function) -> Result<Option<Vec<Step>>, Refused> {
    let Some(schedule) = script.schedules.iter().find(|schedule| schedule.function.name == function.name) else {
        return Ok(None);
    };
    let mut steps = Vec::new();
    let mut diagnostics = Vec::new();
    for step in &schedule.steps {
        match lower(step, function) {
            Ok(step) => steps.push(step),
            Err(errors) => diagnostics.extend(errors),
        }
    }
    if diagnostics.is_empty() { Ok(Some(steps)) } else { Err(diagnostics) }
}

fn word(ident: &Ident) -> Word {
    Word { text: ident.name.clone(), span: ident.span }
}

fn lower(step: &script::Step, function: &Function) -> Result<Step, Refused> {
    let condition = match &step.condition {
        Some(expr) => {
            let inputs = free_names(expr, function);
            let cond = program::lower_condition(function, &inputs, expr)?;
            Some(Condition { inputs: inputs.iter().map(word).collect(), cond, span: expr.span })
        }
        None => None,
    };
    let mut maps = Vec::new();
    for map in &step.maps {
        let outputs = map.outputs.iter().map(|output| program::lower_index(function, &map.inputs, output));
        maps.push(StatementMap {
            statement: word(&map.statement),
            inputs: map.inputs.iter().map(word).collect(),
            outputs: outputs.collect::<Result<_, _>>()?,
            span: map.span,
        });
    }
    let target = |target: &script::Target| Target {
        name: word(&target.name),
        loops: target.loops.as_ref().map(|loops| loops.iter().map(word).collect()),
    };
    let (at_statement, at) = match &step.at {
        None => (None, None),
        Some(script::Target { name, loops: None, .. }) => (None, Some(word(name))),
        Some(script::Target { name, loops: Some(loops), span }) => {
            let [at] = loops.as_slice() else {
                return Err(vec![Diagnostic::error("E0512", *span, "one loop is needed behind `at`")]);
            };
            (Some(word(name)), Some(word(at)))
        }
    };
    Ok(Step {
        verb: word(&step.verb),
        targets: step.targets.iter().map(target).collect(),
        by: step.by.iter().map(|number| (number.value, number.span)).collect(),
        names: step.names.iter().map(word).collect(),
        at,
        at_statement,
        condition,
        maps,
        span: step.span,
    })
}

/// The names in a condition that are not parameters: indices of the statement.
fn free_names(expr: &Expr, function: &Function) -> Vec<Ident> {
    fn collect(expr: &Expr, found: &mut Vec<Ident>) {
        match &expr.kind {
            ExprKind::Name(name) => found.push(Ident { name: name.clone(), span: expr.span }),
            ExprKind::Unary { operand, .. } => collect(operand, found),
            ExprKind::Binary { lhs, rhs, .. } => {
                collect(lhs, found);
                collect(rhs, found);
            }
            ExprKind::Compare { first, rest } => {
                collect(first, found);
                rest.iter().for_each(|(_, operand)| collect(operand, found));
            }
            ExprKind::Paren(inner) => collect(inner, found),
            _ => {}
        }
    }
    let mut found: Vec<Ident> = Vec::new();
    collect(expr, &mut found);
    let mut distinct: Vec<Ident> = Vec::new();
    for ident in found {
        let known = function.params.iter().any(|param| param.name == ident.name)
            || distinct.iter().any(|earlier| earlier.name == ident.name);
        if !known {
            distinct.push(ident);
        }
    }
    distinct
}

/// What applying a script gives.
pub(crate) enum Outcome {
    /// With the program that the schedule is of, if steps have changed the statements.
    Legal(LegalSchedule, Option<Box<(Scop, Dependences)>>),
    /// There were no steps: the original order is meant.
    Empty,
    Refused(Refused),
    Unknown(Duration),
}

/// Applies the steps to the original order, checking after each; a step that breaks something is refused at its line.
pub(crate) fn apply(scop: &Scop, dependences: &Dependences, steps: &[Step], program: &Source) -> diag::Result<Outcome> {
    let mut plan = poly::base_plan(scop, dependences)?;
    let mut legal = None;
    let mut rewritten: Option<Box<(Scop, Dependences)>> = None;
    for step in steps {
        let before = plan;
        let moved = |explained: Diagnostic| {
            explained.moved_to(program, step.span, format!("refused: `{}` is illegal here", step.verb.text))
        };
        plan = if transform::rewrites(&step.verb.text) {
            let (scop, dependences) = rewritten.as_deref().map_or((scop, dependences), |both| (&both.0, &both.1));
            match transform::rewrite(scop, dependences, &before, step)? {
                Rewriting::Done(done) => {
                    rewritten = Some(Box::new((done.scop, done.dependences)));
                    done.plan
                }
                Rewriting::Misplaced(diagnostic) => return Ok(Outcome::Refused(vec![*diagnostic])),
                Rewriting::Illegal(explained) => return Ok(Outcome::Refused(vec![moved(*explained)])),
            }
        } else {
            let scop = rewritten.as_deref().map_or(scop, |both| &both.0);
            match transform::apply(scop, &before, step) {
                Ok(plan) => plan,
                Err(diagnostic) => return Ok(Outcome::Refused(vec![*diagnostic])),
            }
        };
        let (scop, dependences) = rewritten.as_deref().map_or((scop, dependences), |both| (&both.0, &both.1));
        let refuse = |explained: Diagnostic| {
            let mut explained = moved(explained);
            if let Some(repair) = repair::suggest(scop, dependences, &before, step) {
                explained = explained.help(format!("with `{repair}` in front of it, it is legal"));
            }
            Ok(Outcome::Refused(vec![explained]))
        };
        let proven = match poly::check_legal(scop, dependences, plan.tree(scop)?)? {
            Verdict::Legal(proven) => proven,
            Verdict::Illegal(violation) => return refuse(violation.explain(scop, Some(&plan))),
            Verdict::Unknown { spent } => return Ok(Outcome::Unknown(spent)),
        };
        match poly::check_kinds(scop, dependences, &plan, proven)? {
            Kinds::Proven(proven) => legal = Some(proven),
            Kinds::Carried(carried) => return refuse(carried.explain(scop)),
            Kinds::Wide { loop_name, lanes } => {
                let message = format!("vector loop `{loop_name}` would have more than {lanes} iterations");
                let diagnostic = Diagnostic::error("E0504", step.span, message);
                return Ok(Outcome::Refused(vec![
                    diagnostic.help("`vectorize` comes after the steps that move its loop"),
                ]));
            }
            Kinds::Unknown { spent } => return Ok(Outcome::Unknown(spent)),
        }
    }
    Ok(match legal {
        Some(legal) => Outcome::Legal(legal, rewritten),
        None => Outcome::Empty,
    })
}

/// Loads a schedule tree; it must belong to this program, and is judged like any other schedule.
pub(crate) fn load(ctx: &isl::Context, scop: &Scop, tree: &Source) -> Result<isl::Schedule, Refused> {
    poly::load_tree(ctx, scop, tree.text()).map_err(|what| {
        let span = Span::new(0, tree.text().find('\n').unwrap_or(tree.text().len()));
        vec![Diagnostic::error("E0515", span, format!("not a schedule of `{}`: {what}", scop.function.name))]
    })
}
