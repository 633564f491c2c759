//! Piecewise tuples of quasi-affine expressions.

use crate::runtime::Result;
use crate::{Dim, Map, MultiAff, PwAff, Set, Space, Val};

object! {
    /// A tuple of quasi-affine expressions per piece of its domain.
    PwMultiAff, "isl_pw_multi_aff_"
}

bind! { PwMultiAff, "isl_pw_multi_aff_";
    fn dim(&self, kind: Dim) -> usize;
    fn get_at(&self, pos: usize) -> PwAff;
    fn get_domain_space(&self) -> Space;
    fn get_space(&self) -> Space;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn domain(self) -> Set;
    fn empty(space: Space) -> PwMultiAff;
    fn from_domain(set: Set) -> PwMultiAff;
    fn is_equal(&self, other: &PwMultiAff) -> bool;
    fn add(self, other: PwMultiAff) -> PwMultiAff;
    fn sub(self, other: PwMultiAff) -> PwMultiAff;
    fn add_constant_val(self, v: Val) -> PwMultiAff;
    fn range_product(self, other: PwMultiAff) -> PwMultiAff;
    fn intersect_params(self, set: Set) -> PwMultiAff;
    fn intersect_domain(self, set: Set) -> PwMultiAff;
    fn subtract_domain(self, set: Set) -> PwMultiAff;
    fn align_params(self, model: Space) -> PwMultiAff;
    fn coalesce(self) -> PwMultiAff;
    fn gist(self, set: Set) -> PwMultiAff;
    fn from_set(set: Set) -> PwMultiAff;
    fn from_map(map: Map) -> PwMultiAff;
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
