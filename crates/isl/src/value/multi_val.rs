//! Tuples of numbers, such as tile sizes.

use crate::runtime::Result;
use crate::{Dim, Id, Space, Val};

object! {
    /// A tuple of numbers.
    MultiVal, "isl_multi_val_"
}

bind! { MultiVal, "isl_multi_val_";
    fn get_space(&self) -> Space;
    fn get_domain_space(&self) -> Space;
    fn get_list(&self) -> Vec<Val>;
    fn from_val_list(space: Space, list: &[Val]) -> MultiVal;
    fn plain_is_equal(&self, other: &MultiVal) -> bool;
    fn size(&self) -> usize;
    fn get_at(&self, pos: usize) -> Val;
    fn get_val(&self, pos: usize) -> Val;
    fn set_at(self, pos: usize, el: Val) -> MultiVal;
    fn set_val(self, pos: usize, el: Val) -> MultiVal;
    fn range_splice(self, pos: usize, multi2: MultiVal) -> MultiVal;
    fn flatten_range(self) -> MultiVal;
    fn flat_range_product(self, other: MultiVal) -> MultiVal;
    fn range_product(self, other: MultiVal) -> MultiVal;
    fn factor_range(self) -> MultiVal;
    fn range_is_wrapping(&self) -> bool;
    fn range_factor_domain(self) -> MultiVal;
    fn range_factor_range(self) -> MultiVal;
    fn align_params(self, model: Space) -> MultiVal;
    fn from_range(self) -> MultiVal;
    fn scale_val(self, v: Val) -> MultiVal;
    fn scale_down_val(self, v: Val) -> MultiVal;
    fn scale_multi_val(self, mv: MultiVal) -> MultiVal;
    fn scale_down_multi_val(self, mv: MultiVal) -> MultiVal;
    fn mod_multi_val(self, mv: MultiVal) -> MultiVal;
    fn add(self, other: MultiVal) -> MultiVal;
    fn sub(self, other: MultiVal) -> MultiVal;
    fn neg(self) -> MultiVal;
    fn min(self, other: MultiVal) -> MultiVal;
    fn max(self, other: MultiVal) -> MultiVal;
    fn zero(space: Space) -> MultiVal;
    fn involves_nan(&self) -> bool;
    fn dim(&self, kind: Dim) -> usize;
    fn drop_dims(self, kind: Dim, first: usize, n: usize) -> MultiVal;
    fn involves_dims(&self, kind: Dim, first: usize, n: usize) -> bool;
    fn insert_dims(self, kind: Dim, first: usize, n: usize) -> MultiVal;
    fn add_dims(self, kind: Dim, n: usize) -> MultiVal;
    fn project_domain_on_params(self) -> MultiVal;
    fn find_dim_by_name(&self, kind: Dim, name: &str) -> Option<usize>;
    fn find_dim_by_id(&self, kind: Dim, id: &Id) -> Option<usize>;
    fn get_dim_id(&self, kind: Dim, pos: usize) -> Id;
    fn set_dim_name(self, kind: Dim, pos: usize, s: &str) -> MultiVal;
    fn set_dim_id(self, kind: Dim, pos: usize, id: Id) -> MultiVal;
    fn get_tuple_name(&self, kind: Dim) -> Option<String>;
    fn has_range_tuple_id(&self) -> bool;
    fn has_tuple_id(&self, kind: Dim) -> bool;
    fn get_range_tuple_id(&self) -> Id;
    fn get_tuple_id(&self, kind: Dim) -> Id;
    fn set_tuple_name(self, kind: Dim, s: &str) -> MultiVal;
    fn set_range_tuple_id(self, id: Id) -> MultiVal;
    fn set_tuple_id(self, kind: Dim, id: Id) -> MultiVal;
    fn reset_range_tuple_id(self) -> MultiVal;
    fn reset_tuple_id(self, kind: Dim) -> MultiVal;
    fn product(self, other: MultiVal) -> MultiVal;
    fn splice(self, in_pos: usize, out_pos: usize, multi2: MultiVal) -> MultiVal;
    fn is_zero(&self) -> bool;
    fn add_val(self, v: Val) -> MultiVal;
    fn mod_val(self, v: Val) -> MultiVal;
}

impl MultiVal {
    /// The tuple of these integers in a set space of as many dimensions.
    pub fn from_i64s(space: Space, values: &[i64]) -> Result<MultiVal> {
        let context = space.context().clone();
        let values = values.iter().map(|&value| Val::from_i64(&context, value)).collect::<Result<Vec<Val>>>()?;
        MultiVal::from_val_list(space, &values)
    }
}
