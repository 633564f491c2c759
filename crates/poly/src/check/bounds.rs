//! Bounds: every access stays inside its array, for all parameter values.

use diag::Diagnostic;
use program::{IterId, Subscript};

use crate::fault::Attempt;
use crate::scop::{Access, ArrayOrigin, Scop};
use crate::witness::{Sample, evaluate, show_cell, show_params, show_point, smallest};

pub(super) fn check(scop: &Scop) -> Attempt<Vec<Diagnostic>> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for statement in &scop.statements {
        let own = statement.writes().map(|write| (write, "writes"));
        let own = own.chain(statement.reads.iter().map(|read| (read, "reads")));
        let own = own.map(|(access, verb)| (access, verb, statement.iters.as_slice()));
        let inner = statement.inside.iter().flat_map(|inside| {
            let writes = inside.writes.iter().map(|write| (write, "writes"));
            let all = writes.chain(inside.reads.iter().map(|read| (read, "reads")));
            all.map(|(access, verb)| (access, verb, inside.iters.as_slice()))
        });
        for (access, verb, iters) in own.chain(inner) {
            // Accumulators are addressed by their own iteration ranges.
            if scop.array(access.array).origin != ArrayOrigin::Declared {
                continue;
            }
            // The parts of one reduction share their accesses; each is reported once.
            if diagnostics.iter().any(|known| known.span() == access.span) {
                continue;
            }
            let outside = access.map.clone().subtract_range(scop.cells(access.array)?)?;
            if let Some(sample) = smallest(outside.wrap()?, &scop.context)? {
                diagnostics.push(explain(scop, iters, access, verb, &sample));
            }
        }
    }
    Ok(diagnostics)
}

fn explain(scop: &Scop, iters: &[IterId], access: &Access, verb: &str, sample: &Sample) -> Diagnostic {
    let function = &scop.function;
    let array = scop.array(access.array);
    let (instance, cell) = sample.point.split_at(iters.len().min(sample.point.len()));
    let extents = evaluate(&array.shape, &sample.params, &[], &[]).unwrap_or_default();
    let place = |position: usize| {
        if extents.len() > 1 {
            format!("dimension {} of `{}`", position + 1, array.name)
        } else {
            format!("`{}`", array.name)
        }
    };
    let outside = cell.iter().zip(&extents).position(|(index, extent)| *index < 0 || index >= extent).unwrap_or(0);
    let (index, extent) = (cell.get(outside).copied().unwrap_or(0), extents.get(outside).copied().unwrap_or(0));
    let limit = if index < 0 {
        "indices start at 0".to_string()
    } else if extent <= 0 {
        format!("{} is empty", place(outside))
    } else {
        format!("{} ends at {}", place(outside), extent - 1)
    };
    let at = show_point(function, iters, instance);
    let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
    let values = show_params(function, &sample.params);
    let mut diagnostic =
        Diagnostic::error("E0401", access.span, format!("{verb} {}, but {limit}", show_cell(&array.name, cell)))
            .here(format!("{verb} {}{at}", show_cell(&array.name, cell)))
            .label(array.span, format!("has shape {}", shape(scop, &array.shape)));
    if !values.is_empty() {
        diagnostic = diagnostic.note(format!("this happens for {values}"));
    }
    if function.outside.iter().any(|(outside, _)| *outside == access.array) {
        let parts = shape(scop, &array.shape);
        let note = format!("`{}` is taken as an array of shape {parts}, as its subscripts come apart so", array.name);
        diagnostic = diagnostic.note(note);
    }
    let subscript = match access.index.get(outside) {
        Some(Subscript::Affine(index)) => function.show(index),
        Some(Subscript::Data(_)) | None => String::new(),
    };
    let bound = array.shape.get(outside).map(|extent| function.show(extent)).unwrap_or_default();
    let guard = if index < 0 { format!("{subscript} >= 0") } else { format!("{subscript} < {bound}") };
    let (mut moves, mut made_up) = (false, false);
    if let Some(Subscript::Affine(index)) = access.index.get(outside) {
        index.visit_iters(&mut |iter| {
            moves = true;
            made_up |= function.iter(iter).made_up;
        });
    }
    let known = array.shape.get(outside).is_some_and(|extent| extent.as_constant().is_some());
    diagnostic.help(match (made_up, moves || known) {
        (true, _) => "a whole array has no guard: rule these sizes out with `where`".to_string(),
        (false, true) => format!("narrow the indices with a guard, `| {guard}`, or rule these sizes out with `where`"),
        (false, false) => format!("rule these sizes out: `where {guard}`"),
    })
}

fn shape(scop: &Scop, shape: &[program::Affine]) -> String {
    format!("[{}]", scop.function.show_list(shape))
}
