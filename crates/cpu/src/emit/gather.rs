//! Cells that depend on data: every subscript is compared with its extent before the address is used.
//!
//! In: an array and subscripts as values.  Out: a pointer and a displacement, behind the checks.
//! Not here: what becomes of a failed check (`fault`).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use diag::Span;
use loops::{ArrayId, Expr, ExprKind, Site, SiteKind};

use super::Emitter;

impl Emitter<'_> {
    /// Where the cell is. Subscripts in index arithmetic are proven, as everywhere.
    pub(super) fn cell(&mut self, array: ArrayId, index: &[Expr], span: Option<Span>) -> diag::Result<(Value, i32)> {
        let kernel = self.kernel;
        let decl = &kernel.arrays[array.index()];
        let mut subscripts = Vec::with_capacity(index.len());
        for (dimension, (subscript, extent)) in index.iter().zip(&decl.shape).enumerate() {
            let value = self.expr(subscript)?;
            let known = self.checked.iter().any(|(known, bound)| *known == value && bound == extent);
            if !known && (self.check_bounds || !matches!(subscript.kind, ExprKind::Index(_))) {
                self.checked.push((value, extent.clone()));
                let extent = self.index(extent)?;
                // Unsigned: a negative subscript is large.
                let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, value, extent);
                self.require(inside, Site { kind: SiteKind::Subscript { array, dimension }, span }, Some(value));
            }
            subscripts.push(value);
        }
        let mut pointer = self.bases[array.index()];
        for (subscript, stride) in subscripts.into_iter().zip(self.strides[array.index()].clone()) {
            let term = self.times(subscript, &stride);
            pointer = self.b.ins().iadd(pointer, term);
        }
        Ok((pointer, 0))
    }
}
