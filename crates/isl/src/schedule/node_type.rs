//! The kinds of nodes in a schedule tree.

use std::ffi::c_int;

use crate::Context;
use crate::runtime::Ret;

/// `enum isl_schedule_node_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScheduleNodeType {
    /// Loops: a partial schedule.
    Band,
    /// Constraints on parameters, known to hold.
    Context,
    /// The root: all instances.
    Domain,
    /// Instances that stand for several others.
    Expansion,
    /// Instances added below.
    Extension,
    /// A subset of the instances.
    Filter,
    /// The end of a branch.
    Leaf,
    /// Constraints that are checked at run time.
    Guard,
    /// An annotation.
    Mark,
    /// Children in order.
    Sequence,
    /// Children in any order.
    Set,
}

impl Ret for ScheduleNodeType {
    type Raw = c_int;
    unsafe fn receive(raw: c_int, _: &Context) -> Option<ScheduleNodeType> {
        Some(match raw {
            0 => ScheduleNodeType::Band,
            1 => ScheduleNodeType::Context,
            2 => ScheduleNodeType::Domain,
            3 => ScheduleNodeType::Expansion,
            4 => ScheduleNodeType::Extension,
            5 => ScheduleNodeType::Filter,
            6 => ScheduleNodeType::Leaf,
            7 => ScheduleNodeType::Guard,
            8 => ScheduleNodeType::Mark,
            9 => ScheduleNodeType::Sequence,
            10 => ScheduleNodeType::Set,
            _ => return None,
        })
    }
}
