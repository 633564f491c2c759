//! Relations between two tuples.

use crate::runtime::{OutBool, Result};
use crate::{
    Aff, BasicMap, Constraint, Dim, FixedBox, Id, MultiAff, MultiPwAff, PwAff, PwMultiAff, Set, Space, UnionMap, Val,
};

object! {
    /// A union of basic maps of one space.
    Map, "isl_map_"
}

bind! { Map, "isl_map_";
    fn from_pw_aff(pwaff: PwAff) -> Map;
    fn from_pw_multi_aff(pma: PwMultiAff) -> Map;
    fn as_pw_multi_aff(self) -> PwMultiAff;
    fn from_multi_pw_aff(mpa: MultiPwAff) -> Map;
    fn add_constraint(self, constraint: Constraint) -> Map;
    fn domain_tuple_dim(&self) -> usize;
    fn range_tuple_dim(&self) -> usize;
    fn dim(&self, kind: Dim) -> usize;
    fn get_space(&self) -> Space;
    fn has_tuple_name(&self, kind: Dim) -> bool;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn set_tuple_name(self, kind: Dim, s: &str) -> Map;
    fn has_dim_name(&self, kind: Dim, pos: usize) -> bool;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> Map;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> Map;
    fn has_dim_id(&self, kind: Dim, pos: usize) -> bool;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn set_domain_tuple_id(self, id: Id) -> Map;
    fn set_range_tuple_id(self, id: Id) -> Map;
    fn set_tuple_id(self, kind: Dim, id: Id) -> Map;
    fn reset_tuple_id(self, kind: Dim) -> Map;
    fn has_domain_tuple_id(&self) -> bool;
    fn has_range_tuple_id(&self) -> bool;
    fn has_tuple_id(&self, kind: Dim) -> bool;
    fn get_domain_tuple_id(&self) -> Id;
    fn get_range_tuple_id(&self) -> Id;
    fn get_tuple_id(&self, kind: Dim) -> Id;
    fn find_dim_by_id(&self, kind: Dim, id: &Id) -> Option<usize>;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn remove_redundancies(self) -> Map;
    fn simple_hull(self) -> BasicMap;
    fn unshifted_simple_hull(self) -> BasicMap;
    fn plain_unshifted_simple_hull(self) -> BasicMap;
    fn unshifted_simple_hull_from_map_list(self, list: &[Map]) -> BasicMap;
    fn lower_bound_multi_pw_aff(self, lower: MultiPwAff) -> Map;
    fn upper_bound_multi_pw_aff(self, upper: MultiPwAff) -> Map;
    fn sum(self, other: Map) -> Map;
    fn neg(self) -> Map;
    fn floordiv_val(self, d: Val) -> Map;
    fn lexmin(self) -> Map;
    fn lexmax(self) -> Map;
    fn lexmin_pw_multi_aff(self) -> PwMultiAff;
    fn lexmax_pw_multi_aff(self) -> PwMultiAff;
    fn min_multi_pw_aff(self) -> MultiPwAff;
    fn max_multi_pw_aff(self) -> MultiPwAff;
    fn universe(space: Space) -> Map;
    fn nat_universe(space: Space) -> Map;
    fn empty(space: Space) -> Map;
    fn identity(space: Space) -> Map;
    fn lex_lt_first(space: Space, n: usize) -> Map;
    fn lex_le_first(space: Space, n: usize) -> Map;
    fn lex_lt(set_space: Space) -> Map;
    fn lex_le(set_space: Space) -> Map;
    fn lex_gt_first(space: Space, n: usize) -> Map;
    fn lex_ge_first(space: Space, n: usize) -> Map;
    fn lex_gt(set_space: Space) -> Map;
    fn lex_ge(set_space: Space) -> Map;
    fn reverse(self) -> Map;
    fn domain_reverse(self) -> Map;
    fn range_reverse(self) -> Map;
    fn union(self, other: Map) -> Map;
    fn union_disjoint(self, other: Map) -> Map;
    fn intersect_domain(self, set: Set) -> Map;
    fn intersect_range(self, set: Set) -> Map;
    fn intersect_domain_factor_domain(self, factor: Map) -> Map;
    fn intersect_domain_factor_range(self, factor: Map) -> Map;
    fn intersect_range_factor_domain(self, factor: Map) -> Map;
    fn intersect_range_factor_range(self, factor: Map) -> Map;
    fn intersect_domain_wrapped_domain(self, domain: Set) -> Map;
    fn intersect_range_wrapped_domain(self, domain: Set) -> Map;
    fn apply_domain(self, other: Map) -> Map;
    fn apply_range(self, other: Map) -> Map;
    fn preimage_domain_multi_aff(self, ma: MultiAff) -> Map;
    fn preimage_range_multi_aff(self, ma: MultiAff) -> Map;
    fn preimage_domain_pw_multi_aff(self, pma: PwMultiAff) -> Map;
    fn preimage_range_pw_multi_aff(self, pma: PwMultiAff) -> Map;
    fn preimage_domain_multi_pw_aff(self, mpa: MultiPwAff) -> Map;
    fn product(self, other: Map) -> Map;
    fn domain_product(self, other: Map) -> Map;
    fn range_product(self, other: Map) -> Map;
    fn flat_product(self, other: Map) -> Map;
    fn flat_domain_product(self, other: Map) -> Map;
    fn flat_range_product(self, other: Map) -> Map;
    fn domain_is_wrapping(&self) -> bool;
    fn range_is_wrapping(&self) -> bool;
    fn is_product(&self) -> bool;
    fn factor_domain(self) -> Map;
    fn factor_range(self) -> Map;
    fn domain_factor_domain(self) -> Map;
    fn domain_factor_range(self) -> Map;
    fn range_factor_domain(self) -> Map;
    fn range_factor_range(self) -> Map;
    fn intersect(self, other: Map) -> Map;
    fn intersect_params(self, params: Set) -> Map;
    fn subtract(self, other: Map) -> Map;
    fn subtract_domain(self, dom: Set) -> Map;
    fn subtract_range(self, dom: Set) -> Map;
    fn complement(self) -> Map;
    fn fix_input_si(self, input: usize, value: i32) -> Map;
    fn fix_si(self, kind: Dim, pos: usize, value: i32) -> Map;
    fn fix_val(self, kind: Dim, pos: usize, v: Val) -> Map;
    fn lower_bound_si(self, kind: Dim, pos: usize, value: i32) -> Map;
    fn lower_bound_val(self, kind: Dim, pos: usize, value: Val) -> Map;
    fn upper_bound_si(self, kind: Dim, pos: usize, value: i32) -> Map;
    fn upper_bound_val(self, kind: Dim, pos: usize, value: Val) -> Map;
    fn deltas(self) -> Set;
    fn deltas_map(self) -> Map;
    fn detect_equalities(self) -> Map;
    fn affine_hull(self) -> BasicMap;
    fn convex_hull(self) -> BasicMap;
    fn polyhedral_hull(self) -> BasicMap;
    fn add_dims(self, kind: Dim, n: usize) -> Map;
    fn insert_dims(self, kind: Dim, pos: usize, n: usize) -> Map;
    fn move_dims(self, dst_kind: Dim, dst_pos: usize, src_kind: Dim, src_pos: usize, n: usize) -> Map;
    fn project_out_param_id(self, id: Id) -> Map;
    fn project_out_param_id_list(self, list: &[Id]) -> Map;
    fn project_out(self, kind: Dim, first: usize, n: usize) -> Map;
    fn project_out_all_params(self) -> Map;
    fn remove_unknown_divs(self) -> Map;
    fn remove_divs(self) -> Map;
    fn eliminate(self, kind: Dim, first: usize, n: usize) -> Map;
    fn remove_dims(self, kind: Dim, first: usize, n: usize) -> Map;
    fn remove_divs_involving_dims(self, kind: Dim, first: usize, n: usize) -> Map;
    fn remove_inputs(self, first: usize, n: usize) -> Map;
    fn order_ge(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Map;
    fn order_le(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Map;
    fn equate(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Map;
    fn oppose(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Map;
    fn order_lt(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Map;
    fn order_gt(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Map;
    fn wrap(self) -> Set;
    fn flatten(self) -> Map;
    fn flatten_domain(self) -> Map;
    fn flatten_range(self) -> Map;
    fn params(self) -> Set;
    fn domain(self) -> Set;
    fn range(self) -> Set;
    fn domain_map(self) -> Map;
    fn range_map(self) -> Map;
    fn from_basic_map(bmap: BasicMap) -> Map;
    fn from_domain(set: Set) -> Map;
    fn from_range(set: Set) -> Map;
    fn from_domain_and_range(domain: Set, range: Set) -> Map;
    fn sample(self) -> BasicMap;
    fn plain_is_empty(&self) -> bool;
    fn plain_is_universe(&self) -> bool;
    fn is_empty(&self) -> bool;
    fn is_subset(&self, other: &Map) -> bool;
    fn is_strict_subset(&self, other: &Map) -> bool;
    fn is_equal(&self, other: &Map) -> bool;
    fn is_disjoint(&self, other: &Map) -> bool;
    fn plain_is_single_valued(&self) -> bool;
    fn is_single_valued(&self) -> bool;
    fn plain_is_injective(&self) -> bool;
    fn is_injective(&self) -> bool;
    fn is_bijective(&self) -> bool;
    fn is_identity(&self) -> bool;
    fn is_translation(&self) -> bool;
    fn has_equal_space(&self, other: &Map) -> bool;
    fn can_zip(&self) -> bool;
    fn zip(self) -> Map;
    fn can_curry(&self) -> bool;
    fn curry(self) -> Map;
    fn can_range_curry(&self) -> bool;
    fn range_curry(self) -> Map;
    fn can_uncurry(&self) -> bool;
    fn uncurry(self) -> Map;
    fn make_disjoint(self) -> Map;
    fn compute_divs(self) -> Map;
    fn drop_constraints_involving_dims(self, kind: Dim, first: usize, n: usize) -> Map;
    fn drop_constraints_not_involving_dims(self, kind: Dim, first: usize, n: usize) -> Map;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn plain_get_val_if_fixed(&self, kind: Dim, pos: usize) -> Val;
    fn gist(self, context: Map) -> Map;
    fn gist_domain(self, context: Set) -> Map;
    fn gist_range(self, context: Set) -> Map;
    fn gist_params(self, context: Set) -> Map;
    fn gist_basic_map(self, context: BasicMap) -> Map;
    fn coalesce(self) -> Map;
    fn plain_is_equal(&self, other: &Map) -> bool;
    fn n_basic_map(&self) -> usize;
    fn get_basic_map_list(&self) -> Vec<BasicMap>;
    fn fixed_power_val(self, exp: Val) -> Map;
    fn lex_le_map(self, other: Map) -> Map;
    fn lex_lt_map(self, other: Map) -> Map;
    fn lex_ge_map(self, other: Map) -> Map;
    fn lex_gt_map(self, other: Map) -> Map;
    fn eq_at_multi_pw_aff(self, mpa: MultiPwAff) -> Map;
    fn lex_lt_at_multi_pw_aff(self, mpa: MultiPwAff) -> Map;
    fn lex_le_at_multi_pw_aff(self, mpa: MultiPwAff) -> Map;
    fn lex_gt_at_multi_pw_aff(self, mpa: MultiPwAff) -> Map;
    fn lex_ge_at_multi_pw_aff(self, mpa: MultiPwAff) -> Map;
    fn align_params(self, model: Space) -> Map;
    fn drop_unused_params(self) -> Map;
    fn from_aff(aff: Aff) -> Map;
    fn from_multi_aff(maff: MultiAff) -> Map;
    fn get_range_simple_fixed_box_hull(&self) -> FixedBox;
    fn dim_min(self, pos: usize) -> PwAff;
    fn dim_max(self, pos: usize) -> PwAff;
    fn to_union_map(self) -> UnionMap;
    fn from_union_map(umap: UnionMap) -> Map;
}

bind_callbacks! { Map, "isl_map_";
    fn foreach_basic_map: each(BasicMap);
}

bind! { Map;
    fn raw_transitive_closure = "isl_map_transitive_closure"(self, exact: OutBool<'_>) -> Map;
}

impl Map {
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
