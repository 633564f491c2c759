//! Tuples of quasi-affine expressions.

use crate::{Aff, Dim, Id, Map, MultiPwAff, MultiUnionPwAff, MultiVal, PwMultiAff, Set, Space, Val};

object! {
    /// A tuple of quasi-affine expressions.
    MultiAff, "isl_multi_aff_"
}

bind! { MultiAff, "isl_multi_aff_";
    fn get_space(&self) -> Space;
    fn get_domain_space(&self) -> Space;
    fn get_list(&self) -> Vec<Aff>;
    fn from_aff_list(space: Space, list: &[Aff]) -> MultiAff;
    fn plain_is_equal(&self, other: &MultiAff) -> bool;
    fn size(&self) -> usize;
    fn get_at(&self, pos: usize) -> Aff;
    fn get_aff(&self, pos: usize) -> Aff;
    fn set_at(self, pos: usize, el: Aff) -> MultiAff;
    fn set_aff(self, pos: usize, el: Aff) -> MultiAff;
    fn range_splice(self, pos: usize, multi2: MultiAff) -> MultiAff;
    fn flatten_range(self) -> MultiAff;
    fn flat_range_product(self, other: MultiAff) -> MultiAff;
    fn range_product(self, other: MultiAff) -> MultiAff;
    fn factor_range(self) -> MultiAff;
    fn range_is_wrapping(&self) -> bool;
    fn range_factor_domain(self) -> MultiAff;
    fn range_factor_range(self) -> MultiAff;
    fn align_params(self, model: Space) -> MultiAff;
    fn from_range(self) -> MultiAff;
    fn identity_multi_aff(self) -> MultiAff;
    fn identity(space: Space) -> MultiAff;
    fn identity_on_domain_space(space: Space) -> MultiAff;
    fn plain_cmp(&self, other: &MultiAff) -> i32;
    fn scale_val(self, v: Val) -> MultiAff;
    fn scale_down_val(self, v: Val) -> MultiAff;
    fn scale_multi_val(self, mv: MultiVal) -> MultiAff;
    fn scale_down_multi_val(self, mv: MultiVal) -> MultiAff;
    fn mod_multi_val(self, mv: MultiVal) -> MultiAff;
    fn add(self, other: MultiAff) -> MultiAff;
    fn sub(self, other: MultiAff) -> MultiAff;
    fn neg(self) -> MultiAff;
    fn add_constant_val(self, v: Val) -> MultiAff;
    fn add_constant_multi_val(self, mv: MultiVal) -> MultiAff;
    fn zero(space: Space) -> MultiAff;
    fn involves_nan(&self) -> bool;
    fn dim(&self, kind: Dim) -> usize;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> MultiAff;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn insert_dims(self, kind: Dim, first: usize, n: usize) -> MultiAff;
    fn add_dims(self, kind: Dim, n: usize) -> MultiAff;
    fn project_domain_on_params(self) -> MultiAff;
    fn insert_domain(self, domain: Space) -> MultiAff;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn find_dim_by_id(&self, kind: Dim, id: &Id) -> Option<usize>;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> MultiAff;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> MultiAff;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn has_range_tuple_id(&self) -> bool;
    fn has_tuple_id(&self, kind: Dim) -> bool;
    fn get_range_tuple_id(&self) -> Id;
    fn get_tuple_id(&self, kind: Dim) -> Id;
    fn set_tuple_name(self, kind: Dim, s: &str) -> MultiAff;
    fn set_range_tuple_id(self, id: Id) -> MultiAff;
    fn set_tuple_id(self, kind: Dim, id: Id) -> MultiAff;
    fn reset_range_tuple_id(self) -> MultiAff;
    fn reset_tuple_id(self, kind: Dim) -> MultiAff;
    fn product(self, other: MultiAff) -> MultiAff;
    fn splice(self, in_pos: usize, out_pos: usize, multi2: MultiAff) -> MultiAff;
    fn domain_reverse(self) -> MultiAff;
    fn from_aff(aff: Aff) -> MultiAff;
    fn domain_map(space: Space) -> MultiAff;
    fn range_map(space: Space) -> MultiAff;
    fn project_out_map(space: Space, kind: Dim, first: usize, n: usize) -> MultiAff;
    fn multi_val_on_domain_space(space: Space, mv: MultiVal) -> MultiAff;
    fn multi_val_on_space(space: Space, mv: MultiVal) -> MultiAff;
    fn get_constant_multi_val(&self) -> MultiVal;
    fn floor(self) -> MultiAff;
    fn gist_params(self, context: Set) -> MultiAff;
    fn gist(self, context: Set) -> MultiAff;
    fn pullback_multi_aff(self, other: MultiAff) -> MultiAff;
    fn move_dims(self, dst_kind: Dim, dst_pos: usize, src_kind: Dim, src_pos: usize, n: usize) -> MultiAff;
    fn lex_lt_set(self, other: MultiAff) -> Set;
    fn lex_le_set(self, other: MultiAff) -> Set;
    fn lex_gt_set(self, other: MultiAff) -> Set;
    fn lex_ge_set(self, other: MultiAff) -> Set;
    fn to_pw_multi_aff(self) -> PwMultiAff;
    fn flatten_domain(self) -> MultiAff;
    fn to_multi_pw_aff(self) -> MultiPwAff;
    fn to_multi_union_pw_aff(self) -> MultiUnionPwAff;
    fn as_set(self) -> Set;
    fn as_map(self) -> Map;
}
