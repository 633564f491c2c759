//! `rfactor`: a reduction in two stages. Each iteration of one of its loops accumulates into a cell of its own, and a new
//! statement combines these cells.
//!
//! Before: `C[i] = C[i] + term(i, k)`.  After, for the loop `ko` of `k`: `P[i, ko] = 0`, `P[i, ko] = P[i, ko] + term(i, k)`
//! and `C[i] = C[i] + P[i, ko]`. That is the same sum because its operator is associative and commutative; that each term
//! goes into one partial result, and each partial result into its cell, is claimed and checked.

use diag::Diagnostic;
use isl::{Map, UnionMap};
use poly::rewriting::{self as flow, Claim, Draft};
use poly::sets::Frame;
use poly::{
    Access, ArrayOrigin, Attempt, Branch, Entry, Fault, LoopId, Parts, Statement, StatementKind, affine_subscripts,
    unique, uses,
};
use program::{Affine, Expr, ExprKind, IterId, ReduceOp};

use super::{Before, Drafted, array_name, branch_of, load, statement_name};
use crate::bounds;
use crate::rearrange::{misuse, overflow, statements, unknown_loop, with_loop};
use crate::step::{Loops, Step, Target, Word};

/// What is factored: an update, by position, and its loop.
struct Reduction<'a> {
    position: usize,
    op: ReduceOp,
    statement: &'a Statement,
    branch: &'a Branch,
    level: usize,
    id: LoopId,
    /// What the loop is called.
    name: &'a str,
    /// What it counts.
    expr: &'a Affine,
}

pub(super) fn rfactor(before: Before<'_>, step: &Step, loops: &Loops, names: &[Word]) -> Drafted<Draft> {
    let reduction = find(before, step, loops)?;
    let (scop, statement) = (before.scop, reduction.statement);
    let mut draft = Draft::new("rfactor", scop, before.tree)?;
    let name = array_name(scop, step, names.first(), &format!("{}_partial", statement.source))?;
    let kept = &statement.iters[..statement.kept];

    // One partial result per instance of what is kept and iteration of the loop.
    let iteration = draft.iter(reduction.name, step.span);
    let iters = [kept, &[iteration]].concat();
    let exprs: Vec<Affine> = kept.iter().map(|iter| Affine::iter(*iter)).chain([reduction.expr.clone()]).collect();
    let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
    let range = scop.params.tuple(None, &vec![""; exprs.len()])?;
    let domain = frame.map(range, &exprs)?.intersect_domain(statement.domain.clone())?.range()?.coalesce()?;
    let (mut shape, mut cell, mut cell_of_update) = (Vec::new(), Vec::new(), Vec::new());
    for (position, expr) in exprs.iter().enumerate() {
        let Some(range) = bounds::range(scop, &domain, position)? else {
            let message = format!("no array of one size holds the partial results of `{}`", statement.source);
            let help =
                "the range of its loops must have one lower and one upper bound; say in `where` which is the larger";
            return Err(Diagnostic::error("E0518", step.span, message).help(help).into());
        };
        let shift = |value: &Affine| value.sub(&range.first).ok_or_else(|| overflow(step));
        cell.push(shift(&Affine::iter(iters[position]))?);
        cell_of_update.push(shift(expr)?);
        shape.push(range.extent);
    }
    let partial = draft.array(name.clone(), statement.write.array, shape, ArrayOrigin::Accumulator);

    let init_name = statement_name(scop, &format!("{name}_init"));
    let combine_name = statement_name(scop, &format!("{name}_combine"));
    let places = Places::new(before, step, &mut draft, &reduction, iteration, names.get(1))?;
    let value = &statement.value;
    let neutral = Expr { kind: ExprKind::Const(reduction.op.neutral(value.ty)), ty: value.ty, span: value.span };
    let span = statement.write.span;
    let parts = |name: &str, kind: StatementKind, target, value, kept| Parts {
        name: name.to_string(),
        source: statement.source.clone(),
        kind,
        iters: iters.clone(),
        ordered: statement.ordered,
        kept,
        domain: domain.clone(),
        target,
        value,
        time: Vec::new(),
        span: statement.span,
        each: None,
    };
    let init = parts(
        &init_name,
        StatementKind::Init(reduction.op),
        (partial, affine_subscripts(&cell), span),
        neutral,
        iters.len(),
    );
    let total = (statement.write.array, statement.write.affine_index()?);
    let accumulate = |target: Expr, term: Expr| {
        let kind = ExprKind::Binary(reduction.op.combine(), Box::new(target), Box::new(term));
        Expr { kind, ty: value.ty, span: value.span }
    };
    let combined = accumulate(load(total.0, total.1.clone(), value), load(partial, cell, value));
    let kind = StatementKind::Update(reduction.op);
    let combine = parts(&combine_name, kind, (total.0, affine_subscripts(&total.1), span), combined, statement.kept);

    let term = term(statement)?;
    let mut update = Parts::of(statement);
    update.value = accumulate(load(partial, cell_of_update.clone(), value), term);
    update.target = (partial, affine_subscripts(&cell_of_update), span);

    draft.replace(reduction.position, update)?;
    let place = branch_of(&draft, reduction.position)?;
    draft.insert(reduction.position + 1, combine, place + 1, places.combine)?;
    draft.insert(reduction.position, init, place, places.init)?;
    claim(before, &reduction, &mut draft, &init_name, &combine_name)?;
    Ok(draft)
}

/// The update that a step speaks of.
fn find<'a>(before: Before<'a>, step: &Step, loops: &Loops) -> Drafted<Reduction<'a>> {
    let (scop, tree) = (before.scop, before.tree);
    let (positions, target) = match loops.targets.first() {
        Some(Target::Of(statement, _)) => {
            let found = statements(scop, statement)?;
            (found.iter().map(|id| id.index()).collect::<Vec<usize>>(), statement)
        }
        Some(Target::Everywhere(name)) => {
            let found = with_loop(tree, before.branches, name)?;
            (found.iter().map(|number| before.branches[*number].statement.index()).collect(), name)
        }
        None => return Err(Fault::bug("a step without a target").into()),
    };
    let Some(name) = loops.names().first().map(|name| (*name).clone()) else {
        return Err(Fault::bug("a step without a loop").into());
    };
    let refuse = |message: String| Diagnostic::error("E0516", step.span, message);
    let updates: Vec<usize> =
        positions.iter().copied().filter(|position| scop.statements[*position].kind.is_update()).collect();
    let branch = |position: usize| before.branch(step, position);
    let named = |position: usize| -> Drafted<Option<(usize, LoopId, &'a Affine)>> {
        Ok(tree.loop_named(branch(position)?, &name.text))
    };
    let mut any = false;
    for position in &positions {
        any |= named(*position)?.is_some();
    }
    if !any {
        return Err(unknown_among(before, &positions, &name).into());
    }
    if updates.is_empty() {
        let message = format!("`{}` is not a reduction", target.text);
        let help =
            "`rfactor` is for `sum`, `prod`, `min`, `max`, `any` and `all`; a sum written as a `for` keeps its order";
        return Err(refuse(message).help(help).into());
    }
    if before.dependences.strict {
        let message = "`rfactor` adds up in another order, which strict order does not allow".to_string();
        return Err(refuse(message).into());
    }
    let mut inside: Vec<(usize, (usize, LoopId, &'a Affine))> = Vec::new();
    for position in &updates {
        inside.extend(named(*position)?.map(|found| (*position, found)));
    }
    let [(position, (level, id, expr))] = inside.as_slice() else {
        if inside.is_empty() {
            return Err(unknown_among(before, &updates, &name).into());
        }
        let parts: Vec<&str> = inside.iter().map(|(position, _)| scop.statements[*position].name.as_str()).collect();
        let message = format!("loop `{}` belongs to several reductions; name one of {}", name.text, parts.join(", "));
        return Err(misuse(step, target.span, message).into());
    };
    let statement = &scop.statements[*position];
    let StatementKind::Update(op) = statement.kind else { return Err(Fault::bug("an update lost its kind").into()) };
    if statement.scatters() {
        let message = format!("`{}` updates cells that depend on data, and not those of one reduction", statement.name);
        return Err(refuse(message).into());
    }
    let (branch, called) = (branch(*position)?, tree.info(*id).name.as_str());
    let reduction =
        Reduction { position: *position, op, statement, branch, level: *level, id: *id, name: called, expr };
    if !reduction.is_reduced(expr) {
        return Err(not_reduced(before, &reduction, &name, step).into());
    }
    let reduced = &statement.iters[statement.kept..];
    if reduced.iter().any(|iter| uses(&statement.write.index, *iter)) {
        let message = format!("`{}` is factored already", statement.name);
        let help = "strip the loop that combines its partial results, and factor that";
        return Err(refuse(message).help(help).into());
    }
    Ok(reduction)
}

fn unknown_among(before: Before<'_>, positions: &[usize], name: &Word) -> Box<Diagnostic> {
    let among = before.branches.iter().filter(|branch| positions.contains(&branch.statement.index()));
    unknown_loop(before.tree, among, name)
}

fn not_reduced(before: Before<'_>, reduction: &Reduction<'_>, name: &Word, step: &Step) -> Diagnostic {
    let loops = reduction.branch.loops().filter(|(_, _, expr)| reduction.is_reduced(expr));
    let loops: Vec<&str> = loops.map(|(_, id, _)| before.tree.info(id).name.as_str()).collect();
    let op = reduction.op.name();
    let message = format!("loop `{}` does not run over the terms of the {op}", name.text);
    Diagnostic::error("E0516", step.span, message).help(format!("its terms run over {}", loops.join(", ")))
}

impl Reduction<'_> {
    /// Whether a loop runs over terms that are accumulated.
    fn is_reduced(&self, expr: &Affine) -> bool {
        let reduced = &self.statement.iters[self.statement.kept..];
        let mut found = false;
        expr.visit_iters(&mut |iter| found |= reduced.contains(&iter));
        found
    }
}

/// What an update accumulates.
fn term(statement: &Statement) -> Drafted<Expr> {
    let ExprKind::Binary(_, _, term) = &statement.value.kind else {
        return Err(Fault::bug("an update that is not a binary operator").into());
    };
    if term.reads(statement.write.array).is_some() {
        return Err(Fault::bug("an update whose term reads its accumulator").into());
    }
    Ok((**term).clone())
}

/// Where the statements stand: the partial inits in front of the updates in the loop, the combination behind the loop.
struct Places {
    init: Vec<Entry>,
    combine: Vec<Entry>,
}

impl Places {
    /// Also makes room for both among the branches of the draft.
    fn new(
        before: Before<'_>,
        step: &Step,
        draft: &mut Draft,
        reduction: &Reduction<'_>,
        iteration: IterId,
        given: Option<&Word>,
    ) -> Drafted<Places> {
        let entries = &reduction.branch.entries;
        // Outside of the first loop over terms all loops are those of the kept iterators, which the new ones share.
        let is_outer = |entry: &Entry| match entry {
            Entry::Place(_) | Entry::Free(_) => true,
            Entry::Loop(_, expr) => !reduction.is_reduced(expr),
            Entry::Only(_) => false,
        };
        let outer = entries.iter().position(|entry| !is_outer(entry)).unwrap_or(0).min(reduction.level);
        let together = outer == reduction.level;
        for branch in &mut draft.branches {
            let shared = reduction.branch.shared_with(branch);
            if together && shared > reduction.level {
                branch.entries.insert(reduction.level + 1, Entry::Place(1));
            }
            if shared >= outer && branch.entries.len() > outer {
                branch.entries.insert(outer, Entry::Place(1));
            }
        }
        let prefix = &entries[..outer];
        let mut init = [prefix, &[Entry::Place(i64::from(together))]].concat();
        if together {
            init.push(Entry::Loop(reduction.id, Affine::iter(iteration)));
            init.push(Entry::Place(0));
            init.extend(remaining(before, draft, reduction, outer));
        } else {
            init.extend(remaining(before, draft, reduction, outer));
            let name = new_loop(before, step, &format!("{}i", reduction.name), None)?;
            init.push(Entry::Loop(draft.add_loop(&name), Affine::iter(iteration)));
        }
        let name = new_loop(before, step, &format!("{}c", reduction.name), given)?;
        let mut combine = [prefix, &[Entry::Place(2)]].concat();
        combine.extend(remaining(before, draft, reduction, outer));
        combine.push(Entry::Loop(draft.add_loop(&name), Affine::iter(iteration)));
        Ok(Places { init, combine })
    }
}

/// Loops for the kept iterators that the outer entries leave: the update's own as far as they are free of its terms.
fn remaining(before: Before<'_>, draft: &mut Draft, reduction: &Reduction<'_>, outer: usize) -> Vec<Entry> {
    let function = &before.scop.function;
    let (outside, inside) = reduction.branch.entries.split_at(outer);
    let inside = inside.iter().filter_map(Entry::as_loop).filter(|(_, expr)| !reduction.is_reduced(expr));
    let mut loops: Vec<(String, Affine)> =
        inside.map(|(id, expr)| (before.tree.info(id).name.clone(), expr.clone())).collect();
    for iter in &reduction.statement.iters[..reduction.statement.kept] {
        let mut exprs = outside.iter().filter_map(Entry::as_loop).map(|(_, expr)| expr);
        let counted = exprs.any(|expr| expr.as_iter() == Some(*iter));
        if !counted && !loops.iter().any(|(_, expr)| expr.as_iter() == Some(*iter)) {
            loops.push((function.iter(*iter).name.clone(), Affine::iter(*iter)));
        }
    }
    loops.into_iter().map(|(name, expr)| Entry::Loop(draft.add_loop(&name), expr)).collect()
}

/// A name for a loop that is not in use: the one given, or the usual one.
fn new_loop(before: Before<'_>, step: &Step, usual: &str, given: Option<&Word>) -> Drafted<String> {
    match given {
        Some(word) if before.is_loop(&word.text) => {
            let what = format!("there is a loop `{}` already; choose another name", word.text);
            Err(misuse(step, word.span, what).into())
        }
        Some(word) => Ok(word.text.clone()),
        None => Ok(unique(usual, |name| before.is_loop(name))),
    }
}

/// Every term goes into the one partial result of its iteration, and every partial result into the cell of its terms;
/// whoever read the total before reads all partial results now.
fn claim(before: Before<'_>, reduction: &Reduction<'_>, draft: &mut Draft, init: &str, combine: &str) -> Drafted<()> {
    let old = reduction.statement;
    let (update, init, combine) = (draft.statement(&old.name)?, draft.statement(init)?, draft.statement(combine)?);
    let partial = update.write.array;
    let own = |statement: &Statement, array| -> Attempt<Access> {
        let found = statement.reads.iter().find(|read| read.array == array).cloned();
        found.ok_or_else(|| Fault::bug("an update that does not read its accumulator"))
    };
    let (of_partial, of_total) = (own(combine, partial)?, own(combine, old.write.array)?);
    // { update -> combine } through the partial result
    let goes_into: Map = update.write.map.clone().apply_range(of_partial.map.clone().reverse()?)?;
    let total = goes_into.clone().apply_range(combine.write.map.clone())?;
    let is_complete = goes_into.is_single_valued()?
        && total.is_equal(&old.write.map)?
        && of_partial.map.is_injective()?
        && goes_into.clone().range()?.is_equal(&combine.domain)?;
    if !is_complete {
        return Err(Fault::bug("a term is lost on its way into the total").into());
    }
    let from_init = of_partial.map.clone().apply_range(init.write.map.clone().reverse()?)?;
    let from_updates = goes_into.clone().reverse()?;
    let nothing = || isl::UnionSet::empty(before.scop.params.space());
    let mut claims = vec![
        Claim {
            access: of_partial.map,
            writers: UnionMap::from_map(from_init)?.add_map(from_updates.clone())?,
            inputs: nothing()?,
        },
        Claim {
            access: own(update, partial)?.map,
            writers: update.write.map.clone().apply_range(init.write.map.clone().reverse()?)?.to_union_map()?,
            inputs: nothing()?,
        },
    ];
    // The total begins where it did.
    let begin = flow::writers(before.dependences, &own(old, old.write.array)?.map)?;
    claims.push(Claim {
        access: of_total.map,
        writers: UnionMap::from_map(from_updates)?.apply_range(begin)?,
        inputs: nothing()?,
    });
    let into = UnionMap::from_map(goes_into)?;
    let updates = isl::UnionSet::from_set(old.domain.clone())?;
    for reader in before.scop.statements.iter().filter(|reader| reader.name != old.name) {
        for read in reader.reads.iter().filter(|read| read.array == old.write.array) {
            let writers = flow::writers(before.dependences, &read.map)?;
            let through = writers.clone().intersect_range(updates.clone())?.apply_range(into.clone())?;
            claims.push(Claim {
                access: read.map.clone(),
                writers: writers.subtract_range(updates.clone())?.union(through)?,
                inputs: flow::inputs(before.dependences, &read.map)?,
            });
        }
    }
    draft.claims = claims;
    Ok(())
}
