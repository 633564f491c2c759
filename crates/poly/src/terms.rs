//! Terms: a second opinion on a rewritten program, by running both with formulas for values.
//!
//! In: a program, what transformations made of it, and sizes.  Out: nothing, or a result that differs.
//! Every cell holds the formula of its value over the inputs. A copy holds the formula of its original, so copies,
//! substitutions and repetitions are seen through without being known; what a reduction has accumulated is a multiset,
//! so its order and its stages do not matter. Shares only the order of instances with `replay`, and nothing with the
//! static check.

use std::collections::{BTreeMap, HashMap};

use program::{
    Affine, ArrayId, BinaryOp, Expr, ExprKind, IterId, ReduceOp, Role, ScalarType, Subscript, UnaryOp, Value,
};

use crate::fault::Fault;
use crate::prove::Proven;
use crate::prove::storage::cells_of;
use crate::replay::{Disagreement, Instance, Loads, Stop, Work, original_instances, scheduled_instances};
use crate::scop::{Scop, Statement, StatementKind};
use crate::witness::{At, evaluate, show_cell};

/// Formulas are equal if their numbers are.
type Number = u32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Term {
    /// What was in a cell before the call.
    Input(String, Vec<i64>),
    /// A constant by its bits, so that one NaN equals itself.
    Const(ScalarType, u64),
    Scalar(u32),
    Unary(UnaryOp, Number),
    Binary(BinaryOp, Number, Number),
    Cast(ScalarType, Number),
    Select(Number, Number, Number),
    /// One of these cells, by the subscripts.
    Gather(Vec<Number>, Vec<Number>),
    /// A term that reaches a cell if the subscripts name it.
    Scattered(Vec<Number>, Vec<i64>, Number),
    /// A reduction of these terms, each with how often it occurs.
    Accumulated(ReduceOp, ScalarType, BTreeMap<Number, u32>),
}

/// Compares what a rewritten program leaves in its outputs, in the order of its schedule, with the original.
pub(crate) fn compare(original: &Scop, proven: &Proven, params: &[i64]) -> Result<Option<Disagreement>, Stop> {
    let mut terms = Terms::default();
    let expected = terms.run(original, params, &original_instances(original, params)?)?;
    let rewritten = &proven.subject().scop;
    let found = terms.run(rewritten, params, &scheduled_instances(proven, params)?)?;
    let found = terms.as_callers_see(rewritten, params, found)?;
    let is_result = |array: &ArrayId| original.array(*array).role != Role::Local;
    for ((array, cell), term) in expected.iter().filter(|((array, _), _)| is_result(array)) {
        let input = terms.number(Term::Input(original.array(*array).name.clone(), cell.clone()));
        if found.get(&(*array, cell.clone())).copied().unwrap_or(input) != *term {
            let what = format!("{} ends with another value", show_cell(&original.array(*array).name, cell));
            return Ok(Some(Disagreement { what }));
        }
    }
    let written = |array: &ArrayId| array.index() < original.arrays.len() && is_result(array);
    match found.keys().find(|key| written(&key.0) && !expected.contains_key(key)) {
        Some((array, cell)) => {
            let what = format!("{} is written, but should not be", show_cell(&original.array(*array).name, cell));
            Ok(Some(Disagreement { what }))
        }
        None => Ok(None),
    }
}

/// A cell of an argument that callers hand over in a layout.
struct Stored {
    array: ArrayId,
    cell: Vec<i64>,
    /// Where it is.
    place: Vec<i64>,
}

/// All such cells.
fn stored_cells(scop: &Scop, params: &[i64]) -> Result<Vec<Stored>, Stop> {
    let work = Work::new(scop);
    let mut found = Vec::new();
    let arguments = scop.arrays.iter().enumerate().filter(|(_, array)| array.role != Role::Local);
    for (position, laid) in arguments.filter_map(|(position, array)| Some((position, array.laid.as_ref()?))) {
        let iters: Vec<IterId> = (0..laid.shape.len()).map(|number| IterId(number as u32)).collect();
        let overflow = || Fault::Overflow("a cell");
        let shape = evaluate(&laid.shape, params, &[], &[]).ok_or_else(overflow)?;
        for cell in cells_of(&shape, i64::MAX) {
            work.spend(1)?;
            let place = evaluate(&laid.places, params, &iters, &cell).ok_or_else(overflow)?;
            found.push(Stored { array: ArrayId(position as u32), cell, place });
        }
    }
    Ok(found)
}

type Memory = HashMap<(ArrayId, Vec<i64>), Number>;

/// Every formula that has occurred.
#[derive(Default)]
struct Terms {
    numbers: HashMap<Term, Number>,
    terms: Vec<Term>,
}

impl Terms {
    fn number(&mut self, term: Term) -> Number {
        if let Some(number) = self.numbers.get(&term) {
            return *number;
        }
        let number = self.terms.len() as Number;
        self.terms.push(term.clone());
        self.numbers.insert(term, number);
        number
    }

    /// What callers find in their own cells, wherever the program has put them. What is in holes is nobody's business.
    fn as_callers_see(&mut self, scop: &Scop, params: &[i64], mut memory: Memory) -> Result<Memory, Stop> {
        let mut seen = Memory::new();
        for Stored { array, cell, place } in stored_cells(scop, params)? {
            let input = self.number(Term::Input(scop.array(array).name.clone(), cell.clone()));
            let left = memory.remove(&(array, place)).filter(|left| *left != input);
            seen.extend(left.map(|left| ((array, cell), left)));
        }
        memory.retain(|(array, _), _| scop.array(*array).role == Role::Local || scop.array(*array).laid.is_none());
        memory.extend(seen);
        Ok(memory)
    }

    fn run(&mut self, scop: &Scop, params: &[i64], instances: &[Instance]) -> Result<Memory, Stop> {
        let work = Work::new(scop);
        let mut memory = Memory::new();
        for Stored { array, cell, place } in stored_cells(scop, params)? {
            let input = self.number(Term::Input(scop.array(array).name.clone(), cell));
            memory.insert((array, place), input);
        }
        for (position, values) in instances {
            let statement = &scop.statements[*position];
            let at = At { params, iters: &statement.iters, values };
            let loads = Loads { scop, work: &work, at, cells: Vec::new() };
            let mut cells = Vec::new();
            for write in statement.writes() {
                cells.extend(loads.all_cells(write.array, &write.index)?);
            }
            let mut run = Run { terms: self, scop, work: &work, at, memory: &memory };
            if statement.has_loops() {
                let changed = run.loops(statement, &cells)?;
                memory.extend(changed);
                continue;
            }
            if let (StatementKind::Update(op), true) = (statement.kind, statement.scatters()) {
                let changed = run.scatter(statement, op, &cells)?;
                memory.extend(changed);
                continue;
            }
            let cell = cells.pop().ok_or_else(|| Fault::bug("a store without a cell"))?;
            let value = match (statement.kind, &statement.value.kind) {
                (StatementKind::Update(op), ExprKind::Binary(_, total, term)) => {
                    let (total, term) = (run.expr(total)?, run.expr(term)?);
                    self.accumulate(&work, (op, statement.value.ty), total, term)?
                }
                _ => run.expr(&statement.value)?,
            };
            memory.insert(cell, value);
        }
        Ok(memory)
    }

    fn accumulate(
        &mut self,
        work: &Work<'_>,
        (op, ty): (ReduceOp, ScalarType),
        total: Number,
        term: Number,
    ) -> Result<Number, Stop> {
        let neutral = self.number(Term::Const(ty, bits(op.neutral(ty))));
        let mut parts = BTreeMap::new();
        for part in [total, term] {
            match &self.terms[part as usize] {
                Term::Accumulated(of, same, inner) if (*of, *same) == (op, ty) => {
                    work.spend(inner.len())?;
                    for (term, times) in inner {
                        *parts.entry(*term).or_insert(0) += times;
                    }
                }
                _ if part == neutral => {}
                _ => *parts.entry(part).or_insert(0) += 1,
            }
        }
        Ok(if parts.is_empty() { neutral } else { self.number(Term::Accumulated(op, ty, parts)) })
    }
}

/// One instance while its value is worked out.
struct Run<'a> {
    terms: &'a mut Terms,
    scop: &'a Scop,
    work: &'a Work<'a>,
    at: At<'a>,
    memory: &'a Memory,
}

impl Run<'_> {
    fn load(&mut self, array: ArrayId, index: &[Affine]) -> Result<Number, Stop> {
        let cell = self.at.cell(index).ok_or(Fault::Overflow("a cell"))?;
        Ok(self.content((array, cell)))
    }

    fn content(&mut self, (array, cell): (ArrayId, Vec<i64>)) -> Number {
        match self.memory.get(&(array, cell.clone())) {
            Some(number) => *number,
            None => self.terms.number(Term::Input(self.scop.array(array).name.clone(), cell)),
        }
    }

    fn subscripts(&mut self, index: &[Subscript]) -> Result<Vec<Number>, Stop> {
        let mut numbers = Vec::new();
        for subscript in index {
            numbers.push(match subscript {
                Subscript::Affine(affine) => {
                    let value = self.at.affine(affine).ok_or(Fault::Overflow("an index"))?;
                    self.terms.number(Term::Const(ScalarType::I64, value as u64))
                }
                Subscript::Data(expr) => self.expr(expr)?,
            });
        }
        Ok(numbers)
    }

    /// What an update of a cell that depends on data leaves in all cells that come into question.
    fn scatter(&mut self, statement: &Statement, op: ReduceOp, cells: &[(ArrayId, Vec<i64>)]) -> Result<Memory, Stop> {
        let (subscripts, term) = (self.subscripts(&statement.write.index)?, self.expr(statement.term()?)?);
        let mut changed = Memory::new();
        for cell in cells {
            let reached = self.terms.number(Term::Scattered(subscripts.clone(), cell.1.clone(), term));
            let old = self.content(cell.clone());
            let left = match op {
                ReduceOp::Last | ReduceOp::Once => self.terms.number(Term::Binary(op.combine(), old, reached)),
                _ => self.terms.accumulate(self.work, (op, statement.value.ty), old, reached)?,
            };
            changed.insert(cell.clone(), left);
        }
        Ok(changed)
    }

    /// What a statement with loops of its own leaves: something that is made of all that it may read, and of its indices.
    fn loops(&mut self, statement: &Statement, cells: &[(ArrayId, Vec<i64>)]) -> Result<Memory, Stop> {
        let loads = Loads { scop: self.scop, work: self.work, at: self.at, cells: Vec::new() };
        let mut contents = Vec::new();
        for read in &statement.reads {
            let cells = loads.all_cells(read.array, &read.index)?;
            contents.extend(cells.into_iter().map(|cell| self.content(cell)));
        }
        let made = self.terms.number(Term::Input(statement.source.clone(), self.at.values.to_vec()));
        let made = self.terms.number(Term::Gather(vec![made], contents));
        let mut changed = Memory::new();
        for cell in cells {
            let left = match statement.kind {
                StatementKind::Update(op) if statement.block.is_none() => {
                    let old = self.content(cell.clone());
                    self.terms.accumulate(self.work, (op, statement.value.ty), old, made)?
                }
                _ => self.terms.number(Term::Scattered(Vec::new(), cell.1.clone(), made)),
            };
            changed.insert(cell.clone(), left);
        }
        Ok(changed)
    }

    fn expr(&mut self, expr: &Expr) -> Result<Number, Stop> {
        let term = match &expr.kind {
            ExprKind::Const(value) => Term::Const(expr.ty, bits(*value)),
            ExprKind::Index(affine) => {
                let value = self.at.affine(affine).ok_or(Fault::Overflow("an index"))?;
                Term::Const(ScalarType::I64, value as u64)
            }
            ExprKind::Scalar(id) => Term::Scalar(id.0),
            ExprKind::Load { array, index } => return self.load(*array, index),
            ExprKind::Gather { array, index } => {
                let loads = Loads { scop: self.scop, work: self.work, at: self.at, cells: Vec::new() };
                let cells = loads.all_cells(*array, index)?;
                let contents = cells.into_iter().map(|cell| self.content(cell)).collect();
                Term::Gather(self.subscripts(index)?, contents)
            }
            ExprKind::Unary(op, operand) => Term::Unary(*op, self.expr(operand)?),
            ExprKind::Binary(op, lhs, rhs) => {
                let (lhs, rhs) = (self.expr(lhs)?, self.expr(rhs)?);
                // What is in holes that are filled: these products are known without arithmetic.
                let zero = self.terms.number(Term::Const(expr.ty, bits(Value::from_i64(expr.ty, 0))));
                let one = self.terms.number(Term::Const(expr.ty, bits(Value::from_i64(expr.ty, 1))));
                match op {
                    BinaryOp::Mul if (lhs, rhs) == (zero, zero) => return Ok(zero),
                    BinaryOp::Mul if (lhs, rhs) == (one, one) => return Ok(one),
                    _ => Term::Binary(*op, lhs, rhs),
                }
            }
            ExprKind::Cast(operand) => Term::Cast(expr.ty, self.expr(operand)?),
            ExprKind::Select { cond, affine, then, otherwise } => {
                match affine.as_ref().map(|cond| self.at.cond(cond)) {
                    Some(Some(true)) => return self.expr(then),
                    Some(Some(false)) => return self.expr(otherwise),
                    Some(None) => return Err(Fault::Overflow("a condition").into()),
                    None => {
                        let open = |taken| self.at.cond(&program::branch_condition(cond, None, taken)) != Some(false);
                        match (open(true), open(false)) {
                            (false, _) => return self.expr(otherwise),
                            (_, false) => return self.expr(then),
                            _ => Term::Select(self.expr(cond)?, self.expr(then)?, self.expr(otherwise)?),
                        }
                    }
                }
            }
            ExprKind::Reduce { .. } | ExprKind::Fold { .. } | ExprKind::Counter(_) => {
                return Err(Fault::bug("a reduction is left in a statement").into());
            }
        };
        Ok(self.terms.number(term))
    }
}

fn bits(value: Value) -> u64 {
    match value {
        Value::F16(value) => u64::from(value.to_bits()),
        Value::BF16(value) => u64::from(value.to_bits()),
        Value::F32(value) => u64::from(value.to_bits()),
        Value::F64(value) => value.to_bits(),
        Value::I8(value) => value as u64,
        Value::I16(value) => value as u64,
        Value::I32(value) => value as u64,
        Value::I64(value) => value as u64,
        Value::U8(value) => u64::from(value),
        Value::U16(value) => u64::from(value),
        Value::U32(value) => u64::from(value),
        Value::U64(value) => value,
        Value::Bool(value) => u64::from(value),
    }
}
