//! Compiled functions against the values that the interpreter computes, on every tier: some have neither fma nor
//! instructions that round.

use std::mem::transmute;

use ::math::{Binary, Unary};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};

use super::{MathFunction, Name};
use crate::code::OwnedModule;
use crate::{Tier, isa, libcalls};

/// Numbers of all sizes, the special ones, and some around the places where definitions change.
fn numbers() -> Vec<f64> {
    let mut numbers = vec![0.0, 5e-324, 1e-45, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, f64::NAN, 1e22, 6e300];
    for step in 0..200 {
        let step = f64::from(step);
        numbers.extend([step * 0.0173, step * 0.61, step * 7.3, (step - 100.0).exp2() * 1.37]);
    }
    let negative: Vec<f64> = numbers.iter().map(|number| -number).collect();
    numbers.extend(negative);
    numbers
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Compiles every function, and calls it with every number, or with pairs of them.
fn check(isa: OwnedTargetIsa) {
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    builder.symbols(libcalls::symbols());
    let mut owner = OwnedModule::new(JITModule::new(builder));
    let module = owner.get().expect("a module");
    let names = Unary::ALL.iter().map(|function| Name::Unary(*function));
    let names = names.chain(Binary::ALL.iter().map(|function| Name::Binary(*function)));
    let functions: Vec<_> = names.flat_map(|name| [false, true].map(|double| MathFunction { name, double })).collect();
    let mut context = module.make_context();
    for function in &functions {
        function.define(module, &mut context).expect("code");
    }
    module.finalize_definitions().expect("links");

    let numbers = numbers();
    for function in functions {
        let id = function.declare(module).expect("known");
        let address = module.get_finalized_function(id);
        for (position, &x) in numbers.iter().enumerate() {
            let y = numbers[(position * 37 + 11) % numbers.len()];
            let (narrow_x, narrow_y) = (x as f32, y as f32);
            // SAFETY: the code is mapped until `owner` goes, and has these arguments and results (see `declare`).
            let (result, expected) = unsafe {
                match (function.name, function.double) {
                    (Name::Unary(unary), true) => {
                        (transmute::<*const u8, extern "C" fn(f64) -> f64>(address)(x), unary.f64(x))
                    }
                    (Name::Unary(unary), false) => {
                        let code = transmute::<*const u8, extern "C" fn(f32) -> f32>(address);
                        (code(narrow_x).into(), unary.f32(narrow_x).into())
                    }
                    (Name::Binary(binary), true) => {
                        (transmute::<*const u8, extern "C" fn(f64, f64) -> f64>(address)(x, y), binary.f64(x, y))
                    }
                    (Name::Binary(binary), false) => {
                        let code = transmute::<*const u8, extern "C" fn(f32, f32) -> f32>(address);
                        (code(narrow_x, narrow_y).into(), binary.f32(narrow_x, narrow_y).into())
                    }
                    (Name::Remainder, _) => unreachable!("it is not compiled"),
                }
            };
            assert!(same(result, expected), "{function} of {x:e}, {y:e}: {result:e}, not {expected:e}");
        }
    }
}

#[test]
fn functions_agree_on_every_tier() {
    for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
        check(isa::host(tier).expect("a host"));
    }
}
