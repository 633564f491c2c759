//! Rewriting: a program with other statements that is claimed to compute the same.
//!
//! In: a legal schedule, and a [`Draft`] in which a step has changed statements and says what every new read finds.  Out: the
//! new program with its dependences, or a witness: a reader with the instance whose value it should find.
//! Nothing a draft says is trusted: the statements that stay are proven to keep their order, and each claim is compared with
//! the flow dependences of the new program. Copies are looked through: who reads a copy reads what the copy was made of.
//! Instances that repeat one of the old program count as that one.
//! Not here: whether the tree of the new program is legal and its parallel loops are such; that is proven like any tree.

use std::rc::Rc;
use std::time::Duration;

use diag::{Diagnostic, Span};
use isl::{Dim, Map, UnionMap, UnionSet};
use program::{Affine, ArrayId, Iter, IterId, Role};

use super::{Subject, Violation, order, staging};
use crate::deps::{Dependences, exact_dependences};
use crate::fault::{Attempt, Fault};
use crate::model::Parts;
use crate::scop::{Access, ArrayOrigin, Scop, ScopArray, Statement};
use crate::tree::{Branch, Entry, Loop, LoopId, StatementId, Tree};
use crate::witness::{Sample, evaluate, show_cell, show_params, show_point, smallest};

/// What one read of the new program finds, in instances of the old one.
#[derive(Clone, Debug)]
pub struct Claim {
    /// `{ reader -> cell }`
    pub access: Map,
    /// `{ reader -> writer }`, the writer as an instance of the old program.
    pub writers: UnionMap,
    /// `{ [reader -> cell] }`: it finds what was in this cell before the call.
    pub inputs: UnionSet,
}

/// A new program, with what has to be checked about it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The step that makes it.
    pub verb: &'static str,
    /// The statements.
    pub scop: Scop,
    /// The loops that branches speak of.
    pub loops: Vec<Loop>,
    /// Their order.
    pub branches: Vec<Branch>,
    /// What new reads find.
    pub claims: Vec<Claim>,
    /// Statements that only copy a cell: who reads their copy reads that cell.
    pub copies: Vec<String>,
    /// From instances that repeat one of the old program to that one; all others stand for themselves.
    pub repeats: UnionMap,
    /// Whether other statements than before write results.
    pub writes: bool,
}

impl Draft {
    /// The program as it is.
    pub fn new(verb: &'static str, scop: &Scop, tree: &Tree) -> Attempt<Draft> {
        Ok(Draft {
            verb,
            scop: scop.clone(),
            loops: tree.table(),
            branches: tree.branches(),
            claims: Vec::new(),
            copies: Vec::new(),
            repeats: scop.nothing()?,
            writes: false,
        })
    }

    /// A new iterator.
    pub fn iter(&mut self, name: &str, span: Span) -> IterId {
        let id = IterId(self.scop.function.iters.len() as u32);
        self.scop.function.iters.push(Iter { name: name.to_string(), span, made_up: true });
        id
    }

    /// A new array with elements like those of another one.
    pub fn array(&mut self, name: String, like: ArrayId, shape: Vec<Affine>, origin: ArrayOrigin) -> ArrayId {
        let like = self.scop.array(like).clone();
        let id = ArrayId(self.scop.arrays.len() as u32);
        let role = Role::Local;
        let first_at_most = None;
        self.scop.arrays.push(ScopArray { name, shape, first_at_most, role, origin, expanded: 0, laid: None, ..like });
        id
    }

    /// Says what bounds the first extent of a new array besides its shape.
    pub fn bound_first(&mut self, array: ArrayId, at_most: Affine) {
        self.scop.arrays[array.index()].first_at_most = Some(at_most);
    }

    /// A new loop.
    pub fn add_loop(&mut self, name: &str) -> LoopId {
        let id = LoopId(self.loops.len() as u32);
        self.loops.push(Loop::named(name));
        id
    }

    /// Puts a statement in front of the one at `position`, and its branch in front of the branch at `place`.
    pub fn insert(&mut self, position: usize, parts: Parts, place: usize, entries: Vec<Entry>) -> Attempt<()> {
        let statement = parts.build(&self.scop)?;
        self.scop.statements.insert(position, statement);
        for branch in self.branches.iter_mut().filter(|branch| branch.statement.index() >= position) {
            branch.statement = StatementId(branch.statement.0 + 1);
        }
        self.branches.insert(place, Branch { statement: StatementId::new(position), entries });
        Ok(())
    }

    /// Drops a statement.
    pub fn remove(&mut self, position: usize) {
        self.scop.statements.remove(position);
        self.branches.retain(|branch| branch.statement.index() != position);
        for branch in self.branches.iter_mut().filter(|branch| branch.statement.index() > position) {
            branch.statement = StatementId(branch.statement.0 - 1);
        }
    }

    /// Gives a statement other parts, in the same place.
    pub fn replace(&mut self, position: usize, parts: Parts) -> Attempt<()> {
        self.scop.statements[position] = parts.build(&self.scop)?;
        Ok(())
    }

    /// A statement by its name.
    pub fn statement(&self, name: &str) -> Attempt<&Statement> {
        self.scop.statement(name).ok_or_else(|| Fault::bug(format!("no statement {name} in a draft")))
    }
}

/// What became of a draft.
#[derive(Debug)]
pub enum Rewriting {
    /// The new program, and the order in which it is written.
    Done(Rc<Subject>, Tree),
    /// A value would change; the diagnostic is a witness.
    Changed(Box<Diagnostic>),
    /// The step itself does not fit, whatever is read; the diagnostic is about the step.
    Unfit(Box<Diagnostic>),
}

/// Why a draft is no program that computes the same.
enum Refusal {
    Changed(Box<Diagnostic>),
    /// Inside the gate.
    Fault(Fault),
    /// In a stage that the gate asks.
    Failed(diag::Error),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}

impl From<isl::Error> for Refusal {
    fn from(error: isl::Error) -> Refusal {
        Fault::from(error).into()
    }
}

impl From<diag::Error> for Refusal {
    fn from(error: diag::Error) -> Refusal {
        Refusal::Failed(error)
    }
}

/// Checks a draft that was made from `before`, whose order so far becomes that of the new program.
pub fn prove_rewriting(before: &Rc<Subject>, draft: Draft) -> diag::Result<Rewriting> {
    match check_all(before, draft) {
        Ok((subject, tree)) => Ok(Rewriting::Done(subject, tree)),
        Err(Refusal::Changed(diagnostic)) => Ok(Rewriting::Changed(diagnostic)),
        Err(Refusal::Fault(fault)) => Err(fault.of_program("legality", &before.scop.function)),
        Err(Refusal::Failed(error)) => Err(error),
    }
}

fn check_all(before: &Rc<Subject>, mut draft: Draft) -> Result<(Rc<Subject>, Tree), Refusal> {
    let tree = Tree::grow(std::mem::take(&mut draft.loops), std::mem::take(&mut draft.branches));
    let written = Some(before.written.clone().unwrap_or_else(|| Rc::clone(before)));
    if let Some(dependences) = staging::dependences(before, &draft, &tree)? {
        draft.scop.adopt(&tree);
        return Ok((Rc::new(Subject::new(draft.scop, dependences, written)), tree));
    }
    check_order(before, &draft, &tree)?;
    draft.scop.adopt(&tree);
    if !before.dependences.exact {
        // Who writes what the changed statements read is not known.
        let spent = isl::Error::Budget { resource: isl::Resource::Time, spent: Duration::ZERO };
        return Err(Refusal::Failed(Fault::from(spent).at("deps")));
    }
    let mut after = exact_dependences(&draft.scop)?;
    if before.dependences.strict {
        after = after.in_strict_order()?;
    }
    check(before, &draft, &after)?;
    Ok((Rc::new(Subject::new(draft.scop, after, written)), tree))
}

/// The statements that the new program has as well keep the order of every dependence among them.
fn check_order(before: &Subject, draft: &Draft, tree: &Tree) -> Result<(), Refusal> {
    let mut kept = before.scop.clone();
    let same = |statement: &Statement| {
        let found = draft.scop.statements.iter().position(|other| other.name == statement.name);
        found.filter(|position| draft.scop.statements[*position].iters == statement.iters)
    };
    kept.statements.retain(|statement| same(statement).is_some());
    let numbers: Vec<Option<usize>> = kept.statements.iter().map(same).collect();
    let renumbered = |branch: &Branch| {
        let position = numbers.iter().position(|number| *number == Some(branch.statement.index()))?;
        Some(Branch { statement: StatementId::new(position), entries: branch.entries.clone() })
    };
    let branches: Vec<Branch> = tree.branches().iter().filter_map(renumbered).collect();
    let dependences = before.dependences.among(&kept.domain()?)?;
    let kept = Subject::new(kept, dependences, None);
    match order::find_reversed(&kept, &branches, &kept.scop.context)? {
        Some(pair) => Err(Refusal::Changed(Box::new(Violation::Reversed(pair).explain(&kept, tree)))),
        None => Ok(()),
    }
}

/// `{ reader -> writer }` for one access, `{ reader -> cell }`.
pub fn writers(dependences: &Dependences, access: &Map) -> Attempt<UnionMap> {
    let by_read = dependences.flow.clone().reverse()?;
    let read = access.clone().wrap()?.to_union_set()?;
    Ok(by_read.intersect_domain(read)?.domain_factor_domain()?)
}

/// `{ [reader -> cell] }` where nothing has been written before the read.
pub fn inputs(dependences: &Dependences, access: &Map) -> Attempt<UnionSet> {
    let read = access.clone().wrap()?.to_union_set()?;
    Ok(read.subtract(dependences.flow.clone().range()?)?)
}

fn check(before: &Subject, draft: &Draft, after: &Dependences) -> Result<(), Refusal> {
    for claim in &draft.claims {
        let found = Found::new(draft, after, claim)?;
        found.check_once(draft, claim)?;
        let context = &before.scop.context;
        let narrow = |pairs: &UnionMap| pairs.clone().intersect_params(context.clone());
        let (expected, actual) = (narrow(&claim.writers)?, narrow(&found.old)?);
        let missing = expected.clone().subtract(actual.clone())?;
        let wrong = actual.subtract(expected)?;
        if let Some(changed) = find_change(before, &missing, &wrong)? {
            return Err(Refusal::Changed(Box::new(changed.explain(before, draft, claim)?)));
        }
        // Where the writers agree, only a copy could still be of another cell.
        let narrow = |cells: &UnionSet| cells.clone().intersect_params(context.clone());
        if !narrow(&claim.inputs)?.is_equal(&narrow(&found.inputs)?)? {
            return Err(Fault::bug("a read finds another cell than before").into());
        }
    }
    if draft.writes { check_finals(before, draft, after) } else { Ok(()) }
}

/// `{ cell -> writer }`: who leaves a value in the cells of arguments and results.
fn finals(scop: &Scop, dependences: &Dependences) -> Attempt<UnionMap> {
    let mut writes = scop.nothing()?;
    for statement in &scop.statements {
        for write in statement.writes().filter(|write| scop.array(write.array).role != Role::Local) {
            writes = writes.add_map(write.map.clone())?;
        }
    }
    let overwritten = dependences.output.clone().domain()?;
    Ok(writes.subtract_domain(overwritten)?.intersect_params(scop.context.clone())?.reverse()?)
}

/// Every result is left by the instance that left it before, copies looked through.
fn check_finals(before: &Subject, draft: &Draft, after: &Dependences) -> Result<(), Refusal> {
    let expected = finals(&before.scop, &before.dependences)?;
    let mut found = finals(&draft.scop, after)?;
    for name in &draft.copies {
        let copy = draft.statement(name)?;
        let [read] = copy.reads.as_slice() else { return Err(Fault::bug("a copy of several cells").into()) };
        let instances = copy.domain.clone().to_union_set()?;
        let through = found.clone().intersect_range(instances.clone())?;
        found = found.subtract_range(instances)?.union(through.apply_range(writers(after, &read.map)?)?)?;
    }
    let found = found.intersect_params(before.scop.context.clone())?;
    if !found.is_equal(&expected)? {
        return Err(Fault::bug("a result would be left by another instance").into());
    }
    Ok(())
}

/// What a read finds in the new program.
struct Found {
    /// `{ reader -> writer }`, copies looked through.
    new: UnionMap,
    /// The same, with the writers as instances of the old program.
    old: UnionMap,
    inputs: UnionSet,
}

impl Found {
    fn new(draft: &Draft, after: &Dependences, claim: &Claim) -> Attempt<Found> {
        let mut new = writers(after, &claim.access)?;
        let mut inputs = inputs(after, &claim.access)?;
        for name in &draft.copies {
            let copy = draft.statement(name)?;
            let [read] = copy.reads.as_slice() else { return Err(Fault::bug("a copy of several cells")) };
            let instances = copy.domain.clone().to_union_set()?;
            let through = new.clone().intersect_range(instances.clone())?;
            let copied = through.clone().apply_range(writers(after, &read.map)?)?;
            new = new.subtract_range(instances)?.union(copied)?;
            let untouched = self::inputs(after, &read.map)?.unwrap()?;
            inputs = inputs.union(through.apply_range(untouched)?.wrap()?)?;
        }
        let repeating = draft.repeats.clone().domain()?;
        let repeated = new.clone().intersect_range(repeating.clone())?.apply_range(draft.repeats.clone())?;
        let old = new.clone().subtract_range(repeating)?.union(repeated)?;
        Ok(Found { new, old, inputs })
    }

    /// No reader finds two repetitions of one instance: a sum would count it twice.
    fn check_once(&self, draft: &Draft, claim: &Claim) -> Result<(), Refusal> {
        let repeating = draft.repeats.clone().domain()?;
        let pairs = self.new.clone().intersect_range(repeating)?;
        if pairs.is_empty()? {
            return Ok(());
        }
        let reader = pairs.clone().domain_map()?;
        let original = pairs.range_map()?.apply_range(draft.repeats.clone())?;
        if !reader.range_product(original)?.is_injective()? {
            return Err(Fault::bug(format!("{} finds an instance twice", claim.access)).into());
        }
        Ok(())
    }
}

/// An instance by its statement's name and its values.
type Named = (String, Vec<i64>);

/// A read that would find another value.
struct Changed {
    params: Vec<i64>,
    reader: Named,
    /// Who should have written what is read; nobody if it is from before the call.
    expected: Option<Named>,
    found: Option<Named>,
}

/// The smallest reader, with its writers, that is in one of two relations `{ reader -> writer }`.
fn find_change(before: &Subject, missing: &UnionMap, wrong: &UnionMap) -> Attempt<Option<Changed>> {
    let both = missing.clone().range_product(wrong.clone())?;
    for (pairs, has_expected, has_found) in
        [(both, true, true), (missing.clone(), true, false), (wrong.clone(), false, true)]
    {
        for map in pairs.maps()? {
            let space = map.get_space()?;
            let range = space.clone().range()?;
            let mut tuples = vec![(map.get_tuple_name(Dim::In)?, map.dim(Dim::In)?)];
            if has_expected && has_found {
                let inner = range.unwrap()?;
                tuples.push((inner.get_tuple_name(Dim::In)?, inner.dim(Dim::In)?));
                tuples.push((inner.get_tuple_name(Dim::Out)?, inner.dim(Dim::Out)?));
            } else {
                tuples.push((map.get_tuple_name(Dim::Out)?, map.dim(Dim::Out)?));
            }
            let Some(Sample { params, point }) = smallest(map.wrap()?, &before.scop.context)? else { continue };
            let mut rest = point.as_slice();
            let mut named = Vec::new();
            for (name, dims) in tuples {
                let (values, others) = rest.split_at(dims);
                named.push((name.unwrap_or_default(), values.to_vec()));
                rest = others;
            }
            let mut named = named.into_iter();
            let reader = named.next().ok_or_else(|| Fault::bug("a pair without a reader"))?;
            let expected = if has_expected { named.next() } else { None };
            return Ok(Some(Changed { params, reader, expected, found: named.next() }));
        }
    }
    Ok(None)
}

impl Changed {
    /// The change as an error at the read and at the writes.
    fn explain(&self, before: &Subject, draft: &Draft, claim: &Claim) -> Attempt<Diagnostic> {
        let (old, new) = (&before.scop, &draft.scop);
        // A layout leaves statements as they are, so that cells are told by the subscripts of the program.
        let told = if draft.verb == "layout" { old } else { new };
        let reader = find(told, &self.reader)?;
        let array = claim.access.get_tuple_name(Dim::Out)?.unwrap_or_default();
        let (cell, span) = self.cell(told, reader, &array).unwrap_or((Vec::new(), reader.span));
        let this = show(new, &self.reader)?;
        let tell = |writer: &Option<Named>| match writer {
            Some(writer) => Ok(format!("what {} writes", show(old, writer)?)),
            None => Ok::<_, Fault>("the value from before the call".to_string()),
        };
        let message = format!(
            "`{}` would change a value: {this} would find another one in {}",
            draft.verb,
            show_cell(&array, &cell)
        );
        let here = format!("{this} has to find {}, but would find {}", tell(&self.expected)?, tell(&self.found)?);
        let mut diagnostic = Diagnostic::error("E0517", span, message).here(here);
        let mut written = Vec::new();
        for writer in [&self.expected, &self.found].into_iter().flatten() {
            let cell = self.written(old, writer)?;
            diagnostic =
                diagnostic.label(find(old, writer)?.write.span, format!("{} writes {cell}", show(old, writer)?));
            written.push(cell);
        }
        if let [one, two] = written.as_slice()
            && draft.verb == "layout"
            && one != two
        {
            diagnostic = diagnostic.note(format!("{one} and {two} would share a place"));
        }
        let sizes = old.function.params.iter().zip(&self.params);
        let sizes: serde_json::Map<String, serde_json::Value> =
            sizes.map(|(param, value)| (param.name.clone(), (*value).into())).collect();
        let expected = self.expected.as_ref().map(|writer| to_json(old, writer)).transpose()?;
        let found = self.found.as_ref().map(|writer| to_json(old, writer)).transpose()?;
        let diagnostic = diagnostic.with_data(serde_json::json!({
            "kind": "value", "array": array, "params": sizes, "sink": to_json(new, &self.reader)?,
            "expected": expected, "found": found,
        }));
        let values = show_params(&old.function, &self.params);
        Ok(if values.is_empty() { diagnostic } else { diagnostic.note(format!("this happens for {values}")) })
    }

    /// The cell that an instance writes in the old program, or the array where data decides which.
    fn written(&self, old: &Scop, writer: &Named) -> Attempt<String> {
        let statement = find(old, writer)?;
        let name = &old.array(statement.write.array).name;
        let index = statement.write.affine_index().ok();
        let cell = index.and_then(|index| evaluate(&index, &self.params, &statement.iters, &writer.1));
        Ok(cell.map_or_else(|| format!("`{name}`"), |cell| show_cell(name, &cell)))
    }

    /// The cell that is read, and where in the source.
    fn cell(&self, scop: &Scop, reader: &Statement, array: &str) -> Option<(Vec<i64>, Span)> {
        let at = |access: &Access, iters: &[IterId], values: &[i64]| {
            evaluate(&access.affine_index().ok()?, &self.params, iters, values)
        };
        let reads = reader.reads.iter().filter(|read| scop.array(read.array).name == array);
        let cells = reads.filter_map(|read| Some((at(read, &reader.iters, &self.reader.1)?, read.span)));
        let writer = self.expected.as_ref().or(self.found.as_ref())?;
        let written = scop.statement(&writer.0).and_then(|statement| at(&statement.write, &statement.iters, &writer.1));
        let mut cells: Vec<_> = cells.collect();
        let hit = cells.iter().position(|(cell, _)| Some(cell) == written.as_ref()).unwrap_or(0);
        if cells.is_empty() { None } else { Some(cells.swap_remove(hit)) }
    }
}

fn find<'a>(scop: &'a Scop, named: &Named) -> Attempt<&'a Statement> {
    scop.statement(&named.0).ok_or_else(|| Fault::bug(format!("no statement {}", named.0)))
}

/// `S0 (i = 3)`
fn show(scop: &Scop, named: &Named) -> Attempt<String> {
    let point = show_point(&scop.function, &find(scop, named)?.iters, &named.1);
    Ok(if point.is_empty() { named.0.clone() } else { format!("{} ({point})", named.0) })
}

fn to_json(scop: &Scop, named: &Named) -> Attempt<serde_json::Value> {
    let iters = find(scop, named)?.iters.iter().zip(&named.1);
    let values: serde_json::Map<String, serde_json::Value> =
        iters.map(|(iter, value)| (scop.function.iter(*iter).name.clone(), (*value).into())).collect();
    Ok(serde_json::json!({ "statement": named.0, "values": values }))
}
