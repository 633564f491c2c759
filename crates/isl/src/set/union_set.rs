//! Sets over several spaces, such as iteration domains.

use crate::runtime::Result;
use crate::{Schedule, Set, Space, UnionMap};

object! {
    /// A union of sets of several spaces.
    UnionSet, "isl_union_set_"
}

bind! { UnionSet, "isl_union_set_";
    fn compute_schedule(self, validity: UnionMap, proximity: UnionMap) -> Schedule;
    fn unwrap(self) -> UnionMap;
    fn align_params(self, model: Space) -> UnionSet;
    fn from_set(set: Set) -> UnionSet;
    fn empty(space: Space) -> UnionSet;
    fn get_space(&self) -> Space;
    fn universe(self) -> UnionSet;
    fn params(self) -> Set;
    fn coalesce(self) -> UnionSet;
    fn lexmin(self) -> UnionSet;
    fn lexmax(self) -> UnionSet;
    fn add_set(self, set: Set) -> UnionSet;
    fn union(self, other: UnionSet) -> UnionSet;
    fn subtract(self, other: UnionSet) -> UnionSet;
    fn intersect(self, other: UnionSet) -> UnionSet;
    fn intersect_params(self, set: Set) -> UnionSet;
    fn gist(self, context: UnionSet) -> UnionSet;
    fn apply(self, umap: UnionMap) -> UnionSet;
    fn is_empty(&self) -> bool;
    fn is_subset(&self, other: &UnionSet) -> bool;
    fn is_equal(&self, other: &UnionSet) -> bool;
    fn get_set_list(&self) -> Vec<Set>;
}

impl UnionSet {
    /// The sets, one per space.
    pub fn sets(&self) -> Result<Vec<Set>> {
        self.get_set_list()
    }
}
