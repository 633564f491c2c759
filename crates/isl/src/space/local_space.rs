//! Spaces with integer divisions.

use crate::{Aff, BasicMap, Dim, Id, Space};

object! {
    /// A space with local variables.
    LocalSpace, "isl_local_space_"
}

bind! { LocalSpace, "isl_local_space_";
    fn from_space(space: Space) -> LocalSpace;
    fn is_params(&self) -> bool;
    fn is_set(&self) -> bool;
    fn set_tuple_id(self, kind: Dim, id: Id) -> LocalSpace;
    fn dim(&self, kind: Dim) -> usize;
    fn has_dim_name(&self, kind: Dim, pos: usize) -> bool;
    fn get_dim_name(&self, kind: Dim, pos: usize) -> Option<String>;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> LocalSpace;
    fn has_dim_id(&self, kind: Dim, pos: usize) -> bool;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> LocalSpace;
    fn get_space(&self) -> Space;
    fn get_div(&self, pos: usize) -> Aff;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn domain(self) -> LocalSpace;
    fn range(self) -> LocalSpace;
    fn from_domain(self) -> LocalSpace;
    fn add_dims(self, kind: Dim, n: usize) -> LocalSpace;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> LocalSpace;
    fn insert_dims(self, kind: Dim, first: usize, n: usize) -> LocalSpace;
    fn set_from_params(self) -> LocalSpace;
    fn intersect(self, other: LocalSpace) -> LocalSpace;
    fn wrap(self) -> LocalSpace;
    fn is_equal(&self, other: &LocalSpace) -> bool;
    fn lifting(self) -> BasicMap;
    fn flatten_domain(self) -> LocalSpace;
    fn flatten_range(self) -> LocalSpace;
}
