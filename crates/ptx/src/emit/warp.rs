//! Sums over a warp: what the first thread of a block would add up by halves, its warp adds up by shuffles.
//!
//! In: statements of the first thread in which loops combine the cells of an array by halves, until one is left: `for l in 0..16 { s[l] += s[l + 16] }`,
//! then 8, 4, 2 and 1, perhaps with 32 in front.  Out: a value for each thread of the warp, which they hand to each other. The same values are added in the same order, and
//! stored in the same cells, so that nobody sees a difference but in time.

use loops::{ArrayId, CompareOp, Cond, ExprKind, Index, Stmt, Target};
use program::{BinaryOp, ScalarType};

use super::Emit;
use super::body::Emitter;
use super::expr::held;
use crate::ir::{Cache, Compare, Op, Operand, Reg, ShuffleMode, Type};

/// Threads of a warp.
const LANES: i64 = 32;
const ALL: i64 = 0xffff_ffff;

/// Cells that are combined by halves.
struct Halving {
    array: ArrayId,
    op: BinaryOp,
    ty: ScalarType,
    /// How many are left after the first step.
    half: i64,
    /// The statements that it takes.
    length: usize,
}

/// Whether these are the first thread's, of a block whose loop over threads has this variable.
pub(super) fn is_first(cond: &Cond, thread: Option<loops::VarId>) -> bool {
    match cond {
        Cond::Compare(CompareOp::Eq, Index::Var(var), Index::Const(0)) => Some(*var) == thread,
        _ => false,
    }
}

impl Emitter<'_> {
    /// The statements of the first thread, which all threads come to; those that combine cells by halves are its warp's.
    pub(super) fn first_thread(&mut self, cond: &Cond, stmts: &[Stmt]) -> Emit<()> {
        let mut rest = stmts;
        while let Some((before, found)) = first_halving(rest) {
            if before > 0 {
                self.under(cond, &rest[..before])?;
            }
            self.halve(&found)?;
            rest = &rest[before + found.length..];
        }
        if rest.is_empty() { Ok(()) } else { self.under(cond, rest) }
    }

    fn halve(&mut self, found: &Halving) -> Emit<()> {
        let number = self.b.mov(Type::U32, crate::ir::Special::TidX);
        // What the first thread has done so far, and what its warp does now, is known to all of it.
        self.warp_barrier();
        let outside = self.b.compare(Compare::Ge, Type::U32, number, LANES);
        let done = self.b.label("warp");
        self.b.branch_where(outside, true, done);
        let mark = self.reuse.open();
        let Some(thread) = self.thread else { return super::unsupported("a warp outside of all threads") };
        let own = Index::Var(thread);
        let at = self.cell(found.array, std::slice::from_ref(&own))?;
        let mut value = self.load_cell(at, found.ty, Cache::Default);
        let mut half = found.half;
        if half == LANES {
            let other = Index::Add(Box::new(own), Box::new(Index::Const(LANES)));
            let other = self.cell(found.array, &[other])?;
            let other = self.load_cell(other, found.ty, Cache::Default);
            value = self.combined(found, value, other)?;
            half /= 2;
        }
        while half > 0 {
            let other = self.lane_above(found.ty, value, half);
            let sum = self.combined(found, value, other)?;
            let takes = self.b.compare(Compare::Lt, Type::U32, number, half);
            value = self.b.select(held(found.ty), takes, sum, value);
            half /= 2;
        }
        self.store(at, found.ty, value);
        self.reuse.close(mark);
        self.b.place(done);
        self.warp_barrier();
        self.reuse.forget(found.array);
        Ok(())
    }

    fn combined(&mut self, found: &Halving, one: Reg, two: Reg) -> Emit<Reg> {
        self.operator(found.op, found.ty, one.into(), two.into())
    }

    /// The value of the thread that is so much further on in the warp.
    fn lane_above(&mut self, ty: ScalarType, value: Reg, distance: i64) -> Reg {
        let kind = held(ty);
        if kind.bits() == 64 {
            let halves = [self.b.reg(Type::B32), self.b.reg(Type::B32)];
            let bits = self.b.mov(Type::B64, value);
            self.b.push(Op::Unpack { ty: Type::B64, dst: halves.to_vec(), src: bits.into() });
            let moved = halves.map(|half| Operand::Reg(self.b.shuffle(ShuffleMode::Down, half, distance)));
            let dst = self.b.reg(Type::B64);
            self.b.push(Op::Pack { ty: Type::B64, dst, src: moved.to_vec() });
            return self.b.mov(kind, dst);
        }
        let bits = self.b.mov(Type::B32, value);
        let moved = self.b.shuffle(ShuffleMode::Down, bits, distance);
        self.b.mov(kind, moved)
    }

    pub(super) fn warp_barrier(&mut self) {
        self.b.push(Op::WarpBarrier { mask: Operand::Int(ALL) });
    }
}

/// The first place at which cells are combined by halves.
fn first_halving(stmts: &[Stmt]) -> Option<(usize, Halving)> {
    (0..stmts.len()).find_map(|at| Some((at, halving(&stmts[at..])?)))
}

fn halving(stmts: &[Stmt]) -> Option<Halving> {
    let (array, op, ty, half) = step(stmts.first()?)?;
    if !matches!(half, 16 | 32) || !matches!(held(ty).bits(), 32 | 64) {
        return None;
    }
    let mut length = 0;
    let mut left = half;
    while left > 0 {
        if step(stmts.get(length)?)? != (array, op, ty, left) {
            return None;
        }
        length += 1;
        left /= 2;
    }
    Some(Halving { array, op, ty, half, length })
}

/// `for l in 0..half { a[l] op= a[l + half] }`, or for one `a[0] op= a[1]`.
fn step(stmt: &Stmt) -> Option<(ArrayId, BinaryOp, ScalarType, i64)> {
    let (body, own, half) = match stmt {
        Stmt::For(each) => match (&each.lo, &each.hi, each.step, each.body.as_slice()) {
            (Index::Const(0), Index::Const(half), 1, [body]) => (body, Some(each.var), *half),
            _ => return None,
        },
        stmt => (stmt, None, 1),
    };
    let Stmt::Update { target: Target::Cell { array, index }, op, value } = body else { return None };
    let ExprKind::Load { array: from, index: other } = &value.kind else { return None };
    let ([index], [other]) = (index.as_slice(), other.as_slice()) else { return None };
    let own = own.map_or(Index::Const(0), Index::Var);
    let apart = match other {
        Index::Const(other) => *other == half && own == Index::Const(0),
        Index::Add(one, two) => **one == own && **two == Index::Const(half),
        _ => false,
    };
    (array == from && *index == own && apart).then_some((*array, *op, value.ty, half))
}
