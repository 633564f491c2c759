//! Holes: places of an array that hold no cell of it.
//!
//! In: an array with a layout, and a [`Draft`] that fills its holes, or that lets a reduction run on over them.  Out: the new program with its
//! dependences, or what is wrong.
//! Filling holes disturbs nobody, because nobody else touches them. A reduction may run on where every further term reads nothing but filled
//! holes, and is the neutral element: then a further term changes nothing, whenever it is added. In all other cases it is refused: what is in a hole
//! that nobody fills is not known (weak correctness is not enough for a reduction).
//! Not here: which places there are (`storage`), how far a reduction runs on.

use std::rc::Rc;

use diag::{Diagnostic, Span};
use isl::{Map, Set};
use program::{ArrayId, BinaryOp, Expr, ExprKind, ReduceOp, Value};

use super::Subject;
use super::explain::{show_instance, with_sizes};
use super::rewriting::{Draft, Rewriting};
use super::storage::{cell_places, touched};
use crate::deps::exact_dependences;
use crate::fault::{Attempt, Fault};
use crate::scop::{Access, Scop, StatementKind};
use crate::tree::{StatementId, Tree};
use crate::witness::{Sample, show_cell, smallest};

/// The places of an array that hold none of its cells; none where cells share places.
pub fn holes(scop: &Scop, array: ArrayId) -> Attempt<Option<Set>> {
    let places = cell_places(scop, array)?;
    if !places.is_injective()? {
        return Ok(None);
    }
    let room = scop.cells(array)?.intersect_params(scop.context.clone())?;
    Ok(Some(room.subtract(places.range()?)?))
}

/// Checks a draft whose first statement fills holes of an array, before everything else.
pub fn prove_filled(before: &Rc<Subject>, mut draft: Draft, array: ArrayId) -> diag::Result<Rewriting> {
    let judge = || -> Attempt<()> {
        let filled = draft.scop.statements[0].write.map.clone().range()?;
        let used = filled.intersect(touched(&before.scop, array)?)?;
        if used.is_empty()? { Ok(()) } else { Err(Fault::bug("a hole is used")) }
    };
    judge().map_err(|fault| fault.at("legality"))?;
    let tree = Tree::grow(std::mem::take(&mut draft.loops), std::mem::take(&mut draft.branches));
    draft.scop.adopt(&tree);
    let written = Some(before.written.clone().unwrap_or_else(|| Rc::clone(before)));
    Ok(Rewriting::Done(Rc::new(Subject::new(draft.scop, before.dependences.clone(), written)), tree))
}

/// Checks a draft in which the statement at `position` has more instances; `span` is where that is said.
pub fn prove_extended(before: &Rc<Subject>, mut draft: Draft, position: usize, span: Span) -> diag::Result<Rewriting> {
    let unfit = find_known_term(&before.scop, &draft.scop, position, span).map_err(|fault| fault.at("legality"))?;
    if let Some(diagnostic) = unfit {
        return Ok(Rewriting::Unfit(diagnostic));
    }
    let tree = Tree::grow(std::mem::take(&mut draft.loops), std::mem::take(&mut draft.branches));
    draft.scop.adopt(&tree);
    let mut after = exact_dependences(&draft.scop)?;
    if before.dependences.strict {
        after = after.in_strict_order()?;
    }
    let written = Some(before.written.clone().unwrap_or_else(|| Rc::clone(before)));
    Ok(Rewriting::Done(Rc::new(Subject::new(draft.scop, after, written)), tree))
}

/// Why the further terms are not known to be neutral.
fn find_known_term(old: &Scop, new: &Scop, position: usize, span: Span) -> Attempt<Option<Box<Diagnostic>>> {
    let (was, is) = (&old.statements[position], &new.statements[position]);
    let StatementKind::Update(op) = is.kind else {
        return Err(Fault::bug("what runs on is no reduction"));
    };
    if was.value != is.value || was.write.index != is.write.index || !was.domain.is_subset(&is.domain)? || is.scatters()
    {
        return Err(Fault::bug("a reduction that runs on has become another"));
    }
    let further = is.domain.clone().subtract(was.domain.clone())?.intersect_params(new.context.clone())?;
    for read in is.reads.iter().filter(|read| read.array != is.write.array) {
        if let Some(unknown) = find_unknown(new, StatementId::new(position), read, &further, span)? {
            return Ok(Some(unknown));
        }
    }
    let term = is.term()?;
    let neutral = op.neutral(is.value.ty);
    let why = match constant(new, term) {
        Some(value) if value.same(neutral) => return Ok(None),
        Some(value) => format!("further terms would be {value}, and not {neutral}, which changes nothing"),
        None => "what further terms would be is not known: it is for holes that are filled, and for products of zeros"
            .into(),
    };
    let message = format!("`{}` cannot run on: {why}", is.name);
    Ok(Some(Box::new(Diagnostic::error("E0516", span, message))))
}

/// A further instance that would read something else than a filled hole.
fn find_unknown(
    scop: &Scop,
    statement: StatementId,
    read: &Access,
    further: &Set,
    span: Span,
) -> Attempt<Option<Box<Diagnostic>>> {
    let array = scop.array(read.array);
    let filled = array.laid.as_ref().is_some_and(|laid| laid.fill.is_some());
    let accesses: Map = read.map.clone().intersect_domain(further.clone())?;
    let holes = match &array.laid {
        Some(_) => holes(scop, read.array)?,
        None => None,
    };
    let unknown = match &holes {
        Some(holes) if filled => accesses.subtract_range(holes.clone())?,
        _ => accesses,
    };
    let Some(Sample { params, point }) = smallest(unknown.clone().wrap()?, &scop.context)? else { return Ok(None) };
    let (instance, cell) = point.split_at(scop.at(statement).iters.len());
    let (instance, cell) = (show_instance(scop, statement, instance), show_cell(&array.name, cell));
    let is_hole = match &holes {
        Some(holes) => unknown.range()?.is_subset(holes)?,
        None => false,
    };
    let message = format!(
        "`{}` cannot run on: {instance} would read {cell}, {}",
        scop.at(statement).name,
        match is_hole {
            true => "a hole that nobody fills",
            false => "which is no hole that is filled",
        }
    );
    let help = format!("`layout {} … in […] fill 0` gives it holes, and fills them", array.name);
    let diagnostic = Diagnostic::error("E0516", span, message).help(help);
    Ok(Some(Box::new(with_sizes(diagnostic, scop, &params))))
}

/// The value of a term all of whose loads are of filled holes, if it follows from few laws that hold for every type.
fn constant(scop: &Scop, term: &Expr) -> Option<Value> {
    match &term.kind {
        ExprKind::Const(value) => Some(*value),
        ExprKind::Load { array, .. } => scop.array(*array).laid.as_ref()?.fill,
        ExprKind::Binary(op, lhs, rhs) => {
            let (lhs, rhs) = (constant(scop, lhs)?, constant(scop, rhs)?);
            let is = |value: Value, neutral: ReduceOp| value.same(neutral.neutral(value.ty()));
            match op {
                BinaryOp::Mul if is(lhs, ReduceOp::Sum) && is(rhs, ReduceOp::Sum) => Some(lhs),
                BinaryOp::Mul if is(lhs, ReduceOp::Prod) => Some(rhs),
                BinaryOp::Mul if is(rhs, ReduceOp::Prod) => Some(lhs),
                BinaryOp::Min | BinaryOp::Max | BinaryOp::And | BinaryOp::Or if lhs.same(rhs) => Some(lhs),
                _ => None,
            }
        }
        _ => None,
    }
}
