//! Scalar operators on values: the one place that says what `program::scalar` means, with `math` for functions of floats.
//!
//! Operands of a type that an operator does not accept do not occur in checked programs; such an operation gives
//! its first operand back (`false` for a comparison).

use math::{Half, Plain};
use program::{BinaryOp, ScalarType, UnaryOp, Value, bf16, f16};

/// An integer was divided by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivisionByZero;

macro_rules! float_unary {
    ($op:expr, $x:expr, $float:ident) => {
        match $op {
            UnaryOp::Neg => -$x,
            UnaryOp::Not | UnaryOp::BitNot => $x,
            UnaryOp::Function(function) => function.$float($x),
        }
    };
}

macro_rules! int_unary {
    ($op:expr, $x:expr, $abs:expr) => {
        match $op {
            UnaryOp::Neg => $x.wrapping_neg(),
            UnaryOp::ABS => $abs,
            UnaryOp::BitNot => !$x,
            _ => $x,
        }
    };
}

/// The value of an operator or function of one operand.
pub fn unary(op: UnaryOp, operand: Value) -> Value {
    match operand {
        Value::F16(_) | Value::BF16(_) => operand,
        Value::F32(x) => Value::F32(float_unary!(op, x, f32)),
        Value::F64(x) => Value::F64(float_unary!(op, x, f64)),
        Value::I8(x) => Value::I8(int_unary!(op, x, x.wrapping_abs())),
        Value::I16(x) => Value::I16(int_unary!(op, x, x.wrapping_abs())),
        Value::I32(x) => Value::I32(int_unary!(op, x, x.wrapping_abs())),
        Value::I64(x) => Value::I64(int_unary!(op, x, x.wrapping_abs())),
        Value::U8(x) => Value::U8(int_unary!(op, x, x)),
        Value::U16(x) => Value::U16(int_unary!(op, x, x)),
        Value::U32(x) => Value::U32(int_unary!(op, x, x)),
        Value::U64(x) => Value::U64(int_unary!(op, x, x)),
        Value::Bool(x) => Value::Bool(if op == UnaryOp::Not { !x } else { x }),
    }
}

/// The comparisons, which are the same for all types.
macro_rules! comparison {
    ($op:expr, $a:expr, $b:expr, $otherwise:expr) => {
        match $op {
            BinaryOp::Eq => Value::Bool($a == $b),
            BinaryOp::Ne => Value::Bool($a != $b),
            BinaryOp::Lt => Value::Bool($a < $b),
            BinaryOp::Le => Value::Bool($a <= $b),
            BinaryOp::Gt => Value::Bool($a > $b),
            BinaryOp::Ge => Value::Bool($a >= $b),
            _ => $otherwise,
        }
    };
}

/// NaN if either is NaN; of two zeros the one with the sign that counts as less (or more).
macro_rules! extremum {
    ($a:expr, $b:expr, $before:tt, $first_of_equals:expr) => {
        if $a.is_nan() || $b.is_nan() {
            $a + $b
        } else if $a $before $b || $a == $b && $first_of_equals {
            $a
        } else {
            $b
        }
    };
}

macro_rules! float_binary {
    ($op:expr, $a:expr, $b:expr, $variant:path, $float:ident) => {
        match $op {
            BinaryOp::Add => $variant($a + $b),
            BinaryOp::Sub => $variant($a - $b),
            BinaryOp::Mul => $variant($a * $b),
            BinaryOp::Div => $variant($a / $b),
            BinaryOp::Min => $variant(extremum!($a, $b, <, $a.is_sign_negative())),
            BinaryOp::Max => $variant(extremum!($a, $b, >, $a.is_sign_positive())),
            BinaryOp::Function(function) => $variant(function.$float($a, $b)),
            BinaryOp::Rem => $variant($a.rem_euclid($b)),
            op => comparison!(op, $a, $b, $variant($a)),
        }
    };
}

/// An amount to shift by; `None` if it is negative or beyond any width.
macro_rules! amount {
    ($b:expr) => {
        u32::try_from($b).ok()
    };
}

macro_rules! int_binary {
    ($op:expr, $a:expr, $b:expr, $variant:path) => {
        match $op {
            BinaryOp::Add => $variant($a.wrapping_add($b)),
            BinaryOp::Sub => $variant($a.wrapping_sub($b)),
            BinaryOp::Mul => $variant($a.wrapping_mul($b)),
            BinaryOp::Div | BinaryOp::Rem if $b == 0 => return Err(DivisionByZero),
            BinaryOp::Div => $variant($a.wrapping_div_euclid($b)),
            BinaryOp::Rem => $variant($a.wrapping_rem_euclid($b)),
            BinaryOp::Min => $variant($a.min($b)),
            BinaryOp::Max => $variant($a.max($b)),
            BinaryOp::BitAnd => $variant($a & $b),
            BinaryOp::BitOr => $variant($a | $b),
            BinaryOp::BitXor => $variant($a ^ $b),
            BinaryOp::Shl => $variant(amount!($b).and_then(|amount| $a.checked_shl(amount)).unwrap_or(0)),
            // By one bit less than there are and then by one more, nothing but the sign is left.
            BinaryOp::Shr => $variant(match amount!($b).and_then(|amount| $a.checked_shr(amount)) {
                Some(shifted) => shifted,
                None => $a >> ($a.count_zeros() + $a.count_ones() - 1) >> 1,
            }),
            op => comparison!(op, $a, $b, $variant($a)),
        }
    };
}

/// What a cell holds that nobody has claimed.
pub const NOTHING: Value = Value::I64(i64::MIN);

/// The value of an operator or function of two operands.
#[inline]
pub fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, DivisionByZero> {
    if op == BinaryOp::Last {
        return Ok(right);
    }
    if op == BinaryOp::Once {
        return Ok(if right == NOTHING { left } else { right });
    }
    Ok(match (left, right) {
        (Value::F64(a), Value::F64(b)) => float_binary!(op, a, b, Value::F64, f64),
        (Value::F32(a), Value::F32(b)) => float_binary!(op, a, b, Value::F32, f32),
        (Value::I8(a), Value::I8(b)) => int_binary!(op, a, b, Value::I8),
        (Value::I16(a), Value::I16(b)) => int_binary!(op, a, b, Value::I16),
        (Value::I32(a), Value::I32(b)) => int_binary!(op, a, b, Value::I32),
        (Value::I64(a), Value::I64(b)) => int_binary!(op, a, b, Value::I64),
        (Value::U8(a), Value::U8(b)) => int_binary!(op, a, b, Value::U8),
        (Value::U16(a), Value::U16(b)) => int_binary!(op, a, b, Value::U16),
        (Value::U32(a), Value::U32(b)) => int_binary!(op, a, b, Value::U32),
        (Value::U64(a), Value::U64(b)) => int_binary!(op, a, b, Value::U64),
        (Value::Bool(a), Value::Bool(b)) => match op {
            BinaryOp::And | BinaryOp::Min => Value::Bool(a & b),
            BinaryOp::Or | BinaryOp::Max => Value::Bool(a | b),
            op => comparison!(op, a, b, Value::Bool(a)),
        },
        _ => comparison!(op, false, true, left),
    })
}

fn widen(half: Half, bits: u16) -> f32 {
    half.widen(&mut Plain::<f32>::new(), i32::from(bits))
}

fn narrow(half: Half, x: f32) -> u16 {
    // Only the lower half has bits.
    half.narrow(&mut Plain::<f32>::new(), x) as u16
}

/// Conversion: floats to integers saturate (NaN to 0), integers wrap, to `bool` is `!= 0`.
pub fn cast(value: Value, ty: ScalarType) -> Value {
    macro_rules! convert {
        ($x:expr, $zero:expr) => {
            match ty {
                ScalarType::F16 => Value::F16(f16::from_bits(narrow(Half::Binary16, $x as f32))),
                ScalarType::BF16 => Value::BF16(bf16::from_bits(narrow(Half::Brain, $x as f32))),
                ScalarType::F32 => Value::F32($x as f32),
                ScalarType::F64 => Value::F64($x as f64),
                ScalarType::I8 => Value::I8($x as i8),
                ScalarType::I16 => Value::I16($x as i16),
                ScalarType::I32 => Value::I32($x as i32),
                ScalarType::I64 => Value::I64($x as i64),
                ScalarType::U8 => Value::U8($x as u8),
                ScalarType::U16 => Value::U16($x as u16),
                ScalarType::U32 => Value::U32($x as u32),
                ScalarType::U64 => Value::U64($x as u64),
                ScalarType::Bool => Value::Bool($x != $zero),
            }
        };
    }
    match value {
        Value::F16(x) => cast(Value::F32(widen(Half::Binary16, x.to_bits())), ty),
        Value::BF16(x) => cast(Value::F32(widen(Half::Brain, x.to_bits())), ty),
        Value::F32(x) => convert!(x, 0.0),
        Value::F64(x) => convert!(x, 0.0),
        Value::I8(x) => convert!(x, 0),
        Value::I16(x) => convert!(x, 0),
        Value::I32(x) => convert!(x, 0),
        Value::I64(x) => convert!(x, 0),
        Value::U8(x) => convert!(x, 0),
        Value::U16(x) => convert!(x, 0),
        Value::U32(x) => convert!(x, 0),
        Value::U64(x) => convert!(x, 0),
        Value::Bool(x) => Value::from_i64(ty, x.into()),
    }
}
