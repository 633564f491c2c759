//! Division of integers, whose remainder is never negative, and remainders of floats.
//!
//! A zero divisor is reported; what comes out then is nothing that anybody sees. The smallest integer by -1 wraps.

use loops::{Site, SiteKind};
use program::{BinaryOp as Operator, ScalarType};

use super::body::Emitter;
use super::expr::held;
use crate::ir::{BinaryOp, Compare, Operand, Reg, Type, UnaryOp};

impl Emitter<'_> {
    /// `op` is `Div` or `Rem`.
    pub(super) fn divide(&mut self, op: Operator, ty: ScalarType, x: Operand, y: Operand) -> Reg {
        match y {
            Operand::Int(divisor) if divisor != 0 => self.divide_by_constant(op, ty, x, divisor),
            y => self.divide_by_value(op, ty, x, y),
        }
    }

    fn divide_by_constant(&mut self, op: Operator, ty: ScalarType, x: Operand, divisor: i64) -> Reg {
        let kind = held(ty);
        if !kind.is_signed() {
            return self.b.binary(instruction(op), kind, x, divisor);
        }
        let quotient = self.b.binary(BinaryOp::Div, kind, x, divisor);
        let rest = self.b.binary(BinaryOp::Rem, kind, x, divisor);
        let negative = self.b.compare(Compare::Lt, kind, rest, 0);
        let result = if op == Operator::Div {
            let corrected = self.b.add(kind, quotient, -divisor.signum());
            self.b.select(kind, negative, corrected, quotient)
        } else {
            let corrected = self.b.add(kind, rest, divisor.wrapping_abs());
            self.b.select(kind, negative, corrected, rest)
        };
        self.wrapped(ty, result)
    }

    fn divide_by_value(&mut self, op: Operator, ty: ScalarType, x: Operand, y: Operand) -> Reg {
        let kind = held(ty);
        let y = self.b.mov(kind, y);
        let nonzero = self.b.compare(Compare::Ne, kind, y, 0);
        self.require(nonzero, Site { kind: SiteKind::DivisionByZero, span: self.at }, &[]);
        let divisor = self.b.select(kind, nonzero, y, 1);
        if !kind.is_signed() {
            return self.b.binary(instruction(op), kind, x, divisor);
        }
        // By 1 instead of -1, whose quotient may not exist.
        let minus_one = self.b.compare(Compare::Eq, kind, y, -1);
        let divisor = self.b.select(kind, minus_one, 1, divisor);
        let rest = self.b.binary(BinaryOp::Rem, kind, x, divisor);
        let lift = self.b.compare(Compare::Lt, kind, rest, 0);
        let below = self.b.compare(Compare::Lt, kind, y, 0);
        let result = if op == Operator::Div {
            let quotient = self.b.binary(BinaryOp::Div, kind, x, divisor);
            let unit = self.b.select(kind, below, 1, -1);
            let corrected = self.b.add(kind, quotient, unit);
            let quotient = self.b.select(kind, lift, corrected, quotient);
            let negated = self.b.binary(BinaryOp::Sub, kind, 0, x);
            self.b.select(kind, minus_one, negated, quotient)
        } else {
            let negated = self.b.binary(BinaryOp::Sub, kind, 0, divisor);
            let magnitude = self.b.select(kind, below, negated, divisor);
            let corrected = self.b.add(kind, rest, magnitude);
            self.b.select(kind, lift, corrected, rest)
        };
        self.wrapped(ty, result)
    }

    /// The remainder of floats that is not negative: `|x|` minus the divisor doubled as often as possible, then halved again step by
    /// step. Each of these differences is exact, because neither operand is more than twice the other.
    pub(super) fn remainder(&mut self, kind: Type, x: Operand, y: Operand) -> Reg {
        let number = |value: f64| if kind == Type::F32 { Operand::f32(value as f32) } else { Operand::f64(value) };
        let (x, y) = (self.b.mov(kind, x), self.b.mov(kind, y));
        let (rest, divisor) = (self.b.unary(UnaryOp::Abs, kind, x), self.b.unary(UnaryOp::Abs, kind, y));
        let result = self.b.mov(kind, number(f64::NAN));
        let (double, halve, done) = (self.b.label("double"), self.b.label("halve"), self.b.label("done"));
        // Neither holds for NaN.
        let finite = self.b.compare(Compare::Lt, kind, rest, number(f64::INFINITY));
        let some = self.b.compare(Compare::Gt, kind, divisor, number(0.0));
        let exists = self.b.binary(BinaryOp::And, Type::Pred, finite, some);
        self.b.branch_if(exists, true, done);
        let piece = self.b.mov(kind, divisor);
        let twice = self.b.add(kind, piece, piece);
        self.b.place(double);
        let fits = self.b.compare(Compare::Le, kind, twice, rest);
        self.b.guarded(fits, false, |b| b.set(kind, piece, twice));
        self.b.binary_into(BinaryOp::Add, kind, twice, piece, piece);
        self.b.branch_if(fits, false, double);
        self.b.place(halve);
        let fits = self.b.compare(Compare::Ge, kind, rest, piece);
        self.b.guarded(fits, false, |b| b.binary_into(BinaryOp::Sub, kind, rest, rest, piece));
        let last = self.b.compare(Compare::Eq, kind, piece, divisor);
        self.b.binary_into(BinaryOp::Mul, kind, piece, piece, number(0.5));
        self.b.branch_if(last, true, halve);
        let negated = self.b.unary(UnaryOp::Neg, kind, rest);
        let below = self.b.compare(Compare::Lt, kind, x, number(0.0));
        let lifted = self.b.add(kind, negated, divisor);
        // Nothing is left of a negative number: it is lifted by nothing, and keeps its sign.
        let exact = self.b.compare(Compare::Eq, kind, rest, number(0.0));
        let lifted = self.b.select(kind, exact, negated, lifted);
        // What is left of -0 is -0.
        let zero = self.b.compare(Compare::Eq, kind, x, number(0.0));
        let kept = self.b.select(kind, zero, x, rest);
        self.b.push(crate::ir::Op::Select {
            ty: kind,
            dst: result,
            a: lifted.into(),
            b: kept.into(),
            condition: below,
        });
        self.b.place(done);
        result
    }
}

fn instruction(op: Operator) -> BinaryOp {
    if op == Operator::Div { BinaryOp::Div } else { BinaryOp::Rem }
}
