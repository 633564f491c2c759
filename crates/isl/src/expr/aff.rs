//! Quasi-affine expressions.

use crate::{BasicSet, Dim, Id, LocalSpace, MultiAff, Point, Set, Space, Val};

object! {
    /// A quasi-affine expression.
    Aff, "isl_aff_"
}

bind! { Aff, "isl_aff_";
    fn zero_on_domain_space(space: Space) -> Aff;
    fn zero_on_domain(ls: LocalSpace) -> Aff;
    fn val_on_domain_space(space: Space, val: Val) -> Aff;
    fn val_on_domain(ls: LocalSpace, val: Val) -> Aff;
    fn var_on_domain(ls: LocalSpace, kind: Dim, pos: usize) -> Aff;
    fn nan_on_domain_space(space: Space) -> Aff;
    fn nan_on_domain(ls: LocalSpace) -> Aff;
    fn param_on_domain_space_id(space: Space, id: Id) -> Aff;
    fn dim(&self, kind: Dim) -> usize;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn get_domain_space(&self) -> Space;
    fn get_space(&self) -> Space;
    fn get_domain_local_space(&self) -> LocalSpace;
    fn get_local_space(&self) -> LocalSpace;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn get_constant_val(&self) -> Val;
    fn get_coefficient_val(&self, kind: Dim, pos: usize) -> Val;
    fn coefficient_sgn(&self, kind: Dim, pos: usize) -> i32;
    fn get_denominator_val(&self) -> Val;
    fn set_constant_si(self, v: i32) -> Aff;
    fn set_constant_val(self, v: Val) -> Aff;
    fn set_coefficient_si(self, kind: Dim, pos: usize, v: i32) -> Aff;
    fn set_coefficient_val(self, kind: Dim, pos: usize, v: Val) -> Aff;
    fn add_constant_si(self, v: i32) -> Aff;
    fn add_constant_val(self, v: Val) -> Aff;
    fn add_constant_num_si(self, v: i32) -> Aff;
    fn add_coefficient_si(self, kind: Dim, pos: usize, v: i32) -> Aff;
    fn add_coefficient_val(self, kind: Dim, pos: usize, v: Val) -> Aff;
    fn is_cst(&self) -> bool;
    fn set_tuple_id(self, kind: Dim, id: Id) -> Aff;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> Aff;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> Aff;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn plain_is_equal(&self, other: &Aff) -> bool;
    fn plain_is_zero(&self) -> bool;
    fn is_nan(&self) -> bool;
    fn get_div(&self, pos: usize) -> Aff;
    fn from_range(self) -> Aff;
    fn neg(self) -> Aff;
    fn ceil(self) -> Aff;
    fn floor(self) -> Aff;
    fn mod_val(self, modulus: Val) -> Aff;
    fn mul(self, other: Aff) -> Aff;
    fn div(self, other: Aff) -> Aff;
    fn add(self, other: Aff) -> Aff;
    fn sub(self, other: Aff) -> Aff;
    fn scale_val(self, v: Val) -> Aff;
    fn scale_down_ui(self, f: usize) -> Aff;
    fn scale_down_val(self, v: Val) -> Aff;
    fn domain_reverse(self) -> Aff;
    fn insert_dims(self, kind: Dim, first: usize, n: usize) -> Aff;
    fn add_dims(self, kind: Dim, n: usize) -> Aff;
    fn move_dims(self, dst_kind: Dim, dst_pos: usize, src_kind: Dim, src_pos: usize, n: usize) -> Aff;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> Aff;
    fn project_domain_on_params(self) -> Aff;
    fn align_params(self, model: Space) -> Aff;
    fn gist(self, context: Set) -> Aff;
    fn gist_params(self, context: Set) -> Aff;
    fn eval(self, pnt: Point) -> Val;
    fn pullback_aff(self, other: Aff) -> Aff;
    fn pullback_multi_aff(self, ma: MultiAff) -> Aff;
    fn zero_basic_set(self) -> BasicSet;
    fn neg_basic_set(self) -> BasicSet;
    fn eq_basic_set(self, other: Aff) -> BasicSet;
    fn eq_set(self, other: Aff) -> Set;
    fn ne_set(self, other: Aff) -> Set;
    fn le_basic_set(self, other: Aff) -> BasicSet;
    fn le_set(self, other: Aff) -> Set;
    fn lt_basic_set(self, other: Aff) -> BasicSet;
    fn lt_set(self, other: Aff) -> Set;
    fn ge_basic_set(self, other: Aff) -> BasicSet;
    fn ge_set(self, other: Aff) -> Set;
    fn gt_basic_set(self, other: Aff) -> BasicSet;
    fn gt_set(self, other: Aff) -> Set;
    fn bind_id(self, id: Id) -> BasicSet;
}
