//! Equations: arrays whose clauses refer to one another, so that their order is not that of the text.
//!
//! In: a function, and which arrays may be defined by equations.  Out: systems of arrays that refer to themselves or to
//! one another. A system counts as standing at the place of its last clause; what stands between its clauses must
//! not notice that, or it is part of the system too, or interrupts it.
//! Not here: whether clauses overlap and whether an order exists, which depends on sizes (`poly`, `interp`).

use std::collections::BTreeSet;

use crate::{Array, ArrayId, Expr, ExprKind, Function, Node, Role, Subscript};

/// Arrays that refer to one another, and the places of their clauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// The way to the block in which they all stand: the places of the `for` loops around it, outermost first.
    pub block: Vec<usize>,
    /// Ascending.
    pub arrays: Vec<ArrayId>,
    /// Places in the block, ascending; never empty.
    pub clauses: Vec<usize>,
}

impl System {
    /// The place at which the system counts as standing.
    pub fn place(&self) -> usize {
        self.clauses.last().copied().unwrap_or(0)
    }
}

/// A statement between the clauses of a system that would notice if these moved to the place of the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interruption {
    /// Whose clauses it stands between.
    pub system: System,
    /// Where it stands in the block.
    pub place: usize,
    /// The array by which it would notice.
    pub array: ArrayId,
    /// Whether it changes `array`, which a clause before it reads; otherwise it reads `array`, which the system defines.
    pub writes: bool,
}

/// What a function's arrays form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Systems {
    /// Arrays that equations define together.
    pub systems: Vec<System>,
    /// Statements in the way of others.
    pub interrupted: Vec<Interruption>,
}

/// For each array, the block in which equations may define it, as the way there: a local or a result whose assignments
/// all stand in one block. Inside a `for` the array is defined anew in every iteration, so nothing outside may read it.
fn equation_blocks(function: &Function) -> Vec<Option<Vec<usize>>> {
    let mut uses: Vec<Uses> = function.arrays.iter().map(|_| Uses::default()).collect();
    note_uses(&function.body, &mut Vec::new(), &mut uses);
    let block = |(array, uses): (&Array, Uses)| {
        let block = uses.block.filter(|_| !uses.otherwise)?;
        let outermost = block.is_empty() && matches!(array.role, Role::Local | Role::Out);
        let inner = array.role == Role::Local && uses.read.iter().all(|read| read.starts_with(&block));
        (outermost || inner).then_some(block)
    };
    function.arrays.iter().zip(uses).map(block).collect()
}

/// Where an array is used.
#[derive(Default)]
struct Uses {
    /// The block of its first assignment.
    block: Option<Vec<usize>>,
    /// Whether other blocks assign it as well, or something updates it.
    otherwise: bool,
    /// The blocks that read it.
    read: Vec<Vec<usize>>,
}

fn note_uses(nodes: &[Node], block: &mut Vec<usize>, uses: &mut [Uses]) {
    for (place, node) in nodes.iter().enumerate() {
        if let Node::For(node) = node {
            block.push(place);
            note_uses(&node.body, block, uses);
            block.pop();
            continue;
        }
        let place = Place::new(node);
        for array in place.writes {
            let uses = &mut uses[array.index()];
            uses.otherwise |= !matches!(node, Node::Assign(_));
            uses.otherwise |= uses.block.get_or_insert_with(|| block.clone()) != block;
        }
        for array in place.reads {
            let read = &mut uses[array.index()].read;
            if read.last() != Some(block) {
                read.push(block.clone());
            }
        }
    }
}

/// The nodes of a block.
pub fn nodes_of<'a>(function: &'a Function, block: &[usize]) -> &'a [Node] {
    block.iter().fold(&function.body, |nodes, place| match nodes.get(*place) {
        Some(Node::For(node)) => &node.body,
        _ => nodes,
    })
}

/// Finds the systems among the arrays for which `eligible` holds.
pub fn find_systems(function: &Function, eligible: &dyn Fn(ArrayId) -> bool) -> Systems {
    let homes = equation_blocks(function);
    let blocks: BTreeSet<&Vec<usize>> = homes.iter().flatten().collect();
    let mut all = Systems::default();
    for block in blocks {
        let here = |array: ArrayId| homes[array.index()].as_ref() == Some(block) && eligible(array);
        find_in_block(function, block, &here, &mut all);
    }
    all
}

fn find_in_block(function: &Function, block: &[usize], eligible: &dyn Fn(ArrayId) -> bool, all: &mut Systems) {
    let places: Vec<Place> = nodes_of(function, block).iter().map(Place::new).collect();
    let system = |arrays: Vec<ArrayId>| System { block: block.to_vec(), clauses: clauses(&places, &arrays), arrays };
    let mut found: Vec<Vec<ArrayId>> = circles(function, &places, eligible);
    while let Some(step) = found.iter().enumerate().find_map(|(number, arrays)| {
        interruption(&places, system(arrays.clone())).map(|interruption| (number, interruption))
    }) {
        let (number, interruption) = step;
        let joins = places[interruption.place].target.filter(|target| eligible(*target));
        let mut arrays = found.swap_remove(number);
        let Some(target) = joins else {
            all.interrupted.push(interruption);
            continue;
        };
        // The whole system of the statement between joins, if it has one.
        match found.iter().position(|other| other.contains(&target)) {
            Some(other) => arrays.extend(found.swap_remove(other)),
            None => arrays.push(target),
        }
        arrays.sort();
        found.push(arrays);
    }
    found.sort();
    all.systems.extend(found.into_iter().map(system));
}

/// What one node of a block touches.
struct Place {
    /// The array that it defines, if it is an assignment of the block itself.
    target: Option<ArrayId>,
    /// Whether it reads its own target at other subscripts than those it writes.
    refers_to_itself: bool,
    writes: Vec<ArrayId>,
    reads: Vec<ArrayId>,
}

impl Place {
    fn new(node: &Node) -> Place {
        let mut place = Place { target: None, refers_to_itself: false, writes: Vec::new(), reads: Vec::new() };
        place.add(node);
        if let Node::Assign(assign) = node {
            place.target = Some(assign.target);
            assign.value.visit(&mut |expr| {
                place.refers_to_itself |= match &expr.kind {
                    ExprKind::Load { array, index } => *array == assign.target && *index != assign.index,
                    ExprKind::Gather { array, .. } => *array == assign.target,
                    _ => false,
                };
            });
        }
        place
    }

    fn add(&mut self, node: &Node) {
        match node {
            Node::For(node) => node.body.iter().for_each(|node| self.add(node)),
            Node::Assign(assign) => {
                self.writes.push(assign.target);
                self.read(&assign.value);
            }
            Node::Scatter(scatter) => {
                self.writes.push(scatter.target);
                self.reads.push(scatter.target);
                Subscript::data(&scatter.index).chain([&scatter.value]).for_each(|part| self.read(part));
            }
            Node::Each(each) => {
                let (mut read, mut written) = (Vec::new(), Vec::new());
                each.visit(&mut |expr| read.extend(expr.arrays()), &mut |array| written.push(array));
                // What it writes, it may leave as it was.
                self.reads.extend(read.into_iter().chain(written.iter().copied()));
                self.writes.extend(written);
            }
        }
    }

    fn read(&mut self, expr: &Expr) {
        self.reads.extend(expr.arrays());
    }
}

fn clauses(places: &[Place], arrays: &[ArrayId]) -> Vec<usize> {
    let of = |place: &Place| place.target.is_some_and(|target| arrays.contains(&target));
    places.iter().enumerate().filter(|(_, place)| of(place)).map(|(number, _)| number).collect()
}

/// The sets of arrays that refer to themselves or, directly or not, to each other.
fn circles(function: &Function, places: &[Place], eligible: &dyn Fn(ArrayId) -> bool) -> Vec<Vec<ArrayId>> {
    let mut refers: Vec<Vec<ArrayId>> = vec![Vec::new(); function.arrays.len()];
    for place in places {
        let Some(target) = place.target.filter(|target| eligible(*target)) else { continue };
        let others = place.reads.iter().filter(|read| eligible(**read));
        refers[target.index()].extend(others.filter(|read| **read != target || place.refers_to_itself));
    }
    let reachable: Vec<Vec<bool>> = (0..refers.len()).map(|start| reach(&refers, start)).collect();
    let mut circles: Vec<Vec<ArrayId>> = Vec::new();
    for array in function.array_ids().filter(|array| reachable[array.index()][array.index()]) {
        let together =
            |other: &ArrayId| reachable[array.index()][other.index()] && reachable[other.index()][array.index()];
        match circles.iter_mut().find(|circle| circle.first().is_some_and(together)) {
            Some(circle) => circle.push(array),
            None => circles.push(vec![array]),
        }
    }
    circles
}

/// Which arrays an array refers to, directly or not.
fn reach(refers: &[Vec<ArrayId>], start: usize) -> Vec<bool> {
    let mut reached = vec![false; refers.len()];
    let mut waiting = vec![start];
    while let Some(array) = waiting.pop() {
        for next in refers[array].iter().map(|next| next.index()) {
            if !reached[next] {
                reached[next] = true;
                waiting.push(next);
            }
        }
    }
    reached
}

/// The first statement between the clauses that would notice their moving.
fn interruption(places: &[Place], system: System) -> Option<Interruption> {
    let (first, last) = (*system.clauses.first()?, system.place());
    let mut read_before: Vec<ArrayId> = Vec::new();
    for (number, place) in places.iter().enumerate().take(last).skip(first) {
        if system.clauses.contains(&number) {
            read_before.extend(&place.reads);
            continue;
        }
        let read = place.reads.iter().find(|read| system.arrays.contains(read)).map(|array| (*array, false));
        let written = place.writes.iter().find(|array| read_before.contains(array)).map(|array| (*array, true));
        if let Some((array, writes)) = read.or(written) {
            return Some(Interruption { system, place: number, array, writes });
        }
    }
    None
}
