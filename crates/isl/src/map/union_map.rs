//! Relations over several spaces, such as dependences.

use crate::runtime::{OutBool, Result};
use crate::{
    BasicMap, Context, Dim, Id, Map, MultiAff, MultiPwAff, MultiUnionPwAff, PwMultiAff, Set, Space, UnionPwAff,
    UnionPwMultiAff, UnionSet, Val,
};

object! {
    /// A union of maps of several spaces.
    UnionMap, "isl_union_map_"
}

bind! { UnionMap, "isl_union_map_";
    fn from_union_pw_multi_aff(upma: UnionPwMultiAff) -> UnionMap;
    fn as_union_pw_multi_aff(self) -> UnionPwMultiAff;
    fn from_union_pw_aff(upa: UnionPwAff) -> UnionMap;
    fn as_multi_union_pw_aff(self) -> MultiUnionPwAff;
    fn from_multi_union_pw_aff(mupa: MultiUnionPwAff) -> UnionMap;
    fn dim(&self, kind: Dim) -> usize;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn from_basic_map(bmap: BasicMap) -> UnionMap;
    fn from_map(map: Map) -> UnionMap;
    fn empty_ctx(ctx: &Context) -> UnionMap;
    fn empty_space(space: Space) -> UnionMap;
    fn empty(space: Space) -> UnionMap;
    fn get_space(&self) -> Space;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn universe(self) -> UnionMap;
    fn params(self) -> Set;
    fn domain(self) -> UnionSet;
    fn range(self) -> UnionSet;
    fn domain_map(self) -> UnionMap;
    fn domain_map_union_pw_multi_aff(self) -> UnionPwMultiAff;
    fn range_map(self) -> UnionMap;
    fn from_domain(uset: UnionSet) -> UnionMap;
    fn from_range(uset: UnionSet) -> UnionMap;
    fn affine_hull(self) -> UnionMap;
    fn polyhedral_hull(self) -> UnionMap;
    fn remove_redundancies(self) -> UnionMap;
    fn simple_hull(self) -> UnionMap;
    fn coalesce(self) -> UnionMap;
    fn compute_divs(self) -> UnionMap;
    fn lexmin(self) -> UnionMap;
    fn lexmax(self) -> UnionMap;
    fn add_map(self, map: Map) -> UnionMap;
    fn union(self, other: UnionMap) -> UnionMap;
    fn subtract(self, other: UnionMap) -> UnionMap;
    fn intersect(self, other: UnionMap) -> UnionMap;
    fn intersect_params(self, set: Set) -> UnionMap;
    fn product(self, other: UnionMap) -> UnionMap;
    fn domain_product(self, other: UnionMap) -> UnionMap;
    fn flat_domain_product(self, other: UnionMap) -> UnionMap;
    fn range_product(self, other: UnionMap) -> UnionMap;
    fn flat_range_product(self, other: UnionMap) -> UnionMap;
    fn domain_factor_domain(self) -> UnionMap;
    fn domain_factor_range(self) -> UnionMap;
    fn range_factor_domain(self) -> UnionMap;
    fn range_factor_range(self) -> UnionMap;
    fn factor_domain(self) -> UnionMap;
    fn factor_range(self) -> UnionMap;
    fn gist(self, context: UnionMap) -> UnionMap;
    fn gist_params(self, set: Set) -> UnionMap;
    fn gist_domain(self, uset: UnionSet) -> UnionMap;
    fn gist_range(self, uset: UnionSet) -> UnionMap;
    fn intersect_domain_union_set(self, uset: UnionSet) -> UnionMap;
    fn intersect_domain_space(self, space: Space) -> UnionMap;
    fn intersect_domain(self, uset: UnionSet) -> UnionMap;
    fn intersect_range_union_set(self, uset: UnionSet) -> UnionMap;
    fn intersect_range_space(self, space: Space) -> UnionMap;
    fn intersect_range(self, uset: UnionSet) -> UnionMap;
    fn intersect_domain_factor_domain(self, factor: UnionMap) -> UnionMap;
    fn intersect_domain_factor_range(self, factor: UnionMap) -> UnionMap;
    fn intersect_range_factor_domain(self, factor: UnionMap) -> UnionMap;
    fn intersect_range_factor_range(self, factor: UnionMap) -> UnionMap;
    fn intersect_domain_wrapped_domain_union_set(self, domain: UnionSet) -> UnionMap;
    fn intersect_range_wrapped_domain_union_set(self, domain: UnionSet) -> UnionMap;
    fn subtract_domain(self, dom: UnionSet) -> UnionMap;
    fn subtract_range(self, dom: UnionSet) -> UnionMap;
    fn apply_domain(self, other: UnionMap) -> UnionMap;
    fn apply_range(self, other: UnionMap) -> UnionMap;
    fn preimage_domain_multi_aff(self, ma: MultiAff) -> UnionMap;
    fn preimage_range_multi_aff(self, ma: MultiAff) -> UnionMap;
    fn preimage_domain_pw_multi_aff(self, pma: PwMultiAff) -> UnionMap;
    fn preimage_range_pw_multi_aff(self, pma: PwMultiAff) -> UnionMap;
    fn preimage_domain_multi_pw_aff(self, mpa: MultiPwAff) -> UnionMap;
    fn preimage_domain_union_pw_multi_aff(self, upma: UnionPwMultiAff) -> UnionMap;
    fn preimage_range_union_pw_multi_aff(self, upma: UnionPwMultiAff) -> UnionMap;
    fn reverse(self) -> UnionMap;
    fn domain_reverse(self) -> UnionMap;
    fn range_reverse(self) -> UnionMap;
    fn from_domain_and_range(domain: UnionSet, range: UnionSet) -> UnionMap;
    fn detect_equalities(self) -> UnionMap;
    fn deltas(self) -> UnionSet;
    fn deltas_map(self) -> UnionMap;
    fn project_out_param_id(self, id: Id) -> UnionMap;
    fn project_out_param_id_list(self, list: &[Id]) -> UnionMap;
    fn project_out(self, kind: Dim, first: usize, n: usize) -> UnionMap;
    fn project_out_all_params(self) -> UnionMap;
    fn drop_unused_params(self) -> UnionMap;
    fn remove_divs(self) -> UnionMap;
    fn plain_is_empty(&self) -> bool;
    fn is_empty(&self) -> bool;
    fn is_single_valued(&self) -> bool;
    fn plain_is_injective(&self) -> bool;
    fn is_injective(&self) -> bool;
    fn is_bijective(&self) -> bool;
    fn is_identity(&self) -> bool;
    fn is_subset(&self, other: &UnionMap) -> bool;
    fn is_equal(&self, other: &UnionMap) -> bool;
    fn is_disjoint(&self, other: &UnionMap) -> bool;
    fn is_strict_subset(&self, other: &UnionMap) -> bool;
    fn n_map(&self) -> usize;
    fn get_map_list(&self) -> Vec<Map>;
    fn contains(&self, space: &Space) -> bool;
    fn extract_map(&self, space: Space) -> Map;
    fn isa_map(&self) -> bool;
    fn as_map(self) -> Map;
    fn sample(self) -> BasicMap;
    fn fixed_power_val(self, exp: Val) -> UnionMap;
    fn lex_lt_union_map(self, other: UnionMap) -> UnionMap;
    fn lex_le_union_map(self, other: UnionMap) -> UnionMap;
    fn lex_gt_union_map(self, other: UnionMap) -> UnionMap;
    fn lex_ge_union_map(self, other: UnionMap) -> UnionMap;
    fn eq_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> UnionMap;
    fn lex_le_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> UnionMap;
    fn lex_lt_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> UnionMap;
    fn lex_ge_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> UnionMap;
    fn lex_gt_at_multi_union_pw_aff(self, mupa: MultiUnionPwAff) -> UnionMap;
    fn wrap(self) -> UnionSet;
    fn zip(self) -> UnionMap;
    fn curry(self) -> UnionMap;
    fn range_curry(self) -> UnionMap;
    fn uncurry(self) -> UnionMap;
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
