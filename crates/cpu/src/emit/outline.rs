//! Parallel loops as functions of their own, which threads call for some of the iterations.
//!
//! In: a parallel loop.  Out: at its place, a block of what its iterations find around them and a call of the runtime
//! (`crate::parallel`); and, later, a function that runs the iterations from one value of the variable to another.
//! A parallel loop inside another one runs serially: the outer one has work for all threads, or is too small to share.

use cranelift_codegen::ir::{
    AbiParam, InstBuilder, MemFlagsData, Signature, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use loops::{ArrayId, Expr, ExprKind, For, Index, LocalId, LoopKind, Stmt, Target, VarId, Visit};

use super::{Emitter, clif_type, slot};
use crate::parallel::{RUN_REGION, Region};
use crate::work::Work;

/// Words of the block before what the loop finds around it: the four pointers of the call.
const TABLES: usize = 4;

/// A parallel loop whose iterations become a function.
#[derive(Clone, Debug)]
pub(crate) struct Iterations {
    pub(super) function: FuncId,
    r#for: For,
    /// Loop variables and locals that the iterations find, in the order in which they are passed.
    vars: Vec<VarId>,
    locals: Vec<LocalId>,
}

/// The signature of such a function: the block, the first value of the variable, and the end.
pub(super) fn signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    let pointer = AbiParam::new(module.target_config().pointer_type());
    signature.params.extend([pointer, AbiParam::new(types::I64), AbiParam::new(types::I64)]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

impl Emitter<'_> {
    /// Whether the loop is run by threads, which it is here.
    pub(super) fn outline(&mut self, r#for: &For) -> diag::Result<bool> {
        let LoopKind::Parallel(parallel) = &r#for.kind else { return Ok(false) };
        let mut found = Found::default();
        found.block(&r#for.body);
        if self.is_serial || !parallel.reductions.is_empty() || !found.shares_nothing() {
            return Ok(false);
        }
        let vars: Vec<VarId> = found.vars.iter().copied().filter(|var| self.is_around(*var)).collect();
        let locals: Vec<LocalId> = found.locals.iter().copied().filter(|local| !found.set.contains(local)).collect();
        let bug = |error: cranelift_module::ModuleError| diag::Error::bug("cpu", error.to_string());
        let number = self.regions.len();
        let name = format!("parallel {number} {}", self.kernel.name);
        let declared = signature(self.module);
        let function = self.module.declare_function(&name, Linkage::Local, &declared).map_err(bug)?;

        let words = TABLES + vars.len() + locals.len();
        let block = self.environment(&vars, &locals, words)?;
        let (lo, hi) = (self.index(&r#for.lo)?, self.index(&r#for.hi)?);
        let callee = self.module.declare_func_in_func(function, self.b.func);
        let address = self.b.ins().func_addr(types::I64, callee);
        let runtime = self.runtime()?;
        let number = self.iconst(i64::try_from(number).unwrap_or(i64::MAX));
        let call = self.b.ins().call(runtime, &[self.report, address, block, number, lo, hi]);
        let status = self.b.inst_results(call)[0];
        let (failed, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(failed);
        self.b.ins().brif(status, failed, &[], next, &[]);
        self.enter(failed);
        self.b.ins().return_(&[status]);
        self.enter(next);

        let mut private = parallel.private.clone();
        private.extend(found.scoped);
        private.sort();
        private.dedup();
        self.regions.push(Region { step: r#for.step, words, private, work: Work::of_loop(r#for) });
        self.pending.push(Iterations { function, r#for: r#for.clone(), vars, locals });
        Ok(true)
    }

    fn is_around(&self, var: VarId) -> bool {
        self.loop_values[var.index()].is_some()
    }

    /// A block on the stack with all that iterations find around them.
    fn environment(&mut self, vars: &[VarId], locals: &[LocalId], words: usize) -> diag::Result<Value> {
        let size = u32::try_from(8 * words).map_err(|_| diag::Error::bug("cpu", "too many arguments"))?;
        let block = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3));
        let block = self.b.ins().stack_addr(types::I64, block, 0);
        let mut values = self.tables.clone();
        for var in vars {
            values.push(self.index(&Index::Var(*var))?);
        }
        for local in locals {
            let variable = self.locals[local.index()];
            values.push(self.b.use_var(variable));
        }
        for (position, value) in values.into_iter().enumerate() {
            self.b.ins().store(MemFlagsData::trusted(), value, block, slot(position)?);
        }
        Ok(block)
    }

    /// The function that shares the iterations out.
    fn runtime(&mut self) -> diag::Result<cranelift_codegen::ir::FuncRef> {
        let mut signature = self.module.make_signature();
        signature.params.extend([AbiParam::new(types::I64); 6]);
        signature.returns.push(AbiParam::new(types::I32));
        let declared = self.module.declare_function(RUN_REGION, Linkage::Import, &signature);
        let declared = declared.map_err(|error| diag::Error::bug("cpu", error.to_string()))?;
        Ok(self.module.declare_func_in_func(declared, self.b.func))
    }

    /// The body of such a function, up to its end.
    pub(super) fn iterations(&mut self, part: &Iterations) -> diag::Result<()> {
        let block = self.b.create_block();
        self.b.append_block_params_for_function_params(block);
        self.enter(block);
        let &[context, begin, end] = self.b.block_params(block) else {
            return Err(diag::Error::bug("cpu", "the entry block does not have three parameters"));
        };
        let trusted = MemFlagsData::trusted().with_readonly();
        let mut tables = Vec::new();
        for position in 0..TABLES {
            tables.push(self.b.ins().load(types::I64, trusted, context, slot(position)?));
        }
        self.arguments(tables[0], tables[1], tables[2], tables[3])?;
        self.depth = 1;
        self.outer_depth = 1;
        for (position, var) in part.vars.iter().enumerate() {
            let value = self.b.ins().load(types::I64, trusted, context, slot(TABLES + position)?);
            self.loop_values[var.index()] = Some((value, self.depth));
        }
        for (position, local) in part.locals.iter().enumerate() {
            let ty = clif_type(self.kernel.locals[local.index()].ty);
            let offset = slot(TABLES + part.vars.len() + position)?;
            let value = self.b.ins().load(ty, trusted, context, offset);
            let variable = self.locals[local.index()];
            self.b.def_var(variable, value);
        }
        let (before, exit) = (self.b.create_block(), self.b.create_block());
        // The runtime asks for at least one iteration.
        match self.inner_runs(&part.r#for, None)? {
            None => self.b.ins().jump(before, &[]),
            Some(runs) => self.b.ins().brif(runs, before, &[], exit, &[]),
        };
        self.enter(before);
        self.rotated(&part.r#for, begin, end, exit)?;
        self.enter(exit);
        Ok(())
    }
}

/// What the body of a parallel loop mentions.
#[derive(Default)]
struct Found {
    vars: Vec<VarId>,
    locals: Vec<LocalId>,
    set: Vec<LocalId>,
    updated: Vec<LocalId>,
    /// Arrays that exist only inside.
    scoped: Vec<ArrayId>,
    waits: bool,
}

impl Found {
    /// Whether iterations can run on different threads without anything that only one thread can do.
    fn shares_nothing(&self) -> bool {
        !self.waits && self.updated.iter().all(|local| self.set.contains(local))
    }

    fn local(&mut self, local: LocalId) {
        if !self.locals.contains(&local) {
            self.locals.push(local);
        }
    }
}

impl Visit for Found {
    fn index(&mut self, index: &Index) {
        if let Index::Var(var) = index
            && !self.vars.contains(var)
        {
            self.vars.push(*var);
        }
        self.descend_index(index);
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Local(local) = expr.kind {
            self.local(local);
        }
        self.descend_expr(expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set { local, .. } => self.set.push(*local),
            Stmt::Update { target: Target::Local(local), .. } => {
                self.updated.push(*local);
                self.local(*local);
            }
            Stmt::Alloc { array, .. } => self.scoped.push(*array),
            Stmt::For(For { kind: LoopKind::Parallel(parallel), .. }) => self.scoped.extend(&parallel.private),
            Stmt::Barrier => self.waits = true,
            _ => {}
        }
        self.descend_stmt(stmt);
    }
}
