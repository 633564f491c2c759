//! Replay: a second opinion on a schedule, by running it.
//!
//! In: a Scop, a schedule and sizes.  Out: nothing, or an instance that reads another value than in the program.
//! Every instance is visited in the order of the generated loops, and again in the original order, while each cell
//! remembers who wrote it; every read must meet the same writer both times. For an accumulator that is the same init
//! with the same set of updates. Nothing here asks isl about order: loops are counted, subscripts evaluated.

use std::collections::{BTreeSet, HashMap};

use isl::ast::{self, Op};
use isl::{Dim, Schedule};
use program::{Affine, ArrayId, Expr, ExprKind, ReduceOp, Role, Subscript};

use crate::equations;
use crate::fault::{Attempt, Fault};
use crate::generate::ast_of;
use crate::legality::Pair;
use crate::scop::{Access, Scop, Statement, StatementKind};
use crate::witness::{At, show_cell, show_point};

/// One instance: a statement by position, and its iterators.
pub(crate) type Instance = (usize, Vec<i64>);

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// It was there before the call, or never written.
    Before,
    Written(Instance),
    /// What was there before the first update, and the updates by one operator since.
    Accumulated(Box<Origin>, ReduceOp, BTreeSet<Instance>),
}

/// What each instance reads, in the order of its accesses; and what is left in the end.
#[derive(Default)]
struct Trace {
    reads: HashMap<Instance, Vec<(ArrayId, Vec<i64>, Origin)>>,
    memory: HashMap<(ArrayId, Vec<i64>), Origin>,
}

/// A difference between the schedule and the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    pub what: String,
}

/// Replays `schedule` for given sizes and compares it with the original order.
pub fn replay(scop: &Scop, schedule: &Schedule, params: &[i64]) -> diag::Result<Option<Disagreement>> {
    compare(scop, schedule, params).map_err(|fault| fault.at("replay"))
}

fn compare(scop: &Scop, schedule: &Schedule, params: &[i64]) -> Attempt<Option<Disagreement>> {
    let original = original_instances(scop, params)?;
    let scheduled = scheduled_instances(scop, schedule, params)?;
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
        Origin::Accumulated(_, _, updates) => format!("{} accumulated terms", updates.len()),
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
pub(crate) fn original_instances(scop: &Scop, params: &[i64]) -> Attempt<Vec<Instance>> {
    let mut placed = Vec::new();
    let depth = scop.statements.iter().map(|statement| statement.order.len()).max().unwrap_or(0);
    for (position, statement) in scop.statements.iter().enumerate() {
        let mut domain = statement.domain.clone();
        for (param, value) in params.iter().enumerate() {
            let value = isl::Val::from_i64(domain.context(), *value)?;
            domain = domain.fix_val(Dim::Param, param, value)?;
        }
        for point in domain.points()? {
            let mut values = Vec::new();
            for dim in 0..statement.iters.len() {
                let value = point.get_coordinate_val(Dim::Set, dim)?.to_i64()?;
                values.push(value.ok_or_else(|| Fault::bug("an instance past 64 bits"))?);
            }
            let mut place = place(statement, params, &values)?;
            place.resize(depth, 0);
            placed.push((place, (position, values)));
        }
    }
    placed.sort();
    equations::rearranged(scop, params, placed.into_iter().map(|(_, instance)| instance).collect())
}

/// When an instance runs in the program.
fn place(statement: &Statement, params: &[i64], values: &[i64]) -> Attempt<Vec<i64>> {
    let at = At { params, iters: &statement.iters, values };
    let place = statement.order.iter().map(|entry| entry.at(&at)).collect::<Option<_>>();
    place.ok_or_else(|| Fault::bug("a place overflows"))
}

/// All instances in the order in which the generated loops run them.
pub(crate) fn scheduled_instances(scop: &Scop, schedule: &Schedule, params: &[i64]) -> Attempt<Vec<Instance>> {
    let tree = ast_of(scop, schedule.clone())?;
    let names = scop.function.params.iter().map(|param| param.name.clone()).zip(params.iter().copied());
    let mut runner = Runner { scop, names: names.collect(), instances: Vec::new() };
    runner.node(&tree)?;
    Ok(runner.instances)
}

/// Counts through a loop program.
struct Runner<'a> {
    scop: &'a Scop,
    names: HashMap<String, i64>,
    instances: Vec<Instance>,
}

impl Runner<'_> {
    fn node(&mut self, node: &ast::Node) -> Attempt<()> {
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
                    self.node(body)?;
                    if *degenerate {
                        break;
                    }
                    value += self.eval(inc)?;
                    self.names.insert(iterator.clone(), value);
                }
                match hidden {
                    Some(hidden) => self.names.insert(iterator.clone(), hidden),
                    None => self.names.remove(iterator),
                };
                Ok(())
            }
            ast::Node::User(expr, _) => {
                let ast::Expr::Op(Op::Call, args) = expr else { return Err(Fault::bug("a user node without a call")) };
                let Some((ast::Expr::Id(name), args)) = args.split_first() else {
                    return Err(Fault::bug("a call without a name"));
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
            (Op::Minus, [one]) => return Ok(-self.eval(one)?),
            _ => {}
        }
        let mut values = args.iter().map(|arg| self.eval(arg));
        let first = values.next().ok_or_else(|| Fault::bug("an operator without operands"))??;
        values.try_fold(first, |one, two| {
            let two = two?;
            Ok(match op {
                Op::Add => one + two,
                Op::Sub => one - two,
                Op::Mul => one * two,
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
fn trace(scop: &Scop, params: &[i64], instances: &[Instance]) -> Attempt<Trace> {
    let mut trace = Trace::default();
    for instance in instances {
        let (position, values) = instance;
        let statement = &scop.statements[*position];
        let mut loads = Loads { scop, at: At { params, iters: &statement.iters, values }, cells: Vec::new() };
        loads.expr(&statement.value)?;
        let targets = loads.all_cells(statement.write.array, &statement.write.index)?;
        let updates = statement.kind.is_update();
        let reads = loads.cells.iter().filter(|load| !(updates && targets.contains(load))).map(|load| {
            let origin = trace.memory.get(load).cloned().unwrap_or(Origin::Before);
            (load.0, load.1.clone(), origin)
        });
        trace.reads.insert(instance.clone(), reads.collect());
        for target in targets {
            let origin = match statement.kind {
                StatementKind::Update(op) => match trace.memory.remove(&target).unwrap_or(Origin::Before) {
                    Origin::Accumulated(start, known, mut updates) if known == op && !statement.kind.replaces() => {
                        updates.insert(instance.clone());
                        Origin::Accumulated(start, op, updates)
                    }
                    start => Origin::Accumulated(Box::new(start), op, BTreeSet::from([instance.clone()])),
                },
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
    pub(crate) at: At<'a>,
    pub(crate) cells: Vec<(ArrayId, Vec<i64>)>,
}

impl Loads<'_> {
    pub(crate) fn cell(&self, index: &[Affine]) -> Attempt<Vec<i64>> {
        self.at.cell(index).ok_or_else(|| Fault::bug("a cell overflows"))
    }

    /// The cells that an access may touch.
    pub(crate) fn all_cells(&self, array: ArrayId, index: &[Subscript]) -> Attempt<Vec<(ArrayId, Vec<i64>)>> {
        let mut cells = vec![Vec::new()];
        for (subscript, extent) in index.iter().zip(&self.scop.array(array).shape) {
            let overflow = || Fault::bug("a cell overflows");
            let coordinates = match subscript {
                Subscript::Affine(affine) => {
                    let coordinate = self.at.affine(affine).ok_or_else(overflow)?;
                    coordinate..coordinate.saturating_add(1)
                }
                Subscript::Data(_) => 0..self.at.affine(extent).ok_or_else(overflow)?,
            };
            let extended = cells.iter().flat_map(|cell: &Vec<i64>| {
                coordinates.clone().map(|coordinate| [cell.as_slice(), &[coordinate]].concat())
            });
            cells = extended.collect();
        }
        Ok(cells.into_iter().map(|cell| (array, cell)).collect())
    }

    /// Collects the loads of an expression; of a data-dependent condition, those of both branches.
    pub(crate) fn expr(&mut self, expr: &Expr) -> Attempt<()> {
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
                    Some(None) => Err(Fault::bug("a condition overflows")),
                    None => {
                        for (branch, taken) in [(then, true), (otherwise, false)] {
                            let known = program::branch_condition(cond, None, taken);
                            if self.at.cond(&known).ok_or_else(|| Fault::bug("a condition overflows"))? {
                                self.expr(branch)?;
                            }
                        }
                        Ok(())
                    }
                }
            }
            ExprKind::Reduce { .. } => Err(Fault::bug("a reduction is left in a statement")),
        }
    }
}

/// Whether a witness is what it claims: both instances exist, both touch the cell, at least one writes it, the source
/// comes first in the program, and does not in the schedule. Says what is wrong otherwise.
pub fn confirm(scop: &Scop, pair: &Pair) -> Result<(), String> {
    let find = |name: &str| scop.statement(name).ok_or_else(|| format!("there is no statement {name}"));
    let (source, sink) = (find(&pair.source.statement)?, find(&pair.sink.statement)?);
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
        (statement.reads.iter().any(hits), hits(&statement.write))
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
