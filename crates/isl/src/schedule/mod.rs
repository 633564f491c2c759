//! Scheduling: what a schedule must respect, schedule trees, and their text form.

mod constraints;
mod node;
mod node_type;
mod saved;
mod tree;
mod yaml;

pub use constraints::ScheduleConstraints;
pub use node::ScheduleNode;
pub use node_type::ScheduleNodeType;
pub use tree::Schedule;
