//! Ranges that depend on nothing but sizes.

use isl::{Dim, Set};

use crate::fault::Attempt;
use crate::scop::{Scop, Statement};

/// Whether the instances of a statement are a box: whatever the others are, each of its indices has the same values.
pub fn is_box(scop: &Scop, statement: &Statement) -> diag::Result<bool> {
    boxed(&statement.domain, statement.iters.len()).map_err(|fault| fault.of_function("schedule", &scop.function))
}

fn boxed(domain: &Set, dims: usize) -> Attempt<bool> {
    // Without the name of the statement, which dimensions that come and go do not keep.
    let instances = domain.clone().insert_dims(Dim::Set, 0, 1)?.project_out(Dim::Set, 0, 1)?;
    let mut around = Set::universe(instances.get_space()?)?;
    for dim in 0..dims {
        let values = instances.clone().project_out(Dim::Set, dim + 1, dims - dim - 1)?.project_out(Dim::Set, 0, dim)?;
        around = around.intersect(values.insert_dims(Dim::Set, 0, dim)?.add_dims(Dim::Set, dims - dim - 1)?)?;
    }
    Ok(around.is_subset(&instances)?)
}
