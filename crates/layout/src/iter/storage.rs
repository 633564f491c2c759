//! Storage: how much an allocation domain holds, and how much of that are holes.

use super::schedule::{DomainId, Operation, Schedule};
use crate::error::{Error, Result};
use crate::transform::{Expr, Params, Solver};

/// The size of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// All cells: items and holes.
    pub cells: Expr,
    /// The items that no resize takes away. Unknown as an expression if a resize takes away from parts of domains or
    /// from several at once; [`Schedule::count_items`] counts them for extents that are numbers.
    pub items: Option<Expr>,
}

impl Allocation {
    /// The number of cells that hold no item, if the number of items is known.
    pub fn holes(&self, params: &Params) -> Result<Option<i64>> {
        let Some(items) = &self.items else { return Ok(None) };
        let holes = self.cells.evaluate(&[], params)?.checked_sub(items.evaluate(&[], params)?);
        holes.map(Some).ok_or(Error::Overflow { operation: ALLOCATION })
    }
}

const ALLOCATION: &str = "allocation";

impl Schedule {
    /// The allocation over the given domains, which must together index every root once. Broadcasts may be left out.
    pub fn allocation(&self, domains: &[DomainId]) -> Result<Allocation> {
        // A cut of the graph: replacing the loops by the inputs of operations, backwards, must reach the domains.
        let mut frontier = self.loops().to_vec();
        let steps = self.steps();
        for step in steps.iter().rev() {
            let produced = step.outputs.iter().all(|output| frontier.contains(output));
            let wanted = step.outputs.iter().any(|output| domains.contains(output));
            if produced && !wanted {
                frontier.retain(|domain| !step.outputs.contains(domain));
                frontier.extend(&step.inputs);
            }
        }
        let is_made = |domain: DomainId| steps.iter().any(|step| step.outputs.contains(&domain));
        let is_broadcast = |domain: DomainId| !self.roots().contains(&domain) && !is_made(domain);
        frontier.retain(|&domain| domains.contains(&domain) || !is_broadcast(domain));
        let same = frontier.len() == domains.len() && domains.iter().all(|domain| frontier.contains(domain));
        if !same {
            return Err(Error::inadmissible(ALLOCATION, "the domains do not index every root exactly once"));
        }
        let product = |extents: Vec<Expr>| extents.into_iter().fold(Expr::Const(1), Expr::mul).checked();
        let cells = product(domains.iter().map(|&domain| self.extent(domain).clone()).collect())?;
        // Where the cells come from: the roots, and the broadcasts among them.
        let mut sources = domains.iter().flat_map(|&domain| self.sources(domain)).collect::<Vec<_>>();
        sources.sort_unstable();
        sources.dedup();
        let mut sliced = self.slices().collect::<Vec<_>>();
        let kept = sources.into_iter().map(|source| self.kept(source, &mut sliced)).collect();
        let items = if sliced.is_empty() { Some(product(kept)?) } else { None };
        Ok(Allocation { cells, items })
    }

    /// How much of a source is left by the resizes at its beginning, which are struck off `sliced`.
    fn kept(&self, source: DomainId, sliced: &mut Vec<DomainId>) -> Expr {
        let (mut domain, mut shifted, mut below, mut above) = (source, 0i64, 0i64, 0i64);
        let mut end = 0i64;
        for step in self.steps() {
            let Operation::Resize { left, right } = step.operation else { continue };
            if step.inputs[0] != domain {
                continue;
            }
            domain = step.outputs[0];
            sliced.retain(|&slice| slice != domain);
            // In coordinates of the source, the resized domain is `-shifted .. extent + end`.
            (shifted, end) = (shifted.saturating_add(left), end.saturating_add(right));
            below = below.max(shifted.saturating_neg());
            above = above.max(end.saturating_neg());
        }
        let kept = self.extent(source).clone().add(Expr::Const(below.saturating_add(above).saturating_neg()));
        kept.constant().map_or(kept.clone(), |kept| Expr::Const(kept.max(0)))
    }

    /// The roots that no resize takes away, as isl counts them. The extents must be numbers.
    pub fn count_items(&self, solver: &Solver) -> Result<Option<i64>> {
        let map = solver.map(&self.loops_of_roots()?)?;
        solver.count(&solver.ask(|| map.domain())?)
    }

    /// The iterations of the loops that are no items, as isl counts them. The extents must be numbers.
    pub fn count_holes(&self, solver: &Solver) -> Result<Option<i64>> {
        solver.count(&solver.holes(&self.loops_of_roots()?)?)
    }
}
