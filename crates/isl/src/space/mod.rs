//! Spaces: the dimensions that sets, maps and expressions live in.

mod dim;
mod local_space;
#[expect(clippy::module_inception, reason = "the module is named after its type")]
mod space;

pub use dim::Dim;
pub use local_space::LocalSpace;
pub use space::Space;
