//! Spaces: what dimensions an object has.

use crate::{Context, Dim, Id};

object! {
    /// The names and numbers of parameters and dimensions of an object.
    Space, "isl_space_"
}

bind! { Space, "isl_space_";
    fn unit(ctx: &Context) -> Space;
    fn alloc(ctx: &Context, nparam: usize, n_in: usize, n_out: usize) -> Space;
    fn set_alloc(ctx: &Context, nparam: usize, dim: usize) -> Space;
    fn params_alloc(ctx: &Context, nparam: usize) -> Space;
    fn add_param_id(self, id: Id) -> Space;
    fn set_tuple_name(self, kind: Dim, s: &str) -> Space;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn has_tuple_id(&self, kind: Dim) -> bool;
    fn get_tuple_id(&self, kind: Dim) -> Id;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> Space;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn set_dim_name(self, kind: Dim, pos: usize, name: &str) -> Space;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn add_dims(self, kind: Dim, n: usize) -> Space;
    fn range_product(self, right: Space) -> Space;
    fn domain_factor_domain(self) -> Space;
    fn map_from_set(self) -> Space;
    fn map_from_domain_and_range(self, range: Space) -> Space;
    fn reverse(self) -> Space;
    fn domain(self) -> Space;
    fn from_domain(self) -> Space;
    fn range(self) -> Space;
    fn add_unnamed_tuple_ui(self, dim: usize) -> Space;
    fn set_from_params(self) -> Space;
    fn align_params(self, other: Space) -> Space;
    fn wrap(self) -> Space;
    fn unwrap(self) -> Space;
    fn is_equal(&self, other: &Space) -> bool;
    fn has_equal_tuples(&self, other: &Space) -> bool;
    fn is_params(&self) -> bool;
    fn is_set(&self) -> bool;
    fn dim(&self, kind: Dim) -> usize;
}
