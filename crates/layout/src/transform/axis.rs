//! Transforms and what can be done with them without isl.

use std::fmt;

use super::{Expr, Params};
use crate::error::{Error, Result};

/// A dimension: its name, and its extent as an expression over parameters. Its coordinates are `0..extent`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// For people, and for isl; coordinates go by position.
    pub name: String,
    /// The first coordinate that is too large.
    pub extent: Expr,
}

impl Axis {
    /// An axis with coordinates `0..extent`.
    pub fn new(name: impl Into<String>, extent: Expr) -> Axis {
        Axis { name: name.into(), extent }
    }
}

/// An expression over the inputs that must lie in `0..extent`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// What must lie there.
    pub index: Expr,
    /// The first value that is too large.
    pub extent: Expr,
}

/// A map from the coordinates of its inputs to those of its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transform {
    inputs: Vec<Axis>,
    outputs: Vec<Axis>,
    index: Vec<Expr>,
    /// Beyond the extents of the inputs, where the map is defined.
    bounds: Vec<Bound>,
}

const TRANSFORM: &str = "transform";

impl Transform {
    /// One expression over the inputs for each output.
    pub fn new(inputs: Vec<Axis>, outputs: Vec<Axis>, index: Vec<Expr>) -> Result<Transform> {
        if outputs.len() != index.len() {
            return Err(Error::profile(
                TRANSFORM,
                format!("{} outputs, but {} expressions", outputs.len(), index.len()),
            ));
        }
        let index = index.into_iter().map(Expr::checked).collect::<Result<_>>()?;
        Ok(Transform { inputs, outputs, index, bounds: Vec::new() })
    }

    /// The transform where these bounds hold too, and undefined elsewhere.
    pub fn restrict(mut self, bounds: impl IntoIterator<Item = Bound>) -> Result<Transform> {
        for Bound { index, extent } in bounds {
            self.bounds.push(Bound { index: index.checked()?, extent });
        }
        Ok(self)
    }

    /// The transform that moves nothing.
    pub fn identity(axes: Vec<Axis>) -> Transform {
        let index = (0..axes.len()).map(Expr::Input).collect();
        Transform { inputs: axes.clone(), outputs: axes, index, bounds: Vec::new() }
    }

    /// The axes of the coordinates that it takes.
    pub fn inputs(&self) -> &[Axis] {
        &self.inputs
    }

    /// The axes of the coordinates that it gives.
    pub fn outputs(&self) -> &[Axis] {
        &self.outputs
    }

    /// The index map: each output as an expression over the inputs.
    pub fn index(&self) -> &[Expr] {
        &self.index
    }

    /// Beyond the extents of the inputs, where the transform is defined.
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// The bounds with other expressions for the inputs.
    fn bounds_of<'a>(&'a self, inputs: &'a [Expr]) -> impl Iterator<Item = Bound> + 'a {
        self.bounds.iter().map(|bound| Bound { index: bound.index.substitute(inputs), extent: bound.extent.clone() })
    }

    /// The parameters in order of appearance.
    pub fn params(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.inputs.iter().chain(&self.outputs).for_each(|axis| axis.extent.collect_params(&mut names));
        let bounds = self.bounds.iter().flat_map(|bound| [&bound.index, &bound.extent]);
        self.index.iter().chain(bounds).for_each(|expr| expr.collect_params(&mut names));
        names
    }

    /// First this, then the other. The extents between them must be the same expressions.
    pub fn then(&self, next: &Transform) -> Result<Transform> {
        let same = self.outputs.len() == next.inputs.len()
            && self.outputs.iter().zip(&next.inputs).all(|(a, b)| a.extent == b.extent);
        if !same {
            return Err(Error::profile(
                "composition",
                format!("extents ({}) do not meet extents ({})", extents(&self.outputs), extents(&next.inputs)),
            ));
        }
        let index = next.index.iter().map(|expr| expr.substitute(&self.index)).collect();
        let bounds = self.bounds.iter().cloned().chain(next.bounds_of(&self.index));
        Transform::new(self.inputs.clone(), next.outputs.clone(), index)?.restrict(bounds)
    }

    /// The transform on some of more axes: its inputs are those at `positions`, its outputs stand where the first of
    /// them stood, and the other axes stay as they are.
    pub fn embed(&self, axes: &[Axis], positions: &[usize]) -> Result<Transform> {
        const EMBED: &str = "embedding";
        let fits = positions.len() == self.inputs.len()
            && positions
                .iter()
                .zip(&self.inputs)
                .all(|(&position, input)| axes.get(position).is_some_and(|axis| axis.extent == input.extent))
            && positions.iter().enumerate().all(|(i, position)| !positions[..i].contains(position));
        if !fits {
            return Err(Error::profile(EMBED, format!("({}) has no such inputs", extents(axes))));
        }
        let inputs = positions.iter().map(|&position| Expr::Input(position)).collect::<Vec<_>>();
        let (mut outputs, mut index) = (Vec::new(), Vec::new());
        let first = positions.iter().min().copied().unwrap_or(axes.len());
        for position in 0..=axes.len() {
            if position == first {
                outputs.extend(self.outputs.iter().cloned());
                index.extend(self.index.iter().map(|expr| expr.substitute(&inputs)));
            }
            if let Some(axis) = axes.get(position).filter(|_| !positions.contains(&position)) {
                outputs.push(axis.clone());
                index.push(Expr::Input(position));
            }
        }
        Transform::new(axes.to_vec(), outputs, index)?.restrict(self.bounds_of(&inputs))
    }

    /// How much there is to evaluate at a point.
    pub(crate) fn nodes(&self) -> usize {
        let bounds = self.bounds.iter().map(|bound| bound.index.nodes() + bound.extent.nodes());
        self.index.iter().map(Expr::nodes).chain(bounds).sum::<usize>() + self.inputs.len()
    }

    /// Whether there are as many inputs as outputs in bounds, all of them numbers.
    pub(crate) fn is_square(&self) -> bool {
        let size =
            |axes: &[Axis]| axes.iter().try_fold(1i64, |size, axis| size.checked_mul(axis.extent.constant()?.max(0)));
        self.bounds.is_empty() && size(&self.inputs).is_some() && size(&self.inputs) == size(&self.outputs)
    }

    /// The outputs at a point, at which the transform must be defined.
    pub fn evaluate(&self, point: &[i64], params: &Params) -> Result<Vec<i64>> {
        if point.len() != self.inputs.len() {
            return Err(Error::profile(
                "evaluate",
                format!("{} coordinates for {} inputs", point.len(), self.inputs.len()),
            ));
        }
        for (axis, &coordinate) in self.inputs.iter().zip(point) {
            let extent = axis.extent.evaluate(&[], params)?;
            if coordinate < 0 || coordinate >= extent {
                return Err(Error::inadmissible(
                    "evaluate",
                    format!("{} = {coordinate} is not in 0..{extent}", axis.name),
                ));
            }
        }
        for bound in &self.bounds {
            let (index, extent) = (bound.index.evaluate(point, params)?, bound.extent.evaluate(&[], params)?);
            if index < 0 || index >= extent {
                let names = self.input_names();
                let what = bound.index.display(&names);
                return Err(Error::inadmissible("evaluate", format!("{what} = {index} is not in 0..{extent}")));
            }
        }
        self.index.iter().map(|expr| expr.evaluate(point, params)).collect()
    }

    pub(crate) fn input_names(&self) -> Vec<String> {
        self.inputs.iter().map(|axis| axis.name.clone()).collect()
    }
}

fn extents(axes: &[Axis]) -> String {
    axes.iter().map(|axis| axis.extent.to_string()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = |axes: &[Axis]| {
            axes.iter().map(|axis| format!("{}: {}", axis.name, axis.extent)).collect::<Vec<_>>().join(", ")
        };
        let names = self.input_names();
        let index = self.index.iter().map(|expr| expr.display(&names).to_string()).collect::<Vec<_>>().join(", ");
        write!(f, "[{}] -> [{}] = [{index}]", axes(&self.inputs), axes(&self.outputs))?;
        for (position, bound) in self.bounds.iter().enumerate() {
            let word = if position == 0 { "where" } else { "and" };
            write!(f, " {word} 0 <= {} < {}", bound.index.display(&names), bound.extent)?;
        }
        Ok(())
    }
}
