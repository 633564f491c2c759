//! The input of the scheduler.

use crate::{Schedule, Set, UnionMap, UnionSet};

object! { unique
    /// What a schedule must respect and should favour.
    ScheduleConstraints, "isl_schedule_constraints_"
}

bind! { ScheduleConstraints, "isl_schedule_constraints_";
    fn on_domain(domain: UnionSet) -> ScheduleConstraints;
    fn set_context(self, context: Set) -> ScheduleConstraints;
    fn set_validity(self, validity: UnionMap) -> ScheduleConstraints;
    fn set_coincidence(self, coincidence: UnionMap) -> ScheduleConstraints;
    fn set_proximity(self, proximity: UnionMap) -> ScheduleConstraints;
    fn set_conditional_validity(self, condition: UnionMap, validity: UnionMap) -> ScheduleConstraints;
    fn get_domain(&self) -> UnionSet;
    fn get_context(&self) -> Set;
    fn get_validity(&self) -> UnionMap;
    fn get_coincidence(&self) -> UnionMap;
    fn get_proximity(&self) -> UnionMap;
    fn get_conditional_validity(&self) -> UnionMap;
    fn get_conditional_validity_condition(&self) -> UnionMap;
    fn apply(self, umap: UnionMap) -> ScheduleConstraints;
    fn compute_schedule(self) -> Schedule;
}
