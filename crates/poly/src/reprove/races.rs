//! Whether iterations of a parallel loop touch the same cells, one of them writing.

use isl::{Dim, Map, PwAff, Set};
use loops::ArrayId;

use super::region::Region;
use crate::fault::Attempt;
use crate::sets::Params;

/// What the iterations of a parallel loop touch.
pub(super) struct Touched<'a> {
    pub(super) region: Region<'a>,
    /// The dimension of its variable; those before are the same in all iterations.
    position: usize,
    /// Iterations to cells.
    accesses: Vec<(ArrayId, Map, bool)>,
}

impl<'a> Touched<'a> {
    pub(super) fn new(region: Region<'a>, position: usize) -> Touched<'a> {
        Touched { region, position, accesses: Vec::new() }
    }

    /// Keeps an access, which is a map from all loops around it to cells.
    pub(super) fn record(&mut self, array: ArrayId, cells: &Map, written: bool) -> Attempt<()> {
        let inner = cells.dim(Dim::In)? - (self.position + 1);
        let cells = cells.clone().project_out(Dim::In, self.position + 1, inner)?;
        self.accesses.push((array, cells, written));
        Ok(())
    }

    /// An array in which two iterations may meet.
    pub(super) fn conflict(&self) -> Attempt<Option<ArrayId>> {
        for array in self.region.watched() {
            let of_array = || self.accesses.iter().filter(|(found, ..)| *found == array);
            let all = union(of_array().map(|(_, cells, _)| cells))?;
            let writes = union(of_array().filter(|(.., written)| *written).map(|(_, cells, _)| cells))?;
            let (Some(all), Some(writes)) = (all, writes) else { continue };
            let mut meet = writes.apply_range(all.reverse()?)?;
            for outer in 0..self.position {
                meet = meet.equate(Dim::In, outer, Dim::Out, outer)?;
            }
            let (before, after) = ((Dim::In, self.position), (Dim::Out, self.position));
            let earlier = meet.clone().order_lt(before.0, before.1, after.0, after.1)?;
            let later = meet.order_gt(before.0, before.1, after.0, after.1)?;
            if !earlier.is_empty()? || !later.is_empty()? {
                return Ok(Some(array));
            }
        }
        Ok(None)
    }
}

fn union<'m>(maps: impl Iterator<Item = &'m Map>) -> Attempt<Option<Map>> {
    let mut all: Option<Map> = None;
    for map in maps {
        all = Some(match all {
            None => map.clone(),
            Some(all) => all.union(map.clone())?,
        });
    }
    Ok(all)
}

/// The cells that each instance touches; a subscript that is not known may have any value.
pub(super) fn cells(params: &Params, domain: &Set, subscripts: Vec<Option<PwAff>>) -> Attempt<Map> {
    let space = domain.get_space()?;
    let mut cells = Map::universe(space.clone().map_from_domain_and_range(params.tuple(None, &[])?)?)?;
    for subscript in subscripts {
        let subscript = match subscript {
            Some(value) => Map::from_pw_aff(value)?,
            None => Map::universe(space.clone().map_from_domain_and_range(params.tuple(None, &[""])?)?)?,
        };
        cells = cells.flat_range_product(subscript)?;
    }
    Ok(cells.intersect_domain(domain.clone())?)
}
