//! What becomes a launch, and what the host does around launches.

use std::collections::HashSet;

use loops::{ArrayId, Cond, For, Index, Kernel, LocalId, LoopKind, Parallel, Space, Stmt, VarId, Verified};

use super::block::{needs_block, threads_of};
use super::body::{Thread, emit_kernel};
use super::locals::{in_memory, read_before_set};
use super::{Axis, Emit, EmitError, HostStep, Kernels, LaunchPlan, plain_name, unsupported};
use crate::ir::Target;

/// Threads of a block, for one and two axes.
const BLOCK_1: [u32; 3] = [128, 1, 1];
const BLOCK_2: [u32; 3] = [32, 4, 1];

/// What the host does, the kernels, and the loops that they are made of.
pub(super) fn split(loops: Verified, target: Target) -> Emit<(Vec<HostStep>, Kernels, Verified)> {
    let mut splitter = Splitter::new(&loops, target);
    let steps = splitter.block(&loops.body);
    let handed_on = std::mem::take(&mut splitter.handed_on);
    if handed_on.is_empty() {
        let kernels = splitter.kernels;
        return Ok((steps?, kernels, loops));
    }
    if let Some(kernel) = in_memory((*loops).clone(), &handed_on) {
        let loops = loops::verify(kernel).map_err(|error| EmitError::Threads(error.to_string()))?;
        let mut splitter = Splitter::new(&loops, target);
        let steps = splitter.block(&loops.body)?;
        if splitter.handed_on.is_empty() {
            let kernels = splitter.kernels;
            return Ok((steps, kernels, loops));
        }
    }
    // Registers do not survive a kernel: all in one, then.
    let mut whole = Splitter::new(&loops, target);
    let step = whole.launch(&[], &loops.body)?;
    let kernels = whole.kernels;
    Ok((vec![step], kernels, loops))
}

struct Splitter<'a> {
    loops: &'a Kernel,
    target: Target,
    kernels: Kernels,
    /// Loops of the host around.
    vars: Vec<VarId>,
    /// Locals that some launch reads and an earlier one has set.
    handed_on: HashSet<LocalId>,
}

/// A parallel loop whose iterations share nothing that they write.
fn independent(stmt: &Stmt) -> Option<(&For, &Parallel)> {
    match stmt {
        Stmt::For(each) => match &each.kind {
            LoopKind::Parallel(parallel) if parallel.reductions.is_empty() => Some((each, parallel)),
            _ => None,
        },
        _ => None,
    }
}

fn holds_independent(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::For(each) if each.kind.is_vector() => false,
        Stmt::For(each) => independent(stmt).is_some() || holds_independent(&each.body),
        Stmt::If { then, otherwise, .. } => holds_independent(then) || holds_independent(otherwise),
        Stmt::Alloc { body, .. } => holds_independent(body),
        _ => false,
    })
}

impl<'a> Splitter<'a> {
    fn new(loops: &'a Kernel, target: Target) -> Splitter<'a> {
        let kernels = Kernels { stem: plain_name(&loops.name), done: Vec::new(), sites: Vec::new() };
        Splitter { loops, target, kernels, vars: Vec::new(), handed_on: HashSet::new() }
    }

    fn block(&mut self, stmts: &[Stmt]) -> Emit<Vec<HostStep>> {
        let mut steps = Vec::new();
        let mut serial: Vec<Stmt> = Vec::new();
        for stmt in stmts {
            if !holds_independent(std::slice::from_ref(stmt)) {
                serial.push(stmt.clone());
                continue;
            }
            self.single_thread(&mut serial, &mut steps)?;
            match stmt {
                Stmt::For(each) if independent(stmt).is_some() => steps.extend(self.parallel(each)?),
                Stmt::For(each) => {
                    self.vars.push(each.var);
                    let body = self.block(&each.body)?;
                    self.vars.pop();
                    let (lo, hi) = (each.lo.clone(), each.hi.clone());
                    steps.push(HostStep::For { var: each.var, lo, hi, step: each.step, body });
                }
                Stmt::If { cond, then, otherwise } => {
                    let (then, otherwise) = (self.block(then)?, self.block(otherwise)?);
                    steps.push(HostStep::If { cond: cond.clone(), then, otherwise });
                }
                Stmt::Alloc { space: Space::Shared, body, .. } if is_block(body) => {
                    steps.push(self.launch_blocks(&[], std::slice::from_ref(stmt))?);
                }
                // One after the other, so one copy for the whole call does.
                Stmt::Alloc { body, .. } => steps.extend(self.block(body)?),
                other => serial.push(other.clone()),
            }
        }
        self.single_thread(&mut serial, &mut steps)?;
        Ok(steps)
    }

    fn single_thread(&mut self, serial: &mut Vec<Stmt>, steps: &mut Vec<HostStep>) -> Emit<()> {
        let stmts = std::mem::take(serial);
        if !stmts.is_empty() {
            steps.push(self.launch(&[], &stmts)?);
        }
        Ok(())
    }

    /// A launch for each stretch between the barriers of the loop, or one of blocks if threads have to work together.
    fn parallel(&mut self, outer: &For) -> Emit<Vec<HostStep>> {
        if let Some(axis) = outer.kind.axis() {
            return Ok(vec![self.placed(outer, axis)?]);
        }
        let mut nest = vec![outer];
        if needs_block(&outer.body) {
            let mut body = &outer.body;
            if let [inner] = outer.body.as_slice()
                && let Some((inner, _)) = independent(inner)
                && needs_block(&inner.body)
                && !uses(&inner.lo, outer.var)
                && !uses(&inner.hi, outer.var)
            {
                nest.insert(0, inner);
                body = &inner.body;
            }
            return Ok(vec![self.launch_blocks(&nest, body)?]);
        }
        if let [inner] = outer.body.as_slice()
            && let Some((inner, _)) = independent(inner)
            && !uses(&inner.lo, outer.var)
            && !uses(&inner.hi, outer.var)
        {
            nest.insert(0, inner);
        }
        let body = nest.first().map_or(&outer.body, |inner| &inner.body);
        let stretches = body.split(|stmt| matches!(stmt, Stmt::Barrier));
        stretches.filter(|stretch| !stretch.is_empty()).map(|stretch| self.launch(&nest, stretch)).collect()
    }

    /// A nest of loops over blocks, or a single block.
    fn placed(&mut self, outer: &For, axis: loops::Axis) -> Emit<HostStep> {
        if axis.is_thread() {
            return self.launch_blocks(&[], &[Stmt::For(outer.clone())]);
        }
        let mut nest = vec![outer];
        let mut body = &outer.body;
        while let [Stmt::For(inner)] = body.as_slice()
            && inner.kind.axis().is_some_and(|axis| !axis.is_thread())
        {
            nest.push(inner);
            body = &inner.body;
        }
        nest.sort_by_key(|each| each.kind.axis());
        self.launch_blocks(&nest, body)
    }

    /// One kernel of the statements, with an axis for each loop of `nest`, the innermost first.
    fn launch(&mut self, nest: &[&For], stmts: &[Stmt]) -> Emit<HostStep> {
        if holds_barrier(stmts) {
            return unsupported("a barrier inside of other statements of a parallel loop has no translation");
        }
        let block = match nest.len() {
            0 => [1; 3],
            1 => BLOCK_1,
            _ => BLOCK_2,
        };
        self.kernel(nest, stmts, block, false)
    }

    /// One kernel with a block for each iteration of `nest`.
    fn launch_blocks(&mut self, nest: &[&For], stmts: &[Stmt]) -> Emit<HostStep> {
        let block = [threads_of(stmts)?, 1, 1];
        self.kernel(nest, stmts, block, true)
    }

    fn kernel(&mut self, nest: &[&For], stmts: &[Stmt], block: [u32; 3], per_block: bool) -> Emit<HostStep> {
        self.handed_on.extend(read_before_set(stmts));
        let name = self.kernels.next_name();
        let axes: Vec<Axis> = nest
            .iter()
            .map(|each| Axis { var: each.var, lo: each.lo.clone(), hi: each.hi.clone(), step: each.step })
            .collect();
        let mut private: Vec<ArrayId> = Vec::new();
        for each in nest {
            if let LoopKind::Parallel(parallel) = &each.kind {
                private.extend(&parallel.private);
            }
        }
        if per_block && !private.is_empty() {
            return unsupported("an array of a block that is not in shared memory");
        }
        collect_private(stmts, per_block, &mut private);
        private.sort_unstable();
        private.dedup();
        let vars = self.vars.clone();
        let mut plan = LaunchPlan { kernel: name, axes, per_block, block, vars, private, reports: false };
        let thread = Thread { loops: self.loops, plan: &plan, target: self.target };
        let (kernel, reports) = emit_kernel(thread, stmts, &mut self.kernels.sites)?;
        self.kernels.done.push(kernel);
        plan.reports = reports;
        Ok(HostStep::Launch(plan))
    }
}

/// Whether statements are the loop over the threads of a block, perhaps with more that it shares.
fn is_block(stmts: &[Stmt]) -> bool {
    match stmts {
        [Stmt::For(each)] => each.kind.axis().is_some_and(loops::Axis::is_thread),
        [Stmt::Alloc { space: Space::Shared, body, .. }] => is_block(body),
        _ => false,
    }
}

pub(super) fn holds_barrier(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Barrier => true,
        Stmt::For(each) => holds_barrier(&each.body),
        Stmt::If { then, otherwise, .. } => holds_barrier(then) || holds_barrier(otherwise),
        Stmt::Alloc { body, .. } => holds_barrier(body),
        Stmt::Each(each) => holds_barrier(&each.body),
        _ => false,
    })
}

/// Arrays that belong to an iteration or a scope inside of the statements, and are in global memory. `per_block`: the
/// statements are those of a block, which has shared memory; inside of its parallel loops are those of one thread.
fn collect_private(stmts: &[Stmt], per_block: bool, found: &mut Vec<ArrayId>) {
    for stmt in stmts {
        match stmt {
            Stmt::For(each) => {
                if let LoopKind::Parallel(parallel) = &each.kind {
                    found.extend(&parallel.private);
                }
                collect_private(&each.body, per_block && !each.kind.is_parallel(), found);
            }
            Stmt::If { then, otherwise, .. } => {
                collect_private(then, per_block, found);
                collect_private(otherwise, per_block, found);
            }
            Stmt::Alloc { array, space, body } => {
                let elsewhere = *space == Space::Registers || (per_block && *space == Space::Shared);
                if !elsewhere {
                    found.push(*array);
                }
                collect_private(body, per_block, found);
            }
            Stmt::Each(each) => collect_private(&each.body, per_block, found),
            _ => {}
        }
    }
}

pub(super) fn uses(index: &Index, var: VarId) -> bool {
    match index {
        Index::Var(used) => *used == var,
        Index::Const(_) | Index::Param(_) => false,
        Index::Mul(a, _) | Index::FloorDiv(a, _) | Index::Mod(a, _) => uses(a, var),
        Index::Add(a, b) | Index::Sub(a, b) | Index::Xor(a, b) | Index::Min(a, b) | Index::Max(a, b) => {
            uses(a, var) || uses(b, var)
        }
        Index::Select(cond, a, b) => cond_uses(cond, var) || uses(a, var) || uses(b, var),
    }
}

fn cond_uses(cond: &Cond, var: VarId) -> bool {
    match cond {
        Cond::Compare(_, a, b) => uses(a, var) || uses(b, var),
        Cond::Not(inner) => cond_uses(inner, var),
        Cond::And(parts) | Cond::Or(parts) => parts.iter().any(|part| cond_uses(part, var)),
    }
}
