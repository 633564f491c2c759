//! The same semantics for sums and products of floats, without wrapping every intermediate result into a `Value`.
//!
//! Large verifications spend nearly all their time here; a matrix product of size 512 takes less than half the time.
//! Everything else falls back to `Machine::expr`.

use std::ops::{Add, Div, Mul, Sub};

use program::{BinaryOp, Data, ScalarType, Value};

use crate::Error;
use crate::machine::{Expr, Machine, Run};

/// Long sums are sums of blocks of so many terms: a single accumulator would stop counting where its digits end.
const BLOCK: usize = 4096;

/// A float type of the language.
pub(crate) trait Float:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    const TYPE: ScalarType;
    fn from_value(value: Value) -> Option<Self>;
    fn into_value(self) -> Value;
    fn elements(data: &Data) -> Option<&[Self]>;
}

macro_rules! float {
    ($float:ty, $variant:ident) => {
        impl Float for $float {
            const TYPE: ScalarType = ScalarType::$variant;

            fn from_value(value: Value) -> Option<$float> {
                if let Value::$variant(value) = value { Some(value) } else { None }
            }

            fn into_value(self) -> Value {
                Value::$variant(self)
            }

            fn elements(data: &Data) -> Option<&[$float]> {
                if let Data::$variant(elements) = data { Some(elements) } else { None }
            }
        }
    };
}

float!(f32, F32);
float!(f64, F64);

/// Whether floats combine by one machine instruction.
pub(crate) fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
}

fn combine<T: Float>(op: BinaryOp, left: T, right: T) -> T {
    match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        _ => left / right,
    }
}

impl Machine<'_> {
    /// The value of an expression of type `T`. `Expr::Arithmetic` has only arithmetic operators.
    pub(crate) fn float<T: Float>(&mut self, expr: &Expr) -> Run<T> {
        match expr {
            Expr::Arithmetic(op, left, right, _) => {
                let left = self.float::<T>(left)?;
                let right = self.float::<T>(right)?;
                return Ok(combine(*op, left, right));
            }
            Expr::Local(local) => {
                if let Some(value) = T::from_value(self.locals[*local]) {
                    return Ok(value);
                }
            }
            Expr::Load(access) => {
                let position = self.position(access)?;
                self.check_defined(access.array, position, access.span)?;
                let elements = T::elements(&self.arrays[access.array].data);
                if let Some(value) = elements.and_then(|elements| elements.get(position)) {
                    return Ok(*value);
                }
            }
            Expr::Reduce(reduce) if is_arithmetic(reduce.op) => {
                if let Some(start) = T::from_value(reduce.start) {
                    let (mut total, mut block, mut terms) = (start, start, 0);
                    self.points(&reduce.loops, &reduce.guard, reduce.span, &mut |machine| {
                        let value = machine.float::<T>(&reduce.body)?;
                        if terms == BLOCK {
                            total = combine(reduce.op, total, block);
                            (block, terms) = (start, 0);
                        }
                        block = combine(reduce.op, block, value);
                        terms += 1;
                        Ok(())
                    })?;
                    return Ok(combine(reduce.op, total, block));
                }
            }
            _ => {}
        }
        let value = self.expr(expr)?;
        let mixed = || Error::Malformed { what: format!("{} where {} is needed", value.ty(), T::TYPE) };
        T::from_value(value).ok_or_else(|| Box::new(mixed()))
    }
}
