//! Does a tree run exactly the instances of the program, each once?

use isl::Set;

use super::{InstanceFault, Violation};
use crate::fault::Attempt;
use crate::scop::Scop;
use crate::tree::{Branch, StatementId};
use crate::witness::{Sample, smallest};

/// An instance that no branch runs, or that two do. A branch never runs one that the program does not have. At sizes in
/// `context`.
pub(super) fn find_wrong(scop: &Scop, branches: &[Branch], context: &Set) -> Attempt<Option<Violation>> {
    for (position, statement) in scop.statements.iter().enumerate() {
        let id = StatementId::new(position);
        let own: Vec<&Branch> = branches.iter().filter(|branch| branch.statement == id).collect();
        // The usual case: one branch for all instances.
        if let [branch] = own.as_slice()
            && branch.is_whole()
        {
            continue;
        }
        let mut missing = statement.domain.clone();
        let mut repeated: Option<Set> = None;
        for (number, branch) in own.iter().enumerate() {
            let instances = branch.instances(scop)?;
            missing = missing.subtract(instances.clone())?;
            for earlier in &own[..number] {
                let both = instances.clone().intersect(earlier.instances(scop)?)?;
                repeated = Some(match repeated {
                    Some(known) => known.union(both)?,
                    None => both,
                });
            }
        }
        let suspects = [(Some(missing), InstanceFault::Missing), (repeated, InstanceFault::Repeated)];
        for (set, fault) in suspects.into_iter().filter_map(|(set, fault)| Some((set?, fault))) {
            if let Some(Sample { params, point }) = smallest(set, context)? {
                return Ok(Some(Violation::Instances { statement: id, values: point, params, fault }));
            }
        }
    }
    Ok(None)
}
