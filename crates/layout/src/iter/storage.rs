//! Storage: how much an allocation domain holds, and how much of that are holes.

use super::schedule::{DomainId, Schedule};
use crate::error::{Error, Result};
use crate::transform::{Expr, Params, Solver};

/// The size of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// All cells: items and holes.
    pub cells: Expr,
    /// The items of the roots.
    pub items: Expr,
}

impl Allocation {
    /// The number of cells that hold no item.
    pub fn holes(&self, params: &Params) -> Result<i64> {
        Ok(self.cells.evaluate(&[], params)? - self.items.evaluate(&[], params)?)
    }
}

impl Schedule {
    /// The allocation over the given domains, which must together index every root once.
    pub fn allocation(&self, domains: &[DomainId]) -> Result<Allocation> {
        const ALLOCATION: &str = "allocation";
        // A cut of the graph: replacing the loops by the inputs of operations, backwards, must reach the domains.
        let mut frontier = self.loops().to_vec();
        for step in self.steps().iter().rev() {
            let produced = step.outputs.iter().all(|output| frontier.contains(output));
            let wanted = step.outputs.iter().any(|output| domains.contains(output));
            if produced && !wanted {
                frontier.retain(|domain| !step.outputs.contains(domain));
                frontier.extend(&step.inputs);
            }
        }
        let same = frontier.len() == domains.len() && domains.iter().all(|domain| frontier.contains(domain));
        if !same {
            return Err(Error::inadmissible(ALLOCATION, "the domains do not index every root exactly once"));
        }
        let product = |domains: &[DomainId]| {
            domains.iter().fold(Expr::Const(1), |product, &domain| product.mul(self.extent(domain).clone()))
        };
        Ok(Allocation { cells: product(domains), items: product(self.roots()) })
    }

    /// The iterations of the loops that are no items, as isl counts them. The extents must be numbers.
    pub fn count_holes(&self, solver: &Solver) -> Result<Option<i64>> {
        solver.count(&solver.holes(&self.loops_of_roots()?)?)
    }
}
