//! Instructions for a kernel: statements and loops.
//!
//! In: a kernel.  Out: a Cranelift function that loads its arguments once and runs the loops in order.
//! Not here: index arithmetic (`index`), addresses (`address`), scalar expressions (`expr`).
//!
//! Loops are rotated: one guard, then a body that tests at its end. Between the two stands an empty block, so that what
//! Cranelift hoists out of the loop is not computed when the loop does not run.

mod address;
mod cast;
mod constants;
mod divide;
mod each;
mod expr;
pub(crate) mod fault;
mod gather;
mod index;
mod leaf;
mod outline;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AliasRegionData, Block, FuncRef, Function, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_codegen::packed_option::ReservedValue;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};
use diag::{Span, deadline};
use loops::{CompareOp, Cond, For, Kernel, Site, Stmt, Target, VarsUsed};
use program::{BinaryOp, Role, ScalarType};

use self::address::{Induction, Stride};
use self::constants::float_constants;
use self::fault::DONE;
use self::outline::{Clip, Iterations};
use crate::Options;
use crate::call::Derived;
use crate::compile::STAGE;
use crate::isa;
use crate::leaves::Leaf;
use crate::linear::{Linear, known};
use crate::math::MathFunction;
use crate::parallel::Region;

/// Fills `function`, whose signature is that of `crate::code::Entry`, and makes a function for each parallel loop.
pub(crate) fn emit(
    kernel: &loops::Verified,
    options: &Options,
    leaves: &[Leaf],
    module: &mut JITModule,
    function: &mut Function,
) -> diag::Result<Emitted> {
    let mut emitted = Emitted {
        derived: Vec::new(),
        sites: Vec::new(),
        functions: BTreeSet::new(),
        regions: Vec::new(),
        outlined: Vec::new(),
    };
    let pending = emit_part(kernel, options, leaves, module, function, None, &mut emitted)?;
    for part in pending {
        let mut function = Function::new();
        function.signature = outline::signature(module);
        emit_part(kernel, options, leaves, module, &mut function, Some(&part), &mut emitted)?;
        emitted.outlined.push((part.function, function));
    }
    Ok(emitted)
}

/// One function: the kernel, or some iterations of one of its parallel loops. Returns the loops that are left to do.
fn emit_part(
    kernel: &loops::Verified,
    options: &Options,
    leaves: &[Leaf],
    module: &mut JITModule,
    function: &mut Function,
    part: Option<&Iterations>,
    emitted: &mut Emitted,
) -> diag::Result<Vec<Iterations>> {
    let mut context = FunctionBuilderContext::new();
    let config = module.target_config();
    let fused = isa::has_fma(module.isa());
    let b = FunctionBuilder::new(function, &mut context);
    let mut emitter = Emitter {
        kernel,
        check_bounds: options.check_bounds || !kernel.is_in_bounds(),
        module,
        fused,
        b,
        params: Vec::new(),
        scalars: Vec::new(),
        bases: Vec::new(),
        flags: Vec::new(),
        strides: Vec::new(),
        derived: Vec::new(),
        slots: Value::reserved_value(),
        tables: Vec::new(),
        report: Value::reserved_value(),
        locals: Vec::new(),
        loop_values: vec![None; kernel.vars.len()],
        depth: 0,
        outer_depth: 0,
        inductions: Vec::new(),
        holds: Vec::new(),
        checked: Vec::new(),
        at: None,
        first_site: emitted.sites.len(),
        failures: Vec::new(),
        cancelled: None,
        functions: BTreeMap::new(),
        leaves,
        regions: std::mem::take(&mut emitted.regions),
        pending: Vec::new(),
        clip: None,
        // That iterations may run at once is as much a matter of proof as that subscripts are inside.
        is_serial: part.is_some() || !kernel.is_in_bounds(),
    };
    match part {
        None => {
            emitter.entry()?;
            emitter.stmts(&kernel.body)?;
        }
        Some(part) => emitter.iterations(part)?,
    }
    let sites = emitter.finish();
    emitter.b.finalize(config);
    emitted.sites.extend(sites);
    emitted.regions = emitter.regions;
    emitted.functions.extend(emitter.functions.into_keys());
    let derived: Vec<Derived> = emitter.derived.into_iter().map(|(derived, _)| derived).collect();
    if part.is_some() && derived != emitted.derived {
        return Err(diag::Error::bug("cpu", "a parallel loop has other arguments than its kernel"));
    }
    emitted.derived = derived;
    Ok(emitter.pending)
}

/// What is left to do for a function, and for its callers.
pub(crate) struct Emitted {
    /// What the caller has to pass after the parameters.
    pub(crate) derived: Vec<Derived>,
    /// The sites of checks.
    pub(crate) sites: Vec<Site>,
    /// Mathematical functions that the code calls, likewise.
    pub(crate) functions: BTreeSet<MathFunction>,
    /// What has to be known of the parallel loops to run them.
    pub(crate) regions: Vec<Region>,
    /// The iterations of each, declared but not defined.
    pub(crate) outlined: Vec<(FuncId, Function)>,
}

/// The state of code generation for one kernel.
struct Emitter<'a> {
    kernel: &'a Kernel,
    check_bounds: bool,
    module: &'a mut JITModule,
    /// The host has multiply-adds.
    fused: bool,
    b: FunctionBuilder<'a>,
    params: Vec<Value>,
    scalars: Vec<Value>,
    /// Per array: address of the first element, properties of accesses, stride of each dimension.
    bases: Vec<Value>,
    flags: Vec<MemFlagsData>,
    strides: Vec<Vec<Stride>>,
    /// Arguments that the caller computes, after the parameters in the same table.
    derived: Vec<(Derived, Value)>,
    slots: Value,
    /// The four pointers that the kernel was called with.
    tables: Vec<Value>,
    /// Where a failed check leaves its value.
    report: Value,
    locals: Vec<Variable>,
    /// The variables of loops around this place, with their nesting depth, from 1.
    loop_values: Vec<Option<(Value, usize)>>,
    depth: usize,
    /// The depth of what stands around the loop whose iterations this function runs.
    outer_depth: usize,
    inductions: Vec<Induction>,
    /// Conditions that hold here.
    holds: Vec<Cond>,
    /// Subscripts that the present statement has found to be below these extents, on every way to here.
    checked: Vec<(Value, loops::Index)>,
    /// Where in the source the present expression stands.
    at: Option<Span>,
    /// How many sites the functions before this one have.
    first_site: usize,
    /// A block per site of checks, which ends the call.
    failures: Vec<(Site, Block)>,
    /// The block that ends a call that was cancelled.
    cancelled: Option<Block>,
    functions: BTreeMap<MathFunction, FuncRef>,
    /// The vector loops.
    leaves: &'a [Leaf],
    regions: Vec<Region>,
    /// Parallel loops whose iterations are yet to be made a function.
    pending: Vec<Iterations>,
    /// The loop whose bounds are clipped in some iterations of the one around.
    clip: Option<Clip>,
    /// Whether parallel loops run one iteration after the other, as they do in such a function.
    is_serial: bool,
}

impl Emitter<'_> {
    /// Loads all arguments into values.
    fn entry(&mut self) -> diag::Result<()> {
        let block = self.b.create_block();
        self.b.append_block_params_for_function_params(block);
        self.enter(block);
        let &[params, scalars, arrays, report] = self.b.block_params(block) else {
            return Err(diag::Error::bug("cpu", "the entry block does not have four parameters"));
        };
        self.arguments(params, scalars, arrays, report)
    }

    /// Loads what the four pointers of a call lead to.
    fn arguments(&mut self, params: Value, scalars: Value, arrays: Value, report: Value) -> diag::Result<()> {
        self.tables = vec![params, scalars, arrays, report];
        self.slots = params;
        self.report = report;
        let kernel = self.kernel;
        let trusted = MemFlagsData::trusted().with_readonly();
        for position in 0..kernel.params.len() {
            let value = self.b.ins().load(types::I64, trusted, params, slot(position)?);
            self.params.push(value);
        }
        for (position, scalar) in kernel.scalars.iter().enumerate() {
            let value = self.b.ins().load(clif_type(scalar.ty), trusted, scalars, slot(position)?);
            self.scalars.push(value);
        }
        let pointer = self.module.target_config().pointer_type();
        for (position, array) in kernel.arrays.iter().enumerate() {
            let base = self.b.ins().load(pointer, trusted, arrays, slot(position)?);
            self.bases.push(base);
            // Arrays do not overlap, unless they are read only.
            let region = AliasRegionData {
                user_id: u32::try_from(position).unwrap_or(u32::MAX),
                description: Cow::Owned(array.name.clone()),
            };
            let region = self.b.func.dfg.alias_regions.insert(region);
            let flags = MemFlagsData::trusted().with_alias_region(Some(region));
            self.flags.push(if array.role == Role::In { flags.with_readonly() } else { flags });
            let strides = self.strides(array)?;
            self.strides.push(strides);
        }
        for constant in float_constants(&kernel.body) {
            self.derived(clif_type(constant.ty()), Derived::Constant(constant))?;
        }
        for local in &kernel.locals {
            let variable = self.b.declare_var(clif_type(local.ty));
            let zero = self.zero(local.ty);
            self.b.def_var(variable, zero);
            self.locals.push(variable);
        }
        Ok(())
    }

    /// An argument that the caller computes. Only while the entry block is being filled.
    fn derived(&mut self, ty: Type, derived: Derived) -> diag::Result<Value> {
        if let Some((_, value)) = self.derived.iter().find(|(known, _)| *known == derived) {
            return Ok(*value);
        }
        let offset = slot(self.kernel.params.len() + self.derived.len())?;
        let value = self.b.ins().load(ty, MemFlagsData::trusted().with_readonly(), self.slots, offset);
        self.derived.push((derived, value));
        Ok(value)
    }

    fn finish(&mut self) -> Vec<Site> {
        let done = self.b.ins().iconst(types::I32, i64::from(DONE));
        self.b.ins().return_(&[done]);
        self.finish_failures()
    }

    /// Continues in a block that gets no more predecessors.
    fn enter(&mut self, block: Block) {
        self.b.seal_block(block);
        self.b.switch_to_block(block);
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> diag::Result<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> diag::Result<()> {
        deadline::check(STAGE)?;
        self.checked.clear();
        match stmt {
            Stmt::For(r#for) => self.r#for(r#for),
            Stmt::If { cond, then, otherwise } => self.r#if(cond, then, otherwise),
            Stmt::Store { array, index, value } => {
                let value = self.expr(value)?;
                let (pointer, displacement) = self.address(*array, index)?;
                let flags = self.flags[array.index()];
                self.b.ins().store(flags, value, pointer, displacement);
                Ok(())
            }
            Stmt::Update { target: Target::Cell { array, index }, op, value } => {
                let ty = value.ty;
                let (pointer, displacement) = self.address(*array, index)?;
                let flags = self.flags[array.index()];
                let old = self.b.ins().load(clif_type(ty), flags, pointer, displacement);
                let new = self.updated(*op, old, value)?;
                self.b.ins().store(flags, new, pointer, displacement);
                Ok(())
            }
            Stmt::Update { target: Target::Local(local), op, value } => {
                let variable = self.locals[local.index()];
                let old = self.b.use_var(variable);
                let new = self.updated(*op, old, value)?;
                self.b.def_var(variable, new);
                Ok(())
            }
            Stmt::Scatter { array, index, op, value, at } => {
                let ty = value.ty;
                let value = self.expr(value)?;
                let (pointer, displacement) = self.cell(*array, index, *at)?;
                let flags = self.flags[array.index()];
                let old = self.b.ins().load(clif_type(ty), flags, pointer, displacement);
                if *op == BinaryOp::Once {
                    self.require_unclaimed(old, value, *at);
                }
                let new = self.binary(*op, ty, old, value)?;
                self.b.ins().store(flags, new, pointer, displacement);
                Ok(())
            }
            Stmt::Set { local, value } => {
                let value = self.expr(value)?;
                let variable = self.locals[local.index()];
                self.b.def_var(variable, value);
                Ok(())
            }
            // All loops run one iteration after the other, so scoped arrays can have one place for the whole call.
            Stmt::Alloc { body, .. } => self.stmts(body),
            Stmt::Each(each) => self.each(each),
            Stmt::Barrier => Err(diag::Error::bug("cpu", "iterations that run one after the other cannot wait")),
        }
    }

    fn r#if(&mut self, cond: &Cond, then: &[Stmt], otherwise: &[Stmt]) -> diag::Result<()> {
        if let Some(known) = known(cond) {
            return self.stmts(if known { then } else { otherwise });
        }
        let join = self.b.create_block();
        let then_block = self.b.create_block();
        let else_block = if otherwise.is_empty() { join } else { self.b.create_block() };
        self.branch(cond, then_block, else_block)?;
        self.enter(then_block);
        self.holds.push(cond.clone());
        self.stmts(then)?;
        self.holds.pop();
        self.b.ins().jump(join, &[]);
        if else_block != join {
            self.enter(else_block);
            self.stmts(otherwise)?;
            self.b.ins().jump(join, &[]);
        }
        self.enter(join);
        Ok(())
    }

    fn r#for(&mut self, r#for: &For) -> diag::Result<()> {
        if self.outline(r#for)? || self.leaf(r#for)? {
            return Ok(());
        }
        let known = self.holds.contains(&Cond::Compare(CompareOp::Lt, r#for.lo.clone(), r#for.hi.clone()));
        let lo = Linear::of(&r#for.lo);
        let hi = Linear::of(&r#for.hi);
        let runs = if known { Some(true) } else { lo.order(&hi).map(|order| order.is_lt()) };
        if runs == Some(false) {
            return Ok(());
        }
        let (lo, hi) = (self.linear(&lo)?, self.linear(&hi)?);
        let (lo, hi) = self.clipped(r#for, lo, hi)?;
        let exit = self.b.create_block();
        let before = self.b.create_block();
        let known = if runs == Some(true) { None } else { Some(self.b.ins().icmp(IntCC::SignedLessThan, lo, hi)) };
        match self.inner_runs(r#for, known)? {
            None => self.b.ins().jump(before, &[]),
            Some(runs) => self.b.ins().brif(runs, before, &[], exit, &[]),
        };
        self.enter(before);
        self.rotated(r#for, lo, hi, exit)?;
        self.enter(exit);
        Ok(())
    }

    /// Whether loops that are all there is inside have an iteration and conditions around them hold, as far as that is known out here, and
    /// `runs`: else counting through an outer loop, which may be long, would do nothing.
    fn inner_runs(&mut self, outer: &For, mut runs: Option<Value>) -> diag::Result<Option<Value>> {
        let mut inside = vec![outer.var];
        let mut body = outer.body.as_slice();
        loop {
            let inner = match body {
                [Stmt::For(inner)] => inner,
                [Stmt::If { cond, otherwise, .. }] if otherwise.is_empty() => {
                    if !VarsUsed::of_cond(cond).iter().any(|var| inside.contains(var)) {
                        let holds = self.cond(cond)?;
                        runs = Some(runs.map_or(holds, |runs| self.b.ins().band(runs, holds)));
                    }
                    break;
                }
                _ => break,
            };
            let (lo, hi) = (Linear::of(&inner.lo), Linear::of(&inner.hi));
            let used = VarsUsed::of_indices([&inner.lo, &inner.hi]);
            if lo.order(&hi).is_none() && !inside.iter().any(|var| used.contains(var)) {
                let (lo, hi) = (self.linear(&lo)?, self.linear(&hi)?);
                let inner_runs = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
                runs = Some(runs.map_or(inner_runs, |runs| self.b.ins().band(runs, inner_runs)));
            }
            inside.push(inner.var);
            body = &inner.body;
        }
        Ok(runs)
    }

    /// The loop proper, which runs at least once, from its preheader to a branch to `exit`.
    fn rotated(&mut self, r#for: &For, lo: Value, hi: Value, exit: Block) -> diag::Result<()> {
        let strides = self.choose_inductions(r#for);
        let limit = self.limit(hi, r#for.step);
        let mut start = vec![lo];
        let mut steps = Vec::new();
        for stride in &strides {
            start.push(self.times(lo, stride));
            let stride = self.stride(stride);
            steps.push(self.scale(stride, r#for.step));
        }
        let body = self.b.create_block();
        let state: Vec<Value> = start.iter().map(|_| self.b.append_block_param(body, types::I64)).collect();
        self.jump(body, &start);
        self.b.switch_to_block(body);

        let outer_inductions = self.inductions.len();
        let stepped = strides.into_iter().zip(&state[1..]);
        self.inductions.extend(stepped.map(|(stride, value)| Induction { var: r#for.var, stride, value: *value }));
        self.depth += 1;
        self.loop_values[r#for.var.index()] = Some((state[0], self.depth));
        self.check_cancelled(r#for);
        self.stmts(&r#for.body)?;
        self.loop_values[r#for.var.index()] = None;
        self.depth -= 1;
        self.inductions.truncate(outer_inductions);

        let mut next = vec![self.b.ins().iadd_imm_s(state[0], r#for.step)];
        for (value, step) in state[1..].iter().zip(steps) {
            next.push(self.b.ins().iadd(*value, step));
        }
        let tested = if r#for.step == 1 { next[0] } else { state[0] };
        let again = self.b.ins().icmp(IntCC::SignedLessThan, tested, limit);
        let next: Vec<_> = next.into_iter().map(Into::into).collect();
        self.b.ins().brif(again, body, &next, exit, &[]);
        self.b.seal_block(body);
        Ok(())
    }

    /// What decides about another iteration: `variable + 1 < limit`, or `variable < limit` for larger steps, where
    /// the addition could overflow.
    fn limit(&mut self, hi: Value, step: i64) -> Value {
        if step == 1 {
            return hi;
        }
        let limit = self.b.ins().iadd_imm_s(hi, step.wrapping_neg());
        let smallest = self.iconst(i64::MIN);
        let fits = self.iconst(i64::MIN.wrapping_add(step));
        let underflows = self.b.ins().icmp(IntCC::SignedLessThan, hi, fits);
        self.b.ins().select(underflows, smallest, limit)
    }

    fn jump(&mut self, block: Block, arguments: &[Value]) {
        let arguments: Vec<_> = arguments.iter().map(|value| (*value).into()).collect();
        self.b.ins().jump(block, &arguments);
    }
}

/// The offset of an 8-byte argument slot.
fn slot(position: usize) -> diag::Result<i32> {
    let offset = position.checked_mul(8).and_then(|offset| i32::try_from(offset).ok());
    offset.ok_or_else(|| diag::Error::bug("cpu", "too many arguments"))
}

fn clif_type(ty: ScalarType) -> Type {
    match ty {
        // Only stored: their bits.
        ScalarType::F16 | ScalarType::BF16 => types::I16,
        ScalarType::F32 => types::F32,
        ScalarType::F64 => types::F64,
        ScalarType::I8 | ScalarType::U8 | ScalarType::Bool => types::I8,
        ScalarType::I16 | ScalarType::U16 => types::I16,
        ScalarType::I32 | ScalarType::U32 => types::I32,
        ScalarType::I64 | ScalarType::U64 => types::I64,
    }
}
