//! Scalar types, values and operators: what one element is and what can be done with it.
//!
//! Shared by the array program and the loop tree. Not here: how an operator is evaluated (`interp`, the back ends).

use std::fmt;

use half::{bf16, f16};

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// IEEE half precision: what is computed with it is `f32`.
    F16,
    /// The upper half of an `f32`: what is computed with it is `f32`.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// True or false; one byte in memory.
    Bool,
}

impl ScalarType {
    /// Every type.
    pub const ALL: [ScalarType; 13] = [
        ScalarType::F16,
        ScalarType::BF16,
        ScalarType::F32,
        ScalarType::F64,
        ScalarType::I8,
        ScalarType::I16,
        ScalarType::I32,
        ScalarType::I64,
        ScalarType::U8,
        ScalarType::U16,
        ScalarType::U32,
        ScalarType::U64,
        ScalarType::Bool,
    ];

    /// As programs write it.
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::F16 => "f16",
            ScalarType::BF16 => "bf16",
            ScalarType::F32 => "f32",
            ScalarType::F64 => "f64",
            ScalarType::I8 => "i8",
            ScalarType::I16 => "i16",
            ScalarType::I32 => "i32",
            ScalarType::I64 => "i64",
            ScalarType::U8 => "u8",
            ScalarType::U16 => "u16",
            ScalarType::U32 => "u32",
            ScalarType::U64 => "u64",
            ScalarType::Bool => "bool",
        }
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<ScalarType> {
        ScalarType::ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// Size of one element in memory.
    pub fn bytes(self) -> usize {
        match self {
            ScalarType::I8 | ScalarType::U8 | ScalarType::Bool => 1,
            ScalarType::F16 | ScalarType::BF16 | ScalarType::I16 | ScalarType::U16 => 2,
            ScalarType::F32 | ScalarType::I32 | ScalarType::U32 => 4,
            ScalarType::F64 | ScalarType::I64 | ScalarType::U64 => 8,
        }
    }

    /// Whether it has fractions.
    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F16 | ScalarType::BF16 | ScalarType::F32 | ScalarType::F64)
    }

    /// The format of a type that is only stored: the one thing to be done with its values is to convert them to `f32` and back.
    pub fn half(self) -> Option<math::Half> {
        match self {
            ScalarType::F16 => Some(math::Half::Binary16),
            ScalarType::BF16 => Some(math::Half::Brain),
            _ => None,
        }
    }

    /// Whether it counts; `bool` does not.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != ScalarType::Bool
    }

    /// Whether it has no sign: the unsigned integers, and `bool`.
    pub fn is_unsigned(self) -> bool {
        use ScalarType::*;
        matches!(self, U8 | U16 | U32 | U64 | Bool)
    }

    /// Whether every value of this type is one of `to`, within one family (integers or floats).
    pub fn widens_to(self, to: ScalarType) -> bool {
        let wider = self.bytes() < to.bytes();
        self == to
            || self.is_float() && to.is_float() && wider
            || self.is_int() && to.is_int() && wider && (self.is_unsigned() || !to.is_unsigned())
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One element.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// An `f16`.
    F16(f16),
    /// A `bf16`.
    BF16(bf16),
    /// An `f32`.
    F32(f32),
    /// An `f64`.
    F64(f64),
    /// An `i8`.
    I8(i8),
    /// An `i16`.
    I16(i16),
    /// An `i32`.
    I32(i32),
    /// An `i64`.
    I64(i64),
    /// A `u8`.
    U8(u8),
    /// A `u16`.
    U16(u16),
    /// A `u32`.
    U32(u32),
    /// A `u64`.
    U64(u64),
    /// A `bool`.
    Bool(bool),
}

impl Value {
    /// Its type.
    pub fn ty(self) -> ScalarType {
        match self {
            Value::F16(_) => ScalarType::F16,
            Value::BF16(_) => ScalarType::BF16,
            Value::F32(_) => ScalarType::F32,
            Value::F64(_) => ScalarType::F64,
            Value::I8(_) => ScalarType::I8,
            Value::I16(_) => ScalarType::I16,
            Value::I32(_) => ScalarType::I32,
            Value::I64(_) => ScalarType::I64,
            Value::U8(_) => ScalarType::U8,
            Value::U16(_) => ScalarType::U16,
            Value::U32(_) => ScalarType::U32,
            Value::U64(_) => ScalarType::U64,
            Value::Bool(_) => ScalarType::Bool,
        }
    }

    /// The value of a number as programs write it, or of `true` or `false`; none if the type has no such value.
    pub fn parse(ty: ScalarType, text: &str) -> Option<Value> {
        match ty {
            ScalarType::F16 => text.parse().ok().map(Value::F16),
            ScalarType::BF16 => text.parse().ok().map(Value::BF16),
            ScalarType::F32 => text.parse().ok().map(Value::F32),
            ScalarType::F64 => text.parse().ok().map(Value::F64),
            ScalarType::I8 => text.parse().ok().map(Value::I8),
            ScalarType::I16 => text.parse().ok().map(Value::I16),
            ScalarType::I32 => text.parse().ok().map(Value::I32),
            ScalarType::I64 => text.parse().ok().map(Value::I64),
            ScalarType::U8 => text.parse().ok().map(Value::U8),
            ScalarType::U16 => text.parse().ok().map(Value::U16),
            ScalarType::U32 => text.parse().ok().map(Value::U32),
            ScalarType::U64 => text.parse().ok().map(Value::U64),
            ScalarType::Bool => text.parse().ok().map(Value::Bool),
        }
    }

    /// The integer `value` in type `ty`, wrapped to its width; for `bool`, whether it is not zero.
    pub fn from_i64(ty: ScalarType, value: i64) -> Value {
        match ty {
            ScalarType::F16 => Value::F16(f16::from_f32(value as f32)),
            ScalarType::BF16 => Value::BF16(bf16::from_f32(value as f32)),
            ScalarType::F32 => Value::F32(value as f32),
            ScalarType::F64 => Value::F64(value as f64),
            ScalarType::I8 => Value::I8(value as i8),
            ScalarType::I16 => Value::I16(value as i16),
            ScalarType::I32 => Value::I32(value as i32),
            ScalarType::I64 => Value::I64(value),
            ScalarType::U8 => Value::U8(value as u8),
            ScalarType::U16 => Value::U16(value as u16),
            ScalarType::U32 => Value::U32(value as u32),
            ScalarType::U64 => Value::U64(value as u64),
            ScalarType::Bool => Value::Bool(value != 0),
        }
    }

    /// The value of an integer that an `i64` can hold.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Value::I8(value) => Some(value.into()),
            Value::I16(value) => Some(value.into()),
            Value::I32(value) => Some(value.into()),
            Value::I64(value) => Some(value),
            Value::U8(value) => Some(value.into()),
            Value::U16(value) => Some(value.into()),
            Value::U32(value) => Some(value.into()),
            Value::U64(value) => i64::try_from(value).ok(),
            Value::F16(_) | Value::BF16(_) | Value::F32(_) | Value::F64(_) | Value::Bool(_) => None,
        }
    }

    /// Bit-for-bit equality, except that every NaN equals every NaN of its type.
    pub fn same(self, other: Value) -> bool {
        match (self, other) {
            (Value::F16(a), Value::F16(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Value::BF16(a), Value::BF16(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Value::F32(a), Value::F32(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Value::I8(a), Value::I8(b)) => a == b,
            (Value::I16(a), Value::I16(b)) => a == b,
            (Value::I32(a), Value::I32(b)) => a == b,
            (Value::I64(a), Value::I64(b)) => a == b,
            (Value::U8(a), Value::U8(b)) => a == b,
            (Value::U16(a), Value::U16(b)) => a == b,
            (Value::U32(a), Value::U32(b)) => a == b,
            (Value::U64(a), Value::U64(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            _ => false,
        }
    }
}

macro_rules! from_elements {
    ($($variant:ident: $element:ty),*) => {
        $(impl From<$element> for Value {
            fn from(value: $element) -> Value {
                Value::$variant(value)
            }
        })*
    };
}

from_elements!(
    F16: f16, BF16: bf16, F32: f32, F64: f64, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, Bool: bool
);

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.same(*other)
    }
}

impl fmt::Display for Value {
    /// Floats always show a point or an exponent, so that the text reads back as a float.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::F16(v) => write!(f, "{:?}", v.to_f32()),
            Value::BF16(v) => write!(f, "{:?}", v.to_f32()),
            Value::F32(v) => write!(f, "{v:?}"),
            Value::F64(v) => write!(f, "{v:?}"),
            Value::I8(v) => write!(f, "{v}"),
            Value::I16(v) => write!(f, "{v}"),
            Value::I32(v) => write!(f, "{v}"),
            Value::I64(v) => write!(f, "{v}"),
            Value::U8(v) => write!(f, "{v}"),
            Value::U16(v) => write!(f, "{v}"),
            Value::U32(v) => write!(f, "{v}"),
            Value::U64(v) => write!(f, "{v}"),
            Value::Bool(v) => write!(f, "{v}"),
        }
    }
}

/// Operators of one operand. The operand has the type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Arithmetic negation; integers wrap.
    Neg,
    /// Logical not, on `bool`.
    Not,
    /// All bits of an integer turned round.
    BitNot,
    /// A function, defined in `math`. Of floats, except for `abs`, which all numbers have.
    Function(math::Unary),
}

impl UnaryOp {
    /// Absolute value; the smallest integer wraps to itself.
    pub const ABS: UnaryOp = UnaryOp::Function(math::Unary::Abs);

    /// As programs and dumps write it.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "not",
            UnaryOp::BitNot => "bit_not",
            UnaryOp::Function(function) => function.name(),
        }
    }

    /// The operators written as functions of one argument.
    pub const FUNCTIONS: [UnaryOp; math::Unary::ALL.len()] = {
        let mut functions = [UnaryOp::ABS; math::Unary::ALL.len()];
        let mut position = 0;
        while position < functions.len() {
            functions[position] = UnaryOp::Function(math::Unary::ALL[position]);
            position += 1;
        }
        functions
    };
}

/// Operators of two operands of one type. Comparisons give `bool`; all others give the type of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Integers wrap.
    Add,
    /// Integers wrap.
    Sub,
    /// Integers wrap.
    Mul,
    /// Floats: IEEE. Integers: Euclidean; by zero is a run-time error; the smallest integer by -1 wraps.
    Div,
    /// Euclidean remainder, never negative. Of integers, by zero is a run-time error; of floats, it is NaN.
    Rem,
    /// NaN if either is NaN; -0 is less than +0.
    Min,
    /// NaN if either is NaN; +0 is more than -0.
    Max,
    /// A function of floats, defined in `math`.
    Function(math::Binary),
    /// On `bool`; both operands are evaluated.
    And,
    /// On `bool`; both operands are evaluated.
    Or,
    /// On integers, bit by bit.
    BitAnd,
    /// On integers, bit by bit.
    BitOr,
    /// On integers, bit by bit.
    BitXor,
    /// On integers: by an amount that is not in `0..width`, all bits are shifted out.
    Shl,
    /// Keeps the sign of signed integers.
    Shr,
    /// The right operand, whatever the left one is: how a value replaces another.
    Last,
    /// The right operand, where the left one is the smallest `i64`, which stands for nothing, and the left one where the right one
    /// is nothing. Where both are something, it is a fault: two have claimed the same cell.
    Once,
    /// `a == b`
    Eq,
    /// `a != b`, which holds for NaN.
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
}

impl BinaryOp {
    /// Whether it gives `bool` whatever its operands are.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }

    /// Whether it works on the bits of integers.
    pub fn is_bitwise(self) -> bool {
        use BinaryOp::*;
        matches!(self, BitAnd | BitOr | BitXor | Shl | Shr)
    }

    /// The operators written as functions of two arguments.
    pub const FUNCTIONS: [BinaryOp; 2 + math::Binary::ALL.len()] = {
        let mut functions = [BinaryOp::Min; 2 + math::Binary::ALL.len()];
        functions[1] = BinaryOp::Max;
        let mut position = 2;
        while position < functions.len() {
            functions[position] = BinaryOp::Function(math::Binary::ALL[position - 2]);
            position += 1;
        }
        functions
    };

    /// The operator or function name of the text forms.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::Function(function) => function.name(),
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::BitAnd => "bit_and",
            BinaryOp::BitOr => "bit_or",
            BinaryOp::BitXor => "bit_xor",
            BinaryOp::Shl => "shl",
            BinaryOp::Shr => "shr",
            BinaryOp::Last => "last",
            BinaryOp::Once => "once",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
        }
    }

    /// As programs write it.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            other => other.name(),
        }
    }

    /// The operators on bits, which the text forms write as functions of two arguments.
    pub const BITWISE: [BinaryOp; 5] =
        [BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::Shl, BinaryOp::Shr];
}

/// Associative and commutative operators with a neutral element, and the places of their extremes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// All added up; 0 over nothing.
    Sum,
    /// All multiplied; 1 over nothing.
    Prod,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Whether one of them holds.
    Any,
    /// Whether all of them hold.
    All,
    /// The first index of the smallest value; NaN is smaller than everything. As `i64`; -1 over nothing.
    ArgMin,
    /// The first index of the largest value; NaN is larger than everything.
    ArgMax,
    /// The value that comes last: no reduction of programs, but what an assignment to a cell chosen by data does. Its order
    /// matters.
    Last,
    /// The only value: no reduction of programs either, but how the cells of a `unique` assignment are claimed.
    Once,
}

impl ReduceOp {
    /// As programs write it.
    pub fn name(self) -> &'static str {
        match self {
            ReduceOp::Sum => "sum",
            ReduceOp::Prod => "prod",
            ReduceOp::Min => "min",
            ReduceOp::Max => "max",
            ReduceOp::Any => "any",
            ReduceOp::All => "all",
            ReduceOp::ArgMin => "argmin",
            ReduceOp::ArgMax => "argmax",
            ReduceOp::Last => "last",
            ReduceOp::Once => "once",
        }
    }

    /// The reduction whose result `argmin` and `argmax` find the place of.
    pub fn extreme(self) -> Option<ReduceOp> {
        match self {
            ReduceOp::ArgMin => Some(ReduceOp::Min),
            ReduceOp::ArgMax => Some(ReduceOp::Max),
            _ => None,
        }
    }

    /// The operator that combines two partial results; of the values, for `argmin` and `argmax`.
    pub fn combine(self) -> BinaryOp {
        match self {
            ReduceOp::Sum => BinaryOp::Add,
            ReduceOp::Prod => BinaryOp::Mul,
            ReduceOp::Min | ReduceOp::ArgMin => BinaryOp::Min,
            ReduceOp::Max | ReduceOp::ArgMax => BinaryOp::Max,
            ReduceOp::Any => BinaryOp::Or,
            ReduceOp::All => BinaryOp::And,
            ReduceOp::Last => BinaryOp::Last,
            ReduceOp::Once => BinaryOp::Once,
        }
    }

    /// The value of a reduction over nothing, in type `ty`.
    pub fn neutral(self, ty: ScalarType) -> Value {
        match self {
            ReduceOp::Sum | ReduceOp::Last => Value::from_i64(ty, 0),
            ReduceOp::Prod => Value::from_i64(ty, 1),
            ReduceOp::Any => Value::Bool(false),
            ReduceOp::All => Value::Bool(true),
            ReduceOp::ArgMin | ReduceOp::ArgMax => Value::I64(-1),
            ReduceOp::Once => Value::I64(i64::MIN),
            ReduceOp::Min | ReduceOp::Max => {
                let largest = self == ReduceOp::Min;
                match ty {
                    ScalarType::F16 => Value::F16(if largest { f16::INFINITY } else { f16::NEG_INFINITY }),
                    ScalarType::BF16 => Value::BF16(if largest { bf16::INFINITY } else { bf16::NEG_INFINITY }),
                    ScalarType::F32 => Value::F32(if largest { f32::INFINITY } else { f32::NEG_INFINITY }),
                    ScalarType::F64 => Value::F64(if largest { f64::INFINITY } else { f64::NEG_INFINITY }),
                    ScalarType::I8 => Value::I8(if largest { i8::MAX } else { i8::MIN }),
                    ScalarType::I16 => Value::I16(if largest { i16::MAX } else { i16::MIN }),
                    ScalarType::I32 => Value::I32(if largest { i32::MAX } else { i32::MIN }),
                    ScalarType::I64 => Value::I64(if largest { i64::MAX } else { i64::MIN }),
                    ScalarType::U8 => Value::U8(if largest { u8::MAX } else { u8::MIN }),
                    ScalarType::U16 => Value::U16(if largest { u16::MAX } else { u16::MIN }),
                    ScalarType::U32 => Value::U32(if largest { u32::MAX } else { u32::MIN }),
                    ScalarType::U64 => Value::U64(if largest { u64::MAX } else { u64::MIN }),
                    ScalarType::Bool => Value::Bool(largest),
                }
            }
        }
    }
}
