//! Parallel loops as functions of their own, which threads call for some of the iterations.
//!
//! In: a parallel loop.  Out: at its place, a block of what its iterations find around them and a call of the runtime
//! (`crate::parallel`); and, later, a function that runs the iterations from one value of the variable to another.
//! Two parallel loops, one directly inside the other and with bounds of its own, are one: their pairs of iterations are numbered and shared out, so that a
//! short outer loop has work for all threads. Any other parallel loop inside of one runs serially.

use cranelift_codegen::ir::condcodes::IntCC;
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
    /// The parallel loop that is all there is inside, if iterations are numbered through both.
    inner: Option<For>,
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
        let inner = collapsible(r#for).cloned();
        if inner.is_some() {
            // Pairs are counted from where both loops begin.
            found.index(&r#for.lo);
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
        let (lo, hi, step) = match &inner {
            None => (self.index(&r#for.lo)?, self.index(&r#for.hi)?, r#for.step),
            // More pairs than 64 bits can count would never end.
            Some(inner) => {
                let (outer, inner) = (self.trips(r#for)?, self.trips(inner)?);
                (self.iconst(0), self.b.ins().imul(outer, inner), 1)
            }
        };
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
        self.regions.push(Region { step, words, private, work: Work::of_loop(inner.as_ref().unwrap_or(r#for)) });
        self.pending.push(Iterations { function, r#for: r#for.clone(), inner, vars, locals });
        Ok(true)
    }

    /// How many iterations a loop has.
    fn trips(&mut self, r#for: &For) -> diag::Result<Value> {
        let (lo, hi) = (self.index(&r#for.lo)?, self.index(&r#for.hi)?);
        let length = self.b.ins().isub(hi, lo);
        let rounded = self.b.ins().iadd_imm_s(length, r#for.step - 1);
        let step = self.iconst(r#for.step);
        let trips = if r#for.step == 1 { rounded } else { self.b.ins().sdiv(rounded, step) };
        let runs = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        let none = self.iconst(0);
        Ok(self.b.ins().select(runs, trips, none))
    }

    /// The values of the outer variable that pairs of iterations from `begin` to `end` have; the loop inside is clipped at both ends.
    fn pairs(&mut self, outer: &For, inner: &For, begin: Value, end: Value) -> diag::Result<(Value, Value)> {
        let per_outer = self.trips(inner)?;
        let (outer_lo, inner_lo) = (self.index(&outer.lo)?, self.index(&inner.lo)?);
        let last = self.b.ins().iadd_imm_s(end, -1);
        let mut at = |pair: Value| {
            let number = self.b.ins().udiv(pair, per_outer);
            let before = self.b.ins().imul(number, per_outer);
            let rest = self.b.ins().isub(pair, before);
            let (outer_step, inner_step) = (self.scale(number, outer.step), self.scale(rest, inner.step));
            (self.b.ins().iadd(outer_lo, outer_step), self.b.ins().iadd(inner_lo, inner_step))
        };
        let (first, last) = (at(begin), at(last));
        let inner_end = self.b.ins().iadd_imm_s(last.1, 1);
        self.clip = Some(Clip { outer: outer.var, inner: inner.var, first, last: (last.0, inner_end) });
        Ok((first.0, self.b.ins().iadd_imm_s(last.0, 1)))
    }

    /// The bounds of a loop, clipped where it is inside the first or the last of the iterations that this function runs.
    pub(super) fn clipped(&mut self, r#for: &For, lo: Value, hi: Value) -> diag::Result<(Value, Value)> {
        let Some(clip) = self.clip.filter(|clip| clip.inner == r#for.var) else { return Ok((lo, hi)) };
        let outer = self.index(&Index::Var(clip.outer))?;
        let mut at = |(place, bound): (Value, Value), otherwise: Value| {
            let here = self.b.ins().icmp(IntCC::Equal, outer, place);
            self.b.ins().select(here, bound, otherwise)
        };
        Ok((at(clip.first, lo), at(clip.last, hi)))
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
        let (begin, end) = match &part.inner {
            None => (begin, end),
            Some(inner) => self.pairs(&part.r#for, inner, begin, end)?,
        };
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

/// The parallel loop that is all there is inside of another one, if its iterations are the same in each of those of the other.
fn collapsible(outer: &For) -> Option<&For> {
    let [Stmt::For(inner)] = outer.body.as_slice() else { return None };
    let LoopKind::Parallel(parallel) = &inner.kind else { return None };
    let same = !inner.lo.uses(outer.var) && !inner.hi.uses(outer.var);
    (same && parallel.reductions.is_empty()).then_some(inner)
}

/// Where iterations of two loops begin and end: the values of the outer variable, and there, the bound of the loop inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clip {
    outer: VarId,
    inner: VarId,
    first: (Value, Value),
    last: (Value, Value),
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
