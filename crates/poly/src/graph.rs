//! The statement dependence graph: statements as nodes, dependences as edges.

use std::collections::BTreeSet;
use std::fmt::Write;

use isl::Dim;
use petgraph::Direction;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::deps::{DependenceKind, Dependences, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::scop::Scop;

/// One edge: every kind of dependence between two statements, with the arrays that carry it.
pub(crate) type Carriers = BTreeSet<(DependenceKind, String)>;

/// Which statements depend on which, and through what.
#[derive(Debug)]
pub struct DependenceGraph {
    graph: DiGraph<String, Carriers>,
}

impl DependenceGraph {
    /// The graph of a program.
    pub fn new(scop: &Scop, dependences: &Dependences) -> diag::Result<DependenceGraph> {
        build(scop, dependences).map_err(|fault| fault.of_function("deps", &scop.function))
    }

    /// Strongly connected components, in an order in which every dependence points forwards; among those that could
    /// come next, the one written first does.
    pub fn components(&self) -> Vec<Vec<&str>> {
        let mut waiting: Vec<Vec<NodeIndex>> = tarjan_scc(&self.graph);
        waiting.iter_mut().for_each(|component| component.sort());
        waiting.sort();
        let mut ordered = Vec::new();
        while !waiting.is_empty() {
            let is_ready = |component: &Vec<NodeIndex>| {
                let sources =
                    component.iter().flat_map(|node| self.graph.neighbors_directed(*node, Direction::Incoming));
                let mut outside = sources.filter(|source| !component.contains(source));
                outside.all(|source| !waiting.iter().any(|other| other.contains(&source)))
            };
            // Components have no cycles among them, so one is always ready.
            let next = waiting.iter().position(is_ready).unwrap_or(0);
            ordered.push(waiting.remove(next).into_iter().map(|node| self.graph[node].as_str()).collect());
        }
        ordered
    }

    /// Edges as lines `S0 -> S1: flow A`, then the components.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (source, sink, carriers) in self.edges() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{source} -> {sink}: {carriers}");
        }
        for component in self.components() {
            let _ = writeln!(text, "component {{{}}}", component.join(", "));
        }
        text
    }

    /// The graph in the language of Graphviz.
    pub fn to_dot(&self) -> String {
        let mut text = String::from("digraph dependences {\n");
        for name in self.graph.node_weights() {
            let _ = writeln!(text, "    \"{name}\";");
        }
        for (source, sink, carriers) in self.edges() {
            let _ = writeln!(text, "    \"{source}\" -> \"{sink}\" [label=\"{carriers}\"];");
        }
        text.push_str("}\n");
        text
    }

    fn edges(&self) -> Vec<(&str, &str, String)> {
        let mut edges: Vec<(NodeIndex, NodeIndex, String)> = self
            .graph
            .edge_indices()
            .filter_map(|edge| {
                let (source, sink) = self.graph.edge_endpoints(edge)?;
                let carriers = self.graph[edge].iter().map(|(kind, array)| format!("{} {array}", kind.name()));
                Some((source, sink, carriers.collect::<Vec<_>>().join(", ")))
            })
            .collect();
        edges.sort();
        edges.into_iter().map(|(a, b, text)| (self.graph[a].as_str(), self.graph[b].as_str(), text)).collect()
    }
}

fn build(scop: &Scop, dependences: &Dependences) -> Attempt<DependenceGraph> {
    let mut graph: DiGraph<String, Carriers> = DiGraph::new();
    let nodes: Vec<(String, NodeIndex)> = scop
        .statements
        .iter()
        .map(|statement| (statement.name.clone(), graph.add_node(statement.name.clone())))
        .collect();
    let node = |name: Option<String>| -> Attempt<NodeIndex> {
        let name = name.ok_or_else(|| Fault::bug("a dependence without a statement"))?;
        let found = nodes.iter().find(|(known, _)| *known == name);
        found.map(|(_, node)| *node).ok_or_else(|| Fault::bug(format!("a dependence of unknown statement {name}")))
    };
    for kind in DependenceKind::ALL {
        for map in dependences.of_kind(kind).maps()? {
            let (sink, array) = sink_and_array(&map)?;
            let (source, sink) = (node(map.get_tuple_name(Dim::In)?)?, node(sink)?);
            let edge = graph.find_edge(source, sink).unwrap_or_else(|| graph.add_edge(source, sink, Carriers::new()));
            graph[edge].insert((kind, array.unwrap_or_default()));
        }
    }
    Ok(DependenceGraph { graph })
}
