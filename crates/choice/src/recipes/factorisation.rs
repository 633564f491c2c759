//! Factorisations: nests in which sums of products read what other sums of the same nest have become, as those of LU and Cholesky do.
//!
//! The terms of every sum are cut into blocks. What a block adds to the results that are finished after it is a product of matrices, which is
//! detached and run in tiles like any other (`contraction`); only the terms of the block in which a result is finished stay with the sweep
//! over the nest. Found from bounds and accesses alone: a term is one that an index of the result has already passed.
//!
//! In a sweep, each result waits for the one before it in its row. So a few rows go side by side, column by column, as far as they are before the
//! diagonal.

use std::rc::Rc;

use poly::{Scop, Statement, StatementKind, Subject, Tree};
use program::{Affine, Cond, IterId, ReduceOp};
use steps::{Formula, Relation, Step, Verb, Word};

use super::Plan;
use super::contraction::Contraction;
use crate::candidates::own_order;
use crate::machine::Machine;

/// A block has about so many terms: what does not run in tiles grows with it, what is fetched and stored again shrinks.
const TERMS: i64 = 160;
/// So many rows of a sweep go side by side: enough that none waits for itself, and few enough to stay in the first cache.
const ROWS: i64 = 16;

/// A sum of a nest, by the names of its statements.
struct Sum {
    init: String,
    update: String,
    fini: String,
    terms: IterId,
    /// The index of the result that bounds the terms: they are below it, and nothing is closer.
    end: IterId,
    /// Which of its rows go side by side, if they can.
    abreast: Option<Abreast>,
    /// What its terms are, if they are products whose operands each miss an index of the result.
    product: Option<Contraction>,
}

/// A sum whose rows go side by side.
#[derive(Clone, Copy)]
struct Abreast {
    /// The index of its rows, over which the outermost loop of the nest goes.
    row: IterId,
    /// Whether its results are those of the diagonal and behind it, which are finished in the step of their row.
    diagonal: bool,
    /// The columns of its results, if there is more than one in a row.
    column: Option<IterId>,
    /// Whether each term goes to a whole row of results, which lie side by side, because dot products would walk across rows.
    along: bool,
}

impl Abreast {
    fn of(
        scop: &Scop,
        update: &Statement,
        (kept, end): (&[IterId], IterId),
        product: Option<&Contraction>,
    ) -> diag::Result<Option<Abreast>> {
        let Some(row) = update.time.iter().find_map(Affine::as_iter) else { return Ok(None) };
        let others: Vec<IterId> = kept.iter().copied().filter(|iter| *iter != row).collect();
        let diagonal = row == end;
        let (true, column) = (others.len() < 2, others.first().copied()) else { return Ok(None) };
        let along =
            product.is_some_and(|product| product.runs_along_columns(update) && column == Some(product.columns));
        let before = !diagonal && column == Some(end) && below(scop, update, [end, row], 1)?;
        Ok((diagonal || before).then_some(Abreast { row, diagonal, column, along }))
    }
}

/// A nest of a tree.
struct Nest {
    /// Its place among the others.
    place: i64,
    sums: Vec<Sum>,
    /// Terms per block.
    block: i64,
}

/// Steps that cut the sums of every factorisation into blocks, and what is left to be tiled and to be swept; none if there is no
/// factorisation.
pub(crate) struct Blocked {
    pub(crate) plan: Plan,
    pub(crate) products: Vec<Contraction>,
    /// The statements that run for the terms of one block only.
    pub(crate) rests: Vec<String>,
}

pub(crate) fn blocked(subject: &Rc<Subject>, machine: &Machine) -> diag::Result<Option<Blocked>> {
    let own = own_order(&subject.scop, &subject.scop.order);
    let nests = nests(&subject.scop, &own, machine)?;
    if nests.is_empty() {
        return Ok(None);
    }
    let order = subject.scop.order.clone();
    let mut plan = Plan { state: steps::State { subject: Rc::clone(subject), tree: order }, steps: Some(Vec::new()) };
    let (mut products, mut rests) = (Vec::new(), Vec::new());
    for nest in &nests {
        for sum in nest.sums.iter().filter(|sum| sum.product.is_some()) {
            if !sum.detach(&mut plan, nest.block)? {
                return Ok(None);
            }
        }
        products.extend(nest.sums.iter().filter_map(|sum| sum.detached(nest.block)));
        rests.extend(nest.sums.iter().filter(|sum| sum.product.is_some()).map(|sum| sum.update.clone()));
    }
    let scop = Rc::clone(&plan.state.subject);
    let Some(relations) = times(&scop.scop, &own_order(&scop.scop, &scop.scop.order), &nests) else { return Ok(None) };
    let why = "the sweep goes on by blocks of terms, and what a block adds to all that comes later is a product";
    let mapped = plan.take(Step::new(Verb::Map { relations }), why)?;
    Ok(mapped.then_some(Blocked { plan, products, rests }))
}

/// The nests of a tree that are factorisations.
fn nests(scop: &Scop, tree: &Tree, machine: &Machine) -> diag::Result<Vec<Nest>> {
    let branches = tree.branches();
    let mut found = Vec::new();
    let mut start = 0;
    while start < branches.len() {
        let outermost = |number: usize| branches[number].loops().next().map(|(_, id, _)| id);
        let end = (start..branches.len()).take_while(|number| outermost(*number) == outermost(start)).count() + start;
        let statements: Vec<&Statement> = branches[start..end].iter().map(|branch| scop.at(branch.statement)).collect();
        if let Some(sums) = sums(scop, &statements)? {
            let products = sums.iter().filter_map(|sum| sum.product.as_ref());
            let block = products.map(|product| product.block(scop, machine, TERMS)).max();
            let place = place_of(&branches[start]);
            found.extend(block.map(|block| Nest { place, sums, block }));
        }
        start = end.max(start + 1);
    }
    Ok(found)
}

fn place_of(branch: &poly::Branch) -> i64 {
    match branch.entries.first() {
        Some(poly::Entry::Place(place)) => *place,
        _ => 0,
    }
}

/// The sums of which a nest consists, if it consists of sums alone, inside a loop whose order counts.
fn sums(scop: &Scop, statements: &[&Statement]) -> diag::Result<Option<Vec<Sum>>> {
    let mut sources: Vec<&str> = statements.iter().map(|statement| statement.source.as_str()).collect();
    sources.dedup();
    let mut found = Vec::new();
    for source in sources {
        let parts: Vec<&Statement> = statements.iter().copied().filter(|part| part.source == source).collect();
        let find = |kind: StatementKind| parts.iter().find(|part| part.kind == kind);
        let sum = ReduceOp::Sum;
        let [Some(init), Some(update), Some(fini)] =
            [StatementKind::Init(sum), StatementKind::Update(sum), StatementKind::Fini].map(find)
        else {
            return Ok(None);
        };
        let (kept, reduced) = update.iters.split_at(update.kept);
        let ([terms], true) = (reduced, parts.len() == 3 && update.ordered > 0) else { return Ok(None) };
        let Some(end) = closest_end(scop, update, kept, *terms)? else { return Ok(None) };
        let product = Contraction::of(update, kept, reduced);
        let product = product.filter(Contraction::is_flat).map(Contraction::along_diagonal);
        found.push(Sum {
            init: init.name.clone(),
            update: update.name.clone(),
            fini: fini.name.clone(),
            terms: *terms,
            end,
            abreast: Abreast::of(scop, update, (kept, end), product.as_ref())?,
            product,
        });
    }
    Ok(found.iter().any(|sum| sum.product.is_some()).then_some(found))
}

/// The smallest of the indices that are above every term.
fn closest_end(scop: &Scop, update: &Statement, kept: &[IterId], terms: IterId) -> diag::Result<Option<IterId>> {
    let mut closest: Option<IterId> = None;
    for iter in kept {
        let closer = |known: IterId| below(scop, update, [*iter, known], 0);
        if below(scop, update, [terms, *iter], 1)? && closest.map_or(Ok(true), closer)? {
            closest = Some(*iter);
        }
    }
    Ok(closest)
}

/// Whether the one index is always so much less than the other.
fn below(scop: &Scop, update: &Statement, [one, two]: [IterId; 2], apart: i64) -> diag::Result<bool> {
    let gap = Affine::iter(two).sub(&Affine::iter(one)).and_then(|gap| gap.sub(&Affine::constant(apart)));
    gap.map_or(Ok(false), |gap| scop.always(update, &Cond::NonNegative(gap)))
}

impl Sum {
    fn far(&self) -> String {
        format!("{}_far", self.update)
    }

    /// The product that its terms are, but those of the last block.
    fn detached(&self, block: i64) -> Option<Contraction> {
        self.product.clone().map(|product| product.in_block(self.far(), block))
    }

    /// Makes a statement of the terms whose block the result has passed.
    fn detach(&self, plan: &mut Plan, block: i64) -> diag::Result<bool> {
        let function = &plan.state.subject.scop.function;
        let inputs = [self.terms, self.end].map(|iter| Word::new(function.iter(iter).name.clone()));
        let block_of = |input: u32| Affine::iter(IterId(input)).div(block);
        let apart = || block_of(1)?.sub(&block_of(0)?)?.sub(&Affine::constant(1));
        let Some(apart) = apart() else { return Ok(false) };
        let condition = Formula::new(inputs.to_vec(), Cond::NonNegative(apart));
        let name = Some(Word::new(self.far()));
        let verb = Verb::Detach { statement: Word::new(self.update.clone()), condition, name };
        plan.take(Step::new(verb), format!("{block} terms at a time, all but the last of them"))
    }

    /// The times of its statements, inside of the place of its nest: first all inits, then block after block the sweep and behind it
    /// the products. `number` is its place among the sums.
    fn times(&self, scop: &Scop, number: usize, nest: &Nest) -> Option<[(String, Vec<Affine>); 3]> {
        let (count, block) = (nest.sums.len(), nest.block);
        let statement = |name: &str| scop.statement(name);
        let (init, update, fini) = (statement(&self.init)?, statement(&self.update)?, statement(&self.fini)?);
        let place = |place: usize| Affine::constant(place as i64);
        let indices =
            |statement: &Statement| statement.iters.iter().map(|iter| Affine::iter(*iter)).collect::<Vec<_>>();
        let first: Vec<Affine> = [place(number)].into_iter().chain(indices(init)).collect();
        let of_block = Affine::iter(self.end).div(block)?;
        let sweep = |rest: Vec<Affine>| -> Vec<Affine> {
            [place(count), of_block.clone(), place(0)].into_iter().chain(rest).collect()
        };
        let all = nest.sums.iter().all(|sum| sum.abreast.is_some());
        let abreast = all && nest.sums.iter().any(|sum| sum.abreast.is_some_and(|abreast| !abreast.diagonal));
        let (near, last) = match self.abreast.filter(|_| abreast) {
            Some(abreast) => self.rows_abreast(abreast)?,
            None => self.in_rows(update).unwrap_or_else(|| (update.time.clone(), fini.time.clone())),
        };
        Some([(self.init.clone(), first), (self.update.clone(), sweep(near)), (self.fini.clone(), sweep(last))])
    }

    /// The times of updates and results in a sweep by a few rows: in each step, first what is behind the diagonal in the row of that number, then
    /// one column of all rows that are below it.
    fn rows_abreast(&self, abreast: Abreast) -> Option<(Vec<Affine>, Vec<Affine>)> {
        let Abreast { row, diagonal, column, along } = abreast;
        let [rows, terms, end] = [row, self.terms, self.end].map(Affine::iter);
        let [zero, one] = [0, 1].map(Affine::constant);
        let column = column.map_or_else(|| zero.clone(), Affine::iter);
        let tile = rows.div(ROWS)?;
        let at = |step: &Affine, part: &Affine, [first, second, third]: [&Affine; 3]| -> Vec<Affine> {
            [&tile, step, part, first, second, third].into_iter().cloned().collect()
        };
        Some(match (diagonal, along) {
            (true, true) => (at(&end, &zero, [&zero, &terms, &column]), at(&end, &zero, [&one, &zero, &column])),
            (true, false) => (at(&end, &zero, [&zero, &column, &terms]), at(&end, &zero, [&one, &column, &zero])),
            // A result is finished when its turn comes as a term.
            (false, true) => (at(&terms, &one, [&rows, &one, &column]), at(&end, &one, [&rows, &zero, &column])),
            (false, false) => (at(&end, &one, [&rows, &zero, &terms]), at(&end, &one, [&rows, &one, &zero])),
        })
    }

    /// The times of updates and results where a row of results lies side by side, and what is added to it as well: each term goes to the
    /// whole row. None if dot products do better.
    fn in_rows(&self, update: &Statement) -> Option<(Vec<Affine>, Vec<Affine>)> {
        let product = self.product.as_ref()?;
        if !product.runs_along_columns(update) {
            return None;
        }
        let at = |iter: IterId| update.time.iter().position(|time| time.as_iter() == Some(iter));
        let (column, rows) = (at(product.columns)?, at(product.rows)?);
        let prefix = update.time[..column].to_vec();
        if rows > column {
            return None;
        }
        let (terms, columns) = (Affine::iter(self.terms), Affine::iter(product.columns));
        let [zero, one] = [0, 1].map(Affine::constant);
        let behind = |rest: [Affine; 3]| prefix.iter().cloned().chain(rest).collect::<Vec<_>>();
        Some(if self.end == product.columns {
            // A result is finished when its turn comes as a term.
            (behind([terms, one, columns.clone()]), behind([columns.clone(), zero, columns]))
        } else {
            (behind([zero.clone(), terms, columns.clone()]), behind([one, zero, columns]))
        })
    }
}

/// When every statement of a program runs: nests block by block, everything else as in `own`.
fn times(scop: &Scop, own: &Tree, nests: &[Nest]) -> Option<Vec<Relation>> {
    let mut all: Vec<(String, Vec<Affine>)> = Vec::new();
    for nest in nests {
        let place = Affine::constant(nest.place);
        for (number, sum) in nest.sums.iter().enumerate() {
            all.extend(sum.times(scop, number, nest)?);
            if let Some(product) = sum.detached(nest.block) {
                let block = Affine::iter(sum.terms).div(nest.block)?;
                let [columns, rows, terms] = [product.columns, product.rows, sum.terms].map(Affine::iter);
                let [sweeps, number] = [nest.sums.len(), number + 1].map(|place| Affine::constant(place as i64));
                all.push((product.statement.clone(), vec![sweeps, block, number, columns, terms, rows]));
            }
        }
        let inside = |name: &str| nest.sums.iter().any(|sum| sum.far() == name || sum.names().contains(&name));
        for (_, time) in all.iter_mut().filter(|(name, _)| inside(name)) {
            time.insert(0, place.clone());
        }
    }
    for branch in own.branches() {
        let name = &scop.at(branch.statement).name;
        if all.iter().all(|(known, _)| known != name) {
            let time = own.times()?.into_iter().find(|(statement, _)| *statement == branch.statement)?.1;
            all.push((name.clone(), time));
        }
    }
    // In the order of the statements.
    all.sort_by_key(|(name, _)| scop.statements.iter().position(|statement| statement.name == *name));
    all.into_iter().map(|(name, time)| crate::written::relation(scop, scop.statement(&name)?, &time, true)).collect()
}

impl Sum {
    fn names(&self) -> [&str; 3] {
        [&self.init, &self.update, &self.fini]
    }
}
