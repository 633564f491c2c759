//! Functions over several spaces.

use crate::{
    Aff, Context, Dim, MultiAff, MultiUnionPwAff, MultiVal, PwMultiAff, Set, Space, UnionMap, UnionPwAff, UnionSet, Val,
};

object! {
    /// Piecewise tuples of expressions on several spaces.
    UnionPwMultiAff, "isl_union_pw_multi_aff_"
}

bind! { UnionPwMultiAff, "isl_union_pw_multi_aff_";
    fn empty_ctx(ctx: &Context) -> UnionPwMultiAff;
    fn empty_space(space: Space) -> UnionPwMultiAff;
    fn empty(space: Space) -> UnionPwMultiAff;
    fn from_aff(aff: Aff) -> UnionPwMultiAff;
    fn from_multi_aff(ma: MultiAff) -> UnionPwMultiAff;
    fn from_pw_multi_aff(pma: PwMultiAff) -> UnionPwMultiAff;
    fn from_domain(uset: UnionSet) -> UnionPwMultiAff;
    fn multi_val_on_domain(domain: UnionSet, mv: MultiVal) -> UnionPwMultiAff;
    fn get_union_pw_aff(&self, pos: usize) -> UnionPwAff;
    fn add_pw_multi_aff(self, pma: PwMultiAff) -> UnionPwMultiAff;
    fn get_space(&self) -> Space;
    fn get_pw_multi_aff_list(&self) -> Vec<PwMultiAff>;
    fn dim(&self, kind: Dim) -> usize;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> UnionPwMultiAff;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> UnionPwMultiAff;
    fn coalesce(self) -> UnionPwMultiAff;
    fn gist_params(self, context: Set) -> UnionPwMultiAff;
    fn gist(self, context: UnionSet) -> UnionPwMultiAff;
    fn pullback_union_pw_multi_aff(self, other: UnionPwMultiAff) -> UnionPwMultiAff;
    fn apply_union_pw_multi_aff(self, other: UnionPwMultiAff) -> UnionPwMultiAff;
    fn preimage_domain_wrapped_domain_union_pw_multi_aff(self, other: UnionPwMultiAff) -> UnionPwMultiAff;
    fn align_params(self, model: Space) -> UnionPwMultiAff;
    fn drop_unused_params(self) -> UnionPwMultiAff;
    fn n_pw_multi_aff(&self) -> usize;
    fn extract_pw_multi_aff(&self, space: Space) -> PwMultiAff;
    fn isa_pw_multi_aff(&self) -> bool;
    fn as_pw_multi_aff(self) -> PwMultiAff;
    fn plain_is_empty(&self) -> bool;
    fn involves_nan(&self) -> bool;
    fn plain_is_equal(&self, other: &UnionPwMultiAff) -> bool;
    fn domain(self) -> UnionSet;
    fn neg(self) -> UnionPwMultiAff;
    fn add(self, other: UnionPwMultiAff) -> UnionPwMultiAff;
    fn union_add(self, other: UnionPwMultiAff) -> UnionPwMultiAff;
    fn sub(self, other: UnionPwMultiAff) -> UnionPwMultiAff;
    fn scale_val(self, val: Val) -> UnionPwMultiAff;
    fn scale_down_val(self, val: Val) -> UnionPwMultiAff;
    fn scale_multi_val(self, mv: MultiVal) -> UnionPwMultiAff;
    fn range_product(self, other: UnionPwMultiAff) -> UnionPwMultiAff;
    fn flat_range_product(self, other: UnionPwMultiAff) -> UnionPwMultiAff;
    fn range_factor_domain(self) -> UnionPwMultiAff;
    fn range_factor_range(self) -> UnionPwMultiAff;
    fn intersect_params(self, set: Set) -> UnionPwMultiAff;
    fn intersect_domain_union_set(self, uset: UnionSet) -> UnionPwMultiAff;
    fn intersect_domain(self, uset: UnionSet) -> UnionPwMultiAff;
    fn intersect_domain_space(self, space: Space) -> UnionPwMultiAff;
    fn intersect_domain_wrapped_domain(self, uset: UnionSet) -> UnionPwMultiAff;
    fn intersect_domain_wrapped_range(self, uset: UnionSet) -> UnionPwMultiAff;
    fn subtract_domain_union_set(self, uset: UnionSet) -> UnionPwMultiAff;
    fn subtract_domain_space(self, space: Space) -> UnionPwMultiAff;
    fn subtract_domain(self, uset: UnionSet) -> UnionPwMultiAff;
    fn as_union_map(self) -> UnionMap;
    fn from_union_set(uset: UnionSet) -> UnionPwMultiAff;
    fn from_union_map(umap: UnionMap) -> UnionPwMultiAff;
    fn from_union_pw_aff(upa: UnionPwAff) -> UnionPwMultiAff;
    fn from_multi_union_pw_aff(mupa: MultiUnionPwAff) -> UnionPwMultiAff;
    fn as_multi_union_pw_aff(self) -> MultiUnionPwAff;
}

bind_callbacks! { UnionPwMultiAff, "isl_union_pw_multi_aff_";
    fn foreach_pw_multi_aff: each(PwMultiAff);
}
