//! Minima and maxima of affine expressions: what the bounds of ranges and the sides of comparisons may be made of.
//!
//! In: a typed expression.  Out: its minima and maxima over affine leaves, and the conditions that comparisons of them
//! expand to. Sums, constant multiples and constant quotients are monotone, so they move into the leaves.

use crate::{Affine, BinaryOp, Bound, Cond, Expr, ExprKind, IterId, ScalarType, UnaryOp, Value};

/// More leaves than this are not taken apart: a comparison of two has the product of their numbers.
const MAX_LEAVES: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extreme {
    Leaf(Affine),
    Min(Vec<Extreme>),
    Max(Vec<Extreme>),
}

impl Extreme {
    /// An `i64` expression as minima and maxima, if that is all it is.
    pub(super) fn of(expr: &Expr) -> Option<Extreme> {
        if expr.ty != ScalarType::I64 {
            return None;
        }
        let extreme = match &expr.kind {
            ExprKind::Const(Value::I64(value)) => Extreme::Leaf(Affine::constant(*value)),
            ExprKind::Index(affine) => Extreme::Leaf(affine.clone()),
            ExprKind::Unary(UnaryOp::Neg, operand) => Extreme::of(operand)?.scale(-1)?,
            ExprKind::Unary(UnaryOp::ABS, operand) => {
                let operand = Extreme::of(operand)?;
                Extreme::Max(vec![operand.scale(-1)?, operand])
            }
            ExprKind::Binary(op, lhs, rhs) => {
                let (lhs, rhs) = (Extreme::of(lhs)?, Extreme::of(rhs)?);
                match op {
                    BinaryOp::Min => Extreme::Min(vec![lhs, rhs]),
                    BinaryOp::Max => Extreme::Max(vec![lhs, rhs]),
                    BinaryOp::Add => lhs.add(&rhs)?,
                    BinaryOp::Sub => lhs.add(&rhs.scale(-1)?)?,
                    BinaryOp::Mul => match (lhs.as_constant(), rhs.as_constant()) {
                        (_, Some(factor)) => lhs.scale(factor)?,
                        (Some(factor), _) => rhs.scale(factor)?,
                        _ => return None,
                    },
                    BinaryOp::Div => lhs.divide(rhs.as_constant()?)?,
                    _ => return None,
                }
            }
            _ => return None,
        };
        (extreme.leaves() <= MAX_LEAVES).then_some(extreme)
    }

    fn as_constant(&self) -> Option<i64> {
        match self {
            Extreme::Leaf(affine) => affine.as_constant(),
            _ => None,
        }
    }

    pub(super) fn leaves(&self) -> usize {
        match self {
            Extreme::Leaf(_) => 1,
            Extreme::Min(parts) | Extreme::Max(parts) => parts.iter().map(Extreme::leaves).sum(),
        }
    }

    /// Applies a function that grows with its argument, or one that falls if `swap`, to the leaves.
    fn map(&self, swap: bool, leaf: &dyn Fn(&Affine) -> Option<Affine>) -> Option<Extreme> {
        let all = |parts: &[Extreme]| parts.iter().map(|part| part.map(swap, leaf)).collect::<Option<Vec<_>>>();
        Some(match self {
            Extreme::Leaf(affine) => Extreme::Leaf(leaf(affine)?),
            Extreme::Min(parts) if swap => Extreme::Max(all(parts)?),
            Extreme::Max(parts) if swap => Extreme::Min(all(parts)?),
            Extreme::Min(parts) => Extreme::Min(all(parts)?),
            Extreme::Max(parts) => Extreme::Max(all(parts)?),
        })
    }

    fn scale(&self, factor: i64) -> Option<Extreme> {
        self.map(factor < 0, &|affine| affine.scale(factor))
    }

    fn divide(&self, divisor: i64) -> Option<Extreme> {
        self.map(divisor < 0, &|affine| affine.div(divisor))
    }

    fn add(&self, other: &Extreme) -> Option<Extreme> {
        if self.leaves() * other.leaves() > MAX_LEAVES {
            return None;
        }
        let all = |parts: &[Extreme]| parts.iter().map(|part| part.add(other)).collect::<Option<Vec<_>>>();
        match self {
            Extreme::Leaf(affine) => other.map(false, &|leaf| leaf.add(affine)),
            Extreme::Min(parts) => Some(Extreme::Min(all(parts)?)),
            Extreme::Max(parts) => Some(Extreme::Max(all(parts)?)),
        }
    }

    /// The leaves, if this is the largest of them.
    pub(super) fn as_max(&self) -> Option<Vec<Affine>> {
        match self {
            Extreme::Leaf(affine) => Some(vec![affine.clone()]),
            Extreme::Max(parts) => Some(parts.iter().map(Extreme::as_max).collect::<Option<Vec<_>>>()?.concat()),
            Extreme::Min(_) => None,
        }
    }

    /// The leaves, if this is the smallest of them.
    pub(super) fn as_min(&self) -> Option<Vec<Affine>> {
        match self {
            Extreme::Leaf(affine) => Some(vec![affine.clone()]),
            Extreme::Min(parts) => Some(parts.iter().map(Extreme::as_min).collect::<Option<Vec<_>>>()?.concat()),
            Extreme::Max(_) => None,
        }
    }

    /// `self + by <= other`
    fn below(&self, other: &Extreme, by: i64) -> Option<Cond> {
        let left = |parts: &[Extreme]| parts.iter().map(|part| part.below(other, by)).collect::<Option<Vec<Cond>>>();
        let right = |parts: &[Extreme]| parts.iter().map(|part| self.below(part, by)).collect::<Option<Vec<Cond>>>();
        Some(match (self, other) {
            (Extreme::Leaf(a), Extreme::Leaf(b)) => Cond::NonNegative(b.sub(a)?.sub(&Affine::constant(by))?),
            (Extreme::Min(parts), _) => Cond::Or(left(parts)?),
            (Extreme::Max(parts), _) => Cond::And(left(parts)?),
            (_, Extreme::Min(parts)) => Cond::And(right(parts)?),
            (_, Extreme::Max(parts)) => Cond::Or(right(parts)?),
        })
    }
}

/// The condition that a comparison of minima and maxima stands for.
pub(super) fn comparison(op: BinaryOp, lhs: &Extreme, rhs: &Extreme) -> Option<Cond> {
    if let (Extreme::Leaf(a), Extreme::Leaf(b), BinaryOp::Eq | BinaryOp::Ne) = (lhs, rhs, op) {
        let equal = Cond::Zero(a.sub(b)?);
        return if op == BinaryOp::Eq { Some(equal) } else { equal.negate() };
    }
    Some(match op {
        BinaryOp::Lt => lhs.below(rhs, 1)?,
        BinaryOp::Le => lhs.below(rhs, 0)?,
        BinaryOp::Gt => rhs.below(lhs, 1)?,
        BinaryOp::Ge => rhs.below(lhs, 0)?,
        BinaryOp::Eq => lhs.below(rhs, 0)?.and(rhs.below(lhs, 0)?),
        BinaryOp::Ne => Cond::Or(vec![lhs.below(rhs, 1)?, rhs.below(lhs, 1)?]),
        _ => return None,
    })
}

/// The affine condition that a `bool` expression is, if it is one.
pub(super) fn condition(expr: &Expr) -> Option<Cond> {
    match &expr.kind {
        ExprKind::Const(Value::Bool(value)) => Some(if *value { Cond::TRUE } else { Cond::FALSE }),
        ExprKind::Unary(UnaryOp::Not, operand) => condition(operand)?.negate(),
        ExprKind::Binary(BinaryOp::And, lhs, rhs) => Some(condition(lhs)?.and(condition(rhs)?)),
        ExprKind::Binary(BinaryOp::Or, lhs, rhs) => Some(Cond::Or(vec![condition(lhs)?, condition(rhs)?])),
        ExprKind::Binary(op, lhs, rhs) => comparison(*op, &Extreme::of(lhs)?, &Extreme::of(rhs)?),
        _ => None,
    }
}

/// A range from the largest of `los` to the smallest of `his`.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) los: Vec<Affine>,
    pub(super) his: Vec<Affine>,
}

impl Limits {
    pub(super) fn plain(lo: Affine, hi: Affine) -> Limits {
        Limits { los: vec![lo], his: vec![hi] }
    }

    /// The range with one bound on each side, and what the others demand; `None` on overflow.
    ///
    /// Bounds without iterators are preferred, because the sizes of intermediate arrays follow from them.
    pub(super) fn bound(&self, iter: IterId) -> Option<(Bound, Cond)> {
        let (lo, hi) = (preferred(&self.los)?, preferred(&self.his)?);
        let mut guard = Cond::TRUE;
        for other in self.los.iter().filter(|other| **other != lo) {
            guard = guard.and(Cond::NonNegative(Affine::iter(iter).sub(other)?));
        }
        for other in self.his.iter().filter(|other| **other != hi) {
            guard = guard.and(Cond::NonNegative(other.sub(&Affine::iter(iter))?.sub(&Affine::constant(1))?));
        }
        Some((Bound { iter, lo, hi }, guard))
    }

    /// Which values a loop with this step visits, where the bound that it starts from is one of several.
    pub(super) fn stride(&self, iter: IterId, step: i64) -> Option<Option<Cond>> {
        let starts = if step > 0 { &self.los } else { &self.his };
        let size = step.checked_abs()?;
        if size == 1 || starts.len() == 1 {
            return Some(None);
        }
        let mut choices = Vec::new();
        for start in starts {
            // The loop starts here if no other bound is further in.
            let (distance, sign) = if step > 0 {
                (Affine::iter(iter).sub(start)?, 1)
            } else {
                (start.sub(&Affine::iter(iter))?.sub(&Affine::constant(1))?, -1)
            };
            let mut choice = Cond::Zero(distance.rem(size)?);
            for other in starts.iter().filter(|other| *other != start) {
                choice = choice.and(Cond::NonNegative(start.sub(other)?.scale(sign)?));
            }
            choices.push(choice);
        }
        Some(Some(Cond::Or(choices)))
    }
}

fn preferred(bounds: &[Affine]) -> Option<Affine> {
    let uses_iter = |affine: &Affine| {
        let mut uses = false;
        affine.visit_iters(&mut |_| uses = true);
        uses
    };
    bounds.iter().min_by_key(|bound| (uses_iter(bound), bound.as_constant().is_none())).cloned()
}
