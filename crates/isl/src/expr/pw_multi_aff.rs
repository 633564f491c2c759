//! Piecewise tuples of quasi-affine expressions.

use crate::runtime::Result;
use crate::{Dim, Id, Map, MultiAff, MultiPwAff, MultiVal, PwAff, Set, Space, UnionPwMultiAff, Val};

object! {
    /// A tuple of quasi-affine expressions per piece of its domain.
    PwMultiAff, "isl_pw_multi_aff_"
}

bind! { PwMultiAff, "isl_pw_multi_aff_";
    fn zero(space: Space) -> PwMultiAff;
    fn identity_on_domain_space(space: Space) -> PwMultiAff;
    fn identity(space: Space) -> PwMultiAff;
    fn domain_map(space: Space) -> PwMultiAff;
    fn range_map(space: Space) -> PwMultiAff;
    fn project_out_map(space: Space, kind: Dim, first: usize, n: usize) -> PwMultiAff;
    fn from_multi_aff(ma: MultiAff) -> PwMultiAff;
    fn from_pw_aff(pa: PwAff) -> PwMultiAff;
    fn alloc(set: Set, maff: MultiAff) -> PwMultiAff;
    fn dim(&self, kind: Dim) -> usize;
    fn involves_param_id(&self, id: &Id) -> bool;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn get_at(&self, pos: usize) -> PwAff;
    fn get_pw_aff(&self, pos: usize) -> PwAff;
    fn set_pw_aff(self, pos: usize, pa: PwAff) -> PwMultiAff;
    fn get_domain_space(&self) -> Space;
    fn get_space(&self) -> Space;
    fn has_tuple_name(&self, kind: Dim) -> bool;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn get_range_tuple_id(&self) -> Id;
    fn get_tuple_id(&self, kind: Dim) -> Id;
    fn has_range_tuple_id(&self) -> bool;
    fn has_tuple_id(&self, kind: Dim) -> bool;
    fn set_tuple_id(self, kind: Dim, id: Id) -> PwMultiAff;
    fn set_range_tuple_id(self, id: Id) -> PwMultiAff;
    fn reset_tuple_id(self, kind: Dim) -> PwMultiAff;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> PwMultiAff;
    fn domain(self) -> Set;
    fn empty(space: Space) -> PwMultiAff;
    fn from_domain(set: Set) -> PwMultiAff;
    fn multi_val_on_domain(domain: Set, mv: MultiVal) -> PwMultiAff;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> PwMultiAff;
    fn involves_nan(&self) -> bool;
    fn plain_is_equal(&self, other: &PwMultiAff) -> bool;
    fn is_equal(&self, other: &PwMultiAff) -> bool;
    fn fix_si(self, kind: Dim, pos: usize, value: i32) -> PwMultiAff;
    fn union_add(self, other: PwMultiAff) -> PwMultiAff;
    fn domain_reverse(self) -> PwMultiAff;
    fn neg(self) -> PwMultiAff;
    fn add(self, other: PwMultiAff) -> PwMultiAff;
    fn sub(self, other: PwMultiAff) -> PwMultiAff;
    fn add_constant_val(self, v: Val) -> PwMultiAff;
    fn add_constant_multi_val(self, mv: MultiVal) -> PwMultiAff;
    fn scale_val(self, v: Val) -> PwMultiAff;
    fn scale_down_val(self, v: Val) -> PwMultiAff;
    fn scale_multi_val(self, mv: MultiVal) -> PwMultiAff;
    fn scale_down_multi_val(self, mv: MultiVal) -> PwMultiAff;
    fn union_lexmin(self, other: PwMultiAff) -> PwMultiAff;
    fn union_lexmax(self, other: PwMultiAff) -> PwMultiAff;
    fn range_product(self, other: PwMultiAff) -> PwMultiAff;
    fn flat_range_product(self, other: PwMultiAff) -> PwMultiAff;
    fn product(self, other: PwMultiAff) -> PwMultiAff;
    fn range_factor_domain(self) -> PwMultiAff;
    fn range_factor_range(self) -> PwMultiAff;
    fn intersect_params(self, set: Set) -> PwMultiAff;
    fn intersect_domain(self, set: Set) -> PwMultiAff;
    fn intersect_domain_wrapped_domain(self, set: Set) -> PwMultiAff;
    fn intersect_domain_wrapped_range(self, set: Set) -> PwMultiAff;
    fn subtract_domain(self, set: Set) -> PwMultiAff;
    fn insert_domain(self, domain: Space) -> PwMultiAff;
    fn project_domain_on_params(self) -> PwMultiAff;
    fn align_params(self, model: Space) -> PwMultiAff;
    fn drop_unused_params(self) -> PwMultiAff;
    fn coalesce(self) -> PwMultiAff;
    fn gist_params(self, set: Set) -> PwMultiAff;
    fn gist(self, set: Set) -> PwMultiAff;
    fn pullback_multi_aff(self, ma: MultiAff) -> PwMultiAff;
    fn pullback_pw_multi_aff(self, other: PwMultiAff) -> PwMultiAff;
    fn preimage_domain_wrapped_domain_pw_multi_aff(self, other: PwMultiAff) -> PwMultiAff;
    fn n_piece(&self) -> usize;
    fn isa_multi_aff(&self) -> bool;
    fn as_multi_aff(self) -> MultiAff;
    fn as_map(self) -> Map;
    fn as_set(self) -> Set;
    fn from_set(set: Set) -> PwMultiAff;
    fn from_map(map: Map) -> PwMultiAff;
    fn to_union_pw_multi_aff(self) -> UnionPwMultiAff;
    fn from_multi_pw_aff(mpa: MultiPwAff) -> PwMultiAff;
    fn to_multi_pw_aff(self) -> MultiPwAff;
}

bind_callbacks! { PwMultiAff, "isl_pw_multi_aff_";
    fn foreach_piece: each_pair(Set, MultiAff);
}

impl PwMultiAff {
    /// The pieces: disjoint domains, each with its expressions.
    pub fn pieces(&self) -> Result<Vec<(Set, MultiAff)>> {
        let mut pieces = Vec::new();
        self.foreach_piece(|domain, aff| {
            pieces.push((domain, aff));
            Ok(())
        })?;
        Ok(pieces)
    }
}
