//! Index arithmetic in 64-bit registers, and conditions in predicates.

use loops::{CompareOp, Cond, Index};

use super::body::{Cell, Emitter, Place};
use super::{Emit, unsupported};
use crate::ir::{Address, BinaryOp, Compare, Operand, Reg, TernaryOp, Type, UnaryOp};

/// What moves in each subscript, and the constant beside it.
pub(super) type Parts = Vec<(Option<Index>, i64)>;

impl Emitter<'_> {
    pub(super) fn index(&mut self, index: &Index) -> Emit<Operand> {
        if let Some(value) = self.known(index) {
            return Ok(Operand::Int(value));
        }
        if let Some(value) = self.reuse.index(index) {
            return Ok(value);
        }
        let value = self.computed(index)?;
        if !matches!(index, Index::Const(_) | Index::Param(_) | Index::Var(_)) {
            self.reuse.keep_index(index, value);
        }
        Ok(value)
    }

    fn computed(&mut self, index: &Index) -> Emit<Operand> {
        let ty = Type::S64;
        Ok(match index {
            Index::Const(value) => Operand::Int(*value),
            Index::Param(param) => match self.params.get(param.index()) {
                Some(reg) => (*reg).into(),
                None => return unsupported("a parameter that is not declared"),
            },
            Index::Var(var) => match self.vars.get(var.index()).copied().flatten() {
                Some(value) => value,
                None => return unsupported("a loop variable outside of its loop"),
            },
            Index::Add(a, b) => self.index_pair(BinaryOp::Add, a, b)?,
            Index::Sub(a, b) => self.index_pair(BinaryOp::Sub, a, b)?,
            Index::Xor(a, b) => {
                let (a, b) = (self.index(a)?, self.index(b)?);
                self.b.binary(BinaryOp::Xor, Type::B64, a, b).into()
            }
            Index::Min(a, b) => self.index_pair(BinaryOp::Min, a, b)?,
            Index::Max(a, b) => self.index_pair(BinaryOp::Max, a, b)?,
            Index::Mul(a, factor) => {
                let a = self.index(a)?;
                self.b.binary(BinaryOp::MulLo, ty, a, *factor).into()
            }
            Index::FloorDiv(a, divisor) => {
                let a = self.index(a)?;
                self.floor(a, *divisor).0.into()
            }
            Index::Mod(a, divisor) => {
                let a = self.index(a)?;
                self.floor(a, *divisor).1.into()
            }
            // Both sides are computed: index arithmetic has no effects.
            Index::Select(cond, a, b) => {
                let cond = self.cond(cond)?;
                let (a, b) = (self.index(a)?, self.index(b)?);
                self.b.select(ty, cond, a, b).into()
            }
        })
    }

    fn index_pair(&mut self, op: BinaryOp, a: &Index, b: &Index) -> Emit<Operand> {
        let (a, b) = (self.index(a)?, self.index(b)?);
        Ok(self.b.binary(op, Type::S64, a, b).into())
    }

    /// The quotient, rounded down, and the remainder, of a positive divisor.
    fn floor(&mut self, a: Operand, divisor: i64) -> (Reg, Reg) {
        let ty = Type::S64;
        if divisor.count_ones() == 1 {
            let shift = i64::from(divisor.trailing_zeros());
            let quotient = self.b.binary(BinaryOp::Shr, ty, a, shift);
            return (quotient, self.b.binary(BinaryOp::And, Type::B64, a, divisor - 1));
        }
        let quotient = self.b.binary(BinaryOp::Div, ty, a, divisor);
        let product = self.b.binary(BinaryOp::MulLo, ty, quotient, divisor);
        let rest = self.b.binary(BinaryOp::Sub, ty, a, product);
        let negative = self.b.compare(Compare::Lt, ty, rest, 0);
        let lower = self.b.add(ty, quotient, -1);
        let raised = self.b.add(ty, rest, divisor);
        (self.b.select(ty, negative, lower, quotient), self.b.select(ty, negative, raised, rest))
    }

    /// An integer in a register.
    pub(super) fn index_reg(&mut self, index: &Index) -> Emit<Reg> {
        Ok(match self.index(index)? {
            Operand::Reg(reg) => reg,
            other => self.b.mov(Type::S64, other),
        })
    }

    pub(super) fn cond(&mut self, cond: &Cond) -> Emit<Reg> {
        Ok(match cond {
            Cond::Compare(op, a, b) => {
                let (a, b) = (self.index(a)?, self.index(b)?);
                let op = match op {
                    CompareOp::Eq => Compare::Eq,
                    CompareOp::Ne => Compare::Ne,
                    CompareOp::Lt => Compare::Lt,
                    CompareOp::Le => Compare::Le,
                    CompareOp::Gt => Compare::Gt,
                    CompareOp::Ge => Compare::Ge,
                };
                self.b.compare(op, Type::S64, a, b)
            }
            Cond::Not(inner) => {
                let inner = self.cond(inner)?;
                self.b.unary(UnaryOp::Not, Type::Pred, inner)
            }
            Cond::And(parts) => self.cond_list(parts, BinaryOp::And, 1)?,
            Cond::Or(parts) => self.cond_list(parts, BinaryOp::Or, 0)?,
        })
    }

    fn cond_list(&mut self, parts: &[Cond], op: BinaryOp, empty: i64) -> Emit<Reg> {
        let mut result = None;
        for part in parts {
            let part = self.cond(part)?;
            result = Some(match result {
                Some(so_far) => self.b.binary(op, Type::Pred, Operand::Reg(so_far), part),
                None => part,
            });
        }
        Ok(match result {
            Some(result) => result,
            None => self.b.mov(Type::Pred, empty),
        })
    }

    /// Where a cell is: row-major over the array's extents.
    pub(super) fn cell(&mut self, array: loops::ArrayId, subscripts: &[Index]) -> Emit<Cell> {
        match self.arrays.get(array.index()).cloned() {
            Some(Place::Memory { space, base, extents, bytes }) => {
                let at = match self.with_offset(array, (base, bytes), subscripts, &extents)? {
                    Some(at) => at,
                    None => self.without_offset(base, bytes, subscripts, &extents)?.into(),
                };
                Ok(Cell::Memory(space, at))
            }
            Some(Place::Registers { cells, extents }) => {
                let mut position = Some(0i64);
                for (subscript, extent) in subscripts.iter().zip(&extents) {
                    let subscript = self.known(subscript);
                    position = position.zip(subscript).and_then(|(p, s)| p.checked_mul(*extent)?.checked_add(s));
                }
                match position.and_then(|position| cells.get(usize::try_from(position).ok()?)) {
                    Some(register) => Ok(Cell::Register(*register)),
                    None => unsupported("a cell in registers whose place is not known"),
                }
            }
            None => unsupported("an array that is not declared"),
        }
    }

    /// The address: what is constant behind the last extent that is not goes into the offset of the instruction, so that
    /// neighbouring cells have one register. `None` where the offset does not fit.
    fn with_offset(
        &mut self,
        array: loops::ArrayId,
        (base, bytes): (Reg, i64),
        subscripts: &[Index],
        extents: &[Operand],
    ) -> Emit<Option<Address>> {
        let Some((parts, fixed)) = self.split(subscripts, extents) else { return Ok(None) };
        let offset = fixed.checked_mul(bytes).filter(|offset| i32::try_from(*offset).is_ok());
        let Some(offset) = offset else { return Ok(None) };
        let varying = (array, parts.iter().map(|(rest, _)| rest.clone()).collect());
        if let Some(at) = self.reuse.address(&varying) {
            return Ok(Some(Address::at(at, offset)));
        }
        let at = self.moving(base, bytes, &parts, extents)?;
        self.align(at, base, (array, bytes), &parts, extents);
        self.reuse.keep_address(varying, at);
        Ok(Some(Address::at(at, offset)))
    }

    /// Subscripts as what moves in each, and the constant behind all.
    pub(super) fn split(&self, subscripts: &[Index], extents: &[Operand]) -> Option<(Parts, i64)> {
        let mut parts: Parts = subscripts.iter().map(|subscript| self.parted(subscript)).collect();
        let open = extents.iter().skip(1).rposition(|extent| !matches!(extent, Operand::Int(_)));
        let (outer, inner) = parts.split_at_mut(open.map_or(0, |place| place + 1));
        // Constants in front of that extent move with the rest.
        for (rest, constant) in outer {
            let known = Index::Const(std::mem::take(constant));
            *rest = match (rest.take(), known) {
                (None, Index::Const(0)) => None,
                (None, known) => Some(known),
                (Some(rest), Index::Const(0)) => Some(rest),
                (Some(rest), known) => Some(Index::Add(Box::new(rest), Box::new(known))),
            };
        }
        let mut fixed = 0i64;
        let behind = extents.iter().skip(extents.len().saturating_sub(inner.len()));
        for ((_, constant), extent) in inner.iter().zip(behind) {
            let scaled = match (fixed, *extent) {
                (0, _) => Some(0),
                (fixed, Operand::Int(extent)) => fixed.checked_mul(extent),
                _ => None,
            };
            fixed = scaled.and_then(|scaled| scaled.checked_add(*constant))?;
        }
        Some((parts, fixed))
    }

    /// The address of the cell whose subscripts are what varies.
    pub(super) fn moving(
        &mut self,
        base: Reg,
        bytes: i64,
        parts: &[(Option<Index>, i64)],
        extents: &[Operand],
    ) -> Emit<Reg> {
        let mut moving = Operand::Int(0);
        for ((rest, _), extent) in parts.iter().zip(extents) {
            moving = match (moving, rest) {
                (Operand::Int(0), None) => Operand::Int(0),
                (Operand::Int(0), Some(rest)) => self.index(rest)?,
                (moving, Some(rest)) => {
                    let rest = self.index(rest)?;
                    self.b.mad(TernaryOp::MadLo, Type::S64, moving, *extent, rest).into()
                }
                (moving, None) => self.b.binary(BinaryOp::MulLo, Type::S64, moving, *extent).into(),
            };
        }
        Ok(match moving {
            Operand::Int(0) => base,
            moving => self.b.mad(TernaryOp::MadLo, Type::S64, moving, bytes, base),
        })
    }

    /// Notes of what power of two an address is a multiple.
    pub(super) fn align(
        &mut self,
        at: Reg,
        base: Reg,
        (array, bytes): (loops::ArrayId, i64),
        parts: &[(Option<Index>, i64)],
        extents: &[Operand],
    ) {
        let Some(of_base) = self.alignments.get(&base).copied() else { return };
        let Some(declared) = self.kernel.arrays.get(array.index()) else { return };
        let mut cells = Pow2::ZERO;
        for (((rest, _), extent), shape) in parts.iter().zip(extents).zip(&declared.shape) {
            // Rows of shared memory may be longer than the array's.
            let extent = match extent {
                Operand::Int(extent) => Pow2::of(*extent),
                _ => self.multiple_of(shape),
            };
            let rest = rest.as_ref().map_or(Pow2::ZERO, |rest| self.multiple_of(rest));
            cells = cells.times(extent).and(rest);
        }
        let multiple = cells.times(Pow2::of(bytes)).and(Pow2::of(of_base));
        self.alignments.insert(at, multiple.value());
    }

    /// A power of two that divides an index, whatever its variables are.
    fn multiple_of(&self, index: &Index) -> Pow2 {
        if let Some(value) = self.known(index) {
            return Pow2::of(value);
        }
        match index {
            Index::Const(value) => Pow2::of(*value),
            Index::Param(_) | Index::Var(_) | Index::FloorDiv(..) => Pow2::ONE,
            Index::Add(a, b)
            | Index::Sub(a, b)
            | Index::Xor(a, b)
            | Index::Min(a, b)
            | Index::Max(a, b)
            | Index::Select(_, a, b) => self.multiple_of(a).and(self.multiple_of(b)),
            Index::Mul(a, factor) => self.multiple_of(a).times(Pow2::of(*factor)),
            Index::Mod(a, divisor) => self.multiple_of(a).and(Pow2::of(*divisor)),
        }
    }

    fn without_offset(&mut self, base: Reg, bytes: i64, subscripts: &[Index], extents: &[Operand]) -> Emit<Reg> {
        let mut cell = Operand::Int(0);
        for (subscript, extent) in subscripts.iter().zip(extents) {
            let subscript = self.index(subscript)?;
            cell = match cell {
                Operand::Int(0) => subscript,
                cell => self.b.mad(TernaryOp::MadLo, Type::S64, cell, *extent, subscript).into(),
            };
        }
        Ok(self.b.mad(TernaryOp::MadLo, Type::S64, cell, bytes, base))
    }
}

/// A power of two, as its exponent; everything above 2^16 counts as that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pow2(u32);

impl Pow2 {
    const ONE: Pow2 = Pow2(0);
    /// Every power of two divides zero.
    const ZERO: Pow2 = Pow2(16);

    /// The largest that divides a number.
    fn of(value: i64) -> Pow2 {
        Pow2(value.trailing_zeros().min(Pow2::ZERO.0))
    }

    fn times(self, other: Pow2) -> Pow2 {
        Pow2((self.0 + other.0).min(Pow2::ZERO.0))
    }

    /// The one that divides both, and so their sum.
    fn and(self, other: Pow2) -> Pow2 {
        self.min(other)
    }

    fn value(self) -> i64 {
        1 << self.0
    }
}
