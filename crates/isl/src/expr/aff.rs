//! Quasi-affine expressions.

use crate::{Dim, LocalSpace, Set, Space, Val};

object! {
    /// A quasi-affine expression.
    Aff, "isl_aff_"
}

bind! { Aff, "isl_aff_";
    fn zero_on_domain_space(space: Space) -> Aff;
    fn zero_on_domain(ls: LocalSpace) -> Aff;
    fn val_on_domain_space(space: Space, val: Val) -> Aff;
    fn var_on_domain(ls: LocalSpace, kind: Dim, pos: usize) -> Aff;
    fn dim(&self, kind: Dim) -> usize;
    fn get_domain_space(&self) -> Space;
    fn get_space(&self) -> Space;
    fn get_domain_local_space(&self) -> LocalSpace;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn get_constant_val(&self) -> Val;
    fn get_coefficient_val(&self, kind: Dim, pos: usize) -> Val;
    fn get_denominator_val(&self) -> Val;
    fn add_constant_val(self, v: Val) -> Aff;
    fn add_coefficient_si(self, kind: Dim, pos: usize, v: i32) -> Aff;
    fn add_coefficient_val(self, kind: Dim, pos: usize, v: Val) -> Aff;
    fn is_cst(&self) -> bool;
    fn plain_is_equal(&self, other: &Aff) -> bool;
    fn is_nan(&self) -> bool;
    fn get_div(&self, pos: usize) -> Aff;
    fn neg(self) -> Aff;
    fn floor(self) -> Aff;
    fn mod_val(self, modulus: Val) -> Aff;
    fn div(self, other: Aff) -> Aff;
    fn add(self, other: Aff) -> Aff;
    fn sub(self, other: Aff) -> Aff;
    fn scale_val(self, v: Val) -> Aff;
    fn scale_down_val(self, v: Val) -> Aff;
    fn align_params(self, model: Space) -> Aff;
    fn gist(self, context: Set) -> Aff;
    fn eq_set(self, other: Aff) -> Set;
    fn le_set(self, other: Aff) -> Set;
    fn lt_set(self, other: Aff) -> Set;
    fn ge_set(self, other: Aff) -> Set;
    fn gt_set(self, other: Aff) -> Set;
}
