//! Integer relations.

mod basic_map;
mod fixed_box;
mod general;
mod union_map;

pub use basic_map::BasicMap;
pub use fixed_box::FixedBox;
pub use general::Map;
pub use union_map::UnionMap;
