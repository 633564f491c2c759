//! Predicates: which iterations are items and which are holes.
//!
//! An iteration is an item when the input of every indivisible split, and of every resize that adds, is in bounds.
//! Many of these conditions follow from others. The minimal predicate drops, from the loops towards the roots, every
//! condition that the theorems below derive from the rest:
//!
//! 1. split: input and inner in bounds ⇒ outer in bounds;
//! 2. divisible split: outer and inner in bounds ⇒ input in bounds;
//! 3. merge: outer in bounds ⇔ merged in bounds; inner is in bounds always;
//! 4. resize: where it only adds, input ⇒ output; where it only takes away, output ⇒ input;
//! 5. swizzle: outputs ⇒ inputs; for xor also inputs ⇒ outputs. A cyclic shift is taken back modulo its extent, so its
//!    second input is in bounds always, and says nothing of the output.

use std::collections::HashSet;
use std::fmt;

use super::index::lookup;
use super::schedule::{DomainId, Operation, Schedule, Step, SwizzleKind};
use crate::error::{Error, Result};
use crate::transform::{Expr, Solver, Truth};

/// An index must lie in `0..extent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whose index it is.
    pub domain: DomainId,
    /// The name of that domain.
    pub name: String,
    /// Its index in terms of the loops.
    pub index: Expr,
    /// The first value that is too large.
    pub extent: Expr,
}

/// A conjunction of conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// All of them must hold.
    pub conditions: Vec<Condition>,
    /// The names of the loops, for printing.
    pub loops: Vec<String>,
}

impl Schedule {
    /// Whether a split has no holes, as far as the form of the extent tells.
    pub(super) fn is_divisible(&self, step: &Step) -> bool {
        match &step.operation {
            Operation::Split { factor, .. } => self.extent(step.inputs[0]).multiple_of(*factor),
            _ => true,
        }
    }

    /// All conditions: the input of every indivisible split and of every resize that adds.
    pub fn full_predicate(&self) -> Result<Predicate> {
        self.predicate(&self.guarded())
    }

    /// The conditions that are left when all that follow from others are dropped.
    pub fn minimal_predicate(&self) -> Result<Predicate> {
        let mut kept = self.guarded();
        // Operations are in topological order, so this goes from the loops to the roots.
        for position in (0..kept.len()).rev() {
            let mut others = kept.clone();
            let domain = others.remove(position);
            if self.in_bounds(&others).contains(&domain) {
                kept = others;
            }
        }
        self.predicate(&kept)
    }

    fn guarded(&self) -> Vec<DomainId> {
        let mut guarded = Vec::new();
        for step in &self.steps() {
            let guards = match step.operation {
                Operation::Split { .. } => !self.is_divisible(step),
                Operation::Resize { left, right } => left > 0 || right > 0,
                Operation::Merge | Operation::Swizzle(_) => false,
            };
            if guards && !guarded.contains(&step.inputs[0]) {
                guarded.push(step.inputs[0]);
            }
        }
        guarded
    }

    /// Whether some iterations along these roots are holes: a guarded domain comes from one of them.
    pub fn has_holes_along(&self, roots: &[DomainId]) -> bool {
        self.guarded().into_iter().any(|domain| self.sources(domain).iter().any(|source| roots.contains(source)))
    }

    fn predicate(&self, domains: &[DomainId]) -> Result<Predicate> {
        let indices = self.indices()?;
        let conditions = domains.iter().map(|&domain| {
            Ok(Condition {
                domain,
                name: self.axis(domain).name.clone(),
                index: lookup(&indices, domain)?,
                extent: self.extent(domain).clone(),
            })
        });
        Ok(Predicate {
            conditions: conditions.collect::<Result<_>>()?,
            loops: self.loop_axes().into_iter().map(|axis| axis.name).collect(),
        })
    }

    /// The domains that are in bounds whenever the loops and the given domains are, by the theorems.
    fn in_bounds(&self, given: &[DomainId]) -> HashSet<DomainId> {
        let mut known = self.loops().iter().chain(given).copied().collect::<HashSet<_>>();
        let steps = self.steps();
        loop {
            let before = known.len();
            for step in &steps {
                let all = |known: &HashSet<DomainId>, domains: &[DomainId]| {
                    domains.iter().all(|domain| known.contains(domain))
                };
                match &step.operation {
                    Operation::Split { .. } => {
                        let (input, outer, inner) = (step.inputs[0], step.outputs[0], step.outputs[1]);
                        if all(&known, &[input, inner]) {
                            known.insert(outer);
                        }
                        if self.is_divisible(step) && all(&known, &[outer, inner]) {
                            known.insert(input);
                        }
                    }
                    Operation::Merge => {
                        let (outer, inner, merged) = (step.inputs[0], step.inputs[1], step.outputs[0]);
                        known.insert(inner);
                        if known.contains(&outer) {
                            known.insert(merged);
                        }
                        if known.contains(&merged) {
                            known.insert(outer);
                        }
                    }
                    Operation::Resize { left, right } => {
                        let (input, output) = (step.inputs[0], step.outputs[0]);
                        if *left >= 0 && *right >= 0 && known.contains(&input) {
                            known.insert(output);
                        }
                        if *left <= 0 && *right <= 0 && known.contains(&output) {
                            known.insert(input);
                        }
                    }
                    Operation::Swizzle(SwizzleKind::Xor) => {
                        if all(&known, &step.outputs) {
                            known.extend(&step.inputs);
                        }
                        if all(&known, &step.inputs) {
                            known.extend(&step.outputs);
                        }
                    }
                    Operation::Swizzle(SwizzleKind::CyclicShift) => {
                        known.insert(step.inputs[1]);
                        for (near, far) in [(step.inputs[0], step.outputs[0]), (step.outputs[0], step.inputs[0])] {
                            if known.contains(&near) {
                                known.insert(far);
                            }
                        }
                    }
                }
            }
            if known.len() == before {
                return known;
            }
        }
    }

    /// The minimal predicate without what the theorems cannot see but isl can: conditions that follow from the rest for
    /// these very extents.
    pub fn smallest_predicate(&self, solver: &Solver) -> Result<Predicate> {
        let mut kept = self.minimal_predicate()?;
        for position in (0..kept.conditions.len()).rev() {
            let mut rest = kept.clone();
            let condition = rest.conditions.remove(position);
            match self.follows(&condition, &rest, solver) {
                Ok(Truth::Yes) => kept = rest,
                // What is not known to follow is kept.
                Ok(_) | Err(Error::NotAffine { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(kept)
    }

    /// Asks isl whether the minimal predicate is equivalent to the full one.
    pub fn confirm_minimal(&self, solver: &Solver) -> Result<Truth> {
        self.confirm(&self.minimal_predicate()?, solver)
    }

    /// Asks isl whether a part of the full predicate implies all of it.
    pub fn confirm(&self, part: &Predicate, solver: &Solver) -> Result<Truth> {
        for condition in self.full_predicate()?.conditions {
            if part.conditions.contains(&condition) {
                continue;
            }
            match self.follows(&condition, part, solver)? {
                Truth::Yes => {}
                other => return Ok(other),
            }
        }
        Ok(Truth::Yes)
    }

    fn follows(&self, condition: &Condition, premises: &Predicate, solver: &Solver) -> Result<Truth> {
        let pair = |condition: &Condition| (condition.index.clone(), condition.extent.clone());
        let premises = premises.conditions.iter().map(pair).collect::<Vec<_>>();
        solver.implies(&self.loop_axes(), &premises, &pair(condition))
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.conditions.is_empty() {
            return f.write_str("true");
        }
        let conditions = self
            .conditions
            .iter()
            .map(|condition| format!("0 <= {} < {}", condition.index.display(&self.loops), condition.extent));
        f.write_str(&conditions.collect::<Vec<_>>().join(" and "))
    }
}
