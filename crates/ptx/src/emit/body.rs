//! The body of one thread.

use std::collections::HashSet;

use diag::Span;
use loops::{ArrayId, Cond, Kernel, LocalId, LoopKind, Site, Stmt, VarId, VarsUsed};
use program::ScalarType;

use super::expr::{held, stored};
use super::pressure::blocks_wanted;
use super::reuse::Reuse;
use super::widen::{Alignments, widen};
use super::{Emit, EmitError, LaunchPlan, plain_name, unsupported};
use crate::build::Builder;
use crate::ir::{
    Address, BinaryOp, Cache, Compare, Op, Operand, ParamId, Reg, Space, Special, Target, TernaryOp, Type,
};

/// What a thread is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread<'a> {
    pub(super) loops: &'a Kernel,
    pub(super) plan: &'a LaunchPlan,
    pub(super) target: Target,
}

/// An array as a thread sees it.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Row-major from an address on.
    Memory {
        space: Space,
        base: Reg,
        extents: Vec<Operand>,
        /// Of one element.
        bytes: i64,
    },
    /// A register for each cell.
    Registers { cells: Vec<Reg>, extents: Vec<i64> },
}

/// Where one cell is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    Memory(Space, Address),
    Register(Reg),
}

/// Buffers begin at multiples of this: those of the driver at multiples of 256.
pub(super) const BUFFER_ALIGNMENT: i64 = 16;
/// The most cells of an array in registers: a thread has 255 at most.
const MAX_CELLS: i64 = 256;
/// Threads of a warp.
const WARP: u32 = 32;
/// The most rounds of a loop that is written out.
const MAX_WRITTEN_OUT: i64 = 256;

pub(super) struct Emitter<'a> {
    pub(super) b: Builder,
    pub(super) kernel: &'a Kernel,
    pub(super) params: Vec<Reg>,
    /// Of the loops around; `None` outside of their loop. Those of loops that are written out are constants.
    pub(super) vars: Vec<Option<Operand>>,
    pub(super) scalars: Vec<Reg>,
    pub(super) arrays: Vec<Place>,
    locals: Vec<Reg>,
    /// Arrays that this kernel writes.
    pub(super) written: HashSet<ArrayId>,
    pub(super) target: Target,
    /// Of a block.
    pub(super) threads: u32,
    /// Bytes of shared memory so far.
    pub(super) shared: u64,
    /// The variable of the loop over the threads of a block.
    pub(super) thread: Option<VarId>,
    /// Variables of loops around that threads of a block have different values of.
    pub(super) varying: Vec<VarId>,
    /// How many conditions and loops are around that not all threads of a block are in.
    pub(super) apart: usize,
    pub(super) reuse: Reuse,
    pub(super) alignments: Alignments,
    /// Where in the source a check that fails is reported.
    pub(super) at: Option<Span>,
    /// The checks of this kernel and of those before it.
    pub(super) sites: &'a mut Vec<Site>,
    /// Where failed checks are reported, once there is one.
    pub(super) report: Option<ParamId>,
}

/// The kernel, and whether it checks anything.
pub(super) fn emit_kernel(
    thread: Thread<'_>,
    stmts: &[Stmt],
    sites: &mut Vec<Site>,
) -> Emit<(crate::ir::Kernel, bool)> {
    let Thread { loops, plan, target } = thread;
    let mut written = HashSet::new();
    collect_written(stmts, &mut written);
    let mut emitter = Emitter {
        b: Builder::new(plan.kernel.clone()),
        kernel: loops,
        params: Vec::new(),
        vars: vec![None; loops.vars.len()],
        scalars: Vec::new(),
        arrays: Vec::new(),
        locals: Vec::new(),
        written,
        target,
        threads: plan.block[0],
        shared: 0,
        thread: None,
        varying: Vec::new(),
        apart: 0,
        reuse: Reuse::default(),
        alignments: Alignments::new(),
        at: None,
        sites,
        report: None,
    };
    emitter.b.max_threads(plan.block);
    emitter.prologue(plan)?;
    if plan.per_block {
        emitter.block_level(stmts, true)?;
    } else {
        emitter.block(stmts)?;
    }
    emitter.b.ret();
    let reports = emitter.report.is_some();
    let mut kernel = emitter.b.finish();
    kernel.body = widen(std::mem::take(&mut kernel.body), &emitter.alignments);
    kernel.min_blocks = Some(blocks_wanted(&kernel));
    Ok((kernel, reports))
}

impl Emitter<'_> {
    /// Declares and loads all arguments, and finds the iteration of this thread; threads past the end leave.
    fn prologue(&mut self, plan: &LaunchPlan) -> Emit<()> {
        let kernel = self.kernel;
        let named = |kind: &str, position: usize, name: &str| format!("{kind}{position}_{}", plain_name(name));
        let params: Vec<_> =
            kernel.params.iter().enumerate().map(|(i, name)| self.b.param(named("p", i, name), Type::S64)).collect();
        let vars: Vec<_> = plan
            .vars
            .iter()
            .map(|var| {
                let name = kernel.vars.get(var.index()).map_or("v", String::as_str);
                self.b.param(named("v", var.index(), name), Type::S64)
            })
            .collect();
        let scalars: Vec<_> = kernel
            .scalars
            .iter()
            .enumerate()
            .map(|(i, scalar)| self.b.param(named("s", i, &scalar.name), passed(scalar.ty)))
            .collect();
        let arrays: Vec<_> = kernel
            .arrays
            .iter()
            .enumerate()
            .map(|(i, array)| self.b.param(named("a", i, &array.name), Type::U64))
            .collect();

        self.params = params.into_iter().map(|param| self.b.load_param(param)).collect();
        for (var, param) in plan.vars.iter().zip(vars) {
            let value = self.b.load_param(param);
            self.bind(*var, Some(value.into()));
        }
        for (param, scalar) in scalars.into_iter().zip(&kernel.scalars) {
            let value = self.b.load_param(param);
            let value = match scalar.ty {
                ScalarType::Bool => self.b.compare(Compare::Ne, Type::U32, value, 0),
                _ => value,
            };
            self.scalars.push(value);
        }
        self.locals = kernel.locals.iter().map(|local| self.b.reg(held(local.ty))).collect();
        let positions = self.positions(plan);
        self.iterations(plan, &positions)?;
        for (position, (param, array)) in arrays.into_iter().zip(&kernel.arrays).enumerate() {
            let mut base = self.b.load_pointer(param);
            let extents = array.shape.iter().map(|extent| self.index(extent)).collect::<Emit<Vec<_>>>()?;
            let bytes = array.ty.bytes() as i64;
            if plan.private.contains(&ArrayId(position as u32)) {
                base = self.own_copy(base, &extents, bytes, &positions, plan.per_block);
            } else {
                self.alignments.insert(base, BUFFER_ALIGNMENT);
            }
            self.arrays.push(Place::Memory { space: Space::Global, base, extents, bytes });
        }
        Ok(())
    }

    /// The position of the thread along each axis, counted through all blocks; or that of the block.
    fn positions(&mut self, plan: &LaunchPlan) -> Vec<Reg> {
        let blocks = [Special::CtaidX, Special::CtaidY, Special::CtaidZ].into_iter().take(plan.axes.len());
        let blocks: Vec<Reg> = blocks.map(|block| self.block_along(block, plan)).collect();
        if plan.per_block {
            return blocks.into_iter().map(|block| self.b.convert(Type::U64, Type::U32, block)).collect();
        }
        let threads = [[Special::NtidX, Special::TidX], [Special::NtidY, Special::TidY]];
        let found = blocks.into_iter().zip(threads).map(|(block, [threads, thread])| {
            let threads = self.b.mov(Type::U32, threads);
            let thread = self.b.mov(Type::U32, thread);
            let thread = self.b.convert(Type::U64, Type::U32, thread);
            self.b.mad(TernaryOp::MadWide, Type::U32, block, threads, thread)
        });
        found.collect()
    }

    /// The number of the block along an axis.
    fn block_along(&mut self, axis: Special, plan: &LaunchPlan) -> Reg {
        let block = self.b.mov(Type::U32, axis);
        if axis != Special::CtaidY || !plan.folds() {
            return block;
        }
        let (layer, rows) = (self.b.mov(Type::U32, Special::CtaidZ), self.b.mov(Type::U32, Special::NctaidY));
        self.b.mad(TernaryOp::MadLo, Type::U32, layer, rows, block)
    }

    /// The variable of each axis. There are as many blocks as iterations, and perhaps more threads: those past the end leave.
    fn iterations(&mut self, plan: &LaunchPlan, positions: &[Reg]) -> Emit<()> {
        // Outer loops first: the bounds of an inner one may use parameters and loops of the host only.
        for (axis, position) in plan.axes.iter().zip(positions).rev() {
            let lo = self.index_reg(&axis.lo)?;
            let var = self.b.mad(TernaryOp::MadLo, Type::S64, *position, axis.step, lo);
            if !plan.per_block {
                let hi = self.index(&axis.hi)?;
                let outside = self.b.compare(Compare::Ge, Type::S64, var, hi);
                self.b.guarded(outside, false, Builder::ret);
            }
            self.bind(axis.var, Some(var.into()));
        }
        Ok(())
    }

    /// The start of this thread's copy of an array.
    fn own_copy(&mut self, base: Reg, extents: &[Operand], bytes: i64, positions: &[Reg], per_block: bool) -> Reg {
        let mut size = self.b.mov(Type::S64, bytes);
        for extent in extents {
            size = self.b.binary(BinaryOp::MulLo, Type::S64, size, *extent);
        }
        let mut thread = match positions {
            [] if !per_block => return base,
            [] => self.b.mov(Type::S64, 0),
            [x] => *x,
            [x, y, rest @ ..] => {
                let blocks = self.b.mov(Type::U32, Special::NctaidX);
                let across = if per_block {
                    self.b.convert(Type::U64, Type::U32, blocks)
                } else {
                    let threads = self.b.mov(Type::U32, Special::NtidX);
                    self.b.binary(BinaryOp::MulWide, Type::U32, blocks, threads)
                };
                let mut y = *y;
                if let [z] = rest {
                    // Only blocks have a third axis.
                    let down = self.b.mov(Type::U32, Special::NctaidY);
                    let down = self.b.convert(Type::U64, Type::U32, down);
                    y = self.b.mad(TernaryOp::MadLo, Type::S64, *z, down, y);
                }
                self.b.mad(TernaryOp::MadLo, Type::S64, y, across, *x)
            }
        };
        if per_block {
            let threads = self.b.mov(Type::U32, Special::NtidX);
            let threads = self.b.convert(Type::U64, Type::U32, threads);
            let own = self.thread_number();
            thread = self.b.mad(TernaryOp::MadLo, Type::S64, thread, threads, own);
        }
        self.b.mad(TernaryOp::MadLo, Type::S64, thread, size, base)
    }

    /// The number of the thread in its block.
    pub(super) fn thread_number(&mut self) -> Reg {
        let thread = self.b.mov(Type::U32, Special::TidX);
        self.b.convert(Type::U64, Type::U32, thread)
    }

    pub(super) fn bind(&mut self, var: VarId, value: Option<Operand>) {
        if let Some(place) = self.vars.get_mut(var.index()) {
            *place = value;
        }
    }

    pub(super) fn local(&self, local: LocalId) -> Emit<Reg> {
        match self.locals.get(local.index()) {
            Some(reg) => Ok(*reg),
            None => unsupported("a local that is not declared"),
        }
    }

    pub(super) fn block(&mut self, stmts: &[Stmt]) -> Emit<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Emit<()> {
        if diag::deadline::is_over() {
            return Err(EmitError::OutOfTime);
        }
        match stmt {
            Stmt::For(each) => self.serial_loop(each),
            Stmt::If { cond, then, otherwise } => {
                if let Some(holds) = self.known_cond(cond) {
                    return self.block(if holds { then } else { otherwise });
                }
                let first = otherwise.is_empty() && super::warp::is_first(cond, self.thread);
                if first && self.apart == 0 && self.threads.is_multiple_of(32) {
                    return self.first_thread(cond, then);
                }
                self.branch(cond, then, otherwise)
            }
            Stmt::Store { array, index, value } => {
                let value_reg = self.expr_reg(value)?;
                let to = self.cell(*array, index)?;
                self.reuse.forget(*array);
                self.store(to, value.ty, value_reg);
                Ok(())
            }
            Stmt::Update { target: loops::Target::Cell { array, index }, op, value } => {
                let term = self.term(*op, value)?;
                let to = self.cell(*array, index)?;
                let x = self.load_cell(to, value.ty, Cache::Default);
                let result = self.updated(*op, value.ty, x, term)?;
                self.reuse.forget(*array);
                self.store(to, value.ty, result);
                Ok(())
            }
            Stmt::Update { target: loops::Target::Local(local), op, value } => {
                let term = self.term(*op, value)?;
                let local = self.local(*local)?;
                if let Term::Product(a, b) = term {
                    self.b.fma_into(held(value.ty), local, a, b, local);
                    return Ok(());
                }
                let result = self.updated(*op, value.ty, local, term)?;
                self.b.set(held(value.ty), local, result);
                Ok(())
            }
            Stmt::Set { local, value } => {
                let dst = self.local(*local)?;
                self.set_to(dst, value)
            }
            Stmt::Alloc { array, space: loops::Space::Registers, body } => {
                self.in_registers(*array)?;
                self.block(body)
            }
            Stmt::Alloc { body, .. } => self.block(body),
            Stmt::Each(each) => self.each(each),
            Stmt::Scatter { array, index, op, value, at } => {
                let outer = std::mem::replace(&mut self.at, *at);
                self.scatter(*array, index, *op, value)?;
                self.at = outer;
                Ok(())
            }
            Stmt::Barrier => {
                self.wait();
                Ok(())
            }
        }
    }

    /// All threads of the block wait for each other; what is in memory may be another thread's then.
    pub(super) fn wait(&mut self) {
        self.reuse.forget_all(&self.written);
        if self.threads == WARP {
            self.warp_barrier();
        } else {
            self.b.barrier();
        }
    }

    /// Statements that run where a condition holds.
    pub(super) fn under(&mut self, cond: &Cond, stmts: &[Stmt]) -> Emit<()> {
        self.branch(cond, stmts, &[])
    }

    fn branch(&mut self, cond: &Cond, then: &[Stmt], otherwise: &[Stmt]) -> Emit<()> {
        let apart = usize::from(self.varies(&VarsUsed::of_cond(cond)));
        let cond = self.cond(cond)?;
        self.apart += apart;
        self.either(cond, |this| this.block(then), |this| this.block(otherwise))?;
        self.apart -= apart;
        Ok(())
    }

    /// Whether threads of a block have different values of any of the variables.
    fn varies(&self, used: &[VarId]) -> bool {
        used.iter().any(|var| self.thread == Some(*var) || self.varying.contains(var))
    }

    /// The value of an update, or the factors of one that adds a product and is rounded once.
    fn term(&mut self, op: program::BinaryOp, value: &loops::Expr) -> Emit<Term> {
        let (value, factor) = match loops::fused_factors(op, value) {
            Some((a, b)) => (a, Some(b)),
            None => (value, None),
        };
        let first = self.expr(value)?;
        let first = self.in_register(first, value.ty);
        let Some(factor) = factor else { return Ok(Term::Value(first)) };
        let second = self.expr(factor)?;
        Ok(Term::Product(first, self.in_register(second, factor.ty)))
    }

    fn updated(&mut self, op: program::BinaryOp, ty: ScalarType, old: Reg, term: Term) -> Emit<Reg> {
        match term {
            Term::Value(value) => self.operator(op, ty, old.into(), value.into()),
            Term::Product(a, b) => {
                let dst = self.b.reg(held(ty));
                self.b.fma_into(held(ty), dst, a, b, old);
                Ok(dst)
            }
        }
    }

    fn in_register(&mut self, value: Operand, ty: ScalarType) -> Reg {
        match value {
            Operand::Reg(reg) => reg,
            other => self.b.mov(held(ty), other),
        }
    }

    /// The value of a cell.
    pub(super) fn load_cell(&mut self, from: Cell, ty: ScalarType, cache: Cache) -> Reg {
        let (space, from) = match from {
            Cell::Register(reg) => return reg,
            Cell::Memory(space, address) => (space, address),
        };
        let cache = if space == Space::Global { cache } else { Cache::Default };
        let dst = self.b.reg(if ty == ScalarType::Bool { Type::U32 } else { held(ty) });
        self.b.push(Op::Load { space, cache, ty: stored(ty), dst: vec![dst], from });
        if ty == ScalarType::Bool { self.b.compare(Compare::Ne, Type::U32, dst, 0) } else { dst }
    }

    pub(super) fn store(&mut self, to: Cell, ty: ScalarType, value: Reg) {
        match to {
            Cell::Register(reg) => self.b.set(held(ty), reg, value),
            Cell::Memory(space, address) => {
                let value = if ty == ScalarType::Bool { self.b.select(Type::U32, value, 1, 0) } else { value };
                self.b.store(space, stored(ty), address, &[value]);
            }
        }
    }

    /// Gives each cell of an array a register.
    fn in_registers(&mut self, array: ArrayId) -> Emit<()> {
        let Some(declared) = self.kernel.arrays.get(array.index()) else {
            return unsupported("an array that is not declared");
        };
        let extents: Option<Vec<i64>> = declared.shape.iter().map(|extent| self.known(extent)).collect();
        let count = extents.as_ref().and_then(|extents| extents.iter().try_fold(1i64, |a, b| a.checked_mul(*b)));
        let (Some(extents), Some(count @ 0..=MAX_CELLS)) = (extents, count) else {
            return unsupported(format!("`{}` is too large for registers", declared.name));
        };
        let kind = held(declared.ty);
        let cells = (0..count).map(|_| self.b.reg(kind)).collect();
        if let Some(place) = self.arrays.get_mut(array.index()) {
            *place = Place::Registers { cells, extents };
        }
        Ok(())
    }

    /// Loops of every kind run serially in a thread; those that are to be written out are, if their bounds are constants.
    fn serial_loop(&mut self, each: &loops::For) -> Emit<()> {
        if each.kind.is_parallel() && super::host::holds_barrier(&each.body) {
            return unsupported("a barrier among iterations that one thread runs");
        }
        if each.kind == LoopKind::Unrolled
            && let (Some(lo), Some(hi)) = (self.known(&each.lo), self.known(&each.hi))
            && (hi - lo) / each.step <= MAX_WRITTEN_OUT
        {
            let mut at = lo;
            while at < hi {
                self.bind(each.var, Some(Operand::Int(at)));
                let mark = self.reuse.open();
                self.block(&each.body)?;
                self.reuse.close(mark);
                at += each.step;
            }
            self.bind(each.var, None);
            return Ok(());
        }
        self.counted(each, |this| this.block(&each.body))
    }

    /// A loop with the test at the end: one branch for each round.
    pub(super) fn counted(&mut self, each: &loops::For, body: impl FnOnce(&mut Self) -> Emit<()>) -> Emit<()> {
        if !self.varies(&VarsUsed::of_indices([&each.lo, &each.hi])) {
            return self.counted_together(each, body);
        }
        self.varying.push(each.var);
        self.apart += 1;
        self.counted_together(each, body)?;
        self.apart -= 1;
        self.varying.pop();
        Ok(())
    }

    fn counted_together(&mut self, each: &loops::For, body: impl FnOnce(&mut Self) -> Emit<()>) -> Emit<()> {
        let ty = Type::S64;
        let hi = self.index_reg(&each.hi)?;
        let lo = self.index(&each.lo)?;
        let var = self.b.mov(ty, lo);
        let (head, done) = (self.b.label("loop"), self.b.label("done"));
        // Threads that wait for each other stay together.
        let together = super::host::holds_barrier(&each.body);
        let empty = self.b.compare(Compare::Ge, ty, var, hi);
        self.b.branch_where(empty, together, done);
        let around = self.reuse.open();
        let pointers = self.prepare(each)?;
        self.b.place(head);
        self.bind(each.var, Some(var.into()));
        // What the loop writes, it may write before it reads it again.
        self.reuse.forget_all(&self.written);
        let mark = self.reuse.open();
        for pointer in &pointers {
            self.reuse.keep_address(pointer.moving.clone(), pointer.at);
        }
        body(self)?;
        self.reuse.close(mark);
        for pointer in pointers {
            self.b.binary_into(BinaryOp::Add, ty, pointer.at, pointer.at, pointer.by);
        }
        self.reuse.forget_all(&self.written);
        self.bind(each.var, None);
        self.b.binary_into(BinaryOp::Add, ty, var, var, each.step);
        let more = self.b.compare(Compare::Lt, ty, var, hi);
        self.b.branch_where(more, together, head);
        self.b.place(done);
        self.reuse.close(around);
        Ok(())
    }

    pub(super) fn either(
        &mut self,
        cond: Reg,
        then: impl FnOnce(&mut Self) -> Emit<()>,
        otherwise: impl FnOnce(&mut Self) -> Emit<()>,
    ) -> Emit<()> {
        let (side, join) = (self.b.label("else"), self.b.label("join"));
        self.b.branch_if(cond, true, side);
        let mark = self.reuse.open();
        then(self)?;
        self.reuse.close(mark);
        self.reuse.forget_all(&self.written);
        self.b.branch(join);
        self.b.place(side);
        let mark = self.reuse.open();
        otherwise(self)?;
        self.reuse.close(mark);
        self.reuse.forget_all(&self.written);
        self.b.place(join);
        Ok(())
    }
}

/// The type of a scalar parameter.
pub(crate) fn passed(ty: ScalarType) -> Type {
    match held(ty) {
        Type::Pred => Type::U32,
        other => other,
    }
}

fn collect_written(stmts: &[Stmt], found: &mut HashSet<ArrayId>) {
    for stmt in stmts {
        match stmt {
            Stmt::For(each) => collect_written(&each.body, found),
            Stmt::If { then, otherwise, .. } => {
                collect_written(then, found);
                collect_written(otherwise, found);
            }
            Stmt::Alloc { body, .. } => collect_written(body, found),
            Stmt::Each(each) => collect_written(&each.body, found),
            Stmt::Store { array, .. } | Stmt::Scatter { array, .. } => {
                found.insert(*array);
            }
            Stmt::Update { target, .. } => found.extend(target.array()),
            Stmt::Set { .. } | Stmt::Barrier => {}
        }
    }
}

/// What an update combines with its target.
#[derive(Clone, Copy, Debug)]
enum Term {
    Value(Reg),
    Product(Reg, Reg),
}
