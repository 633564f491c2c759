//! Partial schedules of bands.

use crate::{Dim, Id, MultiVal, Set, Space, UnionMap, UnionPwAff, UnionSet, Val};

object! {
    /// A tuple of piecewise expressions on several spaces: a partial schedule.
    MultiUnionPwAff, "isl_multi_union_pw_aff_"
}

bind! { MultiUnionPwAff, "isl_multi_union_pw_aff_";
    fn get_space(&self) -> Space;
    fn get_domain_space(&self) -> Space;
    fn get_list(&self) -> Vec<UnionPwAff>;
    fn from_union_pw_aff_list(space: Space, list: &[UnionPwAff]) -> MultiUnionPwAff;
    fn size(&self) -> usize;
    fn get_at(&self, pos: usize) -> UnionPwAff;
    fn get_union_pw_aff(&self, pos: usize) -> UnionPwAff;
    fn flat_range_product(self, other: MultiUnionPwAff) -> MultiUnionPwAff;
    fn range_product(self, other: MultiUnionPwAff) -> MultiUnionPwAff;
    fn align_params(self, model: Space) -> MultiUnionPwAff;
    fn scale_val(self, v: Val) -> MultiUnionPwAff;
    fn scale_multi_val(self, mv: MultiVal) -> MultiUnionPwAff;
    fn add(self, other: MultiUnionPwAff) -> MultiUnionPwAff;
    fn sub(self, other: MultiUnionPwAff) -> MultiUnionPwAff;
    fn neg(self) -> MultiUnionPwAff;
    fn zero(space: Space) -> MultiUnionPwAff;
    fn dim(&self, kind: Dim) -> usize;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> MultiUnionPwAff;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn set_tuple_name(self, kind: Dim, s: &str) -> MultiUnionPwAff;
    fn set_tuple_id(self, kind: Dim, id: Id) -> MultiUnionPwAff;
    fn floor(self) -> MultiUnionPwAff;
    fn intersect_domain(self, uset: UnionSet) -> MultiUnionPwAff;
    fn intersect_params(self, params: Set) -> MultiUnionPwAff;
    fn intersect_range(self, set: Set) -> MultiUnionPwAff;
    fn domain(self) -> UnionSet;
    fn coalesce(self) -> MultiUnionPwAff;
    fn gist(self, context: UnionSet) -> MultiUnionPwAff;
    fn from_union_map(umap: UnionMap) -> MultiUnionPwAff;
}
