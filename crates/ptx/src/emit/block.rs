//! What the threads of a block do together: loops and conditions that all of them run through, memory that they share, and
//! parallel loops whose iterations they are.
//!
//! Between two parallel loops every thread waits for the others, because one loop ends before the next begins.

use loops::{For, Index, LoopKind, Stmt};

use super::body::{BUFFER_ALIGNMENT, Emitter, Place};
use super::{Emit, unsupported};
use crate::ir::{Compare, Operand, Space, TernaryOp, Type};
use crate::verify::MAX_SHARED;

/// The most threads of a block.
const MAX_THREADS: i64 = 1024;

/// Whether the iterations of the parallel loops inside of the statements share memory or wait for each other.
pub(super) fn needs_block(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Alloc { space: loops::Space::Shared, body, .. } => holds_parallel(body),
        Stmt::Alloc { body, .. } => needs_block(body),
        Stmt::For(each) if each.kind.is_parallel() => super::host::holds_barrier(&each.body),
        Stmt::For(each) => needs_block(&each.body),
        Stmt::If { then, otherwise, .. } => needs_block(then) || needs_block(otherwise),
        _ => false,
    })
}

fn holds_parallel(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::For(each) => each.kind.is_parallel() || holds_parallel(&each.body),
        Stmt::If { then, otherwise, .. } => holds_parallel(then) || holds_parallel(otherwise),
        Stmt::Alloc { body, .. } => holds_parallel(body),
        _ => false,
    })
}

/// The threads that a block needs: as many as its longest parallel loop has iterations.
pub(super) fn threads_of(stmts: &[Stmt]) -> Emit<u32> {
    let mut most = 1;
    collect_threads(stmts, &mut most)?;
    Ok(most.clamp(1, MAX_THREADS) as u32)
}

fn collect_threads(stmts: &[Stmt], most: &mut i64) -> Emit<()> {
    for stmt in stmts {
        match stmt {
            Stmt::For(each) if each.kind.is_parallel() => {
                let iterations = match (constant(&each.lo), largest(&each.hi)) {
                    (Some(lo), Some(hi)) => trips(lo, hi, each.step),
                    _ => return unsupported("a parallel loop in a block whose iterations have no constant bound"),
                };
                *most = (*most).max(iterations);
            }
            Stmt::For(each) => collect_threads(&each.body, most)?,
            Stmt::If { then, otherwise, .. } => {
                collect_threads(then, most)?;
                collect_threads(otherwise, most)?;
            }
            Stmt::Alloc { body, .. } => collect_threads(body, most)?,
            _ => {}
        }
    }
    Ok(())
}

fn trips(lo: i64, hi: i64, step: i64) -> i64 {
    let length = hi.saturating_sub(lo).max(0);
    length / step + i64::from(length % step != 0)
}

fn constant(index: &Index) -> Option<i64> {
    match index {
        Index::Const(value) => Some(*value),
        _ => None,
    }
}

/// A constant that the index never exceeds.
fn largest(index: &Index) -> Option<i64> {
    match index {
        Index::Const(value) => Some(*value),
        Index::Min(a, b) => match (largest(a), largest(b)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        },
        _ => None,
    }
}

/// The variable of the loop over the threads of a block, if there is only one.
fn only_threads(stmts: &[Stmt]) -> Option<loops::VarId> {
    match stmts {
        [Stmt::For(each)] if each.kind.is_parallel() => Some(each.var),
        [Stmt::Alloc { body, .. }] => only_threads(body),
        _ => None,
    }
}

impl Emitter<'_> {
    /// Statements that all threads of a block run through together. `last`: nothing follows them.
    pub(super) fn block_level(&mut self, stmts: &[Stmt], last: bool) -> Emit<()> {
        for (position, stmt) in stmts.iter().enumerate() {
            let last = last && position + 1 == stmts.len();
            match stmt {
                Stmt::For(each) => match &each.kind {
                    LoopKind::Parallel(parallel) if parallel.reductions.is_empty() => {
                        self.thread_loop(each)?;
                        if !last {
                            self.wait();
                        }
                    }
                    LoopKind::Serial | LoopKind::Unrolled => {
                        self.counted(each, |this| this.block_level(&each.body, false))?;
                    }
                    _ => return unsupported("a loop that reduces or has lanes around the threads of a block"),
                },
                Stmt::If { cond, then, otherwise } => {
                    let cond = self.cond(cond)?;
                    self.either(cond, |this| this.block_level(then, last), |this| this.block_level(otherwise, last))?;
                }
                Stmt::Alloc { array, space: loops::Space::Shared, body } => {
                    self.in_shared(*array, body)?;
                    self.block_level(body, last)?;
                }
                // A single thread is the whole block.
                stmt if self.threads == 1 && !holds_parallel(std::slice::from_ref(stmt)) => self.stmt(stmt)?,
                Stmt::Alloc { body, .. } if holds_parallel(body) => {
                    return unsupported("an array of a block that is not in shared memory");
                }
                Stmt::Alloc { .. } => return unsupported("a statement of a block that is in no parallel loop"),
                Stmt::Barrier => self.wait(),
                Stmt::Store { .. } | Stmt::Update { .. } | Stmt::Scatter { .. } | Stmt::Set { .. } | Stmt::Each(_) => {
                    return unsupported("a statement of a block that is in no parallel loop");
                }
            }
        }
        Ok(())
    }

    /// Gives an array room in shared memory.
    fn in_shared(&mut self, array: loops::ArrayId, body: &[Stmt]) -> Emit<()> {
        let Some(declared) = self.kernel.arrays.get(array.index()) else {
            return unsupported("an array that is not declared");
        };
        let mut extents: Option<Vec<i64>> = declared.shape.iter().map(|extent| self.known(extent)).collect();
        if let (Some(extents), Some(thread)) = (&mut extents, only_threads(body)) {
            let padding = super::banks::padding(self.kernel, body, thread, array, extents);
            if let Some(row) = extents.last_mut() {
                *row += padding;
            }
        }
        let bytes = declared.ty.bytes() as i64;
        let size = extents.as_ref().and_then(|extents| extents.iter().try_fold(bytes, |a, b| a.checked_mul(*b)));
        let (Some(extents), Some(size)) = (extents, size.and_then(|size| u64::try_from(size).ok())) else {
            return unsupported(format!("the size of `{}` in shared memory is no constant", declared.name));
        };
        self.shared = self.shared.saturating_add(size);
        if self.shared > MAX_SHARED {
            let (name, all) = (&declared.name, self.shared);
            return unsupported(format!(
                "with `{name}` a block has {all} bytes of shared memory, and GPUs have room for {MAX_SHARED}"
            ));
        }
        self.reuse.forget_place(array);
        let name = format!("shared{}_{}", array.0, super::plain_name(&declared.name));
        let variable = self.b.shared(name, 16, size);
        let base = self.b.mov(Type::U64, Operand::Variable(variable));
        self.alignments.insert(base, BUFFER_ALIGNMENT);
        let extents = extents.into_iter().map(Operand::Int).collect();
        if let Some(place) = self.arrays.get_mut(array.index()) {
            *place = Place::Memory { space: Space::Shared, base, extents, bytes };
        }
        Ok(())
    }

    /// A parallel loop: each thread runs the iteration of its number, and those so many further on.
    fn thread_loop(&mut self, each: &For) -> Emit<()> {
        let threads = self.threads;
        let waits = super::host::holds_barrier(&each.body);
        let (lo, hi) = (self.index_reg(&each.lo)?, self.index(&each.hi)?);
        let number = self.thread_number();
        let var = self.b.mad(TernaryOp::MadLo, Type::S64, number, each.step, lo);
        let bounds = constant(&each.lo).zip(constant(&each.hi));
        if bounds.is_some_and(|(lo, hi)| trips(lo, hi, each.step) == i64::from(threads)) {
            self.bind(each.var, Some(var.into()));
            self.thread = Some(each.var).filter(|_| bounds.is_some_and(|(lo, _)| lo == 0 && each.step == 1));
            let mark = self.reuse.open();
            self.block(&each.body)?;
            self.reuse.close(mark);
            self.thread = None;
            self.bind(each.var, None);
            return Ok(());
        }
        if waits {
            return unsupported(
                "a barrier in a parallel loop whose iterations are not one for each thread of the block",
            );
        }
        let (head, done) = (self.b.label("share"), self.b.label("done"));
        let none = self.b.compare(Compare::Ge, Type::S64, var, hi);
        self.b.branch_if(none, false, done);
        self.b.place(head);
        self.bind(each.var, Some(var.into()));
        self.reuse.forget_all(&self.written);
        let mark = self.reuse.open();
        self.block(&each.body)?;
        self.reuse.close(mark);
        self.reuse.forget_all(&self.written);
        self.bind(each.var, None);
        let most = constant(&each.lo).zip(largest(&each.hi)).map(|(lo, hi)| trips(lo, hi, each.step));
        if most.is_none_or(|most| most > i64::from(threads)) {
            let step = each.step.saturating_mul(i64::from(threads));
            self.b.binary_into(crate::ir::BinaryOp::Add, Type::S64, var, var, step);
            let more = self.b.compare(Compare::Lt, Type::S64, var, hi);
            self.b.branch_if(more, false, head);
        }
        self.b.place(done);
        Ok(())
    }
}
