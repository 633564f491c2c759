//! Threads: of every nest, the outermost loop whose iterations have nothing to do with each other is parallel, and the next one if it
//! stands directly inside and is such a loop, too. A nest without any is shared out by its outermost loop if iterations meet in sums only,
//! and these are numbers or rows of them: blocks of iterations then have partial results, of which there are few for the work that they take.
//!
//! Whether sharing it pays depends on sizes and is decided in every call. A loop around nothing but lanes stays whole: its iterations are
//! a few instructions, and together they are one vector loop.

use poly::{LoopId, LoopKind, Node, Subject, Tree};
use steps::{Loops, Step, Verb};

use super::Plan;
use super::grid::is_free;
use super::vector::targets;

/// Makes parallel loops of a plan's tree.
pub(crate) fn share(plan: &mut Plan) -> diag::Result<()> {
    let (subject, tree) = (std::rc::Rc::clone(&plan.state.subject), plan.state.tree.clone());
    let nests = match tree.root() {
        Node::Seq(nodes) | Node::Set(nodes) => nodes.as_slice(),
        node => std::slice::from_ref(node),
    };
    for nest in nests {
        let (mut found, mut why) = (Vec::new(), "iterations have nothing to do with each other");
        find(&subject, &tree, nest, &mut found)?;
        if found.is_empty() {
            found.extend(summing(&subject, &tree, nest)?);
            why = "iterations meet in sums only, of which blocks of them have a part each";
        }
        for targets in found.into_iter().filter_map(|id| targets(&subject.scop, &tree, id)) {
            plan.take(Step::new(Verb::Parallel { loops: Loops { targets } }), why)?;
        }
    }
    Ok(())
}

/// The outermost loop of a nest, if its iterations meet in sums only, and partial results are small.
fn summing(subject: &Subject, tree: &Tree, nest: &Node) -> diag::Result<Option<LoopId>> {
    let Node::Loop { id, body, .. } = nest else { return Ok(None) };
    let kinds = Kinds::inside(tree, body);
    let shared = kinds.parallel || !kinds.serial || tree.info(*id).kind != LoopKind::Serial;
    let branches = tree.branches();
    let mut inside = branches.iter().filter(|branch| branch.level_of(*id).is_some());
    let small = inside.all(|branch| {
        let statement = subject.scop.at(branch.statement);
        !statement.kind.is_update() || statement.write.index.len() <= 1
    });
    Ok((!shared && small && !poly::may_carry(subject, tree, *id)?).then_some(*id))
}

fn find(subject: &Subject, tree: &Tree, node: &Node, found: &mut Vec<LoopId>) -> diag::Result<()> {
    match node {
        Node::Seq(nodes) | Node::Set(nodes) => nodes.iter().try_for_each(|node| find(subject, tree, node, found)),
        Node::Only { body, .. } => find(subject, tree, body, found),
        Node::Leaf(_) => Ok(()),
        Node::Loop { id, body, .. } => {
            let kinds = Kinds::inside(tree, body);
            // Somebody has seen to this nest already, or there is nothing to share.
            if kinds.parallel || tree.info(*id).kind.is_parallel() || !kinds.serial {
                return Ok(());
            }
            if !is_free(subject, tree, *id)? {
                return find(subject, tree, body, found);
            }
            found.push(*id);
            // The two become one loop, which has enough iterations even if the outer one has few.
            if let Node::Loop { id: inner, body, .. } = body.as_ref()
                && Kinds::inside(tree, body).serial
                && is_free(subject, tree, *inner)?
            {
                found.push(*inner);
            }
            Ok(())
        }
    }
}

/// What loops there are inside of another one.
#[derive(Default)]
struct Kinds {
    /// One that is neither lanes nor a loop over lanes.
    serial: bool,
    parallel: bool,
}

impl Kinds {
    fn inside(tree: &Tree, node: &Node) -> Kinds {
        let mut kinds = Kinds::default();
        kinds.see(tree, node);
        kinds
    }

    fn see(&mut self, tree: &Tree, node: &Node) {
        match node {
            Node::Seq(nodes) | Node::Set(nodes) => nodes.iter().for_each(|node| self.see(tree, node)),
            Node::Only { body, .. } => self.see(tree, body),
            Node::Leaf(_) => {}
            Node::Loop { id, body, .. } => {
                let kind = tree.info(*id).kind;
                self.parallel |= kind.is_parallel();
                self.serial |= kind == LoopKind::Serial;
                self.see(tree, body);
            }
        }
    }
}
