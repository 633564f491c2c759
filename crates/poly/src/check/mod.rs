//! Checks of the program itself: is it meaningful for all parameter values?
//!
//! In: a Scop (and for definedness, its dependences).  Out: nothing, or errors with concrete values.
//! Not here: whether a *schedule* is legal (`legality`).

mod bounds;
mod defined;
mod forall;

use diag::{Diagnostic, Error};

use crate::deps::Dependences;
use crate::fault::Attempt;
use crate::scop::{ArrayOrigin, Scop};
use crate::witness::{show_params, smallest};

/// Everything that can be said before dependences are known: the context can be satisfied, extents are not negative,
/// every access is in bounds, and the instances of every forall are independent.
pub fn check_program(scop: &Scop) -> diag::Result<()> {
    let attempt = || -> Attempt<Vec<Diagnostic>> {
        let mut diagnostics = context(scop)?;
        if diagnostics.is_empty() {
            diagnostics.extend(extents(scop)?);
            diagnostics.extend(bounds::check(scop)?);
            diagnostics.extend(forall::check(scop)?);
        }
        Ok(diagnostics)
    };
    finish(scop, attempt())
}

/// Every output is assigned completely, and nothing is read before it is assigned.
pub fn check_defined(scop: &Scop, dependences: &Dependences) -> diag::Result<()> {
    finish(scop, defined::check(scop, dependences))
}

fn finish(scop: &Scop, result: Attempt<Vec<Diagnostic>>) -> diag::Result<()> {
    match result {
        Ok(diagnostics) if diagnostics.is_empty() => Ok(()),
        Ok(diagnostics) => Err(Error::User(diagnostics)),
        Err(fault) => Err(fault.of_program("check", &scop.function)),
    }
}

/// `where` must be satisfiable; otherwise everything below it is vacuously true.
fn context(scop: &Scop) -> Attempt<Vec<Diagnostic>> {
    if !scop.context.is_empty()? {
        return Ok(Vec::new());
    }
    let function = &scop.function;
    let mut spans = function.context.iter().map(|requirement| requirement.span);
    let first = spans.next().unwrap_or(function.span);
    let span = spans.fold(first, diag::Span::to);
    let diagnostic = Diagnostic::error("E0407", span, "no parameter values satisfy the `where` conditions")
        .note("parameters are never negative");
    Ok(vec![diagnostic])
}

fn extents(scop: &Scop) -> Attempt<Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let function = &scop.function;
    let space = scop.params.tuple(None, &[])?;
    for array in scop.arrays.iter().filter(|array| array.origin == ArrayOrigin::Declared) {
        for (position, extent) in array.shape.iter().enumerate() {
            let zero = isl::Aff::zero_on_domain_space(space.clone())?;
            let negative = crate::sets::aff(&space, extent, &|_| None)?.lt_set(zero)?;
            let Some(sample) = smallest(negative, &scop.context)? else { continue };
            let value = crate::witness::evaluate(std::slice::from_ref(extent), &sample.params, &[], &[]);
            let value = value.and_then(|values| values.first().copied()).unwrap_or(-1);
            let shown = function.show(extent);
            let message = format!("extent {} of `{}` can be negative", position + 1, array.name);
            let values = show_params(function, &sample.params);
            let diagnostic = Diagnostic::error("E0406", array.span, message)
                .here(format!("`{shown}` is {value} for {values}"))
                .help(format!("rule it out: `where {shown} >= 0`"));
            diagnostics.push(diagnostic);
        }
    }
    Ok(diagnostics)
}
