//! Threads: of every nest, the outermost loop whose iterations have nothing to do with each other is parallel, and the next one if it
//! stands directly inside and is such a loop, too.
//!
//! Whether sharing it pays depends on sizes and is decided in every call. A loop around nothing but lanes stays whole: its iterations are
//! a few instructions, and together they are one vector loop.

use poly::{Branch, LoopId, LoopKind, Node, Subject, Tree};
use steps::{Loops, Step, Target, Verb, Word};

use super::Plan;
use super::grid::is_free;

/// Makes parallel loops of a plan's tree.
pub(crate) fn share(plan: &mut Plan) -> diag::Result<()> {
    let (subject, tree) = (std::rc::Rc::clone(&plan.state.subject), plan.state.tree.clone());
    let mut found = Vec::new();
    find(&subject, &tree, tree.root(), &mut found)?;
    let branches = tree.branches();
    for id in found {
        let name = &tree.info(id).name;
        let inside: Vec<&Branch> = branches.iter().filter(|branch| branch.level_of(id).is_some()).collect();
        // A loop is reached by its name, which another loop around the same statement may have as well.
        let reached = |branch: &&Branch| tree.loop_named(branch, name).is_some_and(|(_, found, _)| found == id);
        if inside.iter().all(reached) {
            let target = |branch: &&Branch| {
                let statement = subject.scop.at(branch.statement).name.clone();
                Target::Of(Word::new(statement), vec![Word::new(name.clone())])
            };
            let loops = Loops { targets: inside.iter().map(target).collect() };
            plan.take(Step::new(Verb::Parallel { loops }), "iterations have nothing to do with each other")?;
        }
    }
    Ok(())
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
