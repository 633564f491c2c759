//! From a kernel to code in memory: emit, compile, link, keep.
//!
//! In: a verified kernel.  Out: [`Compiled`].
//! Not here: what the instructions are (`emit`), how they are called (`call`).

use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Function, Signature, types};
use cranelift_codegen::isa::TargetIsa;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc, default_libcall_names};
use diag::deadline;

use crate::code::{Code, OwnedModule};
use crate::{Tier, call, emit, isa, leaves, libcalls, math, parallel, place};

/// What to do beside compiling.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Keep the text that [`Compiled::clif`] and [`Compiled::asm`] return.
    pub keep_text: bool,
    /// Check every subscript at run time, even if the kernel is known to be in bounds. Others are always checked
    /// (`loops::Verified::is_in_bounds`).
    pub check_bounds: bool,
    /// The instructions to use; the best that the host has if nothing is said.
    pub tier: Option<Tier>,
    /// Arrays of so many bytes or more that the kernel only writes are written past the caches, where there are instructions for it; none if
    /// nothing is said. What is larger than the last cache would not stay there anyway, and lines need not be fetched before they are written.
    pub streams: Option<u64>,
}

/// Machine code of one kernel. Threads may share it; its memory is freed on drop.
#[derive(Debug)]
pub struct Compiled {
    /// No other kernel of the process has it.
    pub(crate) id: u64,
    pub(crate) signature: call::Signature,
    pub(crate) code: Code,
    clif: String,
    asm: String,
    lanes: String,
}

impl Compiled {
    /// Whether it has loops that threads can share.
    pub fn is_parallel(&self) -> bool {
        self.signature.is_parallel()
    }

    /// Cranelift's input, before its optimisations. Empty unless [`Options::keep_text`] was set.
    pub fn clif(&self) -> &str {
        &self.clif
    }

    /// The disassembled code. Empty unless [`Options::keep_text`] was set.
    pub fn asm(&self) -> &str {
        &self.asm
    }

    /// The lane programs of its vector loops, and why others have none. Empty unless [`Options::keep_text`] was set.
    pub fn lanes(&self) -> &str {
        &self.lanes
    }
}

/// The stage that is named where time runs out.
pub(crate) const STAGE: &str = "codegen";

/// What Cranelift takes for an instruction, in functions of any size, on a slow machine. It cannot be stopped once it has begun.
const PER_INSTRUCTION: Duration = Duration::from_micros(10);

/// That there is time to compile a function.
pub(crate) fn check_time(function: &Function) -> diag::Result<()> {
    let instructions = u32::try_from(function.dfg.num_insts()).unwrap_or(u32::MAX);
    deadline::check_ahead(STAGE, PER_INSTRUCTION.saturating_mul(instructions))
}

/// How many kernels there have been.
static KERNELS: AtomicU64 = AtomicU64::new(0);

/// Compiles for this machine.
pub fn compile(kernel: &loops::Verified) -> diag::Result<Compiled> {
    compile_with(kernel, &Options::default())
}

/// Compiles for this machine, as `options` say.
pub fn compile_with(kernel: &loops::Verified, options: &Options) -> diag::Result<Compiled> {
    let kernel = &kernel.hoisted();
    let tier = options.tier.unwrap_or_else(Tier::native);
    let isa = isa::host(tier)?;
    let mut builder = JITBuilder::with_isa(isa.clone(), default_libcall_names());
    builder.symbols(math::symbols());
    builder.symbols(libcalls::symbols());
    builder.symbols(parallel::symbols());
    let mut owner = OwnedModule::new(JITModule::new(builder));
    let module = owner.get()?;

    let mut context = module.make_context();
    context.func.signature = signature(module);
    // Where subscripts are checked one by one, iterations run so, too.
    let checked = options.check_bounds || !kernel.is_in_bounds();
    let lowered = if checked { Vec::new() } else { leaves::lower(kernel, tier, options.streams, module)? };
    let has_lanes = |r#for: &loops::For| lowered.iter().any(|leaf| leaf.has_lanes_of(r#for));
    let kernel = &kernel.with_sums_spread(|r#for| !has_lanes(r#for));
    let emitted = emit::emit(kernel, options, &lowered, module, &mut context.func)?;
    let mut clif = if options.keep_text { context.func.display().to_string() } else { String::new() };

    let leaves = leaves::define(module, tier, &lowered, &*isa, options.keep_text)?;
    let (function, start) = define(module, &kernel.name, &mut context)?;
    let mut asm = if options.keep_text { disassemble(&context, &*isa)? + &leaves } else { String::new() };
    for (id, function) in emitted.outlined {
        context.clear();
        context.func = function;
        context.set_disasm(options.keep_text);
        if options.keep_text {
            write!(clif, "\n; iterations of a parallel loop\n{}", context.func.display()).map_err(bug)?;
        }
        check_time(&context.func)?;
        module.define_function(id, &mut context).map_err(bug)?;
        if options.keep_text {
            write!(asm, "\n; iterations of a parallel loop\n{}", disassemble(&context, &*isa)?).map_err(bug)?;
        }
    }
    for function in emitted.functions.into_iter().filter(|function| !function.is_foreign()) {
        function.define(module, &mut context)?;
        if options.keep_text {
            write!(clif, "\n; {function}\n{}", context.func.display()).map_err(bug)?;
            write!(asm, "\n; {function}\n{}", disassemble(&context, &*isa)?).map_err(bug)?;
        }
    }
    module.finalize_definitions().map_err(bug)?;
    let lanes = if options.keep_text { leaves::text(&lowered) } else { String::new() };
    let signature = call::Signature::new(kernel, emitted.derived, emitted.sites, emitted.regions);
    let id = KERNELS.fetch_add(1, Ordering::Relaxed);
    Ok(Compiled { id, signature, code: Code::new(owner, function, start)?, clif, asm, lanes })
}

/// The signature of [`crate::code::Entry`].
fn signature(module: &JITModule) -> Signature {
    let pointer = AbiParam::new(module.target_config().pointer_type());
    let mut signature = module.make_signature();
    signature.params.extend([pointer; 4]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Compiles the kernel. The code starts a number of bytes into the function, as `place` decides.
fn define(module: &mut JITModule, name: &str, context: &mut Context) -> diag::Result<(FuncId, usize)> {
    // The prefix keeps kernels apart from the functions of `math`.
    let symbol = format!("kernel {name}");
    let signature = context.func.signature.clone();
    let function = module.declare_function(&symbol, Linkage::Local, &signature).map_err(bug)?;
    check_time(&context.func)?;
    context.compile(module.isa(), &mut Default::default()).map_err(|error| bug(error.inner))?;

    let code = context.compiled_code().ok_or_else(|| bug("no code was generated"))?;
    let start = place::choose_start(code);
    let mut bytes = vec![0; start as usize];
    bytes.extend_from_slice(code.code_buffer());
    let relocations = code.buffer.relocs().iter().map(|relocation| {
        let mut relocation = ModuleReloc::from_mach_reloc(relocation, &context.func, function);
        relocation.offset += start;
        relocation
    });
    let relocations: Vec<ModuleReloc> = relocations.collect();
    module.define_function_bytes(function, u64::from(place::LINE), &bytes, &relocations).map_err(bug)?;
    Ok((function, start as usize))
}

pub(crate) fn disassemble(context: &Context, isa: &dyn TargetIsa) -> diag::Result<String> {
    let code = context.compiled_code().ok_or_else(|| bug("no code was generated"))?;
    let capstone = isa.to_capstone().map_err(bug)?;
    let text = code.disassemble(Some(&context.func.params), &capstone).map_err(bug)?;
    Ok(without_constants(&text))
}

/// The text of code up to its end. Behind the last block there are the traps that blocks jump to, and then constants, which a
/// disassembler takes for instructions.
fn without_constants(text: &str) -> String {
    let is = |line: &str, words: &[&str]| words.iter().any(|word| line.trim_start().starts_with(word));
    let last_block = text.rfind("\nblock").unwrap_or(0);
    let (blocks, last) = text.split_at(last_block);
    let mut ended = false;
    let kept = last.split_inclusive('\n').take_while(|line| {
        let goes_on = !ended || is(line, &["ud2"]);
        ended |= is(line, &["ret", "jmp", "ud2"]);
        goes_on
    });
    kept.fold(blocks.to_owned(), |all, line| all + line)
}

pub(crate) fn bug(what: impl Display) -> diag::Error {
    diag::Error::bug("cpu", what.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_ends_where_its_constants_begin() {
        let code = "block0: ; offset 0x0\n  jmp 0x9\nblock1: ; offset 0x9\n  retq\n  ud2 ; trap: user1\n";
        assert_eq!(without_constants(&format!("{code}  addb %al, (%rax)\n  ud2\n")), code);
        assert_eq!(without_constants(code), code);
    }
}
