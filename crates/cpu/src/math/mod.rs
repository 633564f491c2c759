//! The functions of the crate `math` as instructions: short ones where they are used, the others once per module.
//!
//! In: a function and the type of its arguments.  Out: a value, or a function of the module to call.
//! Not here: what the functions are; their definitions are carried out by `instructions`.

mod instructions;
#[cfg(test)]
mod tests;

use std::fmt;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, InstBuilder, Value};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use program::{BinaryOp, ScalarType, UnaryOp};

use self::instructions::{ClifFormat, Instructions};
use crate::isa;

/// A function of floats of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MathFunction {
    name: Name,
    double: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Unary(::math::Unary),
    Binary(::math::Binary),
    /// The Euclidean remainder: exact, hence the same everywhere, but found in a loop, so the code calls Rust.
    Remainder,
}

/// The function that a unary operator is on operands of type `ty`, if it is one.
pub(crate) fn unary(op: UnaryOp, ty: ScalarType) -> Option<MathFunction> {
    let UnaryOp::Function(function) = op else { return None };
    let name = Name::Unary(function);
    ty.is_float().then_some(MathFunction { name, double: ty == ScalarType::F64 })
}

/// The function that a binary operator is on operands of type `ty`, if it is one.
pub(crate) fn binary(op: BinaryOp, ty: ScalarType) -> Option<MathFunction> {
    let name = match op {
        BinaryOp::Function(function) => Name::Binary(function),
        BinaryOp::Rem => Name::Remainder,
        _ => return None,
    };
    ty.is_float().then_some(MathFunction { name, double: ty == ScalarType::F64 })
}

/// Appends what turns the bits of a float that is only stored, in 32 bits, into an `f32`.
pub(crate) fn widen(b: &mut FunctionBuilder<'_>, half: ::math::Half, bits: Value) -> Value {
    half.widen(&mut Instructions::<f32>::new(b, false), bits)
}

/// Appends the opposite.
pub(crate) fn narrow(b: &mut FunctionBuilder<'_>, half: ::math::Half, x: Value) -> Value {
    half.narrow(&mut Instructions::<f32>::new(b, false), x)
}

impl MathFunction {
    /// Whether the definition is at most a few instructions, so that a call would cost more.
    pub(crate) fn is_short(self) -> bool {
        use ::math::Unary::{Abs, Ceil, Floor, Round, Sqrt, Trunc};
        matches!(self.name, Name::Unary(Abs | Ceil | Floor | Round | Sqrt | Trunc))
    }

    /// Whether it is one of `symbols`, and not to be defined.
    pub(crate) fn is_foreign(self) -> bool {
        self.name == Name::Remainder
    }

    /// Appends the definition; `fused` says whether the host has instructions for multiply-adds.
    pub(crate) fn emit(self, b: &mut FunctionBuilder<'_>, fused: bool, arguments: &[Value]) -> diag::Result<Value> {
        if self.double {
            self.apply(&mut Instructions::<f64>::new(b, fused), arguments)
        } else {
            self.apply(&mut Instructions::<f32>::new(b, fused), arguments)
        }
    }

    fn apply<O: ::math::Ops<F = Value>>(self, o: &mut O, arguments: &[Value]) -> diag::Result<Value> {
        match (self.name, arguments) {
            (Name::Unary(function), &[x]) => Ok(function.apply(o, x)),
            (Name::Binary(function), &[x, y]) => Ok(function.apply(o, x, y)),
            _ => Err(diag::Error::bug("cpu", format!("{self} of {} arguments", arguments.len()))),
        }
    }

    fn arity(self) -> usize {
        match self.name {
            Name::Unary(_) => 1,
            Name::Binary(_) | Name::Remainder => 2,
        }
    }

    fn declare(self, module: &mut JITModule) -> diag::Result<FuncId> {
        let float = AbiParam::new(if self.double { f64::TYPE } else { f32::TYPE });
        let mut signature = module.make_signature();
        signature.params.extend(vec![float; self.arity()]);
        signature.returns.push(float);
        let linkage = if self.is_foreign() { Linkage::Import } else { Linkage::Local };
        module.declare_function(&self.to_string(), linkage, &signature).map_err(bug)
    }

    /// Makes the function callable from `function`. Unless it is foreign, somebody has to `define` it in the same module.
    pub(crate) fn import(self, module: &mut JITModule, function: &mut Function) -> diag::Result<FuncRef> {
        let id = self.declare(module)?;
        let callee = module.declare_func_in_func(id, function);
        // Nothing says that the two will lie near each other.
        function.dfg.ext_funcs[callee].colocated = false;
        Ok(callee)
    }

    /// Compiles the function into the module; `context` holds its text and code afterwards.
    pub(crate) fn define(self, module: &mut JITModule, context: &mut Context) -> diag::Result<()> {
        let id = self.declare(module)?;
        module.clear_context(context);
        context.func.signature = module.declarations().get_function_decl(id).signature.clone();
        let mut builder_context = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut context.func, &mut builder_context);
        let block = b.create_block();
        b.append_block_params_for_function_params(block);
        b.seal_block(block);
        b.switch_to_block(block);
        let arguments = b.block_params(block).to_vec();
        let result = self.emit(&mut b, isa::has_fma(module.isa()), &arguments)?;
        b.ins().return_(&[result]);
        b.finalize(module.target_config());
        module.define_function(id, context).map_err(bug)
    }
}

/// The symbol. Kernels have another prefix, so no name is taken twice.
impl fmt::Display for MathFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.name {
            Name::Unary(function) => function.name(),
            Name::Binary(function) => function.name(),
            Name::Remainder => "remainder",
        };
        write!(f, "math {name} {}", if self.double { ScalarType::F64 } else { ScalarType::F32 })
    }
}

fn bug(error: cranelift_module::ModuleError) -> diag::Error {
    diag::Error::bug("cpu", error.to_string())
}

extern "C" fn remainder_f64(a: f64, b: f64) -> f64 {
    a.rem_euclid(b)
}

extern "C" fn remainder_f32(a: f32, b: f32) -> f32 {
    a.rem_euclid(b)
}

/// The foreign functions, with their addresses.
pub(crate) fn symbols() -> Vec<(&'static str, *const u8)> {
    vec![("math remainder f64", remainder_f64 as *const u8), ("math remainder f32", remainder_f32 as *const u8)]
}
