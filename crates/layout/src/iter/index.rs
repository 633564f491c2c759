//! Indices: each root in terms of the loops, each loop in terms of the roots.

use std::collections::HashMap;

use super::schedule::{DomainId, Operation, Schedule, Step, SwizzleKind};
use crate::error::{Error, Result};
use crate::transform::{Bound, Expr, Transform};

impl Schedule {
    /// The transform from loops to roots. It is defined on every iteration, also on holes, whose roots are out of
    /// bounds or repeated.
    pub fn roots_of_loops(&self) -> Result<Transform> {
        let indices = self.indices()?;
        let index = self.roots().iter().map(|root| lookup(&indices, *root)).collect::<Result<_>>()?;
        Transform::new(self.loop_axes(), self.root_axes(), index)
    }

    /// The transform from roots to loops, defined on the roots that no resize takes away. Broadcast loops have no such
    /// index.
    pub fn loops_of_roots(&self) -> Result<Transform> {
        if self.has_broadcasts() {
            return Err(Error::inadmissible("index", "the index of a broadcast loop is not a function of the roots"));
        }
        let mut indices =
            self.roots().iter().enumerate().map(|(k, &root)| (root, Expr::Input(k))).collect::<HashMap<_, _>>();
        for step in &self.steps() {
            let inputs = step.inputs.iter().map(|input| lookup(&indices, *input)).collect::<Result<Vec<_>>>()?;
            for (&output, index) in step.outputs.iter().zip(self.forward(step, inputs)?) {
                indices.insert(output, index.checked()?);
            }
        }
        let index = self.loops().iter().map(|domain| lookup(&indices, *domain)).collect::<Result<_>>()?;
        let kept = self
            .slices()
            .map(|domain| Ok(Bound { index: lookup(&indices, domain)?, extent: self.extent(domain).clone() }));
        Transform::new(self.root_axes(), self.loop_axes(), index)?.restrict(kept.collect::<Result<Vec<_>>>()?)
    }

    /// The outputs of the resizes that take something away.
    pub(super) fn slices(&self) -> impl Iterator<Item = DomainId> {
        self.steps().into_iter().filter_map(|step| match step.operation {
            Operation::Resize { left, right } if left < 0 || right < 0 => step.outputs.first().copied(),
            _ => None,
        })
    }

    /// The index of every domain of the schedule in terms of the loops.
    pub(super) fn indices(&self) -> Result<HashMap<DomainId, Expr>> {
        let mut indices =
            self.loops().iter().enumerate().map(|(k, &domain)| (domain, Expr::Input(k))).collect::<HashMap<_, _>>();
        for step in self.steps().iter().rev() {
            let outputs = step.outputs.iter().map(|output| lookup(&indices, *output)).collect::<Result<Vec<_>>>()?;
            for (&input, index) in step.inputs.iter().zip(self.backward(step, outputs)?) {
                indices.insert(input, index.checked()?);
            }
        }
        Ok(indices)
    }

    /// The index of the domain of this name that was made last, in terms of the loops.
    pub fn index_named(&self, name: &str) -> Result<Option<Expr>> {
        match self.domain_named(name) {
            Some(domain) => lookup(&self.indices()?, domain).map(Some),
            None => Ok(None),
        }
    }

    fn forward(&self, step: &Step, inputs: Vec<Expr>) -> Result<Vec<Expr>> {
        let mut inputs = inputs.into_iter();
        let mut next = || inputs.next().ok_or_else(missing);
        Ok(match &step.operation {
            Operation::Split { .. } => {
                let (index, inner) = (next()?, self.divisor(step.outputs[1]));
                vec![index.clone().div(inner.clone()), index.modulo(inner)]
            }
            Operation::Merge => {
                let inner = self.extent(step.inputs[1]).clone();
                vec![next()?.mul(inner).add(next()?)]
            }
            Operation::Resize { left, .. } => vec![next()?.add(Expr::Const(*left))],
            Operation::Swizzle(kind) => {
                let (x, y) = (next()?, next()?);
                let swizzled = match kind {
                    SwizzleKind::Xor => y.xor(x.clone(), self.bits(step)),
                    SwizzleKind::CyclicShift => x.clone().add(y).modulo(self.divisor(step.inputs[1])),
                };
                vec![x, swizzled]
            }
        })
    }

    fn backward(&self, step: &Step, outputs: Vec<Expr>) -> Result<Vec<Expr>> {
        let mut outputs = outputs.into_iter();
        let mut next = || outputs.next().ok_or_else(missing);
        Ok(match &step.operation {
            Operation::Split { .. } => {
                let inner = self.extent(step.outputs[1]).clone();
                vec![next()?.mul(inner).add(next()?)]
            }
            Operation::Merge => {
                let (merged, inner) = (next()?, self.divisor(step.inputs[1]));
                vec![merged.clone().div(inner.clone()), merged.modulo(inner)]
            }
            Operation::Resize { left, .. } => vec![next()?.add(Expr::Const(-left))],
            Operation::Swizzle(kind) => {
                let (x, y) = (next()?, next()?);
                let original = match kind {
                    SwizzleKind::Xor => y.xor(x.clone(), self.bits(step)),
                    SwizzleKind::CyclicShift => y.sub(x.clone()).modulo(self.divisor(step.inputs[1])),
                };
                vec![x, original]
            }
        })
    }

    /// The extent of a domain as a divisor. An empty domain has no index, so any divisor is right.
    fn divisor(&self, domain: DomainId) -> Expr {
        let extent = self.extent(domain).clone();
        if extent.constant() == Some(0) { Expr::Const(1) } else { extent }
    }

    fn bits(&self, step: &Step) -> u32 {
        self.extent(step.inputs[0]).constant().map_or(0, i64::trailing_zeros)
    }
}

pub(super) fn lookup(indices: &HashMap<DomainId, Expr>, domain: DomainId) -> Result<Expr> {
    indices.get(&domain).cloned().ok_or_else(missing)
}

fn missing() -> Error {
    Error::inadmissible("index", "a domain has no index")
}
