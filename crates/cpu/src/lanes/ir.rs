//! The lane program: SSA over lane values, words and masks, with counted loops.
//!
//! A lane value holds one element per lane; how many registers that takes is the emitter's business. Words are 64-bit
//! integers that all lanes share: sizes, trip counts and addresses. A mask holds one truth value per lane. There is no
//! `bool` element: it is loaded as `u8` and compared.

use program::{ScalarType, Value};

/// A value: defined once, by a statement, a loop parameter or a loop result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

impl ValueId {
    /// The place in the tables of values.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One 64-bit integer for all lanes.
    Word,
    /// One element per lane, of a type that [`is_element`] accepts.
    Lanes(ScalarType),
    /// One truth value per lane.
    Mask,
}

/// Whether lanes hold elements of a type: floats and integers. Truth values are masks.
pub fn is_element(ty: ScalarType) -> bool {
    ty.half().is_none() && ty != ScalarType::Bool
}

/// A leaf function: it reads its arguments from a block of 8-byte slots and returns 0, or the site of a failed check.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// For people.
    pub name: String,
    /// A power of two, at most [`Program::MAX_LANES`].
    pub lanes: u32,
    /// The number of argument slots. A program with checks finds in the last one where to report.
    pub slots: u32,
    /// The type of every value, by id.
    pub types: Vec<Type>,
    /// What is done, in order.
    pub body: Vec<Stmt>,
}

impl Program {
    /// More lanes than any schedule can use.
    pub const MAX_LANES: u32 = 256;

    /// What a value holds.
    pub fn ty(&self, value: ValueId) -> Type {
        self.types[value.index()]
    }

    /// A value that is yet to be defined.
    pub fn new_value(&mut self, ty: Type) -> ValueId {
        let id = ValueId(u32::try_from(self.types.len()).expect("fewer than 2³² values"));
        self.types.push(ty);
        id
    }
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// Defines a value.
    Let(ValueId, Op),
    /// With [`Access::Same`], the element of the first lane is stored; the mask then says whether, by its first lane.
    Store {
        /// What is stored.
        value: ValueId,
        /// Where.
        at: Address,
        /// How the lanes lie.
        access: Access,
        /// The lanes that store; all of them without one.
        mask: Option<ValueId>,
    },
    /// Lane by lane in order: where two lanes meet, the later one stays.
    Scatter {
        /// What is stored.
        value: ValueId,
        /// The address of element 0.
        base: ValueId,
        /// Which element, for each lane.
        index: ValueId,
        /// The lanes that store; all of them without one.
        mask: Option<ValueId>,
    },
    /// Ends the program with `site` unless `0 <= index < extent` in every lane of the mask; the index of the first lane
    /// that fails is reported.
    Check {
        /// What is checked, for each lane.
        index: ValueId,
        /// A word that all must be below.
        extent: ValueId,
        /// The lanes that are checked; all of them without one.
        mask: Option<ValueId>,
        /// What the program returns if it fails.
        site: u32,
    },
    /// Asks for the memory at an address, which need not be there: it is read soon.
    Fetch(Address),
    /// Repeats some.
    Loop(Loop),
}

/// Runs its body `trips` times, or not at all if that is negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// A word.
    pub trips: ValueId,
    /// What iterations hand on.
    pub carried: Vec<Carried>,
    /// One iteration.
    pub body: Vec<Stmt>,
}

/// A value that goes from one iteration to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carried {
    /// What it is in the first iteration.
    pub init: ValueId,
    /// The value inside the body.
    pub param: ValueId,
    /// What it is in the next iteration, defined in the body or outside the loop.
    pub next: ValueId,
    /// The value after the loop: the last `next`, or `init`.
    pub result: ValueId,
}

/// What a value is made by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// The word in an argument slot.
    Arg(u32),
    /// A word that is known.
    Const(i64),
    /// Of two words.
    Word(WordOp, ValueId, ValueId),

    /// The same element in every lane.
    Splat(Value),
    /// The element in an argument slot, in every lane.
    Scalar(u32),
    /// A word in every lane, wrapped to the integer type of the result.
    FromWord(ValueId),
    /// The number of the lane, wrapped to the integer type of the result.
    Iota,
    /// Lanes that the mask leaves out are zero and touch no memory.
    Load {
        /// Where.
        at: Address,
        /// How the lanes lie.
        access: Access,
        /// The lanes that are loaded; all of them without one.
        mask: Option<ValueId>,
    },
    /// The elements at `base + index * size of the element`.
    Gather {
        /// The address of element 0.
        base: ValueId,
        /// Which element, for each lane.
        index: ValueId,
        /// The lanes that are loaded; all of them without one.
        mask: Option<ValueId>,
    },
    /// Of one value, lane by lane.
    Unary(UnaryOp, ValueId),
    /// Of two values, lane by lane.
    Binary(BinaryOp, ValueId, ValueId),
    /// By a number of bits less than the width; 32- and 64-bit integers only.
    Shift(ShiftOp, ValueId, u8),
    /// `a * b + c`, rounded once.
    Fma(ValueId, ValueId, ValueId),
    /// Between element types, as Rust's `as`.
    Convert(ValueId),
    /// The same bits as another type of the same size.
    Bitcast(ValueId),
    /// Where the mask is set the second, elsewhere the third.
    Select(ValueId, ValueId, ValueId),
    /// Lane `l` is lane `l + n` of the two, one after the other: the end of the first and the first `n` lanes of the second. `n` is from 1
    /// to less than there are lanes; elements of 4 and 8 bytes only.
    Slide(ValueId, ValueId, u32),
    /// All lanes combined in a fixed order: lane `l` with lane `l + n/2`, for `n` = lanes, halved until one is left.
    /// Every lane of the result holds it.
    Reduce(BinaryOp, ValueId),

    /// The first so many lanes.
    Prefix(ValueId),
    /// A mask, from two values lane by lane.
    Compare(CompareOp, ValueId, ValueId),
}

/// On words; comparisons give 0 or 1. Arithmetic wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// Bit by bit.
    And,
    /// The second operand is a constant from 0 to 63.
    Shl,
    /// Keeps the sign; the second operand is a constant from 0 to 63.
    Shr,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
}

impl WordOp {
    /// Whether the result is 0 or 1.
    pub(super) fn is_comparison(self) -> bool {
        matches!(self, WordOp::Lt | WordOp::Le | WordOp::Eq | WordOp::Ne)
    }
}

/// On one operand; floats, unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-a`, also of integers.
    Neg,
    /// Without its sign, also of integers.
    Abs,
    /// Correctly rounded.
    Sqrt,
    /// Towards minus infinity.
    Floor,
    /// Towards infinity.
    Ceil,
    /// Towards zero.
    Trunc,
    /// To the nearest integer, ties to even.
    Round,
    /// On integers and masks.
    Not,
}

/// On floats, integers or masks, as `program` defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Integers wrap.
    Add,
    /// Integers wrap.
    Sub,
    /// Integers wrap.
    Mul,
    /// Floats only.
    Div,
    /// NaN if either is NaN; -0 is less than +0.
    Min,
    /// NaN if either is NaN; +0 is more than -0.
    Max,
    /// `a < b ? a : b`, as the machine does it: of NaN or zeros the second. Floats only.
    Least,
    /// `a > b ? a : b`, likewise.
    Most,
    /// Integers and masks.
    And,
    /// Integers and masks.
    Or,
    /// Integers and masks.
    Xor,
}

/// Which way bits go, and what comes after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShiftOp {
    /// Fills with zeros.
    Left,
    /// Fills with zeros.
    Right,
    /// Fills with the sign.
    SignedRight,
}

/// Floats: ordered, except `Ne`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
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

/// `base + index * scale + offset`, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address {
    /// A word.
    pub base: ValueId,
    /// The scale is 1, 2, 4 or 8.
    pub index: Option<(ValueId, u8)>,
    /// In bytes.
    pub offset: i32,
}

impl Address {
    /// Of a word itself.
    pub fn of(base: ValueId) -> Address {
        Address { base, index: None, offset: 0 }
    }
}

/// Where the lanes of a load or store are, from its address on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Access {
    /// One after the other.
    Unit,
    /// The same, for stores without a mask: memory that nobody reads soon is written past the caches, where the emitter can. The address is a
    /// multiple of a cache line, or of the bytes of all lanes if these are fewer.
    Streamed,
    /// All at the address itself.
    Same,
    /// One before the other.
    Reversed,
    /// That many bytes apart.
    Strided(ValueId),
}

macro_rules! names {
    ($op:ident { $($variant:ident = $name:literal,)* }) => {
        impl $op {
            /// Every operator.
            pub const ALL: &[$op] = &[$($op::$variant,)*];

            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($op::$variant => $name,)* }
            }
        }
    };
}

names!(WordOp {
    Add = "word.add",
    Sub = "word.sub",
    Mul = "word.mul",
    Min = "word.min",
    Max = "word.max",
    And = "word.and",
    Shl = "word.shl",
    Shr = "word.shr",
    Lt = "word.lt",
    Le = "word.le",
    Eq = "word.eq",
    Ne = "word.ne",
});
names!(UnaryOp {
    Neg = "neg",
    Abs = "abs",
    Sqrt = "sqrt",
    Floor = "floor",
    Ceil = "ceil",
    Trunc = "trunc",
    Round = "round",
    Not = "not",
});
names!(BinaryOp {
    Add = "add",
    Sub = "sub",
    Mul = "mul",
    Div = "div",
    Min = "min",
    Max = "max",
    Least = "least",
    Most = "most",
    And = "and",
    Or = "or",
    Xor = "xor",
});
names!(ShiftOp {
    Left = "shl",
    Right = "shr",
    SignedRight = "sar",
});
names!(CompareOp {
    Eq = "eq",
    Ne = "ne",
    Lt = "lt",
    Le = "le",
    Gt = "gt",
    Ge = "ge",
});

impl Op {
    /// The values that it reads, in the order of the text.
    pub fn operands(&self) -> Vec<ValueId> {
        match *self {
            Op::Arg(_) | Op::Const(_) | Op::Splat(_) | Op::Scalar(_) | Op::Iota => Vec::new(),
            Op::FromWord(a) | Op::Convert(a) | Op::Bitcast(a) | Op::Prefix(a) => vec![a],
            Op::Unary(_, a) | Op::Shift(_, a, _) | Op::Reduce(_, a) => vec![a],
            Op::Word(_, a, b) => vec![a, b],
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Slide(a, b, _) => vec![a, b],
            Op::Fma(a, b, c) | Op::Select(a, b, c) => vec![a, b, c],
            Op::Load { at, access, mask } => at.operands().chain(access.operand()).chain(mask).collect(),
            Op::Gather { base, index, mask } => [base, index].into_iter().chain(mask).collect(),
        }
    }
}

impl Op {
    /// The same operation on other values.
    pub(super) fn renamed(self, f: impl Fn(ValueId) -> ValueId) -> Op {
        let mask = |mask: Option<ValueId>| mask.map(&f);
        match self {
            Op::Arg(_) | Op::Const(_) | Op::Splat(_) | Op::Scalar(_) | Op::Iota => self,
            Op::FromWord(a) => Op::FromWord(f(a)),
            Op::Convert(a) => Op::Convert(f(a)),
            Op::Bitcast(a) => Op::Bitcast(f(a)),
            Op::Prefix(a) => Op::Prefix(f(a)),
            Op::Unary(op, a) => Op::Unary(op, f(a)),
            Op::Shift(op, a, bits) => Op::Shift(op, f(a), bits),
            Op::Slide(a, b, by) => Op::Slide(f(a), f(b), by),
            Op::Reduce(op, a) => Op::Reduce(op, f(a)),
            Op::Word(op, a, b) => Op::Word(op, f(a), f(b)),
            Op::Binary(op, a, b) => Op::Binary(op, f(a), f(b)),
            Op::Compare(op, a, b) => Op::Compare(op, f(a), f(b)),
            Op::Fma(a, b, c) => Op::Fma(f(a), f(b), f(c)),
            Op::Select(a, b, c) => Op::Select(f(a), f(b), f(c)),
            Op::Load { at, access, mask: m } => {
                Op::Load { at: at.renamed(&f), access: access.renamed(&f), mask: mask(m) }
            }
            Op::Gather { base, index, mask: m } => Op::Gather { base: f(base), index: f(index), mask: mask(m) },
        }
    }
}

impl Address {
    pub(super) fn renamed(self, f: impl Fn(ValueId) -> ValueId) -> Address {
        Address { base: f(self.base), index: self.index.map(|(index, scale)| (f(index), scale)), ..self }
    }

    /// The words that it uses.
    pub fn operands(self) -> impl Iterator<Item = ValueId> {
        [self.base].into_iter().chain(self.index.map(|(index, _)| index))
    }
}

impl Access {
    /// The line that the address of [`Access::Streamed`] begins, at most.
    pub const LINE: usize = 64;

    pub(super) fn renamed(self, f: impl Fn(ValueId) -> ValueId) -> Access {
        match self {
            Access::Strided(stride) => Access::Strided(f(stride)),
            access => access,
        }
    }

    /// The word that it uses, if any.
    pub fn operand(self) -> Option<ValueId> {
        match self {
            Access::Strided(stride) => Some(stride),
            _ => None,
        }
    }
}

impl Stmt {
    /// The value that it defines, and what it is, if it is no loop.
    pub fn as_let(&self) -> Option<(ValueId, &Op)> {
        match self {
            Stmt::Let(value, op) => Some((*value, op)),
            _ => None,
        }
    }

    /// The values that it reads itself, without the body of a loop.
    pub fn operands(&self) -> Vec<ValueId> {
        match self {
            Stmt::Let(_, op) => op.operands(),
            Stmt::Store { value, at, access, mask } => {
                [*value].into_iter().chain(at.operands()).chain(access.operand()).chain(*mask).collect()
            }
            Stmt::Scatter { value, base, index, mask } => [*value, *base, *index].into_iter().chain(*mask).collect(),
            Stmt::Check { index, extent, mask, .. } => [*index, *extent].into_iter().chain(*mask).collect(),
            Stmt::Fetch(at) => at.operands().collect(),
            Stmt::Loop(r#loop) => {
                [r#loop.trips].into_iter().chain(r#loop.carried.iter().map(|carried| carried.init)).collect()
            }
        }
    }
}

/// Whether a statement may end the program early, here or inside.
pub(super) fn has_checks(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Check { .. } => true,
        Stmt::Loop(r#loop) => has_checks(&r#loop.body),
        _ => false,
    })
}
