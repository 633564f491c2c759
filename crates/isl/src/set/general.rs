//! Sets of one space.

use crate::runtime::Result;
use crate::{
    Aff, BasicSet, Constraint, Dim, Id, Map, MultiAff, MultiPwAff, MultiVal, Point, PwAff, PwMultiAff, Space, UnionSet,
    Val,
};

object! {
    /// A union of basic sets of one space.
    Set, "isl_set_"
}

bind! { Set, "isl_set_";
    fn pw_aff_on_domain_val(self, v: Val) -> PwAff;
    fn param_pw_aff_on_domain_id(self, id: Id) -> PwAff;
    fn indicator_function(self) -> PwAff;
    fn from_pw_aff(pwaff: PwAff) -> Set;
    fn pw_multi_aff_on_domain_multi_val(self, mv: MultiVal) -> PwMultiAff;
    fn from_pw_multi_aff(pma: PwMultiAff) -> Set;
    fn as_pw_multi_aff(self) -> PwMultiAff;
    fn from_multi_pw_aff(mpa: MultiPwAff) -> Set;
    fn n_dim(&self) -> usize;
    fn n_param(&self) -> usize;
    fn tuple_dim(&self) -> usize;
    fn dim(&self, kind: Dim) -> usize;
    fn get_space(&self) -> Space;
    fn reset_space(self, space: Space) -> Set;
    fn has_tuple_name(&self) -> bool;
    fn get_tuple_name(&self) -> Option<String>;
    fn set_tuple_name(self, s: &str) -> Set;
    fn has_dim_name(&self, kind: Dim, pos: usize) -> bool;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> Set;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> Set;
    fn has_dim_id(&self, kind: Dim, pos: usize) -> bool;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn set_tuple_id(self, id: Id) -> Set;
    fn reset_tuple_id(self) -> Set;
    fn has_tuple_id(&self) -> bool;
    fn get_tuple_id(&self) -> Id;
    fn find_dim_by_id(&self, kind: Dim, id: &Id) -> Option<usize>;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn remove_redundancies(self) -> Set;
    fn fix_si(self, kind: Dim, pos: usize, value: i32) -> Set;
    fn lower_bound_si(self, kind: Dim, pos: usize, value: i32) -> Set;
    fn lower_bound_val(self, kind: Dim, pos: usize, value: Val) -> Set;
    fn upper_bound_si(self, kind: Dim, pos: usize, value: i32) -> Set;
    fn upper_bound_val(self, kind: Dim, pos: usize, value: Val) -> Set;
    fn lower_bound_multi_val(self, lower: MultiVal) -> Set;
    fn upper_bound_multi_val(self, upper: MultiVal) -> Set;
    fn lower_bound_multi_pw_aff(self, lower: MultiPwAff) -> Set;
    fn upper_bound_multi_pw_aff(self, upper: MultiPwAff) -> Set;
    fn equate(self, type1: Dim, pos1: usize, type2: Dim, pos2: usize) -> Set;
    fn lexmin(self) -> Set;
    fn lexmax(self) -> Set;
    fn lexmin_pw_multi_aff(self) -> PwMultiAff;
    fn lexmax_pw_multi_aff(self) -> PwMultiAff;
    fn min_multi_pw_aff(self) -> MultiPwAff;
    fn max_multi_pw_aff(self) -> MultiPwAff;
    fn params(self) -> Set;
    fn from_params(self) -> Set;
    fn empty(space: Space) -> Set;
    fn universe(space: Space) -> Set;
    fn nat_universe(space: Space) -> Set;
    fn from_basic_set(bset: BasicSet) -> Set;
    fn sample(self) -> BasicSet;
    fn sample_point(self) -> Point;
    fn detect_equalities(self) -> Set;
    fn affine_hull(self) -> BasicSet;
    fn convex_hull(self) -> BasicSet;
    fn polyhedral_hull(self) -> BasicSet;
    fn simple_hull(self) -> BasicSet;
    fn unshifted_simple_hull(self) -> BasicSet;
    fn plain_unshifted_simple_hull(self) -> BasicSet;
    fn unshifted_simple_hull_from_set_list(self, list: &[Set]) -> BasicSet;
    fn bounded_simple_hull(self) -> BasicSet;
    fn wrapped_reverse(self) -> Set;
    fn union_disjoint(self, other: Set) -> Set;
    fn union(self, other: Set) -> Set;
    fn product(self, other: Set) -> Set;
    fn flat_product(self, other: Set) -> Set;
    fn intersect(self, other: Set) -> Set;
    fn intersect_params(self, params: Set) -> Set;
    fn intersect_factor_domain(self, domain: Set) -> Set;
    fn intersect_factor_range(self, range: Set) -> Set;
    fn subtract(self, other: Set) -> Set;
    fn complement(self) -> Set;
    fn apply(self, map: Map) -> Set;
    fn preimage_multi_aff(self, ma: MultiAff) -> Set;
    fn preimage_pw_multi_aff(self, pma: PwMultiAff) -> Set;
    fn preimage_multi_pw_aff(self, mpa: MultiPwAff) -> Set;
    fn fix_val(self, kind: Dim, pos: usize, v: Val) -> Set;
    fn fix_dim_si(self, dim: usize, value: i32) -> Set;
    fn insert_dims(self, kind: Dim, pos: usize, n: usize) -> Set;
    fn add_dims(self, kind: Dim, n: usize) -> Set;
    fn move_dims(self, dst_kind: Dim, dst_pos: usize, src_kind: Dim, src_pos: usize, n: usize) -> Set;
    fn project_out_param_id(self, id: Id) -> Set;
    fn project_out_param_id_list(self, list: &[Id]) -> Set;
    fn project_out(self, kind: Dim, first: usize, n: usize) -> Set;
    fn project_out_all_params(self) -> Set;
    fn project_onto_map(self, kind: Dim, first: usize, n: usize) -> Map;
    fn eliminate(self, kind: Dim, first: usize, n: usize) -> Set;
    fn eliminate_dims(self, first: usize, n: usize) -> Set;
    fn remove_dims(self, kind: Dim, first: usize, n: usize) -> Set;
    fn remove_divs_involving_dims(self, kind: Dim, first: usize, n: usize) -> Set;
    fn remove_unknown_divs(self) -> Set;
    fn remove_divs(self) -> Set;
    fn split_dims(self, kind: Dim, first: usize, n: usize) -> Set;
    fn drop_constraints_involving_dims(self, kind: Dim, first: usize, n: usize) -> Set;
    fn drop_constraints_not_involving_dims(self, kind: Dim, first: usize, n: usize) -> Set;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn plain_is_empty(&self) -> bool;
    fn plain_is_universe(&self) -> bool;
    fn is_params(&self) -> bool;
    fn is_empty(&self) -> bool;
    fn is_bounded(&self) -> bool;
    fn is_subset(&self, other: &Set) -> bool;
    fn is_strict_subset(&self, other: &Set) -> bool;
    fn is_equal(&self, other: &Set) -> bool;
    fn is_disjoint(&self, other: &Set) -> bool;
    fn is_singleton(&self) -> bool;
    fn is_box(&self) -> bool;
    fn has_equal_space(&self, other: &Set) -> bool;
    fn sum(self, other: Set) -> Set;
    fn neg(self) -> Set;
    fn make_disjoint(self) -> Set;
    fn compute_divs(self) -> Set;
    fn get_plain_multi_val_if_fixed(&self) -> MultiVal;
    fn plain_get_val_if_fixed(&self, kind: Dim, pos: usize) -> Val;
    fn dim_is_bounded(&self, kind: Dim, pos: usize) -> bool;
    fn dim_has_lower_bound(&self, kind: Dim, pos: usize) -> bool;
    fn dim_has_upper_bound(&self, kind: Dim, pos: usize) -> bool;
    fn dim_has_any_lower_bound(&self, kind: Dim, pos: usize) -> bool;
    fn dim_has_any_upper_bound(&self, kind: Dim, pos: usize) -> bool;
    fn gist_basic_set(self, context: BasicSet) -> Set;
    fn gist(self, context: Set) -> Set;
    fn gist_params(self, context: Set) -> Set;
    fn get_stride(&self, pos: usize) -> Val;
    fn coalesce(self) -> Set;
    fn plain_cmp(&self, other: &Set) -> i32;
    fn plain_is_equal(&self, other: &Set) -> bool;
    fn plain_is_disjoint(&self, other: &Set) -> bool;
    fn n_basic_set(&self) -> usize;
    fn get_basic_set_list(&self) -> Vec<BasicSet>;
    fn count_val(&self) -> Val;
    fn from_point(pnt: Point) -> Set;
    fn box_from_points(pnt1: Point, pnt2: Point) -> Set;
    fn lift(self) -> Set;
    fn lex_le_set(self, other: Set) -> Map;
    fn lex_lt_set(self, other: Set) -> Map;
    fn lex_ge_set(self, other: Set) -> Map;
    fn lex_gt_set(self, other: Set) -> Map;
    fn align_params(self, model: Space) -> Set;
    fn drop_unused_params(self) -> Set;
    fn from_multi_aff(ma: MultiAff) -> Set;
    fn coefficients(self) -> BasicSet;
    fn solutions(self) -> BasicSet;
    fn dim_max(self, pos: usize) -> PwAff;
    fn dim_min(self, pos: usize) -> PwAff;
    fn add_constraint(self, constraint: Constraint) -> Set;
    fn translation(self) -> Map;
    fn identity(self) -> Map;
    fn is_wrapping(&self) -> bool;
    fn unwrap(self) -> Map;
    fn flatten(self) -> Set;
    fn flatten_map(self) -> Map;
    fn insert_domain(self, domain: Space) -> Map;
    fn wrapped_domain_map(self) -> Map;
    fn to_union_set(self) -> UnionSet;
    fn from_union_set(uset: UnionSet) -> Set;
}

bind_callbacks! { Set, "isl_set_";
    fn foreach_basic_set: each(BasicSet);
    fn foreach_point: each(Point);
}

// Declared in isl/ilp.h.
bind! { Set, "isl_set_";
    fn max_val(&self, objective: &Aff) -> Val;
    fn min_val(&self, objective: &Aff) -> Val;
    fn dim_min_val(self, pos: usize) -> Val;
    fn dim_max_val(self, pos: usize) -> Val;
}

impl Set {
    /// The disjuncts.
    pub fn basic_sets(&self) -> Result<Vec<BasicSet>> {
        self.get_basic_set_list()
    }

    /// The points of a bounded set without parameters.
    pub fn points(&self) -> Result<Vec<Point>> {
        let mut points = Vec::new();
        self.foreach_point(|point| {
            points.push(point);
            Ok(())
        })?;
        Ok(points)
    }
}
