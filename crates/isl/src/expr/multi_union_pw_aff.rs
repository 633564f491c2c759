//! Partial schedules of bands.

use crate::{
    Aff, Dim, Id, MultiAff, MultiPwAff, MultiVal, PwAff, PwMultiAff, Set, Space, UnionMap, UnionPwAff, UnionPwMultiAff,
    UnionSet, Val,
};

object! {
    /// A tuple of piecewise expressions on several spaces: a partial schedule.
    MultiUnionPwAff, "isl_multi_union_pw_aff_"
}

bind! { MultiUnionPwAff, "isl_multi_union_pw_aff_";
    fn get_space(&self) -> Space;
    fn get_domain_space(&self) -> Space;
    fn get_list(&self) -> Vec<UnionPwAff>;
    fn from_union_pw_aff_list(space: Space, list: &[UnionPwAff]) -> MultiUnionPwAff;
    fn plain_is_equal(&self, other: &MultiUnionPwAff) -> bool;
    fn size(&self) -> usize;
    fn get_at(&self, pos: usize) -> UnionPwAff;
    fn get_union_pw_aff(&self, pos: usize) -> UnionPwAff;
    fn set_at(self, pos: usize, el: UnionPwAff) -> MultiUnionPwAff;
    fn set_union_pw_aff(self, pos: usize, el: UnionPwAff) -> MultiUnionPwAff;
    fn range_splice(self, pos: usize, multi2: MultiUnionPwAff) -> MultiUnionPwAff;
    fn flatten_range(self) -> MultiUnionPwAff;
    fn flat_range_product(self, other: MultiUnionPwAff) -> MultiUnionPwAff;
    fn range_product(self, other: MultiUnionPwAff) -> MultiUnionPwAff;
    fn factor_range(self) -> MultiUnionPwAff;
    fn range_is_wrapping(&self) -> bool;
    fn range_factor_domain(self) -> MultiUnionPwAff;
    fn range_factor_range(self) -> MultiUnionPwAff;
    fn align_params(self, model: Space) -> MultiUnionPwAff;
    fn from_range(self) -> MultiUnionPwAff;
    fn scale_val(self, v: Val) -> MultiUnionPwAff;
    fn scale_down_val(self, v: Val) -> MultiUnionPwAff;
    fn scale_multi_val(self, mv: MultiVal) -> MultiUnionPwAff;
    fn scale_down_multi_val(self, mv: MultiVal) -> MultiUnionPwAff;
    fn mod_multi_val(self, mv: MultiVal) -> MultiUnionPwAff;
    fn add(self, other: MultiUnionPwAff) -> MultiUnionPwAff;
    fn sub(self, other: MultiUnionPwAff) -> MultiUnionPwAff;
    fn neg(self) -> MultiUnionPwAff;
    fn zero(space: Space) -> MultiUnionPwAff;
    fn involves_nan(&self) -> bool;
    fn dim(&self, kind: Dim) -> usize;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> MultiUnionPwAff;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn find_dim_by_id(&self, kind: Dim, id: &Id) -> Option<usize>;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> MultiUnionPwAff;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> MultiUnionPwAff;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn has_range_tuple_id(&self) -> bool;
    fn has_tuple_id(&self, kind: Dim) -> bool;
    fn get_range_tuple_id(&self) -> Id;
    fn get_tuple_id(&self, kind: Dim) -> Id;
    fn set_tuple_name(self, kind: Dim, s: &str) -> MultiUnionPwAff;
    fn set_range_tuple_id(self, id: Id) -> MultiUnionPwAff;
    fn set_tuple_id(self, kind: Dim, id: Id) -> MultiUnionPwAff;
    fn reset_range_tuple_id(self) -> MultiUnionPwAff;
    fn reset_tuple_id(self, kind: Dim) -> MultiUnionPwAff;
    fn from_multi_aff(ma: MultiAff) -> MultiUnionPwAff;
    fn from_union_pw_aff(upa: UnionPwAff) -> MultiUnionPwAff;
    fn from_multi_pw_aff(mpa: MultiPwAff) -> MultiUnionPwAff;
    fn multi_val_on_domain(domain: UnionSet, mv: MultiVal) -> MultiUnionPwAff;
    fn multi_aff_on_domain(domain: UnionSet, ma: MultiAff) -> MultiUnionPwAff;
    fn pw_multi_aff_on_domain(domain: UnionSet, pma: PwMultiAff) -> MultiUnionPwAff;
    fn floor(self) -> MultiUnionPwAff;
    fn intersect_domain(self, uset: UnionSet) -> MultiUnionPwAff;
    fn intersect_params(self, params: Set) -> MultiUnionPwAff;
    fn intersect_range(self, set: Set) -> MultiUnionPwAff;
    fn domain(self) -> UnionSet;
    fn coalesce(self) -> MultiUnionPwAff;
    fn gist(self, context: UnionSet) -> MultiUnionPwAff;
    fn gist_params(self, context: Set) -> MultiUnionPwAff;
    fn apply_aff(self, aff: Aff) -> UnionPwAff;
    fn apply_multi_aff(self, ma: MultiAff) -> MultiUnionPwAff;
    fn apply_pw_aff(self, pa: PwAff) -> UnionPwAff;
    fn apply_pw_multi_aff(self, pma: PwMultiAff) -> MultiUnionPwAff;
    fn pullback_union_pw_multi_aff(self, upma: UnionPwMultiAff) -> MultiUnionPwAff;
    fn union_add(self, other: MultiUnionPwAff) -> MultiUnionPwAff;
    fn from_union_pw_multi_aff(upma: UnionPwMultiAff) -> MultiUnionPwAff;
    fn from_union_map(umap: UnionMap) -> MultiUnionPwAff;
    fn zero_union_set(self) -> UnionSet;
    fn extract_multi_pw_aff(&self, space: Space) -> MultiPwAff;
}
