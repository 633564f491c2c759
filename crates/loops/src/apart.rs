//! Sums of products, product by product: each is added by a multiply-add of its own.
//!
//! In: loops whose sums may be regrouped.  Out: the same with `c += a * b + d * e` as `c += a * b` and `c += d * e` where lanes have such targets
//! side by side, so that there is no lack of sums that do not wait for each other. Two instructions do then what four did.
//!
//! A sum that all lanes share, or that a scalar loop makes, is left alone: there every term would wait twice.

use program::BinaryOp;

use crate::walk::{Rewrite, Visit};
use crate::{Expr, ExprKind, For, Index, Kernel, LocalId, Stmt, Target, VarId, fused_factors};

/// Adds products one by one.
pub fn apart(mut kernel: Kernel) -> Kernel {
    kernel.body = Apart::default().block(kernel.body);
    kernel
}

/// The vector loop around, and the locals of which each of its lanes has its own.
#[derive(Default)]
struct Apart {
    lanes: Option<(VarId, Vec<LocalId>)>,
}

impl Rewrite for Apart {
    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::For(f) if f.kind.is_vector() && self.lanes.is_none() => {
                let mut own = Own::default();
                own.block(&f.body);
                self.lanes = Some((f.var, own.0));
                let body = self.block(f.body);
                self.lanes = None;
                vec![Stmt::For(For { body, ..f })]
            }
            Stmt::Update { target, op: BinaryOp::Add, value } if self.is_of_a_lane(&target) => {
                let mut products = Vec::new();
                if reads(&target, &value) || !gather(&value, &mut products) {
                    return vec![Stmt::Update { target, op: BinaryOp::Add, value }];
                }
                let update = |value| Stmt::Update { target: target.clone(), op: BinaryOp::Add, value };
                products.into_iter().map(update).collect()
            }
            stmt => vec![self.descend_stmt(stmt)],
        }
    }
}

impl Apart {
    fn is_of_a_lane(&self, target: &Target) -> bool {
        let Some((var, own)) = &self.lanes else { return false };
        match target {
            Target::Cell { index, .. } => index.iter().any(|subscript| subscript.uses(*var)),
            Target::Local(local) => own.contains(local),
        }
    }
}

/// The products that a value is the sum of, in their order; whether it is one of several, and of nothing else.
fn gather(value: &Expr, products: &mut Vec<Expr>) -> bool {
    match &value.kind {
        ExprKind::At(_, inner) => gather(inner, products),
        ExprKind::Binary(BinaryOp::Add, a, b) if value.ty.is_float() => [a, b].into_iter().all(|addend| {
            let is_product = fused_factors(BinaryOp::Add, addend).is_some();
            if is_product {
                products.push((**addend).clone());
            }
            is_product || gather(addend, products)
        }),
        _ => false,
    }
}

/// Whether what is added looks at what it is added to.
fn reads(target: &Target, value: &Expr) -> bool {
    let mut reads = Reads { target, found: false };
    reads.expr(value);
    reads.found
}

struct Reads<'a> {
    target: &'a Target,
    found: bool,
}

impl Visit for Reads<'_> {
    fn index(&mut self, _: &Index) {}

    fn expr(&mut self, expr: &Expr) {
        self.found |= match (&expr.kind, self.target) {
            (ExprKind::Load { array, .. } | ExprKind::Gather { array, .. }, Target::Cell { array: own, .. }) => {
                array == own
            }
            (ExprKind::Local(local), Target::Local(own)) => local == own,
            _ => false,
        };
        self.descend_expr(expr);
    }
}

/// The locals that a body sets.
#[derive(Default)]
struct Own(Vec<LocalId>);

impl Visit for Own {
    fn index(&mut self, _: &Index) {}

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Set { local, .. } = stmt {
            self.0.push(*local);
        }
        self.descend_stmt(stmt);
    }
}
