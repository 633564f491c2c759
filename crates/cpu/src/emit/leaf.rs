//! Calls of leaves: vector loops whose lanes run at once.
//!
//! In: a vector loop.  Out: its arguments in a block on the stack, a call, and what came back; or nothing, if the loop has
//! to run one iteration after the other.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Value, types};
use cranelift_module::Module;
use loops::{Expr, For, Site};
use program::{BinaryOp, ScalarType};

use super::{Emitter, clif_type, slot};
use crate::fma::multiply_add;
use crate::lanes::lower::{Argument, Lowered};

impl Emitter<'_> {
    /// Whether the loop is a leaf, which is called here.
    pub(super) fn leaf(&mut self, r#for: &For) -> diag::Result<bool> {
        let leaf = self.leaves.iter().find(|leaf| leaf.is_of(r#for));
        let Some(Ok((function, lowered))) = leaf.map(|leaf| &leaf.made) else { return Ok(false) };
        let Lowered { arguments, sites, .. } = lowered;
        // Behind the arguments: where to report, and the place for that.
        let words = arguments.len() + 2;
        let size = u32::try_from(8 * words).map_err(|_| diag::Error::bug("cpu", "too many arguments"))?;
        let block = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3));
        let block = self.b.ins().stack_addr(types::I64, block, 0);
        for (position, argument) in arguments.iter().enumerate() {
            let value = self.leaf_argument(argument, block)?;
            self.b.ins().store(MemFlagsData::trusted(), value, block, slot(position)?);
        }
        if !sites.is_empty() {
            let report = self.offset(block, i64::from(slot(words - 1)?));
            self.b.ins().store(MemFlagsData::trusted(), report, block, slot(words - 2)?);
        }
        let callee = self.module.declare_func_in_func(*function, self.b.func);
        let call = self.b.ins().call(callee, &[block]);
        if !sites.is_empty() {
            let status = self.b.inst_results(call)[0];
            self.leaf_failures(status, sites, block, slot(words - 1)?);
        }
        for (position, argument) in arguments.iter().enumerate() {
            if let Argument::Changed(local) = argument {
                let ty = clif_type(self.kernel.locals[local.index()].ty);
                let value = self.b.ins().load(ty, MemFlagsData::trusted(), block, slot(position)?);
                let variable = self.locals[local.index()];
                self.b.def_var(variable, value);
            }
        }
        Ok(true)
    }

    /// Ends the call if a check of the leaf has failed: the site is known by its number, and what failed is in the report.
    fn leaf_failures(&mut self, status: Value, sites: &[Site], block: Value, report: i32) {
        let (failed, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(failed);
        self.b.ins().brif(status, failed, &[], done, &[]);
        self.enter(failed);
        for (position, site) in sites.iter().enumerate() {
            let value =
                site.reports_value().then(|| self.b.ins().load(types::I64, MemFlagsData::trusted(), block, report));
            let other = self.b.ins().icmp_imm_s(IntCC::NotEqual, status, position as i64 + 1);
            self.require(other, site.clone(), value);
        }
        self.b.ins().jump(done, &[]);
        self.enter(done);
    }

    fn leaf_argument(&mut self, argument: &Argument, block: Value) -> diag::Result<Value> {
        Ok(match argument {
            Argument::Address(array, index) => {
                let (pointer, displacement) = self.address(*array, index)?;
                self.offset(pointer, i64::from(displacement))
            }
            Argument::Stride(factor, extents) => {
                let mut product = self.iconst(*factor);
                for extent in extents {
                    let extent = self.index(extent)?;
                    product = self.b.ins().imul(product, extent);
                }
                product
            }
            Argument::Index(index) => self.index(index)?,
            Argument::Scalar(scalar) => self.scalars[scalar.index()],
            Argument::Local(local) | Argument::Changed(local) => {
                let variable = self.locals[local.index()];
                self.b.use_var(variable)
            }
            Argument::Block => block,
        })
    }

    /// `old op value`, where the sum of a product is rounded once.
    pub(super) fn updated(&mut self, op: BinaryOp, old: Value, value: &Expr) -> diag::Result<Value> {
        let ty: ScalarType = value.ty;
        if let Some((a, b)) = loops::fused_factors(op, value) {
            let (a, b) = (self.expr(a)?, self.expr(b)?);
            return Ok(multiply_add(&mut self.b, self.fused, [[a, b, old]])[0]);
        }
        let value = self.expr(value)?;
        self.binary(op, ty, old, value)
    }
}
