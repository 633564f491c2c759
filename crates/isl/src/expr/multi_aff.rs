//! Tuples of quasi-affine expressions.

use crate::{Aff, Space};

object! {
    /// A tuple of quasi-affine expressions.
    MultiAff, "isl_multi_aff_"
}

bind! { MultiAff, "isl_multi_aff_";
    fn get_space(&self) -> Space;
    fn get_list(&self) -> Vec<Aff>;
    fn from_aff_list(space: Space, list: &[Aff]) -> MultiAff;
    fn size(&self) -> usize;
    fn get_at(&self, pos: usize) -> Aff;
    fn get_aff(&self, pos: usize) -> Aff;
}
