//! The syntax tree: what was written, with spans; nothing resolved, nothing typed.

use diag::Span;

use crate::script::{Schedule, Step};

/// A source file.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// The files whose functions and constants are known in this one.
    pub uses: Vec<Use>,
    /// Its constants.
    pub constants: Vec<Constant>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// The schedules that stand beside the functions.
    pub schedules: Vec<Schedule>,
}

/// `use "layers/norm.fks"`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// As written, without the quotes.
    pub path: String,
    /// From the word to the closing quote.
    pub span: Span,
}

/// `const TAPS = 3` or `const W: f64[3] = [0.25, 0.5, 0.25]`
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: Ident,
    /// Its type, if it is written.
    pub ty: Option<Type>,
    /// What it stands for.
    pub value: ConstantValue,
    /// Its text.
    pub span: Span,
}

/// The value of a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantValue {
    /// A single one.
    One(Expr),
    /// The entries in brackets; rows are tables themselves.
    Table(Vec<ConstantValue>, Span),
}

impl ConstantValue {
    /// Its text.
    pub fn span(&self) -> Span {
        match self {
            ConstantValue::One(expr) => expr.span,
            ConstantValue::Table(_, span) => *span,
        }
    }
}

/// A name at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its text.
    pub span: Span,
}

/// `fn name<params>(args) -> (outs) where context { body }`
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// The sizes in angle brackets.
    pub params: Vec<Ident>,
    /// The types in angle brackets, `T: float`, each with what it may be.
    pub types: Vec<(Ident, Ident)>,
    /// The arguments.
    pub args: Vec<Arg>,
    /// The results.
    pub outs: Vec<Arg>,
    /// The conditions of `where`, in the order written.
    pub context: Vec<Expr>,
    /// Where its arrays are kept, in front of the statements.
    pub layouts: Vec<Step>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Its text.
    pub span: Span,
}

/// `inout A: f64[N, M]`
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// Its name.
    pub name: Ident,
    /// Whether `inout` is there.
    pub inout: bool,
    /// Its type.
    pub ty: Type,
    /// Its text.
    pub span: Span,
}

/// `f64` or `f64[N, M]`; the scalar's name is not yet resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// The type of the elements.
    pub scalar: Ident,
    /// The extents; none of a scalar.
    pub shape: Vec<Expr>,
    /// Its text.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// `S0:` in front of a `let` or an assignment.
    pub label: Option<Ident>,
    /// What it says.
    pub kind: StmtKind,
    /// Its text.
    pub span: Span,
}

/// What a statement says.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let m[b] = …`, `let s: f32 = …`, or `let tmp: f64[N, M]` without a value.
    Let {
        /// The left-hand side.
        target: Target,
        /// The type, if it is written.
        ty: Option<Type>,
        /// The right-hand side, if there is one.
        value: Option<Expr>,
    },
    /// `C[i, j | i < j] += …`
    Assign {
        /// The left-hand side.
        target: Target,
        /// How the value gets there.
        op: AssignOp,
        /// The right-hand side.
        value: Expr,
    },
    /// `scale_rows(2, w, A)`, or `let (Q, R) = qr(A)` with the names of the new locals.
    Call {
        /// The names of the new locals.
        targets: Vec<Ident>,
        /// The function.
        callee: Ident,
        /// What it is given.
        args: Vec<Expr>,
    },
    /// `for i in lo..hi by step rev while until { body }`
    For {
        /// Its variable.
        index: Ident,
        /// The values of the variable.
        range: Range,
        /// What stands after `by`.
        step: Option<Expr>,
        /// Whether `rev` is there.
        rev: bool,
        /// What stands after `while`.
        until: Option<Expr>,
        /// Its statements.
        body: Vec<Stmt>,
    },
    /// `if c { … } else if d { … } else { … }`
    If {
        /// One for each condition, and one for the last `else`, if it is there.
        arms: Vec<Arm>,
    },
}

/// One of the blocks of an `if`.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// What must hold, besides that no arm before it was taken; nothing more for `else`.
    pub cond: Option<Expr>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// From the condition, or the block of an `else`, to its end.
    pub span: Span,
}

/// How a value gets into a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignOp {
    /// `=`
    Set,
    /// `unique x[perm[i]] = …`: no two instances name the same cell.
    Unique,
    /// `+=`
    Add,
    /// `-=`
    Sub,
    /// `*=`
    Mul,
    /// `/=`
    Div,
    /// `%=`
    Rem,
    /// `&=`
    BitAnd,
    /// `|=`
    BitOr,
    /// `^=`
    BitXor,
    /// `<<=`
    Shl,
    /// `>>=`
    Shr,
    /// `min=`
    Min,
    /// `max=`
    Max,
}

impl AssignOp {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            AssignOp::Set | AssignOp::Unique => "=",
            AssignOp::Add => "+=",
            AssignOp::Sub => "-=",
            AssignOp::Mul => "*=",
            AssignOp::Div => "/=",
            AssignOp::Rem => "%=",
            AssignOp::BitAnd => "&=",
            AssignOp::BitOr => "|=",
            AssignOp::BitXor => "^=",
            AssignOp::Shl => "<<=",
            AssignOp::Shr => ">>=",
            AssignOp::Min => "min=",
            AssignOp::Max => "max=",
        }
    }
}

/// The left-hand side: a name, its indices (empty for a scalar), and a guard.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The array or scalar.
    pub name: Ident,
    /// What stands in brackets.
    pub indices: Vec<TargetIndex>,
    /// What stands after `|`.
    pub guard: Option<Expr>,
    /// Its text.
    pub span: Span,
}

/// `i`, `i: 0..N`, `t + 1`, `0`
#[derive(Clone, Debug, PartialEq)]
pub struct TargetIndex {
    /// The subscript.
    pub expr: Expr,
    /// The values of an index, if they are written.
    pub range: Option<Range>,
}

/// `lo..hi`, half open.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Where it begins.
    pub lo: Expr,
    /// Where it ends, exclusive.
    pub hi: Expr,
    /// Its text.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it says.
    pub kind: ExprKind,
    /// Its text.
    pub span: Span,
}

/// What an expression says.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An integer literal; larger ones than `u64::MAX` are rejected by the parser.
    Int(i128),
    /// A literal with a point or an exponent.
    Float(f64),
    /// `true` or `false`
    Bool(bool),
    /// A name alone.
    Name(String),
    /// `A[i, j]`
    Index {
        /// The array.
        base: Ident,
        /// The subscripts.
        indices: Vec<Expr>,
    },
    /// `sqrt(x)`, `max(a, b)`, and casts such as `f64(i)`
    Call {
        /// The function or type.
        callee: Ident,
        /// What it is given.
        args: Vec<Expr>,
    },
    /// `-x`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// What it is applied to.
        operand: Box<Expr>,
    },
    /// `a + b`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// On its left.
        lhs: Box<Expr>,
        /// On its right.
        rhs: Box<Expr>,
    },
    /// `a <= b < c`: every neighbouring pair must hold.
    Compare {
        /// The first operand.
        first: Box<Expr>,
        /// The others, with what stands in front of each.
        rest: Vec<(CompareOp, Expr)>,
    },
    /// `if c then a else b`
    If {
        /// What decides.
        cond: Box<Expr>,
        /// If it holds.
        then: Box<Expr>,
        /// If it does not.
        otherwise: Box<Expr>,
    },
    /// `sum[k: 0..K, l | k < l] body`, or `scan sum[k | k <= i] body`
    Reduce {
        /// Whether `scan` is there.
        scan: bool,
        /// The operator.
        op: ReduceOp,
        /// Its indices.
        indices: Vec<ReduceIndex>,
        /// What stands after `|`.
        guard: Option<Box<Expr>>,
        /// What is combined.
        body: Box<Expr>,
    },
    /// `(reduce 1 +) A`, or `A (+ rank 1 1) b`
    Apply {
        /// The verb.
        verb: Verb,
        /// On its left, if it stands between two.
        lhs: Option<Box<Expr>>,
        /// On its right.
        rhs: Box<Expr>,
    },
    /// In parentheses, which the formatter keeps.
    Paren(Box<Expr>),
}

/// What is applied to whole arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Verb {
    /// What it says.
    pub kind: VerbKind,
    /// Its text.
    pub span: Span,
}

/// What a verb says.
#[derive(Clone, Debug, PartialEq)]
pub enum VerbKind {
    /// An operator.
    Binary(BinaryOp),
    /// A comparison.
    Compare(CompareOp),
    /// `max`, a function of the file, or `take 3`
    Named {
        /// The function.
        name: Ident,
        /// Its parameters.
        params: Vec<Expr>,
    },
    /// `reduce 2 +`: over the last two axes
    Reduce {
        /// How many axes.
        axes: i64,
        /// The operator.
        op: ReduceOp,
    },
    /// `oblique +`: along the anti-diagonals
    Oblique {
        /// The operator.
        op: ReduceOp,
    },
    /// `+ rank 1 0`; one number stands for both sides.
    Rank {
        /// What is applied.
        verb: Box<Verb>,
        /// The rank on the left.
        left: i64,
        /// The rank on the right, if it is another.
        right: Option<i64>,
    },
}

/// An index of a reduction.
#[derive(Clone, Debug, PartialEq)]
pub struct ReduceIndex {
    /// Its name.
    pub name: Ident,
    /// Its values, if they are written.
    pub range: Option<Range>,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-x`
    Neg,
    /// `not x`
    Not,
    /// `~x`
    BitNot,
}

/// Operators of two operands that are no comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `and`
    And,
    /// `or`
    Or,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
}

/// `=` and `==` are both [`CompareOp::Eq`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `=` or `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// What reductions combine by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceOp {
    /// `sum`
    Sum,
    /// `prod`
    Prod,
    /// `min`
    Min,
    /// `max`
    Max,
    /// `any`
    Any,
    /// `all`
    All,
    /// `argmin`
    ArgMin,
    /// `argmax`
    ArgMax,
}

impl ReduceOp {
    /// The keyword.
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
        }
    }
}
