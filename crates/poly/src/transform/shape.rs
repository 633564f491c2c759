//! Verbs that change the values of a loop and nothing else: skew, shift, reverse, scale.
//!
//! They keep which loops there are and what they contain; only the time at which an instance runs changes.

use diag::Diagnostic;
use program::Affine;

use super::{Applied, Step, misuse, overflow, select};
use crate::plan::{Entry, Plan};
use crate::scop::Scop;

/// Replaces the expression of loop `name` in the given statements that have it.
fn rewrite(
    plan: &Plan,
    step: &Step,
    statements: &[usize],
    name: &str,
    change: impl Fn(&Plan, usize, &Affine) -> Option<Affine>,
) -> Applied {
    let mut result = plan.clone();
    for position in statements {
        let Some((level, found)) = plan.statements[*position].loop_named(name) else { continue };
        let expr = change(plan, *position, &found.expr).ok_or_else(|| overflow(step))?;
        if let Entry::Loop(found) = &mut result.statements[*position].entries[level] {
            found.expr = expr;
        }
    }
    Ok(result)
}

/// The single number behind `by`.
fn amount(step: &Step) -> Result<i64, Box<Diagnostic>> {
    match step.by.as_slice() {
        [(value, _)] => Ok(*value),
        _ => Err(misuse(step, step.span, format!("`{}` takes one number behind `by`", step.verb.text))),
    }
}

pub(super) fn skew(_: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (statements, names) = select::all_loops(plan, step)?;
    let [outer, inner] = names.as_slice() else {
        return Err(misuse(step, step.span, "`skew` takes two loops"));
    };
    let factor = amount(step)?;
    rewrite(plan, step, &statements, &inner.text, |plan, position, expr| {
        match plan.statements[position].loop_named(&outer.text) {
            Some((_, outer)) => expr.add_scaled(&outer.expr, factor),
            None => Some(expr.clone()),
        }
    })
}

pub(super) fn shift(_: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (statements, name) = one_loop(plan, step)?;
    let distance = amount(step)?;
    rewrite(plan, step, &statements, &name, |_, _, expr| expr.add(&Affine::constant(distance)))
}

pub(super) fn reverse(_: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (statements, name) = one_loop(plan, step)?;
    if let Some((_, span)) = step.by.first() {
        return Err(misuse(step, *span, "`reverse` takes no number"));
    }
    rewrite(plan, step, &statements, &name, |_, _, expr| expr.scale(-1))
}

pub(super) fn scale(_: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (statements, name) = one_loop(plan, step)?;
    let factor = amount(step)?;
    if factor < 1 {
        return Err(misuse(step, step.by[0].1, "a scale factor is at least 1"));
    }
    rewrite(plan, step, &statements, &name, |_, _, expr| expr.scale(factor))
}

fn one_loop(plan: &Plan, step: &Step) -> Result<(Vec<usize>, String), Box<Diagnostic>> {
    let (statements, names) = select::all_loops(plan, step)?;
    match names.as_slice() {
        [name] => Ok((statements, name.text.clone())),
        _ => Err(misuse(step, step.span, format!("`{}` takes one loop", step.verb.text))),
    }
}
