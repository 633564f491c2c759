//! Integer relations.

mod basic_map;
mod general;
mod union_map;

pub use basic_map::BasicMap;
pub use general::Map;
pub use union_map::UnionMap;
