//! Building the syntax tree of a script from what pest matched.
//!
//! In: the pairs of a script or of the rest of one.  Out: its schedules; diagnostics for what the grammar leaves to
//! be checked here: separators, repeated clauses, limits.
//! Not here: expressions (`crate::tree`).

use diag::{Diagnostic, Span};
use pest::iterators::{Pair, Pairs};

use super::{Map, Number, Schedule, Step, Storage, Target};
use crate::ast::{Expr, Ident};
use crate::parse::Rule;
use crate::tree::{Builder, Built, mismatch};

/// The schedules in `pairs`, which pest matched in `text` from `base` on. Steps in front of the first `schedule`
/// belong to one that began before `base`; they are only checked.
pub(super) fn schedules(
    text: &str,
    base: usize,
    pairs: Pairs<'_, Rule>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Schedule> {
    let mut builder = ScriptBuilder { text, nodes: Builder { base }, diagnostics };
    let mut schedules = Vec::new();
    for pair in pairs.flat_map(Pair::into_inner) {
        match pair.as_rule() {
            Rule::steps => drop(builder.steps(pair)),
            Rule::schedule => match builder.schedule(pair) {
                Ok(schedule) => schedules.push(schedule),
                Err(diagnostic) => builder.diagnostics.push(diagnostic),
            },
            _ => {}
        }
    }
    schedules
}

/// A step that stands outside of schedules.
pub(crate) fn step(nodes: Builder, pair: Pair<'_, Rule>) -> Built<Step> {
    let mut diagnostics = Vec::new();
    let step = ScriptBuilder { text: "", nodes, diagnostics: &mut diagnostics }.step(pair)?;
    diagnostics.pop().map_or(Ok(step), Err)
}

struct ScriptBuilder<'a> {
    text: &'a str,
    nodes: Builder,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl ScriptBuilder<'_> {
    fn schedule(&mut self, pair: Pair<'_, Rule>) -> Built<Schedule> {
        let span = self.nodes.span(&pair);
        let mut parts = self.nodes.parts(pair);
        let function = self.nodes.ident(&parts.next()?);
        let sizes = parts.optional(Rule::version_sizes);
        let sizes = sizes.map(|sizes| self.nodes.parts(sizes).each(|cond| self.nodes.expr(cond)));
        let sizes = sizes.transpose()?.unwrap_or_default();
        let steps = self.steps(parts.next()?);
        Ok(Schedule { function, sizes, steps, span })
    }

    /// The steps that could be built; every other one leaves a diagnostic.
    fn steps(&mut self, pair: Pair<'_, Rule>) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        // Of several in a row that lack their separator, the first is reported.
        let mut reported = false;
        for pair in pair.into_inner().filter(|pair| pair.as_rule() == Rule::script_step) {
            match self.step(pair) {
                Ok(step) => {
                    let unseparated = steps.last().filter(|before| !self.separated(before.span, step.span));
                    if let Some(before) = unseparated
                        && !reported
                    {
                        self.diagnostics.push(unseparated_step(before, &step.verb));
                    }
                    reported = unseparated.is_some();
                    steps.push(step);
                }
                Err(diagnostic) => self.diagnostics.push(diagnostic),
            }
        }
        steps
    }

    fn separated(&self, before: Span, after: Span) -> bool {
        let gap = self.text.get(before.end as usize..after.start as usize).unwrap_or("");
        gap.contains(['\n', ';'])
    }

    fn step(&mut self, pair: Pair<'_, Rule>) -> Built<Step> {
        let nodes = self.nodes;
        let mut parts = nodes.parts(pair);
        let verb = nodes.ident(&parts.next()?);
        let mut step = Step {
            span: verb.span,
            verb,
            targets: Vec::new(),
            by: Vec::new(),
            names: Vec::new(),
            at: None,
            condition: None,
            maps: Vec::new(),
            storage: None,
            axis: None,
            fill: None,
        };
        if let Some(targets) = parts.optional(Rule::script_targets) {
            step.targets = nodes.parts(targets).each(|target| self.target(target))?;
            step.span = step.targets.iter().fold(step.span, |span, target| span.to(target.span));
        }
        let mut clauses: Vec<Pair<'_, Rule>> = Vec::new();
        parts.each(|clause| {
            clauses.push(clause);
            Ok(())
        })?;
        for (number, clause) in clauses.iter().enumerate() {
            let earlier = clauses.iter().take(number).find(|earlier| earlier.as_rule() == clause.as_rule());
            if let Some(earlier) = earlier {
                return Err(repeated_clause(self.head(earlier), self.head(clause), clause.as_rule()));
            }
            let span = self.clause(&mut step, clause.clone())?;
            step.span = step.span.to(span);
        }
        Ok(step)
    }

    /// The word or brace with which a clause begins.
    fn head(&self, clause: &Pair<'_, Rule>) -> Span {
        let first = clause.clone().into_inner().next();
        first.map_or(self.nodes.span(clause), |first| self.nodes.span(&first))
    }

    /// Puts a clause into its step, and returns where it is, without white space behind it.
    fn clause(&mut self, step: &mut Step, pair: Pair<'_, Rule>) -> Built<Span> {
        let nodes = self.nodes;
        let span = nodes.span(&pair);
        let rule = pair.as_rule();
        let mut parts = nodes.parts(pair);
        match rule {
            Rule::by_clause => step.by = parts.each(|number| self.number(&number))?,
            Rule::at_clause => step.at = Some(self.target(parts.next()?)?),
            Rule::as_clause => {
                let names = parts.next()?;
                step.names = match names.as_rule() {
                    Rule::name_list => self.idents(names)?,
                    _ => vec![nodes.ident(&names)],
                };
            }
            Rule::where_clause => {
                let condition = nodes.expr(parts.next()?)?;
                let end = condition.span.end;
                step.condition = Some(condition);
                return Ok(Span { end, ..span });
            }
            Rule::map_clause => {
                step.maps = parts.each(|map| self.map(map))?;
                for (before, map) in step.maps.iter().zip(step.maps.iter().skip(1)) {
                    if !self.separated(before.span, map.span) {
                        self.diagnostics.push(unseparated_map(&map.statement));
                    }
                }
            }
            Rule::storage_clause => {
                let expressions = |list| nodes.parts(list).each(|output| nodes.expr(output));
                let places = parts.next()?;
                let shape = parts.optional(Rule::map_outputs);
                let end = nodes.span(shape.as_ref().unwrap_or(&places)).end;
                let span = Span { end, ..span };
                let outputs = expressions(places)?;
                step.storage = Some(Storage::Map { outputs, shape: shape.map(expressions).transpose()?, span });
                return Ok(span);
            }
            Rule::notation_clause => {
                let notation = parts.next()?;
                let (text, span) = (notation.as_str().to_owned(), nodes.span(&notation));
                step.storage = Some(Storage::Notation { text, span });
            }
            Rule::fill_clause => {
                let value = parts.next()?;
                let name = value.as_str().chars().filter(|letter| !letter.is_whitespace() && *letter != '_').collect();
                step.fill = Some(Ident { name, span: nodes.span(&value) });
            }
            Rule::axis_clause => step.axis = Some(nodes.ident(&parts.next()?)),
            _ => return Err(mismatch(span)),
        }
        Ok(span)
    }

    fn idents(&self, list: Pair<'_, Rule>) -> Built<Vec<Ident>> {
        self.nodes.parts(list).each(|name| Ok(self.nodes.ident(&name)))
    }

    fn target(&self, pair: Pair<'_, Rule>) -> Built<Target> {
        let mut parts = self.nodes.parts(pair);
        let name = self.nodes.ident(&parts.next()?);
        match parts.optional(Rule::loop_names) {
            Some(list) => {
                let span = name.span.to(self.nodes.span(&list));
                Ok(Target { name, loops: Some(self.idents(list)?), span })
            }
            None => Ok(Target { span: name.span, name, loops: None }),
        }
    }

    fn map(&self, pair: Pair<'_, Rule>) -> Built<Map> {
        let span = self.nodes.span(&pair);
        let mut parts = self.nodes.parts(pair);
        let statement = self.nodes.ident(&parts.next()?);
        let inputs = match parts.optional(Rule::map_inputs) {
            Some(list) => self.idents(list)?,
            None => Vec::new(),
        };
        let outputs: Vec<Expr> = self.nodes.parts(parts.next()?).each(|output| self.nodes.expr(output))?;
        Ok(Map { statement, inputs, outputs, span })
    }

    /// The sign and the digits are read together, so that the smallest integer can be written.
    fn number(&self, pair: &Pair<'_, Rule>) -> Built<Number> {
        let span = self.nodes.span(pair);
        let digits: String = pair.clone().into_inner().map(|part| part.as_str()).collect::<String>().replace('_', "");
        digits.parse().map(|value| Number { value, span }).map_err(|_| {
            let (size, limit) =
                if digits.starts_with('-') { ("small", ("least", i64::MIN)) } else { ("large", ("most", i64::MAX)) };
            Diagnostic::error("E0004", span, format!("the integer is too {size}"))
                .here(format!("at {} {} fits", limit.0, limit.1))
        })
    }
}

fn unseparated_step(before: &Step, verb: &Ident) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0001", verb.span, format!("unexpected `{}`", verb.name));
    let ends_in_target = before.targets.last().is_some_and(|target| target.span.end == before.span.end);
    if ends_in_target {
        diagnostic
            .here("expected `,`, `by`, `as`, `at`, `where` or the end of the step")
            .help("separate targets by `,`, and steps by `;` or a new line")
    } else {
        diagnostic.here("expected the end of the step").help("separate steps by `;` or a new line")
    }
}

fn unseparated_map(statement: &Ident) -> Diagnostic {
    Diagnostic::error("E0001", statement.span, format!("unexpected `{}`", statement.name))
        .here("expected `;` or `}`")
        .help("separate maps by `;` or a new line")
}

fn repeated_clause(first: Span, second: Span, rule: Rule) -> Diagnostic {
    let (word, help) = match rule {
        Rule::by_clause => ("`by`", "list all integers in one: `by 64, 64`"),
        Rule::as_clause => ("`as`", "list all names in one: `as (it, jt)`"),
        Rule::at_clause => ("`at`", "write a second step"),
        Rule::where_clause => ("`where`", "join the conditions by `and`"),
        Rule::storage_clause | Rule::notation_clause => ("layout", "an array has one"),
        Rule::axis_clause => ("`->`", "write a second step"),
        Rule::fill_clause => ("`fill`", "holes have one value"),
        _ => ("map", "write all maps in one pair of braces, separated by `;`"),
    };
    Diagnostic::error("E0001", second, format!("a second {word} in one step"))
        .here("again here")
        .label(first, "first here")
        .help(help)
}
