//! Cells that depend on data: every subscript is compared with its extent before the lanes touch memory.
//!
//! Lanes of a group are checked together: of several that fail, the first one is reported, at the first check that one of them fails.

use diag::Span;
use loops::{ArrayId, Expr, ExprKind, Site, SiteKind};
use program::{BinaryOp, ScalarType, Value};

use super::access::Stride;
use super::{Argument, Lower, Nest};
use crate::lanes::ir::{self, Op, Stmt, Type, ValueId};

impl Nest<'_> {
    /// The number of a check.
    pub(super) fn site(&mut self, kind: SiteKind, span: Option<Span>) -> u32 {
        let site = Site { kind, span };
        let found = self.sites.iter().position(|known| *known == site);
        let position = found.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        position as u32 + 1
    }

    /// The address of the first element, and which element each lane means.
    fn elements(&mut self, array: ArrayId, index: &[Expr], at: Option<Span>) -> Lower<(ValueId, ValueId)> {
        if self.vector.is_none() {
            return Err("a cell that depends on data, outside of its lanes".to_owned());
        }
        let shape = self.kernel.arrays[array.index()].shape.clone();
        let bytes = self.memory_type(array).bytes() as i64;
        let strides = self.strides(array)?;
        let mut sum: Option<ValueId> = None;
        for (dimension, ((subscript, extent), stride)) in index.iter().zip(&shape).zip(strides).enumerate() {
            let mut value = self.expr(subscript)?;
            // Subscripts in index arithmetic are proven, as everywhere.
            if !matches!(subscript.kind, ExprKind::Index(_)) {
                let extent = self.index_word(extent)?;
                let site = self.site(SiteKind::Subscript { array, dimension }, at);
                self.body.push(Stmt::Check { index: value, extent, mask: self.mask, site });
            }
            let Stride { factor, extents } = stride;
            if !extents.is_empty() {
                let stride = self.argument(Argument::Stride(factor / bytes, extents));
                let stride = self.once(Type::Lanes(ScalarType::I64), Op::FromWord(stride));
                value = self.lanes(ScalarType::I64, Op::Binary(ir::BinaryOp::Mul, value, stride));
            } else if factor != bytes {
                let stride = self.splat(Value::I64(factor / bytes));
                value = self.lanes(ScalarType::I64, Op::Binary(ir::BinaryOp::Mul, value, stride));
            }
            sum = Some(match sum {
                None => value,
                Some(sum) => self.lanes(ScalarType::I64, Op::Binary(ir::BinaryOp::Add, sum, value)),
            });
        }
        let first = vec![loops::Index::Const(0); index.len()];
        let base = self.argument(Argument::Address(array, first));
        let sum = sum.unwrap_or_else(|| self.splat(Value::I64(0)));
        Ok((base, sum))
    }

    pub(super) fn gather(&mut self, array: ArrayId, index: &[Expr], at: Option<Span>) -> Lower<ValueId> {
        let (base, index) = self.elements(array, index, at)?;
        let memory = self.memory_type(array);
        let value = self.lanes(memory, Op::Gather { base, index, mask: self.mask });
        let is_bool = self.kernel.arrays[array.index()].ty == ScalarType::Bool;
        Ok(if is_bool { self.is_nonzero(memory, value) } else { value })
    }

    /// No two lanes meet in a cell: a loop in which they could is no vector loop.
    pub(super) fn scatter(
        &mut self,
        array: ArrayId,
        index: &[Expr],
        op: BinaryOp,
        value: &Expr,
        at: Option<Span>,
    ) -> Lower<()> {
        let ty = value.ty;
        let mut value = self.expr(value)?;
        let (base, index) = self.elements(array, index, at)?;
        match op {
            BinaryOp::Last => {}
            BinaryOp::Once => return Err("a cell that only one may claim".to_owned()),
            op => {
                let memory = self.memory_type(array);
                let old = self.lanes(memory, Op::Gather { base, index, mask: self.mask });
                let old = if ty == ScalarType::Bool { self.is_nonzero(memory, old) } else { old };
                value = self.binary(op, ty, old, value)?;
            }
        }
        let value = self.stored(ty, value);
        self.body.push(Stmt::Scatter { value, base, index, mask: self.mask });
        self.forget(array);
        Ok(())
    }
}
