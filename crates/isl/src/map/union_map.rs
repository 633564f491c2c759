//! Relations over several spaces, such as dependences.

use crate::runtime::{OutBool, Result};
use crate::{Context, Map, Set, Space, UnionSet};

object! {
    /// A union of maps of several spaces.
    UnionMap, "isl_union_map_"
}

bind! { UnionMap, "isl_union_map_";
    fn from_map(map: Map) -> UnionMap;
    fn empty_ctx(ctx: &Context) -> UnionMap;
    fn empty(space: Space) -> UnionMap;
    fn get_space(&self) -> Space;
    fn universe(self) -> UnionMap;
    fn domain(self) -> UnionSet;
    fn range(self) -> UnionSet;
    fn domain_map(self) -> UnionMap;
    fn range_map(self) -> UnionMap;
    fn from_domain(uset: UnionSet) -> UnionMap;
    fn coalesce(self) -> UnionMap;
    fn lexmin(self) -> UnionMap;
    fn lexmax(self) -> UnionMap;
    fn add_map(self, map: Map) -> UnionMap;
    fn union(self, other: UnionMap) -> UnionMap;
    fn subtract(self, other: UnionMap) -> UnionMap;
    fn intersect(self, other: UnionMap) -> UnionMap;
    fn intersect_params(self, set: Set) -> UnionMap;
    fn range_product(self, other: UnionMap) -> UnionMap;
    fn domain_factor_domain(self) -> UnionMap;
    fn range_factor_domain(self) -> UnionMap;
    fn gist(self, context: UnionMap) -> UnionMap;
    fn intersect_domain(self, uset: UnionSet) -> UnionMap;
    fn intersect_range(self, uset: UnionSet) -> UnionMap;
    fn intersect_range_factor_domain(self, factor: UnionMap) -> UnionMap;
    fn intersect_range_factor_range(self, factor: UnionMap) -> UnionMap;
    fn intersect_range_wrapped_domain_union_set(self, domain: UnionSet) -> UnionMap;
    fn subtract_domain(self, dom: UnionSet) -> UnionMap;
    fn subtract_range(self, dom: UnionSet) -> UnionMap;
    fn apply_domain(self, other: UnionMap) -> UnionMap;
    fn apply_range(self, other: UnionMap) -> UnionMap;
    fn reverse(self) -> UnionMap;
    fn deltas(self) -> UnionSet;
    fn is_empty(&self) -> bool;
    fn is_single_valued(&self) -> bool;
    fn is_injective(&self) -> bool;
    fn is_subset(&self, other: &UnionMap) -> bool;
    fn is_equal(&self, other: &UnionMap) -> bool;
    fn get_map_list(&self) -> Vec<Map>;
    fn wrap(self) -> UnionSet;
    fn align_params(self, model: Space) -> UnionMap;
}

bind_callbacks! { UnionMap, "isl_union_map_";
    fn foreach_map: each(Map);
    fn every_map: test(Map);
}

bind! { UnionMap;
    fn raw_transitive_closure = "isl_union_map_transitive_closure"(self, exact: OutBool<'_>) -> UnionMap;
}

impl UnionMap {
    /// The maps, one per space.
    pub fn maps(&self) -> Result<Vec<Map>> {
        self.get_map_list()
    }

    /// The transitive closure, or an overapproximation; the flag says whether it is exact.
    pub fn transitive_closure(self) -> Result<(UnionMap, bool)> {
        let mut exact = 0;
        let closure = self.raw_transitive_closure(OutBool::new(&mut exact))?;
        Ok((closure, exact == 1))
    }
}
