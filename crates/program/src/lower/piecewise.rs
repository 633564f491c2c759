//! Loads with minima and maxima in their subscripts: `x[max(i - 1, 0)]`, as at the borders of an image.
//!
//! In: subscripts of which some are not affine.  Out: a choice between loads that are, so that bounds are proven and
//! dependences are exact, as everywhere; or nothing, if a subscript depends on data or there are too many cases.

use diag::Span;

use super::extreme::{Extreme, comparison};
use crate::{Affine, ArrayId, BinaryOp, Expr, ExprKind, ScalarType, Subscript};

/// More loads than this are not written out.
const MAX_CASES: usize = 32;

/// The array that is read, with the subscripts that are decided.
struct Load {
    array: ArrayId,
    ty: ScalarType,
    span: Span,
}

/// The load as an `if` of loads.
pub(super) fn load(array: ArrayId, ty: ScalarType, index: &[Subscript], span: Span) -> Option<Expr> {
    let extremes = index.iter().map(|subscript| match subscript {
        Subscript::Affine(affine) => Some(Extreme::Leaf(affine.clone())),
        Subscript::Data(expr) => Extreme::of(expr),
    });
    let extremes: Vec<Extreme> = extremes.collect::<Option<_>>()?;
    let cases = extremes.iter().try_fold(1usize, |cases, extreme| cases.checked_mul(extreme.leaves()))?;
    if cases > MAX_CASES {
        return None;
    }
    Load { array, ty, span }.choose(&[], &extremes)
}

impl Load {
    fn choose(&self, decided: &[Affine], rest: &[Extreme]) -> Option<Expr> {
        let Some((first, others)) = rest.split_first() else {
            let kind = ExprKind::Load { array: self.array, index: decided.to_vec() };
            return Some(Expr { kind, ty: self.ty, span: self.span });
        };
        let with = |first: &Extreme| self.choose(decided, &[std::slice::from_ref(first), others].concat());
        let (op, parts) = match first {
            Extreme::Leaf(affine) => return self.choose(&[decided, std::slice::from_ref(affine)].concat(), others),
            Extreme::Max(parts) => (BinaryOp::Ge, parts),
            Extreme::Min(parts) => (BinaryOp::Le, parts),
        };
        let (part, left) = parts.split_first()?;
        let left = match (left, op) {
            ([], _) => return with(part),
            ([one], _) => one.clone(),
            (_, BinaryOp::Ge) => Extreme::Max(left.to_vec()),
            _ => Extreme::Min(left.to_vec()),
        };
        let affine = comparison(op, part, &left)?;
        let sides = (Box::new(self.value(part)?), Box::new(self.value(&left)?));
        let cond = Expr { kind: ExprKind::Binary(op, sides.0, sides.1), ty: ScalarType::Bool, span: self.span };
        let (then, otherwise) = (Box::new(with(part)?), Box::new(with(&left)?));
        let kind = ExprKind::Select { cond: Box::new(cond), affine: Some(affine), then, otherwise };
        Some(Expr { kind, ty: self.ty, span: self.span })
    }

    fn value(&self, extreme: &Extreme) -> Option<Expr> {
        let (op, parts) = match extreme {
            Extreme::Leaf(affine) => {
                let kind = ExprKind::Index(affine.clone());
                return Some(Expr { kind, ty: ScalarType::I64, span: self.span });
            }
            Extreme::Min(parts) => (BinaryOp::Min, parts),
            Extreme::Max(parts) => (BinaryOp::Max, parts),
        };
        let mut values = parts.iter().map(|part| self.value(part));
        let first = values.next()??;
        values.try_fold(first, |lhs, rhs| {
            let kind = ExprKind::Binary(op, Box::new(lhs), Box::new(rhs?));
            Some(Expr { kind, ty: ScalarType::I64, span: self.span })
        })
    }
}
