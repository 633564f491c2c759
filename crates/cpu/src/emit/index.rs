//! Index arithmetic and conditions on indices.
//!
//! In: `Index` and `Cond`.  Out: 64-bit values, 0/1 bytes, and branches. All of it is total: nothing here can trap, so
//! both sides of a choice may be computed.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use loops::{CompareOp, Cond, Index};

use super::Emitter;
use crate::linear::{Atom, Linear, known};

impl Emitter<'_> {
    pub(super) fn iconst(&mut self, constant: i64) -> Value {
        self.b.ins().iconst(types::I64, constant)
    }

    pub(super) fn index(&mut self, index: &Index) -> diag::Result<Value> {
        if matches!(index, Index::Mod(..)) {
            return self.opaque(index);
        }
        let linear = Linear::of(index);
        self.linear(&linear)
    }

    /// Adds outer terms first, so that partial sums are invariant in inner loops.
    pub(super) fn linear(&mut self, linear: &Linear) -> diag::Result<Value> {
        let mut terms: Vec<&(Atom, i64)> = linear.terms.iter().collect();
        terms.sort_by_key(|(atom, coefficient)| (self.depth(atom), *coefficient < 0));
        let mut sum = None;
        for (atom, coefficient) in terms {
            let value = self.atom(atom)?;
            sum = Some(match sum {
                Some(sum) if *coefficient == -1 => self.b.ins().isub(sum, value),
                Some(sum) => {
                    let term = self.scale(value, *coefficient);
                    self.b.ins().iadd(sum, term)
                }
                None => self.scale(value, *coefficient),
            });
        }
        let Some(sum) = sum else { return Ok(self.iconst(linear.constant)) };
        Ok(self.offset(sum, linear.constant))
    }

    pub(super) fn offset(&mut self, value: Value, constant: i64) -> Value {
        if constant == 0 { value } else { self.b.ins().iadd_imm_s(value, constant) }
    }

    pub(super) fn scale(&mut self, value: Value, factor: i64) -> Value {
        match factor {
            1 => value,
            -1 => self.b.ins().ineg(value),
            _ if factor > 0 && factor.count_ones() == 1 => {
                self.b.ins().ishl_imm_u(value, i64::from(factor.trailing_zeros()))
            }
            _ => self.b.ins().imul_imm_s(value, factor),
        }
    }

    pub(super) fn atom(&mut self, atom: &Atom) -> diag::Result<Value> {
        let missing = |what| diag::Error::bug("cpu", format!("{what} has no value here"));
        match atom {
            Atom::Param(param) => self.params.get(param.index()).copied().ok_or_else(|| missing("a size")),
            Atom::Var(var) => {
                let value = self.loop_values.get(var.index()).copied().flatten();
                value.map(|(value, _)| value).ok_or_else(|| missing("a loop variable"))
            }
            Atom::Opaque(index) => self.opaque(index),
        }
    }

    fn opaque(&mut self, index: &Index) -> diag::Result<Value> {
        match index {
            Index::FloorDiv(a, divisor) => {
                let a = self.index(a)?;
                if divisor.count_ones() == 1 {
                    return Ok(self.b.ins().sshr_imm_u(a, i64::from(divisor.trailing_zeros())));
                }
                let (quotient, borrow) = self.truncated(a, *divisor);
                Ok(self.b.ins().iadd(quotient, borrow))
            }
            Index::Mod(a, divisor) => {
                let a = self.index(a)?;
                if divisor.count_ones() == 1 {
                    return Ok(self.b.ins().band_imm_s(a, divisor - 1));
                }
                let (quotient, borrow) = self.truncated(a, *divisor);
                let floor = self.b.ins().iadd(quotient, borrow);
                let multiple = self.scale(floor, *divisor);
                Ok(self.b.ins().isub(a, multiple))
            }
            Index::Xor(a, b) => {
                let (a, b) = (self.index(a)?, self.index(b)?);
                Ok(self.b.ins().bxor(a, b))
            }
            Index::Min(a, b) => {
                let (a, b) = (self.index(a)?, self.index(b)?);
                Ok(self.b.ins().smin(a, b))
            }
            Index::Max(a, b) => {
                let (a, b) = (self.index(a)?, self.index(b)?);
                Ok(self.b.ins().smax(a, b))
            }
            Index::Select(cond, a, b) => {
                let cond = self.cond(cond)?;
                let (a, b) = (self.index(a)?, self.index(b)?);
                Ok(self.b.ins().select(cond, a, b))
            }
            _ => self.index(index),
        }
    }

    /// The quotient rounded towards zero, and -1 if that is above the floor, else 0.
    fn truncated(&mut self, a: Value, divisor: i64) -> (Value, Value) {
        let constant = self.iconst(divisor);
        let quotient = self.b.ins().sdiv(a, constant);
        let multiple = self.scale(quotient, divisor);
        let remainder = self.b.ins().isub(a, multiple);
        let borrow = self.b.ins().sshr_imm_u(remainder, 63);
        (quotient, borrow)
    }

    /// How many loops out of the enclosing ones an atom depends on: 0 for sizes.
    pub(super) fn depth(&self, atom: &Atom) -> usize {
        match atom {
            Atom::Param(_) => 0,
            Atom::Var(var) => {
                let value = self.loop_values.get(var.index()).copied().flatten();
                value.map_or(usize::MAX, |(_, depth)| depth)
            }
            Atom::Opaque(index) => self.index_depth(index),
        }
    }

    fn index_depth(&self, index: &Index) -> usize {
        match index {
            Index::Const(_) | Index::Param(_) => 0,
            Index::Var(_) => {
                let linear = Linear::of(index);
                linear.terms.iter().map(|(atom, _)| self.depth(atom)).max().unwrap_or(0)
            }
            Index::Add(a, b) | Index::Sub(a, b) | Index::Xor(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
                self.index_depth(a).max(self.index_depth(b))
            }
            Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => self.index_depth(a),
            Index::Select(cond, a, b) => self.cond_depth(cond).max(self.index_depth(a)).max(self.index_depth(b)),
        }
    }

    fn cond_depth(&self, cond: &Cond) -> usize {
        match cond {
            Cond::Compare(_, a, b) => self.index_depth(a).max(self.index_depth(b)),
            Cond::Not(cond) => self.cond_depth(cond),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().map(|cond| self.cond_depth(cond)).max().unwrap_or(0),
        }
    }

    /// A condition as a byte, 0 or 1.
    pub(super) fn cond(&mut self, cond: &Cond) -> diag::Result<Value> {
        if let Some(known) = known(cond) {
            return Ok(self.b.ins().iconst(types::I8, i64::from(known)));
        }
        match cond {
            Cond::Compare(op, a, b) => self.compare(*op, a, b),
            Cond::Not(cond) => {
                let cond = self.cond(cond)?;
                Ok(self.b.ins().bxor_imm_u(cond, 1))
            }
            Cond::And(conds) | Cond::Or(conds) => {
                let all = matches!(cond, Cond::And(_));
                let mut joined = self.b.ins().iconst(types::I8, i64::from(all));
                for (position, cond) in conds.iter().enumerate() {
                    let value = self.cond(cond)?;
                    joined = match (position, all) {
                        (0, _) => value,
                        (_, true) => self.b.ins().band(joined, value),
                        (_, false) => self.b.ins().bor(joined, value),
                    };
                }
                Ok(joined)
            }
        }
    }

    fn compare(&mut self, op: CompareOp, a: &Index, b: &Index) -> diag::Result<Value> {
        let (a, b) = (self.index(a)?, self.index(b)?);
        Ok(self.b.ins().icmp(int_cc(op), a, b))
    }

    /// Ends the block with a branch that stops at the first part that decides.
    pub(super) fn branch(&mut self, cond: &Cond, then: Block, otherwise: Block) -> diag::Result<()> {
        match (cond, known(cond)) {
            (_, Some(known)) => {
                self.b.ins().jump(if known { then } else { otherwise }, &[]);
                Ok(())
            }
            (Cond::Compare(op, a, b), _) => {
                let holds = self.compare(*op, a, b)?;
                self.b.ins().brif(holds, then, &[], otherwise, &[]);
                Ok(())
            }
            (Cond::Not(cond), _) => self.branch(cond, otherwise, then),
            (Cond::And(conds) | Cond::Or(conds), _) => {
                // `known` has settled the empty case.
                let Some((last, first)) = conds.split_last() else { return Ok(()) };
                for part in first {
                    let next = self.b.create_block();
                    match cond {
                        Cond::And(_) => self.branch(part, next, otherwise)?,
                        _ => self.branch(part, then, next)?,
                    }
                    self.enter(next);
                }
                self.branch(last, then, otherwise)
            }
        }
    }
}

pub(super) fn int_cc(op: CompareOp) -> IntCC {
    match op {
        CompareOp::Eq => IntCC::Equal,
        CompareOp::Ne => IntCC::NotEqual,
        CompareOp::Lt => IntCC::SignedLessThan,
        CompareOp::Le => IntCC::SignedLessThanOrEqual,
        CompareOp::Gt => IntCC::SignedGreaterThan,
        CompareOp::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}
