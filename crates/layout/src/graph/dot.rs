//! The graph as DOT text.

use std::fmt::Write;

use petgraph::visit::EdgeRef;

use super::build::{CoordinateGraph, Edge, Node};

impl CoordinateGraph {
    /// Dimensions are boxes with size and stride, edges are ellipses, data flow is dashed.
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph coordinates {\n");
        for node in self.graph.node_indices() {
            let number = node.index();
            // Writing to a string does not fail.
            let _ = match &self.graph[node] {
                Node::Dimension(dimension) => {
                    let size = dimension.size.as_ref().map_or("?".to_owned(), ToString::to_string);
                    let label =
                        format!("{} {:?}\\n{size} : {}", escape(&dimension.name), dimension.kind, dimension.stride);
                    writeln!(dot, "  n{number} [shape=box, label=\"{label}\"];")
                }
                Node::Edge(Edge::DataFlow) => {
                    writeln!(dot, "  n{number} [shape=ellipse, style=dashed, label=\"DataFlow\"];")
                }
                Node::Edge(edge) => writeln!(dot, "  n{number} [shape=ellipse, label=\"{}\"];", edge.name()),
            };
        }
        for edge in self.graph.edge_references() {
            let _ = writeln!(
                dot,
                "  n{} -> n{} [label=\"{}\"];",
                edge.source().index(),
                edge.target().index(),
                edge.weight()
            );
        }
        dot.push_str("}\n");
        dot
    }
}

fn escape(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}
