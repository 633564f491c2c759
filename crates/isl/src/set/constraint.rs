//! Single constraints.

use crate::{Aff, Dim, LocalSpace, Space, Val};

object! {
    /// An equality or an inequality.
    Constraint, "isl_constraint_"
}

bind! { Constraint, "isl_constraint_";
    fn alloc_equality(ls: LocalSpace) -> Constraint;
    fn alloc_inequality(ls: LocalSpace) -> Constraint;
    fn is_equal(&self, other: &Constraint) -> bool;
    fn get_space(&self) -> Space;
    fn get_local_space(&self) -> LocalSpace;
    fn dim(&self, kind: Dim) -> usize;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn get_constant_val(&self) -> Val;
    fn get_coefficient_val(&self, kind: Dim, pos: usize) -> Val;
    fn set_constant_si(self, v: i32) -> Constraint;
    fn set_constant_val(self, v: Val) -> Constraint;
    fn set_coefficient_si(self, kind: Dim, pos: usize, v: i32) -> Constraint;
    fn set_coefficient_val(self, kind: Dim, pos: usize, v: Val) -> Constraint;
    fn get_div(&self, pos: usize) -> Aff;
    fn negate(self) -> Constraint;
    fn is_equality(&self) -> bool;
    fn is_div_constraint(&self) -> bool;
    fn is_lower_bound(&self, kind: Dim, pos: usize) -> bool;
    fn is_upper_bound(&self, kind: Dim, pos: usize) -> bool;
    fn get_bound(&self, kind: Dim, pos: usize) -> Aff;
    fn get_aff(&self) -> Aff;
    fn plain_cmp(&self, other: &Constraint) -> i32;
    fn cmp_last_non_zero(&self, other: &Constraint) -> i32;
}
