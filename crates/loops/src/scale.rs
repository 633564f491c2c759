//! Factors of copies: where everyone who reads a copy multiplies it by the same scalar, the copy is made of products already.
//!
//! In: loops.  Out: the same with `P[…] = s * A[…]` and `P[…]` for `P[…] = A[…]` and `s * P[…]`, where `P` is a local array that is read in more
//! loops than it is stored in, as packed operands are. The same products are rounded in the same way, but once for every cell.
//!
//! The product that a term of a sum is stays where it is: an update that adds a product is rounded once (`fused_factors`).

use program::{BinaryOp, Role, ScalarType};

use crate::walk::{Rewrite, Visit};
use crate::{ArrayId, Expr, ExprKind, Index, Kernel, Stmt, Target};

/// Multiplies where copies are made.
pub fn scale(mut kernel: Kernel) -> Kernel {
    let mut uses = Uses { depth: 0, of: vec![Use::default(); kernel.arrays.len()] };
    uses.block(&kernel.body);
    let chosen: Vec<Option<Expr>> = kernel
        .arrays
        .iter()
        .zip(uses.of)
        .map(|(decl, found)| if decl.role == Role::Local { found.factor(decl.ty) } else { None })
        .collect();
    if chosen.iter().any(Option::is_some) {
        kernel.body = Scale { chosen }.block(kernel.body);
    }
    kernel
}

/// What is known of an array.
#[derive(Clone, Default)]
struct Use {
    /// What is made of its cells by those that read it, with a cell that has no subscripts.
    product: Option<Expr>,
    /// Whether something is done with it that has no place here.
    other: bool,
    /// In how many loops its cells are stored, at most, and read, at least.
    stored: usize,
    read: Option<usize>,
}

impl Use {
    fn factor(self, ty: ScalarType) -> Option<Expr> {
        let inside = self.read.is_some_and(|read| read > self.stored);
        self.product.filter(|product| inside && !self.other && product.ty == ty)
    }
}

struct Uses {
    depth: usize,
    of: Vec<Use>,
}

impl Uses {
    fn of(&mut self, array: ArrayId) -> &mut Use {
        &mut self.of[array.0 as usize]
    }
}

impl Visit for Uses {
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                for (operand, other) in [(a, b), (b, a)] {
                    let Some((array, product)) = scaled(operand).filter(|_| !is_scalar(other)) else {
                        self.expr(operand);
                        continue;
                    };
                    let depth = self.depth;
                    let known = self.of(array);
                    known.other |= known.product.as_ref().is_some_and(|known| *known != product);
                    known.product = Some(product);
                    known.read = Some(known.read.map_or(depth, |read| read.min(depth)));
                }
            }
            ExprKind::Load { array, .. } | ExprKind::Gather { array, .. } => {
                self.of(*array).other = true;
                self.descend_expr(expr);
            }
            _ => self.descend_expr(expr),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let (depth, inside) = (self.depth, matches!(stmt, Stmt::For(_) | Stmt::Each(_)));
        match stmt {
            Stmt::Store { array, .. } => {
                let known = self.of(*array);
                known.stored = known.stored.max(depth);
            }
            Stmt::Update { target: Target::Cell { array, .. }, .. } | Stmt::Scatter { array, .. } => {
                self.of(*array).other = true;
            }
            _ => {}
        }
        self.depth += usize::from(inside);
        self.descend_stmt(stmt);
        self.depth = depth;
    }
}

struct Scale {
    /// What is stored in the place of a cell, for each array.
    chosen: Vec<Option<Expr>>,
}

impl Rewrite for Scale {
    fn expr(&mut self, expr: Expr) -> Expr {
        match scaled(&expr) {
            Some((array, _)) if self.chosen[array.0 as usize].is_some() => cell(expr),
            _ => self.descend_expr(expr),
        }
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        vec![match self.descend_stmt(stmt) {
            Stmt::Store { array, index, value } => {
                let value = match &self.chosen[array.0 as usize] {
                    Some(product) => filled(product, &value),
                    None => value,
                };
                Stmt::Store { array, index, value }
            }
            stmt => stmt,
        }]
    }
}

/// The array of which a cell is multiplied by scalars, and the product without the cell's subscripts.
fn scaled(expr: &Expr) -> Option<(ArrayId, Expr)> {
    let ExprKind::Binary(BinaryOp::Mul, a, b) = &expr.kind else { return None };
    let of = |inner: &Expr| match &inner.kind {
        ExprKind::Load { array, .. } => Some((*array, Expr::load(*array, Vec::new(), inner.ty))),
        _ => scaled(inner),
    };
    let product =
        |a: Expr, b: Expr| Expr { kind: ExprKind::Binary(BinaryOp::Mul, Box::new(a), Box::new(b)), ty: expr.ty };
    if is_scalar(a) {
        of(b).map(|(array, inner)| (array, product((**a).clone(), inner)))
    } else if is_scalar(b) {
        of(a).map(|(array, inner)| (array, product(inner, (**b).clone())))
    } else {
        None
    }
}

/// Whether an expression has the same value wherever it stands.
fn is_scalar(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Scalar(_) => true,
        ExprKind::Binary(BinaryOp::Mul, a, b) => is_scalar(a) && is_scalar(b),
        _ => false,
    }
}

/// The cell of a product.
fn cell(expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::Binary(_, a, b) => cell(if is_scalar(&a) { *b } else { *a }),
        _ => expr,
    }
}

/// A product with a value in the place of the cell.
fn filled(product: &Expr, value: &Expr) -> Expr {
    let kind = match &product.kind {
        ExprKind::Load { .. } => return value.clone(),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, Box::new(filled(a, value)), Box::new(filled(b, value))),
        kind => kind.clone(),
    };
    Expr { kind, ty: product.ty }
}
