//! Replay: a second opinion on a schedule, by running it.
//!
//! In: a proven schedule and sizes.  Out: nothing, or an instance that reads another value than in the program.
//! Every instance is visited in the order of the generated loops, and again in the original order, while each cell
//! remembers who wrote it; every read must meet the same writer both times. For an accumulator that is the same init
//! with the same set of updates. Nothing here asks isl about order: loops are counted, subscripts evaluated.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use isl::Dim;
use isl::ast::{self, Op};
use program::{Affine, ArrayId, Expr, ExprKind, ReduceOp, Role, Subscript};

use crate::equations;
use crate::fault::{Attempt, Fault};
use crate::generate::ast_of_tree;
use crate::prove::{Pair, Proven};
use crate::scop::{Access, Scop, Statement, StatementKind};
use crate::terms;
use crate::tree::StatementId;
use crate::witness::{At, show_cell, show_point};

/// One instance: a statement by position, and its iterators.
pub(crate) type Instance = (usize, Vec<i64>);

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Origin {
    /// It was there before the call, or never written.
    Before,
    Written(Instance),
    /// What was there before the first update, and the updates by one operator since, in any order: how many, and the sum of
    /// their fingerprints, because sets of all updates before every read would fill the memory.
    Accumulated {
        start: u128,
        op: ReduceOp,
        count: usize,
        updates: u128,
    },
}

/// Different for different values, but by a chance that does not happen.
fn fingerprint(value: &impl Hash) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        value.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// What each instance reads, in the order of its accesses; and what is left in the end.
#[derive(Default)]
struct Trace {
    reads: HashMap<Instance, Vec<(ArrayId, Vec<i64>, Origin)>>,
    memory: HashMap<(ArrayId, Vec<i64>), Origin>,
}

/// More instances than so are not replayed.
const MOST_INSTANCES: usize = 100_000;
/// Nor are those that touch more cells than so, because data decides which.
const MOST_CELLS: usize = 2_000_000;

/// What a replay may still do. It is counted here because what is not isl's no budget sees.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    ctx: &'a isl::Context,
    cells: Cell<usize>,
}

impl Work<'_> {
    pub(crate) fn new(scop: &Scop) -> Work<'_> {
        Work { ctx: scop.params.ctx(), cells: Cell::new(MOST_CELLS) }
    }

    /// Goes on with so many cells, unless they are too many or the time is over.
    pub(crate) fn spend(&self, cells: usize) -> Result<(), Stop> {
        self.cells.set(self.cells.get().checked_sub(cells).ok_or(Stop::TooLarge)?);
        // isl makes nothing any more when a budget has run out.
        isl::Val::from_i64(self.ctx, 0)?;
        Ok(())
    }
}

/// The answer of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replay {
    /// Every read finds what it finds in the program.
    Same,
    /// There are too many instances to tell, or numbers past 64 bits, with which calls are refused.
    TooLarge,
    /// Something is different.
    Different(Disagreement),
}

/// A difference between the schedule and the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// In a sentence, with instances and cells.
    pub what: String,
}

/// Replays a schedule for given sizes and compares it with the original order; a program whose statements have changed,
/// with the one that was written.
pub fn replay(proven: &Proven, params: &[i64]) -> diag::Result<Replay> {
    let compared = match &proven.subject().written {
        Some(written) => terms::compare(&written.scop, proven, params),
        None => compare(proven, params),
    };
    match compared {
        Ok(None) => Ok(Replay::Same),
        Ok(Some(disagreement)) => Ok(Replay::Different(disagreement)),
        Err(Stop::TooLarge | Stop::Failed(Fault::Overflow(_))) => Ok(Replay::TooLarge),
        Err(Stop::Failed(fault)) => Err(fault.of_loops("replay", &proven.subject().scop.function)),
    }
}

/// Why a replay ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    TooLarge,
    Failed(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Failed(fault)
    }
}

impl From<isl::Error> for Stop {
    fn from(error: isl::Error) -> Stop {
        Stop::Failed(error.into())
    }
}

/// What was replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// At how many combinations of sizes.
    pub sizes: usize,
    /// How many others have too many instances, or too large numbers.
    pub skipped: usize,
}

/// Replays a schedule at all small sizes that the function accepts, at most some dozens. A disagreement is our bug.
pub fn replay_small(proven: &Proven) -> diag::Result<Replayed> {
    const SIZES: [i64; 5] = [0, 1, 2, 3, 5];
    const MOST: usize = 40;
    let function = &proven.subject().scop.function;
    let params = function.params.len();
    let facts = function.derived_facts();
    let combinations = SIZES.len().saturating_pow(u32::try_from(params).unwrap_or(u32::MAX));
    // A stride that has no factor in common with the number of sizes visits different combinations.
    let stride = (combinations / MOST).max(1) | 1;
    let mut replayed = Replayed::default();
    for number in (0..combinations).step_by(stride) {
        let mut rest = number;
        let mut size = || {
            let size = SIZES[rest % SIZES.len()];
            rest /= SIZES.len();
            size
        };
        let sizes: Vec<i64> = (0..params).map(|_| size()).collect();
        let holds = |cond: &program::Cond| cond.eval(&|id| sizes[id.index()], &|_| 0) == Some(true);
        // A minimum of two sizes is one of them: other values belong to no call.
        let possible = facts.iter().all(holds) && function.context.iter().all(|requirement| holds(&requirement.cond));
        if !possible {
            continue;
        }
        match replay(proven, &sizes)? {
            Replay::Same => replayed.sizes += 1,
            Replay::TooLarge => replayed.skipped += 1,
            Replay::Different(disagreement) => {
                let what = format!("the schedule was called legal, but for sizes {sizes:?} {}", disagreement.what);
                return Err(diag::Error::bug("replay", what));
            }
        }
    }
    Ok(replayed)
}

fn compare(proven: &Proven, params: &[i64]) -> Result<Option<Disagreement>, Stop> {
    let scop = &proven.subject().scop;
    let original = original_instances(scop, params)?;
    let scheduled = scheduled_instances(proven, params)?;
    let show = |(statement, values): &Instance| {
        let statement = &scop.statements[*statement];
        format!("{} ({})", statement.name, show_point(&scop.function, &statement.iters, values))
    };
    let disagree = |what: String| Ok(Some(Disagreement { what }));
    let mut seen = BTreeSet::new();
    if let Some(twice) = scheduled.iter().find(|instance| !seen.insert((*instance).clone())) {
        return disagree(format!("{} runs twice", show(twice)));
    }
    if let Some(missing) = original.iter().find(|instance| !seen.contains(*instance)) {
        return disagree(format!("{} never runs", show(missing)));
    }
    if scheduled.len() != original.len() {
        return disagree("an instance runs that is not part of the program".into());
    }
    let (one, two) = (trace(scop, params, &original)?, trace(scop, params, &scheduled)?);
    let tell = |origin: &Origin| match origin {
        Origin::Before => "the value from before".to_string(),
        Origin::Written(writer) => format!("what {} wrote", show(writer)),
        Origin::Accumulated { count, .. } => format!("{count} accumulated terms"),
    };
    for instance in &original {
        let (expected, found) = (one.reads.get(instance), two.reads.get(instance));
        for (expected, found) in expected.into_iter().flatten().zip(found.into_iter().flatten()) {
            if expected != found {
                let cell = show_cell(&scop.array(expected.0).name, &expected.1);
                let (should, does) = (tell(&expected.2), tell(&found.2));
                return disagree(format!("{} reads {cell} and should find {should}, but finds {does}", show(instance)));
            }
        }
    }
    for ((array, cell), expected) in one.memory.iter().filter(|((array, _), _)| scop.array(*array).role != Role::Local)
    {
        let found = two.memory.get(&(*array, cell.clone()));
        if found != Some(expected) {
            return disagree(format!("{} ends with another value", show_cell(&scop.array(*array).name, cell)));
        }
    }
    Ok(None)
}

/// All instances, sorted by their place in the program as far as equations allow.
pub(crate) fn original_instances(scop: &Scop, params: &[i64]) -> Result<Vec<Instance>, Stop> {
    let mut placed = Vec::new();
    for (position, statement) in scop.statements.iter().enumerate() {
        let mut domain = statement.domain.clone();
        for (param, value) in params.iter().enumerate() {
            let value = isl::Val::from_i64(domain.context(), *value)?;
            domain = domain.fix_val(Dim::Param, param, value)?;
        }
        for point in points(&domain, MOST_INSTANCES - placed.len())? {
            let values = coordinates(&point, statement.iters.len())?;
            let at = At { params, iters: &statement.iters, values: &values };
            let time = scop.order.time_at(&at, StatementId::new(position));
            let (_, place) = time.ok_or_else(|| Fault::bug("an instance has no place in the program"))?;
            placed.push((place, (position, values)));
        }
    }
    placed.sort();
    equations::rearranged(scop, params, placed.into_iter().map(|(_, instance)| instance).collect())
}

fn coordinates(point: &isl::Point, count: usize) -> Attempt<Vec<i64>> {
    let coordinate = |dim: usize| -> Attempt<i64> {
        let value = point.get_coordinate_val(Dim::Set, dim)?.to_i64()?;
        value.ok_or_else(|| Fault::bug("a point past 64 bits"))
    };
    (0..count).map(coordinate).collect()
}

/// The points of a set without parameters, if there are at most so many.
fn points(set: &isl::Set, most: usize) -> Result<Vec<isl::Point>, Stop> {
    let mut points = Vec::new();
    let mut too_many = false;
    let walked = set.foreach_point(|point| {
        too_many = points.len() >= most;
        points.push(point);
        if too_many { Err(isl::Error::callback("too many points")) } else { Ok(()) }
    });
    match walked {
        _ if too_many => Err(Stop::TooLarge),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(points),
    }
}

/// All instances in the order in which the generated loops run them.
pub(crate) fn scheduled_instances(proven: &Proven, params: &[i64]) -> Result<Vec<Instance>, Stop> {
    let scop = &proven.subject().scop;
    let tree = ast_of_tree(proven)?;
    let names = scop.function.params.iter().map(|param| param.name.clone()).zip(params.iter().copied());
    let mut runner = Runner { scop, work: Work::new(scop), names: names.collect(), instances: Vec::new() };
    runner.node(&tree)?;
    Ok(runner.instances)
}

/// Counts through a loop program.
struct Runner<'a> {
    scop: &'a Scop,
    work: Work<'a>,
    names: HashMap<String, i64>,
    instances: Vec<Instance>,
}

/// Loops whose numbers leave 64 bits at these sizes.
const OVERFLOW: Fault = Fault::Overflow("a loop");

impl Runner<'_> {
    fn node(&mut self, node: &ast::Node) -> Result<(), Stop> {
        match node {
            ast::Node::Block(nodes) => nodes.iter().try_for_each(|node| self.node(node)),
            ast::Node::Mark { body, .. } => self.node(body),
            ast::Node::If { cond, then, otherwise } => match (self.eval(cond)? != 0, otherwise) {
                (true, _) => self.node(then),
                (false, Some(otherwise)) => self.node(otherwise),
                (false, None) => Ok(()),
            },
            ast::Node::For { iterator, init, cond, inc, body, degenerate, .. } => {
                let mut value = self.eval(init)?;
                let hidden = self.names.insert(iterator.clone(), value);
                while *degenerate || self.eval(cond)? != 0 {
                    self.work.spend(1)?;
                    self.node(body)?;
                    if *degenerate {
                        break;
                    }
                    value = value.checked_add(self.eval(inc)?).ok_or(OVERFLOW)?;
                    self.names.insert(iterator.clone(), value);
                }
                match hidden {
                    Some(hidden) => self.names.insert(iterator.clone(), hidden),
                    None => self.names.remove(iterator),
                };
                Ok(())
            }
            ast::Node::User(expr, _) => {
                let ast::Expr::Op(Op::Call, args) = expr else {
                    return Err(Fault::bug("a user node without a call").into());
                };
                let Some((ast::Expr::Id(name), args)) = args.split_first() else {
                    return Err(Fault::bug("a call without a name").into());
                };
                let position = self.scop.statements.iter().position(|statement| statement.name == *name);
                let position = position.ok_or_else(|| Fault::bug(format!("no statement {name}")))?;
                let values = args.iter().map(|arg| self.eval(arg)).collect::<Attempt<_>>()?;
                self.instances.push((position, values));
                Ok(())
            }
        }
    }

    fn eval(&self, expr: &ast::Expr) -> Attempt<i64> {
        let (op, args) = match expr {
            ast::Expr::Int(value) => return Ok(*value),
            ast::Expr::Id(name) => {
                return self.names.get(name).copied().ok_or_else(|| Fault::bug(format!("unknown name {name}")));
            }
            ast::Expr::Op(op, args) => (*op, args),
        };
        // Conditions guard what stands behind them, so nothing is evaluated too early.
        match (op, args.as_slice()) {
            (Op::Cond | Op::Select, [cond, then, otherwise]) => {
                return if self.eval(cond)? != 0 { self.eval(then) } else { self.eval(otherwise) };
            }
            (Op::And | Op::AndThen, [one, two]) => {
                return Ok(i64::from(self.eval(one)? != 0 && self.eval(two)? != 0));
            }
            (Op::Or | Op::OrElse, [one, two]) => {
                return Ok(i64::from(self.eval(one)? != 0 || self.eval(two)? != 0));
            }
            (Op::Minus, [one]) => return self.eval(one)?.checked_neg().ok_or(OVERFLOW),
            _ => {}
        }
        let mut values = args.iter().map(|arg| self.eval(arg));
        let first = values.next().ok_or_else(|| Fault::bug("an operator without operands"))??;
        values.try_fold(first, |one, two| {
            let two = two?;
            Ok(match op {
                Op::Add => one.checked_add(two).ok_or(OVERFLOW)?,
                Op::Sub => one.checked_sub(two).ok_or(OVERFLOW)?,
                Op::Mul => one.checked_mul(two).ok_or(OVERFLOW)?,
                Op::Max => one.max(two),
                Op::Min => one.min(two),
                Op::Div | Op::FdivQ | Op::PdivQ => one.div_euclid(two),
                Op::PdivR | Op::ZdivR => one.rem_euclid(two),
                Op::Eq => i64::from(one == two),
                Op::Le => i64::from(one <= two),
                Op::Lt => i64::from(one < two),
                Op::Ge => i64::from(one >= two),
                Op::Gt => i64::from(one > two),
                _ => return Err(Fault::bug(format!("{op:?} in a loop program"))),
            })
        })
    }
}

/// Runs instances in order, cells remembering their writers.
fn trace(scop: &Scop, params: &[i64], instances: &[Instance]) -> Result<Trace, Stop> {
    let work = Work::new(scop);
    let mut trace = Trace::default();
    for instance in instances {
        let (position, values) = instance;
        let statement = &scop.statements[*position];
        let at = At { params, iters: &statement.iters, values };
        let mut loads = Loads { scop, work: &work, at, cells: Vec::new() };
        loads.statement(statement)?;
        let mut targets = Vec::new();
        for write in statement.writes() {
            targets.extend(loads.access(statement, write)?);
        }
        let updates = statement.kind.is_update();
        let reads = loads.cells.iter().filter(|load| !(updates && targets.contains(load))).map(|load| {
            let origin = trace.memory.get(load).cloned().unwrap_or(Origin::Before);
            (load.0, load.1.clone(), origin)
        });
        trace.reads.insert(instance.clone(), reads.collect());
        for target in targets {
            let origin = match statement.kind {
                StatementKind::Update(op) => {
                    let (start, count, updates) = match trace.memory.remove(&target).unwrap_or(Origin::Before) {
                        Origin::Accumulated { start, op: known, count, updates }
                            if known == op && !statement.kind.replaces() =>
                        {
                            (start, count, updates)
                        }
                        start => (fingerprint(&start), 0, 0),
                    };
                    let updates = updates.wrapping_add(fingerprint(instance));
                    Origin::Accumulated { start, op, count: count + 1, updates }
                }
                _ => Origin::Written(instance.clone()),
            };
            trace.memory.insert(target, origin);
        }
    }
    Ok(trace)
}

/// The loads of one instance; where data decides, all that are possible.
pub(crate) struct Loads<'a> {
    pub(crate) scop: &'a Scop,
    pub(crate) work: &'a Work<'a>,
    pub(crate) at: At<'a>,
    pub(crate) cells: Vec<(ArrayId, Vec<i64>)>,
}

impl Loads<'_> {
    pub(crate) fn cell(&self, index: &[Affine]) -> Attempt<Vec<i64>> {
        self.at.cell(index).ok_or(Fault::Overflow("a cell"))
    }

    /// The cells that an access may touch.
    pub(crate) fn all_cells(&self, array: ArrayId, index: &[Subscript]) -> Result<Vec<(ArrayId, Vec<i64>)>, Stop> {
        let mut cells = vec![Vec::new()];
        for (subscript, extent) in index.iter().zip(&self.scop.array(array).shape) {
            let overflow = || Fault::Overflow("a cell");
            let coordinates = match subscript {
                Subscript::Affine(affine) => {
                    let coordinate = self.at.affine(affine).ok_or_else(overflow)?;
                    coordinate..coordinate.checked_add(1).ok_or_else(overflow)?
                }
                Subscript::Data(_) => 0..self.at.affine(extent).ok_or_else(overflow)?,
            };
            let extent = usize::try_from(coordinates.end.saturating_sub(coordinates.start)).unwrap_or(0);
            self.work.spend(cells.len().saturating_mul(extent))?;
            let extended = cells.iter().flat_map(|cell: &Vec<i64>| {
                coordinates.clone().map(|coordinate| [cell.as_slice(), &[coordinate]].concat())
            });
            cells = extended.collect();
        }
        Ok(cells.into_iter().map(|cell| (array, cell)).collect())
    }

    /// Collects the loads of a statement; of loops inside it, all that they may do.
    fn statement(&mut self, statement: &Statement) -> Result<(), Stop> {
        if !statement.has_loops() {
            return self.expr(&statement.value);
        }
        for read in &statement.reads {
            let cells = self.access(statement, read)?;
            self.cells.extend(cells);
        }
        Ok(())
    }

    /// The cells that an access of a statement may touch. Loops inside it may not come to all that their subscripts could be.
    fn access(&self, statement: &Statement, access: &Access) -> Result<Vec<(ArrayId, Vec<i64>)>, Stop> {
        if !statement.has_loops() {
            return self.all_cells(access.array, &access.index);
        }
        let mut map = access.map.clone();
        for (kind, values) in [(Dim::Param, self.at.params), (Dim::In, self.at.values)] {
            for (position, value) in values.iter().enumerate() {
                let value = isl::Val::from_i64(map.context(), *value)?;
                map = map.fix_val(kind, position, value)?;
            }
        }
        let points = points(&map.range()?, MOST_INSTANCES)?;
        self.work.spend(points.len())?;
        let rank = access.index.len();
        points.iter().map(|point| Ok((access.array, coordinates(point, rank)?))).collect()
    }

    /// Collects the loads of an expression; of a data-dependent condition, those of both branches.
    pub(crate) fn expr(&mut self, expr: &Expr) -> Result<(), Stop> {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Scalar(_) => Ok(()),
            ExprKind::Load { array, index } => {
                let cell = self.cell(index)?;
                self.cells.push((*array, cell));
                Ok(())
            }
            ExprKind::Gather { array, index } => {
                let cells = self.all_cells(*array, index)?;
                self.cells.extend(cells);
                Subscript::data(index).try_for_each(|subscript| self.expr(subscript))
            }
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => self.expr(operand),
            ExprKind::Binary(_, lhs, rhs) => {
                self.expr(lhs)?;
                self.expr(rhs)
            }
            ExprKind::Select { cond, affine, then, otherwise } => {
                self.expr(cond)?;
                match affine.as_ref().map(|cond| self.at.cond(cond)) {
                    Some(Some(true)) => self.expr(then),
                    Some(Some(false)) => self.expr(otherwise),
                    Some(None) => Err(Fault::Overflow("a condition").into()),
                    None => {
                        for (branch, taken) in [(then, true), (otherwise, false)] {
                            let known = program::branch_condition(cond, None, taken);
                            if self.at.cond(&known).ok_or(Fault::Overflow("a condition"))? {
                                self.expr(branch)?;
                            }
                        }
                        Ok(())
                    }
                }
            }
            ExprKind::Reduce { .. } | ExprKind::Fold { .. } | ExprKind::Counter(_) => {
                Err(Fault::bug("a reduction is left in a statement").into())
            }
        }
    }
}

/// Whether a witness is what it claims: both instances exist, both touch the cell, at least one writes it, the source
/// comes first in the program, and does not in the schedule. Says what is wrong otherwise.
pub fn confirm(scop: &Scop, pair: &Pair) -> Result<(), String> {
    let (source, sink) = (scop.at(pair.source.statement), scop.at(pair.sink.statement));
    let instances = original_instances(scop, &pair.params).map_err(|_| "instances cannot be counted".to_string())?;
    let position = |statement: &Statement, values: &[i64]| {
        instances.iter().position(|(found, point)| scop.statements[*found].name == statement.name && point == values)
    };
    let first = position(source, &pair.source.values).ok_or("the source does not exist")?;
    let second = position(sink, &pair.sink.values).ok_or("the sink does not exist")?;
    if first >= second {
        return Err("the source does not come first in the program".into());
    }
    let touches = |statement: &Statement, values: &[i64]| -> (bool, bool) {
        let hits = |access: &Access| {
            scop.array(access.array).name == pair.array
                && access.may_touch(&pair.params, &statement.iters, values, &pair.cell)
        };
        (statement.reads.iter().any(hits), statement.writes().any(hits))
    };
    let (source_reads, source_writes) = touches(source, &pair.source.values);
    let (sink_reads, sink_writes) = touches(sink, &pair.sink.values);
    if !(source_writes && (sink_reads || sink_writes) || source_reads && sink_writes) {
        return Err("the instances do not meet in the cell".into());
    }
    let padded = |time: &[i64], length: usize| -> Vec<i64> {
        time.iter().copied().chain(std::iter::repeat(0)).take(length).collect()
    };
    let length = pair.source.time.len().max(pair.sink.time.len());
    if padded(&pair.source.time, length) < padded(&pair.sink.time, length) {
        return Err("the schedule runs the source first".into());
    }
    Ok(())
}
