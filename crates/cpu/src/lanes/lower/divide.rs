//! Euclidean division of integers: the remainder is never negative, a zero divisor ends the call, and the least integer by -1 wraps.
//!
//! No machine divides integers in lanes. The quotient of 32-bit numbers is exact in `f64` but for its fraction, so it is found
//! there. That of 64-bit numbers is found in two steps, of its upper and its lower half, neither of which is too large.

use diag::Span;
use loops::{Expr, ExprKind, SiteKind};
use program::{BinaryOp, ScalarType, Value};

use super::{Lower, Nest};
use crate::lanes::ir::{self, CompareOp, Op, ShiftOp, Stmt, Type, UnaryOp, ValueId};

impl Nest<'_> {
    /// `op` is `Div` or `Rem`.
    pub(super) fn divide(&mut self, op: BinaryOp, a: &Expr, b: &Expr, at: Option<Span>) -> Lower<ValueId> {
        let ty = a.ty;
        let known = match &b.kind {
            ExprKind::Const(value) => value.as_i64(),
            _ => None,
        };
        let (x, y) = (self.expr(a)?, self.expr(b)?);
        if let Some(divisor) = known.filter(|divisor| *divisor > 0 && divisor.count_ones() == 1) {
            if op == BinaryOp::Rem {
                let rest = self.splat(Value::from_i64(ty, divisor - 1));
                return Ok(self.lanes(ty, Op::Binary(ir::BinaryOp::And, x, rest)));
            }
            if matches!(ty, ScalarType::I32 | ScalarType::I64) {
                return Ok(self.lanes(ty, Op::Shift(ShiftOp::SignedRight, x, divisor.trailing_zeros() as u8)));
            }
        }
        if known.is_none_or(|divisor| divisor == 0) {
            self.require_nonzero(ty, y, at);
        }
        let quotient = match ty {
            ScalarType::U64 => self.unsigned_quotient(x, y),
            ScalarType::I64 => self.signed_quotient(x, y),
            _ => self.quotient(ty, x, y),
        };
        let product = self.lanes(ty, Op::Binary(ir::BinaryOp::Mul, quotient, y));
        let rest = self.lanes(ty, Op::Binary(ir::BinaryOp::Sub, x, product));
        if ty.is_unsigned() {
            return Ok(if op == BinaryOp::Div { quotient } else { rest });
        }
        // A negative remainder is lifted by one divisor.
        let zero = self.splat(Value::from_i64(ty, 0));
        let negative = self.make(Type::Mask, Op::Compare(CompareOp::Lt, rest, zero));
        let (from, change) = if op == BinaryOp::Rem {
            (rest, self.lanes(ty, Op::Unary(UnaryOp::Abs, y)))
        } else {
            let (one, minus) = (self.splat(Value::from_i64(ty, 1)), self.splat(Value::from_i64(ty, -1)));
            let down = self.make(Type::Mask, Op::Compare(CompareOp::Gt, y, zero));
            (quotient, self.lanes(ty, Op::Select(down, minus, one)))
        };
        let lifted = self.lanes(ty, Op::Binary(ir::BinaryOp::Add, from, change));
        Ok(self.lanes(ty, Op::Select(negative, lifted, from)))
    }

    fn require_nonzero(&mut self, ty: ScalarType, y: ValueId, at: Option<Span>) {
        let zero = self.splat(Value::from_i64(ty, 0));
        let is_zero = self.make(Type::Mask, Op::Compare(CompareOp::Eq, y, zero));
        let (outside, inside) = (self.splat(Value::I64(1)), self.splat(Value::I64(0)));
        let index = self.lanes(ScalarType::I64, Op::Select(is_zero, outside, inside));
        let (extent, site) = (self.word(1), self.site(SiteKind::DivisionByZero, at));
        self.body.push(Stmt::Check { index, extent, mask: self.mask, site });
    }

    /// Of 64-bit numbers, rounded towards zero: that of their magnitudes, with a sign. The least integer by -1 wraps.
    fn signed_quotient(&mut self, x: ValueId, y: ValueId) -> ValueId {
        let ty = ScalarType::I64;
        // The magnitude of the least integer wraps to its bits, which are right without a sign.
        let [a, b] = [x, y].map(|value| {
            let magnitude = self.lanes(ty, Op::Unary(UnaryOp::Abs, value));
            self.lanes(ScalarType::U64, Op::Convert(magnitude))
        });
        let magnitude = self.unsigned_quotient(a, b);
        let magnitude = self.lanes(ty, Op::Convert(magnitude));
        let signs = self.lanes(ty, Op::Binary(ir::BinaryOp::Xor, x, y));
        let zero = self.splat(Value::I64(0));
        let differ = self.make(Type::Mask, Op::Compare(CompareOp::Lt, signs, zero));
        let negated = self.lanes(ty, Op::Unary(UnaryOp::Neg, magnitude));
        self.lanes(ty, Op::Select(differ, negated, magnitude))
    }

    /// Of 64-bit numbers, rounded down. Estimates in `f64` have four roundings, a relative error below 2^-50.9. Made smaller by 2^-50 they are never
    /// too large, so no remainder is negative; after the first step what is left is at most 2^16 divisors, and after the second
    /// the quotient is right or one too small.
    fn unsigned_quotient(&mut self, x: ValueId, y: ValueId) -> ValueId {
        let (ty, double) = (ScalarType::U64, ScalarType::F64);
        let divisor = self.lanes(double, Op::Convert(y));
        let less = self.splat(Value::F64(1.0 - 2.0_f64.powi(-50)));
        let inverse = self.lanes(double, Op::Binary(ir::BinaryOp::Div, less, divisor));
        let step = |nest: &mut Self, left: ValueId| {
            let wide = nest.lanes(double, Op::Convert(left));
            let estimate = nest.lanes(double, Op::Binary(ir::BinaryOp::Mul, wide, inverse));
            let whole = nest.lanes(ty, Op::Convert(estimate));
            let product = nest.lanes(ty, Op::Binary(ir::BinaryOp::Mul, whole, y));
            (whole, nest.lanes(ty, Op::Binary(ir::BinaryOp::Sub, left, product)))
        };
        let (upper, rest) = step(self, x);
        let (lower, rest) = step(self, rest);
        let sum = self.lanes(ty, Op::Binary(ir::BinaryOp::Add, upper, lower));
        let one = self.splat(Value::U64(1));
        let next = self.lanes(ty, Op::Binary(ir::BinaryOp::Add, sum, one));
        let too_small = self.make(Type::Mask, Op::Compare(CompareOp::Ge, rest, y));
        self.lanes(ty, Op::Select(too_small, next, sum))
    }

    /// Rounded towards zero.
    fn quotient(&mut self, ty: ScalarType, x: ValueId, y: ValueId) -> ValueId {
        let double = ScalarType::F64;
        let (a, b) = (self.lanes(double, Op::Convert(x)), self.lanes(double, Op::Convert(y)));
        let exact = self.lanes(double, Op::Binary(ir::BinaryOp::Div, a, b));
        let whole = self.lanes(double, Op::Unary(UnaryOp::Trunc, exact));
        if ty.bytes() < 4 {
            let wide = self.lanes(ScalarType::I32, Op::Convert(whole));
            return self.lanes(ty, Op::Convert(wide));
        }
        let quotient = self.lanes(ty, Op::Convert(whole));
        if ty.is_unsigned() {
            return quotient;
        }
        // 2^31, the only quotient that is too large, would become the largest number.
        let minus = self.splat(Value::from_i64(ty, -1));
        let by_minus_one = self.make(Type::Mask, Op::Compare(CompareOp::Eq, y, minus));
        let negated = self.lanes(ty, Op::Unary(UnaryOp::Neg, x));
        self.lanes(ty, Op::Select(by_minus_one, negated, quotient))
    }
}
