//! Stride queries: how far the indices of some dimensions move when another moves by a step.
//!
//! Linear edges scale the step. Where an edge divides, the step divides likewise, which is exact unless a digit
//! carries. A Sunder passes the step of the piece that its switch selects, as long as it stays on that piece. A
//! piecewise join scales it by the branch that its condition takes, as long as the condition keeps its sign. Each
//! stride comes with these conditions.

use std::collections::HashMap;

use super::build::{Affine, CoordinateGraph, DimensionId, Edge, EdgeId};
use super::query::{Indices, Way, affine};
use crate::error::Result;
use crate::transform::{Axis, Expr, Params, Region, Solver};

/// What must hold for a step across an edge to be exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exact {
    /// A digit does not carry: `index mod size + step mod size < size`. The index is that before the step.
    NoCarry {
        /// The edge that takes the index apart.
        edge: EdgeId,
        /// The digit before the step.
        index: Expr,
        /// How far it steps.
        step: Expr,
        /// How many values the digit has.
        size: Expr,
    },
    /// The piece of a Sunder is not left: the index after the step lies in `0..size`.
    OnPiece {
        /// The Sunder.
        edge: EdgeId,
        /// The dimension of the piece.
        piece: DimensionId,
        /// The index in the piece, after the step.
        index: Expr,
        /// How long the piece is, if it ends.
        size: Option<Expr>,
    },
    /// The condition of a piecewise join takes the same branch before and after the step.
    SameBranch {
        /// The piecewise join.
        edge: EdgeId,
        /// The condition before the step.
        before: Expr,
        /// The condition after it.
        after: Expr,
    },
}

impl Exact {
    /// The edge that it is about.
    pub fn edge(&self) -> EdgeId {
        match self {
            Exact::NoCarry { edge, .. } | Exact::OnPiece { edge, .. } | Exact::SameBranch { edge, .. } => *edge,
        }
    }

    /// Expressions that are all not negative exactly where the condition holds.
    pub fn rooms(&self) -> Vec<Expr> {
        match self {
            Exact::NoCarry { index, step, size, .. } => {
                let digit = |expr: &Expr| expr.clone().modulo(size.clone());
                vec![size.clone().add(Expr::Const(-1)).sub(digit(index)).sub(digit(step))]
            }
            Exact::OnPiece { index, size, .. } => {
                let below = size.clone().map(|size| size.add(Expr::Const(-1)).sub(index.clone()));
                std::iter::once(index.clone()).chain(below).collect()
            }
            Exact::SameBranch { before, after, .. } => {
                vec![Expr::select(before.clone(), after.clone(), Expr::Const(-1).sub(after.clone()))]
            }
        }
    }

    /// The condition in words, with names for the inputs.
    pub fn describe(&self, graph: &CoordinateGraph, inputs: &[String]) -> String {
        let edge = graph.describe(self.edge());
        let what = match self {
            Exact::NoCarry { index, step, size, .. } => {
                let (index, step) = (index.clone().modulo(size.clone()), step.clone().modulo(size.clone()));
                format!("{} + {} < {size}", index.display(inputs), step.display(inputs))
            }
            Exact::OnPiece { index, size, .. } => match size {
                Some(size) => format!("0 <= {} < {size}", index.display(inputs)),
                None => format!("0 <= {}", index.display(inputs)),
            },
            Exact::SameBranch { before, after, .. } => {
                format!("{} and {} have the same sign", before.display(inputs), after.display(inputs))
            }
        };
        format!("{what} ({edge})")
    }
}

/// A step and the conditions under which it is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stride {
    /// How far the other side steps.
    pub step: Expr,
    /// All of them must hold; without any, the step is always exact.
    pub exact: Vec<Exact>,
}

impl Stride {
    fn of(step: Expr) -> Stride {
        Stride { step, exact: Vec::new() }
    }

    fn rooms(&self) -> impl Iterator<Item = Expr> {
        self.exact.iter().flat_map(Exact::rooms)
    }

    /// Whether the step is exact at a point of the inputs of the given indices.
    pub fn is_exact_at(&self, point: &[i64], params: &Params) -> Result<bool> {
        for room in self.rooms() {
            if room.evaluate(point, params)? < 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The points at which the step is exact, over these axes.
    pub fn exact_set(&self, solver: &Solver, axes: &[Axis]) -> Result<Region> {
        solver.region(axes, &self.rooms().collect::<Vec<_>>())
    }
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
        let mut steps = given.keys().map(|&id| (id, Stride::of(Expr::Const(0)))).collect::<HashMap<_, _>>();
        steps.insert(moved, Stride::of(step.clone()));
        let mut blocked = Vec::new();
        let edges = self.edges();
        loop {
            let before = steps.len();
            blocked.clear();
            for &edge in &edges {
                let (_, targets) = self.sides(edge, way);
                if matches!(self.edge(edge), Edge::DataFlow) || targets.iter().all(|target| steps.contains_key(target))
                {
                    continue;
                }
                match self.step_across(edge, way, given, &steps) {
                    Ok(Some(far)) => {
                        for (target, stride) in targets.into_iter().zip(far) {
                            steps.entry(target).or_insert(Stride { step: stride.step.checked()?, ..stride });
                        }
                    }
                    Ok(None) => {}
                    Err(error) => blocked.push((edge, error)),
                }
            }
            if steps.len() == before {
                break;
            }
        }
        wanted.iter().map(|id| steps.get(id).cloned().ok_or_else(|| self.why_unreached(*id, way, &blocked))).collect()
    }

    /// The steps on the far side of an edge; `None` if too few are known on the near side.
    fn step_across(
        &self,
        edge: EdgeId,
        way: Way,
        given: &Indices,
        steps: &HashMap<DimensionId, Stride>,
    ) -> Result<Option<Vec<Stride>>> {
        let (sources, targets) = self.sides(edge, way);
        if let Edge::Sunder = self.edge(edge) {
            return self.step_across_sunder(edge, way, given, steps);
        }
        let near = sources.iter().map(|source| steps.get(source).cloned()).collect::<Option<Vec<_>>>();
        let Some(near) = near else { return Ok(None) };
        let mut exact = near.iter().flat_map(|stride| stride.exact.iter().cloned()).collect::<Vec<_>>();
        let moves = near.into_iter().map(|stride| stride.step).collect::<Vec<_>>();
        let far = match (self.edge(edge), way) {
            (Edge::Tile, Way::Forward) | (Edge::Flatten, Way::Reverse) => {
                let zero = Expr::Const(0);
                let mut index = self.follow(given, &sources, way)?.into_iter().next().unwrap_or(zero.clone());
                let step = moves.into_iter().next().unwrap_or(zero);
                let mut rest = step.clone();
                for &id in targets[1..].iter().rev() {
                    let size = self.size(id)?;
                    // A step by whole rows carries nothing.
                    if rest.clone().modulo(size.clone()) != Expr::Const(0) {
                        let (index, step) = (index.clone(), rest.clone());
                        exact.push(Exact::NoCarry { edge, index, step, size: size.clone() });
                    }
                    index = index.div(size.clone());
                    rest = rest.div(size);
                }
                self.digits(&targets, step)?
            }
            (Edge::PiecewiseAffineJoin { condition, then, otherwise }, _) if targets.len() == 1 => {
                let index = self.follow(given, &sources, way)?;
                let moved = index.iter().cloned().zip(&moves).map(|(index, step)| index.add(step.clone()));
                let (before, after) = (affine(condition, &index), affine(condition, &moved.collect::<Vec<_>>()));
                // What moves the condition not at all leaves it on its branch.
                if before != after {
                    exact.push(Exact::SameBranch { edge, before: before.clone(), after });
                }
                let scaled = |branch: &Affine| affine(&Affine { constant: 0, ..branch.clone() }, &moves);
                vec![Expr::select(before, scaled(then), scaled(otherwise))]
            }
            // A linear edge moves by the image of the step; one that is no function says so.
            _ => match self.cross(edge, way, &sources.iter().copied().zip(moves).collect())? {
                Some(far) => far,
                None => return Ok(None),
            },
        };
        Ok(Some(far.into_iter().map(|step| Stride { step, exact: exact.clone() }).collect()))
    }

    /// A step of the selected piece goes through as long as it stays on the piece; one of another piece does nothing.
    /// A switch that moves leads from one piece to another, both of whose indices must be known.
    fn step_across_sunder(
        &self,
        edge: EdgeId,
        way: Way,
        given: &Indices,
        steps: &HashMap<DimensionId, Stride>,
    ) -> Result<Option<Vec<Stride>>> {
        let (sources, _) = self.sides(edge, way);
        let known = sources.iter().filter(|source| steps.contains_key(source));
        let mut before = Indices::new();
        for &source in known {
            before.insert(source, self.follow(given, &[source], way)?.remove(0));
        }
        let after = before.iter().map(|(id, index)| (*id, index.clone().add(steps[id].step.clone()))).collect();
        let (Some((start, here)), Some((piece, there))) =
            (self.cross_sunder(edge, way, &sources, &before)?, self.cross_sunder(edge, way, &sources, &after)?)
        else {
            return Ok(None);
        };
        let mut exact = Vec::new();
        for (position, source) in sources.iter().enumerate() {
            let asked = *source == start || *source == piece || position + 1 == sources.len();
            exact.extend(steps.get(source).filter(|_| asked).into_iter().flat_map(|stride| stride.exact.clone()));
        }
        if let Some(stride) = steps.get(&piece).filter(|stride| stride.step != Expr::Const(0)) {
            let index = before.get(&piece).cloned().unwrap_or(Expr::Const(0)).add(stride.step.clone());
            exact.push(Exact::OnPiece { edge, piece, index, size: self.dimension(piece).size.clone() });
        }
        // On one piece the indices cancel.
        let step = if start == piece {
            steps.get(&piece).map_or(Expr::Const(0), |stride| stride.step.clone())
        } else {
            there.sub(here)
        };
        Ok(Some(vec![Stride { step, exact }]))
    }
}
