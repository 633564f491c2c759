//! The theorems of the IterDomain algebra: by isl for symbolic extents and a range of literal factors, by enumeration
//! for small symbolic factors.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod random;

use std::collections::HashSet;

use farkas_layout::iter::{
    Access, Consumer, Fill, Reduction, Requirement, Schedule, SplitKind, Strided, SwizzleKind, requirement,
    vector_access,
};
use farkas_layout::transform::Params;
use farkas_layout::{Axis, Equivalence, Expr, Solver, Transform, Truth};
use proptest::prelude::*;
use random::{items, points, schedule, steps};

fn n() -> Expr {
    Expr::param("N")
}

fn one(extent: Expr) -> Schedule {
    Schedule::new([Axis::new("i", extent)])
}

/// Two nested splits: of the outer part by the second factor, or of the inner part by the first.
fn two_splits([a, b]: [i64; 2], of_outer: bool) -> Transform {
    let mut schedule = one(n());
    let root = schedule.roots()[0];
    if of_outer {
        let [outer, _] = schedule.split(root, a, SplitKind::Inner).unwrap();
        schedule.split(outer, b, SplitKind::Inner).unwrap();
    } else {
        let [_, inner] = schedule.split(root, a * b, SplitKind::Inner).unwrap();
        schedule.split(inner, a, SplitKind::Inner).unwrap();
    }
    schedule.loops_of_roots().unwrap()
}

/// Splitting by a and the outer part by b is splitting by ab and the inner part by a, extents included.
#[test]
fn split_split() {
    let solver = Solver::new().unwrap();
    for a in 1..7 {
        for b in 1..7 {
            let same = solver.equivalent(&two_splits([a, b], true), &two_splits([a, b], false)).unwrap();
            assert_eq!(same, Equivalence::Equal, "by {a} and {b}");
        }
    }
    let other = solver.equivalent(&two_splits([2, 3], true), &two_splits([3, 2], true)).unwrap();
    assert!(matches!(other, Equivalence::Different(_)), "{other}");
}

/// An indivisible split is a resize to the next multiple and a divisible split.
#[test]
fn resize_then_divisible_split() {
    let solver = Solver::new().unwrap();
    for factor in 2..9 {
        let mut indivisible = one(n());
        indivisible.split(indivisible.roots()[0], factor, SplitKind::Inner).unwrap();
        let padded = Axis::new("r", n().ceil_div(factor).times(factor));
        let resize = Transform::new(vec![Axis::new("i", n())], vec![padded.clone()], vec![Expr::Input(0)]).unwrap();
        let mut divisible = Schedule::new([padded]);
        divisible.split(divisible.roots()[0], factor, SplitKind::Inner).unwrap();
        assert!(divisible.full_predicate().unwrap().conditions.is_empty());
        let both = resize.then(&divisible.loops_of_roots().unwrap()).unwrap();
        let same = solver.equivalent(&indivisible.loops_of_roots().unwrap(), &both).unwrap();
        assert_eq!(same, Equivalence::Equal, "by {factor}");
        for extent in 1..30 {
            let (mut split, mut resized) = (one(Expr::Const(extent)), one(Expr::Const(extent)));
            split.split(split.roots()[0], factor, SplitKind::Inner).unwrap();
            let pad = resized.resize(resized.roots()[0], 0, (extent + factor - 1) / factor * factor - extent).unwrap();
            resized.split(pad, factor, SplitKind::Inner).unwrap();
            let same = solver.equivalent(&split.loops_of_roots().unwrap(), &resized.loops_of_roots().unwrap()).unwrap();
            assert_eq!(same, Equivalence::Equal, "{extent} by {factor}");
        }
    }
}

/// Any integer: a coordinate below a free extent, shifted by a free parameter.
fn anything(position: usize) -> Expr {
    Expr::Input(position).sub(Expr::param("K"))
}

fn free_axes(count: usize) -> Vec<Axis> {
    (0..count).map(|k| Axis::new(format!("x{k}"), Expr::param("P"))).collect()
}

/// Theorem 1: for a split, input and inner in bounds imply outer in bounds. Without inner it is false.
#[test]
fn split_input_and_inner_imply_outer() {
    let solver = Solver::new().unwrap();
    for factor in 2..9 {
        let (outer, inner) = (anything(0), anything(1));
        let input = (outer.clone().times(factor).add(inner.clone()), n());
        let inner = (inner, Expr::Const(factor));
        let outer = (outer, n().ceil_div(factor));
        let holds = solver.implies(&free_axes(2), &[input.clone(), inner.clone()], &outer).unwrap();
        assert_eq!(holds, Truth::Yes);
        assert!(matches!(solver.implies(&free_axes(2), std::slice::from_ref(&input), &outer).unwrap(), Truth::No(_)));
        // Theorem 2: the converse holds if the split is divisible.
        let divisible = (input.0.clone(), n().times(factor));
        assert_eq!(
            solver.implies(&free_axes(2), &[(outer.0.clone(), n()), inner.clone()], &divisible).unwrap(),
            Truth::Yes
        );
        assert!(matches!(solver.implies(&free_axes(2), &[outer, inner], &input).unwrap(), Truth::No(_)));
    }
}

/// Theorem 3: for a merge, outer in bounds is the same as merged in bounds, and inner is always.
#[test]
fn merge_outer_is_merged() {
    let solver = Solver::new().unwrap();
    for size in 1..9 {
        let merged = (anything(0), n().times(size));
        let outer = (anything(0).div(Expr::Const(size)), n());
        let inner = (anything(0).modulo(Expr::Const(size)), Expr::Const(size));
        assert_eq!(solver.implies(&free_axes(1), std::slice::from_ref(&merged), &outer).unwrap(), Truth::Yes);
        assert_eq!(solver.implies(&free_axes(1), &[outer], &merged).unwrap(), Truth::Yes);
        assert_eq!(solver.implies(&free_axes(1), &[], &inner).unwrap(), Truth::Yes);
    }
}

/// Theorem 4: a resize that adds keeps its input's bounds, one that takes away gives them.
#[test]
fn resize_bounds() {
    let solver = Solver::new().unwrap();
    for (left, right) in [(0, 0), (2, 0), (0, 3), (1, 4), (-1, 0), (0, -2), (-3, -1), (2, -1)] {
        let input = (anything(0), n());
        let output = (anything(0).add(Expr::Const(left)), n().add(Expr::Const(left + right)));
        let keeps = solver.implies(&free_axes(1), std::slice::from_ref(&input), &output).unwrap();
        assert_eq!(keeps == Truth::Yes, left >= 0 && right >= 0, "{left} {right}");
        let gives = solver.implies(&free_axes(1), &[output], &input).unwrap();
        assert_eq!(gives == Truth::Yes, left <= 0 && right <= 0, "{left} {right}");
    }
}

/// Theorem 5: swizzles permute, so they keep bounds both ways.
#[test]
fn swizzles_are_bijections() {
    let solver = Solver::new().unwrap();
    for (kind, extents) in [
        (SwizzleKind::Xor, vec![(1, 1), (2, 2), (4, 4), (8, 8)]),
        (SwizzleKind::CyclicShift, vec![(1, 1), (2, 5), (5, 2), (6, 6), (7, 3)]),
    ] {
        for (x, y) in extents {
            let mut schedule = Schedule::new([Axis::new("x", Expr::Const(x)), Axis::new("y", Expr::Const(y))]);
            let &[a, b] = schedule.roots() else { unreachable!() };
            schedule.swizzle(kind, a, b).unwrap();
            let transform = schedule.loops_of_roots().unwrap();
            assert_eq!(solver.bijective(&transform).unwrap(), Truth::Yes, "{kind:?} {x} {y}");
            let back = transform.then(&schedule.roots_of_loops().unwrap()).unwrap();
            let identity = Transform::identity(transform.inputs().to_vec());
            assert_eq!(solver.equivalent(&back, &identity).unwrap(), Equivalence::Equal);
        }
    }
    let mut odd = Schedule::new([Axis::new("x", Expr::Const(6)), Axis::new("y", Expr::Const(6))]);
    let &[a, b] = odd.roots() else { unreachable!() };
    assert!(odd.swizzle(SwizzleKind::Xor, a, b).is_err());
}

/// A merge of an outer and an inner root and a split, in both orders.
fn merge_and_split(outer: Expr, inner: i64, factor: i64) -> [Schedule; 2] {
    let roots = || Schedule::new([Axis::new("o", outer.clone()), Axis::new("i", Expr::Const(inner))]);
    let mut merge_first = roots();
    let &[o, i] = merge_first.roots() else { unreachable!() };
    let merged = merge_first.merge(o, i).unwrap();
    merge_first.split(merged, factor, SplitKind::Inner).unwrap();
    let mut split_first = roots();
    let [io, _] = split_first.split(i, factor, SplitKind::Inner).unwrap();
    split_first.merge(o, io).unwrap();
    [merge_first, split_first]
}

/// Merge then split is split then merge iff the factor divides, over the whole loop domain.
#[test]
fn merge_split_is_split_merge_iff_divisible() {
    let solver = Solver::new().unwrap();
    for (inner, factor) in points(&[8, 8]).iter().map(|p| (p[0] + 1, p[1] + 1)) {
        let divisible = inner % factor == 0;
        let [a, b] = merge_and_split(n(), inner, factor);
        let same = solver.equivalent(&a.loops_of_roots().unwrap(), &b.loops_of_roots().unwrap()).unwrap();
        assert_eq!(same == Equivalence::Equal, divisible, "{inner} by {factor}: {same}");
        for outer in 1..4 {
            let [a, b] = merge_and_split(Expr::Const(outer), inner, factor);
            let same = solver.equivalent(&a.roots_of_loops().unwrap(), &b.roots_of_loops().unwrap()).unwrap();
            assert_eq!(same == Equivalence::Equal, divisible, "{outer}, {inner} by {factor}: {same}");
        }
        // On items alone, a single row is split alike by any factor.
        let [a, b] = merge_and_split(Expr::Const(1), inner, factor);
        let same = solver.equivalent(&a.loops_of_roots().unwrap(), &b.loops_of_roots().unwrap()).unwrap();
        assert_eq!(same, Equivalence::Equal, "one row of {inner} by {factor}");
    }
}

/// Identities of integer division, by isl for any a and literal divisors.
#[test]
fn division_identities() {
    let solver = Solver::new().unwrap();
    let always_equal = |a: Expr, b: Expr, what: &str| {
        // Equal iff the difference lies in 0..1.
        let holds = solver.implies(&free_axes(1), &[], &(a.sub(b), Expr::Const(1))).unwrap();
        assert_eq!(holds, Truth::Yes, "{what}");
    };
    let literal = Expr::Const;
    // The constructors fold some identities, so the plain forms are built by hand.
    let div = |a: Expr, b: i64| Expr::Div(Box::new(a), Box::new(Expr::Const(b)));
    let modulo = |a: Expr, b: i64| Expr::Mod(Box::new(a), Box::new(Expr::Const(b)));
    for b in 1..7 {
        for c in 1..7 {
            let a = anything(0);
            always_equal(div(div(a.clone(), b), c), div(a.clone(), b * c), "(a/b)/c = a/(bc)");
            let low_and_high = modulo(a.clone(), b).add(modulo(div(a.clone(), b), c).times(b));
            always_equal(modulo(a.clone(), b * c), low_and_high, "a mod bc");
            let ceil = |x: Expr, d: i64| div(x.add(literal(d - 1)), d);
            always_equal(ceil(ceil(a.clone(), b), c), ceil(a.clone(), b * c), "nested ceiling division");
            // i/d < D ⇔ i < D·d.
            let (quotient, whole) = ((div(a.clone(), b), n()), (a.clone(), n().times(b)));
            assert_eq!(solver.implies(&free_axes(1), std::slice::from_ref(&quotient), &whole).unwrap(), Truth::Yes);
            assert_eq!(solver.implies(&free_axes(1), &[whole], &quotient).unwrap(), Truth::Yes);
            // With g = gcd(k, c) for any multiple of k, and 0 ≤ r < g: (m + r) mod c = m mod c + r.
            let gcd = (1..=b).rev().find(|d| b % d == 0 && c % d == 0).unwrap();
            for r in 0..gcd {
                let m = a.clone().times(b);
                always_equal(
                    modulo(m.clone().add(literal(r)), c),
                    modulo(m, c).add(literal(r)),
                    "a remainder below the gcd",
                );
            }
        }
    }
}

/// The same with divisors that are not literals, by enumeration.
#[test]
fn division_identities_by_enumeration() {
    let mut tried = 0;
    for a in -60i64..60 {
        for b in 1..9 {
            for c in 1..9 {
                assert_eq!(a.div_euclid(b).div_euclid(c), a.div_euclid(b * c));
                assert_eq!(a.rem_euclid(b * c), a.rem_euclid(b) + a.div_euclid(b).rem_euclid(c) * b);
                assert_eq!(a.div_euclid(b) < c, a < c * b);
                tried += 1;
            }
        }
    }
    assert!(tried > 7000);
    // Split-split with the factors as parameters.
    let (a, b) = (Expr::param("a"), Expr::param("b"));
    let outer = Expr::Input(0).div(a.clone()).div(b.clone());
    let whole = Expr::Input(0).div(a.mul(b));
    for factor_a in 1..6 {
        for factor_b in 1..6 {
            let params = Params::from([("a".to_owned(), factor_a), ("b".to_owned(), factor_b)]);
            for i in 0..100 {
                assert_eq!(outer.evaluate(&[i], &params).unwrap(), whole.evaluate(&[i], &params).unwrap());
            }
        }
    }
}

/// Theorems 1 to 5, split-split, and resize with a divisible split, for every small extent and factor.
#[test]
fn theorems_by_enumeration() {
    let within = |index: i64, extent: i64| (0..extent).contains(&index);
    let ceil = |a: i64, b: i64| (a + b - 1).div_euclid(b);
    let around = |extent: i64| -4..extent + 5;
    for (n, f) in (0..14i64).flat_map(|n| (1..7).map(move |f| (n, f))) {
        let case = format!("{n} by {f}");
        for (o, i) in around(ceil(n, f)).flat_map(|o| around(f).map(move |i| (o, i))) {
            let (input, outer, inner) = (within(o * f + i, n), within(o, ceil(n, f)), within(i, f));
            assert!(!(input && inner) || outer, "theorem 1, {case}");
            assert!(n % f != 0 || !(outer && inner) || input, "theorem 2, {case}");
        }
        for m in around(n * f) {
            assert_eq!(within(m, n * f), within(m.div_euclid(f), n), "theorem 3, {case}");
            assert!(within(m.rem_euclid(f), f), "theorem 3, {case}");
        }
        for (l, r) in (-3..4i64).flat_map(|l| (-3..4).map(move |r| (l, r))) {
            for i in around(n) {
                let (input, output) = (within(i, n), within(i + l, n + l + r));
                assert!(l < 0 || r < 0 || !input || output, "theorem 4, {case}");
                assert!(l > 0 || r > 0 || !output || input, "theorem 4, {case}");
            }
        }
        for (x, y) in around(n).flat_map(|x| around(n).map(move |y| (x, y))).filter(|_| n > 0) {
            let shifted = (x + y).rem_euclid(n);
            assert!(within(shifted, n) && (!within(y, n) || (shifted - x).rem_euclid(n) == y), "theorem 5, {case}");
            if n & (n - 1) == 0 && within(x, n) && y >= 0 {
                assert_eq!(within(x ^ y, n), within(y, n), "theorem 5, {case}");
            }
        }
        let padded = ceil(n, f) * f;
        assert_eq!((padded / f, padded % f), (ceil(n, f), 0), "resize and divisible split, {case}");
        for g in 1..6 {
            assert_eq!(ceil(ceil(n, f), g), ceil(n, f * g), "split-split, extents of {case}");
            for i in 0..n {
                let twice = ((i / f) / g, (i / f) % g, i % f);
                assert_eq!(twice, (i / (f * g), i % (f * g) / f, i % (f * g) % f), "split-split, {case}");
            }
        }
    }
    for (a, c) in (1..13i64).flat_map(|a| (1..13).map(move |c| (a, c))) {
        let gcd = (1..=a).rev().find(|d| a % d == 0 && c % d == 0).unwrap();
        assert!((0..gcd).all(|b| (a + b) % c == a % c + b), "a remainder below the gcd of {a} and {c}");
    }
}

/// 15 items split by 6, then the 3 by 2 and the 6 by 4: the root's bound alone repeats items.
#[test]
fn three_indivisible_splits() {
    let mut schedule = one(Expr::Const(15));
    let [outer, inner] = schedule.split(schedule.roots()[0], 6, SplitKind::Inner).unwrap();
    schedule.split(outer, 2, SplitKind::Inner).unwrap();
    schedule.split(inner, 4, SplitKind::Inner).unwrap();
    let extents = schedule.loop_axes().iter().map(|axis| axis.extent.constant().unwrap()).collect::<Vec<_>>();
    assert_eq!(extents, [2, 2, 2, 4]);
    let full = schedule.full_predicate().unwrap();
    let names = |predicate: &farkas_layout::iter::Predicate| {
        predicate.conditions.iter().map(|condition| condition.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&full), ["i", "io", "ii"]);
    let minimal = schedule.minimal_predicate().unwrap();
    assert_eq!(names(&minimal), ["i", "ii"]);
    assert_eq!(minimal.to_string(), "0 <= (ioo*2 + ioi)*6 + (iio*4 + iii) < 15 and 0 <= iio*4 + iii < 6");
    let solver = Solver::new().unwrap();
    assert_eq!(schedule.confirm_minimal(&solver).unwrap(), Truth::Yes);

    let items = |conditions: &[farkas_layout::iter::Condition]| {
        let roots = schedule.roots_of_loops().unwrap();
        let mut items = Vec::new();
        for point in points(&extents) {
            let inside = conditions.iter().all(|condition| {
                let index = condition.index.evaluate(&point, &Params::new()).unwrap();
                index >= 0 && index < condition.extent.constant().unwrap()
            });
            if inside {
                items.push(roots.evaluate(&point, &Params::new()).unwrap()[0]);
            }
        }
        items.sort_unstable();
        items
    };
    let repeated = |items: &[i64]| items.windows(2).filter(|pair| pair[0] == pair[1]).map(|p| p[0]).collect::<Vec<_>>();
    assert_eq!(repeated(&items(&full.conditions[..1])), [6, 7, 12, 13]);
    assert_eq!(items(&minimal.conditions), (0..15).collect::<Vec<_>>());
    assert_eq!(schedule.count_holes(&solver).unwrap(), Some(32 - 15));
    let allocation = schedule.allocation(schedule.loops()).unwrap();
    assert_eq!((allocation.cells.constant(), allocation.holes(&Params::new()).unwrap()), (Some(32), Some(17)));
    let coarse = schedule.allocation(&[outer, inner]).unwrap();
    assert_eq!((coarse.cells.constant(), coarse.holes(&Params::new()).unwrap()), (Some(18), Some(3)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// The full predicate holds exactly on items, the minimal one wherever the full one does, and both ways between
    /// roots and loops lead from item to item.
    #[test]
    fn predicates_select_the_items(extents in proptest::collection::vec(1..14i64, 1..4), steps in steps()) {
        let schedule = schedule(&extents, &steps);
        prop_assume!(loop_extents(&schedule).iter().product::<i64>() <= 4000);
        check_items(&schedule)?;
    }
}

fn loop_extents(schedule: &Schedule) -> Vec<i64> {
    schedule.loop_axes().iter().map(|axis| axis.extent.constant().unwrap()).collect()
}

fn check_items(schedule: &Schedule) -> Result<(), TestCaseError> {
    let none = Params::new();
    let items = items(schedule);
    let (there, back) = (schedule.loops_of_roots().unwrap(), schedule.roots_of_loops().unwrap());
    let mut defined = 0;
    for root in points(&there.inputs().iter().map(|axis| axis.extent.constant().unwrap()).collect::<Vec<_>>()) {
        defined += usize::from(there.evaluate(&root, &none).is_ok());
    }
    prop_assert_eq!(defined, items.len(), "{}", schedule);
    for (root, point) in &items {
        prop_assert_eq!(&there.evaluate(root, &none).unwrap(), point, "{}", schedule);
        prop_assert_eq!(&back.evaluate(point, &none).unwrap(), root, "{}", schedule);
    }
    let cells = points(&loop_extents(schedule));
    let allocation = schedule.allocation(schedule.loops()).unwrap();
    if let Some(holes) = allocation.holes(&none).unwrap() {
        prop_assert_eq!(holes, (cells.len() - items.len()) as i64, "{}", schedule);
    }
    let items = items.into_iter().map(|(_, point)| point).collect::<HashSet<_>>();
    let (full, minimal) = (schedule.full_predicate().unwrap(), schedule.minimal_predicate().unwrap());
    for point in cells {
        let holds = |predicate: &farkas_layout::iter::Predicate| {
            predicate.conditions.iter().all(|condition| {
                let index = condition.index.evaluate(&point, &none).unwrap();
                index >= 0 && index < condition.extent.constant().unwrap()
            })
        };
        prop_assert_eq!(holds(&full), items.contains(&point), "{} at {:?}: {}", schedule, &point, &full);
        prop_assert_eq!(holds(&minimal), holds(&full), "{} at {:?}: {}, not {}", schedule, &point, &minimal, &full);
    }
    Ok(())
}

/// What random schedules found.
#[test]
fn items_of_odd_schedules() {
    use random::Step::{Merge, Resize, Split, Swizzle};
    for (extents, steps) in [
        // A cyclic shift is taken back modulo its extent, so what comes before it says nothing of what comes after.
        (vec![1], vec![Split(0, 2, false), Split(1, 2, false), Swizzle(0, false), Merge(1), Split(1, 3, false)]),
        // What a slice takes away does not come back by padding, nor into another row by merging.
        (vec![5], vec![Resize(0, -2, 0), Resize(0, 2, 0)]),
        (vec![3, 4], vec![Resize(1, -1, -1), Merge(0), Split(0, 3, true)]),
        (vec![6], vec![Resize(0, -4, 3), Split(0, 2, true), Swizzle(0, false)]),
        // Past its extent, an xor is past its extent.
        (vec![2, 2], vec![Swizzle(0, true), Merge(0), Split(0, 3, true), Resize(1, 0, -1)]),
        (vec![4], vec![Resize(0, -3, -1), Split(0, 2, true)]),
    ] {
        check_items(&schedule(&extents, &steps)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// isl says the same of the minimal predicate, counts the items, and finds the way back that the schedule knows.
    #[test]
    fn isl_confirms_schedules(extents in proptest::collection::vec(1..14i64, 1..3), steps in steps()) {
        let schedule = schedule(&extents, &steps);
        let solver = Solver::new().unwrap();
        prop_assert!(!matches!(schedule.confirm_minimal(&solver).unwrap(), Truth::No(_)), "{}", schedule);
        let smallest = schedule.smallest_predicate(&solver).unwrap();
        prop_assert!(!matches!(schedule.confirm(&smallest, &solver).unwrap(), Truth::No(_)), "{}", schedule);
        for position in 0..smallest.conditions.len() {
            let mut rest = smallest.clone();
            let condition = rest.conditions.remove(position);
            let needed = schedule.confirm(&rest, &solver).unwrap();
            prop_assert!(needed != Truth::Yes, "{} follows from the rest in {}", condition.name, schedule);
        }
        let forward = schedule.loops_of_roots().unwrap();
        prop_assert!(!matches!(solver.injective(&forward).unwrap(), Truth::No(_)), "{}", schedule);
        let items = items(&schedule);
        if let Ok(counted) = schedule.count_items(&solver) {
            prop_assert_eq!(counted, Some(items.len() as i64), "{}", schedule);
        }
        let back = solver.invert(&forward);
        if let Ok(back) = back {
            for (root, point) in items {
                prop_assert_eq!(back.evaluate(&point, &Params::new()).unwrap(), root, "{}: {}", schedule, back);
            }
        }
    }
}

/// Symbolic extents: the theorems drop what isl also finds implied, and a slice needs no guard.
#[test]
fn minimal_predicates_of_symbolic_extents() {
    let solver = Solver::new().unwrap();
    for (first, of_outer, of_inner) in [(6, 2, 4), (6, 2, 3), (8, 5, 4), (4, 4, 4), (7, 3, 2)] {
        let mut schedule = one(n());
        let [outer, inner] = schedule.split(schedule.roots()[0], first, SplitKind::Inner).unwrap();
        schedule.split(outer, of_outer, SplitKind::Inner).unwrap();
        schedule.split(inner, of_inner, SplitKind::Inner).unwrap();
        let minimal = schedule.minimal_predicate().unwrap();
        assert_eq!(minimal.conditions.len(), 1 + usize::from(first % of_inner != 0), "{minimal}");
        assert_eq!(schedule.confirm_minimal(&solver).unwrap(), Truth::Yes);
    }
    let mut slice = one(n());
    let inner = slice.resize(slice.roots()[0], -2, -3).unwrap();
    assert_eq!(slice.extent(inner).to_string(), "N - 5");
    assert!(slice.full_predicate().unwrap().conditions.is_empty());
    slice.split(inner, 4, SplitKind::Inner).unwrap();
    assert_eq!(slice.minimal_predicate().unwrap().to_string(), "0 <= iro*4 + iri < N - 5");
    let mut pad = one(n());
    pad.resize(pad.roots()[0], 1, 1).unwrap();
    assert_eq!(pad.full_predicate().unwrap().to_string(), "0 <= ir - 1 < N");
}

/// The inverse of a map that merges items is refused with an item.
#[test]
fn inverse_of_a_map_that_is_not_injective() {
    let solver = Solver::new().unwrap();
    let halves = Transform::new(
        vec![Axis::new("i", n())],
        vec![Axis::new("h", n().ceil_div(2))],
        vec![Expr::Input(0).div(Expr::Const(2))],
    )
    .unwrap();
    let error = solver.invert(&halves).unwrap_err().to_string();
    assert!(error.contains("not injective"), "{error}");
    assert_eq!(solver.surjective(&halves).unwrap(), Truth::Yes);
    assert!(solver.holes(&halves).unwrap().is_empty().unwrap());
}

/// A transform on one of several axes.
#[test]
fn embedding() {
    let solver = Solver::new().unwrap();
    let mut split = one(n());
    split.split(split.roots()[0], 4, SplitKind::Inner).unwrap();
    let axes = [Axis::new("a", Expr::param("M")), Axis::new("i", n())];
    let embedded = split.loops_of_roots().unwrap().embed(&axes, &[1]).unwrap();
    let mut direct = Schedule::new(axes);
    direct.split(direct.roots()[1], 4, SplitKind::Inner).unwrap();
    assert_eq!(solver.equivalent(&embedded, &direct.loops_of_roots().unwrap()).unwrap(), Equivalence::Equal);
}

/// What cannot be affine is refused by name, still evaluates, and is compared point by point.
#[test]
fn products_of_parameters_are_not_affine() {
    let solver = Solver::new().unwrap();
    let merged = |swapped: bool| {
        let mut schedule = Schedule::new([Axis::new("i", n()), Axis::new("j", Expr::param("M"))]);
        let &[i, j] = schedule.roots() else { unreachable!() };
        let ij = if swapped { schedule.merge(j, i) } else { schedule.merge(i, j) }.unwrap();
        (schedule, ij)
    };
    let (mut schedule, ij) = merged(false);
    let transform = schedule.loops_of_roots().unwrap();
    let error = solver.map(&transform).unwrap_err().to_string();
    assert!(error.contains("not quasi-affine: both factors of i*M may take many values"), "{error}");
    let params = Params::from([("N".to_owned(), 3), ("M".to_owned(), 5)]);
    assert_eq!(transform.evaluate(&[2, 4], &params).unwrap(), [14]);
    let error = solver.map(&schedule.roots_of_loops().unwrap()).unwrap_err().to_string();
    assert!(error.contains("N*M"), "{error}");
    // The same merge is not told apart from itself, but that is no proof; another one is.
    let same = solver.equivalent(&transform, &merged(false).0.loops_of_roots().unwrap()).unwrap();
    assert!(matches!(same, Equivalence::Unknown { same_up_to: Some(10..), .. }), "{same}");
    let other = solver.equivalent(&transform, &merged(true).0.loops_of_roots().unwrap()).unwrap();
    assert_eq!(other.to_string(), "different at [0, 1] for M = 2, N = 2");
    // Split-split holds after a merge of two parameters, as far as can be seen.
    let [outer, _] = schedule.split(ij, 2, SplitKind::Inner).unwrap();
    schedule.split(outer, 3, SplitKind::Inner).unwrap();
    let (mut by_six, ij) = merged(false);
    let [_, inner] = by_six.split(ij, 6, SplitKind::Inner).unwrap();
    by_six.split(inner, 2, SplitKind::Inner).unwrap();
    let same = solver.equivalent(&schedule.loops_of_roots().unwrap(), &by_six.loops_of_roots().unwrap()).unwrap();
    assert!(matches!(same, Equivalence::Unknown { same_up_to: Some(10..), .. }), "{same}");
}

/// An outer split of a parameter, and a merge of few rows of a symbolic length, are piecewise affine.
#[test]
fn few_rows_of_symbolic_length() {
    let solver = Solver::new().unwrap();
    let check = |schedule: &Schedule| {
        let (there, back) = (schedule.loops_of_roots().unwrap(), schedule.roots_of_loops().unwrap());
        let (there_map, back_map) = (solver.map(&there).unwrap(), solver.map(&back).unwrap());
        assert_eq!(solver.injective(&there).unwrap(), Truth::Yes, "{schedule}");
        assert!(there_map.clone().reverse().unwrap().is_subset(&back_map).unwrap(), "{schedule}");
        assert_eq!(schedule.confirm_minimal(&solver).unwrap(), Truth::Yes);
        let around = there.then(&back).unwrap();
        let identity = Transform::identity(around.inputs().to_vec());
        assert_eq!(solver.equivalent(&around, &identity).unwrap(), Equivalence::Equal, "{schedule}");
        // The map has the points that evaluation gives, at every small size.
        for size in 0..9 {
            let params = Params::from([("N".to_owned(), size)]);
            let extents = there.inputs().iter().map(|axis| axis.extent.evaluate(&[], &params).unwrap());
            for point in points(&extents.collect::<Vec<_>>()) {
                let loops = there.evaluate(&point, &params).unwrap();
                assert!(there_map.relates(&point, &loops, &params).unwrap(), "{schedule} at {point:?} for N = {size}");
            }
        }
    };
    for factor in 1..9 {
        let mut outer = one(n());
        let [_, inner] = outer.split(outer.roots()[0], factor, SplitKind::Outer).unwrap();
        check(&outer);
        outer.split(inner, 3, SplitKind::Inner).unwrap();
        check(&outer);
        let mut merge = Schedule::new([Axis::new("i", Expr::Const(factor)), Axis::new("j", n())]);
        let &[i, j] = merge.roots() else { unreachable!() };
        let merged = merge.merge(i, j).unwrap();
        check(&merge);
        merge.split(merged, 4, SplitKind::Inner).unwrap();
        check(&merge);
    }
    let mut many = one(n());
    many.split(many.roots()[0], 1000, SplitKind::Outer).unwrap();
    let error = solver.map(&many.roots_of_loops().unwrap()).unwrap_err().to_string();
    assert_eq!(error, "not quasi-affine: both factors of io*((N + 999)/1000) may take many values");
}

/// Leaving out a reduction's predicate needs holes filled with its neutral element.
#[test]
fn correctness_of_consumers() {
    assert_eq!(requirement(Consumer::Pointwise, true), Requirement::Weak);
    assert_eq!(requirement(Consumer::Reduce(Reduction::Sum), false), Requirement::Weak);
    for (reduction, fill) in [
        (Reduction::Sum, Fill::Zero),
        (Reduction::Product, Fill::One),
        (Reduction::Min, Fill::PositiveInfinity),
        (Reduction::Max, Fill::NegativeInfinity),
        (Reduction::Any, Fill::False),
        (Reduction::All, Fill::True),
    ] {
        assert_eq!(requirement(Consumer::Reduce(reduction), true), Requirement::Strong(fill));
    }
}

/// A merge may be split for vectors iff no vector crosses a jump.
#[test]
fn vector_access_of_merges() {
    for (rows, columns, pitch, factor) in points(&[4, 9, 12, 6]).iter().map(|p| (p[0] + 1, p[1] + 1, p[2], p[3] + 1)) {
        let pitch = columns + pitch;
        let address = |item: i64| item / columns * pitch + item % columns;
        let contiguous = (0..rows * columns / factor)
            .all(|vector| (1..factor).all(|k| address(vector * factor + k) == address(vector * factor) + k));
        let access =
            vector_access(Strided { extent: rows, stride: pitch }, Strided { extent: columns, stride: 1 }, factor);
        // A vector that would cross may not occur because there are too few items; then refusing is only careful.
        assert!(contiguous || !access.is_allowed(), "{rows}x{columns} pitch {pitch} by {factor}: {access}");
        if rows * columns % factor == 0 {
            assert_eq!(contiguous, access.is_allowed(), "{rows}x{columns} pitch {pitch} by {factor}: {access}");
        }
    }
    let strided = vector_access(Strided { extent: 2, stride: 8 }, Strided { extent: 4, stride: 2 }, 4);
    assert_eq!(strided, Access::InnerStride(2));
}
