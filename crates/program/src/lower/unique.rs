//! `unique x[perm[i]] = y[i]`: cells that depend on data, of which the program says that no two instances name the same one.
//!
//! In: such an assignment.  Out: behind it, statements that look whether it is so when the program runs. A local array as large
//! as the target holds who has claimed each cell; instances claim theirs in order, and one that comes second is a fault. (They come
//! behind so that a subscript outside of the target is a fault of the target.)
//! Not here: what the claim does (`ReduceOp::Once`).

use std::collections::BTreeMap;

use diag::{Diagnostic, Span};
use syntax::ast;

use super::Lowerer;
use super::inline::Inliner;
use super::stmt::Forall;
use crate::{
    Affine, Array, ArrayId, Assign, Bound, Cond, Expr, ExprKind, For, Iter, IterId, Node, ParamId, ReduceOp, Role,
    ScalarId, ScalarType, Scatter, Subscript, Value,
};

impl Lowerer<'_> {
    /// What checks that the instances of a statement name different cells, if they could name the same ones at all.
    pub(super) fn claim_cells(
        &mut self,
        name: &str,
        target: &ast::Target,
        array: ArrayId,
        forall: &Forall,
    ) -> Option<Option<Node>> {
        let loose: Vec<IterId> =
            forall.foralls.iter().map(|bound| bound.iter).filter(|iter| !forall.is_alone(*iter)).collect();
        let claimant = match loose.as_slice() {
            [] => return Some(None),
            [iter] => *iter,
            several => {
                let names = several.iter().map(|iter| format!("`{}`", self.function.iter(*iter).name));
                let names = names.collect::<Vec<_>>().join(" and ");
                let diagnostic = Diagnostic::error("E0313", target.span, "`unique` tells instances apart by one index")
                    .here(format!("here they differ by {names}"))
                    .help("number the instances by one index, such as `x[p[k]] = y[k / M, k % M]`")
                    .help("or write loops, where the last one stays: `for i in 0..N { … }`");
                self.report(diagnostic);
                return None;
            }
        };
        let span = target.span;
        if self.is_permutation(array, forall, claimant) {
            // Every cell is assigned, so none has to have a value before.
            let zero = Value::from_i64(self.function.array(array).ty, 0);
            let clear = self.fill(format!("{name}_clear"), array, zero, span);
            self.pending.push(Node::Assign(clear));
        }
        let shape = self.function.array(array).shape.clone();
        let owner = ArrayId(self.function.arrays.len() as u32);
        let owner_name = format!("{name}_owner");
        self.function.arrays.push(Array { name: owner_name, ty: ScalarType::I64, shape, role: Role::Local, span });
        let nobody = self.fill(format!("{name}_nobody"), owner, ReduceOp::Once.neutral(ScalarType::I64), span);
        let claims = self.claims(format!("{name}_claim"), owner, forall, claimant, span)?;
        self.pending.push(Node::Assign(nobody));
        Some(Some(claims))
    }

    /// Whether there are as many instances as cells, all of them different.
    fn is_permutation(&self, array: ArrayId, forall: &Forall, claimant: IterId) -> bool {
        let shape = &self.function.array(array).shape;
        let whole = |iter: IterId, extent: &Affine| {
            forall.foralls.iter().any(|bound| {
                let end = bound.hi.sub(extent).is_some_and(|gap| self.eliminate(&gap).as_constant() == Some(0));
                bound.iter == iter && bound.lo.as_constant() == Some(0) && end
            })
        };
        forall.guard.is_true()
            && Subscript::data(&forall.index).count() == 1
            && forall.index.iter().zip(shape).all(|(subscript, extent)| match subscript {
                Subscript::Affine(affine) => affine.as_iter().is_some_and(|iter| whole(iter, extent)),
                Subscript::Data(_) => whole(claimant, extent),
            })
    }

    /// A statement that gives one value to all cells.
    fn fill(&mut self, name: String, target: ArrayId, value: Value, span: Span) -> Assign {
        let shape = self.function.array(target).shape.clone();
        let mut foralls = Vec::new();
        for (number, hi) in shape.into_iter().enumerate() {
            let iter = IterId(self.function.iters.len() as u32);
            self.function.iters.push(Iter { name: format!("c{number}"), span, made_up: true });
            foralls.push(Bound { iter, lo: Affine::constant(0), hi });
        }
        let index = foralls.iter().map(|bound| Affine::iter(bound.iter)).collect();
        let value = Expr { ty: value.ty(), kind: ExprKind::Const(value), span };
        Assign { name, foralls, guard: Cond::TRUE, target, index, target_span: span, value, span }
    }

    /// The loops in which each instance claims its cell, over indices of their own.
    fn claims(&mut self, name: String, owner: ArrayId, forall: &Forall, claimant: IterId, span: Span) -> Option<Node> {
        let iters = self.function.iters.clone();
        let counters = self.function.counters.clone();
        let scalars = (0..self.function.scalars.len() as u32).map(|id| {
            let scalar = self.function.scalar(ScalarId(id));
            Expr { kind: ExprKind::Scalar(ScalarId(id)), ty: scalar.ty, span: scalar.span }
        });
        let mut copier = Inliner {
            callee_iters: &iters,
            callee_counters: &counters,
            params: (0..self.function.params.len() as u32).map(|id| Affine::param(ParamId(id))).collect(),
            scalars: scalars.collect(),
            arrays: self.function.array_ids().collect(),
            values: BTreeMap::new(),
            iters: (0..iters.len() as u32).map(|id| (IterId(id), IterId(id))).collect(),
            counters: (0..counters.len() as u32).map(|id| (crate::CounterId(id), crate::CounterId(id))).collect(),
            avoid: Vec::new(),
            prefix: String::new(),
            caller: &mut self.function,
        };
        let bounds = forall.foralls.iter().map(|bound| copier.bound(bound)).collect::<Option<Vec<_>>>()?;
        let value = copier.affine(&Affine::iter(claimant))?;
        let scatter = Scatter {
            name,
            foralls: Vec::new(),
            guard: copier.cond(&forall.guard)?,
            target: owner,
            index: copier.subscripts(&forall.index)?,
            target_span: span,
            op: ReduceOp::Once,
            value: Expr { kind: ExprKind::Index(value), ty: ScalarType::I64, span },
            span,
        };
        let innermost = Node::Scatter(scatter);
        Some(
            bounds
                .into_iter()
                .rev()
                .fold(innermost, |inner, bound| Node::For(For { bound, step: 1, rev: false, body: vec![inner], span })),
        )
    }
}
