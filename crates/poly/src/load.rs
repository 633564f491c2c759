//! Loading schedule trees that users bring as YAML.
//!
//! In: text.  Out: a schedule over the Scop's parameters, still to be judged by `legality`; or what is wrong with it.

use isl::{Context, Schedule};

use crate::scop::Scop;

/// Reads a tree. Instances of other programs, and parameters that this one does not have, are refused here; missing or
/// superfluous instances are found by the legality check.
pub fn load_tree(ctx: &Context, scop: &Scop, yaml: &str) -> Result<Schedule, String> {
    let read = || -> isl::Result<(Schedule, Vec<String>, usize)> {
        let schedule = Schedule::read_from_yaml(ctx, yaml)?.align_params(scop.params.space())?;
        let mut names = Vec::new();
        for set in schedule.get_domain()?.sets()? {
            names.push(set.get_tuple_name()?.unwrap_or_default());
        }
        let params = schedule.get_domain()?.get_space()?.dim(isl::Dim::Param)?;
        Ok((schedule, names, params))
    };
    let (schedule, names, params) = read().map_err(|error| error.to_string())?;
    if let Some(unknown) = names.iter().find(|name| scop.statement(name).is_none()) {
        return Err(format!("it schedules `{unknown}`, which is no statement of this program"));
    }
    if let Some(kind) = unsupported_node(&schedule).map_err(|error| error.to_string())? {
        return Err(format!("it has {kind}, which cannot be judged"));
    }
    if params != scop.function.params.len() {
        return Err("it uses parameters that this program does not have".into());
    }
    Ok(schedule)
}

/// A kind of node that changes which instances run, or what is assumed, in ways that the legality check does not see.
fn unsupported_node(schedule: &Schedule) -> isl::Result<Option<&'static str>> {
    let mut found = None;
    schedule.foreach_schedule_node_top_down(|node| {
        use isl::ScheduleNodeType as Kind;
        found = found.or(match node.get_type()? {
            Kind::Extension => Some("an extension node"),
            Kind::Expansion => Some("an expansion node"),
            Kind::Guard => Some("a guard node"),
            Kind::Context => Some("a context node"),
            Kind::Band if !node.band_get_ast_build_options()?.is_empty()? => Some("options for loop generation"),
            _ => None,
        });
        Ok(true)
    })?;
    Ok(found)
}
