//! The typed array program: names resolved, types known, ranges written out; reductions still expressions.
//!
//! The interpreter executes this form directly; `poly` models it as sets and maps.

use diag::Span;
use index::{IterId, ParamId, id};
use syntax::script::Step;

use crate::{Affine, BinaryOp, Cond, Derived, ReduceOp, ScalarType, UnaryOp, Value};

id! {
    /// A scalar argument of a function.
    ScalarId
}
id! {
    /// The index of a loop whose bounds depend on data. It is a value like any other, not affine.
    CounterId
}
id! {
    /// An array: argument, output or local. A scalar output or local is an array of rank 0.
    ArrayId
}

/// All functions of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// In the order of the text.
    pub functions: Vec<Function>,
}

/// One function: what it takes, and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// As written.
    pub name: String,
    /// Its text.
    pub span: Span,
    /// Sizes, and what follows from them.
    pub params: Vec<Param>,
    /// What `where` says about the parameters. That they are not negative is understood, and not in here.
    pub context: Vec<Requirement>,
    /// Numbers that callers give.
    pub scalars: Vec<Scalar>,
    /// Those of callers, and its own.
    pub arrays: Vec<Array>,
    /// The indices of loops, foralls and reductions.
    pub iters: Vec<Iter>,
    /// The indices of loops whose bounds depend on data.
    pub counters: Vec<Iter>,
    /// Arguments, then outputs, in the order of the signature.
    pub signature: Vec<ArgRef>,
    /// What it does, in order.
    pub body: Vec<Node>,
    /// The calls whose statements are part of the body.
    pub calls: Vec<InlinedCall>,
    /// The extents of arguments that callers see, where these are products of the extents in here.
    pub outside: Vec<(ArrayId, Vec<Affine>)>,
    /// Where arrays are kept, as it is written; what it means is for the compiled program alone.
    pub layouts: Vec<Step>,
    /// Arguments that callers hand over in another layout than row by row.
    pub stored: Vec<Stored>,
}

/// An argument whose cells are, for callers, in other places than its subscripts say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The argument.
    pub array: ArrayId,
    /// How many places there are, per dimension.
    pub shape: Vec<Affine>,
    /// Where a cell is; `IterId(n)` is its n-th subscript.
    pub places: Vec<Affine>,
}

/// A call that was replaced by the statements of the function called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedCall {
    /// The call.
    pub span: Span,
    /// The text of that function, and of those that it calls in turn.
    pub texts: Vec<Span>,
}

/// A size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Of a derived one: a name made of those that it is derived from.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// How it follows from those before it; nobody gives its value.
    pub derived: Option<Derived>,
}

/// One condition of `where`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// What must hold.
    pub cond: Cond,
    /// As written.
    pub text: String,
    /// Its text.
    pub span: Span,
}

/// A number that callers give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// As written.
    pub name: String,
    /// Its type.
    pub ty: ScalarType,
    /// Where it is declared.
    pub span: Span,
}

/// An array of a caller, or one of the function's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// As written.
    pub name: String,
    /// The type of its elements.
    pub ty: ScalarType,
    /// Extents over the parameters; row-major.
    pub shape: Vec<Affine>,
    /// Whose it is.
    pub role: Role,
    /// Where it is declared.
    pub span: Span,
}

/// Whose an array is, and who writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The caller's, only read.
    In,
    /// The caller's, defined completely by the function.
    Out,
    /// The caller's, read and changed.
    InOut,
    /// The function's own.
    Local,
}

impl Role {
    /// As dumps write it.
    pub fn name(self) -> &'static str {
        match self {
            Role::In => "in",
            Role::Out => "out",
            Role::InOut => "inout",
            Role::Local => "local",
        }
    }
}

/// What stands at a place of the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgRef {
    /// A number.
    Scalar(ScalarId),
    /// An array.
    Array(ArrayId),
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iter {
    /// As written, or made up.
    pub name: String,
    /// Where it is first written.
    pub span: Span,
    /// The program does not name it, so it cannot be told to write a guard on it.
    pub made_up: bool,
}

/// A statement, or a loop around some.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A loop.
    For(For),
    /// An assignment.
    Assign(Assign),
    /// Updates of cells that data chooses.
    Scatter(Scatter),
    /// A loop whose bounds data gives.
    Each(Each),
}

/// An ordered loop whose bounds depend on data. Nothing is known about how often it runs, so all of it is one step of the
/// program, which may touch all that it indexes by anything but what is fixed around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Each {
    /// The label, or `S` and a number that no label uses.
    pub name: String,
    /// The values of its index.
    pub range: Box<DataRange>,
    /// Evaluated in front of each iteration; the loop ends where it fails.
    pub until: Option<Expr>,
    /// One iteration.
    pub body: Vec<Node>,
    /// Arrays that are declared in the body, and defined anew in each iteration.
    pub own: Vec<ArrayId>,
    /// Its text.
    pub span: Span,
}

/// The values `lo..hi` in steps of at least 1, from `lo` on. All three are evaluated once.
#[derive(Clone, Debug, PartialEq)]
pub struct DataRange {
    /// The index.
    pub counter: CounterId,
    /// Where it begins.
    pub lo: Expr,
    /// Where it ends, exclusive.
    pub hi: Expr,
    /// How far apart its values are.
    pub step: Expr,
    /// Both ends come from cells, so that a range that ends before it begins is a fault, rather than empty.
    pub forwards: bool,
    /// Its text.
    pub span: Span,
}

/// An ordered loop over `lo..hi`. A positive step starts at `lo` and goes up; a negative one starts at `hi - 1` and
/// goes down; neither leaves the range.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The index and its range.
    pub bound: Bound,
    /// Not zero.
    pub step: i64,
    /// Visit the same values in the opposite order.
    pub rev: bool,
    /// One iteration.
    pub body: Vec<Node>,
    /// Its text.
    pub span: Span,
}

/// An iteration variable and its half-open range. Bounds may use parameters and iterators bound further out (for
/// reductions and foralls also those bound before it in the same list).
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The variable.
    pub iter: IterId,
    /// Where it begins.
    pub lo: Affine,
    /// Where it ends, exclusive.
    pub hi: Affine,
}

/// A forall: `target[index] = value` for all iterators in range for which the guard holds, in no order.
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// The label, or `S` and a number that no label uses.
    pub name: String,
    /// Its indices.
    pub foralls: Vec<Bound>,
    /// For which of them it is done.
    pub guard: Cond,
    /// The array.
    pub target: ArrayId,
    /// The cell.
    pub index: Vec<Affine>,
    /// The text of the left-hand side.
    pub target_span: Span,
    /// What the cell gets.
    pub value: Expr,
    /// Its text.
    pub span: Span,
}

/// A forall whose instances combine their values into cells that depend on data: `target[index] op= value`. Several
/// may meet in one cell, in any order; where they replace the value of the cell, none do.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// The label, or `S` and a number that no label uses.
    pub name: String,
    /// Its indices.
    pub foralls: Vec<Bound>,
    /// For which of them it is done.
    pub guard: Cond,
    /// The array.
    pub target: ArrayId,
    /// The cell.
    pub index: Vec<Subscript>,
    /// The text of the left-hand side.
    pub target_span: Span,
    /// `Sum`, `Prod`, `Min` or `Max`; or `Last`, if no two instances of the forall can meet in a cell.
    pub op: ReduceOp,
    /// What is combined with the cell.
    pub value: Expr,
    /// Its text.
    pub span: Span,
}

/// A subscript of an access to a cell that depends on data.
#[derive(Clone, Debug, PartialEq)]
pub enum Subscript {
    /// Proven to be in bounds, as everywhere.
    Affine(Affine),
    /// Any `i64`, checked when it is used.
    Data(Box<Expr>),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// How it is computed.
    pub kind: ExprKind,
    /// Its type.
    pub ty: ScalarType,
    /// Its text.
    pub span: Span,
}

/// How a value is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// It is known.
    Const(Value),
    /// The value of an affine expression, as `i64`.
    Index(Affine),
    /// A number that callers give.
    Scalar(ScalarId),
    /// The value of the index of a loop whose bounds depend on data, as `i64`.
    Counter(CounterId),
    /// A cell of an array.
    Load {
        /// The array.
        array: ArrayId,
        /// One subscript per dimension.
        index: Vec<Affine>,
    },
    /// A load with at least one subscript that depends on data.
    Gather {
        /// The array.
        array: ArrayId,
        /// One subscript per dimension.
        index: Vec<Subscript>,
    },
    /// Of one value.
    Unary(UnaryOp, Box<Expr>),
    /// Of two values.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Conversion to this expression's type: floats to integers saturate (NaN to 0), integers wrap, to `bool` is `!= 0`.
    Cast(Box<Expr>),
    /// Only the chosen branch is evaluated. `affine` is the condition again where it is affine in parameters and iterators.
    Select {
        /// What decides.
        cond: Box<Expr>,
        /// The same as a condition on indices, where it is one.
        affine: Option<Cond>,
        /// If it holds.
        then: Box<Expr>,
        /// If it does not.
        otherwise: Box<Expr>,
    },
    /// All values of the body, combined.
    Reduce {
        /// How.
        op: ReduceOp,
        /// Its indices.
        bounds: Vec<Bound>,
        /// For which of them.
        guard: Cond,
        /// What is combined.
        body: Box<Expr>,
    },
    /// A reduction over a range that depends on data; the body may have more of them, and reductions.
    Fold {
        /// How.
        op: ReduceOp,
        /// The values of its index.
        range: Box<DataRange>,
        /// What is combined.
        body: Box<Expr>,
    },
}

impl DataRange {
    /// What is evaluated in front of the loop.
    pub fn ends(&self) -> [&Expr; 3] {
        [&self.lo, &self.hi, &self.step]
    }
}

impl Each {
    /// Calls `found` with every expression of the loop that is evaluated as a whole, and with every array and cell that a
    /// statement of it writes.
    pub fn visit(&self, expr: &mut dyn FnMut(&Expr), write: &mut dyn FnMut(ArrayId)) {
        self.range.ends().into_iter().chain(&self.until).for_each(&mut *expr);
        visit_nodes(&self.body, expr, write);
    }
}

pub(crate) fn visit_nodes(nodes: &[Node], expr: &mut dyn FnMut(&Expr), write: &mut dyn FnMut(ArrayId)) {
    for node in nodes {
        match node {
            Node::For(node) => visit_nodes(&node.body, expr, write),
            Node::Each(each) => each.visit(expr, write),
            Node::Assign(assign) => {
                write(assign.target);
                expr(&assign.value);
            }
            Node::Scatter(scatter) => {
                write(scatter.target);
                Subscript::data(&scatter.index).chain([&scatter.value]).for_each(&mut *expr);
            }
        }
    }
}

impl Subscript {
    /// The affine subscripts, if all of them are affine.
    pub fn all_affine(index: &[Subscript]) -> Option<Vec<Affine>> {
        index.iter().map(|subscript| subscript.as_affine().cloned()).collect()
    }

    /// The subscript, if it is affine.
    pub fn as_affine(&self) -> Option<&Affine> {
        match self {
            Subscript::Affine(affine) => Some(affine),
            Subscript::Data(_) => None,
        }
    }

    /// The expressions of those that depend on data.
    pub fn data(index: &[Subscript]) -> impl Iterator<Item = &Expr> {
        index.iter().filter_map(|subscript| match subscript {
            Subscript::Affine(_) => None,
            Subscript::Data(expr) => Some(expr.as_ref()),
        })
    }

    /// Calls `visit` with every iterator in the affine subscripts.
    pub fn visit_iters(index: &[Subscript], visit: &mut impl FnMut(IterId)) {
        for subscript in index {
            if let Subscript::Affine(affine) = subscript {
                affine.visit_iters(visit);
            }
        }
    }
}

impl Expr {
    /// Every iterator that occurs in the expression, with repetitions.
    pub fn iters(&self) -> Vec<IterId> {
        let mut used = Vec::new();
        self.visit(&mut |expr| {
            let mut note = |iter| used.push(iter);
            match &expr.kind {
                ExprKind::Index(affine) => affine.visit_iters(&mut note),
                ExprKind::Load { index, .. } => index.iter().for_each(|affine| affine.visit_iters(&mut note)),
                ExprKind::Gather { index, .. } => Subscript::visit_iters(index, &mut note),
                ExprKind::Reduce { bounds, guard, .. } => {
                    for bound in bounds {
                        bound.lo.visit_iters(&mut note);
                        bound.hi.visit_iters(&mut note);
                    }
                    guard.visit_iters(&mut note);
                }
                _ => {}
            }
        });
        used
    }

    /// Calls `found` for this expression and everything in it.
    pub fn visit(&self, found: &mut dyn FnMut(&Expr)) {
        found(self);
        match &self.kind {
            ExprKind::Const(_)
            | ExprKind::Index(_)
            | ExprKind::Scalar(_)
            | ExprKind::Counter(_)
            | ExprKind::Load { .. } => {}
            ExprKind::Gather { index, .. } => Subscript::data(index).for_each(|expr| expr.visit(found)),
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => operand.visit(found),
            ExprKind::Binary(_, lhs, rhs) => {
                lhs.visit(found);
                rhs.visit(found);
            }
            ExprKind::Select { cond, then, otherwise, .. } => {
                cond.visit(found);
                then.visit(found);
                otherwise.visit(found);
            }
            ExprKind::Reduce { body, .. } => body.visit(found),
            ExprKind::Fold { range, body, .. } => {
                range.ends().into_iter().for_each(|end| end.visit(found));
                body.visit(found);
            }
        }
    }

    /// The arrays that the expression reads, with repetitions.
    pub fn arrays(&self) -> Vec<ArrayId> {
        let mut read = Vec::new();
        self.visit(&mut |expr| {
            if let ExprKind::Load { array, .. } | ExprKind::Gather { array, .. } = &expr.kind {
                read.push(*array);
            }
        });
        read
    }

    /// Where the expression reads an array, if it does.
    pub fn reads(&self, wanted: ArrayId) -> Option<Span> {
        let mut read = None;
        self.visit(&mut |expr| match &expr.kind {
            ExprKind::Load { array, .. } | ExprKind::Gather { array, .. } if *array == wanted => {
                read = read.or(Some(expr.span));
            }
            _ => {}
        });
        read
    }
}

impl Function {
    /// A size.
    pub fn param(&self, id: ParamId) -> &Param {
        &self.params[id.index()]
    }

    /// A scalar argument.
    pub fn scalar(&self, id: ScalarId) -> &Scalar {
        &self.scalars[id.index()]
    }

    /// An array.
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.index()]
    }

    /// The extents of an array as callers see it.
    pub fn outside_shape(&self, id: ArrayId) -> &[Affine] {
        if let Some(stored) = self.stored.iter().find(|stored| stored.array == id) {
            return &stored.shape;
        }
        match self.outside.iter().find(|(array, _)| *array == id) {
            Some((_, shape)) => shape,
            None => &self.array(id).shape,
        }
    }

    /// The index of a loop whose bounds data gives.
    pub fn counter(&self, id: CounterId) -> &Iter {
        &self.counters[id.index()]
    }

    /// An index.
    pub fn iter(&self, id: IterId) -> &Iter {
        &self.iters[id.index()]
    }

    /// An error in statements that a call brought here also shows the call.
    pub fn at_calls(&self, error: diag::Error) -> diag::Error {
        let diag::Error::User(diagnostics) = error else { return error };
        let labelled = diagnostics.into_iter().map(|diagnostic| {
            let at = diagnostic.span();
            let inside = |text: &Span| text.start <= at.start && at.end <= text.end;
            let calls = self.calls.iter().filter(|call| call.texts.iter().any(inside));
            calls.fold(diagnostic, |diagnostic, call| diagnostic.label(call.span, "called here"))
        });
        diag::Error::User(labelled.collect())
    }

    /// Every array.
    pub fn array_ids(&self) -> impl Iterator<Item = ArrayId> + use<> {
        (0..self.arrays.len() as u32).map(ArrayId)
    }
}
