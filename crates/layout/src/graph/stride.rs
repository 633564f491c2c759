//! Stride queries: how far the indices of some dimensions move when another moves by a step.
//!
//! Linear edges scale the step. Where an edge divides, the step divides likewise, which is exact unless a digit
//! carries: the condition says when it does not.

use std::collections::HashMap;

use super::build::{CoordinateGraph, DimensionId, Edge, EdgeId};
use super::query::{Indices, Way};
use crate::error::{Error, Result};
use crate::transform::Expr;

/// A digit that must not carry: `index mod size + step mod size < size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carry {
    pub edge: EdgeId,
    /// The index before the step.
    pub index: Expr,
    pub step: Expr,
    pub size: Expr,
}

impl Carry {
    /// Not negative where the digit does not carry.
    pub fn room(&self) -> Expr {
        let digit = |expr: &Expr| expr.clone().modulo(self.size.clone());
        self.size.clone().add(Expr::Const(-1)).sub(digit(&self.index)).sub(digit(&self.step))
    }
}

/// A step and the conditions under which it is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stride {
    pub step: Expr,
    pub exact: Vec<Carry>,
}

impl CoordinateGraph {
    /// The steps of `wanted` when `moved` moves by `step` from the given indices, which include that of `moved`.
    pub fn forward_stride(
        &self,
        given: &Indices,
        moved: DimensionId,
        step: &Expr,
        wanted: &[DimensionId],
    ) -> Result<Vec<Stride>> {
        self.follow_step(given, moved, step, wanted, Way::Forward)
    }

    /// The same, following edges backwards.
    pub fn reverse_stride(
        &self,
        given: &Indices,
        moved: DimensionId,
        step: &Expr,
        wanted: &[DimensionId],
    ) -> Result<Vec<Stride>> {
        self.follow_step(given, moved, step, wanted, Way::Reverse)
    }

    fn follow_step(
        &self,
        given: &Indices,
        moved: DimensionId,
        step: &Expr,
        wanted: &[DimensionId],
        way: Way,
    ) -> Result<Vec<Stride>> {
        let still = Stride { step: Expr::Const(0), exact: Vec::new() };
        let mut steps = given.keys().map(|&id| (id, still.clone())).collect::<HashMap<_, _>>();
        steps.insert(moved, Stride { step: step.clone(), exact: Vec::new() });
        let edges = self.edges();
        loop {
            let before = steps.len();
            for &edge in &edges {
                let (sources, targets) = self.sides(edge, way);
                if targets.iter().all(|target| steps.contains_key(target)) {
                    continue;
                }
                let near = sources.iter().map(|source| steps.get(source).cloned()).collect::<Option<Vec<_>>>();
                let Some(near) = near else { continue };
                if let Some(far) = self.step_across(edge, way, given, near)? {
                    for (target, stride) in targets.into_iter().zip(far) {
                        steps.entry(target).or_insert(stride);
                    }
                }
            }
            if steps.len() == before {
                break;
            }
        }
        wanted
            .iter()
            .map(|id| {
                steps.get(id).cloned().ok_or_else(|| {
                    let name = &self.dimension(*id).name;
                    Error::inadmissible("stride", format!("{name} is not reached by edges whose strides are known"))
                })
            })
            .collect()
    }

    fn step_across(&self, edge: EdgeId, way: Way, given: &Indices, near: Vec<Stride>) -> Result<Option<Vec<Stride>>> {
        let (sources, targets) = self.sides(edge, way);
        let mut exact = near.iter().flat_map(|stride| stride.exact.iter().cloned()).collect::<Vec<_>>();
        let steps = near.into_iter().map(|stride| stride.step).collect::<Vec<_>>();
        let far = match (self.edge(edge), way) {
            (Edge::Flatten | Edge::Join, Way::Forward)
            | (Edge::Tile | Edge::Split, Way::Reverse)
            | (Edge::PassThrough, _) => {
                // A linear edge moves by the image of the step.
                let steps = sources.iter().copied().zip(steps).collect::<Indices>();
                self.cross(edge, way, &steps)?
            }
            (Edge::Tile, Way::Forward) | (Edge::Flatten, Way::Reverse) => {
                let zero = Expr::Const(0);
                let mut index = self.follow(given, &sources, way)?.into_iter().next().unwrap_or(zero.clone());
                let step = steps.into_iter().next().unwrap_or(zero);
                let mut rest = step.clone();
                for &id in targets[1..].iter().rev() {
                    let size = self.size(id)?;
                    exact.push(Carry { edge, index: index.clone(), step: rest.clone(), size: size.clone() });
                    index = index.div(size.clone());
                    rest = rest.div(size);
                }
                Some(self.digits(&targets, step)?)
            }
            _ => None,
        };
        Ok(far.map(|far| far.into_iter().map(|step| Stride { step, exact: exact.clone() }).collect()))
    }
}
