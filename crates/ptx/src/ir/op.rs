//! Instructions, one variant per shape. What is spelled the same way has the same variant: `add.rn.f32` and `min.s32`
//! are both [`Op::Binary`].

use super::types::words;
use super::{Label, ParamId, Reg, Space, Special, Type, VariableId};

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `ld`. Two or four destinations make it `.v2` or `.v4`.
    Load {
        space: Space,
        cache: Cache,
        ty: Type,
        dst: Vec<Reg>,
        from: Address,
    },
    /// `st`.
    Store {
        space: Space,
        ty: Type,
        to: Address,
        src: Vec<Operand>,
    },
    /// `mov`, also from a special register or of an address.
    Move {
        ty: Type,
        dst: Reg,
        src: Operand,
    },
    /// `mov.b64 {%r1, %r2}, %rd1`: the low part first.
    Unpack {
        ty: Type,
        dst: Vec<Reg>,
        src: Operand,
    },
    /// `mov.b64 %rd1, {%r1, %r2}`.
    Pack {
        ty: Type,
        dst: Reg,
        src: Vec<Operand>,
    },
    /// `cvt`.
    Convert {
        to: Type,
        from: Type,
        float: Float,
        dst: Reg,
        src: Operand,
    },
    /// `cvta`: an address of `space` made generic, or (`to_space`) back.
    Address {
        space: Space,
        to_space: bool,
        dst: Reg,
        src: Operand,
    },
    Unary {
        op: UnaryOp,
        ty: Type,
        float: Float,
        dst: Reg,
        a: Operand,
    },
    Binary {
        op: BinaryOp,
        ty: Type,
        float: Float,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Ternary {
        op: TernaryOp,
        ty: Type,
        float: Float,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `setp`. `inverse` gets the negated result of the comparison, before it is combined.
    Compare {
        compare: Compare,
        ty: Type,
        ftz: bool,
        dst: Reg,
        inverse: Option<Reg>,
        a: Operand,
        b: Operand,
        combine: Option<Combine>,
    },
    /// `selp`.
    Select {
        ty: Type,
        dst: Reg,
        a: Operand,
        b: Operand,
        condition: Reg,
    },
    /// `bra`. `uniform`: all threads of a warp go the same way.
    Branch {
        target: Label,
        uniform: bool,
    },
    /// `ret` or `exit`: the same in a kernel.
    Return,
    /// `bar.sync 0`: all threads of the block.
    Barrier,
    /// `bar.warp.sync`.
    WarpBarrier {
        mask: Operand,
    },
    /// `membar` and `fence`: orders this thread's accesses, but waits for no other.
    Fence {
        words: String,
    },
    /// `shfl.sync`.
    Shuffle {
        mode: ShuffleMode,
        dst: Reg,
        /// Gets whether the source lane was in range.
        valid: Option<Reg>,
        src: Operand,
        lane: Operand,
        clamp: Operand,
        mask: Operand,
    },
    /// `vote.sync`.
    Vote {
        mode: VoteMode,
        dst: Reg,
        predicate: Reg,
        negated: bool,
        mask: Operand,
    },
    /// `activemask`.
    ActiveMask {
        dst: Reg,
    },
    /// `atom`; `red` without a destination. `c` is the new value of `cas`, whose `b` is the expected one.
    Atomic {
        space: Space,
        op: AtomicOp,
        ty: Type,
        dst: Option<Reg>,
        at: Address,
        b: Operand,
        c: Option<Operand>,
    },
    /// `cp.async`: `bytes` from global to shared memory, there after the group's wait.
    CopyAsync {
        bytes: u32,
        to: Address,
        from: Address,
    },
    /// `cp.async.commit_group`.
    CommitGroup,
    /// `cp.async.wait_group n`: all but the newest `n` groups of this thread have arrived.
    WaitGroup {
        pending: u32,
    },
    /// An instruction that this crate does not know, as it stands in the text. It cannot be run.
    Unsupported {
        text: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    Reg(Reg),
    Int(i64),
    /// By their bits, so that equality is what the text says.
    F32(u32),
    F64(u64),
    Special(Special),
    /// The address of a variable in shared memory.
    Variable(VariableId),
}

impl Operand {
    pub fn f32(value: f32) -> Operand {
        Operand::F32(value.to_bits())
    }

    pub fn f64(value: f64) -> Operand {
        Operand::F64(value.to_bits())
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

impl From<i64> for Operand {
    fn from(value: i64) -> Operand {
        Operand::Int(value)
    }
}

impl From<Special> for Operand {
    fn from(special: Special) -> Operand {
        Operand::Special(special)
    }
}

/// `[base + offset]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Base,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Reg(Reg),
    Param(ParamId),
    Variable(VariableId),
    /// The offset is the address.
    Absolute,
}

impl From<Reg> for Address {
    fn from(reg: Reg) -> Address {
        Address { base: Base::Reg(reg), offset: 0 }
    }
}

impl Address {
    pub fn at(reg: Reg, offset: i64) -> Address {
        Address { base: Base::Reg(reg), offset }
    }
}

/// What may be said about the result of a float instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Float {
    pub rounding: Option<Rounding>,
    /// Subnormal operands and results are zero.
    pub ftz: bool,
    /// The result is clamped to 0..=1 (or to the range of an integer type).
    pub sat: bool,
}

impl Float {
    /// For integers, and for float operations that need no rounding.
    pub const EXACT: Float = Float { rounding: None, ftz: false, sat: false };
    /// To the nearest, ties to even: what Farkas always says.
    pub const NEAREST: Float = Float::rounded(Rounding::Nearest);

    pub const fn rounded(rounding: Rounding) -> Float {
        Float { rounding: Some(rounding), ftz: false, sat: false }
    }
}

words! {
    Rounding {
        Nearest = "rn", Zero = "rz", Down = "rm", Up = "rp",
        /// To an integer.
        IntNearest = "rni", IntZero = "rzi", IntDown = "rmi", IntUp = "rpi",
        /// Not rounded correctly: fast.
        Approx = "approx", Full = "full",
    }
}

words! {
    Cache {
        Default = "",
        /// Read-only for the whole kernel.
        NonCoherent = "nc",
    }
}

words! {
    UnaryOp {
        Neg = "neg", Abs = "abs", Not = "not", Popc = "popc", Clz = "clz", Brev = "brev",
        Sqrt = "sqrt", Rcp = "rcp", Rsqrt = "rsqrt", Ex2 = "ex2", Lg2 = "lg2", Sin = "sin", Cos = "cos", Tanh = "tanh",
    }
}

words! {
    BinaryOp {
        Add = "add", Sub = "sub",
        /// Of floats.
        Mul = "mul",
        MulLo = "mul.lo", MulHi = "mul.hi", MulWide = "mul.wide",
        Div = "div", Rem = "rem",
        /// Of floats: the other operand if one is NaN.
        Min = "min", Max = "max",
        /// NaN if one operand is.
        MinNan = "min.NaN", MaxNan = "max.NaN",
        And = "and", Or = "or", Xor = "xor", Shl = "shl", Shr = "shr", CopySign = "copysign",
    }
}

words! {
    TernaryOp {
        MadLo = "mad.lo", MadHi = "mad.hi", MadWide = "mad.wide", Fma = "fma",
        /// Bits `b..b + c` of `a`.
        Bfe = "bfe",
        /// Bytes picked from `a` and `b` by the nibbles of `c`.
        Prmt = "prmt",
        /// The pair `b:a` shifted by `c` modulo 32: its high or low half.
        ShfLeft = "shf.l.wrap", ShfRight = "shf.r.wrap",
    }
}

words! {
    Compare {
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge",
        Lo = "lo", Ls = "ls", Hi = "hi", Hs = "hs",
        /// True also if an operand is NaN.
        Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu",
        /// Both are numbers; one is NaN.
        Num = "num", Nan = "nan",
    }
}

/// The result of a comparison joined with a predicate: `setp.lt.and.s32 %p1, %r1, %r2, !%p2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combine {
    /// `And`, `Or` or `Xor`.
    pub op: BinaryOp,
    pub predicate: Reg,
    pub negated: bool,
}

words! {
    ShuffleMode {
        Up = "up", Down = "down", Butterfly = "bfly", Index = "idx",
    }
}

words! {
    VoteMode {
        All = "all", Any = "any", Uniform = "uni", Ballot = "ballot",
    }
}

words! {
    AtomicOp {
        Add = "add", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor", Exchange = "exch",
        CompareSwap = "cas", Inc = "inc", Dec = "dec",
    }
}
