//! Forward and reverse queries: the indices of some dimensions from those of others.

use std::collections::HashMap;

use petgraph::visit::{Dfs, Reversed};

use super::build::{Affine, CoordinateGraph, DimensionId, Edge, EdgeId};
use crate::error::{Error, Result};
use crate::transform::{Expr, Transform};

/// Indices of dimensions.
pub type Indices = HashMap<DimensionId, Expr>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    Reverse,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Forward => "forward",
            Way::Reverse => "reverse",
        }
    }
}

impl CoordinateGraph {
    /// The indices of `wanted`, following edges forward from the given indices.
    pub fn forward(&self, given: &Indices, wanted: &[DimensionId]) -> Result<Vec<Expr>> {
        self.follow(given, wanted, Way::Forward)
    }

    /// The indices of `wanted`, following edges backwards from the given indices.
    pub fn reverse(&self, given: &Indices, wanted: &[DimensionId]) -> Result<Vec<Expr>> {
        self.follow(given, wanted, Way::Reverse)
    }

    /// The transform between two groups of dimensions, forward if there is a path, backwards otherwise.
    pub fn transform(&self, from: &[DimensionId], to: &[DimensionId]) -> Result<Transform> {
        let given = from.iter().enumerate().map(|(position, &id)| (id, Expr::Input(position))).collect::<Indices>();
        let index = match self.forward(&given, to) {
            Ok(index) => index,
            Err(error) => self.reverse(&given, to).map_err(|_| error)?,
        };
        let axes = |ids: &[DimensionId]| ids.iter().map(|&id| self.axis(id)).collect::<Result<Vec<_>>>();
        Transform::new(axes(from)?, axes(to)?, index)
    }

    /// The dimensions from which and to which an edge leads.
    pub(super) fn sides(&self, edge: EdgeId, way: Way) -> (Vec<DimensionId>, Vec<DimensionId>) {
        match way {
            Way::Forward => (self.inputs(edge), self.outputs(edge)),
            Way::Reverse => (self.outputs(edge), self.inputs(edge)),
        }
    }

    pub(super) fn follow(&self, given: &Indices, wanted: &[DimensionId], way: Way) -> Result<Vec<Expr>> {
        let mut known = given.clone();
        let mut blocked = Vec::new();
        let edges = self.edges();
        loop {
            let before = known.len();
            blocked.clear();
            for &edge in &edges {
                let (_, targets) = self.sides(edge, way);
                if matches!(self.edge(edge), Edge::DataFlow) || targets.iter().all(|target| known.contains_key(target))
                {
                    continue;
                }
                match self.cross(edge, way, &known) {
                    Ok(Some(indices)) => {
                        for (target, index) in targets.into_iter().zip(indices) {
                            known.entry(target).or_insert(index.checked()?);
                        }
                    }
                    Ok(None) => {}
                    Err(error) => blocked.push((edge, error)),
                }
            }
            if known.len() == before {
                break;
            }
        }
        wanted
            .iter()
            .map(|id| match known.get(id) {
                Some(index) => Ok(index.clone()),
                None => Err(self.why_unreached(*id, way, &blocked)),
            })
            .collect()
    }

    /// The error of an edge on the way to the dimension, or that there is no way.
    pub(super) fn why_unreached(&self, id: DimensionId, way: Way, blocked: &[(EdgeId, Error)]) -> Error {
        let mut upstream = Vec::new();
        match way {
            Way::Forward => {
                let reversed = Reversed(&self.graph);
                let mut search = Dfs::new(reversed, id.0);
                while let Some(node) = search.next(reversed) {
                    upstream.push(node);
                }
            }
            Way::Reverse => {
                let mut search = Dfs::new(&self.graph, id.0);
                while let Some(node) = search.next(&self.graph) {
                    upstream.push(node);
                }
            }
        }
        let culprit = blocked.iter().find(|(edge, _)| upstream.contains(&edge.0));
        culprit.map_or_else(
            || {
                Error::inadmissible(
                    "coordinate graph",
                    format!("{} is not reached in the {} direction", self.dimension(id).name, way.name()),
                )
            },
            |(_, error)| error.clone(),
        )
    }

    /// The indices on the far side of an edge; `None` if too few are known on the near side.
    pub(super) fn cross(&self, edge: EdgeId, way: Way, known: &Indices) -> Result<Option<Vec<Expr>>> {
        let (sources, targets) = self.sides(edge, way);
        if let Edge::Sunder = self.edge(edge) {
            return Ok(self.cross_sunder(edge, way, &sources, known)?.map(|(_, index)| vec![index]));
        }
        let Some(near) = sources.iter().map(|source| known.get(source).cloned()).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        Ok(Some(match (self.edge(edge), way) {
            (Edge::Flatten, Way::Forward) | (Edge::Tile, Way::Reverse) => vec![self.row_major(&sources, near)?],
            (Edge::Flatten, Way::Reverse) | (Edge::Tile, Way::Forward) => {
                self.digits(&targets, near.into_iter().next().unwrap_or(Expr::Const(0)))?
            }
            (Edge::Join, Way::Forward) | (Edge::Split, Way::Reverse) => vec![self.strided(&sources, near)],
            (Edge::PassThrough, _) => near,
            (Edge::PiecewiseAffineJoin { condition, then, otherwise }, _) if targets.len() == 1 => {
                vec![Expr::select(affine(condition, &near), affine(then, &near), affine(otherwise, &near))]
            }
            (kind, way) => {
                let why = match kind {
                    Edge::Join => "many indices have the same sum of strides",
                    Edge::Split => "a sum of strides does not determine its parts",
                    _ => "it goes from one index to several",
                };
                return Err(Error::NotAFunction { edge: self.describe(edge), direction: way.name(), why });
            }
        }))
    }

    /// The piece that the switch selects, and the index on the far side. The switch must be a known constant; the pieces
    /// that it does not select may be unknown.
    pub(super) fn cross_sunder(
        &self,
        edge: EdgeId,
        way: Way,
        sources: &[DimensionId],
        known: &Indices,
    ) -> Result<Option<(DimensionId, Expr)>> {
        let not_a_function = |why| Error::NotAFunction { edge: self.describe(edge), direction: way.name(), why };
        let Some((switch, pieces)) = sources.split_last().filter(|(_, pieces)| !pieces.is_empty()) else {
            return Err(not_a_function("the switch is on the other side"));
        };
        let Some(selected) = known.get(switch) else { return Ok(None) };
        let selected = selected.constant().and_then(|position| usize::try_from(position).ok());
        let selected = selected.ok_or_else(|| not_a_function("the switch is not a constant"))?;
        let piece = pieces.get(selected).ok_or_else(|| not_a_function("the switch selects no piece"))?;
        let Some(index) = known.get(piece) else { return Ok(None) };
        let mut offset = Expr::Const(0);
        for before in &pieces[..selected] {
            offset = offset.add(self.size(*before)?);
        }
        Ok(Some((*piece, index.clone().add(offset))))
    }

    fn row_major(&self, dimensions: &[DimensionId], indices: Vec<Expr>) -> Result<Expr> {
        let mut sum = Expr::Const(0);
        for (position, (&id, index)) in dimensions.iter().zip(indices).enumerate() {
            // The size of the first dimension is never needed.
            sum = if position == 0 { index } else { sum.mul(self.size(id)?).add(index) };
        }
        Ok(sum)
    }

    pub(super) fn digits(&self, dimensions: &[DimensionId], index: Expr) -> Result<Vec<Expr>> {
        let mut digits = Vec::with_capacity(dimensions.len());
        let mut rest = index;
        for &id in dimensions[1..].iter().rev() {
            let size = self.size(id)?;
            digits.push(rest.clone().modulo(size.clone()));
            rest = rest.div(size);
        }
        digits.push(rest);
        digits.reverse();
        Ok(digits)
    }

    fn strided(&self, dimensions: &[DimensionId], indices: Vec<Expr>) -> Expr {
        dimensions
            .iter()
            .zip(indices)
            .fold(Expr::Const(0), |sum, (&id, index)| sum.add(index.mul(self.dimension(id).stride.clone())))
    }
}

pub(super) fn affine(affine: &Affine, indices: &[Expr]) -> Expr {
    let sum = Expr::Const(affine.constant);
    affine.strides.iter().zip(indices).fold(sum, |sum, (&stride, index)| sum.add(index.clone().times(stride)))
}
