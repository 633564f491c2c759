//! Strips of lanes: a vector loop right inside the loop over its strips.

use program::{Affine, Atom};

use super::{LoopId, LoopKind, Node, Tree};

impl Tree {
    /// The loops over strips of a vector loop, which count in steps of its lanes what it counts, and have nothing else in them.
    pub(crate) fn strips(&self) -> Vec<LoopId> {
        let mut found = Vec::new();
        self.find_strips(&self.root, &mut found);
        found
    }

    fn find_strips(&self, node: &Node, found: &mut Vec<LoopId>) {
        match node {
            Node::Seq(nodes) | Node::Set(nodes) => nodes.iter().for_each(|node| self.find_strips(node, found)),
            Node::Only { body, .. } => self.find_strips(body, found),
            Node::Leaf(_) => {}
            Node::Loop { id, exprs: strips, body } => {
                if let Node::Loop { id: inner, exprs, .. } = body.as_ref()
                    && let (LoopKind::Serial, LoopKind::Vector(lanes)) = (self.info(*id).kind, self.info(*inner).kind)
                    && strips.len() == exprs.len()
                    && exprs.iter().all(|(own, expr)| strips.get(own).is_some_and(|over| counts(over, expr, lanes)))
                {
                    found.push(*id);
                }
                self.find_strips(body, found);
            }
        }
    }

    /// The tree without some loops, whose iterations run one after the other inside what is left. The others keep their ids.
    pub(crate) fn without(&self, ids: &[LoopId]) -> Tree {
        fn keep(node: &Node, ids: &[LoopId]) -> Node {
            let all = |nodes: &[Node]| nodes.iter().map(|node| keep(node, ids)).collect();
            match node {
                Node::Seq(nodes) => Node::Seq(all(nodes)),
                Node::Set(nodes) => Node::Set(all(nodes)),
                Node::Only { conds, body } => Node::Only { conds: conds.clone(), body: Box::new(keep(body, ids)) },
                Node::Leaf(statement) => Node::Leaf(*statement),
                Node::Loop { id, body, .. } if ids.contains(id) => keep(body, ids),
                Node::Loop { id, exprs, body } => {
                    Node::Loop { id: *id, exprs: exprs.clone(), body: Box::new(keep(body, ids)) }
                }
            }
        }
        Tree { root: keep(&self.root, ids), loops: self.loops.clone() }
    }
}

/// Whether `over` is `expr` divided by the lanes.
fn counts(over: &Affine, expr: &Affine, lanes: u32) -> bool {
    let [(Atom::Div(numerator, by), 1)] = over.terms.iter().map(|(atom, times)| (atom, *times)).collect::<Vec<_>>()[..]
    else {
        return false;
    };
    over.constant == 0 && *by == i64::from(lanes) && **numerator == *expr
}
