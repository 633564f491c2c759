//! Coordinate graphs: queries along paths, strides with their conditions, and what isl says of the edges.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod random;

use farkas_layout::graph::{Affine, CoordinateGraph, Dimension, DimensionId, DimensionKind, Edge, Indices};
use farkas_layout::transform::Params;
use farkas_layout::{Axis, Equivalence, Expr, Region, Solver, Transform};
use proptest::prelude::*;
use random::points;

fn dimension(graph: &mut CoordinateGraph, name: &str, size: i64, stride: i64) -> DimensionId {
    graph.add(Dimension::new(name, DimensionKind::User, Expr::Const(size), Expr::Const(stride)))
}

fn given(pairs: &[(DimensionId, Expr)]) -> Indices {
    pairs.iter().cloned().collect()
}

/// Flatten and Tile with the same sizes undo each other, for any outer size.
#[test]
fn flatten_then_tile_is_the_identity() {
    let solver = Solver::new().unwrap();
    let mut graph = CoordinateGraph::new();
    let n = Expr::param("N");
    let outer = graph.add(Dimension::new("a", DimensionKind::User, n.clone(), Expr::Const(0)));
    let (b, c) = (dimension(&mut graph, "b", 5, 0), dimension(&mut graph, "c", 7, 0));
    let flat = graph.add(Dimension::new("x", DimensionKind::Linear, n.clone().times(35), Expr::Const(1)));
    let again = ["a2", "b2", "c2"].map(|name| name.to_owned());
    let sizes = [n, Expr::Const(5), Expr::Const(7)];
    let tiles = again
        .into_iter()
        .zip(sizes)
        .map(|(name, size)| graph.add(Dimension::new(name, DimensionKind::Tile, size, Expr::Const(0))))
        .collect::<Vec<_>>();
    graph.connect(Edge::Flatten, &[outer, b, c], &[flat]).unwrap();
    graph.connect(Edge::Tile, &[flat], &tiles).unwrap();

    let there_and_back = graph.transform(&[outer, b, c], &tiles).unwrap();
    let identity = Transform::identity(there_and_back.inputs().to_vec());
    assert_eq!(solver.equivalent(&there_and_back, &identity).unwrap(), Equivalence::Equal);
    // From x back to a, b, c and forward again is the identity as well.
    let back = graph.transform(&[flat], &[outer, b, c]).unwrap();
    let round = back.then(&graph.transform(&[outer, b, c], &[flat]).unwrap()).unwrap();
    let identity = Transform::identity(round.inputs().to_vec());
    assert_eq!(solver.equivalent(&round, &identity).unwrap(), Equivalence::Equal);
}

/// The images of the pieces are disjoint and together the whole.
#[test]
fn sunder_pieces_partition_the_whole() {
    let solver = Solver::new().unwrap();
    let mut graph = CoordinateGraph::new();
    let pieces = [("p0", 4), ("p1", 1), ("p2", 6)].map(|(name, size)| dimension(&mut graph, name, size, 1));
    let switch = dimension(&mut graph, "k", 3, 0);
    let whole = dimension(&mut graph, "x", 11, 1);
    let inputs = [&pieces[..], &[switch]].concat();
    graph.connect(Edge::Sunder, &inputs, &[whole]).unwrap();
    let mut image: Option<Region> = None;
    for (k, &piece) in pieces.iter().enumerate() {
        // The other pieces stay unset.
        let known = given(&[(piece, Expr::Input(0)), (switch, Expr::Const(k as i64))]);
        let index = graph.forward(&known, &[whole]).unwrap();
        let axis = |id| {
            let dimension = graph.dimension(id);
            Axis::new(dimension.name.clone(), dimension.size.clone().unwrap())
        };
        let transform = Transform::new(vec![axis(piece)], vec![axis(whole)], index).unwrap();
        let part = solver.image(&transform).unwrap();
        image = Some(match image {
            None => part,
            Some(image) => {
                assert!(image.is_disjoint(&part).unwrap());
                image.union(part).unwrap()
            }
        });
    }
    let image = image.unwrap();
    assert_eq!(solver.count(&image).unwrap(), Some(11));
    let unset = given(&[(pieces[0], Expr::Input(0)), (switch, Expr::Input(1))]);
    let error = graph.forward(&unset, &[whole]).unwrap_err().to_string();
    assert!(error.contains("Sunder(p0, p1, p2, k -> x)") && error.contains("not a constant"), "{error}");
    let backwards = graph.reverse(&given(&[(whole, Expr::Input(0))]), &[pieces[0]]).unwrap_err().to_string();
    assert!(backwards.contains("switch is on the other side"), "{backwards}");
}

/// Join and Split sum strides one way; the other way is an error with their name.
#[test]
fn directions_that_are_no_functions() {
    let mut graph = CoordinateGraph::new();
    let (row, column) = (dimension(&mut graph, "row", 8, 10), dimension(&mut graph, "column", 8, 1));
    let address = dimension(&mut graph, "address", 80, 1);
    graph.connect(Edge::Join, &[row, column], &[address]).unwrap();
    let index = graph.forward(&given(&[(row, Expr::Input(0)), (column, Expr::Input(1))]), &[address]).unwrap();
    assert_eq!(index[0].evaluate(&[3, 4], &Params::new()).unwrap(), 34);
    let error = graph.reverse(&given(&[(address, Expr::Input(0))]), &[row]).unwrap_err().to_string();
    assert!(error.contains("Join(row, column -> address)") && error.contains("reverse"), "{error}");

    let parts = [dimension(&mut graph, "high", 8, 10), dimension(&mut graph, "low", 8, 1)];
    graph.connect(Edge::Split, &[address], &parts).unwrap();
    let error = graph.forward(&given(&[(address, Expr::Input(0))]), &parts).unwrap_err().to_string();
    assert!(error.contains("Split(address -> high, low)") && error.contains("forward"), "{error}");
    let back = graph.reverse(&given(&[(parts[0], Expr::Input(0)), (parts[1], Expr::Input(1))]), &[address]).unwrap();
    assert_eq!(back[0].evaluate(&[3, 4], &Params::new()).unwrap(), 34);

    let island = dimension(&mut graph, "island", 3, 1);
    graph.connect(Edge::DataFlow, &[row], &[island]).unwrap();
    assert!(graph.forward(&given(&[(row, Expr::Input(0))]), &[island]).is_err());
    assert!(graph.connect(Edge::PassThrough, &[row, column], &[island]).is_err());
}

/// The two branches of a piecewise join, as an expression and as an isl map.
#[test]
fn piecewise_affine_join() {
    let solver = Solver::new().unwrap();
    let mut graph = CoordinateGraph::new();
    let (i, j) = (dimension(&mut graph, "i", 6, 1), dimension(&mut graph, "j", 4, 1));
    let x = dimension(&mut graph, "x", 100, 1);
    let affine = |strides: [i64; 2], constant| Affine { strides: strides.to_vec(), constant };
    let edge = Edge::PiecewiseAffineJoin {
        condition: affine([-1, 0], 2),
        then: affine([10, 1], 0),
        otherwise: affine([4, 1], 50),
    };
    graph.connect(edge, &[i, j], &[x]).unwrap();
    let transform = graph.transform(&[i, j], &[x]).unwrap();
    let map = solver.map(&transform).unwrap();
    assert_eq!(map.is_single_valued(), Ok(true));
    for a in 0..6 {
        for b in 0..4 {
            let wanted = if a <= 2 { 10 * a + b } else { 4 * a + b + 50 };
            assert_eq!(transform.evaluate(&[a, b], &Params::new()).unwrap(), [wanted]);
        }
    }
    assert!(graph.reverse(&given(&[(x, Expr::Input(0))]), &[i]).is_err());
}

/// A step is exact where its condition says so, and only there.
#[test]
fn strides_of_tiles() {
    let mut graph = CoordinateGraph::new();
    let x = dimension(&mut graph, "x", 60, 1);
    let tiles = [("a", 3), ("b", 4), ("c", 5)].map(|(name, size)| dimension(&mut graph, name, size, 0));
    graph.connect(Edge::Tile, &[x], &tiles).unwrap();
    let known = given(&[(x, Expr::Input(0))]);
    let index = graph.forward(&known, &tiles).unwrap();
    let at = |expr: &Expr, i: i64| expr.evaluate(&[i], &Params::new()).unwrap();
    for step in 1..20 {
        let strides = graph.forward_stride(&known, x, &Expr::Const(step), &tiles).unwrap();
        for i in 0..60 - step {
            let exact = strides[0].is_exact_at(&[i], &Params::new()).unwrap();
            let moves = strides
                .iter()
                .zip(&index)
                .all(|(stride, index)| at(index, i) + at(&stride.step, i) == at(index, i + step));
            assert_eq!(exact, moves, "step {step} from {i}");
        }
    }
    // A linear edge needs no condition: Tile in reverse.
    let known = given(&tiles.map(|tile| (tile, Expr::Const(1))));
    let back = graph.reverse_stride(&known, tiles[1], &Expr::Const(2), &[x]).unwrap();
    assert_eq!((back[0].step.constant(), back[0].exact.len()), (Some(10), 0));
}

/// Checks the stride of one dimension when another moves by a constant, at all points and by isl: where it says that
/// it is exact, it is. Returns the points at which it says so, and those at which it is.
fn check_stride(
    graph: &CoordinateGraph,
    indices: &[(DimensionId, Expr)],
    extents: &[i64],
    moved: DimensionId,
    delta: i64,
    wanted: DimensionId,
) -> (Vec<Vec<i64>>, Vec<Vec<i64>>) {
    let solver = Solver::new().unwrap();
    let none = Params::new();
    let before = given(indices);
    let mut after = before.clone();
    after.insert(moved, before[&moved].clone().add(Expr::Const(delta)));
    let stride = graph.forward_stride(&before, moved, &Expr::Const(delta), &[wanted]).unwrap().remove(0);
    let index = |known: &Indices| graph.forward(known, &[wanted]).unwrap().remove(0);
    let miss = index(&after).sub(index(&before)).sub(stride.step.clone());
    let axes = extents.iter().enumerate().map(|(k, &extent)| Axis::new(format!("c{k}"), Expr::Const(extent)));
    let axes = axes.collect::<Vec<_>>();
    // The moved coordinate stays in bounds itself.
    let size = graph.dimension(moved).size.clone().unwrap();
    let inside = [after[&moved].clone(), size.add(Expr::Const(-1)).sub(after[&moved].clone())];
    let hit = solver.region(&axes, &[miss.clone(), miss.clone().times(-1)]).unwrap();
    let claimed = stride.exact_set(&solver, &axes).unwrap();
    let claimed = claimed.intersect(solver.region(&axes, &inside).unwrap()).unwrap();
    assert!(claimed.is_subset(&hit).unwrap(), "{graph:?}");
    let (mut says, mut is) = (Vec::new(), Vec::new());
    for point in points(extents) {
        if inside.iter().any(|room| room.evaluate(&point, &none).unwrap() < 0) {
            continue;
        }
        let exact = stride.is_exact_at(&point, &none).unwrap();
        let right = miss.evaluate(&point, &none).unwrap() == 0;
        assert!(right || !exact, "{} by {delta} at {point:?}", graph.dimension(moved).name);
        says.extend(exact.then(|| point.clone()));
        is.extend(right.then_some(point));
    }
    assert_eq!(solver.count(&claimed).unwrap(), Some(says.len() as i64));
    (says, is)
}

/// A step on the piece that the switch selects goes through; on another piece it does nothing.
#[test]
fn strides_of_sunder() {
    let mut graph = CoordinateGraph::new();
    let pieces = [("p0", 4), ("p1", 5), ("p2", 2)].map(|(name, size)| dimension(&mut graph, name, size, 1));
    let switch = dimension(&mut graph, "k", 3, 1);
    let whole = dimension(&mut graph, "x", 11, 1);
    let tiles = [dimension(&mut graph, "a", 4, 0), dimension(&mut graph, "b", 3, 0)];
    graph.connect(Edge::Sunder, &[pieces[0], pieces[1], pieces[2], switch], &[whole]).unwrap();
    graph.connect(Edge::Tile, &[whole], &tiles).unwrap();
    let extents = [4, 5, 2];
    for selected in 0..3 {
        let mut indices = pieces.iter().enumerate().map(|(k, &piece)| (piece, Expr::Input(k))).collect::<Vec<_>>();
        indices.push((switch, Expr::Const(selected)));
        for (position, &moved) in pieces.iter().enumerate() {
            for delta in -3..4 {
                let (says, is) = check_stride(&graph, &indices, &extents, moved, delta, whole);
                assert_eq!(says, is, "piece {position} by {delta} under {selected}");
                let strides = graph.forward_stride(&given(&indices), moved, &Expr::Const(delta), &[whole]);
                let stride = &strides.unwrap()[0];
                let goes_through = position as i64 == selected;
                assert_eq!(stride.step.constant(), Some(if goes_through { delta } else { 0 }));
                assert_eq!(stride.exact.len(), usize::from(goes_through && delta != 0));
                for tile in tiles {
                    check_stride(&graph, &indices, &extents, moved, delta, tile);
                }
            }
        }
        // Only the selected piece need be known.
        let piece = pieces[usize::try_from(selected).unwrap()];
        let few = given(&[(piece, Expr::Input(0)), (switch, Expr::Const(selected))]);
        let stride = graph.forward_stride(&few, piece, &Expr::Const(1), &[whole]).unwrap().remove(0);
        let words = stride.exact[0].describe(&graph, &["i".to_owned()]);
        let size = extents[usize::try_from(selected).unwrap()];
        assert_eq!(words, format!("0 <= i + 1 < {size} (Sunder(p0, p1, p2, k -> x))"));
    }
    // A switch that moves goes to the index of another piece.
    let all = given(&[(pieces[0], Expr::Input(0)), (pieces[1], Expr::Input(1)), (switch, Expr::Const(0))]);
    let stride = graph.forward_stride(&all, switch, &Expr::Const(1), &[whole]).unwrap().remove(0);
    assert_eq!(stride.step.evaluate(&[3, 2], &Params::new()).unwrap(), (4 + 2) - 3);
    assert!(stride.exact.is_empty());
    assert!(graph.forward_stride(&all, switch, &Expr::Const(2), &[whole]).is_err(), "p2 is not known");
    let backwards = graph.reverse_stride(&given(&[(whole, Expr::Input(0))]), whole, &Expr::Const(1), &[pieces[0]]);
    let error = backwards.unwrap_err().to_string();
    assert!(error.contains("Sunder(p0, p1, p2, k -> x)") && error.contains("other side"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Strides through a piecewise join, and through what stands before and behind it: a Sunder and a Tile.
    #[test]
    fn strides_of_piecewise_joins(
        condition in (-2..3i64, -2..3i64, -6..7i64),
        then in (0..5i64, 0..5i64, 0..9i64),
        otherwise in (0..5i64, 0..5i64, 0..9i64),
        selected in 0..2i64,
        delta in -4..5i64,
    ) {
        let mut graph = CoordinateGraph::new();
        let (p, q) = (dimension(&mut graph, "p", 4, 1), dimension(&mut graph, "q", 3, 1));
        let switch = dimension(&mut graph, "k", 2, 1);
        let (i, j) = (dimension(&mut graph, "i", 7, 1), dimension(&mut graph, "j", 5, 1));
        let x = dimension(&mut graph, "x", 100, 1);
        let tiles = [dimension(&mut graph, "high", 20, 0), dimension(&mut graph, "low", 5, 0)];
        let affine = |(a, b, constant): (i64, i64, i64)| Affine { strides: vec![a, b], constant };
        let (condition, then, otherwise) = (affine(condition), affine(then), affine(otherwise));
        let edge = Edge::PiecewiseAffineJoin {
            condition: condition.clone(), then: then.clone(), otherwise: otherwise.clone(),
        };
        graph.connect(Edge::Sunder, &[p, q, switch], &[i]).unwrap();
        graph.connect(edge, &[i, j], &[x]).unwrap();
        graph.connect(Edge::Tile, &[x], &tiles).unwrap();

        let direct = [(i, Expr::Input(0)), (j, Expr::Input(1))];
        for (moved, steps) in [(i, [delta, 0]), (j, [0, delta])] {
            let (says, is) = check_stride(&graph, &direct, &[7, 5], moved, delta, x);
            // It is exact elsewhere only where both branches meet.
            let at = |affine: &Affine, point: &[i64]| {
                affine.constant + (0..2).map(|k| affine.strides[k] * (point[k] + steps[k])).sum::<i64>()
            };
            let meets = |point: &Vec<i64>| at(&then, point) == at(&otherwise, point);
            prop_assert!(is.iter().all(|point| says.contains(point) || meets(point)));
            check_stride(&graph, &direct, &[7, 5], moved, delta, tiles[0]);
            check_stride(&graph, &direct, &[7, 5], moved, delta, tiles[1]);
        }
        let through = [(p, Expr::Input(0)), (q, Expr::Input(1)), (switch, Expr::Const(selected)), (j, Expr::Input(2))];
        for moved in [p, q, j] {
            for wanted in [x, tiles[0], tiles[1]] {
                check_stride(&graph, &through, &[4, 3, 5], moved, delta, wanted);
            }
        }
    }
}

#[test]
fn dot_names_dimensions_and_edges() {
    let mut graph = CoordinateGraph::new();
    let x = graph.add(Dimension::new("x\"", DimensionKind::Thread, None, Expr::Const(2)));
    let y = dimension(&mut graph, "y", 4, 1);
    graph.connect(Edge::PassThrough, &[x], &[y]).unwrap();
    let dot = graph.to_dot();
    assert!(dot.starts_with("digraph") && dot.contains("x\\\" Thread\\n? : 2") && dot.contains("PassThrough"), "{dot}");
    assert!(graph.transform(&[x], &[y]).unwrap_err().to_string().contains("has no size"));
}
