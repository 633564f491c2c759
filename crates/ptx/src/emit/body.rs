//! The body of one thread.

use std::collections::HashSet;

use loops::{ArrayId, Kernel, LocalId, Stmt};
use program::ScalarType;

use super::expr::{held, stored};
use super::{Axis, Emit, LaunchPlan, plain_name, unsupported};
use crate::build::Builder;
use crate::ir::{BinaryOp, Compare, Op, Operand, Reg, Space, Special, Target, TernaryOp, Type};

/// What a thread is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread<'a> {
    pub(super) loops: &'a Kernel,
    pub(super) plan: &'a LaunchPlan,
    pub(super) target: Target,
}

/// An array as a thread sees it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) base: Reg,
    pub(super) extents: Vec<Operand>,
    /// Of one element.
    pub(super) bytes: i64,
}

pub(super) struct Emitter<'a> {
    pub(super) b: Builder,
    pub(super) kernel: &'a Kernel,
    pub(super) params: Vec<Reg>,
    /// Of the loops around; `None` outside of their loop.
    pub(super) vars: Vec<Option<Reg>>,
    pub(super) scalars: Vec<Reg>,
    pub(super) arrays: Vec<Place>,
    locals: Vec<Reg>,
    /// Arrays that this kernel writes.
    pub(super) written: HashSet<ArrayId>,
    pub(super) target: Target,
}

pub(super) fn emit_kernel(thread: Thread<'_>, stmts: &[Stmt]) -> Emit<crate::ir::Kernel> {
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
    };
    emitter.b.max_threads(plan.block);
    emitter.prologue(plan)?;
    emitter.block(stmts)?;
    emitter.b.ret();
    Ok(emitter.b.finish())
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
            self.bind(*var, Some(value));
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
        self.iterations(&plan.axes, &positions)?;
        for (position, (param, array)) in arrays.into_iter().zip(&kernel.arrays).enumerate() {
            let mut base = self.b.load_pointer(param);
            let extents = array.shape.iter().map(|extent| self.index(extent)).collect::<Emit<Vec<_>>>()?;
            let bytes = array.ty.bytes() as i64;
            if plan.private.contains(&ArrayId(position as u32)) {
                base = self.own_copy(base, &extents, bytes, &positions);
            }
            self.arrays.push(Place { base, extents, bytes });
        }
        Ok(())
    }

    /// The position of the thread along each axis, counted through all blocks.
    fn positions(&mut self, plan: &LaunchPlan) -> Vec<Reg> {
        let x = [Special::CtaidX, Special::NtidX, Special::TidX];
        let y = [Special::CtaidY, Special::NtidY, Special::TidY];
        let axes = [x, y].into_iter().take(plan.axes.len());
        let found = axes.map(|[block, threads, thread]| {
            let (block, threads) = (self.b.mov(Type::U32, block), self.b.mov(Type::U32, threads));
            let thread = self.b.mov(Type::U32, thread);
            let thread = self.b.convert(Type::U64, Type::U32, thread);
            self.b.mad(TernaryOp::MadWide, Type::U32, block, threads, thread)
        });
        found.collect()
    }

    fn iterations(&mut self, axes: &[Axis], positions: &[Reg]) -> Emit<()> {
        // Outer loops first: the bounds of an inner one may use parameters and loops of the host only.
        for (axis, position) in axes.iter().zip(positions).rev() {
            let (lo, hi) = (self.index(&axis.lo)?, self.index(&axis.hi)?);
            let lo = match lo {
                Operand::Reg(reg) => reg,
                other => self.b.mov(Type::S64, other),
            };
            let var = self.b.mad(TernaryOp::MadLo, Type::S64, *position, axis.step, lo);
            let outside = self.b.compare(Compare::Ge, Type::S64, var, hi);
            self.b.guarded(outside, false, Builder::ret);
            self.bind(axis.var, Some(var));
        }
        Ok(())
    }

    /// The start of this thread's copy of an array.
    fn own_copy(&mut self, base: Reg, extents: &[Operand], bytes: i64, positions: &[Reg]) -> Reg {
        let mut size = self.b.mov(Type::S64, bytes);
        for extent in extents {
            size = self.b.binary(BinaryOp::MulLo, Type::S64, size, *extent);
        }
        let thread = match positions {
            [] => return base,
            [x] => *x,
            [x, y, ..] => {
                let (blocks, threads) =
                    (self.b.mov(Type::U32, Special::NctaidX), self.b.mov(Type::U32, Special::NtidX));
                let across = self.b.binary(BinaryOp::MulWide, Type::U32, blocks, threads);
                self.b.mad(TernaryOp::MadLo, Type::S64, *y, across, *x)
            }
        };
        self.b.mad(TernaryOp::MadLo, Type::S64, thread, size, base)
    }

    fn bind(&mut self, var: loops::VarId, value: Option<Reg>) {
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

    fn block(&mut self, stmts: &[Stmt]) -> Emit<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Emit<()> {
        match stmt {
            Stmt::For(each) => self.serial_loop(each),
            Stmt::If { cond, then, otherwise } => {
                let cond = self.cond(cond)?;
                self.either(cond, |this| this.block(then), |this| this.block(otherwise))
            }
            Stmt::Store { array, index, value } => {
                let value_reg = self.expr_reg(value)?;
                let to = self.address(*array, index)?;
                self.store(to, value.ty, value_reg);
                Ok(())
            }
            Stmt::Update { target: loops::Target::Cell { array, index }, op, value } => {
                let y = self.expr(value)?;
                let y = self.in_register(y, value.ty);
                let to = self.address(*array, index)?;
                let x = self.load_cell(to, value.ty);
                let result = self.operator(*op, value.ty, x.into(), y.into())?;
                self.store(to, value.ty, result);
                Ok(())
            }
            Stmt::Update { target: loops::Target::Local(local), op, value } => {
                let y = self.expr(value)?;
                let y = self.in_register(y, value.ty);
                let local = self.local(*local)?;
                let result = self.operator(*op, value.ty, local.into(), y.into())?;
                self.b.set(held(value.ty), local, result);
                Ok(())
            }
            Stmt::Set { local, value } => {
                let dst = self.local(*local)?;
                self.set_to(dst, value)
            }
            Stmt::Alloc { body, .. } => self.block(body),
            Stmt::Scatter { array, .. } => {
                let name = self.kernel.arrays.get(array.index()).map_or("an array", |array| &array.name);
                unsupported(format!("`{name}` is read or written at cells that depend on data"))
            }
            Stmt::Barrier => unsupported("a barrier inside of other statements of a parallel loop"),
        }
    }

    fn in_register(&mut self, value: Operand, ty: ScalarType) -> Reg {
        match value {
            Operand::Reg(reg) => reg,
            other => self.b.mov(held(ty), other),
        }
    }

    fn load_cell(&mut self, from: Reg, ty: ScalarType) -> Reg {
        let dst = self.b.reg(if ty == ScalarType::Bool { Type::U32 } else { held(ty) });
        let (space, cache) = (Space::Global, crate::ir::Cache::Default);
        self.b.push(Op::Load { space, cache, ty: stored(ty), dst: vec![dst], from: from.into() });
        if ty == ScalarType::Bool { self.b.compare(Compare::Ne, Type::U32, dst, 0) } else { dst }
    }

    fn store(&mut self, to: Reg, ty: ScalarType, value: Reg) {
        let value = if ty == ScalarType::Bool { self.b.select(Type::U32, value, 1, 0) } else { value };
        self.b.store(Space::Global, stored(ty), to, &[value]);
    }

    /// `for` with the test at the end: one branch for each round. Loops of every kind run serially in a thread.
    fn serial_loop(&mut self, each: &loops::For) -> Emit<()> {
        let ty = Type::S64;
        let hi = self.index_reg(&each.hi)?;
        let lo = self.index(&each.lo)?;
        let var = self.b.mov(ty, lo);
        let (head, done) = (self.b.label("loop"), self.b.label("done"));
        let empty = self.b.compare(Compare::Ge, ty, var, hi);
        self.b.branch_if(empty, false, done);
        self.b.place(head);
        self.bind(each.var, Some(var));
        self.block(&each.body)?;
        self.bind(each.var, None);
        self.b.binary_into(BinaryOp::Add, ty, var, var, each.step);
        let more = self.b.compare(Compare::Lt, ty, var, hi);
        self.b.branch_if(more, false, head);
        self.b.place(done);
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
        then(self)?;
        self.b.branch(join);
        self.b.place(side);
        otherwise(self)?;
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
            Stmt::Store { array, .. } | Stmt::Scatter { array, .. } => {
                found.insert(*array);
            }
            Stmt::Update { target, .. } => found.extend(target.array()),
            Stmt::Set { .. } | Stmt::Barrier => {}
        }
    }
}
