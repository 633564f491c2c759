//! The loop tree: loops of every kind, conditions, stores, updates, scoped buffers and scalar locals, over typed
//! expressions; every decision about order is made.
//!
//! Subscripts keep one expression per dimension, row-major over the array's shape; back ends flatten them.

use diag::Span;
use index::{Cond, Index, VarId, id};
use program::{BinaryOp, Role, ScalarType, UnaryOp, Value};

id! {
    /// A scalar argument.
    ScalarId
}
id! {
    /// An array in memory.
    ArrayId
}
id! {
    /// A scalar local, kept in a register.
    LocalId
}

/// One function as loops.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// As the program calls it.
    pub name: String,
    /// Names of the sizes.
    pub params: Vec<String>,
    /// Scalar arguments.
    pub scalars: Vec<ScalarDecl>,
    /// Arguments and local arrays.
    pub arrays: Vec<ArrayDecl>,
    /// Names of the loop variables. Every variable belongs to exactly one `for`.
    pub vars: Vec<String>,
    /// Scalar locals.
    pub locals: Vec<LocalDecl>,
    /// What a call does.
    pub body: Vec<Stmt>,
}

/// A scalar argument.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarDecl {
    /// For people.
    pub name: String,
    /// Its type.
    pub ty: ScalarType,
}

/// A scalar local.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalDecl {
    /// For people.
    pub name: String,
    /// Its type.
    pub ty: ScalarType,
}

/// An array. `Role::Local` arrays are allocated for the call, unless an [`Stmt::Alloc`] does it or a parallel loop gives
/// each of its iterations one ([`Parallel::private`]); their content is undefined until written.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayDecl {
    /// For people.
    pub name: String,
    /// The type of its elements.
    pub ty: ScalarType,
    /// Extents over parameters only.
    pub shape: Vec<Index>,
    /// Whose it is, and who may write it.
    pub role: Role,
    /// How far neighbours are apart in each dimension, in elements, over parameters only, where an argument does not lie row-major
    /// ([`Verified::strided`](crate::Verified::strided)). It is about addresses: what the loops mean does not depend on it.
    pub strides: Option<Vec<Index>>,
}

/// What is done, in the order of the list.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A loop.
    For(For),
    /// One of two lists.
    If {
        /// Decides.
        cond: Cond,
        /// Where it holds.
        then: Vec<Stmt>,
        /// Where it does not.
        otherwise: Vec<Stmt>,
    },
    /// An ordered assignment: it stays where it is among the other accesses to its cell.
    Store {
        /// The array.
        array: ArrayId,
        /// One subscript per dimension.
        index: Vec<Index>,
        /// What is stored.
        value: Expr,
    },
    /// One term of a reduction: `target = target op value`. Updates of one target by one operator may run in any order and
    /// be regrouped, as long as nothing else touches the target in between.
    Update {
        /// What changes.
        target: Target,
        /// One of those that [`combines`] accepts.
        op: BinaryOp,
        /// The term.
        value: Expr,
    },
    /// `array[index] = array[index] op value` at a cell that depends on data: checked like [`ExprKind::Gather`]. `op` is one
    /// that [`combines`] accepts, or [`BinaryOp::Last`], which replaces the value.
    Scatter {
        /// The array.
        array: ArrayId,
        /// One subscript per dimension.
        index: Vec<Expr>,
        /// How the value is combined with what is there.
        op: BinaryOp,
        /// The term.
        value: Expr,
        /// Where in the source a failed check is reported.
        at: Option<Span>,
    },
    /// An assignment to a local.
    Set {
        /// The local.
        local: LocalId,
        /// Its new value.
        value: Expr,
    },
    /// A buffer for the time of `body`: fresh, with undefined content, each time the statement runs. Nothing outside
    /// touches the array.
    Alloc {
        /// The array.
        array: ArrayId,
        /// Where it is.
        space: Space,
        /// What uses it.
        body: Vec<Stmt>,
    },
    /// Every iteration of the innermost parallel loop around gets here before one goes on.
    Barrier,
    /// A loop whose bounds depend on data.
    Each(Box<Each>),
}

/// `local` takes the values `lo..hi by step`, one after the other; all three are evaluated once, in front. Nothing but the loop sets
/// the local, and outside of it it has no value.
#[derive(Clone, Debug, PartialEq)]
pub struct Each {
    /// Of type `i64`.
    pub local: LocalId,
    /// The first value.
    pub lo: Expr,
    /// Less than this.
    pub hi: Expr,
    /// From one value to the next; checked to be at least 1, unless it is a constant.
    pub step: Expr,
    /// Whether it is checked that the range does not end before it begins.
    pub forwards: bool,
    /// Evaluated in front of each iteration, which ends the loop where it fails.
    pub until: Option<Expr>,
    /// One iteration.
    pub body: Vec<Stmt>,
    /// Where in the source a failed check is reported.
    pub at: Option<Span>,
}

impl Each {
    /// The values that decide how often it runs.
    pub fn ends(&self) -> impl Iterator<Item = &Expr> {
        [&self.lo, &self.hi, &self.step].into_iter().chain(&self.until)
    }
}

/// What an update changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A cell of an array.
    Cell {
        /// The array.
        array: ArrayId,
        /// One subscript per dimension.
        index: Vec<Index>,
    },
    /// A scalar local. In a vector loop that does not set it, all lanes add to the same one.
    Local(LocalId),
}

/// Where a scoped buffer lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Memory of the thread that runs the statement.
    Scratch,
    /// Memory that the iterations of the innermost parallel loops inside share, close to all of them.
    Shared,
    /// Registers: every subscript is a constant once unrolled loops are written out.
    Registers,
}

/// `for var in lo..hi by step`: ascending, half open, step at least 1.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// Its variable.
    pub var: VarId,
    /// How its iterations run.
    pub kind: LoopKind,
    /// The first value.
    pub lo: Index,
    /// Less than this.
    pub hi: Index,
    /// From one value to the next.
    pub step: i64,
    /// One iteration.
    pub body: Vec<Stmt>,
}

/// How the iterations of a loop run.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    /// One after the other.
    Serial,
    /// In any order, or at once.
    Parallel(Parallel),
    /// From the first on in groups of so many, the lanes, each group in lockstep: a statement is executed for all lanes
    /// before the next one is. What a lane reads in a statement was there before the statement; its conditions are masks.
    Vector(u32),
    /// One after the other, written out.
    Unrolled,
}

/// Where on a GPU the iterations of a parallel loop run: one is a block of the grid, or a thread of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// Blocks of a grid; neighbours along x have neighbouring numbers.
    Block(Dim),
    /// Threads of a block; 32 neighbours along x are a warp.
    Thread(Dim),
}

/// A dimension of a grid or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dim {
    /// The fastest.
    X,
    /// The next.
    Y,
    /// The slowest.
    Z,
}

/// What the iterations of a parallel loop share, and what not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parallel {
    /// The arrays in which iterations update the same cells. In the loop nothing but updates by that operator touches
    /// them, and the results of all iterations are combined.
    pub reductions: Vec<Reduction>,
    /// Local arrays of which every iteration has a copy of its own, undefined at its start and lost at its end.
    pub private: Vec<ArrayId>,
    /// Where they run on a GPU, if somebody has said so.
    pub axis: Option<Axis>,
}

/// An array that all iterations of a parallel loop add to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The array.
    pub array: ArrayId,
    /// The operator of all updates.
    pub op: BinaryOp,
}

/// A pure scalar expression. Operator semantics are those of `program` (see [`BinaryOp`], [`UnaryOp`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What is computed.
    pub kind: ExprKind,
    /// The type of the value.
    pub ty: ScalarType,
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number.
    Const(Value),
    /// As `i64`.
    Index(Index),
    /// As `bool`.
    Cond(Cond),
    /// A scalar argument.
    Scalar(ScalarId),
    /// A cell.
    Load {
        /// The array.
        array: ArrayId,
        /// One subscript per dimension.
        index: Vec<Index>,
    },
    /// A cell that depends on data. Subscripts are `i64`; those that are [`ExprKind::Index`] are proven to be in bounds,
    /// all others are checked at run time.
    Gather {
        /// The array.
        array: ArrayId,
        /// One subscript per dimension.
        index: Vec<Expr>,
    },
    /// The operand, where a check that fails in it is reported at this place of the source.
    At(Span, Box<Expr>),
    /// A local.
    Local(LocalId),
    /// An operator or function of one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator or function of two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// The operand in the type of the expression.
    Cast(Box<Expr>),
    /// Only the chosen branch is evaluated.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Whether results of the operator can be combined in any order and grouping.
pub fn combines(op: BinaryOp) -> bool {
    use BinaryOp::{Add, And, Max, Min, Mul, Or};
    matches!(op, Add | Mul | Min | Max | And | Or)
}

/// The factors of an update that adds a product of floats. Such an update is rounded once, `fma(a, b, target)`: a
/// reduction is free to do so, and everyone who runs loops does, so that all get the same bits.
pub fn fused_factors(op: BinaryOp, value: &Expr) -> Option<(&Expr, &Expr)> {
    match &value.kind {
        ExprKind::Binary(BinaryOp::Mul, a, b) if op == BinaryOp::Add && value.ty.is_float() => Some((a, b)),
        ExprKind::At(_, inner) => fused_factors(op, inner),
        _ => None,
    }
}

impl Axis {
    /// All of them.
    pub const ALL: [Axis; 6] = [
        Axis::Block(Dim::X),
        Axis::Block(Dim::Y),
        Axis::Block(Dim::Z),
        Axis::Thread(Dim::X),
        Axis::Thread(Dim::Y),
        Axis::Thread(Dim::Z),
    ];

    /// As scripts and the text form say it.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Block(Dim::X) => "block.x",
            Axis::Block(Dim::Y) => "block.y",
            Axis::Block(Dim::Z) => "block.z",
            Axis::Thread(Dim::X) => "thread.x",
            Axis::Thread(Dim::Y) => "thread.y",
            Axis::Thread(Dim::Z) => "thread.z",
        }
    }

    /// The axis of a name.
    pub fn named(name: &str) -> Option<Axis> {
        Axis::ALL.into_iter().find(|axis| axis.name() == name)
    }

    /// Whether an iteration is a thread of a block.
    pub fn is_thread(self) -> bool {
        matches!(self, Axis::Thread(_))
    }

    /// The most iterations that GPUs have room for, of threads.
    pub fn most_threads(self) -> Option<u32> {
        match self {
            Axis::Block(_) => None,
            Axis::Thread(Dim::X | Dim::Y) => Some(1024),
            Axis::Thread(Dim::Z) => Some(64),
        }
    }
}

impl Dim {
    /// 0 for x.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl Target {
    /// The array whose cell it is.
    pub fn array(&self) -> Option<ArrayId> {
        match self {
            Target::Cell { array, .. } => Some(*array),
            Target::Local(_) => None,
        }
    }
}

impl Space {
    /// All of them.
    pub const ALL: [Space; 3] = [Space::Scratch, Space::Shared, Space::Registers];

    /// As the text form says it.
    pub fn name(self) -> &'static str {
        match self {
            Space::Scratch => "scratch",
            Space::Shared => "shared",
            Space::Registers => "registers",
        }
    }
}

impl LoopKind {
    /// A parallel loop whose iterations share nothing they write.
    pub fn parallel() -> LoopKind {
        LoopKind::Parallel(Parallel::default())
    }

    /// Where iterations run on a GPU, if that is said.
    pub fn axis(&self) -> Option<Axis> {
        match self {
            LoopKind::Parallel(parallel) => parallel.axis,
            _ => None,
        }
    }

    /// Whether iterations may run at once on different threads.
    pub fn is_parallel(&self) -> bool {
        matches!(self, LoopKind::Parallel(_))
    }

    /// Whether iterations run in lockstep.
    pub fn is_vector(&self) -> bool {
        matches!(self, LoopKind::Vector(_))
    }

    /// Whether one iteration is over before the next one starts.
    pub fn is_ordered(&self) -> bool {
        matches!(self, LoopKind::Serial | LoopKind::Unrolled)
    }
}

impl Expr {
    /// A number.
    pub fn constant(value: Value) -> Expr {
        Expr { ty: value.ty(), kind: ExprKind::Const(value) }
    }

    /// The value of a local of that type.
    pub fn local(local: LocalId, ty: ScalarType) -> Expr {
        Expr { kind: ExprKind::Local(local), ty }
    }

    /// The value of a cell of that type.
    pub fn load(array: ArrayId, index: Vec<Index>, ty: ScalarType) -> Expr {
        Expr { kind: ExprKind::Load { array, index }, ty }
    }
}
