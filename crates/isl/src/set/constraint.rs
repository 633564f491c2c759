//! Single constraints.

use crate::Aff;

object! {
    /// An equality or an inequality.
    Constraint, "isl_constraint_"
}

bind! { Constraint, "isl_constraint_";
    fn is_equality(&self) -> bool;
    fn get_aff(&self) -> Aff;
}
