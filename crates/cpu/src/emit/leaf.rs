//! Calls of leaves: vector loops whose lanes run at once.
//!
//! In: a vector loop.  Out: its arguments in a block on the stack, a call, and what came back; or nothing, if the loop has
//! to run one iteration after the other.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Value, types};
use cranelift_module::{Linkage, Module};
use loops::{Expr, For};
use program::{BinaryOp, ScalarType};

use super::{Emitter, clif_type, slot};
use crate::fma::multiply_add;
use crate::lanes;
use crate::lanes::lower::Argument;
use crate::leaves::Leaf;

impl Emitter<'_> {
    /// Whether the loop is a leaf, which is called here.
    pub(super) fn leaf(&mut self, r#for: &For) -> diag::Result<bool> {
        if !r#for.kind.is_vector() || self.check_bounds {
            return Ok(false);
        }
        let number = self.leaf_number(r#for)?;
        let Ok((function, lowered)) = &self.leaves[number].made else { return Ok(false) };
        let (function, arguments) = (*function, lowered.arguments.clone());
        let size =
            u32::try_from(8 * (arguments.len() + 1)).map_err(|_| diag::Error::bug("cpu", "too many arguments"))?;
        let block = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3));
        let block = self.b.ins().stack_addr(types::I64, block, 0);
        for (position, argument) in arguments.iter().enumerate() {
            let value = self.leaf_argument(argument, block)?;
            self.b.ins().store(MemFlagsData::trusted(), value, block, slot(position)?);
        }
        let callee = self.module.declare_func_in_func(function, self.b.func);
        self.b.ins().call(callee, &[block]);
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

    /// Lowers a loop the first time that it is met; copies of it by unrolling share the leaf.
    fn leaf_number(&mut self, r#for: &For) -> diag::Result<usize> {
        if let Some(known) = self.leaf_of[r#for.var.index()] {
            return Ok(known);
        }
        let number = self.leaves.len();
        let name = self.kernel.vars[r#for.var.index()].clone();
        let symbol = format!("{} {name}", self.kernel.name);
        let made = lanes::lower::lower(self.kernel, r#for, &symbol);
        let made = match made {
            Ok(lowered) => {
                let signature = lanes::signature(self.module);
                let declared =
                    self.module.declare_function(&format!("leaf {number} {symbol}"), Linkage::Local, &signature);
                Ok((declared.map_err(|error| diag::Error::bug("cpu", error.to_string()))?, lowered))
            }
            Err(reason) => Err(reason),
        };
        self.leaves.push(Leaf { name, made });
        self.leaf_of[r#for.var.index()] = Some(number);
        Ok(number)
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
