//! Dependences: which pairs of instances must keep their order, and through which memory cell.
//!
//! In: a Scop.  Out: flow, anti and output dependences, each `{ source -> [sink -> cell] }`, with the reduction rewrite:
//! the updates of one accumulator are not ordered among each other, but its init comes before *every* update, and
//! *every* update before whatever uses the result. Equations have flow dependences only, from the definition of a cell
//! to its reads (`equations`).
//! Not here: schedules.

use std::fmt;

use isl::{Budget, Dim, Map, Schedule, UnionAccessInfo, UnionFlow, UnionMap, UnionSet};
use program::{ArrayId, IterId, Role, Subscript};

use crate::equations;
use crate::fault::{Attempt, Fault};
use crate::scop::{Access, Scop, ScopArray, Statement, StatementKind};
use crate::tree::Marks;

/// Why two instances keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DependenceKind {
    /// A value is written, then read.
    Flow,
    /// A value is read, then overwritten.
    Anti,
    /// A cell is written twice.
    Output,
    /// Two updates of one accumulator: no constraint on their order, but they cannot run at the same time.
    Reduction,
}

impl DependenceKind {
    /// All of them, in the order in which they are told.
    pub const ALL: [DependenceKind; 4] =
        [DependenceKind::Flow, DependenceKind::Anti, DependenceKind::Output, DependenceKind::Reduction];

    /// As messages and JSON call it.
    pub fn name(self) -> &'static str {
        match self {
            DependenceKind::Flow => "flow",
            DependenceKind::Anti => "anti",
            DependenceKind::Output => "output",
            DependenceKind::Reduction => "reduction",
        }
    }

    /// `a flow`, `an anti`
    pub(crate) fn with_article(self) -> String {
        let article = if matches!(self, DependenceKind::Anti | DependenceKind::Output) { "an" } else { "a" };
        format!("{article} {}", self.name())
    }
}

/// All dependences of a Scop. Each relation keeps the cell: `{ source -> [sink -> cell] }`.
#[derive(Clone, Debug)]
pub struct Dependences {
    /// From writes to later reads.
    pub flow: UnionMap,
    /// From reads to later writes.
    pub anti: UnionMap,
    /// From writes to later writes.
    pub output: UnionMap,
    /// Between updates whose order is free.
    pub reduction: UnionMap,
    /// Reads that no statement's write reaches, as `{ instance -> cell }`.
    pub without_source: UnionMap,
    /// Whether the order of updates counts as well.
    pub strict: bool,
    /// Whether a flow comes from the last write before the read; otherwise from every write before it. Orders that keep the one keep
    /// the other, because writes of one cell keep theirs; but who wrote what is read is known only from the first.
    pub exact: bool,
}

impl Dependences {
    /// Those of one kind.
    pub fn of_kind(&self, kind: DependenceKind) -> &UnionMap {
        match kind {
            DependenceKind::Flow => &self.flow,
            DependenceKind::Anti => &self.anti,
            DependenceKind::Output => &self.output,
            DependenceKind::Reduction => &self.reduction,
        }
    }

    /// The same, with the order of updates kept as well: each reads what the one before it wrote.
    pub fn in_strict_order(self) -> diag::Result<Dependences> {
        let strict = || -> isl::Result<(UnionMap, UnionMap)> {
            let flow = self.flow.clone().union(self.reduction.clone())?;
            Ok((flow, self.reduction.clone().subtract(self.reduction.clone())?))
        };
        let (flow, reduction) = strict().map_err(|error| Fault::from(error).at("deps"))?;
        Ok(Dependences { flow, reduction, strict: true, ..self })
    }

    /// Those between instances of `domain`.
    pub(crate) fn among(&self, domain: &UnionSet) -> isl::Result<Dependences> {
        let narrow = |pairs: &UnionMap| {
            let sources = pairs.clone().intersect_domain(domain.clone())?;
            sources.intersect_range_wrapped_domain_union_set(domain.clone())
        };
        Ok(Dependences {
            flow: narrow(&self.flow)?,
            anti: narrow(&self.anti)?,
            output: narrow(&self.output)?,
            reduction: narrow(&self.reduction)?,
            without_source: self.without_source.clone().intersect_domain(domain.clone())?,
            strict: self.strict,
            exact: self.exact,
        })
    }

    /// The pairs that a schedule must keep in order, without their cells.
    pub(crate) fn ordered_pairs(&self) -> isl::Result<UnionMap> {
        let all = self.flow.clone().union(self.anti.clone())?.union(self.output.clone())?;
        all.range_factor_domain()?.coalesce()
    }
}

/// Computes the dependences of the original order, and of equations: exact ones, or, where isl cannot find them or not within
/// `budget`, which it may take for that, all pairs in order.
pub fn dependences(scop: &Scop, budget: Budget) -> diag::Result<Dependences> {
    let exact = scop.params.ctx().with_budget(budget, || Ok(compute(scop)));
    let found = exact.map_err(Fault::from).and_then(|found| found).or_else(|fault| match fault {
        Fault::Isl(error) => {
            tracing::info!(%error, "no exact dependences");
            all_pairs(scop)
        }
        fault => Err(fault),
    });
    found.map_err(|fault| fault.of_function("deps", &scop.function))
}

/// Those of a program in which the writer of every read must be known.
pub(crate) fn exact_dependences(scop: &Scop) -> diag::Result<Dependences> {
    compute(scop).map_err(|fault| fault.of_function("deps", &scop.function))
}

fn compute(scop: &Scop) -> Attempt<Dependences> {
    let order = scop.order.to_isl(scop, Marks::Loops)?;
    // An update neither starts nor ends the life of its cell's value, so it hides no other access: that is what
    // connects the init with every update and every update with the use of the result. What an update itself meets
    // in its cell is its init and other updates of it, and those are not ordered; so it looks for the init only.
    let definite = scop.writes(|kind| !kind.is_update())?;
    let updates = scop.writes(StatementKind::is_update)?;
    let (of_updates, reads) = scop.reads()?;
    let overwriting_reads = reads.clone().union(of_updates.clone())?;

    let flow = find_sources(reads.clone(), &definite, &updates, &order)?;
    let flow_of_updates = find_sources(of_updates.clone(), &definite, &scop.nothing()?, &order)?;
    let earlier = overwriting_reads.clone().union(updates.clone())?;
    let overwrites = find_sources(definite.clone(), &definite, &earlier, &order)?.get_full_may_dependence()?;
    let by_updates = find_sources(updates.clone(), &definite, &scop.nothing()?, &order)?.get_full_may_dependence()?;
    let writes = definite.clone().union(updates)?;
    let pairs = |sinks: &UnionMap, possible: &UnionMap| {
        let flow = find_sources(sinks.clone(), &definite, possible, &order)?.get_full_may_dependence()?;
        flow.intersect_range_factor_range(possible.clone())
    };
    let found = Found {
        flow: flow.get_full_may_dependence()?.union(flow_of_updates.get_full_may_dependence()?)?,
        anti: overwrites.clone().intersect_range_factor_range(overwriting_reads)?,
        output: overwrites.intersect_range_factor_range(writes)?.union(by_updates)?,
        without_source: flow.get_may_no_source()?.union(flow_of_updates.get_may_no_source()?)?,
        scattered: scattered_pairs(scop, &reads, &pairs)?,
    };
    found.complete(scop, true)
}

/// The same with every access before another one instead of the last. isl takes long to find the last where subscripts have
/// remainders and quotients, and sometimes fails.
fn all_pairs(scop: &Scop) -> Attempt<Dependences> {
    let definite = scop.writes(|kind| !kind.is_update())?;
    let updates = scop.writes(StatementKind::is_update)?;
    let (of_updates, reads) = scop.reads()?;
    let times = scop.order.to_isl(scop, Marks::Loops)?.get_map()?;
    let mut before = scop.nothing()?;
    for time in times.clone().range()?.sets()? {
        let earlier = UnionMap::from_map(Map::lex_lt(time.get_space()?)?)?;
        before = before.union(times.clone().apply_range(earlier)?.apply_range(times.clone().reverse()?)?)?;
    }
    let pairs = |sinks: &UnionMap, sources: &UnionMap| {
        let met = sources.clone().apply_range(sinks.clone().range_map()?.reverse()?)?;
        met.intersect_range_factor_domain(before.clone())
    };
    let all_reads = reads.clone().union(of_updates)?;
    let writes = definite.clone().union(updates.clone())?;
    let defined = pairs(&all_reads, &definite)?;
    // Only arrays that the program makes must be assigned before they are read.
    let own = |array: Option<(ArrayId, &ScopArray)>| {
        array.is_some_and(|(_, array)| matches!(array.role, Role::Local | Role::Out))
    };
    let mut without_source = scop.nothing()?;
    for read in all_reads.maps()? {
        let array = read.get_tuple_name(Dim::Out)?;
        if own(array.and_then(|name| scop.array_named(&name))) {
            without_source = without_source.add_map(read)?;
        }
    }
    if !without_source.is_empty()? {
        without_source = without_source.wrap()?.subtract(defined.clone().range()?)?.unwrap()?;
    }
    let found = Found {
        flow: defined.union(pairs(&reads, &updates)?)?,
        anti: pairs(&definite, &all_reads)?,
        output: pairs(&definite, &writes)?.union(pairs(&updates, &definite)?)?,
        without_source,
        scattered: scattered_pairs(scop, &reads, &pairs)?,
    };
    found.complete(scop, false)
}

/// What follows from the accesses and their order.
struct Found {
    flow: UnionMap,
    anti: UnionMap,
    output: UnionMap,
    without_source: UnionMap,
    scattered: Scattered,
}

impl Found {
    /// With equations and the pairs of reductions.
    fn complete(self, scop: &Scop, exact: bool) -> Attempt<Dependences> {
        let defined = equations::sources(scop)?;
        Ok(Dependences {
            flow: self.flow.union(defined.flow)?.union(self.scattered.ordered)?.coalesce()?,
            anti: self.anti.union(self.scattered.anti)?.union(defined.anti)?.coalesce()?,
            output: self.output.union(defined.output)?.coalesce()?,
            reduction: reduction_pairs(scop)?.union(self.scattered.free)?,
            without_source: self.without_source.union(defined.without_source)?,
            strict: false,
            exact,
        })
    }
}

/// For each sink, the last definite source before it and every possible one since.
fn find_sources(sinks: UnionMap, definite: &UnionMap, possible: &UnionMap, order: &Schedule) -> isl::Result<UnionFlow> {
    UnionAccessInfo::from_sink(sinks)?
        .set_must_source(definite.clone())?
        .set_may_source(possible.clone())?
        .set_schedule(order.clone())?
        .compute_flow()
}

/// Pairs of updates of one accumulator in one instance of its reduction, in their original order.
fn reduction_pairs(scop: &Scop) -> Attempt<UnionMap> {
    let mut pairs = scop.nothing()?;
    let in_order = |statement: &&Statement| statement.kind.is_update() && !statement.scatters();
    for statement in scop.statements.iter().filter(in_order) {
        let space = statement.domain.get_space()?;
        let mut later = Map::lex_lt(space)?;
        for position in 0..statement.kept {
            later = later.equate(Dim::In, position, Dim::Out, position)?;
        }
        // After `rfactor` a reduction has several cells per instance of what is kept.
        let reduced = &statement.iters[statement.kept..];
        if reduced.iter().any(|iter| uses(&statement.write.index, *iter)) {
            let cell = statement.write.map.clone();
            later = later.intersect(cell.clone().apply_range(cell.reverse()?)?)?;
        }
        let domain = statement.domain.clone();
        let later = later.intersect_domain(domain.clone())?.intersect_range(domain)?;
        pairs = pairs.add_map(later.range_product(statement.write.map.clone())?)?;
    }
    Ok(pairs.coalesce()?)
}

/// Whether an iterator occurs in a subscript.
pub fn uses(index: &[Subscript], iter: IterId) -> bool {
    let mut found = Subscript::data(index).any(|expr| expr.iters().contains(&iter));
    Subscript::visit_iters(index, &mut |used| found |= used == iter);
    found
}

/// The pairs of some sinks with some sources that come before them.
type PairsOf<'a> = dyn Fn(&UnionMap, &UnionMap) -> isl::Result<UnionMap> + 'a;

/// What updates of cells that depend on data meet besides their init. Other updates have nothing but that in their cell.
struct Scattered {
    /// Earlier reads.
    anti: UnionMap,
    /// Updates by the same operator: their order is free.
    free: UnionMap,
    /// Updates by other operators: each reads what the other wrote.
    ordered: UnionMap,
}

/// Pairs with scattered updates that may meet in a cell with no definite write between them.
fn scattered_pairs(scop: &Scop, reads: &UnionMap, pairs_of: &PairsOf<'_>) -> Attempt<Scattered> {
    let mut pairs = Scattered { anti: scop.nothing()?, free: scop.nothing()?, ordered: scop.nothing()? };
    let scatters: Vec<&Statement> = scop.statements.iter().filter(|statement| statement.scatters()).collect();
    let all: Vec<(&Statement, &Access)> =
        scatters.iter().flat_map(|statement| statement.writes().map(|write| (*statement, write))).collect();
    for (sink, write) in &all {
        let (mut same, mut other) = (scop.nothing()?, scop.nothing()?);
        for (source, earlier) in all.iter().filter(|(_, earlier)| earlier.array == write.array) {
            let free = source.kind == sink.kind && !sink.kind.replaces();
            let group = if free { &mut same } else { &mut other };
            *group = group.clone().add_map(earlier.map.clone())?;
        }
        let sinks = UnionMap::from_map(write.map.clone())?;
        let groups = [(reads.clone(), &mut pairs.anti), (same, &mut pairs.free), (other, &mut pairs.ordered)];
        for (possible, found) in groups {
            *found = found.clone().union(pairs_of(&sinks, &possible)?)?;
        }
    }
    Ok(pairs)
}

/// The tuple names inside `[sink -> cell]`.
pub(crate) fn sink_and_array(map: &Map) -> isl::Result<(Option<String>, Option<String>)> {
    let inner = map.get_space()?.range()?.unwrap()?;
    Ok((inner.get_tuple_name(Dim::In)?, inner.get_tuple_name(Dim::Out)?))
}

impl fmt::Display for Dependences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in DependenceKind::ALL {
            let mut maps: Vec<String> = match self.of_kind(kind).maps() {
                Ok(maps) => maps.iter().map(Map::to_string).collect(),
                Err(error) => vec![error.to_string()],
            };
            maps.sort();
            for map in maps {
                writeln!(f, "{}: {map}", kind.name())?;
            }
        }
        Ok(())
    }
}
