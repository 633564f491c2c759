//! Holes of an array that is laid out: a value for them, and reductions that run on over them.
//!
//! `layout a[i] => [i] in [(N + 7) / 8 * 8] fill 0` first writes 0 to all places that hold no cell. `extend S1[k] by 8` lets a reduction over `a` run
//! to a multiple of 8, so that it needs no condition for the rest.  Checked in `poly::holes`: nobody uses the holes, and the further terms are neutral.

use diag::Diagnostic;
use isl::Dim;
use poly::holes::{holes, prove_extended, prove_filled};
use poly::rewriting::Draft;
use poly::storage::touched;
use poly::{Entry, Parts, StatementKind, affine_subscripts};
use program::{Affine, ArrayId, Expr, ExprKind, ReduceOp, ScalarType, Value, bf16, f16};

use super::{Before, Drafted, Refusal, outcome, statement_name};
use crate::bounds;
use crate::rearrange::{misuse, overflow, statements};
use crate::step::{Loops, Step, Target, Word};
use crate::{Outcome, State};

/// Writes a value to the holes of an array, in front of everything else.
pub(super) fn fill(state: &State, array: ArrayId, value: &Word) -> Drafted<Outcome> {
    let scop = &state.subject.scop;
    let declared = scop.array(array);
    let Some(number) = constant(&value.text, declared.ty) else {
        let message = format!("`{}` is no value of `{}`, whose cells are {}", value.text, declared.name, declared.ty);
        return Err(Diagnostic::error("E0520", value.span, message).into());
    };
    let Some(places) = holes(scop, array)? else {
        let message = format!("cells of `{}` share places, so it has no holes to fill", declared.name);
        return Err(Diagnostic::error("E0520", value.span, message).into());
    };
    if !places.clone().intersect(touched(scop, array)?)?.is_empty()? {
        let message = format!("the holes of `{}` are filled already", declared.name);
        return Err(Diagnostic::error("E0520", value.span, message).into());
    }
    let mut draft = Draft::new("layout", scop, &state.tree)?;
    if let Some(laid) = &mut draft.scop.arrays[array.index()].laid {
        laid.fill = Some(number);
    }
    for branch in &mut draft.branches {
        branch.entries.insert(0, Entry::Place(1));
    }
    let (mut iters, mut entries) = (Vec::new(), vec![Entry::Place(0)]);
    for position in 0..declared.shape.len() {
        let name = format!("{}h{position}", declared.name.to_lowercase());
        let iter = draft.iter(&name, value.span);
        entries.push(Entry::Loop(draft.add_loop(&name), Affine::iter(iter)));
        iters.push(iter);
    }
    let index: Vec<Affine> = iters.iter().map(|iter| Affine::iter(*iter)).collect();
    let name = statement_name(scop, &format!("{}_fill", declared.name));
    let parts = Parts {
        name: name.clone(),
        source: name,
        kind: StatementKind::Assign,
        ordered: 0,
        kept: iters.len(),
        iters,
        domain: places,
        target: (array, affine_subscripts(&index), declared.span),
        value: Expr { kind: ExprKind::Const(number), ty: declared.ty, span: declared.span },
        time: Vec::new(),
        span: declared.span,
        each: None,
    };
    draft.insert(0, parts, 0, entries)?;
    Ok(outcome(prove_filled(&state.subject, draft, array).map_err(Refusal::Failed)?))
}

/// A number, or the neutral element of a reduction, in a type.
fn constant(text: &str, ty: ScalarType) -> Option<Value> {
    let neutral = |name: &str| {
        [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max, ReduceOp::Any, ReduceOp::All]
            .into_iter()
            .find(|op| op.name() == name)
    };
    let of_bool = |op: ReduceOp| matches!(op, ReduceOp::Any | ReduceOp::All);
    if let Some(op) = neutral(text) {
        return (of_bool(op) == (ty == ScalarType::Bool)).then(|| op.neutral(ty));
    }
    if ty.is_float() {
        let value: f64 = text.parse().ok()?;
        return Some(match ty {
            ScalarType::F16 => Value::F16(f16::from_f64(value)),
            ScalarType::BF16 => Value::BF16(bf16::from_f64(value)),
            ScalarType::F32 => Value::F32(value as f32),
            _ => Value::F64(value),
        });
    }
    let value = text.parse::<i64>().ok().map(|value| (value, Value::from_i64(ty, value)))?;
    (ty.is_int() && value.1.as_i64() == Some(value.0)).then_some(value.1)
}

/// Lets a reduction run on to a multiple of a number.
pub(super) fn extend(state: &State, before: Before<'_>, step: &Step, loops: &Loops, size: i64) -> Drafted<Outcome> {
    let scop = before.scop;
    let [Target::Of(source, names)] = loops.targets.as_slice() else {
        return Err(misuse(step, step.span, "`extend` takes one statement with the loop that is reduced").into());
    };
    let name = &names[0];
    let found = statements(scop, source)?;
    let reduced = |position: usize| {
        let statement = &scop.statements[position];
        let iters = statement.iters.iter().enumerate().skip(statement.kept);
        let mut named = iters.filter(|(_, iter)| scop.function.iter(**iter).name == name.text);
        named.next().map(|(place, _)| (position, place))
    };
    let reduced = found.iter().find_map(|id| reduced(id.index()));
    let Some((position, place)) = reduced.filter(|(position, _)| !scop.statements[*position].scatters()) else {
        let message = format!("`{}` has no reduction over `{}`", source.text, name.text);
        return Err(Diagnostic::error("E0516", name.span, message).into());
    };
    let domain = scop.statements[position].domain.clone();
    let Some(last) = bounds::last(scop, &domain, place)? else {
        let message = format!("how far `{}` runs is no single expression", name.text);
        return Err(Diagnostic::error("E0518", name.span, message).into());
    };
    let past = last.add(&Affine::constant(size)).and_then(|past| past.div(size)?.scale(size));
    let past = past.ok_or_else(|| overflow(step))?;
    // Everything that some term has, at further places of the reduction.
    let line = domain.clone().project_out(Dim::Set, place, 1)?.insert_dims(Dim::Set, place, 1)?;
    let space = domain.get_space()?;
    let line = line.reset_space(space.clone())?;
    let within = poly::sets::below(&space, place, &past)?;
    let done = poly::sets::below(&space, place, &last.add(&Affine::constant(1)).ok_or_else(|| overflow(step))?)?;
    let further = line.intersect(within)?.subtract(done)?;
    let mut draft = Draft::new("extend", scop, before.tree)?;
    let mut parts = Parts::of(&scop.statements[position]);
    parts.domain = domain.union(further)?.coalesce()?;
    draft.replace(position, parts)?;
    let proven = prove_extended(&state.subject, draft, position, step.span).map_err(Refusal::Failed)?;
    Ok(outcome(proven))
}
