//! Bridges: what two vocabularies both express is the same isl map.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod random;

use farkas_layout::bridge::{BitAxis, LinearLayout, graph_of, row_major, schedule_of_graph, schedule_of_layout};
use farkas_layout::graph::{CoordinateGraph, Dimension, DimensionKind, Edge};
use farkas_layout::iter::{Schedule, SplitKind};
use farkas_layout::transform::Params;
use farkas_layout::{Axis, ComposedLayout, Equivalence, Expr, Layout, Solver, Swizzle, Transform, Truth};
use proptest::prelude::*;
use random::{Step, points, schedule, steps};

/// From loops to the position in the row-major array of the roots.
fn address(schedule: &Schedule) -> Transform {
    let roots = schedule.roots_of_loops().unwrap();
    let mut index = Expr::Const(0);
    let mut size = 1;
    for (axis, root) in roots.outputs().iter().zip(roots.index()) {
        let extent = axis.extent.constant().unwrap();
        index = index.times(extent).add(root.clone());
        size *= extent;
    }
    Transform::new(roots.inputs().to_vec(), vec![Axis::new("x", Expr::Const(size))], vec![index]).unwrap()
}

fn same_map(solver: &Solver, a: &Transform, b: &Transform) -> bool {
    solver.map(a).unwrap().is_equal(&solver.map(b).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn divisible_schedules_are_layouts_and_graphs(
        extents in proptest::collection::vec(prop::sample::select(vec![2i64, 4, 6, 8, 12]), 1..3),
        steps in steps(),
    ) {
        let kept = steps.into_iter().filter(|step| matches!(step, Step::Split(..) | Step::Merge(_) | Step::Swap(_)));
        let schedule = schedule(&extents, &kept.collect::<Vec<_>>());
        let solver = Solver::new().unwrap();
        let divisible = schedule.full_predicate().unwrap().conditions.is_empty();
        match schedule.to_layout() {
            Ok(layout) => {
                let by_layout = layout.to_mode_transform().unwrap();
                prop_assert!(same_map(&solver, &by_layout, &address(&schedule)), "{}", schedule);
            }
            // A split may also cut a merge of discontiguous dimensions where no layout can follow.
            Err(error) => prop_assert!(!divisible || error.to_string().contains("divide"), "{}: {}", schedule, error),
        }
        prop_assert_eq!(graph_of(&schedule).is_ok(), divisible);
        let Ok(bridge) = graph_of(&schedule) else { return Ok(()) };
        let forward = bridge.graph.transform(&bridge.roots, &bridge.loops).unwrap();
        let same = solver.equivalent(&forward, &schedule.loops_of_roots().unwrap()).unwrap();
        prop_assert_eq!(same, Equivalence::Equal, "{}", &schedule);
        let again = schedule_of_graph(&bridge.graph, &bridge.roots, &bridge.loops).unwrap();
        let same = solver.equivalent(&again.loops_of_roots().unwrap(), &forward).unwrap();
        prop_assert_eq!(same, Equivalence::Equal);
    }
}

/// A compact layout is a schedule of splits and a reorder, and back.
#[test]
fn compact_layouts_are_schedules() {
    let solver = Solver::new().unwrap();
    for text in ["(4,8):(8,1)", "((2,3),4):((1,8),2)", "6:1", "(2,1,5):(5,0,1)"] {
        let layout: Layout = text.parse().unwrap();
        let schedule = schedule_of_layout(&layout).unwrap();
        // The rest of the root is one more loop, of extent 1.
        let mut modes =
            layout.flat_modes().iter().map(|m| Layout::leaf(m.shape, m.stride).unwrap()).collect::<Vec<_>>();
        modes.push(Layout::leaf(1, 0).unwrap());
        let with_rest = Layout::tuple(modes).unwrap();
        assert!(same_map(&solver, &with_rest.to_mode_transform().unwrap(), &address(&schedule)), "{text}: {schedule}");
        assert_eq!(schedule.to_layout().unwrap().normalise(), with_rest.normalise(), "{text}");
    }
    assert!(schedule_of_layout(&"(2,2):(1,4)".parse().unwrap()).is_err());
}

/// Flatten is the row-major layout.
#[test]
fn flatten_is_row_major() {
    let solver = Solver::new().unwrap();
    let sizes = [3, 4, 5];
    let mut graph = CoordinateGraph::new();
    let mut add =
        |name: &str, size| graph.add(Dimension::new(name, DimensionKind::User, Expr::Const(size), Expr::Const(1)));
    let inputs = [add("a", 3), add("b", 4), add("c", 5)];
    let flat = add("x", 60);
    graph.connect(Edge::Flatten, &inputs, &[flat]).unwrap();
    let layout = row_major(&sizes).unwrap();
    assert_eq!(layout.to_string(), "(3,4,5):(20,5,1)");
    let same = same_map(&solver, &graph.transform(&inputs, &[flat]).unwrap(), &layout.to_mode_transform().unwrap());
    assert!(same);
}

/// Indivisible schedules are neither.
#[test]
fn holes_have_no_layout() {
    let mut schedule = Schedule::new([Axis::new("i", Expr::Const(15))]);
    schedule.split(schedule.roots()[0], 6, SplitKind::Inner).unwrap();
    assert!(schedule.to_layout().unwrap_err().to_string().contains("does not divide 15"));
    assert!(graph_of(&schedule).is_err());
}

/// Swizzles are bijective isl maps and agree with their evaluation.
#[test]
fn swizzles_as_maps() {
    let solver = Solver::new().unwrap();
    for (bits, base, shift) in [(0, 0, 1), (1, 0, 1), (2, 0, 2), (2, 1, 3), (2, 0, -2), (1, 2, -3), (3, 0, 3)] {
        let swizzle = Swizzle::new(bits, base, shift).unwrap();
        let transform = swizzle.to_transform(0).unwrap();
        assert!(!matches!(solver.bijective(&transform).unwrap(), Truth::No(_)), "{swizzle}");
        for x in 0..1 << swizzle.width() {
            assert_eq!(transform.evaluate(&[x], &Params::new()).unwrap(), [swizzle.apply(x)], "{swizzle}");
            assert_eq!(swizzle.apply(swizzle.apply(x)), x);
        }
        let twice = transform.then(&transform).unwrap();
        let identity = Transform::identity(twice.inputs().to_vec());
        assert!(!matches!(solver.equivalent(&twice, &identity).unwrap(), Equivalence::Different(_)), "{swizzle}");
    }
}

fn bits(width: u32) -> Vec<BitAxis> {
    vec![BitAxis::new("b", width)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn matrices_compose_and_invert(
        a in proptest::collection::vec(0..64u64, 6),
        b in proptest::collection::vec(0..64u64, 6),
    ) {
        let a = LinearLayout::new(bits(6), bits(6), a).unwrap();
        let b = LinearLayout::new(bits(6), bits(6), b).unwrap();
        let both = a.then(&b).unwrap();
        prop_assert!((0..64).all(|x| both.apply(x) == b.apply(a.apply(x))));
        let image = (0..64).map(|x| a.apply(x)).collect::<std::collections::HashSet<_>>();
        prop_assert_eq!(image.len(), 1 << a.rank());
        match a.inverse() {
            Ok(inverse) => {
                prop_assert_eq!(inverse.then(&a).unwrap(), LinearLayout::identity(bits(6)).unwrap());
                prop_assert_eq!(a.then(&inverse).unwrap(), LinearLayout::identity(bits(6)).unwrap());
            }
            Err(_) => prop_assert!(!a.is_injective() && !a.is_surjective()),
        }
        let transform = a.to_transform().unwrap();
        for x in 0..64 {
            prop_assert_eq!(transform.evaluate(&[x], &Params::new()).unwrap()[0], a.apply(x as u64) as i64);
        }
    }

    #[test]
    fn swizzled_layouts_are_linear(
        (count, shift, base) in (0..3i64, 1..4i64, 0..3i64),
        negative in any::<bool>(),
        order in Just(vec![0usize, 1, 2]).prop_shuffle(),
    ) {
        let shift = if negative { -shift.max(count) } else { shift.max(count) };
        let swizzle = Swizzle::new(count, base, shift).unwrap();
        // Three modes of 4, 2 and 8, placed in any order.
        let shapes = [4, 2, 8];
        let mut strides = [0; 3];
        let mut stride = 1;
        for &k in &order {
            strides[k] = stride;
            stride *= shapes[k];
        }
        let layout = Layout::tuple((0..3).map(|k| Layout::leaf(shapes[k], strides[k]).unwrap())).unwrap();
        let composed = ComposedLayout { swizzle, offset: 0, layout };
        let linear = LinearLayout::of_swizzled(&composed).unwrap();
        prop_assert!((0..64).all(|x| linear.apply(x) as i64 == composed.at(x as i64).unwrap()));
        let again = linear.to_swizzled().unwrap();
        prop_assert!((0..64).all(|x| again.at(x).unwrap() == composed.at(x).unwrap()), "{} and {}", composed, again);
    }
}

/// A placement of registers, lanes and warps, as a matrix and as an isl map.
#[test]
fn register_lane_warp_placement() {
    let solver = Solver::new().unwrap();
    let inputs = vec![BitAxis::new("register", 2), BitAxis::new("lane", 3), BitAxis::new("warp", 1)];
    let outputs = vec![BitAxis::new("column", 3), BitAxis::new("row", 3)];
    // Lanes are swizzled into columns by the row that registers choose.
    let placement =
        LinearLayout::new(inputs, outputs, vec![0b001_001, 0b010_010, 0b000_001, 0b000_010, 0b000_100, 0b100_000]);
    let placement = placement.unwrap();
    let transform = placement.to_transform().unwrap();
    assert!(!matches!(solver.bijective(&transform).unwrap(), Truth::No(_)));
    for point in points(&[4, 8, 2]) {
        let x = point[0] | point[1] << 2 | point[2] << 5;
        let y = placement.apply(x as u64) as i64;
        assert_eq!(transform.evaluate(&point, &Params::new()).unwrap(), [y & 7, y >> 3]);
    }
    let back = placement.inverse().unwrap().to_transform().unwrap();
    let round = transform.then(&back).unwrap();
    let identity = Transform::identity(round.inputs().to_vec());
    assert!(!matches!(solver.equivalent(&round, &identity).unwrap(), Equivalence::Different(_)));
    assert!(LinearLayout::of_layout(&"(2,3):(1,2)".parse().unwrap()).is_err());
    assert!(LinearLayout::of_layout(&"(2,2):(1,1)".parse().unwrap()).is_err());
}
