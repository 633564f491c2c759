//! Whether iterations of a parallel loop touch the same cells, one of them writing.

use isl::{Dim, Map, PwAff, Set};
use loops::{ArrayId, For, Parallel, Stmt, Target, Visit};

use crate::fault::Attempt;
use crate::sets::Params;

/// A parallel loop that is walked through.
pub(super) struct Region<'a> {
    /// The dimension of its variable; those before are the same in all iterations.
    position: usize,
    parallel: &'a Parallel,
    /// The arrays that iterations write.
    written: Vec<ArrayId>,
    /// Arrays of which every iteration has its own.
    own: Vec<ArrayId>,
    /// Iterations to cells.
    accesses: Vec<(ArrayId, Map, bool)>,
}

impl<'a> Region<'a> {
    pub(super) fn new(f: &'a For, parallel: &'a Parallel, position: usize) -> Region<'a> {
        let mut writes = Writes(Vec::new());
        writes.block(&f.body);
        Region { position, parallel, written: writes.0, own: parallel.private.clone(), accesses: Vec::new() }
    }

    /// Each iteration has this array for itself.
    pub(super) fn own(&mut self, array: ArrayId) {
        self.own.push(array);
    }

    /// Whether it matters who touches the array. What is reduced is only updated, which the verifier has seen.
    pub(super) fn watches(&self, array: ArrayId) -> bool {
        let reduced = self.parallel.reductions.iter().any(|reduction| reduction.array == array);
        self.written.contains(&array) && !self.own.contains(&array) && !reduced
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
        for array in self.written.iter().filter(|array| self.watches(**array)) {
            let of_array = || self.accesses.iter().filter(|(found, ..)| found == array);
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
                return Ok(Some(*array));
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

/// The arrays that statements write.
struct Writes(Vec<ArrayId>);

impl Visit for Writes {
    fn stmt(&mut self, stmt: &Stmt) {
        let array = match stmt {
            Stmt::Store { array, .. } | Stmt::Scatter { array, .. } => Some(*array),
            Stmt::Update { target: Target::Cell { array, .. }, .. } => Some(*array),
            _ => None,
        };
        self.0.extend(array.filter(|array| !self.0.contains(array)));
        self.descend_stmt(stmt);
    }
}
