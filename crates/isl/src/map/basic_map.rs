//! Conjunctions of affine constraints between two tuples.

use crate::runtime::Result;
use crate::{Constraint, Dim, Space};

object! {
    /// One conjunction of affine constraints between two tuples.
    BasicMap, "isl_basic_map_"
}

bind! { BasicMap, "isl_basic_map_";
    fn n_constraint(&self) -> usize;
    fn get_constraint_list(&self) -> Vec<Constraint>;
    fn dim(&self, kind: Dim) -> usize;
    fn get_space(&self) -> Space;
    fn is_empty(&self) -> bool;
}

impl BasicMap {
    /// The equalities and inequalities.
    pub fn constraints(&self) -> Result<Vec<Constraint>> {
        self.get_constraint_list()
    }
}
