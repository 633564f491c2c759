//! Schedule trees as YAML, isl's own text form.

use isl::{Context, Schedule};
use poly::{Attempt, InstanceFault, Marks, Scop, Tree, Violation};

/// Why a text is no schedule of a program.
#[derive(Debug)]
pub enum NotATree {
    /// It cannot be read, or is about something else; in words.
    Text(String),
    /// It is a tree, but runs what the program does not have.
    Illegal(Box<Violation>),
}

/// The text of a tree.
pub fn to_yaml(tree: &Tree, scop: &Scop) -> diag::Result<String> {
    let text = || -> Attempt<String> { Ok(tree.to_isl(scop, Marks::Kinds)?.to_yaml()?) };
    text().map_err(|fault| fault.of_function("schedule", &scop.function))
}

/// Reads a tree. Instances of other programs, and parameters that this one does not have, are refused here; missing and
/// repeated instances are found by the gate.
pub fn read_yaml(ctx: &Context, scop: &Scop, yaml: &str) -> diag::Result<Result<Tree, NotATree>> {
    let read = || -> isl::Result<(Schedule, Vec<String>, usize)> {
        let schedule = Schedule::read_from_yaml(ctx, yaml)?.align_params(scop.params.space())?;
        let mut names = Vec::new();
        for set in schedule.get_domain()?.sets()? {
            names.push(set.get_tuple_name()?.unwrap_or_default());
        }
        let params = schedule.get_domain()?.get_space()?.dim(isl::Dim::Param)?;
        // Those of times and filters count as well.
        let params = params.max(schedule.get_map()?.get_space()?.dim(isl::Dim::Param)?);
        Ok((schedule, names, params))
    };
    let refuse = |what: String| Ok(Err(NotATree::Text(what)));
    let (schedule, names, params) = match read() {
        Ok(read) => read,
        Err(isl::Error::Budget { resource, spent }) => {
            return Err(diag::Error::Budget { stage: "schedule", spent: poly::spent(resource, spent) });
        }
        Err(error) => return refuse(error.to_string()),
    };
    if let Some(unknown) = names.iter().find(|name| scop.statement(name).is_none()) {
        return refuse(format!("it schedules `{unknown}`, which is no statement of this program"));
    }
    if params != scop.function.params.len() {
        return refuse("it uses parameters that this program does not have".into());
    }
    Ok(match poly::from_isl(scop, &schedule)? {
        Ok(tree) => Ok(tree),
        Err(poly::Unread::Unsupported(what)) => Err(NotATree::Text(format!("it has {what}, which cannot be judged"))),
        Err(poly::Unread::Superfluous { statement, sample }) => {
            let (values, params, fault) = (sample.point, sample.params, InstanceFault::Superfluous);
            Err(NotATree::Illegal(Box::new(Violation::Instances { statement, values, params, fault })))
        }
    })
}
