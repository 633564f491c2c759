//! What depends on data: cells whose subscripts are values, and loops whose ends are.
//!
//! Subscripts are compared with their extents. A cell outside is not touched: a load of it gives zero.

use loops::{ArrayId, Each, Expr, ExprKind, Site, SiteKind};
use program::{BinaryOp as Operator, ScalarType};

use super::body::{Emitter, Place};
use super::expr::{held, stored};
use super::{Emit, unsupported};
use crate::ir::{BinaryOp, Cache, Compare, Op, Operand, Reg, Space, TernaryOp, Type};

/// Where a cell is, and whether it is one.
#[derive(Clone, Copy, Debug)]
struct Checked {
    space: Space,
    at: Reg,
    /// None if every subscript is proven.
    inside: Option<Reg>,
}

impl Emitter<'_> {
    /// The value of a cell that depends on data.
    pub(super) fn gather(&mut self, array: ArrayId, index: &[Expr], ty: ScalarType) -> Emit<Reg> {
        let cell = self.checked(array, index)?;
        Ok(self.load_checked(array, cell, ty))
    }

    /// Combines a value with what is in a cell that depends on data.
    pub(super) fn scatter(&mut self, array: ArrayId, index: &[Expr], op: Operator, value: &Expr) -> Emit<()> {
        let ty = value.ty;
        let value = self.expr_reg(value)?;
        let cell = self.checked(array, index)?;
        let new = match op {
            Operator::Last => value,
            Operator::Once => {
                let old = self.load_checked(array, cell, ty);
                self.claim(old, value)
            }
            _ => {
                let old = self.load_checked(array, cell, ty);
                self.operator(op, ty, old.into(), value.into())?
            }
        };
        self.reuse.forget(array);
        let new = if ty == ScalarType::Bool { self.b.select(Type::U32, new, 1, 0) } else { new };
        let store = Op::Store { space: cell.space, ty: stored(ty), to: cell.at.into(), src: vec![new.into()] };
        self.where_inside(cell, store);
        Ok(())
    }

    /// The smallest number stands for nobody. Where both are somebody, it is a fault.
    fn claim(&mut self, first: Reg, second: Reg) -> Reg {
        let free = self.b.compare(Compare::Eq, Type::S64, first, i64::MIN);
        let idle = self.b.compare(Compare::Eq, Type::S64, second, i64::MIN);
        let holds = self.b.binary(BinaryOp::Or, Type::Pred, free, idle);
        self.require(holds, Site { kind: SiteKind::Twice, span: self.at }, &[second, first]);
        self.b.select(Type::S64, idle, first, second)
    }

    fn load_checked(&mut self, array: ArrayId, cell: Checked, ty: ScalarType) -> Reg {
        let kind = if ty == ScalarType::Bool { Type::U32 } else { held(ty) };
        let dst = self.b.reg(kind);
        if cell.inside.is_some() {
            let nothing = match kind {
                Type::F32 => Operand::f32(0.0),
                Type::F64 => Operand::f64(0.0),
                _ => Operand::Int(0),
            };
            self.b.set(kind, dst, nothing);
        }
        let read_only = cell.space == Space::Global && !self.written.contains(&array);
        let cache = if read_only { Cache::NonCoherent } else { Cache::Default };
        let load = Op::Load { space: cell.space, cache, ty: stored(ty), dst: vec![dst], from: cell.at.into() };
        self.where_inside(cell, load);
        if ty == ScalarType::Bool { self.b.compare(Compare::Ne, Type::U32, dst, 0) } else { dst }
    }

    fn where_inside(&mut self, cell: Checked, op: Op) {
        match cell.inside {
            Some(inside) => self.b.guarded(inside, false, |b| b.push(op)),
            None => self.b.push(op),
        }
    }

    /// Where a cell is, behind the checks of its subscripts. Those in index arithmetic are proven, as everywhere.
    fn checked(&mut self, array: ArrayId, index: &[Expr]) -> Emit<Checked> {
        let kernel = self.kernel;
        let (Some(place), Some(declared)) = (self.arrays.get(array.index()).cloned(), kernel.arrays.get(array.index()))
        else {
            return unsupported("an array that is not declared");
        };
        let Place::Memory { space, base, extents, bytes } = place else {
            let name = &declared.name;
            return unsupported(format!("`{name}` is in registers, and read or written at cells that depend on data"));
        };
        let (mut cell, mut inside) = (Operand::Int(0), None);
        for (dimension, (subscript, extent)) in index.iter().zip(&declared.shape).enumerate() {
            let value = self.expr_reg(subscript)?;
            if !matches!(subscript.kind, ExprKind::Index(_)) {
                let extent = self.index(extent)?;
                // Unsigned: a negative subscript is large.
                let here = self.b.compare(Compare::Lt, Type::U64, value, extent);
                let kind = SiteKind::Subscript { array, dimension };
                self.require(here, Site { kind, span: self.at }, &[value]);
                inside = Some(match inside {
                    Some(so_far) => self.b.binary(BinaryOp::And, Type::Pred, Operand::Reg(so_far), here),
                    None => here,
                });
            }
            // Rows of shared memory may be longer than the array's.
            let row = extents.get(dimension).copied().unwrap_or(Operand::Int(1));
            cell = match cell {
                Operand::Int(0) => value.into(),
                cell => self.b.mad(TernaryOp::MadLo, Type::S64, cell, row, value).into(),
            };
        }
        let at = match cell {
            Operand::Int(0) => base,
            cell => self.b.mad(TernaryOp::MadLo, Type::S64, cell, bytes, base),
        };
        Ok(Checked { space, at, inside })
    }

    /// A loop whose ends are values. What it sets in its iterations differs from thread to thread.
    pub(super) fn each(&mut self, each: &Each) -> Emit<()> {
        if super::host::holds_barrier(&each.body) {
            return unsupported("a barrier in a loop that runs as often as data says");
        }
        let ty = Type::S64;
        let outer = std::mem::replace(&mut self.at, each.at);
        let (lo, mut hi, step) = (self.expr_reg(&each.lo)?, self.expr_reg(&each.hi)?, self.expr_reg(&each.step)?);
        if each.forwards {
            let holds = self.b.compare(Compare::Le, ty, lo, hi);
            let by = self.b.binary(BinaryOp::Sub, ty, lo, hi);
            self.require(holds, Site { kind: SiteKind::Backwards, span: each.at }, &[by]);
        }
        if !matches!(each.step.kind, ExprKind::Const(_)) {
            let holds = self.b.compare(Compare::Ge, ty, step, 1);
            self.require(holds, Site { kind: SiteKind::Step, span: each.at }, &[step]);
            hi = self.b.select(ty, holds, hi, lo);
        }
        self.at = outer;
        let counter = self.local(each.local)?;
        self.b.set(ty, counter, lo);
        let (head, done) = (self.b.label("count"), self.b.label("done"));
        let empty = self.b.compare(Compare::Ge, ty, lo, hi);
        self.b.branch_if(empty, false, done);
        self.b.place(head);
        self.reuse.forget_all(&self.written);
        let mark = self.reuse.open();
        if let Some(until) = &each.until {
            let goes_on = self.predicate(until)?;
            self.b.branch_if(goes_on, true, done);
        }
        self.apart += 1;
        self.block(&each.body)?;
        self.apart -= 1;
        self.reuse.close(mark);
        self.reuse.forget_all(&self.written);
        // What is left is compared, rather than the next value, which may not exist.
        let left = self.b.binary(BinaryOp::Sub, ty, hi, counter);
        self.b.binary_into(BinaryOp::Add, ty, counter, counter, step);
        let again = self.b.compare(Compare::Gt, Type::U64, left, step);
        self.b.branch_if(again, false, head);
        self.b.place(done);
        Ok(())
    }
}
