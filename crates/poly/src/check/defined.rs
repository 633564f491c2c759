//! Definedness: outputs are assigned completely, and nothing is read before it is assigned.

use diag::{Diagnostic, Span};
use program::{Node, ReduceOp, Role};

use crate::deps::Dependences;
use crate::equations::is_clause;
use crate::fault::Attempt;
use crate::scop::{Scop, ScopArray, Statement};
use crate::witness::{show_cell, show_params, show_point, smallest};

pub(super) fn check(scop: &Scop, dependences: &Dependences) -> Attempt<Vec<Diagnostic>> {
    let mut diagnostics = unassigned_outputs(scop)?;
    diagnostics.extend(undefined_reads(scop, dependences)?);
    Ok(diagnostics)
}

fn unassigned_outputs(scop: &Scop) -> Attempt<Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    for id in scop.function.array_ids().filter(|id| scop.array(*id).role == Role::Out) {
        let array = scop.array(id);
        let mut missing = scop.cells(id)?;
        for statement in scop.statements.iter().filter(|s| s.write.array == id && !s.kind.is_update()) {
            missing = missing.subtract(statement.write.map.clone().range()?)?;
        }
        let Some(sample) = smallest(missing, &scop.context)? else { continue };
        let cell = show_cell(&array.name, &sample.point);
        let values = show_params(&scop.function, &sample.params);
        let mut diagnostic =
            Diagnostic::error("E0404", array.span, format!("output `{}` is not assigned completely", array.name))
                .here(format!("{cell} is never assigned"));
        if !values.is_empty() {
            diagnostic = diagnostic.note(format!("this happens for {values}"));
        }
        diagnostics
            .push(diagnostic.help(format!("assign the remaining cells, or make `{}` an `inout` argument", array.name)));
    }
    Ok(diagnostics)
}

fn undefined_reads(scop: &Scop, dependences: &Dependences) -> Attempt<Vec<Diagnostic>> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for map in dependences.without_source.maps()? {
        let (Some(statement), Some(array)) = (map.get_tuple_name(isl::Dim::In)?, map.get_tuple_name(isl::Dim::Out)?)
        else {
            continue;
        };
        let (Some(statement), Some((id, array))) = (scop.statement(&statement), scop.array_named(&array)) else {
            continue;
        };
        if !matches!(array.role, Role::Local | Role::Out) {
            continue;
        }
        let Some(sample) = smallest(map.wrap()?, &scop.context)? else { continue };
        let (instance, cell) = sample.point.split_at(statement.iters.len().min(sample.point.len()));
        let reads = statement.reads.iter().filter(|read| read.array == id);
        let found = reads.clone().find(|read| read.may_touch(&sample.params, &statement.iters, instance, cell));
        let found = found.or_else(|| reads.clone().next());
        let span = found.map_or(statement.span, |read| read.span);
        if diagnostics.iter().any(|known| known.span() == span) {
            continue;
        }
        if let Some(refusal) = scop.equations.refusal(scop, id, span) {
            if !diagnostics.iter().any(|known| known.message == refusal.message) {
                diagnostics.push(refusal);
            }
            continue;
        }
        let cell = show_cell(&array.name, cell);
        let at = show_point(&scop.function, &statement.iters, instance);
        let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
        let values = show_params(&scop.function, &sample.params);
        let verb =
            if statement.scatters() && statement.writes().any(|write| write.array == id) { "updates" } else { "reads" };
        let verb = found.map_or(verb.to_string(), |read| read.verb(verb));
        let by_equations = scop.equations.system_of(id).is_some_and(|system| is_clause(statement, system));
        let replaces = found.is_some_and(|read| replaces(statement, read.span));
        let (message, label) = if by_equations {
            (format!("{verb} {cell}, which no clause defines"), "is defined by equations")
        } else if replaces {
            (format!("whether {cell} is assigned depends on data"), "has no value before it is assigned")
        } else {
            (format!("{verb} {cell} before it is assigned"), "has no value before it is assigned")
        };
        let here = if replaces { format!("may leave {cell} out{at}") } else { format!("{verb} {cell}{at}") };
        let mut diagnostic = Diagnostic::error("E0405", span, message).here(here).label(array.span, label);
        if !values.is_empty() {
            diagnostic = diagnostic.note(format!("this happens for {values}"));
        }
        if verb.ends_with("update") || replaces {
            diagnostic = diagnostic.help(format!("give all cells a value first, such as `{} = 0`", whole(array)));
            if statement.block.is_some() && array.role == Role::Local {
                let help = "if no iteration needs what the one before has left, define it in the loop";
                diagnostic = diagnostic.help(format!("{help}: `let {} = …`", whole(array)));
            }
        }
        diagnostics.push(diagnostic);
    }
    Ok(diagnostics)
}

/// Whether the target at `span` is given a value by `=`, if it is given one at all.
fn replaces(statement: &Statement, span: Span) -> bool {
    match &statement.block {
        Some(block) => replaces_in(&block.each.body, span),
        None => statement.kind.replaces() && statement.write.span == span,
    }
}

fn replaces_in(nodes: &[Node], span: Span) -> bool {
    nodes.iter().any(|node| match node {
        Node::For(node) => replaces_in(&node.body, span),
        Node::Each(each) => replaces_in(&each.body, span),
        Node::Scatter(scatter) => scatter.target_span == span && matches!(scatter.op, ReduceOp::Last | ReduceOp::Once),
        Node::Assign(assign) => {
            // The value of `a[i] += x` reads its target, at the same place.
            let mut reads = false;
            assign.value.visit(&mut |part| reads |= part.span == span);
            assign.target_span == span && !reads
        }
    })
}

/// `H[i, j]`
fn whole(array: &ScopArray) -> String {
    if array.shape.is_empty() {
        return array.name.clone();
    }
    let names: Vec<String> = (0..array.shape.len()).map(|position| format!("i{position}")).collect();
    let names = if names.len() == 1 { vec!["i".to_string()] } else { names };
    format!("{}[{}]", array.name, names.join(", "))
}
