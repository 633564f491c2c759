//! Simplification: smaller index arithmetic, no dead branches, no loops that run once or never.
//!
//! In: a kernel.  Out: one with the same effect, bit for bit: float arithmetic is left alone, and integer division
//! keeps its run-time error.

use std::collections::HashMap;

use program::{ScalarType, UnaryOp, Value};

use crate::concurrent::only_iteration;
use crate::proof::decide;
use crate::prune::{may_fail, prune};
use crate::quotient::{Range, decide_quotients};
use crate::walk::{Rewrite, Substitute};
use crate::{Cond, Expr, ExprKind, For, Index, Kernel, Stmt};
use index::{constant_difference, simplify_cond, simplify_index};

/// Normalises index arithmetic, folds constants, and removes branches and loops that the constants decide.
pub fn simplify(kernel: Kernel) -> Kernel {
    rounds(kernel, false)
}

/// The same, but a vector loop stays one even if it runs once: lanes that add to the same cell round differently from a single addition.
pub(crate) fn simplify_around_vectors(kernel: Kernel) -> Kernel {
    rounds(kernel, true)
}

fn rounds(mut kernel: Kernel, keeps_vectors: bool) -> Kernel {
    for array in &mut kernel.arrays {
        array.shape = Simplify::default().indices(std::mem::take(&mut array.shape));
    }
    let mut simplify = Simplify { keeps_vectors, ..Simplify::default() };
    // What one round removes may leave a branch empty or a local unread; two rounds are usual.
    loop {
        let before = kernel.body.clone();
        kernel.body = simplify.block(kernel.body);
        kernel = prune(kernel);
        if kernel.body == before {
            return kernel;
        }
    }
}

/// The same for statements alone; what they leave unused stays declared.
pub(crate) fn simplified(stmts: Vec<Stmt>) -> Vec<Stmt> {
    Simplify::default().block(stmts)
}

#[derive(Default)]
struct Simplify {
    keeps_vectors: bool,
    /// The loops around, outermost first.
    ranges: Vec<Range>,
    /// Normal forms: most subscripts occur again and again.
    normal: HashMap<Index, Index>,
}

impl Rewrite for Simplify {
    fn index(&mut self, index: Index) -> Index {
        if matches!(index, Index::Const(_) | Index::Param(_) | Index::Var(_)) {
            return index;
        }
        let simple = match self.normal.get(&index) {
            Some(known) => known.clone(),
            None => {
                let simple = simplify_index(&index);
                self.normal.insert(index, simple.clone());
                simple
            }
        };
        if !has_quotient(&simple) {
            return simple;
        }
        let decided = decide_quotients(simple.clone(), &self.ranges);
        if decided == simple { simple } else { simplify_index(&decided) }
    }

    fn cond(&mut self, cond: Cond) -> Cond {
        simplify_cond(&decide(simplify_cond(&cond), &self.ranges))
    }

    fn expr(&mut self, expr: Expr) -> Expr {
        fold(self.descend_expr(expr))
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::For(f) => self.for_loop(f),
            Stmt::If { cond, then, otherwise } => {
                let cond = self.cond(cond);
                if cond == Cond::TRUE {
                    return self.block(then);
                }
                if cond == Cond::FALSE {
                    return self.block(otherwise);
                }
                branch(cond, self.block(then), self.block(otherwise))
            }
            stmt => match self.descend_stmt(stmt) {
                Stmt::Store { array, index, value } if stays(array, &index, &value) => Vec::new(),
                stmt => vec![stmt],
            },
        }
    }
}

/// Whether there is a division that ranges may decide.
fn has_quotient(index: &Index) -> bool {
    match index {
        Index::Const(_) | Index::Param(_) | Index::Var(_) => false,
        Index::Add(a, b) | Index::Sub(a, b) | Index::Xor(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
            has_quotient(a) || has_quotient(b)
        }
        Index::Mul(a, _) => has_quotient(a),
        Index::FloorDiv(..) | Index::Mod(..) | Index::Select(..) => true,
    }
}

/// Whether the value is what the cell already holds.
fn stays(array: crate::ArrayId, index: &[Index], value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Load { array: from, index: cell } if *from == array && cell.as_slice() == index)
}

impl Simplify {
    fn for_loop(&mut self, f: For) -> Vec<Stmt> {
        let (lo, hi) = (self.index(f.lo), self.index(f.hi));
        match constant_difference(&hi, &lo) {
            Some(length) if length <= 0 => return Vec::new(),
            Some(length) if length <= f.step && !(self.keeps_vectors && f.kind.is_vector()) => {
                let body = Substitute { var: f.var, with: &lo }.block(f.body);
                return self.block(only_iteration(f.kind, body));
            }
            _ => {}
        }
        self.ranges.push(Range::of(f.var, &lo, &hi));
        let body = self.block(f.body);
        self.ranges.pop();
        if body.is_empty() { Vec::new() } else { vec![Stmt::For(For { lo, hi, body, ..f })] }
    }
}

/// An `if` whose parts are simplified already.
fn branch(cond: Cond, mut then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Vec<Stmt> {
    if then.is_empty() && otherwise.is_empty() {
        return Vec::new();
    }
    if then.is_empty() {
        return branch(simplify_cond(&Cond::Not(Box::new(cond))), otherwise, then);
    }
    if otherwise.is_empty()
        && let [Stmt::If { cond: inner, then: body, otherwise: none }] = then.as_mut_slice()
        && none.is_empty()
    {
        let both = simplify_cond(&Cond::And(vec![cond, inner.clone()]));
        return vec![Stmt::If { cond: both, then: std::mem::take(body), otherwise: Vec::new() }];
    }
    vec![Stmt::If { cond, then, otherwise }]
}

/// Folds one node whose operands are folded already.
fn fold(expr: Expr) -> Expr {
    let Expr { kind, ty } = expr;
    match kind {
        ExprKind::Index(Index::Const(value)) => Expr::constant(Value::I64(value)),
        ExprKind::Cond(cond) if cond == Cond::TRUE => Expr::constant(Value::Bool(true)),
        ExprKind::Cond(cond) if cond == Cond::FALSE => Expr::constant(Value::Bool(false)),
        ExprKind::Cast(operand) if operand.ty == ty => *operand,
        ExprKind::Cast(operand) => match operand.kind {
            ExprKind::Const(value) if integer(value).is_some() => {
                Expr::constant(Value::from_i64(ty, integer(value).unwrap_or(0)))
            }
            _ => Expr { kind: ExprKind::Cast(operand), ty },
        },
        ExprKind::Unary(UnaryOp::Neg, operand) => match operand.kind {
            ExprKind::Const(Value::F64(value)) => Expr::constant(Value::F64(-value)),
            ExprKind::Const(Value::F32(value)) => Expr::constant(Value::F32(-value)),
            _ => Expr { kind: ExprKind::Unary(UnaryOp::Neg, operand), ty },
        },
        ExprKind::Unary(UnaryOp::Not, operand) => match operand.kind {
            ExprKind::Const(Value::Bool(value)) => Expr::constant(Value::Bool(!value)),
            ExprKind::Cond(cond) => {
                Expr { kind: ExprKind::Cond(simplify_cond(&Cond::Not(Box::new(cond)))), ty: ScalarType::Bool }
            }
            _ => Expr { kind: ExprKind::Unary(UnaryOp::Not, operand), ty },
        },
        ExprKind::At(_, operand) if !may_fail(&operand) => *operand,
        ExprKind::Select(cond, then, otherwise) => match cond.kind {
            ExprKind::Const(Value::Bool(true)) => *then,
            ExprKind::Const(Value::Bool(false)) => *otherwise,
            _ => Expr { kind: ExprKind::Select(cond, then, otherwise), ty },
        },
        kind => Expr { kind, ty },
    }
}

fn integer(value: Value) -> Option<i64> {
    match value {
        Value::Bool(value) => Some(value.into()),
        value => value.as_i64(),
    }
}
