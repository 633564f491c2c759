//! Equations: arrays whose clauses refer to one another, so that their order is not that of the text.
//!
//! In: a function, and which arrays may be defined by equations.  Out: systems of arrays that refer to themselves or to
//! one another. A system counts as standing at the place of its last clause; what stands between its clauses must
//! not notice that, or it is part of the system too, or interrupts it.
//! Not here: whether clauses overlap and whether an order exists, which depends on sizes (`poly`, `interp`).

use crate::{ArrayId, Expr, ExprKind, Function, Node, Role, Subscript};

/// Arrays that refer to one another, and the places of their clauses in the function's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// Ascending.
    pub arrays: Vec<ArrayId>,
    /// Ascending; never empty.
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
    pub system: System,
    /// Where it stands in the function's body.
    pub place: usize,
    pub array: ArrayId,
    /// Whether it changes `array`, which a clause before it reads; otherwise it reads `array`, which the system defines.
    pub writes: bool,
}

/// What a function's arrays form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Systems {
    pub systems: Vec<System>,
    pub interrupted: Vec<Interruption>,
}

/// Whether equations may define an array: it has no value before, and all its assignments stand outside `for`.
pub fn may_have_equations(function: &Function, array: ArrayId) -> bool {
    fn assigns(nodes: &[Node], array: ArrayId) -> bool {
        nodes.iter().any(|node| match node {
            Node::For(node) => assigns(&node.body, array),
            Node::Assign(assign) => assign.target == array,
            Node::Scatter(scatter) => scatter.target == array,
        })
    }
    // Nor do updates, which change values, define any.
    let in_order = |node: &Node| !matches!(node, Node::Assign(_)) && assigns(std::slice::from_ref(node), array);
    matches!(function.array(array).role, Role::Local | Role::Out) && !function.body.iter().any(in_order)
}

/// Finds the systems among the arrays for which `eligible` holds, all of which may have equations.
pub fn find_systems(function: &Function, eligible: &dyn Fn(ArrayId) -> bool) -> Systems {
    let places: Vec<Place> = function.body.iter().map(Place::new).collect();
    let mut found: Vec<Vec<ArrayId>> = circles(function, &places, eligible);
    let mut interrupted = Vec::new();
    while let Some(step) = found.iter().enumerate().find_map(|(number, arrays)| {
        let system = System { arrays: arrays.clone(), clauses: clauses(&places, arrays) };
        interruption(&places, system).map(|interruption| (number, interruption))
    }) {
        let (number, interruption) = step;
        let joins = places[interruption.place].target.filter(|target| eligible(*target));
        let mut arrays = found.swap_remove(number);
        let Some(target) = joins else {
            interrupted.push(interruption);
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
    let systems = found.into_iter().map(|arrays| System { clauses: clauses(&places, &arrays), arrays });
    Systems { systems: systems.collect(), interrupted }
}

/// What one node of the body touches.
struct Place {
    /// The array that an assignment outside `for` defines.
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
        }
    }

    fn read(&mut self, expr: &Expr) {
        expr.visit(&mut |expr| {
            if let ExprKind::Load { array, .. } | ExprKind::Gather { array, .. } = &expr.kind {
                self.reads.push(*array);
            }
        });
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
