//! Every operator and cast, at the values where definitions differ.

extern crate farkas_interp as interp;

use interp::eval::{DivisionByZero, binary, cast, unary};
use math::Unary;
use program::BinaryOp::*;
use program::Value::*;
use program::{BinaryOp, ScalarType, UnaryOp, Value};

#[test]
fn unary_operators() {
    let cases = [
        (UnaryOp::Neg, F64(0.0), F64(-0.0)),
        (UnaryOp::Neg, F32(1.5), F32(-1.5)),
        (UnaryOp::Neg, I8(-128), I8(-128)),
        (UnaryOp::Neg, U8(1), U8(255)),
        (UnaryOp::Neg, I64(i64::MIN), I64(i64::MIN)),
        (UnaryOp::Not, Bool(true), Bool(false)),
        (UnaryOp::Not, Bool(false), Bool(true)),
        (UnaryOp::ABS, I32(i32::MIN), I32(i32::MIN)),
        (UnaryOp::ABS, I16(-7), I16(7)),
        (UnaryOp::ABS, U8(200), U8(200)),
        (UnaryOp::ABS, F64(-0.0), F64(0.0)),
        (UnaryOp::Function(Unary::Sqrt), F64(-1.0), F64(f64::NAN)),
        (UnaryOp::Function(Unary::Sqrt), F64(-0.0), F64(-0.0)),
        (UnaryOp::Function(Unary::Sqrt), F32(2.0), F32(2f32.sqrt())),
        (UnaryOp::Function(Unary::Exp), F64(1.0), F64(std::f64::consts::E)),
        (UnaryOp::Function(Unary::Exp), F32(1.0), F32(std::f32::consts::E)),
        (UnaryOp::Function(Unary::Log), F64(0.0), F64(f64::NEG_INFINITY)),
        (UnaryOp::Function(Unary::Tanh), F64(0.5), F64(0.46211715726000973)),
        (UnaryOp::Function(Unary::Sin), F64(0.5), F64(0.479425538604203)),
        (UnaryOp::Function(Unary::Cos), F32(0.5), F32(0.87758255)),
        (UnaryOp::Function(Unary::Floor), F64(-0.5), F64(-1.0)),
        (UnaryOp::Function(Unary::Ceil), F64(-0.5), F64(-0.0)),
        (UnaryOp::Function(Unary::Floor), F64(f64::INFINITY), F64(f64::INFINITY)),
    ];
    for (op, operand, expected) in cases {
        let found = unary(op, operand);
        assert!(found.same(expected), "{} {operand}: {found}, not {expected}", op.name());
    }
}

#[test]
fn binary_operators() {
    let nan = F64(f64::NAN);
    let cases = [
        (Add, I8(127), I8(1), I8(-128)),
        (Add, F32(1.0), F32(1e-9), F32(1.0)),
        (Add, F64(0.1), F64(0.2), F64(0.1 + 0.2)),
        (Sub, U8(0), U8(1), U8(255)),
        (Div, U64(u64::MAX), U64(2), U64(i64::MAX as u64)),
        (BitAnd, U16(0x0FF0), U16(0x3C3C), U16(0x0C30)),
        (BitXor, I8(-1), I8(5), I8(-6)),
        (Shl, U32(3), U32(31), U32(1 << 31)),
        (Shl, U32(3), U32(32), U32(0)),
        (Shl, I64(1), I64(-1), I64(0)),
        (Shr, I32(-8), I32(40), I32(-1)),
        (Shr, I32(-8), I32(1), I32(-4)),
        (Shr, U8(200), U8(9), U8(0)),
        (Rem, F64(-7.5), F64(2.0), F64(0.5)),
        (Sub, I64(i64::MIN), I64(1), I64(i64::MAX)),
        (Mul, I32(1 << 30), I32(4), I32(0)),
        (Mul, F64(f64::INFINITY), F64(0.0), nan),
        (Div, F64(1.0), F64(-0.0), F64(f64::NEG_INFINITY)),
        (Div, F32(1.0), F32(3.0), F32(1.0 / 3.0)),
        (Div, I32(7), I32(2), I32(3)),
        (Div, I32(-7), I32(2), I32(-4)),
        (Div, I32(7), I32(-2), I32(-3)),
        (Div, I32(-7), I32(-2), I32(4)),
        (Div, I32(i32::MIN), I32(-1), I32(i32::MIN)),
        (Rem, I32(-7), I32(2), I32(1)),
        (Rem, I32(7), I32(-2), I32(1)),
        (Rem, I64(i64::MIN), I64(-1), I64(0)),
        (Rem, U8(7), U8(4), U8(3)),
        (Min, F64(-0.0), F64(0.0), F64(-0.0)),
        (Min, F64(0.0), F64(-0.0), F64(-0.0)),
        (Max, F64(-0.0), F64(0.0), F64(0.0)),
        (Max, F64(0.0), F64(-0.0), F64(0.0)),
        (Min, nan, F64(1.0), nan),
        (Min, F64(1.0), nan, nan),
        (Max, nan, F64(1.0), nan),
        (Max, F32(1.0), F32(f32::NAN), F32(f32::NAN)),
        (Min, I16(-3), I16(2), I16(-3)),
        (Max, U8(200), U8(2), U8(200)),
        (Min, Bool(true), Bool(false), Bool(false)),
        (Max, Bool(true), Bool(false), Bool(true)),
        (Function(math::Binary::Pow), F64(2.0), F64(0.5), F64(std::f64::consts::SQRT_2)),
        (Function(math::Binary::Pow), nan, F64(0.0), F64(1.0)),
        (And, Bool(true), Bool(false), Bool(false)),
        (Or, Bool(true), Bool(false), Bool(true)),
        (Eq, nan, nan, Bool(false)),
        (Ne, nan, nan, Bool(true)),
        (Eq, F64(0.0), F64(-0.0), Bool(true)),
        (Lt, nan, F64(1.0), Bool(false)),
        (Ge, nan, F64(1.0), Bool(false)),
        (Lt, I8(-1), I8(1), Bool(true)),
        (Gt, U8(255), U8(1), Bool(true)),
        (Le, Bool(false), Bool(true), Bool(true)),
    ];
    for (op, left, right, expected) in cases {
        let found = binary(op, left, right).expect("no division by zero");
        assert!(found.same(expected), "{left} {} {right}: {found}, not {expected}", op.name());
    }
}

#[test]
fn integer_division_by_zero_is_an_error_in_every_type() {
    for ty in ScalarType::ALL.into_iter().filter(|ty| ty.is_int()) {
        for op in [Div, Rem] {
            let (one, zero) = (Value::from_i64(ty, 1), Value::from_i64(ty, 0));
            assert_eq!(binary(op, one, zero), Err(DivisionByZero), "{ty}");
        }
    }
    assert!(binary(Div, F64(0.0), F64(0.0)).expect("floats do not fail").same(F64(f64::NAN)));
}

#[test]
fn casts() {
    use ScalarType as T;
    let cases = [
        (F64(300.7), T::I8, I8(127)),
        (F64(-300.7), T::I8, I8(-128)),
        (F64(-1.0), T::U8, U8(0)),
        (F64(2.9), T::I32, I32(2)),
        (F64(-2.9), T::I32, I32(-2)),
        (F64(f64::NAN), T::I64, I64(0)),
        (F64(f64::INFINITY), T::I64, I64(i64::MAX)),
        (F32(f32::NEG_INFINITY), T::I16, I16(i16::MIN)),
        (F64(f64::NAN), T::Bool, Bool(true)),
        (F64(-0.0), T::Bool, Bool(false)),
        (F64(0.1), T::F32, F32(0.1)),
        (F32(0.1), T::F64, F64(f64::from(0.1f32))),
        (F64(1e300), T::F32, F32(f32::INFINITY)),
        (I32(300), T::U8, U8(44)),
        (I32(200), T::I8, I8(-56)),
        (I64(-1), T::U8, U8(255)),
        (U8(255), T::I8, I8(-1)),
        (I8(-1), T::I64, I64(-1)),
        (I64(i64::MAX), T::F32, F32(i64::MAX as f32)),
        (I64((1 << 53) + 1), T::F64, F64(9007199254740992.0)),
        (I32(2), T::Bool, Bool(true)),
        (Bool(true), T::F64, F64(1.0)),
        (Bool(true), T::I16, I16(1)),
        (Bool(false), T::U8, U8(0)),
    ];
    for (value, ty, expected) in cases {
        let found = cast(value, ty);
        assert!(found.same(expected), "{ty}({value}): {found}, not {expected}");
    }
}

#[test]
fn operators_on_types_they_do_not_accept_do_not_panic() {
    let values = [F32(1.0), F64(1.0), I8(1), I16(1), I32(1), I64(1), U8(1), Bool(true)];
    let mut ops = vec![Add, Sub, Mul, Div, Rem, And, Or, Eq, Ne, Lt, Le, Gt, Ge];
    ops.extend(BinaryOp::FUNCTIONS);
    for left in values {
        for op in UnaryOp::FUNCTIONS.into_iter().chain([UnaryOp::Neg, UnaryOp::Not]) {
            assert_eq!(unary(op, left).ty(), left.ty());
        }
        for right in values {
            for &op in &ops {
                let ty = binary(op, left, right).expect("nothing is zero").ty();
                assert_eq!(ty, if op.is_comparison() { ScalarType::Bool } else { left.ty() });
            }
        }
    }
}
