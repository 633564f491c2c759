//! Leaves: the functions that vector loops become.
//!
//! In: a kernel.  Out: what lowering makes of every vector loop; definitions in the module, and text for people. A short serial loop
//! around vector loops, as over the rows of a tile, is part of their leaf, so that one call does for all of them.

use cranelift_codegen::isa::TargetIsa;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use loops::{Expr, For, Index, Kernel, Stmt, Visit, extremum_operands};

use crate::compile::{bug, check_time, disassemble};
use crate::lanes::lower::{Ahead, Argument, Lower, Lowered, Memory, Past, vector_loops};
use crate::lanes::x86::Wide;
use crate::lanes::{self, clif, signature, x86};
use crate::linear::Linear;
use crate::{Tier, isa};

/// How often the statements of a leaf around its vector loops run at most: the leaf does not ask whether the call is cancelled.
const MOST_ROWS: i64 = 64;

/// A loop and what became of it.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// The loop; copies of it share the leaf.
    root: For,
    /// The vector loops in it.
    vectors: Vec<For>,
    /// The name of its variable.
    pub(crate) name: String,
    /// The function, or why the loop runs one iteration after the other.
    pub(crate) made: Result<(FuncId, Lowered), String>,
}

impl Leaf {
    /// Whether it is what a loop became.
    pub(crate) fn is_of(&self, r#for: &For) -> bool {
        self.root.var == r#for.var && self.root == *r#for
    }

    /// Whether the lanes of a vector loop run in it.
    pub(crate) fn has_lanes_of(&self, vector: &For) -> bool {
        self.made.is_ok() && self.vectors.contains(vector)
    }
}

/// Lowers every vector loop, with the short loops around it where they can be, and declares the functions of those that have lanes.
pub(crate) fn lower(
    kernel: &Kernel,
    tier: Tier,
    streams: Option<u64>,
    module: &mut JITModule,
) -> diag::Result<Vec<Leaf>> {
    let wide512 = tier.wide() == Some(Wide::Avx512);
    // Cranelift has no instructions for any of it.
    let memory = match tier.wide() {
        Some(_) => Memory { aligns: wide512, fetches: true, past: Past::of(kernel, streams), ahead: Ahead::of(kernel) },
        None => Memory::default(),
    };
    let mut roots = Roots { kernel, memory, found: Vec::new() };
    roots.block(&kernel.body);
    let mut leaves: Vec<Leaf> = Vec::new();
    for (root, lowered) in roots.found {
        let name = kernel.vars[root.var.index()].clone();
        let made = match lowered {
            Ok(mut lowered) => {
                if wide512 {
                    lowered.program = lanes::slide(&lowered.program, &regions(&lowered.arguments))?;
                }
                let (symbol, signature) = (format!("leaf {} {} {name}", leaves.len(), kernel.name), signature(module));
                let function = module.declare_function(&symbol, Linkage::Local, &signature).map_err(bug)?;
                Ok((function, lowered))
            }
            Err(reason) => Err(reason),
        };
        leaves.push(Leaf { vectors: vector_loops(&root), root, name, made });
    }
    Ok(leaves)
}

/// Which array the word in each slot is an address into: 0 for the slots themselves, then by number.
fn regions(arguments: &[Argument]) -> Vec<Option<u32>> {
    let region = |argument: &Argument| match argument {
        Argument::Address(array, _) => Some(array.0 + 1),
        Argument::Block => Some(0),
        _ => None,
    };
    arguments.iter().map(region).collect()
}

/// The loops that leaves are made of, each once, and what lowering made of them.
struct Roots<'k> {
    kernel: &'k Kernel,
    memory: Memory,
    found: Vec<(For, Lower<Lowered>)>,
}

impl Visit for Roots<'_> {
    fn index(&mut self, _: &Index) {}
    fn expr(&mut self, _: &Expr) {}

    fn stmt(&mut self, stmt: &Stmt) {
        let Stmt::For(r#for) = stmt else { return self.descend_stmt(stmt) };
        if self.found.iter().any(|(known, _)| known.var == r#for.var && known == r#for) {
            return;
        }
        if !r#for.kind.is_vector() && most_rows(r#for).is_none_or(|rows| rows > MOST_ROWS) {
            return self.descend_stmt(stmt);
        }
        let name = format!("{} {}", self.kernel.name, self.kernel.vars[r#for.var.index()]);
        match lanes::lower::lower(self.kernel, r#for, &name, &self.memory) {
            Err(_) if !r#for.kind.is_vector() => self.descend_stmt(stmt),
            lowered => self.found.push((r#for.clone(), lowered)),
        }
    }
}

/// How often the innermost statements around vector loops run at most; none if that is not known, or if there is a loop without lanes.
fn most_rows(r#for: &For) -> Option<i64> {
    if r#for.kind.is_vector() {
        return Some(1);
    }
    let trips = most_trips(r#for).filter(|_| r#for.kind.is_ordered())?;
    let mut rows = None;
    for stmt in &r#for.body {
        rows = rows.max(rows_inside(stmt)?);
    }
    trips.checked_mul(rows?)
}

/// The same for a statement: the outer one is none where there must be no leaf, the inner one where there is no vector loop.
fn rows_inside(stmt: &Stmt) -> Option<Option<i64>> {
    match stmt {
        Stmt::For(inner) => most_rows(inner).map(Some),
        Stmt::If { then, otherwise, .. } => {
            let parts = then.iter().chain(otherwise).map(rows_inside).collect::<Option<Vec<_>>>()?;
            Some(parts.into_iter().max().flatten())
        }
        Stmt::Set { .. } | Stmt::Store { .. } | Stmt::Update { .. } => Some(None),
        Stmt::Scatter { .. } | Stmt::Each(_) | Stmt::Alloc { .. } | Stmt::Barrier => None,
    }
}

/// How often a loop runs at most, if its ends show it.
fn most_trips(r#for: &For) -> Option<i64> {
    let (first, last) = (extremum_operands(&r#for.lo, true), extremum_operands(&r#for.hi, false));
    let length = |lo: &Index, hi: &Index| Linear::of(hi).plus(&Linear::of(lo), -1).as_constant();
    let lengths = last.iter().flat_map(|hi| first.iter().filter_map(move |lo| length(lo, hi)));
    lengths.min().map(|length| length.max(0))
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
        let regions = regions(&lowered.arguments);
        clif::emit(program, module.target_config(), isa::has_fma(isa), &regions, &mut context.func)?;
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
