//! The functions by name, for those who meet them in a program.

use crate::{
    Ops, Plain, acos, asin, atan, atan2, cbrt, cos, cosh, erf, erfc, exp, exp2, expm1, hypot, log, log1p, log2, log10,
    pow, round, sin, sinh, tan, tanh,
};

/// Functions of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unary {
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sqrt,
    Cbrt,
    Tanh,
    Sinh,
    Cosh,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Erf,
    Erfc,
    Floor,
    Ceil,
    Round,
    Trunc,
    Abs,
}

impl Unary {
    pub const ALL: &[Unary] = &[
        Unary::Exp,
        Unary::Exp2,
        Unary::Expm1,
        Unary::Log,
        Unary::Log2,
        Unary::Log10,
        Unary::Log1p,
        Unary::Sqrt,
        Unary::Cbrt,
        Unary::Tanh,
        Unary::Sinh,
        Unary::Cosh,
        Unary::Sin,
        Unary::Cos,
        Unary::Tan,
        Unary::Asin,
        Unary::Acos,
        Unary::Atan,
        Unary::Erf,
        Unary::Erfc,
        Unary::Floor,
        Unary::Ceil,
        Unary::Round,
        Unary::Trunc,
        Unary::Abs,
    ];

    /// The name that programs use.
    pub fn name(self) -> &'static str {
        match self {
            Unary::Exp => "exp",
            Unary::Exp2 => "exp2",
            Unary::Expm1 => "expm1",
            Unary::Log => "log",
            Unary::Log2 => "log2",
            Unary::Log10 => "log10",
            Unary::Log1p => "log1p",
            Unary::Sqrt => "sqrt",
            Unary::Cbrt => "cbrt",
            Unary::Tanh => "tanh",
            Unary::Sinh => "sinh",
            Unary::Cosh => "cosh",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            Unary::Asin => "asin",
            Unary::Acos => "acos",
            Unary::Atan => "atan",
            Unary::Erf => "erf",
            Unary::Erfc => "erfc",
            Unary::Floor => "floor",
            Unary::Ceil => "ceil",
            Unary::Round => "round",
            Unary::Trunc => "trunc",
            Unary::Abs => "abs",
        }
    }

    /// Carries the definition out with `o`.
    pub fn apply<O: Ops>(self, o: &mut O, x: O::F) -> O::F {
        match self {
            Unary::Exp => exp(o, x),
            Unary::Exp2 => exp2(o, x),
            Unary::Expm1 => expm1(o, x),
            Unary::Log => log(o, x),
            Unary::Log2 => log2(o, x),
            Unary::Log10 => log10(o, x),
            Unary::Log1p => log1p(o, x),
            Unary::Sqrt => o.sqrt(x),
            Unary::Cbrt => cbrt(o, x),
            Unary::Tanh => tanh(o, x),
            Unary::Sinh => sinh(o, x),
            Unary::Cosh => cosh(o, x),
            Unary::Sin => sin(o, x),
            Unary::Cos => cos(o, x),
            Unary::Tan => tan(o, x),
            Unary::Asin => asin(o, x),
            Unary::Acos => acos(o, x),
            Unary::Atan => atan(o, x),
            Unary::Erf => erf(o, x),
            Unary::Erfc => erfc(o, x),
            Unary::Floor => o.floor(x),
            Unary::Ceil => o.ceil(x),
            Unary::Round => round(o, x),
            Unary::Trunc => o.trunc(x),
            Unary::Abs => o.abs(x),
        }
    }

    /// The value for `f32`.
    pub fn f32(self, x: f32) -> f32 {
        self.apply(&mut Plain::<f32>::new(), x)
    }

    /// The value for `f64`.
    pub fn f64(self, x: f64) -> f64 {
        self.apply(&mut Plain::<f64>::new(), x)
    }
}

/// Functions of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Binary {
    Pow,
    /// The angle of a point; the first argument is how high it lies, as in C.
    Atan2,
    Hypot,
}

impl Binary {
    pub const ALL: &[Binary] = &[Binary::Pow, Binary::Atan2, Binary::Hypot];

    /// The name that programs use.
    pub fn name(self) -> &'static str {
        match self {
            Binary::Pow => "pow",
            Binary::Atan2 => "atan2",
            Binary::Hypot => "hypot",
        }
    }

    /// Carries the definition out with `o`.
    pub fn apply<O: Ops>(self, o: &mut O, x: O::F, y: O::F) -> O::F {
        match self {
            Binary::Pow => pow(o, x, y),
            Binary::Atan2 => atan2(o, x, y),
            Binary::Hypot => hypot(o, x, y),
        }
    }

    /// The value for `f32`.
    pub fn f32(self, x: f32, y: f32) -> f32 {
        self.apply(&mut Plain::<f32>::new(), x, y)
    }

    /// The value for `f64`.
    pub fn f64(self, x: f64, y: f64) -> f64 {
        self.apply(&mut Plain::<f64>::new(), x, y)
    }
}
