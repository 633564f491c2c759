//! The schedule tree: when each instance of each statement runs.
//!
//! In: the program's order, isl's proposal, a loaded file, or another tree and an edit.  Out: what the gate proves and the
//! generator turns into loops.
//! Plain data with typed ids. Two statements share a loop exactly where they are under the same [`LoopId`]; names are for
//! people, and several loops may have the same one. Trees are edited as [`Branch`]es, one per leaf, and grown again from
//! them ([`Tree::grow`]); a grown tree is always in one normal form.
//! Not here: whether a tree is legal (`prove`), which one is good.

mod branch;
mod even;
mod from_isl;
mod strips;
mod times;
mod to_isl;
mod uneven;

use std::collections::BTreeMap;

use loops::Axis;
use program::{Affine, Cond};

pub use branch::{Branch, Entry};
pub use even::is_box;
pub use from_isl::{Unread, from_isl};
pub use times::Naming;
pub(crate) use times::of_program;
pub use to_isl::Marks;
pub use uneven::uneven;

/// A statement of the Scop, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatementId(pub u32);

impl StatementId {
    /// Its position among the Scop's statements.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The statement at a position.
    pub fn new(position: usize) -> StatementId {
        StatementId(position as u32)
    }
}

/// A loop of one tree. Growing a tree numbers its loops anew, from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

impl LoopId {
    /// Its place in the table of loops.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How the iterations of a loop may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopKind {
    /// One after the other.
    #[default]
    Serial,
    /// In any order, also at once.
    Parallel,
    /// The same, and on a GPU there.
    Placed(Axis),
    /// All iterations, at most so many, in lockstep.
    Vector(u32),
    /// One after the other, as straight code.
    Unrolled,
}

impl LoopKind {
    /// Whether iterations may run in any order, also at once, on threads of their own.
    pub fn is_parallel(self) -> bool {
        matches!(self, LoopKind::Parallel | LoopKind::Placed(_))
    }

    /// Where iterations run on a GPU, if that is said.
    pub fn axis(self) -> Option<Axis> {
        match self {
            LoopKind::Placed(axis) => Some(axis),
            LoopKind::Serial | LoopKind::Parallel | LoopKind::Vector(_) | LoopKind::Unrolled => None,
        }
    }
}

/// What is known about a loop besides its place and its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loop {
    /// What people call it.
    pub name: String,
    /// What else they call it: the names of indices that other statements count with it.
    pub also: Vec<String>,
    /// How its iterations run.
    pub kind: LoopKind,
    /// Whether it is cut where the statements in it change, so that there are fewer conditions in it and more loops.
    pub separate: bool,
    /// Whether somebody has set it apart from its neighbours, which are then not put together again.
    pub apart: bool,
    /// How many iterations, from 0 on, an operation on domains has given it. There need not be instances in all of them; what matters is
    /// how often it counts before the loop around it goes on, when both are counted as one.
    pub extent: Option<Affine>,
    /// What isl has found out about it.
    pub band: Band,
}

/// The flags that isl's scheduler gives to loops. They are hints: nothing is proven by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// Whether it is in one band with the loop around it.
    pub inner: bool,
    /// Whether the loops of its band can be exchanged and tiled.
    pub permutable: bool,
    /// Whether its iterations depend on each other in no way.
    pub coincident: bool,
}

impl Loop {
    /// A loop of which no more is known than its name.
    pub fn named(name: impl Into<String>) -> Loop {
        Loop { name: name.into(), ..Loop::default() }
    }

    /// Whether people mean it by a name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.iter().any(|also| also == name)
    }
}

/// A place of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// One after the other.
    Seq(Vec<Node>),
    /// In no order.
    Set(Vec<Node>),
    /// For each statement inside, the iteration in which an instance runs.
    Loop {
        /// Which loop.
        id: LoopId,
        /// Over the statement's own iterators.
        exprs: BTreeMap<StatementId, Affine>,
        /// What runs in each iteration.
        body: Box<Node>,
    },
    /// Only the instances for which the conditions hold; statements without one keep all of theirs.
    Only {
        /// Over the statement's own iterators.
        conds: BTreeMap<StatementId, Cond>,
        /// What runs of them.
        body: Box<Node>,
    },
    /// The instances of a statement that have come this far.
    Leaf(StatementId),
}

/// A schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    root: Node,
    loops: Vec<Loop>,
}

impl Tree {
    /// The outermost node.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// What is known about a loop.
    pub fn info(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }

    /// All loops, from the top.
    pub fn loops(&self) -> impl Iterator<Item = (LoopId, &Loop)> {
        self.loops.iter().enumerate().map(|(position, found)| (LoopId(position as u32), found))
    }

    /// The table of loops, to be handed back to [`Tree::grow`] with edited branches.
    pub fn table(&self) -> Vec<Loop> {
        self.loops.clone()
    }

    /// Changes what is known about a loop, not what it does.
    pub fn edit(&mut self, id: LoopId, change: impl FnOnce(&mut Loop)) {
        change(&mut self.loops[id.index()]);
    }

    /// The loops that have no other loop inside.
    pub fn innermost(&self) -> Vec<LoopId> {
        let mut found = Vec::new();
        fn walk(node: &Node, found: &mut Vec<LoopId>) -> bool {
            match node {
                Node::Seq(nodes) | Node::Set(nodes) => nodes.iter().filter(|node| walk(node, found)).count() > 0,
                Node::Only { body, .. } => walk(body, found),
                Node::Leaf(_) => false,
                Node::Loop { id, body, .. } => {
                    if !walk(body, found) {
                        found.push(*id);
                    }
                    true
                }
            }
        }
        walk(&self.root, &mut found);
        found
    }
}
