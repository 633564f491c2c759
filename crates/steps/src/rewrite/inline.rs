//! `inline`: readers of a local array compute its cells themselves, and the statements that wrote them are dropped.
//!
//! Before: `a[i] = e(i)` and `b[j] = … a[f(j)] …`.  After: `b[j] = … e(f(j)) …`. Claimed and checked: what `e` reads has,
//! at the reader, still the value that it had at the writer.

use diag::Diagnostic;
use isl::{Dim, Map, UnionMap};
use poly::rewriting::{self as flow, Claim, Draft};
use poly::{ArrayOrigin, Attempt, Fault, Parts, Scop, Statement, StatementKind, sets};
use program::{Affine, ArrayId, Expr, Role};

use super::{Before, Drafted, expr, known_index};
use crate::rearrange::{misuse, overflow, verb_name};
use crate::step::{Step, Word};

pub(super) fn inline(before: Before<'_>, step: &Step, name: &Word) -> Drafted<Draft> {
    let array = local_array(before, step, name)?;
    let scop = before.scop;
    let producers = definitions(scop, step, array)?;
    let mut draft = Draft::new("inline", scop, before.tree)?;
    for (position, reader) in scop.statements.iter().enumerate() {
        let mut values: Vec<(Vec<Affine>, Expr)> = Vec::new();
        for (index, read) in reads_by_index(scop, step, reader, array)? {
            // { reader -> writer }
            let writers = flow::writers(before.dependences, &read)?.maps()?;
            let [writer] = writers.as_slice() else {
                let name = &scop.array(array).name;
                let message = format!("a read of `{name}` in `{}` finds values of several statements", reader.name);
                let help = "`compute_at` computes an array with several clauses where it is used";
                return Err(Diagnostic::error("E0516", step.span, message).help(help).into());
            };
            let statement = writer.get_tuple_name(Dim::Out)?.and_then(|name| scop.statement(&name));
            let statement = statement.ok_or_else(|| Fault::bug("a writer that is no statement"))?;
            let Some(instance) = sets::affines(&scop.params, writer, &reader.iters)? else {
                let name = &scop.array(array).name;
                let message = format!("which cell of `{name}` is read in `{}` is no single expression", reader.name);
                return Err(Diagnostic::error("E0516", step.span, message).into());
            };
            let value = expr::with_iters(&statement.value, &|iter| {
                let place = statement.iters.iter().position(|known| *known == iter)?;
                instance.get(place).cloned()
            });
            values.push((index, value.ok_or_else(|| overflow(step))?));
            claim(before, &mut draft, statement, writer)?;
        }
        if values.is_empty() {
            continue;
        }
        let mut parts = Parts::of(reader);
        let value = expr::with_loads(&reader.value, &|_, read, index| {
            let found = values.iter().find(|(known, _)| read == array && known == index);
            found.map(|(_, value)| value.clone())
        });
        parts.value = value.ok_or_else(|| overflow(step))?;
        draft.replace(position, parts)?;
    }
    for producer in producers.into_iter().rev() {
        draft.remove(producer);
    }
    if draft.scop.statements.is_empty() {
        return Err(misuse(step, step.span, "nothing would be left of the program").into());
    }
    Ok(draft)
}

/// The local array that a step speaks of, by its name or by that of the statement that assigns it.
pub(super) fn local_array(before: Before<'_>, step: &Step, name: &Word) -> Drafted<ArrayId> {
    let array = array_named(before, name)?;
    let found = before.scop.array(array);
    if found.role != Role::Local || found.origin != ArrayOrigin::Declared {
        let what = match found.origin {
            ArrayOrigin::Declared => "is an argument or a result",
            ArrayOrigin::Accumulator => "holds a reduction",
            ArrayOrigin::Buffer => "is a buffer that an earlier step has made",
        };
        let message = format!("`{}` {what}; `{}` is for arrays made by `let`", found.name, verb_name(step));
        return Err(Diagnostic::error("E0516", name.span, message).into());
    }
    Ok(array)
}

/// An array by its name, or by that of a statement that assigns it.
pub(super) fn array_named(before: Before<'_>, name: &Word) -> Drafted<ArrayId> {
    if let Some((array, _)) = before.scop.array_named(&name.text) {
        return Ok(array);
    }
    let mut statements = before.scop.statements.iter();
    if let Some(found) = statements.rfind(|statement| statement.source == name.text || statement.name == name.text) {
        return Ok(found.write.array);
    }
    let known: Vec<&str> = before.scop.arrays.iter().map(|array| array.name.as_str()).collect();
    let diagnostic = Diagnostic::error("E0511", name.span, format!("there is no array `{}`", name.text));
    Err(diagnostic.note(format!("the arrays are {}", known.join(", "))).into())
}

/// The statements that assign the array, which must not be reductions nor read it.
fn definitions(scop: &Scop, step: &Step, array: ArrayId) -> Drafted<Vec<usize>> {
    let writes = |position: &usize| scop.statements[*position].write.array == array;
    let writers: Vec<usize> = (0..scop.statements.len()).filter(writes).collect();
    let name = &scop.array(array).name;
    let refuse = |message: String| Diagnostic::error("E0516", step.span, message);
    let is_reduced = |statement: &Statement| !matches!(statement.kind, StatementKind::Assign | StatementKind::Fini);
    if writers.iter().any(|writer| is_reduced(&scop.statements[*writer])) {
        let help = "`compute_at` computes a reduction where it is used";
        let diagnostic = refuse(format!("`{name}` is a reduction, which no expression can replace"));
        return Err(diagnostic.help(help).into());
    }
    if writers.iter().any(|writer| scop.statements[*writer].reads.iter().any(|read| read.array == array)) {
        return Err(refuse(format!("`{name}` is computed from its own cells")).into());
    }
    Ok(writers)
}

/// The reads of an array, those with the same subscripts together.
fn reads_by_index(scop: &Scop, step: &Step, reader: &Statement, array: ArrayId) -> Drafted<Vec<(Vec<Affine>, Map)>> {
    let mut reads: Vec<(Vec<Affine>, Map)> = Vec::new();
    for read in reader.reads.iter().filter(|read| read.array == array) {
        let read_index = known_index(scop, step, reader, read)?;
        match reads.iter_mut().find(|(index, _)| *index == read_index) {
            Some((_, map)) => *map = map.clone().union(read.map.clone())?,
            None => reads.push((read_index, read.map.clone())),
        }
    }
    Ok(reads)
}

/// What the producer read, the reader reads now. `writer` is `{ reader -> producer }`.
fn claim(before: Before<'_>, draft: &mut Draft, producer: &Statement, writer: &Map) -> Attempt<()> {
    let through = UnionMap::from_map(writer.clone())?;
    for operand in &producer.reads {
        let writers = flow::writers(before.dependences, &operand.map)?;
        let inputs = flow::inputs(before.dependences, &operand.map)?.unwrap()?;
        draft.claims.push(Claim {
            access: writer.clone().apply_range(operand.map.clone())?,
            writers: through.clone().apply_range(writers)?,
            inputs: through.clone().apply_range(inputs)?.wrap()?,
        });
    }
    Ok(())
}
