//! Boxes of a fixed size around the images of a relation.

use crate::{MultiAff, MultiVal};

object! {
    /// A box at an offset that moves with the domain; it may be invalid, when no such box was found.
    FixedBox, "isl_fixed_box_"
}

bind! { FixedBox, "isl_fixed_box_";
    fn is_valid(&self) -> bool;
    fn get_offset(&self) -> MultiAff;
    fn get_size(&self) -> MultiVal;
}
