//! Conjunctions of affine constraints on one tuple.

use crate::runtime::Result;
use crate::{Aff, BasicMap, Constraint, Dim, Id, LocalSpace, MultiAff, Point, Set, Space, Val};

object! {
    /// One conjunction of affine constraints.
    BasicSet, "isl_basic_set_"
}

bind! { BasicSet, "isl_basic_set_";
    fn n_dim(&self) -> usize;
    fn n_param(&self) -> usize;
    fn dim(&self, kind: Dim) -> usize;
    fn get_space(&self) -> Space;
    fn get_div(&self, pos: usize) -> Aff;
    fn get_local_space(&self) -> LocalSpace;
    fn get_tuple_name(&self) -> Option<String>;
    fn set_tuple_name(self, s: &str) -> BasicSet;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> BasicSet;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn set_tuple_id(self, id: Id) -> BasicSet;
    fn empty(space: Space) -> BasicSet;
    fn universe(space: Space) -> BasicSet;
    fn nat_universe(space: Space) -> BasicSet;
    fn positive_orthant(space: Space) -> BasicSet;
    fn intersect(self, other: BasicSet) -> BasicSet;
    fn intersect_params(self, other: BasicSet) -> BasicSet;
    fn apply(self, bmap: BasicMap) -> BasicSet;
    fn preimage_multi_aff(self, ma: MultiAff) -> BasicSet;
    fn affine_hull(self) -> BasicSet;
    fn remove_dims(self, kind: Dim, first: usize, n: usize) -> BasicSet;
    fn sample(self) -> BasicSet;
    fn detect_equalities(self) -> BasicSet;
    fn remove_redundancies(self) -> BasicSet;
    fn fix_si(self, kind: Dim, pos: usize, value: i32) -> BasicSet;
    fn fix_val(self, kind: Dim, pos: usize, v: Val) -> BasicSet;
    fn lower_bound_val(self, kind: Dim, pos: usize, value: Val) -> BasicSet;
    fn upper_bound_val(self, kind: Dim, pos: usize, value: Val) -> BasicSet;
    fn is_equal(&self, other: &BasicSet) -> bool;
    fn is_disjoint(&self, other: &BasicSet) -> bool;
    fn lexmin(self) -> Set;
    fn lexmax(self) -> Set;
    fn union(self, other: BasicSet) -> Set;
    fn params(self) -> BasicSet;
    fn from_params(self) -> BasicSet;
    fn plain_is_universe(&self) -> bool;
    fn is_universe(&self) -> bool;
    fn plain_is_empty(&self) -> bool;
    fn is_empty(&self) -> bool;
    fn is_bounded(&self) -> bool;
    fn is_subset(&self, other: &BasicSet) -> bool;
    fn plain_is_equal(&self, other: &BasicSet) -> bool;
    fn to_set(self) -> Set;
    fn sample_point(self) -> Point;
    fn flat_product(self, other: BasicSet) -> BasicSet;
    fn insert_dims(self, kind: Dim, pos: usize, n: usize) -> BasicSet;
    fn add_dims(self, kind: Dim, n: usize) -> BasicSet;
    fn move_dims(self, dst_kind: Dim, dst_pos: usize, src_kind: Dim, src_pos: usize, n: usize) -> BasicSet;
    fn project_out(self, kind: Dim, first: usize, n: usize) -> BasicSet;
    fn remove_divs(self) -> BasicSet;
    fn eliminate(self, kind: Dim, first: usize, n: usize) -> BasicSet;
    fn remove_divs_involving_dims(self, kind: Dim, first: usize, n: usize) -> BasicSet;
    fn remove_unknown_divs(self) -> BasicSet;
    fn drop_constraints_involving_dims(self, kind: Dim, first: usize, n: usize) -> BasicSet;
    fn drop_constraints_not_involving_dims(self, kind: Dim, first: usize, n: usize) -> BasicSet;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn neg(self) -> BasicSet;
    fn compute_divs(self) -> Set;
    fn gist(self, context: BasicSet) -> BasicSet;
    fn from_point(pnt: Point) -> BasicSet;
    fn box_from_points(pnt1: Point, pnt2: Point) -> BasicSet;
    fn lift(self) -> BasicSet;
    fn align_params(self, model: Space) -> BasicSet;
    fn drop_unused_params(self) -> BasicSet;
    fn from_multi_aff(ma: MultiAff) -> BasicSet;
    fn coefficients(self) -> BasicSet;
    fn solutions(self) -> BasicSet;
    fn n_constraint(&self) -> usize;
    fn get_constraint_list(&self) -> Vec<Constraint>;
    fn add_constraint(self, constraint: Constraint) -> BasicSet;
    fn from_constraint(constraint: Constraint) -> BasicSet;
    fn is_wrapping(&self) -> bool;
    fn unwrap(self) -> BasicMap;
    fn flatten(self) -> BasicSet;
}

bind_callbacks! { BasicSet, "isl_basic_set_";
    fn foreach_constraint: each(Constraint);
}

// Declared in isl/ilp.h.
bind! { BasicSet, "isl_basic_set_";
    fn max_val(&self, objective: &Aff) -> Val;
}

impl BasicSet {
    /// The equalities and inequalities.
    pub fn constraints(&self) -> Result<Vec<Constraint>> {
        self.get_constraint_list()
    }
}
