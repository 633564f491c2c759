//! Verbs that change which loops there are and how they nest: tile, strip, interchange, reorder, jam, and the kinds of
//! loops (unroll, vectorize, parallel).
//!
//! A source statement with a reduction has parts: its init and fini lack the reduced loops. All parts are rearranged
//! together: they share loops from the outside up to the first one that a part lacks; there the inits come before and
//! the rest after, each with what remains of its own loops. Several source statements have an order among each other, which
//! is not for these verbs to change: their loops are changed in place (`in_place`), and positions stay where they are.

use diag::Diagnostic;
use program::{Atom, IterId, Subscript};

use super::{Applied, Step, Word, misuse, overflow, select};
use crate::plan::{Entry, Loop, LoopKind, Plan};
use crate::scop::{Scop, StatementKind};

/// One statement while its loops are rearranged.
#[derive(Clone)]
struct Part {
    position: usize,
    loops: Vec<Loop>,
}

/// Changes the loops of `statements` by `change`: where they are several source statements, among their entries in place;
/// where they are parts of one, among their loops alone, from which the entries are then rebuilt.
fn rearrange(
    scop: &Scop,
    plan: &Plan,
    step: &Step,
    statements: &[usize],
    names: &[&Word],
    change: impl Fn(&mut Vec<Entry>) -> Result<(), Box<Diagnostic>>,
) -> Applied {
    let mut result = plan.clone();
    for nest in nests(plan, step, statements, names) {
        let source = |position: &usize| &plan.statements[*position].source;
        result = match nest.iter().any(|position| source(position) != source(&nest[0])) {
            true => in_place(&result, step, &nest, names, &change)?,
            false => rearrange_nest(scop, &result, step, &nest, names, &change)?,
        };
    }
    Ok(result)
}

/// Changes the entries of each statement that has one of the loops. Those that share a loop go on sharing it.
fn in_place(
    plan: &Plan,
    step: &Step,
    statements: &[usize],
    names: &[&Word],
    change: &impl Fn(&mut Vec<Entry>) -> Result<(), Box<Diagnostic>>,
) -> Applied {
    let has = |position: usize, name: &Word| plan.statements[position].loop_named(&name.text);
    // Where the outermost of the named loops is.
    let level = |position: usize| names.iter().filter_map(|name| has(position, name)).map(|(level, _)| level).min();
    let outside = |position: usize| level(position).unwrap_or(plan.statements[position].entries.len());
    refuse_strangers(plan, step, statements, names, &outside)?;
    for (order, one) in statements.iter().enumerate() {
        for two in &statements[..order] {
            let shared = plan.statements[*one].shared_with(&plan.statements[*two]);
            let lacking = names.iter().find(|name| has(*one, name).is_some() != has(*two, name).is_some());
            if let Some(name) = lacking.filter(|_| level(*one).is_some_and(|level| shared > level)) {
                let lacks = if has(*one, name).is_some() { two } else { one };
                let message = format!("`{}` has no loop `{}`", plan.statements[*lacks].name, name.text);
                let diagnostic = Diagnostic::error("E0513", name.span, message);
                return Err(Box::new(
                    diagnostic.help("statements that share a loop are changed together; name the loops that all have"),
                ));
            }
        }
    }
    let mut result = plan.clone();
    for position in statements.iter().filter(|position| level(**position).is_some()) {
        change(&mut result.statements[*position].entries)?;
    }
    Ok(result)
}

/// A loop without a statement means every loop of that name; statements that do not share it are rearranged apart.
fn nests(plan: &Plan, step: &Step, statements: &[usize], names: &[&Word]) -> Vec<Vec<usize>> {
    if step.targets.iter().all(|target| target.loops.is_some()) {
        return vec![statements.to_vec()];
    }
    let level = |position: usize| names.first().and_then(|name| plan.statements[position].loop_named(&name.text));
    let mut nests: Vec<Vec<usize>> = Vec::new();
    for position in statements {
        let this = &plan.statements[*position];
        let shares = |nest: &&mut Vec<usize>| {
            let shared = nest.first().map_or(0, |first| plan.statements[*first].shared_with(this));
            // Parts of one statement belong together even where they stand in nests of their own.
            let parts = nest.iter().any(|other| plan.statements[*other].source == this.source);
            parts || level(*position).is_some_and(|(level, _)| shared > level)
        };
        match nests.iter_mut().find(shares) {
            Some(nest) => nest.push(*position),
            None => nests.push(vec![*position]),
        }
    }
    nests
}

fn rearrange_nest(
    scop: &Scop,
    plan: &Plan,
    step: &Step,
    statements: &[usize],
    names: &[&Word],
    change: &impl Fn(&mut Vec<Entry>) -> Result<(), Box<Diagnostic>>,
) -> Applied {
    let outer = shared_outside(plan, statements, names);
    refuse_strangers(plan, step, statements, names, &|_| outer)?;
    let mut parts = Vec::new();
    for position in statements {
        let entries = &plan.statements[*position].entries[outer..];
        if let Some(Entry::Split(_)) = entries.iter().find(|entry| matches!(entry, Entry::Split(_))) {
            return Err(misuse(step, step.span, "loops inside a `split` cannot be rearranged; split afterwards"));
        }
        let mut loops: Vec<Entry> = entries.iter().filter(|entry| entry.as_loop().is_some()).cloned().collect();
        change(&mut loops)?;
        parts.push(Part { position: *position, loops: loops.iter().filter_map(Entry::as_loop).cloned().collect() });
    }
    let mut result = plan.clone();
    for part in &parts {
        result.statements[part.position].entries.truncate(outer);
    }
    place(scop, &mut result, parts);
    Ok(result)
}

/// The original order, with the parts of each source statement in one nest: they share loops as far as all have them.
/// Of the loops whose order is free, the one in which memory is walked most closely becomes the innermost.
pub(super) fn tidy(scop: &Scop) -> Plan {
    let mut plan = Plan::original(scop);
    let mut start = 0;
    while let Some(first) = plan.statements.get(start) {
        let source = first.source.clone();
        let parts = plan.statements[start..].iter().take_while(|statement| statement.source == source).count();
        let group: Vec<usize> = (start..start + parts).collect();
        start += parts;
        let Some((leader, others)) = group.split_first() else { continue };
        let shared = |other: &usize| plan.statements[*leader].shared_with(&plan.statements[*other]);
        let outer = others.iter().map(shared).min().unwrap_or_else(|| ordered_entries(scop, &plan, *leader));
        let loops = |position: &usize| {
            let entries = plan.statements[*position].entries[outer..].iter();
            Part { position: *position, loops: entries.filter_map(Entry::as_loop).cloned().collect() }
        };
        let mut parts: Vec<Part> = group.iter().map(loops).collect();
        if let Some(innermost) = closest_walk(scop, &parts) {
            for part in &mut parts {
                // A stable sort moves that one loop behind the others.
                part.loops.sort_by_key(|found| found.name == innermost);
            }
        }
        for position in &group {
            plan.statements[*position].entries.truncate(outer);
        }
        place(scop, &mut plan, parts);
    }
    plan
}

/// How many entries of a statement stand outside its forall: everything up to its last `for` loop and its position there.
fn ordered_entries(scop: &Scop, plan: &Plan, position: usize) -> usize {
    let statement = &scop.statements[position];
    let entries = &plan.statements[position].entries;
    let ordered = |entry: &Entry| {
        entry.as_loop().is_some_and(|found| statement.iters[..statement.ordered].iter().any(|iter| found.uses(*iter)))
    };
    let loops = entries.iter().rposition(ordered).map_or(0, |last| last + 1);
    (loops + 1).min(entries.len())
}

/// The loop that should be innermost in the deepest part, if that is clearly better than the one that is.
fn closest_walk(scop: &Scop, parts: &[Part]) -> Option<String> {
    let deepest = parts.iter().max_by_key(|part| part.loops.len())?;
    let statement = &scop.statements[deepest.position];
    let cost = |found: &Loop| -> usize {
        let accesses = std::iter::once(&statement.write).chain(&statement.reads);
        match found.expr.as_iter() {
            Some(iter) => accesses.map(|access| step_cost(&access.index, iter)).sum(),
            None => usize::MAX / 2,
        }
    };
    let best = deepest.loops.iter().min_by_key(|found| cost(found))?;
    (2 * cost(best) <= cost(deepest.loops.last()?)).then(|| best.name.clone())
}

/// What it costs to step one iteration: nothing if the cell stays, little to the next cell, a cache line otherwise.
fn step_cost(index: &[Subscript], iter: IterId) -> usize {
    let uses = |subscript: &Subscript| match subscript {
        Subscript::Affine(affine) => {
            let mut found = false;
            affine.visit_iters(&mut |used| found |= used == iter);
            found
        }
        Subscript::Data(expr) => expr.iters().contains(&iter),
    };
    let Some((last, outer)) = index.split_last() else { return 0 };
    let next = match last {
        Subscript::Affine(last) => last.terms.get(&Atom::Iter(iter)).is_some_and(|by| by.abs() == 1),
        Subscript::Data(_) => false,
    };
    match (outer.iter().any(uses), uses(last)) {
        (false, false) => 0,
        (false, true) if next => 1,
        _ => 8,
    }
}

/// How many entries all statements have in common before the first of the named loops.
fn shared_outside(plan: &Plan, statements: &[usize], names: &[&Word]) -> usize {
    let before = |position: &usize| {
        let entries = &plan.statements[*position].entries;
        let named =
            |entry: &Entry| entry.as_loop().is_some_and(|found| names.iter().any(|name| name.text == found.name));
        entries.iter().position(named).unwrap_or(entries.len())
    };
    let Some((first, others)) = statements.split_first() else { return 0 };
    let mut shared = before(first);
    for other in others {
        let same = plan.statements[*first].shared_with(&plan.statements[*other]);
        shared = shared.min(same).min(before(other));
    }
    shared
}

/// Other statements inside the loops to be rearranged would silently be left behind.
fn refuse_strangers(
    plan: &Plan,
    step: &Step,
    statements: &[usize],
    names: &[&Word],
    outer: &dyn Fn(usize) -> usize,
) -> Result<(), Box<Diagnostic>> {
    let others = plan.statements.iter().enumerate().filter(|(position, _)| !statements.contains(position));
    for (position, stranger) in others {
        for statement in statements {
            let entries = &plan.statements[*statement].entries;
            let shared = plan.statements[*statement].shared_with(stranger);
            let inside = entries.get(outer(*statement)..shared).unwrap_or(&[]).iter().filter_map(Entry::as_loop).next();
            if let Some(found) = inside {
                let span = names.iter().find(|name| name.text == found.name).map_or(step.span, |name| name.span);
                let this = &plan.statements[*statement];
                // Parts of one statement go by their own names.
                let parts = this.source == stranger.source;
                let (one, two) = if parts { (&this.name, &stranger.name) } else { (&this.source, &stranger.source) };
                let message = format!("loop `{}` also contains `{two}`", found.name);
                let (one, two) = if position < *statement { (two, one) } else { (one, two) };
                let help =
                    format!("name both statements, or separate them first: `fission {one}, {two} at {}`", found.name);
                return Err(Box::new(Diagnostic::error("E0513", span, message).help(help)));
            }
        }
    }
    Ok(())
}

/// Appends the loops of all parts, sharing them as far as all parts have them.
fn place(scop: &Scop, plan: &mut Plan, mut parts: Vec<Part>) {
    loop {
        if let [part] = parts.as_slice() {
            let entries = part.loops.iter().cloned().map(Entry::Loop);
            plan.statements[part.position].entries.extend(entries);
            return;
        }
        // The next loop is the outermost one left in the part that has most.
        let deepest = parts.iter().max_by_key(|part| part.loops.len());
        let Some(name) = deepest.and_then(|part| part.loops.first()).map(|found| found.name.clone()) else {
            // No loops left: one after the other.
            for (order, part) in parts.iter().enumerate() {
                plan.statements[part.position].entries.push(Entry::Position(order as i64));
            }
            return;
        };
        if parts.iter().all(|part| part.loops.first().is_some_and(|found| found.name == name)) {
            for part in &mut parts {
                plan.statements[part.position].entries.push(Entry::Loop(part.loops.remove(0)));
            }
            continue;
        }
        let inside = |part: &Part| part.loops.first().is_some_and(|found| found.name == name);
        let first = parts.iter().position(inside).unwrap_or(0);
        let last = parts.iter().rposition(inside).unwrap_or(0);
        let mut groups: [Vec<Part>; 3] = Default::default();
        for (order, part) in parts.into_iter().enumerate() {
            let init = matches!(scop.statements[part.position].kind, StatementKind::Init(_));
            let group = if inside(&part) {
                1
            } else if order < first || order < last && init {
                0
            } else {
                2
            };
            groups[group].push(part);
        }
        for (order, group) in groups.into_iter().enumerate() {
            for part in &group {
                plan.statements[part.position].entries.push(Entry::Position(order as i64));
            }
            if !group.is_empty() {
                place(scop, plan, group);
            }
        }
        return;
    }
}

fn loop_at<'a>(entries: &'a [Entry], name: &str) -> Option<(usize, &'a Loop)> {
    let mut loops = entries.iter().enumerate().filter_map(|(level, entry)| Some((level, entry.as_loop()?)));
    loops.find(|(_, found)| found.name == name)
}

/// The sizes behind `by`, one per loop; each at least 1.
fn sizes(step: &Step, loops: usize) -> Result<Vec<i64>, Box<Diagnostic>> {
    if let Some((size, span)) = step.by.iter().find(|(size, _)| *size < 1) {
        return Err(misuse(step, *span, format!("a size of {size} is not possible; sizes are at least 1")));
    }
    if step.by.len() != loops {
        let what =
            format!("`{}` of {loops} loops takes {loops} sizes behind `by`, {} given", step.verb.text, step.by.len());
        return Err(misuse(step, step.span, what));
    }
    Ok(step.by.iter().map(|(size, _)| *size).collect())
}

/// The names behind `as`, or the loops' own names with a suffix; all of them new.
fn new_names(plan: &Plan, step: &Step, loops: &[&Word], suffix: &str) -> Result<Vec<String>, Box<Diagnostic>> {
    if !step.names.is_empty() && step.names.len() != loops.len() {
        let what = format!("{} names are needed behind `as`, {} given", loops.len(), step.names.len());
        return Err(misuse(step, step.names[0].span, what));
    }
    let mut names: Vec<String> = Vec::new();
    for (position, found) in loops.iter().enumerate() {
        let (name, span) = match step.names.get(position) {
            Some(word) => (word.text.clone(), word.span),
            None => (format!("{}{suffix}", found.text), found.span),
        };
        let taken =
            plan.statements.iter().any(|statement| statement.loop_named(&name).is_some()) || names.contains(&name);
        if taken {
            return Err(misuse(step, span, format!("there is a loop `{name}` already; choose a name with `as`")));
        }
        names.push(name);
    }
    Ok(names)
}

/// The loop over pieces of `size` iterations.
fn pieces(step: &Step, found: &Loop, size: i64, name: &str) -> Result<Loop, Box<Diagnostic>> {
    let expr = found.expr.div(size).ok_or_else(|| overflow(step))?;
    Ok(Loop { name: name.to_string(), expr, kind: LoopKind::Serial })
}

pub(super) fn tile(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (statements, names) = select::all_loops(plan, step)?;
    let sizes = sizes(step, names.len())?;
    let tiles = new_names(plan, step, &names, "t")?;
    rearrange(scop, plan, step, &statements, &names, |entries| {
        let mut added = Vec::new();
        for ((name, size), tile) in names.iter().zip(&sizes).zip(&tiles) {
            if let Some((_, found)) = loop_at(entries, &name.text) {
                added.push(Entry::Loop(pieces(step, found, *size, tile)?));
            }
        }
        let first = names.iter().filter_map(|name| loop_at(entries, &name.text)).map(|(level, _)| level).min();
        let first = first.unwrap_or(entries.len());
        // Loops between the tiled ones end up inside; positions stay where they are.
        let rank = |entry: &Entry| names.iter().position(|name| entry.as_loop().is_some_and(|l| l.name == name.text));
        let are_loops = |one: &Entry, two: &Entry| one.as_loop().is_some() && two.as_loop().is_some();
        for nest in entries[first..].chunk_by_mut(are_loops) {
            nest.sort_by_key(|entry| rank(entry).unwrap_or(names.len()));
        }
        entries.splice(first..first, added);
        Ok(())
    })
}

/// `by` one size: the loop in pieces, with the pieces' loop where the loop was and the loop itself moved by `inner`.
fn cut(scop: &Scop, plan: &Plan, step: &Step, suffix: &str, kind: LoopKind, innermost: bool) -> Applied {
    let (statements, names) = select::all_loops(plan, step)?;
    let [name] = names.as_slice() else {
        return Err(misuse(step, step.span, format!("`{}` takes one loop", step.verb.text)));
    };
    let size = sizes(step, 1)?[0];
    let outer = new_names(plan, step, &names, suffix)?.remove(0);
    let change = |entries: &mut Vec<Entry>| {
        let Some((level, found)) = loop_at(entries, &name.text) else { return Ok(()) };
        let inner = Loop { kind: if kind == LoopKind::Serial { found.kind } else { kind }, ..found.clone() };
        let pieces = pieces(step, found, size, &outer)?;
        entries[level] = Entry::Loop(pieces);
        let at = if innermost { entries.len() } else { level + 1 };
        entries.insert(at, Entry::Loop(inner));
        Ok(())
    };
    if !innermost {
        return in_place(plan, step, &statements, &names, &change);
    }
    rearrange(scop, plan, step, &statements, &names, change)
}

pub(super) fn strip(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    cut(scop, plan, step, "o", LoopKind::Serial, false)
}

pub(super) fn jam(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    cut(scop, plan, step, "o", LoopKind::Unrolled, true)
}

pub(super) fn unroll(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    if step.by.is_empty() {
        mark(plan, step, LoopKind::Unrolled)
    } else {
        cut(scop, plan, step, "o", LoopKind::Unrolled, false)
    }
}

pub(super) fn vectorize(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    let lanes = sizes(step, 1)?[0];
    let lanes = u32::try_from(lanes).ok().filter(|lanes| *lanes <= 1024);
    let lanes = lanes.ok_or_else(|| misuse(step, step.by[0].1, "a vector has at most 1024 lanes"))?;
    cut(scop, plan, step, "o", LoopKind::Vector(lanes), false)
}

pub(super) fn parallel(_: &Scop, plan: &Plan, step: &Step) -> Applied {
    mark(plan, step, LoopKind::Parallel)
}

/// Changes the kind of a loop in all statements that share it.
fn mark(plan: &Plan, step: &Step, kind: LoopKind) -> Applied {
    let (statements, names) = select::all_loops(plan, step)?;
    let mut result = plan.clone();
    for position in statements {
        for name in &names {
            let Some((level, _)) = plan.statements[position].loop_named(&name.text) else { continue };
            for (other, statement) in plan.statements.iter().enumerate() {
                if plan.statements[position].shared_with(statement) <= level {
                    continue;
                }
                if let Entry::Loop(found) = &mut result.statements[other].entries[level] {
                    found.kind = kind;
                }
            }
        }
    }
    Ok(result)
}

pub(super) fn interchange(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (statements, names) = select::all_loops(plan, step)?;
    let [one, two] = names.as_slice() else {
        return Err(misuse(step, step.span, "`interchange` takes two loops"));
    };
    // A part that has only one of the two keeps its loops.
    rearrange(scop, plan, step, &statements, &names, |entries| {
        let level = |name: &str| loop_at(entries, name).map(|(level, _)| level);
        if let (Some(one), Some(two)) = (level(&one.text), level(&two.text)) {
            entries.swap(one, two);
        }
        Ok(())
    })
}

pub(super) fn reorder(scop: &Scop, plan: &Plan, step: &Step) -> Applied {
    let (statements, names) = select::all_loops(plan, step)?;
    // The named loops take each other's places; the others stay where they are.
    rearrange(scop, plan, step, &statements, &names, |entries| {
        let found = names.iter().filter_map(|name| loop_at(entries, &name.text));
        let (mut levels, wanted): (Vec<usize>, Vec<Loop>) = found.map(|(level, found)| (level, found.clone())).unzip();
        levels.sort_unstable();
        for (level, found) in levels.into_iter().zip(wanted) {
            entries[level] = Entry::Loop(found);
        }
        Ok(())
    })
}
