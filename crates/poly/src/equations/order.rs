//! The order of equations: the one in the text if it happens to work, otherwise the one that isl's scheduler finds.

use diag::{Diagnostic, Error};
use isl::{Aff, Dim, Schedule, ScheduleNode, ScheduleNodeType, UnionPwAff, UnionSet, Val};
use program::{Affine, ParamId};

use super::cycle::{self, Search};
use crate::choose::choose_apart;
use crate::deps::Dependences;
use crate::fault::{Attempt, Fault};
use crate::legality::{Verdict, check_legal};
use crate::plan::{Entry, Loop, LoopKind, Plan, StatementPlan};
use crate::scop::{Scop, Statement, StatementKind};

/// The order that transformations start from: as written, unless equations need another.
pub fn base_plan(scop: &Scop, dependences: &Dependences) -> diag::Result<Plan> {
    let original = Plan::original(scop);
    if scop.equations.is_empty() {
        return Ok(original);
    }
    match check_legal(scop, dependences, original.tree(scop)?)? {
        Verdict::Legal(_) => Ok(original),
        Verdict::Unknown { spent } => Err(Error::Budget { stage: "legality", spent }),
        Verdict::Illegal(_) => found_plan(scop, dependences),
    }
}

/// The order that the scheduler finds, as a plan. Inits are put in front of their updates, into the same loops: on its own,
/// an init depends on nothing, and the scheduler would put it anywhere.
fn found_plan(scop: &Scop, dependences: &Dependences) -> diag::Result<Plan> {
    let is_init = |statement: &Statement| matches!(statement.kind, StatementKind::Init(_));
    let schedule = choose_apart(scop, dependences, &|statement| !is_init(statement))?;
    let mut plan = plan_of(scop, &schedule).map_err(|fault| fault.at("schedule"))?;
    for (number, _) in scop.statements.iter().enumerate().filter(|(_, statement)| is_init(statement)) {
        add_init(scop, &mut plan, number);
    }
    if let Verdict::Legal(_) = check_legal(scop, dependences, plan.tree(scop)?)? {
        return Ok(plan);
    }
    let schedule = choose_apart(scop, dependences, &|_| true)?;
    plan_of(scop, &schedule).map_err(|fault| fault.at("schedule"))
}

/// Gives an init its place: in the loops of its update as far as these count indices that both have.
fn add_init(scop: &Scop, plan: &mut Plan, number: usize) {
    let init = &scop.statements[number];
    let same = |other: &Statement| {
        other.kind.is_update() && other.source == init.source && other.write.array == init.write.array
    };
    let Some(update) = scop.statements.iter().position(same) else { return };
    let known = |entry: &&Entry| match entry {
        Entry::Position(_) => true,
        Entry::Loop(found) => {
            let mut known = true;
            found.expr.visit_iters(&mut |iter| known &= init.iters.contains(&iter));
            known
        }
        Entry::Split(_) => false,
    };
    let mut entries: Vec<Entry> = plan.statements[update].entries.iter().take_while(known).cloned().collect();
    // Behind the last loop that they share.
    while let Some(Entry::Position(_)) = entries.last() {
        entries.pop();
    }
    let depth = entries.len();
    let shares = |other: &StatementPlan| {
        other.entries.len() >= depth && other.entries.iter().zip(&entries).all(|(one, two)| one.is_same_place(two))
    };
    let inside: Vec<usize> = (0..plan.statements.len())
        .filter(|other| !plan.statements[*other].entries.is_empty() && shares(&plan.statements[*other]))
        .collect();
    for other in inside {
        plan.statements[other].entries.insert(depth, Entry::Position(1));
    }
    let missing =
        init.iters.iter().filter(|iter| !entries.iter().filter_map(Entry::as_loop).any(|found| found.uses(**iter)));
    let missing: Vec<Entry> = missing
        .map(|iter| {
            let name = scop.function.iter(*iter).name.clone();
            Entry::Loop(Loop { name, expr: Affine::iter(*iter), kind: LoopKind::Serial })
        })
        .collect();
    entries.push(Entry::Position(0));
    entries.extend(missing);
    plan.statements[number].entries = entries;
}

/// The error when the scheduler has found no order: a cycle if there is one at small sizes.
pub(crate) fn explain_failure(scop: &Scop, dependences: &Dependences) -> Error {
    match cycle::find(scop, dependences) {
        Ok(Search::Found(cycle)) => Error::User(vec![cycle.explain(scop)]),
        Ok(Search::Nothing { tried }) => Error::User(vec![not_found(scop, tried)]),
        Err(fault) => fault.at("schedule"),
    }
}

fn not_found(scop: &Scop, tried: usize) -> Diagnostic {
    let arrays = scop.equations.systems.iter().flat_map(|system| &system.arrays);
    let names: Vec<String> = arrays.clone().map(|array| format!("`{}`", scop.array(*array).name)).collect();
    let mut spans =
        scop.statements.iter().filter(|statement| arrays.clone().any(|array| *array == statement.write.array));
    let span = spans.next().map_or(scop.function.span, |statement| statement.write.span);
    let message = format!("no order was found for the equations of {}", names.join(", "));
    let searched = match tried {
        0 => "even the smallest sizes have too many instances to look for a cycle".to_string(),
        _ => format!("no cycle was found at {tried} combinations of small sizes, so there may be an order"),
    };
    Diagnostic::error("E0411", span, message)
        .note("an order must be affine in the indices of each clause, and the same for all sizes")
        .note(searched)
        .help("split the clause where its order changes direction, or write the order as a `for` loop")
}

/// A schedule tree of isl's scheduler as a plan.
fn plan_of(scop: &Scop, schedule: &Schedule) -> Attempt<Plan> {
    let plan = |statement: &Statement| StatementPlan {
        name: statement.name.clone(),
        source: statement.source.clone(),
        entries: Vec::new(),
    };
    let mut plan = Plan { statements: scop.statements.iter().map(plan).collect() };
    let all: Vec<usize> = (0..scop.statements.len()).collect();
    descend(scop, schedule.get_root()?, &all, &mut plan)?;
    Ok(plan)
}

/// Adds the entries of a subtree to the plans of the statements in it.
fn descend(scop: &Scop, node: ScheduleNode, statements: &[usize], plan: &mut Plan) -> Attempt<()> {
    match node.get_type()? {
        ScheduleNodeType::Leaf => Ok(()),
        ScheduleNodeType::Sequence | ScheduleNodeType::Set => {
            for position in 0..node.n_children()? {
                let child = node.get_child(position)?;
                let members = members(scop, &child.filter_get_filter()?, statements)?;
                for member in &members {
                    plan.statements[*member].entries.push(Entry::Position(position as i64));
                }
                descend(scop, child.child(0)?, &members, plan)?;
            }
            Ok(())
        }
        ScheduleNodeType::Band => {
            let partial = node.band_get_partial_schedule()?;
            for member in 0..node.band_n_member()? {
                add_loop(scop, &partial.get_at(member)?, statements, plan)?;
            }
            descend(scop, node.child(0)?, statements, plan)
        }
        ScheduleNodeType::Domain | ScheduleNodeType::Filter | ScheduleNodeType::Mark => {
            descend(scop, node.child(0)?, statements, plan)
        }
        kind => Err(Fault::bug(format!("the scheduler made a {kind:?} node"))),
    }
}

fn members(scop: &Scop, filter: &UnionSet, statements: &[usize]) -> Attempt<Vec<usize>> {
    let names = filter.sets()?.iter().map(|set| set.get_tuple_name()).collect::<isl::Result<Vec<_>>>()?;
    let inside = |number: &&usize| names.iter().flatten().any(|name| *name == scop.statements[**number].name);
    Ok(statements.iter().filter(inside).copied().collect())
}

/// One loop around the statements, named after an index that it counts.
fn add_loop(scop: &Scop, partial: &UnionPwAff, statements: &[usize], plan: &mut Plan) -> Attempt<()> {
    let mut exprs = vec![Affine::constant(0); statements.len()];
    for piece in partial.get_pw_aff_list()? {
        let name = piece.get_domain_space()?.get_tuple_name(Dim::Set)?;
        let found = statements.iter().position(|number| Some(&scop.statements[*number].name) == name.as_ref());
        let Some(position) = found else { continue };
        exprs[position] = affine(&piece.as_aff()?, &scop.statements[statements[position]])?;
    }
    // The deepest statement is the one whose indices a reader knows the loop by.
    let plain = |expr: &Affine| expr.terms.len() == 1;
    let depth = |position: &usize| (plain(&exprs[*position]), scop.statements[statements[*position]].iters.len());
    let leader = (0..exprs.len()).rev().max_by_key(depth).ok_or_else(|| Fault::bug("a loop around nothing"))?;
    let mut base = None;
    exprs[leader].visit_iters(&mut |iter| {
        base.get_or_insert_with(|| scop.function.iter(iter).name.clone());
    });
    let base = base.unwrap_or_else(|| "c".into());
    let taken = |name: &str| statements.iter().any(|number| plan.statements[*number].loop_named(name).is_some());
    let name = crate::model::unique(&base, taken);
    for (number, expr) in statements.iter().zip(exprs) {
        plan.statements[*number].entries.push(Entry::Loop(Loop { name: name.clone(), expr, kind: LoopKind::Serial }));
    }
    Ok(())
}

/// An expression of the scheduler: integer coefficients, no divisions.
fn affine(aff: &Aff, statement: &Statement) -> Attempt<Affine> {
    let number = |value: Val| {
        let number = if value.is_int()? { value.to_i64()? } else { None };
        number.ok_or_else(|| Fault::bug("the scheduler's coefficients are not integers"))
    };
    let mut sum = Affine::constant(number(aff.get_constant_val()?)?);
    let overflow = || Fault::bug("the scheduler's expression overflows");
    for param in 0..aff.dim(Dim::Param)? {
        let coefficient = number(aff.get_coefficient_val(Dim::Param, param)?)?;
        sum = sum.add_scaled(&Affine::param(ParamId(param as u32)), coefficient).ok_or_else(overflow)?;
    }
    for (position, iter) in statement.iters.iter().enumerate() {
        let coefficient = number(aff.get_coefficient_val(Dim::In, position)?)?;
        sum = sum.add_scaled(&Affine::iter(*iter), coefficient).ok_or_else(overflow)?;
    }
    Ok(sum)
}
