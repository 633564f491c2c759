//! Staging: an iteration of a loop first copies what it reads of an array, and then reads the copies.
//!
//! In: a draft whose only new statement makes such copies, of an array that the loop does not write.  Out: the dependences of the
//! new program, or nothing, and then `rewriting` has to find them.
//! Whoever reads a copy in an iteration reads what this iteration has copied, because each iteration makes its copies before it reads any; and
//! the copy finds in the array what the reader would have found. So no analysis of the flow is needed: the dependences through the
//! array are handed from the readers to the copies, and those through the buffer follow from the iterations. What has to hold for
//! this is checked on the sets; what orders the readers had is not asked, since a schedule that keeps the new dependences keeps
//! the old ones, through the copies.

use isl::{Map, Set, UnionMap};
use program::{Affine, ArrayId, ExprKind};

use super::Subject;
use super::rewriting::Draft;
use crate::deps::{Dependences, sink_and_array};
use crate::fault::{Attempt, Fault};
use crate::scop::{Access, Scop, Statement, StatementKind};
use crate::sets::Frame;
use crate::tree::{Branch, Entry, Tree};

/// The dependences of a draft that stages copies; none if it does something else.
pub(super) fn dependences(before: &Subject, draft: &Draft, tree: &Tree) -> Attempt<Option<Dependences>> {
    let scop = &draft.scop;
    if draft.writes || !before.scop.equations.is_empty() || !draft.repeats.is_empty()? {
        return Ok(None);
    }
    let branches = tree.branches();
    let Some(stage) = Stage::find(before, draft, &branches)? else { return Ok(None) };
    let mut readers = Vec::new();
    for (number, branch) in branches.iter().enumerate() {
        let statement = scop.at(branch.statement);
        if statement.reads.iter().any(|read| read.array == stage.buffer) {
            let Some(reader) = Reader::find(before, scop, &stage, branch)? else { return Ok(None) };
            // Half a statement would do for its instances only.
            if branches[..number].iter().any(|other| other.statement == branch.statement) {
                return Ok(None);
            }
            readers.push(reader);
        }
    }
    if !stage.is_sound(before, scop, &readers)? {
        return Ok(None);
    }
    Ok(Some(stage.handed_on(before, scop, &readers)?))
}

/// The copies.
struct Stage<'a> {
    copy: &'a Statement,
    /// What is copied.
    array: ArrayId,
    /// Where to.
    buffer: ArrayId,
    /// Where they are made.
    branch: &'a Branch,
    /// How many of its entries lead to an iteration of the loop.
    depth: usize,
    /// `{ copy -> [iteration -> cell] }`
    places: Map,
    /// `{ copy -> [iteration] }`
    iterations: Map,
}

/// A statement that reads copies.
struct Reader<'a> {
    statement: &'a Statement,
    /// `{ reader -> [iteration] }`
    iterations: Map,
    /// What it reads of the array in the old program, and of the buffer in the new one.
    reads: Vec<(&'a Access, &'a Access)>,
}

impl<'a> Stage<'a> {
    /// The copies of a draft, if it has some, with nothing in their loop that writes what is copied.
    fn find(before: &Subject, draft: &'a Draft, branches: &'a [Branch]) -> Attempt<Option<Stage<'a>>> {
        let scop = &draft.scop;
        let [name] = draft.copies.as_slice() else { return Ok(None) };
        let copy = draft.statement(name)?;
        let ([read], ExprKind::Load { array, .. }) = (copy.reads.as_slice(), &copy.value.kind) else { return Ok(None) };
        let (array, buffer) = (*array, copy.write.array);
        let plain = read.array == array && copy.kind == StatementKind::Assign && copy.block.is_none();
        let is_new = buffer.index() >= before.scop.arrays.len();
        let (own, others): (Vec<&Branch>, Vec<&Branch>) =
            branches.iter().partition(|branch| scop.at(branch.statement).name == *name);
        let [branch] = own.as_slice() else { return Ok(None) };
        let reads = |branch: &&&Branch| scop.at(branch.statement).reads.iter().any(|read| read.array == buffer);
        let Some(depth) = others.iter().filter(reads).map(|other| other.shared_with(branch)).min() else {
            return Ok(None);
        };
        let way = &branch.entries[..depth];
        let writes_either = |branch: &Branch| {
            scop.at(branch.statement).writes().any(|write| write.array == array || write.array == buffer)
        };
        let written = others.iter().any(|other| other.shared_with(branch) >= depth && writes_either(other));
        if !plain || !is_new || written || way.iter().any(|entry| matches!(entry, Entry::Only(_))) {
            return Ok(None);
        }
        let iterations = iterations(scop, copy, way)?;
        let places = iterations.clone().range_product(read.map.clone())?;
        Ok(Some(Stage { copy, array, buffer, branch, depth, places, iterations }))
    }

    /// Whether each reader finds the copy of its cell that its iteration has made, and no copy is made of anything else.
    fn is_sound(&self, before: &Subject, scop: &Scop, readers: &[Reader<'_>]) -> Attempt<bool> {
        let context = &before.scop.context;
        let within = |set: Set| set.intersect_params(context.clone());
        // Cells of one iteration do not share a place.
        let held = self.iterations.clone().range_product(self.copy.write.map.clone())?;
        if !held.intersect_params(context.clone())?.is_injective()? {
            return Ok(false);
        }
        let mut needed: Option<Set> = None;
        for reader in readers {
            for (old, new) in &reader.reads {
                let found = self.copies(reader, old)?;
                let through =
                    found.clone().apply_range(self.copy.write.map.clone())?.intersect_params(context.clone())?;
                if !through.is_equal(&new.map.clone().intersect_params(context.clone())?)?
                    || !within(old.map.clone().domain()?)?.is_equal(&within(new.map.clone().domain()?)?)?
                {
                    return Ok(false);
                }
                let copies = found.range()?;
                needed = Some(match needed {
                    Some(known) => known.union(copies)?,
                    None => copies,
                });
            }
        }
        // Copies of cells that nobody reads might be of cells that do not exist.
        let Some(needed) = needed else { return Ok(false) };
        let inside = within(self.copy.write.map.clone().range()?)?.is_subset(&scop.cells(self.buffer)?)?;
        Ok(inside && within(self.copy.domain.clone())?.is_subset(&needed)?)
    }

    /// `{ reader -> copy }`: the copy that the reader's iteration makes of the cell.
    fn copies(&self, reader: &Reader<'_>, read: &Access) -> Attempt<Map> {
        let places = reader.iterations.clone().range_product(read.map.clone())?;
        Ok(places.apply_range(self.places.clone().reverse()?)?)
    }

    /// The dependences of the new program.
    fn handed_on(&self, before: &Subject, scop: &Scop, readers: &[Reader<'_>]) -> Attempt<Dependences> {
        let old = &before.dependences;
        let array = &scop.array(self.array).name;
        let reader = |name: Option<String>| readers.iter().find(|reader| Some(&reader.statement.name) == name.as_ref());
        let is_array = |name: Option<String>| name.as_ref() == Some(array);
        let (mut flow, mut anti) = (scop.nothing()?, scop.nothing()?);
        for pairs in old.flow.maps()? {
            let (sink, through) = sink_and_array(&pairs)?;
            let Some(reader) = reader(sink).filter(|_| is_array(through)) else {
                flow = flow.add_map(pairs)?;
                continue;
            };
            flow = flow.union(UnionMap::from_map(pairs.clone())?.apply_range(self.of_reads(reader)?)?)?;
            if reader.still_reads(self.array) {
                flow = flow.add_map(pairs)?;
            }
        }
        for pairs in old.anti.maps()? {
            let (_, through) = sink_and_array(&pairs)?;
            let Some(reader) = reader(pairs.get_tuple_name(isl::Dim::In)?).filter(|_| is_array(through)) else {
                anti = anti.add_map(pairs)?;
                continue;
            };
            anti = anti.union(self.before_writes(reader, pairs.clone())?)?;
            if reader.still_reads(self.array) {
                anti = anti.add_map(pairs)?;
            }
        }
        let write = &self.copy.write.map;
        // Earlier iterations, by the numbers of their loops.
        let earlier = Map::lex_lt(self.iterations.clone().range()?.get_space()?)?;
        let later = |iterations: &Map| -> Attempt<Map> {
            Ok(iterations.clone().apply_range(earlier.clone())?.apply_range(self.iterations.clone().reverse()?)?)
        };
        for reader in readers {
            for (read, copied) in &reader.reads {
                let found = self.copies(reader, read)?.reverse()?;
                flow = flow.add_map(with_cells(found, write)?)?;
                let overwritten = copied.map.clone().apply_range(write.clone().reverse()?)?;
                anti = anti.add_map(with_cells(overwritten.intersect(later(&reader.iterations)?)?, &copied.map)?)?;
            }
        }
        let again = write.clone().apply_range(write.clone().reverse()?)?.intersect(later(&self.iterations)?)?;
        Ok(Dependences {
            flow,
            anti,
            output: old.output.clone().add_map(with_cells(again, write)?)?,
            reduction: old.reduction.clone(),
            without_source: self.without_source(old, readers)?,
            strict: old.strict,
            exact: old.exact,
        })
    }

    /// `{ [reader -> cell] -> [copy -> cell] }`
    fn of_reads(&self, reader: &Reader<'_>) -> Attempt<UnionMap> {
        let mut all: Option<UnionMap> = None;
        for (read, _) in &reader.reads {
            let read = UnionMap::from_map(read.map.clone())?;
            let (who, cell) = (read.clone().domain_map()?, read.range_map()?);
            let places =
                who.apply_range(UnionMap::from_map(reader.iterations.clone())?)?.range_product(cell.clone())?;
            let handed =
                places.apply_range(UnionMap::from_map(self.places.clone())?.reverse()?)?.range_product(cell)?;
            all = Some(match all {
                Some(known) => known.union(handed)?,
                None => handed,
            });
        }
        all.ok_or_else(|| Fault::bug("a reader of copies that reads none"))
    }

    /// From `{ reader -> [writer -> cell] }` to `{ copy -> [writer -> cell] }`.
    fn before_writes(&self, reader: &Reader<'_>, pairs: Map) -> Attempt<UnionMap> {
        let in_iteration = pairs.apply_domain(reader.iterations.clone())?;
        let copies = self.iterations.clone().apply_range(in_iteration)?;
        let [read] = self.copy.reads.as_slice() else { return Err(Fault::bug("a copy of several cells")) };
        Ok(UnionMap::from_map(copies)?.intersect_range_factor_range(UnionMap::from_map(read.map.clone())?)?)
    }

    /// Reads of the array that find nothing are the copies' now.
    fn without_source(&self, old: &Dependences, readers: &[Reader<'_>]) -> Attempt<UnionMap> {
        let mut all = old.without_source.clone();
        for reader in readers {
            let mut own = UnionMap::from_map(reader.reads[0].0.map.clone())?;
            for (read, _) in &reader.reads[1..] {
                own = own.add_map(read.map.clone())?;
            }
            let lost = all.clone().intersect(own.clone())?;
            if lost.is_empty()? {
                continue;
            }
            let copies = lost.wrap()?.apply(self.of_reads(reader)?)?.unwrap()?;
            all = all.subtract(own)?.union(copies)?;
        }
        Ok(all)
    }
}

impl<'a> Reader<'a> {
    /// Whether it reads other cells of the array as it did before. Then all that it waited for is kept: more than needed, never less.
    fn still_reads(&self, array: ArrayId) -> bool {
        self.statement.reads.iter().any(|read| read.array == array)
    }

    /// A statement that reads the buffer: in the loop, behind the copies, and as it was but for these reads.
    fn find(before: &'a Subject, scop: &'a Scop, stage: &Stage<'_>, branch: &Branch) -> Attempt<Option<Reader<'a>>> {
        let statement = scop.at(branch.statement);
        let Some(old) = before.scop.statement(&statement.name) else { return Ok(None) };
        let depth = stage.depth;
        let behind = match (stage.branch.entries.get(depth), branch.entries.get(depth)) {
            (Some(Entry::Place(copies)), Some(Entry::Place(own))) => copies < own,
            _ => false,
        };
        let same = old.iters == statement.iters
            && old.kind == statement.kind
            && old.reads.len() == statement.reads.len()
            && old.write.array == statement.write.array
            && old.write.index == statement.write.index
            && old.domain.is_equal(&statement.domain)?;
        if !same || !behind || branch.shared_with(stage.branch) != depth {
            return Ok(None);
        }
        let mut reads = Vec::new();
        for (one, two) in old.reads.iter().zip(&statement.reads) {
            if one.array == stage.array && two.array == stage.buffer && one.is_exact() && two.is_exact() {
                reads.push((one, two));
            } else if one.array != two.array || one.index != two.index {
                return Ok(None);
            }
        }
        let iterations = iterations(scop, statement, &branch.entries[..depth])?;
        Ok(Some(Reader { statement, iterations, reads }))
    }
}

/// `{ statement -> [iteration] }`: the numbers of the loops on a way.
fn iterations(scop: &Scop, statement: &Statement, way: &[Entry]) -> Attempt<Map> {
    let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
    let numbers: Vec<Affine> = way.iter().filter_map(Entry::as_loop).map(|(_, expr)| expr.clone()).collect();
    let range = scop.params.tuple(None, &vec![""; numbers.len()])?;
    Ok(frame.map(range, &numbers)?.intersect_domain(statement.domain.clone())?)
}

/// From `{ source -> sink }` to `{ source -> [sink -> cell] }`, where the source knows the cell.
fn with_cells(pairs: Map, cells: &Map) -> Attempt<Map> {
    Ok(pairs.range_product(cells.clone())?)
}
