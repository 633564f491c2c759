//! The schedule: a graph from root domains through operations to loop domains.

use std::fmt;

use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};
use petgraph::visit::{EdgeRef, IntoNodeReferences};

use crate::error::{Error, Result};
use crate::transform::{Axis, Expr};

/// A domain of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainId(pub(super) NodeIndex);

/// Which of the two domains of a split has the factor as its extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SplitKind {
    /// The factor is the extent of the inner domain.
    Inner,
    /// The factor is the extent of the outer domain.
    Outer,
}

/// How the second coordinate of a swizzle depends on the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwizzleKind {
    /// `y' = x ^ y`.
    Xor,
    /// `y' = (x + y) mod extent`.
    CyclicShift,
}

/// An operation; its domains are in the order in which the graph's edges number them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `[input] → [outer, inner]`.
    Split {
        /// Whose extent the factor is.
        kind: SplitKind,
        /// That extent.
        factor: i64,
    },
    /// `[outer, inner] → [merged]`.
    Merge,
    /// `[input] → [resized]`.
    Resize {
        /// How much is added before the beginning; negative to cut off.
        left: i64,
        /// How much is added past the end; negative to cut off.
        right: i64,
    },
    /// `[x, y] → [x', y']`.
    Swizzle(SwizzleKind),
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Domain(Axis),
    Operation(Operation),
}

/// A schedule. Edges carry the position of a domain among the inputs or outputs of an operation.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub(super) graph: DiGraph<Node, usize>,
    roots: Vec<DomainId>,
    loops: Vec<DomainId>,
    broadcasts: usize,
}

/// An operation with its domains.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub operation: Operation,
    /// The domains that it takes, in its order.
    pub inputs: Vec<DomainId>,
    /// The domains that it makes, in its order.
    pub outputs: Vec<DomainId>,
}

impl Schedule {
    /// The schedule that loops over the roots.
    pub fn new(roots: impl IntoIterator<Item = Axis>) -> Schedule {
        let mut graph = DiGraph::new();
        let roots = roots.into_iter().map(|axis| DomainId(graph.add_node(Node::Domain(axis)))).collect::<Vec<_>>();
        Schedule { graph, loops: roots.clone(), roots, broadcasts: 0 }
    }

    /// The domains that it began with.
    pub fn roots(&self) -> &[DomainId] {
        &self.roots
    }

    /// The domains that nothing was done to since: the loops, from the outside in.
    pub fn loops(&self) -> &[DomainId] {
        &self.loops
    }

    /// The name and extent of a domain.
    ///
    /// # Panics
    /// If the id is of another schedule; the operations check that.
    pub fn axis(&self, domain: DomainId) -> &Axis {
        match self.graph.node_weight(domain.0) {
            Some(Node::Domain(axis)) => axis,
            _ => unreachable!("a domain id is made only for a domain of its schedule"),
        }
    }

    /// The axis of a loop of this schedule.
    fn loop_axis(&self, operation: &'static str, domain: DomainId) -> Result<&Axis> {
        self.position(operation, domain)?;
        Ok(self.axis(domain))
    }

    /// The extent of a domain.
    pub fn extent(&self, domain: DomainId) -> &Expr {
        &self.axis(domain).extent
    }

    /// Names and extents of the loops.
    pub fn loop_axes(&self) -> Vec<Axis> {
        self.loops.iter().map(|&domain| self.axis(domain).clone()).collect()
    }

    /// Names and extents of the roots.
    pub fn root_axes(&self) -> Vec<Axis> {
        self.roots.iter().map(|&domain| self.axis(domain).clone()).collect()
    }

    /// The operations in the order in which they were made, which is topological.
    pub fn steps(&self) -> Vec<Step> {
        let neighbours = |node, direction| {
            let mut edges = self.graph.edges_directed(node, direction).collect::<Vec<_>>();
            edges.sort_by_key(|edge| *edge.weight());
            let end = |edge: EdgeReference<'_, usize>| match direction {
                Direction::Incoming => DomainId(edge.source()),
                Direction::Outgoing => DomainId(edge.target()),
            };
            edges.into_iter().map(end).collect()
        };
        let operations = self.graph.node_references().filter_map(|(node, weight)| match weight {
            Node::Operation(operation) => Some((node, operation.clone())),
            Node::Domain(_) => None,
        });
        operations
            .map(|(node, operation)| Step {
                operation,
                inputs: neighbours(node, Direction::Incoming),
                outputs: neighbours(node, Direction::Outgoing),
            })
            .collect()
    }

    pub(super) fn has_broadcasts(&self) -> bool {
        self.broadcasts > 0
    }

    /// The loop domain of this name.
    pub fn loop_named(&self, name: &str) -> Option<DomainId> {
        self.loops.iter().copied().find(|&domain| self.axis(domain).name == name)
    }

    /// The domain of this name that was made last, a loop or not.
    pub fn domain_named(&self, name: &str) -> Option<DomainId> {
        let mut domains =
            self.graph.node_references().filter(|(_, node)| matches!(node, Node::Domain(axis) if axis.name == name));
        domains.next_back().map(|(node, _)| DomainId(node))
    }

    /// The roots and broadcasts that a domain comes from.
    pub(super) fn sources(&self, domain: DomainId) -> Vec<DomainId> {
        let mut sources = vec![domain];
        for step in self.steps().iter().rev() {
            if step.outputs.iter().any(|output| sources.contains(output)) {
                sources.retain(|source| !step.outputs.contains(source));
                sources.extend(step.inputs.iter().filter(|input| !sources.contains(input)).collect::<Vec<_>>());
            }
        }
        sources
    }

    /// The name with its suffix, or a number if that is long, so that names of names do not grow.
    fn name(&self, name: &str, suffix: &str) -> String {
        if name.len() + suffix.len() <= 16 {
            format!("{name}{suffix}")
        } else {
            format!("d{}{}", self.graph.node_count(), if suffix.len() <= 1 { suffix } else { "" })
        }
    }

    fn position(&self, operation: &'static str, domain: DomainId) -> Result<usize> {
        self.loops
            .iter()
            .position(|&found| found == domain)
            .ok_or_else(|| Error::inadmissible(operation, "the domain is not a loop of the schedule (any more)"))
    }

    /// Replaces loop domains by the outputs of an operation, at the place of the first.
    fn apply(
        &mut self,
        name: &'static str,
        operation: Operation,
        inputs: &[DomainId],
        axes: Vec<Axis>,
    ) -> Result<Vec<DomainId>> {
        let positions = inputs.iter().map(|&input| self.position(name, input)).collect::<Result<Vec<_>>>()?;
        if inputs.len() == 2 && inputs[0] == inputs[1] {
            return Err(Error::inadmissible(name, "both domains are the same"));
        }
        let node = self.graph.add_node(Node::Operation(operation));
        for (position, input) in inputs.iter().enumerate() {
            self.graph.add_edge(input.0, node, position);
        }
        let mut outputs = Vec::with_capacity(axes.len());
        for (position, axis) in axes.into_iter().enumerate() {
            let output = self.graph.add_node(Node::Domain(axis));
            self.graph.add_edge(node, output, position);
            outputs.push(DomainId(output));
        }
        if outputs.len() == inputs.len() {
            for (&position, &output) in positions.iter().zip(&outputs) {
                self.loops[position] = output;
            }
        } else {
            let first = positions.iter().min().copied().unwrap_or(0);
            let (before, after) = self.loops.split_at(first);
            let rest = after.iter().copied().filter(|domain| !inputs.contains(domain));
            self.loops = before.iter().copied().chain(outputs.iter().copied()).chain(rest).collect();
        }
        Ok(outputs)
    }

    /// Splits a loop in two. Unless the factor divides the extent, some of the new iterations are holes.
    pub fn split(&mut self, domain: DomainId, factor: i64, kind: SplitKind) -> Result<[DomainId; 2]> {
        const SPLIT: &str = "split";
        if factor < 1 {
            return Err(Error::inadmissible(SPLIT, format!("the factor {factor} is not positive")));
        }
        let Axis { name, extent } = self.loop_axis(SPLIT, domain)?.clone();
        let rest = extent.ceil_div(factor);
        let (outer, inner) = match kind {
            SplitKind::Inner => (rest, Expr::Const(factor)),
            SplitKind::Outer => (Expr::Const(factor), rest),
        };
        let axes = vec![Axis::new(self.name(&name, "o"), outer), Axis::new(self.name(&name, "i"), inner)];
        pair(self.apply(SPLIT, Operation::Split { kind, factor }, &[domain], axes)?)
    }

    /// Makes one loop of two, the second running faster.
    pub fn merge(&mut self, outer: DomainId, inner: DomainId) -> Result<DomainId> {
        const MERGE: &str = "merge";
        let (a, b) = (self.loop_axis(MERGE, outer)?, self.loop_axis(MERGE, inner)?);
        if let (Some(a), Some(b)) = (a.extent.constant(), b.extent.constant()) {
            crate::error::multiply(MERGE, a, b)?;
        }
        let axis = Axis::new(self.name(&a.name, &b.name), a.extent.clone().mul(b.extent.clone()));
        single(self.apply(MERGE, Operation::Merge, &[outer, inner], vec![axis])?)
    }

    /// Adds iterations on both sides; negative numbers take them away.
    pub fn resize(&mut self, domain: DomainId, left: i64, right: i64) -> Result<DomainId> {
        const RESIZE: &str = "resize";
        let Axis { name, extent } = self.loop_axis(RESIZE, domain)?.clone();
        let change =
            left.checked_add(right).filter(|_| left != i64::MIN).ok_or(Error::Overflow { operation: RESIZE })?;
        let resized = extent.add(Expr::Const(change));
        if resized.constant().is_some_and(|extent| extent < 0) {
            return Err(Error::inadmissible(RESIZE, format!("the extent would be {resized}")));
        }
        let axis = Axis::new(self.name(&name, "r"), resized);
        single(self.apply(RESIZE, Operation::Resize { left, right }, &[domain], vec![axis])?)
    }

    /// Permutes the second loop depending on the first.
    pub fn swizzle(&mut self, kind: SwizzleKind, x: DomainId, y: DomainId) -> Result<[DomainId; 2]> {
        const SWIZZLE: &str = "swizzle";
        let (a, b) = (self.loop_axis(SWIZZLE, x)?.clone(), self.loop_axis(SWIZZLE, y)?.clone());
        if kind == SwizzleKind::Xor {
            let size = a.extent.constant().filter(|&size| size > 0 && (size & (size - 1)) == 0);
            if size.is_none() || a.extent != b.extent {
                return Err(Error::inadmissible(
                    SWIZZLE,
                    format!("xor keeps bounds only for equal powers of 2, not for {} and {}", a.extent, b.extent),
                ));
            }
        }
        let axes = vec![Axis::new(a.name, a.extent), Axis::new(self.name(&b.name, "s"), b.extent)];
        pair(self.apply(SWIZZLE, Operation::Swizzle(kind), &[x, y], axes)?)
    }

    /// Puts the loops in another order: first the one that is now at `order[0]`, and so on.
    pub fn reorder(&mut self, order: &[usize]) -> Result<()> {
        let mut seen = vec![false; self.loops.len()];
        let fits = order.len() == seen.len()
            && order.iter().all(|&position| position < seen.len() && !std::mem::replace(&mut seen[position], true));
        if !fits {
            return Err(Error::inadmissible("reorder", format!("not a permutation of {} loops", self.loops.len())));
        }
        self.loops = order.iter().map(|&position| self.loops[position]).collect();
        Ok(())
    }

    /// Adds an innermost loop that no root depends on.
    pub fn broadcast(&mut self, name: impl Into<String>, extent: Expr) -> DomainId {
        let domain = DomainId(self.graph.add_node(Node::Domain(Axis::new(name, extent))));
        self.loops.push(domain);
        self.broadcasts += 1;
        domain
    }
}

fn pair(domains: Vec<DomainId>) -> Result<[DomainId; 2]> {
    domains.try_into().map_err(|_| Error::inadmissible("schedule", "the operation has not two outputs"))
}

fn single(domains: Vec<DomainId>) -> Result<DomainId> {
    domains.first().copied().ok_or_else(|| Error::inadmissible("schedule", "the operation has no output"))
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |domains: &[DomainId]| {
            let axes = domains.iter().map(|&domain| self.axis(domain));
            axes.map(|axis| format!("{}: {}", axis.name, axis.extent)).collect::<Vec<_>>().join(", ")
        };
        write!(f, "[{}] -> [{}]", list(&self.roots), list(&self.loops))
    }
}
