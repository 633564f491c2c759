//! Integer points.

use crate::runtime::Result;
use crate::{Dim, Space, Val};

object! {
    /// An integer point, or void.
    Point, "isl_point_"
}

bind! { Point, "isl_point_";
    fn get_space(&self) -> Space;
    fn get_coordinate_val(&self, kind: Dim, pos: usize) -> Val;
    fn is_void(&self) -> bool;
}

impl Point {
    /// The value of one coordinate; an error for the void point.
    pub fn coordinate(&self, kind: Dim, pos: usize) -> Result<Val> {
        self.get_coordinate_val(kind, pos)
    }
}
