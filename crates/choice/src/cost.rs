//! Cost: one number by which schedules of a program are compared, without generating anything.
//!
//! Counted is what one iteration of every innermost body pays: nothing for a cell that stays where it is or in a register,
//! one for the next cell, a cache line for any other and more if lines push each other out, something for every condition that is decided there, and the whole way through
//! its operators where each iteration waits for the one before. A body counts
//! by the number of loops around it. A local array that must outlive the loops it could live in pays for its size.
//! Not here: machines. Only the order of two costs means something.

use poly::{Branch, LoopId, LoopKind, Scop, Statement, StatementId, Tree};
use program::{Affine, ArrayId, Atom, BinaryOp, ExprKind, IterId, Role, Subscript, UnaryOp};

use crate::recipes::vector::innermost;

/// The weight of one more loop around a body: a loop runs so many times.
const PER_LOOP: u64 = 16;
/// A step to a cell that is not the next one.
const LINE: u64 = 8;
/// What is added where one such cell after the other is a multiple of `ALIAS` bytes away: their lines push each other out.
const CONFLICT: u64 = 4;
/// Lines that are so many bytes apart share the places of a first cache.
const ALIAS: i64 = 4096;
/// A condition in a body.
const CONDITION: u64 = 2;
/// How many numbers a vector holds, more or less.
const LANES: u64 = 4;
/// Of so many terms, one is in the block in which its sum is finished.
const REST: u64 = 8;

/// What recipes will make of a tree.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'a> {
    /// The loops that run in lanes.
    pub(crate) vectors: &'a [LoopId],
    /// The statements whose operands and results are in registers.
    pub(crate) tiled: &'a [&'a str],
    /// The statements that run for one block of their terms only.
    pub(crate) rests: &'a [String],
    /// The numbers of the branches whose cells are still in a cache from the step before.
    pub(crate) cached: &'a [usize],
}

/// The cost of a tree; `uneven` are the branches that need conditions in their innermost loops, and `lanes` is what recipes do, if any
/// may do something.
pub(crate) fn cost(scop: &Scop, tree: &Tree, uneven: &[(usize, LoopId)], lanes: Option<Lanes<'_>>) -> u64 {
    let branches = tree.branches();
    let scalars = registers(scop, &branches);
    let mut sum: u64 = 0;
    for (number, branch) in branches.iter().enumerate() {
        let statement = scop.at(branch.statement);
        let walk = Walk::new(tree, branch, statement);
        let mut body = walk.steps(statement, &scalars) + walk.chain(statement);
        let accesses = std::iter::once(&statement.write).chain(&statement.reads);
        let collides = |access: &&poly::Access| {
            let array = &scop.arrays[access.array.index()];
            !scalars.contains(&access.array) && walk.conflicts(&access.index, &array.shape, array.ty.bytes())
        };
        body += CONFLICT * accesses.filter(collides).count() as u64;
        let conditions = uneven.iter().filter(|(other, id)| *other == number && !tree.info(*id).separate).count();
        body += CONDITION * conditions as u64;
        if let Some(Lanes { vectors, tiled, rests, cached }) = lanes {
            let in_registers = tiled.contains(&statement.name.as_str());
            let in_lanes = innermost(tree, branch).is_some_and(|id| vectors.contains(&id));
            let operations = 1 + statement.reads.len() as u64;
            let Steps { near, together, .. } = walk.kinds_of_steps(statement, &scalars);
            let alone = if in_lanes { near - together } else { near };
            // What is in a cache is read in half of the time.
            let fetched = if cached.contains(&number) { alone / 2 } else { alone };
            // A vector takes the time of one number, but far cells are fetched one by one all the same.
            body = match (in_registers, in_lanes) {
                // Nothing but the operation itself.
                (true, _) => 1,
                (false, true) => LANES * (body - near) + fetched + operations,
                (false, false) => LANES * (body - near + fetched + operations),
            };
            if rests.contains(&statement.name) {
                body = body.div_ceil(REST);
            }
        }
        tracing::trace!(statement = statement.name, depth = walk.depth, body, "cost");
        sum = sum.saturating_add(weight(walk.depth).saturating_mul(body));
    }
    for (position, array) in scop.arrays.iter().enumerate().filter(|(_, array)| array.expanded > 0) {
        if !is_within_iterations(scop, &branches, ArrayId(position as u32), array.expanded) {
            // Cells for every iteration of the loops around: as much memory as the loops have iterations, or as much as the result.
            let rank = array.shape.len();
            let more = rank > rank_of_result(scop, ArrayId(position as u32));
            sum = sum.saturating_add(if more { weight(rank + 2) } else { LINE * weight(rank) });
        }
    }
    sum
}

fn weight(depth: usize) -> u64 {
    PER_LOOP.saturating_pow(u32::try_from(depth).unwrap_or(u32::MAX))
}

/// How a statement moves when its innermost loop goes on by one.
pub(crate) struct Walk {
    depth: usize,
    /// The iterators that change, and by how much; `None` if that is not known.
    moved: Option<Vec<(IterId, i64)>>,
    /// The iterator of a loop that is straight code inside, if there is one.
    side_by_side: Option<IterId>,
}

/// How many accesses of a statement go to the next cell, and how many further.
pub(crate) struct Steps {
    pub(crate) near: u64,
    pub(crate) far: u64,
    /// Those of the near ones that are the same for all that runs side by side.
    pub(crate) together: u64,
}

impl Walk {
    pub(crate) fn new(tree: &Tree, branch: &Branch, statement: &Statement) -> Walk {
        // In a loop of others the statement has its place in one iteration.
        let own = branch.loops().filter(|(_, _, expr)| !expr.is_invariant());
        // What is straight code stands still while the loop around it goes on.
        let is_straight = |id: LoopId| tree.info(id).kind == LoopKind::Unrolled;
        let (straight, stepping): (Vec<_>, Vec<_>) = own.partition(|(_, id, _)| is_straight(*id));
        let loops: Vec<&Affine> = straight.iter().chain(&stepping).map(|(_, _, expr)| *expr).collect();
        let side_by_side = straight.iter().find_map(|(_, _, expr)| expr.as_iter());
        // A loop over pieces and the loop over one of them run as often as one loop.
        let depth = loops.iter().filter(|expr| is_linear(expr)).count();
        Walk { depth, moved: moved(&loops, statement), side_by_side }
    }

    /// The walk of an innermost loop that counts an iterator.
    pub(crate) fn along(iter: IterId) -> Walk {
        Walk::stepping(iter, 1)
    }

    /// The same in steps of so many.
    pub(crate) fn stepping(iter: IterId, by: i64) -> Walk {
        Walk { depth: 1, moved: Some(vec![(iter, by)]), side_by_side: None }
    }

    /// What the steps of all accesses cost but those to arrays in registers.
    pub(crate) fn steps(&self, statement: &Statement, in_registers: &[ArrayId]) -> u64 {
        let accesses = std::iter::once(&statement.write).chain(&statement.reads);
        let moving = accesses.filter(|access| !in_registers.contains(&access.array));
        moving.map(|access| self.step(&access.index)).sum()
    }

    /// How the accesses of a statement step, but those to arrays in registers.
    pub(crate) fn kinds_of_steps(&self, statement: &Statement, in_registers: &[ArrayId]) -> Steps {
        let mut steps = Steps { near: 0, far: 0, together: 0 };
        let accesses = std::iter::once(&statement.write).chain(&statement.reads);
        for access in accesses.filter(|access| !in_registers.contains(&access.array)) {
            match self.step(&access.index) {
                0 => {}
                1 => {
                    steps.near += 1;
                    let same = |iter: IterId| Walk::along(iter).stays(&access.index);
                    steps.together += u64::from(self.side_by_side.is_some_and(same));
                }
                _ => steps.far += 1,
            }
        }
        steps
    }

    /// Whether an access is to the same cell in every iteration.
    pub(crate) fn stays(&self, index: &[Subscript]) -> bool {
        self.step(index) == 0
    }

    /// Whether an access goes on to the next cell.
    pub(crate) fn is_near(&self, index: &[Subscript]) -> bool {
        self.step(index) == 1
    }

    /// Whether one iteration after the other is a multiple of `ALIAS` bytes further on, in an array of these extents with cells of so many bytes.
    pub(crate) fn conflicts(&self, index: &[Subscript], shape: &[Affine], bytes: usize) -> bool {
        self.bytes_moved(index, shape, bytes).is_some_and(|step| step != 0 && step % ALIAS == 0)
    }

    /// By how many bytes an access moves in one iteration; `None` if that depends on where, or on sizes.
    fn bytes_moved(&self, index: &[Subscript], shape: &[Affine], bytes: usize) -> Option<i64> {
        let moved = self.moved.as_ref().filter(|_| self.depth > 0)?;
        // Of one cell to the next along the dimension at hand; not known outside of one whose extent is not.
        let mut stride = i64::try_from(bytes).ok();
        let mut sum: i64 = 0;
        for (subscript, extent) in index.iter().zip(shape).rev() {
            match distance(subscript.as_affine()?, moved)? {
                0 => {}
                by => sum = sum.checked_add(by.checked_mul(stride?)?)?,
            }
            stride = stride.zip(extent.as_constant()).and_then(|(stride, extent)| stride.checked_mul(extent));
        }
        Some(sum)
    }

    /// What it costs to step one iteration.
    fn step(&self, index: &[Subscript]) -> u64 {
        let Some((last, outer)) = index.split_last() else { return 0 };
        if self.depth == 0 {
            return 0;
        }
        let Some(moved) = &self.moved else { return LINE };
        let distance = |subscript: &Subscript| match subscript {
            Subscript::Affine(affine) => distance(affine, moved),
            Subscript::Data(expr) => {
                let iters = expr.iters();
                if moved.iter().any(|(iter, _)| iters.contains(iter)) { None } else { Some(0) }
            }
        };
        // Cells that lie side by side for straight code come with one line.
        let beside = || self.side_by_side.is_some_and(|iter| Walk::along(iter).step(index) == 1);
        match (outer.iter().all(|subscript| distance(subscript) == Some(0)), distance(last)) {
            (true, Some(0)) => 0,
            (true, Some(-1 | 1)) => 1,
            _ if beside() => 1,
            _ => LINE,
        }
    }
}

/// What an operator adds to the wait for a value.
const OPERATOR: u64 = 4;
/// How many waits overlap where iterations are straight code.
const SIDE_BY_SIDE: u64 = 8;
/// What a division adds, and anything that takes as long.
const DIVISION: u64 = 16;

impl Walk {
    /// How long an iteration waits for the one before: nothing unless the statement reads the cell that it wrote then. The
    /// terms of a reduction wait for nobody, because they can be regrouped.
    pub(crate) fn chain(&self, statement: &Statement) -> u64 {
        let Some(moved) = self.moved.as_ref().filter(|_| !statement.kind.is_update()) else { return 0 };
        let array = statement.write.array;
        let is_previous = |read: &poly::Access| {
            let pairs = statement.write.index.iter().zip(&read.index);
            let mut moves = false;
            let all = pairs.into_iter().all(|(write, read)| {
                let (Some(write), Some(read)) = (write.as_affine(), read.as_affine()) else { return false };
                let (Some(by), Some(apart)) = (distance(write, moved), write.sub(read)) else { return false };
                moves |= by != 0;
                apart.as_constant() == Some(by)
            });
            all && moves
        };
        if !statement.reads.iter().any(|read| read.array == array && is_previous(read)) {
            return 0;
        }
        let mut wait = 0;
        statement.value.visit(&mut |expr| {
            wait += match &expr.kind {
                ExprKind::Binary(BinaryOp::Div, ..) | ExprKind::Unary(UnaryOp::Function(_), _) => DIVISION,
                ExprKind::Binary(..) => OPERATOR,
                _ => 0,
            }
        });
        // What stands side by side waits together.
        if self.side_by_side.is_some() { wait / SIDE_BY_SIDE } else { wait }
    }
}

/// By how much an expression changes; `None` if that depends on where.
fn distance(affine: &Affine, moved: &[(IterId, i64)]) -> Option<i64> {
    let mut sum: i64 = 0;
    for (atom, coefficient) in &affine.terms {
        match atom {
            Atom::Param(_) => {}
            Atom::Iter(id) => {
                let by = moved.iter().find(|(iter, _)| iter == id).map_or(0, |(_, by)| *by);
                sum = sum.checked_add(coefficient.checked_mul(by)?)?;
            }
            Atom::Div(numerator, _) => {
                if distance(numerator, moved)? != 0 {
                    return None;
                }
            }
        }
    }
    Some(sum)
}

/// The iterators that change from one iteration of the innermost loop to the next, those outside standing still. Loops over
/// pieces stand still too, nearly always.
fn moved(loops: &[&Affine], statement: &Statement) -> Option<Vec<(IterId, i64)>> {
    let (inner, outer) = loops.split_last()?;
    let equations: Vec<&&Affine> = outer.iter().filter(|expr| is_linear(expr)).chain([inner]).collect();
    // One iterator after the other is found from an expression in which it is the only one that is not yet known.
    let mut known: Vec<(IterId, i64)> = Vec::new();
    let mut left: Vec<(usize, &&Affine)> = equations.iter().copied().enumerate().collect();
    let target = |position: usize| i64::from(position + 1 == equations.len());
    loop {
        let solved = left.iter().position(|(_, expr)| unknowns(expr, &known, statement).len() == 1);
        let Some(place) = solved else { break };
        let (position, expr) = left.remove(place);
        let (iter, coefficient) = unknowns(expr, &known, statement)[0];
        let rest = target(position) - distance(expr, &known)?;
        if rest % coefficient != 0 {
            return None;
        }
        known.push((iter, rest / coefficient));
    }
    // What no loop counts is given by the rest, or does not move.
    let undecided = left.iter().any(|(_, expr)| !unknowns(expr, &known, statement).is_empty());
    (!undecided).then_some(known)
}

fn is_linear(expr: &Affine) -> bool {
    !expr.terms.keys().any(|atom| matches!(atom, Atom::Div(..)))
}

fn unknowns(expr: &Affine, known: &[(IterId, i64)], statement: &Statement) -> Vec<(IterId, i64)> {
    let terms = expr.terms.iter().filter_map(|(atom, coefficient)| match atom {
        Atom::Iter(iter) if statement.iters.contains(iter) => Some((*iter, *coefficient)),
        _ => None,
    });
    terms.filter(|(iter, _)| !known.iter().any(|(other, _)| other == iter)).collect()
}

/// Local arrays that are scalars in disguise: every access in an iteration of the loops that all of them share is to the same
/// cell.
fn registers(scop: &Scop, branches: &[Branch]) -> Vec<ArrayId> {
    let arrays = scop.arrays.iter().enumerate().filter(|(_, array)| array.role == Role::Local);
    let ids = arrays.map(|(position, _)| ArrayId(position as u32));
    ids.filter(|array| is_scalar(scop, branches, *array)).collect()
}

fn is_scalar(scop: &Scop, branches: &[Branch], array: ArrayId) -> bool {
    let users: Vec<&Branch> = users(scop, branches, array);
    let Some(shared) = shared_entries(&users) else { return true };
    let mut cell: Option<Vec<Affine>> = None;
    for branch in users {
        let statement = scop.at(branch.statement);
        for access in std::iter::once(&statement.write).chain(&statement.reads).filter(|access| access.array == array) {
            let Some(own) = cell_in_loops(branch, shared, &access.index) else { return false };
            if cell.as_ref().is_some_and(|known| *known != own) {
                return false;
            }
            cell = Some(own);
        }
    }
    true
}

/// The branches whose statements touch an array.
fn users<'a>(scop: &Scop, branches: &'a [Branch], array: ArrayId) -> Vec<&'a Branch> {
    let touches = |statement: StatementId| {
        let statement = scop.at(statement);
        statement.write.array == array || statement.reads.iter().any(|read| read.array == array)
    };
    branches.iter().filter(|branch| touches(branch.statement)).collect()
}

/// How many entries all of the branches share.
fn shared_entries(branches: &[&Branch]) -> Option<usize> {
    let (first, others) = branches.split_first()?;
    Some(others.iter().map(|other| first.shared_with(other)).min().unwrap_or(first.entries.len()))
}

/// A cell in terms of the shared loops: their iterations take the places of iterators. None if it depends on more.
fn cell_in_loops(branch: &Branch, shared: usize, index: &[Subscript]) -> Option<Vec<Affine>> {
    // An iteration is written as an iterator with the number of its loop, which nothing else here uses.
    let counted = |iter: IterId| {
        branch.loops().filter(|(level, ..)| *level < shared).find_map(|(_, id, expr)| {
            let coefficient = expr.terms.get(&Atom::Iter(iter)).copied().filter(|by| by.abs() == 1)?;
            let rest = expr.add_scaled(&Affine::iter(iter), -coefficient)?;
            rest.terms.keys().all(|atom| matches!(atom, Atom::Param(_))).then_some(())?;
            Affine::iter(IterId(id.0)).sub(&rest)?.scale(coefficient)
        })
    };
    let component = |subscript: &Subscript| {
        let affine = subscript.as_affine()?;
        let mut all = true;
        affine.visit_iters(&mut |iter| all &= counted(iter).is_some());
        if all { affine.substitute(&|iter| counted(iter)) } else { None }
    };
    index.iter().map(component).collect()
}

/// How many subscripts what an accumulator becomes has.
fn rank_of_result(scop: &Scop, accumulator: ArrayId) -> usize {
    let reads = |statement: &&Statement| statement.reads.iter().any(|read| read.array == accumulator);
    let uses = scop.statements.iter().filter(reads).filter(|statement| !statement.kind.is_update());
    uses.map(|statement| statement.write.index.len()).max().unwrap_or(0)
}

/// Whether the cells that an accumulator has for each iteration of the `for` loops around it are all used within that
/// iteration, so that one set of cells does.
fn is_within_iterations(scop: &Scop, branches: &[Branch], array: ArrayId, expanded: usize) -> bool {
    let users = users(scop, branches, array);
    let Some(shared) = shared_entries(&users) else { return true };
    users.iter().all(|branch| {
        let statement = scop.at(branch.statement);
        let accesses = std::iter::once(&statement.write).chain(&statement.reads);
        let mut own = accesses.filter(|access| access.array == array);
        own.all(|access| cell_in_loops(branch, shared, &access.index[..expanded]).is_some())
    })
}
