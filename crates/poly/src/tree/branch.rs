//! Branches: a tree leaf by leaf, each with everything above it. This is the form in which trees are edited.

use std::collections::BTreeMap;

use program::{Affine, Cond, IterId};

use super::{Loop, LoopId, Node, StatementId, Tree};

/// One leaf, with the way to it from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The statement at its end.
    pub statement: StatementId,
    /// From the outside in.
    pub entries: Vec<Entry>,
}

/// One step of the way from the top to a leaf.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A place in a sequence.
    Place(i64),
    /// A child of a set: different children have no order.
    Free(i64),
    /// A loop, and the iteration of it in which an instance runs.
    Loop(LoopId, Affine),
    /// Only these instances go on.
    Only(Cond),
}

impl Entry {
    /// The loop that it is.
    pub fn as_loop(&self) -> Option<(LoopId, &Affine)> {
        match self {
            Entry::Loop(id, expr) => Some((*id, expr)),
            Entry::Place(_) | Entry::Free(_) | Entry::Only(_) => None,
        }
    }

    /// Whether two entries, with the same ones in front of them, are the same place of the tree.
    pub fn is_same_place(&self, other: &Entry) -> bool {
        match (self, other) {
            (Entry::Place(one), Entry::Place(two)) | (Entry::Free(one), Entry::Free(two)) => one == two,
            (Entry::Loop(one, _), Entry::Loop(two, _)) => one == two,
            (Entry::Only(_), Entry::Only(_)) => true,
            _ => false,
        }
    }
}

impl Branch {
    /// The loops around the leaf, outermost first, each with its level among the entries.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = (usize, LoopId, &Affine)> {
        self.entries.iter().enumerate().filter_map(|(level, entry)| {
            let (id, expr) = entry.as_loop()?;
            Some((level, id, expr))
        })
    }

    /// The level of a loop.
    pub fn level_of(&self, wanted: LoopId) -> Option<usize> {
        self.loops().find(|(_, id, _)| *id == wanted).map(|(level, ..)| level)
    }

    /// How many entries two branches have in common, counted from the outside.
    pub fn shared_with(&self, other: &Branch) -> usize {
        self.entries.iter().zip(&other.entries).take_while(|(one, two)| one.is_same_place(two)).count()
    }

    /// Whether an iterator occurs in one of its loops.
    pub fn counts(&self, iter: IterId) -> bool {
        self.loops().any(|(_, _, expr)| uses(expr, iter))
    }
}

/// Whether an iterator occurs in an expression.
pub(crate) fn uses(expr: &Affine, iter: IterId) -> bool {
    let mut found = false;
    expr.visit_iters(&mut |used| found |= used == iter);
    found
}

impl Tree {
    /// All branches, from left to right.
    pub fn branches(&self) -> Vec<Branch> {
        let mut found = Vec::new();
        collect(&self.root, &mut Vec::new(), &mut found);
        found
    }

    /// The loop of a branch that people call `name`, with its level; the innermost one, since a loop that statements share is called by all
    /// their names. One in which the statement has its place in a single iteration is a loop of others.
    pub fn loop_named<'a>(&self, branch: &'a Branch, name: &str) -> Option<(usize, LoopId, &'a Affine)> {
        branch.loops().rev().find(|(_, id, expr)| self.info(*id).is_called(name) && !expr.is_invariant())
    }

    /// A name by which all these branches reach a loop, if there is one.
    pub fn name_in(&self, branches: &[&Branch], id: LoopId) -> Option<&str> {
        let info = self.info(id);
        let reached = |name: &&String| {
            let mut found = branches.iter().map(|branch| self.loop_named(branch, name));
            found.all(|found| found.is_some_and(|(_, found, _)| found == id))
        };
        std::iter::once(&info.name).chain(&info.also).find(reached).map(String::as_str)
    }

    /// The same with sequences in place of sets.
    pub fn in_sequence(&self) -> Tree {
        let mut branches = self.branches();
        for entry in branches.iter_mut().flat_map(|branch| &mut branch.entries) {
            if let Entry::Free(place) = entry {
                *entry = Entry::Place(*place);
            }
        }
        Tree::grow(self.table(), branches)
    }

    /// The tree of branches, which are given from left to right. Neighbours share what their entries have in common from
    /// the outside; where they differ and no places tell their order, they follow each other as given.
    pub fn grow(loops: Vec<Loop>, branches: Vec<Branch>) -> Tree {
        let rests: Vec<Rest<'_>> =
            branches.iter().map(|branch| Rest { statement: branch.statement, entries: &branch.entries }).collect();
        let mut grower = Grower { old: &loops, loops: Vec::new() };
        let root = grower.node(rests);
        Tree { root, loops: grower.loops }
    }
}

/// What is behind a node on the way down.
enum Above<'a> {
    Place(i64),
    Free(i64),
    Loop(LoopId, &'a BTreeMap<StatementId, Affine>),
    Only(&'a BTreeMap<StatementId, Cond>),
}

fn collect<'a>(node: &'a Node, above: &mut Vec<Above<'a>>, found: &mut Vec<Branch>) {
    let (children, of_child): (Vec<&Node>, fn(i64) -> Above<'a>) = match node {
        Node::Leaf(statement) => {
            let entry = |above: &Above<'_>| match above {
                Above::Place(place) => Some(Entry::Place(*place)),
                Above::Free(place) => Some(Entry::Free(*place)),
                Above::Loop(id, exprs) => exprs.get(statement).map(|expr| Entry::Loop(*id, expr.clone())),
                Above::Only(conds) => Some(Entry::Only(conds.get(statement).cloned().unwrap_or(Cond::TRUE))),
            };
            let entries = above.iter().filter_map(entry).collect();
            found.push(Branch { statement: *statement, entries });
            return;
        }
        Node::Loop { id, exprs, body } => {
            above.push(Above::Loop(*id, exprs));
            collect(body, above, found);
            above.pop();
            return;
        }
        Node::Only { conds, body } => {
            above.push(Above::Only(conds));
            collect(body, above, found);
            above.pop();
            return;
        }
        Node::Seq(nodes) => (nodes.iter().collect(), Above::Place),
        Node::Set(nodes) => (nodes.iter().collect(), Above::Free),
    };
    for (place, child) in children.into_iter().enumerate() {
        above.push(of_child(place as i64));
        collect(child, above, found);
        above.pop();
    }
}

/// What is left of a branch below a place of the tree.
#[derive(Clone, Copy)]
struct Rest<'a> {
    statement: StatementId,
    entries: &'a [Entry],
}

impl Rest<'_> {
    fn below(self) -> Self {
        Rest { entries: self.entries.get(1..).unwrap_or(&[]), ..self }
    }
}

/// What neighbours must agree in to be under one node.
#[derive(Clone, Copy, PartialEq)]
enum Head {
    Place(i64),
    Free(i64),
    Loop(LoopId),
    Only,
    End,
}

fn head(rest: &Rest<'_>) -> Head {
    match rest.entries.first() {
        Some(Entry::Place(place)) => Head::Place(*place),
        Some(Entry::Free(place)) => Head::Free(*place),
        Some(Entry::Loop(id, _)) => Head::Loop(*id),
        Some(Entry::Only(_)) => Head::Only,
        None => Head::End,
    }
}

struct Grower<'a> {
    old: &'a [Loop],
    loops: Vec<Loop>,
}

impl Grower<'_> {
    fn node(&mut self, mut rests: Vec<Rest<'_>>) -> Node {
        if rests.iter().all(|rest| matches!(head(rest), Head::Place(_))) {
            rests.sort_by_key(|rest| match head(rest) {
                Head::Place(place) => place,
                _ => 0,
            });
        }
        let mut groups: Vec<(Head, Vec<Rest<'_>>)> = Vec::new();
        for rest in rests {
            let own = head(&rest);
            match groups.last_mut() {
                Some((known, group)) if *known == own && joins(own, group, &rest) => group.push(rest),
                _ => groups.push((own, vec![rest])),
            }
        }
        // Statements that end at one place have no order either.
        let free = groups.iter().all(|(head, _)| matches!(head, Head::Free(_) | Head::End));
        let mut nodes: Vec<Node> = groups.into_iter().map(|(head, group)| self.group(head, group)).collect();
        if nodes.len() == 1 {
            return nodes.remove(0);
        }
        if free && !nodes.is_empty() {
            return Node::Set(nodes);
        }
        // A sequence in a sequence is part of it.
        let flat = nodes.into_iter().flat_map(|node| match node {
            Node::Seq(inner) => inner,
            node => vec![node],
        });
        Node::Seq(flat.collect())
    }

    fn group(&mut self, head: Head, group: Vec<Rest<'_>>) -> Node {
        match head {
            Head::Place(_) | Head::Free(_) => self.node(group.into_iter().map(Rest::below).collect()),
            Head::End => Node::Leaf(group[0].statement),
            Head::Only => {
                let mut conds = BTreeMap::new();
                for rest in &group {
                    if let Some(Entry::Only(cond)) = rest.entries.first()
                        && !cond.is_true()
                    {
                        conds.insert(rest.statement, cond.clone());
                    }
                }
                let body = self.node(group.into_iter().map(Rest::below).collect());
                if conds.is_empty() { body } else { Node::Only { conds, body: Box::new(body) } }
            }
            Head::Loop(old) => {
                let mut exprs = BTreeMap::new();
                for rest in &group {
                    if let Some(Entry::Loop(_, expr)) = rest.entries.first() {
                        exprs.insert(rest.statement, expr.clone());
                    }
                }
                let id = LoopId(self.loops.len() as u32);
                self.loops.push(self.old.get(old.index()).cloned().unwrap_or_default());
                let body = self.node(group.into_iter().map(Rest::below).collect());
                Node::Loop { id, exprs, body: Box::new(body) }
            }
        }
    }
}

/// Whether a branch goes under the node of its neighbours. Halves of a statement that nothing else tells apart stay apart.
fn joins(head: Head, group: &[Rest<'_>], rest: &Rest<'_>) -> bool {
    match head {
        Head::Place(_) | Head::Free(_) => true,
        Head::End => false,
        Head::Only => group.iter().all(|other| other.statement != rest.statement),
        Head::Loop(_) => {
            let expr = |rest: &Rest<'_>| rest.entries.first().and_then(Entry::as_loop).map(|(_, expr)| expr.clone());
            group.iter().all(|other| other.statement != rest.statement || expr(other) == expr(rest))
        }
    }
}
