//! Loops that stop early: `for t in 0..T while err > tol { … }`.
//!
//! In: the lowered body of such a loop.  Out: the same loop over the whole range, in which a flag says whether it still runs: once
//! the condition has failed, every statement leaves its cells as they are. So nothing after lowering knows of early stops.

use diag::Span;
use syntax::ast;

use super::Lowerer;
use crate::{
    Array, ArrayId, Assign, Cond, Expr, ExprKind, Function, IterId, Node, ReduceOp, Role, ScalarType, Subscript, Value,
};

/// The flag of a loop while its body is being rewritten.
struct Flag<'a> {
    function: &'a Function,
    array: ArrayId,
    /// Arrays from here on belong to the body: nothing reads them where it does not run.
    own: usize,
    span: Span,
}

impl Lowerer<'_> {
    /// The body of a loop with the flag in front; what starts the flag goes in front of the loop. `own` is the number of
    /// arrays before the body was lowered.
    pub(super) fn stop_early(
        &mut self,
        iter: IterId,
        until: &ast::Expr,
        body: Vec<Node>,
        own: usize,
    ) -> Option<Vec<Node>> {
        let span = until.span;
        let condition = self.lower_until(until)?;
        let in_front = std::mem::take(&mut self.pending);
        let name = format!("{}_runs", self.function.iter(iter).name);
        let array = ArrayId(self.function.arrays.len() as u32);
        let flag = Array { name: name.clone(), ty: ScalarType::Bool, shape: Vec::new(), role: Role::Local, span };
        self.function.arrays.push(flag);
        let set = |name: String, value: Expr| {
            let (foralls, guard, index) = (Vec::new(), Cond::TRUE, Vec::new());
            Node::Assign(Assign { name, foralls, guard, target: array, index, target_span: span, value, span })
        };
        let flag = Flag { function: &self.function, array, own, span };
        let test = set(name.clone(), flag.choose(condition, flag.constant(Value::Bool(false))));
        let mut body = body;
        flag.rewrite(&mut body);
        let start = set(format!("{name}_start"), flag.constant(Value::Bool(true)));
        self.pending.push(start);
        Some(in_front.into_iter().chain([test]).chain(body).collect())
    }

    /// The condition behind `while`.
    pub(super) fn lower_until(&mut self, until: &ast::Expr) -> Option<Expr> {
        self.mention_reductions(until);
        let condition = self.lower_expr(until)?;
        self.coerce(condition, ScalarType::Bool)
    }
}

impl Flag<'_> {
    fn constant(&self, value: Value) -> Expr {
        Expr { kind: ExprKind::Const(value), ty: value.ty(), span: self.span }
    }

    /// `value` while the loop runs.
    fn choose(&self, value: Expr, otherwise: Expr) -> Expr {
        let kind = ExprKind::Load { array: self.array, index: Vec::new() };
        let cond = Box::new(Expr { kind, ty: ScalarType::Bool, span: self.span });
        let (ty, span) = (value.ty, value.span);
        let (then, otherwise) = (Box::new(value), Box::new(otherwise));
        Expr { kind: ExprKind::Select { cond, affine: None, then, otherwise }, ty, span }
    }

    fn rewrite(&self, nodes: &mut [Node]) {
        for node in nodes {
            match node {
                Node::For(node) => self.rewrite(&mut node.body),
                // It has no iterations then.
                Node::Each(each) => {
                    for end in [&mut each.range.lo, &mut each.range.hi] {
                        let value = std::mem::replace(end, self.constant(Value::Bool(false)));
                        *end = self.choose(value, self.constant(Value::I64(0)));
                    }
                }
                Node::Assign(assign) => {
                    let ty = self.function.array(assign.target).ty;
                    let old = if assign.target.index() < self.own {
                        let kind = ExprKind::Load { array: assign.target, index: assign.index.clone() };
                        Expr { kind, ty, span: assign.target_span }
                    } else {
                        self.constant(Value::from_i64(ty, 0))
                    };
                    let value = std::mem::replace(&mut assign.value, self.constant(Value::Bool(false)));
                    assign.value = self.choose(value, old);
                }
                Node::Scatter(scatter) => {
                    for subscript in &mut scatter.index {
                        if let Subscript::Data(at) = subscript {
                            let value = std::mem::replace(&mut **at, self.constant(Value::Bool(false)));
                            **at = self.choose(value, self.constant(Value::I64(0)));
                        }
                    }
                    let ty = scatter.value.ty;
                    let old = match scatter.op {
                        ReduceOp::Last => {
                            let kind = ExprKind::Gather { array: scatter.target, index: scatter.index.clone() };
                            Expr { kind, ty, span: scatter.target_span }
                        }
                        op => self.constant(op.neutral(ty)),
                    };
                    let value = std::mem::replace(&mut scatter.value, self.constant(Value::Bool(false)));
                    scatter.value = self.choose(value, old);
                }
            }
        }
    }
}
