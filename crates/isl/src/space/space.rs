//! Spaces: what dimensions an object has.

use crate::{
    Aff, Context, Dim, Id, Map, MultiAff, MultiPwAff, MultiUnionPwAff, MultiVal, PwAff, PwMultiAff, Set, UnionPwAff,
    Val,
};

object! {
    /// The names and numbers of parameters and dimensions of an object.
    Space, "isl_space_"
}

bind! { Space, "isl_space_";
    fn zero_aff_on_domain(self) -> Aff;
    fn param_aff_on_domain_id(self, id: Id) -> Aff;
    fn multi_aff(self, list: &[Aff]) -> MultiAff;
    fn identity_multi_aff_on_domain(self) -> MultiAff;
    fn zero_multi_aff(self) -> MultiAff;
    fn domain_map_multi_aff(self) -> MultiAff;
    fn range_map_multi_aff(self) -> MultiAff;
    fn multi_aff_on_domain_multi_val(self, mv: MultiVal) -> MultiAff;
    fn multi_pw_aff(self, list: &[PwAff]) -> MultiPwAff;
    fn identity_multi_pw_aff_on_domain(self) -> MultiPwAff;
    fn zero_multi_pw_aff(self) -> MultiPwAff;
    fn identity_pw_multi_aff_on_domain(self) -> PwMultiAff;
    fn domain_map_pw_multi_aff(self) -> PwMultiAff;
    fn range_map_pw_multi_aff(self) -> PwMultiAff;
    fn multi_union_pw_aff(self, list: &[UnionPwAff]) -> MultiUnionPwAff;
    fn zero_multi_union_pw_aff(self) -> MultiUnionPwAff;
    fn universe_set(self) -> Set;
    fn universe_map(self) -> Map;
    fn unit(ctx: &Context) -> Space;
    fn alloc(ctx: &Context, nparam: usize, n_in: usize, n_out: usize) -> Space;
    fn set_alloc(ctx: &Context, nparam: usize, dim: usize) -> Space;
    fn params_alloc(ctx: &Context, nparam: usize) -> Space;
    fn is_params(&self) -> bool;
    fn is_set(&self) -> bool;
    fn is_map(&self) -> bool;
    fn add_param_id(self, id: Id) -> Space;
    fn set_tuple_name(self, kind: Dim, s: &str) -> Space;
    fn has_tuple_name(&self, kind: Dim) -> bool;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn set_domain_tuple_id(self, id: Id) -> Space;
    fn set_range_tuple_id(self, id: Id) -> Space;
    fn set_tuple_id(self, kind: Dim, id: Id) -> Space;
    fn reset_tuple_id(self, kind: Dim) -> Space;
    fn has_domain_tuple_id(&self) -> bool;
    fn has_range_tuple_id(&self) -> bool;
    fn has_tuple_id(&self, kind: Dim) -> bool;
    fn get_domain_tuple_id(&self) -> Id;
    fn get_range_tuple_id(&self) -> Id;
    fn get_tuple_id(&self, kind: Dim) -> Id;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> Space;
    fn has_dim_id(&self, kind: Dim, pos: usize) -> bool;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn find_dim_by_id(&self, kind: Dim, id: &Id) -> Option<usize>;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn has_dim_name(&self, kind: Dim, pos: usize) -> bool;
    fn set_dim_name(self, kind: Dim, pos: usize, name: &str) -> Space;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn add_dims(self, kind: Dim, n: usize) -> Space;
    fn move_dims(self, dst_kind: Dim, dst_pos: usize, src_kind: Dim, src_pos: usize, n: usize) -> Space;
    fn insert_dims(self, kind: Dim, pos: usize, n: usize) -> Space;
    fn join(self, right: Space) -> Space;
    fn product(self, right: Space) -> Space;
    fn domain_product(self, right: Space) -> Space;
    fn range_product(self, right: Space) -> Space;
    fn factor_domain(self) -> Space;
    fn factor_range(self) -> Space;
    fn domain_factor_domain(self) -> Space;
    fn domain_factor_range(self) -> Space;
    fn range_factor_domain(self) -> Space;
    fn range_factor_range(self) -> Space;
    fn domain_wrapped_domain(self) -> Space;
    fn domain_wrapped_range(self) -> Space;
    fn range_wrapped_domain(self) -> Space;
    fn range_wrapped_range(self) -> Space;
    fn map_from_set(self) -> Space;
    fn map_from_domain_and_range(self, range: Space) -> Space;
    fn reverse(self) -> Space;
    fn wrapped_reverse(self) -> Space;
    fn domain_reverse(self) -> Space;
    fn range_reverse(self) -> Space;
    fn drop_dims(self, kind: Dim, first: usize, num: usize) -> Space;
    fn drop_all_params(self) -> Space;
    fn domain(self) -> Space;
    fn from_domain(self) -> Space;
    fn range(self) -> Space;
    fn from_range(self) -> Space;
    fn domain_map(self) -> Space;
    fn range_map(self) -> Space;
    fn params(self) -> Space;
    fn add_unnamed_tuple_ui(self, dim: usize) -> Space;
    fn add_named_tuple_id_ui(self, tuple_id: Id, dim: usize) -> Space;
    fn set_from_params(self) -> Space;
    fn align_params(self, other: Space) -> Space;
    fn is_wrapping(&self) -> bool;
    fn domain_is_wrapping(&self) -> bool;
    fn range_is_wrapping(&self) -> bool;
    fn is_product(&self) -> bool;
    fn wrap(self) -> Space;
    fn unwrap(self) -> Space;
    fn can_zip(&self) -> bool;
    fn zip(self) -> Space;
    fn can_curry(&self) -> bool;
    fn curry(self) -> Space;
    fn can_range_curry(&self) -> bool;
    fn range_curry(self) -> Space;
    fn can_uncurry(&self) -> bool;
    fn uncurry(self) -> Space;
    fn is_domain(&self, other: &Space) -> bool;
    fn is_range(&self, other: &Space) -> bool;
    fn is_equal(&self, other: &Space) -> bool;
    fn has_equal_params(&self, other: &Space) -> bool;
    fn has_equal_tuples(&self, other: &Space) -> bool;
    fn tuple_is_equal(&self, type1: Dim, space2: &Space, type2: Dim) -> bool;
    fn dim(&self, kind: Dim) -> usize;
    fn flatten_domain(self) -> Space;
    fn flatten_range(self) -> Space;
    fn multi_val(self, list: &[Val]) -> MultiVal;
    fn zero_multi_val(self) -> MultiVal;
}
