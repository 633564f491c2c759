//! The form that is executed: names are slots, parameters and scalar arguments are constants. Loop variables of index
//! arithmetic are numbered like slots.
//!
//! In: what `resolve_program` and `resolve_loops` made, with the arrays.  Out: the arrays, changed.
//! Slots are in range by construction; everything that depends on data is checked.

use diag::Span;
use index::{Cond, Index};
use program::{BinaryOp, Data, Fault, FaultKind, ScalarType, UnaryOp, Value};

use crate::concurrent::{Concurrent, Random};
use crate::demand::{self, Clause};
use crate::env::{Declared, Memory};
use crate::float::{Float, is_arithmetic};
use crate::{Error, eval};

/// Errors are boxed because they are rare, and values are returned often.
pub(crate) type Run<T> = Result<T, Box<Error>>;

#[derive(Debug)]
pub(crate) enum Expr {
    Const(Value),
    Index(Index, Option<Span>),
    Cond(Cond, Option<Span>),
    Local(usize),
    Load(Access),
    Gather(Cell),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>, Option<Span>),
    /// `+ - * /` on floats of this type; see `float`.
    Arithmetic(BinaryOp, Box<Expr>, Box<Expr>, ScalarType),
    Cast(ScalarType, Box<Expr>),
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    Reduce(Box<Reduce>),
    Place(Box<Place>),
    Fold(Box<Fold>),
}

/// The values `lo..hi` of a loop whose bounds depend on data, which go into a local.
#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) local: usize,
    /// As the user calls it, for messages.
    pub(crate) name: Option<String>,
    pub(crate) lo: Expr,
    pub(crate) hi: Expr,
    pub(crate) step: Expr,
    /// One that ends before it begins is a fault.
    pub(crate) forwards: bool,
    /// Evaluated in front of each iteration, which ends the loop where it fails.
    pub(crate) until: Option<Expr>,
    pub(crate) span: Option<Span>,
}

/// Folds the body over a range, in its order.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) op: BinaryOp,
    pub(crate) start: Value,
    pub(crate) range: Range,
    pub(crate) body: Expr,
}

/// Folds the body over all points of the loops at which the guard holds, in ascending lexicographic order.
#[derive(Debug)]
pub(crate) struct Reduce {
    pub(crate) op: BinaryOp,
    pub(crate) start: Value,
    pub(crate) loops: Vec<Loop>,
    pub(crate) guard: Cond,
    pub(crate) body: Expr,
    pub(crate) span: Option<Span>,
}

/// The first index at which the body is smallest or largest; NaN is beyond everything. -1 if there is none.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) largest: bool,
    pub(crate) a_loop: Loop,
    pub(crate) guard: Cond,
    pub(crate) body: Expr,
    pub(crate) span: Option<Span>,
}

#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) array: usize,
    pub(crate) index: Vec<Index>,
    pub(crate) span: Option<Span>,
}

/// A cell that depends on data.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) array: usize,
    pub(crate) index: Vec<Expr>,
    pub(crate) span: Option<Span>,
}

#[derive(Debug)]
pub(crate) enum Stmt {
    For(Loop, Vec<Stmt>),
    If(Cond, Vec<Stmt>, Vec<Stmt>, Option<Span>),
    Store(Access, Expr),
    /// Combines the value with what is in the cell.
    Scatter(Cell, BinaryOp, Expr),
    Set(usize, Expr),
    /// Combines the value with what is in a cell or local whose place is known.
    Update(Target, BinaryOp, Expr),
    /// Adds a product of floats to it, rounded once.
    Fuse(Target, Expr, Expr),
    /// Iterations that run at once.
    Concurrent(Box<Concurrent>),
    /// An array with cells of its own for the time of the statements.
    Alloc(usize, Vec<Stmt>),
    /// Iterations of a parallel loop wait for each other.
    Barrier,
    /// A loop whose bounds depend on data.
    Each(Box<Range>, Vec<Stmt>),
    /// A system of equations.
    Equations(Vec<Clause>),
}

/// What an update changes.
#[derive(Debug)]
pub(crate) enum Target {
    Cell(Access),
    Local(usize),
}

/// The values `lo..hi`: up from `lo` if the step is positive, down from `hi - 1` if it is negative; reversed if
/// `rev`.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) slot: usize,
    /// As the user calls it, for messages.
    pub(crate) name: Option<String>,
    pub(crate) lo: Index,
    pub(crate) hi: Index,
    pub(crate) step: i64,
    pub(crate) rev: bool,
    pub(crate) span: Option<Span>,
}

impl Expr {
    /// An operator on operands of type `ty`.
    pub(crate) fn binary(op: BinaryOp, left: Expr, right: Expr, ty: ScalarType, span: Option<Span>) -> Expr {
        let (left, right) = (Box::new(left), Box::new(right));
        if ty.is_float() && is_arithmetic(op) {
            return Expr::Arithmetic(op, left, right, ty);
        }
        Expr::Binary(op, left, right, span)
    }
}

/// Executes the statements, what runs at once in an order that the random numbers decide.
pub(crate) fn execute(
    stmts: &[Stmt],
    slots: usize,
    locals: Vec<Value>,
    arrays: &mut [Memory],
    random: Option<Random>,
) -> Run<()> {
    Machine { slots: vec![0; slots], locals, arrays, missing: None, random }.block(stmts)
}

/// Calls `body` at every point of loops over arrays that have extents, but no cells.
pub(crate) fn walk(
    loops: &[Loop],
    slots: usize,
    declared: &[Declared],
    body: &mut dyn FnMut(&mut Machine<'_>) -> Run<()>,
) -> Run<()> {
    let memory = |declared: &Declared| Memory {
        declared: declared.clone(),
        data: Data::zeros(declared.ty, 0).unwrap_or(Data::Bool(Vec::new())),
        undefined: None,
    };
    let mut arrays: Vec<Memory> = declared.iter().map(memory).collect();
    Machine { slots: vec![0; slots], locals: Vec::new(), arrays: &mut arrays, missing: None, random: None }.points(
        loops,
        &Cond::And(Vec::new()),
        None,
        &mut |machine| body(machine),
    )
}

pub(crate) struct Machine<'a> {
    slots: Vec<i64>,
    pub(crate) locals: Vec<Value>,
    pub(crate) arrays: &'a mut [Memory],
    /// The array and the cell whose value was missing when the last evaluation failed.
    pub(crate) missing: Option<(usize, usize)>,
    /// Decides the order of what runs at once, and what is in cells that nobody wrote.
    pub(crate) random: Option<Random>,
}

pub(crate) fn overflow(span: Option<Span>) -> Box<Error> {
    Box::new(Error::IndexOverflow { span })
}

fn division_by_zero(span: Option<Span>) -> Box<Error> {
    Box::new(Error::Fault(Fault::new(FaultKind::DivisionByZero, span)))
}

/// The error with one more loop around it.
pub(crate) fn within(mut error: Box<Error>, a_loop: &Loop, value: i64) -> Box<Error> {
    if let (Error::Fault(fault), Some(name)) = (&mut *error, &a_loop.name) {
        fault.instance.insert(0, (name.clone(), value));
    }
    error
}

impl Machine<'_> {
    pub(crate) fn block(&mut self, stmts: &[Stmt]) -> Run<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Run<()> {
        match stmt {
            Stmt::For(a_loop, body) => self.each(a_loop, |machine| machine.block(body)),
            Stmt::Each(range, body) => self.range(range, |machine| machine.block(body)),
            Stmt::If(cond, then, otherwise, span) => {
                let branch = if self.cond(cond).ok_or_else(|| overflow(*span))? { then } else { otherwise };
                self.block(branch)
            }
            Stmt::Store(access, value) => {
                let value = self.expr(value)?;
                self.assign(access, value)
            }
            Stmt::Scatter(cell, op, value) => {
                let value = self.expr(value)?;
                self.scatter(cell, *op, value)
            }
            Stmt::Update(target, op, value) => {
                let value = self.expr(value)?;
                self.update(target, *op, value)
            }
            Stmt::Fuse(target, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.fuse(target, a, b)
            }
            Stmt::Concurrent(found) => self.concurrently(found),
            Stmt::Alloc(array, body) => self.alloc(*array, body),
            Stmt::Barrier => Ok(()),
            Stmt::Set(local, value) => {
                self.locals[*local] = self.expr(value)?;
                Ok(())
            }
            Stmt::Equations(clauses) => demand::solve(self, clauses),
        }
    }

    pub(crate) fn store(&mut self, array: usize, position: usize, value: Value) -> Run<()> {
        let memory = &mut self.arrays[array];
        if memory.data.set(position, value) {
            return Ok(());
        }
        let what = format!("a value of type {} is stored to `{}`", value.ty(), memory.declared.name);
        Err(Box::new(Error::Malformed { what }))
    }

    pub(crate) fn slot(&self, slot: usize) -> i64 {
        self.slots[slot]
    }

    pub(crate) fn set_slot(&mut self, slot: usize, value: i64) {
        self.slots[slot] = value;
    }

    /// Calls `body` for every value of the loop.
    pub(crate) fn each(&mut self, a_loop: &Loop, mut body: impl FnMut(&mut Self) -> Run<()>) -> Run<()> {
        let failed = || overflow(a_loop.span);
        let lo = self.index(&a_loop.lo).ok_or_else(failed)?;
        let hi = self.index(&a_loop.hi).ok_or_else(failed)?;
        if lo >= hi {
            return Ok(());
        }
        let step = a_loop.step;
        if step == 0 {
            return Err(Box::new(Error::Malformed { what: "a loop has step 0".to_owned() }));
        }
        // All values lie between `lo` and `hi`, so only the length can overflow.
        let last = hi.checked_sub(1).and_then(|last| last.checked_sub(lo)).ok_or_else(failed)?;
        let steps = last.unsigned_abs() / step.unsigned_abs();
        let start = if step > 0 { lo } else { hi - 1 };
        for number in 0..=steps {
            let number = if a_loop.rev { steps - number } else { number };
            let value = start.wrapping_add(step.wrapping_mul(number as i64));
            self.slots[a_loop.slot] = value;
            body(self).map_err(|error| within(error, a_loop, value))?;
        }
        Ok(())
    }

    /// Calls `body` for every value of a range that depends on data.
    fn range(&mut self, range: &Range, mut body: impl FnMut(&mut Self) -> Run<()>) -> Run<()> {
        let fault = |kind| Box::new(Error::Fault(Fault::new(kind, range.span)));
        let (lo, hi, step) = (self.int(&range.lo)?, self.int(&range.hi)?, self.int(&range.step)?);
        if lo > hi && range.forwards {
            return Err(fault(FaultKind::Backwards { by: lo.wrapping_sub(hi) }));
        }
        if step < 1 {
            return Err(fault(FaultKind::Step { step }));
        }
        let mut value = lo;
        while value < hi {
            self.locals[range.local] = Value::I64(value);
            let goes_on = match &range.until {
                Some(until) => matches!(self.expr(until)?, Value::Bool(true)),
                None => true,
            };
            if !goes_on {
                break;
            }
            body(self).map_err(|mut error| {
                if let (Error::Fault(fault), Some(name)) = (&mut *error, &range.name) {
                    fault.instance.insert(0, (name.clone(), value));
                }
                error
            })?;
            let Some(next) = value.checked_add(step) else { break };
            value = next;
        }
        Ok(())
    }

    fn int(&mut self, expr: &Expr) -> Run<i64> {
        match self.expr(expr)? {
            Value::I64(value) => Ok(value),
            _ => Err(Box::new(Error::Malformed { what: "a bound is not an i64".to_owned() })),
        }
    }

    /// Calls `body` at every point of the loops at which the guard holds.
    pub(crate) fn points(
        &mut self,
        loops: &[Loop],
        guard: &Cond,
        span: Option<Span>,
        body: &mut dyn FnMut(&mut Self) -> Run<()>,
    ) -> Run<()> {
        if let Some((first, inner)) = loops.split_first() {
            return self.each(first, |machine| machine.points(inner, guard, span, body));
        }
        if self.cond(guard).ok_or_else(|| overflow(span))? {
            body(self)?;
        }
        Ok(())
    }

    pub(crate) fn expr(&mut self, expr: &Expr) -> Run<Value> {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Local(local) => self.locals[*local],
            Expr::Load(access) => {
                let position = self.position(access)?;
                self.check_defined(access.array, position, access.span)?;
                match self.arrays[access.array].data.get(position) {
                    Some(value) => value,
                    None => return Err(Box::new(self.out_of_bounds(access))),
                }
            }
            Expr::Gather(cell) => {
                let position = self.find(cell)?;
                self.check_defined(cell.array, position, cell.span)?;
                let value = self.arrays[cell.array].data.get(position);
                value.ok_or_else(|| Error::Malformed { what: "a cell is missing".to_owned() })?
            }
            Expr::Binary(op, left, right, span) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                eval::binary(*op, left, right).map_err(|_| division_by_zero(*span))?
            }
            Expr::Unary(op, operand) => eval::unary(*op, self.expr(operand)?),
            Expr::Cast(ty, operand) => eval::cast(self.expr(operand)?, *ty),
            Expr::Select(cond, then, otherwise) => {
                let chosen = matches!(self.expr(cond)?, Value::Bool(true));
                self.expr(if chosen { then } else { otherwise })?
            }
            Expr::Arithmetic(_, _, _, ScalarType::F32) => self.float::<f32>(expr)?.into_value(),
            Expr::Arithmetic(..) => self.float::<f64>(expr)?.into_value(),
            Expr::Reduce(reduce) => match reduce.start {
                Value::F32(_) if is_arithmetic(reduce.op) => self.float::<f32>(expr)?.into_value(),
                Value::F64(_) if is_arithmetic(reduce.op) => self.float::<f64>(expr)?.into_value(),
                mut sum => {
                    self.points(&reduce.loops, &reduce.guard, reduce.span, &mut |machine| {
                        let value = machine.expr(&reduce.body)?;
                        sum = eval::binary(reduce.op, sum, value).map_err(|_| division_by_zero(reduce.span))?;
                        Ok(())
                    })?;
                    sum
                }
            },
            Expr::Place(place) => Value::I64(self.place(place)?),
            Expr::Fold(fold) => {
                let mut sum = fold.start;
                self.range(&fold.range, |machine| {
                    let value = machine.expr(&fold.body)?;
                    sum = eval::binary(fold.op, sum, value).map_err(|_| division_by_zero(fold.range.span))?;
                    Ok(())
                })?;
                sum
            }
            Expr::Index(index, span) => Value::I64(self.index(index).ok_or_else(|| overflow(*span))?),
            Expr::Cond(cond, span) => Value::Bool(self.cond(cond).ok_or_else(|| overflow(*span))?),
        })
    }

    fn place(&mut self, place: &Place) -> Run<i64> {
        let mut best: Option<(Value, i64)> = None;
        let op = if place.largest { BinaryOp::Gt } else { BinaryOp::Lt };
        let is_nan = |value: Value| match value {
            Value::F32(value) => value.is_nan(),
            Value::F64(value) => value.is_nan(),
            _ => false,
        };
        self.points(std::slice::from_ref(&place.a_loop), &place.guard, place.span, &mut |machine| {
            let value = machine.expr(&place.body)?;
            let better = match best {
                None => true,
                Some((known, _)) if is_nan(known) => false,
                Some(_) if is_nan(value) => true,
                Some((known, _)) => {
                    let better = eval::binary(op, value, known).map_err(|_| division_by_zero(place.span))?;
                    matches!(better, Value::Bool(true))
                }
            };
            if better {
                best = Some((value, machine.slots[place.a_loop.slot]));
            }
            Ok(())
        })?;
        Ok(best.map_or(-1, |(_, index)| index))
    }

    /// The offset of a cell in its array.
    pub(crate) fn position(&self, access: &Access) -> Run<usize> {
        let shape = &self.arrays[access.array].declared.shape;
        let mut position = 0;
        for (index, extent) in access.index.iter().zip(shape) {
            let index = self.index(index).ok_or_else(|| overflow(access.span))?;
            if index < 0 || index >= *extent {
                return Err(Box::new(self.out_of_bounds(access)));
            }
            // Below the number of elements, which fits.
            position = position * extent + index;
        }
        Ok(position as usize)
    }

    /// While equations are solved, a cell may have no value yet.
    pub(crate) fn check_defined(&mut self, array: usize, position: usize, span: Option<Span>) -> Run<()> {
        let memory = &self.arrays[array];
        let Some(undefined) = &memory.undefined else { return Ok(()) };
        if undefined.get(position) != Some(&true) {
            return Ok(());
        }
        let mut rest = position as i64;
        let mut index: Vec<i64> = memory
            .declared
            .shape
            .iter()
            .rev()
            .map(|extent| {
                let index = rest % extent;
                rest /= extent;
                index
            })
            .collect();
        index.reverse();
        self.missing = Some((array, position));
        Err(Box::new(Error::Undefined { array: memory.declared.name.clone(), index, span }))
    }

    /// The offset of a cell that depends on data; a subscript that leaves the array is the data's fault.
    pub(crate) fn find(&mut self, cell: &Cell) -> Run<usize> {
        let mut position = 0;
        for (number, index) in cell.index.iter().enumerate() {
            let Value::I64(index) = self.expr(index)? else {
                return Err(Box::new(Error::Malformed { what: "a subscript is not an i64".to_owned() }));
            };
            let declared = &self.arrays[cell.array].declared;
            let extent = declared.shape.get(number).copied().unwrap_or(0);
            if index < 0 || index >= extent {
                let rank = declared.shape.len();
                let fault = Fault::subscript(&declared.name, number, rank, index, extent, cell.span);
                return Err(Box::new(Error::Fault(fault)));
            }
            // Below the number of elements, which fits.
            position = position * extent + index;
        }
        Ok(position as usize)
    }

    fn out_of_bounds(&self, access: &Access) -> Error {
        let declared = &self.arrays[access.array].declared;
        let index = access.index.iter().map(|index| self.index(index).unwrap_or(i64::MAX));
        Error::OutOfBounds {
            array: declared.name.clone(),
            index: index.collect(),
            shape: declared.shape.clone(),
            span: access.span,
        }
    }

    /// The value; `None` on overflow.
    fn index(&self, index: &Index) -> Option<i64> {
        index.value(&[], &self.slots)
    }

    /// Whether it holds; `None` on overflow.
    pub(crate) fn cond(&self, cond: &Cond) -> Option<bool> {
        cond.holds(&[], &self.slots)
    }
}
