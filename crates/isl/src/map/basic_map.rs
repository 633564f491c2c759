//! Conjunctions of affine constraints between two tuples.

use crate::runtime::Result;
use crate::{Aff, BasicSet, Constraint, Dim, Id, LocalSpace, Map, MultiAff, PwMultiAff, Space, Val};

object! {
    /// One conjunction of affine constraints between two tuples.
    BasicMap, "isl_basic_map_"
}

bind! { BasicMap, "isl_basic_map_";
    fn n_constraint(&self) -> usize;
    fn get_constraint_list(&self) -> Vec<Constraint>;
    fn add_constraint(self, constraint: Constraint) -> BasicMap;
    fn from_constraint(constraint: Constraint) -> BasicMap;
    fn dim(&self, kind: Dim) -> usize;
    fn get_space(&self) -> Space;
    fn get_div(&self, pos: usize) -> Aff;
    fn get_local_space(&self) -> LocalSpace;
    fn set_tuple_name(self, kind: Dim, s: &str) -> BasicMap;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> BasicMap;
    fn set_tuple_id(self, kind: Dim, id: Id) -> BasicMap;
    fn has_dim_id(&self, kind: Dim, pos: usize) -> bool;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn is_rational(&self) -> bool;
    fn identity(space: Space) -> BasicMap;
    fn equal(space: Space, n_equal: usize) -> BasicMap;
    fn less_at(space: Space, pos: usize) -> BasicMap;
    fn more_at(space: Space, pos: usize) -> BasicMap;
    fn empty(space: Space) -> BasicMap;
    fn universe(space: Space) -> BasicMap;
    fn nat_universe(space: Space) -> BasicMap;
    fn remove_redundancies(self) -> BasicMap;
    fn intersect_params(self, bset: BasicSet) -> BasicMap;
    fn intersect_domain(self, bset: BasicSet) -> BasicMap;
    fn intersect_range(self, bset: BasicSet) -> BasicMap;
    fn intersect(self, other: BasicMap) -> BasicMap;
    fn union(self, other: BasicMap) -> Map;
    fn apply_domain(self, other: BasicMap) -> BasicMap;
    fn apply_range(self, other: BasicMap) -> BasicMap;
    fn affine_hull(self) -> BasicMap;
    fn preimage_domain_multi_aff(self, ma: MultiAff) -> BasicMap;
    fn preimage_range_multi_aff(self, ma: MultiAff) -> BasicMap;
    fn reverse(self) -> BasicMap;
    fn domain(self) -> BasicSet;
    fn range(self) -> BasicSet;
    fn domain_map(self) -> BasicMap;
    fn range_map(self) -> BasicMap;
    fn remove_dims(self, kind: Dim, first: usize, n: usize) -> BasicMap;
    fn eliminate(self, kind: Dim, first: usize, n: usize) -> BasicMap;
    fn sample(self) -> BasicMap;
    fn detect_equalities(self) -> BasicMap;
    fn fix_si(self, kind: Dim, pos: usize, value: i32) -> BasicMap;
    fn fix_val(self, kind: Dim, pos: usize, v: Val) -> BasicMap;
    fn lower_bound_si(self, kind: Dim, pos: usize, value: i32) -> BasicMap;
    fn upper_bound_si(self, kind: Dim, pos: usize, value: i32) -> BasicMap;
    fn sum(self, other: BasicMap) -> BasicMap;
    fn neg(self) -> BasicMap;
    fn is_equal(&self, other: &BasicMap) -> bool;
    fn is_disjoint(&self, other: &BasicMap) -> bool;
    fn lexmin(self) -> Map;
    fn lexmax(self) -> Map;
    fn lexmin_pw_multi_aff(self) -> PwMultiAff;
    fn plain_get_val_if_fixed(&self, kind: Dim, pos: usize) -> Val;
    fn image_is_bounded(&self) -> bool;
    fn plain_is_universe(&self) -> bool;
    fn is_universe(&self) -> bool;
    fn plain_is_empty(&self) -> bool;
    fn is_empty(&self) -> bool;
    fn is_subset(&self, other: &BasicMap) -> bool;
    fn is_strict_subset(&self, other: &BasicMap) -> bool;
    fn product(self, other: BasicMap) -> BasicMap;
    fn domain_product(self, other: BasicMap) -> BasicMap;
    fn range_product(self, other: BasicMap) -> BasicMap;
    fn flat_product(self, other: BasicMap) -> BasicMap;
    fn flat_range_product(self, other: BasicMap) -> BasicMap;
    fn deltas(self) -> BasicSet;
    fn deltas_map(self) -> BasicMap;
    fn add_dims(self, kind: Dim, n: usize) -> BasicMap;
    fn insert_dims(self, kind: Dim, pos: usize, n: usize) -> BasicMap;
    fn move_dims(self, dst_kind: Dim, dst_pos: usize, src_kind: Dim, src_pos: usize, n: usize) -> BasicMap;
    fn project_out(self, kind: Dim, first: usize, n: usize) -> BasicMap;
    fn remove_divs(self) -> BasicMap;
    fn remove_divs_involving_dims(self, kind: Dim, first: usize, n: usize) -> BasicMap;
    fn equate(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> BasicMap;
    fn order_ge(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> BasicMap;
    fn order_gt(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> BasicMap;
    fn wrap(self) -> BasicSet;
    fn flatten(self) -> BasicMap;
    fn flatten_domain(self) -> BasicMap;
    fn flatten_range(self) -> BasicMap;
    fn from_domain(bset: BasicSet) -> BasicMap;
    fn from_range(bset: BasicSet) -> BasicMap;
    fn from_domain_and_range(domain: BasicSet, range: BasicSet) -> BasicMap;
    fn is_single_valued(&self) -> bool;
    fn can_zip(&self) -> bool;
    fn zip(self) -> BasicMap;
    fn can_curry(&self) -> bool;
    fn curry(self) -> BasicMap;
    fn can_uncurry(&self) -> bool;
    fn uncurry(self) -> BasicMap;
    fn compute_divs(self) -> Map;
    fn drop_constraints_involving_dims(self, kind: Dim, first: usize, n: usize) -> BasicMap;
    fn drop_constraints_not_involving_dims(self, kind: Dim, first: usize, n: usize) -> BasicMap;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn gist_domain(self, context: BasicSet) -> BasicMap;
    fn gist(self, context: BasicMap) -> BasicMap;
    fn align_params(self, model: Space) -> BasicMap;
    fn drop_unused_params(self) -> BasicMap;
    fn from_aff(aff: Aff) -> BasicMap;
    fn from_multi_aff(maff: MultiAff) -> BasicMap;
    fn from_aff_list(domain_space: Space, list: &[Aff]) -> BasicMap;
}

bind_callbacks! { BasicMap, "isl_basic_map_";
    fn foreach_constraint: each(Constraint);
}

impl BasicMap {
    /// The equalities and inequalities.
    pub fn constraints(&self) -> Result<Vec<Constraint>> {
        self.get_constraint_list()
    }
}
