//! Tuples of numbers, such as tile sizes.

use crate::runtime::Result;
use crate::{Space, Val};

object! {
    /// A tuple of numbers.
    MultiVal, "isl_multi_val_"
}

bind! { MultiVal, "isl_multi_val_";
    fn get_space(&self) -> Space;
    fn get_list(&self) -> Vec<Val>;
    fn from_val_list(space: Space, list: &[Val]) -> MultiVal;
    fn size(&self) -> usize;
    fn get_at(&self, pos: usize) -> Val;
    fn get_val(&self, pos: usize) -> Val;
}

impl MultiVal {
    /// The tuple of these integers in a set space of as many dimensions.
    pub fn from_i64s(space: Space, values: &[i64]) -> Result<MultiVal> {
        let context = space.context().clone();
        let values = values.iter().map(|&value| Val::from_i64(&context, value)).collect::<Result<Vec<Val>>>()?;
        MultiVal::from_val_list(space, &values)
    }
}
