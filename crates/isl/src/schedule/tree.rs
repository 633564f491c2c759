//! Schedule trees as a whole.

use crate::runtime::Result;
use crate::{MultiUnionPwAff, ScheduleNode, Set, Space, UnionMap, UnionPwMultiAff, UnionSet};

object! {
    /// A schedule tree.
    Schedule, "isl_schedule_"
}

bind! { Schedule, "isl_schedule_";
    fn empty(space: Space) -> Schedule;
    fn from_domain(domain: UnionSet) -> Schedule;
    fn get_map(&self) -> UnionMap;
    fn plain_is_equal(&self, other: &Schedule) -> bool;
    fn get_root(&self) -> ScheduleNode;
    fn get_domain(&self) -> UnionSet;
    fn insert_context(self, context: Set) -> Schedule;
    fn insert_partial_schedule(self, partial: MultiUnionPwAff) -> Schedule;
    fn insert_guard(self, guard: Set) -> Schedule;
    fn sequence(self, other: Schedule) -> Schedule;
    fn set(self, other: Schedule) -> Schedule;
    fn intersect_domain(self, domain: UnionSet) -> Schedule;
    fn gist_domain_params(self, context: Set) -> Schedule;
    fn align_params(self, space: Space) -> Schedule;
    fn pullback_union_pw_multi_aff(self, upma: UnionPwMultiAff) -> Schedule;
    fn expand(self, contraction: UnionPwMultiAff, expansion: Schedule) -> Schedule;
}

bind_callbacks! { Schedule, "isl_schedule_";
    fn foreach_schedule_node_top_down: descend(ScheduleNode);
    fn map_schedule_node_bottom_up: rewrite(ScheduleNode);
}

impl Schedule {
    /// True if both give every instance the same time (`get_map`); the trees may differ.
    pub fn is_equal(&self, other: &Schedule) -> Result<bool> {
        self.get_map()?.is_equal(&other.get_map()?)
    }
}
