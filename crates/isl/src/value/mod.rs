//! Numbers, names and tuples of numbers.

mod id;
mod multi_val;
mod val;

pub use id::Id;
pub use multi_val::MultiVal;
pub use val::Val;
