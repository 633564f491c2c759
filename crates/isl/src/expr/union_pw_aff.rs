//! Piecewise expressions over several spaces.

use crate::{Aff, PwAff, Set, Space, UnionSet, Val};

object! {
    /// Piecewise quasi-affine expressions on several spaces.
    UnionPwAff, "isl_union_pw_aff_"
}

bind! { UnionPwAff, "isl_union_pw_aff_";
    fn get_space(&self) -> Space;
    fn get_pw_aff_list(&self) -> Vec<PwAff>;
    fn empty(space: Space) -> UnionPwAff;
    fn from_aff(aff: Aff) -> UnionPwAff;
    fn from_pw_aff(pa: PwAff) -> UnionPwAff;
    fn n_pw_aff(&self) -> usize;
    fn extract_pw_aff(&self, space: Space) -> PwAff;
    fn domain(self) -> UnionSet;
    fn neg(self) -> UnionPwAff;
    fn add(self, other: UnionPwAff) -> UnionPwAff;
    fn union_add(self, other: UnionPwAff) -> UnionPwAff;
    fn sub(self, other: UnionPwAff) -> UnionPwAff;
    fn coalesce(self) -> UnionPwAff;
    fn gist(self, context: UnionSet) -> UnionPwAff;
    fn floor(self) -> UnionPwAff;
    fn scale_val(self, v: Val) -> UnionPwAff;
    fn scale_down_val(self, v: Val) -> UnionPwAff;
    fn mod_val(self, f: Val) -> UnionPwAff;
    fn align_params(self, model: Space) -> UnionPwAff;
    fn intersect_params(self, set: Set) -> UnionPwAff;
    fn intersect_domain(self, uset: UnionSet) -> UnionPwAff;
    fn subtract_domain(self, uset: UnionSet) -> UnionPwAff;
}

bind_callbacks! { UnionPwAff, "isl_union_pw_aff_";
    fn foreach_pw_aff: each(PwAff);
}
