//! Candidates: the schedules that are worth comparing, and the one that wins.

use std::rc::Rc;

use poly::{Allowance, Branch, Entry, Fusion, LoopId, LoopKind, Proven, Scop, Subject, Tree, Verdict, prove, uneven};
use program::{Cond, IterId};

use crate::cost::{Lanes, Walk, cost};
use crate::machine::Machine;
use crate::recipes::contraction::{self, Contraction, Reach};
use crate::recipes::factorisation::{self, Blocked};
use crate::recipes::{
    Plan, Reasoned, batches, interleave, pad, passes, push, rows, streamed, threads, time, turn, vector,
};
use crate::small::{self, Effort, Version};

/// How much of the time a compilation may take is for isl's scheduler; the rest must do for the program's own order.
const SCHEDULER_SHARE: u32 = 3;
/// How much of it recipes may take for one candidate.
const RECIPE_SHARE: u32 = 3;
/// More statements than so in one loop are not cut apart: each would be copied too often.
const MOST_SEPARATED: usize = 8;

/// The schedule that was chosen.
#[derive(Debug)]
pub struct Chosen {
    /// What the gate has made of it.
    pub proven: Proven,
    /// Who proposed it.
    pub origin: &'static str,
    /// What it was compared by, if it was; only the order of two costs of one program means something.
    pub cost: Option<u64>,
    /// The steps of recipes that make it, if there are any and they can be said.
    pub steps: Option<Vec<Reasoned>>,
    /// Others for some sizes, such as those that are too small for it; the first that is for given sizes counts.
    pub versions: Vec<Version>,
}

/// A schedule to compare.
pub(crate) struct Candidate {
    pub(crate) origin: &'static str,
    pub(crate) tree: Tree,
    pub(crate) cost: u64,
    /// The loops that recipes make vector loops of.
    pub(crate) vectors: Vec<LoopId>,
    /// The sums that recipes make tiles of.
    pub(crate) contractions: Vec<Contraction>,
    /// The steps that lead to the tree, where it is one of other statements than those of the program.
    pub(crate) start: Option<Plan>,
    pub(crate) effort: Effort,
}

/// Chooses a schedule: the cheapest candidate that is proven. `allowed` is what the whole choice may take. With a machine, recipes are
/// tried on it; without one, loops are only ordered. So many that are proven are `passed_over`, as long as there are others.
pub fn choose(
    subject: &Rc<Subject>,
    machine: Option<&Machine>,
    mut passed_over: usize,
    allowed: Allowance,
) -> diag::Result<Chosen> {
    let Proposals { plain, mut recipes } = proposals(subject, machine, allowed)?;
    let mut candidates = Vec::new();
    for (origin, tree) in &plain {
        candidates.push(candidate(subject, machine, origin, tree.clone(), Vec::new(), &[])?);
    }
    // Equal costs keep their order.
    recipes.append(&mut candidates);
    let mut candidates = recipes;
    candidates.sort_by_key(|candidate| candidate.cost);
    let mut unknown = None;
    let mut last = None;
    for candidate in candidates {
        let (origin, cost) = (candidate.origin, candidate.cost);
        tracing::debug!(
            origin,
            cost,
            vectors = candidate.vectors.len(),
            contractions = candidate.contractions.len(),
            "judging"
        );
        if let Some(machine) = machine {
            let share = allowed.part(RECIPE_SHARE);
            match subject.within(share, || with_recipes(subject, machine, &candidate)) {
                Ok(Some(chosen)) if passed_over == 0 => {
                    return with_versions(subject, machine, &plain, (candidate, chosen), allowed);
                }
                Ok(Some(chosen)) => {
                    passed_over -= 1;
                    last = Some(chosen);
                    continue;
                }
                Ok(None) => {}
                Err(diag::Error::Budget { spent, .. }) => {
                    tracing::warn!(spent_ms = spent.after.as_millis() as u64, origin, "recipes are given up");
                }
                Err(error) => return Err(error),
            }
        }
        // Without its tiles such a tree is of no use, and without the steps that lead to it another program has none.
        if !candidate.contractions.is_empty() || candidate.start.is_some() {
            continue;
        }
        match prove(subject, candidate.tree)? {
            Verdict::Legal(proven) => {
                let chosen = Chosen { proven, origin, cost: Some(cost), steps: None, versions: Vec::new() };
                if passed_over == 0 {
                    return Ok(chosen);
                }
                passed_over -= 1;
                last = Some(chosen);
            }
            Verdict::Illegal(violation) => tracing::debug!(origin, ?violation, "not legal"),
            Verdict::Unknown { spent } => unknown = unknown.or(Some(spent)),
        }
    }
    if let Some(last) = last {
        return Ok(last);
    }
    match unknown {
        Some(spent) => Err(diag::Error::Budget { stage: "legality", spent }),
        None => Err(diag::Error::bug("schedule", "no candidate is legal, not even the program's own order")),
    }
}

/// What was chosen, with what is better for some sizes beside it.
fn with_versions(
    subject: &Rc<Subject>,
    machine: &Machine,
    plain: &[(&'static str, Tree)],
    (candidate, chosen): (Candidate, Chosen),
    allowed: Allowance,
) -> diag::Result<Chosen> {
    let share = || allowed.part(RECIPE_SHARE);
    let given_up = |version: diag::Result<Option<Version>>| match version {
        Err(diag::Error::Budget { .. }) => Ok(None),
        version => version,
    };
    let streamed = given_up(subject.within(share(), || streamed_version(subject, machine, &candidate)))?;
    let beside = streamed.is_some();
    let small = given_up(subject.within(share(), || small::version(subject, plain, &candidate, beside, machine)))?;
    Ok(match streamed {
        // At all sizes.
        Some(Version { sizes, proven, steps }) if sizes == Cond::TRUE => {
            Chosen { proven, steps, versions: small.into_iter().collect(), ..chosen }
        }
        streamed => Chosen { versions: small.into_iter().chain(streamed).collect(), ..chosen },
    })
}

/// The same products with operands that are read where they are, for sizes at which that is better.
fn streamed_version(subject: &Rc<Subject>, machine: &Machine, candidate: &Candidate) -> diag::Result<Option<Version>> {
    let scop = &subject.scop;
    let same = |found: &Contraction| scop.statement(&found.statement).is_some();
    if candidate.start.is_some() || !candidate.contractions.iter().all(same) {
        return Ok(None);
    }
    let Some(sizes) = streamed::sizes(scop, &candidate.contractions, machine) else { return Ok(None) };
    // Where nothing is too small, all sizes have the same schedule.
    if sizes != Cond::TRUE && machine.small == 0 {
        return Ok(None);
    }
    let contractions = candidate.contractions.iter().map(Contraction::streamed).collect();
    let (tree, vectors) = (candidate.tree.clone(), candidate.vectors.clone());
    let found = Candidate { tree, vectors, contractions, start: None, ..*candidate };
    let chosen = with_recipes(subject, machine, &found)?;
    Ok(chosen.map(|Chosen { proven, steps, .. }| Version { sizes, proven, steps }))
}

/// What recipes make of a tree, if there is something to make and the gate lets it pass.
fn with_recipes(subject: &Rc<Subject>, machine: &Machine, candidate: &Candidate) -> diag::Result<Option<Chosen>> {
    let Candidate { origin, tree, cost, vectors, contractions, start, .. } = candidate;
    let is_plain = tree.loops().all(|(_, found)| found.kind == LoopKind::Serial);
    if vectors.is_empty() && contractions.is_empty() && is_plain && start.is_none() {
        return Ok(None);
    }
    let mut plan = match start {
        Some(start) => start.clone(),
        None => Plan::from_tree(subject, tree, origin)?,
    };
    vector::vectorize(&mut plan, vectors, machine)?;
    if !contraction::tile(&mut plan, contractions, machine)? {
        return Ok(None);
    }
    threads::share(&mut plan)?;
    match prove(&plan.state.subject, plan.state.tree)? {
        Verdict::Legal(proven) => {
            Ok(Some(Chosen { proven, origin, cost: Some(*cost), steps: plan.steps, versions: Vec::new() }))
        }
        Verdict::Illegal(violation) => {
            tracing::debug!(origin, ?violation, "recipes are not legal");
            Ok(None)
        }
        Verdict::Unknown { .. } => Ok(None),
    }
}

/// What there is to choose from.
struct Proposals {
    /// Orders of loops, and who proposes them.
    plain: Vec<(&'static str, Tree)>,
    /// What recipes make, beside vector loops.
    recipes: Vec<Candidate>,
}

fn proposals(subject: &Rc<Subject>, machine: Option<&Machine>, allowed: Allowance) -> diag::Result<Proposals> {
    let scop = &subject.scop;
    let mut trees: Vec<(&'static str, Tree)> = Vec::new();
    let mut recipes: Vec<Candidate> = Vec::new();
    // With nothing to fuse, a statement's own loops are all there is to order.
    let single = is_single(scop);
    if !single {
        let share = allowed.part(SCHEDULER_SHARE);
        match subject.within(share, || poly::propose(subject, Fusion::Most)) {
            Ok(Some(tree)) => trees.push(("isl", tree)),
            Ok(None) => tracing::debug!("isl proposes nothing"),
            Err(diag::Error::Budget { spent, .. }) => {
                tracing::warn!(spent_ms = spent.after.as_millis() as u64, "isl's scheduler is given up");
            }
            Err(error) => return Err(error),
        }
    }
    if scop.equations.is_empty() {
        let own = own_order(scop, &scop.order);
        if let Some(machine) = machine {
            let reaches = [
                ("own order, products in tiles", Reach::Forall),
                ("sums before results, products in tiles", Reach::Nest),
            ];
            for (origin, reach) in reaches {
                if let Some((tree, found)) = contraction::set_apart(scop, &own, reach) {
                    // Equal costs keep their order.
                    if let Some(tree) = batches::together(scop, &tree, &found).filter(|_| reach == Reach::Forall) {
                        let origin = "own order, products in tiles, batches together";
                        recipes.push(candidate(subject, Some(machine), origin, tree, found.clone(), &[])?);
                    }
                    recipes.push(candidate(subject, Some(machine), origin, tree, found, &[])?);
                }
            }
            let mut in_caches = None;
            if let Some(blocked) = factorisation::blocked(subject, machine)? {
                let blocked = in_blocks(blocked)?;
                in_caches = Some(blocked.cost);
                recipes.push(blocked);
            }
            if let Some((origin, tree, cached)) = sweeps(subject, &own, machine)? {
                let found = candidate(subject, Some(machine), origin, tree, Vec::new(), &cached)?;
                recipes.push(Candidate { effort: Effort::Sweeps, ..found });
            }
            let share = allowed.part(RECIPE_SHARE);
            match subject.within(share, || over_rows(subject, &own, machine)) {
                Ok(found) => recipes.extend(found),
                Err(diag::Error::Budget { .. }) => tracing::debug!("rows are given up"),
                Err(error) => return Err(error),
            }
            match subject.within(share, || rewritings(subject, machine, &own)) {
                Ok(mut found) => {
                    // The cost knows of no caches, through which such a candidate walks for every term, and blocks for every block.
                    if let Some(blocked) = in_caches {
                        found.iter_mut().for_each(|other| other.cost = other.cost.max(blocked + 1));
                    }
                    recipes.extend(found);
                }
                Err(diag::Error::Budget { .. }) => tracing::warn!("rewriting is given up"),
                Err(error) => return Err(error),
            }
        }
        trees.extend(sums_together(scop, &own).map(|tree| ("own order, sums together", tree)));
        trees.push(("own order", own));
        if single {
            trees.push(("as written", scop.order.clone()));
        }
    } else {
        // Equations have no order as written; the next best is to keep those apart that do not need each other.
        match poly::base_tree(subject) {
            Ok(tree) => trees.push(("own order", tree)),
            Err(error) if trees.is_empty() => return Err(error),
            Err(error) => tracing::debug!(%error, "equations have no order of their own"),
        }
    }
    Ok(Proposals { plain: trees, recipes })
}

/// What recipes for passes over the rows of matrices make of a tree.
fn over_rows(subject: &Subject, own: &Tree, machine: &Machine) -> diag::Result<Vec<Candidate>> {
    let scop = &subject.scop;
    let made = |origin, tree, cached: &[usize]| candidate(subject, Some(machine), origin, tree, Vec::new(), cached);
    let mut found = Vec::new();
    let together = passes::together(scop, own);
    let (start, cached) = together.as_ref().map_or((own, [].as_slice()), |(tree, cached)| (tree, cached));
    if let Some((tree, cached)) = rows::abreast(scop, start, cached)? {
        let origin = match together {
            Some(_) => "own order, passes together, several rows at a time",
            None => "own order, several rows at a time",
        };
        found.push(made(origin, tree, &cached)?);
    }
    if let Some((tree, cached)) = &together {
        found.push(made("own order, passes together", tree.clone(), cached)?);
    }
    Ok(found)
}

/// What recipes for repeated sweeps and for recurrences make of a tree, who proposes it, and the numbers of the branches that find their cells
/// in a cache; none if there is nothing to make.
fn sweeps(subject: &Subject, own: &Tree, machine: &Machine) -> diag::Result<Option<(&'static str, Tree, Vec<usize>)>> {
    let scop = &subject.scop;
    let in_tiles = time::tiles(scop, own, machine);
    let (tree, cached) = in_tiles.clone().unwrap_or_else(|| (own.clone(), Vec::new()));
    let rows = match interleave::rows(scop, &tree, &[]) {
        Some(_) => interleave::rows(scop, &tree, &vector::loops(subject, &tree)?),
        None => None,
    };
    Ok(match (in_tiles, rows) {
        (Some(_), Some(rows)) => Some(("own order, steps in tiles, rows side by side", rows, cached)),
        (Some((tiles, _)), None) => Some(("own order, steps in tiles", tiles, cached)),
        (None, Some(rows)) => Some(("own order, rows side by side", rows, cached)),
        (None, None) => None,
    })
}

/// Candidates for which the program itself is changed first.
fn rewritings(subject: &Rc<Subject>, machine: &Machine, own: &Tree) -> diag::Result<Vec<Candidate>> {
    let mut found = Vec::new();
    let start = Plan::new(subject);
    if let Some((before, tree)) = push::reductions(&start, own_order)? {
        let pushed = rewritten(&before, machine, ("own order, reductions pushed", tree, Vec::new()))?;
        found.push(Candidate { effort: Effort::Pushed, ..pushed });
    }
    if let Some(before) = turn::arrays(&start, own)? {
        let about = &before.state.subject;
        let own = own_order(&about.scop, &before.state.tree);
        let plain = ("own order, arrays turned", own.clone(), Vec::new());
        let swept = sweeps(about, &own, machine)?.unwrap_or(plain);
        found.push(rewritten(&before, machine, swept)?);
    }
    if let Some(before) = pad::rows(&start, own, machine)? {
        let own = own_order(&before.state.subject.scop, &before.state.tree);
        found.push(rewritten(&before, machine, ("own order, rows padded", own, Vec::new()))?);
    }
    Ok(found)
}

/// The candidate that a tree of a program is to which steps have led.
fn rewritten(
    before: &Plan,
    machine: &Machine,
    (origin, tree, cached): (&'static str, Tree, Vec<usize>),
) -> diag::Result<Candidate> {
    let about = &before.state.subject;
    let found = candidate(about, Some(machine), origin, tree, Vec::new(), &cached)?;
    let plan = Plan::from_tree(about, &found.tree, origin)?.behind(before);
    Ok(Candidate { start: Some(plan), ..found })
}

/// Whether the program is one statement, outside `for` loops.
fn is_single(scop: &Scop) -> bool {
    let statements = &scop.statements;
    statements.iter().all(|statement| statement.source == statements[0].source && statement.ordered == 0)
}

pub(crate) fn candidate(
    subject: &Subject,
    machine: Option<&Machine>,
    origin: &'static str,
    mut tree: Tree,
    contractions: Vec<Contraction>,
    cached: &[usize],
) -> diag::Result<Candidate> {
    let scop = &subject.scop;
    let uneven = uneven(scop, &tree)?;
    let innermost = tree.innermost();
    let branches = tree.branches();
    for (_, id) in &uneven {
        let inside = branches.iter().filter(|branch| branch.level_of(*id).is_some()).count();
        if innermost.contains(id) && inside <= MOST_SEPARATED {
            tree.edit(*id, |found| found.separate = true);
        }
    }
    let vectors = match machine {
        Some(_) => contraction::others(scop, &tree, vector::loops(subject, &tree)?, &contractions),
        None => Vec::new(),
    };
    let tiled: Vec<&str> = contractions.iter().map(|found| found.statement.as_str()).collect();
    let lanes = machine.map(|_| Lanes { vectors: &vectors, tiled: &tiled, rests: &[], cached });
    let cost = cost(scop, &tree, &uneven, lanes);
    tracing::debug!(origin, cost, tree = tree.to_text(scop), ?uneven, ?vectors, "candidate");
    let effort = if contractions.is_empty() { Effort::Vectors } else { Effort::Products };
    Ok(Candidate { origin, tree, cost, vectors, contractions, start: None, effort })
}

/// The candidate that a factorisation by blocks is.
fn in_blocks(blocked: Blocked) -> diag::Result<Candidate> {
    let Blocked { plan, products, rests } = blocked;
    let (subject, tree) = (Rc::clone(&plan.state.subject), plan.state.tree.clone());
    let scop = &subject.scop;
    let vectors = contraction::others(scop, &tree, vector::loops(&subject, &tree)?, &products);
    let tiled: Vec<&str> = products.iter().map(|found| found.statement.as_str()).collect();
    let lanes = Lanes { vectors: &vectors, tiled: &tiled, rests: &rests, cached: &[] };
    let cost = cost(scop, &tree, &uneven(scop, &tree)?, Some(lanes));
    let origin = "own order, factorised by blocks";
    tracing::debug!(origin, cost, tree = tree.to_text(scop), ?vectors, "candidate");
    let (start, effort) = (Some(plan), Effort::Blocks);
    Ok(Candidate { origin, tree, cost, vectors, contractions: products, start, effort })
}

/// The order in which the program is written, with every statement as one nest: init, update and fini of a reduction share the
/// loops that all of them have. Of the loops whose order is free, the one in which memory is walked most closely becomes the
/// innermost.
pub fn own_order(scop: &Scop, tree: &Tree) -> Tree {
    let gathered = steps::gathered(scop, tree);
    let (loops, mut branches) = (gathered.table(), gathered.branches());
    let mut start = 0;
    while start < branches.len() {
        let source = |number: usize| &scop.at(branches[number].statement).source;
        let end =
            (start..branches.len()).take_while(|number| source(*number) == source(start)).last().unwrap_or(start) + 1;
        let deepest = (start..end).max_by_key(|number| branches[*number].loops().count());
        if let Some(iter) = deepest.and_then(|number| closest_walk(scop, &branches[number])) {
            for branch in &mut branches[start..end] {
                move_innermost(scop, branch, iter);
            }
        }
        start = end;
    }
    Tree::grow(loops, branches)
}

/// The reductions of each statement in one loop, where they have loops of the same name in the same place: what they read is read
/// once. None if there are no such.
fn sums_together(scop: &Scop, tree: &Tree) -> Option<Tree> {
    let (loops, mut branches) = (tree.table(), tree.branches());
    let kind = |branch: &Branch| scop.at(branch.statement).kind;
    let mut found = false;
    for number in 0..branches.len() {
        if !kind(&branches[number]).is_update() {
            continue;
        }
        let leader = branches[number].clone();
        let source = &scop.at(leader.statement).source;
        let Some((level, id, _)) = leader.loops().next_back() else { continue };
        // Its loop stands at a place of a sequence, and so do those of the others.
        let Some(Entry::Place(_)) = level.checked_sub(1).and_then(|place| leader.entries.get(place)) else { continue };
        for other in number + 1..branches.len() {
            let branch = &branches[other];
            let Some((own_level, own, expr)) = branch.loops().next_back() else { continue };
            let alike = scop.at(branch.statement).source == *source
                && kind(branch).is_update()
                && own != id
                && own_level == level
                && branch.shared_with(&leader) == level - 1
                && loops[own.index()].name == loops[id.index()].name;
            if !alike {
                continue;
            }
            let joined = Entry::Loop(id, expr.clone());
            // Inits that stand between them go in front.
            for between in &mut branches[number + 1..other] {
                let init = matches!(kind(between), poly::StatementKind::Init(_));
                if init && between.shared_with(&leader) == level - 1 {
                    between.entries[level - 1] = Entry::Place(-1);
                }
            }
            branches[other].entries[level - 1] = leader.entries[level - 1].clone();
            branches[other].entries[level] = joined;
            found = true;
        }
    }
    if !found {
        return None;
    }
    // Those that share a loop now follow each other in it.
    let ends: Vec<usize> = (0..branches.len()).filter(|number| kind(&branches[*number]).is_update()).collect();
    for (order, number) in ends.into_iter().enumerate() {
        branches[number].entries.push(Entry::Place(order as i64));
    }
    Some(Tree::grow(loops, branches))
}

/// The iterator whose loop should be innermost, if that is clearly better than the loop that is.
fn closest_walk(scop: &Scop, branch: &Branch) -> Option<IterId> {
    let statement = scop.at(branch.statement);
    let cost = |iter: IterId| Walk::along(iter).steps(statement, &[]);
    let free = free_loops(scop, branch);
    let (_, last) = free.last()?;
    let (_, best) = free.iter().min_by_key(|(_, iter)| cost(*iter))?;
    (2 * cost(*best) <= cost(*last) && best != last).then_some(*best)
}

/// The loops whose order among each other is free: those right around the statement that count indices of its forall and of
/// its reductions, one each.
fn free_loops(scop: &Scop, branch: &Branch) -> Vec<(LoopId, IterId)> {
    let statement = scop.at(branch.statement);
    let free = &statement.iters[statement.ordered..];
    let mut found: Vec<(LoopId, IterId)> = Vec::new();
    for (_, id, expr) in branch.loops().rev() {
        match expr.as_iter().filter(|iter| free.contains(iter)) {
            Some(iter) => found.push((id, iter)),
            None => break,
        }
    }
    found.reverse();
    found
}

/// Moves the loop that counts `iter` behind the other free loops of a branch.
fn move_innermost(scop: &Scop, branch: &mut Branch, iter: IterId) {
    let free = free_loops(scop, branch);
    let Some((id, _)) = free.iter().find(|(_, own)| *own == iter) else { return };
    let Some(level) = branch.level_of(*id) else { return };
    let entry = branch.entries.remove(level);
    let last = branch.entries.iter().rposition(|entry| matches!(entry, Entry::Loop(..))).map_or(level, |last| last + 1);
    branch.entries.insert(last.max(level), entry);
}
