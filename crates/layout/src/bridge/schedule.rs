//! Schedules as layouts and as coordinate graphs, and back.

use std::collections::HashMap;

use super::row_major;
use crate::cute::Layout;
use crate::error::{Error, Result};
use crate::graph::{CoordinateGraph, Dimension, DimensionId, DimensionKind, Edge};
use crate::iter::{DomainId, Operation, Schedule, SplitKind};
use crate::transform::{Axis, Expr};

const BRIDGE: &str = "bridge";

impl Schedule {
    /// The layout of the row-major array of the roots, seen through the loops: one mode per loop.
    ///
    /// Every extent must be a number and every split divisible; resizes, swizzles and broadcasts are no layouts.
    pub fn to_layout(&self) -> Result<Layout> {
        let sizes = self.roots().iter().map(|&root| number(self.extent(root))).collect::<Result<Vec<_>>>()?;
        let mut layouts: HashMap<DomainId, Layout> =
            self.roots().iter().copied().zip(row_major(&sizes)?.top_modes()).collect();
        for step in self.steps() {
            let input = |position: usize| {
                layouts.get(&step.inputs[position]).ok_or_else(|| Error::inadmissible(BRIDGE, "a domain has no layout"))
            };
            let outputs = match &step.operation {
                Operation::Split { .. } => {
                    let (outer, inner) = (number(self.extent(step.outputs[0]))?, number(self.extent(step.outputs[1]))?);
                    let whole = number(self.extent(step.inputs[0]))?;
                    if outer.checked_mul(inner) != Some(whole) {
                        return Err(Error::NotDivisible {
                            operation: BRIDGE,
                            dividend: whole,
                            divisor: inner,
                            why: "an indivisible split is no layout",
                        });
                    }
                    let layout = input(0)?;
                    vec![
                        layout.composition(&Layout::leaf(outer, inner)?)?,
                        layout.composition(&Layout::leaf(inner, 1)?)?,
                    ]
                }
                // The inner domain runs faster, so it stands first.
                Operation::Merge => vec![Layout::tuple([input(1)?.clone(), input(0)?.clone()])?.coalesce()],
                Operation::Resize { .. } => return Err(Error::inadmissible(BRIDGE, "a resize is no layout")),
                Operation::Swizzle(_) => return Err(Error::inadmissible(BRIDGE, "a swizzle is no layout")),
            };
            layouts.extend(step.outputs.iter().copied().zip(outputs));
        }
        let modes = self.loops().iter().map(|domain| {
            layouts.get(domain).cloned().ok_or_else(|| Error::inadmissible(BRIDGE, "a broadcast is no layout"))
        });
        Layout::tuple(modes.collect::<Result<Vec<_>>>()?)
    }
}

fn number(extent: &Expr) -> Result<i64> {
    extent.constant().ok_or_else(|| Error::inadmissible(BRIDGE, format!("the extent {extent} is not a number")))
}

/// The schedule whose loops are the flat modes of a compact layout, from one root.
pub fn schedule_of_layout(layout: &Layout) -> Result<Schedule> {
    let modes = layout.flat_modes();
    let mut order = (0..modes.len()).filter(|&k| modes[k].shape != 1).collect::<Vec<_>>();
    order.sort_by_key(|&k| modes[k].stride);
    let mut schedule = Schedule::new([Axis::new("i", Expr::Const(layout.size()))]);
    let mut rest = schedule.roots()[0];
    let mut domains = vec![None; modes.len()];
    let mut covered = 1;
    for &k in &order {
        if modes[k].stride != covered {
            return Err(Error::inadmissible(
                BRIDGE,
                format!(
                    "stride {} is not the {covered} that smaller strides cover: not a permutation",
                    modes[k].stride
                ),
            ));
        }
        covered *= modes[k].shape;
        let [outer, inner] = schedule.split(rest, modes[k].shape, SplitKind::Inner)?;
        domains[k] = Some(inner);
        rest = outer;
    }
    // What is left of the root has extent 1, as have the modes of size 1, which are split off it.
    for domain in &mut domains {
        if domain.is_none() {
            let [outer, inner] = schedule.split(rest, 1, SplitKind::Inner)?;
            *domain = Some(inner);
            rest = outer;
        }
    }
    let wanted = domains.into_iter().flatten().chain([rest]);
    let order = wanted.filter_map(|domain| schedule.loops().iter().position(|&found| found == domain));
    let order = order.collect::<Vec<_>>();
    schedule.reorder(&order)?;
    Ok(schedule)
}

/// A coordinate graph with the dimensions of a schedule's roots and loops.
#[derive(Debug)]
pub struct ScheduleGraph {
    /// The graph, with an edge for every operation of the schedule.
    pub graph: CoordinateGraph,
    /// The dimensions of the roots, in their order.
    pub roots: Vec<DimensionId>,
    /// The dimensions of the loops, in their order.
    pub loops: Vec<DimensionId>,
}

/// Splits as Tile and merges as Flatten. The splits must be divisible.
pub fn graph_of(schedule: &Schedule) -> Result<ScheduleGraph> {
    let mut graph = CoordinateGraph::new();
    let mut ids: HashMap<DomainId, DimensionId> = HashMap::new();
    let dimension = |domain: DomainId, kind: DimensionKind| {
        let axis = schedule.axis(domain);
        Dimension::new(axis.name.clone(), kind, axis.extent.clone(), Expr::Const(1))
    };
    for &root in schedule.roots() {
        ids.insert(root, graph.add(dimension(root, DimensionKind::User)));
    }
    for step in schedule.steps() {
        let edge = match step.operation {
            Operation::Split { factor, .. } if schedule.extent(step.inputs[0]).multiple_of(factor) => Edge::Tile,
            Operation::Split { .. } => {
                return Err(Error::inadmissible(BRIDGE, "an indivisible split has holes, which Tile has not"));
            }
            Operation::Merge => Edge::Flatten,
            Operation::Resize { .. } | Operation::Swizzle(_) => {
                return Err(Error::inadmissible(BRIDGE, "a resize or swizzle is no edge of a coordinate graph"));
            }
        };
        let inputs = step.inputs.iter().filter_map(|domain| ids.get(domain).copied()).collect::<Vec<_>>();
        let outputs =
            step.outputs.iter().map(|&domain| graph.add(dimension(domain, DimensionKind::Loop))).collect::<Vec<_>>();
        ids.extend(step.outputs.iter().copied().zip(outputs.iter().copied()));
        graph.connect(edge, &inputs, &outputs)?;
    }
    let find = |domains: &[DomainId]| domains.iter().filter_map(|domain| ids.get(domain).copied()).collect::<Vec<_>>();
    let (roots, loops) = (find(schedule.roots()), find(schedule.loops()));
    if loops.len() != schedule.loops().len() {
        return Err(Error::inadmissible(BRIDGE, "a broadcast is no edge of a coordinate graph"));
    }
    Ok(ScheduleGraph { graph, roots, loops })
}

/// The schedule of a graph of Flatten, Tile and PassThrough edges, each in terms of splits by inner factors and merges.
pub fn schedule_of_graph(graph: &CoordinateGraph, roots: &[DimensionId], loops: &[DimensionId]) -> Result<Schedule> {
    let size = |id: DimensionId| {
        let dimension = graph.dimension(id);
        let size = dimension.size.clone();
        size.ok_or_else(|| Error::inadmissible(BRIDGE, format!("the dimension {} has no size", dimension.name)))
    };
    let axes = roots.iter().map(|&root| Ok(Axis::new(graph.dimension(root).name.clone(), size(root)?)));
    let mut schedule = Schedule::new(axes.collect::<Result<Vec<_>>>()?);
    let mut domains: HashMap<DimensionId, DomainId> =
        roots.iter().copied().zip(schedule.roots().iter().copied()).collect();
    for edge in graph.edges() {
        let (inputs, outputs) = (graph.inputs(edge), graph.outputs(edge));
        let Some(near) = inputs.iter().map(|id| domains.get(id).copied()).collect::<Option<Vec<_>>>() else { continue };
        match graph.edge(edge) {
            Edge::PassThrough => domains.extend(outputs.iter().copied().zip(near)),
            Edge::Flatten => {
                let mut merged = near[0];
                for &next in &near[1..] {
                    merged = schedule.merge(merged, next)?;
                }
                domains.insert(outputs[0], merged);
            }
            Edge::Tile => {
                let mut rest = near[0];
                for &output in outputs[1..].iter().rev() {
                    let [outer, inner] = schedule.split(rest, number(&size(output)?)?, SplitKind::Inner)?;
                    domains.insert(output, inner);
                    rest = outer;
                }
                domains.insert(outputs[0], rest);
            }
            Edge::DataFlow => {}
            _ => {
                return Err(Error::inadmissible(BRIDGE, format!("{} is no split or merge", graph.describe(edge))));
            }
        }
    }
    let order = loops.iter().map(|id| {
        let domain = domains.get(id);
        domain.and_then(|domain| schedule.loops().iter().position(|found| found == domain))
    });
    let order = order
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| Error::inadmissible(BRIDGE, "not all of the wanted dimensions are loops of the schedule"))?;
    schedule.reorder(&order)?;
    Ok(schedule)
}
