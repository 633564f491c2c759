//! Functions of arrays, mapped over a frame: `(f rank 1) X` calls `f` on every row.
//!
//! In: a function, and arrays whose cells it is applied to.  Out: its statements, each with a forall over the frame in
//! front, and a local of the frame's shape and the result's. One application touches no cell of another, so
//! every statement may be done for all of them before the next.

use diag::Span;
use syntax::ast::{self, VerbKind};

use super::super::calls::{CallStmt, Into};
use super::super::names::Meaning;
use super::super::{Lowerer, MAX_DIMENSIONS};
use super::agree::Part;
use crate::{Affine, Array, ArrayId, Assign, Bound, Expr, ExprKind, For, Iter, IterId, Node, Role, Scatter, Subscript};

impl Lowerer<'_> {
    /// Emits the statements, and binds the name of the local to what they compute.
    pub(super) fn spread_call(
        &mut self,
        verb: &ast::Verb,
        function: &ast::Ident,
        operands: &[ast::Expr],
        local: &ast::Ident,
        span: Span,
        out: &mut Vec<Node>,
    ) -> Option<()> {
        let VerbKind::Rank { left, right, .. } = &verb.kind else { return None };
        let parts: Vec<Part> = operands.iter().map(|operand| self.part(operand)).collect::<Option<_>>()?;
        let (ranks, frame) = match parts.as_slice() {
            [left_part, right_part] => {
                let ranks = self.ranks_of(verb, left_part, right_part)?;
                (vec![ranks.0, ranks.1], self.agree_frames(left_part, right_part, ranks)?)
            }
            [part] => {
                self.check_one_rank(verb, *right)?;
                let rank = self.rank_of(*left, part, verb.span)?;
                (vec![rank], part.shape[..part.shape.len() - rank].to_vec())
            }
            _ => return None,
        };
        // The cells, as arrays that only the call sees. They come first, so that the call's own arrays follow.
        let first_view = self.function.arrays.len();
        let mut views = Vec::new();
        let mut args = Vec::new();
        for ((operand, part), rank) in operands.iter().zip(&parts).zip(&ranks) {
            let ast::ExprKind::Name(name) = &operand.kind else { return None };
            let Some((Meaning::Array(real), _)) = self.scope.lookup(name) else { return None };
            let like = self.function.array(real);
            let view = Array { shape: part.cell(*rank).shape, role: Role::In, span: operand.span, ..like.clone() };
            let id = ArrayId(self.function.arrays.len() as u32);
            self.function.arrays.push(view);
            views.push(real);
            // No name of the source has a quote in it.
            let hidden = format!("{name}'{}", args.len());
            self.scope.insert(hidden.clone(), Meaning::Array(id), operand.span);
            args.push(ast::Expr { kind: ast::ExprKind::Name(hidden), span: operand.span });
        }
        let mut nodes = Vec::new();
        let call = CallStmt { callee: function, args: &args, into: Into::Local(local, None), label: Some(local), span };
        self.lower_call_stmt(&call, &mut nodes);
        for arg in &args {
            if let ast::ExprKind::Name(hidden) = &arg.kind {
                self.scope.forget(hidden);
            }
        }
        let Some((Meaning::Array(result), at)) = self.scope.lookup(&local.name) else {
            self.function.arrays.truncate(first_view);
            return None;
        };
        let spread = Spread { frame, first_view, views, span };
        spread.arrays(self);
        self.scope.forget(&local.name);
        self.scope.insert(local.name.clone(), Meaning::Array(spread.real(result)), at);
        let deepest = nodes.iter().map(super::super::inline::loop_depth).max().unwrap_or(0);
        if self.scope.loops() + spread.frame.len() + deepest > MAX_DIMENSIONS {
            self.error("E0308", span, format!("more than {MAX_DIMENSIONS} loops around one statement"));
            return None;
        }
        let mut loops = self.scope.loop_names();
        nodes.iter_mut().for_each(|node| spread.node(self, node, &mut loops));
        out.extend(nodes);
        Some(())
    }
}

/// A call whose statements are being mapped over a frame.
struct Spread {
    frame: Vec<Affine>,
    /// The views of the operands' cells begin at this array, and what the call brought follows them.
    first_view: usize,
    views: Vec<ArrayId>,
    span: Span,
}

impl Spread {
    /// An array when the views are gone.
    fn real(&self, id: ArrayId) -> ArrayId {
        match id.index().checked_sub(self.first_view) {
            None => id,
            Some(view) => self.views.get(view).copied().unwrap_or(ArrayId(id.0 - self.views.len() as u32)),
        }
    }

    /// Takes the views out of the function, and gives every array of the call the frame's axes.
    fn arrays(&self, lowerer: &mut Lowerer<'_>) {
        let arrays = &mut lowerer.function.arrays;
        arrays.drain(self.first_view..self.first_view + self.views.len());
        for array in arrays.iter_mut().skip(self.first_view) {
            array.shape.splice(0..0, self.frame.iter().cloned());
        }
    }

    fn node(&self, lowerer: &mut Lowerer<'_>, node: &mut Node, loops: &mut Vec<String>) {
        match node {
            Node::For(node) => {
                loops.push(lowerer.function.iter(node.bound.iter).name.clone());
                node.body.iter_mut().for_each(|node| self.node(lowerer, node, loops));
                loops.pop();
            }
            Node::Assign(assign) => self.assign(lowerer, assign, loops),
            Node::Scatter(scatter) => self.scatter(lowerer, scatter, loops),
            Node::Each(_) => {
                let mut around = Vec::new();
                let frame = self.forall(lowerer, &mut around, &[], loops);
                self.inside(lowerer, node, &frame);
                for bound in around.into_iter().rev() {
                    let body = vec![node.clone()];
                    *node = Node::For(For { bound, step: 1, rev: false, body, span: self.span });
                }
            }
        }
    }

    /// A statement of a loop whose bounds depend on data, which has the indices of the frame from the loops around it.
    fn inside(&self, lowerer: &Lowerer<'_>, node: &mut Node, frame: &[Affine]) {
        match node {
            Node::For(node) => node.body.iter_mut().for_each(|node| self.inside(lowerer, node, frame)),
            Node::Each(each) => {
                let range = &mut each.range;
                for part in [&mut range.lo, &mut range.hi, &mut range.step].into_iter().chain(&mut each.until) {
                    self.expr(lowerer, part, frame);
                }
                each.own.iter_mut().for_each(|array| *array = self.real(*array));
                each.body.iter_mut().for_each(|node| self.inside(lowerer, node, frame));
            }
            Node::Assign(assign) => {
                self.access(lowerer, &mut assign.target, &mut assign.index, frame);
                self.expr(lowerer, &mut assign.value, frame);
            }
            Node::Scatter(scatter) => {
                self.gather(lowerer, &mut scatter.target, &mut scatter.index, frame);
                self.expr(lowerer, &mut scatter.value, frame);
            }
        }
    }

    fn assign(&self, lowerer: &mut Lowerer<'_>, assign: &mut Assign, loops: &[String]) {
        let frame = self.forall(lowerer, &mut assign.foralls, &[&assign.value], loops);
        self.access(lowerer, &mut assign.target, &mut assign.index, &frame);
        self.expr(lowerer, &mut assign.value, &frame);
    }

    fn scatter(&self, lowerer: &mut Lowerer<'_>, scatter: &mut Scatter, loops: &[String]) {
        let parts: Vec<&Expr> = Subscript::data(&scatter.index).chain([&scatter.value]).collect();
        let frame = self.forall(lowerer, &mut scatter.foralls, &parts, loops);
        self.gather(lowerer, &mut scatter.target, &mut scatter.index, &frame);
        self.expr(lowerer, &mut scatter.value, &frame);
    }

    /// Puts the indices of the frame in front of others; `parts` have names of their own.
    fn forall(
        &self,
        lowerer: &mut Lowerer<'_>,
        bounds: &mut Vec<Bound>,
        parts: &[&Expr],
        loops: &[String],
    ) -> Vec<Affine> {
        let mut taken = loops.to_vec();
        taken.extend(bounds.iter().map(|bound| lowerer.function.iter(bound.iter).name.clone()));
        parts.iter().for_each(|part| super::super::inline::reduction_names(&lowerer.function, part, &mut taken));
        let mut foralls = Vec::new();
        for hi in &self.frame {
            let mut number = 0;
            while taken.contains(&format!("f{number}")) {
                number += 1;
            }
            let name = format!("f{number}");
            taken.push(name.clone());
            let iter = IterId(lowerer.function.iters.len() as u32);
            lowerer.function.iters.push(Iter { name, span: self.span, made_up: true });
            foralls.push(Bound { iter, lo: Affine::constant(0), hi: hi.clone() });
        }
        let frame: Vec<Affine> = foralls.iter().map(|bound| Affine::iter(bound.iter)).collect();
        bounds.splice(0..0, foralls);
        frame
    }

    fn gather(&self, lowerer: &Lowerer<'_>, array: &mut ArrayId, index: &mut Vec<Subscript>, frame: &[Affine]) {
        *array = self.real(*array);
        let missing = lowerer.function.array(*array).shape.len().saturating_sub(index.len());
        for subscript in index.iter_mut() {
            if let Subscript::Data(expr) = subscript {
                self.expr(lowerer, expr, frame);
            }
        }
        index.splice(0..0, frame.iter().take(missing).cloned().map(Subscript::Affine));
    }

    /// The subscripts that are missing are those of the frame, or of as much of it as the array has.
    fn access(&self, lowerer: &Lowerer<'_>, array: &mut ArrayId, index: &mut Vec<Affine>, frame: &[Affine]) {
        *array = self.real(*array);
        let missing = lowerer.function.array(*array).shape.len().saturating_sub(index.len());
        index.splice(0..0, frame.iter().take(missing).cloned());
    }

    fn expr(&self, lowerer: &Lowerer<'_>, expr: &mut Expr, frame: &[Affine]) {
        match &mut expr.kind {
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Scalar(_) | ExprKind::Counter(_) => {}
            ExprKind::Load { array, index } => self.access(lowerer, array, index, frame),
            ExprKind::Gather { array, index } => self.gather(lowerer, array, index, frame),
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => self.expr(lowerer, operand, frame),
            ExprKind::Binary(_, lhs, rhs) => {
                self.expr(lowerer, lhs, frame);
                self.expr(lowerer, rhs, frame);
            }
            ExprKind::Select { cond, then, otherwise, .. } => {
                for part in [cond, then, otherwise] {
                    self.expr(lowerer, part, frame);
                }
            }
            ExprKind::Reduce { body, .. } => self.expr(lowerer, body, frame),
            ExprKind::Fold { range, body, .. } => {
                for part in [&mut range.lo, &mut range.hi, &mut range.step, body] {
                    self.expr(lowerer, part, frame);
                }
            }
        }
    }
}
