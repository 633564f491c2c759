//! Scans: reductions whose range grows with an index, computed from one another.
//!
//! In: a reduction over one index `k`, and an end `e` that bounds it on one side: `k <= e` or `k >= e`.
//! Out: a loop that stores all partial results, `P[k] = P[k - 1] op body(k)`, in front of the statement, and the
//! expression `P[e]` in the place of the reduction. Both are ordinary, so nothing after lowering knows of scans.

use std::collections::BTreeMap;

use diag::{Diagnostic, Span};

use super::Lowerer;
use super::expr::Typed;
use super::inline::Inliner;
use crate::{
    Affine, Array, ArrayId, Assign, BinaryOp, Bound, Cond, Expr, ExprKind, For, IterId, Node, ReduceOp, Role, ScalarId,
    ScalarType, Value,
};

/// Where an index comes from.
#[derive(Clone)]
pub(super) struct Origin {
    pub(super) bound: Bound,
    /// Of a `for`, which has one value at a time.
    pub(super) ordered: bool,
}

/// A reduction that fits: its range is `lo..hi` where `fixed` holds, up to an end or from it on.
struct Scan {
    op: ReduceOp,
    iter: IterId,
    lo: Affine,
    hi: Affine,
    fixed: Cond,
    /// The last index of a prefix, or the first of a suffix.
    end: Affine,
    prefix: bool,
    /// Conditions that do not mention the index.
    outside: Cond,
    body: Expr,
    span: Span,
}

impl Lowerer<'_> {
    /// The reduction as a look-up of partial results; the loop that computes them goes in front of the statement.
    pub(super) fn lower_scan(&mut self, reduction: Typed, span: Span) -> Option<Typed> {
        let reduction = self.settle(reduction)?;
        let scan = match self.fit(reduction, span) {
            Ok(scan) => scan,
            Err(diagnostic) => {
                self.report(*diagnostic);
                return None;
            }
        };
        let expr = self.partial_results(scan);
        if expr.is_none() {
            self.error("E0312", span, "the numbers in this scan are too large");
        }
        expr.map(Typed::strong)
    }

    fn fit(&self, reduction: Expr, span: Span) -> Result<Scan, Box<Diagnostic>> {
        let refuse = |message: String| Box::new(Diagnostic::error("E0312", span, message));
        let ExprKind::Reduce { op, bounds, guard, body } = reduction.kind else {
            return Err(refuse("`scan` stands in front of a reduction".into()));
        };
        if op.extreme().is_some() {
            return Err(Box::new(
                refuse(format!("`{}` cannot be scanned", op.name()))
                    .help("the operators are sum, prod, min, max, any and all"),
            ));
        }
        let [bound] = bounds.as_slice() else {
            return Err(Box::new(
                refuse("a scan runs over one index".into()).here(format!("{} indices", bounds.len())),
            ));
        };
        let iter = bound.iter;
        let name = |iter: IterId| self.function.iter(iter).name.clone();
        let too_large = || refuse("the numbers in this scan are too large".into());
        let index = Affine::iter(iter);
        let from = index.sub(&bound.lo).ok_or_else(too_large)?;
        let to = bound.hi.sub(&index).and_then(|gap| gap.sub(&Affine::constant(1))).ok_or_else(too_large)?;
        let range = Cond::And(vec![Cond::NonNegative(from), Cond::NonNegative(to)]);
        let Cond::And(conditions) = range.and(guard) else { return Err(refuse("a scan without a range".into())) };

        let (mut los, mut his, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let (mut fixed, mut outside) = (Cond::TRUE, Cond::TRUE);
        for cond in conditions {
            let mut used = Vec::new();
            cond.visit_iters(&mut |iter| used.push(iter));
            if !used.contains(&iter) {
                outside = outside.and(cond);
                continue;
            }
            let limit = limit(&cond, iter);
            match (limit, used.iter().all(|used| *used == iter)) {
                (Some((limit, true)), true) => his.push(limit),
                (Some((limit, false)), true) => los.push(limit),
                (None, true) => fixed = fixed.and(cond),
                (Some(end), false) => ends.push(end),
                (None, false) => {
                    let shown = self.function.show_cond(&cond);
                    return Err(Box::new(refuse(format!("a scan cannot follow the condition `{shown}`")).note(
                        format!("`{}` is bounded by another index on one side: `k <= i` or `k >= i`", name(iter)),
                    )));
                }
            }
        }
        let (end, prefix) = match ends.as_slice() {
            [(end, prefix)] => (end.clone(), *prefix),
            [] => {
                let help = format!("bound `{0}` by an index: `| {0} <= i`; or leave `scan` out", name(iter));
                return Err(Box::new(refuse("nothing grows in this scan".into()).help(help)));
            }
            _ => {
                return Err(Box::new(
                    refuse("a scan grows on one side only".into())
                        .here(format!("`{}` is bounded by other indices {} times", name(iter), ends.len()))
                        .help("for a window that moves, leave `scan` out, or subtract two scans"),
                ));
            }
        };
        let mut along = Vec::new();
        end.visit_iters(&mut |iter| along.push(iter));
        let used = free_iters(&body);
        if let Some(both) = along.iter().find(|iter| used.contains(iter)) {
            let both = name(*both);
            return Err(Box::new(
                Diagnostic::error("E0312", body.span, format!("what is scanned along `{both}` cannot use `{both}`"))
                    .here(format!("changes with `{both}`, so each sum would have to be computed anew"))
                    .help(format!("take what depends on `{both}` out of the reduction, or leave `scan` out")),
            ));
        }
        // The end bounds the range as well, where nothing else does.
        if prefix && his.is_empty() {
            let last = self.extreme_of(&end, true).ok_or_else(|| unbounded(span))?;
            his.push(last);
        }
        if !prefix && los.is_empty() {
            los.push(self.extreme_of(&end, false).ok_or_else(|| unbounded(span))?);
        }
        // Of several bounds, one is the range and the others narrow it.
        let hi = his.first().cloned().and_then(|last| last.add(&Affine::constant(1))).ok_or_else(too_large)?;
        let lo = los.first().cloned().ok_or_else(too_large)?;
        for other in los.iter().skip(1) {
            fixed = fixed.and(Cond::NonNegative(index.sub(other).ok_or_else(too_large)?));
        }
        for other in his.iter().skip(1) {
            fixed = fixed.and(Cond::NonNegative(other.sub(&index).ok_or_else(too_large)?));
        }
        Ok(Scan { op, iter, lo, hi, fixed, end, prefix, outside, body: *body, span })
    }

    /// The largest or smallest value of an expression, over the parameters alone.
    fn extreme_of(&self, affine: &Affine, largest: bool) -> Option<Affine> {
        let mut sum = Affine::constant(affine.constant);
        for (atom, coefficient) in &affine.terms {
            let value = match atom {
                crate::Atom::Param(id) => Affine::param(*id),
                crate::Atom::Iter(id) => {
                    let bound = &self.origins.iter().rev().find(|origin| origin.bound.iter == *id)?.bound;
                    if largest == (*coefficient > 0) {
                        self.extreme_of(&bound.hi, true)?.sub(&Affine::constant(1))?
                    } else {
                        self.extreme_of(&bound.lo, false)?
                    }
                }
                crate::Atom::Div(..) => return None,
            };
            sum = sum.add_scaled(&value, *coefficient)?;
        }
        Some(sum)
    }

    /// Emits the loop, and gives the look-up. `None` where numbers overflow or a range is not known.
    fn partial_results(&mut self, scan: Scan) -> Option<Expr> {
        let Scan { op, iter, lo, hi, fixed, end, prefix, outside, body, span } = scan;
        let ty = body.ty;
        let used = free_iters(&body);
        // Indices of the statement that the body uses get a dimension each; those of `for` have one value.
        let free: Vec<Bound> = self
            .origins
            .iter()
            .filter(|origin| !origin.ordered && origin.bound.iter != iter && used.contains(&origin.bound.iter))
            .map(|origin| origin.bound.clone())
            .collect();
        let mut shape = Vec::new();
        for bound in &free {
            shape.push(self.extreme_of(&bound.hi, true)?);
        }
        shape.push(hi.clone());
        let statement = self.statement.clone();
        let name = format!("{statement}_scan");
        let known = self.function.arrays.iter().filter(|array| array.name.starts_with(&name)).count();
        let name = if known == 0 { name } else { format!("{name}{}", known + 1) };
        let array = ArrayId(self.function.arrays.len() as u32);
        self.function.arrays.push(Array { name: name.clone(), ty, shape, role: Role::Local, span });

        let callee_iters = self.function.iters.clone();
        let callee_counters = self.function.counters.clone();
        let scalars = (0..self.function.scalars.len() as u32).map(|id| {
            let scalar = self.function.scalar(ScalarId(id));
            Expr { kind: ExprKind::Scalar(ScalarId(id)), ty: scalar.ty, span: scalar.span }
        });
        let mut copier = Inliner {
            callee_iters: &callee_iters,
            callee_counters: &callee_counters,
            params: (0..self.function.params.len() as u32).map(|id| Affine::param(crate::ParamId(id))).collect(),
            scalars: scalars.collect(),
            arrays: self.function.array_ids().collect(),
            values: BTreeMap::new(),
            iters: (0..callee_iters.len() as u32).map(|id| (IterId(id), IterId(id))).collect(),
            counters: BTreeMap::new(),
            avoid: Vec::new(),
            prefix: String::new(),
            caller: &mut self.function,
        };
        let foralls = free.iter().map(|bound| copier.bound(bound)).collect::<Option<Vec<_>>>()?;
        let body = copier.expr(&body)?;

        let make = |kind, ty| Expr { kind, ty, span };
        let neutral = || make(ExprKind::Const(op.neutral(ty)), ty);
        let index = Affine::iter(iter);
        let cells =
            |free: Vec<Affine>, place: &Affine| -> Vec<Affine> { free.into_iter().chain([place.clone()]).collect() };
        let own = || foralls.iter().map(|bound| Affine::iter(bound.iter)).collect::<Vec<_>>();
        let step = Affine::constant(if prefix { -1 } else { 1 });
        let before = make(ExprKind::Load { array, index: cells(own(), &index.add(&step)?) }, ty);
        let last = hi.sub(&Affine::constant(1))?;
        let has_before =
            Cond::NonNegative(if prefix { index.sub(&lo)?.add(&step)? } else { last.sub(&index)?.sub(&step)? });
        let before = choose(has_before, before, neutral(), span);
        let term = choose(fixed, body, neutral(), span);
        let value = make(ExprKind::Binary(op.combine(), Box::new(before), Box::new(term)), ty);
        let assign = Assign {
            name,
            target: array,
            index: cells(own(), &index),
            foralls,
            guard: Cond::TRUE,
            target_span: span,
            value,
            span,
        };
        let bound = Bound { iter, lo: lo.clone(), hi: hi.clone() };
        let body = vec![Node::Assign(assign)];
        self.pending.push(Node::For(For { bound, step: if prefix { 1 } else { -1 }, rev: false, body, span }));

        let outer = || free.iter().map(|bound| Affine::iter(bound.iter)).collect::<Vec<_>>();
        let load = |place: &Affine| make(ExprKind::Load { array, index: cells(outer(), place) }, ty);
        // The end may lie before the range, where nothing is accumulated, or behind it, where everything is.
        let inside = |gap: Affine| Cond::NonNegative(gap);
        let (begun, within, whole) = if prefix {
            (end.sub(&lo)?, last.sub(&end)?, last.clone())
        } else {
            (last.sub(&end)?, end.sub(&lo)?, lo.clone())
        };
        let mut result = load(&end);
        if !self.never_negative(&within) {
            result = choose(inside(within), result, load(&whole), span);
        }
        if !self.never_negative(&begun) {
            let begun = inside(begun).and(inside(last.sub(&lo)?));
            result = choose(begun, result, neutral(), span);
        }
        Some(choose(outside, result, neutral(), span))
    }

    /// Whether that is plain to see.
    fn never_negative(&self, affine: &Affine) -> bool {
        let smallest = self.extreme_of(affine, false);
        smallest.is_some_and(|smallest| self.eliminate(&smallest).as_constant().is_some_and(|constant| constant >= 0))
    }
}

fn unbounded(span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error("E0312", span, "how far this scan reaches is not known")
            .help("write a range over the parameters, and the end as a guard: `scan sum[k: 0..N | k <= i] …`"),
    )
}

/// `k <= limit` (`true`) or `k >= limit`, if the condition says that.
fn limit(cond: &Cond, iter: IterId) -> Option<(Affine, bool)> {
    let Cond::NonNegative(affine) = cond else { return None };
    let coefficient = *affine.terms.get(&crate::Atom::Iter(iter))?;
    let rest = affine.add_scaled(&Affine::iter(iter), coefficient.checked_neg()?)?;
    let mut hidden = false;
    rest.visit_iters(&mut |used| hidden |= used == iter);
    match coefficient {
        _ if hidden => None,
        -1 => Some((rest, true)),
        1 => Some((rest.scale(-1)?, false)),
        _ => None,
    }
}

/// `if cond then … else …`
fn choose(cond: Cond, then: Expr, otherwise: Expr, span: Span) -> Expr {
    if cond.is_true() {
        return then;
    }
    let ty = then.ty;
    let (value, then, otherwise) = (Box::new(condition(&cond, span)), Box::new(then), Box::new(otherwise));
    Expr { kind: ExprKind::Select { cond: value, affine: Some(cond), then, otherwise }, ty, span }
}

/// An affine condition as an expression.
pub(super) fn condition(cond: &Cond, span: Span) -> Expr {
    let make = |kind| Expr { kind, ty: ScalarType::Bool, span };
    let compare = |op, affine: &Affine| {
        let index = Expr { kind: ExprKind::Index(affine.clone()), ty: ScalarType::I64, span };
        let zero = Expr { kind: ExprKind::Const(Value::I64(0)), ty: ScalarType::I64, span };
        make(ExprKind::Binary(op, Box::new(index), Box::new(zero)))
    };
    let join = |op, conds: &[Cond], empty: bool| {
        let parts = conds.iter().map(|cond| condition(cond, span));
        let joined = parts.reduce(|one, two| make(ExprKind::Binary(op, Box::new(one), Box::new(two))));
        joined.unwrap_or_else(|| make(ExprKind::Const(Value::Bool(empty))))
    };
    match cond {
        Cond::NonNegative(affine) => compare(BinaryOp::Ge, affine),
        Cond::Zero(affine) => compare(BinaryOp::Eq, affine),
        Cond::And(conds) => join(BinaryOp::And, conds, true),
        Cond::Or(conds) => join(BinaryOp::Or, conds, false),
    }
}

/// Every iterator in an expression that is bound outside of it.
fn free_iters(expr: &Expr) -> Vec<IterId> {
    let mut own = Vec::new();
    expr.visit(&mut |expr| {
        if let ExprKind::Reduce { bounds, .. } = &expr.kind {
            own.extend(bounds.iter().map(|bound| bound.iter));
        }
    });
    expr.iters().into_iter().filter(|iter| !own.contains(iter)).collect()
}
