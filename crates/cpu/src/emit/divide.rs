//! Euclidean division of integers: the remainder is never negative.
//!
//! Never traps: a zero divisor ends the call, and the smallest integer by -1 wraps. Constant divisors
//! need no test.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use loops::{Expr, ExprKind, Site, SiteKind};
use program::{BinaryOp, ScalarType};

use super::Emitter;

impl Emitter<'_> {
    /// `op` is `Div` or `Rem`, `ty` an integer type.
    pub(super) fn divide(&mut self, op: BinaryOp, ty: ScalarType, a: &Expr, b: &Expr) -> diag::Result<Value> {
        let (x, y) = (self.expr(a)?, self.expr(b)?);
        let known = constant(b);
        if known.is_none_or(|divisor| divisor == 0) {
            self.require_nonzero(y);
        }
        // In 32 bits, no quotient of narrow operands overflows.
        let narrow = ty.bytes() < 4;
        let wide = if narrow { ScalarType::I32 } else { ty };
        let (x, y) = (self.cast(ty, wide, x), self.cast(ty, wide, y));
        if wide.is_unsigned() {
            return Ok(self.unsigned(op, known, x, y));
        }
        let result = match known {
            Some(divisor) if divisor > 0 && divisor.count_ones() == 1 => self.by_power_of_two(op, divisor, x),
            Some(-1) if op == BinaryOp::Div => self.b.ins().ineg(x),
            Some(-1) => self.zero(wide),
            Some(0) | None if !narrow => self.guarded(op, x, y),
            _ => self.euclidean(op, x, y, y),
        };
        Ok(self.cast(wide, ty, result))
    }

    /// In 32 or 64 bits, without a sign to mind.
    fn unsigned(&mut self, op: BinaryOp, known: Option<i64>, x: Value, y: Value) -> Value {
        match (op, known) {
            (BinaryOp::Div, Some(divisor)) if divisor > 0 && divisor.count_ones() == 1 => {
                self.b.ins().ushr_imm_u(x, i64::from(divisor.trailing_zeros()))
            }
            (_, Some(divisor)) if divisor > 0 && divisor.count_ones() == 1 => self.b.ins().band_imm_u(x, divisor - 1),
            (BinaryOp::Div, _) => self.b.ins().udiv(x, y),
            _ => self.b.ins().urem(x, y),
        }
    }

    fn require_nonzero(&mut self, divisor: Value) {
        let nonzero = self.b.ins().icmp_imm_u(IntCC::NotEqual, divisor, 0);
        self.require(nonzero, Site { kind: SiteKind::DivisionByZero, span: self.at }, None);
    }

    fn by_power_of_two(&mut self, op: BinaryOp, divisor: i64, x: Value) -> Value {
        match op {
            BinaryOp::Div => self.b.ins().sshr_imm_u(x, i64::from(divisor.trailing_zeros())),
            _ => self.b.ins().band_imm_u(x, divisor - 1),
        }
    }

    /// Divides by 1 where the divisor is -1, and negates the quotient afterwards; the machine would trap on overflow.
    fn guarded(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        let minus_one = self.b.ins().icmp_imm_s(IntCC::Equal, y, -1);
        let ty = self.b.func.dfg.value_type(y);
        let one = self.b.ins().iconst(ty, 1);
        let divisor = self.b.ins().select(minus_one, one, y);
        let result = self.euclidean(op, x, divisor, y);
        if op == BinaryOp::Rem {
            return result;
        }
        let negated = self.b.ins().ineg(x);
        self.b.ins().select(minus_one, negated, result)
    }

    /// From the quotient rounded towards zero: a negative remainder is lifted by one divisor.
    fn euclidean(&mut self, op: BinaryOp, x: Value, y: Value, sign: Value) -> Value {
        let ty = self.b.func.dfg.value_type(x);
        let last_bit = i64::from(ty.bits()) - 1;
        let quotient = self.b.ins().sdiv(x, y);
        let product = self.b.ins().imul(quotient, y);
        let remainder = self.b.ins().isub(x, product);
        // All ones where the remainder is negative.
        let mask = self.b.ins().sshr_imm_u(remainder, last_bit);
        if op == BinaryOp::Rem {
            let magnitude = self.b.ins().iabs(y);
            let lift = self.b.ins().band(magnitude, mask);
            return self.b.ins().iadd(remainder, lift);
        }
        // 1 for a positive divisor, -1 for a negative one.
        let half = self.b.ins().sshr_imm_u(sign, last_bit);
        let unit = self.b.ins().bor_imm_u(half, 1);
        let step = self.b.ins().band(unit, mask);
        self.b.ins().isub(quotient, step)
    }
}

/// The divisor, if it is written as a number.
fn constant(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Const(value) => value.as_i64(),
        _ => None,
    }
}
