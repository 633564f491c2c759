//! Random layouts, morphisms and schedules, small enough to enumerate.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses some of these")]

use std::collections::HashMap;

use farkas_layout::iter::{DomainId, Operation, Schedule, SplitKind, SwizzleKind};
use farkas_layout::morphism::{NestMorphism, TupleMorphism};
use farkas_layout::{Axis, Expr, Layout, Nested};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// A nesting of a flat tuple: parts of it become tuples.
pub(crate) fn nest<T: Clone + 'static>(leaves: Vec<T>, choices: &[bool]) -> Nested<T> {
    let mut top: Vec<Nested<T>> = Vec::new();
    for (position, leaf) in leaves.into_iter().enumerate() {
        let joins = choices.get(position).copied().unwrap_or(false);
        match top.last_mut() {
            Some(Nested::Tuple(group)) if joins => group.push(Nested::Leaf(leaf)),
            _ if joins => top.push(Nested::Tuple(vec![Nested::Leaf(leaf)])),
            _ => top.push(Nested::Leaf(leaf)),
        }
    }
    if top.len() == 1 && choices.first() == Some(&false) { top.remove(0) } else { Nested::Tuple(top) }
}

pub(crate) fn entries(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<i64>> {
    proptest::collection::vec(select(vec![1, 2, 2, 3, 4, 5, 6]), length)
}

pub(crate) fn nested(length: std::ops::Range<usize>) -> impl Strategy<Value = Nested<i64>> {
    (entries(length), proptest::collection::vec(any::<bool>(), 6)).prop_map(|(entries, joins)| nest(entries, &joins))
}

/// A morphism out of nowhere: some of the codomain is hit in any order, and some entries go to the basepoint.
pub(crate) fn tuple_morphism(basepoints: bool) -> impl Strategy<Value = TupleMorphism> {
    entries(0..5).prop_flat_map(move |codomain| morphism_into(codomain, basepoints))
}

pub(crate) fn morphism_into(codomain: Vec<i64>, basepoints: bool) -> impl Strategy<Value = TupleMorphism> {
    let positions = (1..=codomain.len()).collect::<Vec<_>>();
    let length = positions.len();
    let lost = if basepoints { 0..3 } else { 0..1 };
    (subsequence(positions, 0..=length).prop_shuffle(), entries(lost), any::<u64>()).prop_map(
        move |(targets, lost, seed)| {
            let mut arrows = targets.iter().map(|&target| (codomain[target - 1], target)).collect::<Vec<_>>();
            for (k, &entry) in lost.iter().enumerate() {
                let place = (seed >> (8 * k)) as usize % (arrows.len() + 1);
                arrows.insert(place, (entry, 0));
            }
            let (domain, map) = arrows.into_iter().unzip();
            TupleMorphism::new(domain, codomain.clone(), map).expect("built to be one")
        },
    )
}

/// Two morphisms that compose.
pub(crate) fn composable() -> impl Strategy<Value = (TupleMorphism, TupleMorphism)> {
    tuple_morphism(true).prop_flat_map(|g| {
        let into = morphism_into(g.domain().to_vec(), true);
        (into, Just(g))
    })
}

/// A morphism and one into its domain that has a complement.
pub(crate) fn divisible() -> impl Strategy<Value = (TupleMorphism, TupleMorphism)> {
    tuple_morphism(true).prop_flat_map(|f| {
        let into = morphism_into(f.domain().to_vec(), false);
        (Just(f), into)
    })
}

pub(crate) fn nest_morphism(basepoints: bool) -> impl Strategy<Value = NestMorphism> {
    (tuple_morphism(basepoints), proptest::collection::vec(any::<bool>(), 12)).prop_map(|(f, joins)| {
        let domain = nest(f.domain().to_vec(), &joins);
        let codomain = nest(f.codomain().to_vec(), &joins[6..]);
        NestMorphism::new(domain, codomain, f.map().to_vec()).expect("as the flat one")
    })
}

/// Any layout of small sizes.
pub(crate) fn layout() -> impl Strategy<Value = Layout> {
    (entries(0..5), proptest::collection::vec(any::<bool>(), 6)).prop_flat_map(|(shape, joins)| {
        let strides = select(vec![0i64, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24]);
        proptest::collection::vec(strides, shape.len()).prop_map(move |stride| {
            Layout::new(&nest(shape.clone(), &joins), &nest(stride, &joins)).expect("small and congruent")
        })
    })
}

/// A step of a random schedule; what does not apply is left out.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Split(usize, i64, bool),
    Merge(usize),
    Resize(usize, i64, i64),
    Swizzle(usize, bool),
    Swap(usize),
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..4usize, 1..7i64, any::<bool>()).prop_map(|(k, f, inner)| Step::Split(k, f, inner)),
        2 => (0..4usize).prop_map(Step::Merge),
        2 => (0..4usize, -3..3i64, -3..3i64).prop_map(|(k, l, r)| Step::Resize(k, l, r)),
        2 => (0..4usize, any::<bool>()).prop_map(|(k, xor)| Step::Swizzle(k, xor)),
        1 => (0..4usize).prop_map(Step::Swap),
    ];
    proptest::collection::vec(step, 1..7)
}

pub(crate) fn schedule(extents: &[i64], steps: &[Step]) -> Schedule {
    let names = ["i", "j", "k"];
    let axes = extents.iter().zip(names).map(|(&extent, name)| Axis::new(name, Expr::Const(extent)));
    let mut schedule = Schedule::new(axes);
    for step in steps {
        let loops = schedule.loops().to_vec();
        let at = |k: usize| loops[k % loops.len()];
        // Steps that do not apply are errors, and random scripts have some.
        let _ = match *step {
            Step::Split(k, factor, inner) => {
                schedule.split(at(k), factor, if inner { SplitKind::Inner } else { SplitKind::Outer }).map(drop)
            }
            Step::Merge(k) => schedule.merge(at(k), at(k + 1)).map(drop),
            Step::Resize(k, left, right) => schedule.resize(at(k), left, right).map(drop),
            Step::Swizzle(k, xor) => schedule
                .swizzle(if xor { SwizzleKind::Xor } else { SwizzleKind::CyclicShift }, at(k), at(k + 1))
                .map(drop),
            Step::Swap(k) => {
                let mut order = (0..loops.len()).collect::<Vec<_>>();
                order.swap(k % loops.len(), (k + 1) % loops.len());
                schedule.reorder(&order)
            }
        };
    }
    schedule
}

/// The items of a schedule: each root that stays in bounds, with its loops. Plain arithmetic, step by step.
pub(crate) fn items(schedule: &Schedule) -> Vec<(Vec<i64>, Vec<i64>)> {
    let extent = |domain: DomainId| schedule.extent(domain).constant().expect("a number");
    let roots = schedule.roots();
    let mut items = Vec::new();
    'points: for point in points(&roots.iter().map(|&root| extent(root)).collect::<Vec<_>>()) {
        let mut at = roots.iter().copied().zip(point.iter().copied()).collect::<HashMap<_, _>>();
        for step in schedule.steps() {
            let near = step.inputs.iter().map(|input| at[input]).collect::<Vec<_>>();
            let far = match step.operation {
                Operation::Split { .. } => {
                    let inner = extent(step.outputs[1]);
                    vec![near[0] / inner, near[0] % inner]
                }
                Operation::Merge => vec![near[0] * extent(step.inputs[1]) + near[1]],
                Operation::Resize { left, .. } => vec![near[0] + left],
                Operation::Swizzle(SwizzleKind::Xor) => vec![near[0], near[0] ^ near[1]],
                Operation::Swizzle(SwizzleKind::CyclicShift) => {
                    vec![near[0], (near[0] + near[1]) % extent(step.inputs[1])]
                }
            };
            for (&output, index) in step.outputs.iter().zip(far) {
                if index < 0 || index >= extent(output) {
                    continue 'points;
                }
                at.insert(output, index);
            }
        }
        items.push((point, schedule.loops().iter().map(|domain| at[domain]).collect()));
    }
    items
}

/// All points below the extents, the last coordinate fastest.
pub(crate) fn points(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut points = vec![Vec::new()];
    for &extent in extents {
        points =
            points.into_iter().flat_map(|point| (0..extent).map(move |next| [&point[..], &[next]].concat())).collect();
    }
    points
}
