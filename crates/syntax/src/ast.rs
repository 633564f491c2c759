//! The syntax tree: what was written, with spans; nothing resolved, nothing typed.

use diag::Span;

use crate::script::Schedule;

#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub constants: Vec<Constant>,
    pub functions: Vec<Function>,
    /// The schedules that stand beside the functions.
    pub schedules: Vec<Schedule>,
}

/// `const TAPS = 3` or `const W: f64[3] = [0.25, 0.5, 0.25]`
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    pub name: Ident,
    pub ty: Option<Type>,
    pub value: ConstantValue,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ConstantValue {
    One(Expr),
    /// The entries in brackets; rows are tables themselves.
    Table(Vec<ConstantValue>, Span),
}

impl ConstantValue {
    pub fn span(&self) -> Span {
        match self {
            ConstantValue::One(expr) => expr.span,
            ConstantValue::Table(_, span) => *span,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

/// `fn name<params>(args) -> (outs) where context { body }`
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: Ident,
    pub params: Vec<Ident>,
    pub args: Vec<Arg>,
    pub outs: Vec<Arg>,
    /// The conditions of `where`, in the order written.
    pub context: Vec<Expr>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

/// `inout A: f64[N, M]`
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    pub name: Ident,
    pub inout: bool,
    pub ty: Type,
    pub span: Span,
}

/// `f64` or `f64[N, M]`; the scalar's name is not yet resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    pub scalar: Ident,
    pub shape: Vec<Expr>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// `S0:` in front of a `let` or an assignment.
    pub label: Option<Ident>,
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let m[b] = …`, `let s: f32 = …`, or `let tmp: f64[N, M]` without a value.
    Let { target: Target, ty: Option<Type>, value: Option<Expr> },
    /// `C[i, j | i < j] += …`
    Assign { target: Target, op: AssignOp, value: Expr },
    /// `scale_rows(2, w, A)`, or `let (Q, R) = qr(A)` with the names of the new locals.
    Call { targets: Vec<Ident>, callee: Ident, args: Vec<Expr> },
    /// `for i in lo..hi by step rev while until { body }`
    For { index: Ident, range: Range, step: Option<Expr>, rev: bool, until: Option<Expr>, body: Vec<Stmt> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignOp {
    Set,
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// The left-hand side: a name, its indices (empty for a scalar), and a guard.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub name: Ident,
    pub indices: Vec<TargetIndex>,
    pub guard: Option<Expr>,
    pub span: Span,
}

/// `i`, `i: 0..N`, `t + 1`, `0`
#[derive(Clone, Debug, PartialEq)]
pub struct TargetIndex {
    pub expr: Expr,
    pub range: Option<Range>,
}

/// `lo..hi`, half open.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    pub lo: Expr,
    pub hi: Expr,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An integer literal; larger ones than `u64::MAX` are rejected by the parser.
    Int(i128),
    Float(f64),
    Bool(bool),
    Name(String),
    /// `A[i, j]`
    Index {
        base: Ident,
        indices: Vec<Expr>,
    },
    /// `sqrt(x)`, `max(a, b)`, and casts such as `f64(i)`
    Call {
        callee: Ident,
        args: Vec<Expr>,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        lhs: Box<Expr>,
        rhs: Box<Expr>,
    },
    /// `a <= b < c`: every neighbouring pair must hold.
    Compare {
        first: Box<Expr>,
        rest: Vec<(CompareOp, Expr)>,
    },
    If {
        cond: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// `sum[k: 0..K, l | k < l] body`, or `scan sum[k | k <= i] body`
    Reduce {
        scan: bool,
        op: ReduceOp,
        indices: Vec<ReduceIndex>,
        guard: Option<Box<Expr>>,
        body: Box<Expr>,
    },
    /// `(reduce 1 +) A`, or `A (+ rank 1 1) b`
    Apply {
        verb: Verb,
        lhs: Option<Box<Expr>>,
        rhs: Box<Expr>,
    },
    Paren(Box<Expr>),
}

/// What is applied to whole arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Verb {
    pub kind: VerbKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum VerbKind {
    Binary(BinaryOp),
    Compare(CompareOp),
    /// `max`, a function of the file, or `take 3`
    Named {
        name: Ident,
        params: Vec<Expr>,
    },
    /// `reduce 2 +`: over the last two axes
    Reduce {
        axes: i64,
        op: ReduceOp,
    },
    /// `oblique +`: along the anti-diagonals
    Oblique {
        op: ReduceOp,
    },
    /// `+ rank 1 0`; one number stands for both sides.
    Rank {
        verb: Box<Verb>,
        left: i64,
        right: Option<i64>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReduceIndex {
    pub name: Ident,
    pub range: Option<Range>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Neg,
    Not,
    /// `~x`
    BitNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
}

/// `=` and `==` are both [`CompareOp::Eq`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceOp {
    Sum,
    Prod,
    Min,
    Max,
    Any,
    All,
    ArgMin,
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
