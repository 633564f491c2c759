//! `rfactor`: a reduction in two stages. Each iteration of one of its loops accumulates into a cell of its own, and a new
//! statement combines these cells.
//!
//! Before: `C[i] = C[i] + term(i, k)`.  After, for the loop `ko` of `k`: `P[i, ko] = 0`, `P[i, ko] = P[i, ko] + term(i, k)`
//! and `C[i] = C[i] + P[i, ko]`. That is the same sum because its operator is associative and commutative; that each term
//! goes into one partial result, and each partial result into its cell, is claimed and checked.

use diag::Diagnostic;
use isl::{Map, UnionMap};
use program::{Affine, Expr, ExprKind, IterId, ReduceOp};

use super::{Before, Claim, Draft, Drafted, array_name, bounds, flow, load, serial, statement_name};
use crate::deps::uses;
use crate::fault::{Attempt, Fault};
use crate::model::{Parts, affine_subscripts};
use crate::plan::{Entry, Loop, LoopKind, StatementPlan};
use crate::scop::{Access, ArrayOrigin, Scop, Statement, StatementKind};
use crate::transform::{Step, Word, misuse, overflow, select};

/// What is factored: an update, by position, and its loop.
struct Reduction<'a> {
    position: usize,
    op: ReduceOp,
    statement: &'a Statement,
    plan: &'a StatementPlan,
    level: usize,
    over: &'a Loop,
}

pub(in crate::transform) fn rfactor(before: Before<'_>, step: &Step) -> Drafted<Draft> {
    let reduction = find(before, step)?;
    let (scop, statement) = (before.scop, reduction.statement);
    let mut draft = Draft::new(before)?;
    let name = array_name(scop, step, &format!("{}_partial", statement.source))?;
    let kept = &statement.iters[..statement.kept];

    // One partial result per instance of what is kept and iteration of the loop.
    let iteration = draft.iter(&reduction.over.name, step.span);
    let iters = [kept, &[iteration]].concat();
    let exprs: Vec<Affine> = kept.iter().map(|iter| Affine::iter(*iter)).chain([reduction.over.expr.clone()]).collect();
    let frame = crate::sets::Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
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
    let plans = Plans::new(before, step, &reduction, iteration)?;
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
        order: Vec::new(),
        span: statement.span,
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

    draft.plan = plans.others;
    draft.replace(reduction.position, update)?;
    draft.insert(reduction.position + 1, combine, plans.combine)?;
    draft.insert(reduction.position, init, plans.init)?;
    claim(before, &reduction, &mut draft, &init_name, &combine_name)?;
    Ok(draft)
}

/// The update that a step speaks of.
fn find<'a>(before: Before<'a>, step: &Step) -> Drafted<Reduction<'a>> {
    let target = select::single(step)?;
    let (statements, names) = select::loops(before.plan, step, target)?;
    let [name] = names.as_slice() else { return Err(misuse(step, step.span, "`rfactor` takes one loop").into()) };
    if step.names.len() > 2 {
        let what = "`rfactor` takes two names: of the partial results, and of the loop that combines them";
        return Err(misuse(step, step.names[2].span, what).into());
    }
    let refuse = |message: String| Diagnostic::error("E0516", step.span, message);
    let updates: Vec<usize> =
        statements.iter().copied().filter(|position| before.scop.statements[*position].kind.is_update()).collect();
    if updates.is_empty() {
        let message = format!("`{}` is not a reduction", target.name.text);
        let help =
            "`rfactor` is for `sum`, `prod`, `min`, `max`, `any` and `all`; a sum written as a `for` keeps its order";
        return Err(refuse(message).help(help).into());
    }
    if before.dependences.strict {
        let message = "`rfactor` adds up in another order, which strict order does not allow".to_string();
        return Err(refuse(message).into());
    }
    let with_loop = |position: &usize| before.plan.statements[*position].loop_named(&name.text).is_some();
    let inside: Vec<usize> = updates.iter().copied().filter(with_loop).collect();
    let [position] = inside.as_slice() else {
        if inside.is_empty() {
            return Err(select::unknown_loop(before.plan, &updates, name).into());
        }
        let parts: Vec<&str> = inside.iter().map(|position| before.plan.statements[*position].name.as_str()).collect();
        let message = format!("loop `{}` belongs to several reductions; name one of {}", name.text, parts.join(", "));
        return Err(misuse(step, target.name.span, message).into());
    };
    let statement = &before.scop.statements[*position];
    let plan = &before.plan.statements[*position];
    let (Some((level, over)), StatementKind::Update(op)) = (plan.loop_named(&name.text), statement.kind) else {
        return Err(Fault::bug("an update lost its loop").into());
    };
    if statement.scatters() {
        let message = format!("`{}` updates cells that depend on data, and not those of one reduction", statement.name);
        return Err(refuse(message).into());
    }
    let reduction = Reduction { position: *position, op, statement, plan, level, over };
    if !reduction.is_reduced(over) {
        return Err(not_reduced(&reduction, name, step).into());
    }
    let reduced = &statement.iters[statement.kept..];
    if reduced.iter().any(|iter| uses(&statement.write.index, *iter)) {
        let message = format!("`{}` is factored already", statement.name);
        let help = "strip the loop that combines its partial results, and factor that";
        return Err(refuse(message).help(help).into());
    }
    Ok(reduction)
}

fn not_reduced(reduction: &Reduction<'_>, name: &Word, step: &Step) -> Diagnostic {
    let loops = reduction.plan.loops().filter(|found| reduction.is_reduced(found));
    let loops: Vec<&str> = loops.map(|found| found.name.as_str()).collect();
    let op = reduction.op.name();
    let message = format!("loop `{}` does not run over the terms of the {op}", name.text);
    Diagnostic::error("E0516", step.span, message).help(format!("its terms run over {}", loops.join(", ")))
}

impl Reduction<'_> {
    /// Whether a loop runs over terms that are accumulated.
    fn is_reduced(&self, found: &Loop) -> bool {
        self.statement.iters[self.statement.kept..].iter().any(|iter| found.uses(*iter))
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
struct Plans {
    init: Vec<Entry>,
    combine: Vec<Entry>,
    others: crate::plan::Plan,
}

impl Plans {
    fn new(before: Before<'_>, step: &Step, reduction: &Reduction<'_>, iteration: IterId) -> Drafted<Plans> {
        let entries = &reduction.plan.entries;
        // Outside of the first loop over terms all loops are those of the kept iterators, which the new ones share.
        let is_outer = |entry: &Entry| match entry {
            Entry::Position(_) => true,
            Entry::Loop(found) => !reduction.is_reduced(found),
            Entry::Split(_) => false,
        };
        let outer = entries.iter().position(|entry| !is_outer(entry)).unwrap_or(0).min(reduction.level);
        if entries[..=reduction.level].iter().any(|entry| matches!(entry, Entry::Split(_))) {
            let what = format!("loop `{}` is split; `rfactor` first, then `split`", reduction.over.name);
            return Err(misuse(step, step.span, what).into());
        }
        let mut others = before.plan.clone();
        let together = outer == reduction.level;
        for (position, plan) in before.plan.statements.iter().enumerate() {
            let shared = reduction.plan.shared_with(plan);
            let entries = &mut others.statements[position].entries;
            if together && shared > reduction.level {
                entries.insert(reduction.level + 1, Entry::Position(1));
            }
            if shared >= outer && entries.len() > outer {
                entries.insert(outer, Entry::Position(1));
            }
        }
        let prefix = &entries[..outer];
        let kept = remaining(before.scop, reduction, outer);
        let over = &reduction.over.name;
        let mut init = [prefix, &[Entry::Position(i64::from(together))]].concat();
        if together {
            let kind = reduction.over.kind;
            init.push(Entry::Loop(Loop { name: over.clone(), expr: Affine::iter(iteration), kind }));
            init.push(Entry::Position(0));
            init.extend(kept.iter().cloned());
        } else {
            init.extend(kept.iter().cloned());
            init.push(serial(&new_loop(before, step, &format!("{over}i"), None)?, Affine::iter(iteration)));
        }
        let name = new_loop(before, step, &format!("{over}c"), step.names.get(1))?;
        let mut combine = [prefix, &[Entry::Position(2)]].concat();
        combine.extend(kept);
        combine.push(serial(&name, Affine::iter(iteration)));
        Ok(Plans { init, combine, others })
    }
}

/// Loops for the kept iterators that the outer entries leave: the update's own as far as they are free of its terms.
fn remaining(scop: &Scop, reduction: &Reduction<'_>, outer: usize) -> Vec<Entry> {
    let (outside, inside) = reduction.plan.entries.split_at(outer);
    let inside = inside.iter().filter_map(Entry::as_loop).filter(|found| !reduction.is_reduced(found));
    let mut loops: Vec<Loop> = inside.map(|found| Loop { kind: LoopKind::Serial, ..found.clone() }).collect();
    for iter in &reduction.statement.iters[..reduction.statement.kept] {
        let is_own = |found: &Loop| found.expr.as_iter() == Some(*iter);
        if !outside.iter().filter_map(Entry::as_loop).chain(&loops).any(is_own) {
            let name = scop.function.iter(*iter).name.clone();
            loops.push(Loop { name, expr: Affine::iter(*iter), kind: LoopKind::Serial });
        }
    }
    loops.into_iter().map(Entry::Loop).collect()
}

/// A name for a loop that is not in use: the one given, or the usual one.
fn new_loop(before: Before<'_>, step: &Step, usual: &str, given: Option<&Word>) -> Drafted<String> {
    let taken = |name: &str| before.plan.statements.iter().any(|plan| plan.loop_named(name).is_some());
    match given {
        Some(word) if taken(&word.text) => {
            let what = format!("there is a loop `{}` already; choose another name", word.text);
            Err(misuse(step, word.span, what).into())
        }
        Some(word) => Ok(word.text.clone()),
        None => Ok(crate::model::unique(usual, taken)),
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
