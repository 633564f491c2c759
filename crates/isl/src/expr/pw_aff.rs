//! Piecewise quasi-affine expressions.

use crate::runtime::Result;
use crate::{Aff, Dim, Id, LocalSpace, Map, MultiAff, MultiPwAff, Point, PwMultiAff, Set, Space, UnionPwAff, Val};

object! {
    /// A quasi-affine expression per piece of its domain.
    PwAff, "isl_pw_aff_"
}

bind! { PwAff, "isl_pw_aff_";
    fn get_domain_space(&self) -> Space;
    fn get_space(&self) -> Space;
    fn from_aff(aff: Aff) -> PwAff;
    fn empty(space: Space) -> PwAff;
    fn alloc(set: Set, aff: Aff) -> PwAff;
    fn zero_on_domain(ls: LocalSpace) -> PwAff;
    fn var_on_domain(ls: LocalSpace, kind: Dim, pos: usize) -> PwAff;
    fn nan_on_domain_space(space: Space) -> PwAff;
    fn nan_on_domain(ls: LocalSpace) -> PwAff;
    fn val_on_domain(domain: Set, v: Val) -> PwAff;
    fn param_on_domain_id(domain: Set, id: Id) -> PwAff;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn has_dim_id(&self, kind: Dim, pos: usize) -> bool;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> PwAff;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn is_empty(&self) -> bool;
    fn involves_nan(&self) -> bool;
    fn plain_cmp(&self, other: &PwAff) -> i32;
    fn plain_is_equal(&self, other: &PwAff) -> bool;
    fn is_equal(&self, other: &PwAff) -> bool;
    fn union_min(self, other: PwAff) -> PwAff;
    fn union_max(self, other: PwAff) -> PwAff;
    fn union_add(self, other: PwAff) -> PwAff;
    fn dim(&self, kind: Dim) -> usize;
    fn involves_param_id(&self, id: &Id) -> bool;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn is_cst(&self) -> bool;
    fn insert_domain(self, domain: Space) -> PwAff;
    fn project_domain_on_params(self) -> PwAff;
    fn align_params(self, model: Space) -> PwAff;
    fn drop_unused_params(self) -> PwAff;
    fn has_tuple_id(&self, kind: Dim) -> bool;
    fn get_tuple_id(&self, kind: Dim) -> Id;
    fn set_tuple_id(self, kind: Dim, id: Id) -> PwAff;
    fn reset_tuple_id(self, kind: Dim) -> PwAff;
    fn params(self) -> Set;
    fn domain(self) -> Set;
    fn from_range(self) -> PwAff;
    fn min(self, other: PwAff) -> PwAff;
    fn max(self, other: PwAff) -> PwAff;
    fn mul(self, other: PwAff) -> PwAff;
    fn div(self, other: PwAff) -> PwAff;
    fn add(self, other: PwAff) -> PwAff;
    fn sub(self, other: PwAff) -> PwAff;
    fn neg(self) -> PwAff;
    fn ceil(self) -> PwAff;
    fn floor(self) -> PwAff;
    fn mod_val(self, modulus: Val) -> PwAff;
    fn tdiv_q(self, other: PwAff) -> PwAff;
    fn tdiv_r(self, other: PwAff) -> PwAff;
    fn intersect_params(self, set: Set) -> PwAff;
    fn intersect_domain(self, set: Set) -> PwAff;
    fn intersect_domain_wrapped_domain(self, set: Set) -> PwAff;
    fn intersect_domain_wrapped_range(self, set: Set) -> PwAff;
    fn subtract_domain(self, set: Set) -> PwAff;
    fn cond(self, pwaff_true: PwAff, pwaff_false: PwAff) -> PwAff;
    fn add_constant_val(self, v: Val) -> PwAff;
    fn scale_val(self, v: Val) -> PwAff;
    fn scale_down_val(self, f: Val) -> PwAff;
    fn domain_reverse(self) -> PwAff;
    fn insert_dims(self, kind: Dim, first: usize, n: usize) -> PwAff;
    fn add_dims(self, kind: Dim, n: usize) -> PwAff;
    fn move_dims(self, dst_kind: Dim, dst_pos: usize, src_kind: Dim, src_pos: usize, n: usize) -> PwAff;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> PwAff;
    fn coalesce(self) -> PwAff;
    fn gist(self, context: Set) -> PwAff;
    fn gist_params(self, context: Set) -> PwAff;
    fn eval(self, pnt: Point) -> Val;
    fn pullback_multi_aff(self, ma: MultiAff) -> PwAff;
    fn pullback_pw_multi_aff(self, pma: PwMultiAff) -> PwAff;
    fn pullback_multi_pw_aff(self, mpa: MultiPwAff) -> PwAff;
    fn n_piece(&self) -> usize;
    fn isa_aff(&self) -> bool;
    fn as_aff(self) -> Aff;
    fn as_map(self) -> Map;
    fn pos_set(self) -> Set;
    fn nonneg_set(self) -> Set;
    fn zero_set(self) -> Set;
    fn non_zero_set(self) -> Set;
    fn eq_set(self, other: PwAff) -> Set;
    fn ne_set(self, other: PwAff) -> Set;
    fn le_set(self, other: PwAff) -> Set;
    fn lt_set(self, other: PwAff) -> Set;
    fn ge_set(self, other: PwAff) -> Set;
    fn gt_set(self, other: PwAff) -> Set;
    fn eq_map(self, other: PwAff) -> Map;
    fn le_map(self, other: PwAff) -> Map;
    fn lt_map(self, other: PwAff) -> Map;
    fn ge_map(self, other: PwAff) -> Map;
    fn gt_map(self, other: PwAff) -> Map;
    fn bind_id(self, id: Id) -> Set;
    fn to_union_pw_aff(self) -> UnionPwAff;
}

// Declared in isl/ilp.h.
bind! { PwAff, "isl_pw_aff_";
    fn min_val(self) -> Val;
    fn max_val(self) -> Val;
}

bind_callbacks! { PwAff, "isl_pw_aff_";
    fn foreach_piece: each_pair(Set, Aff);
}

impl PwAff {
    /// The pieces: disjoint domains, each with its expression.
    pub fn pieces(&self) -> Result<Vec<(Set, Aff)>> {
        let mut pieces = Vec::new();
        self.foreach_piece(|domain, aff| {
            pieces.push((domain, aff));
            Ok(())
        })?;
        Ok(pieces)
    }
}
