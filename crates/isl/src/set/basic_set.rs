//! Conjunctions of affine constraints on one tuple.

use crate::runtime::Result;
use crate::{Constraint, Dim, Space};

object! {
    /// One conjunction of affine constraints.
    BasicSet, "isl_basic_set_"
}

bind! { BasicSet, "isl_basic_set_";
    fn dim(&self, kind: Dim) -> usize;
    fn get_space(&self) -> Space;
    fn is_empty(&self) -> bool;
    fn n_constraint(&self) -> usize;
    fn get_constraint_list(&self) -> Vec<Constraint>;
}

impl BasicSet {
    /// The equalities and inequalities.
    pub fn constraints(&self) -> Result<Vec<Constraint>> {
        self.get_constraint_list()
    }
}
