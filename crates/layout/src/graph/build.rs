//! The graph: dimensions, edges, and what must hold of them.

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeRef, IntoNodeReferences};

use crate::error::{Error, Result};
use crate::transform::{Axis, Expr};

/// A dimension of one graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DimensionId(pub(super) NodeIndex);

/// An edge of one graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeId(pub(super) NodeIndex);

/// What a dimension counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DimensionKind {
    /// A dimension of the user's array.
    User,
    /// A linear address.
    Linear,
    /// A position within a tile.
    Tile,
    /// Iterations of a loop.
    Loop,
    /// Blocks of a grid.
    Block,
    /// Threads of a block.
    Thread,
    /// Registers of a thread.
    Register,
}

/// A dimension of a graph: coordinates `0..size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// For people, and for printing; two may have the same.
    pub name: String,
    /// What it counts.
    pub kind: DimensionKind,
    /// Unknown for a dimension that another bounds.
    pub size: Option<Expr>,
    /// How far one step is, for Join and Split.
    pub stride: Expr,
}

impl Dimension {
    /// A dimension; without a size, another bounds it.
    pub fn new(name: impl Into<String>, kind: DimensionKind, size: impl Into<Option<Expr>>, stride: Expr) -> Dimension {
        Dimension { name: name.into(), kind, size: size.into(), stride }
    }
}

/// A sum of index times stride, and a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affine {
    /// One per index, in their order.
    pub strides: Vec<i64>,
    /// What is added to the sum.
    pub constant: i64,
}

/// A coordinate transform between the dimensions before and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edge {
    /// From dimensions to their row-major index.
    Flatten,
    /// From an index to its row-major digits; the first may be any, so its dimension needs no size.
    Tile,
    /// From dimensions to the sum of their indices times their strides.
    Join,
    /// From a sum of strides to its parts, which is a function only the other way.
    Split,
    /// On the side with several dimensions the last is the switch.
    Sunder,
    /// The same coordinate under another name.
    PassThrough,
    /// `condition ≥ 0 ? then : otherwise`, all over the side with several dimensions.
    PiecewiseAffineJoin {
        /// Which branch is taken.
        condition: Affine,
        /// The coordinate where the condition is not negative.
        then: Affine,
        /// The coordinate elsewhere.
        otherwise: Affine,
    },
    /// Values flow, coordinates do not.
    DataFlow,
}

impl Edge {
    /// As it is printed.
    pub fn name(&self) -> &'static str {
        match self {
            Edge::Flatten => "Flatten",
            Edge::Tile => "Tile",
            Edge::Join => "Join",
            Edge::Split => "Split",
            Edge::Sunder => "Sunder",
            Edge::PassThrough => "PassThrough",
            Edge::PiecewiseAffineJoin { .. } => "PiecewiseAffineJoin",
            Edge::DataFlow => "DataFlow",
        }
    }
}

pub(super) enum Node {
    Dimension(Dimension),
    Edge(Edge),
}

/// A coordinate graph. petgraph's edges number the dimensions on each side of ours.
#[derive(Default)]
pub struct CoordinateGraph {
    pub(super) graph: DiGraph<Node, usize>,
}

impl std::fmt::Debug for CoordinateGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_dot())
    }
}

impl CoordinateGraph {
    /// A graph without dimensions.
    pub fn new() -> CoordinateGraph {
        CoordinateGraph::default()
    }

    /// Adds a dimension, which no edge has yet.
    pub fn add(&mut self, dimension: Dimension) -> DimensionId {
        DimensionId(self.graph.add_node(Node::Dimension(dimension)))
    }

    /// Adds an edge; the numbers of dimensions must fit its kind.
    pub fn connect(&mut self, edge: Edge, inputs: &[DimensionId], outputs: &[DimensionId]) -> Result<EdgeId> {
        let (many, one) = if inputs.len() >= outputs.len() { (inputs, outputs) } else { (outputs, inputs) };
        let fits = match &edge {
            Edge::Flatten | Edge::Join => !inputs.is_empty() && outputs.len() == 1,
            Edge::Tile | Edge::Split => inputs.len() == 1 && !outputs.is_empty(),
            Edge::PassThrough => inputs.len() == 1 && outputs.len() == 1,
            Edge::Sunder => one.len() == 1 && many.len() >= 2,
            Edge::PiecewiseAffineJoin { condition, then, otherwise } => {
                one.len() == 1 && [condition, then, otherwise].iter().all(|affine| affine.strides.len() == many.len())
            }
            Edge::DataFlow => true,
        };
        if !fits {
            return Err(Error::profile(
                "coordinate graph",
                format!("{} does not go from {} to {} dimensions", edge.name(), inputs.len(), outputs.len()),
            ));
        }
        let known = |id: &DimensionId| matches!(self.graph.node_weight(id.0), Some(Node::Dimension(_)));
        if !inputs.iter().chain(outputs).all(known) {
            return Err(Error::inadmissible("coordinate graph", "a dimension is of another graph"));
        }
        let node = self.graph.add_node(Node::Edge(edge));
        for (position, input) in inputs.iter().enumerate() {
            self.graph.add_edge(input.0, node, position);
        }
        for (position, output) in outputs.iter().enumerate() {
            self.graph.add_edge(node, output.0, position);
        }
        Ok(EdgeId(node))
    }

    /// # Panics
    /// If the id is of another graph.
    pub fn dimension(&self, id: DimensionId) -> &Dimension {
        match self.graph.node_weight(id.0) {
            Some(Node::Dimension(dimension)) => dimension,
            _ => unreachable!("a dimension id is made only for a dimension of its graph"),
        }
    }

    /// # Panics
    /// If the id is of another graph.
    pub fn edge(&self, id: EdgeId) -> &Edge {
        match self.graph.node_weight(id.0) {
            Some(Node::Edge(edge)) => edge,
            _ => unreachable!("an edge id is made only for an edge of its graph"),
        }
    }

    /// The edges in the order in which they were added.
    pub fn edges(&self) -> Vec<EdgeId> {
        let edges = self.graph.node_references().filter(|(_, node)| matches!(node, Node::Edge(_)));
        edges.map(|(node, _)| EdgeId(node)).collect()
    }

    /// All dimensions, in the order in which they were added.
    pub fn dimensions(&self) -> Vec<DimensionId> {
        let dimensions = self.graph.node_references().filter(|(_, node)| matches!(node, Node::Dimension(_)));
        dimensions.map(|(node, _)| DimensionId(node)).collect()
    }

    /// The dimensions before an edge, in their order.
    pub fn inputs(&self, edge: EdgeId) -> Vec<DimensionId> {
        self.side(edge, Direction::Incoming)
    }

    /// The dimensions after an edge, in their order.
    pub fn outputs(&self, edge: EdgeId) -> Vec<DimensionId> {
        self.side(edge, Direction::Outgoing)
    }

    fn side(&self, edge: EdgeId, direction: Direction) -> Vec<DimensionId> {
        let mut edges = self.graph.edges_directed(edge.0, direction).collect::<Vec<_>>();
        edges.sort_by_key(|edge| *edge.weight());
        edges
            .into_iter()
            .map(|edge| DimensionId(if direction == Direction::Incoming { edge.source() } else { edge.target() }))
            .collect()
    }

    /// The edge as text: `Tile(x -> a, b)`.
    pub fn describe(&self, edge: EdgeId) -> String {
        let names = |ids: Vec<DimensionId>| {
            ids.iter().map(|id| self.dimension(*id).name.clone()).collect::<Vec<_>>().join(", ")
        };
        format!("{}({} -> {})", self.edge(edge).name(), names(self.inputs(edge)), names(self.outputs(edge)))
    }

    pub(super) fn size(&self, id: DimensionId) -> Result<Expr> {
        let dimension = self.dimension(id);
        dimension.size.clone().ok_or_else(|| {
            Error::inadmissible("coordinate graph", format!("the dimension {} has no size", dimension.name))
        })
    }

    pub(crate) fn axis(&self, id: DimensionId) -> Result<Axis> {
        Ok(Axis::new(self.dimension(id).name.clone(), self.size(id)?))
    }
}
