//! Threads that hand values to each other through shared memory.

use farkas_ptx::build::Builder;
use farkas_ptx::ir::{Address, BinaryOp, Cache, Compare, Kernel, Op, Operand, Space, Special, TernaryOp, Type};

use crate::elementwise::{element, global_index};

pub(crate) fn all() -> Vec<Kernel> {
    vec![transpose(32, 33), transpose(16, 16), histogram(128), reverse(128), filter(128)]
}

/// `y[j, i] = x[i, j]` of a square of `pitch` columns, in tiles whose rows are `stride` words apart.
pub(crate) fn transpose(size: u32, stride: u32) -> Kernel {
    let mut b = Builder::new(format!("transpose_{size}_{stride}"));
    b.max_threads([size, size, 1]);
    let tile = b.shared("tile", 4, u64::from(size * stride) * 4);
    let (pitch, x, y) = (b.param("pitch", Type::U32), b.param("x", Type::U64), b.param("y", Type::U64));
    let (pitch, x, y) = (b.load_param(pitch), b.load_pointer(x), b.load_pointer(y));
    let (tx, ty) = (b.mov(Type::U32, Special::TidX), b.mov(Type::U32, Special::TidY));
    let (bx, by) = (b.mov(Type::U32, Special::CtaidX), b.mov(Type::U32, Special::CtaidY));
    let start = b.mov(Type::U32, Operand::Variable(tile));
    let row = b.mad(TernaryOp::MadLo, Type::U32, by, i64::from(size), ty);
    let column = b.mad(TernaryOp::MadLo, Type::U32, bx, i64::from(size), tx);
    let index = b.mad(TernaryOp::MadLo, Type::U32, row, pitch, column);
    let from = element(&mut b, x, index, 4);
    let value = b.load(Space::Global, Cache::NonCoherent, Type::F32, from);
    let cell = b.mad(TernaryOp::MadLo, Type::U32, ty, i64::from(stride), tx);
    let place = b.mad(TernaryOp::MadLo, Type::U32, cell, 4, start);
    b.store(Space::Shared, Type::F32, place, &[value]);
    b.barrier();
    let cell = b.mad(TernaryOp::MadLo, Type::U32, tx, i64::from(stride), ty);
    let place = b.mad(TernaryOp::MadLo, Type::U32, cell, 4, start);
    let value = b.load(Space::Shared, Cache::Default, Type::F32, place);
    let row = b.mad(TernaryOp::MadLo, Type::U32, bx, i64::from(size), ty);
    let column = b.mad(TernaryOp::MadLo, Type::U32, by, i64::from(size), tx);
    let index = b.mad(TernaryOp::MadLo, Type::U32, row, pitch, column);
    let to = element(&mut b, y, index, 4);
    b.store(Space::Global, Type::F32, to, &[value]);
    b.ret();
    b.finish()
}

/// `counts[k] += number of x[i] with x[i] % 32 == k`: counted in shared memory, then added to global memory.
pub(crate) fn histogram(threads: u32) -> Kernel {
    let mut b = Builder::new("histogram");
    b.max_threads([threads, 1, 1]);
    let room = b.shared("bins", 4, 32 * 4);
    let (x, counts) = (b.param("x", Type::U64), b.param("counts", Type::U64));
    let (x, counts) = (b.load_pointer(x), b.load_pointer(counts));
    let thread = b.mov(Type::U32, Special::TidX);
    let start = b.mov(Type::U32, Operand::Variable(room));
    let own = b.mad(TernaryOp::MadLo, Type::U32, thread, 4, start);
    let has_bin = b.compare(Compare::Lt, Type::U32, thread, 32);
    let zero = b.mov(Type::U32, 0);
    b.guarded(has_bin, false, |b| b.store(Space::Shared, Type::U32, own, &[zero]));
    b.barrier();
    let index = global_index(&mut b);
    let from = element(&mut b, x, index, 4);
    let value = b.load(Space::Global, Cache::NonCoherent, Type::U32, from);
    let bin = b.binary(BinaryOp::And, Type::B32, value, 31);
    let at = b.mad(TernaryOp::MadLo, Type::U32, bin, 4, start);
    b.atomic_add(Space::Shared, Type::U32, at, 1);
    b.barrier();
    let end = b.label("end");
    b.branch_if(has_bin, true, end);
    let count = b.load(Space::Shared, Cache::Default, Type::U32, own);
    let to = element(&mut b, counts, thread, 4);
    b.atomic_add(Space::Global, Type::U32, to, count);
    b.place(end);
    b.ret();
    b.finish()
}

/// `x[block, i] = x[block, threads - 1 - i]` in place.
pub(crate) fn reverse(threads: u32) -> Kernel {
    let mut b = Builder::new("reverse");
    b.max_threads([threads, 1, 1]);
    let room = b.shared("room", 8, u64::from(threads) * 8);
    let x = b.param("x", Type::U64);
    let x = b.load_pointer(x);
    let index = global_index(&mut b);
    let place = element(&mut b, x, index, 8);
    let value = b.load(Space::Global, Cache::Default, Type::F64, place);
    let thread = b.mov(Type::U32, Special::TidX);
    let start = b.mov(Type::U32, Operand::Variable(room));
    let own = b.mad(TernaryOp::MadLo, Type::U32, thread, 8, start);
    b.store(Space::Shared, Type::F64, own, &[value]);
    b.barrier();
    let other = b.binary(BinaryOp::Sub, Type::U32, i64::from(threads) - 1, thread);
    let at = b.mad(TernaryOp::MadLo, Type::U32, other, 8, start);
    let value = b.load(Space::Shared, Cache::Default, Type::F64, at);
    b.store(Space::Global, Type::F64, place, &[value]);
    b.ret();
    b.finish()
}

/// `y[block, i] = x[block, i - 1] + x[block, i]` of bytes, the first one alone.
pub(crate) fn filter(threads: u32) -> Kernel {
    let mut b = Builder::new("filter");
    b.max_threads([threads, 1, 1]);
    let room = b.shared("room", 1, u64::from(threads));
    let (x, y) = (b.param("x", Type::U64), b.param("y", Type::U64));
    let (x, y) = (b.load_pointer(x), b.load_pointer(y));
    let index = global_index(&mut b);
    let from = element(&mut b, x, index, 1);
    let value = b.load(Space::Global, Cache::NonCoherent, Type::U8, from);
    let thread = b.mov(Type::U32, Special::TidX);
    let start = b.mov(Type::U32, Operand::Variable(room));
    let own = b.add(Type::U32, start, thread);
    b.store(Space::Shared, Type::U8, own, &[value]);
    b.barrier();
    let first = b.compare(Compare::Eq, Type::U32, thread, 0);
    let before = b.mov(Type::U16, 0);
    b.guarded(first, true, |b| {
        let (space, cache, from) = (Space::Shared, Cache::Default, Address::at(own, -1));
        b.push(Op::Load { space, cache, ty: Type::U8, dst: vec![before], from });
    });
    let sum = b.add(Type::U16, before, value);
    let to = element(&mut b, y, index, 1);
    b.store(Space::Global, Type::U8, to, &[sum]);
    b.ret();
    b.finish()
}

/// As [`reverse`], for `y = x` of f32, with the copy to shared memory left to the hardware: four values a thread.
pub(crate) fn copy_async(threads: u32) -> Kernel {
    let mut b = Builder::new("copy_async");
    b.max_threads([threads, 1, 1]);
    let room = b.shared("room", 16, u64::from(threads) * 16);
    let (x, y) = (b.param("x", Type::U64), b.param("y", Type::U64));
    let (x, y) = (b.load_pointer(x), b.load_pointer(y));
    let index = global_index(&mut b);
    let (from, to) = (element(&mut b, x, index, 16), element(&mut b, y, index, 16));
    let thread = b.mov(Type::U32, Special::TidX);
    let start = b.mov(Type::U32, Operand::Variable(room));
    let own = b.mad(TernaryOp::MadLo, Type::U32, thread, 16, start);
    b.push(Op::CopyAsync { bytes: 16, to: own.into(), from: from.into() });
    b.push(Op::CommitGroup);
    b.push(Op::WaitGroup { pending: 0 });
    b.barrier();
    let other = b.binary(BinaryOp::Sub, Type::U32, i64::from(threads) - 1, thread);
    let at = b.mad(TernaryOp::MadLo, Type::U32, other, 16, start);
    let values = b.load_vector(Space::Shared, Cache::Default, Type::F32, 4, at);
    b.store(Space::Global, Type::F32, to, &values);
    b.ret();
    b.finish()
}
