//! Parallel loops for GPUs: the outermost loops whose iterations have nothing to do with each other, and the next ones if they
//! stand directly inside. How their iterations become blocks and threads is the back end's business.

use poly::{LoopId, LoopKind, Node, Subject, Tree, Verdict, prove};

use crate::candidates::{Chosen, own_order};

/// A schedule with such loops: the chosen one, or one of the program's own orders if more statements are in more of them there. What
/// is good for a cache, as to fuse steps of time, often leaves nothing to do at once.
pub fn spread(chosen: Chosen) -> diag::Result<Chosen> {
    let subject = chosen.proven.subject();
    let scop = &subject.scop;
    let mut trees = vec![(chosen.origin, chosen.proven.tree().clone())];
    if scop.equations.is_empty() {
        trees.push(("own order", own_order(scop, &scop.order)));
        trees.push(("as written", scop.order.clone()));
    }
    let mut marked = Vec::new();
    for (origin, mut tree) in trees {
        let mut found = Vec::new();
        find(subject, &tree, tree.root(), &mut found)?;
        let around = |branch: &poly::Branch| branch.loops().filter(|(_, id, _)| found.contains(id)).count();
        let gain: usize = tree.branches().iter().map(around).sum();
        found.iter().for_each(|id| tree.edit(*id, |known| known.kind = LoopKind::Parallel));
        marked.push((gain, origin, tree));
    }
    // Equal gains keep their order.
    marked.sort_by_key(|(gain, ..)| std::cmp::Reverse(*gain));
    for (_, origin, tree) in marked.into_iter().filter(|(gain, ..)| *gain > 0) {
        if let Verdict::Legal(proven) = prove(subject, tree)? {
            return Ok(Chosen { proven, origin, steps: None });
        }
    }
    Ok(chosen)
}

fn find(subject: &Subject, tree: &Tree, node: &Node, found: &mut Vec<LoopId>) -> diag::Result<()> {
    match node {
        Node::Seq(nodes) | Node::Set(nodes) => {
            nodes.iter().try_for_each(|node| find(subject, tree, node, found))?;
        }
        Node::Only { body, .. } => find(subject, tree, body, found)?,
        Node::Leaf(_) => {}
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
fn is_free(subject: &Subject, tree: &Tree, id: LoopId) -> diag::Result<bool> {
    Ok(tree.info(id).kind == LoopKind::Serial && !poly::may_meet(subject, tree, id)?)
}
