//! `expand`: a local array has cells of its own for each iteration of loops that all its users are in.
//!
//! Before: `for j { a = e(j); b[j] = … a … }`.  After: `for j { x[j] = e(j); b[j] = … x[j] … }`. What the iterations no longer share does not
//! keep them in order. Claimed and checked: every read finds what it found before.

use diag::Diagnostic;
use isl::Set;
use poly::rewriting::{self as flow, Claim, Draft};
use poly::{ArrayOrigin, Parts, Scop, Statement};
use program::{Affine, ArrayId, IterId, Subscript};

use super::inline::local_array;
use super::{Before, Drafted, array_name, expr, known_index, load};
use crate::bounds;
use crate::rearrange::overflow;
use crate::step::{Step, Word};

pub(super) fn expand(
    before: Before<'_>,
    step: &Step,
    (array, indices): (&Word, &[Word]),
    name: Option<&Word>,
) -> Drafted<Draft> {
    let scop = before.scop;
    let array = local_array(before, step, array)?;
    let uses = |statement: &&Statement| accesses(statement, array).next().is_some();
    let users: Vec<&Statement> = scop.statements.iter().filter(uses).collect();
    let mut front = Vec::new();
    let mut shape = Vec::new();
    for index in indices {
        let iter = shared_index(scop, &users, index)?;
        let (first, extent) = range(scop, step, &users, iter, index)?;
        front.push(Affine::iter(iter).sub(&first).ok_or_else(|| overflow(step))?);
        shape.push(extent);
    }
    shape.extend(scop.array(array).shape.iter().cloned());
    let name = array_name(scop, step, name, &format!("{}_each", scop.array(array).name))?;
    let mut draft = Draft::new("expand", scop, before.tree)?;
    let own = draft.array(name, array, shape, ArrayOrigin::Buffer);
    for (position, statement) in scop.statements.iter().enumerate().filter(|(_, statement)| uses(statement)) {
        for access in accesses(statement, array) {
            known_index(scop, step, statement, access)?;
        }
        let mut parts = Parts::of(statement);
        if parts.target.0 == array {
            let front = front.iter().cloned().map(Subscript::Affine);
            parts.target = (own, front.chain(parts.target.1).collect(), parts.target.2);
        }
        let value = expr::with_loads(&statement.value, &|whole, read, index| {
            let index = front.iter().chain(index).cloned().collect();
            (read == array).then(|| load(own, index, whole))
        });
        parts.value = value.ok_or_else(|| overflow(step))?;
        draft.replace(position, parts)?;
        claim(before, &mut draft, statement, (array, own))?;
    }
    Ok(draft)
}

/// Every access of a statement to an array.
fn accesses(statement: &Statement, array: ArrayId) -> impl Iterator<Item = &poly::Access> {
    std::iter::once(&statement.write).chain(&statement.reads).filter(move |access| access.array == array)
}

/// The iterator of a `for` loop around all users.
fn shared_index(scop: &Scop, users: &[&Statement], index: &Word) -> Drafted<IterId> {
    let called = |iter: &&IterId| scop.function.iter(**iter).name == index.text;
    let of = |statement: &Statement| statement.iters[..statement.ordered].iter().find(called).copied();
    let mut found = users.iter().map(|statement| of(statement));
    match found.next().flatten() {
        Some(iter) if found.all(|other| other == Some(iter)) => Ok(iter),
        _ => {
            let message = format!("not all statements that use the array are in one `for` over `{}`", index.text);
            Err(Diagnostic::error("E0511", index.span, message).into())
        }
    }
}

/// From where an index starts, and how many values it has.
fn range(scop: &Scop, step: &Step, users: &[&Statement], iter: IterId, index: &Word) -> Drafted<(Affine, Affine)> {
    let mut values: Option<Set> = None;
    for statement in users {
        let Some(position) = statement.iters.iter().position(|own| *own == iter) else { continue };
        let line = bounds::line(scop, &statement.domain, position)?;
        values = Some(match values {
            Some(known) => known.union(line)?,
            None => line,
        });
    }
    let range = match &values {
        Some(values) => bounds::range(scop, values, 0)?,
        None => None,
    };
    let Some(range) = range else {
        let message = format!("how many values `{}` has is no single expression", index.text);
        return Err(Diagnostic::error("E0518", step.span, message).into());
    };
    Ok((range.first, range.extent))
}

/// What a statement read of the array it reads of the other one.
fn claim(before: Before<'_>, draft: &mut Draft, old: &Statement, (array, own): (ArrayId, ArrayId)) -> Drafted<()> {
    let maps: Vec<isl::Map> = {
        let new = draft.statement(&old.name)?;
        new.reads.iter().filter(|read| read.array == own).map(|read| read.map.clone()).collect()
    };
    for (read, access) in old.reads.iter().filter(|read| read.array == array).zip(maps) {
        let writers = flow::writers(before.dependences, &read.map)?;
        // Nothing is found that nobody wrote, or the program would not have passed.
        let inputs = before.scop.nothing()?.wrap()?;
        draft.claims.push(Claim { access, writers, inputs });
    }
    Ok(())
}
