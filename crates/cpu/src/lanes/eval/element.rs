//! One element: what every operator does to bits.
//!
//! Elements are bits in the low bytes of a `u64`, the other bytes zero; truth values are 0 or 1 of type `bool`.

use program::{ScalarType, Value};

use crate::lanes::ir::{BinaryOp, CompareOp, ShiftOp, UnaryOp};

pub(super) fn bits(value: Value) -> u64 {
    match value {
        Value::F16(v) => u64::from(v.to_bits()),
        Value::BF16(v) => u64::from(v.to_bits()),
        Value::F32(v) => u64::from(v.to_bits()),
        Value::F64(v) => v.to_bits(),
        Value::I8(v) => u64::from(v.cast_unsigned()),
        Value::I16(v) => u64::from(v.cast_unsigned()),
        Value::I32(v) => u64::from(v.cast_unsigned()),
        Value::I64(v) => v.cast_unsigned(),
        Value::U8(v) => u64::from(v),
        Value::U16(v) => u64::from(v),
        Value::U32(v) => u64::from(v),
        Value::U64(v) => v,
        Value::Bool(v) => u64::from(v),
    }
}

/// The low bytes.
pub(super) fn wrap(ty: ScalarType, bits: u64) -> u64 {
    let unused = 64 - 8 * ty.bytes();
    bits << unused >> unused
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// The integer that the bits stand for, of either sign.
fn int_of(ty: ScalarType, bits: u64) -> i128 {
    if ty.is_unsigned() {
        return i128::from(bits);
    }
    let unused = 64 - 8 * ty.bytes();
    i128::from((bits << unused).cast_signed() >> unused)
}

/// The low bytes of an integer.
fn bits_of(ty: ScalarType, value: i128) -> u64 {
    wrap(ty, value as u64)
}

/// Applies `$f` to a float of type `$ty`.
macro_rules! on_float {
    ($ty:expr, |$($x:ident = $bits:ident),*| $result:expr) => {
        if $ty == ScalarType::F32 {
            $(let $x = f32_of($bits);)*
            u64::from(f32::to_bits($result))
        } else {
            $(let $x = f64::from_bits($bits);)*
            f64::to_bits($result)
        }
    };
}

pub(super) fn unary(op: UnaryOp, ty: ScalarType, a: u64) -> u64 {
    if ty == ScalarType::Bool {
        return a ^ 1;
    }
    if ty.is_float() {
        return on_float!(ty, |x = a| match op {
            UnaryOp::Neg | UnaryOp::Not => -x,
            UnaryOp::Abs => x.abs(),
            UnaryOp::Sqrt => x.sqrt(),
            UnaryOp::Floor => x.floor(),
            UnaryOp::Ceil => x.ceil(),
            UnaryOp::Trunc => x.trunc(),
            UnaryOp::Round => x.round_ties_even(),
        });
    }
    let x = int_of(ty, a);
    let result = match op {
        UnaryOp::Neg => x.wrapping_neg(),
        UnaryOp::Abs => x.abs(),
        _ => !x,
    };
    bits_of(ty, result)
}

pub(super) fn binary(op: BinaryOp, ty: ScalarType, a: u64, b: u64) -> u64 {
    if ty.is_float() {
        return on_float!(ty, |x = a, y = b| match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x * y,
            BinaryOp::Div => x / y,
            BinaryOp::Least => if x < y { x } else { y },
            BinaryOp::Most => if x > y { x } else { y },
            _ if x.is_nan() || y.is_nan() => x + y,
            BinaryOp::Min if x == y => if x.is_sign_negative() { x } else { y },
            BinaryOp::Max if x == y => if x.is_sign_negative() { y } else { x },
            BinaryOp::Min => if x < y { x } else { y },
            _ => if x > y { x } else { y },
        });
    }
    let (x, y) = (int_of(ty, a), int_of(ty, b));
    let result = match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Min | BinaryOp::Least => x.min(y),
        BinaryOp::Max | BinaryOp::Most | BinaryOp::Div => x.max(y),
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
    };
    bits_of(ty, result)
}

pub(super) fn shift(op: ShiftOp, ty: ScalarType, a: u64, bits: u8) -> u64 {
    match op {
        ShiftOp::Left => wrap(ty, a << bits),
        ShiftOp::Right => a >> bits,
        ShiftOp::SignedRight => bits_of(ty, int_of(ty, a) >> bits),
    }
}

pub(super) fn fma(ty: ScalarType, a: u64, b: u64, c: u64) -> u64 {
    on_float!(ty, |x = a, y = b, z = c| x.mul_add(y, z))
}

pub(super) fn compare(op: CompareOp, ty: ScalarType, a: u64, b: u64) -> bool {
    // Every f32 is an f64, so one comparison serves both.
    let float = |bits: u64| if ty == ScalarType::F32 { f64::from(f32_of(bits)) } else { f64::from_bits(bits) };
    let order = match ty.is_float() {
        true => float(a).partial_cmp(&float(b)),
        false => Some(int_of(ty, a).cmp(&int_of(ty, b))),
    };
    match op {
        CompareOp::Eq => order.is_some_and(|order| order.is_eq()),
        CompareOp::Ne => order.is_none_or(|order| order.is_ne()),
        CompareOp::Lt => order.is_some_and(|order| order.is_lt()),
        CompareOp::Le => order.is_some_and(|order| order.is_le()),
        CompareOp::Gt => order.is_some_and(|order| order.is_gt()),
        CompareOp::Ge => order.is_some_and(|order| order.is_ge()),
    }
}

pub(super) fn convert(from: ScalarType, to: ScalarType, a: u64) -> u64 {
    match (from.is_float(), to.is_float()) {
        (true, true) => match (from, to) {
            (ScalarType::F32, ScalarType::F64) => f64::from(f32_of(a)).to_bits(),
            (ScalarType::F64, ScalarType::F32) => u64::from((f64::from_bits(a) as f32).to_bits()),
            _ => a,
        },
        (false, true) => {
            let x = int_of(from, a);
            if to == ScalarType::F32 { u64::from((x as f32).to_bits()) } else { (x as f64).to_bits() }
        }
        (true, false) => {
            let x = if from == ScalarType::F32 { f64::from(f32_of(a)) } else { f64::from_bits(a) };
            let result = match to {
                ScalarType::I8 => i128::from(x as i8),
                ScalarType::I16 => i128::from(x as i16),
                ScalarType::I32 => i128::from(x as i32),
                ScalarType::U8 => i128::from(x as u8),
                ScalarType::U16 => i128::from(x as u16),
                ScalarType::U32 => i128::from(x as u32),
                ScalarType::U64 => i128::from(x as u64),
                _ => i128::from(x as i64),
            };
            bits_of(to, result)
        }
        (false, false) => bits_of(to, int_of(from, a)),
    }
}
