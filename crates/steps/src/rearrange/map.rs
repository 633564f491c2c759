//! `map`: the times of statements, given directly as an affine relation.

use diag::Diagnostic;
use isl::Map;
use poly::sets::Frame;
use poly::{Attempt, Entry, Loop, LoopKind, Scop, Statement, StatementId, Tree};
use program::Affine;

use super::{Applied, Edit, statements};
use crate::step::Relation;

/// The times of a statement that has a relation, and what its loops are called.
struct Mapped<'a> {
    statement: StatementId,
    relation: &'a Relation,
    times: Vec<Affine>,
}

pub(super) fn map(edit: &Edit<'_>, relations: &[Relation]) -> Applied<Tree> {
    let scop = edit.scop;
    let mut mapped: Vec<Mapped<'_>> = Vec::new();
    for (order, relation) in relations.iter().enumerate() {
        let own = self::mapped(edit, relation)?;
        if relations[..order].iter().any(|earlier| earlier.statement == relation.statement) {
            let message = format!("`{}` is given two relations", relation.statement.text);
            return Err(edit.misuse(relation.span, message));
        }
        if !is_injective(scop, scop.at(own.statement), &own.times).unwrap_or(false) {
            let name = &scop.at(own.statement).name;
            let message = format!("two instances of `{name}` have the same time under this relation");
            return Err(Box::new(Diagnostic::error("E0514", relation.span, message)));
        }
        mapped.push(own);
    }
    let of = |statement: StatementId| mapped.iter().find(|mapped| mapped.statement == statement);
    let mut times: Vec<(StatementId, Vec<Affine>)> = Vec::new();
    for branch in &edit.branches {
        if let Some(own) = of(branch.statement) {
            refuse_marks(edit, branch, own.relation)?;
            if !times.iter().any(|(known, _)| *known == branch.statement) {
                times.push((branch.statement, own.times.clone()));
            }
            continue;
        }
        let component = |entry: &Entry| match entry {
            Entry::Place(place) => Some(Affine::constant(*place)),
            Entry::Loop(_, expr) => Some(expr.clone()),
            Entry::Free(_) | Entry::Only(_) => None,
        };
        let time: Option<Vec<Affine>> = branch.entries.iter().map(component).collect();
        let Some(time) = time else {
            let what = format!("`{}` is split; `map` first, then `split`", scop.at(branch.statement).name);
            return Err(edit.misuse(edit.step.span, what));
        };
        times.push((branch.statement, time));
    }
    Ok(Tree::from_times(&times, &|level, counted| name(edit, &mapped, level, counted)))
}

/// The statement and the times that a relation means.
fn mapped<'a>(edit: &Edit<'_>, relation: &'a Relation) -> Applied<Mapped<'a>> {
    let scop = edit.scop;
    let found = statements(scop, &relation.statement)?;
    let [statement] = found.as_slice() else {
        let parts: Vec<&str> = found.iter().map(|id| scop.at(*id).name.as_str()).collect();
        let message = format!("`{}` has several parts; give each its own relation", relation.statement.text);
        let diagnostic = Diagnostic::error("E0511", relation.statement.span, message);
        return Err(Box::new(diagnostic.note(format!("its parts are {}", parts.join(", ")))));
    };
    let iters = &scop.at(*statement).iters;
    if relation.times.inputs().len() != iters.len() {
        let names: Vec<&str> = iters.iter().map(|iter| scop.function.iter(*iter).name.as_str()).collect();
        let given = relation.times.inputs().len();
        let message = format!("`{}` has {} indices, {given} given", scop.at(*statement).name, names.len());
        let diagnostic = Diagnostic::error("E0511", relation.span, message);
        return Err(Box::new(diagnostic.note(format!("they are {}", names.join(", ")))));
    }
    let times = relation.times.bind(iters).ok_or_else(|| edit.overflow())?;
    Ok(Mapped { statement: *statement, relation, times })
}

/// New times are those of new loops, which have no marks yet.
fn refuse_marks(edit: &Edit<'_>, branch: &poly::Branch, relation: &Relation) -> Applied<()> {
    let marked = |found: &&Loop| found.kind != LoopKind::Serial || found.separate;
    let mut around = branch.loops().map(|(_, id, _)| edit.tree.info(id));
    let Some(found) = around.find(marked) else { return Ok(()) };
    let message =
        format!("`map` makes new loops for `{}`: the mark of `{}` would be lost", relation.statement.text, found.name);
    let diagnostic = edit.refuse(relation.span, message);
    Err(Box::new(diagnostic.help("`map` first; `parallel`, `vectorize`, `unroll` and `separate` afterwards")))
}

/// The loop at a level: one that was there, or one named after the index that it counts, or after its level. It has all names that its statements
/// give it.
fn name(edit: &Edit<'_>, mapped: &[Mapped<'_>], level: usize, counted: &[(StatementId, &Affine)]) -> Loop {
    let mut names: Vec<String> = Vec::new();
    let mut kept: Option<Loop> = None;
    for (statement, expr) in counted.iter().filter(|(_, expr)| expr.as_constant().is_none()) {
        let own = match mapped.iter().find(|mapped| mapped.statement == *statement) {
            Some(mapped) => {
                let place = expr
                    .as_iter()
                    .and_then(|iter| edit.scop.at(*statement).iters.iter().position(|known| *known == iter));
                let input = place.and_then(|place| mapped.relation.times.inputs().get(place));
                input.map_or_else(|| format!("t{level}"), |input| input.text.clone())
            }
            None => {
                let branch = edit.branches.iter().find(|branch| branch.statement == *statement);
                let old = branch.and_then(|branch| branch.entries.get(level)).and_then(Entry::as_loop);
                let Some((id, _)) = old else { continue };
                let info = edit.tree.info(id);
                kept = kept.or_else(|| Some(info.clone()));
                info.name.clone()
            }
        };
        if !names.contains(&own) {
            names.push(own);
        }
    }
    // Where statements have different names for it, each of these may be that of another loop for somebody.
    if names.len() > 1 {
        names.push(format!("t{level}"));
    }
    let mut also = names.into_iter();
    let name = also.next().unwrap_or_else(|| format!("t{level}"));
    Loop { name, also: also.collect(), apart: true, ..kept.unwrap_or_default() }
}

/// Whether no two instances share a time. Running out of budget is not a yes.
fn is_injective(scop: &Scop, statement: &Statement, times: &[Affine]) -> Attempt<bool> {
    let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
    let range = scop.params.tuple(None, &vec![""; times.len()])?;
    let map: Map = frame.map(range, times)?.intersect_domain(statement.domain.clone())?;
    Ok(map.is_injective()?)
}
