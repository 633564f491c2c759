//! Coordinate graphs: queries along paths, strides with their conditions, and what isl says of the edges.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use farkas_layout::graph::{Affine, CoordinateGraph, Dimension, DimensionId, DimensionKind, Edge, Indices};
use farkas_layout::transform::Params;
use farkas_layout::{Equivalence, Expr, Solver, Transform};

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
    let mut image: Option<isl::Set> = None;
    for (k, &piece) in pieces.iter().enumerate() {
        // The other pieces stay unset.
        let known = given(&[(piece, Expr::Input(0)), (switch, Expr::Const(k as i64))]);
        let index = graph.forward(&known, &[whole]).unwrap();
        let axis = |id| {
            let dimension = graph.dimension(id);
            farkas_layout::Axis::new(dimension.name.clone(), dimension.size.clone().unwrap())
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
            let exact = strides[0].exact.iter().all(|carry| at(&carry.room(), i) >= 0);
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
