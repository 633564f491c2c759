//! Relations between two tuples.

use crate::runtime::{Error, OutBool, Result};
use crate::{Aff, BasicMap, Dim, FixedBox, MultiAff, PwAff, PwMultiAff, Set, Space, UnionMap, Val};

object! {
    /// A union of basic maps of one space.
    Map, "isl_map_"
}

bind! { Map, "isl_map_";
    fn from_pw_aff(pwaff: PwAff) -> Map;
    fn from_pw_multi_aff(pma: PwMultiAff) -> Map;
    fn as_pw_multi_aff(self) -> PwMultiAff;
    fn dim(&self, kind: Dim) -> usize;
    fn get_space(&self) -> Space;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn lexmin(self) -> Map;
    fn lexmax(self) -> Map;
    fn universe(space: Space) -> Map;
    fn empty(space: Space) -> Map;
    fn identity(space: Space) -> Map;
    fn lex_lt(set_space: Space) -> Map;
    fn reverse(self) -> Map;
    fn union(self, other: Map) -> Map;
    fn intersect_domain(self, set: Set) -> Map;
    fn intersect_range(self, set: Set) -> Map;
    fn intersect_range_factor_domain(self, factor: Map) -> Map;
    fn apply_domain(self, other: Map) -> Map;
    fn apply_range(self, other: Map) -> Map;
    fn range_product(self, other: Map) -> Map;
    fn flat_range_product(self, other: Map) -> Map;
    fn domain_factor_domain(self) -> Map;
    fn range_factor_domain(self) -> Map;
    fn range_factor_range(self) -> Map;
    fn intersect(self, other: Map) -> Map;
    fn intersect_params(self, params: Set) -> Map;
    fn subtract(self, other: Map) -> Map;
    fn subtract_domain(self, dom: Set) -> Map;
    fn subtract_range(self, dom: Set) -> Map;
    fn complement(self) -> Map;
    fn fix_si(self, kind: Dim, pos: usize, value: i32) -> Map;
    fn fix_val(self, kind: Dim, pos: usize, v: Val) -> Map;
    fn deltas(self) -> Set;
    fn convex_hull(self) -> BasicMap;
    fn project_out(self, kind: Dim, first: usize, n: usize) -> Map;
    fn equate(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Map;
    fn order_lt(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Map;
    fn order_gt(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Map;
    fn wrap(self) -> Set;
    fn flatten(self) -> Map;
    fn params(self) -> Set;
    fn domain(self) -> Set;
    fn range(self) -> Set;
    fn from_basic_map(bmap: BasicMap) -> Map;
    fn from_domain(set: Set) -> Map;
    fn sample(self) -> BasicMap;
    fn is_empty(&self) -> bool;
    fn is_subset(&self, other: &Map) -> bool;
    fn is_equal(&self, other: &Map) -> bool;
    fn is_single_valued(&self) -> bool;
    fn is_injective(&self) -> bool;
    fn is_bijective(&self) -> bool;
    fn is_identity(&self) -> bool;
    fn coalesce(self) -> Map;
    fn get_basic_map_list(&self) -> Vec<BasicMap>;
    fn align_params(self, model: Space) -> Map;
    fn from_aff(aff: Aff) -> Map;
    fn from_multi_aff(maff: MultiAff) -> Map;
    fn get_range_simple_fixed_box_hull(&self) -> FixedBox;
    fn dim_min(self, pos: usize) -> PwAff;
    fn dim_max(self, pos: usize) -> PwAff;
    fn to_union_map(self) -> UnionMap;
    fn from_union_map(umap: UnionMap) -> Map;
}

// isl trusts its caller with this one: `gist` below looks first.
bind! { trusted Map;
    fn raw_gist = "isl_map_gist"(self, context: Map) -> Map;
}

bind! { Map;
    fn raw_transitive_closure = "isl_map_transitive_closure"(self, exact: OutBool<'_>) -> Map;
}

impl Map {
    /// `isl_map_gist` of the isl manual: a simpler map that is the same within `context`, which has the same space.
    pub fn gist(self, context: Map) -> Result<Map> {
        if !self.get_space()?.has_equal_tuples(&context.get_space()?)? {
            return Err(Error::invalid("isl_map_gist", "the spaces differ"));
        }
        self.raw_gist(context)
    }

    /// The disjuncts.
    pub fn basic_maps(&self) -> Result<Vec<BasicMap>> {
        self.get_basic_map_list()
    }

    /// The transitive closure, or an overapproximation; the flag says whether it is exact.
    pub fn transitive_closure(self) -> Result<(Map, bool)> {
        let mut exact = 0;
        let closure = self.raw_transitive_closure(OutBool::new(&mut exact))?;
        Ok((closure, exact == 1))
    }
}

bind!(@probe Map, gist, self, context: Map);
