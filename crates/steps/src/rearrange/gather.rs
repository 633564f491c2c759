//! Gathering: the parts of one source statement in one nest.
//!
//! A statement with reductions is written as nests that follow each other: inits with their updates, then the fini. Steps that
//! rearrange the loops of the whole statement put these nests together first: neighbours share loops from the outside, as far
//! as they count the same. What somebody has divided, or mapped, stays apart.

use poly::{Branch, Entry, Loop, Scop, Tree};

/// The tree with the parts of every source statement gathered.
pub fn gathered(scop: &Scop, tree: &Tree) -> Tree {
    let (loops, mut branches) = (tree.table(), tree.branches());
    let all: Vec<usize> = (0..branches.len()).collect();
    gather(scop, &loops, &mut branches, &all);
    Tree::grow(loops, branches)
}

/// Gathers those of the branches that are parts of one statement.
pub(super) fn gather(scop: &Scop, loops: &[Loop], branches: &mut [Branch], numbers: &[usize]) {
    for pair in numbers.windows(2) {
        let [one, two] = pair else { continue };
        let source = |number: usize| &scop.at(branches[number].statement).source;
        if two - one == 1 && source(*one) == source(*two) {
            join(loops, branches, *one, *two, numbers);
        }
    }
}

/// Moves the nest of `two` behind what is in the nest of `one`, its neighbour, if their loops are the same.
fn join(loops: &[Loop], branches: &mut [Branch], one: usize, two: usize, numbers: &[usize]) {
    let shared = branches[one].shared_with(&branches[two]);
    let (Some(Entry::Place(_)), Some(Entry::Place(_))) =
        (branches[one].entries.get(shared), branches[two].entries.get(shared))
    else {
        return;
    };
    let first = shared + 1;
    // Everything that stands at the place of `two` moves with it.
    let nest: Vec<usize> =
        (0..branches.len()).filter(|other| branches[*other].shared_with(&branches[two]) > shared).collect();
    if nest.iter().any(|number| !numbers.contains(number)) {
        return;
    }
    let same = |level: usize| {
        let (Some(Entry::Loop(id, expr)), Some(Entry::Loop(other, count))) =
            (branches[one].entries.get(level), branches[two].entries.get(level))
        else {
            return false;
        };
        let (found, joining) = (&loops[id.index()], &loops[other.index()]);
        let alike = found.name == joining.name && found.kind == joining.kind && expr == count;
        alike
            && !found.apart
            && !joining.apart
            && nest.iter().all(|number| branches[*number].level_of(*other).is_some())
    };
    let depth = (first..).take_while(|level| same(*level)).count();
    if depth == 0 {
        return;
    }
    let inside = first + depth;
    let leader = branches[one].clone();
    let members: Vec<usize> =
        (0..branches.len()).filter(|other| branches[*other].shared_with(&leader) >= inside).collect();
    let place = |number: &usize| match branches[*number].entries.get(inside) {
        Some(Entry::Place(place)) => Some(*place),
        _ => None,
    };
    let next = match members.iter().map(place).collect::<Option<Vec<i64>>>() {
        Some(places) => places.into_iter().max().unwrap_or(0) + 1,
        None => {
            members.iter().for_each(|number| branches[*number].entries.insert(inside, Entry::Place(0)));
            1
        }
    };
    for number in nest {
        let rest = branches[number].entries.split_off(inside);
        let outer = branches[number].entries.iter().zip(&leader.entries).map(|(own, leading)| match (own, leading) {
            (Entry::Loop(_, expr), Entry::Loop(id, _)) => Entry::Loop(*id, expr.clone()),
            (_, leading) => leading.clone(),
        });
        let outer: Vec<Entry> = outer.collect();
        branches[number].entries = outer;
        branches[number].entries.push(Entry::Place(next));
        branches[number].entries.extend(rest);
    }
}
