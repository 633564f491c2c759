//! Integer points.

use crate::runtime::Result;
use crate::{Dim, MultiVal, Set, Space, Val};

object! {
    /// An integer point, or void.
    Point, "isl_point_"
}

bind! { Point, "isl_point_";
    fn get_space(&self) -> Space;
    fn zero(space: Space) -> Point;
    fn get_coordinate_val(&self, kind: Dim, pos: usize) -> Val;
    fn set_coordinate_val(self, kind: Dim, pos: usize, v: Val) -> Point;
    fn get_multi_val(&self) -> MultiVal;
    fn add_ui(self, kind: Dim, pos: usize, val: usize) -> Point;
    fn sub_ui(self, kind: Dim, pos: usize, val: usize) -> Point;
    fn void(space: Space) -> Point;
    fn is_void(&self) -> bool;
    fn to_set(self) -> Set;
}

impl Point {
    /// The value of one coordinate; an error for the void point.
    pub fn coordinate(&self, kind: Dim, pos: usize) -> Result<Val> {
        self.get_coordinate_val(kind, pos)
    }
}
