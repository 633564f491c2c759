//! Piecewise quasi-affine expressions.

use crate::runtime::Result;
use crate::{Aff, Dim, Id, LocalSpace, Map, Set, Space, Val};

object! {
    /// A quasi-affine expression per piece of its domain.
    PwAff, "isl_pw_aff_"
}

bind! { PwAff, "isl_pw_aff_";
    fn get_domain_space(&self) -> Space;
    fn get_space(&self) -> Space;
    fn from_aff(aff: Aff) -> PwAff;
    fn empty(space: Space) -> PwAff;
    fn var_on_domain(ls: LocalSpace, kind: Dim, pos: usize) -> PwAff;
    fn val_on_domain(domain: Set, v: Val) -> PwAff;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn is_empty(&self) -> bool;
    fn is_equal(&self, other: &PwAff) -> bool;
    fn union_add(self, other: PwAff) -> PwAff;
    fn dim(&self, kind: Dim) -> usize;
    fn is_cst(&self) -> bool;
    fn align_params(self, model: Space) -> PwAff;
    fn domain(self) -> Set;
    fn min(self, other: PwAff) -> PwAff;
    fn max(self, other: PwAff) -> PwAff;
    fn mul(self, other: PwAff) -> PwAff;
    fn div(self, other: PwAff) -> PwAff;
    fn add(self, other: PwAff) -> PwAff;
    fn sub(self, other: PwAff) -> PwAff;
    fn neg(self) -> PwAff;
    fn floor(self) -> PwAff;
    fn mod_val(self, modulus: Val) -> PwAff;
    fn intersect_params(self, set: Set) -> PwAff;
    fn intersect_domain(self, set: Set) -> PwAff;
    fn subtract_domain(self, set: Set) -> PwAff;
    fn add_constant_val(self, v: Val) -> PwAff;
    fn scale_val(self, v: Val) -> PwAff;
    fn scale_down_val(self, f: Val) -> PwAff;
    fn coalesce(self) -> PwAff;
    fn gist(self, context: Set) -> PwAff;
    fn n_piece(&self) -> usize;
    fn as_aff(self) -> Aff;
    fn nonneg_set(self) -> Set;
    fn eq_set(self, other: PwAff) -> Set;
    fn ne_set(self, other: PwAff) -> Set;
    fn le_set(self, other: PwAff) -> Set;
    fn lt_set(self, other: PwAff) -> Set;
    fn ge_set(self, other: PwAff) -> Set;
    fn eq_map(self, other: PwAff) -> Map;
    fn le_map(self, other: PwAff) -> Map;
    fn lt_map(self, other: PwAff) -> Map;
    fn gt_map(self, other: PwAff) -> Map;
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
