//! `map`: the times of statements, given directly as an affine relation.

use diag::Diagnostic;
use isl::Map;

use super::order::rename;
use super::{Applied, StatementMap, Step, misuse, overflow, select};
use crate::fault::Attempt;
use crate::plan::{Entry, Loop, LoopKind, Plan};
use crate::scop::{Scop, Statement};
use crate::sets::Frame;

pub(super) fn map(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    if step.maps.is_empty() {
        return Err(misuse(step, step.span, "`map` needs relations in braces"));
    }
    let mut result = plan.clone();
    for (order, relation) in step.maps.iter().enumerate() {
        if step.maps[..order].iter().any(|earlier| earlier.statement.text == relation.statement.text) {
            let message = format!("`{}` is given two relations", relation.statement.text);
            return Err(misuse(step, relation.span, message));
        }
        let found = select::statements(plan, &relation.statement)?;
        let [position] = found.as_slice() else {
            let parts: Vec<&str> = found.iter().map(|position| plan.statements[*position].name.as_str()).collect();
            let message = format!("`{}` has several parts; give each its own relation", relation.statement.text);
            let diagnostic = Diagnostic::error("E0511", relation.statement.span, message);
            return Err(Box::new(diagnostic.note(format!("its parts are {}", parts.join(", ")))));
        };
        let statement = &scop.statements[*position];
        if relation.inputs.len() != statement.iters.len() {
            let names: Vec<&str> = statement.iters.iter().map(|iter| scop.function.iter(*iter).name.as_str()).collect();
            let message = format!("`{}` has {} indices, {} given", statement.name, names.len(), relation.inputs.len());
            let diagnostic = Diagnostic::error("E0511", relation.span, message);
            return Err(Box::new(diagnostic.note(format!("they are {}", names.join(", ")))));
        }
        let entries = relation.outputs.iter().enumerate().map(|(level, output)| {
            let expr = rename(output, &statement.iters)?;
            let position = expr.as_constant().map(Entry::Position);
            let name = relation.inputs.iter().find(|_| output.as_iter().is_some());
            let name = match (output.as_iter(), name) {
                (Some(input), Some(_)) => relation.inputs[input.index()].text.clone(),
                _ => format!("t{level}"),
            };
            Some(position.unwrap_or(Entry::Loop(Loop { name, expr, kind: LoopKind::Serial })))
        });
        let entries: Option<Vec<Entry>> = entries.collect();
        let entries = entries.ok_or_else(|| overflow(step))?;
        if !is_injective(scop, statement, relation).unwrap_or(false) {
            let message = format!("two instances of `{}` have the same time under this relation", statement.name);
            return Err(Box::new(Diagnostic::error("E0514", relation.span, message)));
        }
        result.statements[*position].entries = entries;
    }
    Ok(result)
}

/// Whether no two instances share a time. Running out of budget is not a yes.
fn is_injective(scop: &Scop, statement: &Statement, relation: &StatementMap) -> Attempt<bool> {
    let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
    let outputs: Option<Vec<_>> = relation.outputs.iter().map(|output| rename(output, &statement.iters)).collect();
    let Some(outputs) = outputs else { return Ok(false) };
    let range = scop.params.tuple(None, &vec![""; outputs.len()])?;
    let map: Map = frame.map(range, &outputs)?.intersect_domain(statement.domain.clone())?;
    Ok(map.is_injective()?)
}
