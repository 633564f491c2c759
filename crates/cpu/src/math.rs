//! Functions that generated code calls, because no instruction computes them.
//!
//! They call the methods of `std`, so a result has the same bits as in the interpreter.

use program::{BinaryOp, ScalarType, UnaryOp};

/// A function of `arity` floats of type `ty`, under the name that generated code imports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MathFunction {
    pub(crate) symbol: &'static str,
    pub(crate) ty: ScalarType,
    pub(crate) arity: usize,
}

macro_rules! functions {
    ($($name:ident: $method:ident($float:ty $(, $argument:ident)*);)*) => {
        $(extern "C" fn $name(x: $float $(, $argument: $float)*) -> $float {
            x.$method($($argument),*)
        })*

        /// Every imported name with its address.
        pub(crate) fn symbols() -> Vec<(&'static str, *const u8)> {
            vec![
                $((stringify!($name), $name as *const u8),)*
                // What Cranelift itself calls on hosts without a rounding instruction.
                ("floor", farkas_floor_f64 as *const u8),
                ("floorf", farkas_floor_f32 as *const u8),
                ("ceil", farkas_ceil_f64 as *const u8),
                ("ceilf", farkas_ceil_f32 as *const u8),
            ]
        }
    };
}

functions! {
    farkas_exp_f32: exp(f32);
    farkas_exp_f64: exp(f64);
    farkas_log_f32: ln(f32);
    farkas_log_f64: ln(f64);
    farkas_tanh_f32: tanh(f32);
    farkas_tanh_f64: tanh(f64);
    farkas_sin_f32: sin(f32);
    farkas_sin_f64: sin(f64);
    farkas_cos_f32: cos(f32);
    farkas_cos_f64: cos(f64);
    farkas_pow_f32: powf(f32, y);
    farkas_pow_f64: powf(f64, y);
    farkas_rem_f32: rem_euclid(f32, y);
    farkas_rem_f64: rem_euclid(f64, y);
    farkas_floor_f32: floor(f32);
    farkas_floor_f64: floor(f64);
    farkas_ceil_f32: ceil(f32);
    farkas_ceil_f64: ceil(f64);
}

/// The function behind a unary operator on floats, if it takes a call.
pub(crate) fn unary(op: UnaryOp, ty: ScalarType) -> Option<MathFunction> {
    let symbol = match (op, ty) {
        (UnaryOp::Exp, ScalarType::F32) => "farkas_exp_f32",
        (UnaryOp::Exp, ScalarType::F64) => "farkas_exp_f64",
        (UnaryOp::Log, ScalarType::F32) => "farkas_log_f32",
        (UnaryOp::Log, ScalarType::F64) => "farkas_log_f64",
        (UnaryOp::Tanh, ScalarType::F32) => "farkas_tanh_f32",
        (UnaryOp::Tanh, ScalarType::F64) => "farkas_tanh_f64",
        (UnaryOp::Sin, ScalarType::F32) => "farkas_sin_f32",
        (UnaryOp::Sin, ScalarType::F64) => "farkas_sin_f64",
        (UnaryOp::Cos, ScalarType::F32) => "farkas_cos_f32",
        (UnaryOp::Cos, ScalarType::F64) => "farkas_cos_f64",
        _ => return None,
    };
    Some(MathFunction { symbol, ty, arity: 1 })
}

/// The function behind a binary operator on floats, if it takes a call.
pub(crate) fn binary(op: BinaryOp, ty: ScalarType) -> Option<MathFunction> {
    let symbol = match (op, ty) {
        (BinaryOp::Pow, ScalarType::F32) => "farkas_pow_f32",
        (BinaryOp::Pow, ScalarType::F64) => "farkas_pow_f64",
        (BinaryOp::Rem, ScalarType::F32) => "farkas_rem_f32",
        (BinaryOp::Rem, ScalarType::F64) => "farkas_rem_f64",
        _ => return None,
    };
    Some(MathFunction { symbol, ty, arity: 2 })
}
