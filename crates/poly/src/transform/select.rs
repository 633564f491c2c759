//! Finding what a step speaks of: statements and loops by name.

use diag::Diagnostic;

use super::{Step, Target, Word, misuse};
use crate::plan::Plan;

/// The positions of the statements that `name` means: a source statement with all its parts, or one part.
pub(super) fn statements(plan: &Plan, name: &Word) -> Result<Vec<usize>, Box<Diagnostic>> {
    let positions = |wanted: &dyn Fn(&crate::plan::StatementPlan) -> bool| -> Vec<usize> {
        plan.statements.iter().enumerate().filter(|(_, plan)| wanted(plan)).map(|(position, _)| position).collect()
    };
    let exact = positions(&|plan| plan.name == name.text);
    let found = if exact.is_empty() { positions(&|plan| plan.source == name.text) } else { exact };
    if found.is_empty() {
        let mut known: Vec<&str> = plan.statements.iter().map(|plan| plan.source.as_str()).collect();
        known.dedup();
        let diagnostic = Diagnostic::error("E0511", name.span, format!("there is no statement `{}`", name.text))
            .note(format!("the statements are {}", known.join(", ")));
        return Err(Box::new(diagnostic));
    }
    Ok(found)
}

/// The statements that have a loop `name`.
pub(super) fn with_loop(plan: &Plan, name: &Word) -> Result<Vec<usize>, Box<Diagnostic>> {
    let found: Vec<usize> = plan
        .statements
        .iter()
        .enumerate()
        .filter(|(_, plan)| plan.loop_named(&name.text).is_some())
        .map(|(position, _)| position)
        .collect();
    if found.is_empty() {
        Err(unknown_loop(plan, &(0..plan.statements.len()).collect::<Vec<_>>(), name))
    } else {
        Ok(found)
    }
}

pub(super) fn unknown_loop(plan: &Plan, among: &[usize], name: &Word) -> Box<Diagnostic> {
    let mut known: Vec<&str> = Vec::new();
    for position in among {
        for found in plan.statements[*position].loops() {
            if !known.contains(&found.name.as_str()) {
                known.push(&found.name);
            }
        }
    }
    let known =
        if known.is_empty() { "there are no loops here".into() } else { format!("the loops are {}", known.join(", ")) };
    Box::new(Diagnostic::error("E0511", name.span, format!("there is no loop `{}`", name.text)).note(known))
}

/// The statements and loops of a target: `S0[i, j]`, or a bare loop `i` of whatever statements have it.
pub(super) fn loops<'a>(
    plan: &Plan,
    step: &Step,
    target: &'a Target,
) -> Result<(Vec<usize>, Vec<&'a Word>), Box<Diagnostic>> {
    let Some(names) = &target.loops else {
        return Ok((with_loop(plan, &target.name)?, vec![&target.name]));
    };
    let found = statements(plan, &target.name)?;
    if names.is_empty() {
        return Err(misuse(step, target.name.span, format!("`{}` needs loops", step.verb.text)));
    }
    for (position, name) in names.iter().enumerate() {
        if found.iter().all(|statement| plan.statements[*statement].loop_named(&name.text).is_none()) {
            return Err(unknown_loop(plan, &found, name));
        }
        if names[..position].iter().any(|earlier| earlier.text == name.text) {
            return Err(misuse(step, name.span, format!("loop `{}` is named twice", name.text)));
        }
    }
    Ok((found, names.iter().collect()))
}

/// The one target of a step.
pub(super) fn single(step: &Step) -> Result<&Target, Box<Diagnostic>> {
    match step.targets.as_slice() {
        [target] => Ok(target),
        _ => Err(misuse(step, step.span, format!("`{}` takes one statement with its loops", step.verb.text))),
    }
}

/// All targets of a step, which must name the same loops.
pub(super) fn all_loops<'a>(plan: &Plan, step: &'a Step) -> Result<(Vec<usize>, Vec<&'a Word>), Box<Diagnostic>> {
    let Some((first, others)) = step.targets.split_first() else {
        return Err(misuse(step, step.span, format!("`{}` needs a statement with its loops", step.verb.text)));
    };
    let (mut statements, names) = loops(plan, step, first)?;
    for target in others {
        let (more, others) = loops(plan, step, target)?;
        if others.iter().map(|word| &word.text).ne(names.iter().map(|word| &word.text)) {
            return Err(misuse(step, target.name.span, "all statements of one step must name the same loops"));
        }
        statements.extend(more);
    }
    statements.sort_unstable();
    statements.dedup();
    Ok((statements, names))
}
