//! Leaves: the functions that vector loops become.
//!
//! In: a kernel.  Out: what lowering makes of every vector loop; definitions in the module, and text for people.

use cranelift_codegen::isa::TargetIsa;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use loops::{Expr, For, Index, Kernel, Stmt, VarId, Visit};

use crate::compile::{bug, check_time, disassemble};
use crate::lanes::lower::Lowered;
use crate::lanes::{self, clif, signature, x86};
use crate::{Tier, isa};

/// A vector loop and what became of it.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// The loop, by its variable; copies of it share the leaf.
    pub(crate) var: VarId,
    /// The name of the variable.
    pub(crate) name: String,
    /// The function, or why the loop runs one iteration after the other.
    pub(crate) made: Result<(FuncId, Lowered), String>,
}

/// Lowers every vector loop, and declares the functions of those that have lanes.
pub(crate) fn lower(kernel: &Kernel, module: &mut JITModule) -> diag::Result<Vec<Leaf>> {
    let mut loops = VectorLoops::default();
    loops.block(&kernel.body);
    let mut leaves: Vec<Leaf> = Vec::new();
    for r#for in loops.0 {
        if leaves.iter().any(|leaf| leaf.var == r#for.var) {
            continue;
        }
        let name = kernel.vars[r#for.var.index()].clone();
        let symbol = format!("{} {name}", kernel.name);
        let made = match lanes::lower::lower(kernel, &r#for, &symbol) {
            Ok(lowered) => {
                let (symbol, signature) = (format!("leaf {} {symbol}", leaves.len()), signature(module));
                let function = module.declare_function(&symbol, Linkage::Local, &signature).map_err(bug)?;
                Ok((function, lowered))
            }
            Err(reason) => Err(reason),
        };
        leaves.push(Leaf { var: r#for.var, name, made });
    }
    Ok(leaves)
}

/// The vector loops of some statements.
#[derive(Default)]
struct VectorLoops(Vec<For>);

impl Visit for VectorLoops {
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(r#for) if r#for.kind.is_vector() => self.0.push(r#for.clone()),
            stmt => self.descend_stmt(stmt),
        }
    }
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
