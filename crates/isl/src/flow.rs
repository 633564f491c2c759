//! Dataflow: which write does a read see?
//!
//! In: accesses and an order.  Out: dependences, exact (must) or possible (may), with or without the memory cell.

use crate::{Schedule, UnionMap};

object! { unique
    /// What reads, what writes, and in which order.
    UnionAccessInfo, "isl_union_access_info_"
}

bind! { UnionAccessInfo, "isl_union_access_info_";
    fn from_sink(sink: UnionMap) -> UnionAccessInfo;
    fn set_must_source(self, must_source: UnionMap) -> UnionAccessInfo;
    fn set_may_source(self, may_source: UnionMap) -> UnionAccessInfo;
    fn set_kill(self, kill: UnionMap) -> UnionAccessInfo;
    fn set_schedule(self, schedule: Schedule) -> UnionAccessInfo;
    fn set_schedule_map(self, schedule_map: UnionMap) -> UnionAccessInfo;
    fn compute_flow(self) -> UnionFlow;
}

object! { unique
    /// The dependences found.
    UnionFlow, "isl_union_flow_"
}

bind! { UnionFlow, "isl_union_flow_";
    fn get_must_dependence(&self) -> UnionMap;
    fn get_may_dependence(&self) -> UnionMap;
    fn get_full_must_dependence(&self) -> UnionMap;
    fn get_full_may_dependence(&self) -> UnionMap;
    fn get_must_no_source(&self) -> UnionMap;
    fn get_may_no_source(&self) -> UnionMap;
}
