//! Sets over several spaces, such as iteration domains.

use crate::runtime::Result;
use crate::{BasicSet, Context, Dim, MultiAff, Point, PwMultiAff, Schedule, Set, Space, UnionMap, UnionPwMultiAff};

object! {
    /// A union of sets of several spaces.
    UnionSet, "isl_union_set_"
}

bind! { UnionSet, "isl_union_set_";
    fn identity_union_pw_multi_aff(self) -> UnionPwMultiAff;
    fn compute_schedule(self, validity: UnionMap, proximity: UnionMap) -> Schedule;
    fn wrapped_domain_map(self) -> UnionMap;
    fn identity(self) -> UnionMap;
    fn unwrap(self) -> UnionMap;
    fn align_params(self, model: Space) -> UnionSet;
    fn dim(&self, kind: Dim) -> usize;
    fn from_basic_set(bset: BasicSet) -> UnionSet;
    fn from_set(set: Set) -> UnionSet;
    fn empty_ctx(ctx: &Context) -> UnionSet;
    fn empty_space(space: Space) -> UnionSet;
    fn empty(space: Space) -> UnionSet;
    fn get_space(&self) -> Space;
    fn universe(self) -> UnionSet;
    fn params(self) -> Set;
    fn detect_equalities(self) -> UnionSet;
    fn affine_hull(self) -> UnionSet;
    fn polyhedral_hull(self) -> UnionSet;
    fn remove_redundancies(self) -> UnionSet;
    fn simple_hull(self) -> UnionSet;
    fn coalesce(self) -> UnionSet;
    fn compute_divs(self) -> UnionSet;
    fn lexmin(self) -> UnionSet;
    fn lexmax(self) -> UnionSet;
    fn add_set(self, set: Set) -> UnionSet;
    fn union(self, other: UnionSet) -> UnionSet;
    fn subtract(self, other: UnionSet) -> UnionSet;
    fn intersect(self, other: UnionSet) -> UnionSet;
    fn intersect_params(self, set: Set) -> UnionSet;
    fn product(self, other: UnionSet) -> UnionSet;
    fn gist(self, context: UnionSet) -> UnionSet;
    fn gist_params(self, set: Set) -> UnionSet;
    fn apply(self, umap: UnionMap) -> UnionSet;
    fn preimage_multi_aff(self, ma: MultiAff) -> UnionSet;
    fn preimage_pw_multi_aff(self, pma: PwMultiAff) -> UnionSet;
    fn preimage_union_pw_multi_aff(self, upma: UnionPwMultiAff) -> UnionSet;
    fn project_out(self, kind: Dim, first: usize, n: usize) -> UnionSet;
    fn project_out_all_params(self) -> UnionSet;
    fn drop_unused_params(self) -> UnionSet;
    fn remove_divs(self) -> UnionSet;
    fn is_params(&self) -> bool;
    fn is_empty(&self) -> bool;
    fn is_subset(&self, other: &UnionSet) -> bool;
    fn is_equal(&self, other: &UnionSet) -> bool;
    fn is_disjoint(&self, other: &UnionSet) -> bool;
    fn is_strict_subset(&self, other: &UnionSet) -> bool;
    fn n_set(&self) -> usize;
    fn get_basic_set_list(&self) -> Vec<BasicSet>;
    fn get_set_list(&self) -> Vec<Set>;
    fn contains(&self, space: &Space) -> bool;
    fn extract_set(&self, space: Space) -> Set;
    fn isa_set(&self) -> bool;
    fn as_set(self) -> Set;
    fn sample(self) -> BasicSet;
    fn sample_point(self) -> Point;
    fn from_point(pnt: Point) -> UnionSet;
    fn lift(self) -> UnionSet;
    fn lex_lt_union_set(self, other: UnionSet) -> UnionMap;
    fn lex_le_union_set(self, other: UnionSet) -> UnionMap;
    fn lex_gt_union_set(self, other: UnionSet) -> UnionMap;
    fn lex_ge_union_set(self, other: UnionSet) -> UnionMap;
    fn coefficients(self) -> UnionSet;
    fn solutions(self) -> UnionSet;
}

bind_callbacks! { UnionSet, "isl_union_set_";
    fn foreach_set: each(Set);
    fn every_set: test(Set);
    fn foreach_point: each(Point);
}

impl UnionSet {
    /// The sets, one per space.
    pub fn sets(&self) -> Result<Vec<Set>> {
        self.get_set_list()
    }
}
