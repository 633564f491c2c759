//! Leaves: the functions that vector loops become.
//!
//! In: what lowering made of every vector loop.  Out: definitions in the module, and text for people.

use cranelift_codegen::isa::TargetIsa;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};

use crate::compile::{bug, check_time, disassemble};
use crate::lanes::lower::Lowered;
use crate::lanes::{clif, signature, x86};
use crate::{Tier, isa};

/// A vector loop and what became of it.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// The variable of the loop.
    pub(crate) name: String,
    /// The function, or why the loop runs one iteration after the other.
    pub(crate) made: Result<(FuncId, Lowered), String>,
}

/// Defines the leaves, with the instructions of a tier; returns their code as text if that is wanted.
pub(crate) fn define(
    module: &mut JITModule,
    tier: Tier,
    leaves: &[Leaf],
    isa: &dyn TargetIsa,
    keep_text: bool,
) -> diag::Result<String> {
    let mut text = String::new();
    for leaf in leaves {
        let Ok((function, lowered)) = &leaf.made else { continue };
        let program = &lowered.program;
        if let Some(wide) = tier.wide() {
            let code = x86::emit(program, wide)?;
            module.define_function_bytes(*function, 64, &code.code, &[]).map_err(bug)?;
            if keep_text {
                let x86::Leaf { spills, repeated, .. } = code;
                text.push_str(&format!("\n; {}: {spills} spills, {repeated} values loaded again\n", program.name));
                text.push_str(&x86::disassemble(&code.code));
            }
            continue;
        }
        let mut context = module.make_context();
        context.func.signature = signature(module);
        clif::emit(program, module.target_config(), isa::has_fma(isa), &mut context.func)?;
        context.set_disasm(keep_text);
        check_time(&context.func)?;
        module.define_function(*function, &mut context).map_err(bug)?;
        if keep_text {
            text.push_str(&format!("\n; {}\n", program.name));
            text.push_str(&disassemble(&context, isa)?);
        }
    }
    Ok(text)
}

/// The programs as text.
pub(crate) fn text(leaves: &[Leaf]) -> String {
    let mut text = String::new();
    for leaf in leaves {
        match &leaf.made {
            Ok((_, lowered)) => text.push_str(&lowered.program.to_string()),
            Err(reason) => text.push_str(&format!("# loop {}: no lanes: {reason}\n", leaf.name)),
        }
    }
    text
}
