//! Reductions: within a warp by shuffles, within a block through shared memory.

use farkas_ptx::build::Builder;
use farkas_ptx::ir::{
    Address, Base, BinaryOp, Cache, Compare, Kernel, Operand, Reg, ShuffleMode, Space, Special, Type, VariableId,
};

use crate::elementwise::element;

pub(crate) fn all() -> Vec<Kernel> {
    vec![row_sum(256), normalise_rows(128), tree_sum(128), prefix_sum(128)]
}

/// The sum (or what `op` is) over the warp, in every lane.
fn across_warp(b: &mut Builder, op: BinaryOp, mut value: Reg) -> Reg {
    for distance in [16, 8, 4, 2, 1] {
        let bits = b.mov(Type::B32, value);
        let other = b.shuffle(ShuffleMode::Butterfly, bits, distance);
        let other_value = b.mov(Type::F32, other);
        value = b.binary(op, Type::F32, value, other_value);
    }
    value
}

/// The sum over the block, in every thread: a word of shared memory for each warp, and one barrier.
fn across_block(b: &mut Builder, op: BinaryOp, value: Reg, threads: u32, room: VariableId, neutral: f32) -> Reg {
    let value = across_warp(b, op, value);
    let thread = b.mov(Type::U32, Special::TidX);
    let lane = b.binary(BinaryOp::And, Type::B32, thread, 31);
    let warp = b.binary(BinaryOp::Shr, Type::U32, thread, 5);
    let start = b.mov(Type::U32, Operand::Variable(room));
    let offset = b.binary(BinaryOp::Shl, Type::B32, warp, 2);
    let own = b.add(Type::U32, start, offset);
    let first = b.compare(Compare::Eq, Type::U32, lane, 0);
    b.guarded(first, false, |b| b.store(Space::Shared, Type::F32, own, &[value]));
    b.barrier();
    let offset = b.binary(BinaryOp::Shl, Type::B32, lane, 2);
    let at = b.add(Type::U32, start, offset);
    let partial = b.mov(Type::F32, Operand::f32(neutral));
    let used = b.compare(Compare::Lt, Type::U32, lane, i64::from(threads / 32));
    b.guarded(used, false, |b| {
        let ty = Type::F32;
        let op = farkas_ptx::ir::Op::Load {
            space: Space::Shared,
            cache: Cache::Default,
            ty,
            dst: vec![partial],
            from: at.into(),
        };
        b.push(op);
    });
    across_warp(b, op, partial)
}

/// `out[row] = sum of x[row, 0..columns]`, a block for each row; `columns` is a multiple of four.
pub(crate) fn row_sum(threads: u32) -> Kernel {
    let mut b = Builder::new("row_sum");
    b.max_threads([threads, 1, 1]);
    let room = b.shared("partial", 4, u64::from(threads / 32) * 4);
    let (columns, x, out) = (b.param("columns", Type::U32), b.param("x", Type::U64), b.param("out", Type::U64));
    let (columns, x, out) = (b.load_param(columns), b.load_pointer(x), b.load_pointer(out));
    let row = b.mov(Type::U32, Special::CtaidX);
    let thread = b.mov(Type::U32, Special::TidX);
    let start = b.binary(BinaryOp::MulLo, Type::U32, row, columns);
    let x = element(&mut b, x, start, 4);
    let first = b.binary(BinaryOp::Shl, Type::B32, thread, 2);
    let at = element(&mut b, x, first, 4);
    let sum = b.mov(Type::F32, Operand::f32(0.0));
    b.counted_loop(Type::U32, first, columns, i64::from(threads * 4), |b, _| {
        for value in b.load_vector(Space::Global, Cache::NonCoherent, Type::F32, 4, at) {
            b.binary_into(BinaryOp::Add, Type::F32, sum, sum, value);
        }
        b.binary_into(BinaryOp::Add, Type::U64, at, at, i64::from(threads * 16));
    });
    let total = across_block(&mut b, BinaryOp::Add, sum, threads, room, 0.0);
    let is_first = b.compare(Compare::Eq, Type::U32, thread, 0);
    let place = element(&mut b, out, row, 4);
    b.guarded(is_first, false, |b| b.store(Space::Global, Type::F32, place, &[total]));
    b.ret();
    b.finish()
}

/// `y[row, i] = (x[row, i] - max) / sum of (x[row, i] - max)`: two reductions over each row, in place of softmax's.
pub(crate) fn normalise_rows(threads: u32) -> Kernel {
    let mut b = Builder::new("normalise_rows");
    b.max_threads([threads, 1, 1]);
    let maxima = b.shared("maxima", 4, u64::from(threads / 32) * 4);
    let sums = b.shared("sums", 4, u64::from(threads / 32) * 4);
    let (columns, x, y) = (b.param("columns", Type::U32), b.param("x", Type::U64), b.param("y", Type::U64));
    let (columns, x, y) = (b.load_param(columns), b.load_pointer(x), b.load_pointer(y));
    let row = b.mov(Type::U32, Special::CtaidX);
    let thread = b.mov(Type::U32, Special::TidX);
    let start = b.binary(BinaryOp::MulLo, Type::U32, row, columns);
    let (x, y) = (element(&mut b, x, start, 4), element(&mut b, y, start, 4));
    let largest = b.mov(Type::F32, Operand::f32(f32::NEG_INFINITY));
    b.counted_loop(Type::U32, thread, columns, i64::from(threads), |b, i| {
        let at = element(b, x, i, 4);
        let value = b.load(Space::Global, Cache::NonCoherent, Type::F32, at);
        b.binary_into(BinaryOp::Max, Type::F32, largest, largest, value);
    });
    let largest = across_block(&mut b, BinaryOp::Max, largest, threads, maxima, f32::NEG_INFINITY);
    let sum = b.mov(Type::F32, Operand::f32(0.0));
    b.counted_loop(Type::U32, thread, columns, i64::from(threads), |b, i| {
        let at = element(b, x, i, 4);
        let value = b.load(Space::Global, Cache::NonCoherent, Type::F32, at);
        let difference = b.binary(BinaryOp::Sub, Type::F32, value, largest);
        b.binary_into(BinaryOp::Add, Type::F32, sum, sum, difference);
    });
    let sum = across_block(&mut b, BinaryOp::Add, sum, threads, sums, 0.0);
    b.counted_loop(Type::U32, thread, columns, i64::from(threads), |b, i| {
        let (from, to) = (element(b, x, i, 4), element(b, y, i, 4));
        let value = b.load(Space::Global, Cache::NonCoherent, Type::F32, from);
        let difference = b.binary(BinaryOp::Sub, Type::F32, value, largest);
        let result = b.binary(BinaryOp::Div, Type::F32, difference, sum);
        b.store(Space::Global, Type::F32, to, &[result]);
    });
    b.ret();
    b.finish()
}

/// `out[block] = sum of x[block, 0..threads]` as a tree in shared memory: a barrier for each level.
pub(crate) fn tree_sum(threads: u32) -> Kernel {
    let mut b = Builder::new("tree_sum");
    b.max_threads([threads, 1, 1]);
    let room = b.shared("tree", 4, u64::from(threads) * 4);
    let (x, out) = (b.param("x", Type::U64), b.param("out", Type::U64));
    let (x, out) = (b.load_pointer(x), b.load_pointer(out));
    let index = crate::elementwise::global_index(&mut b);
    let from = element(&mut b, x, index, 4);
    let value = b.load(Space::Global, Cache::NonCoherent, Type::F32, from);
    let thread = b.mov(Type::U32, Special::TidX);
    let start = b.mov(Type::U32, Operand::Variable(room));
    let offset = b.binary(BinaryOp::Shl, Type::B32, thread, 2);
    let own = b.add(Type::U32, start, offset);
    b.store(Space::Shared, Type::F32, own, &[value]);
    b.barrier();
    let mut width = threads / 2;
    while width > 0 {
        let skip = b.label("skip");
        let idle = b.compare(Compare::Ge, Type::U32, thread, i64::from(width));
        b.branch_if(idle, false, skip);
        let left = b.load(Space::Shared, Cache::Default, Type::F32, own);
        let right = b.load(Space::Shared, Cache::Default, Type::F32, Address::at(own, i64::from(width * 4)));
        let sum = b.add(Type::F32, left, right);
        b.store(Space::Shared, Type::F32, own, &[sum]);
        b.place(skip);
        width /= 2;
        if width > 0 {
            b.barrier();
        }
    }
    let is_first = b.compare(Compare::Eq, Type::U32, thread, 0);
    let end = b.label("end");
    b.branch_if(is_first, true, end);
    let total = b.load(Space::Shared, Cache::Default, Type::F32, Address { base: Base::Variable(room), offset: 0 });
    let block = b.mov(Type::U32, Special::CtaidX);
    let to = element(&mut b, out, block, 4);
    b.store(Space::Global, Type::F32, to, &[total]);
    b.place(end);
    b.ret();
    b.finish()
}

/// `y[block, i] = sum of x[block, 0..=i]`: a loop with two barriers in each round.
pub(crate) fn prefix_sum(threads: u32) -> Kernel {
    let mut b = Builder::new("prefix_sum");
    b.max_threads([threads, 1, 1]);
    let room = b.shared("sums", 4, u64::from(threads) * 4);
    let (x, y) = (b.param("x", Type::U64), b.param("y", Type::U64));
    let (x, y) = (b.load_pointer(x), b.load_pointer(y));
    let index = crate::elementwise::global_index(&mut b);
    let from = element(&mut b, x, index, 4);
    let sum = b.load(Space::Global, Cache::NonCoherent, Type::S32, from);
    let thread = b.mov(Type::U32, Special::TidX);
    let start = b.mov(Type::U32, Operand::Variable(room));
    let offset = b.binary(BinaryOp::Shl, Type::B32, thread, 2);
    let own = b.add(Type::U32, start, offset);
    b.store(Space::Shared, Type::S32, own, &[sum]);
    let distance = b.mov(Type::U32, 1);
    let head = b.label("level");
    b.place(head);
    b.barrier();
    let reaches = b.compare(Compare::Ge, Type::U32, thread, distance);
    let other = b.mov(Type::S32, 0);
    let back = b.binary(BinaryOp::Shl, Type::B32, distance, 2);
    let at = b.binary(BinaryOp::Sub, Type::U32, own, back);
    b.guarded(reaches, false, |b| {
        let (space, cache) = (Space::Shared, Cache::Default);
        b.push(farkas_ptx::ir::Op::Load { space, cache, ty: Type::S32, dst: vec![other], from: at.into() });
    });
    b.barrier();
    b.binary_into(BinaryOp::Add, Type::S32, sum, sum, other);
    b.store(Space::Shared, Type::S32, own, &[sum]);
    b.binary_into(BinaryOp::Shl, Type::B32, distance, distance, 1);
    let more = b.compare(Compare::Lt, Type::U32, distance, i64::from(threads));
    b.branch_if(more, false, head);
    let to = element(&mut b, y, index, 4);
    b.store(Space::Global, Type::S32, to, &[sum]);
    b.ret();
    b.finish()
}
