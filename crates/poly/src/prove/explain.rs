//! Violations as errors: both instances, the cell and the source lines.

use diag::Diagnostic;
use loops::Axis;

use super::{Instance, InstanceFault, Pair, Subject, Violation};
use crate::deps::DependenceKind;
use crate::scop::{ArrayOrigin, Scop};
use crate::tree::{Loop, LoopKind, StatementId, Tree};
use crate::witness::{show_cell, show_params, show_point};

impl Violation {
    /// The violation as an error at the source lines of both accesses.
    pub fn explain(&self, subject: &Subject, tree: &Tree) -> Diagnostic {
        let scop = &subject.scop;
        match self {
            Violation::Reversed(pair) => pair.reversed(subject, tree),
            Violation::Carried { pair, id } => {
                let found = tree.info(*id);
                let cell = show_cell(&pair.array, &pair.cell);
                let what = match found.kind {
                    LoopKind::Vector(lanes) => format!("be vectorized by {lanes}"),
                    LoopKind::Placed(axis) => format!("be placed on {}", axis.name()),
                    LoopKind::Serial | LoopKind::Parallel | LoopKind::Unrolled => "be parallel".into(),
                };
                let kind = pair.kind.with_article();
                let message =
                    format!("loop `{}` cannot {what}: it carries {kind} dependence through {cell}", found.name);
                let diagnostic = strictly(pair.explain(scop, "E0503", message), pair, subject);
                let array = scop.array_named(&pair.array).map(|(_, array)| array.origin);
                if array == Some(ArrayOrigin::Buffer) && found.kind.is_parallel() {
                    let help =
                        "a loop that is parallel before the step that makes the buffer has one for each iteration";
                    return diagnostic.help(help);
                }
                if pair.kind == DependenceKind::Reduction {
                    let help = "threads have no common accumulator; `rfactor` gives each iteration one of its own";
                    return diagnostic.help(help);
                }
                diagnostic
            }
            Violation::Wide { id, lanes } if tree.info(*id).kind.is_parallel() => {
                let name = &tree.info(*id).name;
                let message =
                    format!("loop `{name}` would have more than the {lanes} iterations that threads of a block can be");
                let diagnostic = Diagnostic::error("E0504", scop.function.span, message);
                diagnostic.help(format!("cut it first: `strip {name} by 128`"))
            }
            Violation::Misplaced { outer, inner } => {
                let (outer, inner) = (tree.info(*outer), tree.info(*inner));
                let axis = |found: &Loop| found.kind.axis().map_or("", Axis::name);
                let (around, within) = (axis(outer), axis(inner));
                let message = format!(
                    "loop `{}` cannot be placed on {within}: it is inside of loop `{}`, which is on {around}",
                    inner.name, outer.name
                );
                let diagnostic = Diagnostic::error("E0504", scop.function.span, message);
                diagnostic.help("threads are inside of blocks, and a nest has each axis once")
            }
            Violation::Wide { id, lanes } => {
                let message = format!("vector loop `{}` would have more than {lanes} iterations", tree.info(*id).name);
                let diagnostic = Diagnostic::error("E0504", scop.function.span, message);
                diagnostic.help("`vectorize` comes after the steps that move its loop")
            }
            Violation::Instances { statement, values, params, fault } => {
                let what = match fault {
                    InstanceFault::Missing => "is never run",
                    InstanceFault::Superfluous => "is run, but is not part of the program",
                    InstanceFault::Repeated => "is run more than once",
                };
                let span = scop.statements[statement.index()].span;
                let at = show_instance(scop, *statement, values);
                let diagnostic = Diagnostic::error("E0502", span, format!("illegal schedule: {at} {what}"));
                with_sizes(diagnostic, scop, params)
            }
        }
    }
}

/// A pair of updates is kept in order only because somebody asked for it.
fn strictly(diagnostic: Diagnostic, pair: &Pair, subject: &Subject) -> Diagnostic {
    let scop = &subject.scop;
    let updates = |id: StatementId| scop.statements[id.index()].kind.is_update();
    let same = pair.source.statement == pair.sink.statement;
    if subject.dependences.strict && same && updates(pair.source.statement) && pair.kind == DependenceKind::Flow {
        return diagnostic.note("only strict order keeps these two updates in order; without it, their order is free");
    }
    diagnostic
}

pub(super) fn with_sizes(diagnostic: Diagnostic, scop: &Scop, params: &[i64]) -> Diagnostic {
    let values = show_params(&scop.function, params);
    if values.is_empty() { diagnostic } else { diagnostic.note(format!("this happens for {values}")) }
}

impl Pair {
    fn reversed(&self, subject: &Subject, tree: &Tree) -> Diagnostic {
        let scop = &subject.scop;
        let cell = show_cell(&self.array, &self.cell);
        let (source, sink) = (&self.source, &self.sink);
        let place = tree.parting((&source.branch, &source.time), (&sink.branch, &sink.time));
        let order = place.unwrap_or_else(|| "the schedule runs them at the same time".into());
        let message = format!("illegal schedule: {} dependence through {cell} is reversed", self.kind.with_article());
        strictly(self.explain(scop, "E0501", message).note(order), self, subject)
    }

    /// An error at the source lines of both accesses, with the instances, their times and the cell.
    pub(crate) fn explain(&self, scop: &Scop, code: &'static str, message: String) -> Diagnostic {
        let cell = show_cell(&self.array, &self.cell);
        let (first, then) = match self.kind {
            DependenceKind::Flow => ("writes", "reads"),
            DependenceKind::Anti => ("reads", "overwrites"),
            DependenceKind::Output | DependenceKind::Reduction => ("writes", "overwrites"),
        };
        let source = show_instance(scop, self.source.statement, &self.source.values);
        let sink = show_instance(scop, self.sink.statement, &self.sink.values);
        let diagnostic = Diagnostic::error(code, self.sink.access, message)
            .here(format!("{sink} {then} {cell}, at time {:?}", self.sink.time))
            .label(self.source.access, format!("{source} {first} {cell}, at time {:?}", self.source.time));
        with_sizes(diagnostic.with_data(self.to_json(scop)), scop, &self.params)
    }

    /// The witness as data.
    fn to_json(&self, scop: &Scop) -> serde_json::Value {
        let instance = |instance: &Instance| {
            let statement = &scop.statements[instance.statement.index()];
            let named = statement.iters.iter().zip(&instance.values);
            let values: serde_json::Map<String, serde_json::Value> =
                named.map(|(iter, value)| (scop.function.iter(*iter).name.clone(), (*value).into())).collect();
            serde_json::json!({
                "statement": statement.name, "values": values, "time": instance.time,
                "start": instance.access.start, "end": instance.access.end,
            })
        };
        let params = scop.function.params.iter().zip(&self.params);
        let params: serde_json::Map<String, serde_json::Value> =
            params.map(|(param, value)| (param.name.clone(), (*value).into())).collect();
        serde_json::json!({
            "kind": self.kind.name(), "array": self.array, "cell": self.cell, "params": params,
            "source": instance(&self.source), "sink": instance(&self.sink),
        })
    }
}

/// `S0_update (i = 0, k = 1)`
pub(crate) fn show_instance(scop: &Scop, statement: StatementId, values: &[i64]) -> String {
    let found = &scop.statements[statement.index()];
    let point = show_point(&scop.function, &found.iters, values);
    if point.is_empty() { found.name.clone() } else { format!("{} ({point})", found.name) }
}
