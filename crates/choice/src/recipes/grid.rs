//! Schedules for GPUs: products in blocks of threads, sums along rows and over everything in lanes that threads will be, and for all else
//! the outermost loops whose iterations have nothing to do with each other, and the next ones if they
//! stand directly inside. How the iterations of these become blocks and threads is the back end's business.

use std::rc::Rc;

use poly::{Allowance, Branch, LoopId, Node, Scop, Subject, Tree, Verdict, prove};
use steps::{Loops, Step, Target, Verb, Word};

use super::{Plan, contraction, vector};
use crate::candidates::{Chosen, own_order};
use crate::cost::Walk;

/// How much of the time a compilation may take is for products in blocks.
const PRODUCTS_SHARE: u32 = 3;
/// Lanes of a sum: as many threads as a block has.
const LANES: u32 = 256;
/// Terms of a sum over everything that one turn of a block adds up.
const PIECE: i64 = 4096;

/// A schedule for a GPU: products in blocks, if there are such; otherwise the chosen one, or one of the program's own orders if more statements
/// are in more parallel loops there. What is good for a cache, as to fuse steps of time, often leaves nothing to do at once.
pub fn spread(chosen: Chosen, allowed: Allowance) -> diag::Result<Chosen> {
    let subject = chosen.proven.subject();
    let share = allowed.part(PRODUCTS_SHARE);
    match subject.within(share, || products(subject)) {
        Ok(Some(found)) => return Ok(found),
        Ok(None) => {}
        Err(diag::Error::Budget { spent, .. }) => {
            tracing::warn!(spent_ms = spent.after.as_millis() as u64, "products in blocks are given up");
        }
        Err(error) => return Err(error),
    }
    let scop = &subject.scop;
    let mut trees = vec![(chosen.origin, chosen.proven.tree().clone())];
    if scop.equations.is_empty() {
        trees.push(("own order", own_order(scop, &scop.order)));
        trees.push(("as written", scop.order.clone()));
    }
    let mut marked = Vec::new();
    for (origin, tree) in trees {
        let mut plan = Plan::from_tree(subject, &tree, origin)?;
        let gain = mark(&mut plan)?;
        marked.push((gain, origin, plan));
    }
    // Equal gains keep their order.
    marked.sort_by_key(|(gain, ..)| std::cmp::Reverse(*gain));
    for (_, origin, plan) in marked.into_iter().filter(|(gain, ..)| *gain > 0) {
        if let Verdict::Legal(proven) = prove(&plan.state.subject, plan.state.tree)? {
            return Ok(Chosen { proven, origin, cost: None, steps: plan.steps, versions: Vec::new() });
        }
    }
    Ok(chosen)
}

/// The program's own order with its products in blocks; none if there is none, or it is not legal.
fn products(subject: &Rc<Subject>) -> diag::Result<Option<Chosen>> {
    let scop = &subject.scop;
    if !scop.equations.is_empty() {
        return Ok(None);
    }
    let origin = "own order, products in blocks";
    let Some((tree, found)) = contraction::set_apart(scop, &own_order(scop, &scop.order), contraction::Reach::Forall)
    else {
        return Ok(None);
    };
    // Where large tiles do not fit after all, small ones may.
    let sizes: &[bool] = if found.iter().any(|one| one.has_large_tiles(scop)) { &[true, false] } else { &[false] };
    for large in sizes {
        let mut plan = Plan::from_tree(subject, &tree, origin)?;
        let mut placed = true;
        for contraction in &found {
            placed = placed
                && if *large && contraction.has_large_tiles(scop) {
                    contraction.in_registers(&mut plan)?
                } else {
                    contraction.on_threads(&mut plan)?
                };
        }
        if !placed {
            continue;
        }
        mark(&mut plan)?;
        if let Verdict::Legal(proven) = prove(&plan.state.subject, plan.state.tree)? {
            return Ok(Some(Chosen { proven, origin, cost: None, steps: plan.steps, versions: Vec::new() }));
        }
    }
    Ok(None)
}

/// Marks the loops of a tree that run at once; returns how many statements are in how many of them.
fn mark(plan: &mut Plan) -> diag::Result<usize> {
    let subject = Rc::clone(&plan.state.subject);
    let tree = plan.state.tree.clone();
    let mut found = Vec::new();
    find(&subject, &tree, tree.root(), &mut found)?;
    for id in &found {
        parallel(plan, *id)?;
    }
    let around = |branch: &Branch| branch.loops().filter(|(_, id, _)| found.contains(id)).count();
    let mut gain: usize = tree.branches().iter().map(around).sum();
    for branch in tree.branches() {
        gain += usize::from(lanes(plan, &subject, &tree, &branch, &found)?);
    }
    Ok(gain)
}

/// A loop and those that share it, by the names of the statements in it.
fn parallel(plan: &mut Plan, id: LoopId) -> diag::Result<()> {
    let tree = plan.state.tree.clone();
    let scop = &Rc::clone(&plan.state.subject).scop;
    let name = tree.info(id).name.clone();
    let inside: Vec<Branch> = tree.branches().into_iter().filter(|branch| branch.level_of(id).is_some()).collect();
    // A loop is reached by its name, which another loop around the same statement may have as well.
    let reached = |branch: &Branch| tree.loop_named(branch, &name).is_some_and(|(_, found, _)| found == id);
    if inside.iter().all(reached) {
        let target = |branch: &Branch| {
            Target::Of(Word::new(scop.at(branch.statement).name.clone()), vec![Word::new(name.clone())])
        };
        let loops = Loops { targets: inside.iter().map(target).collect() };
        if plan.take(Step::new(Verb::Parallel { loops }), "")? {
            return Ok(());
        }
    }
    plan.state.tree.edit(id, |known| known.kind = poly::LoopKind::Parallel);
    plan.steps = None;
    Ok(())
}

/// Gives a sum along memory, whose result is a number or a row of them, lanes; and pieces that run at once where nothing around it does. Whether such pieces were made.
fn lanes(plan: &mut Plan, subject: &Subject, tree: &Tree, branch: &Branch, free: &[LoopId]) -> diag::Result<bool> {
    let scop = &subject.scop;
    let statement = scop.at(branch.statement);
    let Some((_, id, expr)) = branch.loops().next_back() else { return Ok(false) };
    let around = branch.loops().count() - 1;
    let marked = branch.loops().filter(|(_, id, _)| free.contains(id)).count();
    let reduced = &statement.iters[statement.kept..];
    let sums = statement.kind.is_update() && !statement.scatters() && vector::has_lanes(statement);
    if !sums || reduced.len() != 1 || expr.as_iter() != reduced.first().copied() || around > 1 || marked != around {
        return Ok(false);
    }
    let alone = tree.branches().iter().filter(|other| other.level_of(id).is_some()).count() == 1;
    let steps = Walk::new(tree, branch, statement).kinds_of_steps(statement, &[]);
    let near = steps.near > 0 && steps.far == 0;
    if !alone || !near || poly::may_carry(subject, tree, id)? || is_short(scop, branch) {
        return Ok(false);
    }
    let name = tree.info(id).name.clone();
    let over = |name: &str| Loops::of(statement.name.clone(), [name.to_owned()]);
    if around == 0 {
        let pieces = plan.fresh(&format!("{name}p"));
        let strip = Verb::Strip { loops: over(&name), size: PIECE, name: Some(Word::new(pieces.clone())) };
        if !plan.take(Step::new(strip), "blocks add up pieces, and one thread their sums")?
            || !plan.take(Step::new(Verb::Parallel { loops: over(&pieces) }), "")?
        {
            return Ok(false);
        }
    }
    let groups = Word::new(plan.fresh(&format!("{name}v")));
    let verb = Verb::Vectorize { loops: over(&name), lanes: LANES, name: Some(groups) };
    plan.take(Step::new(verb), "a thread for each lane, which read neighbours")?;
    Ok(around == 0)
}

/// Whether a sum has a number of terms that is known, and small.
fn is_short(scop: &Scop, branch: &Branch) -> bool {
    let statement = scop.at(branch.statement);
    let Some(iter) = statement.iters.last() else { return true };
    // The extent of what it walks along.
    let walked = statement.reads.iter().filter_map(|read| {
        let position = read.index.iter().position(|at| at.as_affine().and_then(|at| at.as_iter()) == Some(*iter))?;
        scop.array(read.array).shape.get(position)
    });
    walked.filter_map(|extent| extent.as_constant()).any(|extent| extent < i64::from(LANES))
}

fn find(subject: &Subject, tree: &Tree, node: &Node, found: &mut Vec<LoopId>) -> diag::Result<()> {
    match node {
        Node::Seq(nodes) | Node::Set(nodes) => {
            nodes.iter().try_for_each(|node| find(subject, tree, node, found))?;
        }
        Node::Only { body, .. } => find(subject, tree, body, found)?,
        Node::Leaf(_) => {}
        Node::Loop { id, .. } if tree.info(*id).kind.axis().is_some() => {}
        Node::Loop { id, body, .. } => {
            if !is_free(subject, tree, *id)? {
                return find(subject, tree, body, found);
            }
            found.push(*id);
            if let Node::Loop { id: inner, .. } = body.as_ref()
                && is_free(subject, tree, *inner)?
            {
                found.push(*inner);
            }
        }
    }
    Ok(())
}

/// Whether the iterations of a loop depend on each other in no way, not even by adding to one cell.
pub(super) fn is_free(subject: &Subject, tree: &Tree, id: LoopId) -> diag::Result<bool> {
    Ok(tree.info(id).kind == poly::LoopKind::Serial && !poly::may_meet(subject, tree, id)?)
}
