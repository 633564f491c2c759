//! Piecewise expressions over several spaces.

use crate::{Aff, Context, Dim, Id, PwAff, Set, Space, UnionPwMultiAff, UnionSet, Val};

object! {
    /// Piecewise quasi-affine expressions on several spaces.
    UnionPwAff, "isl_union_pw_aff_"
}

bind! { UnionPwAff, "isl_union_pw_aff_";
    fn param_on_domain_id(domain: UnionSet, id: Id) -> UnionPwAff;
    fn get_space(&self) -> Space;
    fn get_pw_aff_list(&self) -> Vec<PwAff>;
    fn dim(&self, kind: Dim) -> usize;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> UnionPwAff;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> UnionPwAff;
    fn empty_ctx(ctx: &Context) -> UnionPwAff;
    fn empty_space(space: Space) -> UnionPwAff;
    fn empty(space: Space) -> UnionPwAff;
    fn from_aff(aff: Aff) -> UnionPwAff;
    fn from_pw_aff(pa: PwAff) -> UnionPwAff;
    fn val_on_domain(domain: UnionSet, v: Val) -> UnionPwAff;
    fn aff_on_domain(domain: UnionSet, aff: Aff) -> UnionPwAff;
    fn pw_aff_on_domain(domain: UnionSet, pa: PwAff) -> UnionPwAff;
    fn add_pw_aff(self, pa: PwAff) -> UnionPwAff;
    fn n_pw_aff(&self) -> usize;
    fn extract_pw_aff(&self, space: Space) -> PwAff;
    fn involves_nan(&self) -> bool;
    fn plain_is_equal(&self, other: &UnionPwAff) -> bool;
    fn domain(self) -> UnionSet;
    fn neg(self) -> UnionPwAff;
    fn add(self, other: UnionPwAff) -> UnionPwAff;
    fn union_add(self, other: UnionPwAff) -> UnionPwAff;
    fn sub(self, other: UnionPwAff) -> UnionPwAff;
    fn coalesce(self) -> UnionPwAff;
    fn gist(self, context: UnionSet) -> UnionPwAff;
    fn gist_params(self, context: Set) -> UnionPwAff;
    fn pullback_union_pw_multi_aff(self, upma: UnionPwMultiAff) -> UnionPwAff;
    fn floor(self) -> UnionPwAff;
    fn scale_val(self, v: Val) -> UnionPwAff;
    fn scale_down_val(self, v: Val) -> UnionPwAff;
    fn mod_val(self, f: Val) -> UnionPwAff;
    fn align_params(self, model: Space) -> UnionPwAff;
    fn drop_unused_params(self) -> UnionPwAff;
    fn intersect_params(self, set: Set) -> UnionPwAff;
    fn intersect_domain_space(self, space: Space) -> UnionPwAff;
    fn intersect_domain_union_set(self, uset: UnionSet) -> UnionPwAff;
    fn intersect_domain(self, uset: UnionSet) -> UnionPwAff;
    fn intersect_domain_wrapped_domain(self, uset: UnionSet) -> UnionPwAff;
    fn intersect_domain_wrapped_range(self, uset: UnionSet) -> UnionPwAff;
    fn subtract_domain_union_set(self, uset: UnionSet) -> UnionPwAff;
    fn subtract_domain_space(self, space: Space) -> UnionPwAff;
    fn subtract_domain(self, uset: UnionSet) -> UnionPwAff;
    fn zero_union_set(self) -> UnionSet;
    fn bind_id(self, id: Id) -> UnionSet;
}

// Declared in isl/ilp.h.
bind! { UnionPwAff, "isl_union_pw_aff_";
    fn min_val(self) -> Val;
    fn max_val(self) -> Val;
}

bind_callbacks! { UnionPwAff, "isl_union_pw_aff_";
    fn foreach_pw_aff: each(PwAff);
}
