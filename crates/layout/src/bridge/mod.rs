//! Bridges between the vocabularies, where one expresses the other.
//!
//! A layout is a transform; a schedule of divisible splits, merges and reorders is a layout of its loops; Flatten is
//! the row-major layout; splits and merges are Tile and Flatten. Each bridge keeps the function, as isl confirms in
//! the tests.

mod layout;
mod linear;
mod schedule;

pub use layout::row_major;
pub use linear::{BitAxis, LinearLayout};
pub use schedule::{ScheduleGraph, graph_of, schedule_of_graph, schedule_of_layout};
