//! Spaces with integer divisions.

use crate::Space;

object! {
    /// A space with local variables.
    LocalSpace, "isl_local_space_"
}

bind! { LocalSpace, "isl_local_space_";
    fn from_space(space: Space) -> LocalSpace;
}
